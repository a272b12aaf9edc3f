"""Anthropic's Messages API.

The SDK takes no temperature, so nothing here pretends to make a model repeat itself: a question
asked twice gets the stored reply, above this.
"""

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Literal

import anthropic
import httpx2

from faithtui.errors import JudgeRequestRejected
from faithtui.judges.base import ImageData, JudgeRequest, Stop, Usage
from faithtui.judges.endpoints import Endpoint
from faithtui.judges.exchange import (
    PATIENCE,
    RawAnswer,
    count_or_none,
    object_or_empty,
    text_or_none,
)
from faithtui.judges.images import address_of, base64_of
from faithtui.judges.provider_judge import Said
from faithtui.judges.reading import clean_text
from faithtui.judges.secret import NO_KEY

if TYPE_CHECKING:
    from anthropic.types import (
        ImageBlockParam,
        MessageParam,
        OutputConfigParam,
        TextBlockParam,
    )

_STOPS = {
    "end_turn": Stop.OK,
    "stop_sequence": Stop.OK,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "refusal": Stop.REFUSAL,
}

_MediaType = Literal["image/jpeg", "image/png", "image/gif", "image/webp"]

_MEDIA_TYPES: dict[str, _MediaType] = {
    "image/jpeg": "image/jpeg",
    "image/png": "image/png",
    "image/gif": "image/gif",
    "image/webp": "image/webp",
}
"""The kinds of image the API takes.

Source: anthropic 2.11.0, `types/base64_image_source_param.py`.
"""


class AnthropicMessages:
    """The Messages API."""

    def __init__(self, endpoint: Endpoint, client: httpx2.AsyncClient) -> None:
        self._endpoint = endpoint
        self._client = anthropic.AsyncAnthropic(
            base_url=endpoint.base_url,
            # A stand-in, which also keeps the SDK from looking for keys in the environment and in
            # profile files: the real key is put on each request by the client below.
            api_key=NO_KEY,
            max_retries=0,
            # Spans could carry the judged text to whatever collects them.
            open_telemetry=False,
            http_client=client,
        )

    @property
    def sdk_error(self) -> type[Exception]:
        """The class all exceptions of the SDK belong to."""
        return anthropic.AnthropicError

    def put(self, request: JudgeRequest) -> Awaitable[RawAnswer]:
        """Put exactly one request on the wire.

        Raises:
            JudgeRequestRejected: An image is of a kind the API does not take; nothing was sent.
        """
        return self._client.messages.with_raw_response.create(
            model=self._endpoint.model,
            max_tokens=request.max_tokens,
            system=clean_text(request.system) or anthropic.omit,
            messages=[_message(request)],
            output_config=_output_config(request) or anthropic.omit,
            # Given explicitly: at its default the SDK refuses long answers.
            timeout=PATIENCE,
        )

    def read(self, body: dict[str, object]) -> Said | None:
        """Find what the model said; None when there is no content."""
        blocks = body.get("content")
        if not isinstance(blocks, list):
            return None
        return Said(
            text="".join(_text(object_or_empty(block)) for block in blocks),
            stop=_STOPS.get(text_or_none(body.get("stop_reason")) or "", Stop.OTHER),
            usage=_usage(body.get("usage")),
        )

    async def aclose(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._client.close()


def _message(request: JudgeRequest) -> "MessageParam":
    prompt = clean_text(request.prompt)
    if not request.images:
        return {"role": "user", "content": prompt}
    blocks: list[TextBlockParam | ImageBlockParam] = [{"type": "text", "text": prompt}]
    for image in request.images:
        blocks += _blocks(image)
    return {"role": "user", "content": blocks}


def _blocks(image: ImageData) -> list["TextBlockParam | ImageBlockParam"]:
    """An image behind the mark the prompt calls it by."""
    mark: TextBlockParam = {"type": "text", "text": image.mark}
    data = base64_of(image)
    if data is None:
        return [mark, {"type": "image", "source": {"type": "url", "url": address_of(image)}}]
    media_type = _MEDIA_TYPES.get(image.media_type)
    if media_type is None:
        raise JudgeRequestRejected(
            f"{image.mark} is {image.media_type or 'of an unknown kind'}, which this judge does"
            f" not take; convert it to one of {', '.join(_MEDIA_TYPES)}"
        )
    return [
        mark,
        {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}},
    ]


def _output_config(request: JudgeRequest) -> "OutputConfigParam | None":
    if request.schema is None:
        return None
    # What the API cannot enforce (counts, lengths, bounds) moves into the descriptions.
    schema = anthropic.transform_schema(dict(request.schema))
    return {"format": {"type": "json_schema", "schema": schema}}


def _text(block: dict[str, object]) -> str:
    """Read a text block; thinking and everything else is no part of the answer."""
    return text_or_none(block.get("text")) or "" if block.get("type") == "text" else ""


def _usage(usage: object) -> Usage:
    """Add up the input: the provider's `input_tokens` leaves out what the cache wrote and read."""
    counts = object_or_empty(usage)
    fresh = count_or_none(counts.get("input_tokens"))
    written = count_or_none(counts.get("cache_creation_input_tokens"))
    cached = count_or_none(counts.get("cache_read_input_tokens"))
    return Usage(
        tokens_in=None if fresh is None else fresh + (written or 0) + (cached or 0),
        tokens_out=count_or_none(counts.get("output_tokens")),
        tokens_cached=cached,
    )
