"""The list of runs before the store is open: one read through the driver alone.

Opening a store imports SQLAlchemy and declares its tables, which takes longer than everything else
until the first rows are on screen. Nothing is decided here: whatever is unusual about a file is
left to `Store.open`, which says what is wrong with it.
"""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

from faithtui.errors import FaithtuiError
from faithtui.store.records import RunRow
from faithtui.store.runs.run_rows import run_from_row
from faithtui.store.schema.identity import APPLICATION_ID, find_head_revision

MOST = 200
"""Runs that are read: more than any screen holds."""

_JSON = ("options", "rule", "sources", "calibration", "profile")
_TIMES = ("created_at", "finished_at", "archived_at")


def read_startup_runs(path: Path) -> tuple[RunRow, ...] | None:
    """Read the newest runs of a store that is as it should be.

    Args:
        path: The file.

    Returns:
        At most `MOST` runs, the newest first; None where there is no such store, or reading it
        takes more than this.
    """
    if not path.is_file():
        return None
    try:
        # Not read-only: without the files of the write-ahead log nobody else may be there to make
        # them. The connection is kept from writing all the same.
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)) as raw:
            raw.execute("PRAGMA query_only = 1")
            if raw.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
                return None
            if raw.execute("SELECT version_num FROM alembic_version").fetchone() != (
                find_head_revision(),
            ):
                return None
            raw.row_factory = sqlite3.Row
            rows = raw.execute("SELECT * FROM run ORDER BY id DESC LIMIT ?", (MOST,)).fetchall()
    except sqlite3.Error:
        return None
    try:
        return tuple(run_from_row(_decode_row(row)) for row in rows)
    except (ValueError, TypeError, KeyError, AttributeError, FaithtuiError):
        return None  # a damaged row, whatever is wrong with it


def _decode_row(row: sqlite3.Row) -> SimpleNamespace:
    values = dict(zip(row.keys(), row, strict=True))
    for name in _JSON:
        values[name] = None if values[name] is None else json.loads(values[name])
    for name in _TIMES:
        values[name] = None if values[name] is None else _parse_time(values[name])
    return SimpleNamespace(**values)


def _parse_time(stored: str) -> datetime:
    return datetime.fromisoformat(stored).replace(tzinfo=UTC)
