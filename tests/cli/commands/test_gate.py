"""`faithtui gate`: every exit code, what is printed, and that no error passes for a result."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from faithtui.agreement.gate.certificate import ClaimSetIdentity
from faithtui.agreement.gate.certificate_file import format_certificate, parse_certificate
from faithtui.agreement.gate.threshold_checks import EXIT_CODES, CheckOutcome, Criterion
from faithtui.agreement.report.settings import ReportWarning, Severity
from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.cli.commands.gate import BROKEN, run_with_broken_exit_code
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.engine.library.project_reports import check_run_against_thresholds
from faithtui.engine.review.gate import gate as gate_module
from faithtui.engine.review.gate.chosen_labels import LabelSelection
from faithtui.engine.review.gate.gate import GateRequest
from faithtui.errors import ConfigError, StoreError
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.cli.conftest import Cli, Result
from tests.cli.test_hostile import ALL, attacked, forbidden
from tests.store.building import FACTS, JUDGED, label, run_over

PASSING = ("--min-kappa", "0.3", "--min-recall-no", "0.5", "--min-score", "0.3")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store to copy: run 1 is labelled throughout, run 2 by nobody."""
    path = tmp_path_factory.mktemp("gate") / "project.db"
    with Store.open(path) as store:
        label(store, run_over(store))
        run_over(store, name="new", chats=40)
    return path


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path))


@pytest.fixture
def certificate(cli: Cli, project: Path, tmp_path: Path) -> Path:
    path = tmp_path / "certificate.json"
    made = cli("gate", "1", *PASSING, "--write-certificate", path, "--store", project)
    assert (made.code, made.out.splitlines()[-1]) == (0, f"certificate: {path}")
    return path


def test_0_when_everything_passes(cli: Cli, project: Path) -> None:
    result = cli("gate", "1", *PASSING, "--max-age", "1000", "--store", project)
    assert (result.code, result.err) == (0, "")
    first, heads, *rows, last = result.out.splitlines()
    assert (
        first
        == "run 1: turn-faithfulness by openai:judge-1 (temperature 0) against human labels, claims"
    )
    assert " ".join(heads.split()) == "CRITERION VALUE 95 % INTERVAL THRESHOLD RESULT WHY"
    assert last == "result: passed"
    names = ["labels", "Cohen's kappa", "recall of no", "corrected score", "age in days"]
    for row, name in zip(rows, names, strict=True):
        assert row.startswith(name)
        assert " passed" in row
    assert "at least 0.300 (lower end)" in rows[1]
    assert "at most 1,000" in rows[4]


def test_1_when_a_figure_is_below(cli: Cli, project: Path) -> None:
    result = cli("gate", "1", "--min-kappa", "0.95", "--store", project)
    assert result.code == 1
    assert result.out.endswith("result: below\n")


def test_1_when_only_the_value_reaches_and_0_when_that_is_enough(cli: Cli, project: Path) -> None:
    shown = cli("--json", "gate", "1", "--min-kappa", "0", "--store", project).json
    kappa = shown["criteria"][1]["estimate"]
    between = str((kappa["ci_low"] + kappa["value"]) / 2)
    words = ("gate", "1", "--min-kappa", between, "--store", project)
    assert cli(*words).code == 1
    assert "the value reaches it, the lower end of its interval does not" in cli(*words).out
    assert cli(*words, "--use-lower-bound").code == 1
    assert cli(*words, "--point").code == 0


def test_2_when_labels_are_few_or_not_there(cli: Cli, project: Path) -> None:
    few = cli("gate", "1", "--min-kappa", "0", "--min-labels", "97", "--store", project)
    assert few.code == 2
    assert few.out.endswith("result: not enough labels\n")
    none = cli("gate", "2", "--min-kappa", "-1", "--store", project)
    assert none.code == 2
    assert "nothing is labelled" in none.out


def test_3_when_a_run_is_unfinished(cli: Cli, project: Path) -> None:
    with Store.open(project) as store:
        store.runs.set_state(RunId(1), RunState.CANCELLED)
    result = cli("gate", "1", *PASSING, "--store", project)
    assert result.code == 3
    assert result.out.endswith("result: stale\n")
    assert result.err.startswith("stale or broken: run 1 is not finished")


