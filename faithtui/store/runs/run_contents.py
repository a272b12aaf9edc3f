"""What the conversations of a run hold, taken together: claims, labels, scores, names, reasons."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select

from faithtui.domain.claims.verdicts import Claim
from faithtui.domain.ids import ConversationId, RunId
from faithtui.domain.scores import ScoreState
from faithtui.store.claim_text_order import read_claims_in_text_order
from faithtui.store.database import Database
from faithtui.store.records import ItemState, LabelCount
from faithtui.store.runs.list_rows import (
    count_imported_answer_labels,
    count_judge_labels,
    count_windowed_scores,
    find_common_key_prefix,
    list_annotators,
    list_sources,
)
from faithtui.store.schema.judge_tables import judge_call
from faithtui.store.schema.tables import claim, run_item, verdict, window

_FIRST_ITEMS: Final = 256
"""Conversations whose windows are looked at for the start of a run: as many as questions can be in
flight, so that the one that was judged first is among them."""


class RunContents:
    """What is in the runs of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_claims(self, run_id: RunId, conversation_id: ConversationId) -> tuple[Claim, ...]:
        """List the claims a run judged in a conversation, in the order of its text.

        Statements of documents and whole answers are left out. () where the run found none, has
        not judged the conversation, or does not have it.
        """
        with self._database.open_reader() as connection:
            return read_claims_in_text_order(
                connection,
                select(claim.c.id)
                .select_from(run_item)
                .join(verdict, (verdict.c.run_item_id == run_item.c.id) & verdict.c.is_home)
                .join(claim, claim.c.id == verdict.c.claim_id)
                .where(
                    run_item.c.run_id == run_id,
                    run_item.c.conversation_id == conversation_id,
                    claim.c.kind == "claim",
                ),
            )

    def list_conversation_ids(self, run_id: RunId) -> frozenset[ConversationId]:
        """List the conversations of a run."""
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(run_item.c.conversation_id).where(run_item.c.run_id == run_id)
            )
            return frozenset(ConversationId(each) for each in rows.scalars())

    def count_judge_labels(self, run_id: RunId) -> dict[str, LabelCount]:
        """Count claims and conversations of a run by the judge's label; none that was not given."""
        with self._database.open_reader() as connection:
            return count_judge_labels(connection, run_id)

    def count_windowed_scores(self, run_id: RunId) -> dict[float, int]:
        """Count a run's conversations by the judge's windowed score, those that have one."""
        with self._database.open_reader() as connection:
            return count_windowed_scores(connection, run_id)

    def count_imported_answer_labels(self, run_id: RunId) -> int:
        """Count the answers of a run's conversations that came with an annotator's label."""
        with self._database.open_reader() as connection:
            return count_imported_answer_labels(connection, run_id)

    def list_annotators(self, run_id: RunId) -> tuple[str, ...]:
        """List who said anything of a run's conversations, by name."""
        with self._database.open_reader() as connection:
            return list_annotators(connection, run_id)

    def list_sources(self, run_id: RunId) -> tuple[str, ...]:
        """List the data sets of a run's conversations, by name."""
        with self._database.open_reader() as connection:
            return list_sources(connection, run_id)

    def find_common_key_prefix(self, run_id: RunId) -> str:
        """Give what the keys of all conversations of a run begin with, up to the end of a word."""
        with self._database.open_reader() as connection:
            return find_common_key_prefix(connection, run_id)

    def find_start_time(self, run_id: RunId) -> datetime | None:
        """Say when a run was started, by the first that came of it: a question, or a window.

        A run may be planned long before. One whose replies are all stored already, or that asks
        no judge, has windows alone, and starts when the first is stored. None: nothing came of it.
        """
        first_call = (
            select(judge_call.c.created_at, judge_call.c.latency_ms)
            .where(judge_call.c.run_id == run_id)
            .order_by(judge_call.c.id)
            .limit(1)
        )
        first_items = (
            select(run_item.c.id)
            .where(run_item.c.run_id == run_id, run_item.c.windows > 0)
            .order_by(run_item.c.id)
            .limit(_FIRST_ITEMS)
        )
        first_windows = select(func.min(window.c.judged_at)).where(
            window.c.run_item_id.in_(first_items)
        )
        with self._database.open_reader() as connection:
            call = connection.execute(first_call).one_or_none()
            judged_at = connection.execute(first_windows).scalar_one()
        asked_at = call and call.created_at - timedelta(milliseconds=call.latency_ms)
        return min(filter(None, (asked_at, judged_at)), default=None)

    def count_windows_without_claims(self, run_id: RunId) -> int:
        """Count the windows of a run in which the judge found no claim to give a verdict on."""
        with self._database.open_reader() as connection:
            return connection.scalars(
                select(func.count())
                .select_from(window)
                .join(run_item, run_item.c.id == window.c.run_item_id)
                .outerjoin(verdict, verdict.c.window_id == window.c.id)
                .where(
                    run_item.c.run_id == run_id,
                    verdict.c.window_id.is_(None),
                    window.c.score_state.not_in(
                        [ScoreState.FAILED.value, ScoreState.SKIPPED.value]
                    ),
                )
            ).one()

    def count_conversations_by_state_reason(
        self, run_id: RunId, state: ItemState
    ) -> dict[str, int]:
        """Count the conversations of a run in one state by the reason they are in it.

        Returns:
            Reason to count, most frequent first; conversations without a reason are left out.
        """
        count = func.count()
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(run_item.c.reason, count)
                .where(
                    run_item.c.run_id == run_id,
                    run_item.c.state == state.value,
                    run_item.c.reason.is_not(None),
                )
                .group_by(run_item.c.reason)
                .order_by(count.desc(), run_item.c.reason)
            ).all()
        return {reason: number for reason, number in rows}

    def count_unscored_conversations_by_reason(self, run_id: RunId) -> dict[str, int]:
        """Count the judged conversations of a run without a score by why they have none.

        Returns:
            Reason to count, most frequent first; only of those that are undefined.
        """
        headline = run_item.c.scores["windowed"]
        reason, count = headline["reason"].as_string(), func.count()
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(reason, count)
                .where(
                    run_item.c.run_id == run_id,
                    run_item.c.state == ItemState.DONE.value,
                    run_item.c.score.is_(None),
                    headline["state"].as_string() == ScoreState.UNDEFINED.value,
                )
                .group_by(reason)
                .order_by(count.desc(), reason)
            ).all()
        return {reason: number for reason, number in rows}
