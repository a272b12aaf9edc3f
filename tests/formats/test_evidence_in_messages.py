"""What tools gave is what an answer is judged by."""

import json
from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.conversation import Document
from faithtui.errors import InputError
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from faithtui.formats.readers.values.passages import read_passage_list, read_tool_output_as_passages
from tests.formats.test_detection import write
from tests.formats.test_real_formats import FOLDER, read, texts


def messages_of(tmp_path: Path, *messages: object) -> Any:
    [conversation], _ = read(write(tmp_path / "x.jsonl", {"messages": list(messages)}))
    return conversation


CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    ],
}


def test_a_tool_message_becomes_passages_of_the_next_answer_under_its_name(tmp_path: Path) -> None:
    found = messages_of(
        tmp_path,
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "When?"}, {"type": "text", "text": "Now?"}],
        },
        CALL,
        {"role": "tool", "tool_call_id": "c1", "content": "It sails at nine."},
        {"role": "assistant", "content": "At nine."},
        {"role": "user", "content": "Thanks"},
        {"role": "assistant", "content": "You are welcome."},
    )
    assert texts([found]) == [
        ("user", "When?\nNow?"),
        ("assistant", "At nine."),
        ("user", "Thanks"),
        ("assistant", "You are welcome."),
    ]
    assert found.turns[1].retrieval_context == (Document("It sails at nine.", "search"),)
    # All calls are written down, so nothing was looked up for this one.
    assert found.turns[3].retrieval_context == ()
    assert found.metadata["system"] == ["Be brief."]
    assert found.metadata["per_turn"]["1"]["tools"][0]["name"] == "search"


def test_several_tools_of_one_answer_come_in_order(tmp_path: Path) -> None:
    found = messages_of(
        tmp_path,
        {"role": "user", "content": "q"},
        {"role": "tool", "name": "a", "content": '{"results": [{"title": "T", "content": "one"}]}'},
        {"role": "retriever", "name": "b", "content": ["two", {"page_content": "three"}]},
        {"role": "assistant", "content": "An answer."},
        {"role": "tool", "name": "late", "content": "unused"},
    )
    assert found.turns[1].retrieval_context == (
        Document("one", "T"),
        Document("two", "b"),
        Document("three", "b"),
    )
    assert found.metadata["unused_tool_results"] == ["unused"]


def test_parts_that_call_and_answer_tools_are_read(tmp_path: Path) -> None:
    found = messages_of(
        tmp_path,
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "t1", "name": "search", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [{"type": "text", "text": "p"}],
                }
            ],
        },
        {"role": "assistant", "content": "An answer."},
    )
    assert texts([found]) == [
        ("user", "q"),
        ("assistant", "Let me look."),
        ("assistant", "An answer."),
    ]
    assert found.turns[2].retrieval_context == (Document("p", "search"),)


@pytest.mark.parametrize(
    ("value", "passages"),
    [
        ("plain text", ["plain text"]),
        ("", []),
        ("[]", []),
        ("{}", []),
        ('["a", "b"]', ["a", "b"]),
        ('{"documents": [{"text": "a"}, {"node": {"text": "b"}}]}', ["a", "b"]),
        ({"source_nodes": [{"node": {"text": "a"}, "score": 0.5}]}, ["a"]),
        ('{"temperature": 21}', ['{"temperature": 21}']),
        ([{"url": "u"}], ['[{"url": "u"}]']),
        ("[see below]", ["[see below]"]),
        (7, ["7"]),
        ([{"type": "text", "text": 7}], ['[{"type": "text", "text": 7}]']),
        ({"type": "tool", "content": '["a", "b"]'}, ["a", "b"]),
        ({"type": "tool", "content": "[see below]"}, ["[see below]"]),
        ({"id": ["ToolMessage"], "kwargs": {"type": "tool", "content": '["a"]'}}, ["a"]),
    ],
)
def test_evidence_is_never_thrown_away(value: object, passages: list[str]) -> None:
    assert [each.text for each in read_tool_output_as_passages(value, "t").documents] == passages


