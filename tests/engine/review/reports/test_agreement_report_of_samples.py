"""A report on a sample in a store: what each label stands for is counted in the run."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.agreement.gate.threshold_checks import CheckOutcome, Criterion
from faithtui.agreement.labelled_units import DesignKind, UnitScores
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import ClaimId, RunId, SampleId
from faithtui.domain.labels.label_events import Action
from faithtui.engine.review.gate.gate import GateRequest, check_gate_and_write_certificate_if_passed
from faithtui.engine.review.reports.agreement_report import compute_run_agreement, iter_report_text
from faithtui.engine.review.reports.run_comparison import compare_runs
from faithtui.errors import StoreError
from faithtui.store.records import ItemState
from faithtui.store.store import Store
from tests.store.building import (
    SPEC,
    assess,
    import_conversations,
    make_conversation,
    windows_of,
)
from tests.store.runs.test_run_designs import drawn, judged_all, label, sampled, skip

KEYS = "abcdefghijklmnopqrst"
"""Conversations of five claims each: three that the judge passes, one `no` and one `idk`."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "sampled.db") as opened:
        yield opened


@pytest.fixture
def run(store: Store) -> RunId:
    return judged_all(store, KEYS)


def test_labels_of_a_stratum_stand_for_the_run_and_not_for_what_was_drawn(
    store: Store, run: RunId
) -> None:
    sizes = {"judge yes": 6, "judge no": 10, "judge idk": 5}
    row = sampled(store, run, SamplePlan(SamplingDesign.STRATIFIED, 7, sizes=sizes), "verdict")
    # People call half of the drawn `yes` a contradiction, and agree with all the rest.
    yes = drawn(store, row, "judge yes")
    label(store, run, yes[:3], "no")
    label(store, run, yes[3:], "yes")
    label(store, run, drawn(store, row, "judge no"), "no")
    label(store, run, drawn(store, row, "judge idk"), "idk")
    found = compute_run_agreement(store, run)
    counts = Counter(each.judge for each in found.readings.claims)
    assert counts == {"yes": 60, "no": 20, "idk": 20}
    claims = found.report.claims
    assert claims.design.kind is DesignKind.STRATIFIED
    # By hand: 30 of the 60 `yes`, 20 `no` and 20 `idk` are right.
    assert claims.percent_agreement.value == pytest.approx(0.7)
    weighted = [list(row) for row in claims.agreement.weighted or ()]
    assert weighted == [[30, 0, 0], [30, 20, 0], [0, 0, 20]]
    assert claims.strict.recall.value == pytest.approx(20 / 50)
    assert claims.strict.prevalence.value == pytest.approx(0.5)
    assert claims.rate.corrected_this_run.value == pytest.approx((30 + 20) / 100)
    rows = csv.DictReader(io.StringIO("".join(iter_report_text(store, found, "csv"))))
    weights = {each["judge"]: float(each["weight"]) for each in rows if each["weight"]}
    assert weights == {"yes": 10.0, "no": 2.0, "idk": 4.0}


def test_a_simple_sample_weighs_all_alike(store: Store, run: RunId) -> None:
    plan = SamplePlan(SamplingDesign.SIMPLE, 7, 20)
    row = store.samples.save_draw_as_sample(
        run, "ann", make_sample_draw(store.samples.read_frame(run), plan), plan, name="s"
    )
    label(store, run, drawn(store, row), "yes")
    found = compute_run_agreement(store, run).report.claims
    assert found.agreement.weighted is None
    assert found.rate.corrected_this_run.value == 1.0
    assert found.rate.corrected_this_run.n == 20


