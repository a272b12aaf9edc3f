"""OpenAI, and every server that speaks its Chat Completions protocol.

Chat Completions and not Responses: it is what Ollama, vLLM, llama.cpp, LM Studio and the relays
speak, and some servers enforce a schema there that they ignore elsewhere.
"""

import re
from collections.abc import Awaitable
from typing import TYPE_CHECKING

import httpx2
import openai

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
    from openai.types.chat import ChatCompletionContentPartParam, ChatCompletionMessageParam
    from openai.types.shared_params import ResponseFormatJSONSchema

_STOPS = {"stop": Stop.OK, "length": Stop.LENGTH, "content_filter": Stop.FILTER}


class OpenAIChat:
    """Chat Completions."""

    def __init__(self, endpoint: Endpoint, client: httpx2.AsyncClient) -> None:
        self._endpoint = endpoint
        self._client = openai.AsyncOpenAI(
            base_url=endpoint.base_url,
            # A stand-in: the real key is put on each request by the client below.
            api_key=NO_KEY,
            max_retries=0,
            http_client=client,
        )

    @property
    def sdk_error(self) -> type[Exception]:
        """The class all exceptions of the SDK belong to."""
        return openai.OpenAIError

    def put(self, request: JudgeRequest) -> Awaitable[RawAnswer]:
        """Put exactly one request on the wire."""
        # The official host refuses the old name for its newer models; local servers silently
        # ignore the new one and write until something else stops them.
        is_new_name = self._endpoint.is_official
        return self._client.chat.completions.with_raw_response.create(
            model=self._endpoint.model,
            messages=_messages(request),
            response_format=_response_format(request) or openai.omit,
            max_completion_tokens=request.max_tokens if is_new_name else openai.omit,
            max_tokens=openai.omit if is_new_name else request.max_tokens,
            timeout=PATIENCE,
        )

    def read(self, body: dict[str, object]) -> Said | None:
        """Find what the model said; None when there are no choices."""
        choices = body.get("choices")
        if not isinstance(choices, list) or not choices:
            return None
        choice = object_or_empty(choices[0])
        message = object_or_empty(choice.get("message"))
        refusal = text_or_none(message.get("refusal"))
        finish = text_or_none(choice.get("finish_reason"))
        return Said(
            text=_text(message.get("content")) or refusal or "",
            stop=Stop.REFUSAL if refusal else _STOPS.get(finish or "", Stop.OTHER),
            usage=_usage(body.get("usage")),
        )

    async def aclose(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._client.close()


def _messages(request: JudgeRequest) -> list["ChatCompletionMessageParam"]:
    messages: list[ChatCompletionMessageParam] = []
    if request.system:
        messages.append({"role": "system", "content": clean_text(request.system)})
    prompt = clean_text(request.prompt)
    # A text alone stays a text: servers that take no images often take no parts either.
    messages.append(
        {"role": "user", "content": _parts(prompt, request.images) if request.images else prompt}
    )
    return messages


def _parts(prompt: str, images: tuple[ImageData, ...]) -> list["ChatCompletionContentPartParam"]:
    """The prompt, then each image behind the mark the prompt calls it by."""
    parts: list[ChatCompletionContentPartParam] = [{"type": "text", "text": prompt}]
    for image in images:
        data = base64_of(image)
        url = address_of(image) if data is None else f"data:{image.media_type};base64,{data}"
        parts.append({"type": "text", "text": image.mark})
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def _response_format(request: JudgeRequest) -> "ResponseFormatJSONSchema | None":
    if request.schema is None:
        return None
    # The provider wants a name of 1 to 64 letters, digits, _ and -.
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", request.step)[:64] or "reply"
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": dict(request.schema), "strict": True},
    }


def _text(content: object) -> str:
    """Read a message's content: a text, or with some servers a list of parts."""
    if isinstance(content, list):
        return "".join(text_or_none(object_or_empty(part).get("text")) or "" for part in content)
    return text_or_none(content) or ""


def _usage(usage: object) -> Usage:
    counts = object_or_empty(usage)
    details = object_or_empty(counts.get("prompt_tokens_details"))
    return Usage(
        tokens_in=count_or_none(counts.get("prompt_tokens")),
        tokens_out=count_or_none(counts.get("completion_tokens")),
        tokens_cached=count_or_none(details.get("cached_tokens")),
    )
