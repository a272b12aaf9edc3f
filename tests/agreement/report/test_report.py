import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.labelled_units import (
    AnswerUnit,
    ClaimUnit,
    DesignKind,
    Opinion,
    UnratedAnswer,
)
from faithtui.agreement.report.digest import hash_units
from faithtui.agreement.report.model import AgreementReport, Coverage, VerdictCount
from faithtui.agreement.report.report import JudgingDescription, agreement_report
from faithtui.agreement.report.settings import ReportLevel, ReportSettings, Severity
from faithtui.agreement.report.warnings import _warn_of_level_report
from faithtui.domain.estimates import EstimateStatus, make_undefined_estimate
from faithtui.domain.ids import ClaimId, ClaimSetId, ConversationId, SampleId
from faithtui.domain.integrity.run_summary import Soundness
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.scores import (
    Score,
    ScoreState,
    ScoringRule,
    make_empty_score,
    make_score,
    passes_threshold,
)
from faithtui.domain.withheld_reasons import WithheldReason
from tests.agreement.building import readings

GOLDEN = Path(__file__).parents[3] / "fixtures" / "agreement" / "golden.json"
LIVE = ScoringRule(("yes", "idk"), 1.0)
PENALIZED = ScoringRule(("yes",), 1.0)


def claim(
    number: int = 0,
    judge: str | None = "yes",
    human: str | None = "yes",
    group: str = "g0",
    **more: Any,
) -> ClaimUnit:
    reading = ClaimUnit(
        claim=ClaimId(number),
        conversation=ConversationId(int(group.removeprefix("g"))),
        key=f"key of {group}",
        group=group,
        turn=1,
        text=f"claim {number}",
        judge=judge,
        human=human,
        reviewers=0 if human is None else 1,
        windows=1,
        steady=True,
        blind=None if human is None else True,
    )
    return reading._replace(**more)


def answer(
    number: int = 0,
    score: Score | float = 1.0,
    human: str | None = "yes",
    rating: float | None = None,
    *,
    claims: int = 2,
    rule: ScoringRule = LIVE,
) -> AnswerUnit:
    found = make_score(score) if isinstance(score, float) else score
    return AnswerUnit(
        conversation=ConversationId(number),
        key=f"key {number}",
        group=f"g{number}",
        turn=1,
        score=found,
        claims=claims,
        passes=passes_threshold(found, rule),
        human=human,
        rating=rating,
        raters=3,
    )


def report(
    claims: Sequence[ClaimUnit] = (),
    answers: Sequence[AnswerUnit] = (),
    rule: ScoringRule = LIVE,
) -> AgreementReport:
    return agreement_report(readings(claims, answers), FAITHFULNESS, rule)


def codes(found: AgreementReport, level: ReportLevel | None = None) -> set[str]:
    return {each.code for each in found.warnings if level is None or each.level is level}


def parts(coverage: Coverage) -> int:
    return (
        coverage.compared
        + coverage.unreviewed
        + coverage.not_a_claim
        + coverage.other_words
        + coverage.no_verdict
        + coverage.vacuous
        + coverage.unscored
    )


def many(pairs: dict[tuple[str | None, str | None], int], groups: int = 25) -> list[ClaimUnit]:
    """Claims with these (human, judge) labels, dealt out to groups in turn."""
    labels = [pair for pair, times in pairs.items() for _ in range(times)]
    return [claim(i, judge, human, f"g{i % groups}") for i, (human, judge) in enumerate(labels)]


def test_nothing_at_all_is_a_report_without_numbers() -> None:
    found = report()
    for level in found.level_reports:
        assert level.percent_agreement.reason is WithheldReason.NO_ITEMS
        assert level.cohen_kappa.status is EstimateStatus.UNDEFINED
        assert level.chance_agreement is None
        assert level.design.kind is DesignKind.NONE
    assert found.scores.spearman.reason is WithheldReason.NO_ITEMS
    assert found.consistency.share.reason is WithheldReason.NO_ITEMS
    assert [(each.code, each.severity) for each in found.warnings] == [
        ("no_labels", Severity.BLOCKING)
    ]
    assert "No human labels" in found.headline