def test_labels_served_with_the_judge_in_view_measure_its_pull_alone(
    store: Store, run: RunId
) -> None:
    """Annotators copy the judge where they see it, and call a third of the others `no`."""
    plan = SamplePlan(SamplingDesign.SIMPLE, 7, 60, shown_share=0.4)
    row = store.samples.save_draw_as_sample(
        run, "ann", make_sample_draw(store.samples.read_frame(run), plan), plan, name="s"
    )
    entries = store.samples.list_claims_in_served_order(row.id, "ann")
    judged = {each.claim: each.judge for each in compute_run_agreement(store, run).readings.claims}
    shown = [each.claim for each in entries if each.shown]
    blind = [each.claim for each in entries if not each.shown]
    for claim in shown:
        word = judged[claim]
        store.label_log.append_label_event(
            claim, "ann", Action.AGREED, word, run=run, judge_verdict=word, saw_judge=True
        )
    for number, claim in enumerate(blind):
        word = judged[claim] if number % 3 else {"yes": "no"}.get(judged[claim] or "", "yes")
        label(store, run, [claim], word or "")
    found = compute_run_agreement(store, run).report
    claims, coverage = found.claims, found.claims.coverage
    assert (coverage.audit, coverage.compared, coverage.outside) == (len(shown), 60, 0)
    assert (claims.agreement.n, coverage.blind, coverage.shown) == (len(blind), len(blind), 0)
    assert claims.percent_agreement.value == pytest.approx(1 - len(blind[::3]) / len(blind))
    assert claims.rate.corrected_this_run.n == claims.rate.label_mean.n == len(blind)
    assert found.anchoring is not None
    assert found.anchoring.shown.n == len(shown)
    (rater,) = found.raters
    assert (rater.labels, rater.blind, rater.agreement.n) == (60, len(blind), len(blind))
    assert rater.overrides == len(blind[::3])
    assert rater.agreement.percent.value == claims.percent_agreement.value
    codes = {each.code for each in found.warnings}
    assert {"audit_left_out", "anchoring_suspected"} <= codes
    assert "not_blind" not in codes
    rows = csv.DictReader(
        io.StringIO("".join(iter_report_text(store, compute_run_agreement(store, run), "csv")))
    )
    assert sum(bool(each["weight"]) for each in rows) == len(blind)


SECOND = {1: ("yes", "yes"), 3: ("no", "yes", "no")}
"""What another judge says of the claims that the first calls yes, no, idk, yes, yes."""


def test_another_judge_of_the_same_claims_is_weighted_as_they_were_drawn(
    store: Store, run: RunId
) -> None:
    sizes = {"judge yes": 6, "judge no": 10, "judge idk": 5}
    row = sampled(store, run, SamplePlan(SamplingDesign.STRATIFIED, 7, sizes=sizes), "verdict")
    yes = drawn(store, row, "judge yes")
    label(store, run, yes[:3], "no")
    label(store, run, yes[3:], "yes")
    label(store, run, drawn(store, row, "judge no"), "no")
    label(store, run, drawn(store, row, "judge idk"), "idk")
    second = judged_all(store, KEYS, SECOND, replace(SPEC, judge="openai:other"))
    found = compute_run_agreement(store, second)
    claims = found.report.claims
    assert (claims.design.kind, claims.design.drawn_in) == (DesignKind.STRATIFIED, run)
    # By hand: 30 of the 60 claims of the first stratum pass, and all 20 that were `idk`.
    assert claims.rate.corrected_this_run.value == pytest.approx((30 + 20) / 100)
    rows = csv.DictReader(io.StringIO("".join(iter_report_text(store, found, "csv"))))
    weights = {(each["human"], float(each["weight"])) for each in rows if each["weight"]}
    assert weights == {("no", 10.0), ("yes", 10.0), ("no", 2.0), ("idk", 4.0)}
    assert [each.message for each in found.report.warnings if each.code == "sample_of_other_run"]
    # Without the sample the labels are whatever somebody happened to look at.
    with pytest.raises(StoreError):
        compute_run_agreement(store, second, ReportSettings(sample=SampleId(9)))


