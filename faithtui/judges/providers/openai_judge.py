"""OpenAI, and every server that speaks its Chat Completions protocol.

Chat Completions and not Responses: it is what Ollama, vLLM, llama.cpp, LM Studio and the relays
speak, and some servers enforce a schema there that they ignore elsewhere.
"""

import hashlib
import json
from typing import TYPE_CHECKING, Literal, cast

import httpx2
import openai

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
from faithtui.judges.providers.parameters import REFUSES_NAME, RefusedParameters
from faithtui.judges.providers.provider_judge import ModelReply
from faithtui.judges.providers.secret import NO_KEY
from faithtui.judges.reply_parser import remove_invalid_unicode

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionContentPartParam, ChatCompletionMessageParam
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

_STOPS = {"stop": StopReason.OK, "length": StopReason.LENGTH, "content_filter": StopReason.FILTER}

_TOOL_CALL_FINISHES = {"stop", "tool_calls", "function_call"}
"""How an answer ends that is the call it was forced to make."""

_LimitName = Literal["max_completion_tokens", "max_tokens"]


class OpenAIChat:
    """Chat Completions."""

    def __init__(
        self,
        endpoint: Endpoint,
        client: httpx2.AsyncClient,
        refused: RefusedParameters | None = None,
    ) -> None:
        self._endpoint = endpoint
        self.refused_parameters = refused or RefusedParameters()
        self._client = openai.AsyncOpenAI(
            base_url=endpoint.base_url,
            # A stand-in: the real key is put on each request by the client below.
            api_key=NO_KEY,
            max_retries=0,
            http_client=client,
        )
        # The official host refuses the old name for its newer models; local servers silently
        # ignore the new one and write until something else stops them.
        self._limit_name: _LimitName = (
            "max_completion_tokens" if endpoint.is_official else "max_tokens"
        )
        self._is_renamed = False

    @property
    def sdk(self) -> openai.AsyncOpenAI:
        """The SDK's client, for what this module does not say."""
        return self._client

    @property
    def sdk_error_class(self) -> type[Exception]:
        """The class all exceptions of the SDK belong to."""
        return openai.OpenAIError

    @property
    def json_output_formats(self) -> tuple[OutputFormat, ...]:
        """All of them: what a server lacks, it says."""
        return tuple(OutputFormat)

    async def send(self, request: JudgeRequest) -> RawAnswer:
        """Put exactly one request on the wire, or more if it is refused for a name or a parameter.

        A server that knows the limit of tokens by its other name says so and answers nothing. The
        name is changed once for as long as this object lives, and the request is sent again. A
        parameter that the model refuses is left out from then on.

        Raises:
            JudgeRequestRejected: The protocol has no way to say it; nothing was sent.
        """
        while True:
            name = self._limit_name
            sent = self.refused_parameters.list_parameters_to_send(
                self._endpoint.profile.parameters
            )
            try:
                return await self._create_completion(request, name)
            except openai.APIStatusError as error:
                is_renamed = _is_token_limit_name_refused(
                    error, name
                ) and self._switch_token_limit_name_if_refused(name)
                if not is_renamed and not self.refused_parameters.record_refusal_worth_retrying(
                    error.status_code, error.response.text, sent
                ):
                    raise

    def make_body(self, request: JudgeRequest) -> "CompletionCreateParamsNonStreaming":
        """Write the request's body.

        Raises:
            JudgeRequestRejected: The protocol has no way to say it.
        """
        return self._make_body(request, self._limit_name)

    def read_reply(
        self, body: dict[str, object], output_format: OutputFormat | None
    ) -> ModelReply | None:
        """Find what the model said; None when there are no choices."""
        choices = body.get("choices")
        if not isinstance(choices, list) or not choices:
            return None
        choice = object_or_empty(choices[0])
        message = object_or_empty(choice.get("message"))
        refusal = text_or_none(message.get("refusal"))
        finish = text_or_none(choice.get("finish_reason")) or ""
        call = _read_tool_arguments(message) if output_format is OutputFormat.TOOL else None
        has_called = call is not None and finish in _TOOL_CALL_FINISHES
        end = StopReason.OK if has_called else _STOPS.get(finish, StopReason.OTHER)
        return ModelReply(
            text=call or _read_text(message.get("content")) or refusal or "",
            stop=StopReason.REFUSAL if refusal else end,
            usage=_read_usage(body.get("usage")),
        )

    async def aclose(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._client.close()

    async def _create_completion(self, request: JudgeRequest, limit_name: _LimitName) -> RawAnswer:
        return await self._client.chat.completions.with_raw_response.create(
            model=self._endpoint.model,
            messages=(),
            # What is given by its name the SDK compares with its type, member by member, which
            # for a schema takes longer than the rest of a request. This goes over those.
            extra_body=self._make_body(request, limit_name),
            timeout=PATIENCE,
        )

    def _switch_token_limit_name_if_refused(self, refused: _LimitName) -> bool:
        """Say whether another name is worth a try, and use it from now on."""
        if self._limit_name != refused:
            # A question in flight at the same time was reported already.
            return True
        if self._is_renamed:
            return False
        self._is_renamed = True
        self._limit_name = (
            "max_tokens" if refused == "max_completion_tokens" else "max_completion_tokens"
        )
        return True

    def _make_body(
        self, request: JudgeRequest, limit_name: _LimitName
    ) -> "CompletionCreateParamsNonStreaming":
        output_format = choose_output_format(request, self.json_output_formats)
        body: CompletionCreateParamsNonStreaming = {
            "model": self._endpoint.model,
            "messages": _make_messages(request, output_format),
        }
        schema = dict(request.schema or {})
        name = make_schema_name(request)
        if output_format is OutputFormat.SCHEMA:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": name, "schema": schema, "strict": True},
            }
        elif output_format is OutputFormat.JSON:
            body["response_format"] = {"type": "json_object"}
        elif output_format is OutputFormat.TOOL:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": name,
                        "description": TOOL_DESCRIPTION,
                        "parameters": schema,
                        "strict": True,
                    },
                }
            ]
            body["tool_choice"] = {"type": "function", "function": {"name": name}}
        body[limit_name] = request.max_tokens
        if self._endpoint.is_official:
            if output_format is OutputFormat.TOOL:
                body["parallel_tool_calls"] = False
            # Sends questions that begin alike to the machine that still knows the beginning.
            digest = hashlib.sha256(remove_invalid_unicode(request.system).encode()).hexdigest()
            body["prompt_cache_key"] = f"faithtui-{digest[:16]}"
        # Parameters have the protocol's own names.
        parameters = self.refused_parameters.list_parameters_to_send(
            self._endpoint.profile.parameters
        )
        return cast("CompletionCreateParamsNonStreaming", {**body, **parameters})


