"""What one annotator did of late: labels of today, and how long a claim takes."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from faithtui.agreement.sampling.stopping_rules import measure_pace
from faithtui.domain.labels.label_events import COUNTED_ACTIONS, Action
from faithtui.store.annotations.label_replay import IS_IMPORTED_LABEL, compute_next_clock
from faithtui.store.schema.tables import human_label

ACTS_LOOKED_AT = 2_000
"""The newest events of the log that are looked at: more than anybody gives in a day."""
_LABELS = frozenset(action.value for action in (*COUNTED_ACTIONS, Action.REPEATED))


@dataclass(frozen=True, slots=True)
class SessionCounts:
    """What an annotator did since a moment."""

    labelled: int = 0
    """Claims that got a label of one's own since then, and still have it."""
    pace_s: float | None = None
    """Median of the seconds that the newest labels took; None while there are too few."""


def read_session_counts(connection: Connection, reviewer: str, since: datetime) -> SessionCounts:
    """Count the labels that somebody gave since a moment, and measure their pace."""
    rows = connection.execute(
        select(
            human_label.c.id,
            human_label.c.claim_id,
            human_label.c.action,
            human_label.c.verdict,
            human_label.c.target_id,
            human_label.c.seconds,
            human_label.c.created_at,
        )
        # The name goes without an index here, or SQLite would take it before the clock's.
        .where(
            human_label.c.reviewer.concat("") == reviewer,
            ~IS_IMPORTED_LABEL,
            human_label.c.clock >= compute_next_clock(connection) - ACTS_LOOKED_AT,
        )
        .order_by(human_label.c.clock, human_label.c.uid)
    ).all()
    withdrawn: set[int] = set()
    for row in rows:
        if row.action == Action.WITHDRAWN.value:
            withdrawn.add(row.target_id)
        elif row.action == Action.RESTORED.value:
            withdrawn.discard(row.target_id)
    given = [
        row
        for row in rows
        if row.action in _LABELS and row.verdict is not None and row.id not in withdrawn
    ]
    return SessionCounts(
        len({row.claim_id for row in given if row.created_at >= since}),
        measure_pace([row.seconds for row in given if row.seconds is not None]),
    )
