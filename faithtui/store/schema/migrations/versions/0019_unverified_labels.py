"""Label events that came with a bundle of which nothing says that it is what was exported."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the column. Of events that were merged earlier nothing is known, and nobody is asked."""
    op.add_column(
        "human_label", sa.Column("unverified", sa.Boolean(), server_default="0", nullable=False)
    )
