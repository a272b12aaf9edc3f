"""Warnings of a report before a gate: what is asked, what missing labels decide, what accepts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from faithtui.agreement.gate.missing_labels import MISSING_WORDS, list_claims_missing_from_figures
from faithtui.agreement.gate.threshold_checks import (
    CheckOutcome,
    Criterion,
    CriterionCheck,
    ThresholdBasis,
    Thresholds,
    check_figures_against_thresholds,
    select_figures_gate_may_rely_on,
)
from faithtui.agreement.gate.warning_checks import (
    ASKED_WARNINGS,
    make_doubtful_checks_undecided,
    validate_accepted_warning_codes,
)
from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.labelled_units import (
    ClaimUnit,
    DesignKind,
    LabelDesign,
    LabelState,
    Opinion,
    RunUnits,
    StratumCounts,
)
from faithtui.agreement.report.report import PreparedUnits, compute_report_of_prepared_units
from faithtui.agreement.report.settings import (
    ReportLevel,
    ReportSettings,
    ReportWarning,
    Severity,
    WarningSubject,
)
from faithtui.domain.ids import ClaimId, ConversationId, SampleId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS, NOT_A_CLAIM
from faithtui.domain.scores import ScoringRule
from faithtui.errors import ConfigError

RULE = ScoringRule(passing=("yes", "idk"), when_empty=None)
GROUPS = 25
ASKED = Thresholds(kappa=0.4, recall_no=0.5, score=0.5)

Said = tuple[str | None, str | LabelState]
"""The judge's label, and the human label or why there is none."""
YES: Said = ("yes", "yes")
NO: Said = ("no", "no")


def claim(number: int, said: Said, kind: DesignKind, *, drawn: bool = True) -> ClaimUnit:
    judge, human = said
    labelled = not isinstance(human, LabelState)
    opinion = Opinion("ann", str(human), Action.BLIND, True, 20.0)
    group = number // 5 if kind is DesignKind.CLUSTER else number % GROUPS
    return ClaimUnit(
        ClaimId(number + 1), ConversationId(group + 1), f"c{group}", f"g{group}", 1, "", judge,
        human if labelled else None, int(labelled), 1, True, True if labelled else None,
        LabelState.LABELLED if labelled else LabelState(human),
        (opinion,) if labelled else (), position=number if drawn else None,
    )  # fmt: skip


def sampled(
    said: Sequence[Said], kind: DesignKind = DesignKind.SIMPLE, undrawn: int = 200
) -> PreparedUnits:
    """Take claims in the drawn order for a sample of a run."""
    rest: list[Said] = [
        ("yes" if number % 3 else "no", LabelState.UNREVIEWED) for number in range(undrawn)
    ]
    claims = [claim(number, each, kind) for number, each in enumerate(said)]
    claims += [
        claim(len(said) + number, each, kind, drawn=False) for number, each in enumerate(rest)
    ]
    strata = (StratumCounts("all", len(claims), len(said), len(said), 0),)
    design = LabelDesign(kind, len(claims), strata, SampleId(1), "s", 1, random_prefix=True)
    return PreparedUnits(RunUnits(tuple(claims), (), (), design), FAITHFULNESS, RULE)


def gate(
    prepared: PreparedUnits,
    wanted: Thresholds = ASKED,
    warnings: Sequence[ReportWarning] | None = None,
) -> dict[Criterion, CriterionCheck]:
    report = compute_report_of_prepared_units(prepared)
    found = select_figures_gate_may_rely_on(report.claims, among_labelled=wanted.among_labelled)
    checks = make_doubtful_checks_undecided(
        check_figures_against_thresholds(found, wanted, None),
        report.warnings if warnings is None else warnings,
        prepared,
        report.claims,
        wanted,
    )
    return {each.criterion: each for each in checks}


def outcomes(checks: dict[Criterion, CriterionCheck]) -> set[CheckOutcome]:
    return {each.outcome for name, each in checks.items() if name is not Criterion.LABELS}


