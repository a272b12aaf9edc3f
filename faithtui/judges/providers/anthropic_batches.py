"""Anthropic's Message Batches: questions go up in one request, a file of answers comes down.

A batch has no label. It is known by its results, each of which begins with the uid; while it is at
work, one that was lost can only be told from others by how many questions it holds.
"""

import json
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import quote

import anthropic

from faithtui.errors import JudgeError, JudgeUnavailable
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.judges.providers.anthropic_judge import AnthropicMessages
from faithtui.judges.providers.batch_protocol import (
    SLOWEST,
    BatchApiClient,
    belongs_to_batch,
    check_and_make_question_wire_ids,
    parse_time_or_none,
    refuse_too_large_batch,
    remove_id_prefix,
)
from faithtui.judges.providers.batches import BatchResult, BatchStatus
from faithtui.judges.providers.http_exchange import (
    PATIENCE,
    RawAnswer,
    object_or_empty,
    text_or_none,
    token_count_or_none,
)

if TYPE_CHECKING:
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

MOST_REQUESTS: Final = 100_000
MOST_BYTES: Final = 256_000_000
"""Limits of one batch.

Source: Anthropic's guide to batch processing.
"""

_STATUSES: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status each kind of error has when a question is asked singly.

Source: Anthropic's guide to errors.
"""

_NOT_ASKED_REASONS: Final = {
    "expired": "the batch ran out of time",
    "canceled": "the batch was cancelled",
}


class AnthropicBatches(BatchApiClient[AnthropicMessages]):
    """Message Batches. See `BatchClient`."""

    dialect_class = AnthropicMessages
    most_requests = MOST_REQUESTS
    most_bytes = MOST_BYTES

    def count_question_bytes(self, request: JudgeRequest) -> int:
        """Say how many bytes a question takes in the request."""
        return len(json.dumps({"custom_id": "x" * 64, "params": self._api.make_body(request)})) + 1

    async def submit(self, uid: str, requests: Sequence[tuple[str, JudgeRequest]]) -> str:
        """Send all questions in one request. See `BatchClient.submit`."""
        ids = check_and_make_question_wire_ids(uid, requests, self.most_requests)
        size = sum(self.count_question_bytes(each) for _, each in requests)
        refuse_too_large_batch(size, self.most_bytes)
        made = await self._api.call_or_refuse_without_batch_api(
            lambda: self._dialect.sdk.messages.batches.with_raw_response.create(
                requests=[
                    {"custom_id": name, "params": self._make_params(each)}
                    for name, (_, each) in zip(ids, requests, strict=True)
                ],
                timeout=PATIENCE,
            ),
            extra_s=size / SLOWEST,
        )
        return self._api.read_id(made.body)

    async def fetch_status(self, batch_id: str) -> BatchStatus:
        """Ask how far it is. See `BatchClient.fetch_status`."""
        return _read_status(await self._retrieve_batch(batch_id))

    async def find_submitted_batch(
        self,
        uid: str,
        *,
        total: int,
        since: datetime,
        known: Collection[str] = (),
    ) -> str | None:
        """Look into results of batches that may be it; see `BatchClient.find_submitted_batch`."""
        undecided: str | None = None
        async for batch in self._api.list_newest_batches_since(self._fetch_page_of_batches, since):
            batch_id = self._api.read_id(batch)
            status = _read_status(batch)
            if batch_id in known or status.total != total:
                continue
            if status.state == "working":
                undecided = undecided or batch_id
            elif await self._is_batch_with_uid(batch_id, uid):
                return batch_id
        if undecided is not None:
            raise JudgeUnavailable(
                f"the batch {undecided} may be the one whose submission was not answered; that can"
                " be told when it has ended, so resume the run then"
            )
        return None

    async def stream_results(
        self, batch_id: str, *, plain: Collection[str] = (), pictured: Collection[str] = ()
    ) -> AsyncGenerator[BatchResult]:
        """Read the file of results. See `BatchClient.stream_results`."""
        if _read_status(await self._retrieve_batch(batch_id)).state == "working":
            raise self._api.make_unfinished_error(batch_id)
        async for line in self._read_result_lines(batch_id):
            custom_id = remove_id_prefix(text_or_none(line.get("custom_id")) or "")
            yield (
                custom_id,
                self._read_result(
                    line, is_plain=custom_id in plain, with_images=custom_id in pictured
                ),
            )

    async def cancel(self, batch_id: str) -> None:
        """Ask the provider to stop. See `BatchClient.cancel`."""
        await self._api.call_about_batch(
            batch_id,
            lambda: self._dialect.sdk.messages.batches.with_raw_response.cancel(
                batch_id, timeout=PATIENCE
            ),
        )

    def _make_params(self, request: JudgeRequest) -> "MessageCreateParamsNonStreaming":
        # It is what `AnthropicMessages.body` returns, seen through what both providers share.
        return cast("MessageCreateParamsNonStreaming", self._api.make_body(request))

    async def _fetch_page_of_batches(self, after: str | None) -> RawAnswer:
        return await self._dialect.sdk.messages.batches.with_raw_response.list(
            limit=100, after_id=after or anthropic.omit, timeout=PATIENCE
        )

    async def _retrieve_batch(self, batch_id: str) -> dict[str, object]:
        envelope = await self._api.call_about_batch(
            batch_id,
            lambda: self._dialect.sdk.messages.batches.with_raw_response.retrieve(
                batch_id, timeout=PATIENCE
            ),
        )
        return envelope.body

    async def _is_batch_with_uid(self, batch_id: str, uid: str) -> bool:
        """Whether the first result is one of the batch with this uid."""
        async with aclosing(self._read_result_lines(batch_id)) as lines:
            async for line in lines:
                return belongs_to_batch(text_or_none(line.get("custom_id")) or "", uid)
        return False

    def _read_result_lines(self, batch_id: str) -> AsyncGenerator[dict[str, object]]:
        # Not at the address the batch names for its results: the key is for this host alone.
        place = f"/v1/messages/batches/{quote(batch_id, safe='')}/results"
        version = self._dialect.sdk.default_headers.get("anthropic-version")
        headers = {"anthropic-version": version} if isinstance(version, str) else {}
        return self._api.stream_json_lines(
            f"{self._api.endpoint.base_url}{place}", headers, batch_id
        )

    def _read_result(
        self, line: dict[str, object], *, is_plain: bool, with_images: bool
    ) -> JudgeReply | JudgeError:
        result = object_or_empty(line.get("result"))
        kind = text_or_none(result.get("type")) or ""
        if kind == "succeeded":
            return self._api.read_reply(200, result.get("message"), None, is_plain=is_plain)
        if kind == "errored":
            body = object_or_empty(result.get("error"))
            name = text_or_none(object_or_empty(body.get("error")).get("type")) or ""
            return self._api.read_reply(
                _STATUSES.get(name, 500), body, None, is_plain=is_plain, with_images=with_images
            )
        return self._api.make_not_asked_error(_NOT_ASKED_REASONS.get(kind, kind or "no reason"))


def _read_status(batch: dict[str, object]) -> BatchStatus:
    request_counts = object_or_empty(batch.get("request_counts"))
    counts = {name: token_count_or_none(count) or 0 for name, count in request_counts.items()}
    return BatchStatus(
        state="ended" if batch.get("processing_status") == "ended" else "working",
        done=counts.get("succeeded", 0),
        failed=sum(counts.get(name, 0) for name in ("errored", "canceled", "expired")),
        total=sum(counts.values()),
        expires_at=parse_time_or_none(batch.get("expires_at")),
    )
