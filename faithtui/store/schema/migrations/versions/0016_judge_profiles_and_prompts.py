"""Parameters of judges, prompt texts of runs, and the quotes of truths."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the columns and the table. Earlier runs sent no parameters, and kept no texts."""
    op.add_column("run", sa.Column("prompt_set", sa.Text(), nullable=True))
    op.add_column("run", sa.Column("profile", sa.JSON(), nullable=True))
    op.add_column("judge_memory", sa.Column("refused", sa.JSON(), nullable=True))
    op.add_column("truth", sa.Column("quote", sa.Text(), nullable=True))
    op.create_table(
        "prompt_set",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("texts", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_prompt_set")),
    )
