"""What both Batch APIs have in common: names of questions, requests, and files of results.

Results are read line by line as they arrive: a batch of a hundred thousand answers is a file of
hundreds of megabytes.
"""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Generic, TypeVar

import httpx2

from faithtui.domain.json_values import parse_object_or_none
from faithtui.errors import (
    JudgeError,
    JudgeRequestRejected,
    JudgeTimeout,
    JudgeUnavailable,
    JudgeUnsupported,
)
from faithtui.judges.base import JudgeReply, JudgeRequest, OutputFormat, RateLimits
from faithtui.judges.deadlines import Deadline
from faithtui.judges.providers.endpoints import Endpoint
from faithtui.judges.providers.http_exchange import (
    PATIENCE,
    Envelope,
    RawAnswer,
    call_provider,
    make_http_client,
    object_or_empty,
    text_or_none,
    translate_to_judge_error,
)
from faithtui.judges.providers.parameters import RefusedParameters
from faithtui.judges.providers.provider_errors import find_provider_message, make_judge_error
from faithtui.judges.providers.provider_judge import Dialect, read_judge_reply
from faithtui.judges.providers.secret import Secret
from faithtui.judges.redaction import Redact, add_redaction_to_fingerprint, redact_request

DialectT = TypeVar("DialectT", bound=Dialect)

Call = Callable[[], Awaitable[RawAnswer]]
"""Puts one request on the wire."""

SLOWEST = 100_000
"""Bytes a second a large file is sent with at least; below that the deadline ends it."""

MAX_LINE = 20_000_000
"""Bytes of one result. Ours are some kilobytes; more is a server that ran away."""

MOST_PAGES = 20
"""Pages of a hundred batches that are searched for a lost one, the newest first."""

_CLOCKS_DIFFER = timedelta(hours=1)
"""How far this machine's clock and the provider's may be apart."""

_UID = re.compile(r"[A-Za-z0-9]{1,32}")
_CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,31}")
"""With the uid and a hyphen before it, 64 characters, which is what Anthropic takes."""

_NO_SUCH_PATH = {404, 405, 501}


