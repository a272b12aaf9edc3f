import gc

from faithtui.engine.runs.gc_pause import collector_paused


def test_the_collector_is_away_meanwhile_and_back_afterwards() -> None:
    assert gc.isenabled()
    with collector_paused():
        assert not gc.isenabled()
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled(), "who paused it first gives it back"
    assert gc.isenabled()
