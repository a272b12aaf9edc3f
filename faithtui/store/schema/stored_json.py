"""JSON columns that know what they hold: a value that is something else was changed later.

SQLite keeps any text in such a column. What is no JSON, or of another shape, is refused where it is
read, in a sentence; else it would come up as a bug wherever somebody uses it.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, TypeAdapter
from sqlalchemy import JSON, Dialect
from sqlalchemy.sql.operators import OperatorType
from sqlalchemy.types import TypeDecorator, TypeEngine

from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.errors import FaithtuiError, StoreDamaged
from faithtui.store.schema.checksums import MOST_NAMED
from faithtui.store.schema.metadata import METADATA


@dataclass(frozen=True, slots=True)
class StoredStratum:
    """A stratum of a sample, as it is stored."""

    name: str
    population: int
    drawn: int


def _read_population(stored: dict[str, Any]) -> object:
    from faithtui.agreement.population import Population  # brings numpy

    return Population.from_json(stored)


StoredPopulation: TypeAlias = Annotated[dict[str, Any], AfterValidator(_read_population)]
StoredProfile: TypeAlias = Annotated[dict[str, Any], AfterValidator(JudgeProfile.from_json)]

WAY_OUT = (
    "go back to a copy with `faithtui backup --restore COPY`, or take over what can be read with "
    "`faithtui doctor --salvage NEW`"
)


class StoredJson(TypeDecorator[Any]):
    """JSON of one shape, or NULL.

    Args:
        shape: A type for pydantic; wide where the record that is made of it checks more.
    """

    impl = JSON
    cache_ok = True

    def __init__(self, shape: Any) -> None:
        super().__init__(none_as_null=True)
        self.shape = shape

    def coerce_compared_value(self, op: OperatorType | None, value: Any) -> TypeEngine[Any]:
        """Compare as JSON is compared."""
        return self.impl_instance.coerce_compared_value(op, value)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        """Read a value.

        Raises:
            StoreDamaged: From the processor: it is not of the shape.
        """
        return lambda stored: parse_stored_json(self.shape, stored)


def parse_stored_json(shape: Any, stored: str | bytes | None) -> Any:
    """Parse what a JSON column holds.

    Raises:
        StoreDamaged: It is no JSON, or of another shape.
    """
    if stored is None:
        return None
    try:
        value = json.loads(stored)
        _make_validator(shape)(value)
    except (ValueError, TypeError, FaithtuiError) as error:
        raise StoreDamaged(
            "a value in the store is not what was written: something changed it later; "
            f"`faithtui doctor` names its row; {WAY_OUT}"
        ) from error
    return value


@cache
def _make_validator(shape: Any) -> Callable[[object], object]:
    return TypeAdapter(shape).validate_python


@cache
def list_json_columns() -> dict[str, dict[str, Any]]:
    """Give the shapes of all JSON columns, by table and column."""
    from faithtui.store.schema import judge_tables, tables  # noqa: F401  # they declare them

    found: dict[str, dict[str, Any]] = {}
    for table in METADATA.sorted_tables:
        for column in table.columns:
            if isinstance(column.type, StoredJson):
                found.setdefault(table.name, {})[column.name] = column.type.shape
    return found


def describe_damaged_json(raw: sqlite3.Connection) -> Iterator[str]:
    """Name the rows whose JSON is not what was written, one sentence each."""
    for table, columns in list_json_columns().items():
        there = {name for _, name, *_ in raw.execute(f"PRAGMA table_info({table})")}
        for column in columns.keys() & there:
            damaged = _list_damaged_rows(raw, table, column, columns[column])
            for row in damaged[:MOST_NAMED]:
                yield (
                    f"row {row} of table {table} is not what was written: something changed "
                    f"its {column} later"
                )
            if len(damaged) > MOST_NAMED:
                yield f"the same is true of {len(damaged) - MOST_NAMED} more rows of {table}"


def _list_damaged_rows(raw: sqlite3.Connection, table: str, column: str, shape: Any) -> list[int]:
    # Rows with the same value are looked at once. As bytes: a text may be no UTF-8 any more.
    values = raw.execute(
        f'SELECT CAST("{column}" AS BLOB), group_concat(rowid) FROM "{table}" '
        f'WHERE "{column}" IS NOT NULL GROUP BY 1'
    )
    found: list[int] = []
    for stored, rows in values:
        if not is_stored_json_sound(shape, stored):
            found += map(int, rows.split(","))
    return sorted(found)


def is_stored_json_sound(shape: Any, stored: Any) -> bool:
    """Whether a column may hold this."""
    try:
        parse_stored_json(shape, stored)
    except StoreDamaged:
        return False
    return True
