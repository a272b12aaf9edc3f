"""Why a gate has no figure: each reason is true of the labels and verdicts it is about."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from faithtui.agreement.gate.threshold_checks import (
    CheckOutcome,
    Criterion,
    CriterionCheck,
    Thresholds,
    check_figures_against_thresholds,
    select_figures_gate_may_rely_on,
)
from faithtui.agreement.gate.undecided_criteria import explain_missing_figures
from faithtui.agreement.labelled_units import ClaimUnit, DesignKind, LabelDesign, StratumCounts
from faithtui.agreement.report.figures.missing_figures import explain_nothing_compared
from faithtui.agreement.report.model import LevelReport
from faithtui.agreement.report.report import agreement_report
from faithtui.domain.estimates import make_withheld_estimate
from faithtui.domain.ids import ClaimId, ConversationId, SampleId
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.scores import ScoringRule
from faithtui.domain.withheld_reasons import WithheldReason
from tests.agreement.building import readings
from tests.agreement.report.figures.test_population_pass_rates import POPULATION

RULE = ScoringRule(passing=("yes", "idk"), when_empty=1.0)
FIGURES = (Criterion.KAPPA, Criterion.RECALL, Criterion.SCORE)
Said = tuple[str | None, str | None, int]
"""What the judge and what annotators say, and of how many claims."""
REST: Said = ("yes", None, 100)


def report_sample(said: Sequence[Said], groups: int = 12) -> LevelReport:
    """Report a run of whose claims the labelled ones are a simple sample."""
    pairs = [(judge, human) for judge, human, number in said for _ in range(number)]
    claims = [
        ClaimUnit(
            ClaimId(at + 1), ConversationId(at % groups + 1), f"c{at % groups}", f"g{at % groups}",
            1, f"claim {at}", judge, human, int(human is not None), 1, True,
            position=None if human is None else at,
        )
        for at, (judge, human) in enumerate(pairs)
    ]  # fmt: skip
    labelled = sum(human is not None for _, human in pairs)
    whole = StratumCounts("all", len(claims), labelled, labelled, 0)
    design = LabelDesign(DesignKind.SIMPLE, len(claims), (whole,), SampleId(1), "s", 1, True)
    return agreement_report(readings(claims, design=design), FAITHFULNESS, RULE).claims


def explain(
    level: LevelReport, threshold: float = 0.4, of_labels: Sequence[Criterion] = FIGURES
) -> dict[Criterion, CriterionCheck]:
    wanted = Thresholds(kappa=threshold, recall_no=threshold, score=threshold)
    checks = check_figures_against_thresholds(select_figures_gate_may_rely_on(level), wanted, 1.0)
    return {each.criterion: each for each in explain_missing_figures(checks, level, "3", of_labels)}


@pytest.mark.parametrize(
    ("said", "criterion", "outcome", "words"),
    [
        pytest.param(
            [("yes", "yes", 40), ("yes", "no", 10), REST],
            Criterion.KAPPA,
            CheckOutcome.BELOW,
            "the judge says yes to all claims in this run, so that kappa is 0 whatever annotators "
            "say: labels do not change that, another prompt or judge does",
            id="a judge with one verdict has no kappa above 0",
        ),
        pytest.param(
            [("yes", "yes", 50), REST],
            Criterion.KAPPA,
            CheckOutcome.UNDECIDED,
            "the judge says yes to all claims in this run, so that kappa is 0 or has no value",
            id="nor where annotators say the same",
        ),
        pytest.param(
            [("yes", "yes", 40), ("yes", "no", 10), REST, ("no", None, 5)],
            Criterion.KAPPA,
            CheckOutcome.UNKNOWN,
            "the judge uses one label alone, yes, which makes it 0 whatever annotators say of the "
            "50 compared claims: label more claims; a sample by verdict (faithtui label 3 "
            "--sample stratified)",
            id="its other verdicts are not labelled yet",
        ),
        pytest.param(
            [("yes", "yes", 40), ("no", "yes", 10), REST],
            Criterion.KAPPA,
            CheckOutcome.UNKNOWN,
            "annotators use one label alone, yes, which makes it 0 whatever the judge says",
            id="annotators with one label",
        ),
        pytest.param(
            [("yes", "yes", 50), REST],
            Criterion.RECALL,
            CheckOutcome.UNDECIDED,
            "the judge never says no in this run, and annotators call none of the 50 labelled "
            "claims no: of any that there are it finds none; labels do not change that",
            id="nothing to find, and a judge that finds nothing",
        ),
        pytest.param(
            [("yes", "yes", 40), ("idk", "yes", 10), REST],
            Criterion.RECALL,
            CheckOutcome.UNDECIDED,
            "finds none; --idk fail counts its idk as unfaithful",
            id="a judge that says idk instead",
        ),
        pytest.param(
            [("yes", "yes", 40), ("no", "yes", 10), REST],
            Criterion.RECALL,
            CheckOutcome.UNKNOWN,
            "annotators call none of the 50 labelled claims no, so that there is none to find: "
            "label more claims; a sample by verdict",
            id="nothing to find yet",
        ),
        pytest.param(
            [("yes", "yes", 50), (None, None, 5), REST],
            Criterion.RECALL,
            CheckOutcome.UNKNOWN,
            "annotators call none",
            id="a claim without a verdict may be one",
        ),
        pytest.param(
            [("yes", "yes", 40), ("yes", "no", 10), REST],
            Criterion.RECALL,
            CheckOutcome.BELOW,
            "the judge never says no in this run, so that it finds none; labels do not change",
            id="a judge that finds nothing of what there is",
        ),
        pytest.param(
            [("yes", "yes", 40), ("no", "yes", 10)],
            Criterion.RECALL,
            CheckOutcome.UNKNOWN,
            "none to find: all claims of this run are labelled, so that other conversations have",
            id="nothing to find and nothing to label",
        ),
        pytest.param(
            [("yes", "x", 30), ("no", "x", 2), REST],
            Criterion.SCORE,
            CheckOutcome.UNKNOWN,
            "none of the 32 labelled claims can be compared (32 labelled x)",
            id="all x",
        ),
        pytest.param(
            [(None, "yes", 30), REST],
            Criterion.KAPPA,
            CheckOutcome.UNKNOWN,
            "none of the 30 labelled claims can be compared (30 without a verdict of the judge)",
            id="no verdicts",
        ),
        pytest.param(
            [REST], Criterion.RECALL, CheckOutcome.UNKNOWN, "nothing is labelled", id="none"
        ),
    ],
)  # fmt: skip
def test_a_reason_says_what_holds_the_figure_back(
    said: Sequence[Said], criterion: Criterion, outcome: CheckOutcome, words: str
) -> None:
    check = explain(report_sample(said))[criterion]
    assert (check.outcome, words in check.reason) == (outcome, True), check.reason


def test_a_judge_that_never_says_no_is_below_with_few_groups_too() -> None:
    level = report_sample([("yes", "yes", 40), ("yes", "no", 10), REST], groups=3)
    found = explain(level)
    assert found[Criterion.RECALL].outcome is CheckOutcome.BELOW
    assert "so that it finds none" in found[Criterion.RECALL].reason
    assert found[Criterion.KAPPA].outcome is CheckOutcome.BELOW


def test_a_stratum_without_a_label_is_named() -> None:
    level = report_sample([("no", "no", 40), REST])
    strata = (StratumCounts("judge no", 40, 40, 40, 0), StratumCounts("judge yes", 100, 50, 0, 0))
    level = replace(level, design=replace(level.design, strata=strata))
    assert explain_nothing_compared(level) == "no claim of the stratum «judge yes» is labelled"


def test_nothing_is_below_a_threshold_of_nothing() -> None:
    found = explain(report_sample([("yes", "yes", 40), ("yes", "no", 10), REST]), threshold=0)
    assert found[Criterion.KAPPA].outcome is CheckOutcome.UNDECIDED


def test_few_groups_are_counted() -> None:
    level = report_sample([("yes", "yes", 40), ("yes", "no", 6), ("no", "no", 6), REST], groups=3)
    found = explain(level)
    assert found[Criterion.KAPPA].reason == (
        "no interval: the 52 labelled claims are of 3 conversations, too few: label claims of more "
        "conversations"
    )
    assert "no interval: the 12 unfaithful claims are of 3" in found[Criterion.RECALL].reason


def test_figures_of_a_certificate_are_said_to_be_its_own() -> None:
    level = report_sample([("yes", "yes", 50), REST])
    (score,) = (
        replace(
            each,
            criterion=Criterion.SCORE,
            estimate=make_withheld_estimate(WithheldReason.UNINFORMATIVE_JUDGE, 150, 12),
        )
        for each in [explain(level)[Criterion.LABELS]]
    )
    score = replace(score, outcome=CheckOutcome.UNKNOWN)
    recall = replace(
        score,
        criterion=Criterion.RECALL,
        estimate=make_withheld_estimate(WithheldReason.TOO_FEW_CLUSTERS),
        reason="too few groups for an interval",
    )
    other = replace(score, estimate=make_withheld_estimate(WithheldReason.RATE_OUT_OF_RANGE))
    found = explain_missing_figures([score, recall, other], level, "3", ())
    assert "so that it does not err here as it did there: label a sample" in found[2].reason
    assert "by the certified labels the judge may fail as many" in found[0].reason
    assert found[1].reason == "on the certified run: too few groups for an interval"


def test_what_stands_for_a_population_is_drawn_from_it() -> None:
    level = report_sample([("yes", "yes", 40), ("no", "yes", 10)])
    drawn = replace(level.design, population=POPULATION)
    for unit in (level.unit, ("answer", "answers")):
        reason = explain(replace(level, design=drawn, unit=unit))[Criterion.RECALL].reason
        assert reason is not None
        assert reason.endswith(
            "draw and label more claims of the population (faithtui sample s3://bucket/all)"
        )
