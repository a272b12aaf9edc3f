"""Where replies are kept, and how a question gets its name there."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from faithtui.domain.ids import ItemId
from faithtui.judges.base import (
    JudgeReply,
    JudgeRequest,
    OutputFormat,
    RateLimits,
    StopReason,
    Usage,
)
from faithtui.metrics.base import AnswerCount
from faithtui.store.records import StoredReply

_LATEST: Final = 64
"""Questions whose keys are remembered."""


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """A question in flight, as the store knows it."""

    key: str
    """Hash of everything that determines the reply."""
    step: str
    item: ItemId | None = None
    """Conversation of the run it is asked for; None outside a run."""
    window: int | None = None
    """Position of the window that asks first; None: the conversation as a whole."""
    replicate: int = 0
    count: AnswerCount = field(default_factory=AnswerCount, compare=False)
    """Answers to it so far, in all its forms."""


class ReplyCache(Protocol):
    """Where replies are kept."""

    def find(self, key: str, *, or_cut: bool = False) -> StoredReply | None:
        """Give the usable reply to the question with this key, if there is one.

        Args:
            key: Names the question, with its limit of tokens.
            or_cut: Else one that ran into that limit, and would again.
        """

    def find_unusable(self, key: str) -> StoredReply | None:
        """Give the latest reply to the question with this key that could not be used, if any."""

    async def wait_until_writable(self) -> None:
        """Wait until a reply can be kept: none is bought that has nowhere to go."""

    async def save_reply(self, asked: QuestionContext, reply: StoredReply, *, usable: bool) -> None:
        """Commit a reply. It is only found again when it is usable."""


class MemoryReplyCache:
    """Replies of one process, for a single measurement."""

    def __init__(self) -> None:
        self._usable: dict[str, StoredReply] = {}
        self._cut: dict[str, StoredReply] = {}

    def find(self, key: str, *, or_cut: bool = False) -> StoredReply | None:
        """Give the usable reply to the question with this key, or one that was cut."""
        return self._usable.get(key) or (self._cut.get(key) if or_cut else None)

    def find_unusable(self, key: str) -> StoredReply | None:
        """Give None: what cannot be used is not remembered."""
        return None

    async def wait_until_writable(self) -> None:
        """There is always room."""

    async def save_reply(self, asked: QuestionContext, reply: StoredReply, *, usable: bool) -> None:
        """Remember a reply that is usable or was cut."""
        if usable:
            self._usable[asked.key] = reply
        elif reply.stop == StopReason.LENGTH.value:
            self._cut[asked.key] = reply


def compute_question_key(fingerprint: str, request: JudgeRequest) -> str:
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


class QuestionKeys:
    """Names the questions to one judge as `compute_question_key` does, and remembers the latest.

    Windows ask again what the one before them asked, and its schema takes longest to write down.
    """

    def __init__(self, fingerprint: str) -> None:
        """Prepare.

        Args:
            fingerprint: Of the judge that answers.
        """
        self._fingerprint = fingerprint
        self._latest: OrderedDict[object, tuple[Mapping[str, object] | None, str]] = OrderedDict()
        """Schema and key, by everything else that determines the answer."""

    def get_key(self, request: JudgeRequest) -> str:
        """Give the key of a question."""
        rest = (
            request.step,
            request.system,
            request.prompt,
            request.max_tokens,
            request.replicate,
            tuple(image.sha256 for image in request.images),
        )
        found = self._latest.pop(rest, None)
        if found is None or found[0] != request.schema:
            found = request.schema, compute_question_key(self._fingerprint, request)
        self._latest[rest] = found
        if len(self._latest) > _LATEST:
            self._latest.popitem(last=False)
        return found[1]


def make_stored_reply(
    reply: JudgeReply,
    usage: Usage,
    *,
    estimated: bool = False,
    cost_nusd: int | None = None,
    prices: str | None = None,
    batch_uid: str | None = None,
) -> StoredReply:
    """Make what is kept of a reply.

    Args:
        reply: As it came.
        usage: Its tokens, as they are counted.
        estimated: The tokens are ours and not the judge's.
        cost_nusd: What it cost, in units of 1e-9 US dollars; None: not known.
        prices: Where the prices are from and of which date; None without any.
        batch_uid: The batch it came in.
    """
    return StoredReply(
        text=reply.text,
        stop=reply.stop.value,
        structured=reply.structured,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_cached=usage.tokens_cached,
        request_id=reply.request_id,
        served_model=reply.served_model,
        latency_ms=reply.latency_ms,
        rung=None if reply.output_format is None else reply.output_format.value,
        tokens_cache_write=usage.tokens_cache_write,
        tokens_reasoning=usage.tokens_reasoning,
        cost_nusd=cost_nusd,
        prices=prices,
        estimated=estimated,
        batch_uid=batch_uid,
    )


def reply_from_stored(stored: StoredReply) -> JudgeReply:
    """Make a reply of what was kept of it."""
    return JudgeReply(
        text=stored.text,
        stop=StopReason(stored.stop),
        usage=Usage(
            stored.tokens_in,
            stored.tokens_out,
            stored.tokens_cached,
            stored.tokens_cache_write,
            stored.tokens_reasoning,
        ),
        structured=stored.structured,
        request_id=stored.request_id,
        served_model=stored.served_model,
        latency_ms=stored.latency_ms,
        output_format=None if stored.rung is None else OutputFormat(stored.rung),
        limits=RateLimits(),
    )
