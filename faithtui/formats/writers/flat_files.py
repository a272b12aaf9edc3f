"""Flat rows as files: JSON lines, CSV that is safe in a spreadsheet, Parquet.

Rows come conversation by conversation and are written as they come.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from faithtui.domain.csv_cells import escape_formula
from faithtui.errors import ConfigError
from faithtui.formats.writers.flat_rows import (
    EVIDENCE_FIELDS,
    LABEL_FIELDS,
    MARK_FIELDS,
    PASSAGE_FIELDS,
    FlatColumn,
    Kind,
    Row,
    format_utc_time,
)

if TYPE_CHECKING:
    import pyarrow

FlatFormat = Literal["jsonl", "csv", "parquet"]

_ROWS_AT_ONCE: Final = 5_000
_CHARACTERS_AT_ONCE: Final = 16_000_000
"""A row group of a Parquet file ends at so many rows or characters, whichever comes first."""

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False
).encode


def format_json_lines(
    columns: Sequence[FlatColumn], parts: Iterable[Iterable[Row]], *, json_as_text: bool = False
) -> Iterator[str]:
    """Write rows as JSON, one object a line, in UTF-8.

    Args:
        columns: The columns.
        parts: Rows, those of one conversation together: what they share is encoded once.
        json_as_text: Write metadata as a text that holds JSON, for readers that want the same
            fields in every row.
    """
    begins = [f"{',' if place else '{'}{_encode(each.name)}:" for place, each in enumerate(columns)]
    as_text = [json_as_text and each.kind == "json" for each in columns]
    writes = [_encode_json_as_string if each else _encode_as_json for each in as_text]
    return _format_row_lines(columns, parts, begins, writes, "}\n")


def _encode_as_json(value: object) -> str:
    return _encode(format_utc_time(value) if isinstance(value, datetime) else value)


def _encode_json_as_string(value: object) -> str:
    return _encode(_encode(value))


def format_csv_lines(
    columns: Sequence[FlatColumn], parts: Iterable[Iterable[Row]]
) -> Iterator[str]:
    """Write rows as CSV.

    Texts are quoted, numbers are not; a text that a spreadsheet would take for a formula gets a
    single quote in front. Lists and objects are JSON. An empty cell is no value, or an empty text.
    Lines end in LF; line breaks inside a text stay. The writer of the standard library takes four
    times as long, because it quotes the passages of an answer anew for each of its claims.
    """
    yield ",".join(_quote(each.name) for each in columns) + "\n"
    begins = ["," if place else "" for place in range(len(columns))]
    yield from _format_row_lines(columns, parts, begins, [_format_csv_cell] * len(columns), "\n")


def _format_csv_cell(value: object) -> str:
    match value:
        case None | "":
            return ""
        case str():
            return _quote(escape_formula(value))
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case datetime():
            return _quote(format_utc_time(value))
        case _:
            return _quote(_encode(value)) if value else ""


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _format_row_lines(
    columns: Sequence[FlatColumn],
    parts: Iterable[Iterable[Row]],
    begins: Sequence[str],
    writes: Sequence[Callable[[object], str]],
    end: str,
) -> Iterator[str]:
    """Write rows, each value behind what begins it; shared values of a part are written once."""
    shared = [each.is_shared for each in columns]
    for rows in parts:
        known: dict[tuple[int, int], tuple[object, str]] = {}
        for row in rows:
            line = []
            for place, value in enumerate(row):
                line.append(begins[place])
                if not shared[place]:
                    line.append(writes[place](value))
                    continue
                found = known.get((place, id(value)))
                if found is None:  # kept, so that no other value gets its id
                    found = known[place, id(value)] = (value, writes[place](value))
                line.append(found[1])
            line.append(end)
            yield "".join(line)


def write_parquet(
    path: Path, columns: Sequence[FlatColumn], parts: Iterable[Iterable[Row]]
) -> None:
    """Write rows as Parquet, in row groups of bounded size.

    Lists are lists of records; metadata is JSON text, since its fields differ by conversation.

    Raises:
        ConfigError: pyarrow is not installed.
    """
    arrow = import_pyarrow()
    from pyarrow import parquet

    schema = make_arrow_schema(columns)
    kinds = [each.kind for each in columns]
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for rows in _gather_bounded_row_groups(parts):
            arrays = [
                arrow.array(
                    [_make_arrow_value(kind, row[place]) for row in rows],
                    type=schema.field(place).type,
                )
                for place, kind in enumerate(kinds)
            ]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))


def import_pyarrow() -> Any:
    """Import what Parquet needs.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise ConfigError(
            "Parquet needs pyarrow: pip install 'faithtui[parquet]'; jsonl and csv need nothing"
        ) from error
    return pyarrow


def _gather_bounded_row_groups(parts: Iterable[Iterable[Row]]) -> Iterator[list[Row]]:
    found: list[Row] = []
    held = 0
    for rows in parts:
        for row in rows:
            found.append(row)
            held += sum(map(_count_characters, row))
            if len(found) == _ROWS_AT_ONCE or held > _CHARACTERS_AT_ONCE:
                yield found
                found, held = [], 0
    if found:
        yield found


def _count_characters(value: object) -> int:
    """Count the characters of a text, and of the texts of records in a list."""
    match value:
        case str():
            return len(value)
        case list():
            return sum(
                len(text)
                for each in value
                if isinstance(each, dict)
                for text in each.values()
                if isinstance(text, str)
            )
        case _:
            return 0


def _make_arrow_value(kind: Kind, value: object) -> object:
    return _encode(value) if kind == "json" and value is not None else value


def make_arrow_schema(columns: Sequence[FlatColumn]) -> "pyarrow.Schema":
    """Say the types of columns in Parquet."""
    arrow = import_pyarrow()
    types = {
        "text": arrow.string(),
        "json": arrow.string(),
        "integer": arrow.int64(),
        "number": arrow.float64(),
        "flag": arrow.bool_(),
        "time": arrow.timestamp("us", tz="UTC"),
        "passages": _make_arrow_list_type(PASSAGE_FIELDS),
        "evidence": _make_arrow_list_type(EVIDENCE_FIELDS),
        "marks": _make_arrow_list_type(MARK_FIELDS, integers=("start", "end")),
    }
    # The time of a label inside a claim is text, as in the other formats.
    fields = [
        (each.name, types["text" if each.kind == "time" else each.kind]) for each in LABEL_FIELDS
    ]
    types["labels"] = arrow.list_(arrow.struct(fields))
    return arrow.schema([(each.name, types[each.kind]) for each in columns])


def _make_arrow_list_type(names: Sequence[str], integers: Sequence[str] = ()) -> Any:
    arrow = import_pyarrow()
    return arrow.list_(
        arrow.struct(
            [(name, arrow.int64() if name in integers else arrow.string()) for name in names]
        )
    )