GOOD = [YES, YES, NO] * 30
"""A judge that is always right."""


def test_labels_of_all_that_was_drawn_pass() -> None:
    assert outcomes(gate(sampled(GOOD))) == {CheckOutcome.PASSED}


@pytest.mark.parametrize(("labels", "outcome"), [(20, "UNDECIDED"), (30, "PASSED")])
def test_a_score_of_fewer_than_five_conversations_is_asked_about(labels: int, outcome: str) -> None:
    """Its interval holds; that it is of four conversations is said, and accepted or not."""
    checks = gate(sampled([YES] * labels, DesignKind.CLUSTER), Thresholds(score=0.01))
    check = checks[Criterion.SCORE]
    assert check.outcome is CheckOutcome[outcome], check.reason
    assert ("--accept few_conversations" in check.reason) is (outcome == "UNDECIDED")


@pytest.mark.parametrize("kind", [DesignKind.SIMPLE, DesignKind.STRATIFIED])
def test_a_score_of_claims_drawn_one_by_one_is_not_asked_about(kind: DesignKind) -> None:
    """The share that passes in the run does not rest on how many conversations hold them."""
    prepared = sampled([YES] * 20, kind)
    claims = [
        each._replace(group=f"g{number % 4}", stratum="all")
        for number, each in enumerate(prepared.readings.claims)
    ]
    units = RunUnits(tuple(claims), (), (), prepared.readings.design)
    few = PreparedUnits(units, FAITHFULNESS, RULE)
    report = compute_report_of_prepared_units(few)
    (warning,) = (each for each in report.warnings if each.code == "few_conversations")
    assert report.claims.agreement.clusters == 4
    assert WarningSubject.RATE not in warning.about
    check = gate(few, Thresholds(score=0.01))[Criterion.SCORE]
    assert check.outcome is CheckOutcome.PASSED, check.reason


def test_the_lower_end_of_a_perfect_kappa_is_a_kappa() -> None:
    """Of two conversations it was -8.4."""
    (check,) = (
        each
        for name, each in gate(sampled([YES] * 9 + [NO], DesignKind.CLUSTER)).items()
        if name is Criterion.KAPPA
    )
    assert check.estimate is not None
    assert check.estimate.ci_low == -1


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (LabelState.SKIPPED, "skipped_many"),
        (LabelState.UNREVIEWED, "order_broken"),
        (LabelState.BULK, "order_broken"),
        (LabelState.STALE, "stale_labels"),
        (LabelState.IN_VIEW, "labelled_in_view"),
    ],
)
def test_claims_left_out_are_bounds_until_they_are_accepted(state: LabelState, code: str) -> None:
    """18 % are left out, exactly those that the judge gets wrong."""
    prepared = sampled([*[("yes", state)] * 20, *GOOD])
    wanted = Thresholds(kappa=0.6, recall_no=0.7, score=0.5)
    checks = gate(prepared, wanted)
    assert outcomes(checks) == {CheckOutcome.UNDECIDED}
    why = checks[Criterion.RECALL].reason
    assert f"(--accept {code} leaves them out); counted against the judge the lower end is" in why
    assert "counted as failing the lower end is" in checks[Criterion.SCORE].reason
    accepted = replace(wanted, accepted=(code,))
    assert outcomes(gate(prepared, accepted)) == {CheckOutcome.PASSED}


def test_skipped_claims_are_bounds_where_no_sample_was_drawn() -> None:
    """Else whoever labels in the order of the texts skips what the judge gets wrong."""
    said = [*[("yes", LabelState.SKIPPED)] * 20, *GOOD]
    prepared = sampled(said, DesignKind.CONVENIENCE)
    wanted = Thresholds(kappa=0.6, recall_no=0.7, among_labelled=True)
    checks = gate(prepared, wanted)
    assert outcomes(checks) == {CheckOutcome.UNDECIDED}
    assert "20 claims are skipped (--accept skipped_many" in checks[Criterion.RECALL].reason
    accepted = replace(wanted, accepted=("skipped_many",))
    assert outcomes(gate(prepared, accepted)) == {CheckOutcome.PASSED}
    unserved = sampled([*[("yes", LabelState.UNREVIEWED)] * 20, *GOOD], DesignKind.CONVENIENCE)
    assert outcomes(gate(unserved, wanted)) == {CheckOutcome.PASSED}


