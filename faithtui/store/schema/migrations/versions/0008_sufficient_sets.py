"""Sets of truths that are enough for a claim only together.

Types are spelled out here and not taken from tables.py: a revision never changes once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table; truths that supported a claim before did so alone."""
    op.create_table(
        "sufficient_set",
        sa.Column("run_item_id", sa.Integer(), nullable=False),
        sa.Column("claim_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("truth_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_item_id"], ["run_item.id"], name=op.f("fk_sufficient_set_run_item_id_run_item")
        ),
        sa.ForeignKeyConstraint(
            ["claim_id"], ["claim.id"], name=op.f("fk_sufficient_set_claim_id_claim")
        ),
        sa.ForeignKeyConstraint(
            ["truth_id"], ["truth.id"], name=op.f("fk_sufficient_set_truth_id_truth")
        ),
        sa.PrimaryKeyConstraint(
            "run_item_id", "claim_id", "number", "truth_id", name=op.f("pk_sufficient_set")
        ),
    )
    for name in ("claim_id", "truth_id"):
        op.create_index(op.f(f"ix_sufficient_set_{name}"), "sufficient_set", [name])
