"""What can still be read of a damaged store, taken over into a new one.

SQLite gives up a query at the first damaged page. Here each table is read row by row past the
damage: a damaged page costs the rows on it, and nothing else.
"""

import errno
import json
import os
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, StaticPool, create_engine, event

from faithtui.errors import StoreError
from faithtui.output_files import PART_OF_FILE, write_atomically, write_text
from faithtui.store.file.backups import find_damage, list_database_files, refuse_existing_file
from faithtui.store.file.database_errors import read_schema_version
from faithtui.store.schema.checksums import CHECKED_COLUMNS, row_checksum
from faithtui.store.schema.identity import APPLICATION_ID, find_head_revision
from faithtui.store.schema.stored_json import is_stored_json_sound, list_json_columns
from faithtui.store.search.word_index import rebuild_index

_ROWS_TRIED_SINGLY: Final = 4_000
"""Row numbers behind damage that are tried one by one: more than a page holds of small rows."""
_LAST_ROW: Final = 2**62
_CHUNK: Final = 2**20
_BLOCK: Final = 2**12
"""Bytes that are given up where a disk cannot read: a sector of it, and no more than a page."""
_WORDS_SINCE: Final = "0004"
"""Revision from which on words are indexed; an older store gets its index when it is upgraded."""
_STAND_INS: Final = (None, "{}", "[]")
"""What may take the place of damaged JSON; the first that the column can hold."""
_IRREPLACEABLE: Final = ("strata",)
"""Columns of JSON where an empty value would be read as another sample."""
_DETACHABLE: Final = {"run": ("run_id",), "sample": ("sample_id", "stratum", "probability")}
"""By table: columns of a label that tell where it was given; a label is of its claim."""

Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class SalvageResult:
    """What came over."""

    rows: Mapping[str, int]
    """By table: rows in the new store."""
    left_out: Mapping[str, int]
    """By table: rows that could be read and are not in it."""
    replaced: Mapping[str, int]
    """By table: damaged JSON values that are empty in the new store; their rows are in it."""
    file: Path | None
    """Where those stand, one a line; None when there are none."""
    damaged: tuple[str, ...]
    """Tables of which a part could not be read."""


def salvage_to_new_store(store: Path, new: Path) -> SalvageResult:
    """Take over what can be read of a damaged store.

    A row that is not what was written (see `checksums`), or that refers to a lost one, does not go
    into the new store but into a file of JSON lines beside it, `NEW.left-out.jsonl`. Where one JSON
    value is damaged the row goes into both, in the new store with an empty value: without the row,
    labels and verdicts that refer to it would be lost.

    Args:
        store: The damaged store; it is not touched.
        new: The new store; must not be there yet.

    Raises:
        ExportError: The new store is there already, or cannot be written.
        StoreError: Nothing can be read, because the first page is lost.
    """
    refuse_existing_file(new)
    beside = new.with_name(f"{new.name}.left-out.jsonl")
    refuse_existing_file(beside)
    with (
        write_atomically(new, force=False) as to,
        tempfile.TemporaryDirectory(prefix=PART_OF_FILE, dir=to.parent) as place,
    ):
        copy = Path(place) / "damaged.db"
        for part, name in zip(
            list_database_files(store.resolve()), list_database_files(copy), strict=True
        ):
            if part.exists():
                _copy_file_zeroing_bad_blocks(part, name)
        with (
            closing(sqlite3.connect(copy, isolation_level=None)) as source,
            closing(sqlite3.connect(to, isolation_level=None)) as target,
        ):
            source.text_factory = lambda raw: raw.decode("utf-8", "replace")
            version = _find_table_version(store, source)
            _make_tables_of_version(target, version)
            taking = _TableCopier(source, target)
            taking.copy_tables_and_remove_orphans()
            if version >= _WORDS_SINCE:
                _rebuild_search_index(target)
        problems = find_damage(to)
        if problems:
            raise StoreError(f"{store} could not be salvaged: {problems[0]}")
        if taking.left_out:
            lines = (json.dumps(each, default=repr) + "\n" for each in taking.left_out)
            write_text(beside, lines, force=False)
    replaced = Counter(each["table"] for each in taking.left_out if "column" in each)
    left_out = Counter(each["table"] for each in taking.left_out) - replaced
    return SalvageResult(
        rows=taking.rows,
        left_out=dict(left_out),
        replaced=dict(replaced),
        file=beside if taking.left_out else None,
        damaged=tuple(taking.damaged),
    )


