"""What a sample stands for where only drawn conversations are in the store."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the column. Earlier samples were drawn from their run."""
    op.add_column("sample", sa.Column("population", sa.JSON(), nullable=True))