def test_what_is_left_out_decides_nothing_where_both_bounds_say_the_same() -> None:
    prepared = sampled([*[("yes", LabelState.SKIPPED)] * 2, *GOOD])
    checks = gate(prepared)
    assert outcomes(checks) == {CheckOutcome.PASSED}
    assert checks[Criterion.RECALL].reason.startswith(
        "2 claims are skipped; counted against the judge the lower end is 0."
    )
    most = Thresholds(kappa=0.99, recall_no=0.99, score=0.99)
    assert outcomes(gate(prepared, most)) == {CheckOutcome.BELOW}


def test_bounds_hold_the_value_too() -> None:
    prepared = sampled([*[("yes", LabelState.SKIPPED)] * 20, *GOOD])
    wanted = replace(ASKED, recall_no=0.9, basis=ThresholdBasis.POINT)
    recall = gate(prepared, wanted)[Criterion.RECALL]
    assert recall.outcome is CheckOutcome.UNDECIDED
    assert "counted against the judge the value is 0.600, for it the value is 1.000" in (
        recall.reason
    )


def test_a_few_skips_among_few_unfaithful_claims_count_below_the_reports_share() -> None:
    """5 of 105 are no `skipped_many` of a report, and all the misses there are."""
    said = [*[("yes", LabelState.SKIPPED)] * 5, *[YES] * 90, *[NO] * 10]
    prepared = sampled(said)
    assert "skipped_many" not in {
        each.code for each in compute_report_of_prepared_units(prepared).warnings
    }
    assert gate(prepared)[Criterion.RECALL].outcome is CheckOutcome.UNDECIDED


def test_labels_in_view_after_the_last_blind_one_are_missing_too() -> None:
    """Blind labels end where they suit: 41 of 300, and what follows was answered in view."""
    said = [*GOOD, ("yes", LabelState.UNREVIEWED), *[("yes", LabelState.IN_VIEW)] * 60]
    missing = Counter(code for _, code in list_claims_missing_from_figures(sampled(said).compared))
    assert missing == {"labelled_in_view": 60, "order_broken": 1}
    assert outcomes(gate(sampled(said))) == {CheckOutcome.UNDECIDED}


def test_what_is_still_to_do_is_not_missing() -> None:
    said = [*GOOD, *[("yes", LabelState.UNREVIEWED)] * 20]
    assert not list(list_claims_missing_from_figures(sampled(said).compared))


def test_claims_of_started_conversations_are_missing() -> None:
    """Who labels some claims of every drawn conversation leaves the others out."""
    said = [each for _ in range(20) for each in (YES, YES, NO, NO, ("yes", LabelState.UNREVIEWED))]
    prepared = sampled(said, DesignKind.CLUSTER)
    missing = list(list_claims_missing_from_figures(prepared.compared))
    assert missing == [(place, "order_broken") for place in range(4, 100, 5)]


def test_words_and_verdicts_that_cannot_be_compared_are_missing_in_a_census_too() -> None:
    said: list[Said] = [*GOOD, ("yes", "weird"), (None, "no"), (None, "x"), ("no", "x")]
    prepared = sampled(said, DesignKind.CENSUS, undrawn=0)
    assert [code for _, code in list_claims_missing_from_figures(prepared.compared)] == [
        "other_words",
        "invalid_verdicts",
        "not_a_claim",
    ]
    accepting = replace(ASKED, accepted=("not_a_claim",))
    assert outcomes(gate(prepared, accepting)) == {CheckOutcome.PASSED}
    worst = gate(prepared, replace(accepting, recall_no=0.85, kappa=None, score=None))
    assert worst[Criterion.RECALL].outcome is CheckOutcome.UNDECIDED


