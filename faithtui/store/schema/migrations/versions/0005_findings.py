"""What looks wrong in a run, kept beside it.

Types are spelled out here and not taken from tables.py: a revision never changes once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of findings; nothing is checked yet."""
    op.create_table(
        "finding",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("run_item_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("claim_id", sa.Integer(), nullable=True),
        sa.Column("window", sa.Integer(), nullable=True),
        sa.Column("turn", sa.Integer(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_finding_run_id_run")),
        sa.ForeignKeyConstraint(
            ["run_item_id"], ["run_item.id"], name=op.f("fk_finding_run_item_id_run_item")
        ),
        sa.ForeignKeyConstraint(["claim_id"], ["claim.id"], name=op.f("fk_finding_claim_id_claim")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_finding")),
    )
    op.create_index(op.f("ix_finding_run_item_id"), "finding", ["run_item_id"])
    op.create_index(op.f("ix_finding_claim_id"), "finding", ["claim_id"])
    op.create_index(
        op.f("ix_finding_listed"), "finding", ["run_id", "kind", "run_item_id", "claim_id"]
    )
    op.add_column(
        "run_item", sa.Column("checked", sa.Integer(), server_default="0", nullable=False)
    )
    op.create_index(op.f("ix_run_item_checked"), "run_item", ["run_id", "checked", "state"])
