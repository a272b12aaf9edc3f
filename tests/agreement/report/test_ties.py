"""Claims that annotators are evenly split on, and what their differences leave open."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.labelled_units import (
    AnswerUnit,
    ClaimUnit,
    DesignKind,
    LabelDesign,
    LabelState,
    Opinion,
    decide_answer_by_majority,
)
from faithtui.agreement.report.compare import PairedUnit
from faithtui.agreement.report.model import AgreementReport
from faithtui.agreement.report.report import OtherJudge, agreement_report
from faithtui.agreement.report.settings import ReportLevel, ReportSettings
from faithtui.agreement.report.warnings import list_warnings
from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS, SEVERITY
from faithtui.domain.scores import Score, ScoreState, ScoringRule
from faithtui.domain.withheld_reasons import WithheldReason
from tests.agreement.building import readings
from tests.benchmarks.annotator_conflict import measure_coverage
from tests.benchmarks.coverage import Setting

RULE = ScoringRule(passing=("yes", "idk"), when_empty=None)


def claim(number: int, judge: str, said: Sequence[str], final: str | None = None) -> ClaimUnit:
    """A claim that ann, bo, ... gave a label; the store takes the most severe of a tie."""
    given = [
        Opinion(name, word, Action.BLIND, True, 9.0, None, place)
        for place, (name, word) in enumerate(zip(("ann", "bo", "cy"), said, strict=False))
    ]
    if final is not None:
        given.append(Opinion("ann", final, Action.ADJUDICATED, True, 9.0, None, 9))
    rank = {**SEVERITY, "x": 9}
    human = final or max(said, key=lambda word: (said.count(word), rank[word]), default=None)
    state = LabelState.LABELLED if said else LabelState.UNREVIEWED
    return ClaimUnit(
        ClaimId(number + 1), ConversationId(number % 25 + 1), f"c{number % 25}",
        f"g{number % 25}", 1, "", judge, human, len(said), 1, True, True if said else None,
        state, tuple(given), position=number if said else None,
    )  # fmt: skip


def report(
    said: Sequence[tuple[str, Sequence[str]]], idk: IdkRule = IdkRule.THREE, undrawn: int = 0
) -> AgreementReport:
    claims = [claim(number, judge, words) for number, (judge, words) in enumerate(said)]
    claims += [claim(len(said) + number, "yes", ()) for number in range(undrawn)]
    kind = DesignKind.SIMPLE if undrawn else DesignKind.CENSUS
    design = LabelDesign(kind, len(claims))
    return agreement_report(
        readings(claims, design=design), FAITHFULNESS, RULE, ReportSettings(idk=idk)
    )


def codes(found: AgreementReport) -> set[str]:
    return {each.code for each in found.warnings}


def test_a_tie_is_in_no_table_and_half_of_it_passes() -> None:
    found = report([("yes", ["yes"])] * 60 + [("no", ["no"])] * 20 + [("yes", ["yes", "no"])] * 20)
    level = found.claims
    assert (level.coverage.tied, level.coverage.compared, level.agreement.n) == (20, 80, 80)
    assert level.percent_agreement.value == 1
    assert level.rate.corrected_this_run.value == pytest.approx(0.7)
    (warning,) = [each for each in found.warnings if each.code == "ties"]
    assert warning.message == (
        "Annotators are evenly split on 20 of 20 claims that several labelled: left out of tables, "
        "and half of each passes; an adjudicated label settles a tie."
    )


def test_the_warning_of_ties_counts_what_the_figures_rest_on() -> None:
    """Five ties on claims that showed the judge, and three beside the sample, are in no figure."""
    said = [("yes", ["yes", "no"])] * 18 + [("yes", ["yes", "yes"])] * 12 + [("no", ["no"])] * 30
    claims = [claim(number, judge, words) for number, (judge, words) in enumerate(said)]
    claims = [
        each._replace(audit=number < 5, position=None if 5 <= number < 8 else number)
        for number, each in enumerate(claims)
    ]
    claims += [claim(60 + number, "yes", ()) for number in range(40)]
    design = LabelDesign(DesignKind.SIMPLE, len(claims))
    found = agreement_report(readings(claims, design=design), FAITHFULNESS, RULE, ReportSettings())
    assert (found.claims.coverage.tied, found.claims.coverage.tied_in_figures) == (18, 10)
    (warning,) = [each for each in found.warnings if each.code == "ties"]
    assert warning.message.startswith(
        "Annotators are evenly split on 10 of 22 claims that the figures rest on and that several "
        "labelled: left out"
    )


def test_annotators_who_agree_beside_the_sample_do_not_hide_that_they_differ_in_it() -> None:
    """Whoever has the labels can add agreement where no figure looks."""
    said = [("yes", ["yes", "no"])] * 8 + [("yes", ["yes", "yes"])] * 12 + [("no", ["no"])] * 30
    claims = [claim(number, judge, words) for number, (judge, words) in enumerate(said)]
    beside = [claim(50 + number, "yes", ["yes", "yes"]) for number in range(150)]
    design = LabelDesign(DesignKind.SIMPLE, 200)

    def report_with(others: Sequence[ClaimUnit]) -> AgreementReport:
        found = readings([*claims, *others], design=design)
        return agreement_report(found, FAITHFULNESS, RULE, ReportSettings())

    alone = report_with([each._replace(position=None) for each in beside])
    unlabelled = report_with(
        [claim(50 + number, "yes", ()) for number in range(150)],
    )
    shown = report_with([each._replace(audit=True) for each in beside])
    for found in (alone, shown):
        assert found.claims.rate.corrected_this_run == unlabelled.claims.rate.corrected_this_run
        assert found.humans == unlabelled.humans
        assert "annotators_conflict" in codes(found)


def test_annotators_who_differ_beside_a_sample_that_one_labelled_leave_its_share_open() -> None:
    """Nothing in the sample says how far they differ, and a pilot does."""
    said = [("yes", ["yes"])] * 40 + [("no", ["no"])] * 20
    claims = [claim(number, judge, words) for number, (judge, words) in enumerate(said)]
    pilot = [
        claim(60 + number, "yes", ["yes", "no"] if number % 5 < 2 else ["yes", "yes"])
        for number in range(50)
    ]

    def measure_width(others: Sequence[ClaimUnit]) -> float:
        design = LabelDesign(DesignKind.SIMPLE, 110)
        found = agreement_report(
            readings([*claims, *others], design=design), FAITHFULNESS, RULE, ReportSettings()
        )
        share = found.claims.rate.corrected_this_run
        assert share.ci_low is not None
        assert share.ci_high is not None
        return share.ci_high - share.ci_low

    alone = measure_width([claim(60 + number, "yes", ()) for number in range(50)])
    assert measure_width([each._replace(position=None) for each in pilot]) > alone + 0.2


def test_no_figure_counts_labels_beside_the_sample_or_with_the_judge_shown() -> None:
    """Ties there were half of a label each, and idk and x counted in their warnings."""
    said = [("yes", ["yes"])] * 50 + [("no", ["no"])] * 20 + [("yes", ["yes", "no"])] * 4
    claims = [claim(number, judge, words) for number, (judge, words) in enumerate(said)]
    claims += [claim(74, "yes", ["idk"]), claim(75, "yes", ["x"])]
    words = [*[["yes", "no"]] * 5, *[["idk"]] * 9, *[["x"]] * 9, *[["no"]] * 5]
    more = [claim(76 + number, "yes", each) for number, each in enumerate(words)]
    design = LabelDesign(DesignKind.SIMPLE, 104)

    def report_with(others: Sequence[ClaimUnit]) -> AgreementReport:
        found = readings([*claims, *others], design=design)
        return agreement_report(found, FAITHFULNESS, RULE, ReportSettings(idk=IdkRule.EXCLUDE))

    alone = report_with([claim(76 + number, "yes", ()) for number in range(len(more))])
    for others in (
        [each._replace(position=None) for each in more],
        [each._replace(audit=True) for each in more],
    ):
        found = report_with(others)
        assert found.claims.rate.label_mean == alone.claims.rate.label_mean
        assert found.claims.rate.corrected_this_run == alone.claims.rate.corrected_this_run
        for code in ("idk_excluded", "not_a_claim", "ties"):
            (warning,) = [each for each in found.warnings if each.code == code]
            (expected,) = [each for each in alone.warnings if each.code == code]
            assert warning.severity is expected.severity
            assert warning.message.startswith(expected.message.partition(" that ")[0])


def test_a_tie_of_answers_sends_nobody_to_adjudication_which_lists_claims() -> None:
    found = report([("yes", ["yes", "no"])] * 3)
    tied = replace(found.answers.coverage, units=5, tied_in_figures=2, several_in_figures=5)
    warned = list_warnings(replace(found, answers=replace(found.answers, coverage=tied)))
    message = next(
        each.message for each in warned if each.code == "ties" and each.level is ReportLevel.ANSWERS
    )
    assert message.endswith("an imported rating of one more annotator settles a tie.")


def test_an_annotator_and_all_figures_count_the_same_claims() -> None:
    """Four labels showed the judge: they are of the annotator, and in no figure."""
    claims = [claim(number, "yes", ["no" if number % 3 else "yes"]) for number in range(12)]
    claims = [
        each._replace(audit=number < 4, position=number) for number, each in enumerate(claims)
    ]
    claims += [claim(12 + number, "yes", ()) for number in range(40)]
    design = LabelDesign(DesignKind.SIMPLE, len(claims))
    found = agreement_report(readings(claims, design=design), FAITHFULNESS, RULE, ReportSettings())
    (one,) = found.raters
    assert (one.labels, one.agreement.n, found.claims.agreement.n) == (12, 8, 8)
    assert (found.claims.coverage.compared, found.claims.coverage.in_figures) == (12, 8)


def test_two_who_always_contradict_each_other_leave_the_whole_rate_open() -> None:
    rate = report([("yes", ["yes", "no"])] * 60).claims.rate.corrected_this_run
    assert (rate.value, rate.ci_low, rate.ci_high) == (0.5, 0.0, 1.0)


def test_differences_widen_the_rate_of_claims_that_one_annotator_labelled() -> None:
    """They differ on 10 of 40, or on .338 by bad luck, so each errs on .215.

    That is 60 single labels; on .07 of the 30 they agree on, both err; 10 are ties.
    """
    same = [("yes", ["yes", "yes"])] * 30
    found = report([*same, *[("yes", ["yes", "no"])] * 10, *[("yes", ["yes"])] * 60])
    rate = found.claims.rate.corrected_this_run
    assert rate.value == pytest.approx(0.95)
    assert rate.ci_low is not None
    assert rate.ci_low == pytest.approx(0.95 - (0.05 + 0.6 * 0.21517 + 0.3 * 0.06991), abs=1e-4)
    assert "annotators err as often as they differ on units that several labelled" in (
        found.claims.rate.assumptions
    )
    few = report([*[("yes", ["yes", "no"])] * 9, *[("yes", ["yes"])] * 91]).claims
    assert few.rate.corrected_this_run.ci_low == pytest.approx(0.91), "nine say too little"


@pytest.mark.thorough
@pytest.mark.parametrize("shared", [0.3, 1])
def test_the_interval_holds_where_two_differ_on_two_of_five(shared: float) -> None:
    """Both err on 28 %, which moves a share of .98 by .26."""
    holds, width = measure_coverage(Setting("simple", 0.02, 300, 40), 0.4, shared, 20)
    assert holds >= 0.9
    assert width < 0.8


def test_annotators_who_agree_change_nothing() -> None:
    alone = report([("yes", ["yes"])] * 40 + [("no", ["no"])] * 20, undrawn=100)
    twice = report([("yes", ["yes", "yes"])] * 40 + [("no", ["no", "no"])] * 20, undrawn=100)
    assert twice.claims.rate == alone.claims.rate.__class__(
        *(
            getattr(twice.claims.rate if name == "assumptions" else alone.claims.rate, name)
            for name in alone.claims.rate.__slots__
        )
    )


def test_a_majority_or_a_final_word_is_no_tie() -> None:
    several = [claim(0, "yes", ["yes", "no", "yes"]), claim(1, "yes", ["yes", "no"], final="no")]
    level = agreement_report(readings(several), FAITHFULNESS, RULE).claims
    assert (level.coverage.tied, level.agreement.n) == (0, 2)
    assert level.table.agreed_count == 1


@pytest.mark.parametrize(
    ("rule", "tied", "agreed"),
    [(IdkRule.THREE, 2, 0), (IdkRule.PASS, 0, 2), (IdkRule.FAIL, 1, 0), (IdkRule.EXCLUDE, 2, 0)],
)
def test_ties_are_found_after_idk_is_read(rule: IdkRule, tied: int, agreed: int) -> None:
    """yes and idk are two votes for faithful; of yes, idk and no the first two are most."""
    found = report([("yes", ["yes", "idk"]), ("yes", ["yes", "idk", "no"])], rule)
    assert found.claims.coverage.tied == tied
    assert found.claims.coverage.agreed == agreed


def test_ties_between_labels_that_pass_alike_are_none_for_the_rate() -> None:
    found = report([("yes", ["yes", "idk"])] * 20 + [("no", ["no", "no"])] * 20)
    rate = found.claims.rate.corrected_this_run
    assert found.claims.coverage.tied == 20
    assert (rate.value, rate.ci_low, rate.ci_high) == (0.5, 0.5, 0.5)


def test_every_claim_is_counted_once() -> None:
    said = [("yes", ["yes", "no"]), ("yes", ["x", "yes"]), ("idk", ["yes"]), ("yes", ["idk"])]
    for rule in IdkRule:
        found = report(said, rule).claims.coverage
        whole = found.compared + found.unreviewed + found.not_a_claim + found.idk_excluded
        assert whole + found.tied + found.other_words + found.no_verdict == found.units == 4


def test_conflict_is_warned_of() -> None:
    same, other = ("yes", ["yes", "yes"]), ("yes", ["yes", "no"])
    assert "annotators_conflict" in codes(report([same] * 14 + [other] * 6))
    assert "annotators_conflict" not in codes(report([same] * 16 + [other] * 4))
    assert "annotators_conflict" not in codes(report([other] * 9))


def test_labels_under_another_name_too_hide_no_conflict() -> None:
    """Two names of one person outvote the other annotator, and agree with each other."""
    said = [("yes", ["no", "yes", "yes"])] * 12 + [("yes", ["yes", "yes", "yes"])] * 28
    found = report(said)
    assert found.humans is not None
    assert found.humans.percent.value == pytest.approx(0.8)
    (warning,) = [each for each in found.warnings if each.code == "annotators_conflict"]
    assert warning.message.startswith("ann differs from the other annotators on 30% of")
    # A colleague who tried a single claim hides no conflict either.
    tried = report([*said[:-1], ("yes", ["yes", "yes", "yes", "yes"])])
    assert "annotators_conflict" in codes(tried)
    less = report([*said[3:], *said[-3:]])
    assert "annotators_conflict" not in codes(less)
    few = report([("yes", ["no", "yes", "yes"])] * 9)
    assert "annotators_conflict" not in codes(few)


def test_an_answer_that_as_many_pass_as_fail_is_left_out() -> None:
    def answer(number: int, *words: str) -> AnswerUnit:
        opinions = tuple(
            Opinion(f"r{place}", word, Action.IMPORTED, True) for place, word in enumerate(words)
        )
        return AnswerUnit(
            ConversationId(number + 1), f"c{number}", f"g{number}", 1,
            Score(0.9, ScoreState.SCORED, ""), 3, True, max(words), None, len(words), opinions,
        )  # fmt: skip

    both = [answer(number, "yes", "yes") for number in range(5)] + [answer(5, "yes", "no")]
    level = agreement_report(readings(answers=both), FAITHFULNESS, RULE).answers
    assert (level.coverage.tied, level.coverage.compared, level.agreement.n) == (1, 5, 5)
    assert level.percent_agreement.value == 1
    assert (
        decide_answer_by_majority(answer(6, "yes", "idk", "no"), RULE.passing, FAITHFULNESS.names)
        is True
    )


def test_a_careless_second_annotator_no_longer_pulls_the_rate_down() -> None:
    """83 % pass; the second annotator calls a third of what passes unfaithful.

    The more severe word of each tie makes the share .70.
    """
    said: list[tuple[str, list[str]]] = []
    for number in range(300):
        first = "no" if number % 6 == 5 else "yes"
        second = "no" if number % 3 == 1 else first
        said.append(("yes", [first, second] if number % 5 < 2 else [first]))
    rate = report(said, undrawn=600).claims.rate.corrected_this_run
    severe = sum(max(words, key=SEVERITY.__getitem__) == "yes" for _, words in said) / 300
    assert severe == pytest.approx(0.7, abs=0.01)
    assert rate.value is not None
    assert rate.value == pytest.approx(0.767, abs=0.001)
    assert rate.ci_low is not None
    assert rate.ci_high is not None
    assert rate.ci_low < 0.83 < rate.ci_high


def test_idk_left_out_gives_the_figures_without_the_claims_that_either_side_calls_so() -> None:
    plain = [("yes", ["yes"])] * 30 + [("no", ["no"])] * 15 + [("yes", ["no"])] * 5
    unsure = [("idk", ["yes"])] * 6 + [("yes", ["idk"])] * 4 + [("idk", ["idk"])] * 3
    found = report([*plain, *unsure], IdkRule.EXCLUDE)
    without = report(plain, IdkRule.FAIL)
    level = found.claims
    assert level.cohen_kappa.value == without.claims.cohen_kappa.value
    assert level.strict.recall.value == without.claims.strict.recall.value
    coverage = level.coverage
    assert (coverage.idk_excluded, coverage.not_a_claim, coverage.no_verdict) == (13, 0, 0)
    assert (coverage.missing_verdicts, level.unjudged) == (0, (0, 0))
    # Of the 56 that annotators decided they pass 36, the judge's idk among them.
    assert level.rate.corrected_this_run.value == pytest.approx(36 / 56)
    assert "idk_excluded" in codes(found)
    assert not {"invalid_verdicts", "not_a_claim", "other_words"} & codes(found)


def test_idk_left_out_of_a_sample_counts_among_what_was_looked_at() -> None:
    """A third of what annotators looked at is idk, so a third of the run is."""
    said = [("yes", ["yes"])] * 30 + [("yes", ["idk"])] * 20 + [("no", ["no"])] * 10
    rate = report(said, IdkRule.EXCLUDE, undrawn=100).claims.rate.corrected_this_run
    # Of 150 `yes` by the judge 90 are decided; of 10 `no` 10 are.
    assert rate.value == pytest.approx(90 / 100)


@pytest.mark.parametrize(
    ("said", "rule", "worst", "best"),
    [
        (["no", "x"], IdkRule.THREE, 0.6, 0.75),
        (["yes", "x"], IdkRule.THREE, 0.75, 0.8),
        (["no", "idk"], IdkRule.EXCLUDE, 0.6, 0.75),
        (["no", "x", "yes"], IdkRule.THREE, 0.6, 0.8),
    ],
)
def test_a_tie_with_no_fair_claim_leaves_open_whether_it_is_in_the_share(
    said: list[str], rule: IdkRule, worst: float, best: float
) -> None:
    """Else a second annotator who says x takes failing claims out of the share."""
    given = [("yes", ["yes"])] * 60 + [("no", ["no"])] * 20 + [("no", said)] * 20
    rate = report(given, rule).claims.rate.corrected_this_run
    assert rate.value == pytest.approx((worst + best) / 2)
    assert rate.ci_low is not None
    assert rate.ci_high is not None
    assert rate.ci_low <= worst + 1e-9
    assert rate.ci_high >= best - 1e-9


def test_a_share_without_its_ties_in_fewer_than_five_groups_has_no_interval() -> None:
    """Without the tie with `x`, four of the five groups are left: the report ended there."""
    given = [("yes", ["yes"])] * 4 + [("yes", ["yes", "x"])]
    mean = report(given, undrawn=20).claims.rate.label_mean
    assert (mean.value, mean.ci_low, mean.reason) == (1.0, None, WithheldReason.TOO_FEW_CLUSTERS)


def test_judges_are_compared_on_the_labels_of_the_report() -> None:
    """yes and idk are a tie of three labels, and of two a common word."""
    claims = [claim(number, "yes", ["yes", "idk"]) for number in range(30)]
    pairs = tuple(PairedUnit(each.group, "yes", "no", None, each.claim) for each in claims)
    compared = [
        agreement_report(
            readings(claims), FAITHFULNESS, RULE, ReportSettings(idk=rule),
            other=OtherJudge("b", pairs),
        ).comparison
        for rule in (IdkRule.THREE, IdkRule.PASS)
    ]  # fmt: skip
    assert [each.n_common for each in compared if each is not None] == [0, 30]