def _copy_file_zeroing_bad_blocks(file: Path, copy: Path) -> None:
    """Copy a file; a block that its disk cannot read becomes zeros, which the tables are read past.

    Raises:
        OSError: It cannot be opened, or the copy cannot be written.
    """
    with file.open("rb", buffering=0) as old, copy.open("wb") as new:
        size = old.seek(0, os.SEEK_END)
        for start in range(0, size, _CHUNK):
            chunk = range(start, min(start + _CHUNK, size), _BLOCK)
            try:
                new.write(_read_block(old, start, min(_CHUNK, size - start)))
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                for block in chunk:
                    length = min(_BLOCK, size - block)
                    try:
                        new.write(_read_block(old, block, length))
                    except OSError:
                        new.write(bytes(length))


def _read_block(file: FileIO, start: int, length: int) -> bytes:
    file.seek(start)
    found = file.read(length)
    if len(found) < length:  # as far as it could be read
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    return found


class _TableCopier:
    """Takes rows from one database to another."""

    def __init__(self, source: sqlite3.Connection, target: sqlite3.Connection) -> None:
        self._source = source
        self._target = target
        self.left_out: list[dict[str, Any]] = []
        """Rows that could be read and are not in the new store as they were, with the reason."""
        self.damaged: list[str] = []
        self.rows: dict[str, int] = {}
        """Rows of the new store, by table."""

    def copy_tables_and_remove_orphans(self) -> None:
        """Fill the tables, and take out what refers to nothing."""
        self._target.execute("PRAGMA foreign_keys = OFF")
        self._target.execute("BEGIN")
        for table in self._list_target_tables():
            self._copy_table(table)
        while self._remove_orphans():
            pass
        self._target.execute("COMMIT")
        for table in self._list_target_tables():
            ((self.rows[table],),) = self._target.execute(f"SELECT count(*) FROM {table}")

    def _list_target_tables(self) -> list[str]:
        found = self._target.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " AND name NOT LIKE 'search_%' AND name != 'alembic_version'"
        )
        return [name for (name,) in found]

    def _copy_table(self, table: str) -> None:
        there = {name for _, name, *_ in self._source.execute(f"PRAGMA table_info({table})")}
        nullable = {
            name: not is_required
            for _, name, _, is_required, *_ in self._target.execute(f"PRAGMA table_info({table})")
            if name in there
        }
        names = list(nullable)
        if not names:
            return
        checked = CHECKED_COLUMNS[table] if "checksum" in names and table in CHECKED_COLUMNS else ()
        marks = ", ".join("?" * len(names))
        columns = ", ".join(f'"{name}"' for name in names)
        reader = _ReadableRows(self._source, table, columns)
        for values in reader:
            row = dict(zip(names, values, strict=True))
            is_changed = checked and row["checksum"] != row_checksum(*map(row.get, checked))
            stand_ins = (
                None if is_changed else _find_replacements_for_damaged_json(table, row, nullable)
            )
            if stand_ins is None:
                self._record_left_out_row(table, row, "it is not what was written")
                continue
            try:
                self._target.execute(
                    f"INSERT INTO {table} ({columns}) VALUES ({marks})",
                    tuple({**row, **stand_ins}.values()),
                )
            except sqlite3.IntegrityError as error:
                self._record_left_out_row(table, row, str(error))
                continue
            for column, value in stand_ins.items():
                why = f"its {column} is not what was written: {value or 'NULL'} is in its place"
                self._record_left_out_row(table, row, why, {"column": column})
        if reader.is_damaged:
            self.damaged.append(table)

    def _remove_orphans(self) -> bool:
        """Take out rows that refer to rows that are not there; more may be left without theirs."""
        self._detach_labels_from_lost_rows()
        found = self._target.execute("PRAGMA foreign_key_check").fetchall()
        for table, row_id, parent, _ in dict.fromkeys(found):
            query = self._target.execute(f"SELECT * FROM {table} WHERE rowid = ?", (row_id,))
            names = [each[0] for each in query.description]
            values = query.fetchone()
            if values is not None:
                row = dict(zip(names, values, strict=True))
                self._record_left_out_row(table, row, f"what it refers to in {parent} is lost")
                self._target.execute(f"DELETE FROM {table} WHERE rowid = ?", (row_id,))
        return bool(found)

    def _detach_labels_from_lost_rows(self) -> None:
        """Keep labels of a lost run or sample, as deleting a run or a sample does."""
        for parent, columns in _DETACHABLE.items():
            emptied = ", ".join(f"{each} = NULL" for each in columns)
            self._target.execute(
                f"UPDATE human_label SET {emptied} WHERE {columns[0]} IS NOT NULL"
                f" AND {columns[0]} NOT IN (SELECT id FROM {parent})"
            )

    def _record_left_out_row(
        self, table: str, row: Mapping[str, Any], why: str, more: Mapping[str, str] | None = None
    ) -> None:
        self.left_out.append({"table": table, **(more or {}), "why": why, "row": dict(row)})


