"""The file of an empty store."""

import tempfile
from functools import cache
from pathlib import Path

from faithtui.store.database import Database


@cache
def read_empty_store() -> bytes:
    """Make an empty store and read its file.

    Processes that are forked after the first call have the bytes.
    """
    with tempfile.TemporaryDirectory(prefix="faithtui_empty_") as folder:
        path = Path(folder) / "empty.db"
        Database.open(path, create=True, busy_timeout_s=5.0).close()
        return path.read_bytes()
