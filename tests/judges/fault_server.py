"""A provider that answers every question of ours, and fails in every way it can be told to.

It holds hundreds of connections at once on one thread, keeps a ledger of what was asked and
billed, and can run in a process of its own:

    python -m tests.judges.fault_server --config '{"seed": 1}' --ledger ledger.jsonl

The first line it prints is its port. It stops on SIGTERM, and when its standard input closes.
"""

import argparse
import asyncio
import contextlib
import hashlib
import json
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

from tests.judges.fake_batches import CUT, FakeBatches
from tests.judges.fault_replies import UNKNOWN_FORM, Said, error_body, send, write, written
from tests.judges.faults import Fault, fault_named
from tests.judges.question_answers import Asked, read_question

Json = Any

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"
PATIENCE_S = 300.0
"""How long a test waits before it fails; one that passes never does."""


@dataclass(frozen=True)
class Rule:
    """When which fault happens. The first rule that applies decides."""

    faults: tuple[Fault, ...]
    """One of them, chosen by question and attempt."""
    probability: float = 1.0
    """Of every attempt it could apply to; decided by seed, question and attempt, not by time."""
    attempts: tuple[int, ...] = ()
    """Only these tries of one question, from 1; (): all."""
    contains: str = ""
    """Only questions whose prompt holds this."""
    most: int | None = None
    """So often in all; None: always."""


@dataclass
class FaultConfig:
    """How to behave. May be changed while the server runs."""

    rules: tuple[Rule, ...] = ()
    seed: int = 0
    latency_s: float = 0.0
    jitter_s: float = 0.0
    """Up to so much more, decided as the faults are."""
    max_in_flight: int | None = None
    """Requests above it get 429."""
    per_second: float | None = None
    """Requests above it, within a second, get 429."""
    cap_retry_after: str | None = None
    """Header of these 429s."""
    knows: tuple[str, ...] = ("schema", "tool", "json", "text")
    """Ways to be asked for JSON; others are refused."""
    unsupported_status: int = 400
    ignores: tuple[str, ...] = ()
    """Ways that are accepted and then not kept to."""
    empty_tools: bool = False
    """Tools are called, and with no input at all."""
    waits_for: int = 0
    """Nothing is answered before so many requests have come in all."""
    holds_after: int | None = None
    """What comes after so many requests is not answered before `release`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every answer, such as limits of speed."""
    answers_no_more_than: int | None = None
    """From this many billed answers on every question waits for ever."""


@dataclass(frozen=True)
class Entry:
    """One line of the ledger."""

    n: int
    question: str
    """Digest of the question; the same for repairs and for every way of asking."""
    attempt: int
    """Which try of this question it was, from 1."""
    kind: str
    """`ok`, the name of a fault, `capped`, `unsupported`, `ignored` or `waiting`."""
    status: int
    """0: no status was sent."""
    billed: bool
    delivered: bool
    """The whole answer was written and the client was still there."""
    output_format: str | None
    is_repair: bool
    max_tokens: int
    in_flight: int
    """With it."""
    key: str
    """Digest of the key it came with."""