def test_the_pipeline_of_window_rows_counts_each_claim_once() -> None:
    cases = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
    (case,) = [each for each in cases if each["statistic"] == "pipeline_counts"]
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in case["input"]["rows"]:
        rows.setdefault(row["claim_key"], []).append(row)
    held_once = [
        claim(
            i,
            held[0]["judge"],
            held[0]["human"],
            f"g{held[0]['conversation'].removeprefix('c')}",
            windows=len(held),
        )
        for i, held in enumerate(rows.values())
    ]
    found = report(held_once).claims
    expected = case["expected"]
    assert found.coverage.units == expected["units_total"]
    assert found.coverage.reviewed == expected["units_reviewed"]
    assert found.coverage.unreviewed == expected["units_unreviewed"] + expected["units_skipped"]
    assert [list(row) for row in found.table.counts] == expected[
        "confusion_human_rows_judge_columns"
    ]
    assert found.percent_agreement.value == pytest.approx(expected["agreement_reviewed"])
    assert found.coverage.verdict_rows == len(case["input"]["rows"])


def test_a_claim_without_a_verdict_never_agrees_and_enters_no_coefficient() -> None:
    clean = many({("yes", "yes"): 20, ("no", "no"): 10, ("yes", "no"): 5})
    extra = [
        claim(100, None, "yes"),
        claim(101, None, "no"),
        claim(102, "maybe", "no"),
        claim(103, None, None),
    ]
    found = report([*clean, *extra])
    assert found.claims.unjudged == (1, 2, 0)
    assert found.claims.coverage.no_verdict == 3
    assert found.claims.coverage.missing_verdicts == 4
    assert found.claims.coverage.by_verdict[-1] == VerdictCount(None, 4, 3)
    assert found.claims.table == report(clean).claims.table
    (warning,) = [each for each in found.warnings if each.code == "invalid_verdicts"]
    assert "percent agreement would be 0.789" in warning.message


def test_a_claim_people_call_unfair_and_a_foreign_word_are_counted_apart() -> None:
    found = report([claim(0), claim(1, human="x"), claim(2, human="perhaps")])
    coverage = found.claims.coverage
    assert (coverage.compared, coverage.not_a_claim, coverage.other_words) == (1, 1, 1)
    assert coverage.reviewed == 3
    assert {"not_a_claim", "other_words"} <= codes(found)


def test_unreviewed_claims_make_no_corrected_rate_and_a_census_does() -> None:
    claims = many({("yes", "yes"): 30, ("no", "yes"): 10})
    complete = report(claims).claims
    assert complete.design.kind is DesignKind.CENSUS
    assert (complete.rate.corrected_this_run.value, complete.rate.corrected_this_run.n) == (
        0.75,
        40,
    )
    partial = report([*claims, claim(99, human=None)])
    assert partial.claims.design.kind is DesignKind.CONVENIENCE
    assert partial.claims.rate.corrected_this_run.reason is WithheldReason.DESIGN_NOT_RANDOM
    assert "design_not_random" in codes(partial, ReportLevel.CLAIMS)


def test_rated_answers_are_no_census_and_have_no_corrected_rate() -> None:
    rated = [answer(i, 1.0 if i % 5 else 0.0, "yes") for i in range(20)]
    others = [UnratedAnswer(ConversationId(99), "g99", passing) for passing in (True, False, None)]
    some = agreement_report(
        replace(readings(answers=rated), unrated=tuple(others)), FAITHFULNESS, LIVE
    )
    every = report(answers=rated)
    for found, total in ((some, 23), (every, 20)):
        level = found.answers
        assert (level.design.kind, level.design.frame_units) == (DesignKind.CONVENIENCE, total)
        for rate in (level.rate.corrected_this_run, level.rate.corrected_future):
            assert (rate.value, rate.reason) == (None, WithheldReason.DESIGN_NOT_RANDOM)
        assert "design_not_random" in codes(found, ReportLevel.ANSWERS)
        assert "corrected" not in found.headline
    # One answer has no score: of the other 22 two may be anything.
    assert some.answers.rate.bounds == pytest.approx((20 / 22, 1.0))
    assert some.answers.rate.judge_raw.n == 22
    assert (some.answers.coverage.unreviewed, some.answers.coverage.conversations) == (3, 21)
    assert parts(some.answers.coverage) == some.answers.coverage.units
    assert some.answers.coverage.by_verdict == (
        VerdictCount("yes", 17, 16),
        VerdictCount("no", 5, 4),
        VerdictCount(None, 1, 0),
    )
    # Where all are rated, bounds would be the rate itself.
    assert every.answers.rate.bounds is None


