"""A table that one JSON object holds, as pandas and Hugging Face's datasets write it.

`DataFrame.to_json()` gives an object of columns unless it is asked for records; `Dataset.to_dict()`
gives a list for each column.
"""

from collections.abc import Mapping, Sequence
from typing import Final

_SPLIT: Final = frozenset(("columns", "index", "data"))
_TABLE: Final = frozenset(("schema", "data"))


def split_object_into_rows(value: Mapping[str, object]) -> list[dict[str, object]] | None:
    """Give the rows of a table that one object holds.

    Returns:
        None where it is no such table. A chat or a row has a text or objects where a table has
        lists of as many elements, or objects under as many labels of an index.
    """
    if value.keys() == _TABLE:
        return _list_objects_or_none(value["data"]) if type(value["schema"]) is dict else None
    if value.keys() == _SPLIT:
        return _add_index(_join_names_with_rows(value["columns"], value["data"]), value["index"])
    columns = list(value.values())
    if not columns or not all(isinstance(each, dict) for each in columns):
        return _split_lists(value) if len(columns) > 1 else None
    if all(map(str.isdecimal, value)):
        return _add_index(_list_objects_or_none(columns), list(value))
    return _split_objects([(name, each) for name, each in value.items() if isinstance(each, dict)])


def _split_objects(
    columns: Sequence[tuple[str, dict[str, object]]],
) -> list[dict[str, object]] | None:
    labels = list(columns[0][1])
    is_index = bool(labels) and all(map(str.isdecimal, labels))
    if not is_index or any(list(each) != labels for _, each in columns):
        return None
    return _add_index([{name: each[label] for name, each in columns} for label in labels], labels)


def _add_index(
    rows: list[dict[str, object]] | None, labels: object
) -> list[dict[str, object]] | None:
    """Keep the labels of rows that are not counted from 0, as of rows that were picked out."""
    if rows is None or not isinstance(labels, list) or len(labels) != len(rows):
        return rows
    if list(map(str, labels)) == list(map(str, range(len(rows)))):
        return rows
    return [{"index": label} | row for label, row in zip(labels, rows, strict=True)]


def _list_objects_or_none(value: object) -> list[dict[str, object]] | None:
    if not isinstance(value, list) or not value:
        return None
    rows = [each for each in value if isinstance(each, dict)]
    return rows if len(rows) == len(value) else None


def _join_names_with_rows(names: object, rows: object) -> list[dict[str, object]] | None:
    if not isinstance(names, list) or not isinstance(rows, list) or not rows:
        return None
    if not all(isinstance(each, str) for each in names) or len(set(names)) < len(names):
        return None
    if not all(isinstance(each, list) and len(each) == len(names) for each in rows):
        return None
    return [dict(zip(names, each, strict=True)) for each in rows]


def _split_lists(value: Mapping[str, object]) -> list[dict[str, object]] | None:
    columns = [each for each in value.values() if isinstance(each, list)]
    if len(columns) < len(value) or len({len(each) for each in columns}) != 1:
        return None
    if any(isinstance(each, dict) for column in columns for each in column):
        return None  # as messages are
    rows = [dict(zip(value, cells, strict=True)) for cells in zip(*columns, strict=True)]
    return rows or None