def test_last_passes_over_a_run_without_verdicts_and_the_gate_refuses_it(
    cli: Cli, project: Path
) -> None:
    with Store.open(project) as store:
        spec = store.runs.read_run(RunId(1)).spec
        empty = store.runs.create(spec, store.conversations.list_ids()[:1])
        assert store.runs.find_newest_run_id(with_verdicts=True) == RunId(2)
        note = f"note: run {empty} has no verdict; `last` is run 2\n"
        for words in (("report",), ("export", "claims"), ("plan", "last"), ("export", "ragas")):
            assert cli(*words, "--store", project).err.startswith(note)
        with pytest.raises(ConfigError, match=rf"`last` is run {empty} \(planned\), which has no"):
            check_run_against_thresholds(store, "last", GateRequest(labels=1))
        refused = cli("gate", "last", *PASSING, "--store", project)
        assert (refused.code, refused.out) == (BROKEN, "")
        assert "the newest run that has any is run 2: name the run that is meant" in refused.err
        # One that is archived is never the last.
        store.runs.archive([RunId(1), RunId(2)])
        refused = cli("report", "last", "--store", project)
        assert f"`last` is none of run {empty} (planned), which has no verdict; " in refused.err
        restore = f"faithtui --store {project} restore 2"
        assert f"run 2 has some and is archived: name it, or {restore}" in refused.err
        store.runs.archive([empty])
        refused = cli("plan", "--store", project)
        assert f"all are archived; name one, or {restore} lists it again" in refused.err


def test_against_last_is_the_newest_run_with_verdicts(cli: Cli, project: Path) -> None:
    with Store.open(project) as store:
        empty = store.runs.create(
            store.runs.read_run(RunId(1)).spec, store.conversations.list_ids()
        )
    words = ("gate", "1", "--max-drop", "0.1", "--against", "last", "--store", project)
    assert f"note: run {empty} has no verdict; `last` is run 2\n" in cli(*words).err


def test_of_several_failures_the_largest_code_wins(cli: Cli, project: Path) -> None:
    below = ("--min-kappa", "0.99")
    few = ("--min-labels", "1000")
    old = ("--max-age", "0")
    assert cli("gate", "1", *below, "--store", project).code == 1
    assert cli("gate", "1", *below, *few, "--store", project).code == 2
    assert cli("gate", "1", *below, *old, "--store", project).code == 3
    assert cli("gate", "1", *below, *few, *old, "--store", project).code == 3


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("1",),
        ("1", "2", "--min-kappa", "0"),
        ("1", "--min-kapa", "0"),
        ("1", "--min-kappa"),
        ("1", "--min-kappa", "high"),
        ("1", "--min-kappa", "nan"),
        ("1", "--min-kappa", "2"),
        ("1", "--min-score", "80"),
        ("1", "--min-labels", "0"),
        ("1", "--max-age", "-1"),
        ("1", "--level", "words", "--min-kappa", "0"),
        ("9", "--min-kappa", "0"),
        ("first", "--min-kappa", "0"),
        ("1", "--certificate", "nothing.json"),
        ("1", "--write-certificate", "c.json"),
        ("1", "--min-kappa", "0", "--write-certificate", "no/such/folder/c.json"),
    ],
)
def test_3_for_every_mistake(cli: Cli, project: Path, words: tuple[str, ...]) -> None:
    result = cli("gate", *words, "--store", project)
    assert result.code == 3
    assert result.out == ""
    assert "rror" in result.err
    assert "Traceback" not in result.err


def test_3_for_stores_and_settings_that_cannot_be_read(
    cli: Cli, project: Path, tmp_path: Path
) -> None:
    assert cli("gate", "1", *PASSING, "--store", tmp_path / "none.db").code == 3
    assert cli("gate", "1", *PASSING, "--color", "bright", "--store", project).code == 3
    assert cli("gate", "last", *PASSING).code == 3
    (tmp_path / "no.db").write_text("no database")
    assert cli("gate", "1", *PASSING, "--store", tmp_path / "no.db").code == 3
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "config.toml").write_text("store = [")
    assert cli("gate", "1", *PASSING, "--store", project).code == 3


