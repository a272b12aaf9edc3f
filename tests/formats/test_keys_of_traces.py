"""A key of a trace or a tool call that no schema has is told and kept; others are not told."""

import json
from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.conversation import Conversation, Document
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from faithtui.formats.readers.protocol import ReadNotes
from tests.formats.test_detection import write

CALL = {"id": "c", "type": "function", "function": {"name": "timetable", "arguments": "{}"}}
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


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (CALL, []),
        ({"name": "timetable", "description": "Times.", "input_parameters": {}}, []),
        ({"name": "timetable", "argz": "{}"}, ["tool_calls[].argz"]),
        (change(CALL, function__argz="{}"), ["tool_calls[].function.argz"]),
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


def test_calls_that_no_answer_followed_are_kept(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
    ]
    conversation, _ = read(write(tmp_path / "x.jsonl", {"messages": messages}))
    known = {"name": "timetable", "id": "c", "arguments": "{}"}
    assert conversation.metadata["unused_tool_calls"] == [known]


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