class FaultServer:
    """The server: its settings, its ledger, its connections."""

    def __init__(
        self,
        config: FaultConfig | None = None,
        ledger: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self.config = config or FaultConfig()
        self.entries: list[Entry] = []
        self.batches = FakeBatches(self._batch_answer)
        self.in_flight = 0
        self.most_in_flight = 0
        self.stuck = 0
        """Requests that hung or dripped so far."""
        self.connections = 0
        self.url = ""
        self.port = 0
        self._ledger = ledger
        self._written = threading.Condition()
        self._arrived = asyncio.Condition()
        self._attempts: Counter[str] = Counter()
        self._used: Counter[int] = Counter()
        self._requests = 0
        self._billed = 0
        self._recent: deque[float] = deque()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, port: int = 0) -> None:
        """Listen on a port; 0 takes a free one."""
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", port, backlog=1024, limit=2**16
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    async def stop(self) -> None:
        """Hang up on everybody."""
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def billed(self) -> Counter[str]:
        """How often each question was billed."""
        return Counter(each.question for each in tuple(self.entries) if each.billed)

    @property
    def kinds(self) -> Counter[str]:
        """How often each thing happened."""
        return Counter(each.kind for each in tuple(self.entries))

    def wait_for(self, count: int) -> bool:
        """Wait on another thread until so many requests are through; False if they never are."""
        with self._written:
            return self._written.wait_for(lambda: len(self.entries) >= count, PATIENCE_S)

    def release(self) -> None:
        """Answer what is held, and hold nothing more; from another thread."""
        self.config.holds_after = None
        assert self._server is not None
        asyncio.run_coroutine_threadsafe(self._wake(), self._server.get_loop()).result()

    async def _wake(self) -> None:
        async with self._arrived:
            self._arrived.notify_all()

    def wait_for_request(self, number: int) -> bool:
        """Wait on another thread until so many requests have come; False if they never do."""
        with self._written:
            return self._written.wait_for(lambda: self._requests >= number, PATIENCE_S)

    def wait_until_idle(self) -> bool:
        """Wait on another thread until no request is on its way; False if one always is."""
        with self._written:
            return self._written.wait_for(lambda: self.in_flight == 0, PATIENCE_S)

    def _enter(
        self,
        number: int,
        asked: Asked,
        attempt: int,
        answer: Said,
        *,
        delivered: bool = True,
        in_flight: int = 0,
        authorization: str | None = None,
    ) -> None:
        """Enter a request into the ledger; one of a batch is never in flight and has no key."""
        entry = Entry(
            n=number,
            question=asked.digest,
            attempt=attempt,
            kind=answer.kind,
            status=answer.status,
            billed=answer.billed,
            delivered=delivered,
            output_format=asked.output_format,
            is_repair=asked.is_repair,
            max_tokens=asked.max_tokens,
            in_flight=in_flight,
            key=""
            if authorization is None
            else hashlib.sha256(authorization.encode()).hexdigest()[:12],
        )
        if self._ledger is not None:
            self._ledger.write(json.dumps(asdict(entry)) + "\n")
        with self._written:
            self.entries.append(entry)
            self.in_flight -= in_flight > 0  # after its line, for whoever waits for both
            self._written.notify_all()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while await self._served(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # The client hung up, or the server stops: nobody is left to be told.
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection stays."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        content = await reader.readexactly(int(headers.get("content-length", "0")))
        if self.batches.serves(path):
            given = self.batches.handle(method, path, headers, content)
            if given is CUT:
                return False
            await write(writer, Said("batch", given[0], given[1], False), {})
            return True
        if path not in (CHAT, MESSAGES):
            missing = error_body(Fault("status", 404, message=f"no route {path}"), "")
            await write(writer, Said("ok", 404, missing, False), {})
            return True
        asked = read_question(json.loads(content), is_openai=path == CHAT)
        return await self._asked(asked, headers.get("authorization", ""), reader, writer)

    async def _asked(
        self,
        asked: Asked,
        authorization: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        self.in_flight += 1
        in_flight = self.in_flight
        self.most_in_flight = max(self.most_in_flight, in_flight)
        self._attempts[asked.digest] += 1
        attempt = self._attempts[asked.digest]
        self._requests += 1
        number = self._requests
        await self._wake()
        with self._written:
            self._written.notify_all()
        answer = self._answer(asked, attempt, authorization)
        delivered = False
        try:
            if answer.billed:
                self._billed += 1
                await self._wait(asked, attempt, number)
            self.stuck += answer.fault is not None and answer.fault.kind in ("hang", "drip")
            delivered = await send(reader, writer, answer, self.config.headers)
            return delivered and answer.kind != "not_json"
        finally:
            self._enter(
                number,
                asked,
                attempt,
                answer,
                delivered=delivered,
                in_flight=in_flight,
                authorization=authorization,
            )

    def _is_held(self, number: int) -> bool:
        return self.config.holds_after is not None and number > self.config.holds_after

    async def _wait(self, asked: Asked, attempt: int, number: int) -> None:
        """Think as long as the model would."""
        luck = _chance(self.config.seed, "latency", asked.digest, attempt)
        seconds = self.config.latency_s + luck * self.config.jitter_s
        if seconds:
            await asyncio.sleep(seconds)
        async with self._arrived:
            await self._arrived.wait_for(lambda: self._requests >= self.config.waits_for)
            await self._arrived.wait_for(lambda: not self._is_held(number))

    def _answer(self, asked: Asked, attempt: int, authorization: str) -> Said:
        if self._is_capped():
            fault = Fault(
                "status", 429, "rate_limit_exceeded", retry_after=self.config.cap_retry_after
            )
            return self._refused("capped", fault, authorization)
        if asked.output_format is not None and asked.output_format not in self.config.knows:
            message = UNKNOWN_FORM[asked.output_format]
            fault = Fault("status", self.config.unsupported_status, message=message)
            return self._refused("unsupported", fault, authorization)
        fault_or_none = self._fault(asked, attempt)
        if fault_or_none is None and asked.output_format in self.config.ignores:
            return written(asked, Fault("prose_only"), "ignored")
        if fault_or_none is None and self.config.empty_tools and asked.output_format == "tool":
            return written(asked, Fault("empty_object"), "empty_tool")
        most = self.config.answers_no_more_than
        if most is not None and self._billed >= most:
            return Said("waiting", 0, b"", billed=False, fault=Fault("hang"))
        if fault_or_none is None:
            return written(asked, None, "ok")
        if fault_or_none.kind == "status":
            return self._refused(fault_or_none.name, fault_or_none, authorization)
        return written(asked, fault_or_none, fault_or_none.name)

    def _refused(self, kind: str, fault: Fault, authorization: str) -> Said:
        headers = {} if fault.retry_after is None else {"retry-after": fault.retry_after}
        payload = error_body(fault, authorization if fault.echo_key else "")
        return Said(kind, fault.status, payload, billed=False, headers=headers)

    def _fault(self, asked: Asked, attempt: int) -> Fault | None:
        for place, rule in enumerate(self.config.rules):
            if rule.attempts and attempt not in rule.attempts:
                continue
            if rule.contains not in asked.question:
                continue
            if rule.most is not None and self._used[place] >= rule.most:
                continue
            seed = self.config.seed
            if _chance(seed, f"whether {place}", asked.digest, attempt) >= rule.probability:
                continue
            self._used[place] += 1
            which = _chance(seed, f"which {place}", asked.digest, attempt)
            return rule.faults[int(which * len(rule.faults))]
        return None

    def _is_capped(self) -> bool:
        config = self.config
        if config.max_in_flight is not None and self.in_flight > config.max_in_flight:
            return True
        if config.per_second is None:
            return False
        now = self._clock()
        while self._recent and self._recent[0] <= now - 1.0:
            self._recent.popleft()
        if len(self._recent) >= config.per_second:
            return True
        self._recent.append(now)
        return False

    def _batch_answer(self, body: Json, is_openai: bool) -> tuple[int, Json]:
        """Answer a question of a batch, under the same rules as one that comes by itself."""
        asked = read_question(body, is_openai=is_openai)
        self._attempts[asked.digest] += 1
        self._requests += 1
        attempt = self._attempts[asked.digest]
        fault = self._fault(asked, attempt)
        kind = "ok" if fault is None else fault.name
        if fault is not None and fault.kind == "status":
            said = self._refused(kind, fault, "")
        else:
            said = written(asked, fault, kind)
        self._enter(self._requests, asked, attempt, said)
        try:
            return said.status, json.loads(said.payload)
        except ValueError:  # an answer that is no JSON lies in a file of results as a text
            return said.status, said.payload.decode()


def _chance(seed: int, what: str, question: str, attempt: int) -> float:
    """A number in [0, 1) that depends on nothing but this."""
    digest = hashlib.sha256(f"{seed} {what} {question} {attempt}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


@contextmanager
def fault_server(
    config: FaultConfig | None = None,
    *,
    ledger: Path | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[FaultServer]:
    """Serve on a thread of its own until the context is left."""
    ready = threading.Event()
    with contextlib.ExitStack() as stack:
        out = None if ledger is None else stack.enter_context(_opened(ledger))
        server = FaultServer(config, out, clock)
        loop = asyncio.new_event_loop()
        leaving = asyncio.Event()

        async def serve() -> None:
            await server.start()
            ready.set()
            await leaving.wait()
            await server.stop()

        def run() -> None:
            with contextlib.closing(loop):
                loop.run_until_complete(serve())

        thread = threading.Thread(target=run, name="fault-server")
        thread.start()
        ready.wait()
        try:
            yield server
        finally:
            loop.call_soon_threadsafe(leaving.set)
            thread.join()


def read_config(text: str) -> FaultConfig:
    """Read settings from JSON: the fields of `FaultConfig`, rules and faults as objects."""
    given: dict[str, Any] = json.loads(text)
    given["rules"] = tuple(
        Rule(
            **{
                **rule,
                "faults": tuple(map(fault_named, rule["faults"])),
                "attempts": tuple(rule.get("attempts", ())),
            }
        )
        for rule in given.get("rules", ())
    )
    for name in ("knows", "ignores"):
        if name in given:
            given[name] = tuple(given[name])
    return FaultConfig(**given)


def read_ledger(path: Path) -> list[Entry]:
    """Read a ledger, whose last line may be half written."""
    entries = []
    for line in path.read_text().splitlines():
        with contextlib.suppress(ValueError):
            entries.append(Entry(**json.loads(line)))
    return entries


def _opened(ledger: Path) -> TextIO:
    # Line by line: whoever kills the server still wants to know what it did.
    return ledger.open("a", buffering=1)


async def _main(arguments: argparse.Namespace) -> None:
    with contextlib.ExitStack() as stack:
        ledger = (
            None if arguments.ledger is None else stack.enter_context(_opened(arguments.ledger))
        )
        server = FaultServer(read_config(arguments.config), ledger)
        await server.start(arguments.port)
        print(server.port, flush=True)
        leaving = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, leaving.set)
        loop.add_signal_handler(signal.SIGINT, leaving.set)
        # Whoever started it and is gone needs it no more.
        threading.Thread(
            target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(leaving.set)), daemon=True
        ).start()
        await leaving.wait()
        await server.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A provider that fails as it is told to.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--config", default="{}")
    parser.add_argument("--ledger", type=Path)
    asyncio.run(_main(parser.parse_args()))
