"""A checksum in each label, reply and verdict; rows that are there get that of what they hold now.

The columns are spelled out here: a revision never changes once released.
"""

import json
import zlib

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_COLUMNS = {
    "human_label": "uid, claim_id, reviewer, action, verdict, note, target_id, scale, raw_label, "
    "judge_verdict, saw_judge, seconds, reason_code, mark, guideline_version, created_at",
    "judge_call": "key, judge, step, text, stop, structured, tokens_in, tokens_out, tokens_cached, "
    "served_model, replicate",
    "verdict": "window_id, position, claim_id, label, word, reason, confidence",
}


def _checksum(*values: object) -> int:
    text = json.dumps(values, ensure_ascii=True, default=bytes.hex)
    return zlib.crc32(text.encode("ascii"))


def upgrade() -> None:
    """Add the columns and fill them."""
    connection = op.get_bind().connection.driver_connection
    assert connection is not None
    before = connection.text_factory
    for table, columns in _COLUMNS.items():
        op.add_column(table, sa.Column("checksum", sa.BigInteger(), nullable=True))
        # A damaged text must not keep the store from being opened.
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        try:
            rows = connection.execute(f"SELECT rowid, {columns} FROM {table}").fetchall()
        finally:
            connection.text_factory = before
        connection.executemany(
            f"UPDATE {table} SET checksum = ? WHERE rowid = ?",
            ((_checksum(*values), row_id) for row_id, *values in rows),
        )
