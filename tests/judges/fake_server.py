"""A provider on this machine: real sockets, scripted answers, a record of what was sent.

It serves the routes of both providers. Each question takes the next answer of the script; when one
is left it is given again and again. Batches are answered by `FakeBatches`.
"""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.judges.fake_batches import CUT, FakeBatches

ROUTES = ("/v1/chat/completions", "/v1/messages")


@dataclass(frozen=True)
class Answer:
    """What to answer to one request."""

    body: object = None
    """JSON when it is no text."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    drip_s: float = 0.0
    """Seconds between two bytes of the body."""
    after: int = 0
    """Send nothing until so many requests have arrived."""
    hang: bool = False
    """Send nothing until the server closes."""
    cut: int | None = None
    """Close after so many bytes of a body whose full length was announced."""
    reset: bool = False
    """Reset the connection, after the headers or after `cut` bytes."""
    echo_key: bool = False
    """Put the request's Authorization header into the body for `$KEY`."""

    def payload(self, authorization: str) -> bytes:
        text = self.body if isinstance(self.body, str) else json.dumps(self.body)
        return (text.replace("$KEY", authorization) if self.echo_key else text).encode()


@dataclass(frozen=True)
class Sent:
    """One request as it arrived. Header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    """JSON; empty for anything else."""


class FakeServer:
    """The server's script, record and address."""

    def __init__(self) -> None:
        self.script: list[Answer] = []
        self.sent: list[Sent] = []
        self.asked = threading.Event()
        """Set when a request has arrived."""
        self.closing = threading.Event()
        self.gone = threading.Event()
        """Set when a client hung up while an answer was on its way."""
        self.url = ""
        self.batches: FakeBatches | None = None
        """Answers the routes of batches; None: there are none."""
        self.models: tuple[str, ...] | None = None
        """What the list of models holds; None: there is no such route."""
        self.clock: datetime | None = None
        """What the `Date` header says; None: the time it is."""

    def answer(self, body: object = None, **how: object) -> None:
        """Add an answer to the script."""
        self.script.append(Answer(body, **how))  # type: ignore[arg-type]  # checked by the class

    def next_answer(self) -> Answer:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


class _Server(ThreadingHTTPServer):
    # The default of 5 resets connections when a test asks twenty questions at once.
    request_queue_size = 128


@contextmanager
def fake_server() -> Iterator[FakeServer]:
    """Serve on a free port until the context is left."""
    fake = FakeServer()
    server = _Server(("127.0.0.1", 0), _handler_of(fake))
    fake.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield fake
    finally:
        fake.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler_of(fake: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", "0"))
            content = self.rfile.read(length)
            headers = {name.lower(): value for name, value in self.headers.items()}
            is_json = headers.get("content-type", "") == "application/json" and bool(content)
            fake.sent.append(Sent(self.path, headers, json.loads(content) if is_json else {}))
            fake.asked.set()
            if fake.batches is not None and fake.batches.serves(self.path):
                self._about_batches(fake.batches, headers, content)
                return
            if self.path in ROUTES:
                answer = fake.next_answer()
            elif self.path == "/v1/models" and fake.models is not None:
                answer = Answer({"data": [{"id": name} for name in fake.models]})
            else:
                answer = Answer({"error": {"message": f"no route {self.path}"}}, status=404)
            while len(fake.sent) < answer.after and not fake.closing.wait(0.005):
                pass
            try:
                self._give(answer, headers.get("authorization", ""))
            except OSError:
                fake.gone.set()

        def _about_batches(
            self, batches: FakeBatches, headers: Mapping[str, str], content: bytes
        ) -> None:
            given = batches.handle(self.command, self.path, headers, content)
            if given is CUT:
                self.close_connection = True
                return
            status, payload = given
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            breaks = batches.breaks if batches.is_file(self.path) else ""
            with contextlib.suppress(OSError):
                self.wfile.write(payload[: len(payload) // 2] if breaks else payload)
            if breaks:
                self.close_connection = True
            if breaks == "stall":
                self.wfile.flush()
                self._wait_for_hang_up()

        def _give(self, answer: Answer, authorization: str) -> None:
            if answer.hang:
                self._wait_for_hang_up()
                return
            payload = answer.payload(authorization)
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(payload)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self._write(payload[: answer.cut], answer.drip_s)
            if answer.cut is not None or answer.reset:
                self.close_connection = True
                if answer.reset:
                    # Lingering for no time makes the kernel send RST in place of FIN.
                    linger = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

        def _write(self, payload: bytes, drip_s: float) -> None:
            if not drip_s:
                self.wfile.write(payload)
                return
            for byte in payload:
                if fake.closing.wait(drip_s):
                    return
                self.wfile.write(bytes([byte]))
                self.wfile.flush()

        def _wait_for_hang_up(self) -> None:
            self.connection.settimeout(0.02)
            while not fake.closing.is_set():
                try:
                    if not self.connection.recv(1):
                        fake.gone.set()
                        return
                except TimeoutError:
                    continue

        def date_time_string(self, timestamp: float | None = None) -> str:
            if fake.clock is None:
                return super().date_time_string(timestamp)
            return format_datetime(fake.clock, usegmt=True)

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent."""

    return Handler


def openai_body(text: str | None = '{"reason": "so"}', **changes: object) -> dict[str, object]:
    """A chat completion; `finish_reason`, `message` and top-level fields can be changed."""
    message = changes.pop("message", {"role": "assistant", "content": text})
    finish_reason = changes.pop("finish_reason", "stop")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-6-luna-2026-10-01",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {
            "prompt_tokens": 120,
            "completion_tokens": 30,
            "total_tokens": 150,
            "prompt_tokens_details": {"cached_tokens": 100},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
        **changes,
    }


def anthropic_body(text: str | None = '{"reason": "so"}', **changes: object) -> dict[str, object]:
    """A message; every top-level field can be changed."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5-20261001",
        "content": [] if text is None else [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 20,
            "cache_creation_input_tokens": 30,
            "cache_read_input_tokens": 70,
            "output_tokens": 30,
            "output_tokens_details": {"thinking_tokens": 5},
        },
        **changes,
    }