def test_many_claims_that_the_judge_gave_no_verdict_on_are_asked_about() -> None:
    """They are in no figure, also where nobody labelled any: whoever gives none looks good."""
    readings = sampled(GOOD).readings
    claims = tuple(
        each._replace(judge=None) if each.human is None and place % 3 == 0 else each
        for place, each in enumerate(readings.claims)
    )
    prepared = PreparedUnits(replace(readings, claims=claims), FAITHFULNESS, RULE)
    found = gate(prepared)
    assert found[Criterion.RECALL].outcome is CheckOutcome.UNDECIDED
    assert found[Criterion.KAPPA].reason.endswith("To accept it: --accept invalid_verdicts")
    accepted = replace(ASKED, accepted=("invalid_verdicts",))
    assert outcomes(gate(prepared, accepted)) == {CheckOutcome.PASSED}


def test_a_few_misses_called_unfair_are_bounds_until_they_are_accepted() -> None:
    """One claim in twenty, and every miss of a judge that finds half of the unfaithful."""
    said = [*[YES] * 90, *[NO] * 12, *[("yes", NOT_A_CLAIM)] * 6]
    wanted = Thresholds(recall_no=0.6, score=0.4)
    recall = gate(sampled(said), wanted)[Criterion.RECALL]
    assert recall.outcome is CheckOutcome.UNDECIDED
    assert "6 claims are called x, not a fair claim (--accept not_a_claim leaves" in recall.reason
    accepted = replace(wanted, accepted=("not_a_claim",))
    assert outcomes(gate(sampled(said), accepted)) == {CheckOutcome.PASSED}


def test_two_names_that_outvote_whoever_is_right_are_bounds_until_they_are_accepted() -> None:
    """One person labels truly; two others say what the judge says, and may be one."""
    said = [*[YES] * 90, *[NO] * 12, *[YES] * 6]
    prepared = sampled(said)
    rows = list(prepared.readings.claims)
    for place in range(108):
        truth = "no" if place >= 102 else rows[place].human
        opinions = [Opinion("ann", str(truth), Action.BLIND, True, 9.0)]
        opinions += [Opinion(who, str(rows[place].judge), Action.BLIND, True, 9.0) for who in "bc"]
        rows[place] = rows[place]._replace(opinions=tuple(opinions), reviewers=3)
    readings = replace(prepared.readings, claims=tuple(rows))
    wanted = Thresholds(recall_no=0.6, score=0.4)
    recall = gate(PreparedUnits(readings, FAITHFULNESS, RULE), wanted)[Criterion.RECALL]
    assert recall.outcome is CheckOutcome.UNDECIDED
    assert (
        "6 claims are decided by most annotators against others (--accept overruled counts what "
        "most say); counted against the judge"
    ) in recall.reason
    accepted = replace(wanted, accepted=("overruled",))
    assert outcomes(gate(PreparedUnits(readings, FAITHFULNESS, RULE), accepted)) == {
        CheckOutcome.PASSED
    }
    settled = Opinion("dee", "yes", Action.ADJUDICATED, True, 9.0)
    rows = [
        each._replace(opinions=(*each.opinions, settled)) if each.human == "yes" else each
        for each in rows
    ]
    readings = replace(prepared.readings, claims=tuple(rows))
    assert outcomes(gate(PreparedUnits(readings, FAITHFULNESS, RULE), wanted)) == {
        CheckOutcome.PASSED
    }


