import asyncio
import re
import shutil
from pathlib import Path

import pytest

from faithtui.agreement.statistics.recalibration import RecalibrationEffect
from faithtui.domain.ids import RunId
from faithtui.engine.runs import runner
from faithtui.judges.embedded.embedded_judge import OfflineJudge
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.engine.building import opened, planned, store_with
from tests.engine.review.test_recalibration import label, make_conversation


def make_labelled_store(path: Path, chats: int) -> Path:
    """Make a store whose claims the embedded judge judged and people called supported."""
    with store_with(path, [make_conversation(number) for number in range(chats)]) as store:
        run = planned(store)
        asyncio.run(
            runner.execute_run(store, run, lambda event: None, judge=opened(OfflineJudge()))
        )
        label(store, run, "yes")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_labelled_store(tmp_path_factory.mktemp("labelled") / "labelled.db", 20)


@pytest.fixture
def labelled(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path))


@pytest.fixture
def helping(monkeypatch: pytest.MonkeyPatch) -> None:
    """These few labels do not help the probabilities."""
    monkeypatch.setattr(RecalibrationEffect, "helps", property(lambda _: True))


def test_about_tells_what_the_embedded_judge_is(cli: Cli) -> None:
    result = cli("judge", "about")
    assert result.code == 0
    assert result.out.startswith("overlap baseline (offline heuristic)\n")
    assert "Nothing is measured" in cli("judge", "about", "openai:m").out


@pytest.mark.usefixtures("helping")
def test_a_preview_shows_both_errors_and_changes_nothing(cli: Cli, labelled: Path) -> None:
    result = cli("judge", "recalibrate", "--store", labelled)
    assert result.code == 0
    assert "40 labels on claims of 20 groups, run 1" in result.out
    assert "calibration error 0." in result.out
    assert "verdicts: yes from 0." in result.out
    assert re.search(r"^recall +0.00 +1.00$", result.out, re.MULTILINE)
    assert "nothing was changed; --apply uses the probabilities" in result.err
    shown = cli("judge", "recalibrate", "--store", labelled, "--json").json
    assert shown["in_force"] is None
    assert shown["threshold"]["suggested"] > 0.5
    assert shown["threshold"]["after"]["recall"] == 1.0
    assert sum(each["claims"] for each in shown["bins_before"]) == shown["labels"] == 40


def test_labels_that_do_not_count_are_listed_with_their_reason(cli: Cli, labelled: Path) -> None:
    with Store.open(labelled) as store:
        for each in store.labelled_units.read_claim_units(RunId(1))[:2]:
            store.label_log.record_verdict(each.claim, "ann", "x", run=RunId(1), saw_judge=True)
    shown = cli("judge", "recalibrate", "--store", labelled)
    assert "38 labels on claims" in shown.out
    assert re.search(r"^LEFT OUT +WHY\n +2 +labelled x, not a fair claim$", shown.out, re.MULTILINE)
    found = cli("judge", "recalibrate", "--store", labelled, "--json").json
    assert found["left_out"] == {"not_a_claim": 2}


def test_a_threshold_is_not_suggested_from_few_labels(cli: Cli, tmp_path: Path) -> None:
    path = make_labelled_store(tmp_path / "few.db", 15)
    shown = cli("judge", "recalibrate", "--store", path)
    assert "These labels are worth 30 of equal weight; another threshold is suggested" in shown.out
    assert "--apply-threshold" not in shown.err
    refused = cli("judge", "recalibrate", "--store", path, "--apply-threshold", "--yes")
    assert (refused.code, "no other threshold of verdicts is suggested" in refused.err) == (2, True)


