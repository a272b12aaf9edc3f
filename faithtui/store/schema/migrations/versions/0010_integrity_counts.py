"""What the checks of a run come to, in its row, so that every list can say it beside the score.

Types are spelled out here and not taken from tables.py: a revision never changes once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_COUNTS = (
    "checked_claims",
    "phantom_claims",
    "checked_truths",
    "invented_truths",
    "checked_texts",
    "echoed_texts",
)


def upgrade() -> None:
    """Add the counts. What earlier checks found is not counted: it is checked again."""
    for table, names in (("run", ("checks", "checked", *_COUNTS)), ("run_item", _COUNTS)):
        for name in names:
            column = sa.Column(name, sa.Integer(), nullable=False, server_default="0")
            op.add_column(table, column)