@pytest.mark.thorough
def test_claims_that_could_not_be_drawn_may_all_pass_or_all_fail(store: Store, run: RunId) -> None:
    """A judge that words claims otherwise has no surer share than these leave it."""
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, size=40))
    label(store, run, drawn(store, row), "yes")
    wanted = ReportSettings(sample=row.id)
    same = judged_all(store, KEYS, SECOND, replace(SPEC, judge="openai:other"))
    more = {turn: (*words, "yes") for turn, words in SECOND.items()}
    other = judged_all(store, KEYS, more, replace(SPEC, judge="openai:third"))
    alone, among_own = (compute_run_agreement(store, each, wanted).report for each in (same, other))
    known, found = (each.claims.rate.corrected_this_run for each in (alone, among_own))
    design = among_own.claims.design
    assert (design.beyond, known.value, found.value) == (40, 1.0, 1.0)
    assert (known.ci_low, found.ci_high) != (None, None)
    share = design.frame_units / (design.frame_units + 40)
    assert found.ci_low == pytest.approx((known.ci_low or 0) * share)
    (told,) = (each.message for each in among_own.warnings if each.code == "sample_of_other_run")
    assert told.endswith(
        "left out; the intervals of the corrected share reach as far as these could move it."
    )
    accepted = ("sample_of_other_run", "not_checked")
    request = GateRequest(score=0.8, sample=row.id, accept=accepted)
    for number, outcome in ((same, CheckOutcome.PASSED), (other, CheckOutcome.BELOW)):
        checks = check_gate_and_write_certificate_if_passed(store, number, request).checks
        (score,) = (each for each in checks if each.criterion is Criterion.SCORE)
        assert score.outcome is outcome, score


def test_a_run_of_the_drawn_conversations_alone_has_no_corrected_rate(
    store: Store, run: RunId
) -> None:
    """Else all its claims are labelled, and a sample would pass for a census."""
    row = sampled(store, run, SamplePlan(SamplingDesign.CONVERSATIONS, 7, size=6))
    label(store, run, drawn(store, row), "yes")
    wanted = {each.item for each in store.samples.list_claims_in_served_order(row.id, "ann")}
    items = store.runs.list_item_ids(run)
    keys = [key for key, item in zip(KEYS, items, strict=True) if item in wanted]
    assert len(keys) == 6
    second = judged_all(store, keys, SECOND, replace(SPEC, judge="openai:other"))
    found = compute_run_agreement(store, second, ReportSettings(sample=row.id)).report
    assert found.claims.design.kind is DesignKind.CONVENIENCE
    assert found.claims.rate.corrected_this_run.value is None
    (told,) = (each.message for each in found.warnings if each.code == "design_not_random")
    assert "this run judged those that were drawn rather than the others" in told
    checked = check_gate_and_write_certificate_if_passed(
        store, second, GateRequest(kappa=-1.0, sample=row.id)
    )
    (kappa,) = (each for each in checked.checks if each.criterion is Criterion.KAPPA)
    assert kappa.outcome is CheckOutcome.UNKNOWN
    # The first conversations, whichever were drawn, are a part like any other.
    third = judged_all(store, KEYS[:8], SECOND, replace(SPEC, judge="openai:third"))
    part = compute_run_agreement(store, third, ReportSettings(sample=row.id)).report
    assert part.claims.design.kind is DesignKind.CLUSTER


def test_a_sample_that_is_not_there_is_refused_where_all_is_labelled(
    store: Store, run: RunId
) -> None:
    label(
        store,
        run,
        [each.claim for each in store.labelled_units.read_report_units(run).claims],
        "yes",
    )
    assert compute_run_agreement(store, run).report.claims.design.kind is DesignKind.CENSUS
    with pytest.raises(StoreError, match="has no sample 999"):
        compute_run_agreement(store, run, ReportSettings(sample=SampleId(999)))


@pytest.mark.thorough
def test_two_runs_are_compared_with_the_figures_of_the_report(store: Store, run: RunId) -> None:
    sizes = {"judge yes": 20, "judge no": 10, "judge idk": 5}
    row = sampled(store, run, SamplePlan(SamplingDesign.STRATIFIED, 7, sizes=sizes), "verdict")
    label(store, run, drawn(store, row, "judge yes"), "yes")
    label(store, run, drawn(store, row, "judge no"), "yes")
    label(store, run, drawn(store, row, "judge idk"), "idk")
    second = judged_all(store, KEYS, SECOND, replace(SPEC, judge="openai:other"))
    for a, b in ((run, second), (second, run)):
        change = compare_runs(store, a, b, "ann")
        report = compute_run_agreement(store, a, other=b).report
        assert change.report == report.comparison
        assert change.report.accuracy_a.value == pytest.approx(
            report.claims.percent_agreement.value
        )
    # By hand: A is right on 60 + 0 + 20 of 100 claims, counted alike on 25 of 35.
    assert compare_runs(store, run, second, "ann").report.accuracy_a.value == pytest.approx(0.8)


