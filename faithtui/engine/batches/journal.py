"""What became of batches that are out: found again, still at work, read, or come to nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from faithtui.engine.batches.results import UNANSWERED, store_results
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.engine.runs.run_execution import RunExecution
from faithtui.errors import JudgeError, JudgeRequestRejected, JudgeUnusable
from faithtui.judges.providers.batches import BatchClient
from faithtui.store.calls.batch_records import BY_FILE, BatchRow

TOO_MUCH: Final = "more than the provider takes at once: "
"""What the reason of a batch begins with that was too large for what else was out."""

_NEVER_CAME: Final = "the provider never got it"


def format_batch_refusal_reason(why: str) -> str:
    """Say why a batch was refused as a whole, so that one that was too large is known again."""
    return f"{TOO_MUCH}{why}" if "limit" in why.lower() else why


@dataclass(slots=True)
class BatchTracker:
    """The batches of a run, as they are looked after once."""

    execution: RunExecution
    client: BatchClient
    environment: RunEnvironment
    troubles: list[str] = field(default_factory=list)
    """What could not be looked at now, in sentences."""
    stop_error: JudgeError | None = None
    """Why going on is pointless, if it is."""

    async def poll_batches_and_read_results(self, rows: Iterable[BatchRow]) -> bool:
        """Look how far batches are, and read the results of those that have ended.

        One that cannot be looked at now does not keep the others from it.

        Args:
            rows: Batches that are out. Files are left alone.

        Returns:
            Whether anything is otherwise than before.

        Raises:
            JudgeUnusable: Nothing can be asked of the provider now.
            StoreError: The store cannot be written.
        """
        has_changed = False
        for row in rows:
            if row.provider_id == BY_FILE:
                continue
            try:
                has_changed |= await self._poll_batch_and_read_results(row)
            except JudgeUnusable:
                raise
            except JudgeRequestRejected as error:
                self.stop_error = JudgeRequestRejected(
                    f"{error}. If the key is still one of the same account, give the batch up with"
                    f" `faithtui batch cancel {row.run}`",
                    status=error.status,
                )
            except JudgeError as error:
                self.troubles.append(str(error))
        return has_changed

    async def _poll_batch_and_read_results(self, row: BatchRow) -> bool:
        """Look after one batch.

        Raises:
            JudgeError: It cannot be looked at, or its results broke off.
        """
        batches, write = self.execution.store.batches, self.execution.writer.write
        provider_id = row.provider_id
        is_found = provider_id is None
        if provider_id is None:
            provider_id = await self.client.find_submitted_batch(
                row.uid,
                total=row.requests,
                since=row.created_at,
                known=batches.list_provider_batch_ids(),
            )
            if provider_id is None:
                await write(batches.close_failed_batch, row.uid, _NEVER_CAME)
                return True
            await write(batches.mark_batch_sent, row.uid, provider_id)
        status = await self.client.fetch_status(provider_id)
        if status.state == "working":
            return is_found
        if status.state == "failed":
            await self._close_refused_batch_and_set_stop_error(
                row, status.reason or "it does not say why"
            )
            return True
        waiting = batches.list_waiting_questions(row.uid)
        plain = {str(number) for number, each in waiting.items() if each.is_plain}
        pictured = {str(number) for number, each in waiting.items() if each.has_images}
        results = partial(self.client.stream_results, provider_id, plain=plain, pictured=pictured)
        read = await store_results(self.execution, self.environment, row, results())
        self.stop_error = self.stop_error or read.stop_error
        await write(batches.close_finished_batch, row.uid, UNANSWERED)
        return True

    async def _close_refused_batch_and_set_stop_error(self, row: BatchRow, why: str) -> None:
        """Take a batch back that was refused as a whole: nothing in it was asked."""
        reason = format_batch_refusal_reason(why)
        is_too_much = reason.startswith(TOO_MUCH)
        await self.execution.writer.write(
            self.execution.store.batches.close_failed_batch, row.uid, reason
        )
        if not is_too_much or row.requests == 1:
            self.stop_error = JudgeRequestRejected(
                f"the provider refused a batch ({row.requests:,} in it): {why}"
            )
