"""F06 to F11: answers that do not arrive, not whole, or not in time."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.scores import ScoreSet
from faithtui.engine.batches.question_collector import TRIES
from faithtui.engine.calls.send import ATTEMPTS
from faithtui.store.records import ItemState, RunState
from tests.engine.faulty_runs import STEPS, filled, in_every_way, judged, providers
from tests.judges.fault_server import FaultServer, Rule, fault_server
from tests.judges.faults import FAULTS, Fault
from tests.judges.held_deadlines import HeldDeadlines

FIRST_TRY = (1,)
CONVERSATIONS = 6


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        yield running


@providers
@pytest.mark.parametrize("row", ["F06", "F08", "F11"])
async def test_what_fails_once_is_asked_once_more_and_changes_no_score(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str, row: str
) -> None:
    server.config.rules = (Rule(FAULTS[row], attempts=FIRST_TRY),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
    assert ran.state is RunState.DONE
    assert ran.scores == clean
    assert len(ran.entries) == 2 * CONVERSATIONS * STEPS
    assert set(ran.kinds) == {"ok", *(fault.name for fault in FAULTS[row])}
    # A connection that was given up meanwhile may cost a try that never arrives.
    assert len(ran.retries) == ran.row.retries >= CONVERSATIONS * STEPS
    assert ran.row.calls == CONVERSATIONS * STEPS, "replies that did not arrive are nobody's"


@pytest.mark.parametrize(
    "provider",
    ["openai batch", pytest.param("anthropic batch", marks=pytest.mark.thorough)],
)
@pytest.mark.parametrize("row", ["F06", "F11"])
async def test_a_line_of_a_batch_that_fails_once_goes_into_the_next_and_changes_no_score(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str, row: str
) -> None:
    server.config.rules = (Rule(FAULTS[row], attempts=FIRST_TRY),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
    assert ran.state is RunState.DONE
    assert ran.scores == clean
    assert len(ran.entries) == 2 * CONVERSATIONS * STEPS
    assert set(ran.kinds) == {"ok", *(fault.name for fault in FAULTS[row])}
    assert ran.row.calls == CONVERSATIONS * STEPS


@in_every_way
async def test_f07_a_question_that_always_fails_loses_its_conversation_alone(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str
) -> None:
    server.config.rules = (Rule(FAULTS["F07"], contains="Parcel c2-"),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
    assert (ran.state, ran.row.done, ran.row.failed) == (RunState.DONE, CONVERSATIONS - 1, 1)
    lost = ran.items[2]
    assert lost.state is ItemState.FAILED
    assert lost.reason is not None
    assert "answered 500" in lost.reason
    assert lost.scores is None or lost.scores.windowed.value is None
    assert [*ran.scores[:2], *ran.scores[3:]] == [*clean[:2], *clean[3:]]
    tries = [entry for entry in ran.entries if entry.status == 500]
    assert max(entry.attempt for entry in tries) == (TRIES if "batch" in provider else ATTEMPTS)


@providers
@pytest.mark.parametrize("row", ["F09", "F10"])
async def test_every_attempt_ends_at_its_deadline(
    tmp_path: Path, server: FaultServer, clean: list[ScoreSet | None], provider: str, row: str
) -> None:
    slow = tuple(replace(fault, seconds=600.0) for fault in FAULTS[row])
    server.config.rules = (Rule(slow, attempts=FIRST_TRY),)
    deadlines = HeldDeadlines()
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        expiring = asyncio.create_task(deadlines.expire_when_stuck(server))
        ran = await judged(
            store, server, provider, timeout_s=7.0, deadline=deadlines, concurrency=32
        )
        expiring.cancel()
    assert ran.state is RunState.DONE
    assert ran.scores == clean
    assert {event.error for event in ran.retries} == {"JudgeTimeout"}
    assert len(ran.retries) == CONVERSATIONS * STEPS
    assert deadlines.seconds == [7.0] * 2 * CONVERSATIONS * STEPS


@pytest.mark.thorough
async def test_f09_a_server_that_never_answers_is_told_of_soon(
    tmp_path: Path, server: FaultServer
) -> None:
    server.config.rules = (Rule((Fault("hang"),)),)
    waited: list[float] = []

    def counted(seconds: float) -> asyncio.Timeout:
        waited.append(seconds)
        return asyncio.timeout(seconds)

    with filled(tmp_path / "s.db", 30) as store:
        ran = await judged(store, server, timeout_s=0.1, deadline=counted, concurrency=16)
    assert ran.state is RunState.STOPPED
    assert "Nothing was answered so far" in (ran.row.reason or "")
    assert (ran.row.pending, ran.row.failed) == (30, 0)
    # Two questions of each conversation that was begun, and not those of all.
    assert len(waited) <= ATTEMPTS * 2 * 16


@providers
async def test_f08_what_was_cut_off_may_be_bought_twice_and_is_counted_once(
    tmp_path: Path, server: FaultServer, provider: str
) -> None:
    server.config.rules = (Rule((Fault("reset_mid_body"),), attempts=FIRST_TRY),)
    with filled(tmp_path / "s.db", 2) as store:
        ran = await judged(store, server, provider)
    assert set(server.billed.values()) == {2}
    assert ran.row.retries == len(server.billed)
    assert ran.row.calls == len(server.billed)
    assert {event.error for event in ran.retries} == {"JudgeUnavailable"}
