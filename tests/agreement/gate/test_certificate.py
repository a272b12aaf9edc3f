"""What a certificate is bound to, and what it lets be said of runs without labels."""

from dataclasses import replace

import pytest

from faithtui.agreement.gate.accuracy_transfer import (
    JudgeAccuracy,
    estimate_other_run_pass_rate,
    find_judge_sensitivity_and_specificity,
)
from faithtui.agreement.gate.certificate import (
    count_verdicts_by_origin,
    hash_conversation_names,
    hash_human_labels,
    make_judge_identity,
    split_window_size_from_options,
)
from faithtui.agreement.labelled_units import AnswerUnit, ClaimUnit, Opinion
from faithtui.agreement.report.model import LevelReport
from faithtui.agreement.report.report import agreement_report
from faithtui.domain.estimates import (
    LEVEL,
    Estimate,
    EstimateMethod,
    EstimateStatus,
    make_undefined_estimate,
)
from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.scores import ScoringRule, make_score
from faithtui.domain.withheld_reasons import WithheldReason
from tests.agreement.building import readings
from tests.benchmarks.coverage import Setting, simulate


def share(value: float, se: float | None, n: int = 100, clusters: int = 20) -> Estimate:
    half = 0.1 if se is None else 1.96 * se
    low, high = max(0.0, value - half), min(1.0, value + half)
    return Estimate(
        value, EstimateStatus.OK, n, clusters, ci_low=low, ci_high=high, level=LEVEL,
        method=EstimateMethod.JACKKNIFE_LOGIT, se=se,
    )  # fmt: skip


GOOD = JudgeAccuracy(("no",), share(0.9, 0.03), share(0.8, 0.04))


def claim(number: int, **changes: object) -> ClaimUnit:
    said = (Opinion("ann", "yes", Action.BLIND, blind=True),)
    made = ClaimUnit(
        ClaimId(number), ConversationId(number), f"c{number}", f"c{number}", 1, f"claim {number}",
        "yes", "yes", 1, 1, True, opinions=said,
    )  # fmt: skip
    return made._replace(**changes)  # type: ignore[arg-type]  # the tests' own words


def test_a_judge_is_taken_apart_without_the_folders_of_a_file() -> None:
    assert make_judge_identity("openai:llama3:8b", "f").model == "llama3:8b"
    assert (
        make_judge_identity("offline", "f").provider,
        make_judge_identity("offline", "f").model,
    ) == (
        "offline",
        "",
    )
    assert make_judge_identity("replay:secret/place/replies.jsonl", "f").model == "replies.jsonl"
    assert make_judge_identity("replay:C:\\place\\replies.jsonl", "f").model == "replies.jsonl"


def test_options_that_only_talk_are_left_out() -> None:
    size, others = split_window_size_from_options(
        {"window_size": 4, "verbose_mode": True, "async_mode": False, "threshold": 0.5, "llm": None}
    )
    assert (size, others) == (4, {"llm": None, "threshold": 0.5})
    assert split_window_size_from_options({})[0] is None


def test_labels_have_one_name_whatever_the_judge_says_and_wherever_they_lie() -> None:
    here = [claim(1), claim(2)]
    there = [
        claim(2, claim=ClaimId(7), conversation=ConversationId(9), judge="no", windows=3),
        claim(1, claim=ClaimId(8), stratum="yes", position=4),
        claim(3, opinions=(), human=None),
    ]
    assert hash_human_labels(here, ()) == hash_human_labels(there, ())


@pytest.mark.parametrize(
    "other",
    [
        claim(1, human="no"),
        claim(1, text="another"),
        claim(1, turn=3),
        claim(1, key="d1"),
        claim(1, opinions=(Opinion("bo", "yes", Action.BLIND, blind=True),)),
        claim(1, opinions=(Opinion("ann", "yes", Action.AGREED, blind=False),)),
    ],
)
def test_any_change_of_a_label_changes_their_name(other: ClaimUnit) -> None:
    assert hash_human_labels([claim(1)], ()) != hash_human_labels([other], ())


def test_conversations_are_named_by_group_and_key_alone() -> None:
    assert hash_conversation_names([claim(1), claim(2)], ()) == hash_conversation_names(
        [claim(2, judge="no", text="x"), claim(1), claim(1)], ()
    )
    assert hash_conversation_names([claim(1)], ()) != hash_conversation_names([claim(2)], ())
    rated = AnswerUnit(
        ConversationId(2), "c2", "c2", 1, make_score(1.0), 1, True, "yes", 1.0, 1
    )  # fmt: skip
    assert hash_conversation_names([claim(1)], [rated]) == hash_conversation_names(
        [claim(1), claim(2)], ()
    )


def test_verdicts_are_counted_by_where_they_come_from() -> None:
    counted = [
        Opinion("a", "yes", Action.BLIND, blind=True),
        Opinion("a", "yes", Action.IMPORTED, blind=True),
        Opinion("a", "yes", Action.AGREED, blind=False),
        Opinion("a", "yes", Action.OVERRIDDEN, blind=False),
        Opinion("a", "yes", Action.ADJUDICATED, blind=True),
    ]
    assert count_verdicts_by_origin(counted) == {
        "imported": 1, "adjudicated": 1, "blind": 1, "shown": 2,
    }  # fmt: skip


