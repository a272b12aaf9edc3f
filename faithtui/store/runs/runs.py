"""Runs: what was ordered, what is still to do, what the judge said, and what it cost."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Update, func, insert, select, update

from faithtui.domain.claims.verdicts import Assessment
from faithtui.domain.ids import ConversationId, ItemId, RunId
from faithtui.domain.judging.failure_limit import FailureLimit
from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.domain.scores import ScoreState, ScoringRule
from faithtui.errors import StoreError
from faithtui.store.annotations.label_replay import read_conversation_events, replay_verdicts
from faithtui.store.calls.batches import let_failed_questions_be_asked_again
from faithtui.store.database import Database
from faithtui.store.records import (
    ComparisonView,
    ItemCheckResult,
    ItemRow,
    ItemState,
    PendingItem,
    ReviewView,
    RunRow,
    RunSpec,
    RunState,
    TurnView,
)
from faithtui.store.runs.conversation_order import ItemOrder, select_ordered_item_ids
from faithtui.store.runs.conversation_view import (
    read_conversation_for_review,
    read_turns_and_document_numbers,
)
from faithtui.store.runs.integrity_findings import replace_conversation_findings
from faithtui.store.runs.list_rows import (
    count_own_labels,
    find_newest_run_id,
    read_item_rows,
    read_item_rows_with_list_marks,
    read_run_rows,
)
from faithtui.store.runs.metric_comparison import read_conversation_across_runs
from faithtui.store.runs.rollups import compute_human_columns, update_item_and_run_counters
from faithtui.store.runs.windows import UNFINISHED, remove_failed_windows, save_windows
from faithtui.store.schema.json_columns import AnyRow, scoring_rule_to_json
from faithtui.store.schema.judge_tables import judge_call
from faithtui.store.schema.statements import insert_returning_id, split_into_chunks
from faithtui.store.schema.storable_text import replace_unstorable_in_json
from faithtui.store.schema.tables import run, run_item, window

_ENDED = (RunState.DONE, RunState.CANCELLED, RunState.STOPPED)


class Runs:
    """Runs of a store."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def create(self, spec: RunSpec, conversations: Sequence[ConversationId]) -> RunId:
        """Plan a run: one pending item per conversation, numbered from 1 in the given order.

        Raises:
            StoreError: It cannot be written.
        """
        now = self._clock()
        return self._database.run_in_write_transaction(
            lambda connection: create_run(connection, now, spec, conversations)
        )

    def list_runs(self) -> tuple[RunRow, ...]:
        """List all runs, the newest first, archived ones too; () when there is none."""
        with self._database.open_reader() as connection:
            return read_run_rows(connection)

    def read_run(self, run_id: RunId) -> RunRow:
        """Read one run.

        Raises:
            StoreError: There is none with this number.
        """
        with self._database.open_reader() as connection:
            found = read_run_rows(connection, [run_id])
        if not found:
            raise StoreError(self._describe_missing_run(run_id))
        return found[0]

    def _describe_missing_run(self, run_id: RunId) -> str:
        return (
            f"there is no run {run_id} in {self._database.path}; "
            "`faithtui runs` lists those there are"
        )

    def find_newest_run_id(self, *, with_verdicts: bool = False) -> RunId | None:
        """Name the newest run, an archived one where all are; with verdicts never such a one."""
        with self._database.open_reader() as connection:
            return find_newest_run_id(connection, with_verdicts=with_verdicts)

    def list_planned_run_ids(self) -> tuple[RunId, ...]:
        """List the runs that were planned and not started yet, without archived ones, by number."""
        planned = select(run.c.id).where(
            run.c.state == RunState.PLANNED.value, run.c.archived_at.is_(None)
        )
        with self._database.open_reader() as connection:
            return tuple(map(RunId, connection.execute(planned.order_by(run.c.id)).scalars()))

    def set_state(self, run_id: RunId, state: RunState, reason: str | None = None) -> None:
        """Say where a run stands.

        Done, cancelled and stopped also set the time it finished; the others clear it.

        Args:
            run_id: The run.
            state: Where it stands now.
            reason: Why it stopped; None otherwise.

        Raises:
            StoreError: There is none with this number, or it cannot be written.
        """
        finished_at = self._clock() if state in _ENDED else None
        change = (
            update(run)
            .where(run.c.id == run_id)
            .values(state=state.value, reason=reason, finished_at=finished_at)
        )
        self._update_run(run_id, change)

    def archive(self, runs: Sequence[RunId]) -> None:
        """Put runs away: lists leave them out, everything else stays as it is.

        Raises:
            StoreError: One of them does not exist; none was put away.
        """
        self._set_archived_at(runs, self._clock())

    def restore(self, runs: Sequence[RunId]) -> None:
        """List runs again that were archived.

        Raises:
            StoreError: One of them does not exist; none was changed.
        """
        self._set_archived_at(runs, None)

    def _set_archived_at(self, runs: Sequence[RunId], at: datetime | None) -> None:
        def update_rows(connection: Connection) -> None:
            for each in runs:
                change = update(run).where(run.c.id == each).values(archived_at=at)
                if not connection.execute(change).rowcount:
                    raise StoreError(self._describe_missing_run(each))

        self._database.run_in_write_transaction(update_rows, urgent=True)

    def set_budget(self, run_id: RunId, nusd: int | None, tokens: int | None) -> None:
        """Change what a run may spend. None: no limit.

        Raises:
            StoreError: There is none with this number, or it cannot be written.
        """
        change = (
            update(run).where(run.c.id == run_id).values(budget_nusd=nusd, budget_tokens=tokens)
        )
        self._update_run(run_id, change)

    def _update_run(self, run_id: RunId, change: Update) -> None:
        if not self._database.run_in_write_transaction(
            lambda connection: connection.execute(change).rowcount
        ):
            raise StoreError(self._describe_missing_run(run_id))

    def set_max_failures(self, run_id: RunId, limit: FailureLimit) -> None:
        """Change after how many failures a run stops.

        Raises:
            StoreError: There is none with this number, or it cannot be written.
        """
        change = update(run).where(run.c.id == run_id).values(max_failures=str(limit))
        self._update_run(run_id, change)

    def list_pending_items(
        self, run_id: RunId, *, after: ItemId | None = None, limit: int | None = None
    ) -> tuple[PendingItem, ...]:
        """List what is still to be judged, in the order of the run, with what is there already.

        Args:
            run_id: The run.
            after: Only what comes after this item of it; None: from the first one.
            limit: At most so many; None: all.
        """
        with self._database.open_reader() as connection:
            return _read_pending_items(connection, run_id, after, limit)

    def list_failed_or_incomplete_items(self, run_id: RunId) -> tuple[ItemId, ...]:
        """List the conversations of a run that failed or lack a verdict, in its order."""
        with self._database.open_reader() as connection:
            return tuple(
                ItemId(row.id) for row in _read_failed_or_incomplete_rows(connection, run_id)
            )

    def reopen_failed_or_incomplete_items(
        self, run_id: RunId, items: Sequence[ItemId] | None = None
    ) -> int:
        """Make conversations pending again that failed or lack a verdict.

        Failed windows are taken away. Windows that lack a verdict stay until they are judged again.
        What earlier calls left unanswered may be asked again, also for those that are pending.

        Args:
            run_id: The run.
            items: Conversations of it to look at; None: all.

        Returns:
            How many there were.
        """
        only = None if items is None else frozenset(items)
        return self._database.run_in_write_transaction(
            lambda connection: _reopen_failed_or_incomplete(connection, run_id, only)
        )

    def save_window(self, item_id: ItemId, assessment: Assessment) -> None:
        """Store one window; see `save_windows`."""
        self.save_windows(item_id, (assessment,))

    def save_windows(self, item_id: ItemId, assessments: Sequence[Assessment]) -> None:
        """Store judged or failed windows with their claims, truths, verdicts and evidence.

        Across runs a claim is known by its turn and normalised text, a statement by its turn, its
        document and normalised text, a whole answer by its turn; within the item a truth is known
        by its document and normalised text. A window that is stored at its position stays, unless
        it failed, or lacks a verdict and the new one did not fail: then that takes its place.

        Args:
            item_id: Conversation of the run.
            assessments: What the judge said, of each window once.

        Raises:
            StoreError: There is no such item, or it cannot be written; nothing of it was.
        """
        now = self._clock()
        self._database.run_in_write_transaction(
            lambda connection: save_windows(connection, now, item_id, assessments)
        )

    def score_and_finish_item(
        self,
        item_id: ItemId,
        state: ItemState,
        reason: str | None,
        conclusion_reason: str | None = None,
        checked: ItemCheckResult | None = None,
    ) -> None:
        """Close a conversation of a run: its scores, by the judge and corrected, and its counts.

        Args:
            item_id: Conversation of the run.
            state: Done, failed or skipped.
            reason: Why it failed or was skipped; None when done.
            conclusion_reason: The judge's final reason; None without one.
            checked: What checks of it found; None: it was not checked.

        Raises:
            StoreError: There is no such item, or it cannot be written.
        """
        self._database.run_in_write_transaction(
            lambda connection: score_and_finish_item(
                connection, item_id, state, reason, conclusion_reason, checked
            )
        )

    def list_item_ids(self, run_id: RunId, order: ItemOrder = "number") -> tuple[ItemId, ...]:
        """List the conversations of a run, for paging through them by `read_item_rows`.

        Args:
            run_id: The run.
            order: `number` as planned; `score` and `corrected` lowest first, without a score
                last; `missing`, `overridden` and `unlabelled` most first; `recent` by the last
                label that was given here, the newest first. Ties by number.
        """
        return tuple(map(ItemId, self._database.read_ids(select_ordered_item_ids(run_id, order))))

    def read_item_rows(self, items: Sequence[ItemId]) -> tuple[ItemRow, ...]:
        """Read conversations of runs, in the order asked; unknown ids are left out."""
        with self._database.open_reader() as connection:
            return read_item_rows(connection, items)

    def read_items_with_list_marks(
        self, items: Sequence[ItemId], reviewer: str
    ) -> tuple[ItemRow, ...]:
        """Read conversations as `read_item_rows` does, with what a list marks of them."""
        with self._database.open_reader() as connection:
            return read_item_rows_with_list_marks(connection, items, reviewer)

    def count_own_labels(self, items: Sequence[ItemId], reviewer: str) -> Counter[ItemId]:
        """Count the claims of conversations with a human label."""
        with self._database.open_reader() as connection:
            return count_own_labels(connection, items, reviewer)

    def read_conversation_for_review(self, item_id: ItemId, reviewer: str) -> ReviewView:
        """Read one conversation of a run, complete.

        Args:
            item_id: Conversation of the run.
            reviewer: Whose verdicts are `mine`.

        Raises:
            StoreError: There is no such item.
        """
        with self._database.open_reader() as connection:
            return read_conversation_for_review(connection, item_id, reviewer)

    def read_turns(self, conversation_id: ConversationId) -> tuple[TurnView, ...]:
        """Read what was said in a conversation; () when there is no such conversation."""
        with self._database.open_reader() as connection:
            return read_turns_and_document_numbers(connection, conversation_id)[1]

    def read_conversation_across_runs(
        self, conversation_id: ConversationId, own_run: RunId | None = None
    ) -> ComparisonView:
        """Read one conversation as the newest run of each metric and judge sees it.

        Runs that skipped the conversation, or have yet to judge it, are left out.

        Args:
            conversation_id: The conversation.
            own_run: Stands for its metric and judge, though there is a newer one; None: none does.

        Raises:
            StoreError: There is no such conversation.
        """
        with self._database.open_reader() as connection:
            return read_conversation_across_runs(connection, conversation_id, own_run)