def _is_token_limit_name_refused(error: openai.APIStatusError, name: str) -> bool:
    error_text = error.response.text[:4000]
    return (
        error.status_code in {400, 422}
        and name in error_text
        and bool(REFUSES_NAME.search(error_text))
    )


def _make_messages(
    request: JudgeRequest, output_format: OutputFormat | None
) -> list["ChatCompletionMessageParam"]:
    messages: list[ChatCompletionMessageParam] = []
    if request.system:
        messages.append({"role": "system", "content": remove_invalid_unicode(request.system)})
    prompt = append_schema_to_prompt(request, output_format)
    # A text alone stays a text: servers that take no images often take no parts either.
    messages.append(
        {
            "role": "user",
            "content": _make_content_parts(prompt, request.images) if request.images else prompt,
        }
    )
    return messages


def _make_content_parts(
    prompt: str, images: tuple[ImageData, ...]
) -> list["ChatCompletionContentPartParam"]:
    """The prompt, then each image behind the mark the prompt calls it by."""
    parts: list[ChatCompletionContentPartParam] = [{"type": "text", "text": prompt}]
    for image in images:
        data = encode_as_base64(image)
        url = get_image_address(image) if data is None else f"data:{image.media_type};base64,{data}"
        parts.append({"type": "text", "text": image.mark})
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def _read_tool_arguments(message: dict[str, object]) -> str | None:
    """Read the arguments of the call a judge was forced to make; None when it made none.

    Some servers give them as an object and not as its text. Of several calls all are kept, one
    below the other, and whoever reads the text takes the last.
    """
    calls = message.get("tool_calls")
    found = []
    for call in calls if isinstance(calls, list) else []:
        arguments = object_or_empty(object_or_empty(call).get("function")).get("arguments")
        if isinstance(arguments, dict):
            found.append(json.dumps(arguments, ensure_ascii=False))
        elif isinstance(arguments, str):
            found.append(arguments)
    return "\n".join(found) or None


def _read_text(content: object) -> str:
    """Read a message's content: a text, or with some servers a list of parts."""
    if isinstance(content, list):
        return "".join(text_or_none(object_or_empty(part).get("text")) or "" for part in content)
    return text_or_none(content) or ""


def _read_usage(usage: object) -> Usage:
    counts = object_or_empty(usage)
    read = object_or_empty(counts.get("prompt_tokens_details"))
    written = object_or_empty(counts.get("completion_tokens_details"))
    return Usage(
        tokens_in=token_count_or_none(counts.get("prompt_tokens")),
        tokens_out=token_count_or_none(counts.get("completion_tokens")),
        tokens_cached=token_count_or_none(read.get("cached_tokens")),
        tokens_cache_write=token_count_or_none(read.get("cache_write_tokens")),
        tokens_reasoning=token_count_or_none(written.get("reasoning_tokens")),
    )
