"""The form in which a judge was asked for JSON, under the name that the program has for it."""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Rename the columns; SQLite changes the schema alone, whatever the number of rows."""
    op.execute("ALTER TABLE judge_call RENAME COLUMN rung TO output_format")
    op.execute("ALTER TABLE judge_memory RENAME COLUMN rung TO output_format")
