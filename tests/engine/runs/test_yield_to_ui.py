import asyncio
import threading
from pathlib import Path

import pytest

from faithtui.domain.judging.tasks import JudgeClaims
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.reply_cache import MemoryReplyCache
from faithtui.engine.runs.background import BackgroundRun
from faithtui.engine.runs.control import RunControl
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_planner import save_planned_run
from faithtui.engine.runs.runner import execute_run
from faithtui.engine.runs.yield_to_ui import UiYielder
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.judges.embedded.embedded_judge import OfflineJudge
from faithtui.store.records import RunState
from tests.engine.building import conversation, store_with
from tests.engine.calls.test_ask import GOOD, ScriptedJudge, question
from tests.judges.fake_server import answering_server


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def seconds(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds


def made() -> tuple[Clock, UiYielder]:
    clock = Clock()
    return clock, UiYielder(clock.seconds, clock.sleep)


def test_nobody_rests_unless_somebody_waits() -> None:
    clock, courtesy = made()
    courtesy.wait_until_pause_ends()
    assert clock.slept == []


def test_a_step_waits_until_way_was_given() -> None:
    clock, courtesy = made()
    courtesy.pause_run_for(0.08)
    clock.now += 0.03
    courtesy.wait_until_pause_ends()
    courtesy.wait_until_pause_ends()
    assert clock.slept == [0.05]


def test_keys_that_come_in_a_rest_make_it_longer() -> None:
    clock, courtesy = made()

    def press_while_it_sleeps(seconds: float) -> None:
        if len(clock.slept) == 0:
            courtesy.pause_run_for(0.09)
        clock.sleep(seconds)

    courtesy = UiYielder(clock.seconds, press_while_it_sleeps)
    courtesy.pause_run_for(0.08)
    courtesy.wait_until_pause_ends()
    assert clock.slept == [0.08, 0.01], "not up to the key before, and then a key's time with it"


def test_keys_without_end_leave_a_run_time_of_its_own() -> None:
    clock, courtesy = made()
    steps = 0
    while clock.now < 110.0:
        courtesy.pause_run_for(0.2)
        courtesy.wait_until_pause_ends()
        steps += 1
        clock.now += 0.005
    assert 8.5 < sum(clock.slept) < 9.5, "of ten seconds"
    assert steps > 180


async def test_a_question_waits_for_its_turn_before_it_is_looked_up_sent_and_read() -> None:
    steps: list[str] = []

    class Judge(ScriptedJudge):
        async def send(self, request: JudgeRequest) -> JudgeReply:
            steps.append("send")
            return await super().send(request)

    asker = Asker(Judge(GOOD), MemoryReplyCache(), before_step=lambda: steps.append("step"))
    await asker.ask(question(), None)
    assert steps == ["step", "step", "send", "step"]


async def test_the_embedded_judge_waits_for_its_turn_between_two_claims() -> None:
    steps: list[int] = []
    judge = OfflineJudge(before_step=lambda: steps.append(1))
    for claims in (1, 20):
        steps.clear()
        task = JudgeClaims(tuple(f"Claim {n}." for n in range(claims)), ("A truth.",))
        await judge.send(JudgeRequest("verdicts", task, "", "", {}, 100))
        assert len(steps) >= claims


@pytest.mark.parametrize("judge", ["offline", "openai:willing"])
def test_a_run_waits_for_its_turn(tmp_path: Path, judge: str) -> None:
    clock, yielder = made()
    with (
        store_with(tmp_path / "s.db", [conversation("c", 2)]) as store,
        answering_server(0) as server,
    ):
        url = None if judge == "offline" else server.url
        run = save_planned_run(store, RunRequest(judge=judge, base_url=url))
        control = RunControl(1)
        control.ui_yielder = yielder
        yielder.pause_run_for(0.08)
        asyncio.run(execute_run(store, run, lambda event: None, control=control))
    assert clock.slept == [0.08]


@pytest.mark.thorough
def test_a_run_rests_and_ends_all_the_same(tmp_path: Path) -> None:
    chats = [conversation(f"c{n}", 2) for n in range(3)]
    with store_with(tmp_path / "s.db", chats) as store, answering_server(0.01) as server:
        order = RunRequest(judge="openai:willing", base_url=server.url, concurrency=4)
        run = BackgroundRun.start(store, order)
        while not run.join(0.005):
            run.yield_to_ui(0.05)
            threading.Event().wait(0.005)
        assert run.snapshot().state is RunState.DONE
        assert run.snapshot().progress.done == 3