def test_a_comparison_leaves_out_and_counts_apart_what_was_shown_on_purpose(
    store: Store, run: RunId
) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, size=40, shown_share=0.3))
    entries = store.samples.list_claims_in_served_order(row.id, "ann")
    shown = [each.claim for each in entries if each.shown]
    assert 0 < len(shown) < 40
    label(store, run, [each.claim for each in entries if not each.shown])
    for claim in shown:
        store.label_log.record_verdict(claim, "ann", "yes", run=run, saw_judge=True)
    second = judged_all(store, KEYS, SECOND, replace(SPEC, judge="openai:other"))
    change = compare_runs(store, run, second, "ann")
    assert change.report.n_common == 40 - len(shown)
    assert (change.left_out.audit, change.in_view) == (len(shown), 0)


def test_scores_leave_out_labels_served_with_the_judge_in_view(tmp_path: Path) -> None:
    """A careless label of a claim that is shown with the verdict changed every mean score."""
    plan = SamplePlan(SamplingDesign.CONVERSATIONS, 7, 10, shown_share=0.4)
    found = []
    for word_in_view in ("yes", "no"):
        with Store.open(tmp_path / f"{word_in_view}.db") as store:
            run = judged_all(store, KEYS)
            draw = make_sample_draw(store.samples.read_frame(run), plan)
            row = store.samples.save_draw_as_sample(run, "ann", draw, plan, name="s")
            for each in store.samples.list_claims_in_served_order(row.id, "ann"):
                label(store, run, [each.claim], word_in_view if each.shown else "yes")
            found.append(compute_run_agreement(store, run).report)
    one, other = found
    assert one.claims.coverage.audit > 0
    assert one.unit_scores == other.unit_scores
    whole = one.unit_scores[-1]
    # The judge's score is that of the same claims: 3 `yes`, a `no` and an `idk` a conversation.
    assert (whole.human_mean, whole.n) == (1.0, 10)
    assert whole.judge_mean is not None
    assert 0.6 <= whole.judge_mean < 1
    assert whole.corrected.value is not None


def test_scores_of_a_unit_with_a_tie_are_both_without_what_was_shown(
    store: Store, run: RunId
) -> None:
    """The judge's was of all five claims, the annotators' of those that were not shown."""
    plan = SamplePlan(SamplingDesign.CONVERSATIONS, 7, 20, shown_share=0.4)
    row = store.samples.save_draw_as_sample(
        run, "ann", make_sample_draw(store.samples.read_frame(run), plan), plan, name="s"
    )
    entries = store.samples.list_claims_in_served_order(row.id, "ann")
    judge = {each.claim: each.judge for each in store.labelled_units.read_claim_units(run)}
    for each in entries:
        label(store, run, [each.claim], judge[each.claim] or "")

    def list_scores() -> list[UnitScores]:
        found = compute_run_agreement(store, run).readings.scores
        return [each for each in found if each.human_bounds is not None]

    # Both pass, so the score is known though annotators differ.
    passing = [each.claim for each in entries if not each.shown and judge[each.claim] == "yes"]
    label(store, run, passing, "idk", "bob")
    known = list_scores()
    assert known
    assert all(each.judge == each.human for each in known)
    # One passes and one fails: the score lies between the two.
    label(store, run, passing, "no", "bob")
    bounded = [each for each in list_scores() if each.human is None]
    assert {(each.key, each.window): each.judge for each in bounded}.items() <= {
        (each.key, each.window): each.judge for each in known
    }.items()
    assert all(each.judge == max(each.human_bounds or [-1.0]) for each in bounded)
    assert bounded


def draw_conversations(store: Store, run: RunId, size: int) -> list[ClaimId]:
    """Draw whole conversations, and list their claims as they are served."""
    plan = SamplePlan(SamplingDesign.CONVERSATIONS, 7, size)
    draw = make_sample_draw(store.samples.read_frame(run), plan)
    row = store.samples.save_draw_as_sample(run, "ann", draw, plan, name="s")
    return [each.claim for each in store.samples.list_claims_in_served_order(row.id, "ann")]


def correct_mean_score(store: Store, run: RunId) -> Estimate:
    """Correct the mean score of the conversations of a sample of conversations."""
    found = compute_run_agreement(store, run).report
    assert found.claims.design.kind is DesignKind.CLUSTER
    return found.unit_scores[-1].corrected