def test_help_is_no_mistake(cli: Cli) -> None:
    result = cli("gate", "--help")
    assert result.code == 0
    assert "Exit 0 if the judge is shown to meet the thresholds, 1 if not." in result.out
    words = " ".join(result.out.split())
    assert "exit 1 also if the value does and the lower end does not" in words
    assert "Any other code, as few_items, is refused" in words


def test_a_bug_and_an_error_of_ours_are_3(capsys: pytest.CaptureFixture[str]) -> None:
    def bug() -> int:
        raise ZeroDivisionError

    def told() -> int:
        raise StoreError("locked")

    assert run_with_broken_exit_code(bug) == run_with_broken_exit_code(told) == 3
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert run_with_broken_exit_code(lambda: 1) == 1


def test_a_level_that_is_none_is_named(cli: Cli) -> None:
    result = cli("gate", "1", "--level", "x")
    assert (result.code, result.out) == (3, "")
    assert "claims, answers" in result.err


def test_what_cannot_be_answered_ends_as_what_is_stale() -> None:
    assert EXIT_CODES[CheckOutcome.STALE] == BROKEN


def test_another_level_has_its_own_labels(cli: Cli, project: Path) -> None:
    result = cli("gate", "1", "--level", "answers", "--min-kappa", "0", "--store", project)
    assert result.code == 2
    assert "against human labels, answers" in result.out


@pytest.fixture
def rated_and_drawn(tmp_path: Path) -> Path:
    """All answers are rated, and two claims drawn, which nobody has labelled yet."""
    path = tmp_path / "rated.db"
    with Store.open(path) as store:
        run = run_over(store, rated=24)
        plan = SamplePlan(SamplingDesign.SIMPLE, 3, 2)
        draw = make_sample_draw(store.samples.read_frame(run), plan)
        store.samples.save_draw_as_sample(run, "ann", draw, plan, name="drawn")
    return path


def test_a_sample_that_is_named_is_one_of_claims(cli: Cli, rated_and_drawn: Path) -> None:
    asked = ("gate", "1", "--min-kappa", "0", "--json", "--store", rated_and_drawn)
    level = cli(*asked).json["level"]
    assert (level, cli(*asked, "--sample", "1").json["level"]) == ("answers", "claims")
    assert cli(*asked, "--sample", "1", "--level", "answers").json["level"] == "answers"
    options = ("report", "1", "-f", "json", "--store", rated_and_drawn)
    assert cli(*options).json["coverage"]["unreviewed"] == 0, "all answers are rated"
    assert cli(*options, "--sample", "1").json["coverage"]["unreviewed"] > 0


def test_several_reasons_stand_below_the_table_on_lines_of_their_own(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        gate_module,
        "find_label_selection",
        lambda *_: LabelSelection(
            [
                ReportWarning(code, Severity.CAUTION, f"About {code}, " + "word " * 20 + "end.")
                for code in ("labels_deleted", "other_samples")
            ]
        ),
    )
    result = cli("gate", "1", *PASSING, "--store", project)
    table, _, below = result.out.partition("corrected score is undecided:\n")
    assert "2 reasons, below" in table
    assert "To accept it" not in table.partition("Cohen's kappa is undecided:")[0]
    assert max(len(line) for line in below.splitlines()) <= 80
    first, second = below.partition("\nresult:")[0].split("\n- ")
    assert " ".join(first.split()).endswith("end. To accept it: --accept labels_deleted")
    assert " ".join(second.split()).endswith("end. To accept it: --accept other_samples")
    found = cli("gate", "1", *PASSING, "--json", "--store", project).json["criteria"][-1]
    assert found["reason"].count("To accept it") == 2


