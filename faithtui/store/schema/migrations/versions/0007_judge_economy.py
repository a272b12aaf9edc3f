"""What calls cost and how they were made, leases on questions, batches, and what judges can do.

Types are spelled out here and not taken from tables.py: a revision never changes once released.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def _zero(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False, server_default="0")


def upgrade() -> None:
    """Make the tables. Calls made until now have no cost: their prices are not known any more."""
    op.add_column("run", sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("run", sa.Column("claims_run", sa.Integer(), nullable=True))
    op.add_column("run", sa.Column("calibration", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("run", _zero("batch", sa.Boolean()))
    op.add_column("run", sa.Column("budget_nusd", sa.BigInteger(), nullable=True))
    op.add_column("run", sa.Column("budget_tokens", sa.BigInteger(), nullable=True))
    op.add_column(
        "run", sa.Column("cost_nusd", sa.BigInteger(), nullable=False, server_default="0")
    )
    op.add_column(
        "run", sa.Column("unpriced_calls", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column(
        "run", sa.Column("tokens_cached", sa.BigInteger(), nullable=False, server_default="0")
    )
    op.add_column("run", _zero("retries", sa.Integer()))
    op.execute("UPDATE run SET unpriced_calls = calls WHERE judge <> 'offline'")
    op.add_column("judge_call", sa.Column("window", sa.Integer(), nullable=True))
    op.add_column(
        "judge_call", sa.Column("replicate", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column("judge_call", sa.Column("rung", sa.Text(), nullable=True))
    op.add_column("judge_call", sa.Column("tokens_cache_write", sa.Integer(), nullable=True))
    op.add_column("judge_call", sa.Column("tokens_reasoning", sa.Integer(), nullable=True))
    op.add_column("judge_call", sa.Column("cost_nusd", sa.BigInteger(), nullable=True))
    op.add_column("judge_call", sa.Column("prices", sa.Text(), nullable=True))
    op.add_column(
        "judge_call", sa.Column("estimated", sa.Boolean(), nullable=False, server_default="0")
    )
    op.add_column("judge_call", sa.Column("batch_uid", sa.Text(), nullable=True))
    op.create_table(
        "judge_memory",
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("rung", sa.Text(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_judge_memory")),
    )
    op.create_table(
        "worker",
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("beats", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("uid", name=op.f("pk_worker")),
    )
    op.create_table(
        "lease",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_lease")),
    )
    op.create_index(op.f("ix_lease_worker"), "lease", ["worker"], unique=False)
    op.create_table(
        "batch",
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("provider_id", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_batch_run_id_run")),
        sa.PrimaryKeyConstraint("uid", name=op.f("pk_batch")),
    )
    op.create_index(op.f("ix_batch_run_id"), "batch", ["run_id"], unique=False)
    op.create_table(
        "batch_request",
        sa.Column("batch_uid", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("run_item_id", sa.Integer(), nullable=True),
        sa.Column("window", sa.Integer(), nullable=True),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.Integer(), nullable=False),
        sa.Column("plain", sa.Boolean(), nullable=False),
        sa.Column("tokens_likely", sa.Integer(), nullable=False),
        sa.Column("tokens_worst", sa.Integer(), nullable=False),
        sa.Column("nusd_worst", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["batch_uid"], ["batch.uid"], name=op.f("fk_batch_request_batch_uid_batch")
        ),
        sa.ForeignKeyConstraint(
            ["run_item_id"], ["run_item.id"], name=op.f("fk_batch_request_run_item_id_run_item")
        ),
        sa.PrimaryKeyConstraint("batch_uid", "number", name=op.f("pk_batch_request")),
    )
    op.create_index(op.f("ix_batch_request_key"), "batch_request", ["key"], unique=False)
    op.create_table(
        "fresh_verdict",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_item_id", sa.Integer(), nullable=False),
        sa.Column("claim_id", sa.Integer(), nullable=False),
        sa.Column("window", sa.Integer(), nullable=False),
        sa.Column("replicate", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("word", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_item_id"], ["run_item.id"], name=op.f("fk_fresh_verdict_run_item_id_run_item")
        ),
        sa.ForeignKeyConstraint(
            ["claim_id"], ["claim.id"], name=op.f("fk_fresh_verdict_claim_id_claim")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_fresh_verdict")),
    )
    op.create_index(
        op.f("ix_fresh_verdict_run_item_id"), "fresh_verdict", ["run_item_id"], unique=False
    )
    op.create_index(op.f("ix_fresh_verdict_claim_id"), "fresh_verdict", ["claim_id"], unique=False)
    op.create_table(
        "recalibration",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("judge", sa.Text(), nullable=False),
        sa.Column("slope", sa.Float(), nullable=False),
        sa.Column("intercept", sa.Float(), nullable=False),
        sa.Column("labels", sa.Integer(), nullable=False),
        sa.Column("error_before", sa.Float(), nullable=False),
        sa.Column("error_after", sa.Float(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recalibration")),
    )
