"""What statements need that SQLAlchemy does not do for us: sizes, ids, and texts for the driver."""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Insert,
    Integer,
    Select,
    TableClause,
    column,
    func,
    select,
)
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite as SQLiteDialect

V = TypeVar("V")

_CHUNK = 500
"""Values in one statement: SQLite took at most 999 before its version 3.32."""


@dataclass(frozen=True, slots=True)
class DriverStatement:
    """A statement as the driver takes it."""

    text: str
    fixed: Mapping[str, object]
    """Values it was made with."""
    readers: tuple[Callable[[Any], Any] | None, ...]
    """What makes a column's value out of the driver's; None: it is the same."""


@lru_cache(maxsize=16)
def compile_for_driver(statement: Select[Any]) -> DriverStatement:
    """Compile a statement once, for the driver itself."""
    dialect = SQLiteDialect(paramstyle="named")
    compiled = statement.compile(dialect=dialect)
    readers = (
        column.type.dialect_impl(dialect).result_processor(dialect, None)
        for column in statement.selected_columns
    )
    return DriverStatement(str(compiled), compiled.params, tuple(readers))


def split_into_chunks(values: Sequence[V]) -> Iterator[Sequence[V]]:
    """Cut what goes into an `IN (…)`, because the number of values in a statement is limited."""
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]


def make_in_condition(key: ColumnElement[Any], numbers: Collection[int]) -> ColumnElement[bool]:
    """Compare a key with any number of numbers, in one statement."""
    listed = func.json_each(json.dumps(list(numbers))).table_valued(column("value", Integer))
    return key.in_(select(listed.c.value))


@lru_cache(maxsize=16)
def _compile_insert(table: TableClause, columns: tuple[str, ...]) -> str:
    """Write an INSERT for the driver."""
    quote = SQLiteDialect().identifier_preparer.quote
    names = ", ".join(quote(name) for name in columns)
    places = ", ".join("?" * len(columns))
    return f"INSERT INTO {quote(table.name)} ({names}) VALUES ({places})"


@lru_cache(maxsize=16)
def get_driver_value_maker(column: ColumnElement[Any]) -> Callable[[Any], Any]:
    """Give what makes the driver's value of a column's, where that is another one."""
    dialect = SQLiteDialect()
    make = column.type.dialect_impl(dialect).bind_processor(dialect)
    assert make is not None
    return make


def insert_rows(
    connection: Connection,
    table: TableClause,
    columns: tuple[str, ...],
    rows: Iterable[tuple[Any, ...]],
) -> None:
    """Insert many rows, past the layers that take most of the time of an import.

    Args:
        connection: In a write.
        table: Where to.
        columns: Names of all columns that have no default.
        rows: Values in the order of the columns, as the driver takes them: storable texts,
            numbers, and of other columns what `get_driver_value_maker` makes.
    """
    get_driver_connection(connection).executemany(_compile_insert(table, columns), rows)


def get_driver_connection(connection: Connection) -> sqlite3.Connection:
    """Give the connection of the driver that is under one of SQLAlchemy."""
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw


def make_unindexed_key_expression(key: ColumnElement[int]) -> ColumnElement[int]:
    """Compare a key with each row that is found otherwise, and find none by it.

    For statements that name some rows, as `split_into_chunks` does, and want those of one run.
    SQLite keeps no statistics here and takes a run for less than a few hundred rows, so it would
    go through all of the run for each chunk.
    """
    return key + 0


def insert_returning_id(connection: Connection, statement: Insert) -> int:
    """Insert one row and give its id."""
    key = connection.execute(statement).inserted_primary_key
    assert key is not None
    return int(key[0])
