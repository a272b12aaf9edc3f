"""Checks made while a run goes on: kept with its end, taken up again, the same as stored ones."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.claims.verdicts import Assessment
from faithtui.domain.conversation import Conversation
from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.integrity.findings import CheckResult
from faithtui.domain.integrity.prompt_echo import PromptWords
from faithtui.domain.integrity.run_summary import IntegritySummary, Soundness, TextCounts
from faithtui.domain.judging.failure_limit import FailureLimit
from faithtui.engine.integrity.item_checks import ItemChecks
from faithtui.engine.integrity.judged_conversations import CheckRules, make_check_rules
from faithtui.engine.integrity.run_checks import (
    check_and_save_run_within_time_limit,
    check_stored_conversation,
    check_unsaved_assessments,
)
from faithtui.engine.runs import runner
from faithtui.engine.runs.events import RunEnded, RunEvent
from faithtui.engine.runs.run_execution import rebuild_and_check_metric
from faithtui.errors import StoreError
from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from tests.engine.building import (
    CopyingJudge,
    CountingJudge,
    RandomJudge,
    conversation,
    opened,
    planned,
    store_with,
)

METRICS = (
    "turn-faithfulness",
    "turn-contextual-relevancy",
    "ragas-faithfulness",
    "deepevalex-faithfulness",
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    chats = [conversation(f"c{number}", 3) for number in range(4)]
    with store_with(tmp_path / "runs.db", chats) as store:
        yield store


async def judged_by_nonsense(store: Store, **order: object) -> RunId:
    run = planned(store, max_failures=FailureLimit(share=1.0), **order)
    state = await runner.execute_run(store, run, lambda event: None, judge=opened(RandomJudge()))
    assert state is RunState.DONE
    return run


async def test_a_sound_run_ends_checked_and_says_nothing(store: Store) -> None:
    run = planned(store)
    await runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
    found = store.runs.read_run(run).integrity
    assert (found.checked, found.unchecked, found.soundness) == (4, 0, Soundness.SOUND)
    assert (found.counts.claims, found.format_sentence()) == (12, "")
    assert store.findings.list_unchecked_conversations(run) == ()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
async def test_a_model_of_random_weights_is_suspect(store: Store, metric: str, seed: int) -> None:
    run = planned(store, metric=metric)
    await runner.execute_run(store, run, lambda event: None, judge=opened(RandomJudge(seed)))
    found = store.runs.read_run(run).integrity
    assert found.soundness is Soundness.SUSPECT
    assert found.counts.phantom >= 0.95 * found.counts.claims > 0


@pytest.mark.parametrize("metric", ["turn-faithfulness", "ragas-faithfulness"])
async def test_a_model_that_copies_its_prompt_is_suspect(store: Store, metric: str) -> None:
    run = planned(store, metric=metric)
    await runner.execute_run(store, run, lambda event: None, judge=opened(CopyingJudge()))
    found = store.runs.read_run(run).integrity
    assert found.soundness is Soundness.SUSPECT
    assert found.counts.echoed >= 0.7 * found.counts.texts > 0
    assert "texts are copied from the prompt" in found.format_sentence()


async def test_random_words_under_the_window_strategy_are_suspect(store: Store) -> None:
    run = await judged_by_nonsense(store, strategy="window")
    counts = store.runs.read_run(run).integrity.counts
    assert counts.phantom == counts.claims > 0
    assert counts.invented >= 0.95 * counts.truths > 0


@pytest.mark.parametrize("metric", [*METRICS, "llamaindex-faithfulness"])
async def test_what_was_just_judged_and_what_is_stored_are_checked_alike(
    store: Store, metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: dict[ItemId, tuple[ItemState, Conversation, Sequence[Assessment]]] = {}

    async def note(
        self: ItemChecks,
        item: ItemId,
        state: ItemState,
        conversation: Conversation,
        assessments: Sequence[Assessment],
    ) -> None:
        judged[item] = (state, conversation, assessments)

    monkeypatch.setattr(ItemChecks, "check_unsaved_assessments", note)
    run = await judged_by_nonsense(store, metric=metric)
    rules = make_check_rules(store, store.runs.read_run(run).spec)
    for item, (state, chat, assessments) in judged.items():
        fresh = check_unsaved_assessments(
            chat, assessments, rules, complete=state is ItemState.DONE
        )
        stored = check_stored_conversation(store, item, rules)
        assert fresh.counts == stored.counts
        named = [each.claim for each in fresh.findings if each.claim is not None]
        ids = [each.claim for each in stored.findings if each.claim is not None]
        assert len(set(named)) == len(set(ids))
        assert [replace(each, claim=None) for each in fresh.findings] == [
            replace(each, claim=None) for each in stored.findings
        ]
    assert len(judged) == 4


async def test_a_conversation_knows_its_own_integrity(store: Store) -> None:
    run = await judged_by_nonsense(store)
    rows = store.runs.read_item_rows(store.runs.list_item_ids(run))
    assert all(row.integrity.soundness is Soundness.SUSPECT for row in rows)
    total = store.runs.read_run(run).integrity.counts
    assert sum(row.integrity.counts.phantom for row in rows) == total.phantom
    assert sum(row.integrity.counts.texts for row in rows) == total.texts


async def test_what_a_kill_left_unchecked_is_checked_when_the_run_goes_on(store: Store) -> None:
    run = await judged_by_nonsense(store)
    before = store.runs.read_run(run).integrity
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE run_item SET checked = 0 WHERE number > 1")
        connection.execute("DELETE FROM finding WHERE run_item_id > 1")
        connection.execute("UPDATE run SET checks = 0")
    connection.close()
    assert store.runs.read_run(run).integrity == IntegritySummary(unchecked=4)
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE run_item SET checked = 0")
    connection.close()
    await runner.execute_run(store, run, lambda event: None, judge=opened(RandomJudge()))
    assert store.runs.read_run(run).integrity == before


async def test_findings_of_an_earlier_version_are_made_anew(store: Store) -> None:
    run = await judged_by_nonsense(store)
    before = store.runs.read_run(run).integrity
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE run SET checks = 3, phantom_claims = 77")
        connection.execute("UPDATE run_item SET checked = 3, phantom_claims = 33")
    connection.close()
    old = store.runs.read_run(run).integrity
    assert (old, old.format_sentence()) == (IntegritySummary(unchecked=4), "not checked yet")
    items = store.runs.read_item_rows(store.runs.list_item_ids(run))
    assert {row.integrity.format_sentence() for row in items} == {"not checked yet"}
    await runner.execute_run(store, run, lambda event: None, judge=opened(RandomJudge()))
    assert store.runs.read_run(run).integrity == before


async def test_a_check_that_fails_leaves_the_run_done_and_unchecked(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    run = planned(store)
    await runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE run SET checks = 0")
        connection.execute("UPDATE run_item SET checked = 0")
    connection.close()
    rules = CheckRules.from_metric(rebuild_and_check_metric(store, store.runs.read_run(run)))
    broken = replace(rules, prompts=PromptWords(None, None))  # type: ignore[arg-type]  # it breaks

    async def never(*given: object) -> None:
        raise AssertionError("nothing was found that could be written")

    await ItemChecks(store, broken, never).check_and_save_remaining_conversations(run)
    assert store.runs.read_run(run).integrity == IntegritySummary(unchecked=4)
    assert "could not be checked" in caplog.text


@pytest.mark.parametrize("error", [StoreError("locked"), asyncio.CancelledError()])
async def test_checks_that_are_given_up_at_the_end_leave_the_run_done(
    store: Store, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def give_up(self: ItemChecks, run: RunId) -> None:
        raise error

    monkeypatch.setattr(ItemChecks, "check_and_save_remaining_conversations", give_up)
    run = planned(store)
    events: list[RunEvent] = []
    with contextlib.suppress(asyncio.CancelledError):
        await runner.execute_run(store, run, events.append, judge=opened(CountingJudge()))
    assert store.runs.read_run(run).state is RunState.DONE
    assert isinstance(events[-1], RunEnded)
    assert events[-1].state is RunState.DONE


async def test_a_text_that_trips_a_check_keeps_no_run_from_being_shown(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(*arguments: object) -> CheckResult:
        raise IndexError

    monkeypatch.setattr("faithtui.engine.integrity.item_checks.check_unsaved_assessments", trip)
    monkeypatch.setattr("faithtui.engine.integrity.run_checks.check_conversation", trip)
    run = planned(store)
    await runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
    check_and_save_run_within_time_limit(store, run, seconds=60)
    assert store.runs.read_run(run).integrity.format_sentence() == "not checked yet"


async def test_a_conversation_that_is_judged_again_is_counted_once(store: Store) -> None:
    run = await judged_by_nonsense(store)
    before = store.runs.read_run(run).integrity
    first = store.runs.list_item_ids(run)[0]
    with sqlite3.connect(store.path) as connection:
        connection.execute(
            "UPDATE window SET score_state = 'failed', score = NULL, score_reason = 'lost' "
            "WHERE run_item_id = 1"
        )
    connection.close()
    store.runs.score_and_finish_item(first, ItemState.FAILED, "it failed")
    store.runs.reopen_failed_or_incomplete_items(run)
    held = store.runs.read_run(run).integrity
    assert (held.checked, held.unchecked) == (3, 0)
    assert held.counts.claims < before.counts.claims
    await runner.execute_run(store, run, lambda event: None, judge=opened(RandomJudge(9)))
    after = store.runs.read_run(run).integrity
    assert (after.checked, after.unchecked) == (4, 0)
    rows = store.runs.read_item_rows(store.runs.list_item_ids(run))
    assert TextCounts(claims=sum(row.integrity.counts.claims for row in rows)).claims == (
        after.counts.claims
    )
