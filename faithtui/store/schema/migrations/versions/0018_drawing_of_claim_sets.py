"""When the sample of a claim set was drawn, and how many labels other samples have."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the columns. Of earlier sets the sample tells when, where it is still here."""
    op.add_column("claim_set", sa.Column("drawn_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("claim_set", sa.Column("other_labels", sa.Integer(), nullable=True))
    op.execute(
        "UPDATE claim_set SET drawn_at = "
        "(SELECT created_at FROM sample WHERE sample.uid = claim_set.sample_uid)"
    )
