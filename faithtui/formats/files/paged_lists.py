"""Answers of an API hold their records in a list, with what pages through them beside it.

Langfuse and Phoenix call it `data`, LangSmith `runs`, the viewer of Hugging Face's data sets `rows`
with each record under `row`.
"""

from typing import Final

_LISTS: Final = ("data", "runs", "rows")
_BESIDE: Final = frozenset(
    (
        *("meta", "links", "cursors", "cursor", "next", "next_cursor", "nextCursor", "pagination"),
        *("page", "limit", "total", "count", "total_count", "has_more", "object", "schema"),
        *("parsed_query", "search_cursors"),
        *("features", "num_rows_total", "num_rows_per_page", "partial"),
    )
)
"""Keys that say how many records there are and where the next ones begin."""


def find_paged_list(value: dict[str, object]) -> tuple[str, list[dict[str, object]]] | None:
    """Find the records in an answer of an API.

    Returns:
        The key of their list, and the records; None where an object is none, as it says something
        else besides, the list may be one of messages, or a row was cut short.
    """
    keys = [key for key in value if key not in _BESIDE]
    if len(keys) != 1 or keys[0] not in _LISTS:
        return None
    listed = value[keys[0]]
    if not isinstance(listed, list) or not listed:
        return None
    found = [each for each in listed if isinstance(each, dict) and "role" not in each]
    if len(found) != len(listed):
        return None
    if keys[0] != "rows":
        return keys[0], found
    whole = [each for each in found if not each.get("truncated_cells")]
    rows = [row for each in whole if isinstance(row := each.get("row"), dict)]
    return ("rows[].row", rows) if len(rows) == len(listed) else None
