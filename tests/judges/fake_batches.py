"""Both providers' Batch APIs on this machine, as far as a server of tests has to imitate them.

It knows nothing of sockets: a server hands it requests and writes what it gives back.
"""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = Any

OPENAI_ROUTES = ("/v1/files", "/v1/batches")
ANTHROPIC_ROUTE = "/v1/messages/batches"
CUT = (0, b"")
"""In place of an answer: close the connection."""

Given = tuple[int, bytes]
"""Status and body."""


@dataclass
class Batch:
    """One batch, of either provider."""

    id: str
    requests: dict[str, Json]
    """Bodies of questions by wire id."""
    created_at: int
    label: Json = None
    polls: int = 0
    """How often it was looked at."""
    ended: bool = False
    cancelled: bool = False


@dataclass
class FakeBatches:
    """The batches of one account, and what goes wrong with them."""

    answer: Callable[[Json, bool], tuple[int, Json]]
    """Status and body of the answer to one question's body; whether OpenAI was asked."""
    polls_until_end: int = 1
    """Times a batch says that it is at work before it has ended."""
    loses_creations: int = 0
    """So many batches are made and the answer is not sent."""
    failing: Mapping[str, tuple[int, Json]] = field(default_factory=dict)
    """Status and body, in place of an answer, by custom id (the wire id without its batch)."""
    unasked: Mapping[str, str] = field(default_factory=dict)
    """`expired` or `cancelled`, by custom id."""
    refusal: str | None = None
    """OpenAI: why batches fail as a whole."""
    breaks: str = ""
    """What happens in the middle of a file of results: `cut` or `stall`."""
    page_size: int = 100
    seed: int = 0
    """Of the order of results."""
    spoilt_line: bytes = b""
    """Put between results as it is."""
    clock: int = 1_800_000_000
    """When the next batch is made, in seconds since 1970."""
    files: dict[str, bytes] = field(default_factory=dict)
    batches: list[Batch] = field(default_factory=list)
    bought: list[str] = field(default_factory=list)
    """Wire ids of questions that were answered, in order."""

    @staticmethod
    def serves(path: str) -> bool:
        return urlsplit(path).path.startswith((*OPENAI_ROUTES, ANTHROPIC_ROUTE))

    def handle(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Given:
        """Answer one request.

        Args:
            method: `GET` or `POST`.
            path: With its query.
            headers: By names in lower case.
            body: As it came.
        """
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        steps = parts.path.removeprefix("/v1/").split("/")
        match method, *steps:
            case "POST", "files":
                return self._uploaded(headers, body)
            case "GET", "files", file_id, "content":
                content = self.files.get(file_id)
                return _missing() if content is None else (200, content)
            case "POST", "batches":
                asked = json.loads(body)
                lines = map(json.loads, self.files[asked["input_file_id"]].splitlines())
                requests = {line["custom_id"]: line["body"] for line in lines}
                return self._made(requests, asked.get("metadata"), _as_openai)
            case "POST", "messages", "batches":
                listed = json.loads(body)["requests"]
                requests = {each["custom_id"]: each["params"] for each in listed}
                return self._made(requests, None, _as_anthropic)
            case "GET", "batches":
                return self._listed(query.get("after"), _as_openai)
            case "GET", "messages", "batches":
                return self._listed(query.get("after_id"), _as_anthropic)
            case ("POST", "batches", batch_id, "cancel") | (
                "POST",
                "messages",
                "batches",
                batch_id,
                "cancel",
            ):
                return self._cancelled(batch_id, _dialect(steps))
            case ("GET", "batches", batch_id) | ("GET", "messages", "batches", batch_id):
                return self._looked_at(batch_id, _dialect(steps))
            case "GET", "messages", "batches", batch_id, "results":
                batch = self._find(batch_id)
                if batch is None or not batch.ended:
                    return _missing()
                return 200, self.files[f"results-{batch.id}"]
            case _:
                return _missing()

    @staticmethod
    def is_file(path: str) -> bool:
        """Whether a path is that of a file of results."""
        return path.endswith(("/results", "/content"))

    def end(self, batch: Batch) -> None:
        """Answer all its questions and leave the results."""
        batch.ended = True
        if not batch.id.startswith("batch_"):
            self.files[f"results-{batch.id}"] = self._lines(batch, self._anthropic_line)
            return
        lines = self._lines(batch, self._openai_line).splitlines(keepends=True)
        good = [line for line in lines if b'"status_code": 200' in line or line == self.spoilt_line]
        self.files[f"out-{batch.id}"] = b"".join(good)
        self.files[f"err-{batch.id}"] = b"".join(line for line in lines if line not in good)

    def _uploaded(self, headers: Mapping[str, str], body: bytes) -> Given:
        boundary = headers["content-type"].partition("boundary=")[2].strip('"').encode()
        parts = [part for part in body.split(b"--" + boundary) if b"filename=" in part]
        assert b'name="purpose"\r\n\r\nbatch' in body
        file_id = f"file-{len(self.files)}"
        self.files[file_id] = parts[0].partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
        return _json({"id": file_id, "object": "file", "purpose": "batch"})

    def _made(self, requests: dict[str, Json], label: Json, show: "Show") -> Given:
        name = "batch" if show is _as_openai else "msgbatch"
        batch = Batch(f"{name}_{len(self.batches)}", requests, self.clock, label)
        self.clock += 60
        self.batches.append(batch)
        if self.loses_creations:
            self.loses_creations -= 1
            return CUT
        return _json(show(self, batch))

    def _listed(self, after: str | None, show: "Show") -> Given:
        name = "batch_" if show is _as_openai else "msgbatch_"
        newest = [each for each in reversed(self.batches) if each.id.startswith(name)]
        start = 0 if after is None else [each.id for each in newest].index(after) + 1
        page = newest[start : start + self.page_size]
        has_more = start + len(page) < len(newest)
        return _json({"data": [show(self, each) for each in page], "has_more": has_more})

    def _looked_at(self, batch_id: str, show: "Show") -> Given:
        batch = self._find(batch_id)
        if batch is None:
            return _missing()
        batch.polls += 1
        if batch.polls > self.polls_until_end and not batch.ended:
            self.end(batch)
        return _json(show(self, batch))

    def _cancelled(self, batch_id: str, show: "Show") -> Given:
        batch = self._find(batch_id)
        if batch is None:
            return _missing()
        batch.cancelled = True
        return _json(show(self, batch))

    def _find(self, batch_id: str) -> Batch | None:
        return next((each for each in self.batches if each.id == batch_id), None)

    def _lines(self, batch: Batch, line: Callable[[str, Json], Json]) -> bytes:
        """Write a file of results, in an order of its own."""
        names = list(batch.requests)
        random.Random(f"{self.seed} {batch.id}").shuffle(names)
        lines = [json.dumps(line(name, batch.requests[name])).encode() + b"\n" for name in names]
        lines.insert(len(lines) // 2, self.spoilt_line)
        return b"".join(lines)

    def _openai_line(self, name: str, body: Json) -> Json:
        why = self.unasked.get(_custom(name))
        if why is not None:
            error = {"code": f"batch_{why}", "message": f"This request was not run: {why}."}
            return {"id": "r", "custom_id": name, "response": None, "error": error}
        status, answer = self._answered(name, body, True)
        response = {"status_code": status, "request_id": f"req-{name}", "body": answer}
        return {"id": "r", "custom_id": name, "response": response, "error": None}

    def _anthropic_line(self, name: str, body: Json) -> Json:
        why = self.unasked.get(_custom(name))
        if why is not None:
            result: Json = {"type": {"cancelled": "canceled"}.get(why, why)}
        else:
            status, answer = self._answered(name, body, False)
            ok = {"type": "succeeded", "message": answer}
            result = ok if status == 200 else {"type": "errored", "error": answer}
        return {"custom_id": name, "result": result}

    def _answered(self, name: str, body: Json, is_openai: bool) -> tuple[int, Json]:
        if _custom(name) in self.failing:
            return self.failing[_custom(name)]
        self.bought.append(name)
        return self.answer(body, is_openai)

    def counts(self, batch: Batch) -> tuple[int, int, int]:
        """Answered, failed, all."""
        total = len(batch.requests)
        if not batch.ended:
            return 0, 0, total
        lost = sum(_custom(name) in {*self.failing, *self.unasked} for name in batch.requests)
        return total - lost, lost, total


Show = Callable[[FakeBatches, Batch], Json]


def _as_openai(fake: FakeBatches, batch: Batch) -> Json:
    done, failed, total = fake.counts(batch)
    status = "completed" if batch.ended else "cancelling" if batch.cancelled else "in_progress"
    if fake.refusal is not None:
        status = "failed"
    shown = {
        "id": batch.id,
        "object": "batch",
        "status": status,
        "created_at": batch.created_at,
        "expires_at": batch.created_at + 86_400,
        "metadata": batch.label,
        "request_counts": {"completed": done, "failed": failed, "total": total},
    }
    if fake.refusal is not None:
        shown["errors"] = {"object": "list", "data": [{"code": "bad", "message": fake.refusal}]}
    elif batch.ended:
        shown |= {"output_file_id": f"out-{batch.id}", "error_file_id": f"err-{batch.id}"}
    return shown


def _as_anthropic(fake: FakeBatches, batch: Batch) -> Json:
    done, failed, total = fake.counts(batch)
    status = "ended" if batch.ended else "canceling" if batch.cancelled else "in_progress"
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": status,
        "created_at": _iso(batch.created_at),
        "expires_at": _iso(batch.created_at + 86_400),
        # A host that must not be sent the key.
        "results_url": "http://127.0.0.1:9/elsewhere" if batch.ended else None,
        "request_counts": {
            "processing": 0 if batch.ended else total,
            "succeeded": done,
            "errored": failed,
            "canceled": 0,
            "expired": 0,
        },
    }


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _dialect(steps: list[str]) -> Show:
    return _as_anthropic if steps[0] == "messages" else _as_openai


def _custom(wire_id: str) -> str:
    return wire_id.partition("-")[2]


def _json(body: Json) -> Given:
    return 200, json.dumps(body).encode()


def _missing() -> Given:
    return 404, json.dumps({"error": {"message": "no such thing"}}).encode()