def report(passing: tuple[str, ...]) -> LevelReport:
    said = [claim(n, judge=("yes", "no", "idk")[n % 3]) for n in range(12)]
    rule = ScoringRule(passing=passing, when_empty=1.0)
    return agreement_report(readings(said), FAITHFULNESS, rule).claims


def test_accuracy_is_that_of_what_fails() -> None:
    strict, lenient = (
        find_judge_sensitivity_and_specificity(report(("yes", "idk")), ("yes", "idk")),
        find_judge_sensitivity_and_specificity(report(("yes",)), ("yes",)),
    )
    assert strict is not None
    assert strict.positive == ("no",)
    assert lenient is not None
    assert lenient.positive == ("idk", "no")
    assert find_judge_sensitivity_and_specificity(report(("idk",)), ("idk",)) is None


def test_a_share_elsewhere_is_corrected_by_the_certified_accuracy() -> None:
    judge = share(0.7, 0.02, n=500)
    found = estimate_other_run_pass_rate(GOOD, judge, LEVEL)
    assert found.value == pytest.approx(1 - (0.3 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.value is not None
    assert found.ci_low < found.value < found.ci_high
    assert (found.method, found.n) == (EstimateMethod.FIELLER, 500)


def test_an_accuracy_known_less_well_makes_a_wider_interval() -> None:
    rough = JudgeAccuracy(("no",), share(0.9, 0.06), share(0.8, 0.08))
    judge = share(0.7, 0.02, n=500)
    narrow, wide = (
        estimate_other_run_pass_rate(GOOD, judge, LEVEL),
        estimate_other_run_pass_rate(rough, judge, LEVEL),
    )
    assert narrow.ci_low is not None
    assert wide.ci_low is not None
    assert wide.ci_low < narrow.ci_low


@pytest.mark.parametrize(
    ("accuracy", "judge", "reason"),
    [
        (None, share(0.7, 0.02), WithheldReason.UNINFORMATIVE_JUDGE),
        (GOOD, make_undefined_estimate(WithheldReason.NO_ITEMS), WithheldReason.NO_ITEMS),
        (
            replace(
                GOOD, sensitivity=make_undefined_estimate(WithheldReason.NO_REFERENCE_POSITIVES)
            ),
            share(0.7, 0.02),
         WithheldReason.NO_REFERENCE_POSITIVES),
        (replace(
            GOOD,
            specificity=Estimate(0.9, EstimateStatus.OK, 9, 3, WithheldReason.TOO_FEW_CLUSTERS),
         ),
         share(0.7, 0.02), WithheldReason.TOO_FEW_CLUSTERS),
        (JudgeAccuracy(("no",), share(0.5, 0.05), share(0.5, 0.05)), share(0.7, 0.02),
         WithheldReason.UNINFORMATIVE_JUDGE),
    ],
)  # fmt: skip
def test_where_it_cannot_be_corrected_the_reason_is_told(
    accuracy: JudgeAccuracy | None, judge: Estimate, reason: WithheldReason
) -> None:
    found = estimate_other_run_pass_rate(accuracy, judge, LEVEL)
    assert (found.value, found.reason) == (None, reason)


def test_a_share_whose_interval_is_everything_counts_as_one_unit() -> None:
    judge = share(0.7, 0.02, n=500)
    nothing = replace(share(0.9, None, n=300), ci_low=0.0, ci_high=1.0)
    found = estimate_other_run_pass_rate(JudgeAccuracy(("no",), nothing, nothing), judge, LEVEL)
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.ci_high - found.ci_low > 0.9


def test_a_judge_that_errs_otherwise_gives_no_score() -> None:
    """One that flags a fifth of what passes, and nothing of the other run."""
    found = estimate_other_run_pass_rate(GOOD, share(0.995, 0.01, n=500), LEVEL)
    assert (found.value, found.reason) == (None, WithheldReason.RATE_OUT_OF_RANGE)


def test_a_share_of_one_counts_as_many_units_as_its_interval_is_wide() -> None:
    judge = share(0.7, 0.02, n=500)

    def correct(low: float) -> Estimate:
        one = replace(share(1.0, None, n=400), ci_low=low)
        return estimate_other_run_pass_rate(JudgeAccuracy(("no",), one, one), judge, LEVEL)

    few, many = correct(0.8), correct(0.98)
    assert few.value == many.value == pytest.approx(0.7)
    assert few.ci_low is not None
    assert many.ci_low is not None
    assert few.ci_low < many.ci_low


@pytest.mark.parametrize("design", ["simple", "half"])
def test_a_certificate_of_a_hundred_labels_has_a_score_that_holds(design: str) -> None:
    """It was withheld in 15 to 60 % of these samples, as the judge might have been guessing."""
    setting = Setting(design, 0.1, 100, 40)
    found = simulate(setting, 25)["certified rate"]
    assert found.shown == 25
    assert found.holds_run >= 23
