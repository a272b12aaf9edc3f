"""An index of all words, views that users save, and indexes for filters and sorting.

Types are spelled out here and not taken from tables.py: a revision never changes once released.
The words of what is stored already are indexed here: some ten seconds for a million claims.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_INDEXED = (
    "search_conversation",
    "search_claim",
    "search_document",
)
_FILL = (
    'INSERT INTO search_conversation (rowid, text) SELECT c.id, c."key" || char(10) || coalesce('
    "(SELECT group_concat(content, char(10)) FROM (SELECT t.content FROM turn t "
    "WHERE t.conversation_id = c.id ORDER BY t.position)), '') FROM conversation c ORDER BY c.id",
    "INSERT INTO search_claim (rowid, text) SELECT c.conversation_id << 32 | c.id, "
    "CASE c.kind WHEN 'answer' THEN (SELECT t.content FROM turn t WHERE t.conversation_id = "
    "c.conversation_id AND t.position = c.turn) ELSE c.text END FROM claim c "
    "ORDER BY c.conversation_id, c.id",
    "INSERT INTO search_document (rowid, text) SELECT d.id, d.text FROM document d ORDER BY d.id",
)


def upgrade() -> None:
    """Make the tables and indexes, and index the words that are there."""
    for name in _INDEXED:
        # The texts stand in the other tables and are not kept twice; prefixes of one and two
        # letters are what a list must follow while somebody begins to type.
        op.execute(
            f"CREATE VIRTUAL TABLE {name} USING fts5(text, content='', prefix='1 2', "
            "tokenize='unicode61 remove_diacritics 2')"
        )
    for statement in _FILL:
        op.execute(statement)
    op.create_table(
        "saved_view",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("screen", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("filter", sa.Text(), nullable=False),
        sa.Column("sort", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_view")),
        sa.UniqueConstraint("screen", "name", name=op.f("uq_saved_view_screen_name")),
    )
    op.create_index(
        op.f("ix_verdict_home"),
        "verdict",
        ["label", "run_item_id", "claim_id"],
        sqlite_where=sa.text("is_home = 1"),
    )
    op.create_index(
        op.f("ix_run_item_listed"),
        "run_item",
        [
            "run_id",
            "number",
            "conversation_id",
            "state",
            "score",
            "corrected",
            "claims",
            "labelled",
            "overridden",
            "missing",
        ],
    )
    op.create_index(
        op.f("ix_turn_document_document_id_conversation_id"),
        "turn_document",
        ["document_id", "conversation_id"],
    )
    op.drop_index(op.f("ix_turn_document_document_id"), "turn_document")
