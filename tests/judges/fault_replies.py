"""What a fault server puts on the wire: a model's words in either protocol, or what is left."""

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.judges.faults import WIRE, Fault, as_json, changed_object, changed_text
from tests.judges.question_answers import Asked, answer_to

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


async def send(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    answer: Said,
    headers: Mapping[str, str],
) -> bool:
    """Put an answer on the wire, or what the fault leaves of it; whether all of it arrived."""
    fault = answer.fault
    half = len(answer.payload) // 2
    match "" if fault is None else fault.kind:
        case "reset_before":
            _reset(writer)
        case "reset_mid_body":
            writer.write(_head(answer, headers) + answer.payload[:half])
            await writer.drain()
            _reset(writer)
        case "close_mid_body":
            writer.write(_head(answer, headers) + answer.payload[:half])
            await writer.drain()
        case "bad_chunk":
            head = _head(answer, headers, length=False) + b"transfer-encoding: chunked\r\n\r\n"
            writer.write(head + b"10\r\n" + answer.payload[:16] + b"\r\nno-number\r\n")
            await writer.drain()
        case "hang":
            await hung_up(reader)
        case "drip":
            assert fault is not None
            writer.write(_head(answer, headers))
            for byte in answer.payload:
                writer.write(bytes([byte]))
                await writer.drain()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(hung_up(reader), fault.seconds)
                    return False
            return True
        case "slow":
            assert fault is not None
            await asyncio.sleep(fault.seconds)
            return await _write_all(reader, writer, answer, headers)
        case _:
            return await _write_all(reader, writer, answer, headers)
    return False


async def _write_all(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    answer: Said,
    headers: Mapping[str, str],
) -> bool:
    if _is_gone(reader, writer):
        return False
    await write(writer, answer, headers)
    return not _is_gone(reader, writer)


async def write(writer: asyncio.StreamWriter, answer: Said, headers: Mapping[str, str]) -> None:
    writer.write(_head(answer, headers) + answer.payload)
    await writer.drain()


def _head(answer: Said, headers: Mapping[str, str], *, length: bool = True) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} Said", f"content-type: {answer.content_type}"]
    if length:
        lines.append(f"content-length: {len(answer.payload)}")
    lines += [f"{name}: {value}" for name, value in {**headers, **answer.headers}.items()]
    return ("\r\n".join(lines) + ("\r\n\r\n" if length else "\r\n")).encode("latin-1")


def _is_gone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    return reader.at_eof() or writer.is_closing()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Lingering for no time makes the kernel send RST in place of FIN."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def hung_up(reader: asyncio.StreamReader) -> None:
    """Say nothing until the client goes."""
    while await reader.read(4096):
        pass