def test_detection_is_strict_and_lenient() -> None:
    found = report(many({("yes", "idk"): 3, ("idk", "no"): 5, ("no", "no"): 7, ("no", "yes"): 2}))
    assert found.claims.strict.positive == ("no",)
    assert (found.claims.strict.tp, found.claims.strict.fp, found.claims.strict.fn) == (7, 5, 2)
    lenient = found.claims.lenient
    assert lenient is not None
    assert lenient.positive == ("no", "idk")
    assert (lenient.tp, lenient.fp, lenient.fn, lenient.tn) == (12, 3, 2, 0)
    assert found.answers.lenient is None


def test_every_label_is_reported_against_the_rest() -> None:
    found = report(many({("yes", "yes"): 8, ("yes", "no"): 2, ("no", "no"): 6, ("no", "yes"): 4}))
    yes, no, idk = found.claims.classes
    assert (yes.label, yes.human, yes.judge, yes.both) == ("yes", 10, 12, 8)
    assert yes.f1.value == pytest.approx(16 / 22)
    assert no.recall.value == 0.6
    assert (no.recall.n, no.precision.n) == (10, 8)
    assert idk.recall.reason is WithheldReason.NO_REFERENCE_POSITIVES
    assert idk.precision.reason is WithheldReason.NO_PREDICTED_POSITIVES


def test_an_answer_passes_by_people_when_their_label_passes_by_the_rule() -> None:
    answers = [answer(0, 1.0, "idk"), answer(1, 0.2, "no"), answer(2, 1.0, "yes")]
    assert report(answers=answers).answers.table.counts == ((2, 0), (0, 1))
    assert report(answers=answers, rule=PENALIZED).answers.table.counts == ((1, 0), (1, 1))
    assert report(answers=answers, rule=PENALIZED).passing == ("yes",)


def test_answers_without_claims_or_score_are_counted_and_left_out() -> None:
    no_bar = ScoringRule(("yes", "idk"), 1.0, threshold=None)
    found = report(
        answers=[
            answer(0),
            answer(1, claims=0),
            answer(2, make_empty_score(ScoreState.INCOMPLETE, "1 of 2 claims have no verdict")),
            answer(3, rule=no_bar),
            answer(4, human=None),
        ]
    )
    coverage = found.answers.coverage
    assert (coverage.units, coverage.compared, coverage.unreviewed) == (5, 1, 1)
    assert (coverage.vacuous, coverage.unscored) == (1, 2)
    assert {"vacuous_answers", "unscored_answers"} <= codes(found, ReportLevel.ANSWERS)
    assert (found.scores.answers, found.scores.n_vacuous, found.scores.unscored) == (4, 1, 1)


def test_scores_are_compared_with_ratings_and_with_passing() -> None:
    answers = [
        answer(i, score, human, rating)
        for i, (score, human, rating) in enumerate(
            [(0.1, "no", 0.0), (0.2, "no", 1 / 3), (0.9, "yes", 2 / 3), (1.0, "yes", 1.0)] * 3
        )
    ]
    answers.append(answer(99, 0.5, "yes", None))
    found = report(answers=answers).scores
    assert (found.spearman.n, found.auroc.n) == (12, 13)
    assert found.auroc.value == 1.0
    assert found.judge_mean == pytest.approx(0.55)
    assert found.human_mean == pytest.approx(0.5)
    assert found.spearman.reason is WithheldReason.NO_VARIATION


def test_ratings_that_differ_by_rounding_tie() -> None:
    answers = [answer(i, 0.5 + i / 100, "yes", rating) for i, rating in enumerate([0.1 + 0.2, 0.3])]
    assert report(answers=answers).scores.spearman.reason is WithheldReason.NO_VARIATION


