"""Images, and claims that belong to a document.

Types are spelled out here and not taken from tables.py: a revision never changes once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of images, and let a claim name its document."""
    op.create_table(
        "image",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("data", sa.LargeBinary(), nullable=True),
        sa.Column("length", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_image")),
    )
    with op.batch_alter_table("claim") as claim:
        claim.add_column(sa.Column("document_id", sa.Integer(), nullable=True))
        claim.create_foreign_key(
            op.f("fk_claim_document_id_document"), "document", ["document_id"], ["id"]
        )
