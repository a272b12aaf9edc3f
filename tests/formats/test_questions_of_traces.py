"""Questions and passages of traces in the shapes that decorators, steps and tables give them."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.conversation import Conversation, Document
from faithtui.errors import InputError
from faithtui.formats.files.paged_lists import find_paged_list
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from faithtui.formats.readers.traces.unknown_fields import UnknownFields
from tests.formats.test_detection import write
from tests.formats.test_keys_of_traces import RUN, SPAN, TRACE, change, read


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"args": ["When?"], "kwargs": {}}, ""),
        ({"args": [[{"role": "user", "content": "When?"}], "x"]}, "args"),
        ({"args": ["When?", 5], "kwargs": {"user_id": "u"}}, "args kwargs.user_id"),
        ({"args": [], "kwargs": {"question": "When?", "user_id": "u"}}, "kwargs.user_id"),
        ({"question": "When?", "input": ["a", "b"], "query": {"k": 1}}, "input query.k"),
    ],
)
def test_a_question_among_arguments_is_read_and_the_rest_is_told(
    tmp_path: Path, given: dict[str, object], told: str
) -> None:
    for record, name in ((change(TRACE, input=given), "input"), (change(RUN, inputs=given), None)):
        conversation, notes = read(write(tmp_path / f"{name}.jsonl", record))
        assert [each.content for each in conversation.turns] == ["When?", "At nine."]
        assert set(notes.unknown_keys) == {f"{name or 'inputs'}.{key}" for key in told.split()}


@pytest.mark.parametrize(
    "given", [5, ["a", "b"], {"args": ["a", "b"]}, {"args": [], "kwargs": {"user_id": "u"}}]
)
def test_what_is_no_question_is_told(tmp_path: Path, given: object) -> None:
    conversation, notes = read(write(tmp_path / "x.jsonl", change(TRACE, input=given)))
    assert len(conversation.turns) == 1
    assert len(notes.unknown_keys) == 1


def test_what_is_around_an_answer_is_told(tmp_path: Path) -> None:
    record = change(RUN, outputs={"answer": {"text": "At nine.", "sources": ["s"]}})
    conversation, notes = read(write(tmp_path / "x.jsonl", record))
    assert conversation.turns[-1].content == "At nine."
    assert dict(notes.unknown_keys) == {"outputs.answer.sources": 1}


_DOCUMENTS = [{"document.content": "It sails.", "document.score": 0.5}]


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        (json.dumps(_DOCUMENTS), ["It sails."]),
        (repr(_DOCUMENTS), ["It sails."]),
        ("[]", []),
        ("array([x])", None),
        ("", []),  # OpenInference writes no attribute for an empty list
    ],
)
def test_documents_in_a_cell_of_spans_are_read_and_never_empty_instead(
    tmp_path: Path, cell: str, texts: list[str] | None
) -> None:
    path = tmp_path / "spans.csv"
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        kinds = ("openinference.span.kind", "input.value", "output.value", "retrieval.documents")
        ids = ("context.trace_id", "context.span_id", "parent_id", "start_time")
        rows.writerow([*ids, *(f"attributes.{each}" for each in kinds)])
        rows.writerow(["t", "1", "", "1", "CHAIN", "When?", "At nine.", ""])
        rows.writerow(["t", "2", "1", "2", "RETRIEVER", "When?", "", cell])
    conversation, notes = read(path)
    context = conversation.turns[-1].retrieval_context
    assert (None if context is None else [each.text for each in context]) == texts
    told = {"attributes.retrieval.documents"} if cell.startswith("array") else set()
    assert set(notes.unknown_keys) == told


def test_passages_of_a_retriever_without_output_are_not_known(tmp_path: Path) -> None:
    silent = {"id": "o", "traceId": "t", "type": "RETRIEVER", "startTime": "1", "output": None}
    run = change(RUN, id="k", parent_run_id="r", run_type="retriever", outputs=None)
    for name, records in (("x", [change(TRACE, observations=[silent])]), ("y", [RUN, run])):
        conversation, _ = read(write(tmp_path / f"{name}.jsonl", *records))
        assert conversation.turns[-1].retrieval_context is None


def _make_span(kind: str, number: int, **attributes: object) -> dict[str, object]:
    return {
        "name": kind,
        "context": {"trace_id": "t", "span_id": str(number)},
        "parent_id": None if number == 0 else "0",
        "start_time": str(number),
        "attributes": {"openinference.span.kind": kind, **attributes},
    }


def _list_documents(*texts: str) -> list[dict[str, str]]:
    return [{"document.content": each} for each in texts]


@pytest.mark.parametrize(
    ("given", "texts"), [(None, ["b"]), (["a", "b"], ["c", "b"]), (["a", "b", "c"], ["b"])]
)
def test_what_a_reranker_gave_counts_and_not_what_it_was_given(
    tmp_path: Path, given: list[str] | None, texts: list[str]
) -> None:
    root = _make_span("CHAIN", 0, **{"input.value": "When?", "output.value": "At nine."})
    found = _make_span("RETRIEVER", 1, **{"retrieval.documents": _list_documents("a", "b", "c")})
    inputs = {"reranker.input_documents": _list_documents(*given)} if given else {}
    outputs = {"reranker.output_documents": _list_documents("b")}
    reranker = _make_span("RERANKER", 2, **inputs, **outputs)
    for records, expected in (([root, found, reranker], texts), ([root, reranker], ["b"])):
        conversation, notes = read(write(tmp_path / "x.jsonl", *records))
        context = conversation.turns[-1].retrieval_context
        assert [each.text for each in context or ()] == expected
        is_known = found in records or len(given or ()) > 1
        assert any("reranker" in each for each in notes.remarks) == is_known


def _make_reranker(number: int, given: Iterable[str], gave: Iterable[str]) -> dict[str, object]:
    documents = {
        f"reranker.{name}_documents": _list_documents(*texts)
        for name, texts in (("input", given), ("output", gave))
        if texts
    }
    return _make_span("RERANKER", number, **documents)


def _make_retriever(number: int, texts: Iterable[str]) -> dict[str, object]:
    return _make_span("RETRIEVER", number, **{"retrieval.documents": _list_documents(*texts)})


@pytest.mark.parametrize(
    ("spans", "texts", "told"),
    [
        # Two parallel pairs: what one left out, the other one gave.
        (
            (
                *(_make_retriever(1, "ab"), _make_retriever(2, "bc")),
                *(_make_reranker(3, "ab", "b"), _make_reranker(4, "bc", "c")),
            ),
            "bc",
            "those that a reranker gave",
        ),
        # One behind the other.
        (
            (
                _make_retriever(1, "abc"),
                _make_reranker(2, "abc", "ba"),
                _make_reranker(3, "ab", "a"),
            ),
            "a",
            "those that a reranker gave",
        ),
        # One behind two others; then beside them, given what one of them was.
        (
            (
                *(_make_retriever(1, "abc"), _make_reranker(2, "abc", "ab")),
                *(_make_retriever(3, "xyz"), _make_reranker(4, "xyz", "xy")),
                _make_reranker(5, "abxy", "ax"),
            ),
            "ax",
            "those that a reranker gave",
        ),
        (
            (
                *(_make_retriever(1, "abc"), _make_reranker(2, "abc", "ab")),
                *(_make_reranker(3, "abc", "c"), _make_reranker(4, "abc", "a")),
            ),
            "bca",
            "",
        ),
        ((_make_retriever(1, "ab"), _make_reranker(2, "ab", "ba")), "ba", ""),
        ((_make_retriever(1, "ab"), _make_reranker(2, "ab", "")), "ab", "does not say"),
        # It sorts before what it was given; a later retriever gave what it had left out.
        ((_make_reranker(1, "ab", "a"), _make_retriever(1, "ab")), "a", "those that"),
        (
            (_make_retriever(1, "ab"), _make_reranker(2, "ab", "a"), _make_retriever(3, "b")),
            "ba",
            "",
        ),
        # A tool's output was not given to it.
        (
            (
                *(_make_retriever(1, "ab"), _make_span("TOOL", 2, **{"output.value": "t"})),
                _make_reranker(3, "", "a"),
            ),
            "ta",
            "those that a reranker gave",
        ),
    ],
)
def test_rerankers_leave_out_only_what_they_were_given(
    tmp_path: Path, spans: tuple[dict[str, object], ...], texts: str, told: str
) -> None:
    root = _make_span("CHAIN", 0, **{"input.value": "When?", "output.value": "At nine."})
    conversation, notes = read(write(tmp_path / "x.jsonl", root, *spans))
    context = conversation.turns[-1].retrieval_context
    assert "".join(each.text for each in context or ()) == texts
    assert [told in each for each in notes.remarks] == ([True] if told else [])


def test_steps_are_in_order_of_time_with_and_without_fractions(tmp_path: Path) -> None:
    early, late = "2026-01-01T00:00:01Z", "2026-01-01T00:00:01.500Z"
    root = _make_span("CHAIN", 0, **{"input.value": "When?", "output.value": "At nine."})
    found = {**_make_retriever(1, "ab"), "start_time": early}
    reranked = {**_make_reranker(2, "ab", "a"), "start_time": late}
    more = {**_make_retriever(3, "c"), "start_time": late}
    step = {"traceId": "t", "type": "RETRIEVER"}
    observations = [
        {**step, "id": text, "startTime": time, "output": [text]}
        for text, time in (("c", late), ("a", early))
    ]
    run = change(RUN, run_type="retriever", parent_run_id="r", dotted_order=None)
    runs = [
        {**run, "id": text, "start_time": time, "outputs": {"documents": [text]}}
        for text, time in (("c", late), ("a", early))
    ]
    for records, texts in (
        ([root, more, reranked, found], "ca"),
        ([root, more, found], "abc"),
        ([change(TRACE, observations=observations)], "ac"),
        ([RUN, *runs], "ac"),
    ):
        conversation, _ = read(write(tmp_path / "x.jsonl", *records))
        context = conversation.turns[-1].retrieval_context
        assert "".join(each.text for each in context or ()) == texts


@pytest.mark.parametrize(
    ("status", "is_known"),
    [
        *((each, False) for each in ("ERROR", 2, {"code": "STATUS_CODE_ERROR"})),
        *((each, True) for each in ("OK", None, {}, {"code": 1})),
    ],
)
def test_what_a_failed_retriever_retrieved_is_not_known(
    tmp_path: Path, status: object, is_known: bool
) -> None:
    root = _make_span("CHAIN", 0, **{"input.value": "When?", "output.value": "At nine."})
    failed = {**_make_span("RETRIEVER", 1), "status": status}
    conversation, _ = read(write(tmp_path / "x.jsonl", root, failed))
    assert conversation.turns[-1].retrieval_context == (() if is_known else None)


def test_texts_that_openinference_hid_are_not_there(tmp_path: Path) -> None:
    hidden = "__REDACTED__"
    said = {"role": "user", "content": hidden}
    messages = {"llm.input_messages": [{f"message.{name}": each for name, each in said.items()}]}
    root = _make_span("CHAIN", 0, **{"input.value": hidden, "output.value": "At nine."}, **messages)
    silent = {"input.value": hidden, "output.value": hidden}
    inner = [_make_span(kind, 1, **silent) for kind in ("RETRIEVER", "TOOL", "CHAIN")]
    for span in (*inner, _make_retriever(1, [hidden]), _make_reranker(1, [hidden], [hidden])):
        conversation, notes = read(write(tmp_path / "x.jsonl", root, span))
        assert [each.content for each in conversation.turns] == ["At nine."]
        assert conversation.turns[-1].retrieval_context is None
        assert hidden not in str(conversation.metadata)
        assert any(hidden in each for each in notes.remarks)


def _make_traces_with_step(
    kind: str, output: object, *, failed: bool
) -> list[list[dict[str, Any]]]:
    """Make a trace of each tool with a retriever or a tool that gave something, or failed."""
    level = {"level": "ERROR"} if failed else {}
    step = {"id": "o", "traceId": "t", "type": kind.upper(), "startTime": "1", "output": output}
    run = change(RUN, id="k", parent_run_id="r", run_type=kind, dotted_order="1.1")
    outputs = output if isinstance(output, dict) else {"documents": output}
    root = _make_span("CHAIN", 0, **{"input.value": "When?", "output.value": "At nine."})
    text = output if isinstance(output, str) else json.dumps(output)
    span = _make_span(kind.upper(), 1, **{"output.value": text})
    return [
        [change(TRACE, observations=[{**step, **level}])],
        [RUN, {**run, "outputs": outputs, **({"error": "boom"} if failed else {})}],
        [root, {**span, "status": "ERROR" if failed else "OK"}],
    ]


@pytest.mark.parametrize(
    ("kind", "output", "failed", "texts"),
    [
        ("retriever", [], False, []),
        ("retriever", [], True, None),
        ("retriever", {}, False, None),
        ("retriever", {}, True, None),
        ("retriever", {"documents": []}, True, None),
        ("retriever", "Error: timeout", True, None),
        ("retriever", ["It sails."], True, ["It sails."]),
        ("tool", {}, True, None),
        ("tool", "Error: timeout", True, ["Error: timeout"]),
    ],
)
def test_only_documents_of_a_failed_retriever_are_known(
    tmp_path: Path, kind: str, output: object, failed: bool, texts: list[str] | None
) -> None:
    for records in _make_traces_with_step(kind, output, failed=failed):
        conversation, notes = read(write(tmp_path / "x.jsonl", *records))
        context = conversation.turns[-1].retrieval_context
        assert (None if context is None else [each.text for each in context]) == texts
        is_left_out = kind == "retriever" and isinstance(output, str)
        assert len(notes.remarks) == is_left_out


def test_a_text_beside_what_openinference_hid_is_read(tmp_path: Path) -> None:
    hidden = "__REDACTED__"
    parts = [
        {"message_content.type": "text", "message_content.text": "What is on this receipt?"},
        {"message_content.type": "image", "message_content.image.image.url": hidden},
    ]
    asked = {"message.role": "user", "message.contents": parts}
    found = {"document.content": "It sails.", "document.metadata": hidden}
    root = _make_span("LLM", 0, **{"output.value": "Tea.", "llm.input_messages": [asked]})
    for span in (
        _make_span(
            "RETRIEVER",
            1,
            **{"retrieval.documents": [found, {**found, "document.content": hidden}]},
        ),
        _make_span("RERANKER", 1, **{"reranker.output_documents": [found]}),
    ):
        conversation, notes = read(write(tmp_path / "x.jsonl", root, span))
        assert [each.content for each in conversation.turns] == ["What is on this receipt?", "Tea."]
        assert conversation.turns[-1].retrieval_context == (Document("It sails."),)
        assert hidden not in str(conversation.metadata)
        assert any(hidden in each for each in notes.remarks)


def _put_output_in_a_step(output: object) -> list[list[dict[str, Any]]]:
    """Make a trace of each tool whose inner step gave something."""
    step = {"id": "o", "traceId": "t", "type": "SPAN", "name": "n", "startTime": "1"}
    named = output if isinstance(output, dict) else {"output": output}
    run = change(RUN, id="k", parent_run_id="r", name="n", dotted_order="1.1", outputs=named)
    root = _make_span("CHAIN", 0, **{"input.value": "When?", "output.value": "At nine."})
    span = _make_span("CHAIN", 1, **{"output.value": json.dumps(output)})
    return [[change(TRACE, observations=[{**step, "output": output}])], [RUN, run], [root, span]]


def test_documents_in_the_output_of_any_step_are_evidence_where_there_is_no_other(
    tmp_path: Path,
) -> None:
    for records in _put_output_in_a_step({"documents": [{"page_content": "It sails."}]}):
        conversation, notes = read(write(tmp_path / "x.jsonl", *records))
        assert conversation.turns[-1].retrieval_context == (Document("It sails."),)
        assert any("output" in each and "documents`" in each for each in notes.remarks)


@pytest.mark.parametrize(
    ("is_nested", "outer", "inner", "texts"),
    [
        (True, ["a"], ["a", "b"], ["a"]),
        (True, ["a", "b"], ["a"], ["a", "b"]),
        (False, ["a"], ["a", "b"], ["a", "b"]),
        (False, ["a", "b"], ["a"], ["a", "b"]),
    ],
)
def test_documents_of_a_step_count_over_those_of_steps_within_it_alone(
    tmp_path: Path, is_nested: bool, outer: list[str], inner: list[str], texts: list[str]
) -> None:
    first, second = {"documents": outer}, {"documents": inner}
    step = {"id": "1", "traceId": "t", "type": "SPAN", "name": "n", "startTime": "1"}
    within = {"id": "2", "startTime": "2", "parentObservationId": "1" if is_nested else None}
    observations = [{**step, "output": first}, {**step, **within, "output": second}]
    run = change(RUN, id="k", parent_run_id="r", dotted_order="1.1", outputs=first)
    below = change(run, id="l", parent_run_id="k" if is_nested else "r", dotted_order="1.1.1")
    root = _make_span("CHAIN", 0, **{"input.value": "When?", "output.value": "At nine."})
    one, two = (
        _make_span("CHAIN", number, **{"output.value": json.dumps(each)})
        for number, each in ((1, first), (2, second))
    )
    two["parent_id"] = "1" if is_nested else "0"
    for records in (
        [change(TRACE, observations=observations)],
        [RUN, run, {**below, "outputs": second}],
        [root, one, two],
    ):
        conversation, notes = read(write(tmp_path / "x.jsonl", *records))
        context = conversation.turns[-1].retrieval_context
        assert [each.text for each in context or ()] == texts
        is_told = any("outer step" in each for each in notes.remarks)
        assert is_told == (len(texts) < len(inner))


@pytest.mark.parametrize(
    ("parents", "texts"), [("1", "a"), ("21", "ab"), ("1 ", "ab"), ("212", "ab"), ("231", "abc")]
)
def test_documents_of_steps_that_are_in_themselves_are_joined(
    tmp_path: Path, parents: str, texts: str
) -> None:
    observations = [
        {
            **{"id": str(number), "traceId": "t", "type": "SPAN", "name": "n"},
            **{"startTime": str(number), "parentObservationId": parent.strip() or None},
            "output": {"documents": ["abc"[number - 1]]},
        }
        for number, parent in enumerate(parents, start=1)
    ]
    path = write(tmp_path / "x.jsonl", change(TRACE, observations=observations))
    conversation, notes = read(path)
    context = conversation.turns[-1].retrieval_context
    assert "".join(each.text for each in context or ()) == texts
    assert any("outer step" in each for each in notes.remarks) == (len(texts) < len(parents))


def test_a_list_that_a_step_gave_is_told_with_the_way_to_have_it_read(tmp_path: Path) -> None:
    for records in _put_output_in_a_step(["It sails.", "It waits."]):
        conversation, notes = read(write(tmp_path / "x.jsonl", *records))
        assert conversation.turns[-1].retrieval_context is None
        assert len(notes.unknown_keys) == 1
        [remark] = notes.remarks
        assert "etriever`" in remark.replace("RETRIEVER", "retriever")


def test_langfuse_observations_in_a_file_of_their_own_are_no_rows(tmp_path: Path) -> None:
    observation = {
        "id": "o", "traceId": "t", "type": "GENERATION", "name": "n", "startTime": "1",
        "parentObservationId": None, "input": "When?", "output": "At nine.",
    }  # fmt: skip
    path = write(tmp_path / "observations.jsonl", observation)
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    file.close()
    assert dataset.reader.name == "langfuse"
    row = {"question": "When?", "answer": "At nine.", "trace_id": "t"}
    conversation, _ = read(write(tmp_path / "rows.jsonl", row))
    assert len(conversation.turns) == 2


@pytest.mark.parametrize(
    ("answer", "reader"),
    [
        ({"data": [TRACE], "meta": {"page": 1}}, "langfuse"),
        ({"data": [SPAN], "next_cursor": None}, "spans"),
        ({"runs": [RUN], "cursors": {"next": None}}, "langsmith"),
        (
            {
                "features": [],
                "rows": [{"row_idx": 0, "row": {"question": "When?", "answer": "At nine."}}],
            },
            "rows",
        ),
    ],
)
def test_records_in_an_answer_of_an_api_are_read(
    tmp_path: Path, answer: dict[str, object], reader: str
) -> None:
    document = tmp_path / "x.json"
    document.write_text(json.dumps(answer, indent=1))
    for path in (document, write(tmp_path / "x.jsonl", answer)):
        dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
        file.close()
        assert dataset.reader.name == reader
        assert "of an answer of an API" in dataset.reason
        conversation, _ = read(path)
        assert [each.content for each in conversation.turns] == ["When?", "At nine."]


def test_an_object_that_says_more_than_its_list_is_no_answer_of_an_api() -> None:
    others: list[dict[str, Any]] = [{"data": [RUN], "question": "When?"}, {"data": [], "meta": {}}]
    others.append({"data": [RUN], "pages": ["text of a page"]})
    for other in (*others, {"data": [{"role": "user"}]}, {"rows": [{"row": 1}]}):
        assert find_paged_list(other) is None


def test_rows_that_the_viewer_cut_short_are_refused_one_by_one(tmp_path: Path) -> None:
    row = {"question": "When?", "answer": "At nine."}
    cut = {"row": row, "truncated_cells": ["answer"]}
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"rows": [{"row": row}, cut], "features": []}))
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    good, refused = (each.found for each in dataset.read(file))
    assert isinstance(good, Conversation)
    assert isinstance(refused, InputError)
    assert "`answer` were cut short, as `truncated_cells` says" in str(refused)


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        ({"meta": {"page": 1, "totalItems": 700}}, "1 of 700 records"),
        ({"total": 1, "meta": {"page": 1}}, None),
        ({"has_more": True}, "one page: 1 record, and the answer says that more follow"),
        ({"meta": {"page": 1, "totalPages": 3}}, "1 of 3 pages: 1 record"),
        ({"page_count": 2, "pageSize": 1}, "1 of 2 pages"),
        ({"meta": {"page": 1, "totalPages": 1, "hasNext": False}}, None),
        ({"hasNext": True}, "more follow"),
        ({"next_page_token": "x"}, "more follow"),
        ({"cursors": {"next": "x"}}, "more follow"),
        ({"next_cursor": None, "has_more": False, "count": 1}, None),
    ],
)
def test_a_page_is_not_taken_for_the_whole(
    tmp_path: Path, beside: dict[str, object], told: str | None
) -> None:
    _, notes = read(write(tmp_path / "x.jsonl", {"data": [TRACE], **beside}))
    remarks = [each for each in notes.remarks if "this is " in each]
    assert [str(told) in each for each in remarks] == ([] if told is None else [True])


def test_an_empty_last_page_is_no_record(tmp_path: Path) -> None:
    pages = [{"data": [TRACE], "meta": {"page": 1}}, {"data": [], "meta": {"page": 2}}]
    conversation, notes = read(write(tmp_path / "x.jsonl", *pages))
    assert len(conversation.turns) == 2
    assert not notes.remarks


def test_secrets_in_metadata_of_a_trace_are_dropped_and_told(tmp_path: Path) -> None:
    metadata = {"x_api_key": "sk-1", "env": "prod", "total_tokens": 3}
    traced = change(TRACE, metadata=metadata)
    for record, within in ((traced, ""), (change(RUN, extra={"metadata": metadata}), "extra.")):
        conversation, notes = read(write(tmp_path / "x.jsonl", record))
        assert dict(notes.dropped_keys) == {f"{within}metadata.x_api_key": 1}
        assert "sk-1" not in str(conversation.metadata)
        assert "prod" in str(conversation.metadata)
        assert "total_tokens" in str(conversation.metadata)


def test_secrets_deep_in_metadata_and_in_tags_are_dropped_and_told(tmp_path: Path) -> None:
    metadata = {
        "env": "prod", "api_keys": ["sk-1"], "hdrs": [{"authorization": "Bearer sk-2"}],
        "creds": {"deep": [{"token": {"value": "sk-3"}}]}, "auth": ["Bearer sk-4"], "tokens": [3],
    }  # fmt: skip
    tags = ["nightly", "Bearer sk-5"]
    text = json.dumps(metadata)
    named = {"attributes__metadata": text, "attributes__tag_DOT_tags": tags}
    for record in (
        change(TRACE, metadata=metadata, tags=tags),
        change(TRACE, metadata=text, tags=json.dumps(tags)),
        change(RUN, extra={"metadata": metadata}, tags=tags),
        change(RUN, extra=json.dumps({"metadata": metadata}), tags=tags),
        change(SPAN, **named),
    ):
        conversation, notes = read(write(tmp_path / "x.jsonl", record))
        kept = str(conversation.metadata)
        assert "sk-" not in kept
        assert "prod" in kept
        assert "nightly" in kept
        assert "'tokens': [3]" in kept
        assert sum(notes.dropped_keys.values()) == 5
        assert any(
            each.endswith("metadata.creds.deep[].token.value") for each in notes.dropped_keys
        )


def test_headings_counts_and_words_that_begin_like_a_secret_are_kept() -> None:
    """What retrievers say of a passage: its headings, how long it is, who wrote it."""
    plain = {
        "header": "Account > Login",
        "section_header": "Opening hours",
        "headers": ["Account", "Login"],
        "tokenizer": "cl100k",
        "token_count": "120",
        "secretary": "Bob Smith",
    }
    hidden = {
        "header": "Authorization: Basic abc",
        "headers": ["x-api-key=abc"],
        "request_headers": {"Authorization": "abc"},
        "token": "120",
        "secret_header": "abc",
    }
    unknown = UnknownFields()
    assert unknown.drop_secrets(plain, "") == plain
    assert unknown.drop_secrets(hidden, "") == {"headers": [], "request_headers": {}}


_SECRETS: dict[str, object] = {"api_key": "sk-1", "note": "kept"}
_PASSAGE: dict[str, object] = {
    "page_content": "It sails.",
    "metadata": {**_SECRETS, "x": {"headers": {"Authorization": "sk-2"}}, "Header 1": "Sailing"},
}
_SCORE: dict[str, object] = {
    "id": "s", "traceId": "t", "name": "tone", "value": 1, "dataType": "NUMERIC", "source": "API",
    "metadata": {**_SECRETS, "total_tokens": "3"},
}  # fmt: skip
_EVALUATION = {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.value": 1, **_SECRETS}
_OBSERVATION = {"id": "o", "traceId": "t", "type": "RETRIEVER", "startTime": "1"}
_ASKED = [{"role": "user", "content": "When?", "additional_kwargs": _SECRETS}]


@pytest.mark.parametrize(
    ("records", "told"),
    [
        (
            [{**SPAN, "events": [{"name": "gen_ai.evaluation.result", "attributes": _EVALUATION}]}],
            "attributes.api_key scores[].api_key",
        ),
        (
            [
                SPAN,
                _make_span(
                    "RETRIEVER",
                    1,
                    **{
                        "retrieval.documents.0.document.content": "It sails.",
                        "retrieval.documents.0.document.metadata": json.dumps(_PASSAGE["metadata"]),
                    },
                ),
            ],
            "passages[].metadata.api_key passages[].metadata.x.headers.Authorization",
        ),
        ([change(TRACE, scores=[_SCORE])], "scores[].metadata.api_key"),
        (
            [change(TRACE, scores=[_SCORE], output=None)],
            "exchanges_without_answer[].scores[].metadata.api_key",
        ),
        (
            [change(TRACE, observations=[{**_OBSERVATION, "output": [_PASSAGE]}])],
            "passages[].metadata.api_key passages[].metadata.x.headers.Authorization",
        ),
        (
            [
                RUN,
                change(RUN, id="k", parent_run_id="r", run_type="retriever", dotted_order="1.1")
                | {"outputs": {"documents": [_PASSAGE]}},
            ],
            "passages[].metadata.api_key passages[].metadata.x.headers.Authorization",
        ),
        ([change(RUN, inputs={"messages": _ASKED})], "additional_kwargs.api_key"),
    ],
)
def test_secrets_beside_the_texts_of_a_trace_are_dropped_and_told(
    tmp_path: Path, records: list[dict[str, Any]], told: str
) -> None:
    conversation, notes = read(write(tmp_path / "x.jsonl", *records))
    kept = str(conversation.metadata)
    assert "sk-" not in kept
    assert "kept" in kept
    assert ("Sailing" in kept) == ("passages" in told)
    assert ("total_tokens" in kept) == ("metadata" in told and "scores" in told)
    assert sorted(notes.dropped_keys) == told.split()


def test_evidence_and_messages_are_no_secrets(tmp_path: Path) -> None:
    text = "The header is Authorization: Bearer KEY"
    messages = [
        {"role": "system", "content": text},
        {"role": "user", "content": text},
        {"role": "tool", "content": text, "name": "search"},
    ]
    answered = change(RUN, inputs={"messages": messages}, outputs={"answer": text})
    for record in (answered, change(answered, outputs=None)):
        conversation, notes = read(write(tmp_path / "x.jsonl", record))
        assert conversation.turns[0].content == text
        assert conversation.metadata["system"] == [text]
        assert str(conversation).count(text) == len(conversation.turns) + 2
        assert not notes.dropped_keys


@pytest.mark.parametrize("hidden", [[["x-api-key", "sk-1"]], {"name": "Cookie", "value": "sk-1"}])
def test_a_secret_behind_its_name_in_json_is_dropped(tmp_path: Path, hidden: object) -> None:
    score = {**_SCORE, "metadata": {"sent": json.dumps(hidden), "note": '{"max_tokens": 3}'}}
    conversation, notes = read(write(tmp_path / "x.jsonl", change(TRACE, scores=[score])))
    assert "sk-" not in str(conversation.metadata)
    assert '{"max_tokens": 3}' in str(conversation.metadata)
    assert dict(notes.dropped_keys) == {"scores[].metadata.sent": 1}


def test_no_map_is_suggested_for_a_secret(tmp_path: Path) -> None:
    score = {**_SCORE, "metadata": {"context": "Authorization: Bearer sk-1"}}
    _, notes = read(write(tmp_path / "x.jsonl", change(TRACE, scores=[score])))
    assert dict(notes.dropped_keys) == {"scores[].metadata.context": 1}
    assert not notes.meant_keys


def test_a_long_text_of_words_like_names_of_secrets_is_searched_at_once(tmp_path: Path) -> None:
    score = {**_SCORE, "comment": "token " * 8000}
    conversation, _ = read(write(tmp_path / "x.jsonl", change(TRACE, scores=[score])))
    assert "token token" in str(conversation.metadata)
