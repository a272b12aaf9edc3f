from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from faithtui.errors import FaithtuiError, StoreBusy, StoreError
from faithtui.tui.screen.pager import SHORTEST_REST_S, Pager


def ignore_seconds(seconds: float) -> None:
    """Draw nothing again."""


def pager(count: int, fetched: list[Sequence[int]], keep: int = 2) -> Pager[int, str]:
    def fetch(ids: Sequence[int]) -> list[str]:
        fetched.append(ids)
        return [str(each) for each in reversed(ids) if each != 7]

    return Pager(range(count), fetch, int, lambda error: None, ignore_seconds, page=10, keep=keep)


def test_a_page_is_fetched_once_while_it_is_looked_at() -> None:
    fetched: list[Sequence[int]] = []
    rows = pager(25, fetched)
    assert [rows.fetch_row(index) for index in range(8, 12)] == ["8", "9", "10", "11"]
    assert [list(ids) for ids in fetched] == [list(range(10)), list(range(10, 20))]


def test_the_page_looked_at_longest_ago_is_forgotten() -> None:
    fetched: list[Sequence[int]] = []
    rows = pager(40, fetched)
    for index in (0, 10, 0, 20, 0, 10):
        rows.fetch_row(index)
    assert [ids[0] for ids in fetched] == [0, 10, 20, 10]


def test_a_row_that_is_gone_is_none() -> None:
    assert pager(10, []).fetch_row(7) is None


def test_forgetting_reads_again() -> None:
    fetched: list[Sequence[int]] = []
    rows = pager(5, fetched)
    rows.fetch_row(0)
    rows.forget_pages()
    rows.fetch_row(0)
    assert len(fetched) == 2


@given(st.integers(0, 99))
def test_a_row_is_found_again_by_its_id(number: int) -> None:
    rows = pager(100, [])
    index = rows.find_index(number)
    assert index is not None
    assert rows.fetch_row(index) == (None if number == 7 else str(number))
    assert rows.find_index(1000) is None


def test_rows_that_cannot_be_read_are_reported_once_and_leave_the_others() -> None:
    failures: list[FaithtuiError] = []

    def read_all_but_three(ids: Sequence[int]) -> list[int]:
        if 3 in ids:
            raise StoreError("damaged")
        return list(ids)

    pager = Pager(range(20), read_all_but_three, int, failures.append, ignore_seconds, page=10)
    assert [pager.fetch_row(index) for index in range(6)] == [0, 1, 2, None, 4, 5]
    assert pager.fetch_row(12) == 12
    assert [str(each) for each in failures] == ["damaged"]


class LockedStore:
    """Numbers behind a lock that takes 5 s to say so, on a clock of its own."""

    def __init__(self) -> None:
        self.now = 0.0
        self.is_locked = True
        self.damaged: set[int] = set()
        self.asked: list[list[int]] = []
        self.failures: list[FaithtuiError] = []
        self.redraws: list[float] = []
        self.pager = Pager(
            range(200),
            self.fetch,
            int,
            self.failures.append,
            self.redraws.append,
            page=10,
            seconds=lambda: self.now,
        )

    def fetch(self, ids: Sequence[int]) -> Sequence[int]:
        self.asked.append(list(ids))
        if self.is_locked:
            self.now += 5.0
            raise StoreBusy("locked")
        if self.damaged.intersection(ids):
            raise StoreError("damaged")
        return ids


def test_rows_of_a_locked_store_are_asked_for_once_and_read_when_the_lock_is_gone() -> None:
    store = LockedStore()
    assert [store.pager.fetch_row(index) for index in range(40)] == [None] * 40
    assert len(store.asked) == 1
    [in_s] = store.redraws
    assert in_s > 5.0, "keys get as much time as the lock took"
    store.now += in_s
    assert store.pager.fetch_row(0) is None
    assert [str(each) for each in store.failures] == ["locked"]
    store.now += store.redraws[-1]
    store.is_locked = False
    assert [store.pager.fetch_row(index) for index in range(3)] == [0, 1, 2]
    assert len(store.asked) == 3


def test_rows_that_were_read_stay_while_the_store_is_locked() -> None:
    store = LockedStore()
    store.is_locked = False
    assert store.pager.fetch_row(0) == 0
    store.is_locked = True
    assert store.pager.fetch_row(10) is None
    assert store.pager.fetch_row(1) == 1


def test_a_lock_while_damage_is_narrowed_down_leaves_no_page_behind() -> None:
    store = LockedStore()
    store.is_locked, store.damaged = False, {3}
    fetch = store.fetch

    def lock_at_five(ids: Sequence[int]) -> Sequence[int]:
        store.is_locked = list(ids) == [5] and not store.redraws
        return fetch(ids)

    pager = Pager(
        range(10),
        lock_at_five,
        int,
        store.failures.append,
        store.redraws.append,
        seconds=lambda: store.now,
    )
    assert pager.fetch_row(0) is None
    assert store.asked[-1] == [5]
    store.now += store.redraws[0]
    assert [pager.fetch_row(index) for index in range(6)] == [0, 1, 2, None, 4, 5]


def test_a_lock_that_is_told_at_once_is_still_not_asked_for_at_each_line() -> None:
    redraws: list[float] = []
    asked: list[Sequence[int]] = []

    def refuse(ids: Sequence[int]) -> Sequence[int]:
        asked.append(ids)
        raise StoreBusy("locked")

    pager = Pager(range(40), refuse, int, lambda error: None, redraws.append, seconds=lambda: 7.0)
    assert [pager.fetch_row(index) for index in range(40)] == [None] * 40
    assert len(asked) == 1
    assert redraws[0] >= SHORTEST_REST_S
