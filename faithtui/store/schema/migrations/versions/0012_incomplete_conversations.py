"""Conversations that lack a verdict, how often a run may fail, and which process works on it.

Types are spelled out here and not taken from tables.py: a revision never changes once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_COUNTED = """
UPDATE run SET incomplete = (
    SELECT count(*) FROM run_item
    WHERE run_item.run_id = run.id AND run_item.state = 'done'
    AND json_extract(run_item.scores, '$.windowed.state') = 'incomplete'
)
"""


def upgrade() -> None:
    """Add the columns, and count what older runs left incomplete."""
    op.add_column("run", sa.Column("incomplete", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("run", sa.Column("max_failures", sa.Text(), nullable=True))
    op.add_column(
        "run_item", sa.Column("asked_after", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column("worker", sa.Column("run_id", sa.Integer(), nullable=True))
    op.add_column("worker", sa.Column("process", sa.Text(), nullable=True))
    op.add_column("worker", sa.Column("beat_at", sa.DateTime(timezone=True), nullable=True))
    op.execute(_COUNTED)
