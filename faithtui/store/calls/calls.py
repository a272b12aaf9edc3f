"""Replies of judges, and what was found out about judges.

Written at every call, so the statements are made once and the transactions are short.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    Row,
    Select,
    bindparam,
    case,
    exists,
    func,
    insert,
    select,
    union,
    update,
)
from sqlalchemy.dialects.sqlite import insert as upsert

from faithtui.domain.ids import ItemId, RunId
from faithtui.store.calls.question_leases import RELEASE_LEASE
from faithtui.store.database import Database
from faithtui.store.records import (
    CallContext,
    CallRow,
    FreshVerdict,
    ItemCost,
    RunTotals,
    StepTotals,
    StoredReply,
)
from faithtui.store.schema.judge_tables import (
    fresh_verdict,
    judge_call,
    judge_memory,
)
from faithtui.store.schema.tables import conversation, run, run_item

_REPLY_COLUMNS = (
    judge_call.c.text,
    judge_call.c.stop,
    judge_call.c.structured,
    judge_call.c.tokens_in,
    judge_call.c.tokens_out,
    judge_call.c.tokens_cached,
    judge_call.c.request_id,
    judge_call.c.served_model,
    judge_call.c.latency_ms,
    judge_call.c.rung,
    judge_call.c.tokens_cache_write,
    judge_call.c.tokens_reasoning,
    judge_call.c.cost_nusd,
    judge_call.c.prices,
    judge_call.c.estimated,
    judge_call.c.batch_uid,
)
_REPLY = (
    select(*_REPLY_COLUMNS, judge_call.c.id)
    .where(judge_call.c.key == bindparam("question"), judge_call.c.usable)
    .order_by(judge_call.c.id)
    .limit(1)
)
_UNUSABLE_REPLY = (
    select(*_REPLY_COLUMNS, judge_call.c.id)
    .where(judge_call.c.key == bindparam("question"), ~judge_call.c.usable)
    .order_by(judge_call.c.id.desc())
    .limit(1)
)
_REPLY_OR_CUT = (
    select(*_REPLY_COLUMNS, judge_call.c.id)
    .where(
        judge_call.c.key == bindparam("question"),
        judge_call.c.usable | (judge_call.c.stop == "length"),
    )
    .order_by(judge_call.c.usable.desc(), judge_call.c.id)
    .limit(1)
)
_SAVE = insert(judge_call)
_SAME = (
    select(judge_call.c.id)
    .where(
        judge_call.c.key == bindparam("question"),
        judge_call.c.text == bindparam("said"),
        judge_call.c.latency_ms == bindparam("took"),
        judge_call.c.request_id.is_not_distinct_from(bindparam("request")),
    )
    .limit(1)
)
_REPLY_FIELDS = tuple(each.name for each in fields(StoredReply) if each.name != "number")
_COUNT_CALL = (
    update(run)
    .where(run.c.id == bindparam("run_under_way"))
    .values(
        calls=run.c.calls + 1,
        tokens_in=run.c.tokens_in + bindparam("read"),
        tokens_out=run.c.tokens_out + bindparam("written"),
        tokens_cached=run.c.tokens_cached + bindparam("cached"),
        cost_nusd=run.c.cost_nusd + bindparam("cost"),
        unpriced_calls=run.c.unpriced_calls + bindparam("unpriced"),
    )
    .returning(
        run.c.calls,
        run.c.tokens_in,
        run.c.tokens_out,
        run.c.tokens_cached,
        run.c.cost_nusd,
        run.c.unpriced_calls,
    )
)


_CALL_COLUMNS = (
    judge_call.c.id,
    judge_call.c.step,
    judge_call.c.window,
    judge_call.c.replicate,
    judge_call.c.usable,
    judge_call.c.created_at,
    judge_call.c.key,
    judge_call.c.run_id,
    judge_call.c.run_item_id,
    conversation.c.key.label("conversation_key"),
)
"""Columns of a call that are not of its reply."""
_CALLS: Select[Any] = select(*_CALL_COLUMNS, *_REPLY_COLUMNS).select_from(
    judge_call.outerjoin(run_item, run_item.c.id == judge_call.c.run_item_id).outerjoin(
        conversation, conversation.c.id == run_item.c.conversation_id
    )
)


class Calls:
    """Calls of judges."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def find_usable_reply(self, key: str, *, or_cut: bool = False) -> StoredReply | None:
        """Find the first usable reply to a question; None when it was never answered.

        Args:
            key: Hash of everything that determines the reply.
            or_cut: Where none is usable, one that ran into the limit of tokens will do.
        """
        row = self._database.read_first_row(_REPLY_OR_CUT if or_cut else _REPLY, {"question": key})
        return None if row is None else StoredReply(*row)

    def find_unusable_reply(self, key: str) -> StoredReply | None:
        """Find the latest reply to a question that could not be used; None without one.

        Args:
            key: Hash of everything that determines the reply.
        """
        row = self._database.read_first_row(_UNUSABLE_REPLY, {"question": key})
        return None if row is None else StoredReply(*row)

    def save_reply_release_lease_and_add_totals(
        self, asked: CallContext, reply: StoredReply
    ) -> RunTotals | None:
        """Store a judge's reply the moment it arrives; on return the disk has it.

        The lease on the question ends in the same transaction.

        Args:
            asked: What it answers, and for whom.
            reply: The reply as it came.

        Returns:
            The totals of the run it was asked for, by all processes; None outside a run.
        """
        row = {
            "key": asked.key,
            "run_id": asked.run,
            "run_item_id": asked.item,
            "window": asked.window,
            "replicate": asked.replicate,
            "judge": asked.judge,
            "step": asked.step,
            "usable": asked.usable,
            "created_at": self._clock(),
            **{name: getattr(reply, name) for name in _REPLY_FIELDS},
        }

        def insert_reply(connection: Connection) -> RunTotals | None:
            connection.execute(_SAVE, row)
            if asked.worker is not None:
                connection.execute(RELEASE_LEASE, {"question": asked.key, "holder": asked.worker})
            if asked.run is None:
                return None
            counted = connection.execute(
                _COUNT_CALL,
                {
                    "run_under_way": asked.run,
                    "read": reply.tokens_in or 0,
                    "written": reply.tokens_out or 0,
                    "cached": reply.tokens_cached or 0,
                    "cost": reply.cost_nusd or 0,
                    "unpriced": int(reply.cost_nusd is None),
                },
            ).one_or_none()
            return None if counted is None else RunTotals(*counted)

        return self._database.run_in_write_transaction(insert_reply, durable=True)

    def save_late_reply(self, asked: CallContext, reply: StoredReply) -> None:
        """Store a reply that could not be stored when it arrived, unless it was after all.

        Args:
            asked: What it answers. A run that is not in this store is left out.
            reply: The reply as it came.
        """

        def insert_if_missing(connection: Connection) -> None:
            same = {
                "question": asked.key,
                "said": reply.text,
                "took": reply.latency_ms,
                "request": reply.request_id,
            }
            if connection.execute(_SAME, same).first() is not None:
                return
            owner = select(run_item.c.run_id).where(run_item.c.id == asked.item)
            is_known = asked.item is not None and connection.scalar(owner) == asked.run
            place = (asked.run, asked.item) if is_known else (None, None)
            # Whoever held the lease is gone.
            self.save_reply_release_lease_and_add_totals(
                replace(asked, run=place[0], item=place[1], worker=None), reply
            )

        self._database.run_in_write_transaction(insert_if_missing, durable=True)

    def find_batch_reply(self, batch_uid: str, key: str) -> StoredReply | None:
        """Give the reply that a question got in a batch, usable or not; None without one."""
        statement = (
            select(*_REPLY_COLUMNS, judge_call.c.id)
            .where(judge_call.c.key == key, judge_call.c.batch_uid == batch_uid)
            .limit(1)
        )
        with self._database.open_reader() as connection:
            row = connection.execute(statement).one_or_none()
        return None if row is None else StoredReply(*row)

    def mark_reply_usable(self, key: str, batch_uid: str) -> None:
        """Let the reply that a question got in a batch be found."""
        change = (
            update(judge_call)
            .where(judge_call.c.key == key, judge_call.c.batch_uid == batch_uid)
            .values(usable=True)
        )
        self._database.run_in_write_transaction(lambda connection: connection.execute(change))

    def add_to_run_retry_count(self, run_id: RunId, retries: int) -> None:
        """Add to the attempts of a run that were made again."""
        change = update(run).where(run.c.id == run_id).values(retries=run.c.retries + retries)
        self._database.run_in_write_transaction(lambda connection: connection.execute(change))

    def list_item_calls(self, item: ItemId) -> tuple[CallRow, ...]:
        """List the calls that were made for a conversation of a run, in order, with their texts."""
        statement = _CALLS.where(judge_call.c.run_item_id == item).order_by(judge_call.c.id)
        with self._database.open_reader() as connection:
            return tuple(_make_call_row(row) for row in connection.execute(statement))

    def list_calls_answering(self, keys: Iterable[str]) -> tuple[CallRow, ...]:
        """List the call that answers each question, for whichever conversation it was made.

        Args:
            keys: Names of questions; those without a usable reply are left out.
        """
        first = (
            select(func.min(judge_call.c.id))
            .where(judge_call.c.key.in_(list(keys)), judge_call.c.usable)
            .group_by(judge_call.c.key)
        )
        statement = _CALLS.where(judge_call.c.id.in_(first))
        with self._database.open_reader() as connection:
            return tuple(_make_call_row(row) for row in connection.execute(statement))

    def sum_item_costs(self, item: ItemId) -> ItemCost:
        """Add up the calls that were made for a conversation of a run.

        Returns:
            All of it, and each window's part: what the window asked first. An answer that was
            stored before costs nothing, and what serves several windows counts for the first.
        """
        statement = (
            select(
                judge_call.c.window,
                func.count(),
                func.coalesce(func.sum(judge_call.c.tokens_in), 0),
                func.coalesce(func.sum(judge_call.c.tokens_out), 0),
                func.coalesce(func.sum(judge_call.c.tokens_cached), 0),
                func.coalesce(func.sum(judge_call.c.cost_nusd), 0),
                # What the embedded judge said before costs were kept was free as well.
                func.count(case((judge_call.c.judge != "offline", 1)))
                - func.count(case((judge_call.c.judge != "offline", judge_call.c.cost_nusd))),
            )
            .where(judge_call.c.run_item_id == item)
            .group_by(judge_call.c.window)
        )
        with self._database.open_reader() as connection:
            parts = {row[0]: RunTotals(*row[1:]) for row in connection.execute(statement)}
        total = RunTotals()
        for part in parts.values():
            total += part
        return ItemCost(total, parts)

    def sum_run_calls_by_question_kind(self, run_id: RunId) -> tuple[StepTotals, ...]:
        """Add up the calls of a run by kind of question, in the order of their first call."""
        statement = (
            select(
                judge_call.c.step,
                func.count(),
                func.count(case((~judge_call.c.usable, 1))),
                func.coalesce(func.sum(judge_call.c.tokens_in), 0),
                func.coalesce(func.sum(judge_call.c.tokens_out), 0),
                func.coalesce(func.sum(judge_call.c.cost_nusd), 0),
                func.avg(judge_call.c.latency_ms),
            )
            .where(judge_call.c.run_id == run_id)
            .group_by(judge_call.c.step)
            .order_by(func.min(judge_call.c.id))
        )
        with self._database.open_reader() as connection:
            return tuple(StepTotals(*row) for row in connection.execute(statement))

    def list_served_models(self, run_id: RunId) -> tuple[str, ...]:
        """Name the models that answered a run, as its provider says; () where nobody said.

        A stored reply belongs to the run that it was bought for, and nothing links it to a run that
        it answered later. For a conversation of which no question was sent they are those that
        earlier runs with the same judge and prompts bought for it: where several models answered
        these, all of them.
        """
        own = select(judge_call.c.served_model).where(judge_call.c.run_id == run_id)
        statement = union(own, _select_models_of_reused_replies(run_id))
        with self._database.open_reader() as connection:
            found = connection.execute(statement).scalars()
            return tuple(sorted(each for each in found if each is not None))

    def recall_output_format(self, fingerprint: str) -> str | None:
        """Recall the way of asking for JSON that worked with a judge; None: nobody knows."""
        statement = select(judge_memory.c.rung).where(judge_memory.c.fingerprint == fingerprint)
        with self._database.open_reader() as connection:
            return connection.execute(statement).scalar_one_or_none()

    def recall_refused_parameters(self, fingerprint: str) -> tuple[str, ...]:
        """Recall the parameters that a judge does not take; () when none is known."""
        statement = select(judge_memory.c.refused).where(judge_memory.c.fingerprint == fingerprint)
        with self._database.open_reader() as connection:
            return tuple(connection.execute(statement).scalar_one_or_none() or ())

    def remember_refused_parameter(self, fingerprint: str, name: str) -> None:
        """Keep that a judge does not take a parameter."""

        def add_refused_parameter(connection: Connection) -> None:
            known = select(judge_memory.c.refused).where(judge_memory.c.fingerprint == fingerprint)
            names = [*(connection.execute(known).scalar_one_or_none() or ()), name]
            refused = {"refused": list(dict.fromkeys(names)), "updated_at": self._clock()}
            statement = upsert(judge_memory).values({"fingerprint": fingerprint, **refused})
            connection.execute(
                statement.on_conflict_do_update(index_elements=["fingerprint"], set_=refused)
            )

        self._database.run_in_write_transaction(add_refused_parameter)

    def remember_output_format(self, fingerprint: str, output_format: str | None) -> None:
        """Keep the way of asking for JSON that works with a judge; None forgets it."""
        row = {"fingerprint": fingerprint, "rung": output_format, "updated_at": self._clock()}
        statement = upsert(judge_memory).values(row)
        changed = statement.on_conflict_do_update(index_elements=["fingerprint"], set_=row)
        self._database.run_in_write_transaction(lambda connection: connection.execute(changed))

    def add_re_asked_verdict(self, verdict: FreshVerdict) -> None:
        """Keep a verdict that was asked for again on purpose."""
        row = asdict(verdict) | {"created_at": self._clock()}
        row["run_item_id"] = row.pop("item")
        row["claim_id"] = row.pop("claim")
        self._database.run_in_write_transaction(
            lambda connection: connection.execute(insert(fresh_verdict), row)
        )

    def list_re_asked_verdicts(self, item: ItemId) -> tuple[FreshVerdict, ...]:
        """List the verdicts of a conversation of a run that were asked for again, in order."""
        columns = (
            fresh_verdict.c.run_item_id,
            fresh_verdict.c.claim_id,
            fresh_verdict.c.window,
            fresh_verdict.c.replicate,
            fresh_verdict.c.label,
            fresh_verdict.c.word,
            fresh_verdict.c.reason,
            fresh_verdict.c.confidence,
            fresh_verdict.c.asked_by,
        )
        statement = (
            select(*columns).where(fresh_verdict.c.run_item_id == item).order_by(fresh_verdict.c.id)
        )
        with self._database.open_reader() as connection:
            return tuple(FreshVerdict(*row) for row in connection.execute(statement))


