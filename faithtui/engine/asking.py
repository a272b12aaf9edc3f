"""The `Ask` a metric gets: stored replies first, then the judge, and every reply kept.

All policy about one question stands here, once: equal questions share one call, attempts that may
succeed later are made again, replies that cannot be used are asked for again with the reason, and
a reply is committed before it is used.
"""

import asyncio
import contextlib
import hashlib
import json
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from faithtui.domain.conversation import Image
from faithtui.domain.ids import ItemId
from faithtui.errors import (
    ImagesNotSupported,
    JudgeError,
    JudgeRateLimited,
    JudgeRefused,
    JudgeReplyInvalid,
    JudgeReplyTruncated,
    JudgeTimeout,
    JudgeUnavailable,
)
from faithtui.judges.base import ImageData, Judge, JudgeReply, JudgeRequest, Stop, Usage
from faithtui.judges.reading import parse_reply
from faithtui.metrics.base import Mismatch, Pace, Question
from faithtui.store.records import StoredReply

T = TypeVar("T")

ATTEMPTS = 5
"""Tries of one request before a passing failure counts as lasting."""

FIRST_WAIT_S = 0.5
"""Wait before the second try when the provider names none; doubles each time."""

LONGEST_WAIT_S = 120.0
"""A provider that wants us to wait longer than this is treated as failing."""

REPAIRS = 2
"""How often a reply that cannot be used is asked for again."""

DOUBLINGS = 2
"""How often the token limit is raised for a reply that ran into it."""


class Replies(Protocol):
    """Where replies are kept."""

    def find(self, key: str) -> StoredReply | None:
        """Give the usable reply to the question with this key, if there is one."""

    async def keep(
        self, key: str, step: str, item: ItemId | None, reply: StoredReply, usable: bool
    ) -> None:
        """Commit a reply. It is only found again when it is usable."""


class MemoryReplies:
    """Replies of one process, for a single measurement."""

    def __init__(self) -> None:
        self._usable: dict[str, StoredReply] = {}

    def find(self, key: str) -> StoredReply | None:
        """Give the usable reply to the question with this key, if there is one."""
        return self._usable.get(key)

    async def keep(
        self, key: str, step: str, item: ItemId | None, reply: StoredReply, usable: bool
    ) -> None:
        """Remember a usable reply."""
        if usable:
            self._usable[key] = reply


def _no_image(image: Image) -> ImageData:
    """Stand in for a source of images where there is none.

    Raises:
        ImagesNotSupported: Always.
    """
    raise ImagesNotSupported(f"there is nowhere to read the image {image.sha256[:12]} from")