def expect_between(store: Store, run: RunId, claims: list[ClaimId], found: Estimate) -> None:
    """Expect a mean score to span what it is with some claims labelled `no`, and `yes`."""
    label(store, run, claims, "no")
    bad = correct_mean_score(store, run)
    label(store, run, claims, "yes")
    good = correct_mean_score(store, run)
    assert bad.value is not None
    assert good.value is not None
    assert bad.value < good.value
    assert found.value == pytest.approx((bad.value + good.value) / 2)
    assert found.ci_low == bad.ci_low
    assert found.ci_high == (good.ci_high or good.value)


def test_the_mean_score_spans_what_a_claim_left_out_of_each_conversation_may_be(
    store: Store, run: RunId
) -> None:
    """Who leaves a claim of every bad conversation leaves out their scores."""
    order = draw_conversations(store, run, 12)
    label(store, run, [each for at, each in enumerate(order) if at % 10], "yes")
    expect_between(store, run, order[::10], correct_mean_score(store, run))


@pytest.mark.parametrize("is_skipped", [True, False])
def test_the_mean_score_spans_what_conversations_left_out_whole_may_score(
    store: Store, run: RunId, is_skipped: bool
) -> None:
    """Who skips or passes over each bad conversation chose the mean score of the rest."""
    order = draw_conversations(store, run, 14)
    left_out = order[10:15]
    label(store, run, order[:5], "no")
    label(store, run, [each for each in order[5:60] if each not in left_out], "yes")
    if is_skipped:
        for claim in left_out:
            skip(store, run, claim)
    expect_between(store, run, left_out, correct_mean_score(store, run))


def test_a_tie_on_each_bad_conversation_leaves_none_of_them_out(store: Store, run: RunId) -> None:
    """One `yes` of a second annotator in each made the mean score 1.0, in a census too."""
    order = draw_conversations(store, run, 12)
    bad = order[:30]
    label(store, run, bad, "no")
    label(store, run, order[30:], "yes")
    low = correct_mean_score(store, run)
    label(store, run, bad[::5], "yes", "bob")
    tied = correct_mean_score(store, run)
    assert low.value is not None
    assert tied.value is not None
    assert low.value < tied.value < 0.7
    assert tied.ci_low == low.ci_low
    everything = [each.claim for each in compute_run_agreement(store, run).readings.claims]
    label(store, run, [each for each in everything if each not in order], "yes")
    found = compute_run_agreement(store, run).report
    assert found.claims.design.kind is DesignKind.CENSUS
    whole = found.unit_scores[-1].corrected
    assert whole.value is not None
    assert whole.value < (14 + 6 * 0.4) / 20


def test_claims_of_a_conversation_that_are_all_called_unfair_leave_its_score_open(
    store: Store, run: RunId
) -> None:
    """Whoever called all claims of a bad one unfair gave it a score of 1."""
    order = draw_conversations(store, run, 12)
    label(store, run, order[:5], "x")
    label(store, run, order[5:10], "no")
    label(store, run, order[10:], "yes")
    expect_between(store, run, order[:5], correct_mean_score(store, run))


def test_claims_of_a_window_that_are_all_called_unfair_leave_its_conversation_open(
    tmp_path: Path,
) -> None:
    """Whoever called each claim of the bad turns unfair made the mean score 1.0 for .5."""
    with Store.open(tmp_path / "store.db") as store:
        chats = [make_conversation(key, answers=2) for key in KEYS[:14]]
        run = store.runs.create(SPEC, import_conversations(store, chats))
        for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
            for window in windows_of(each, 1):
                store.runs.save_window(item, assess(window, {1: ("yes",), 3: ("no",)}))
            store.runs.score_and_finish_item(item, ItemState.DONE, None, "fingerprint")
        order = draw_conversations(store, run, 12)
        turns = {each.claim: each.turn for each in store.labelled_units.read_claim_units(run)}
        bad = [each for each in order if turns[each] == 3]
        label(store, run, [each for each in order if turns[each] == 1], "yes")
        label(store, run, bad, "x")
        found = correct_mean_score(store, run)
        assert found.value == pytest.approx(0.75)
        expect_between(store, run, bad, found)