def test_what_the_judge_calls_idk_where_it_is_left_out_may_be_missed() -> None:
    said = [*[YES] * 90, *[NO] * 8, *[("idk", "no")] * 8]
    wanted = Thresholds(recall_no=0.5, score=0.4)
    settings = ReportSettings(idk=IdkRule.EXCLUDE)
    prepared = PreparedUnits(sampled(said).readings, FAITHFULNESS, RULE, settings)
    checks = gate(prepared, wanted)
    assert checks[Criterion.RECALL].outcome is CheckOutcome.UNDECIDED
    assert "(--accept idk_excluded leaves them out)" in checks[Criterion.RECALL].reason
    assert checks[Criterion.SCORE].outcome is CheckOutcome.PASSED
    assert outcomes(gate(prepared, replace(wanted, accepted=("idk_excluded",)))) == {
        CheckOutcome.PASSED
    }


def test_misses_that_annotators_call_idk_where_it_is_left_out_may_be_every_miss() -> None:
    said = [*[YES] * 90, *[NO] * 8, *[("yes", "idk")] * 8]
    wanted = Thresholds(recall_no=0.5)
    settings = ReportSettings(idk=IdkRule.EXCLUDE)
    prepared = PreparedUnits(sampled(said).readings, FAITHFULNESS, RULE, settings)
    recall = gate(prepared, wanted)[Criterion.RECALL]
    assert recall.outcome is CheckOutcome.UNDECIDED
    assert "8 claims are left out as judge or annotators call them idk" in recall.reason
    assert gate(prepared, replace(wanted, score=0.67))[Criterion.SCORE].outcome is (
        CheckOutcome.UNDECIDED
    )
    accepted = replace(wanted, score=0.67, accepted=("idk_excluded",))
    assert outcomes(gate(prepared, accepted)) == {CheckOutcome.PASSED}


def test_claims_called_unfair_are_asked_about_where_they_are_many() -> None:
    """An annotator may call what the judge gets wrong no fair claim, in place of skipping it."""
    few = gate(sampled([*GOOD, ("no", "x")]))
    assert outcomes(few) == {CheckOutcome.PASSED}
    many = sampled([*GOOD, *[("no", "x")] * len(GOOD)])
    assert outcomes(gate(many)) == {CheckOutcome.UNDECIDED}
    accepted = replace(ASKED, accepted=("not_a_claim",))
    assert outcomes(gate(many, accepted)) == {CheckOutcome.PASSED}


