"""Verdicts that a judge left out: told as missing, asked for again past the stored replies."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.scores import ScoreSet, ScoreState
from faithtui.engine.runs.events import ItemFinished
from faithtui.metrics.missing_verdicts import MOST_REPEATS
from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from tests.engine.faulty_runs import STEPS, Ran, filled, judged, providers, verdicts_of
from tests.judges.fault_server import FaultServer, Rule, fault_server
from tests.judges.faults import Fault

CONVERSATIONS = 6
PROVED = Rule((Fault("extra_fields"),), most=3)
"""The first replies are sound, or a judge that spoils every reply would be given up."""


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        yield running


async def last_claim(path: Path, server: FaultServer, provider: str) -> str:
    """Name the last claim of the third conversation."""
    with filled(path, CONVERSATIONS) as store:
        sound = await judged(store, server, provider)
        return verdicts_of(store, sound.items[2].id)[-1].text


async def resumed(store: Store, server: FaultServer, provider: str, run: RunId) -> Ran:
    return await judged(store, server, provider, run=run, retry_unfinished=True)


@providers
@pytest.mark.parametrize("fault", ["missing_verdict", "wrong_schema", "wrong_enum"])
async def test_a_missing_verdict_is_filled_in_by_resuming_and_nothing_else_is_bought(
    tmp_path: Path,
    server: FaultServer,
    clean: list[ScoreSet | None],
    provider: str,
    fault: str,
) -> None:
    """Measured: one question more, the one that lacks a verdict, of 18 that the run asked."""
    claim = await last_claim(tmp_path / "sound.db", server, provider)
    wanted = "Parcel c2-" if fault == "wrong_schema" else claim
    steps = Rule((Fault(fault),), contains=wanted)
    server.config.rules = (PROVED, steps)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        first = await judged(store, server, provider)
        assert first.state is RunState.DONE
        assert first.row.failed + first.row.incomplete == 1
        assert first.row.scored == CONVERSATIONS - 1
        again = await resumed(store, server, provider, first.run)
        assert again.row.failed + again.row.incomplete == 1, "it is still spoiled, and still told"
        server.config.rules = ()
        last = await resumed(store, server, provider, first.run)
        assert (last.row.failed, last.row.incomplete, last.row.missing_verdicts) == (0, 0, 0)
        assert last.state is RunState.DONE
        assert last.scores == clean
        assert last.events[-1].progress.windows == last.row.windows == CONVERSATIONS
        whole = await resumed(store, server, provider, first.run)
        assert whole.entries == [], "a run that is whole asks nothing"
    if fault != "wrong_schema":
        assert len(first.entries) == CONVERSATIONS * STEPS + MOST_REPEATS
        assert len(again.entries) == 1 + MOST_REPEATS, "allowed anew, for the one claim alone"
        assert len(last.entries) == 1
        assert last.questions == again.questions


@pytest.mark.thorough
@providers
async def test_a_resumed_run_puts_each_question_that_was_answered_only_once(
    tmp_path: Path, server: FaultServer, provider: str
) -> None:
    claim = await last_claim(tmp_path / "sound.db", server, provider)
    server.config.rules = (PROVED, Rule((Fault("missing_verdict"),), contains=claim))
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        first = await judged(store, server, provider)
        sold = Counter(each.question for each in first.entries if each.kind != "missing_verdict")
        for _ in range(3):
            await resumed(store, server, provider, first.run)
        server.config.rules = ()
        await resumed(store, server, provider, first.run)
        calls = [call for item in first.items for call in store.calls.list_item_calls(item.id)]
    assert set(sold.values()) == {1}
    answered = CONVERSATIONS * STEPS + MOST_REPEATS
    assert len(calls) == answered + 3 * (1 + MOST_REPEATS) + 1


async def test_human_labels_and_verdicts_that_were_there_stay_while_it_is_judged_again(
    tmp_path: Path, server: FaultServer
) -> None:
    claim = await last_claim(tmp_path / "sound.db", server, "openai")
    server.config.rules = (PROVED, Rule((Fault("missing_verdict"),), contains=claim))
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        first = await judged(store, server, "openai")
        item = first.items[2]
        view = store.runs.read_conversation_for_review(item.id, "ann")
        (missing,) = [each for each in view.claims if each.first_window_verdict.label is None]
        others = {
            each.id: each.first_window_verdict.label for each in view.claims if each is not missing
        }
        store.label_log.append_label_event(
            missing.id,
            "ann",
            Action.OVERRIDDEN,
            "no",
            run=first.run,
            judge_verdict=None,
            saw_judge=True,
        )
        store.runs.reopen_failed_or_incomplete_items(first.run)
        pending = store.runs.read_conversation_for_review(item.id, "ann")
        assert pending.item.state is ItemState.PENDING
        assert {each.id for each in pending.claims} == {missing.id, *others}, "nothing is hidden"
        server.config.rules = ()
        await judged(store, server, "openai", run=first.run)
        now = store.runs.read_conversation_for_review(item.id, "ann")
        row = store.runs.read_run(first.run)
    assert {
        each.id: each.first_window_verdict.label for each in now.claims if each.id in others
    } == others
    (filled_in,) = [each for each in now.claims if each.id == missing.id]
    assert filled_in.first_window_verdict.label is not None
    assert filled_in.human == "no"
    assert (row.labelled, row.incomplete) == (1, 0)


@pytest.mark.thorough
async def test_a_run_that_cannot_go_on_keeps_what_it_had(
    tmp_path: Path, server: FaultServer
) -> None:
    claim = await last_claim(tmp_path / "sound.db", server, "openai")
    server.config.rules = (PROVED, Rule((Fault("missing_verdict"),), contains=claim))
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        first = await judged(store, server, "openai")
        item = first.items[2].id
        before = [each.id for each in store.runs.read_conversation_for_review(item, "ann").claims]
        server.config.rules = (Rule((Fault("status", 401),)),)
        stopped = await resumed(store, server, "openai", first.run)
        assert (stopped.state, stopped.row.pending) == (RunState.STOPPED, 1)
        assert [
            each.id for each in store.runs.read_conversation_for_review(item, "ann").claims
        ] == before
        server.config.rules = (Rule((Fault("status", 500),)),)
        failed = await resumed(store, server, "openai", first.run)
        assert [
            each.id for each in store.runs.read_conversation_for_review(item, "ann").claims
        ] == before
        assert failed.row.failed + failed.row.pending == 1
        server.config.rules = ()
        last = await resumed(store, server, "openai", first.run)
        assert (last.row.failed, last.row.incomplete, last.row.scored) == (0, 0, CONVERSATIONS)


@pytest.mark.thorough
async def test_a_second_run_finds_the_same_replies_and_lacks_the_same(
    tmp_path: Path, server: FaultServer
) -> None:
    """Only who asks for it again pays for it again."""
    claim = await last_claim(tmp_path / "sound.db", server, "openai")
    server.config.rules = (PROVED, Rule((Fault("missing_verdict"),), contains=claim))
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        await judged(store, server, "openai")
        second = await judged(store, server, "openai")
        assert second.entries == []
        assert second.row.incomplete == 1
        states = [item.scores.windowed.state for item in second.items if item.scores]
        assert Counter(states) == {ScoreState.SCORED: CONVERSATIONS - 1, ScoreState.INCOMPLETE: 1}
        ends = [event for event in second.events if isinstance(event, ItemFinished)]
        assert ends[-1].progress.incomplete == 1
        server.config.rules = ()
        last = await resumed(store, server, "openai", second.run)
        assert len(last.entries) == 1


@pytest.mark.thorough
async def test_claims_that_a_reply_leaves_out_again_and_again_end(
    tmp_path: Path, server: FaultServer
) -> None:
    """Each time it is asked for, a missing verdict costs three answers at most."""
    claim = await last_claim(tmp_path / "sound.db", server, "openai")
    server.config.rules = (PROVED, Rule((Fault("missing_verdict"),), contains=claim))
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, "openai")
        bought = []
        for _ in range(4):
            ran = await asyncio.wait_for(resumed(store, server, "openai", ran.run), 300)
            bought.append(len(ran.entries))
    assert bought == [1 + MOST_REPEATS] * 4


@pytest.mark.thorough
@providers
async def test_a_question_that_was_repaired_is_not_bought_again(
    tmp_path: Path, server: FaultServer, provider: str
) -> None:
    """Measured: of two documents and claims that were, each was bought again; now none is."""
    claim = await last_claim(tmp_path / "sound.db", server, provider)
    # The sound run has put each question once.
    spoiled = Rule((Fault("truncated_content"),), attempts=(2,), contains="Parcel")
    server.config.rules = (PROVED, Rule((Fault("missing_verdict"),), contains=claim), spoiled)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        first = await judged(store, server, provider)
        assert any(each.is_repair for each in first.entries)
        assert first.row.incomplete == 1
        server.config.rules = ()
        last = await resumed(store, server, provider, first.run)
        second = await judged(store, server, provider)
    assert len(last.entries) == 1
    assert second.entries == [], "nor by another run"


@providers
async def test_after_a_stop_between_an_answer_and_its_repair_only_the_repair_is_asked(
    tmp_path: Path, server: FaultServer, provider: str
) -> None:
    """Measured: the answer that could not be used was bought once more."""
    claim = await last_claim(tmp_path / "sound.db", server, provider)
    server.config.rules = (
        PROVED,
        Rule((Fault("truncated_content"),), attempts=(2,), contains=claim),
        Rule((Fault("status", status=401),), contains=claim),
    )
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        first = await judged(store, server, provider)
        assert first.state is not RunState.DONE
        spoiled = {each.question for each in first.entries if each.kind == "truncated_content"}
        server.config.rules = ()
        last = await judged(store, server, provider, run=first.run)
        assert last.row.done == CONVERSATIONS
    again = [each.is_repair for each in last.entries if each.question in spoiled]
    assert again == [True]
