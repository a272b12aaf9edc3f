"""How human labels moved a judge's probabilities or verdicts, every time somebody asked for it.

Rows are appended and withdrawn, never changed: an earlier recalibration stays readable, and runs
that were made under it keep saying so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from faithtui.agreement.statistics.recalibration import Recalibration
from faithtui.store.database import Database
from faithtui.store.schema.json_columns import AnyRow
from faithtui.store.schema.judge_tables import recalibration
from faithtui.store.schema.storable_text import replace_unstorable_characters


@dataclass(frozen=True, slots=True)
class StoredRecalibration:
    """A recalibration that was applied."""

    id: int
    judge: str
    """Fingerprint of the judge without any recalibration, and what is moved."""
    fitted: Recalibration
    labels: int
    """How many it rests on."""
    error_before: float
    """Expected calibration error on those labels, in [0, 1]; of verdicts 1 - balanced accuracy."""
    error_after: float
    """The same after it, cross-validated."""
    reviewer: str
    """Who applied it."""
    created_at: datetime
    withdrawn_at: datetime | None
    """None: nobody withdrew it; it may still be succeeded by a later one."""


class Recalibrations:
    """The recalibrations of a store."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def find_used_in_new_runs(self, judge: str) -> StoredRecalibration | None:
        """Give the one that new runs of a judge use: the last one, unless it was withdrawn.

        An earlier one does not come back when the last is withdrawn: the judge is as shipped then.

        Args:
            judge: Fingerprint of the judge without any recalibration. What was fitted for another
                version of a judge says nothing about this one.
        """
        with self._database.open_reader() as connection:
            row = connection.execute(
                select(recalibration)
                .where(recalibration.c.judge == judge)
                .order_by(recalibration.c.id.desc())
                .limit(1)
            ).one_or_none()
        return None if row is None or row.withdrawn_at is not None else _recalibration_from_row(row)

    def list_all(self) -> tuple[StoredRecalibration, ...]:
        """List all that were ever applied, the first one first."""
        with self._database.open_reader() as connection:
            rows = connection.execute(select(recalibration).order_by(recalibration.c.id))
            return tuple(_recalibration_from_row(row) for row in rows)

    def use_in_new_runs(
        self,
        judge: str,
        fitted: Recalibration,
        reviewer: str,
        *,
        labels: int,
        errors: tuple[float, float],
    ) -> None:
        """Put a recalibration in force for new runs of a judge.

        Args:
            judge: As `find_used_in_new_runs` takes it.
            fitted: Slope and intercept.
            reviewer: Who applies it.
            labels: How many it rests on.
            errors: Before and after it, in [0, 1].
        """
        row = {
            "judge": judge,
            "slope": fitted.slope,
            "intercept": fitted.intercept,
            "labels": labels,
            "error_before": errors[0],
            "error_after": errors[1],
            "reviewer": replace_unstorable_characters(reviewer),
            "created_at": self._clock(),
        }
        self._database.run_in_write_transaction(
            lambda connection: connection.execute(insert(recalibration).values(row)), durable=True
        )

    def withdraw_all_of_judge(self, judge: str) -> int:
        """Put the judge back to how it was shipped.

        Returns:
            How many recalibrations were withdrawn: all of this judge that were not yet.
        """
        now = self._clock()

        def withdraw_all_of_judge(connection: Connection) -> int:
            return connection.execute(
                update(recalibration)
                .where(recalibration.c.judge == judge, recalibration.c.withdrawn_at.is_(None))
                .values(withdrawn_at=now)
            ).rowcount

        return self._database.run_in_write_transaction(withdraw_all_of_judge, durable=True)


def _recalibration_from_row(row: AnyRow) -> StoredRecalibration:
    return StoredRecalibration(
        id=row.id,
        judge=row.judge,
        fitted=Recalibration(row.slope, row.intercept),
        labels=row.labels,
        error_before=row.error_before,
        error_after=row.error_after,
        reviewer=row.reviewer,
        created_at=row.created_at,
        withdrawn_at=row.withdrawn_at,
    )
