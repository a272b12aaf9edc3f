"""OpenAI's Batch API: a file of questions goes up, a file of answers comes down.

A batch is labelled with its uid, so one that was lost on the way back is found by it.
"""

import json
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Final
from urllib.parse import quote

import openai

from faithtui.errors import JudgeError
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.judges.providers.batch_protocol import (
    SLOWEST,
    BatchApiClient,
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
from faithtui.judges.providers.openai_judge import OpenAIChat

MOST_REQUESTS: Final = 50_000
MOST_BYTES: Final = 200_000_000
"""Limits of one batch.

Source: OpenAI's guide to the Batch API.
"""

_PATH: Final = "/v1/chat/completions"

_LABEL: Final = "faithtui"
"""Name of the label that holds the uid."""

_WORKING: Final = {"validating", "in_progress", "finalizing", "cancelling"}


class OpenAIBatches(BatchApiClient[OpenAIChat]):
    """Batches of Chat Completions. See `BatchClient`."""

    dialect_class = OpenAIChat
    most_requests = MOST_REQUESTS
    most_bytes = MOST_BYTES

    def count_question_bytes(self, request: JudgeRequest) -> int:
        """Say how many bytes a question takes in the file."""
        return len(self.format_question("x" * 64, request))

    async def submit(self, uid: str, requests: Sequence[tuple[str, JudgeRequest]]) -> str:
        """Send the file, then make the batch. See `BatchClient.submit`."""
        ids = check_and_make_question_wire_ids(uid, requests, self.most_requests)
        lines = [
            self.format_question(name, each) for name, (_, each) in zip(ids, requests, strict=True)
        ]
        payload = b"".join(lines)
        refuse_too_large_batch(len(payload), self.most_bytes)
        sent = await self._api.call_or_refuse_without_batch_api(
            lambda: self._dialect.sdk.files.with_raw_response.create(
                file=(f"{_LABEL}-{uid}.jsonl", payload, "application/jsonl"),
                purpose="batch",
                timeout=PATIENCE,
            ),
            extra_s=len(payload) / SLOWEST,
        )
        file_id = self._api.read_id(sent.body)
        made = await self._api.call_or_refuse_without_batch_api(
            lambda: self._dialect.sdk.batches.with_raw_response.create(
                input_file_id=file_id,
                endpoint=_PATH,
                completion_window="24h",
                metadata={_LABEL: uid},
                timeout=PATIENCE,
            )
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
        """Look for its label among the newest; see `BatchClient.find_submitted_batch`."""
        async for batch in self._api.list_newest_batches_since(self._fetch_page_of_batches, since):
            if object_or_empty(batch.get("metadata")).get(_LABEL) == uid:
                return self._api.read_id(batch)
        return None

    async def stream_results(
        self, batch_id: str, *, plain: Collection[str] = (), pictured: Collection[str] = ()
    ) -> AsyncGenerator[BatchResult]:
        """Read the files of answers and of errors. See `BatchClient.stream_results`."""
        batch = await self._retrieve_batch(batch_id)
        if _read_status(batch).state == "working":
            raise self._api.make_unfinished_error(batch_id)
        for name in ("output_file_id", "error_file_id"):
            file_id = text_or_none(batch.get(name))
            if file_id is None:
                continue
            url = f"{self._api.endpoint.base_url}/files/{quote(file_id, safe='')}/content"
            async for line in self._api.stream_json_lines(url, {}, batch_id):
                custom_id = remove_id_prefix(text_or_none(line.get("custom_id")) or "")
                yield (
                    custom_id,
                    self.read_result(
                        line, is_plain=custom_id in plain, with_images=custom_id in pictured
                    ),
                )

    async def cancel(self, batch_id: str) -> None:
        """Ask the provider to stop. See `BatchClient.cancel`."""
        await self._api.call_about_batch(
            batch_id,
            lambda: self._dialect.sdk.batches.with_raw_response.cancel(batch_id, timeout=PATIENCE),
        )

    def format_question(self, wire_id: str, request: JudgeRequest) -> bytes:
        """Write a question as a line of a batch's file. See `QuestionFile.format_question`."""
        line = {
            "custom_id": wire_id,
            "method": "POST",
            "url": _PATH,
            "body": self._api.make_body(request),
        }
        return json.dumps(line).encode() + b"\n"

    async def _fetch_page_of_batches(self, after: str | None) -> RawAnswer:
        return await self._dialect.sdk.batches.with_raw_response.list(
            limit=100, after=after or openai.omit, timeout=PATIENCE
        )

    async def _retrieve_batch(self, batch_id: str) -> dict[str, object]:
        envelope = await self._api.call_about_batch(
            batch_id,
            lambda: self._dialect.sdk.batches.with_raw_response.retrieve(
                batch_id, timeout=PATIENCE
            ),
        )
        return envelope.body

    def read_result(
        self, line: Mapping[str, object], *, is_plain: bool, with_images: bool = False
    ) -> JudgeReply | JudgeError:
        """Read a line of a file of results. See `QuestionFile.read_result`."""
        response = object_or_empty(line.get("response"))
        status = response.get("status_code")
        if isinstance(status, int):
            name = text_or_none(response.get("request_id"))
            return self._api.read_reply(
                status, response.get("body"), name, is_plain=is_plain, with_images=with_images
            )
        error = object_or_empty(line.get("error"))
        return self._api.make_not_asked_error(
            text_or_none(error.get("message")) or text_or_none(error.get("code")) or "no reason"
        )


def _read_status(batch: dict[str, object]) -> BatchStatus:
    counts = object_or_empty(batch.get("request_counts"))
    status = batch.get("status")
    errors = object_or_empty(batch.get("errors")).get("data")
    first = object_or_empty(errors[0]) if isinstance(errors, list) and errors else {}
    return BatchStatus(
        state="working" if status in _WORKING else "failed" if status == "failed" else "ended",
        done=token_count_or_none(counts.get("completed")) or 0,
        failed=token_count_or_none(counts.get("failed")) or 0,
        total=token_count_or_none(counts.get("total")) or 0,
        expires_at=parse_time_or_none(batch.get("expires_at")),
        reason=text_or_none(first.get("message")) if status == "failed" else None,
    )
