"""Samples, guidelines, and acts that have a name and a place in every store.

Types are spelled out here and not taken from tables.py: a revision never changes once released.
"""

import hashlib

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables, and name and order the acts that are there."""
    op.create_table(
        "sample",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("design", sa.Text(), nullable=False),
        sa.Column("stratified_by", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("blind", sa.Boolean(), nullable=False),
        sa.Column("shown_share", sa.Float(), nullable=False),
        sa.Column("frame", sa.Integer(), nullable=False),
        sa.Column("strata", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_sample_run_id_run")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sample")),
        sa.UniqueConstraint("uid", name=op.f("uq_sample_uid")),
    )
    op.create_index(op.f("ix_sample_run_id"), "sample", ["run_id"])
    op.create_table(
        "sample_claim",
        sa.Column("sample_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("claim_id", sa.Integer(), nullable=False),
        sa.Column("run_item_id", sa.Integer(), nullable=False),
        sa.Column("stratum", sa.Text(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.Column("shown", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["sample_id"], ["sample.id"], name=op.f("fk_sample_claim_sample_id_sample")
        ),
        sa.ForeignKeyConstraint(
            ["claim_id"], ["claim.id"], name=op.f("fk_sample_claim_claim_id_claim")
        ),
        sa.ForeignKeyConstraint(
            ["run_item_id"], ["run_item.id"], name=op.f("fk_sample_claim_run_item_id_run_item")
        ),
        sa.PrimaryKeyConstraint("sample_id", "position", name=op.f("pk_sample_claim")),
        sa.UniqueConstraint(
            "sample_id", "claim_id", name=op.f("uq_sample_claim_sample_id_claim_id")
        ),
    )
    op.create_index(op.f("ix_sample_claim_claim_id"), "sample_claim", ["claim_id"])
    op.create_index(op.f("ix_sample_claim_run_item_id"), "sample_claim", ["run_item_id"])
    op.create_table(
        "exposure",
        sa.Column("run_item_id", sa.Integer(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_item_id"], ["run_item.id"], name=op.f("fk_exposure_run_item_id_run_item")
        ),
        sa.PrimaryKeyConstraint("run_item_id", "reviewer", name=op.f("pk_exposure")),
    )
    op.create_table(
        "guideline",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_guideline")),
    )
    with op.batch_alter_table("human_label") as label:
        label.add_column(sa.Column("uid", sa.Text(), nullable=True))
        label.add_column(sa.Column("clock", sa.Integer(), nullable=True))
        label.add_column(sa.Column("batch", sa.Text(), nullable=True))
        label.add_column(sa.Column("mark", sa.Text(), nullable=True))
        label.add_column(sa.Column("sample_id", sa.Integer(), nullable=True))
        label.add_column(sa.Column("stratum", sa.Text(), nullable=True))
        label.add_column(sa.Column("probability", sa.Float(), nullable=True))
    _name_acts()
    with op.batch_alter_table("human_label") as label:
        label.alter_column("uid", existing_type=sa.Text(), nullable=False)
        label.alter_column("clock", existing_type=sa.Integer(), nullable=False)
        label.create_unique_constraint(op.f("uq_human_label_uid"), ["uid"])
        label.create_foreign_key(
            op.f("fk_human_label_sample_id_sample"), "sample", ["sample_id"], ["id"]
        )
    op.create_index(op.f("ix_human_label_clock"), "human_label", ["clock"])
    op.create_index(op.f("ix_human_label_sample_id"), "human_label", ["sample_id"])


def _name_acts() -> None:
    """Give acts their names and the order they were made in.

    An imported label is named by what it says, so that it is the same act in a store that
    imported the same file; an act of a person by that, its place and its time, so that it is the
    same act in copies of a file that are upgraded apart.
    """
    connection = op.get_bind()
    rows = connection.execute(
        sa.text(
            'SELECT l.id, l.action, l.reviewer, l.scale, l.raw_label, l.note, c.source, c."key", '
            "k.kind, k.turn, k.digest, l.verdict, l.created_at FROM human_label l "
            "JOIN claim k ON k.id = l.claim_id "
            "JOIN conversation c ON c.id = k.conversation_id"
        )
    ).all()
    names = [{"id": row.id, "uid": _name_of(row)} for row in rows]
    if names:
        connection.execute(
            sa.text("UPDATE human_label SET uid = :uid, clock = :id WHERE id = :id"), names
        )


def _name_of(row: sa.Row[tuple[object, ...]]) -> str:
    parts = [row.source, row.key, row.kind, str(row.turn), row.digest]
    parts += ["" if each is None else f"={each}" for each in tuple(row)[2:6]]
    if row.action != "imported":
        parts += [str(row.id), row.action, row.verdict or "", str(row.created_at)]
    text = "\x1f".join(parts)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]