@dataclass(slots=True)
class Tally:
    """Counts of calls, kept by the engine's thread alone."""

    calls: int = 0
    calls_stored: int = 0
    in_flight: int = 0
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class Asker:
    """Puts questions to one judge on behalf of any number of conversations."""

    def __init__(
        self,
        judge: Judge,
        replies: Replies,
        *,
        concurrency: int,
        tally: Tally | None = None,
        on_retry: Callable[[str, JudgeError, float], None] = lambda step, error, wait_s: None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        pace: Pace | None = None,
        load_image: Callable[[Image], ImageData] = _no_image,
        on_reply: Callable[[str, JudgeReply, bool], None] = lambda step, reply, stored: None,
    ) -> None:
        """Prepare; nothing is asked yet.

        Args:
            judge: Who answers.
            replies: Where replies are kept.
            concurrency: Questions in the air at once.
            tally: Where calls are counted; None for one of its own.
            on_retry: Told of every attempt that is made again, and the seconds until then.
            pause: Waits for seconds.
            pace: What the metric's options allow; None: no limit of theirs.
            load_image: Gives the bytes or the address of an image.
            on_reply: Told of every reply that is used, and whether it was stored before.
        """
        pace = pace or Pace()
        self._judge = judge
        self._replies = replies
        self._slots = asyncio.Semaphore(1 if pace.one_call else concurrency)
        self._answers = (
            contextlib.nullcontext() if pace.answers is None else asyncio.Semaphore(pace.answers)
        )
        self._pause_s = pace.pause_s
        self._load_image = load_image
        self._on_reply = on_reply
        self.tally = tally or Tally()
        self._on_retry = on_retry
        self._pause = pause
        self._in_the_air: dict[str, asyncio.Task[Any]] = {}

    @property
    def takes_images(self) -> bool:
        """Whether the judge takes images."""
        return self._judge.takes_images

    @property
    def context_window(self) -> int | None:
        """How many tokens the judge can read and write at once."""
        return self._judge.context_window

    def in_flight(self) -> contextlib.AbstractAsyncContextManager[object]:
        """Hold a place while one answer is judged."""
        return self._answers

    def on_behalf_of(self, item: ItemId | None) -> "BoundAsk":
        """Make the `Ask` of one conversation; its calls are stored under that item."""
        return BoundAsk(self, item)

    async def aclose(self) -> None:
        """Cancel questions that nobody waits for any more."""
        tasks = list(self._in_the_air.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def ask(self, question: Question[T], item: ItemId | None) -> T:
        """Answer a question from the store or from the judge.

        Raises:
            JudgeError: No usable answer after retries and repairs.
        """
        request = JudgeRequest(
            step=question.step,
            task=question.task,
            system=question.system,
            prompt=question.prompt,
            schema=question.reply.schema,
            max_tokens=question.max_tokens,
            replicate=question.replicate,
            images=tuple(map(self._load_image, question.images)),
        )
        for repairs_left in range(REPAIRS, -1, -1):
            try:
                return await self._shared(question, request, item)
            except (JudgeReplyTruncated, JudgeRefused):
                raise
            except JudgeReplyInvalid as error:
                if not repairs_left:
                    raise
                request = replace(request, prompt=_repair_prompt(question.prompt, error))
        raise AssertionError("the last repair either returns or raises")

    async def _shared(self, question: Question[T], request: JudgeRequest, item: ItemId | None) -> T:
        """Let equal questions in the air share one call.

        The call belongs to nobody in particular: a conversation that is given up does not take it
        away from another one that waits for it.
        """
        key = reply_key(self._judge.fingerprint, request)
        stored = self._replies.find(key)
        if stored is not None:
            self.tally.calls_stored += 1
            reply = _from_store(stored)
            self._on_reply(request.step, reply, True)
            return _understand(question, reply)
        task = self._in_the_air.get(key)
        if task is None:
            task = asyncio.create_task(self._call(question, request, key, item))
            self._in_the_air[key] = task
            task.add_done_callback(lambda done: self._landed(key, done))
        value: T = await asyncio.shield(task)
        return value

    def _landed(self, key: str, task: asyncio.Task[Any]) -> None:
        del self._in_the_air[key]
        if not task.cancelled():
            task.exception()  # marks it as seen, for when nobody waits any more

    async def _call(
        self, question: Question[T], request: JudgeRequest, key: str, item: ItemId | None
    ) -> T:
        """Ask until an answer is whole, with a higher limit of tokens each time it is not."""
        for doublings_left in range(DOUBLINGS, -1, -1):
            try:
                return await self._attempts(question, request, key, item)
            except JudgeReplyTruncated:
                if not doublings_left:
                    raise
                request = replace(request, max_tokens=request.max_tokens * 2)
        raise AssertionError("the last doubling either returns or raises")

    async def _attempts(
        self, question: Question[T], request: JudgeRequest, key: str, item: ItemId | None
    ) -> T:
        """Make a request, again after failures that may pass.

        A slot is held until the reply is committed, so that a kill costs at most as many replies
        as there are slots.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                async with self._slots:
                    return await self._once(question, request, key, item)
            except (JudgeRateLimited, JudgeTimeout, JudgeUnavailable) as error:
                wait_s = _wait(error, attempt)
                if attempt == ATTEMPTS or wait_s > LONGEST_WAIT_S:
                    raise
                self.tally.retries += 1
                self._on_retry(request.step, error, wait_s)
                await self._pause(wait_s)
        raise AssertionError("the last attempt either returns or raises")

    async def _once(
        self, question: Question[T], request: JudgeRequest, key: str, item: ItemId | None
    ) -> T:
        """Put one request on the wire and commit the reply before it is used."""
        self.tally.in_flight += 1
        try:
            if self._pause_s:
                await self._pause(self._pause_s)
            reply = await self._judge.send(request)
        finally:
            self.tally.in_flight -= 1
        self.tally.calls += 1
        self.tally.tokens_in += reply.usage.tokens_in or 0
        self.tally.tokens_out += reply.usage.tokens_out or 0
        self._on_reply(request.step, reply, False)
        kept = _to_store(reply)
        try:
            value = _understand(question, reply)
        except JudgeReplyInvalid:
            await self._replies.keep(key, request.step, item, kept, usable=False)
            raise
        await self._replies.keep(key, request.step, item, kept, usable=True)
        return value


@dataclass(frozen=True, slots=True)
class BoundAsk:
    """The `Ask` of one conversation."""

    asker: Asker
    item: ItemId | None

    @property
    def takes_images(self) -> bool:
        """Whether the judge takes images."""
        return self.asker.takes_images

    @property
    def context_window(self) -> int | None:
        """How many tokens the judge can read and write at once."""
        return self.asker.context_window

    def in_flight(self) -> contextlib.AbstractAsyncContextManager[object]:
        """Hold a place while one answer is judged."""
        return self.asker.in_flight()

    def __call__(self, question: Question[T]) -> Coroutine[object, object, T]:
        """Ask; see `Asker.ask`."""
        return self.asker.ask(question, self.item)


def reply_key(fingerprint: str, request: JudgeRequest) -> str:
    """Name a question by everything that determines its answer: 64 hexadecimal digits."""
    parts = [
        fingerprint,
        request.step,
        request.system,
        request.prompt,
        request.schema,
        request.max_tokens,
        request.replicate,
        *(image.sha256 for image in request.images),
    ]
    text = json.dumps(parts, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _understand(question: Question[T], reply: JudgeReply) -> T:
    """Turn a reply into the question's value.

    Raises:
        JudgeReplyInvalid: Cut short, refused, no JSON, or of the wrong shape.
    """
    if reply.stop is Stop.LENGTH:
        raise JudgeReplyTruncated(
            f"the answer to `{question.step}` ran into the limit of tokens", raw=reply.text
        )
    if reply.stop in (Stop.REFUSAL, Stop.FILTER):
        raise JudgeRefused(f"the judge refused to answer `{question.step}`", raw=reply.text)
    parse = question.reply.parse or parse_reply
    try:
        if question.reply.schema is None:
            return question.reply.read(reply.text, reply.structured)
        return question.reply.read(parse(reply.text), reply.structured)
    except Mismatch as error:
        raise JudgeReplyInvalid(
            f"the answer to `{question.step}` has the wrong shape: {error}", raw=reply.text
        ) from error


def _repair_prompt(prompt: str, error: JudgeReplyInvalid) -> str:
    """Say what was wrong with the last answer, after the whole question."""
    return (
        f"{prompt}\n\nAn earlier answer could not be used: {error}. "
        "Answer again, in the form asked for and with nothing else."
    )


def _wait(error: JudgeError, attempt: int) -> float:
    """Seconds to wait after try number `attempt`: what the provider said, else doubling."""
    if isinstance(error, JudgeRateLimited) and error.retry_after_s is not None:
        return error.retry_after_s
    return FIRST_WAIT_S * 2.0 ** (attempt - 1)


def _to_store(reply: JudgeReply) -> StoredReply:
    return StoredReply(
        text=reply.text,
        stop=reply.stop.value,
        structured=reply.structured,
        tokens_in=reply.usage.tokens_in,
        tokens_out=reply.usage.tokens_out,
        tokens_cached=reply.usage.tokens_cached,
        request_id=reply.request_id,
        served_model=reply.served_model,
        latency_ms=reply.latency_ms,
    )


def _from_store(stored: StoredReply) -> JudgeReply:
    return JudgeReply(
        text=stored.text,
        stop=Stop(stored.stop),
        usage=Usage(stored.tokens_in, stored.tokens_out, stored.tokens_cached),
        structured=stored.structured,
        request_id=stored.request_id,
        served_model=stored.served_model,
        latency_ms=stored.latency_ms,
    )
