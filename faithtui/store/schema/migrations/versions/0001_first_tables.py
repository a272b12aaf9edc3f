"""The first tables.

Types are spelled out here and not taken from tables.py: a revision never changes once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "conversation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("group", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("opening", sa.Text(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversation")),
        sa.UniqueConstraint("source", "key", name=op.f("uq_conversation_source_key")),
    )
    op.create_index(
        op.f("ix_conversation_source_content_hash"),
        "conversation",
        ["source", "content_hash"],
        unique=False,
    )
    op.create_table(
        "document",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document")),
        sa.UniqueConstraint("hash", name=op.f("uq_document_hash")),
    )
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("metric_version", sa.Text(), nullable=False),
        sa.Column("peer", sa.Text(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("rule", sa.JSON(), nullable=False),
        sa.Column("judge", sa.Text(), nullable=False),
        sa.Column("judge_fingerprint", sa.Text(), nullable=False),
        sa.Column("base_url", sa.Text(), nullable=True),
        sa.Column("prompt_digest", sa.Text(), nullable=False),
        sa.Column("prompts_dir", sa.Text(), nullable=True),
        sa.Column("claims_from", sa.Text(), nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("conversations", sa.Integer(), nullable=False),
        sa.Column("pending", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.Integer(), nullable=False),
        sa.Column("windows", sa.Integer(), nullable=False),
        sa.Column("failed_windows", sa.Integer(), nullable=False),
        sa.Column("claims", sa.Integer(), nullable=False),
        sa.Column("missing", sa.Integer(), nullable=False),
        sa.Column("labelled", sa.Integer(), nullable=False),
        sa.Column("scored", sa.Integer(), nullable=False),
        sa.Column("score_sum", sa.BigInteger(), nullable=False),
        sa.Column("corrected_scored", sa.Integer(), nullable=False),
        sa.Column("corrected_sum", sa.BigInteger(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("tokens_in", sa.BigInteger(), nullable=False),
        sa.Column("tokens_out", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
    )
    op.create_table(
        "claim",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("conversation_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("span_start", sa.Integer(), nullable=True),
        sa.Column("span_end", sa.Integer(), nullable=True),
        sa.Column("imported", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversation.id"],
            name=op.f("fk_claim_conversation_id_conversation"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claim")),
        sa.UniqueConstraint(
            "conversation_id",
            "kind",
            "turn",
            "digest",
            name=op.f("uq_claim_conversation_id_kind_turn_digest"),
        ),
    )
    op.create_table(
        "run_item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("conversation_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("conclusion", sa.Text(), nullable=True),
        sa.Column("windows", sa.Integer(), nullable=False),
        sa.Column("failed_windows", sa.Integer(), nullable=False),
        sa.Column("claims", sa.Integer(), nullable=False),
        sa.Column("missing", sa.Integer(), nullable=False),
        sa.Column("labelled", sa.Integer(), nullable=False),
        sa.Column("overridden", sa.Integer(), nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("corrected", sa.Float(), nullable=True),
        sa.Column("scores", sa.JSON(), nullable=True),
        sa.Column("corrected_scores", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversation.id"],
            name=op.f("fk_run_item_conversation_id_conversation"),
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_run_item_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run_item")),
        sa.UniqueConstraint(
            "run_id", "conversation_id", name=op.f("uq_run_item_run_id_conversation_id")
        ),
        sa.UniqueConstraint("run_id", "number", name=op.f("uq_run_item_run_id_number")),
    )
    op.create_index(
        op.f("ix_run_item_conversation_id"), "run_item", ["conversation_id"], unique=False
    )
    op.create_index(op.f("ix_run_item_run_id_score"), "run_item", ["run_id", "score"], unique=False)
    op.create_index(op.f("ix_run_item_run_id_state"), "run_item", ["run_id", "state"], unique=False)
    op.create_table(
        "turn",
        sa.Column("conversation_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("has_context", sa.Boolean(), nullable=False),
        sa.Column("images", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversation.id"],
            name=op.f("fk_turn_conversation_id_conversation"),
        ),
        sa.PrimaryKeyConstraint("conversation_id", "position", name=op.f("pk_turn")),
    )
    op.create_table(
        "human_label",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("claim_id", sa.Integer(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("target_id", sa.Integer(), nullable=True),
        sa.Column("scale", sa.Text(), nullable=True),
        sa.Column("raw_label", sa.Text(), nullable=True),
        sa.Column("run_id", sa.Integer(), nullable=True),
        sa.Column("judge_verdict", sa.Text(), nullable=True),
        sa.Column("saw_judge", sa.Boolean(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("reason_code", sa.Text(), nullable=True),
        sa.Column("guideline_version", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["claim_id"], ["claim.id"], name=op.f("fk_human_label_claim_id_claim")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_human_label_run_id_run")),
        sa.ForeignKeyConstraint(
            ["target_id"], ["human_label.id"], name=op.f("fk_human_label_target_id_human_label")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_human_label")),
    )
    op.create_index(op.f("ix_human_label_claim_id"), "human_label", ["claim_id"], unique=False)
    op.create_index(
        op.f("ix_human_label_reviewer_action"), "human_label", ["reviewer", "action"], unique=False
    )
    op.create_index(op.f("ix_human_label_run_id"), "human_label", ["run_id"], unique=False)
    op.create_index(op.f("ix_human_label_target_id"), "human_label", ["target_id"], unique=False)
    op.create_table(
        "judge_call",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=True),
        sa.Column("run_item_id", sa.Integer(), nullable=True),
        sa.Column("judge", sa.Text(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("usable", sa.Boolean(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("stop", sa.Text(), nullable=False),
        sa.Column("structured", sa.Boolean(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=True),
        sa.Column("tokens_out", sa.Integer(), nullable=True),
        sa.Column("tokens_cached", sa.Integer(), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("served_model", sa.Text(), nullable=True),
        sa.Column("latency_ms", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_judge_call_run_id_run")),
        sa.ForeignKeyConstraint(
            ["run_item_id"], ["run_item.id"], name=op.f("fk_judge_call_run_item_id_run_item")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judge_call")),
    )
    op.create_index(op.f("ix_judge_call_key"), "judge_call", ["key"], unique=False)
    op.create_index(op.f("ix_judge_call_run_id"), "judge_call", ["run_id"], unique=False)
    op.create_index(op.f("ix_judge_call_run_item_id"), "judge_call", ["run_item_id"], unique=False)
    op.create_table(
        "truth",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_item_id", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=True),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("span_start", sa.Integer(), nullable=True),
        sa.Column("span_end", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_truth_document_id_document")
        ),
        sa.ForeignKeyConstraint(
            ["run_item_id"], ["run_item.id"], name=op.f("fk_truth_run_item_id_run_item")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_truth")),
    )
    op.create_index(op.f("ix_truth_run_item_id"), "truth", ["run_item_id"], unique=False)
    op.create_table(
        "turn_document",
        sa.Column("conversation_id", sa.Integer(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("images", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id", "turn"],
            ["turn.conversation_id", "turn.position"],
            name=op.f("fk_turn_document_conversation_id_turn_turn"),
        ),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_turn_document_document_id_document")
        ),
        sa.PrimaryKeyConstraint(
            "conversation_id", "turn", "position", name=op.f("pk_turn_document")
        ),
    )
    op.create_index(
        op.f("ix_turn_document_document_id"), "turn_document", ["document_id"], unique=False
    )
    op.create_table(
        "window",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_item_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("interactions", sa.JSON(), nullable=False),
        sa.Column("turns", sa.JSON(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("score_state", sa.Text(), nullable=False),
        sa.Column("score_reason", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("without_context", sa.Boolean(), nullable=False),
        sa.Column("surplus", sa.JSON(), nullable=False),
        sa.Column("truths", sa.JSON(), nullable=False),
        sa.Column("judged_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_item_id"], ["run_item.id"], name=op.f("fk_window_run_item_id_run_item")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_window")),
        sa.UniqueConstraint("run_item_id", "position", name=op.f("uq_window_run_item_id_position")),
    )
    op.create_table(
        "evidence",
        sa.Column("run_item_id", sa.Integer(), nullable=False),
        sa.Column("claim_id", sa.Integer(), nullable=False),
        sa.Column("truth_id", sa.Integer(), nullable=False),
        sa.Column("stance", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["claim_id"], ["claim.id"], name=op.f("fk_evidence_claim_id_claim")
        ),
        sa.ForeignKeyConstraint(
            ["run_item_id"], ["run_item.id"], name=op.f("fk_evidence_run_item_id_run_item")
        ),
        sa.ForeignKeyConstraint(
            ["truth_id"], ["truth.id"], name=op.f("fk_evidence_truth_id_truth")
        ),
        sa.PrimaryKeyConstraint(
            "run_item_id", "claim_id", "truth_id", "stance", name=op.f("pk_evidence")
        ),
    )
    op.create_index(op.f("ix_evidence_claim_id"), "evidence", ["claim_id"], unique=False)
    op.create_index(op.f("ix_evidence_truth_id"), "evidence", ["truth_id"], unique=False)
    op.create_table(
        "verdict",
        sa.Column("window_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("run_item_id", sa.Integer(), nullable=False),
        sa.Column("claim_id", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("word", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("is_home", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["claim_id"], ["claim.id"], name=op.f("fk_verdict_claim_id_claim")),
        sa.ForeignKeyConstraint(
            ["run_item_id"], ["run_item.id"], name=op.f("fk_verdict_run_item_id_run_item")
        ),
        sa.ForeignKeyConstraint(
            ["window_id"], ["window.id"], name=op.f("fk_verdict_window_id_window")
        ),
        sa.PrimaryKeyConstraint("window_id", "position", name=op.f("pk_verdict")),
    )
    op.create_index(op.f("ix_verdict_claim_id"), "verdict", ["claim_id"], unique=False)
    op.create_index(op.f("ix_verdict_run_item_id"), "verdict", ["run_item_id"], unique=False)
