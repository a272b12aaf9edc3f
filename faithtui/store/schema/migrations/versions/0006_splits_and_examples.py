"""Which conversations are for learning, tuning and testing, and the examples that runs show.

Types are spelled out here and not taken from tables.py: a revision never changes once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables; nothing is split yet, and no run has shown an example."""
    op.create_table(
        "split_rule",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("train", sa.Integer(), nullable=False),
        sa.Column("dev", sa.Integer(), nullable=False),
        sa.Column("test", sa.Integer(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_split_rule")),
    )
    op.create_table(
        "test_opening",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("command", sa.Text(), nullable=False),
        sa.Column("runs", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("opened_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_test_opening")),
    )
    op.create_table(
        "example_set",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("examples", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_example_set")),
    )
    op.add_column("run", sa.Column("example_set", sa.Text(), nullable=True))
