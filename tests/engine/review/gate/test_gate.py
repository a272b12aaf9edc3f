"""A run against thresholds, and against certificates of what was measured before."""

import json
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from faithtui.agreement.gate.certificate import make_judge_identity
from faithtui.agreement.gate.certificate_changes import list_figure_changes
from faithtui.agreement.gate.certificate_file import format_certificate, parse_certificate
from faithtui.agreement.gate.threshold_checks import (
    EXIT_CODES,
    CheckOutcome,
    Criterion,
    CriterionCheck,
    ThresholdBasis,
)
from faithtui.agreement.gate.warning_checks import ACCEPTED_CODES
from faithtui.agreement.report.settings import ReportLevel
from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.conversation import Conversation, Rating
from faithtui.domain.ids import RunId, SampleId
from faithtui.domain.integrity.run_summary import CHECKS
from faithtui.domain.judging.judge_examples import Example
from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.domain.labels.label_events import Action
from faithtui.engine.review.examples_from_labels import store_examples_and_get_digest
from faithtui.engine.review.gate import certificates
from faithtui.engine.review.gate.gate import (
    GateRequest,
    GateResult,
    check_gate_and_write_certificate_if_passed,
)
from faithtui.engine.review.label_bundles import merge_bundles_into_store, write_bundle_file
from faithtui.engine.review.reports.agreement_report import compute_run_agreement
from faithtui.engine.review.samples.claim_set_files import export_claim_set, import_claim_set
from faithtui.errors import ConfigError, ExportError, InputError
from faithtui.judges.providers.endpoints import parse_endpoint
from faithtui.store.deletion_records import DeletionKind
from faithtui.store.records import ItemCheckResult, ItemState, RunSpec, RunState
from faithtui.store.schema.checksums import CHECKED_COLUMNS, row_checksum
from faithtui.store.store import Store
from tests.store.building import (
    CLAIMS,
    CONVERSATIONS,
    JUDGED,
    assess,
    fair,
    import_conversations,
    imported,
    label,
    make_conversation,
    run_over,
    windows_of,
)

RUN = RunId(1)
EASY = GateRequest(kappa=0.4, recall_no=0.5, score=0.3)
SIZES = {"judge yes": 20, "judge no": 40}


DAY = datetime(2026, 3, 1, tzinfo=UTC)


class Calendar:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = DAY

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)  # no two runs are made in the same moment
        return self.now

    def wait(self, days: float) -> None:
        """Let time go by."""
        self.now += timedelta(days=days)


@pytest.fixture(scope="session")
def unlabelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store to copy, as rows wait for the disk: run 1."""
    path = tmp_path_factory.mktemp("judged") / "judged.db"
    with Store.open(path, clock=Calendar()) as store:
        run_over(store)
    return path


@pytest.fixture(scope="session")
def made(unlabelled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store to copy: run 1, every claim of it labelled blind."""
    path = tmp_path_factory.mktemp("gated") / "project.db"
    calendar = Calendar()
    calendar.wait(0.001)
    with Store.open(Path(shutil.copy(unlabelled, path)), clock=calendar) as store:
        label(store, RUN)
    return path


@pytest.fixture
def calendar() -> Calendar:
    found = Calendar()
    found.wait(1)
    return found


@pytest.fixture
def store(made: Path, tmp_path: Path, calendar: Calendar) -> Iterator[Store]:
    with Store.open(Path(shutil.copy(made, tmp_path)), clock=calendar) as opened:
        yield opened


@pytest.fixture
def judged(unlabelled: Path, tmp_path: Path, calendar: Calendar) -> Iterator[Store]:
    with Store.open(Path(shutil.copy(unlabelled, tmp_path)), clock=calendar) as opened:
        yield opened


@pytest.fixture
def empty(tmp_path: Path, calendar: Calendar) -> Iterator[Store]:
    with Store.open(tmp_path / "empty.db", clock=calendar) as opened:
        yield opened


