"""The judge protocol: exactly one request, exactly one reply.

Policy (stored replies, retries, repair, limits, budget) sits above it, once, in the engine.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from faithtui.domain.field_types import require_type
from faithtui.domain.judging.tasks import Task


class StopReason(StrEnum):
    """Why a judge stopped writing."""

    OK = "ok"
    LENGTH = "length"
    REFUSAL = "refusal"
    FILTER = "filter"
    OTHER = "other"


class OutputFormat(StrEnum):
    """A way to bind a judge to JSON, from the most to the least binding."""

    SCHEMA = "schema"
    """The provider's own structured output."""
    TOOL = "tool"
    """The call of a tool it is forced to make, whose arguments are the reply."""
    JSON = "json"
    """Some JSON object; its schema stands in the prompt."""
    TEXT = "text"
    """Nothing but the prompt, in which the schema stands."""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """What a provider said of its limits beside a reply. None: it did not say."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. None: the provider did not say."""

    tokens_in: int | None = None
    """All input tokens, cached ones included."""
    tokens_out: int | None = None
    """All output tokens, reasoning included."""
    tokens_cached: int | None = None
    """Input tokens read from the provider's prompt cache."""
    tokens_cache_write: int | None = None
    """Input tokens written to the provider's prompt cache."""
    tokens_reasoning: int | None = None
    """Output tokens the model spent on thinking."""


@dataclass(frozen=True, slots=True)
class ImageData:
    """An image for a judge: bytes, or an address the provider fetches itself."""

    sha256: str
    media_type: str
    mark: str
    """How the prompt refers to it; goes before the image."""
    data: bytes | None
    """None: only the address is known."""
    url: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """One question."""

    step: str
    """Kind of question within the metric, such as `truths`."""
    task: Task
    """What it is about, for judges that compute."""
    system: str
    prompt: str
    schema: Mapping[str, object] | None
    """JSON Schema of the reply: an object, all properties required, none additional. None: the
    reply is plain text."""
    max_tokens: int
    replicate: int = 0
    """Which repetition this is, when the same question is asked again on purpose."""
    images: tuple[ImageData, ...] = ()
    """Shown after the prompt, in order. Only sent to judges that take images."""
    output_format: OutputFormat | None = None
    """One of the judge's `output_formats`; None: the first. Means nothing without a schema. No part
    of what makes two questions equal: an answer serves however it was asked for."""


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """One answer, as it came."""

    text: str
    stop: StopReason = StopReason.OK
    usage: Usage = Usage()
    structured: bool = False
    """The provider was bound to the schema (it may still have broken it)."""
    request_id: str | None = None
    served_model: str | None = None
    latency_ms: int = 0
    output_format: OutputFormat | None = None
    """How it was asked; None: a judge that needs no such way."""
    limits: RateLimits = RateLimits()

    def __post_init__(self) -> None:
        """Refuse values of other types with an InputError that names the field."""
        require_type(self.text, str, "text", "the reply as text; JSON as it was written")
        require_type(self.usage, Usage, "usage", "a Usage")


class Judge(Protocol):
    """Something that answers questions."""

    @property
    def ref(self) -> str:
        """What the user calls it and screens show: `offline`, `openai:gpt-6-luna`."""

    @property
    def fingerprint(self) -> str:
        """Everything but the question that determines a reply: provider, host, model, parameters.

        Two judges with equal fingerprints may use each other's stored replies. Holds no secret.
        """

    @property
    def takes_images(self) -> bool:
        """Whether questions may carry images."""

    @property
    def context_window(self) -> int | None:
        """How many tokens it can read and write at once; None when nobody knows."""

    @property
    def output_formats(self) -> tuple[OutputFormat, ...]:
        """Ways to ask it for JSON, the most binding first; () when it needs none."""

    @property
    def account(self) -> str:
        """Whose rate limits its requests count towards: equal accounts share limits of speed.

        Empty when nobody does, as for judges on this machine. Holds no secret.
        """

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Put exactly one request on the wire, without retrying, and return what came back.

        A reply that stopped early or refused is returned with its `stop`, not raised.

        Raises:
            JudgeUnsupported: It cannot be asked in this way; another may do.
            JudgeError: The request failed; the subclass says how.
        """

    async def aclose(self) -> None:
        """Release connections. Safe to call twice."""


class LocalJudge:
    """What judges without a network have in common: nobody binds or limits them."""

    @property
    def output_formats(self) -> tuple[OutputFormat, ...]:
        """None is needed."""
        return ()

    @property
    def account(self) -> str:
        """Nobody counts its requests."""
        return ""


def make_reply_of_local_judge(request: JudgeRequest, answer: object, seconds: float) -> JudgeReply:
    """Make the reply of a judge that answers on this machine, for nothing.

    Args:
        request: The question.
        answer: A text, or a value that is written as JSON.
        seconds: How long it took.
    """
    return JudgeReply(
        text=answer if isinstance(answer, str) else json.dumps(answer),
        usage=Usage(tokens_in=0, tokens_out=0, tokens_cached=0),
        structured=request.schema is not None,
        latency_ms=round(seconds * 1000),
    )
