"""Where `yes` begins: what is refused, what is offered, and what it costs on real claims."""

import random
from dataclasses import replace

import pytest

from faithtui.agreement.statistics.labelled_probabilities import (
    FEWEST_LABELS,
    LabelledProbability,
    explain_recalibration_refusal,
    scale_weights_to_effective_size,
)
from faithtui.agreement.statistics.verdict_threshold import (
    SHIPPED_THRESHOLD,
    ThresholdEffect,
    VerdictAccuracy,
    choose_probability_threshold,
    evaluate_threshold,
    measure_verdict_accuracy,
)
from tests.embedded_judge_training.recalibration import (
    draw_by_verdict,
    draw_simple,
    measure_draw,
    read_file,
)


def labelled(
    good: int, bad: int, groups: int = 10, *, chance: float = 0.5
) -> list[LabelledProbability]:
    kinds = [True] * good + [False] * bad
    return [
        LabelledProbability(f"g{number % groups}", chance, kind, is_drawn=True)
        for number, kind in enumerate(kinds)
    ]


def picked(good: int, bad: int) -> list[LabelledProbability]:
    return [replace(each, is_drawn=False) for each in labelled(good, bad)]


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        (labelled(10, 9), "19 claims judged by the embedded judge are labelled"),
        (labelled(1, 0), "1 claim judged by the embedded judge is labelled"),
        (labelled(40, 0), "40 claims supported and 0 not; recalibrating takes 5 of each"),
        (labelled(4, 36), "4 claims supported and 36 not"),
        (labelled(20, 20, groups=4), "claims of 4 groups of conversations"),
        (labelled(20, 20, groups=1), "claims of 1 group of conversations"),
        (
            [replace(each, is_override=True) for each in labelled(20, 20)],
            "all 40 labels are corrections of the judge",
        ),
        (
            [replace(each, is_drawn=number < 19) for number, each in enumerate(labelled(20, 20))],
            "21 of 40 labels were given with the judge's verdict in view on claims that nobody",
        ),
        ([*labelled(16, 4), *picked(0, 20)], "16 claims supported and 4 not"),
        ([*labelled(16, 4), *picked(9, 9)], "16 claims supported and 4 not"),
        ([*labelled(15, 15, groups=4), *picked(9, 9)], "claims of 4 groups"),
    ],
)
def test_labels_that_would_bend_the_judge_are_refused(
    claims: list[LabelledProbability], words: str
) -> None:
    found = explain_recalibration_refusal(claims)
    assert found is not None
    assert words in found


def test_labels_of_both_kinds_from_several_conversations_are_taken() -> None:
    assert explain_recalibration_refusal(labelled(FEWEST_LABELS - 5, 5, groups=5)) is None


def test_weights_sum_to_as_many_labels_as_tell_as_much() -> None:
    claims = [replace(each, weight=9.0) for each in labelled(10, 10)]
    assert sum(each.weight for each in scale_weights_to_effective_size(claims)) == pytest.approx(20)
    claims[10:] = [replace(each, weight=1.0) for each in claims[10:]]
    found = scale_weights_to_effective_size(claims)
    assert sum(each.weight for each in found) == pytest.approx(100**2 / (10 * 81 + 10))
    assert found[0].weight / found[-1].weight == pytest.approx(9)


def test_verdicts_are_counted_by_weight_and_unsupported_is_positive() -> None:
    claims = [
        LabelledProbability("a", 0.2, False, 3.0),
        LabelledProbability("a", 0.9, False, 1.0),
        LabelledProbability("b", 0.2, True, 2.0),
        LabelledProbability("b", 0.9, True, 6.0),
    ]
    found = measure_verdict_accuracy(claims, [False, True, False, True])
    assert found == VerdictAccuracy(recall=0.75, precision=0.6, balanced_accuracy=0.75)
    assert measure_verdict_accuracy(claims[2:], [True, True]) == VerdictAccuracy(None, None, None)


def test_most_claims_being_supported_does_not_lower_the_threshold() -> None:
    """With probabilities that is what happens: 0.5 is reached by nearly every claim then."""
    claims = [
        LabelledProbability(f"g{number % 12}", 0.3 + 0.5 * (number % 7) / 7, number % 10 > 0)
        for number in range(120)
    ]
    assert choose_probability_threshold(claims) > 0.41
    rare = [replace(each, weight=9.0) if each.is_supported else each for each in claims]
    assert choose_probability_threshold(rare) == pytest.approx(
        choose_probability_threshold(claims), abs=0.02
    )


def test_a_threshold_that_helps_on_conversations_left_out_is_offered() -> None:
    chance = random.Random(1)
    claims = [
        LabelledProbability(f"g{number % 20}", chance.uniform(*span), kind)
        for number in range(100)
        for kind, span in ((True, (0.72, 0.95)), (False, (0.5, 0.72)))
    ]
    found = evaluate_threshold(claims)
    assert found.helps_enough_to_offer
    assert found.before.recall == pytest.approx(0)
    assert found.after.recall is not None
    assert found.after.recall > 0.5
    assert (found.raised, found.lowered > 50) == (0, True)