@pytest.fixture(scope="session")
def certified(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certify run 1, once: it takes longer than most of what is tested."""
    folder = tmp_path_factory.mktemp("certified")
    path = folder / "certificate.json"
    calendar = Calendar()
    calendar.wait(1)
    with Store.open(Path(shutil.copy(made, folder)), clock=calendar) as store:
        result = check_gate_and_write_certificate_if_passed(
            store, RUN, replace(EASY, write=path), clock=calendar
        )
    assert (result.outcome, result.written) == (CheckOutcome.PASSED, path)
    return path


@pytest.fixture
def certificate(certified: Path, calendar: Calendar, tmp_path: Path) -> Path:
    """Give a certificate of run 1 that was just made."""
    calendar.wait(0.01)
    return Path(shutil.copy(certified, tmp_path))


def outcomes(result: GateResult) -> dict[str, CheckOutcome]:
    return {each.criterion.value: each.outcome for each in result.checks}


def held(
    store: Store, path: Path, calendar: Calendar, run: RunId = RUN, **more: object
) -> GateResult:
    """Hold a run against a certificate."""
    order = GateRequest(certificate=path, **more)  # type: ignore[arg-type]  # the tests' own words
    return check_gate_and_write_certificate_if_passed(store, run, order, clock=calendar)


def test_everything_that_is_reached_passes(store: Store, calendar: Calendar) -> None:
    result = check_gate_and_write_certificate_if_passed(
        store, RUN, replace(EASY, age_days=2), clock=calendar
    )
    assert result.outcome is CheckOutcome.PASSED
    assert set(outcomes(result)) == set(Criterion) - {Criterion.CHANGE}
    assert set(outcomes(result).values()) == {CheckOutcome.PASSED}


def test_the_score_is_what_people_say_and_not_what_the_judge_says(
    store: Store, calendar: Calendar
) -> None:
    result = check_gate_and_write_certificate_if_passed(store, RUN, EASY, clock=calendar)
    (score,) = [each for each in result.checks if each.criterion is Criterion.SCORE]
    by_people = sum(
        fair(number, place, word) == "yes"
        for number in range(CONVERSATIONS)
        for place, word in enumerate(CLAIMS)
    )
    assert score.value == pytest.approx(by_people / (CONVERSATIONS * len(CLAIMS)))
    assert score.value != 0.5


def test_the_gate_reads_the_figures_of_the_report_without_its_parts(store: Store) -> None:
    whole = compute_run_agreement(store, RUN).report
    read = certificates.read_gate_input(store, RUN).report
    assert whole.breakdowns
    assert whole.unit_scores
    assert read == replace(whole, breakdowns=(), unit_scores=(), warnings=read.warnings)
    assert {each.code for each in read.warnings} >= {
        each.code for each in whole.warnings if each.code in ACCEPTED_CODES
    }


@pytest.mark.thorough
def test_labels_and_certificate_hold_for_other_runs_over_the_same_claims(
    judged: Store, calendar: Calendar, tmp_path: Path
) -> None:
    frame = judged.samples.read_frame(RUN, ("verdict",))
    plan = SamplePlan(SamplingDesign.STRATIFIED, 3, sizes=SIZES)
    sample = make_sample_draw(frame, plan)
    judged.samples.save_draw_as_sample(
        RUN, "ann", sample, plan, name="drawn", stratified_by=("verdict",)
    )
    label(judged, RUN, only=[each.unit.claim for each in sample.claims])
    path = tmp_path / "certificate.json"
    first = check_gate_and_write_certificate_if_passed(
        judged, RUN, replace(EASY, write=path), clock=calendar
    )
    assert first.outcome is CheckOutcome.PASSED
    # Another judge: figures of its own, with the weights of the drawing.
    other = replace(JUDGED, judge="openai:judge-2", judge_fingerprint="openai/1 judge-2")
    second = run_over(judged, other, said=("yes", "no", "no", "no"))
    asked = GateRequest(kappa=0.1, recall_no=0.3, score=0.1)
    result = check_gate_and_write_certificate_if_passed(judged, second, asked, clock=calendar)
    assert result.outcome is CheckOutcome.PASSED
    assert result.measured.design is first.measured.design
    assert result.measured.kappa != first.measured.kappa
    # The certified judge once more, on the claims of its first RUN.
    again = run_over(judged, replace(JUDGED, claims_from="run", claims_run=RUN))
    held_again = held(judged, path, calendar, again)
    assert (held_again.outcome, held_again.broken) == (CheckOutcome.PASSED, ())
    assert held_again.measured == first.measured
    # Another judge's certificate it is not.
    assert held(judged, path, calendar, second).outcome is CheckOutcome.STALE


def test_a_run_or_label_that_is_dated_after_now_is_broken(
    judged: Store, calendar: Calendar
) -> None:
    """The clock went ahead while somebody labelled, or is set back now."""
    label(judged, RUN)  # a day after it was made
    dates: tuple[tuple[float, tuple[str, ...]], ...] = (
        (0.5, ()),
        (-0.5, ("newest label",)),
        (-2, ("run", "newest label")),
    )
    for days, dated in dates:
        clock = Calendar()
        clock.wait(days)
        result = check_gate_and_write_certificate_if_passed(judged, RUN, EASY, clock=clock)
        assert [each.split(" is dated")[0] for each in result.broken] == [
            f"the {each}" for each in dated
        ]
        expected = CheckOutcome.STALE if dated else CheckOutcome.PASSED
        assert result.outcome is expected
        # An age says so of both, once.
        aged = check_gate_and_write_certificate_if_passed(
            judged, RUN, replace(EASY, age_days=30), clock=clock
        )
        assert aged.outcome is expected
        assert aged.broken == (() if len(dated) == 2 else result.broken)
        ages = [each.reason for each in aged.checks if each.criterion is Criterion.AGE]
        assert ["after now" in each for each in ages] == [len(dated) == 2]


def test_the_date_of_a_label_on_a_whole_answer_does_not_touch_figures_of_claims(
    judged: Store, calendar: Calendar
) -> None:
    label(judged, RUN)
    clock = Calendar()
    clock.wait(1.5)
    calendar.wait(30)
    imported(judged, make_conversation("t0", answers=1, ratings=[Rating(1, "bo", "yes-no", "no")]))
    result = check_gate_and_write_certificate_if_passed(judged, RUN, EASY, clock=clock)
    assert result.broken == ()


def test_nothing_labelled_is_not_enough(empty: Store, calendar: Calendar) -> None:
    run = run_over(empty, chats=6)
    result = check_gate_and_write_certificate_if_passed(
        empty, run, replace(EASY, age_days=1), clock=calendar
    )
    assert result.outcome is CheckOutcome.UNKNOWN
    assert set(outcomes(result).values()) == {CheckOutcome.UNKNOWN}


def test_labels_of_what_somebody_happened_to_look_at_are_not_enough(
    judged: Store, calendar: Calendar
) -> None:
    label(judged, RUN, lambda n, place, word: fair(n, place, word) if n % 3 else None)
    asked = GateRequest(kappa=0.4, recall_no=0.4)
    result = check_gate_and_write_certificate_if_passed(judged, RUN, asked, clock=calendar)
    assert outcomes(result) == {
        "labels": CheckOutcome.PASSED,
        "cohen_kappa": CheckOutcome.UNKNOWN,
        "recall_no": CheckOutcome.UNKNOWN,
    }
    assert {each.reason for each in result.checks[1:]} == {"labels are not from a random sample"}
    among = replace(asked, among_labelled=True)
    few = check_gate_and_write_certificate_if_passed(judged, RUN, among, clock=calendar)
    assert few.outcome is CheckOutcome.UNDECIDED, "they are of 16 conversations"
    for order in (among, replace(asked, accept=("design_not_random",))):
        both = replace(order, accept=(*order.accept, "few_conversations"))
        accepted = check_gate_and_write_certificate_if_passed(judged, RUN, both, clock=calendar)
        assert accepted.outcome is CheckOutcome.PASSED
        assert accepted.thresholds.among_labelled
    scored = check_gate_and_write_certificate_if_passed(
        judged, RUN, GateRequest(score=0.1, among_labelled=True), clock=calendar
    )
    assert outcomes(scored)["corrected_score"] is CheckOutcome.UNKNOWN


@pytest.mark.thorough
def test_what_was_accepted_is_in_the_certificate_and_holds_with_it(
    judged: Store, calendar: Calendar, tmp_path: Path
) -> None:
    run, path = RUN, tmp_path / "c.json"
    label(judged, run, action=Action.AGREED)
    order = replace(EASY, write=path)
    seen = check_gate_and_write_certificate_if_passed(judged, run, order, clock=calendar)
    assert (seen.outcome, seen.written) == (CheckOutcome.UNDECIDED, None)
    assert all("--accept not_blind" in each.reason for each in seen.checks[1:])
    accepted = check_gate_and_write_certificate_if_passed(
        judged, run, replace(order, accept=("not_blind",)), clock=calendar
    )
    assert accepted.outcome is CheckOutcome.PASSED
    assert any("accepted: 96 of 96 claims were labelled" in each for each in accepted.notes)
    assert json.loads(path.read_text())["thresholds"]["accepted"] == ["not_blind"]
    again = held(judged, path, calendar, run)
    assert (again.outcome, again.thresholds.accepted) == (CheckOutcome.PASSED, ("not_blind",))
    unlabelled = held(judged, path, calendar, run_over(judged, name="new"))
    assert unlabelled.outcome is CheckOutcome.PASSED


@pytest.mark.thorough
def test_a_run_whose_claims_are_made_up_or_unchecked_passes_no_certificate(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    run = run_over(store, name="new", chats=60, said=("yes", "yes", "yes", "no"))
    for change, code in (
        ("checks = 0", "not_checked"),
        (f"checks = {CHECKS}, checked_claims = 240, phantom_claims = 200", "suspect_run"),
    ):
        with sqlite3.connect(store.path) as connection:
            connection.execute(f"UPDATE run SET {change} WHERE id = {run}")
        connection.close()
        result = held(store, certificate, calendar, run)
        assert result.outcome is CheckOutcome.UNDECIDED
        assert all(f"--accept {code}" in each.reason for each in result.checks[1:])
        accepted = held(store, certificate, calendar, run, accept=(code,))
        assert accepted.outcome is CheckOutcome.PASSED


def test_corrections_alone_are_never_enough(judged: Store, calendar: Calendar) -> None:
    label(judged, RUN, lambda n, place, word: "idk" if place < 2 else None)
    order = GateRequest(kappa=-1.0, recall_no=0.0, among_labelled=True, basis=ThresholdBasis.POINT)
    result = check_gate_and_write_certificate_if_passed(judged, RUN, order, clock=calendar)
    assert result.outcome is CheckOutcome.UNKNOWN


def test_a_random_sample_is_enough(judged: Store, calendar: Calendar) -> None:
    drawn = make_sample_draw(
        judged.samples.read_frame(RUN), SamplePlan(SamplingDesign.SIMPLE, 3, 60)
    )
    judged.samples.save_draw_as_sample(
        RUN, "ann", drawn, SamplePlan(SamplingDesign.SIMPLE, 3, 60), name="s"
    )
    label(judged, RUN, only=[each.unit.claim for each in drawn.claims])
    result = check_gate_and_write_certificate_if_passed(
        judged, RUN, GateRequest(kappa=0.2, recall_no=0.3, score=0.3), clock=calendar
    )
    assert result.outcome is CheckOutcome.PASSED
    assert result.measured.labels == 60


def test_a_sample_by_strata_decides_on_recall_by_its_lower_end_alone(
    judged: Store, calendar: Calendar
) -> None:
    run, plan = RUN, SamplePlan(SamplingDesign.STRATIFIED, 3, 60, sizes=SIZES)
    drawn = make_sample_draw(judged.samples.read_frame(run, ("verdict",)), plan)
    judged.samples.save_draw_as_sample(
        run, "ann", drawn, plan, name="s", stratified_by=("verdict",)
    )
    label(judged, run, only=[each.unit.claim for each in drawn.claims])
    asked = GateRequest(kappa=0.2, recall_no=0.1)
    result = check_gate_and_write_certificate_if_passed(judged, run, asked, clock=calendar)
    assert set(outcomes(result).values()) == {CheckOutcome.PASSED}
    recall = result.measured.recall_no
    assert recall.value is not None
    assert recall.ci_low is not None
    more = replace(asked, recall_no=(recall.ci_low + recall.value) / 2)
    assert (
        check_gate_and_write_certificate_if_passed(judged, run, more, clock=calendar).outcome
        is CheckOutcome.BELOW
    )
    point = check_gate_and_write_certificate_if_passed(
        judged, run, replace(more, basis=ThresholdBasis.POINT), clock=calendar
    )
    assert (point.outcome, EXIT_CODES[point.outcome]) == (CheckOutcome.UNDECIDED, 2)
    assert outcomes(point)["recall_no"] is CheckOutcome.UNDECIDED


def test_a_certificate_of_a_sample_by_strata_leaves_recall_undecided(
    judged: Store, calendar: Calendar, tmp_path: Path
) -> None:
    path, run = tmp_path / "certificate.json", RUN
    plan = SamplePlan(SamplingDesign.STRATIFIED, 3, 60, sizes=SIZES)
    drawn = make_sample_draw(judged.samples.read_frame(run, ("verdict",)), plan)
    judged.samples.save_draw_as_sample(
        run, "ann", drawn, plan, name="s", stratified_by=("verdict",)
    )
    label(judged, run, only=[each.unit.claim for each in drawn.claims])
    assert (
        check_gate_and_write_certificate_if_passed(
            judged, run, GateRequest(kappa=0.2, write=path), clock=calendar
        ).written
        == path
    )
    other = run_over(judged, name="new")
    result = held(judged, path, calendar, other, recall_no=0.1)
    assert outcomes(result)["recall_no"] is CheckOutcome.UNDECIDED


def test_a_forecast_for_another_run_is_no_surer_than_the_certified_one(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    run = run_over(store, name="new", chats=60, said=("yes", "yes", "yes", "no"))
    assert (
        outcomes(held(store, certificate, calendar, run))["corrected_score"] is CheckOutcome.PASSED
    )
    found = parse_certificate(certificate.read_bytes())
    assert found.measured.score.value is not None
    vague = replace(found.measured.score, ci_low=0.31, ci_high=1.0)
    vague_one = replace(found, measured=replace(found.measured, score=vague))
    certificates.write_certificate_file(certificate, vague_one, force=True)
    result = held(store, certificate, calendar, run)
    assert outcomes(result)["corrected_score"] is CheckOutcome.UNDECIDED
    assert "[0.310, 1.000], which cannot be" in result.checks[-1].reason


def test_an_unfinished_run_is_broken(store: Store, calendar: Calendar) -> None:
    store.runs.set_state(RUN, RunState.STOPPED, "no key")
    result = check_gate_and_write_certificate_if_passed(store, RUN, EASY, clock=calendar)
    assert result.outcome is CheckOutcome.STALE
    assert "run 1 is not finished (stopped)" in result.broken[0]


@pytest.mark.parametrize(
    "name", ["openai:judge-1", "Judge-1", "offline", "model:mine", "gpt-4o", "claude-opus-4"]
)
def test_labels_of_a_machine_are_refused(judged: Store, calendar: Calendar, name: str) -> None:
    label(judged, RUN, by=name)
    result = check_gate_and_write_certificate_if_passed(judged, RUN, EASY, clock=calendar)
    assert result.outcome is CheckOutcome.STALE
    assert f"labels by {name} are a machine's" in result.broken[0]


def test_labels_of_a_machine_that_came_with_data_are_refused(
    store: Store, calendar: Calendar
) -> None:
    rating = Rating(1, "gpt-4o", "expertqa-support", "Complete", "Claim 1.0")
    imported(store, make_conversation("t0", answers=1, ratings=[rating]))
    result = check_gate_and_write_certificate_if_passed(store, RUN, EASY, clock=calendar)
    assert result.outcome is CheckOutcome.STALE
    assert "labels by gpt-4o are a machine's" in result.broken[0]


def test_nothing_asked_is_a_mistake(store: Store, calendar: Calendar, tmp_path: Path) -> None:
    for order in (GateRequest(), GateRequest(write=tmp_path / "c.json")):
        with pytest.raises(ConfigError, match="nothing is asked"):
            check_gate_and_write_certificate_if_passed(store, RUN, order, clock=calendar)


@pytest.mark.parametrize(
    "order",
    [
        GateRequest(kappa=1.1),
        GateRequest(kappa=float("nan")),
        GateRequest(recall_no=-0.1),
        GateRequest(score=80.0),
        GateRequest(labels=0),
        GateRequest(age_days=-1),
        GateRequest(age_days=float("inf")),
    ],
)
def test_thresholds_that_cannot_be_are_refused(
    store: Store, calendar: Calendar, order: GateRequest
) -> None:
    with pytest.raises(ConfigError, match="expected"):
        check_gate_and_write_certificate_if_passed(store, RUN, order, clock=calendar)


def test_age_counts_from_the_older_of_run_and_newest_label(
    store: Store, calendar: Calendar
) -> None:
    calendar.wait(9)
    item = store.runs.list_item_ids(RUN)[0]
    claim = store.runs.read_conversation_for_review(item, "ann").claims[0]
    store.label_log.append_label_event(
        claim.id, "ann", Action.BLIND, "no", run=RUN, judge_verdict="yes", saw_judge=False
    )
    result = check_gate_and_write_certificate_if_passed(
        store, RUN, GateRequest(age_days=9.5), clock=calendar
    )
    assert result.outcome is CheckOutcome.STALE, "the judge's verdicts are ten days old"
    assert result.checks[-1].value == pytest.approx(10, abs=0.01)


def test_a_certificate_says_what_was_measured_and_of_what(store: Store, certificate: Path) -> None:
    found = json.loads(certificate.read_text())
    assert found["judge"] == {
        "provider": "openai", "model": "judge-1", "fingerprint": "openai/1 judge-1",
    }  # fmt: skip
    assert found["metric"]["window_size"] == 10
    assert found["metric"]["prompt"] == JUDGED.prompt_digest
    assert found["sample"] == {
        "design": "census", "uid": None, "seed": None, "drawn": None, "frame": 96,
        "claim_set": None,
        "population": None,
    }  # fmt: skip
    facts = found["labels"]
    assert (facts["n"], facts["groups"], facts["reviewers"]) == (96, 24, 1)
    assert (facts["blind"], facts["shown"], facts["imported"], facts["blind_share"]) == (
        96,
        0,
        0,
        1,
    )
    assert found["measured"]["kappa"]["ci_low"] < found["measured"]["kappa"]["value"]
    assert found["thresholds"]["kappa"] == 0.4
    assert {each["outcome"] for each in found["results"]} == {"passed"}
    read = parse_certificate(certificate.read_bytes())
    assert read.labels.newest_at <= read.issued_at


def test_an_unchanged_run_passes_its_certificate(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    result = held(store, certificate, calendar)
    assert (result.outcome, result.broken, result.notes) == (CheckOutcome.PASSED, (), ())
    assert set(outcomes(result)) == {"labels", "cohen_kappa", "recall_no", "corrected_score"}


def test_other_thresholds_go_before_those_of_the_certificate(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    result = held(store, certificate, calendar, kappa=0.99)
    assert outcomes(result)["cohen_kappa"] is CheckOutcome.BELOW
    assert outcomes(result)["recall_no"] is CheckOutcome.PASSED
    assert result.outcome is CheckOutcome.BELOW


def test_no_certificate_without_passing(store: Store, calendar: Calendar, tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    result = check_gate_and_write_certificate_if_passed(
        store, RUN, GateRequest(kappa=0.99, write=path), clock=calendar
    )
    assert (result.outcome, result.written) == (CheckOutcome.BELOW, None)
    assert "no certificate is written: below" in result.notes
    assert not path.exists()


def test_a_certificate_that_cannot_be_written_is_told(
    store: Store, calendar: Calendar, tmp_path: Path
) -> None:
    with pytest.raises(ExportError, match="cannot be written"):
        check_gate_and_write_certificate_if_passed(
            store, RUN, replace(EASY, write=tmp_path / "no" / "c.json"), clock=calendar
        )


CHANGES: list[tuple[str, RunSpec]] = [
    ("judge: openai:judge-1 was certified, openai:judge-2 judged",
     replace(JUDGED, judge="openai:judge-2", judge_fingerprint="openai/1 judge-2")),
    ("judge: openai:judge-1 is not what it was", replace(JUDGED, judge_fingerprint="openai/2")),
    ("prompt: the texts of the questions differ", replace(JUDGED, prompt_digest="1" * 64)),
    ("metric version: 1 was certified, here it is 2", replace(JUDGED, metric_version="2")),
    ("metric: turn-faithfulness was certified", replace(JUDGED, metric="deepevalex-faithfulness")),
    ("peer: deepeval 4.3.1 was", replace(JUDGED, peer="deepeval 5")),
    ("strategy: evidence was certified", replace(JUDGED, strategy="window")),
    ("claims: extracted was certified", replace(JUDGED, claims_from="imported")),
    ("window size: 10 was certified, here it is 5",
     replace(JUDGED, options={**JUDGED.options, "window_size": 5})),
    ("option penalize_ambiguous_claims: False was",
     replace(JUDGED, options={**JUDGED.options, "penalize_ambiguous_claims": True})),
    ("option truths_extraction_limit: None was certified, here it is 3",
     replace(JUDGED, options={**JUDGED.options, "truths_extraction_limit": 3})),
    ("passing labels: yes, idk was",
     replace(JUDGED, rule=replace(JUDGED.rule, passing=("yes",)))),
]  # fmt: skip


@pytest.mark.parametrize(("message", "spec"), CHANGES, ids=[each for each, _ in CHANGES])
def test_another_judge_prompt_or_metric_is_stale(
    store: Store, certificate: Path, calendar: Calendar, message: str, spec: RunSpec
) -> None:
    result = held(store, certificate, calendar, run_over(store, spec, chats=1))
    assert result.outcome is CheckOutcome.STALE
    assert [each for each in result.broken if each.startswith(message)]


def fingerprint_with(profile: JudgeProfile) -> str:
    endpoint = parse_endpoint("openai:judge-1", None, profile)
    assert endpoint is not None
    return endpoint.fingerprint


CERTIFIED_PROFILE = JudgeProfile(
    seed=7, timeout_s=30, extra_body={"top_k": 1}, extra_headers={"X-Team": "evals"}
)


@pytest.fixture
def certificate_with_parameters(certificate: Path) -> Path:
    """Give a certificate of a judge that was asked with parameters of its own."""
    read = parse_certificate(certificate.read_bytes())
    judge = make_judge_identity("openai:judge-1", fingerprint_with(CERTIFIED_PROFILE))
    certificate.write_text(format_certificate(replace(read, judge=judge)))
    return certificate


def test_another_parameter_of_the_judge_is_stale(
    store: Store, certificate_with_parameters: Path, calendar: Calendar
) -> None:
    changes: tuple[dict[str, Any], ...] = (
        {"temperature": 0.2},
        {"temperature": None},
        {"top_p": 0.9},
        {"seed": 8},
        {"reasoning_effort": "low"},
        {"max_tokens": 900},
        {"extra_body": {"top_k": 2}},
        {"extra_headers": {"X-Team": "others"}},
    )
    fingerprints = [fingerprint_with(replace(CERTIFIED_PROFILE, **each)) for each in changes]
    certified = parse_certificate(certificate_with_parameters.read_bytes()).judge
    for each in fingerprints:
        assert make_judge_identity("openai:judge-1", each) != certified
    run = run_over(store, replace(JUDGED, judge_fingerprint=fingerprints[0]), chats=1)
    result = held(store, certificate_with_parameters, calendar, run)
    assert result.outcome is CheckOutcome.STALE
    assert "judge: openai:judge-1 is not what it was (its fingerprint differs)" in result.broken


def test_the_same_parameters_in_other_words_are_not_stale(
    store: Store, certificate_with_parameters: Path, calendar: Calendar
) -> None:
    same = fingerprint_with(replace(CERTIFIED_PROFILE, timeout_s=60))
    earlier = same.replace("x-team", "X-Team").replace('"temperature":0.0', '"temperature":0')
    assert earlier != same
    for fingerprint in (same, earlier):
        run = run_over(store, replace(JUDGED, judge_fingerprint=fingerprint), chats=1)
        result = held(store, certificate_with_parameters, calendar, run)
        assert not [each for each in result.broken if each.startswith("judge:")]


def test_other_examples_are_stale_and_flatter_on_their_own_conversations(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    shown = Example(
        metric="turn-faithfulness", run=1, judge="x", source="tests", key="t0", group="t0",
        split=None, turn=1, claim_id=1, kind="claim", question="", claim="Claim 1.0",
        passages=(), references=(), judge_verdict="yes", judge_reason=None, verdict="no",
        reviewers=1, blind=True, code=None, note=None,
    )  # fmt: skip
    run = run_over(
        store, replace(JUDGED, example_set=store_examples_and_get_digest(store, [shown]))
    )
    result = held(store, certificate, calendar, run)
    assert result.outcome is CheckOutcome.STALE
    assert result.broken == ("examples: the judge is shown other ones",)


def test_labels_of_conversations_that_were_shown_as_examples_are_asked_about(
    empty: Store, calendar: Calendar
) -> None:
    shown = Example(
        metric="turn-faithfulness", run=1, judge="x", source="tests", key="t0", group="t0",
        split=None, turn=1, claim_id=1, kind="claim", question="", claim="Claim 1.0",
        passages=(), references=(), judge_verdict="yes", judge_reason=None, verdict="no",
        reviewers=1, blind=True, code=None, note=None,
    )  # fmt: skip
    run = run_over(
        empty, replace(JUDGED, example_set=store_examples_and_get_digest(empty, [shown]))
    )
    label(empty, run)
    result = check_gate_and_write_certificate_if_passed(empty, run, EASY, clock=calendar)
    assert outcomes(result)["cohen_kappa"] is CheckOutcome.UNDECIDED
    why = result.checks[1].reason
    assert why.startswith("4 labelled claims are of conversations that the judge was shown")
    assert why.endswith("--accept shown_examples")
    accepted = replace(EASY, accept=("shown_examples",))
    assert (
        check_gate_and_write_certificate_if_passed(empty, run, accepted, clock=calendar).outcome
        is CheckOutcome.PASSED
    )


def test_options_that_change_no_question_do_not_matter(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    spec = replace(JUDGED, options={**JUDGED.options, "verbose_mode": True}, concurrency=1)
    result = held(store, certificate, calendar, run_over(store, spec, name="new", chats=8))
    assert result.broken == ()


def test_another_guideline_is_stale(store: Store, certificate: Path, calendar: Calendar) -> None:
    guideline = store.guidelines.add_version("Read twice.", "ann")
    result = held(store, certificate, calendar)
    assert result.outcome is CheckOutcome.STALE
    assert result.broken == (
        f"guideline: none was certified, version 1 ({guideline.digest}) is in force",
    )
    assert "96 verdicts were not given under the guideline that is in force" in result.notes


def test_another_label_is_stale(store: Store, certificate: Path, calendar: Calendar) -> None:
    item = store.runs.list_item_ids(RUN)[0]
    claim = store.runs.read_conversation_for_review(item, "bo").claims[0]
    store.label_log.append_label_event(
        claim.id, "bo", Action.BLIND, "no", run=RUN, judge_verdict="yes", saw_judge=False
    )
    changed = held(store, certificate, calendar)
    assert changed.broken == ("labels: human labels are not those that were certified",)
    store.label_log.undo("bo")
    assert held(store, certificate, calendar).outcome is CheckOutcome.PASSED


def test_another_sample_is_stale(judged: Store, calendar: Calendar, tmp_path: Path) -> None:
    run, path = RUN, tmp_path / "certificate.json"
    plan = SamplePlan(SamplingDesign.SIMPLE, 3, 60)
    drawn = make_sample_draw(judged.samples.read_frame(run), plan)
    row = judged.samples.save_draw_as_sample(run, "ann", drawn, plan, name="s")
    label(judged, run, only=[each.unit.claim for each in drawn.claims])
    certified = check_gate_and_write_certificate_if_passed(
        judged, run, GateRequest(kappa=0.2, write=path), clock=calendar
    )
    assert certified.outcome is CheckOutcome.PASSED
    assert held(judged, path, calendar, run).outcome is CheckOutcome.PASSED
    judged.samples.draw_more_claims(row.id, "ann", 6)
    result = held(judged, path, calendar, run)
    assert result.outcome is CheckOutcome.STALE
    name = f"simple random {row.uid[:8]}"
    assert result.broken == (
        f"sample: {name}, 60 of 96, seed 3 was certified, here it is {name}, 66 of 96, seed 3",
    )


def test_other_verdicts_of_the_judge_in_the_certified_run_are_stale(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    with sqlite3.connect(store.path) as connection:
        connection.create_function("row_checksum", -1, row_checksum)
        connection.execute("UPDATE verdict SET label = 'no'")
        columns = ", ".join(CHECKED_COLUMNS["verdict"])
        connection.execute(f"UPDATE verdict SET checksum = row_checksum({columns})")
    connection.close()
    result = held(store, certificate, calendar)
    assert result.broken == ("run: the judge's verdicts are not those that were certified",)


def test_labels_of_a_machine_that_came_later_are_refused(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    label(store, RUN, by="gpt-4o")
    result = held(store, certificate, calendar, run_over(store, name="new", chats=8))
    assert any("labels by gpt-4o are a machine's" in each for each in result.broken)
    assert any(each.startswith("labels: ") for each in result.broken)


def test_a_certificate_grows_old_and_issuing_it_anew_makes_it_no_younger(
    store: Store, certificate: Path, calendar: Calendar, tmp_path: Path
) -> None:
    assert held(store, certificate, calendar, age_days=30).outcome is CheckOutcome.PASSED
    calendar.wait(31)
    result = held(store, certificate, calendar, age_days=30)
    assert (result.outcome, outcomes(result)["age_days"]) == (
        CheckOutcome.STALE,
        CheckOutcome.STALE,
    )
    again = tmp_path / "again.json"
    check_gate_and_write_certificate_if_passed(
        store, RUN, replace(EASY, write=again), clock=calendar
    )
    assert parse_certificate(again.read_bytes()).issued_at > calendar.now - timedelta(days=1)
    assert held(store, again, calendar, age_days=30).outcome is CheckOutcome.STALE


def test_an_edited_certificate_is_refused(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    text = certificate.read_text()
    certificate.write_text(text.replace('"kappa": 0.4', '"kappa": 0.1'))
    with pytest.raises(InputError, match=r"certificate\.json: does not match its own digest"):
        held(store, certificate, calendar)


def test_a_run_without_labels_is_held_against_the_certificate(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    run = run_over(store, name="new", chats=60, said=("yes", "yes", "yes", "no"))
    result = held(store, certificate, calendar, run)
    assert result.outcome is CheckOutcome.PASSED
    certified = parse_certificate(certificate.read_bytes()).measured
    by_name = {each.criterion: each for each in result.checks}
    assert by_name[Criterion.KAPPA].estimate == certified.kappa
    assert by_name[Criterion.LABELS].value == 96
    score = by_name[Criterion.SCORE].estimate
    assert score is not None
    assert score.value is not None
    # Of the 48 that the judge failed people passed 6; of the 48 it passed they failed 4.
    sensitivity, specificity = 42 / 46, 44 / 50
    assert score.value == pytest.approx(
        1 - (0.25 + specificity - 1) / (sensitivity + specificity - 1)
    )
    assert score.n == 240
    assert any("takes the judge to err here" in each for each in result.notes)


@pytest.mark.thorough
def test_labels_of_the_run_itself_go_before_the_certificate(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    run = run_over(store, name="new", chats=40)
    # The certified judge is wrong on most of what it says here.
    label(store, run, lambda n, _, word: "yes" if word == "no" and n % 8 else word)
    accept = ("few_conversations", "not_checked")
    result = held(store, certificate, calendar, run, accept=accept)
    by_name = {each.criterion: each for each in result.checks}
    assert result.outcome is not CheckOutcome.PASSED
    assert by_name[Criterion.KAPPA].outcome is CheckOutcome.BELOW
    assert by_name[Criterion.LABELS].value == 160
    assert any("has 160 labels of its own" in each for each in result.notes)
    # Asking for more labels than there are does not bring the certificate's figures back.
    few = held(store, certificate, calendar, run, accept=accept, labels=90)
    assert few.outcome is CheckOutcome.BELOW


def test_few_labels_of_the_run_itself_can_contradict_the_certificate(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    run = run_over(store, name="new", chats=6)
    label(store, run, lambda n, _, word: word if n == 0 else "yes" if word == "no" else "no")
    accept = ("few_conversations", "not_checked")
    result = held(store, certificate, calendar, run, accept=accept)
    by_name = {each.criterion: each for each in result.checks}
    assert by_name[Criterion.LABELS].value == 96, "the certificate has enough"
    assert by_name[Criterion.KAPPA].outcome is CheckOutcome.BELOW
    assert any("contradict the certificate: its own kappa" in each for each in result.notes)
    # Few that agree show nothing against it.
    other = run_over(store, name="other", chats=6)
    label(store, other)
    assert held(store, certificate, calendar, other, accept=accept).outcome is CheckOutcome.PASSED


def test_in_another_store_what_cannot_be_verified_is_said(
    store: Store, certificate: Path, calendar: Calendar, empty: Store
) -> None:
    run = run_over(empty, name="new", chats=60)
    result = held(empty, certificate, calendar, run)
    assert result.outcome is CheckOutcome.PASSED
    assert result.notes[0].endswith("not in this store: labels, sample, guideline")
    empty.guidelines.add_version("Read twice.", "ann")
    stale = held(empty, certificate, calendar, run)
    assert stale.outcome is CheckOutcome.STALE
    assert stale.notes[0].endswith("not in this store: labels, sample")


def test_the_same_data_in_another_store_are_verified(
    certificate: Path, calendar: Calendar, empty: Store
) -> None:
    run = run_over(empty)
    label(empty, run)
    assert held(empty, certificate, calendar, run).outcome is CheckOutcome.PASSED
    label(empty, run, lambda n, place, word: "no" if (n, place) == (0, 0) else None, by="ann")
    changed = held(empty, certificate, calendar, run)
    assert changed.broken == ("labels: human labels are not those that were certified",)


def test_the_same_questions_answered_anew_are_not_the_certified_data(
    certificate: Path, calendar: Calendar, empty: Store
) -> None:
    result = held(empty, certificate, calendar, run_over(empty))
    assert result.outcome is CheckOutcome.PASSED
    assert result.notes[0].endswith("not in this store: labels, sample, guideline")


def test_a_certificate_holds_for_its_own_level(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    assert (
        held(store, certificate, calendar, level=ReportLevel.CLAIMS).outcome is CheckOutcome.PASSED
    )
    with pytest.raises(ConfigError, match="the certificate is about claims"):
        held(store, certificate, calendar, level=ReportLevel.ANSWERS)


def test_a_run_without_labels_of_its_own_cannot_be_certified(
    store: Store, certificate: Path, calendar: Calendar, tmp_path: Path
) -> None:
    run = run_over(store, name="new", chats=8)
    with pytest.raises(ConfigError, match="no labels of its own"):
        held(store, certificate, calendar, run, write=tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()


def test_a_certificate_for_point_values_says_so_and_holds_it_up(
    store: Store, calendar: Calendar, tmp_path: Path
) -> None:
    kappa = check_gate_and_write_certificate_if_passed(
        store, RUN, EASY, clock=calendar
    ).measured.kappa
    assert kappa.value is not None
    assert kappa.ci_low is not None
    between = (kappa.value + kappa.ci_low) / 2
    path = tmp_path / "point.json"
    order = GateRequest(kappa=between, basis=ThresholdBasis.POINT, write=path)
    assert (
        check_gate_and_write_certificate_if_passed(store, RUN, order, clock=calendar).outcome
        is CheckOutcome.PASSED
    )
    assert held(store, path, calendar).outcome is CheckOutcome.PASSED
    assert held(store, path, calendar, basis=ThresholdBasis.LOWER).outcome is CheckOutcome.BELOW


def test_a_certified_largest_drop_is_asked_later(
    store: Store, calendar: Calendar, tmp_path: Path
) -> None:
    accept = ("few_conversations", "not_checked", "unpaired_claims")
    path = tmp_path / "drop.json"
    again = run_over(store, replace(JUDGED, claims_from="run", claims_run=RUN))
    order = GateRequest(max_drop=0.05, against=RUN, accept=accept, write=path)
    assert (
        check_gate_and_write_certificate_if_passed(store, again, order, clock=calendar).outcome
        is CheckOutcome.PASSED
    )
    itself = held(store, path, calendar, again)
    assert outcomes(itself)["accuracy_change"] is CheckOutcome.PASSED
    # The same judge, which fails every claim now.
    worse = run_over(
        store, replace(JUDGED, claims_from="run", claims_run=RUN), said=("no", "no", "no", "no")
    )
    result = held(store, path, calendar, worse)
    assert outcomes(result)["accuracy_change"] is CheckOutcome.BELOW
    # Other conversations have no change to be measured: nothing else was certified.
    new = run_over(store, name="new")
    assert held(store, path, calendar, new).outcome is not CheckOutcome.PASSED


@pytest.mark.thorough
def test_a_certified_drop_is_not_asked_of_other_conversations(
    store: Store, calendar: Calendar, tmp_path: Path
) -> None:
    path = tmp_path / "drop.json"
    again = run_over(store, replace(JUDGED, claims_from="run", claims_run=RUN))
    order = replace(EASY, max_drop=0.05, against=RUN, write=path)
    assert (
        check_gate_and_write_certificate_if_passed(store, again, order, clock=calendar).outcome
        is CheckOutcome.PASSED
    )
    result = held(store, path, calendar, run_over(store, name="new", chats=60))
    assert "accuracy_change" not in outcomes(result)
    assert any("largest drop is not asked" in each for each in result.notes)


def draw_again(store: Store, run: RunId, seed: int, size: int = 48) -> SampleId:
    """Draw a simple sample with a seed of one's own."""
    plan = SamplePlan(SamplingDesign.SIMPLE, seed, size)
    drawn = make_sample_draw(store.samples.read_frame(run, ()), plan)
    return store.samples.save_draw_as_sample(run, "ann", drawn, plan, name="simple random").id


def test_a_sample_that_was_drawn_once_labels_were_known_is_asked_about(
    judged: Store, calendar: Calendar
) -> None:
    """Whoever knows what the judge gets wrong can try seeds until the sample has little of it."""
    frame = [each.claim for each in judged.samples.read_frame(RUN, ())]
    label(judged, RUN, only=frame[:-4])
    sample = draw_again(judged, RUN, 5)
    order = GateRequest(kappa=0.2, sample=sample)
    result = check_gate_and_write_certificate_if_passed(judged, RUN, order, clock=calendar)
    (kappa,) = [each for each in result.checks if each.criterion is Criterion.KAPPA]
    assert kappa.outcome is CheckOutcome.UNDECIDED
    assert "had a label before it was drawn" in kappa.reason
    accepting = replace(order, accept=("drawn_after_labels",))
    assert outcomes(
        check_gate_and_write_certificate_if_passed(judged, RUN, accepting, clock=calendar)
    )["cohen_kappa"] is (CheckOutcome.PASSED)


def test_the_best_of_several_samples_is_asked_about(judged: Store, calendar: Calendar) -> None:
    one, other = draw_again(judged, RUN, 5, 40), draw_again(judged, RUN, 6, 40)
    drawn = [each.claim for each in judged.samples.list_claims_in_served_order(one, "ann")]
    label(judged, RUN, only=drawn)
    order = GateRequest(kappa=0.2, sample=one)
    assert (
        check_gate_and_write_certificate_if_passed(judged, RUN, order, clock=calendar).outcome
        is CheckOutcome.PASSED
    )
    label(
        judged,
        RUN,
        only=[each.claim for each in judged.samples.list_claims_in_served_order(other, "ann")],
    )
    result = check_gate_and_write_certificate_if_passed(judged, RUN, order, clock=calendar)
    assert result.outcome is CheckOutcome.UNDECIDED
    assert "of other samples the figures leave out" in result.checks[1].reason
    accepting = replace(order, accept=("other_samples",))
    assert (
        check_gate_and_write_certificate_if_passed(judged, RUN, accepting, clock=calendar).outcome
        is CheckOutcome.PASSED
    )


def carry(
    store: Store,
    sample: SampleId,
    other: Store,
    file: Path,
    change: dict[str, object] | None = None,
) -> RunId:
    """Make a claim set of a sample, import it into another store, and judge its claims there."""
    made, _ = store.claim_sets.make_claim_set_version_if_changed("shop", sample, "ann")
    export_claim_set(store, made.id, file, force=True)
    if change is not None:
        header, *rest = file.read_text(encoding="utf-8").splitlines()
        fields = {**json.loads(header), **change}
        file.write_text("\n".join([json.dumps(fields), *rest]) + "\n", encoding="utf-8")
    brought = import_claim_set(other, file).row
    return run_over(other, replace(JUDGED, claims_from="set", claim_set=brought.id))


@pytest.fixture
def elsewhere(tmp_path: Path, calendar: Calendar) -> Iterator[Store]:
    with Store.open(tmp_path / "elsewhere.db", clock=calendar) as opened:
        yield opened


UNDECIDED = CheckOutcome.UNDECIDED
BY_SAMPLE = GateRequest(kappa=0.2)


def ask(store: Store, run: RunId, calendar: Calendar, *accepted: str) -> tuple[CheckOutcome, str]:
    result = check_gate_and_write_certificate_if_passed(
        store, run, replace(BY_SAMPLE, accept=accepted), clock=calendar
    )
    (kappa,) = [each for each in result.checks if each.criterion is Criterion.KAPPA]
    assert result.outcome is kappa.outcome
    return kappa.outcome, kappa.reason


@pytest.mark.thorough
def test_a_claim_set_tells_another_store_that_labels_were_known_before_it_was_drawn(
    judged: Store, elsewhere: Store, calendar: Calendar, tmp_path: Path
) -> None:
    frame = [each.claim for each in judged.samples.read_frame(RUN, ())]
    label(judged, RUN, only=frame[:-4])
    late = carry(judged, draw_again(judged, RUN, 5), elsewhere, tmp_path / "late.jsonl")
    outcome, reason = ask(elsewhere, late, calendar)
    assert outcome is UNDECIDED
    assert "labelled claims of the sample «shop version 1» had a label before" in reason
    assert ask(elsewhere, late, calendar, "drawn_after_labels")[0] is CheckOutcome.PASSED


def test_a_claim_set_that_was_drawn_before_labels_were_known_passes_in_another_store(
    judged: Store, elsewhere: Store, calendar: Calendar, tmp_path: Path
) -> None:
    sample = draw_again(judged, RUN, 5)
    label(
        judged,
        RUN,
        only=[each.claim for each in judged.samples.list_claims_in_served_order(sample, "ann")],
    )
    honest = carry(judged, sample, elsewhere, tmp_path / "shop.jsonl")
    assert ask(elsewhere, honest, calendar)[0] is CheckOutcome.PASSED


@pytest.mark.thorough
@pytest.mark.parametrize("is_made_first", [False, True])
def test_a_claim_set_tells_another_store_of_other_samples_with_labels(
    judged: Store, elsewhere: Store, calendar: Calendar, tmp_path: Path, is_made_first: bool
) -> None:
    """Also where it was made before any label: they are counted when the set leaves."""
    samples = [draw_again(judged, RUN, seed, 40) for seed in (5, 6)]
    if is_made_first:
        judged.claim_sets.make_claim_set_version_if_changed("shop", samples[0], "ann")
    drawn = [
        [each.claim for each in judged.samples.list_claims_in_served_order(one, "ann")]
        for one in samples
    ]
    label(judged, RUN, only=[*drawn[0], *drawn[1]])
    best = carry(judged, samples[0], elsewhere, tmp_path / "shop.jsonl")
    outcome, reason = ask(elsewhere, best, calendar)
    assert outcome is UNDECIDED
    others = len(set(drawn[1]) - set(drawn[0]))
    assert f"of other samples the figures leave out {others}" in reason
    assert ask(elsewhere, best, calendar, "other_samples")[0] is CheckOutcome.PASSED


@pytest.mark.thorough
def test_the_best_of_several_imported_claim_sets_is_asked_about(
    judged: Store, elsewhere: Store, calendar: Calendar, tmp_path: Path
) -> None:
    """Each left its store before the sample of the next was drawn."""
    for number, name in enumerate(("one", "two")):
        sample = draw_again(judged, RUN, 5 + number, 40)
        drawn = [each.claim for each in judged.samples.list_claims_in_served_order(sample, "ann")]
        label(judged, RUN, only=drawn)
        made, _ = judged.claim_sets.make_claim_set_version_if_changed(name, sample, "ann")
        export_claim_set(judged, made.id, tmp_path / name, force=False)
    first = import_claim_set(elsewhere, tmp_path / "one").row
    assert first.other_labels == 0
    brought = run_over(elsewhere, replace(JUDGED, claims_from="set", claim_set=first.id))
    assert ask(elsewhere, brought, calendar)[0] is CheckOutcome.PASSED
    import_claim_set(elsewhere, tmp_path / "two")
    assert "of other samples" in ask(elsewhere, brought, calendar)[1]


def test_a_claim_set_whose_file_does_not_say_when_it_was_drawn_is_asked_about(
    judged: Store, elsewhere: Store, calendar: Calendar, tmp_path: Path
) -> None:
    sample = draw_again(judged, RUN, 5)
    label(
        judged,
        RUN,
        only=[each.claim for each in judged.samples.list_claims_in_served_order(sample, "ann")],
    )
    file = tmp_path / "shop.jsonl"
    older = carry(judged, sample, elsewhere, file, {"drawing_digest": None})
    outcome, reason = ask(elsewhere, older, calendar)
    assert outcome is UNDECIDED
    assert "nothing says when the sample of «shop version 1» was drawn" in reason
    assert ask(elsewhere, older, calendar, "drawing_unknown")[0] is CheckOutcome.PASSED
    export_claim_set(judged, judged.claim_sets.find_version_by_name("shop").id, file, force=True)
    assert not import_claim_set(elsewhere, file).is_new
    assert ask(elsewhere, older, calendar)[0] is CheckOutcome.PASSED


def test_a_claim_set_that_names_a_sample_of_other_claims_is_asked_about(
    judged: Store, elsewhere: Store, calendar: Calendar, tmp_path: Path
) -> None:
    sample = draw_again(judged, RUN, 5)
    drawn = [each.claim for each in judged.samples.list_claims_in_served_order(sample, "ann")]
    label(judged, RUN, only=drawn)
    file = tmp_path / "shop.jsonl"
    run = carry(judged, sample, elsewhere, file, {"drawing_digest": None})
    unrelated = draw_again(elsewhere, run_over(elsewhere, name="o"), 5, 3)
    other = elsewhere.samples.read_sample(unrelated, "ann").uid
    with closing(sqlite3.connect(elsewhere.path)) as connection, connection:
        connection.execute("UPDATE claim_set SET sample_uid = ?", (other,))
    outcome, reason = ask(elsewhere, run, calendar)
    assert outcome is UNDECIDED
    assert "nothing says when the sample of «shop version 1» was drawn" in reason
    made = elsewhere.claim_sets.find_version_by_name("shop")
    assert elsewhere.claim_sets.read_claim_set_bundle(made.id).drawn_at is None


@pytest.mark.parametrize("has_other", [False, True])
def test_a_claim_set_remembers_its_drawing_when_its_run_is_deleted(
    judged: Store, calendar: Calendar, has_other: bool
) -> None:
    samples = [draw_again(judged, RUN, seed, 40) for seed in (5, 6)]
    drawn = [
        [each.claim for each in judged.samples.list_claims_in_served_order(one, "ann")]
        for one in samples
    ]
    label(judged, RUN, only=[*drawn[0], *(drawn[1] if has_other else ())])
    made, _ = judged.claim_sets.make_claim_set_version_if_changed("shop", samples[0], "ann")
    again = replace(JUDGED, claims_from="set", claim_set=made.id)
    judged.deletions.delete_run(RUN, "ann")
    outcome, reason = ask(judged, run_over(judged, again), calendar)
    assert outcome is (UNDECIDED if has_other else CheckOutcome.PASSED)
    assert ("of other samples" in reason) is has_other


def test_figures_that_the_certified_labels_do_not_give_are_named(
    store: Store, certificate: Path, calendar: Calendar
) -> None:
    """The digest of a certificate is no signature, but its run is here."""
    read = parse_certificate(certificate.read_bytes())
    flattered = replace(read.measured.kappa, value=0.97, ci_low=0.95, ci_high=0.99)
    forged = replace(read, measured=replace(read.measured, kappa=flattered))
    certificate.write_text(format_certificate(forged))
    again = run_over(store, name="u", chats=3)
    result = held(store, certificate, calendar, again)
    assert result.outcome is CheckOutcome.STALE
    assert result.broken[0].startswith("figures: Cohen's kappa of the certificate is 0.970 [0.950")


@pytest.mark.parametrize("chats", [0, 3])
def test_figures_are_checked_though_the_time_of_the_run_was_written_anew(
    store: Store, certificate: Path, calendar: Calendar, chats: int
) -> None:
    """Also where the run at hand is the certified one."""
    read = parse_certificate(certificate.read_bytes())
    flattered = replace(read.measured.kappa, value=0.97, ci_low=0.95, ci_high=0.99)
    moved = replace(read.run, created_at=read.run.created_at + timedelta(microseconds=1))
    forged = replace(read, measured=replace(read.measured, kappa=flattered), run=moved)
    certificate.write_text(format_certificate(forged))
    again = run_over(store, name="u", chats=chats) if chats else RUN
    result = held(store, certificate, calendar, again)
    assert result.outcome is CheckOutcome.STALE
    assert result.broken[0].startswith("run: the certificate has run 1 made at")


def test_an_accuracy_that_was_added_taken_away_or_turned_round_is_named(certificate: Path) -> None:
    read = parse_certificate(certificate.read_bytes())
    mine = read.accuracy
    assert mine is not None
    turned = replace(mine, positive=("yes",))
    for was, now in ((mine, None), (None, mine), (turned, mine)):
        (found,) = list_figure_changes(replace(read, accuracy=was), read.measured, now)
        assert found.startswith("figures: the labels that the judge must find")
    assert list_figure_changes(read, read.measured, mine) == []


def test_labels_that_were_deleted_before_others_were_given_are_asked_about(
    judged: Store, calendar: Calendar
) -> None:
    """Deleting the first labels, too, makes no deletion older than the labels."""
    label(judged, RUN, by="bo")
    judged.deletions.delete_person("bo", "ann")
    calendar.wait(1)
    label(judged, RUN)
    result = check_gate_and_write_certificate_if_passed(
        judged, RUN, GateRequest(kappa=0.2), clock=calendar
    )
    assert result.outcome is CheckOutcome.UNDECIDED


def test_labels_that_were_deleted_before_the_judge_was_asked_again_are_asked_about(
    judged: Store, calendar: Calendar
) -> None:
    """A younger run over the same conversations has the labels that are left."""
    label(judged, RUN, by="bo")
    judged.deletions.delete_person("bo", "ann")
    calendar.wait(1)
    second = run_over(judged)
    label(judged, second)
    result = check_gate_and_write_certificate_if_passed(
        judged, second, GateRequest(kappa=0.2), clock=calendar
    )
    assert any("--accept labels_deleted" in each.reason for each in result.checks)


def test_a_sample_that_was_deleted_with_an_earlier_run_is_asked_about(
    judged: Store, calendar: Calendar
) -> None:
    first = draw_again(judged, RUN, 5, 40)
    drawn = judged.samples.list_claims_in_served_order(first, "ann")
    label(judged, RUN, only=[each.claim for each in drawn])
    judged.deletions.delete_run(RUN, "ann")
    calendar.wait(1)
    second = run_over(judged)
    other = draw_again(judged, second, 6, 40)
    drawn = judged.samples.list_claims_in_served_order(other, "ann")
    label(judged, second, only=[each.claim for each in drawn])
    result = check_gate_and_write_certificate_if_passed(
        judged, second, GateRequest(kappa=0.2, sample=other), clock=calendar
    )
    assert any("--accept other_samples" in each.reason for each in result.checks)


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_labelled_sample_of_a_second_run_over_the_same_claims_is_asked_about(
    judged: Store, calendar: Calendar, is_deleted: bool
) -> None:
    run, second = RUN, run_over(judged)
    one, other = draw_again(judged, run, 5, 40), draw_again(judged, second, 6, 40)
    label(
        judged,
        second,
        only=[each.claim for each in judged.samples.list_claims_in_served_order(other, "ann")],
    )
    label(
        judged,
        run,
        only=[each.claim for each in judged.samples.list_claims_in_served_order(one, "ann")],
    )
    if is_deleted:
        judged.deletions.delete_run(second, "ann")
    order = GateRequest(kappa=0.2, sample=one)
    reasons = [
        each.reason
        for each in check_gate_and_write_certificate_if_passed(
            judged, run, order, clock=calendar
        ).checks
    ]
    assert any("--accept other_samples" in each for each in reasons), reasons


def test_labels_that_were_deleted_are_asked_about(store: Store, calendar: Calendar) -> None:
    """Nothing tells whether they were those on which the judge is wrong."""
    other = run_over(store, name="u", chats=2)
    label(store, other, by="bo")
    order = GateRequest(kappa=0.2)
    assert (
        check_gate_and_write_certificate_if_passed(store, RUN, order, clock=calendar).outcome
        is CheckOutcome.PASSED
    )
    store.deletions.delete_person("bo", "ann")
    result = check_gate_and_write_certificate_if_passed(store, RUN, order, clock=calendar)
    assert result.outcome is CheckOutcome.UNDECIDED
    assert (
        "8 label events were deleted since conversations of the run were imported"
        in result.checks[1].reason
    )
    accepting = replace(order, accept=("labels_deleted",))
    assert (
        check_gate_and_write_certificate_if_passed(store, RUN, accepting, clock=calendar).outcome
        is CheckOutcome.PASSED
    )


def test_labels_that_were_deleted_are_asked_about_for_answers_too(
    empty: Store, calendar: Calendar
) -> None:
    """Whoever deletes an annotator who disagrees with the judge leaves those who agree."""
    run = run_over_rated_answers(empty)
    order = GateRequest(
        kappa=0.2, level=ReportLevel.ANSWERS, among_labelled=True, labels=1, accept=("ties",)
    )
    before = check_gate_and_write_certificate_if_passed(empty, run, order, clock=calendar)
    assert before.outcome is CheckOutcome.PASSED, before.checks
    empty.deletions.delete_person("bo", "ann")
    result = check_gate_and_write_certificate_if_passed(empty, run, order, clock=calendar)
    assert result.outcome is CheckOutcome.UNDECIDED
    assert any("--accept labels_deleted" in each.reason for each in result.checks)
    accepting = replace(order, accept=("labels_deleted", "ties"))
    assert (
        check_gate_and_write_certificate_if_passed(empty, run, accepting, clock=calendar).outcome
        is CheckOutcome.PASSED
    )


def check_kappa_of_answers(
    store: Store, run: RunId, clock: Calendar, *accepted: str, least: float = 0.2
) -> CriterionCheck:
    order = GateRequest(
        kappa=least, level=ReportLevel.ANSWERS, among_labelled=True, labels=1, accept=accepted
    )
    result = check_gate_and_write_certificate_if_passed(store, run, order, clock=clock)
    return next(each for each in result.checks if each.criterion is Criterion.KAPPA)


JUDGED_ANSWERS = "41" * 20
"""What the judge says of forty answers, as a rating."""
UNRATED = "-" * 40
TEN_RATED_OTHERWISE = "1" * 10 + JUDGED_ANSWERS[10:]
ONE_RATED_OTHERWISE = "1" + JUDGED_ANSWERS[1:]


@pytest.mark.parametrize(
    ("before", "codes", "least"),
    [
        (UNRATED, ("imported_labels",), 0.2),
        ("-" + JUDGED_ANSWERS[1:], ("imported_labels",), 0.82),
        (TEN_RATED_OTHERWISE, ("changed_labels", "imported_labels"), 0.2),
        (ONE_RATED_OTHERWISE, ("changed_labels", "imported_labels"), 0.82),
    ],
    ids=["all came later", "one came later", "ten changed", "one changed"],
)
def test_ratings_of_answers_that_came_or_changed_once_the_judge_had_spoken_are_asked_about(
    empty: Store, calendar: Calendar, before: str, codes: tuple[str, ...], least: float
) -> None:
    """Ratings copied from the judge's verdicts give a kappa of 1."""
    run = run_over_rated_answers(empty, before, ["ann"])
    calendar.wait(1)
    import_conversations(empty, make_rated_answers(JUDGED_ANSWERS, "ann"))
    for number, code in enumerate(codes):
        others = (*codes[:number], *codes[number + 1 :])
        asked = check_kappa_of_answers(empty, run, calendar, *others, least=least)
        assert asked.outcome is CheckOutcome.UNDECIDED
        assert f"--accept {code}" in asked.reason
    passed = check_kappa_of_answers(empty, run, calendar, *codes, least=least)
    assert passed.outcome is CheckOutcome.PASSED


@pytest.mark.thorough
def test_ratings_that_came_once_a_run_that_was_deleted_had_judged_are_asked_about(
    empty: Store, calendar: Calendar
) -> None:
    """Its verdicts can have been copied before."""
    empty.deletions.delete_run(run_over_rated_answers(empty, UNRATED, ["ann"]), "ann")
    calendar.wait(1)
    run = run_over_rated_answers(empty, JUDGED_ANSWERS, ["ann"])
    asked = check_kappa_of_answers(empty, run, calendar)
    assert asked.outcome is CheckOutcome.UNDECIDED
    assert "--accept imported_labels" in asked.reason


def test_ratings_that_came_before_anything_was_judged_are_not_asked_about(
    empty: Store, calendar: Calendar
) -> None:
    """An order that was given and taken back before it judged anything shows nobody a verdict."""
    empty.runs.create(JUDGED, import_conversations(empty, make_rated_answers(UNRATED, "ann")))
    calendar.wait(1)
    run = run_over_rated_answers(empty, JUDGED_ANSWERS, ["ann"])
    assert check_kappa_of_answers(empty, run, calendar).outcome is CheckOutcome.PASSED


def test_rated_answers_that_a_later_run_leaves_out_are_asked_about(
    empty: Store, calendar: Calendar
) -> None:
    them = make_rated_answers(TEN_RATED_OTHERWISE, "ann")
    judge_rated_answers(empty, them)
    calendar.wait(1)
    run = judge_rated_answers(empty, them[10:])
    asked = check_kappa_of_answers(empty, run, calendar)
    assert asked.outcome is CheckOutcome.PASSED  # ten left out are few beside thirty
    run = judge_rated_answers(empty, them[20:])
    asked = check_kappa_of_answers(empty, run, calendar)
    assert asked.outcome is CheckOutcome.UNDECIDED
    assert "20 of the same data sets" in asked.reason
    passed = check_kappa_of_answers(empty, run, calendar, "other_conversations")
    assert passed.outcome is CheckOutcome.PASSED


def assert_passes_only_if_accepted(store: Store, run: RunId, code: str, clock: Calendar) -> None:
    """Check that labels are asked about under a code, and hold once it is accepted."""
    order = GateRequest(kappa=0.2)
    result = check_gate_and_write_certificate_if_passed(store, run, order, clock=clock)
    assert result.outcome is CheckOutcome.UNDECIDED
    assert f"--accept {code}" in result.checks[1].reason
    order = replace(order, accept=(code,))
    result = check_gate_and_write_certificate_if_passed(store, run, order, clock=clock)
    assert result.outcome is CheckOutcome.PASSED


@pytest.mark.parametrize(
    "kinds",
    [
        (DeletionKind.RUN,),
        (DeletionKind.DATASET,),
        # The run takes the notes along first, and its conversations go without any.
        (DeletionKind.RUN, DeletionKind.DATASET),
    ],
)
def test_labels_by_whoever_may_have_seen_the_judge_before_a_deletion_are_asked_about(
    empty: Store, calendar: Calendar, kinds: tuple[DeletionKind, ...]
) -> None:
    """Who had goes with it: the same file may be judged again, and was perhaps imported again."""
    order = GateRequest(kappa=0.2)
    early = run_over(empty, name="e") if kinds == (DeletionKind.DATASET,) else None
    seen = run_over(empty, chats=2)
    items = empty.runs.list_item_ids(seen)
    empty.exposures.record_many(items, "ann")
    conversations = [each.conversation for each in empty.runs.read_item_rows(items)]
    for kind in kinds:
        if kind is DeletionKind.RUN:
            empty.deletions.delete_run(seen, "ann")
        else:
            empty.deletions.delete_conversations(kind, conversations, "ann")
    if early is not None:
        # What was here all the time remembers who saw it.
        label(empty, early)
        kept = check_gate_and_write_certificate_if_passed(empty, early, order, clock=calendar)
        assert kept.outcome is CheckOutcome.PASSED
    run = run_over(empty)
    label(empty, run)
    assert_passes_only_if_accepted(empty, run, "exposures_deleted", calendar)


@pytest.mark.parametrize("how", ["in view", "revealed", "of a run deleted since", "both deleted"])
def test_labels_by_whoever_saw_another_run_of_the_conversations_are_asked_about(
    empty: Store, calendar: Calendar, how: str
) -> None:
    """A judge that is asked again says much the same, so its verdicts can be copied."""
    first = run_over(empty)
    run = run_over(empty)
    if how == "in view":
        empty.exposures.record_many(empty.runs.list_item_ids(first), "ann")
    else:
        claims = {each.item: each.claim for each in empty.samples.read_frame(first)}
        for claim in claims.values():
            empty.label_log.append_label_event(
                claim, "ann", Action.REVEALED, None, run=first, judge_verdict="yes", saw_judge=True
            )
    label(empty, run)
    if how.endswith("deleted since") or how == "both deleted":
        empty.deletions.delete_run(first, "ann")
    if how == "both deleted":
        again = run_over(empty)
        empty.deletions.delete_run(run, "ann")
        run = again
    assert_passes_only_if_accepted(empty, run, "seen_in_other_run", calendar)


@pytest.mark.parametrize(("share", "is_asked"), [(0.2, False), (0.9, True)])
def test_a_queue_that_shows_much_of_another_run_is_asked_about(
    empty: Store, share: float, is_asked: bool
) -> None:
    first = run_over(empty)
    plan = SamplePlan(SamplingDesign.SIMPLE, 1, 20, shown_share=share)
    drawn = make_sample_draw(empty.samples.read_frame(first), plan)
    sample = empty.samples.save_draw_as_sample(first, "ann", drawn, plan, name="s", blind=True).id
    for each in drawn.claims:
        if each.shown:
            empty.label_log.append_label_event(
                *(each.unit.claim, "ann", Action.REVEALED),
                run=first,
                judge_verdict="yes",
                saw_judge=True,
                sample=sample,
            )
            empty.label_log.record_verdict(
                each.unit.claim, "ann", "yes", run=first, saw_judge=True, sample=sample
            )
    run = run_over(empty)
    label(empty, run)
    claims = [each.claim for each in empty.samples.read_frame(run)]
    found = empty.provenance.list_claims_labelled_blind_after_other_run(claims)
    assert bool(found) is is_asked


def test_what_a_queue_shows_by_rule_is_not_asked_about_in_another_store(
    judged: Store, elsewhere: Store, tmp_path: Path
) -> None:
    """Acts that come with a file name no run that is here; they are not of different runs."""
    plan = SamplePlan(SamplingDesign.SIMPLE, 1, 20, shown_share=0.2)
    drawn = make_sample_draw(judged.samples.read_frame(RUN), plan)
    sample = judged.samples.save_draw_as_sample(RUN, "ann", drawn, plan, name="s", blind=True).id
    for each in drawn.claims:
        judged.label_log.record_verdict(
            each.unit.claim, "ann", "yes", run=RUN, saw_judge=each.shown, sample=sample
        )
    run = carry(judged, sample, elsewhere, tmp_path / "set.jsonl")
    claims = [each.claim for each in elsewhere.samples.read_frame(run)]
    assert not elsewhere.provenance.list_claims_labelled_blind_after_other_run(claims)


def make_rated_answers(words: str, *who: str) -> list[Conversation]:
    """Make conversations of one answer, each with a rating from 1 to 4; "-": without."""
    return [
        make_conversation(
            f"r{number}",
            answers=1,
            ratings=[
                Rating(1, each, "mtrag-faithfulness-1-4", word) for each in who if word != "-"
            ],
        )
        for number, word in enumerate(words)
    ]


def run_over_rated_answers(
    store: Store, words: str = JUDGED_ANSWERS, who: Sequence[str] = ("ann", "bo")
) -> RunId:
    """Judge forty answers, of which the judge fails every second one, as annotators did before."""
    return judge_rated_answers(store, make_rated_answers(words, *who))


def judge_rated_answers(store: Store, them: Sequence[Conversation]) -> RunId:
    """Judge answers, of which the judge fails every second one."""
    run = store.runs.create(JUDGED, import_conversations(store, them))
    items = store.runs.list_item_ids(run)
    for number, (item, each) in enumerate(zip(items, them, strict=True)):
        for window in windows_of(each):
            said = {1: ["yes", "no"][number % 2 :][:1] * 2}
            store.runs.save_window(item, assess(window, said, rule=JUDGED.rule))
        store.runs.score_and_finish_item(item, ItemState.DONE, None, "all in all")
    store.findings.replace_findings_of_conversations(
        [
            ItemCheckResult(row.id, row.state, row.windows, ())
            for row in store.runs.read_item_rows(items)
        ]
    )
    store.runs.set_state(run, RunState.DONE)
    return run


@pytest.mark.thorough
def test_conversations_that_failed_are_asked_about(empty: Store, calendar: Calendar) -> None:
    """A judge may fail where it is hard; one in fifty is less than what makes a run broken."""
    run = run_over(empty, chats=50)
    last = empty.runs.list_item_ids(run)[-1]
    empty.runs.score_and_finish_item(last, ItemState.FAILED, None, "refused")
    label(empty, run, only=[each.claim for each in empty.samples.read_frame(run, ())])
    order = GateRequest(kappa=0.2)
    result = check_gate_and_write_certificate_if_passed(empty, run, order, clock=calendar)
    assert result.outcome is CheckOutcome.UNDECIDED
    assert "The judge failed on 1 of 50 conversations of run 1" in result.checks[1].reason
    accepting = replace(order, accept=("unfinished_run",))
    kappa = check_gate_and_write_certificate_if_passed(
        empty, run, accepting, clock=calendar
    ).checks[1]
    assert "the judge failed" not in kappa.reason


def agree_throughout(number: int, place: int, judge: str) -> str:
    return judge


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["undone", "replaced", "settled by another", "settled alone"])
def test_labels_that_were_changed_until_they_agree_are_asked_about(
    judged: Store, calendar: Calendar, way: str
) -> None:
    """Ten of 96 labels differ from the judge's at first, and none in the end."""
    label(judged, RUN, lambda *claim: word if (word := fair(*claim)) == claim[2] else None)
    label(judged, RUN, lambda *claim: word if (word := fair(*claim)) != claim[2] else None)
    for _ in range(10 if way == "undone" else 0):
        judged.label_log.undo("ann")
    is_settled = way.startswith("settled")
    label(
        judged,
        RUN,
        agree_throughout,
        by="bo" if way == "settled by another" else "ann",
        action=Action.ADJUDICATED if is_settled else Action.BLIND,
    )
    accepted = ("not_blind",) if is_settled else ()
    asked, why = ask(judged, RUN, calendar, *accepted)
    assert (asked, "10 of the 96 labelled claims" in why) == (CheckOutcome.UNDECIDED, True)
    assert "--accept changed_labels" in why
    passed, _ = ask(judged, RUN, calendar, "changed_labels", *accepted)
    assert passed is CheckOutcome.PASSED


