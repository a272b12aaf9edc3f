"""A checksum in each row of what was paid for or said: `doctor` finds a byte that changed later.

SQLite notices damage that breaks the form of a page. A bit that turns `yes` into `yas` keeps it,
and was read, counted and exported as if somebody had said it.
"""

import json
import math
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import Connection, Dialect, Float, Table
from sqlalchemy.engine.default import DefaultExecutionContext

from faithtui.errors import StoreError
from faithtui.store.schema.statements import get_driver_connection

CHECKED_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "human_label": (
        "uid",
        "claim_id",
        "reviewer",
        "action",
        "verdict",
        "note",
        "target_id",
        "scale",
        "raw_label",
        "judge_verdict",
        "saw_judge",
        "seconds",
        "reason_code",
        "mark",
        "guideline_version",
        "created_at",
    ),
    "label_evidence": ("label_id", "position", "document", "span_start", "span_end"),
    "judge_call": (
        "key",
        "judge",
        "step",
        "text",
        "stop",
        "structured",
        "tokens_in",
        "tokens_out",
        "tokens_cached",
        "served_model",
        "replicate",
    ),
    "verdict": ("window_id", "position", "claim_id", "label", "word", "reason", "confidence"),
}
"""By table: columns that are never updated. What a merge or a later window fills in is not among
them."""

MOST_NAMED: Final = 10
"""Changed rows of a table that are named; of more the number is given."""

_ROW_DESCRIPTIONS: Final = {
    "human_label": ("label", "SELECT 'of ' || reviewer || ' on claim ' || claim_id"),
    "label_evidence": ("marked evidence", "SELECT 'of label event ' || label_id"),
    "judge_call": ("reply", "SELECT 'to a question of step ' || step"),
    "verdict": ("verdict", "SELECT 'on claim ' || claim_id || ' in window ' || window_id"),
}
"""By table: what a row is called, and what it is about."""


def row_checksum(*values: object) -> int:
    """Compute the checksum of a row from its values as SQLite has them.

    Returns:
        CRC-32 of the values as JSON; 0 to 2**32 - 1. Bytes stand for a text that is none any more.
    """
    text = json.dumps(values, ensure_ascii=True, default=bytes.hex)
    return zlib.crc32(text.encode("ascii"))


def make_checksum_default(table: str) -> Callable[[DefaultExecutionContext], int]:
    """Give the default of the column `checksum`: computed from the row that is inserted."""
    names = CHECKED_COLUMNS[table]

    def compute(context: DefaultExecutionContext) -> int:
        row = context.get_current_parameters()  # type: ignore[no-untyped-call]
        stored = _make_bind_processors(context.compiled.statement.table, context.dialect)  # type: ignore[union-attr]  # only ever inserts
        return row_checksum(*(stored[name](row.get(name)) for name in names))

    return compute


LABEL_TABLES: Final = ("human_label", "label_evidence")
"""Label events."""

FIGURE_TABLES: Final = (*LABEL_TABLES, "verdict")
"""What figures and exports are made of."""


def refuse_corrupted_rows(connection: Connection, tables: Sequence[str]) -> None:
    """Keep labels that nobody gave, and verdicts that no judge gave, from figures and files.

    Raises:
        StoreError: A row of these tables is not what was written.
    """
    for sentence in describe_corrupted_rows(connection, tables):
        raise StoreError(
            f"{sentence}; `faithtui doctor` names all of them, and --salvage takes the others over"
        )


def describe_corrupted_rows(
    connection: Connection, tables: Sequence[str] = tuple(CHECKED_COLUMNS)
) -> Iterator[str]:
    """Name the rows that are not what was written, one sentence each."""
    return describe_corrupted_rows_by_driver(get_driver_connection(connection), tables)


def describe_corrupted_rows_by_driver(
    raw: sqlite3.Connection, tables: Sequence[str] = tuple(CHECKED_COLUMNS)
) -> Iterator[str]:
    """Do the same by a connection of the driver."""
    before = raw.text_factory
    # A text that is no UTF-8 any more is what is looked for.
    raw.text_factory = lambda text: text.decode("utf-8", "replace")
    try:
        for table in tables:
            yield from _describe_corrupted_rows_of_table(raw, table)
    finally:
        raw.text_factory = before


def _describe_corrupted_rows_of_table(raw: sqlite3.Connection, table: str) -> Iterator[str]:
    noun, about = _ROW_DESCRIPTIONS[table]
    if not raw.execute(f"PRAGMA table_info({table})").fetchall():
        return  # A store of an older version, which has no such table.
    rows = raw.execute(f"SELECT rowid, checksum, {', '.join(CHECKED_COLUMNS[table])} FROM {table}")
    changed = [row_id for row_id, known, *values in rows if known != row_checksum(*values)]
    for row_id in changed[:MOST_NAMED]:
        (words,) = raw.execute(f"{about} FROM {table} WHERE rowid = ?", (row_id,)).fetchone()
        yield f"the {noun} {words} is not what was written: something changed it later"
    if len(changed) > MOST_NAMED:
        yield f"the same is true of {len(changed) - MOST_NAMED} more {noun}s"


@cache
def _make_bind_processors(table: Table, dialect: Dialect) -> Mapping[str, Callable[[Any], Any]]:
    """Give, by column, what makes a value what SQLite will have."""
    return {
        name: _make_bind_processor(table, name, dialect) for name in CHECKED_COLUMNS[table.name]
    }


def _make_bind_processor(table: Table, name: str, dialect: Dialect) -> Callable[[Any], Any]:
    kind = table.c[name].type
    process = kind.dialect_impl(dialect).bind_processor(dialect)

    def convert_value(value: Any) -> Any:
        processed = value if process is None else process(value)
        if not isinstance(kind, Float) or processed is None:
            return processed
        # SQLite has no -0.0, and NULL for what is no number.
        return None if math.isnan(processed) else float(processed) + 0.0

    return convert_value
