import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.engine.runs.background import BackgroundRun
from faithtui.engine.runs.events import RunEnded
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_planner import save_planned_run
from faithtui.errors import ConfigError, StoreError
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.engine.building import conversation, store_with
from tests.judges.fake_server import answering_server

PATIENCE_S = 300.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", [conversation(f"c{n}", 2) for n in range(5)]) as found:
        yield found


def test_a_run_goes_on_in_its_own_thread_and_a_snapshot_tells_how_far_it_is(store: Store) -> None:
    run = BackgroundRun.start(store, RunRequest())
    assert run.join(PATIENCE_S)
    snapshot = run.snapshot()
    assert run.is_finished
    assert snapshot.state is RunState.DONE
    assert (snapshot.progress.done, snapshot.progress.windows) == (5, 10)
    assert snapshot.eta_s == 0
    assert isinstance(snapshot.recent[-1][1], RunEnded)


def test_a_wrong_order_is_refused_at_once(store: Store) -> None:
    with pytest.raises(ConfigError, match="no metric"):
        BackgroundRun.start(store, RunRequest(metric="nonsense"))
    with pytest.raises(StoreError):
        BackgroundRun.resume(store, store.runs.find_newest_run_id() or 99)  # type: ignore[arg-type]  # no run


def test_cancelling_keeps_what_is_stored_and_the_run_can_be_taken_up_again(store: Store) -> None:
    with answering_server(latency_s=0.05) as server:
        order = RunRequest(judge="openai:willing", base_url=server.url, concurrency=1)
        run = BackgroundRun.start(store, order)
        while server.answered < 3:
            threading.Event().wait(0.01)
        run.cancel()
        assert run.join(PATIENCE_S)
        assert run.snapshot().state is RunState.CANCELLED
        assert store.runs.read_run(run.run_id).state is RunState.CANCELLED
        server.latency_s = 0
        again = BackgroundRun.resume(store, run.run_id)
        assert again.join(PATIENCE_S)
        assert again.snapshot().state is RunState.DONE
        assert again.snapshot().progress.done == 5
        repeated = sum(count - 1 for count in server.answers.values())
        assert repeated <= 1, "at most the question in flight is asked again"


def test_a_run_cancelled_before_its_thread_has_begun_asks_nothing(store: Store) -> None:
    run = BackgroundRun(store, save_planned_run(store, RunRequest()), 8)
    run.cancel()
    run._thread.start()
    assert run.join(PATIENCE_S)
    assert run.snapshot().state is RunState.CANCELLED
    assert store.runs.read_run(run.run_id).done == 0


def test_an_unreachable_judge_fails_conversations_and_not_the_app(store: Store) -> None:
    order = RunRequest(judge="replay:/nonexistent/replies.jsonl")
    with pytest.raises(Exception, match=r"replies\.jsonl"):
        BackgroundRun.start(store, order)


@pytest.mark.thorough
def test_the_time_to_go_does_not_grow_while_a_run_is_paused(store: Store) -> None:
    seconds = [100.0]
    with answering_server(latency_s=0.05) as server:
        order = RunRequest(judge="openai:willing", base_url=server.url, concurrency=1)
        run = BackgroundRun.start(store, order, clock=lambda: seconds[0])
        while not run.snapshot().progress.finished_conversations:
            threading.Event().wait(0.01)
        seconds[0] += 10
        run.control.pause()
        seconds[0] += 300
        held = run.snapshot()
        finished, left = (
            held.progress.finished_conversations,
            5 - held.progress.finished_conversations,
        )
        assert held.elapsed_s == 310
        assert held.eta_s == pytest.approx(10 / finished * left)
        run.control.resume()
        assert run.join(PATIENCE_S)
        assert run.control.pause_duration_s == 300
        assert run.snapshot().eta_s == 0