def test_consistency_counts_claims_in_several_windows() -> None:
    claims = [claim(i, group=f"g{i}", windows=1 + i % 2, steady=i not in (1, 4)) for i in range(12)]
    found = report(claims)
    assert (found.consistency.repeated, found.consistency.steady) == (6, 5)
    assert found.consistency.share.value == pytest.approx(5 / 6)
    assert "judge_unsteady" in codes(found)


def test_disagreements_name_their_claim_or_their_answer() -> None:
    found = report([claim(0), claim(7, "yes", "no", "g3")], [answer(5, 0.25, "yes")])
    (of_claims,) = found.claims.disagreements
    assert (of_claims.claim, of_claims.key, of_claims.judge, of_claims.human) == (
        7,
        "key of g3",
        "yes",
        "no",
    )
    (of_answers,) = found.answers.disagreements
    assert of_answers.claim is None
    assert of_answers.text == "score 0.25, threshold 0.5"


def test_the_headline_names_level_n_and_kappa_with_its_interval() -> None:
    claims = many({("yes", "yes"): 80, ("no", "no"): 20, ("yes", "no"): 7, ("no", "yes"): 5})
    found = report(claims, [answer(0)])
    kappa = found.claims.cohen_kappa
    assert found.primary_level_report.level is ReportLevel.CLAIMS
    assert "112 claims from 25 conversations" in found.headline
    assert f"{kappa.value:.2f} [{kappa.ci_low:.2f}, {kappa.ci_high:.2f}]" in found.headline


def test_headline_and_warning_call_the_same_claims_unfaithful() -> None:
    claims = many({("yes", "yes"): 5, ("no", "yes"): 1, ("idk", "yes"): 2}, groups=8)
    claims = [reading._replace(judge="yes") for reading in claims]
    strict = ScoringRule(("yes",), 1.0)
    found = report(claims, rule=strict)
    assert "misses 3 of 3 unfaithful claims (no or idk)" in found.headline
    warned = next(each for each in found.warnings if each.code == "few_minority")
    assert "found only 3 unfaithful claims (no or idk);" in warned.message
    lenient = report(claims)
    assert "misses 1 of 1 unfaithful claim and" in lenient.headline
    warned = next(each for each in lenient.warnings if each.code == "few_minority")
    assert "found only 1 unfaithful claim;" in warned.message


def test_a_few_labelled_claims_do_not_push_many_rated_answers_aside() -> None:
    rated = [answer(i, 1.0 if i % 3 else 0.0, "yes" if i % 4 else "no") for i in range(40)]
    few = report([claim(0), claim(1, "yes", "no", "g1")], rated)
    assert few.answers.cohen_kappa.ci_low is not None
    assert few.claims.coverage.compared == 2
    assert few.primary_level_report.level is ReportLevel.ANSWERS
    many_claims = many({("yes", "yes"): 80, ("no", "no"): 20, ("yes", "no"): 7})
    assert report(many_claims, rated).primary_level_report.level is ReportLevel.CLAIMS


@pytest.mark.parametrize(
    "settings", [ReportSettings(sample=SampleId(1)), ReportSettings(claim_set=ClaimSetId(1))]
)
def test_whoever_names_claims_is_told_of_them_however_few_are_labelled(
    settings: ReportSettings,
) -> None:
    rated = [answer(i, 1.0 if i % 3 else 0.0, "yes" if i % 4 else "no") for i in range(40)]
    few = readings([claim(0), claim(1, "yes", "no", "g1")], rated)
    found = agreement_report(few, FAITHFULNESS, LIVE, settings)
    assert found.answers.cohen_kappa.ci_low is not None
    assert found.primary_level_report.level is ReportLevel.CLAIMS
    assert "2 claims" in found.headline


def test_the_headline_speaks_of_answers_when_no_claim_was_compared() -> None:
    found = report([claim(0, human=None)], [answer(0), answer(1, 0.0, "no"), answer(2, 0.0, "yes")])
    assert found.primary_level_report.level is ReportLevel.ANSWERS
    assert "3 answers from 3 conversations" in found.headline
    assert "0.40 (no interval: too few groups for an interval)" in found.headline


