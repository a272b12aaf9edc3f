"""Anthropic's Messages API as a judge.

The SDK takes no temperature, so nothing here pretends to make a model repeat itself: a question
asked twice gets the stored reply, above this.
"""

import anthropic

from faithtui.errors import JudgeUnavailable
from faithtui.judges.base import JudgeReply, JudgeRequest, Stop, Usage
from faithtui.judges.endpoints import Endpoint
from faithtui.judges.exchange import (
    PATIENCE,
    Envelope,
    count_or_none,
    exchange,
    http_client,
    object_or_empty,
    text_or_none,
)
from faithtui.judges.reading import clean_text
from faithtui.judges.secret import NO_KEY, Secret

_STOPS = {
    "end_turn": Stop.OK,
    "stop_sequence": Stop.OK,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "refusal": Stop.REFUSAL,
}


class AnthropicJudge:
    """One model behind one address."""

    def __init__(self, endpoint: Endpoint, key: Secret, *, timeout_s: float) -> None:
        """Prepare a judge; nothing is sent yet.

        Args:
            endpoint: Model and address.
            key: What to send as the key.
            timeout_s: Seconds one exchange may take in all.
        """
        self._endpoint = endpoint
        self._key = key
        self._timeout_s = timeout_s
        self._client = anthropic.AsyncAnthropic(
            base_url=endpoint.base_url,
            # A stand-in, which also keeps the SDK from looking for keys in the environment and in
            # profile files: the real key is put on each request by the client below.
            api_key=NO_KEY,
            max_retries=0,
            # Spans could carry the judged text to whatever collects them.
            open_telemetry=False,
            http_client=http_client(endpoint, key),
        )

    @property
    def ref(self) -> str:
        """Name for people, `anthropic:MODEL`."""
        return self._endpoint.ref

    @property
    def fingerprint(self) -> str:
        """Protocol, address and model."""
        return self._endpoint.fingerprint

    @property
    def takes_images(self) -> bool:
        """No: questions are text."""
        return False

    @property
    def context_window(self) -> int | None:
        """Not known."""
        return None

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Ask once. See `Judge.send`."""
        # What the API cannot enforce (counts, lengths, bounds) moves into the descriptions.
        schema = anthropic.transform_schema(dict(request.schema))
        system = clean_text(request.system)
        envelope = await exchange(
            lambda: self._client.messages.with_raw_response.create(
                model=self._endpoint.model,
                max_tokens=request.max_tokens,
                system=system or anthropic.omit,
                messages=[{"role": "user", "content": clean_text(request.prompt)}],
                output_config={"format": {"type": "json_schema", "schema": schema}},
                # Given explicitly: at its default the SDK refuses long answers.
                timeout=PATIENCE,
            ),
            self._endpoint,
            self._key,
            self._timeout_s,
            anthropic.AnthropicError,
        )
        return self._reply(envelope)

    async def aclose(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._client.close()

    def _reply(self, envelope: Envelope) -> JudgeReply:
        blocks = envelope.body.get("content")
        if not isinstance(blocks, list):
            raise JudgeUnavailable(f"{self._endpoint.host} answered without any content")
        stop = text_or_none(envelope.body.get("stop_reason"))
        return JudgeReply(
            text=clean_text("".join(_text(object_or_empty(block)) for block in blocks)),
            stop=_STOPS.get(stop or "", Stop.OTHER),
            usage=_usage(envelope.body.get("usage")),
            structured=True,
            request_id=envelope.request_id,
            served_model=text_or_none(envelope.body.get("model")),
            latency_ms=envelope.latency_ms,
        )


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