def test_a_few_ratings_are_neither_all_answers_nor_a_rate(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "rated.db"
    with Store.open(path) as store:
        run_over(store, rated=12)
    asked = ("--min-kappa", "-1", "--min-recall-no", "0", "--min-score", "0", "--min-labels", "1")
    result = cli("gate", "1", *asked, "--json", "--store", path)
    assert (result.code, result.json["level"]) == (2, "answers")
    assert result.json["design"] == "convenience"
    labels, *figures = result.json["criteria"]
    assert (labels["value"], labels["result"]) == (12, "passed")
    assert {(each["value"], each["result"]) for each in figures} == {(None, "not enough labels")}
    assert "--among-labelled" in result.err
    assert f"(faithtui --store {path} label 1 --sample simple)" in result.err
    told = cli("gate", "1", *asked, "--store", path).out
    assert told.endswith("result: no random sample\n")
    assert "not enough labels" not in told
    report = cli("report", "1", "-f", "json", "--store", path).json
    assert (report["coverage"]["units"], report["coverage"]["unreviewed"]) == (24, 12)
    assert report["design"]["kind"] == "convenience"
    for name in ("corrected_this_run", "corrected_future"):
        rate = report["rate"][name]
        assert (rate["value"], rate["ci_low"], rate["reason"]) == (None, None, "design_not_random")
    page = cli("report", "1", "--store", path).out
    assert "12 labelled of 24 answers" in page
    assert "; corrected with" not in page


def test_machines_get_everything_as_json(cli: Cli, project: Path) -> None:
    result = cli("gate", "1", "--min-kappa", "0.99", "--max-age", "0", "--json", "--store", project)
    assert result.code == 3
    found = result.json
    assert (found["result"], found["exit_code"], found["basis"]) == ("stale", 3, "lower")
    assert (found["level"], found["design"], found["run"]) == ("claims", "census", 1)
    outcomes = {each["name"]: each["result"] for each in found["criteria"]}
    assert outcomes == {"labels": "passed", "cohen_kappa": "below", "age_days": "stale"}
    kappa = found["criteria"][1]["estimate"]
    assert kappa["ci_low"] < kappa["value"] < kappa["ci_high"]


def test_json_is_printed_for_a_stale_certificate_too(
    cli: Cli, project: Path, certificate: Path
) -> None:
    with Store.open(project) as store:
        store.guidelines.add_version("Read twice.", "ann")
    result = cli("gate", "1", "--certificate", certificate, "--json", "--store", project)
    assert result.code == 3
    assert result.json["stale_or_broken"][0].startswith("guideline: none was certified")
    assert result.json["certificate_issued_at"].startswith("20")
    assert "stale or broken: guideline" in result.err


def test_a_certificate_gates_a_run_that_nobody_labelled(
    cli: Cli, project: Path, certificate: Path
) -> None:
    words = ("gate", "2", "--certificate", certificate, "--store", project)
    result = cli(*words)
    assert result.code == 0
    assert "note: kappa and recall are the certificate's" in result.err
    assert cli(*words, "--min-score", "0.99").code == 1
    assert cli(*words, "--min-labels", "97").code == 2
    assert cli(*words, "--max-age", "0").code == 3


def test_another_window_size_is_3_and_named(cli: Cli, project: Path, certificate: Path) -> None:
    with Store.open(project) as store:
        options = {**JUDGED.options, "window_size": 3}
        run_over(store, replace(JUDGED, options=options), chats=6)
    result = cli("gate", "last", "--certificate", certificate, "--store", project)
    assert result.code == 3
    assert "stale or broken: window size: 10 was certified, here it is 3" in result.err


def test_an_edited_certificate_is_3(cli: Cli, project: Path, certificate: Path) -> None:
    found = json.loads(certificate.read_text())
    found["measured"]["kappa"]["ci_low"] = 0.99
    certificate.write_text(json.dumps(found))
    result = cli("gate", "1", "--certificate", certificate, "--store", project)
    assert (result.code, result.out) == (3, "")
    assert "does not match its own digest" in result.err


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"issued_at": datetime(2999, 1, 1, tzinfo=UTC)}, "issued at 2999-01-01T00:00:00+00:00"),
        (
            {"run": {"created_at": datetime(2020, 1, 1, tzinfo=UTC)}},
            "stale or broken: run: the certificate has run 1 made at 2020-01-01",
        ),
        (
            {"sample": {"claim_set": ClaimSetIdentity("shop", 2, "a" * 64)}},
            "census of 96, of claim set shop@2 (aaaaaaaa) was certified, here it is census of 96",
        ),
        ({"schema_version": 3}, "of a newer faithtui"),
        ({"thresholds": {"kappa": -1.0}}, "contradicts itself: of Cohen's kappa -1 is asked"),
    ],
)
def test_a_forged_certificate_is_3_and_says_what_is_not_so(
    cli: Cli, project: Path, certificate: Path, changes: dict[str, Any], words: str
) -> None:
    """Each has a digest of its own content."""
    found = parse_certificate(certificate.read_bytes())
    forged = {
        name: replace(getattr(found, name), **value) if isinstance(value, dict) else value
        for name, value in changes.items()
    }
    certificate.write_text(format_certificate(replace(found, **forged)))
    result = cli("gate", "1", "--certificate", certificate, "--store", project)
    assert (result.code, words in result.err) == (3, True), result.err