class _ReadableRows:
    """The rows of a table that can be read, in their order.

    Args:
        connection: To the damaged database.
        table: Its name.
        columns: What is read of each, as SQL.
    """

    def __init__(self, connection: sqlite3.Connection, table: str, columns: str) -> None:
        self._connection = connection
        self._query = f"SELECT rowid, {columns} FROM {table} NOT INDEXED WHERE rowid >= ?"
        self.is_damaged = False
        """Whether a part could not be read."""

    def __iter__(self) -> Iterator[Values]:
        start: int | None = -(2**63)
        while start is not None:
            try:
                for row_id, *values in self._connection.execute(
                    f"{self._query} ORDER BY rowid", (start,)
                ):
                    yield tuple(values)
                    start = row_id + 1
                start = None
            except sqlite3.DatabaseError:
                self.is_damaged = True
                start = self._find_row_behind_damage(max(start or 0, 0))

    def _find_row_behind_damage(self, start: int) -> int | None:
        """Give the next row number from which on rows can be read; None when there is none."""
        for near in range(start + 1, start + _ROWS_TRIED_SINGLY):
            if self._is_readable(near):
                return near
        step = _ROWS_TRIED_SINGLY
        while step < _LAST_ROW and not self._is_readable(start + step):
            step *= 2
        if step >= _LAST_ROW:
            return None
        unread, read = start + step // 2, start + step
        while read - unread > 1:
            middle = (unread + read) // 2
            unread, read = (unread, middle) if self._is_readable(middle) else (middle, read)
        return read

    def _is_readable(self, start: int) -> bool:
        """Whether the first row from a number on can be read; False as well when there is none."""
        query = f"{self._query} ORDER BY rowid LIMIT 1"
        try:
            return self._connection.execute(query, (start,)).fetchone() is not None
        except sqlite3.DatabaseError:
            return False


def _find_replacements_for_damaged_json(
    table: str, row: Mapping[str, Any], nullable: Mapping[str, bool]
) -> dict[str, str | None] | None:
    """Find an empty value for each damaged JSON value of a row; None where one has none."""
    found: dict[str, str | None] = {}
    for name, shape in list_json_columns().get(table, {}).items():
        if name not in row or is_stored_json_sound(shape, row[name]):
            continue
        possible = [
            each
            for each in _STAND_INS
            if (nullable[name] if each is None else is_stored_json_sound(shape, each))
        ]
        if not possible or name in _IRREPLACEABLE:
            return None
        found[name] = possible[0]
    return found


def _find_table_version(store: Path, connection: sqlite3.Connection) -> str:
    """Name the revision of the damaged tables; today's where they do not say.

    Raises:
        StoreError: Nothing can be read.
    """
    try:
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"nothing of {store} can be read, because its list of tables is damaged ({error}); "
            "go back to a copy with `faithtui backup --restore COPY`"
        ) from error
    if tables == (0,):
        raise StoreError(f"{store} holds nothing; go back to a copy")
    version = read_schema_version(connection)
    return find_head_revision() if version is None or version > find_head_revision() else version


def _make_tables_of_version(target: sqlite3.Connection, version: str) -> None:
    from faithtui.store.schema.migrations.upgrade import upgrade

    with _begin_sqlalchemy_transaction(target) as connection:
        upgrade(connection, version)
    target.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _rebuild_search_index(target: sqlite3.Connection) -> None:
    with _begin_sqlalchemy_transaction(target) as connection:
        rebuild_index(connection)


@contextmanager
def _begin_sqlalchemy_transaction(raw: sqlite3.Connection) -> Iterator[Connection]:
    """Lend a connection of SQLAlchemy over one of the driver, in a transaction."""
    engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    event.listen(engine, "begin", lambda each: each.exec_driver_sql("BEGIN"), named=False)
    with engine.begin() as connection:
        yield connection
