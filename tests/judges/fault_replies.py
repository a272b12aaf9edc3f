"""What a fault server answers: a model's words in either protocol, and what a fault leaves."""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.judges.answering import Asked, answer_to
from tests.judges.faults import WIRE, Fault, as_json, changed_object, changed_text

Json = Any


@dataclass(frozen=True)
class Said:
    """What goes back."""

    kind: str
    """As in the ledger."""
    status: int
    payload: bytes
    billed: bool
    fault: Fault | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


UNKNOWN_FORM = {
    "schema": "'response_format' of type 'json_schema' (output_config) is not supported",
    "tool": "this model does not support tools",
    "json": "'response_format' of type 'json_object' is not supported",
    "text": "this model does not write texts",
}


def written(asked: Asked, fault: Fault | None, kind: str) -> Said:
    """Write the model's answer, with what the fault changes of it."""
    true = answer_to(asked)
    changed = changed_object(fault, true)
    text = changed_text(fault, as_json(changed))
    if fault is not None and fault.kind not in WIRE and text == as_json(true):
        # There was nothing to spoil.
        fault, kind = None, "ok"
    body = (_openai if asked.is_openai else _anthropic)(asked, text, fault)
    billed = fault is None or WIRE.get(fault.kind, True)
    if fault is not None and fault.kind == "not_json":
        page = b"<html><title>Welcome</title></html>"
        return Said(kind, 200, page, billed, fault, content_type="text/html")
    if fault is not None and fault.kind == "no_choices":
        body["choices" if asked.is_openai else "content"] = None
    payload = json.dumps(body).encode()
    if fault is not None and fault.kind == "empty_body":
        payload = b""
    if fault is not None and fault.kind == "truncated_envelope":
        payload = payload[: len(payload) // 2]
    return Said(kind, 200, payload, billed, fault)


def _openai(asked: Asked, text: str, fault: Fault | None) -> dict[str, Json]:
    kind = "" if fault is None else fault.kind
    content = text[: len(text) // 2] if kind == "max_tokens" else text
    message: dict[str, Json] = {"role": "assistant", "content": content}
    finish = "stop"
    if asked.output_format == "tool":
        function = {"name": asked.tool, "arguments": content}
        call = {"id": "call_1", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        finish = "tool_calls"
    if kind == "null_content":
        message = {"role": "assistant", "content": None}
    if kind == "refusal":
        message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    finish = {
        "max_tokens": "length",
        "content_filter": "content_filter",
        "unknown_finish": "novelty",
    }.get(kind, finish)
    usage = {
        "prompt_tokens": len(asked.prompt) // 4 + 1,
        "completion_tokens": len(content) // 4 + 1,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    body = {
        "id": f"chatcmpl-{asked.digest}",
        "object": "chat.completion",
        "created": 1,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    return _with_usage(body, usage, ("prompt_tokens", "completion_tokens"), kind)


def _anthropic(asked: Asked, text: str, fault: Fault | None) -> dict[str, Json]:
    kind = "" if fault is None else fault.kind
    content = text[: len(text) // 2] if kind == "max_tokens" else text
    block: dict[str, Json] = {"type": "text", "text": content}
    stop = "end_turn"
    if asked.output_format == "tool":
        # A tool's input is an object here and cannot be half of one.
        with contextlib.suppress(ValueError, RecursionError):
            given = json.loads(content)
            block = {"type": "tool_use", "id": "tool_1", "name": asked.tool, "input": given}
            stop = "tool_use"
    stop = {
        "max_tokens": "max_tokens",
        "content_filter": "refusal",
        "refusal": "refusal",
        "unknown_finish": "novelty",
    }.get(kind, stop)
    usage = {"input_tokens": len(asked.prompt) // 4 + 1, "output_tokens": len(content) // 4 + 1}
    body = {
        "id": f"msg_{asked.digest}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [] if kind in {"null_content", "refusal"} else [block],
        "stop_reason": stop,
    }
    return _with_usage(body, usage, ("input_tokens", "output_tokens"), kind)


def _with_usage(
    body: dict[str, Json], usage: dict[str, Json], names: tuple[str, str], kind: str
) -> dict[str, Json]:
    match kind:
        case "no_usage":
            return body
        case "bad_usage":
            usage = {names[0]: -5, names[1]: "many"}
        case "huge_usage":
            usage = dict.fromkeys(names, 10**12)
        case "extra_fields":
            body = {**body, "novelty": {"deep": [1, {"deeper": None}]}, "warnings": ["odd"]}
    return {**body, "usage": usage}


def error_body(fault: Fault, authorization: str) -> bytes:
    code = fault.code or "error"
    message = f"{fault.message} {authorization}".strip()
    error = {"message": message, "type": code, "code": code, "details": {"error_code": code}}
    return json.dumps({"type": "error", "error": error}).encode()