@pytest.mark.usefixtures("helping")
def test_it_is_applied_and_withdrawn(cli: Cli, labelled: Path) -> None:
    applied = cli("judge", "recalibrate", "--store", labelled, "--apply", "--yes")
    assert applied.code == 0
    assert "applied: new runs of the embedded judge use it" in applied.err
    again = cli("judge", "recalibrate", "--store", labelled)
    assert "in force now: recalibrated on 40 labels by ann" in again.out
    stands = cli("judge", "recalibrate", "--store", labelled, "--json").json["in_force"]
    assert (stands["labels"], stands["reviewer"]) == (40, "ann")
    assert "withdrawn" in cli("judge", "recalibrate", "--store", labelled, "--withdraw").err
    second = cli("judge", "recalibrate", "--store", labelled, "--withdraw", "--json")
    assert second.json == {"withdrawn": False, "in_force": None}
    assert (
        "nothing to withdraw" in cli("judge", "recalibrate", "--store", labelled, "--withdraw").err
    )


def test_what_does_not_help_is_not_applied_nor_offered(cli: Cli, labelled: Path) -> None:
    shown = cli("judge", "recalibrate", "--store", labelled)
    assert "It does not help" in shown.out
    assert "nothing was changed; --apply-threshold uses the threshold" in shown.err
    refused = cli(
        "judge", "recalibrate", "--store", labelled, "--apply", "--apply-threshold", "--yes"
    )
    assert (refused.code, "the probabilities are left as they are" in refused.err) == (2, True)
    found = cli("judge", "recalibrate", "--store", labelled, "--json").json
    assert (found["in_force"], found["threshold"]["in_force"]) == (None, None)


def test_the_threshold_is_applied_by_itself_and_named(cli: Cli, labelled: Path) -> None:
    wanted = cli("judge", "recalibrate", "--store", labelled, "--json").json["threshold"]
    cli("judge", "recalibrate", "--store", labelled, "--apply-threshold", "--yes")
    shown = cli("judge", "recalibrate", "--store", labelled, "--json").json
    assert shown["in_force"] is None
    assert shown["threshold"]["in_force"]["value"] == pytest.approx(wanted["suggested"], abs=1e-5)
    told = cli("judge", "recalibrate", "--store", labelled).out
    assert f"verdicts in force now: yes from {wanted['suggested']:.2f}" in told


def test_labels_of_one_kind_are_refused(cli: Cli, labelled: Path) -> None:
    with Store.open(labelled) as store:
        for each in store.labelled_units.read_claim_units(RunId(1)):
            store.label_log.record_verdict(each.claim, "ann", "yes", run=RunId(1), saw_judge=True)
    result = cli("judge", "recalibrate", "--store", labelled, "--apply", "--yes")
    assert result.code == 2
    assert "annotators call 40 claims supported and 0 not" in result.err


@pytest.mark.usefixtures("helping")
def test_nothing_is_applied_where_nobody_can_be_asked(cli: Cli, labelled: Path) -> None:
    result = cli("judge", "recalibrate", "--store", labelled, "--apply")
    assert result.code == 2
    assert "--yes applies it without asking" in result.err
    assert cli("judge", "recalibrate", "--store", labelled, "--json").json["in_force"] is None


@pytest.mark.usefixtures("helping")
@pytest.mark.parametrize(("said", "is_applied"), [("y\n", True), ("n\n", False), ("", False)])
def test_a_person_is_asked(
    cli: Cli, labelled: Path, monkeypatch: pytest.MonkeyPatch, said: str, is_applied: bool
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.stdin.readline", lambda: said)
    result = cli("judge", "recalibrate", "--store", labelled, "--run", "last", "--apply")
    assert result.code == 0
    assert "[y/N]" in result.err
    shown = cli("judge", "recalibrate", "--store", labelled, "--json").json
    assert (shown["in_force"] is not None) is is_applied


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--withdraw", "--apply"), "--withdraw goes without"),
        (("--withdraw", "--run", "1"), "--withdraw goes without"),
        (("--yes",), "--yes belongs to --apply"),
        (("--withdraw", "--apply-threshold"), "--withdraw goes without"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    cli: Cli, labelled: Path, words: tuple[str, ...], complaint: str
) -> None:
    result = cli("judge", "recalibrate", "--store", labelled, *words)
    assert result.code == 2
    assert complaint in result.err


def test_a_store_without_labels_says_how_many_it_takes(cli: Cli, judged: Path) -> None:
    result = cli("judge", "recalibrate", "--store", judged)
    assert result.code == 2
    assert "recalibrating takes 20" in result.err