def test_a_tie_between_labels_that_both_pass_leaves_the_score_known(
    store: Store, run: RunId
) -> None:
    order = draw_conversations(store, run, 12)
    label(store, run, order, "yes")
    label(store, run, order[::5], "idk", "bob")
    whole = compute_run_agreement(store, run).report.unit_scores[-1]
    assert (whole.n, whole.n_partially_labelled, whole.human_mean) == (12, 0, 1.0)
    assert whole.corrected.value == 1.0


def test_a_label_far_down_the_drawn_order_leaves_the_mean_score_as_it_is(
    store: Store, run: RunId
) -> None:
    order = draw_conversations(store, run, 20)
    label(store, run, order[:5], "no")
    label(store, run, order[5:60], "yes")
    before = correct_mean_score(store, run)
    label(store, run, order[-1:], "yes")
    assert correct_mean_score(store, run) == before
    # Whole ones behind it are no random sample either.
    label(store, run, order[-10:], "yes")
    assert correct_mean_score(store, run) == before


def test_a_conversation_that_is_labelled_now_is_known_within_its_bounds(
    store: Store, run: RunId
) -> None:
    order = draw_conversations(store, run, 14)
    label(store, run, order[:55], "yes")
    label(store, run, order[55:57], "no")
    expect_between(store, run, order[57:60], correct_mean_score(store, run))


def test_labels_of_conversations_with_a_forgotten_claim_weigh_what_they_stand_for(
    store: Store, run: RunId
) -> None:
    order = draw_conversations(store, run, 10)
    label(
        store, run, [each for each in order if each not in (order[3], order[12], order[31])], "yes"
    )
    found = compute_run_agreement(store, run)
    assert found.report.claims.design.drawn_conversations == 10
    rows = csv.DictReader(io.StringIO("".join(iter_report_text(store, found, "csv"))))
    weights = [float(each["weight"]) for each in rows if each["weight"]]
    assert weights == pytest.approx([100 / 47] * 47)


def test_labels_in_view_are_no_broken_order(store: Store, run: RunId) -> None:
    plan = SamplePlan(SamplingDesign.SIMPLE, 7, 30)
    row = store.samples.save_draw_as_sample(
        run, "ann", make_sample_draw(store.samples.read_frame(run), plan), plan, name="s"
    )
    for at, claim in enumerate(drawn(store, row)):
        store.label_log.record_verdict(claim, "ann", "yes", run=run, saw_judge=at % 6 == 5)
    found = compute_run_agreement(store, run, ReportSettings(blind_only=True)).report
    codes = {each.code for each in found.warnings}
    assert found.claims.design.in_view == 5
    assert "labelled_in_view" in codes
    assert "order_broken" not in codes


def test_scores_hold_shown_claims_where_claim_figures_do(store: Store, run: RunId) -> None:
    """A sample that was not followed is none, and what was shown on purpose counts as any label."""
    plan = SamplePlan(SamplingDesign.SIMPLE, 7, 60, shown_share=0.4)
    row = store.samples.save_draw_as_sample(
        run, "ann", make_sample_draw(store.samples.read_frame(run), plan), plan, name="s"
    )
    entries = store.samples.list_claims_in_served_order(row.id, "ann")
    shown = {each.claim for each in entries if each.shown}
    chosen = [each.claim for each in entries][::-1][:20]
    everything = [each.claim for each in compute_run_agreement(store, run).readings.claims]
    label(store, run, [each for each in everything if each not in shown][30:], "yes")
    label(store, run, sorted(shown | set(chosen)), "no")
    found = compute_run_agreement(store, run)
    assert found.report.claims.design.kind is DesignKind.CONVENIENCE
    assert found.report.claims.coverage.audit == 0
    assert any(each.human is not None and each.human < 1 for each in found.readings.scores)


def test_a_tie_and_the_conversation_that_is_labelled_now_withhold_no_mean_score(
    store: Store, run: RunId
) -> None:
    order = draw_conversations(store, run, 8)
    label(store, run, order[:37], "yes")
    for claim in order[:30:10]:
        store.label_log.record_verdict(claim, "bob", "no", run=run, saw_judge=False)
    whole = compute_run_agreement(store, run).report.unit_scores[-1]
    assert (whole.n, whole.n_partially_labelled) == (4, 4)
    assert whole.corrected.value is not None