_ITEMS_AT_ONCE: Final = 10_000
"""Items that are held as rows of one statement; a run may have a million."""


def create_run(
    connection: Connection, now: datetime, spec: RunSpec, conversations: Sequence[ConversationId]
) -> RunId:
    """Write a run; see `Runs.create`."""
    run_id = insert_returning_id(
        connection,
        insert(run).values(
            **{
                each.name: _convert_spec_value_to_column(getattr(spec, each.name))
                for each in fields(spec)
            },
            state=RunState.PLANNED.value,
            created_at=now,
            conversations=len(conversations),
            pending=len(conversations),
        ),
    )
    insert_pending_items(connection, RunId(run_id), conversations)
    return RunId(run_id)


def insert_pending_items(
    connection: Connection, run_id: RunId, conversations: Sequence[int], *, first: int = 1
) -> None:
    """Add pending conversations to a run, numbered from `first`; its counts stay as they are."""
    for start in range(0, len(conversations), _ITEMS_AT_ONCE):
        part = conversations[start : start + _ITEMS_AT_ONCE]
        connection.execute(
            insert(run_item),
            [
                {
                    "run_id": run_id,
                    "conversation_id": each,
                    "number": number,
                    "state": ItemState.PENDING.value,
                    "labels": {},
                }
                for number, each in enumerate(part, start=first + start)
            ],
        )


