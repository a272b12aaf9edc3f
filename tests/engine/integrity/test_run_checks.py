"""Checks of stored runs: complete, resumable, and sharp enough to find one changed verdict."""

import sqlite3
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.domain.integrity.findings import FindingKind
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.engine.integrity.judged_conversations import get_run_labels_and_facts_flag
from faithtui.engine.integrity.run_checks import (
    BackgroundCheck,
    check_and_save_remaining_conversations,
)
from faithtui.engine.runs import runner
from faithtui.store.records import RunSpec
from faithtui.store.store import Store
from tests.engine.building import CountingJudge, conversation, opened, planned, store_with

FORGET = "UPDATE run_item SET checked = 0"
"""As if no conversation had been checked."""


@pytest.fixture
async def ran(tmp_path: Path) -> tuple[Path, RunId]:
    """A sound run over twenty conversations."""
    path = tmp_path / "ran.db"
    with store_with(path, [conversation(f"c{number}", 3) for number in range(20)]) as store:
        run = planned(store)
        await runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
    return path, run


def mutate(path: Path, statement: str) -> None:
    """Change what is stored behind the program's back, which forgets that it was checked."""
    with sqlite3.connect(path) as connection:
        assert connection.execute(statement).rowcount >= 1
        connection.execute(FORGET)
    connection.close()


def found(path: Path, run: RunId) -> set[tuple[FindingKind, int | None]]:
    with Store.open(path) as store:
        check_and_save_remaining_conversations(store, run)
        return {
            (row.finding.kind, row.finding.claim)
            for kind in store.findings.summarise_run(run).counts
            for row in store.findings.read_rows(store.findings.list_ids_of_kind(run, kind))
        }


def test_a_sound_run_has_no_suspicious_verdict(ran: tuple[Path, RunId]) -> None:
    assert not found(*ran)


@pytest.mark.parametrize("claim", [1, 23, 60])
def test_a_dropped_verdict_names_the_claim(ran: tuple[Path, RunId], claim: int) -> None:
    path, run = ran
    mutate(
        path, f"UPDATE verdict SET label = NULL, word = NULL WHERE claim_id = {claim} AND is_home"
    )
    assert found(path, run) == {(FindingKind.MISSING_VERDICT, claim)}


@pytest.mark.parametrize("claim", [1, 23, 60])
def test_a_renamed_verdict_names_the_claim(ran: tuple[Path, RunId], claim: int) -> None:
    path, run = ran
    mutate(path, f"UPDATE verdict SET label = 'perhaps' WHERE claim_id = {claim} AND is_home")
    assert found(path, run) == {(FindingKind.UNKNOWN_WORD, claim)}


@pytest.mark.parametrize("claim", [1, 23, 60])
def test_a_changed_verdict_names_the_claim(ran: tuple[Path, RunId], claim: int) -> None:
    path, run = ran
    mutate(path, f"UPDATE verdict SET label = 'no' WHERE claim_id = {claim} AND is_home")
    names = found(path, run)
    assert (FindingKind.AGAINST_EVIDENCE, claim) in names
    assert {each for _, each in names} == {claim}


def test_checks_can_stop_and_go_on(ran: tuple[Path, RunId]) -> None:
    path, run = ran
    mutate(path, FORGET)
    with Store.open(path) as store:
        asked = 0

        def stopped() -> bool:
            nonlocal asked
            asked += 1
            return asked > 7

        assert check_and_save_remaining_conversations(store, run, stopped=stopped) == 7
        assert len(store.findings.list_unchecked_conversations(run)) == 13
        heard: list[tuple[int, int]] = []
        assert (
            check_and_save_remaining_conversations(
                store, run, lambda done, total: heard.append((done, total))
            )
            == 13
        )
        assert heard == [(0, 13), (13, 13)]
        assert check_and_save_remaining_conversations(store, run) == 0


def test_checks_in_the_background_end_and_tell_how_far_they_are(ran: tuple[Path, RunId]) -> None:
    path, run = ran
    mutate(path, FORGET)
    with Store.open(path) as store:
        checks = BackgroundCheck(store, run)
        assert not checks.snapshot().finished
        checks.start()
        assert checks.join(30)
        said = checks.snapshot()
        assert (said.finished, said.done, said.total, said.error) == (True, 20, 20, None)
        assert said.eta_s == 0
        assert checks.bug is None
        assert store.findings.summarise_run(run).checked == 20


def test_a_cancelled_check_keeps_what_it_did(ran: tuple[Path, RunId]) -> None:
    path, run = ran
    mutate(path, FORGET)
    with Store.open(path) as store:
        checks = BackgroundCheck(store, run)
        checks.cancel()
        checks.start()
        assert checks.join(30)
        assert store.findings.summarise_run(run).checked == 0
        assert checks.snapshot().finished


def test_what_stops_the_checks_is_told(ran: tuple[Path, RunId]) -> None:
    path, run = ran
    store = Store.open(path)
    store.close()
    checks = BackgroundCheck(store, run)
    checks.start()
    assert checks.join(30)
    assert "closed" in (checks.snapshot().error or "")


def test_a_metric_that_is_not_here_is_known_by_its_rule(ran: tuple[Path, RunId]) -> None:
    from dataclasses import replace

    path, run = ran
    with Store.open(path) as store:
        spec: RunSpec = store.runs.read_run(run).spec
    assert get_run_labels_and_facts_flag(spec) == (FAITHFULNESS, True)
    foreign = replace(spec, metric="of-the-future")
    assert get_run_labels_and_facts_flag(foreign)[0].names == FAITHFULNESS.names
    rule = replace(spec.rule, labels=("fine", "poor"), passing=("fine",))
    labels, _ = get_run_labels_and_facts_flag(replace(foreign, rule=rule))
    assert labels.names == ("fine", "poor")
    assert labels.get_label("fine").polarity.value == "good"
