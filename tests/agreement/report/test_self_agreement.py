"""Second blind verdicts of the same person."""

import pytest

from faithtui.agreement.report.compare import compute_self_agreement
from faithtui.agreement.report.figures.rater_comparison import RepeatedLabel, list_repeated_verdicts
from faithtui.domain.ids import ClaimId, LabelId
from faithtui.domain.labels.label_events import Action, LabelEvent
from faithtui.domain.withheld_reasons import WithheldReason

WORDS = ("yes", "no", "idk", "x")


def act(
    number: int,
    action: Action,
    verdict: str | None = None,
    *,
    claim: int = 1,
    who: str = "ann",
    target: int | None = None,
) -> LabelEvent:
    return LabelEvent(
        LabelId(number),
        ClaimId(claim),
        who,
        action,
        verdict,
        target=None if target is None else LabelId(target),
    )


def found(*log: LabelEvent) -> list[tuple[str | None, str | None]]:
    return [(first.verdict, second.verdict) for first, second in list_repeated_verdicts(log)]


def test_a_repeat_is_compared_with_the_verdict_that_stood() -> None:
    assert found(
        act(1, Action.BLIND, "yes"),
        act(2, Action.OVERRIDDEN, "no"),
        act(3, Action.REPEATED, "yes"),
        act(4, Action.REPEATED, "idk"),
    ) == [("no", "yes"), ("no", "idk")]


def test_only_a_counted_verdict_of_ones_own_can_be_repeated() -> None:
    assert found(act(1, Action.REPEATED, "yes")) == []
    assert found(act(1, Action.BULK, "yes"), act(2, Action.REPEATED, "yes")) == []
    assert found(act(1, Action.BLIND, "yes", who="bo"), act(2, Action.REPEATED, "yes")) == []
    assert found(act(1, Action.BLIND, "yes", claim=2), act(2, Action.REPEATED, "yes")) == []


def test_a_claim_that_was_skipped_before_it_was_repeated_is_compared_with_its_label() -> None:
    log = (act(1, Action.BLIND, "yes"), act(2, Action.SKIPPED), act(3, Action.REPEATED, "no"))
    assert found(*log) == [("yes", "no")]


def test_what_was_taken_back_does_not_count() -> None:
    log = (act(1, Action.BLIND, "yes"), act(2, Action.REPEATED, "no"))
    assert found(*log, act(3, Action.WITHDRAWN, target=2)) == []
    assert found(*log, act(3, Action.WITHDRAWN, target=1)) == []


def repeat(
    first: str, second: str, group: str = "g", who: str = "ann", gap: float = 60
) -> RepeatedLabel:
    return RepeatedLabel(who, group, first, second, gap)


def test_share_and_kappa_of_a_person() -> None:
    own = [
        *(repeat("yes", "yes", f"g{n}", gap=10 * n) for n in range(9)),
        *(repeat("no", "no", f"h{n}", gap=100) for n in range(9)),
        repeat("yes", "no"),
        repeat("no", "yes"),
    ]
    (ann,) = compute_self_agreement(own, WORDS)
    assert (ann.reviewer, ann.n) == ("ann", 20)
    assert ann.same.value == pytest.approx(0.9)
    # 10 of each word on either side: agreement by chance is 1/2, so (0.9 - 0.5) / 0.5.
    assert ann.kappa.value == pytest.approx(0.8)
    assert ann.gap_s == 75


def test_people_come_by_name_and_words_of_other_metrics_are_left_out() -> None:
    rows = compute_self_agreement(
        [repeat("yes", "yes", who="bo"), repeat("yes", "yes"), repeat("1", "")], WORDS
    )
    assert [(each.reviewer, each.n) for each in rows] == [("ann", 1), ("bo", 1)]
    assert rows[0].kappa.reason is WithheldReason.NO_VARIATION
    assert compute_self_agreement([], WORDS) == ()