def test_a_certificate_of_no_figure_is_neither_written_nor_read(
    cli: Cli, project: Path, certificate: Path, tmp_path: Path
) -> None:
    """Else one of `--min-labels` alone passes any judge."""
    path = tmp_path / "other.json"
    words = ("--min-labels", "30", "--write-certificate", path, "--store", project)
    written = cli("gate", "1", *words)
    assert (written.code, "a certificate of no figure" in written.err) == (3, True)
    assert not path.exists()
    found = parse_certificate(certificate.read_bytes())
    asked = replace(found.thresholds, kappa=None, recall_no=None, score=None)
    results = tuple(each for each in found.results if each.criterion is Criterion.LABELS)
    certificate.write_text(format_certificate(replace(found, thresholds=asked, results=results)))
    read = cli("gate", "2", "--certificate", certificate, "--store", project)
    assert (read.code, "a certificate of no figure" in read.err) == (3, True)


def test_the_answer_stands_when_nobody_reads_it(project: Path, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "faithtui", "--store", str(project), "gate", "1"]
    with os.fdopen(writer, "w") as closed:
        ended = subprocess.run(
            [*command, "--min-kappa", "0.99"],
            stdout=closed,
            stderr=subprocess.PIPE,
            env={**os.environ, "FAITHTUI_HOME": str(tmp_path / "home")},
            check=False,
        )
    assert ended.returncode == 1
    assert b"Traceback" not in ended.stderr


def is_plain(result: Result) -> None:
    assert forbidden(result.out) == set()
    assert forbidden(result.err) == set()
    assert "Traceback" not in result.err


def test_hostile_names_are_shown_as_characters(
    cli: Cli, tmp_path: Path, project: Path, certificate: Path
) -> None:
    path = attacked(tmp_path / "hostile.db", ALL[:40])
    result = cli("gate", "last", "--min-kappa", "0", "--store", path)
    assert result.code == 3, "its run was stopped"
    is_plain(result)
    evil = "model:\x1b]0;pwned\x07\u202e[@click=app.quit]"
    with Store.open(project) as store:
        label(store, RunId(1), by=evil, action=Action.BLIND)
        store.guidelines.add_version(ALL[3] or "x", evil)
    refused = cli("gate", "1", *PASSING, "--store", project)
    assert refused.code == 3
    is_plain(refused)
    assert "␛]0;pwned" in refused.err
    is_plain(cli("gate", "1", "--certificate", certificate, "--store", project))
    odd = tmp_path / "odd\x1b[31m.json"
    is_plain(cli("gate", "1", "--certificate", odd, "--store", project))


