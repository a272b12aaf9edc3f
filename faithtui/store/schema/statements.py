"""What statements need that SQLAlchemy does not do for us: sizes, ids, and texts for the driver."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Insert, Select
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


def avoid_index(key: ColumnElement[int]) -> ColumnElement[int]:
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
