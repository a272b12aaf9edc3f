import gc
from collections.abc import Iterator

import pytest

from faithtui.engine.runs.gc_pause import pause_gc, slow_gc


def test_the_collector_is_away_meanwhile_and_back_afterwards() -> None:
    assert gc.isenabled()
    with pause_gc():
        assert not gc.isenabled()
        with pause_gc():
            assert not gc.isenabled()
        assert not gc.isenabled(), "who paused it first gives it back"
    assert gc.isenabled()


@pytest.fixture
def usual() -> Iterator[tuple[int, int, int]]:
    """Python's own pace, whatever that of the tests is."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield gc.get_threshold()
    gc.set_threshold(*before)


def test_the_collector_looks_more_seldom_until_the_last_that_slowed_it_is_done(
    usual: tuple[int, int, int],
) -> None:
    first, second = slow_gc(), slow_gc()
    with first:
        slow = gc.get_threshold()
        assert slow[0] > usual[0]
        assert slow[1:] == usual[1:]
        second.__enter__()
    assert gc.get_threshold() == slow
    second.__exit__(None, None, None)
    assert gc.get_threshold() == usual


@pytest.mark.usefixtures("usual")
@pytest.mark.parametrize("chosen", [(0, 10, 10), (50_000, 5, 5)])
def test_a_collector_that_is_off_or_looks_more_seldom_stays_so(
    chosen: tuple[int, int, int],
) -> None:
    gc.set_threshold(*chosen)
    with slow_gc():
        assert gc.get_threshold() == chosen
    assert gc.get_threshold() == chosen
