"""Records that belong together, brought together however far apart they stand.

Spans of a trace, traces of a session and scores of a trace lie anywhere in a file. They go through
a temporary SQLite database, which keeps what fits in memory and the rest on the disk, so that a
file may be larger than memory.
"""

import json
import sqlite3
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from faithtui.domain.limits import RECORD
from faithtui.errors import InputError


class RecordGroups:
    """A pile of JSON objects by key; used as a context."""

    def __init__(self) -> None:
        # The empty name makes a database of its own that is gone when it is closed.
        self._connection = sqlite3.connect("", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute("BEGIN")
        self._connection.execute(
            "CREATE TABLE record "
            "(key TEXT, rank TEXT, number INTEGER PRIMARY KEY, value TEXT, size INTEGER)"
        )

    def __enter__(self) -> Self:
        """Give the pile."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Throw it away."""
        self._connection.close()

    def add(self, key: str, value: object, rank: str = "") -> None:
        """Add a record.

        Args:
            key: What it belongs to.
            value: A JSON value.
            rank: Where it stands among those of its key, as text that sorts so; equal ones stay in
                order.
        """
        text = json.dumps(value, ensure_ascii=False)
        size = len(text) if text.isascii() else sys.getsizeof(text) + len(text.encode())
        self._connection.execute(
            "INSERT INTO record (key, rank, value, size) VALUES (?, ?, ?, ?)",
            (key, rank, text, size),
        )

    def __iter__(self) -> Iterator[tuple[str, list[Any]]]:
        """Give each key with its records, in the order in which the keys came first.

        Those that `list_keys_with_too_large_records` gives are left out.
        """
        for key in self.list_keys():
            if self._count_records_and_bytes(key)[1] <= RECORD.most:
                yield key, list(self.list_records_of_key(key))

    def list_keys_with_too_large_records(self) -> Iterator[tuple[Any, InputError]]:
        """Give each key whose records are more together than one may be: its first one, and why."""
        for key in self.list_keys():
            count, size = self._count_records_and_bytes(key)
            problem = RECORD.find_size_problem(size)
            if problem is not None:
                why = InputError(f"`{key}` stands in {count:,} records; all together {problem}")
                yield next(self.list_records_of_key(key)), why

    def _count_records_and_bytes(self, key: str) -> tuple[int, int]:
        """Count the records of a key, and the bytes of memory that their texts take."""
        [(count, size)] = self._connection.execute(
            "SELECT count(*), sum(size) FROM record WHERE key = ?", (key,)
        )
        return count, size

    def list_keys(self) -> Iterator[str]:
        """List the keys, in the order in which they came first."""
        self._make_index()
        keys = self._connection.execute(
            "SELECT key, min(number) AS first FROM record GROUP BY key ORDER BY first"
        )
        return (key for key, _ in keys)

    def count_keys(self) -> int:
        """Say how many keys there are."""
        self._make_index()
        [(count,)] = self._connection.execute("SELECT count(DISTINCT key) FROM record")
        return int(count)

    def list_records_of_key(self, key: str) -> Iterator[Any]:
        """List the records of a key one by one; none where there is no such key."""
        self._make_index()
        rows = self._connection.execute(
            "SELECT value FROM record WHERE key = ? ORDER BY rank, number", (key,)
        )
        return (json.loads(value) for (value,) in rows)

    def _make_index(self) -> None:
        self._connection.execute(
            "CREATE INDEX IF NOT EXISTS by_key ON record (key, rank, number, size)"
        )
