"""Figures against thresholds: what passes, what falls short, and what cannot be said."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.gate.threshold_checks import (
    EXIT_CODES,
    CheckOutcome,
    Criterion,
    CriterionCheck,
    GateFigures,
    ThresholdBasis,
    Thresholds,
    check_accuracy_drop,
    check_figures_against_thresholds,
    choose_worst_outcome,
    explain_doubtful_figures,
    select_figures_gate_may_rely_on,
)
from faithtui.agreement.labelled_units import ClaimUnit, DesignKind, LabelDesign
from faithtui.agreement.report.model import LevelReport
from faithtui.agreement.report.report import agreement_report
from faithtui.agreement.report.settings import ReportLevel
from faithtui.domain.estimates import (
    Estimate,
    EstimateMethod,
    EstimateStatus,
    make_undefined_estimate,
    make_withheld_estimate,
)
from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.scores import ScoringRule
from faithtui.domain.withheld_reasons import WithheldReason
from tests.agreement.building import readings

RULE = ScoringRule(passing=("yes", "idk"), when_empty=1.0)


def figure(value: float, low: float | None, high: float | None = None, n: int = 60) -> Estimate:
    if low is None:
        return Estimate(value, EstimateStatus.OK, n, 4, WithheldReason.TOO_FEW_CLUSTERS)
    return Estimate(
        value, EstimateStatus.OK, n, 24, ci_low=low, ci_high=high or max(value, low), level=0.95,
        method=EstimateMethod.JACKKNIFE_ATANH,
    )  # fmt: skip


FOUND = GateFigures(
    ReportLevel.CLAIMS, DesignKind.CENSUS, 60, 24,
    kappa=figure(0.7, 0.6, 0.8), recall_no=figure(0.8, 0.5, 0.9, 12), score=figure(0.9, 0.85, 0.95),
)  # fmt: skip


NARROW, WIDE = figure(0.9, 0.85, 0.95), figure(0.9, 0.8, 0.96)


def only(found: GateFigures, wanted: Thresholds, age: float | None = 1.0) -> CriterionCheck:
    """The check of the one threshold that is asked for."""
    _, check = check_figures_against_thresholds(found, wanted, age)
    return check


def test_the_lower_end_has_to_reach_the_threshold() -> None:
    assert only(FOUND, Thresholds(kappa=0.6)).outcome is CheckOutcome.PASSED
    between = only(FOUND, Thresholds(kappa=0.65))
    assert between.outcome is CheckOutcome.BELOW
    assert between.reason == "the value reaches it, the lower end of its interval does not"
    below = only(FOUND, Thresholds(kappa=0.75))
    assert below.outcome is CheckOutcome.BELOW
    assert below.reason == "the value is below it, the upper end of its interval is not"
    assert only(FOUND, Thresholds(kappa=0.85)).reason == "all of the interval is below it"
    of_point = Thresholds(kappa=0.85, basis=ThresholdBasis.POINT)
    assert only(FOUND, of_point).reason == "the value is below it"
    labels, _ = check_figures_against_thresholds(FOUND, Thresholds(kappa=0.6, labels=61), 1.0)
    assert (labels.outcome, labels.reason) == (CheckOutcome.UNKNOWN, "1 more is needed")


def test_the_value_is_enough_when_asked_so() -> None:
    assert (
        only(FOUND, Thresholds(kappa=0.65, basis=ThresholdBasis.POINT)).outcome
        is CheckOutcome.PASSED
    )
    assert (
        only(FOUND, Thresholds(kappa=0.75, basis=ThresholdBasis.POINT)).outcome
        is CheckOutcome.BELOW
    )


def test_without_an_interval_only_the_value_can_pass() -> None:
    found = replace(FOUND, kappa=figure(0.9, None))
    check = only(found, Thresholds(kappa=0.5))
    assert (check.outcome, check.reason) == (
        CheckOutcome.UNKNOWN,
        "no interval: too few groups for an interval",
    )
    assert (
        only(found, Thresholds(kappa=0.5, basis=ThresholdBasis.POINT)).outcome
        is CheckOutcome.PASSED
    )


@pytest.mark.parametrize("basis", ThresholdBasis)
@pytest.mark.parametrize(
    "nothing",
    [
        make_undefined_estimate(WithheldReason.NO_ITEMS),
        make_withheld_estimate(WithheldReason.DESIGN_NOT_RANDOM, 50, 9),
    ],
)
def test_what_has_no_value_never_passes(basis: ThresholdBasis, nothing: Estimate) -> None:
    found = replace(FOUND, kappa=nothing, recall_no=nothing, score=nothing)
    wanted = Thresholds(kappa=-1, recall_no=0, score=0, basis=basis)
    _, *figures = check_figures_against_thresholds(found, wanted, 1.0)
    assert {each.outcome for each in figures} == {CheckOutcome.UNKNOWN}
    assert nothing.reason is not None
    assert {each.reason for each in figures} == {nothing.reason.words}


@pytest.mark.parametrize("basis", list(ThresholdBasis))
def test_a_judge_that_may_be_guessing_neither_passes_nor_fails(basis: ThresholdBasis) -> None:
    """Its score of .53 [0, 1] passed a threshold of .45 by its value."""
    score = replace(figure(0.53, 0.0, 1.0), reason=WithheldReason.UNINFORMATIVE_JUDGE)
    for threshold in (0.45, 0.6):
        check = only(replace(FOUND, score=score), Thresholds(score=threshold, basis=basis))
        assert check.outcome is CheckOutcome.UNKNOWN
        assert check.reason == "the judge is uninformative"


def test_a_bare_recall_needs_ten_unfaithful_ones() -> None:
    wanted = Thresholds(recall_no=0.7, basis=ThresholdBasis.POINT)
    assert only(FOUND, wanted).outcome is CheckOutcome.PASSED
    few = replace(FOUND, recall_no=figure(1.0, 0.6, 1.0, 9))
    check = only(few, wanted)
    assert (check.outcome, check.reason) == (
        CheckOutcome.UNKNOWN,
        "annotators found 9 unfaithful; 10 are needed",
    )
    assert only(few, Thresholds(recall_no=0.6)).outcome is CheckOutcome.PASSED
    ten = replace(FOUND, recall_no=figure(1.0, 0.6, 1.0, 10))
    assert only(ten, wanted).outcome is CheckOutcome.PASSED


def test_thirty_labels_are_needed_unless_others_are_asked_for() -> None:
    few = replace(FOUND, labels=29)
    (check,) = check_figures_against_thresholds(few, Thresholds(), None)
    assert (check.outcome, check.threshold, check.value) == (CheckOutcome.UNKNOWN, 30, 29)
    (check,) = check_figures_against_thresholds(few, Thresholds(labels=29), None)
    assert check.outcome is CheckOutcome.PASSED


def test_age_is_stale_when_over_and_unknown_without_labels() -> None:
    wanted = Thresholds(age_days=30)
    assert only(FOUND, wanted, 30.0).outcome is CheckOutcome.PASSED
    assert only(FOUND, wanted, 30.01).outcome is CheckOutcome.STALE
    assert only(FOUND, wanted, None).outcome is CheckOutcome.UNKNOWN


def test_a_clock_that_was_set_back_makes_nothing_young() -> None:
    wanted = Thresholds(age_days=30)
    assert only(FOUND, wanted, -0.5).outcome is CheckOutcome.PASSED
    behind = only(FOUND, wanted, -400.0)
    assert (behind.outcome, behind.reason) == (
        CheckOutcome.STALE,
        "run and labels are dated after now: one of the clocks is wrong",
    )


def test_the_order_of_outcomes_is_that_of_the_codes() -> None:
    order = [*CheckOutcome]
    assert [EXIT_CODES[each] for each in order] == [0, 1, 2, 2, 3]
    for place, each in enumerate(order):
        assert choose_worst_outcome(order[: place + 1]) is each
        assert choose_worst_outcome(reversed(order[: place + 1])) is each
    assert choose_worst_outcome([]) is CheckOutcome.PASSED


def test_the_value_of_recall_in_a_sample_by_strata_decides_nothing() -> None:
    weighted = replace(FOUND, design=DesignKind.STRATIFIED)
    doubted = explain_doubtful_figures(weighted, NARROW, WIDE, "7", lower_end=False)
    wanted = Thresholds(kappa=0.1, recall_no=0.1, score=0.1, basis=ThresholdBasis.POINT)
    results = {
        each.criterion: each
        for each in check_figures_against_thresholds(weighted, wanted, 1.0, doubted)
    }
    recall = results.pop(Criterion.RECALL)
    assert recall.outcome is CheckOutcome.UNDECIDED
    assert "one FN weighs many labels" in recall.reason
    assert "faithtui label 7 --sample simple" in recall.reason
    assert {each.outcome for each in results.values()} == {CheckOutcome.PASSED}
    assert explain_doubtful_figures(weighted, NARROW, WIDE, "7") == {}
    for other in (DesignKind.SIMPLE, DesignKind.CLUSTER, DesignKind.CENSUS):
        one = replace(FOUND, design=other)
        assert explain_doubtful_figures(one, NARROW, WIDE, "7", lower_end=False) == {}


def test_a_forecast_surer_than_the_labelled_run_decides_nothing() -> None:
    doubted = explain_doubtful_figures(FOUND, WIDE, NARROW, "7")
    labels, score = check_figures_against_thresholds(FOUND, Thresholds(score=0.1), 1.0, doubted)
    assert (labels.outcome, score.outcome) == (CheckOutcome.PASSED, CheckOutcome.UNDECIDED)
    assert "[0.850, 0.950], is narrower than the interval of the labelled run" in score.reason
    assert only(FOUND, Thresholds(kappa=0.1)).outcome is CheckOutcome.PASSED
    # Equal but for rounding, and where there is no interval to be narrower than.
    equal = replace(NARROW, ci_high=NARROW.ci_high and NARROW.ci_high + 1e-15)
    assert (
        explain_doubtful_figures(FOUND, equal, NARROW, "7")
        == explain_doubtful_figures(FOUND, WIDE, figure(0.9, None), "7")
        == {}
    )


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1))
def test_what_passes_by_its_lower_end_passes_by_its_value(
    low: float, value: float, threshold: float
) -> None:
    low, value = sorted((low, value))
    found = replace(FOUND, kappa=figure(value, low, 1.0))
    by_low = only(found, Thresholds(kappa=threshold)).outcome
    by_value = only(found, Thresholds(kappa=threshold, basis=ThresholdBasis.POINT)).outcome
    assert not (by_low is CheckOutcome.PASSED and by_value is CheckOutcome.BELOW)


def reported(pairs: Sequence[tuple[str, str | None]], design: DesignKind) -> LevelReport:
    """Report on claims with these words of judge and person, four to a conversation."""
    claims = [
        ClaimUnit(
            ClaimId(number), ConversationId(number // 4), f"c{number // 4}", f"c{number // 4}",
            1, f"claim {number}", judge, human, int(human is not None), 1, True,
        )
        for number, (judge, human) in enumerate(pairs)
    ]  # fmt: skip
    design_reading = LabelDesign(design, len(claims))
    return agreement_report(readings(claims, design=design_reading), FAITHFULNESS, RULE).claims


PERFECT = [("yes", "yes"), ("no", "no")] * 40


def test_a_judge_that_never_differs_can_pass_but_not_with_a_bare_one() -> None:
    found = select_figures_gate_may_rely_on(reported(PERFECT, DesignKind.CENSUS))
    assert found.kappa.value == 1
    assert found.kappa.ci_low is not None
    # Wilson's lower end of 20 of 20 groups is 0.839; half of the agreement is bound to happen.
    assert found.kappa.ci_low == pytest.approx((0.8389 - 0.5) / 0.5, abs=1e-3)
    assert only(found, Thresholds(kappa=0.6)).outcome is CheckOutcome.PASSED
    assert only(found, Thresholds(kappa=0.8)).outcome is CheckOutcome.BELOW


def test_one_label_throughout_gives_no_kappa() -> None:
    found = select_figures_gate_may_rely_on(reported([("yes", "yes")] * 80, DesignKind.CENSUS))
    assert found.kappa.value is None
    assert only(found, Thresholds(kappa=-1)).outcome is CheckOutcome.UNKNOWN


def test_differing_the_same_everywhere_gives_no_interval_and_no_pass() -> None:
    same = [("yes", "yes"), ("no", "no"), ("no", "no"), ("yes", "no")] * 20
    found = select_figures_gate_may_rely_on(reported(same, DesignKind.CENSUS))
    assert found.kappa.value is None
    assert only(found, Thresholds(kappa=-1)).outcome is CheckOutcome.UNKNOWN


MIXED: list[tuple[str, str | None]] = [("yes", "yes"), ("no", "no"), ("no", "yes"), ("yes", None)]


@pytest.mark.parametrize(
    ("design", "among", "there"),
    [
        (DesignKind.CENSUS, False, True),
        (DesignKind.SIMPLE, False, True),
        (DesignKind.CONVENIENCE, False, False),
        (DesignKind.CONVENIENCE, True, True),
        (DesignKind.OVERRIDE_ONLY, False, False),
        (DesignKind.OVERRIDE_ONLY, True, False),
    ],
)
def test_labels_that_nobody_drew_give_no_figures(
    design: DesignKind, among: bool, there: bool
) -> None:
    pairs = [*PERFECT, *MIXED * 5] if design is not DesignKind.SIMPLE else [*PERFECT, *MIXED[:3]]
    report = reported(pairs, DesignKind.CENSUS)
    found = select_figures_gate_may_rely_on(
        replace(report, design=replace(report.design, kind=design)), among_labelled=among
    )
    assert (found.kappa.value is not None) is there
    assert (found.recall_no.value is not None) is there
    if not there:
        assert found.kappa.reason is WithheldReason.DESIGN_NOT_RANDOM


@pytest.mark.parametrize("among", [False, True])
def test_what_a_run_judged_because_it_was_drawn_gives_no_figures(among: bool) -> None:
    report = reported([*PERFECT, *MIXED * 5], DesignKind.CENSUS)
    design = replace(report.design, kind=DesignKind.CONVENIENCE, follows_draw=True)
    found = select_figures_gate_may_rely_on(replace(report, design=design), among_labelled=among)
    assert found.kappa.reason is found.recall_no.reason is WithheldReason.DESIGN_NOT_RANDOM
    assert (found.kappa.value, found.recall_no.value) == (None, None)


LOWER, POINT = ThresholdBasis.LOWER, ThresholdBasis.POINT
NOTHING = make_undefined_estimate(WithheldReason.NO_ITEMS, 0, 0)


@pytest.mark.parametrize(
    ("difference", "basis", "differing", "doubt", "outcome"),
    [
        (figure(0.0, -0.04), LOWER, 0.5, "", CheckOutcome.PASSED),
        (figure(0.0, -0.06), LOWER, 0.5, "", CheckOutcome.BELOW),
        (figure(-0.2, -0.3), LOWER, 0.5, "", CheckOutcome.BELOW),
        (figure(0.0, -0.06), LOWER, 0.05, "", CheckOutcome.PASSED),
        (figure(0.0, None), LOWER, 0.06, "", CheckOutcome.UNKNOWN),
        (figure(0.0, None), LOWER, 0.0, "", CheckOutcome.PASSED),
        (figure(-0.04, -0.3), POINT, 0.5, "", CheckOutcome.PASSED),
        (figure(-0.06, -0.3), POINT, 0.5, "", CheckOutcome.BELOW),
        (NOTHING, LOWER, None, "", CheckOutcome.UNKNOWN),
        (figure(0.1, 0.05), LOWER, 0.5, "nobody drew them", CheckOutcome.UNKNOWN),
        (figure(0.1, 0.05), LOWER, 0.01, "nobody drew them", CheckOutcome.PASSED),
    ],
)
def test_accuracy_may_not_drop_by_more_than_is_asked(
    difference: Estimate,
    basis: ThresholdBasis,
    differing: float | None,
    doubt: str,
    outcome: CheckOutcome,
) -> None:
    """A drop of at most 0.05; it is never larger than the share on which the runs differ."""
    found = check_accuracy_drop(difference, -0.05, basis, differing=differing, doubt=doubt)
    assert found.outcome is outcome
    assert bool(found.reason) is (
        outcome in (CheckOutcome.UNKNOWN, CheckOutcome.BELOW) or "differ" in found.reason
    )