def label_missed_claims_as_the_judge_says(number: int, place: int, judge: str) -> str | None:
    """Change four labels of 96."""
    is_missed = fair(number, place, judge) != judge
    return judge if is_missed and number < 8 else None


@pytest.mark.parametrize(
    ("way", "codes"),
    [
        ("changed", ("changed_labels",)),
        ("filled in by an import", ("imported_labels",)),
        ("changed by an import", ("changed_labels", "imported_labels")),
    ],
)
def test_a_few_labels_that_nobody_can_vouch_for_count_for_and_against_the_judge(
    judged: Store, calendar: Calendar, way: str, codes: tuple[str, ...]
) -> None:
    """One label in twenty can be every unfaithful claim that the judge missed."""
    calendar.wait(1)
    given = label_missed_claims_as_the_judge_says
    if way == "filled in by an import":
        label(judged, RUN, lambda *claim: None if given(*claim) else fair(*claim))
        label(judged, RUN, given, by="bo", action=Action.IMPORTED)
    else:
        label(judged, RUN)
        action = Action.BLIND if way == "changed" else Action.IMPORTED
        label(judged, RUN, given, action=action)
    order = GateRequest(kappa=0.65)

    def check(*accepted: str) -> CriterionCheck:
        wanted = replace(order, accept=accepted)
        result = check_gate_and_write_certificate_if_passed(judged, RUN, wanted, clock=calendar)
        return next(each for each in result.checks if each.criterion is Criterion.KAPPA)

    for number, code in enumerate(codes):
        asked = check(*codes[:number], *codes[number + 1 :])
        assert asked.outcome is CheckOutcome.UNDECIDED
        assert f"--accept {code} counts them as labelled" in asked.reason
    assert check(*codes).outcome is CheckOutcome.PASSED


