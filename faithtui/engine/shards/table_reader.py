"""The tables of a whole shard read back, a few rows at a time, to measure its failed rows again."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from faithtui.domain.scores import ScoreState
from faithtui.engine.calls.budget import NUSD
from faithtui.engine.shards.measured_rows import MeasuredRows
from faithtui.engine.shards.results_schema import TableName, get_table_file, require_pyarrow
from faithtui.errors import InputError
from faithtui.store.records import StoredReply

_ROWS = 256
"""Rows that are held at a time."""


def count_failed_conversations(results: Path, shard: str) -> int:
    """Count the conversations of a whole shard that failed.

    Raises:
        InputError: Its table cannot be read.
    """
    return sum(
        row["state"] == ScoreState.FAILED.value
        for row in _iter_rows(results, "conversations", shard, ["state"])
    )


def iter_stored_replies(results: Path, shard: str) -> Iterator[tuple[bool, str, str, StoredReply]]:
    """Give the replies of a whole shard: whether each could be used, its step, key, and itself.

    Raises:
        InputError: The table cannot be read.
    """
    for row in _iter_rows(results, "replies", shard):
        cost = row["cost_usd"]
        yield (
            row["usable"],
            row["step"],
            row["key"],
            StoredReply(
                text=row["text"],
                stop=row["stop"],
                structured=row["structured"],
                tokens_in=row["tokens_in"],
                tokens_out=row["tokens_out"],
                tokens_cached=row["tokens_cached"],
                request_id=None,
                served_model=row["served_model"],
                latency_ms=row["latency_ms"],
                cost_nusd=None if cost is None else round(cost * NUSD),
            ),
        )


def iter_measured_rows(results: Path, shard: str) -> Iterator[MeasuredRows]:
    """Give the rows of every conversation of a whole shard, in its order.

    Raises:
        InputError: A table cannot be read.
    """
    windows = _RowsOfConversations(_iter_rows(results, "windows", shard))
    claims = _RowsOfConversations(_iter_rows(results, "claims", shard))
    for row in _iter_rows(results, "conversations", shard):
        yield MeasuredRows(
            row, windows.take_rows_of(row["number"]), claims.take_rows_of(row["number"])
        )


class _RowsOfConversations:
    """Rows of a table that has them in the order of the conversations, some of which have none."""

    def __init__(self, rows: Iterator[dict[str, Any]]) -> None:
        self._groups = groupby(rows, lambda row: row["number"])
        self._next = next(self._groups, None)

    def take_rows_of(self, number: int) -> list[dict[str, Any]]:
        if self._next is None or self._next[0] != number:
            return []
        found = list(self._next[1])
        self._next = next(self._groups, None)
        return found


def _iter_rows(
    results: Path, table: TableName, shard: str, columns: list[str] | None = None
) -> Iterator[dict[str, Any]]:
    pa = require_pyarrow()
    import pyarrow.parquet

    path = get_table_file(results, table, shard)
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(_ROWS, columns=columns):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot be read: {error}", path=path) from error
