"""Claim sets: labelled claims with what they were drawn from, named and versioned."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables. Runs made before judged no set."""
    op.add_column("run", sa.Column("claim_set", sa.Integer(), nullable=True))
    op.create_table(
        "claim_set",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("labels_digest", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("window_size", sa.Integer(), nullable=True),
        sa.Column("design", sa.Text(), nullable=False),
        sa.Column("stratified_by", sa.JSON(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("frame", sa.Integer(), nullable=False),
        sa.Column("strata", sa.JSON(), nullable=False),
        sa.Column("sample_uid", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claim_set")),
        sa.UniqueConstraint("name", "version", name=op.f("uq_claim_set_name_version")),
    )
    op.create_table(
        "claim_set_claim",
        sa.Column("claim_set_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("claim_id", sa.Integer(), nullable=False),
        sa.Column("stratum", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=True),
        sa.Column("shown", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["claim_id"], ["claim.id"], name=op.f("fk_claim_set_claim_claim_id_claim")
        ),
        sa.ForeignKeyConstraint(
            ["claim_set_id"],
            ["claim_set.id"],
            name=op.f("fk_claim_set_claim_claim_set_id_claim_set"),
        ),
        sa.PrimaryKeyConstraint("claim_set_id", "position", name=op.f("pk_claim_set_claim")),
        sa.UniqueConstraint(
            "claim_set_id", "claim_id", name=op.f("uq_claim_set_claim_claim_set_id_claim_id")
        ),
    )
    op.create_index(
        op.f("ix_claim_set_claim_claim_id"), "claim_set_claim", ["claim_id"], unique=False
    )