def _convert_spec_value_to_column(value: object) -> object:
    """Give a field of a `RunSpec` as its column takes it; `run_from_row` reads it."""
    match value:
        case ScoringRule():
            return scoring_rule_to_json(value)
        case FailureLimit() | Path():
            return str(value)
        case JudgeProfile():
            return replace_unstorable_in_json(value.to_json())
        case Mapping():
            return replace_unstorable_in_json(dict(value))
        case tuple():
            return replace_unstorable_in_json(value)
        case _:
            return value


def _read_pending_items(
    connection: Connection, run_id: RunId, after: ItemId | None, limit: int | None
) -> tuple[PendingItem, ...]:
    """Read what is still to be judged of a run; see `Runs.list_pending_items`."""
    waiting = [run_item.c.run_id == run_id, run_item.c.state == ItemState.PENDING.value]
    if after is not None:
        waiting.append(run_item.c.id > after)
    # The items of a run are made in its order, so their ids rise with it.
    page = (
        select(run_item.c.id, run_item.c.conversation_id, run_item.c.asked_after)
        .where(*waiting)
        .order_by(run_item.c.id)
        .limit(limit)
    )
    rows = connection.execute(page).all()
    if not rows:
        return ()
    waiting += [run_item.c.id >= rows[0].id, run_item.c.id <= rows[-1].id]
    stored: dict[int, set[int]] = defaultdict(set)
    unfinished: dict[int, set[int]] = defaultdict(set)
    for item, position, state in connection.execute(
        select(window.c.run_item_id, window.c.position, window.c.score_state)
        .join(run_item, run_item.c.id == window.c.run_item_id)
        .where(*waiting)
    ):
        (unfinished if state in UNFINISHED else stored)[item].add(position)
    return tuple(
        PendingItem(
            ItemId(row.id),
            ConversationId(row.conversation_id),
            frozenset(stored.get(row.id, ())),
            frozenset(unfinished.get(row.id, ())),
            row.asked_after,
        )
        for row in rows
    )


