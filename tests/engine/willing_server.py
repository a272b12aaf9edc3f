"""A server that speaks OpenAI's protocol and answers any question in the shape it asks for."""

import hashlib
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = Any


class _Server(ThreadingHTTPServer):
    # With the default of 5 the others of sixteen questions at once wait a second to connect.
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that was killed in the midst of a question."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class WillingServer:
    """What was asked, and how slowly to answer."""

    def __init__(self, latency_s: float) -> None:
        self.latency_s = latency_s
        self.url = ""
        self.asked: Counter[str] = Counter()
        """How often each question (a digest of its messages and schema) was answered."""
        self.answers_no_more_than: int | None = None
        """After exactly so many answers every question waits for ever; None: none does."""
        self.waiting = 0
        """Questions that wait for ever."""
        self.going_down = threading.Event()
        self.lock = threading.Lock()
        self.arrived = 0
        """Questions, answered or not."""
        self.in_flight = 0
        self.most_in_flight = 0
        self.refuses: str | None = None
        """A parameter that it does not take; None: it takes all."""
        self.bodies: list[Json] = []
        """Every request, refused ones too."""

    @property
    def answered(self) -> int:
        with self.lock:
            return self.asked.total()


def reply_to(schema: Mapping[str, Json], question: str) -> Json:
    """Fill a schema: two texts per list, and verdicts that depend on the question alone."""
    kind = schema.get("type")
    if kind == "object":
        return {
            name: reply_to(part, f"{question}/{name}")
            for name, part in schema["properties"].items()
        }
    digest = hashlib.sha256(question.encode()).hexdigest()
    if kind == "array":
        if question.endswith(("sufficient", "partial", "contradicts")):
            return []
        return [f"Statement {digest[:6]}.", f"Statement {digest[6:12]}."]
    words = schema.get("enum")
    return words[int(digest[:4], 16) % len(words)] if words else f"Because of {digest[:6]}."


@contextmanager
def willing_server(latency_s: float = 0.0) -> Iterator[WillingServer]:
    """Serve on a free port until the context is left."""
    willing = WillingServer(latency_s)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            data = self.rfile.read(length)
            if len(data) < length:  # the client was killed
                self.close_connection = True
                return
            body = json.loads(data)
            with willing.lock:
                willing.arrived += 1
                willing.in_flight += 1
                willing.most_in_flight = max(willing.most_in_flight, willing.in_flight)
                willing.bodies.append(body)
            try:
                if willing.refuses in body:
                    said = f"Unsupported parameter: '{willing.refuses}' is not supported here."
                    error = {"message": said, "param": willing.refuses}
                    self._send(400, json.dumps({"error": error}).encode())
                    return
                self._answer(body)
            finally:
                with willing.lock:
                    willing.in_flight -= 1

        def _answer(self, body: Json) -> None:
            schema = body["response_format"]["json_schema"]["schema"]
            question = json.dumps([body["messages"], schema], sort_keys=True)
            digest = hashlib.sha256(question.encode()).hexdigest()
            time.sleep(willing.latency_s)
            with willing.lock:
                most = willing.answers_no_more_than
                is_answered = most is None or willing.asked.total() < most
                if is_answered:
                    willing.asked[digest] += 1
                else:
                    willing.waiting += 1
            if not is_answered:
                willing.going_down.wait()
                self.close_connection = True
                return
            text = json.dumps(reply_to(schema, digest))
            payload = json.dumps(
                {
                    "id": "answer",
                    "object": "chat.completion",
                    "created": 0,
                    "model": "willing",
                    "choices": [
                        {
                            "index": 0,
                            "finish_reason": "stop",
                            "message": {"role": "assistant", "content": text},
                        }
                    ],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
                }
            ).encode()
            self._send(200, payload)

        def _send(self, status: int, payload: bytes) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    willing.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield willing
    finally:
        willing.going_down.set()
        server.shutdown()
        server.server_close()
        thread.join()
