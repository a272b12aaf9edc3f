"""How a fault server puts an answer on the wire, or what a fault leaves of it."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Mapping

from tests.judges.fault_replies import Said


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