def test_a_label_that_was_changed_away_from_the_judge_is_not_asked_about(
    judged: Store, calendar: Calendar
) -> None:
    label(judged, RUN, agree_throughout)
    label(judged, RUN)
    assert ask(judged, RUN, calendar)[0] is CheckOutcome.PASSED


def test_labels_that_were_imported_once_the_judge_had_spoken_are_asked_about(
    judged: Store, calendar: Calendar
) -> None:
    calendar.wait(1)
    label(judged, RUN, action=Action.IMPORTED)
    asked, why = ask(judged, RUN, calendar)
    assert (asked, "--accept imported_labels" in why) == (CheckOutcome.UNDECIDED, True)
    assert ask(judged, RUN, calendar, "imported_labels")[0] is CheckOutcome.PASSED
    # A RUN that is made anew does not make its verdicts unknown to whoever imported them.
    again = run_over(judged)
    assert ask(judged, again, calendar)[0] is CheckOutcome.UNDECIDED


def run_over_some(store: Store, run: RunId, places: Sequence[int]) -> RunId:
    """Judge some conversations of a run again."""
    rows = store.runs.read_item_rows(store.runs.list_item_ids(run))
    part = store.runs.create(JUDGED, [rows[place].conversation for place in places])
    items = store.runs.list_item_ids(part)
    for item, place in zip(items, places, strict=True):
        for window in windows_of(make_conversation(f"t{place}", answers=1)):
            store.runs.save_window(item, assess(window, {1: CLAIMS}, rule=JUDGED.rule))
        store.runs.score_and_finish_item(item, ItemState.DONE, None, "all in all")
    store.findings.replace_findings_of_conversations(
        [ItemCheckResult(each, ItemState.DONE, 1, ()) for each in items]
    )
    store.runs.set_state(part, RunState.DONE)
    return part