def test_the_error_of_the_gain_is_that_of_leaving_out_a_conversation() -> None:
    claims = [
        LabelledProbability(f"g{number % 5}", chance, kind, weight=1.0 + number % 3)
        for number in range(60)
        for kind, chance in ((True, 0.9), (False, 0.45 if number % 4 else 0.6 + number % 7 / 50))
    ]
    found = evaluate_threshold(claims)
    folds = {f"g{number}": number for number in range(5)}
    without = [
        choose_probability_threshold([each for each in claims if each.group != group])
        for group in folds
    ]

    def gain(kept: list[LabelledProbability]) -> float:
        old = measure_verdict_accuracy(kept, [each.chance >= 0.5 for each in kept])
        new = measure_verdict_accuracy(
            kept, [each.chance >= without[folds[each.group]] for each in kept]
        )
        assert old.balanced_accuracy is not None
        assert new.balanced_accuracy is not None
        return new.balanced_accuracy - old.balanced_accuracy

    gains = [gain([each for each in claims if each.group != group]) for group in folds]
    mean = sum(gains) / 5
    expected = (4 / 5 * sum((each - mean) ** 2 for each in gains)) ** 0.5
    assert expected > 0.005
    assert found.gain_error == pytest.approx(expected)


def test_a_gain_that_one_conversation_decides_is_not_offered() -> None:
    """The other conversations are judged rightly either way."""
    clear = [
        LabelledProbability(f"g{number % 20}", 0.95 if kind else 0.05, kind)
        for number in range(40)
        for kind in (True, False)
    ]
    odd = [LabelledProbability("odd", 0.5 + number / 500, False) for number in range(20)]
    spread = [replace(each, group=f"g{number}") for number, each in enumerate(odd)]
    assert evaluate_threshold([*clear, *spread]).helps_enough_to_offer
    assert not evaluate_threshold([*clear, *odd]).helps_enough_to_offer


def test_a_conversation_with_all_claims_of_a_kind_leaves_no_error_to_know() -> None:
    claims = labelled(20, 0)
    found = evaluate_threshold([*claims, *(replace(each, group="one") for each in labelled(0, 9))])
    assert found.gain_error is None
    assert not found.helps_enough_to_offer


def test_labels_that_are_noise_offer_nothing() -> None:
    chance = random.Random(2)
    offered = 0
    for _ in range(10):
        claims = [
            LabelledProbability(f"g{number % 15}", chance.random(), chance.random() < 0.6)
            for number in range(45)
        ]
        offered += evaluate_threshold(claims).helps_enough_to_offer
    assert offered <= 1


def test_clashing_claims_are_never_yes_and_have_no_say() -> None:
    claims = labelled(15, 15, chance=0.6)
    clashes = [replace(each, is_clash=True, chance=0.1) for each in labelled(0, 20)]
    assert choose_probability_threshold([*claims, *clashes]) == choose_probability_threshold(claims)
    assert choose_probability_threshold(clashes) == SHIPPED_THRESHOLD
    assert evaluate_threshold([*claims, *clashes]).before.recall == pytest.approx(20 / 35)


def test_a_threshold_takes_forty_labels_of_equal_weight() -> None:
    def count(labels: int, weight: float) -> ThresholdEffect:
        claims = [
            LabelledProbability(f"g{number}", 0.95 if kind else 0.6, kind, weight=weight)
            for number in range(labels // 2)
            for kind in (True, False)
        ]
        return evaluate_threshold(claims)

    assert [count(each, 1.0).has_too_few_labels for each in (38, 40)] == [True, False]
    assert [count(each, 1.0).helps_enough_to_offer for each in (38, 40)] == [False, True]
    assert [count(each, 0.5).helps_enough_to_offer for each in (78, 80)] == [False, True]


@pytest.mark.thorough
def test_labels_cost_at_most_two_points_of_balanced_accuracy() -> None:
    """Draws of 20 and of 50 labels per source of the development rows.

    Of other draws of 50 one in a thousand costs more: docs/judges/offline.md, "Recalibration".
    `python -m tests.embedded_judge_training.recalibration` makes the rows, and the whole table.
    """
    by_source = read_file()
    assert len(by_source) == 9
    changes = []
    for name, claims in by_source.items():
        chance = random.Random(f"{name}11")
        for number in range(8):
            draw = draw_by_verdict if number % 2 else draw_simple
            assert measure_draw(claims, draw(claims, 20, chance)) == 0
            changes.append(measure_draw(claims, draw(claims, 50, chance)))
    assert min(changes) >= -0.02
    assert any(changes)


def test_corrections_that_were_looked_for_offer_nothing_beside_a_few_that_agree() -> None:
    """38 corrections and 2 labels that agree cost .05 on some sources, if they counted."""
    worst = 0.0
    for claims in read_file().values():
        wrong = [place for place, each in enumerate(claims) if each.is_override]
        right = [place for place, each in enumerate(claims) if not each.is_override]
        if len(wrong) < 38:
            continue
        chance = random.Random(3)
        for _ in range(5):
            chosen = chance.sample(wrong, 38) + chance.sample(right, 2)
            worst = min(worst, measure_draw(claims, dict.fromkeys(chosen, 1.0)))
            found = [replace(claims[place], is_drawn=False) for place in chosen]
            assert "40 of 40 labels were given with the judge's verdict in view" in str(
                explain_recalibration_refusal(found)
            )
    assert worst < -0.02