def test_the_headline_says_why_there_is_no_kappa() -> None:
    assert (
        "kappa is undefined (judge and annotators use one label alone, yes)"
        in report([claim(0)]).headline
    )
    perfect = report(many({("yes", "yes"): 30, ("no", "no"): 30}))
    assert "kappa is withheld (no variation)" in perfect.headline
    assert "withheld" in codes(perfect)
    assert "none can be compared" in report([claim(0, human="x")]).headline


def test_several_conversations_of_one_group_are_called_groups() -> None:
    claims = [
        reading._replace(conversation=ConversationId(i))
        for i, reading in enumerate(many({("yes", "yes"): 10, ("no", "yes"): 10}, groups=5))
    ]
    assert "from 5 groups" in report(claims).headline


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        (many({("yes", "yes"): 29}), "few_items"),
        (many({("yes", "yes"): 90, ("no", "no"): 9}), "few_minority"),
        (many({("yes", "yes"): 90, ("no", "no"): 20}, groups=19), "few_conversations"),
        (many({("yes", "yes"): 170, ("no", "yes"): 20, ("no", "no"): 1}), "kappa_prevalence"),
        (many({("yes", "yes"): 60, ("no", "yes"): 40}), "marginal_bias"),
        (many({("yes", "yes"): 60}), "undefined"),
        (many({("yes", "yes"): 60, ("no", "yes"): 40}), "uninformative_judge"),
        ([claim(0, human="x")], "undefined"),
        ([claim(0, blind=False), claim(1)], "not_blind"),
        ([claim(0, blind=None), claim(1)], "not_blind"),
    ],
)
def test_what_weakens_the_figures_is_said(claims: list[ClaimUnit], code: str) -> None:
    found = [each for each in report(claims).warnings if each.code == code]
    assert [each.level for each in found] == [ReportLevel.CLAIMS]
    assert found[0].message.endswith(".")


@pytest.mark.parametrize(
    ("passing", "wrong", "said"),
    [
        (("yes", "idk"), 0, "The judge flags unfaithful claims no more often than faithful ones."),
        (
            ("yes",),
            0,
            "The judge says no of none of these claims, so it finds none that annotators label no.",
        ),
        (
            ("yes",),
            9,
            "The judge says no of claims that annotators label otherwise as often as of those that "
            "they label no, or more often.",
        ),
    ],
)
def test_an_uninformative_judge_is_said_of_the_labels_that_it_is_about(
    passing: tuple[str, ...], wrong: int, said: str
) -> None:
    """Where `idk` fails too, the headline may say that the judge finds unfaithful claims."""
    counts: dict[tuple[str | None, str | None], int] = {
        ("yes", "yes"): 60,
        ("idk", "idk"): 20,
        ("no", "idk"): 20,
        ("no", "yes"): 5,
        ("yes", "no"): wrong,
    }
    found = report(many(counts), rule=replace(LIVE, passing=passing))
    (about,) = [each.message for each in found.warnings if each.code == "uninformative_judge"]
    assert about == said


def test_a_kappa_that_is_withheld_is_not_called_low() -> None:
    found = report(many({("yes", "yes"): 74, ("no", "yes"): 2}))
    assert found.claims.cohen_kappa.value is None
    (about,) = [each.message for each in found.warnings if each.code == "kappa_prevalence"]
    assert "kappa" not in about
    assert "one label prevails" in about


def test_good_figures_carry_no_warning() -> None:
    claims = many({("yes", "yes"): 80, ("no", "no"): 30, ("yes", "no"): 6, ("no", "yes"): 5})
    assert report(claims).warnings == ()


def test_warnings_come_most_severe_first() -> None:
    severities = [each.severity for each in report([claim(0), claim(1, human="x")]).warnings]
    assert severities == sorted(severities, key=[*Severity][::-1].index)


def test_blind_labels_shown_labels_and_unknown_ones_are_counted_apart() -> None:
    found = report([claim(0), claim(1, blind=False), claim(2, blind=None)]).claims.coverage
    assert (found.compared, found.blind, found.shown) == (3, 1, 1)


