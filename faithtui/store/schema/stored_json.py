"""JSON columns that know what they hold: a value that is something else was changed later.

SQLite keeps any text in such a column. What is no JSON, or of another shape, is refused where it is
read, in a sentence; else it would come up as a bug wherever somebody uses it.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, NonNegativeInt, TypeAdapter, ValidationError
from sqlalchemy import JSON, Dialect
from sqlalchemy.sql.operators import OperatorType
from sqlalchemy.types import TypeDecorator, TypeEngine

from faithtui.domain.conversation import Image
from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.domain.scores import ScoreSet, ScoringRule
from faithtui.errors import FaithtuiError, StoreDamaged
from faithtui.store.schema.checksums import MOST_NAMED
from faithtui.store.schema.json_columns import (
    images_from_json,
    score_set_from_json,
    scoring_rule_from_json,
)
from faithtui.store.schema.metadata import METADATA
from faithtui.store.schema.storable_text import replace_unstorable_in_json


@dataclass(frozen=True, slots=True)
class StoredStratum:
    """A stratum of a sample, as it is stored."""

    name: str
    population: NonNegativeInt
    drawn: NonNegativeInt


@dataclass(frozen=True, slots=True)
class StoredCalibration:
    """How the embedded judge of a run was recalibrated, as it is stored."""

    labels: NonNegativeInt
    slope: float = 1.0
    intercept: float = 0.0
    threshold: float = 0.5


def _read_population(stored: dict[str, Any]) -> object:
    from faithtui.agreement.population import Population

    return Population.from_json(stored)


StoredPopulation: TypeAlias = Annotated[dict[str, Any], AfterValidator(_read_population)]
StoredProfile: TypeAlias = Annotated[dict[str, Any], AfterValidator(JudgeProfile.from_json)]

_RECORD_READERS: Final[Mapping[Any, Callable[[Any], object]]] = {
    ScoringRule: scoring_rule_from_json,
    ScoreSet: score_set_from_json,
    list[Image]: images_from_json,
    list[StoredStratum]: tuple,
    StoredCalibration: dict,
}
"""Shapes that are records, and what reads them from JSON."""

WAY_OUT = (
    "go back to a copy with `faithtui backup --restore COPY`, or take over what can be read with "
    "`faithtui doctor --salvage NEW`"
)


_NOT_OF_THE_SHAPE: Final = (
    *(ValueError, TypeError, LookupError, AttributeError, RecursionError),
    FaithtuiError,
)
"""What pydantic and readers raise about a value of another shape."""


class DamagedJson(StoreDamaged):
    """A value of a JSON column is not what was written.

    Attributes:
        stored: The value as it stands in the file.
    """

    def __init__(self, stored: str | bytes) -> None:
        self.stored = stored
        super().__init__(
            "a value in the store is not what was written: something changed it later; "
            f"`faithtui doctor` names its row; {WAY_OUT}"
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
        DamagedJson: It is no JSON, or of another shape.
    """
    if stored is None:
        return None
    try:
        value = json.loads(stored)
        _check_shape(shape, stored, value)
    except _NOT_OF_THE_SHAPE as error:
        raise DamagedJson(stored) from error
    return value


def _check_shape(shape: Any, stored: str | bytes, value: Any) -> None:
    """Refuse a value that is not of the shape, or that its reader cannot read; numbers are strict.

    Raises:
        ValueError: As all of `_NOT_OF_THE_SHAPE`.
    """
    adapter = _make_type_adapter(shape)
    if shape not in _RECORD_READERS:
        adapter.validate_python(value, strict=True)
        return
    try:
        # From the text: there a list may be a tuple and an object a record, however strict.
        adapter.validate_json(stored, strict=True)
    except ValidationError:
        # Half a character may stand in JSON, but pydantic does not read it.
        adapter.validate_json(json.dumps(replace_unstorable_in_json(value)), strict=True)
    _RECORD_READERS[shape](value)


@cache
def _make_type_adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


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


def describe_rows_of_damaged_json(raw: sqlite3.Connection, damaged: DamagedJson) -> str | None:
    """Name the row that a damaged value was read from; None where it stands in none any more.

    Where several rows hold the same damaged value, one of them is named and the others counted.
    """
    found = [
        (table, column, row)
        for table, columns in list_json_columns().items()
        for column, shape in columns.items()
        if not is_stored_json_sound(shape, damaged.stored)
        for (row,) in raw.execute(
            f'SELECT rowid FROM "{table}" WHERE CAST("{column}" AS BLOB) = CAST(? AS BLOB)',
            (damaged.stored,),
        )
    ]
    if not found:
        return None
    table, column, row = found[0]
    others = f" (and {len(found) - 1} more have the same value)" if found[1:] else ""
    return (
        f"row {row} of table {table} is not what was written: something changed its "
        f"{column} later{others}"
    )


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
