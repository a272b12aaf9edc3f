"""Answers of an API hold their records in a list, with what pages through them beside it.

Langfuse and Phoenix call it `data`, LangSmith `runs`, the viewer of Hugging Face's data sets `rows`
with each record under `row`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from faithtui.formats.readers.values.key_spellings import normalise_key_spelling

_LISTS: Final = ("data", "runs", "rows")
_TOTALS: Final = ("numrowstotal", "totalitems", "totalcount", "totalrecords", "total", "count")
_PAGES: Final = ("totalpages", "pagecount", "numpages", "lastpage", "pages")
_MORE: Final = (
    *("hasmore", "hasnextpage", "hasnext", "hasmorepages", "next", "nextcursor", "nextpage"),
    *("nextpagetoken", "nextpageurl", "nexttoken", "nexturl", "nextlink", "partial"),
)
"""Folded names that say, beside a list or an object deeper, how many records and pages there are in
all and whether more follow."""

_BESIDE: Final = frozenset(
    (
        *(*_TOTALS, *_PAGES, *_MORE),
        *("meta", "links", "cursors", "cursor", "pagination", "paging", "pageinfo"),
        *("page", "pagenumber", "currentpage", "pagesize", "perpage", "limit", "offset"),
        *("prev", "previous", "prevcursor", "hasprevious", "object", "schema"),
        *("parsedquery", "searchcursors", "features", "numrowsperpage"),
    )
)
"""Folded keys that say how many records there are and where the next ones begin."""


@dataclass(frozen=True, slots=True)
class ListPage:
    """An answer of an API."""

    key: str
    """Of its list."""
    records: list[dict[str, object] | str]
    """Each record, or why it cannot be read."""
    total: int | None
    """How many there are in all, where it says so."""
    pages: int | None
    """How many pages there are in all, where it says so."""
    has_more: bool
    """Whether it says that others follow."""


@dataclass(slots=True)
class PagesOfFile:
    """The pages of a file as far as it was read."""

    key: str | None = None
    """Of the list that its records were taken from; None: it has none."""
    records: int = 0
    total: int = 0
    pages: int = 0
    """How many were read."""
    total_pages: int = 0
    has_more: bool = False

    def add_page(self, page: ListPage) -> None:
        """Count the records of one more page; the last one says whether others follow."""
        self.key = page.key
        self.records += len(page.records)
        self.total = max(self.total, page.total or 0)
        self.pages += 1
        self.total_pages = max(self.total_pages, page.pages or 0)
        self.has_more = page.has_more

    def describe_missing_records(self) -> str | None:
        """Say that there are more records than the file has; None where nothing says so."""
        if self.total > self.records:
            return f"this is one page: {self.records} of {self.total} records"
        records = f"{self.records} record{'' if self.records == 1 else 's'}"
        if self.total_pages > self.pages:
            return f"this is {self.pages} of {self.total_pages} pages: {records}"
        if self.has_more:
            return f"this is one page: {records}, and the answer says that more follow"
        return None


def find_paged_list(value: dict[str, object], *, is_later: bool = False) -> ListPage | None:
    """Find the records in an answer of an API.

    Args:
        value: An object that may be one.
        is_later: Whether the file has pages before it, the last of which may be empty.

    Returns:
        None where an object is none, as it says something else besides, or the list may be one of
        messages.
    """
    keys = [
        key
        for key, each in value.items()
        if (name := normalise_key_spelling(key)) not in _BESIDE
        or (name in _PAGES and isinstance(each, list))
    ]
    if len(keys) != 1 or keys[0] not in _LISTS:
        return None
    listed = value[keys[0]]
    if not isinstance(listed, list) or not (listed or (is_later and len(value) > 1)):
        return None
    found = [each for each in listed if isinstance(each, dict) and "role" not in each]
    if len(found) != len(listed):
        return None
    key, records = keys[0], list[dict[str, object] | str](found)
    if key == "rows":
        key, records = "rows[].row", [row for each in found for row in _list_row(each)]
    if len(records) != len(listed):
        return None
    beside = _fold_names_beside(value)
    total, pages = (
        next((each for name in names if type(each := beside.get(name)) is int), None)
        for names in (_TOTALS, _PAGES)
    )
    return ListPage(key, records, total, pages, any(beside.get(name) for name in _MORE))


def _list_row(row: dict[str, object]) -> Iterator[dict[str, object] | str]:
    """Give the record of a row of Hugging Face's viewer, which cuts long cells; none without."""
    cells = row.get("truncated_cells")
    if cells:
        names = ", ".join(f"`{each}`" for each in (cells if isinstance(cells, list) else ()))
        yield (
            f"its cells {names} were cut short, as `truncated_cells` says; expected whole ones: "
            "import the data set's own file"
        )
    elif isinstance(record := row.get("row"), dict):
        yield record


def _fold_names_beside(value: dict[str, object]) -> dict[str, object]:
    """Give what stands beside a list, and in the objects there, by folded name."""
    beside = {key: each for key, each in value.items() if normalise_key_spelling(key) in _BESIDE}
    inner = [each for each in beside.values() if isinstance(each, dict)]
    return {
        normalise_key_spelling(name): each
        for fields in (*inner, beside)
        for name, each in fields.items()
    }
