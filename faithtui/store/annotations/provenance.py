"""When, and under which guideline, the labels behind a run's figures were given."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, or_, select

from faithtui.domain.annotations import Action
from faithtui.domain.ids import ClaimId, RunId
from faithtui.store.annotations.label_replay import LOG_ORDER, read_events, replay_verdicts
from faithtui.store.database import Database
from faithtui.store.schema.statements import is_among
from faithtui.store.schema.tables import claim, human_label, run_item, verdict, window


@dataclass(frozen=True, slots=True)
class LabelOrigins:
    """What is known of the verdicts of people on what a run judged."""

    newest_at: datetime | None
    """UTC; None without any. A label that came with data is as old as its import."""
    newest_of_judged: datetime | None
    """The same of verdicts on what the run judged."""
    newest_of_answers: datetime | None
    """The same of verdicts on answers as a whole."""
    guidelines: Mapping[str | None, int]
    """Verdicts given here, by digest of the guideline that was in force; None: there was none.
    Labels that came with data were given under rules of their own."""


class LabelMoment(NamedTuple):
    """When, and under which guideline, one label event was stored."""

    at: datetime
    """UTC."""
    guideline: str | None
    """Digest of the guideline that was in force; None: there was none."""


class Provenance:
    """Where the labels of a store come from."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read_label_moments(self, run_id: RunId) -> tuple[LabelMoment, ...]:
        """Read when each act on the conversations of a run was stored.

        Returns:
            In the order of the log, so that `Opinion.order` is the place of a verdict here.
        """
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(human_label.c.created_at, human_label.c.guideline_version)
                .join(claim, claim.c.id == human_label.c.claim_id)
                .where(
                    claim.c.conversation_id.in_(
                        select(run_item.c.conversation_id).where(run_item.c.run_id == run_id)
                    )
                )
                .order_by(*LOG_ORDER)
            )
            return tuple(LabelMoment(*row) for row in rows)

    def list_labelled_before(self, claims: Collection[ClaimId], at: datetime) -> set[ClaimId]:
        """List the claims that anybody had given a verdict on by then, withdrawn since or not.

        Args:
            claims: Of which.
            at: UTC.
        """
        with self._database.open_reader() as connection:
            found = connection.execute(
                select(human_label.c.claim_id)
                .distinct()
                .where(
                    is_among(human_label.c.claim_id, claims),
                    human_label.c.verdict.is_not(None),
                    human_label.c.created_at < at,
                )
            )
            return {ClaimId(each) for each in found.scalars()}

    def read_label_origins(self, run_id: RunId, matched: Collection[ClaimId] = ()) -> LabelOrigins:
        """Read it for the verdicts that stand on what a run judged, and on its answers as a whole.

        What was withdrawn, put off, answered in bulk or replaced is left out.

        Args:
            run_id: The run.
            matched: Claims of a claim set that stand for claims which its judge worded itself.
        """
        conversations = select(run_item.c.conversation_id).where(run_item.c.run_id == run_id)
        judged = (
            select(verdict.c.claim_id)
            .join(window, window.c.id == verdict.c.window_id)
            .join(run_item, run_item.c.id == window.c.run_item_id)
            .where(run_item.c.run_id == run_id)
        )
        is_judged: ColumnElement[bool] = claim.c.id.in_(judged)
        if matched:
            is_judged = or_(is_judged, is_among(claim.c.id, matched))
        about = claim.c.conversation_id.in_(conversations) & (
            is_judged | (claim.c.kind == "answer")
        )
        with self._database.open_reader() as connection:
            log = read_events(connection, about)
            standing = {
                each.event.id
                for verdicts in replay_verdicts(log).values()
                for each in verdicts
                if each.is_counted and each.event is not None
            }
            rows = [
                row
                for row in connection.execute(
                    select(
                        human_label.c.id,
                        human_label.c.action,
                        human_label.c.created_at,
                        human_label.c.guideline_version,
                        claim.c.kind,
                        is_judged.label("judged"),
                    )
                    .join(claim, claim.c.id == human_label.c.claim_id)
                    .where(about)
                )
                if row.id in standing
            ]
        return LabelOrigins(
            max((row.created_at for row in rows), default=None),
            max((row.created_at for row in rows if row.judged), default=None),
            max((row.created_at for row in rows if row.kind == "answer"), default=None),
            Counter(row.guideline_version for row in rows if row.action != Action.IMPORTED.value),
        )
