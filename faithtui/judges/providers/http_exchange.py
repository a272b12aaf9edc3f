"""One request, one answer, whichever SDK carries it.

The SDKs are used for what they know best: addresses, headers, parameters and connections. Their
retries are off (they would buy a reply twice and say nothing), their reading of replies is not used
(it fails on replies that are merely odd, and the paid text is gone), and their deadline, which
starts again with every byte, is replaced by one for the whole exchange.
"""

import json
import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.request import getproxies

import httpx2

from faithtui.errors import JudgeError, JudgeTimeout, JudgeUnavailable
from faithtui.judges.base import OutputFormat, RateLimits
from faithtui.judges.deadlines import Deadline, time_out_after
from faithtui.judges.providers.connection_errors import explain_unreachable, is_connection_refused
from faithtui.judges.providers.connection_pools import PoolingTransport
from faithtui.judges.providers.endpoints import Endpoint
from faithtui.judges.providers.provider_errors import find_provider_message, make_judge_error
from faithtui.judges.providers.rate_limits import read_rate_limits
from faithtui.judges.providers.secret import Secret

PATIENCE = httpx2.Timeout(None, connect=5.0)
"""Limits within an exchange, in seconds. A host that has not accepted a connection by then is
down, however long answers may take; between two bytes there is none, only the total."""

MOST_TOKENS = 100_000_000
"""More than any context window: a count above it is a broken server's, not a bill's."""

_SENT_HEADERS = {
    "accept",
    "accept-encoding",
    "anthropic-version",
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
    "user-agent",
}


_TALKATIVE = ("openai", "anthropic", "httpx2", "httpcore2")
"""Loggers that write whole questions where their level, or a variable of the SDK's, asks for it."""


class RawAnswer(Protocol):
    """What `with_raw_response` gives in both SDKs, as far as it is used here."""

    @property
    def http_response(self) -> httpx2.Response:
        """The answer, read to its end."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The JSON object that came back, around the judge's text."""

    body: dict[str, object]
    status: int
    request_id: str | None
    latency_ms: int
    limits: RateLimits


def make_http_client(
    endpoint: Endpoint, key: Secret, headers: Mapping[str, str] | None = None
) -> httpx2.AsyncClient:
    """Make the connection pool for one judge.

    The key is put on each request here, at the last moment, so that the SDK never holds it; and
    every header that is not part of the protocol is dropped, because both SDKs add whatever
    `OPENAI_CUSTOM_HEADERS`, `OPENAI_ORG_ID`, `ANTHROPIC_CUSTOM_HEADERS` and the like hold, to any
    host.

    Args:
        endpoint: Where requests go. The machine itself is never reached through a proxy.
        key: Sent as a bearer token, which is what both SDKs do.
        headers: What else stands in the head of each request; None: nothing.
    """
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)

    async def drop_headers_and_add_key(request: httpx2.Request) -> None:
        for name in list(request.headers):
            if name not in _SENT_HEADERS and not name.startswith("x-stainless-"):
                del request.headers[name]
        request.headers.update(headers or {})
        request.headers["authorization"] = f"Bearer {key.reveal()}"

    trust_env = not endpoint.is_local
    context = _make_tls_context(endpoint)
    # How many requests run at once is decided by whoever asks, not by a queue in here.
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=32)
    return httpx2.AsyncClient(
        verify=context,
        trust_env=trust_env,
        # With a transport of its own the client would not ask a proxy.
        transport=None
        if trust_env and getproxies()
        else PoolingTransport(
            lambda: httpx2.AsyncHTTPTransport(verify=context, trust_env=trust_env, limits=limits)
        ),
        follow_redirects=False,
        timeout=PATIENCE,
        limits=limits,
        event_hooks={"request": [drop_headers_and_add_key]},
    )