@pytest.mark.parametrize("unsure", [("idk", "no"), ("no", "idk"), ("idk", "idk")])
def test_claims_called_idk_are_asked_about_where_many_are_left_out(unsure: Said) -> None:
    """A judge that says `idk` to what it would miss has a recall of 1 on the others."""
    settings = ReportSettings(idk=IdkRule.EXCLUDE)
    one = sampled([*GOOD, unsure]).readings
    few = PreparedUnits(one, FAITHFULNESS, RULE, settings)
    assert outcomes(gate(few)) == {CheckOutcome.PASSED}
    half = sampled([*GOOD, *[unsure] * (len(GOOD) // 2)]).readings
    many = PreparedUnits(half, FAITHFULNESS, RULE, settings)
    found = gate(many)
    assert outcomes(found) == {CheckOutcome.UNDECIDED}
    assert "--accept idk_excluded" in found[Criterion.RECALL].reason
    accepted = replace(ASKED, accepted=("idk_excluded",))
    assert outcomes(gate(many, accepted)) == {CheckOutcome.PASSED}


def warn(code: str, severity: Severity = Severity.CAUTION) -> ReportWarning:
    return ReportWarning(code, severity, f"About {code}.", ReportLevel.CLAIMS)


@pytest.mark.parametrize("code", [each for each in ASKED_WARNINGS if each not in MISSING_WORDS])
def test_a_warning_takes_passes_away_until_it_is_accepted(code: str) -> None:
    prepared = sampled(GOOD)
    checks = gate(prepared, warnings=[warn(code)])
    for name, check in checks.items():
        touched = name in ASKED_WARNINGS[code]
        assert (check.outcome is CheckOutcome.UNDECIDED) == touched
        assert (check.reason == f"About {code}. To accept it: --accept {code}") == touched
    accepted = replace(ASKED, accepted=(code,))
    assert outcomes(gate(prepared, accepted, [warn(code)])) == {CheckOutcome.PASSED}


def test_several_reasons_are_told_apart() -> None:
    (one, other) = [each for each in ASKED_WARNINGS if each not in MISSING_WORDS][:2]
    checks = gate(sampled(GOOD), warnings=[warn(one), warn(other)])
    both = [each for each in checks.values() if "; " in each.reason]
    assert both
    for each in both:
        assert each.reason == "; ".join(each.reasons)
        assert [words.rpartition(" ")[2] for words in each.reasons] == [one, other]


def test_what_falls_short_stays_short_and_good_to_know_is_not_asked() -> None:
    prepared = sampled(GOOD)
    most = Thresholds(kappa=0.99, recall_no=0.99, score=0.99)
    assert outcomes(gate(prepared, most, [warn("not_blind")])) == {CheckOutcome.BELOW}
    for each in (warn("not_blind", Severity.INFO), warn("few_minority"), warn("marginal_bias")):
        assert outcomes(gate(prepared, warnings=[each])) == {CheckOutcome.PASSED}
    of_answers = replace(warn("not_blind"), level=ReportLevel.ANSWERS)
    assert outcomes(gate(prepared, warnings=[of_answers])) == {CheckOutcome.PASSED}


def test_a_code_that_nobody_asks_about_is_named() -> None:
    assert validate_accepted_warning_codes(["not_blind", "hasty_labels", "not_blind"]) == (
        "hasty_labels",
        "not_blind",
    )
    with pytest.raises(ConfigError, match=r"--accept few_items: .* known: .*few_conversations"):
        validate_accepted_warning_codes(["few_items"])


def tie(found: ClaimUnit) -> ClaimUnit:
    """Let a second annotator say the opposite."""
    mine = found.opinions[0]
    other = "no" if mine.verdict == "yes" else "yes"
    return found._replace(
        human="no", opinions=(mine, mine._replace(reviewer="bo", verdict=other)), reviewers=2
    )


def test_ties_are_bounds_until_they_are_accepted_or_settled() -> None:
    """With eight claims on which two disagree, which count for the judge or against it."""
    plain = sampled(GOOD)
    claims = tuple(
        tie(each) if place % 3 == 1 and place < 24 else each
        for place, each in enumerate(plain.readings.claims)
    )
    prepared = PreparedUnits(replace(plain.readings, claims=claims), FAITHFULNESS, RULE)
    tied = [code for _, code in list_claims_missing_from_figures(prepared.compared)]
    assert tied == ["ties"] * 8
    asked = Thresholds(kappa=0.7, recall_no=0.7)
    checks = gate(prepared, asked)
    assert outcomes(checks) == {CheckOutcome.UNDECIDED}
    for name in (Criterion.KAPPA, Criterion.RECALL):
        assert "8 claims are tied between annotators (--accept ties leaves them out)" in (
            checks[name].reason
        )
    assert outcomes(gate(prepared, replace(asked, accepted=("ties",)))) == {CheckOutcome.PASSED}
    assert outcomes(gate(plain, asked)) == {CheckOutcome.PASSED}


def test_what_missing_labels_leave_undecided_names_all_that_must_be_accepted() -> None:
    plain = sampled(GOOD)
    claims = tuple(
        (tie(each) if place % 3 == 1 and place < 24 else each)._replace(blind=False)
        for place, each in enumerate(plain.readings.claims)
    )
    prepared = PreparedUnits(replace(plain.readings, claims=claims), FAITHFULNESS, RULE)
    found = gate(prepared, Thresholds(kappa=0.7))[Criterion.KAPPA]
    assert found.outcome is CheckOutcome.UNDECIDED
    assert "--accept ties" in found.reason
    assert "--accept not_blind" in found.reason
