"""Rows of a long list, fetched a page at a time around what is looked at.

The ids are read once, so nothing moves under the cursor while rows are written; the rows behind
them are fetched by id when a line is drawn, and forgotten when many others were looked at since.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from faithtui.errors import FaithtuiError, StoreBusy

IdT = TypeVar("IdT", bound=Hashable)
RowT = TypeVar("RowT")

SHORTEST_REST_S = 1.0
"""For how long at least no rows are fetched after the store was locked."""

_TIMER_MARGIN_S = 0.05
"""A timer that goes off a little early must not come before the rest is over."""


class Pager(Generic[IdT, RowT]):
    """A sequence of rows of which only a few pages are in memory.

    Args:
        ids: Identities in the order of the list.
        fetch: Reads rows by id, in any order; ids that are gone are left out.
        identity: Gives the id of a row.
        report_failure: Called with the reason when rows could not be read: they are given as if
            they were gone.
        draw_later: Called with the seconds after which rows are to be drawn again that could not be
            read because the store was locked. Until then none are fetched: who draws a list would
            wait for the lock at each of its lines.
        page: Rows per fetch.
        keep: Pages kept.
        seconds: Measures time.
    """

    def __init__(
        self,
        ids: Sequence[IdT],
        fetch: Callable[[Sequence[IdT]], Sequence[RowT]],
        identity: Callable[[RowT], IdT],
        report_failure: Callable[[FaithtuiError], None],
        draw_later: Callable[[float], None],
        *,
        page: int = 64,
        keep: int = 16,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ids = ids
        self._fetch = fetch
        self._identity = identity
        self._report_failure = report_failure
        self._draw_later = draw_later
        self._page = page
        self._keep = keep
        self._seconds = seconds
        self._pages: OrderedDict[int, dict[IdT, RowT]] = OrderedDict()
        self._rest_until_s: float | None = None
        """Before that nothing is fetched; None: the store was not locked at the last fetch."""

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
            rows = self._fetch_unless_locked(part)
            if rows is None:
                return None
            page = {self._identity(row): row for row in rows}
            self._pages[number] = page
            if len(self._pages) > self._keep:
                self._pages.popitem(last=False)
        else:
            self._pages.move_to_end(number)
        return page.get(self._ids[index])

    def _fetch_unless_locked(self, ids: Sequence[IdT]) -> Sequence[RowT] | None:
        """Read rows; None while the store is locked, which passes and is reported once."""
        began = self._seconds()
        if self._rest_until_s is not None and began < self._rest_until_s:
            return None
        try:
            rows = self._fetch_readable(ids)
        except StoreBusy as error:
            if self._rest_until_s is None:
                self._report_failure(error)
            # Keys wait while rows are waited for, so they are not for most of the time.
            ended = self._seconds()
            rest = max(SHORTEST_REST_S, ended - began)
            self._rest_until_s = ended + rest
            self._draw_later(rest + _TIMER_MARGIN_S)
            return None
        self._rest_until_s = None
        return rows

    def _fetch_readable(self, ids: Sequence[IdT]) -> Sequence[RowT]:
        """Read rows, or as many of them as the damage of a store leaves.

        Raises:
            StoreBusy: The store is locked.
        """
        try:
            return self._fetch(ids)
        except StoreBusy:
            raise
        except FaithtuiError as error:
            self._report_failure(error)
        rows: list[RowT] = []
        for each in ids:
            try:
                rows += self._fetch([each])
            except StoreBusy:
                raise
            except FaithtuiError:
                continue
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
