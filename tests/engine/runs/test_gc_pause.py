import gc

from faithtui.engine.runs.gc_pause import pause_gc


def test_the_collector_is_away_meanwhile_and_back_afterwards() -> None:
    assert gc.isenabled()
    with pause_gc():
        assert not gc.isenabled()
        with pause_gc():
            assert not gc.isenabled()
        assert not gc.isenabled(), "who paused it first gives it back"
    assert gc.isenabled()
