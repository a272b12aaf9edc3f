"""OpenAI, and every server that speaks its Chat Completions protocol, as a judge.

Chat Completions and not Responses: it is what Ollama, vLLM, llama.cpp, LM Studio and the relays
speak, and some servers enforce a schema there that they ignore elsewhere.
"""

import re
from typing import TYPE_CHECKING

import openai

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

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.shared_params import ResponseFormatJSONSchema

_STOPS = {"stop": Stop.OK, "length": Stop.LENGTH, "content_filter": Stop.FILTER}


class OpenAIJudge:
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
        self._client = openai.AsyncOpenAI(
            base_url=endpoint.base_url,
            # A stand-in: the real key is put on each request by the client below.
            api_key=NO_KEY,
            max_retries=0,
            http_client=http_client(endpoint, key),
        )

    @property
    def ref(self) -> str:
        """Name for people, `openai:MODEL`."""
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
        # The official host refuses the old name for its newer models; local servers silently
        # ignore the new one and write until something else stops them.
        is_new_name = self._endpoint.is_official
        envelope = await exchange(
            lambda: self._client.chat.completions.with_raw_response.create(
                model=self._endpoint.model,
                messages=_messages(request),
                response_format=_response_format(request),
                max_completion_tokens=request.max_tokens if is_new_name else openai.omit,
                max_tokens=openai.omit if is_new_name else request.max_tokens,
                timeout=PATIENCE,
            ),
            self._endpoint,
            self._key,
            self._timeout_s,
            openai.OpenAIError,
        )
        return self._reply(envelope)

    async def aclose(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._client.close()

    def _reply(self, envelope: Envelope) -> JudgeReply:
        choices = envelope.body.get("choices")
        if not isinstance(choices, list) or not choices:
            raise JudgeUnavailable(f"{self._endpoint.host} answered without any choices")
        choice = object_or_empty(choices[0])
        message = object_or_empty(choice.get("message"))
        refusal = text_or_none(message.get("refusal"))
        text = _text(message.get("content")) or refusal or ""
        finish = text_or_none(choice.get("finish_reason"))
        stop = Stop.REFUSAL if refusal else _STOPS.get(finish or "", Stop.OTHER)
        return JudgeReply(
            text=clean_text(text),
            stop=stop,
            usage=_usage(envelope.body.get("usage")),
            structured=True,
            request_id=envelope.request_id,
            served_model=text_or_none(envelope.body.get("model")),
            latency_ms=envelope.latency_ms,
        )


def _messages(request: JudgeRequest) -> list["ChatCompletionMessageParam"]:
    messages: list[ChatCompletionMessageParam] = []
    if request.system:
        messages.append({"role": "system", "content": clean_text(request.system)})
    messages.append({"role": "user", "content": clean_text(request.prompt)})
    return messages


def _response_format(request: JudgeRequest) -> "ResponseFormatJSONSchema":
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