MUSEUM = {"title": "t", "url": "u", "content": "museum page"}
ANSWERED = {"query": "q", "answer": "The museum opens at nine.", "results": [MUSEUM]}
TAVILY = {"follow_up_questions": None, "images": ["https://a.b/c"], "response_time": 1.2}
PINECONE = [{"id": "1", "score": 0.5, "metadata": {"text": "a"}}]
COHERE_META = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}


@pytest.mark.parametrize(
    ("value", "passages"),
    [
        (ANSWERED, ["museum page", "The museum opens at nine."]),
        ({**ANSWERED, "answer": None, **TAVILY, "request_id": "r"}, ["museum page"]),
        ({"data": {"results": ["a"], "answer": "b", "took": 3}}, ["a", "b"]),
        (
            {"results": ["a"], "answer": "b", "temperature": 21},
            ["a", {"answer": "b", "temperature": 21}],
        ),
        ({"query": "q", "result": "b", "source_documents": [{"page_content": "a"}]}, ["a", "b"]),
        ({"output": "b", "documents": [{"text": "a"}]}, ["a", "b"]),
        ({"text": "b", "items": ["tag"]}, ["b"]),
        ({"results": [], "matches": [{"text": "a"}]}, ["a"]),
        ({"count": 7, "results": []}, [{"count": 7}]),
        ({"count": 0, "results": []}, []),
        ({"count": 1, "results": ["a"]}, ["a"]),
        ({"results": [], "error": "x"}, [{"error": "x"}]),
        ({"results": [], "matches": PINECONE, "usage": {}}, [{"matches": PINECONE}]),
        ({"results": [], "answer": "b"}, ["b"]),
        ({"results": [], "status": "failed"}, [{"status": "failed"}]),
        ({"query": "q", "results": [], "total": 0, "status": "ok", "ids": ["a"]}, []),
        (
            {"id": "i", "results": [{"document": {"text": "a"}, "index": 0}], "meta": COHERE_META},
            ["a"],
        ),
        (
            {
                "object": "vector_store.search_results.page",
                "search_query": ["q"],
                "data": [{"file_id": "f", "content": [{"type": "text", "text": "a"}]}],
                "has_more": False,
                "next_page": None,
            },
            ["a"],
        ),
        ({"documents": ["a"], "ids": ["i"], "distances": [0.5], "metadatas": [{"x": "y"}]}, ["a"]),
        ({"matches": [{"text": "a"}], "namespace": "n", "vector": [0.1, 0.2]}, ["a"]),
        ({"content": [{"type": "text", "text": "a"}], "isError": False}, ["a"]),
        ({"organic": [{"snippet": "a"}], "answerBox": {"answer": "b"}}, None),
    ],
)
@pytest.mark.parametrize("is_text", [False, True])
def test_what_a_tool_answers_around_its_list_is_evidence(
    value: object, passages: list[object] | None, is_text: bool
) -> None:
    """A passage that is no text here is JSON there; None: it is one passage as it stands."""
    found = read_tool_output_as_passages(json.dumps(value) if is_text else value, "t")
    assert [each.text for each in found.documents] == [
        each if isinstance(each, str) else json.dumps(each)
        for each in ([value] if passages is None else passages)
    ]


def test_how_a_tool_searched_is_kept_with_the_first_passage() -> None:
    found = read_tool_output_as_passages({**ANSWERED, **TAVILY}, "t")
    assert found.documents[1] == Document("The museum opens at nine.", "t")
    assert found.details[0]["beside"] == {
        "query": "q",
        "images": ["https://a.b/c"],
        "response_time": 1.2,
    }


def test_what_stands_beside_passages_of_a_row_is_kept() -> None:
    """Labels of passages, as in PubMedQA, are no evidence of the answer."""
    found = read_passage_list({"contexts": ["a", "b"], "labels": ["AIM", "RESULT"]}, "context")
    assert [each.text for each in found.documents] == ["a", "b"]
    assert found.details == ({"beside": {"labels": ["AIM", "RESULT"]}}, {})
    refused = read_passage_list({"contexts": [], "error": "x"}, "context")
    assert [each.text for each in refused.documents] == ['{"error": "x"}']


