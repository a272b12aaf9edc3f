"""A table that one JSON object holds, as pandas and Hugging Face's datasets write it.

`DataFrame.to_json()` gives an object of columns unless it is asked for records; `Dataset.to_dict()`
gives a list for each column. An index of texts becomes the id of its rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from faithtui.formats.readers.values.key_spellings import normalise_key_spelling

_SPLIT: Final = frozenset(("columns", "index", "data"))
_TABLE: Final = frozenset(("schema", "data"))
_COLUMNS: Final = frozenset(
    (
        *("question", "query", "userinput", "input", "inputs", "prompt", "user", "answer"),
        *("response", "actualoutput", "output", "outputs", "assistant", "contexts", "context"),
        *("retrievedcontexts", "retrievalcontext", "documents", "reference", "groundtruth"),
        *("messages", "turns", "chathistory", "role", "content", "text", "value", "label", "id"),
    )
)
"""Folded names that are columns and no labels of rows."""
_IDS: Final = frozenset(("id", "rowid", "sampleid", "exampleid", "questionid", "queryid", "uuid"))


def split_object_into_rows(value: Mapping[str, object]) -> list[dict[str, object]] | None:
    """Give the rows of a table that one object holds.

    Returns:
        None where it is no such table. A chat or a row has a text or objects where a table has
        lists of as many elements, or objects under as many labels of an index.
    """
    if value.keys() == _TABLE:
        return _list_objects_or_none(value["data"]) if type(value["schema"]) is dict else None
    if value.keys() in (_SPLIT, _SPLIT - {"index"}):
        rows = _join_names_with_rows(value["columns"], value["data"])
        return _add_index(rows, value.get("index"))
    columns = [(name, each) for name, each in value.items() if isinstance(each, dict)]
    if not columns or len(columns) < len(value):
        return _split_lists(value) if len(value) > 1 else None
    if all(map(str.isdecimal, value)):
        return _add_index([each for _, each in columns], list(value))
    return _split_objects(columns)


def _split_objects(
    columns: Sequence[tuple[str, dict[str, object]]],
) -> list[dict[str, object]] | None:
    """Give the rows of objects with the same keys, which are labels of rows or names of columns.

    Labels that are no numbers are told from names by the usual names of columns.
    """
    labels = list(columns[0][1])
    if not labels or any(list(each) != labels for _, each in columns):
        return None
    rows = [{name: each[label] for name, each in columns} for label in labels]
    if all(map(str.isdecimal, labels)):
        return _add_index(rows, labels)
    outer = [name for name, _ in columns]
    if _has_column_name(outer) == _has_column_name(labels):
        return None
    if _has_column_name(labels):
        rows, labels = [each for _, each in columns], outer
    return _add_index(rows, labels) if len(rows) > 1 else None


def _has_column_name(names: Iterable[str]) -> bool:
    return any(normalise_key_spelling(name) in _COLUMNS for name in names)


def _add_index(
    rows: list[dict[str, object]] | None, labels: object
) -> list[dict[str, object]] | None:
    """Keep the labels of rows that are not counted from 0, as of rows that were picked out.

    Those that are no whole numbers are the ids of rows without any.
    """
    if rows is None or not isinstance(labels, list) or len(labels) != len(rows):
        return rows
    if list(map(str, labels)) == list(map(str, range(len(rows)))):
        return rows
    has_id = any(normalise_key_spelling(name) in _IDS for row in rows[:1] for name in row)
    name = "index" if has_id or all(map(str.isdecimal, map(str, labels))) else "id"
    return [{name: label} | row for label, row in zip(labels, rows, strict=True)]


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
        texts = [name for name, each in value.items() if _is_list_of_texts(each)]
        if sum(normalise_key_spelling(name) in _COLUMNS for name in texts) < 2 or _has_role(
            columns
        ):
            return None  # as messages are
    rows = [dict(zip(value, cells, strict=True)) for cells in zip(*columns, strict=True)]
    return rows or None


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _has_role(columns: Iterable[Iterable[object]]) -> bool:
    return any(isinstance(each, dict) and "role" in each for column in columns for each in column)