def test_a_run_over_conversations_whose_labels_were_known_is_asked_about(
    store: Store, calendar: Calendar
) -> None:
    """The judge is wrong in eight of 24 conversations: somebody judges the others again."""
    calendar.wait(1)
    sound = [place for place in range(CONVERSATIONS) if place % 6 and place % 4]
    suiting = run_over_some(store, RUN, sound)
    accept = ("few_conversations",)
    asked, why = ask(store, suiting, calendar, *accept)
    assert (asked, "--accept other_conversations" in why) == (CheckOutcome.UNDECIDED, True)
    passed, _ = ask(store, suiting, calendar, *accept, "other_conversations")
    assert passed is CheckOutcome.PASSED
    whole = run_over_some(store, RUN, range(CONVERSATIONS))
    assert ask(store, whole, calendar)[0] is CheckOutcome.PASSED


@pytest.mark.thorough
def test_conversations_that_were_judged_before_they_were_labelled_are_not_asked_about(
    judged: Store, calendar: Calendar
) -> None:
    """Two runs over two halves of a data set, each labelled then."""
    first = RUN
    label(judged, first)
    calendar.wait(1)
    second = run_over(judged, name="later")
    label(judged, second)
    assert ask(judged, second, calendar)[0] is CheckOutcome.PASSED


