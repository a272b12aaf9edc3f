"""Batches: what was handed to a provider, so that none is made twice and no answer is lost.

A batch is written down before it is sent, with all its questions. From then on they count as asked,
in every run, until a result or a reason says otherwise. A reply stays out of everybody's reach
until somebody who knows the question has found it usable.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    case,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from faithtui.domain.ids import ItemId, RunId
from faithtui.store.calls.batch_records import (
    BY_FILE,
    BatchQuestion,
    BatchRow,
    BatchState,
    LastBatchRequest,
    OutstandingBatches,
    QuestionResult,
    RequestState,
    WaitingQuestion,
)
from faithtui.store.calls.calls import Calls
from faithtui.store.database import Database
from faithtui.store.records import CallContext, RunTotals
from faithtui.store.schema.judge_tables import batch, batch_request
from faithtui.store.schema.statements import split_into_chunks
from faithtui.store.schema.tables import run, run_item, turn, turn_document

_OPEN = (BatchState.PLANNED.value, BatchState.SENT.value)

_BATCH = select(
    batch.c.uid,
    batch.c.run_id,
    batch.c.provider_id,
    batch.c.state,
    batch.c.reason,
    batch.c.requests,
    batch.c.created_at,
)
_REQUESTS_OF_QUESTION = (
    select(
        batch_request.c.batch_uid,
        batch.c.run_id,
        batch_request.c.state,
        batch_request.c.tries,
        batch_request.c.reason,
        batch_request.c.number,
    )
    .join(batch, batch.c.uid == batch_request.c.batch_uid)
    .where(
        batch_request.c.key == bindparam("question"),
        batch_request.c.state != RequestState.LEFT.value,
    )
)
_RESULT = (
    update(batch_request)
    .where(
        batch_request.c.batch_uid == bindparam("of_batch"),
        batch_request.c.number == bindparam("place"),
        batch_request.c.state == RequestState.WAITING.value,
    )
    .values(state=bindparam("becomes"), reason=bindparam("why"))
    .returning(
        batch_request.c.key,
        batch_request.c.step,
        batch_request.c.run_item_id,
        batch_request.c.window,
        batch_request.c.replicate,
    )
)

_HAS_IMAGES = or_(
    *(
        exists().where(
            run_item.c.id == batch_request.c.run_item_id,
            table.c.conversation_id == run_item.c.conversation_id,
            func.json_array_length(table.c.images) > 0,
        )
        for table in (turn, turn_document)
    )
)
"""Which of its questions carry them is not kept; those of a text alone fail for other reasons."""

_STATE_PRIORITY = (
    RequestState.WAITING,
    RequestState.ANSWERED,
    RequestState.UNUSABLE,
    RequestState.FAILED,
)
"""Of the places a question has had in batches of a run, the one that counts: a later one is only
taken when the earlier ones came to nothing."""


@dataclass(frozen=True, slots=True)
class _BatchOwner:
    run: int
    judge: str


class Batches:
    """Batches of a store."""

    def __init__(self, database: Database, calls: Calls, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._calls = calls
        self._clock = clock

    def record_batch_with_questions(
        self,
        run_id: RunId,
        uid: str,
        questions: Sequence[BatchQuestion],
        *,
        provider_id: str | None = None,
    ) -> None:
        """Write a batch down before it is sent; on return the disk has it.

        Args:
            run_id: The run that asks.
            uid: Names it.
            questions: In the order of their numbers.
            provider_id: What it is called where it is; None: it is not there yet.
        """
        state = BatchState.PLANNED if provider_id is None else BatchState.SENT
        head = {
            "uid": uid,
            "run_id": run_id,
            "provider_id": provider_id,
            "state": state.value,
            "requests": len(questions),
            "created_at": self._clock(),
        }
        rows = [
            {
                "batch_uid": uid,
                "number": number,
                "key": each.key,
                "run_item_id": each.item,
                "window": each.window,
                "step": each.step,
                "tries": each.tries,
                "replicate": each.replicate,
                "plain": each.is_plain,
                "tokens_likely": each.tokens_likely,
                "tokens_worst": each.tokens_worst,
                "nusd_worst": each.nusd_worst,
                "state": RequestState.WAITING.value,
            }
            for number, each in enumerate(questions)
        ]

        def insert_batch(connection: Connection) -> None:
            connection.execute(insert(batch), head)
            connection.execute(insert(batch_request), rows)

        self._database.run_in_write_transaction(insert_batch, durable=True)

    def mark_batch_sent(self, uid: str, provider_id: str) -> None:
        """Note that the provider has a batch, and what it calls it; on return the disk has it."""
        change = (
            update(batch)
            .where(batch.c.uid == uid)
            .values(state=BatchState.SENT.value, provider_id=provider_id)
        )
        self._database.run_in_write_transaction(
            lambda connection: connection.execute(change), durable=True
        )

    def store_results(self, uid: str, results: Sequence[QuestionResult]) -> RunTotals | None:
        """Store results of a batch; on return the disk has them.

        A result for a question that has one already is left out, so that reading results again
        counts nothing twice. Replies are not found by others before `mark_reply_usable`.

        Args:
            uid: The batch.
            results: In any order.

        Returns:
            The totals of its run afterwards; None when nothing of it was a new reply.
        """

        def write_results(connection: Connection) -> RunTotals | None:
            owner = _read_run_and_judge(connection, uid)
            totals = None
            for each in results:
                becomes = RequestState.FAILED if each.reply is None else RequestState.ANSWERED
                asked = connection.execute(
                    _RESULT,
                    {
                        "of_batch": uid,
                        "place": each.number,
                        "becomes": becomes.value,
                        "why": each.reason,
                    },
                ).one_or_none()
                if asked is None or each.reply is None:
                    continue
                meant = CallContext(
                    key=asked.key,
                    judge=owner.judge,
                    step=asked.step,
                    run=RunId(owner.run),
                    item=None if asked.run_item_id is None else ItemId(asked.run_item_id),
                    window=asked.window,
                    replicate=asked.replicate,
                    usable=False,
                )
                totals = self._calls.save_reply_release_lease_and_add_totals(meant, each.reply)
            return totals

        return self._database.run_in_write_transaction(write_results, durable=True)

    def close_finished_batch(self, uid: str, reason: str) -> None:
        """Close a batch whose results are all read.

        Args:
            uid: The batch.
            reason: Why the questions without a result have none.
        """
        self._close_batch(uid, BatchState.ENDED, None, RequestState.FAILED, reason)

    def close_failed_batch(self, uid: str, reason: str) -> None:
        """Close a batch that brings nothing more; its open questions count as never asked."""
        self._close_batch(uid, BatchState.FAILED, reason, RequestState.LEFT, None)

    def mark_reply_usable(self, uid: str, key: str) -> None:
        """Let everybody find the reply that a question got in a batch."""
        self._calls.mark_reply_usable(key, uid)

    def mark_reply_unusable(self, uid: str, number: int) -> None:
        """Note that the reply to a question is of no use. It stays stored."""
        change = (
            update(batch_request)
            .where(batch_request.c.batch_uid == uid, batch_request.c.number == number)
            .values(state=RequestState.UNUSABLE.value)
        )
        self._database.run_in_write_transaction(lambda connection: connection.execute(change))

    def list_open_batches(self, run_id: RunId) -> tuple[BatchRow, ...]:
        """List the batches of a run that are out or about to be, the oldest first."""
        return self._read_batches(batch.c.run_id == run_id, batch.c.state.in_(_OPEN))

    def find_batches(self, uids: Iterable[str]) -> tuple[BatchRow, ...]:
        """Read batches, the oldest first; unknown ones are left out."""
        return self._read_batches(batch.c.uid.in_(list(uids)))

    def list_failed_batches(self, run_id: RunId) -> tuple[BatchRow, ...]:
        """List the batches of a run that came to nothing as a whole, the oldest first."""
        return self._read_batches(
            batch.c.run_id == run_id, batch.c.state == BatchState.FAILED.value
        )

    def list_provider_batch_ids(self) -> frozenset[str]:
        """List what providers call the batches of this store."""
        known = select(batch.c.provider_id).where(
            batch.c.provider_id.is_not(None), batch.c.provider_id != BY_FILE
        )
        with self._database.open_reader() as connection:
            return frozenset(connection.scalars(known))

    def list_waiting_questions(self, uid: str) -> dict[int, WaitingQuestion]:
        """List the questions of a batch that have no result yet, by their numbers."""
        statement = select(
            batch_request.c.number,
            batch_request.c.step,
            batch_request.c.plain,
            batch_request.c.tokens_likely,
            _HAS_IMAGES,
        ).where(
            batch_request.c.batch_uid == uid, batch_request.c.state == RequestState.WAITING.value
        )
        with self._database.open_reader() as connection:
            return {row.number: WaitingQuestion(*row) for row in connection.execute(statement)}

    def find_last_request_of_question(self, run_id: RunId, key: str) -> LastBatchRequest | None:
        """Say what became of a question that has no usable reply.

        Args:
            run_id: The run that asks. Of other runs only what is under way counts, and replies
                that nobody has looked at.
            key: Names the question.

        Returns:
            None when it was never in a batch, or is to be asked afresh.
        """
        with self._database.open_reader() as connection:
            found = [
                LastBatchRequest(row[0], RunId(row[1]), RequestState(row[2]), *row[3:])
                for row in connection.execute(_REQUESTS_OF_QUESTION, {"question": key})
            ]
        counting = [
            each for each in found if each.run == run_id or _STATE_PRIORITY.index(each.state) <= 1
        ]
        if not counting:
            return None
        last = min(
            counting,
            key=lambda each: (_STATE_PRIORITY.index(each.state), each.run != run_id, -each.tries),
        )
        failures = [
            each.reason or ""
            for each in counting
            if each.run == run_id and each.state is RequestState.FAILED
        ]
        return replace(last, failures=tuple(failures))

    def sum_outstanding_of_run(self, run_id: RunId) -> OutstandingBatches:
        """Add up what is out of a run."""
        return self._sum_outstanding_by_run(batch.c.run_id == run_id).get(
            run_id, OutstandingBatches()
        )

    def sum_outstanding_by_run(self) -> Mapping[RunId, OutstandingBatches]:
        """Add up what is out, by run; runs with nothing out are left out."""
        return self._sum_outstanding_by_run()

    def _sum_outstanding_by_run(
        self, *where: ColumnElement[bool]
    ) -> dict[RunId, OutstandingBatches]:
        by_file = case((batch.c.provider_id == BY_FILE, 1), else_=0)
        statement = (
            select(
                batch.c.run_id,
                func.count(batch.c.uid.distinct()),
                func.count(),
                func.sum(by_file),
                func.sum(batch_request.c.tokens_worst),
                func.sum(batch_request.c.nusd_worst),
            )
            .join(batch_request, batch_request.c.batch_uid == batch.c.uid)
            .where(
                batch.c.state.in_(_OPEN),
                batch_request.c.state == RequestState.WAITING.value,
                *where,
            )
            .group_by(batch.c.run_id)
        )
        with self._database.open_reader() as connection:
            return {
                RunId(row[0]): OutstandingBatches(*row[1:]) for row in connection.execute(statement)
            }

    def _read_batches(self, *where: ColumnElement[bool]) -> tuple[BatchRow, ...]:
        with self._database.open_reader() as connection:
            return tuple(
                BatchRow(row[0], RunId(row[1]), row[2], BatchState(row[3]), *row[4:])
                for row in connection.execute(
                    _BATCH.where(*where).order_by(batch.c.created_at, batch.c.uid)
                )
            )

    def _close_batch(
        self,
        uid: str,
        state: BatchState,
        reason: str | None,
        rest: RequestState,
        rest_reason: str | None,
    ) -> None:
        now = self._clock()

        def update_rows(connection: Connection) -> None:
            connection.execute(
                update(batch_request)
                .where(
                    batch_request.c.batch_uid == uid,
                    batch_request.c.state == RequestState.WAITING.value,
                )
                .values(state=rest.value, reason=rest_reason)
            )
            connection.execute(
                update(batch)
                .where(batch.c.uid == uid)
                .values(state=state.value, reason=reason, ended_at=now)
            )

        self._database.run_in_write_transaction(update_rows, durable=True)


def _read_run_and_judge(connection: Connection, uid: str) -> _BatchOwner:
    row: Any = connection.execute(
        select(batch.c.run_id, run.c.judge)
        .join(run, run.c.id == batch.c.run_id)
        .where(batch.c.uid == uid)
    ).one()
    return _BatchOwner(row.run_id, row.judge)


def let_failed_questions_be_asked_again(
    connection: Connection, run_id: RunId, items: Collection[ItemId]
) -> None:
    """Let the questions of conversations whose answers came to nothing be asked afresh."""
    of_run = select(batch.c.uid).where(batch.c.run_id == run_id)
    for some in split_into_chunks(sorted(items)):
        connection.execute(
            update(batch_request)
            .where(
                batch_request.c.batch_uid.in_(of_run),
                batch_request.c.run_item_id.in_(some),
                batch_request.c.state.in_([RequestState.UNUSABLE.value, RequestState.FAILED.value]),
            )
            .values(state=RequestState.LEFT.value)
        )


def list_runs_with_questions_out(connection: Connection) -> frozenset[RunId]:
    """List the runs of which questions are with a provider or in a file."""
    statement = (
        select(batch.c.run_id)
        .distinct()
        .join(batch_request, batch_request.c.batch_uid == batch.c.uid)
        .where(batch.c.state.in_(_OPEN), batch_request.c.state == RequestState.WAITING.value)
    )
    return frozenset(RunId(each) for each in connection.execute(statement).scalars())
