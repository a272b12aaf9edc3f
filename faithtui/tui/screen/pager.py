"""Rows of a long list, fetched a page at a time around what is looked at.

The ids are read once, so nothing moves under the cursor while rows are written; the rows behind
them are fetched by id when a line is drawn, and forgotten when many others were looked at since.
"""

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from faithtui.errors import FaithtuiError

IdT = TypeVar("IdT", bound=Hashable)
RowT = TypeVar("RowT")


class Pager(Generic[IdT, RowT]):
    """A sequence of rows of which only a few pages are in memory.

    Args:
        ids: Identities in the order of the list.
        fetch: Reads rows by id, in any order; ids that are gone are left out.
        identity: Gives the id of a row.
        report_failure: Told why rows could not be read: they are given as if they were gone.
        page: Rows per fetch.
        keep: Pages kept.
    """

    def __init__(
        self,
        ids: Sequence[IdT],
        fetch: Callable[[Sequence[IdT]], Sequence[RowT]],
        identity: Callable[[RowT], IdT],
        report_failure: Callable[[FaithtuiError], None],
        *,
        page: int = 64,
        keep: int = 16,
    ) -> None:
        self._ids = ids
        self._fetch = fetch
        self._identity = identity
        self._report_failure = report_failure
        self._page = page
        self._keep = keep
        self._pages: OrderedDict[int, dict[IdT, RowT]] = OrderedDict()

    def __len__(self) -> int:
        """Count all rows, fetched or not."""
        return len(self._ids)

    @property
    def ids(self) -> Sequence[IdT]:
        """Identities in the order of the list."""
        return self._ids

    def fetch_row(self, index: int) -> RowT | None:
        """Give a row; None when it is gone from the store, or cannot be read.

        Raises:
            IndexError: There is no such index.
        """
        number = index // self._page
        page = self._pages.get(number)
        if page is None:
            part = self._ids[number * self._page : (number + 1) * self._page]
            page = {self._identity(row): row for row in self._fetch_readable(part)}
            self._pages[number] = page
            if len(self._pages) > self._keep:
                self._pages.popitem(last=False)
        else:
            self._pages.move_to_end(number)
        return page.get(self._ids[index])

    def _fetch_readable(self, ids: Sequence[IdT]) -> Sequence[RowT]:
        """Read rows, or as many of them as the damage of a store leaves."""
        try:
            return self._fetch(ids)
        except FaithtuiError as error:
            self._report_failure(error)
        rows: list[RowT] = []
        for each in ids:
            with contextlib.suppress(FaithtuiError):
                rows += self._fetch([each])
        return rows

    def find_index(self, identity: IdT) -> int | None:
        """Find where a row stands; None when it is not in the list."""
        try:
            return self._ids.index(identity)
        except ValueError:
            return None

    def forget_pages(self) -> None:
        """Drop fetched rows, so that the next look reads them again."""
        self._pages.clear()