def _read_failed_or_incomplete_rows(connection: Connection, run_id: RunId) -> Sequence[AnyRow]:
    """Find the conversations of a run that failed or lack a verdict."""
    headline = run_item.c.scores["windowed"]["state"].as_string()
    lacks_verdicts = (
        (run_item.c.state == ItemState.DONE.value)
        & run_item.c.score.is_(None)
        & (headline == ScoreState.INCOMPLETE.value)
    )
    return connection.execute(
        select(run_item.c.id, run_item.c.conversation_id)
        .where(
            run_item.c.run_id == run_id,
            (run_item.c.state == ItemState.FAILED.value) | lacks_verdicts,
        )
        .order_by(run_item.c.id)
    ).all()


def _reopen_failed_or_incomplete(
    connection: Connection, run_id: RunId, only: Collection[ItemId] | None
) -> int:
    unfinished = [
        row
        for row in _read_failed_or_incomplete_rows(connection, run_id)
        if only is None or row.id in only
    ]
    let_failed_questions_be_asked_again(connection, run_id, [ItemId(row.id) for row in unfinished])
    for row in unfinished:
        remove_failed_windows(connection, row.id)
        _update_item_state_and_scores(
            connection, row.id, row.conversation_id, ItemState.PENDING, None, None
        )
    waiting = [run_item.c.run_id == run_id, run_item.c.state == ItemState.PENDING.value]
    newest_call = select(func.coalesce(func.max(judge_call.c.id), 0)).scalar_subquery()
    asked = update(run_item).where(*waiting).values(asked_after=newest_call)
    if only is None:
        connection.execute(asked)
    else:
        for some in split_into_chunks(sorted(only)):
            connection.execute(asked.where(run_item.c.id.in_(some)))
    return len(unfinished)


def score_and_finish_item(
    connection: Connection,
    item: ItemId,
    state: ItemState,
    reason: str | None,
    conclusion: str | None,
    checked: ItemCheckResult | None,
) -> None:
    """Close a conversation of a run; see `Runs.score_and_finish_item`."""
    row = connection.execute(
        select(run_item.c.conversation_id, run_item.c.run_id).where(run_item.c.id == item)
    ).one_or_none()
    if row is None:
        raise StoreError(f"there is no conversation {item} in any run; start the run again")
    found = (
        None if checked is None else replace_conversation_findings(connection, row.run_id, checked)
    )
    _update_item_state_and_scores(
        connection, item, row.conversation_id, state, reason, conclusion, found
    )


def _update_item_state_and_scores(
    connection: Connection,
    item: int,
    conversation_id: int,
    state: ItemState,
    reason: str | None,
    conclusion: str | None,
    found: Mapping[str, object] | None = None,
) -> None:
    """Give an item a state and everything that follows from it.

    Args:
        connection: In a write.
        item: The conversation of the run.
        conversation_id: The conversation.
        state: Its new state.
        reason: Why it has it.
        conclusion: The judge's final reason.
        found: Columns of its checks; None: it is not checked in this state.
    """
    human = replay_verdicts(read_conversation_events(connection, conversation_id))
    update_item_and_run_counters(
        connection,
        item,
        {
            "state": state.value,
            "reason": reason,
            "conclusion": conclusion,
            **(found or {"checked": 0}),
            **compute_human_columns(
                connection, item, conversation_id, human, state=state, reason=reason
            ),
        },
    )