def _make_tls_context(endpoint: Endpoint) -> ssl.SSLContext:
    """Whom a connection trusts; without a proxy too it may be an authority of one's own."""
    if not endpoint.is_local:
        return httpx2.create_ssl_context(trust_env=True)
    if endpoint.is_tls:
        return ssl.create_default_context()
    # Nothing is encrypted on the way to it: no authority is trusted, and none has to be read, which
    # takes 20 to 40 ms.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def call_provider(
    call: Callable[[], Awaitable[RawAnswer]],
    endpoint: Endpoint,
    key: Secret,
    timeout_s: float,
    sdk_error: type[Exception],
    *,
    with_images: bool = False,
    output_format: OutputFormat | None = None,
    deadline: Deadline = time_out_after,
) -> Envelope:
    """Make one call and bring back its JSON, or one of our errors.

    Args:
        call: Puts exactly one request on the wire.
        endpoint: Where it goes.
        key: To be hidden in every message.
        timeout_s: Seconds the whole exchange may take, connecting included.
        sdk_error: The class all exceptions of the SDK belong to.
        with_images: The question carries images.
        output_format: How it asks for JSON; None when it does not.
        deadline: Keeps the time.

    Raises:
        JudgeTimeout: No complete answer in time.
        JudgeUnavailable: No connection, a connection cut, a server error, or an answer that is
            not the provider's JSON.
        JudgeError: As `make_judge_error` reads the provider's status.
    """
    started = time.monotonic()
    try:
        async with deadline(timeout_s):
            response = (await call()).http_response
    except TimeoutError as error:
        raise JudgeTimeout(
            f"{endpoint.host} gave no complete answer within {timeout_s:g} s; a longer timeout can"
            " be set for slow judges"
        ) from error
    except sdk_error as error:
        _hide_key_in(error, key)
        raise translate_to_judge_error(error, endpoint, key, with_images, output_format) from error
    latency_ms = round((time.monotonic() - started) * 1000)
    body = _parse_json_body(response, endpoint, key, with_images, output_format)
    request_id = response.headers.get("x-request-id") or response.headers.get("request-id")
    return Envelope(
        body,
        response.status_code,
        request_id or text_or_none(body.get("id")),
        latency_ms,
        read_rate_limits(response.headers),
    )


def translate_to_judge_error(
    error: Exception,
    endpoint: Endpoint,
    key: Secret,
    with_images: bool = False,
    output_format: OutputFormat | None = None,
) -> JudgeError:
    """Make one of our errors from one of an SDK or of its connections."""
    # Both SDKs' status errors carry the response, and nothing else they raise here does.
    response = getattr(error, "response", None)
    if isinstance(response, httpx2.Response):
        return make_judge_error(
            response.status_code,
            response.headers,
            response.text,
            endpoint,
            key,
            with_images=with_images,
            output_format=output_format,
        )
    why = key.redact(explain_unreachable(error, endpoint))
    unavailable = JudgeUnavailable(f"no answer from {endpoint.base_url}: {why}")
    unavailable.provider_message = f"no answer: {why}"
    unavailable.nothing_listens = is_connection_refused(error)
    return unavailable


def token_count_or_none(value: object) -> int | None:
    """Read a token count; None when it is missing or no count."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MOST_TOKENS else None


def text_or_none(value: object) -> str | None:
    """Read a text; None when it is missing, empty or no text."""
    return value if isinstance(value, str) and value else None


def object_or_empty(value: object) -> dict[str, object]:
    """Read a JSON object; an empty one when it is missing or something else."""
    return value if isinstance(value, dict) else {}


def _parse_json_body(
    response: httpx2.Response,
    endpoint: Endpoint,
    key: Secret,
    with_images: bool,
    output_format: OutputFormat | None,
) -> dict[str, object]:
    status = response.status_code
    try:
        body: object = json.loads(response.content)
    except (ValueError, RecursionError) as error:
        start = find_provider_message(response.text, key) or "nothing"
        raise _make_unreadable_error(endpoint, status, f"without complete JSON: {start}") from error
    if not isinstance(body, dict):
        raise _make_unreadable_error(endpoint, status, "with JSON that is no object")
    # Some relays say 200 and put the real status into the body.
    if body.get("error"):
        code = object_or_empty(body["error"]).get("code")
        raise make_judge_error(
            code if isinstance(code, int) and 400 <= code < 600 else 502,
            response.headers,
            response.text,
            endpoint,
            key,
            with_images=with_images,
            output_format=output_format,
        )
    return body


def _make_unreadable_error(endpoint: Endpoint, status: int, how: str) -> JudgeUnavailable:
    """Make the error for an answer that is not the provider's JSON."""
    error = JudgeUnavailable(f"{endpoint.host} answered {status} {how}", status=status)
    error.provider_message = how
    return error


def _hide_key_in(error: Exception, key: Secret) -> None:
    """Take the key out of the SDK's own message, which a traceback of our error would show."""
    error.args = tuple(key.redact(str(argument)) for argument in error.args)
