"""Guidelines of one metric, and passages that annotators marked as evidence."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the columns and the table. Guidelines set before are for every metric."""
    op.add_column("guideline", sa.Column("metric", sa.Text(), nullable=True))
    op.add_column(
        "guideline", sa.Column("built_in", sa.Boolean(), nullable=False, server_default="0")
    )
    op.create_table(
        "label_evidence",
        sa.Column("label_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("span_start", sa.Integer(), nullable=False),
        sa.Column("span_end", sa.Integer(), nullable=False),
        sa.Column("checksum", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["label_id"],
            ["human_label.id"],
            name=op.f("fk_label_evidence_label_id_human_label"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("label_id", "position", name=op.f("pk_label_evidence")),
    )
