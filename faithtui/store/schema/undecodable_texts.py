"""Texts that are no UTF-8 any more: something changed their bytes later."""

import sqlite3
from collections.abc import Iterator

from faithtui.store.schema.checksums import CHECKED_COLUMNS, MOST_NAMED
from faithtui.store.schema.metadata import METADATA
from faithtui.store.schema.storable_text import StoredText


def describe_undecodable_texts(raw: sqlite3.Connection) -> Iterator[str]:
    """Name the rows whose texts are no UTF-8, one sentence each; checksums find them elsewhere."""
    before = raw.text_factory
    raw.text_factory = _decode_or_keep_bytes
    try:
        for table, names in _list_text_columns().items():
            yield from _describe_undecodable_texts_of_table(raw, table, names)
    finally:
        raw.text_factory = before


def _list_text_columns() -> dict[str, list[str]]:
    from faithtui.store.schema import judge_tables, tables  # noqa: F401  # they declare them

    return {
        table.name: [
            column.name
            for column in table.columns
            if isinstance(column.type, StoredText)
            and column.name not in CHECKED_COLUMNS.get(table.name, ())
        ]
        for table in METADATA.sorted_tables
    }


def _describe_undecodable_texts_of_table(
    raw: sqlite3.Connection, table: str, names: list[str]
) -> Iterator[str]:
    there = {name for _, name, *_ in raw.execute(f"PRAGMA table_info({table})")}
    known = [name for name in names if name in there]
    if not known:
        return
    columns = ", ".join(f'"{name}"' for name in known)
    found = [
        (row, name)
        for row, *values in raw.execute(f'SELECT rowid, {columns} FROM "{table}"')
        for name, value in zip(known, values, strict=True)
        if isinstance(value, bytes)
    ]
    for row, name in found[:MOST_NAMED]:
        yield (
            f"row {row} of table {table} is not what was written: something changed its {name} "
            "later, which is no UTF-8 any more"
        )
    if len(found) > MOST_NAMED:
        yield f"the same is true of {len(found) - MOST_NAMED} more texts of {table}"


def _decode_or_keep_bytes(text: bytes) -> str | bytes:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text
