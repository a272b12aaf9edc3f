"""Anthropic's Messages API.

The SDK has no argument for a temperature, so parameters go into the body beside the rest; models
that take none say so, and are not sent it again. Not even temperature 0 makes a model repeat
itself: a question asked twice gets the stored reply, above this.
"""

import json
from typing import TYPE_CHECKING, Literal, cast

import anthropic
import httpx2

from faithtui.errors import JudgeRequestRejected
from faithtui.judges.base import ImageData, JudgeRequest, OutputFormat, StopReason, Usage
from faithtui.judges.image_encoding import encode_as_base64, get_image_address
from faithtui.judges.output_formats import (
    TOOL_DESCRIPTION,
    append_schema_to_prompt,
    choose_output_format,
    make_schema_name,
)
from faithtui.judges.providers.endpoints import Endpoint
from faithtui.judges.providers.http_exchange import (
    PATIENCE,
    RawAnswer,
    object_or_empty,
    text_or_none,
    token_count_or_none,
)
from faithtui.judges.providers.parameters import RefusedParameters
from faithtui.judges.providers.provider_judge import ModelReply
from faithtui.judges.providers.secret import NO_KEY
from faithtui.judges.reply_parser import remove_invalid_unicode

if TYPE_CHECKING:
    from anthropic.types import ImageBlockParam, MessageParam, TextBlockParam
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