def test_how_labels_count_can_be_asked_for_as_in_a_report(cli: Cli, project: Path) -> None:
    words = ("--json", "gate", "1", "--min-kappa", "0.3", "--store", project)
    plain = cli(*words).json
    assert (plain["idk"], plain["blind_only"]) == ("three", False)
    strict = cli(*words, "--idk", "pass", "--blind-only").json
    assert (strict["idk"], strict["blind_only"]) == ("strict", True)
    assert cli(*words[1:], "--idk", "fail").out.startswith(
        "run 1: turn-faithfulness by openai:judge-1 (temperature 0) against human labels, claims, "
        "idk treated as fail\n"
    )
    wrong = cli(*words[1:], "--idk", "loose")
    assert (wrong.code, "known: three, pass, fail, live, exclude" in wrong.err) == (3, True)
    # The other run has no labels: what is asked of a sample is asked of one that is there.
    none = cli("gate", "2", "--min-kappa", "0.3", "--sample", "9", "--store", project)
    assert (none.code, "has no sample 9" in none.err) == (3, True)


def test_a_recall_that_leaves_out_what_the_run_fails_is_said(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "broad.db"
    with Store.open(path) as store:
        label(store, run_over(store, replace(JUDGED, rule=replace(FACTS, passing=("yes",)))))
    words = ("gate", "1", "--store", path)
    told = "note: recall of no is of no alone; run 1 fails no and idk, which is what its report's"
    assert told in cli(*words, "--min-recall-no", "0.5").err
    assert told not in cli(*words, "--min-recall-no", "0.5", "--idk", "live").err
    assert told not in cli(*words, "--min-kappa", "0.5").err


def test_labels_that_were_not_given_blind_are_not_counted_where_only_those_are(
    cli: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "shown.db"
    with Store.open(path) as store:
        label(store, run_over(store), action=Action.AGREED)
    words = ("gate", "1", "--min-kappa", "0.1", "--store", path)
    assert "labels" in cli(*words).out
    blind = cli(*words, "--blind-only", "--json").json
    assert (blind["result"], blind["criteria"][0]["value"]) == ("not enough labels", 0)


def test_a_certificate_keeps_how_labels_were_counted(
    cli: Cli, project: Path, tmp_path: Path
) -> None:
    path = tmp_path / "lenient.json"
    written = cli(
        *("gate", "1", *PASSING, "--idk", "fail"),
        *("--write-certificate", path, "--store", project),
    )
    assert written.code == 0, written.out
    assert json.loads(path.read_text())["counting"] == {"idk": "lenient", "blind_only": False}
    again = cli("--json", "gate", "1", "--certificate", path, "--store", project)
    assert (again.code, again.json["idk"]) == (0, "lenient")
    for same in ("fail", "lenient"):
        equal = cli("gate", "1", "--certificate", path, "--idk", same, "--store", project)
        assert equal.code == 0
        assert ("--idk lenient is now called --idk fail" in equal.err) == (same == "lenient")
    other = cli("gate", "1", "--certificate", path, "--idk", "pass", "--store", project)
    assert other.code == 3
    assert "was written with --idk fail; leave out --idk" in other.err
    other = cli("gate", "1", "--certificate", path, "--blind-only", "--store", project)
    assert (other.code, "leave out --blind-only" in other.err) == (3, True)


@pytest.mark.thorough
def test_whoever_reads_a_report_has_seen_the_judge_where_it_shows_it(
    cli: Cli, project: Path, tmp_path: Path
) -> None:
    def seen(reviewer: str) -> list[bool]:
        with Store.open(project) as store:
            views = (
                store.runs.read_conversation_for_review(item, reviewer)
                for item in store.runs.list_item_ids(RunId(1))
            )
            return [all(claim.seen for claim in view.claims) for view in views]

    differing = [number % 6 == 0 or number % 4 == 0 for number in range(len(seen("bo")))]
    cli("--reviewer", "bo", "report", "1", "-o", tmp_path / "files", "--store", project)
    assert not any(seen("bo"))
    cli("--reviewer", "bo", "report", "1", "--store", project)
    assert seen("bo") == differing
    cli("--reviewer", "bo", "report", "1", "-f", "csv", "--store", project)
    assert all(seen("bo"))
    assert not any(seen("cleo"))
