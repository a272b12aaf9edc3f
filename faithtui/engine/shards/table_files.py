"""The Parquet files of a whole shard, written once and moved into place, the conversations last."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self

from faithtui.engine.shards.journal import ShardJournal
from faithtui.engine.shards.results_schema import (
    TABLES,
    TableName,
    get_table_file,
    make_schema,
    require_pyarrow,
)
from faithtui.errors import ExportError
from faithtui.output_files import OWNER_ONLY, PART_OF_FILE, make_private_directory, move_into_place

_ROWS: Final = 256
"""Rows that are held as values before they become columns."""

_GROUP_BYTES: Final = 16 << 20
"""Bytes of columns that are held before they become a row group of the file."""


def write_table_files(results: Path, shard: str, journal: ShardJournal) -> None:
    """Write the files of a shard whose conversations are all finished.

    Args:
        results: The results folder.
        shard: Name of the shard.
        journal: Its journal, which stays.

    Raises:
        ExportError: They cannot be written.
    """
    try:
        with ExitStack() as opened:
            files = {
                table: opened.enter_context(_TableFile(results, table, shard)) for table in TABLES
            }
            for reply in journal.iter_reply_rows(shard):
                files["replies"].add(reply)
            for each in journal.iter_finished_rows():
                files["conversations"].add(each.conversation)
                for row in each.windows:
                    files["windows"].add(row)
                for row in each.claims:
                    files["claims"].add(row)
        # Whoever finds the file of conversations finds the others of the same measurement too: a
        # shard that is measured again is not whole while its files are replaced.
        get_table_file(results, "conversations", shard).unlink(missing_ok=True)
        for table in ("replies", "windows", "claims", "conversations"):
            files[table].move_into_place()
    except OSError as error:
        raise ExportError(
            f"the tables of shard {shard} cannot be written to {results}: "
            f"{error.strerror or error}; make room and give the same command again, which asks "
            "nothing again"
        ) from error


class _TableFile:
    """A file of one table while it is written."""

    def __init__(self, results: Path, table: TableName, shard: str) -> None:
        self._pa = require_pyarrow()
        import pyarrow.parquet

        self._schema = make_schema(table)
        self._target = get_table_file(results, table, shard)
        make_private_directory(self._target.parent)
        # The lock on the shard keeps others off this name; what a kill left is written over.
        self._new = self._target.with_name(f"{PART_OF_FILE}{shard}")
        number = os.open(self._new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY)
        self._file = os.fdopen(number, "wb")
        self._writer = pyarrow.parquet.ParquetWriter(self._file, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self._batches: list[Any] = []
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._file, self._writer:
            if kind is None:
                self._rows_to_batch()
                self._write_row_group()

    def add(self, row: dict[str, Any]) -> None:
        self._rows.append(row)
        if len(self._rows) >= _ROWS:
            self._rows_to_batch()
        if self._bytes >= _GROUP_BYTES:
            self._write_row_group()

    def move_into_place(self) -> None:
        move_into_place(self._new, self._target, force=True)

    def _rows_to_batch(self) -> None:
        batch = self._pa.RecordBatch.from_pylist(self._rows, self._schema)
        self._bytes += batch.nbytes
        self._batches.append(batch)
        self._rows.clear()

    def _write_row_group(self) -> None:
        self._writer.write_table(self._pa.Table.from_batches(self._batches, self._schema))
        self._batches.clear()
        self._bytes = 0
