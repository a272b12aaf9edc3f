"""A provider on this machine: real sockets, scripted answers, a record of what was sent.

It serves the routes of both providers. Each question takes the next answer of the script; when one
is left it is given again and again. An `AnsweringServer` needs no script: it answers what it is
asked. Batches are answered by `FakeBatches`.
"""

import contextlib
import json
import socket
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

from tests.judges.fake_batches import CUT, FakeBatches
from tests.judges.question_answers import answer_to, read_question

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
        self.lock = threading.Lock()
        self.in_flight = 0
        self.most_in_flight = 0

    def answer(self, body: object = None, **how: object) -> None:
        """Add an answer to the script."""
        self.script.append(Answer(body, **how))  # type: ignore[arg-type]  # checked by the class

    def choose_answer(self, sent: Sent) -> Answer:
        """Give the next answer of the script."""
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [each.body for each in self.sent]


class AnsweringServer(FakeServer):
    """Answers any question of ours to OpenAI's protocol, by what the question shows."""

    def __init__(self, latency_s: float) -> None:
        super().__init__()
        self.latency_s = latency_s
        self.answers: Counter[str] = Counter()
        """How often each question was answered, by its digest."""
        self.answers_no_more_than: int | None = None
        """After exactly so many answers every question waits for ever; None: none does."""
        self.waiting = 0
        """Questions that wait for ever."""
        self.refuses: str | None = None
        """A parameter that it does not take; None: it takes all."""

    @property
    def answered(self) -> int:
        with self.lock:
            return self.answers.total()

    def choose_answer(self, sent: Sent) -> Answer:
        """Answer the question, or refuse it, or let it wait."""
        if self.refuses in sent.body:
            said = f"Unsupported parameter: '{self.refuses}' is not supported here."
            return Answer({"error": {"message": said, "param": self.refuses}}, status=400)
        asked = read_question(sent.body, is_openai=True)
        time.sleep(self.latency_s)
        with self.lock:
            most = self.answers_no_more_than
            if most is not None and self.answers.total() >= most:
                self.waiting += 1
                return Answer(hang=True)
            self.answers[asked.digest] += 1
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return Answer(openai_body(json.dumps(answer_to(asked)), model=asked.model, usage=usage))


AnyServer = TypeVar("AnyServer", bound=FakeServer)


class _Server(ThreadingHTTPServer):
    # The default of 5 resets connections when a test asks twenty questions at once.
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that was killed in the midst of a question."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


@contextmanager
def fake_server() -> Iterator[FakeServer]:
    """Serve what a script says until the context is left."""
    with _serve(FakeServer()) as fake:
        yield fake


@contextmanager
def answering_server(latency_s: float = 0.0) -> Iterator[AnsweringServer]:
    """Answer any question until the context is left."""
    with _serve(AnsweringServer(latency_s)) as fake:
        yield fake


@contextmanager
def _serve(fake: AnyServer) -> Iterator[AnyServer]:
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
            if len(content) < length:  # the client was killed
                self.close_connection = True
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            is_json = headers.get("content-type", "") == "application/json" and bool(content)
            sent = Sent(self.path, headers, json.loads(content) if is_json else {})
            with fake.lock:
                fake.sent.append(sent)
                fake.in_flight += 1
                fake.most_in_flight = max(fake.most_in_flight, fake.in_flight)
            fake.asked.set()
            try:
                self._respond(sent, content)
            finally:
                with fake.lock:
                    fake.in_flight -= 1

        def _respond(self, sent: Sent, content: bytes) -> None:
            if fake.batches is not None and fake.batches.serves(self.path):
                self._about_batches(fake.batches, sent.headers, content)
                return
            if self.path in ROUTES:
                answer = fake.choose_answer(sent)
            elif self.path == "/v1/models" and fake.models is not None:
                answer = Answer({"data": [{"id": name} for name in fake.models]})
            else:
                answer = Answer({"error": {"message": f"no route {self.path}"}}, status=404)
            while len(fake.sent) < answer.after and not fake.closing.wait(0.005):
                pass
            try:
                self._give(answer, sent.headers.get("authorization", ""))
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
