"""Counts of windows and conversations that have no score, beside those that have."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def _count(name: str) -> "sa.Column[int]":
    return sa.Column(name, sa.Integer(), nullable=False, server_default="0")


def upgrade() -> None:
    """Add the counts, and count what is stored. No stored score changes."""
    for state in ("undefined", "skipped"):
        op.add_column("run_item", _count(f"{state}_windows"))
        op.add_column("run", _count(f"{state}_windows"))
        op.execute(
            f"UPDATE run_item SET {state}_windows = (SELECT count(*) FROM window "
            f"WHERE window.run_item_id = run_item.id AND window.score_state = '{state}')"
        )
        op.execute(
            f"UPDATE run SET {state}_windows = (SELECT coalesce(sum({state}_windows), 0) "
            "FROM run_item WHERE run_item.run_id = run.id)"
        )
    op.add_column("run", _count("undefined"))
    op.execute(
        "UPDATE run SET undefined = (SELECT count(*) FROM run_item WHERE run_item.run_id = run.id "
        "AND json_extract(run_item.scores, '$.windowed.state') = 'undefined')"
    )