@pytest.mark.parametrize("content", ["[]", []])
def test_the_artifact_of_a_tool_that_gave_nothing_is_kept(content: object) -> None:
    message = {"type": "tool", "content": content, "tool_call_id": "c"}
    assert read_tool_output_as_passages(message, "t").documents == ()
    found = read_tool_output_as_passages({**message, "artifact": [{"page_content": "a"}]}, "t")
    assert found.documents == (Document("[]", "t"),)
    assert found.details[0]["message"] == {
        "tool_call_id": "c",
        "artifact": [{"page_content": "a"}],
    }


def test_what_a_tool_was_asked_is_kept_where_it_found_nothing(tmp_path: Path) -> None:
    content = json.dumps({"query": "q", "results": []})
    found = messages_of(
        tmp_path,
        {"role": "user", "content": "q"},
        CALL,
        {"role": "tool", "tool_call_id": "c1", "content": content},
        {"role": "assistant", "content": "An answer."},
    )
    assert found.turns[1].retrieval_context == ()
    assert found.metadata["per_turn"]["1"]["tools"][1]["content"] == content


SEARCH_RESULT = {
    "type": "search_result",
    "source": "u",
    "title": "T",
    "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
}


@pytest.mark.parametrize(
    "part",
    [SEARCH_RESULT, {"type": "tool_result", "tool_use_id": "c1", "content": [SEARCH_RESULT]}],
)
def test_texts_of_anthropics_search_results_are_passages(tmp_path: Path, part: object) -> None:
    found = messages_of(
        tmp_path,
        {"role": "user", "content": "q"},
        CALL,
        {"role": "user", "content": [part]},
        {"role": "assistant", "content": "An answer."},
    )
    assert found.turns[1].retrieval_context == (Document("a", "u"), Document("b", "u"))
    assert [each["title"] for each in found.metadata["per_turn"]["1"]["passages"]] == ["T", "T"]


def test_what_else_a_message_of_a_tool_holds_is_kept() -> None:
    message = {"type": "tool", "name": "search", "tool_call_id": "c", "content": '["a", "b"]'}
    found = read_tool_output_as_passages(message, "t")
    assert found.documents == (Document("a", "search"), Document("b", "search"))
    assert found.details == ({"message": {"tool_call_id": "c"}}, {})


def test_details_of_passages_are_kept() -> None:
    found = read_tool_output_as_passages([{"id": 7, "text": "a", "score": 0.5, "url": "u"}], "t")
    assert found.documents == (Document("a", "u"),)
    assert found.details == ({"id": 7, "score": 0.5},)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"role": "narrator", "content": "x"}, 'messages[1].role: is "narrator"'),
        ("x", 'messages[1]: is "x"; expected a message'),
        ({"role": "user", "content": 7}, "messages[1].content: is 7; expected a string"),
        ({"role": "user", "content": [{"type": "video"}]}, "messages[1].content[0].type"),
    ],
)
def test_a_message_that_is_none_is_told_with_its_place(
    tmp_path: Path, message: object, says: str
) -> None:
    path = write(tmp_path / "x.jsonl", {"messages": [{"role": "user", "content": "q"}, message]})
    dataset, file = open_file_and_detect_format(path, FormatChoice("openai-chat"), None)
    [found] = [each.found for each in dataset.read(file)]
    assert isinstance(found, InputError)
    assert says in str(found)
    assert found.line == 1


def test_what_deepevals_tools_gave_is_evidence(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": "An answer.",
            "toolsCalled": [{"name": "search", "output": "found"}, {"name": "other"}],
        },
    ]
    [conversation], _ = read(write(tmp_path / "x.jsonl", {"scenario": "s", "turns": turns}))
    assert conversation.turns[1].retrieval_context == (Document("found", "search"),)