_STOPS = {
    "end_turn": StopReason.OK,
    "stop_sequence": StopReason.OK,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "refusal": StopReason.REFUSAL,
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

    def __init__(
        self,
        endpoint: Endpoint,
        client: httpx2.AsyncClient,
        refused: RefusedParameters | None = None,
    ) -> None:
        self._endpoint = endpoint
        self.refused_parameters = refused or RefusedParameters()
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
    def sdk(self) -> anthropic.AsyncAnthropic:
        """The SDK's client, for what this module does not say."""
        return self._client

    @property
    def sdk_error_class(self) -> type[Exception]:
        """The class all exceptions of the SDK belong to."""
        return anthropic.AnthropicError

    @property
    def json_output_formats(self) -> tuple[OutputFormat, ...]:
        """All but one: the API knows no JSON without a schema."""
        return (OutputFormat.SCHEMA, OutputFormat.TOOL, OutputFormat.TEXT)

    async def send(self, request: JudgeRequest) -> RawAnswer:
        """Put exactly one request on the wire, or more if it is refused for a parameter.

        A parameter that the model refuses is left out from then on.

        Raises:
            JudgeRequestRejected: The API has no way to say it, such as an image of a kind it does
                not take; nothing was sent.
        """
        while True:
            sent = self.refused_parameters.list_parameters_to_send(
                self._endpoint.profile.parameters
            )
            try:
                return await self._create_message(request)
            except anthropic.APIStatusError as error:
                if not self.refused_parameters.record_refusal_worth_retrying(
                    error.status_code, error.response.text, sent
                ):
                    raise

    async def _create_message(self, request: JudgeRequest) -> RawAnswer:
        return await self._client.messages.with_raw_response.create(
            model=self._endpoint.model,
            max_tokens=request.max_tokens,
            messages=(),
            # What is given by its name the SDK compares with its type, member by member, which
            # for a schema takes longer than the rest of a request. This goes over those.
            extra_body=self.make_body(request),
            # Given explicitly: at its default the SDK refuses long answers.
            timeout=PATIENCE,
        )

    def make_body(self, request: JudgeRequest) -> "MessageCreateParamsNonStreaming":
        """Write the request's body.

        Raises:
            JudgeRequestRejected: The API has no way to say it.
        """
        output_format = choose_output_format(request, self.json_output_formats)
        body: MessageCreateParamsNonStreaming = {
            "model": self._endpoint.model,
            "max_tokens": request.max_tokens,
            "messages": [_make_message(request, output_format)],
        }
        system = remove_invalid_unicode(request.system)
        if system:
            # Every question of a run begins with this text: it is read from the cache.
            body["system"] = [
                {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
            ]
        if output_format is OutputFormat.SCHEMA:
            # What the API cannot enforce (counts, lengths, bounds) moves into the descriptions.
            schema = anthropic.transform_schema(dict(request.schema or {}))
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        elif output_format is OutputFormat.TOOL:
            name = make_schema_name(request)
            body["tools"] = [
                {
                    "name": name,
                    "description": TOOL_DESCRIPTION,
                    "input_schema": anthropic.transform_schema(dict(request.schema or {})),
                    "strict": True,
                }
            ]
            body["tool_choice"] = {
                "type": "tool",
                "name": name,
                "disable_parallel_tool_use": True,
            }
        parameters = self.refused_parameters.list_parameters_to_send(
            self._endpoint.profile.parameters
        )
        effort = parameters.pop("reasoning_effort", None)
        whole: dict[str, object] = {**body, **parameters}
        if effort is not None:
            whole["output_config"] = {**body.get("output_config", {}), "effort": effort}
        return cast("MessageCreateParamsNonStreaming", whole)

    def read_reply(
        self, body: dict[str, object], output_format: OutputFormat | None
    ) -> ModelReply | None:
        """Find what the model said; None when there is no content."""
        content = body.get("content")
        if not isinstance(content, list):
            return None
        blocks = [object_or_empty(block) for block in content]
        call = _read_tool_input(blocks) if output_format is OutputFormat.TOOL else None
        reason = text_or_none(body.get("stop_reason")) or ""
        has_called = call is not None and reason == "tool_use"
        return ModelReply(
            text=call or "".join(_read_text(block) for block in blocks),
            stop=StopReason.OK if has_called else _STOPS.get(reason, StopReason.OTHER),
            usage=_read_usage(body.get("usage")),
        )

    async def aclose(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._client.close()


def _make_message(request: JudgeRequest, output_format: OutputFormat | None) -> "MessageParam":
    prompt = append_schema_to_prompt(request, output_format)
    if not request.images:
        return {"role": "user", "content": prompt}
    blocks: list[TextBlockParam | ImageBlockParam] = [{"type": "text", "text": prompt}]
    for image in request.images:
        blocks += _make_image_blocks(image)
    return {"role": "user", "content": blocks}


def _make_image_blocks(image: ImageData) -> list["TextBlockParam | ImageBlockParam"]:
    """An image behind the mark the prompt calls it by."""
    mark: TextBlockParam = {"type": "text", "text": image.mark}
    data = encode_as_base64(image)
    if data is None:
        return [mark, {"type": "image", "source": {"type": "url", "url": get_image_address(image)}}]
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


def _read_tool_input(blocks: list[dict[str, object]]) -> str | None:
    """Read the call a judge was forced to make, as JSON; None when it made none."""
    inputs = [block.get("input") for block in blocks if block.get("type") == "tool_use"]
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in inputs) or None


def _read_text(block: dict[str, object]) -> str:
    """Read a text block; thinking and everything else is no part of the answer."""
    return text_or_none(block.get("text")) or "" if block.get("type") == "text" else ""


def _read_usage(usage: object) -> Usage:
    """Add up the input: the provider's `input_tokens` leaves out what the cache wrote and read."""
    counts = object_or_empty(usage)
    fresh = token_count_or_none(counts.get("input_tokens"))
    written = token_count_or_none(counts.get("cache_creation_input_tokens"))
    cached = token_count_or_none(counts.get("cache_read_input_tokens"))
    return Usage(
        tokens_in=None if fresh is None else fresh + (written or 0) + (cached or 0),
        tokens_out=token_count_or_none(counts.get("output_tokens")),
        tokens_cached=cached,
        tokens_cache_write=written,
        tokens_reasoning=token_count_or_none(
            object_or_empty(counts.get("output_tokens_details")).get("thinking_tokens")
        ),
    )
