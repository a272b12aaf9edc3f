from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from faithtui.errors import FaithtuiError, StoreError
from faithtui.tui.screen.pager import Pager


def pager(count: int, fetched: list[Sequence[int]], keep: int = 2) -> Pager[int, str]:
    def fetch(ids: Sequence[int]) -> list[str]:
        fetched.append(ids)
        return [str(each) for each in reversed(ids) if each != 7]

    return Pager(range(count), fetch, int, lambda error: None, page=10, keep=keep)


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

    pager = Pager(range(20), read_all_but_three, int, failures.append, page=10)
    assert [pager.fetch_row(index) for index in range(6)] == [0, 1, 2, None, 4, 5]
    assert pager.fetch_row(12) == 12
    assert [str(each) for each in failures] == ["damaged"]
