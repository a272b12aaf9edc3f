"""Attributes of OpenTelemetry's GenAI conventions, in every way in which they come."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.conversation import Conversation, Document
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from tests.formats.test_detection import write
from tests.formats.test_keys_of_traces import read

USER = {"role": "user", "parts": [{"type": "text", "content": "When?"}]}
ANSWER = {"role": "assistant", "parts": [{"type": "text", "content": "At nine."}]}
CHAT: dict[str, object] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.conversation.id": "c",
    "gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}],
    "gen_ai.input.messages": [USER],
    "gen_ai.output.messages": [{**ANSWER, "finish_reason": "stop"}],
}
RETRIEVAL: dict[str, object] = {
    "gen_ai.operation.name": "retrieval",
    "gen_ai.retrieval.documents": [{"id": "d", "content": "It sails at nine.", "score": 0.5}],
}
TOOL: dict[str, object] = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "kb",
    "gen_ai.tool.call.result": {"results": [{"text": "No boat at ten."}]},
}


def make_span(number: str, **more: object) -> dict[str, Any]:
    start = f"2026-01-01T00:00:0{number}Z"
    parent = {} if number == "0" else {"parent_id": "0"}
    return {"trace_id": "t", "span_id": number, "name": "n", "start_time": start, **parent, **more}


def write_as_texts(attributes: Mapping[str, object]) -> dict[str, Any]:
    return {
        "attributes": {
            key: each if isinstance(each, str) else json.dumps(each)
            for key, each in attributes.items()
        }
    }


def write_as_structures(attributes: Mapping[str, object]) -> dict[str, Any]:
    return {"attributes": dict(attributes)}


def write_as_flat_keys(attributes: Mapping[str, object]) -> dict[str, Any]:
    flat: dict[str, object] = {}

    def add(key: str, value: Any) -> None:
        if isinstance(value, dict | list):
            for name, each in value.items() if isinstance(value, dict) else enumerate(value):
                add(f"{key}.{name}", each)
        else:
            flat[key] = value

    for key, value in attributes.items():
        add(key, value)
    return {"attributes": flat}


def write_as_nested_objects(attributes: Mapping[str, object]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for key, value in attributes.items():
        *outer, last = key.split(".")
        inner = nested
        for name in outer:
            inner = inner.setdefault(name, {})
        inner[last] = value
    return {"attributes": nested}


def write_as_otlp(attributes: Mapping[str, object]) -> dict[str, Any]:
    def wrap(value: Any) -> dict[str, Any]:
        match value:
            case list():
                return {"arrayValue": {"values": list(map(wrap, value))}}
            case dict():
                return {"kvlistValue": {"values": list_pairs(value)}}
            case float():
                return {"doubleValue": value}
            case _:
                return {"stringValue": value}

    def list_pairs(values: Mapping[str, object]) -> list[Any]:
        return [{"key": key, "value": wrap(each)} for key, each in values.items()]

    return {"attributes": list_pairs(attributes)}


def write_as_event(attributes: Mapping[str, object]) -> dict[str, Any]:
    name = "gen_ai.operation.name"
    rest = {key: each for key, each in attributes.items() if key != name}
    event = {"name": "gen_ai.client.inference.operation.details", "attributes": rest}
    return {"attributes": {name: attributes[name]}, "events": [event]}


@pytest.mark.parametrize(
    "write_attributes",
    [
        write_as_texts,
        write_as_structures,
        write_as_flat_keys,
        write_as_nested_objects,
        write_as_otlp,
        write_as_event,
    ],
)
def test_attributes_that_are_values_are_read_however_they_came(
    tmp_path: Path, write_attributes: Callable[[Mapping[str, object]], dict[str, Any]]
) -> None:
    spans = [
        make_span(str(number), **write_attributes(attributes))
        for number, attributes in enumerate((CHAT, RETRIEVAL, TOOL))
    ]
    conversation, notes = read(write(tmp_path / "x.jsonl", *spans))
    assert conversation.key == "c"
    assert [(each.role, each.content) for each in conversation.turns] == [
        ("user", "When?"),
        ("assistant", "At nine."),
    ]
    assert conversation.turns[1].retrieval_context == (
        Document("It sails at nine.", "n"),
        Document("No boat at ten.", "kb"),
    )
    assert conversation.metadata["system"] == ["Be brief."]
    assert not notes.unknown_keys


@pytest.mark.parametrize("has_span", [True, False])
def test_an_event_of_details_in_logs_is_read_with_its_span_or_without(
    tmp_path: Path, has_span: bool
) -> None:
    record = {
        "traceId": "t",
        "spanId": "0",
        "eventName": "gen_ai.client.inference.operation.details",
        "timeUnixNano": "1767225609000000000",
        **write_as_otlp(CHAT),
    }
    rated = {
        "traceId": "t",
        "spanId": "0",
        "eventName": "gen_ai.evaluation.result",
        **write_as_otlp(
            {"gen_ai.evaluation.name": "Faithful", "gen_ai.evaluation.score.label": "no"}
        ),
    }
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record, rated]}]}]}
    bare = {"traceId": "t", "spanId": "0", "startTimeUnixNano": "1767225600000000000"}
    spans = [{**bare, "attributes": {"gen_ai.operation.name": "chat"}}] if has_span else []
    dataset, file = open_file_and_detect_format(
        write(tmp_path / "x.jsonl", *spans, logs), FormatChoice(), None
    )
    [found] = dataset.read(file)
    assert isinstance(found.found, Conversation)
    assert found.found.key == "c"
    assert [each.content for each in found.found.turns] == ["When?", "At nine."]
    assert len(found.verdicts) == 1
    assert not dataset.notes.unknown_keys


def test_events_of_earlier_conventions_hold_prompt_and_completion(tmp_path: Path) -> None:
    events = [
        {"name": "gen_ai.content.prompt", "attributes": {"gen_ai.prompt": "When?"}},
        {"name": "gen_ai.content.completion", "attributes": {"gen_ai.completion": "At nine."}},
    ]
    record = make_span("0", attributes={"gen_ai.operation.name": "chat"}, events=events)
    conversation, _ = read(write(tmp_path / "x.jsonl", record))
    assert [each.content for each in conversation.turns] == ["When?", "At nine."]


def test_a_value_beside_keys_of_its_own_counts_and_the_keys_are_told(tmp_path: Path) -> None:
    record = make_span("0", **write_as_texts(CHAT))
    record["attributes"]["gen_ai.input.messages.0.role"] = "user"
    conversation, notes = read(write(tmp_path / "x.jsonl", record))
    assert conversation.turns[0].content == "When?"
    assert set(notes.unknown_keys) == {"attributes.gen_ai.input.messages[].role"}


def test_an_input_that_is_an_object_is_the_question(tmp_path: Path) -> None:
    attributes = {
        "openinference.span.kind": "CHAIN",
        "input": {"value": {"question": "When?", "session": {"user": "u"}}},
        "output": {"value": {"answer": "At nine."}},
    }
    conversation, notes = read(write(tmp_path / "x.jsonl", make_span("0", attributes=attributes)))
    assert [each.content for each in conversation.turns] == ["When?", "At nine."]
    assert set(notes.unknown_keys) == {"input.value.session"}


CALL = {
    "role": "assistant",
    "parts": [{"type": "tool_call", "id": "c1", "name": "kb", "arguments": {"q": "boat"}}],
}
OTHER_CALL = {
    "role": "assistant",
    "parts": [{"type": "tool_call", "id": "c2", "name": "web", "arguments": {}}],
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"response": "It sails at nine."}, Document("It sails at nine.", "kb")),
        ({"result": "It sails at nine."}, Document("It sails at nine.", "kb")),
        (
            {"response": {"results": [{"text": "It sails at nine.", "title": "Ferry"}]}},
            Document("It sails at nine.", "Ferry"),
        ),
    ],
)
@pytest.mark.parametrize("role", ["tool", "user"])
def test_results_of_tools_in_messages_are_passages_of_the_answer(
    tmp_path: Path, role: str, given: dict[str, object], expected: Document
) -> None:
    result = {"role": role, "parts": [{"type": "tool_call_response", "id": "c1", **given}]}
    chat = {**CHAT, "gen_ai.input.messages": [USER, CALL, OTHER_CALL, result]}
    record = make_span("0", attributes=chat)
    conversation, notes = read(write(tmp_path / "x.jsonl", record))
    assert [each.content for each in conversation.turns] == ["When?", "At nine."]
    assert conversation.turns[1].retrieval_context == (expected,)
    per_turn: Any = conversation.metadata["per_turn"]
    assert [each["name"] for each in per_turn["1"]["tools"]] == ["kb", "web"]
    assert not notes.unknown_keys


def test_results_of_tools_given_to_a_later_call_of_the_model_are_passages(tmp_path: Path) -> None:
    result = {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "c1", "response": "Y"}],
    }
    first = {**CHAT, "gen_ai.output.messages": [CALL]}
    second = {**CHAT, "gen_ai.input.messages": [USER, CALL, result]}
    spans = [make_span("0", attributes=first), make_span("1", attributes=second)]
    conversation, _ = read(write(tmp_path / "x.jsonl", *spans))
    assert [each.content for each in conversation.turns] == ["When?", "At nine."]
    assert conversation.turns[1].retrieval_context == (Document("Y", "kb"),)


def test_tool_messages_of_openinference_name_their_tool(tmp_path: Path) -> None:
    start = "llm.input_messages"
    attributes = {
        "openinference.span.kind": "LLM",
        f"{start}.0.message.role": "user",
        f"{start}.0.message.content": "When?",
        f"{start}.1.message.role": "assistant",
        f"{start}.1.message.tool_calls.0.tool_call.id": "c",
        f"{start}.1.message.tool_calls.0.tool_call.function.name": "kb",
        f"{start}.2.message.role": "tool",
        f"{start}.2.message.tool_call_id": "c",
        f"{start}.2.message.content": "It sails at nine.",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "At nine.",
    }
    conversation, _ = read(write(tmp_path / "x.jsonl", make_span("0", attributes=attributes)))
    assert conversation.turns[1].retrieval_context == (Document("It sails at nine.", "kb"),)


@pytest.mark.parametrize("name", ["gen_ai.input.messages", "gen_ai.output.messages"])
def test_messages_that_were_cut_off_are_refused(tmp_path: Path, name: str) -> None:
    """An SDK cuts attributes at a length that was set; what is left was judged as an answer."""
    attributes = write_as_texts(CHAT)["attributes"]
    attributes[name] = attributes[name][:-20]
    dataset, file = open_file_and_detect_format(
        write(tmp_path / "x.jsonl", make_span("0", attributes=attributes)), FormatChoice(), None
    )
    [refused] = [each.found for each in dataset.read(file)]
    assert not isinstance(refused, Conversation)
    assert f"{name}: is JSON that cannot be read, as if it had been cut off" in str(refused)


def test_evidence_that_was_cut_off_is_reported_and_kept_as_text(tmp_path: Path) -> None:
    tool = write_as_texts(TOOL)["attributes"]
    tool["gen_ai.tool.call.result"] = tool["gen_ai.tool.call.result"][:-6]
    spans = [make_span("0", **write_as_texts(CHAT)), make_span("1", attributes=tool)]
    conversation, notes = read(write(tmp_path / "x.jsonl", *spans))
    [document] = conversation.turns[-1].retrieval_context or ()
    assert document.text.startswith('{"results": [')
    assert [(key, count) for key, count in notes.remarks.items() if "cut off" in key] == [
        (
            "result or list of documents in JSON that cannot be read, as if it had been cut off: "
            "taken as text",
            1,
        )
    ]


@pytest.mark.parametrize("name", ["gen_ai.input.messages", "gen_ai.output.messages"])
def test_messages_cut_off_in_an_inner_span_are_left_out(tmp_path: Path, name: str) -> None:
    chat = write_as_texts(CHAT)["attributes"]
    chat[name] = chat[name][:-20]
    root = make_span("0", attributes={"gen_ai.operation.name": "invoke_agent"})
    path = write(tmp_path / "x.jsonl", root, make_span("1", attributes=chat))
    conversation, notes = read(path)
    assert [each.content in ("When?", "At nine.") for each in conversation.turns] == [True]
    assert [count for key, count in notes.remarks.items() if "cut off" in key] == [1]


def test_a_whole_answer_beside_one_that_was_cut_off_is_taken(tmp_path: Path) -> None:
    attributes = {**write_as_texts(CHAT)["attributes"], "output.value": "At nine."}
    attributes["gen_ai.output.messages"] = attributes["gen_ai.output.messages"][:-20]
    conversation, notes = read(write(tmp_path / "x.jsonl", make_span("0", attributes=attributes)))
    assert conversation.turns[-1].content == "At nine."
    assert [count for key, count in notes.remarks.items() if "cut off" in key] == [1]


@pytest.mark.parametrize(
    "text", ['{"name": "x"} is the record.', "[INST] When? [/INST]", "[1] and"]
)
def test_an_answer_that_begins_like_json_is_a_text(tmp_path: Path, text: str) -> None:
    attributes = {**write_as_texts(CHAT)["attributes"], "gen_ai.output.messages": text}
    conversation, _ = read(write(tmp_path / "x.jsonl", make_span("0", attributes=attributes)))
    assert conversation.turns[-1].content == text