words = st.sampled_from(["yes", "no", "idk", None])
claims_st = st.lists(
    st.builds(
        claim,
        st.integers(0, 10**6),
        words,
        st.sampled_from(["yes", "no", "idk", "x", "other", None]),
        st.sampled_from([f"g{i}" for i in range(8)]),
        windows=st.integers(1, 3),
        steady=st.booleans(),
    ),
    max_size=40,
)
answers_st = st.lists(
    st.builds(
        answer,
        st.integers(0, 8),
        st.sampled_from([0.0, 0.5, 1.0, make_empty_score(ScoreState.FAILED, "it broke")]),
        words,
        st.sampled_from([None, 0.0, 0.5, 1.0]),
        claims=st.integers(0, 2),
    ),
    max_size=30,
)


@given(claims_st, answers_st)
def test_every_unit_is_in_exactly_one_place(
    claims: list[ClaimUnit], answers: list[AnswerUnit]
) -> None:
    found = report(claims, answers)
    for level, units in ((found.claims, claims), (found.answers, answers)):
        coverage = level.coverage
        assert parts(coverage) == coverage.units == len(units)
        assert coverage.compared == level.table.n == coverage.agreed + coverage.overridden
        assert len(level.disagreements) == coverage.overridden
        assert sum(each.units for each in coverage.by_verdict) == coverage.units
        assert sum(each.reviewed for each in coverage.by_verdict) == coverage.reviewed
        assert sum(level.unjudged) == coverage.no_verdict


@given(claims_st, answers_st, st.randoms(use_true_random=False))
def test_the_order_of_readings_changes_no_figure(
    claims: list[ClaimUnit], answers: list[AnswerUnit], random: Any
) -> None:
    def figures(found: AgreementReport) -> AgreementReport:
        return replace(
            found,
            claims=replace(found.claims, disagreements=()),
            answers=replace(found.answers, disagreements=()),
        )

    moved, turned = list(claims), list(answers)
    random.shuffle(moved)
    random.shuffle(turned)
    assert figures(report(claims, answers)) == figures(report(moved, turned))
    assert hash_units(claims, answers) == hash_units(moved, turned)


@given(claims_st)
def test_unreviewed_claims_change_coverage_and_rates_only(claims: list[ClaimUnit]) -> None:
    before = report(claims).claims
    after = report([*claims, claim(1, "no", None, "g99"), claim(2, None, None)]).claims
    kept = replace(
        after,
        coverage=before.coverage,
        design=before.design,
        rate=before.rate,
    )
    assert kept == before
    assert after.coverage.unreviewed == before.coverage.unreviewed + 2


@given(claims_st)
def test_holding_a_claim_in_more_windows_changes_no_figure(claims: list[ClaimUnit]) -> None:
    repeated = [each._replace(windows=each.windows + 4) for each in claims]
    before, after = report(claims).claims, report(repeated).claims
    assert replace(after, coverage=before.coverage) == before


@given(claims_st, answers_st)
def test_the_digest_follows_labels_and_not_keys_of_the_store(
    claims: list[ClaimUnit], answers: list[AnswerUnit]
) -> None:
    renumbered = [each._replace(claim=ClaimId(each.claim + 5)) for each in claims]
    assert hash_units(claims, answers) == hash_units(renumbered, answers)
    changed = [*claims, claim(3, "no", "yes")]
    assert hash_units(claims, answers) != hash_units(changed, answers)


@pytest.mark.parametrize(
    ("soundness", "sentence", "warning"),
    [
        (Soundness.SOUND, "", None),
        (Soundness.NOTED, "1 of 9 claims is not in the answer", ("texts_not_found", "info")),
        (Soundness.UNCHECKED, "not checked yet", ("not_checked", "caution")),
        (Soundness.SUSPECT, "suspect: 3 of 3 claims …", ("suspect_run", "blocking")),
    ],
)
def test_what_a_score_rests_on_is_a_warning(
    soundness: Soundness, sentence: str, warning: tuple[str, str] | None
) -> None:
    judged = JudgingDescription(soundness=soundness, integrity=sentence)
    found = agreement_report(readings(), FAITHFULNESS, LIVE, judged=judged)
    known = {"texts_not_found", "not_checked", "suspect_run"}
    told = [each for each in found.warnings if each.code in known]
    assert [(each.code, each.severity) for each in told] == ([] if warning is None else [warning])
    assert all(sentence[1:] in each.message for each in told)
    if soundness is Soundness.SUSPECT:
        assert found.warnings[0] == told[0]