class BatchApi:
    """One model's Batch API, as far as the providers agree."""

    def __init__(
        self,
        endpoint: Endpoint,
        key: Secret,
        client: httpx2.AsyncClient,
        dialect: Dialect,
        *,
        timeout_s: float,
        redact: Redact | None,
        deadline: Deadline,
    ) -> None:
        """Prepare; nothing is sent yet.

        Args:
            endpoint: Model and address.
            key: Put on requests by the client; hidden in messages here.
            client: The connections, which the dialect uses too.
            dialect: How questions are written and replies read.
            timeout_s: Seconds one request may take, and one line of a file of results.
            redact: Applied to every question.
            deadline: Keeps the time.
        """
        self.endpoint = endpoint
        self._key = key
        self._client = client
        self._dialect = dialect
        self._timeout_s = timeout_s
        self._deadline = deadline
        self._redact = redact

    @property
    def fingerprint(self) -> str:
        """That of the judge asked singly."""
        return add_redaction_to_fingerprint(self.endpoint.fingerprint, self._redact)

    @property
    def account(self) -> str:
        """Provider, host and key."""
        return f"{self.endpoint.provider.name} {self.endpoint.host} {self._key.digest()}"

    def make_body(self, request: JudgeRequest) -> Mapping[str, object]:
        """Write a question as it would be sent singly, bound to its schema."""
        return self._dialect.make_body(
            replace(redact_request(request, self._redact), output_format=None)
        )

    async def send_batch_request(self, call: Call, *, extra_s: float = 0.0) -> Envelope:
        """Make one request about batches.

        Args:
            call: Puts it on the wire.
            extra_s: Seconds it may take beyond the usual.

        Raises:
            JudgeError: As `call_provider`.
        """
        return await call_provider(
            call,
            self.endpoint,
            self._key,
            self._timeout_s + extra_s,
            self._dialect.sdk_error_class,
            deadline=self._deadline,
        )

    async def call_or_refuse_without_batch_api(
        self, call: Call, *, extra_s: float = 0.0
    ) -> Envelope:
        """Make a request that every Batch API answers.

        Raises:
            JudgeUnsupported: There is none here.
            JudgeError: As `call_provider`.
        """
        try:
            return await self.send_batch_request(call, extra_s=extra_s)
        except JudgeError as error:
            if error.status not in _NO_SUCH_PATH:
                raise
            raise JudgeUnsupported(
                f"{self.endpoint.host} has no Batch API (it answered {error.status}):"
                " run without --batch",
                status=error.status,
            ) from error

    async def call_about_batch(self, batch_id: str, call: Call) -> Envelope:
        """Make a request about one batch.

        Raises:
            JudgeRequestRejected: The provider does not have it.
            JudgeError: As `call_provider`.
        """
        try:
            return await self.send_batch_request(call)
        except JudgeError as error:
            if error.status != 404:
                raise
            raise self.make_batch_not_found_error(batch_id) from error

    def make_batch_not_found_error(self, batch_id: str) -> JudgeRequestRejected:
        """Make the error for a batch the provider does not have."""
        return JudgeRequestRejected(
            f"{self.endpoint.host} does not have the batch {batch_id}, or not any more;"
            " its questions have to be asked again",
            status=404,
        )

    async def list_newest_batches_since(
        self, page: Callable[[str | None], Awaitable[RawAnswer]], since: datetime
    ) -> AsyncGenerator[dict[str, object]]:
        """List batches, the newest first, back to a time.

        Args:
            page: Asks for a page: the batches behind the one with this id, or the newest.
            since: Back to when.

        Raises:
            JudgeUnavailable: There are too many.
            JudgeError: As `call_or_refuse_without_batch_api`.
        """
        after: str | None = None
        for _ in range(MOST_PAGES):
            envelope = await self.call_or_refuse_without_batch_api(partial(page, after))
            listed = envelope.body.get("data")
            batches = [object_or_empty(each) for each in listed] if isinstance(listed, list) else []
            for batch in batches:
                yield batch
            if not batches or envelope.body.get("has_more") is not True:
                return
            made = parse_time_or_none(batches[-1].get("created_at"))
            if made is not None and made < since - _CLOCKS_DIFFER:
                return
            after = self.read_id(batches[-1])
        raise JudgeUnavailable(
            f"{self.endpoint.host} has more than {MOST_PAGES * 100:,} batches since"
            f" {since:%Y-%m-%d %H:%M}, too many to look for one; resume the run later"
        )

    def read_id(self, body: Mapping[str, object]) -> str:
        """Read the id of a file or a batch.

        Raises:
            JudgeUnavailable: There is none.
        """
        found = text_or_none(body.get("id"))
        if found is None:
            raise JudgeUnavailable(f"{self.endpoint.host} answered without an id")
        return found

    def make_unfinished_error(self, batch_id: str) -> JudgeRequestRejected:
        """Make the error for results that are asked for too early."""
        return JudgeRequestRejected(f"the batch {batch_id} is still at work; ask again later")

    async def stream_json_lines(
        self, url: str, headers: Mapping[str, str], batch_id: str
    ) -> AsyncGenerator[dict[str, object]]:
        """Read a file of JSON objects, one a line, while it arrives.

        Args:
            url: Where it lies; must be at the endpoint's own host, since the key goes with it.
            headers: What the protocol wants beside the key.
            batch_id: For messages.

        Yields:
            Every line that is a JSON object.

        Raises:
            JudgeUnavailable: It broke off, or some lines were none; all others were given before.
            JudgeError: As `make_judge_error` reads the provider's status.
        """
        spoilt = 0
        try:
            request = self._client.build_request("GET", url, headers=headers, timeout=PATIENCE)
            async with self._deadline(self._timeout_s):
                response = await self._client.send(request, stream=True)
            try:
                if response.status_code != 200:
                    async with self._deadline(self._timeout_s):
                        await response.aread()
                    raise self._make_refused_error(response, batch_id)
                chunks = response.aiter_bytes()
                pending = bytearray()
                while True:
                    async with self._deadline(self._timeout_s):
                        complete = await _wait_for_next_lines_or_none(chunks, pending)
                    if complete is None:
                        break
                    for line in complete:
                        found = parse_object_or_none(line)
                        if found is not None:
                            yield found
                        elif line.strip():
                            spoilt += 1
            finally:
                await response.aclose()
        except TimeoutError as error:
            raise JudgeTimeout(
                f"{self.endpoint.host} sent no more of the results of batch {batch_id} within"
                f" {self._timeout_s:g} s"
            ) from error
        except httpx2.HTTPError as error:
            raise translate_to_judge_error(error, self.endpoint, self._key) from error
        if spoilt:
            lines = "1 line" if spoilt == 1 else f"{spoilt:,} lines"
            raise JudgeUnavailable(
                f"{lines} of the results of batch {batch_id} cannot be read; resume the run to read"
                " them again"
            )

    def read_reply(
        self,
        status: int,
        body: object,
        request_id: str | None,
        *,
        is_plain: bool,
        with_images: bool = False,
    ) -> JudgeReply | JudgeError:
        """Read what came of one question.

        Args:
            status: As for the question asked singly.
            body: Likewise.
            request_id: Likewise.
            is_plain: The question had no schema.
            with_images: It was about a conversation with images.
        """
        output_format = None if is_plain else OutputFormat.SCHEMA
        answer = object_or_empty(body)
        if status >= 400 or answer.get("error"):
            body_text = json.dumps(body)
            code = status if status >= 400 else 502
            # Learned for the batch in which the question is asked again.
            refused = self._dialect.refused_parameters
            refused.record_refusal_worth_retrying(
                code, body_text, refused.list_parameters_to_send(self.endpoint.profile.parameters)
            )
            return make_judge_error(
                code,
                {},
                body_text,
                self.endpoint,
                self._key,
                with_images=with_images,
                output_format=output_format,
            )
        name = request_id or text_or_none(answer.get("id"))
        envelope = Envelope(answer, status, name, 0, RateLimits())
        try:
            return read_judge_reply(envelope, self._dialect, self.endpoint, output_format)
        except JudgeError as error:
            return error

    def make_not_asked_error(self, why: str) -> JudgeError:
        """Make the error for a question that was in a batch and was not asked."""
        reason = find_provider_message(why, self._key)
        return JudgeUnavailable(
            f"{self.endpoint.host} did not ask this question: {reason}. It can be asked again"
        )

    async def aclose(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._dialect.aclose()

    def _make_refused_error(self, response: httpx2.Response, batch_id: str) -> JudgeError:
        if response.status_code == 404:
            return self.make_batch_not_found_error(batch_id)
        return make_judge_error(
            response.status_code, response.headers, response.text, self.endpoint, self._key
        )


class BatchApiClient(Generic[DialectT]):
    """What a `BatchClient` is over HTTP, whatever the provider.

    Args:
        endpoint: Model and address.
        key: Put on requests, hidden in messages.
        timeout_s: Seconds one request may take, and one line of a file of results.
        redact: Applied to every question.
        deadline: Keeps the time.
        headers: As for `ProviderJudge`.
        refused: As for `ProviderJudge`.
    """

    dialect_class: Callable[[Endpoint, httpx2.AsyncClient, RefusedParameters], DialectT]
    """How questions are written and replies read."""
    most_requests: int
    """Questions one batch may hold."""
    most_bytes: int
    """Bytes of its questions."""

    def __init__(
        self,
        endpoint: Endpoint,
        key: Secret,
        *,
        timeout_s: float,
        redact: Redact | None,
        deadline: Deadline,
        headers: Mapping[str, str] | None = None,
        refused: RefusedParameters | None = None,
    ) -> None:
        client = make_http_client(endpoint, key, headers)
        self._dialect = self.dialect_class(endpoint, client, refused or RefusedParameters())
        self._api = BatchApi(
            endpoint,
            key,
            client,
            self._dialect,
            timeout_s=timeout_s,
            redact=redact,
            deadline=deadline,
        )

    @property
    def fingerprint(self) -> str:
        """That of the judge asked singly."""
        return self._api.fingerprint

    @property
    def account(self) -> str:
        """Provider, host and key."""
        return self._api.account

    async def aclose(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._api.aclose()


def check_and_make_question_wire_ids(
    uid: str, requests: Sequence[tuple[str, JudgeRequest]], most: int
) -> list[str]:
    """Name the questions of a batch so that any of its results shows which batch it is.

    Raises:
        JudgeRequestRejected: None or too many, or an id that cannot be one.
    """
    if not 0 < len(requests) <= most:
        raise JudgeRequestRejected(
            f"a batch of this provider holds 1 to {most:,} questions and not {len(requests):,}"
        )
    ids = [custom_id for custom_id, _ in requests]
    for name, form in ((uid, _UID), *((each, _CUSTOM_ID) for each in ids)):
        if not form.fullmatch(name):
            raise JudgeRequestRejected(f"{name!r} cannot name a batch or a question in one")
    if len(set(ids)) < len(ids):
        raise JudgeRequestRejected("two questions of a batch have the same id")
    return [f"{uid}-{each}" for each in ids]


def refuse_too_large_batch(size: int, most: int) -> None:
    """Refuse a batch that is too large.

    Raises:
        JudgeRequestRejected: It is.
    """
    if size > most:
        raise JudgeRequestRejected(
            f"a batch of this provider holds {most:,} bytes and not {size:,}; make smaller ones"
        )


def remove_id_prefix(wire_id: str) -> str:
    """Undo `check_and_make_question_wire_ids` for one question."""
    return wire_id.partition("-")[2]


def parse_time_or_none(value: object) -> datetime | None:
    """Read a time: seconds since 1970, or ISO 8601; None when it is neither."""
    try:
        if isinstance(value, int):
            return datetime.fromtimestamp(value, UTC)
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def belongs_to_batch(wire_id: str, uid: str) -> bool:
    """Whether a result is one of the batch with this uid."""
    return wire_id.startswith(f"{uid}-")


async def _wait_for_next_lines_or_none(
    chunks: AsyncIterator[bytes], pending: bytearray
) -> list[bytes] | None:
    """Wait for the next complete lines; None at the end.

    Only line feeds separate them: JSON may hold the other characters that Python splits lines at.

    Raises:
        JudgeUnavailable: A line is too long to be a result.
    """
    while (chunk := await anext(chunks, None)) is not None:
        pending += chunk
        if b"\n" in chunk:
            *complete, rest = bytes(pending).split(b"\n")
            pending[:] = rest
            return complete
        if len(pending) > MAX_LINE:
            raise JudgeUnavailable(f"a result of the batch is longer than {MAX_LINE:,} bytes")
    last = bytes(pending)
    pending.clear()
    return [last] if last else None
