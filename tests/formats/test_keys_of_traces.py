"""A key of a trace or a tool call that no schema has is told and kept; others are not told."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from faithtui.domain.conversation import Conversation, Document
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from faithtui.formats.readers.protocol import ReadNotes
from tests.formats.test_detection import write

CALL = {"id": "c", "type": "function", "function": {"name": "timetable", "arguments": "{}"}}
KEPT_CALL = {"name": "timetable", "id": "c", "arguments": "{}"}
RUN = {
    "id": "r", "trace_id": "r", "run_type": "chain", "name": "rag", "dotted_order": "1",
    "start_time": "2026-01-01T00:00:00", "inputs": {"question": "When?"},
    "outputs": {"answer": "At nine."}, "total_tokens": 3, "child_run_ids": ["x"],
    "extra": {"metadata": {"thread_id": "t"}, "runtime": {"sdk": "1"}},
}  # fmt: skip
TRACE = {
    "id": "t", "timestamp": "2026", "sessionId": "s", "input": "When?", "output": "At nine.",
    "htmlPath": "/t", "totalCost": 1,
    "observations": [
        {"id": "o", "traceId": "t", "type": "SPAN", "name": "n", "startTime": "1", "level": "x"}
    ],
    "scores": [],
}  # fmt: skip
SPAN: dict[str, Any] = {
    "name": "rag", "context": {"trace_id": "t", "span_id": "s"}, "parent_id": None,
    "start_time": "1", "links": [{}], "resource": {"attributes": {"service.name": "x"}},
    "attributes": {
        "openinference.span.kind": "CHAIN", "input.value": "When?", "output.value": "At nine.",
        "llm.token_count.total": 3, "server.address": "h", "metadata": {"a": 1},
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "When?",
        "llm.input_messages.0.message.tool_calls.0.tool_call.function.name": "f",
    },
}  # fmt: skip


def read(path: Path) -> tuple[Conversation, ReadNotes]:
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    [found] = [each.found for each in dataset.read(file)]
    assert isinstance(found, Conversation)
    return found, dataset.notes


def change(record: dict[str, Any], **more: object) -> dict[str, Any]:
    """Add fields to a record; a name with `__` is a path."""
    changed = json.loads(json.dumps(record))
    for path, value in more.items():
        *parents, last = path.split("__")
        inner = changed
        for each in parents:
            inner = inner[int(each)] if isinstance(inner, list) else inner[each]
        inner[last.replace("_DOT_", ".")] = value
    return changed  # type: ignore[no-any-return]  # an object, as it was


@pytest.mark.parametrize("record", [RUN, TRACE, SPAN])
def test_keys_of_the_schema_are_not_told(tmp_path: Path, record: dict[str, Any]) -> None:
    conversation, notes = read(write(tmp_path / "x.jsonl", record))
    assert len(conversation.turns) == 2
    assert not notes.unknown_keys
    assert "extra" not in conversation.metadata


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (change(RUN, zebra=1), "zebra"),
        (change(RUN, outputs__zebra=1), "outputs.zebra"),
        (change(RUN, extra__zebra=1), "extra.zebra"),
        (change(TRACE, zebra=1), "zebra"),
        (change(TRACE, observations__0__zebra=1), "zebra"),
        (change(TRACE, input={"question": "When?", "zebra": 1}), "input.zebra"),
        (change(SPAN, zebra=1), "zebra"),
        (change(SPAN, attributes__zebra=1), "attributes.zebra"),
        (
            change(SPAN, **{"attributes__llm_DOT_input_messages_DOT_0_DOT_message_DOT_text": 1}),
            "attributes.llm.input_messages[].message.text",
        ),
    ],
)
def test_a_key_of_no_schema_is_told_and_kept(
    tmp_path: Path, record: dict[str, Any], told: str
) -> None:
    conversation, notes = read(write(tmp_path / "x.jsonl", record))
    assert dict(notes.unknown_keys) == {told: 1}
    assert conversation.metadata["extra"] == {told: [1]}


def test_feedback_whose_score_has_another_name_is_told(tmp_path: Path) -> None:
    feedback = {
        "id": "f", "run_id": "r", "trace_id": "r", "key": "faithfulness", "rating": 1,
        "comment": None, "feedback_source": {"type": "app"},
    }  # fmt: skip
    conversation, notes = read(write(tmp_path / "x.jsonl", RUN, feedback))
    assert conversation.ratings == ()
    assert dict(notes.unknown_keys) == {"rating": 1}
    assert "scores named `faithfulness` without a value are kept as metadata" in notes.remarks


@pytest.mark.parametrize(
    ("record", "key"),
    [
        (change(RUN, outputs__passagez=["It sails."]), "outputs.passagez"),
        (change(TRACE, passagez=["It sails."]), "passagez"),
    ],
)
def test_a_key_that_may_hold_passages_is_suggested_and_can_be_mapped(
    tmp_path: Path, record: dict[str, Any], key: str
) -> None:
    path = write(tmp_path / "x.jsonl", record)
    _, notes = read(path)
    assert notes.meant_keys == {key: "retrieval_context"}
    choice = FormatChoice(renames={key: "retrieval_context"})
    dataset, file = open_file_and_detect_format(path, choice, None)
    [found] = [each.found for each in dataset.read(file)]
    assert isinstance(found, Conversation)
    assert found.turns[1].retrieval_context == (Document("It sails."),)


@pytest.mark.parametrize(
    "record",
    [
        change(RUN, outputs__context=[{"page_content": "It sails."}]),
        change(TRACE, output=json.dumps({"answer": "At nine.", "documents": ["It sails."]})),
        change(
            SPAN,
            attributes__output_DOT_value='{"answer": "At nine.", "contexts": ["It sails."]}',
        ),
    ],
)
def test_passages_beside_an_answer_are_its_evidence(tmp_path: Path, record: dict[str, Any]) -> None:
    conversation, notes = read(write(tmp_path / "x.jsonl", record))
    assert conversation.turns[1].content == "At nine."
    assert conversation.turns[1].retrieval_context == (Document("It sails."),)
    assert not notes.unknown_keys
    assert [text for text in notes.remarks if "the passages of an answer are those in" in text]


CALLED = [
    {"role": "user", "content": "When?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "It sails at nine."},
]


@pytest.mark.parametrize("context", [{"tenant": "acme"}, ["A note."]])
@pytest.mark.parametrize(
    ("record", "field"),
    [
        (RUN, "inputs"),
        (TRACE, "input"),
        (change(SPAN, attributes={"output.value": "At nine."}), "attributes__input_DOT_value"),
    ],
)
def test_what_tools_gave_comes_before_passages_beside_the_answer(
    tmp_path: Path, record: dict[str, Any], field: str, context: object
) -> None:
    given: object = {"messages": CALLED, "context": context}
    given = json.dumps(given) if "attributes" in field else given
    conversation, notes = read(write(tmp_path / "x.jsonl", change(record, **{field: given})))
    given_by_tool = (Document("It sails at nine.", "timetable"),)
    assert conversation.turns[-1].retrieval_context == given_by_tool
    key = f"{field.removeprefix('attributes__').replace('_DOT_', '.')}.context"
    assert dict(notes.unknown_keys) == {key: 1}
    assert conversation.metadata["extra"] == {key: [context]}


@pytest.mark.parametrize(
    "context",
    [
        {"user_id": 7},
        "session-4711",
        [{"role": "user", "content": "When?"}],
        [{"author": "user", "text": "When?"}],
        [{"id": 7}],
        ["A note.", 7],
    ],
)
def test_what_is_no_list_of_documents_beside_an_answer_is_no_evidence(
    tmp_path: Path, context: object
) -> None:
    path = write(
        tmp_path / "x.jsonl", change(RUN, inputs={"question": "When?", "context": context})
    )
    conversation, notes = read(path)
    assert conversation.turns[1].retrieval_context is None
    assert dict(notes.unknown_keys) == {"inputs.context": 1}
    assert notes.meant_keys == {"inputs.context": "retrieval_context"}
    assert conversation.metadata["extra"] == {"inputs.context": [context]}


def test_no_key_is_suggested_that_map_does_not_reach(tmp_path: Path) -> None:
    value = json.dumps({"question": "When?", "context": "session-4711"})
    for record in (change(TRACE, input=value), change(SPAN, attributes__input_DOT_value=value)):
        _, notes = read(write(tmp_path / "x.jsonl", record))
        assert len(notes.unknown_keys) == 1
        assert not notes.meant_keys


def test_what_tools_gave_is_never_evidence_of_the_answer_to_another_question(
    tmp_path: Path,
) -> None:
    unanswered = change(RUN, id="1", trace_id="1", inputs={"messages": CALLED}, outputs=None)
    answered = change(
        RUN, id="2", trace_id="2", start_time="2026-01-02", inputs={"question": "Where?"}
    )
    conversation, _ = read(write(tmp_path / "x.jsonl", unanswered, answered))
    assert conversation.turns[-1].content == "At nine."
    assert conversation.turns[-1].retrieval_context is None
    unused = {
        "unused_tool_results": ["It sails at nine."],
        "unused_tool_calls": [KEPT_CALL, {"name": "timetable", "id": "c"}],
    }
    [kept] = cast(list[dict[str, object]], conversation.metadata["exchanges_without_answer"])
    assert {key: kept.get(key) for key in unused} == unused
    assert "tools" not in str(conversation.metadata["per_turn"])


def test_what_tools_gave_beside_what_a_step_retrieved_is_kept(tmp_path: Path) -> None:
    run = change(RUN, inputs={"messages": CALLED})
    step = change(
        RUN, id="s", parent_run_id="r", run_type="retriever", outputs={"documents": ["A note."]}
    )
    conversation, _ = read(write(tmp_path / "x.jsonl", run, step))
    assert conversation.turns[-1].retrieval_context == (Document("A note.", "rag"),)
    assert "'unused_tool_results': ['It sails at nine.']" in str(conversation.metadata["per_turn"])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("x.request.headers.accept", "a"),
        ("x.apiKey", "a"),
        ("x", {"inner": [{"Authorization": "Bearer a"}]}),
        ("x", '{"api_key": "a"}'),
        ("x", [["Set-Cookie", "a"]]),
        ("x", "a" * 2_000),
    ],
)
@pytest.mark.parametrize("record", [RUN, SPAN])
def test_secrets_and_large_values_are_told_and_not_kept(
    tmp_path: Path, record: dict[str, Any], key: str, value: object
) -> None:
    within = "attributes__" if record is SPAN else "outputs__"
    path = write(
        tmp_path / "x.jsonl", change(record, **{within + key.replace(".", "_DOT_"): value})
    )
    conversation, notes = read(path)
    assert not notes.unknown_keys
    assert sum(notes.dropped_keys.values()) == 1
    assert "extra" not in conversation.metadata


def test_a_value_that_comes_again_is_kept_once(tmp_path: Path) -> None:
    spans = [change(SPAN, context__span_id=str(each), attributes__zebra=7) for each in range(3)]
    spans += [change(SPAN, context={"trace_id": "u", "span_id": "u"}, attributes__zebra=7)]
    for each in spans:
        each["attributes"]["session.id"] = "one"
    conversation, notes = read(write(tmp_path / "x.jsonl", *spans))
    assert dict(notes.unknown_keys) == {"attributes.zebra": 4}
    assert conversation.metadata["extra"] == {"attributes.zebra": [7]}


@pytest.mark.parametrize(
    "key", ["ai.prompt", "logfire.msg", "pydantic_ai.a", "mlflow.a", "operation.name"]
)
def test_attributes_of_known_instrumentations_are_not_told(tmp_path: Path, key: str) -> None:
    record = change(SPAN, **{"attributes__" + key.replace(".", "_DOT_"): "a"})
    _, notes = read(write(tmp_path / "x.jsonl", record))
    assert not notes.unknown_keys


@pytest.mark.parametrize(
    ("record", "key", "value"),
    [
        (RUN, "Outputs", {"answer": "At ten."}),
        (SPAN, "Attributes", {"output.value": "At ten."}),
        (TRACE, "Output", "At ten."),
    ],
)
def test_the_second_spelling_of_a_key_is_told_and_kept(
    tmp_path: Path, record: dict[str, Any], key: str, value: object
) -> None:
    conversation, notes = read(write(tmp_path / "x.jsonl", {**record, key: value}))
    assert conversation.turns[1].content == "At nine."
    assert dict(notes.unknown_keys) == {key: 1}
    assert conversation.metadata["extra"] == {key: [value]}


def test_mapped_passages_that_two_steps_hold_come_once(tmp_path: Path) -> None:
    root = change(RUN, outputs__passagez=["It sails."])
    step = {**root, "id": "s", "parent_run_id": "r"}
    choice = FormatChoice(renames={"outputs.passagez": "retrieval_context"})
    path = write(tmp_path / "x.jsonl", root, step)
    dataset, file = open_file_and_detect_format(path, choice, None)
    [found] = [each.found for each in dataset.read(file)]
    assert isinstance(found, Conversation)
    assert found.turns[1].retrieval_context == (Document("It sails."),)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (CALL, []),
        ({"name": "timetable", "description": "Times.", "input_parameters": {}}, []),
        ({"name": "timetable", "argz": "{}"}, ["tool_calls[].argz"]),
        (change(CALL, function__argz="{}"), ["tool_calls[].function.argz"]),
        (change(CALL, function__output="{}"), ["tool_calls[].function.output"]),
        ({"id": "c", "custom": {"name": "f", "argz": "{}"}}, ["tool_calls[].custom.argz"]),
    ],
)
def test_a_key_of_a_tool_call_is_told_and_kept(
    tmp_path: Path, call: dict[str, Any], told: list[str]
) -> None:
    messages = [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "It sails at nine."},
        {"role": "assistant", "content": "At nine."},
    ]
    conversation, notes = read(write(tmp_path / "x.jsonl", {"messages": messages}))
    assert list(notes.unknown_keys) == told
    kept = str(conversation.metadata["per_turn"])
    assert all(each.rpartition(".")[2] in kept for each in told)
    assert ("Times." in kept) is ("description" in call)


def test_a_field_of_a_function_leaves_that_of_its_call(tmp_path: Path) -> None:
    call = change(CALL, status="done", function__status="ready")
    messages = [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    conversation, _ = read(write(tmp_path / "x.jsonl", {"messages": messages}))
    assert conversation.metadata["unused_tool_calls"] == [
        {**KEPT_CALL, "status": "done", "function.status": "ready"}
    ]


def test_calls_that_no_answer_followed_are_kept(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
    ]
    conversation, _ = read(write(tmp_path / "x.jsonl", {"messages": messages}))
    assert conversation.metadata["unused_tool_calls"] == [KEPT_CALL]


def test_a_key_of_a_call_in_histories_that_repeat_is_counted_once(tmp_path: Path) -> None:
    first = [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": None, "tool_calls": [{"name": "f", "argz": "{}"}]},
    ]
    more = [{"role": "assistant", "content": "At nine."}, {"role": "user", "content": "Sure?"}]
    runs = [
        change(RUN, id=name, trace_id=name, start_time=name, inputs={"messages": messages})
        for name, messages in (("1", first), ("2", first + more))
    ]
    conversation, notes = read(write(tmp_path / "x.jsonl", *runs))
    assert [turn.content for turn in conversation.turns if turn.role == "user"] == [
        "When?",
        "Sure?",
    ]
    assert dict(notes.unknown_keys) == {"tool_calls[].argz": 1}