@pytest.mark.parametrize(("names", "labels", "warned"), [(1, 30, 1), (3, 30, 3), (3, 27, 0)])
def test_hasty_labels_are_counted_together(names: int, labels: int, warned: int) -> None:
    """Thirty labels at a glance are no slower under three names."""
    rows = [
        claim(number, human="yes")._replace(
            opinions=(Opinion(f"p{number % names}", "yes", Action.BLIND, True, 0.3),)
        )
        for number in range(labels)
    ]
    assert [each.code for each in report(rows).warnings].count("hasty_labels") == warned


@pytest.mark.parametrize(("hasty", "warned"), [(31, True), (28, False)])
def test_labels_are_hasty_where_a_third_of_them_are(hasty: int, warned: bool) -> None:
    """Who copies some labels at a glance leaves the middle one slow."""
    rows = [
        claim(number, human="yes")._replace(
            opinions=(Opinion("p", "yes", Action.BLIND, True, 0.3 if number < hasty else 20.0),)
        )
        for number in range(90)
    ]
    told = [each.message for each in report(rows).warnings if each.code == "hasty_labels"]
    assert told == [
        f"{hasty} of the 90 labels of p took less than 2 s each: too short to have read."
    ] * int(warned)


def test_few_conversations_are_said_to_give_no_interval() -> None:
    rough, none = (
        next(each.message for each in report(rows).warnings if each.code == "few_conversations")
        for rows in (
            many({("yes", "yes"): 90, ("no", "no"): 20}, groups=19),
            many({("yes", "yes"): 90, ("no", "no"): 20}, groups=4),
        )
    )
    assert rough.endswith(" only; intervals are rough below 20.")
    assert " only; figures of so few have no interval" in none


@pytest.mark.parametrize(
    ("this_run", "future", "but"),
    [
        (True, True, ", but for the share that passes in this run and in future conversations."),
        (True, False, ", but for the share that passes in this run."),
        (False, False, "."),
    ],
)
def test_few_conversations_name_the_shares_that_have_an_interval_alone(
    this_run: bool, future: bool, but: str
) -> None:
    """With labels of four of eight conversations of a sample by strata both have one."""
    level = report(many({("yes", "yes"): 90, ("no", "no"): 20})).claims
    known, none = level.rate.corrected_this_run, make_undefined_estimate(WithheldReason.NO_ITEMS)
    assert known.has_interval
    rate = replace(
        level.rate,
        corrected_this_run=known if this_run else none,
        corrected_future=known if future else none,
    )
    for groups, of_whom in ((4, "figures of so few"), (12, "their figures")):
        few = report(many({("yes", "yes"): 90, ("no", "no"): 20}, groups=4)).claims
        few = replace(few, rate=rate, agreement=replace(few.agreement, clusters=groups))
        told = next(
            each.message
            for each in _warn_of_level_report(few, ("yes",))
            if each.code == "few_conversations"
        )
        assert told.endswith(f"; {of_whom} have no interval{but}")


def test_few_conversations_name_those_that_only_the_share_that_passes_counts() -> None:
    rows = many({("yes", "yes"): 90, ("no", "no"): 20}, groups=4)
    rows += [claim(200, None, "no", "g4")]
    found = report(rows)
    (told,) = (each.message for each in found.warnings if each.code == "few_conversations")
    (level,) = (each for each in found.level_reports if each.level is ReportLevel.CLAIMS)
    assert (level.agreement.clusters, level.rate.corrected_this_run.clusters) == (4, 5)
    assert (
        "4 conversations only (5 where the share that passes counts ties and claims without a "
        "judge's verdict too)" in told
    )