def test_labels_of_a_bundle_that_nothing_vouches_for_are_asked_about(
    store: Store, judged: Store, calendar: Calendar, tmp_path: Path
) -> None:
    """Somebody exports labels, changes those that differ from the judge's, and merges the file."""
    path = tmp_path / "labels.jsonl"
    write_bundle_file(store, path, force=False)
    honest = path.read_text(encoding="utf-8")
    header, *lines = honest.splitlines()
    acts = [json.loads(each) for each in lines]
    for each in acts:
        if each["type"] == "act":
            each["verdict"] = each["judge_verdict"]
    edited = [json.loads(header), *acts]
    path.write_text("".join(json.dumps(each) + "\n" for each in edited), encoding="utf-8")
    (refusal,) = merge_bundles_into_store(judged, [path]).refusals
    assert "changed after it was exported" in refusal.reason
    del edited[0]["digest"]
    path.write_text("".join(json.dumps(each) + "\n" for each in edited), encoding="utf-8")
    assert merge_bundles_into_store(judged, [path]).is_complete
    asked, why = ask(judged, RUN, calendar)
    assert (
        asked,
        "96 claims in the figures rest on labels of a bundle without a digest" in why,
    ) == (
        CheckOutcome.UNDECIDED,
        True,
    )
    assert ask(judged, RUN, calendar, "unverified_labels")[0] is CheckOutcome.PASSED


def test_a_report_of_answers_names_labels_of_a_bundle_that_nothing_vouches_for(
    empty: Store, calendar: Calendar, tmp_path: Path, elsewhere: Store
) -> None:
    for store in (empty, elsewhere):
        run = run_over(store, rated=24)
    bundle = empty.bundles.make_label_bundle()
    later = [
        each._replace(id=f"x{each.id}", reviewer="bo", unverified=True) for each in bundle.acts
    ]
    elsewhere.bundles.merge(replace(bundle, acts=tuple(later)))
    warnings = compute_run_agreement(elsewhere, run).report.warnings
    found = [each for each in warnings if each.code == "unverified_labels"]
    assert [(each.level, each.message.split(" rest")[0]) for each in found] == [
        (ReportLevel.ANSWERS, "24 answers in the figures")
    ]
