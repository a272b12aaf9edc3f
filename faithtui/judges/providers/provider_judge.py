"""A model behind a network as a judge: everything that does not depend on whose protocol it is."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import httpx2

from faithtui.errors import JudgeUnavailable
from faithtui.judges.base import JudgeReply, JudgeRequest, OutputFormat, StopReason, Usage
from faithtui.judges.deadlines import Deadline, time_out_after
from faithtui.judges.output_formats import choose_output_format
from faithtui.judges.providers.endpoints import Endpoint
from faithtui.judges.providers.http_exchange import (
    Envelope,
    RawAnswer,
    call_provider,
    make_http_client,
    text_or_none,
)
from faithtui.judges.providers.parameters import RefusedParameters
from faithtui.judges.providers.secret import Secret
from faithtui.judges.reply_parser import remove_invalid_unicode


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a protocol's answer holds of the model."""

    text: str
    stop: StopReason
    usage: Usage


class Dialect(Protocol):
    """A provider's protocol, spoken through its SDK."""

    @property
    def sdk_error_class(self) -> type[Exception]:
        """The class all exceptions of the SDK belong to."""

    @property
    def json_output_formats(self) -> tuple[OutputFormat, ...]:
        """Ways to ask for JSON, the most binding first."""

    @property
    def refused_parameters(self) -> RefusedParameters:
        """Parameters that the model does not take."""

    def send(self, request: JudgeRequest) -> Awaitable[RawAnswer]:
        """Put exactly one request on the wire, refused ones aside that named a parameter.

        Raises:
            JudgeRequestRejected: The protocol has no way to say it; nothing was sent.
        """

    def make_body(self, request: JudgeRequest) -> Mapping[str, object]:
        """Write the body that `send` sends.

        Raises:
            JudgeRequestRejected: The protocol has no way to say it.
        """

    def read_reply(
        self, body: dict[str, object], output_format: OutputFormat | None
    ) -> ModelReply | None:
        """Find what the model said; None when the answer holds nothing of the kind.

        Args:
            body: The answer.
            output_format: How it was asked.
        """

    async def aclose(self) -> None:
        """Close the SDK's client. Safe to call twice."""


class ProviderJudge:
    """One model behind one address."""

    def __init__(
        self,
        endpoint: Endpoint,
        key: Secret,
        speak: Callable[[Endpoint, httpx2.AsyncClient, RefusedParameters], Dialect],
        *,
        timeout_s: float,
        deadline: Deadline = time_out_after,
        headers: Mapping[str, str] | None = None,
        refused: RefusedParameters | None = None,
    ) -> None:
        """Prepare a judge; nothing is sent yet.

        Args:
            endpoint: Model and address.
            key: What to send as the key.
            speak: Makes the dialect from the address and the connections.
            timeout_s: Seconds one exchange may take in all.
            deadline: Keeps the time.
            headers: Extra ones of its profile, with their values; None: none.
            refused: Parameters that the model does not take; None: nobody knows of any.
        """
        self._endpoint = endpoint
        self._key = key
        self._timeout_s = timeout_s
        self._deadline = deadline
        client = make_http_client(endpoint, key, headers)
        self._dialect = speak(endpoint, client, refused or RefusedParameters())

    @property
    def ref(self) -> str:
        """Name for users, `openai:MODEL`."""
        return self._endpoint.ref

    @property
    def fingerprint(self) -> str:
        """Protocol, address, model and parameters."""
        return self._endpoint.fingerprint

    @property
    def takes_images(self) -> bool:
        """Yes: both protocols do. A model that does not says so when it is asked."""
        return True

    @property
    def context_window(self) -> int | None:
        """Not known."""
        return None

    @property
    def output_formats(self) -> tuple[OutputFormat, ...]:
        """What the protocol has; what a server lacks of it, it says."""
        return self._dialect.json_output_formats

    @property
    def account(self) -> str:
        """Provider, host and key: what limits count by."""
        return f"{self._endpoint.provider.name} {self._endpoint.host} {self._key.digest()}"

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Ask once. See `Judge.send`."""
        output_format = choose_output_format(request, self._dialect.json_output_formats)
        envelope = await call_provider(
            lambda: self._dialect.send(request),
            self._endpoint,
            self._key,
            self._timeout_s,
            self._dialect.sdk_error_class,
            with_images=bool(request.images),
            output_format=output_format,
            deadline=self._deadline,
        )
        return read_judge_reply(envelope, self._dialect, self._endpoint, output_format)

    async def aclose(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._dialect.aclose()


def read_judge_reply(
    envelope: Envelope, dialect: Dialect, endpoint: Endpoint, output_format: OutputFormat | None
) -> JudgeReply:
    """Read a judge's reply out of what came back.

    Raises:
        JudgeUnavailable: It holds no message of the model.
    """
    reply = dialect.read_reply(envelope.body, output_format)
    if reply is None:
        raise JudgeUnavailable(
            f"{endpoint.host} answered {envelope.status} without a message of the model",
            status=envelope.status,
        )
    return JudgeReply(
        text=remove_invalid_unicode(reply.text),
        stop=reply.stop,
        usage=reply.usage,
        structured=output_format in (OutputFormat.SCHEMA, OutputFormat.TOOL),
        request_id=envelope.request_id,
        served_model=text_or_none(envelope.body.get("model")),
        latency_ms=envelope.latency_ms,
        output_format=output_format,
        limits=envelope.limits,
    )