def spans(*records: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "context": {"trace_id": "t", "span_id": str(number)},
            "parent_id": None if number == 0 else "0",
            "start_time": f"2026-01-01T00:00:0{number}Z",
            "attributes": attributes,
        }
        for number, attributes in enumerate(records)
    ]


def test_genai_spans_with_messages_tools_and_evaluations(tmp_path: Path) -> None:
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "At nine."}]}]
    asked = [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "content": "When?"}]},
    ]
    records = spans(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.conversation.id": "c",
            "gen_ai.input.messages": json.dumps(asked),
            "gen_ai.output.messages": json.dumps(said),
            "gen_ai.request.model": "m",
        },
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "timetable",
            "gen_ai.tool.call.result": "The ferry sails at nine.",
        },
    )
    records[0]["events"] = [
        {
            "name": "gen_ai.evaluation.result",
            "attributes": {
                "gen_ai.evaluation.name": "Faithfulness",
                "gen_ai.evaluation.score.value": 1.0,
                "gen_ai.evaluation.explanation": "so it says",
            },
        }
    ]
    [conversation], [verdict] = read(write(tmp_path / "x.jsonl", *reversed(records)))
    assert (conversation.key, texts([conversation])) == (
        "c",
        [("user", "When?"), ("assistant", "At nine.")],
    )
    assert conversation.turns[1].retrieval_context == (
        Document("The ferry sails at nine.", "timetable"),
    )
    assert conversation.metadata["system"] == ["Be brief."]
    details = conversation.metadata["per_turn"]
    assert isinstance(details, dict)
    assert (details["1"]["trace_id"], details["1"]["span_id"]) == ("t", "0")
    assert (getattr(verdict, "score", None), verdict.reason) == (1.0, "so it says")


def test_otlp_with_lists_of_keys_and_values_is_read(tmp_path: Path) -> None:
    def attribute(key: str, value: str) -> dict[str, object]:
        return {"key": key, "value": {"stringValue": value}}

    span = {
        "traceId": "t",
        "spanId": "s",
        "startTimeUnixNano": "1",
        "attributes": [
            attribute("openinference.span.kind", "CHAIN"),
            attribute("input.value", "When?"),
            attribute("output.value", "At nine."),
        ],
    }
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}, indent=1))
    [conversation], _ = read(path)
    assert texts([conversation]) == [("user", "When?"), ("assistant", "At nine.")]


def test_feedback_alone_says_what_it_belongs_to(tmp_path: Path) -> None:
    dataset, file = open_file_and_detect_format(
        FOLDER / "langsmith_feedback.jsonl", FormatChoice(), None
    )
    assert list(dataset.read(file)) == []
    [remark] = dataset.notes.remarks
    assert "faithtui import RUNS FEEDBACK" in remark


def test_flat_exports_of_langfuse_are_joined(tmp_path: Path) -> None:
    trace = {
        "id": "t",
        "timestamp": "2026",
        "session_id": "s",
        "input": '{"question": "When?"}',
        "output": '{"answer": "At nine."}',
    }
    observation = {
        "id": "o",
        "trace_id": "t",
        "type": "SPAN",
        "name": "retrieve",
        "start_time": "2026",
        "level": "DEFAULT",
        "output": '["It sails at nine."]',
    }
    score = {
        "id": "x",
        "trace_id": "t",
        "name": "grounded",
        "value": 1,
        "data_type": "BOOLEAN",
        "source": "ANNOTATION",
        "author_user_id": "ann",
    }
    paths = [
        write(tmp_path / f"{number}.jsonl", each)
        for number, each in enumerate((score, observation, trace))
    ]
    [conversation], _ = read(*paths)
    assert texts([conversation]) == [("user", "When?"), ("assistant", "At nine.")]
    assert conversation.turns[1].retrieval_context == (Document("It sails at nine.", "retrieve"),)
    [rating] = conversation.ratings
    assert (rating.annotator, rating.label, rating.scale) == ("ann", "yes", "grounded")