def _select_models_of_reused_replies(run_id: RunId) -> Select[Any]:
    """Select the models of the replies that a run can have been answered from, and did not buy."""
    this, buyer = run.alias(), run.alias()
    item, bought_for = run_item.alias(), run_item.alias()
    own, earlier = judge_call.alias(), judge_call.alias()
    return (
        select(judge_call.c.served_model)
        .select_from(this)
        .join(item, item.c.run_id == this.c.id)
        .join(bought_for, bought_for.c.conversation_id == item.c.conversation_id)
        .join(buyer, buyer.c.id == bought_for.c.run_id)
        .join(judge_call, judge_call.c.run_item_id == bought_for.c.id)
        .where(
            this.c.id == run_id,
            item.c.state == "done",
            ~exists().where(own.c.run_item_id == item.c.id),
            buyer.c.id != this.c.id,
            buyer.c.judge_fingerprint == this.c.judge_fingerprint,
            buyer.c.prompt_digest == this.c.prompt_digest,
            judge_call.c.usable,
            judge_call.c.created_at <= func.coalesce(this.c.finished_at, judge_call.c.created_at),
            # The first usable reply to a question is the one that is found.
            ~exists().where(
                earlier.c.key == judge_call.c.key,
                earlier.c.usable,
                earlier.c.id < judge_call.c.id,
            ),
        )
    )


def _make_call_row(row: Row[Any]) -> CallRow:
    return CallRow(
        id=row.id,
        step=row.step,
        window=row.window,
        replicate=row.replicate,
        usable=row.usable,
        at=row.created_at,
        reply=StoredReply(*tuple(row)[len(_CALL_COLUMNS) :]),
        key=row.key,
        run=row.run_id,
        item=row.run_item_id,
        conversation=row.conversation_key,
    )
