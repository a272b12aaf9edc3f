import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.conversation import Turn
from faithtui.domain.labels.label_sets import FAITHFULNESS, INFERENCE, NOT_A_CLAIM
from faithtui.domain.scores import (
    ClaimOccurrence,
    Score,
    ScoreState,
    ScoringRule,
    WindowLabels,
    average_scores,
    make_empty_score,
    make_score,
    passes_threshold,
    score_conversation,
    score_window,
)
from faithtui.domain.windows import cut_sliding_windows, split_into_interactions

LENIENT = ScoringRule(passing=("yes", "idk"), when_empty=1.0)
PENALISED = replace(LENIENT, passing=("yes",))
STRICT = replace(LENIENT, strict=True)
PEER = replace(LENIENT, as_peer=True)
PEER_STRICT = replace(PEER, strict=True)
NO_VALUE = replace(LENIENT, when_empty=None)

LABELS = ("yes", "no", "idk")
FAILED = make_empty_score(ScoreState.FAILED, "the judge is down")
NOTHING_TO_READ = make_empty_score(ScoreState.SKIPPED, "no retrieval context")


def judged(labels: Sequence[Sequence[str | None]], size: int = 10) -> list[WindowLabels]:
    """Windows over interactions whose claims have these labels, the same in every window."""
    turns = (Turn("user", "?"), Turn("assistant", "!")) * len(labels)
    return [
        WindowLabels(
            window.interactions,
            tuple(
                ClaimOccurrence((part, number), part, label)
                for part in window.interactions
                for number, label in enumerate(labels[part])
            ),
        )
        for window in cut_sliding_windows(split_into_interactions(turns), size)
    ]


def values(scores: Sequence[Score]) -> list[float | None]:
    return [score.value for score in scores]


labels_of_conversations = st.lists(
    st.lists(st.sampled_from((*LABELS, None)), max_size=4), min_size=1, max_size=6
)
sizes = st.integers(1, 8)
rules = st.builds(
    ScoringRule,
    passing=st.sampled_from((("yes",), ("yes", "idk"))),
    when_empty=st.sampled_from((1.0, None)),
    threshold=st.none() | st.floats(0, 1),
    strict=st.booleans(),
    as_peer=st.booleans(),
)


# A window


@pytest.mark.parametrize(
    ("labels", "rule", "value"),
    [
        (["yes", "no", "idk"], LENIENT, 2 / 3),
        (["yes", "no", "idk"], PENALISED, 1 / 3),
        (["no"], LENIENT, 0.0),
        ([], LENIENT, 1.0),
        (["yes", "no"], STRICT, 0.0),
        (["yes", "idk"], STRICT, 1.0),
        (["yes", "idk"], replace(STRICT, passing=("yes",)), 0.0),
    ],
)
def test_a_window_scores_its_share_of_passing_labels(
    labels: list[str | None], rule: ScoringRule, value: float
) -> None:
    assert score_window(labels, rule) == make_score(value)


def test_a_window_without_claims_is_undefined_where_the_rule_says_so() -> None:
    assert score_window([], NO_VALUE) == make_empty_score(
        ScoreState.UNDEFINED, "nothing was judged"
    )
    said = score_window([], NO_VALUE, why_empty="the answer has no text")
    assert said == make_empty_score(ScoreState.UNDEFINED, "the answer has no text")


def test_a_missing_verdict_makes_a_window_incomplete() -> None:
    found = score_window(["yes", None, None], LENIENT)
    assert found == make_empty_score(ScoreState.INCOMPLETE, "2 of 3 claims have no verdict")


def test_the_peer_drops_missing_verdicts_and_counts_surplus_ones() -> None:
    assert score_window(["yes", None, "no"], PEER) == make_score(0.5)
    assert score_window([None, None], PEER) == make_score(1.0)
    assert score_window(["yes"], PEER, ["no", None]) == make_score(0.5)


def test_surplus_verdicts_count_for_the_peer_alone() -> None:
    assert score_window(["yes"], LENIENT, ["no"]) == make_score(1.0)


@given(st.lists(st.sampled_from((*LABELS, None))), rules)
def test_a_window_score_is_a_share_or_no_number(
    labels: list[str | None], rule: ScoringRule
) -> None:
    found = score_window(labels, rule)
    assert found.value is None or 0 <= found.value <= 1
    if rule.strict:
        assert found.value in (None, 0.0, 1.0)


@given(st.lists(st.sampled_from(LABELS), min_size=1), rules)
def test_the_order_of_labels_does_not_matter(labels: list[str | None], rule: ScoringRule) -> None:
    assert score_window(labels, rule) == score_window(labels[::-1], rule)


# The mean


def test_failed_comes_before_incomplete_and_both_before_any_number() -> None:
    incomplete = make_empty_score(ScoreState.INCOMPLETE, "1 of 2 claims have no verdict")
    found = average_scores([make_score(1.0), incomplete, FAILED], LENIENT)
    assert found == make_empty_score(ScoreState.FAILED, "1 of 3 parts: the judge is down")
    found = average_scores([make_score(1.0), incomplete, incomplete], LENIENT)
    assert found.state is ScoreState.INCOMPLETE
    assert found.reason == "2 of 3 parts: 1 of 2 claims have no verdict"


def test_undefined_parts_are_left_out_of_a_mean_and_counted_beside_it() -> None:
    undefined = make_empty_score(ScoreState.UNDEFINED, "no claims")
    assert average_scores([make_score(0.5), undefined], LENIENT) == Score(0.5, undefined=1)
    assert average_scores([undefined, undefined], LENIENT) == replace(undefined, undefined=2)


def test_a_mean_of_nothing_names_each_reason_and_counts_them() -> None:
    empty, blank = (
        make_empty_score(ScoreState.UNDEFINED, reason)
        for reason in ("no claims", "the answer has no text")
    )
    found = average_scores([empty, blank, empty, NOTHING_TO_READ], NO_VALUE)
    assert (found.state, found.undefined, found.skipped) == (ScoreState.UNDEFINED, 3, 1)
    assert found.reason == (
        "2 of 4: no claims; 1 of 4: the answer has no text; 1 of 4: no retrieval context"
    )


def test_an_undefined_window_neither_passes_nor_fails_a_strict_conversation() -> None:
    strict = replace(STRICT, when_empty=None)
    found, _ = score_conversation(judged([["yes"], []], size=1), strict)
    assert found.windowed == Score(1.0, undefined=1)
    assert passes_threshold(found.windowed, strict) is True
    nothing, _ = score_conversation(judged([[], []], size=1), strict)
    assert nothing.windowed.state is ScoreState.UNDEFINED
    assert passes_threshold(nothing.windowed, strict) is None
    missing, _ = score_conversation(judged([["yes"], [None]], size=1), strict)
    assert missing.windowed.state is ScoreState.INCOMPLETE


def test_a_window_of_claims_that_are_all_called_unfair_is_undefined() -> None:
    windows = judged([["yes"], ["no"]], size=1)
    found, each = score_conversation(windows, NO_VALUE, {(1, 0): NOT_A_CLAIM})
    assert each[1].state is ScoreState.UNDEFINED
    assert each[1].reason == "all that was judged is labelled x (not a fair claim)"
    assert (found.windowed, found.per_interaction) == (Score(1.0, undefined=1),) * 2
    assert found.pooled == make_score(1.0)
    none, _ = score_conversation(windows, NO_VALUE, {(0, 0): NOT_A_CLAIM, (1, 0): NOT_A_CLAIM})
    for score in (none.windowed, none.per_interaction, none.pooled):
        assert (score.state, score.reason) == (ScoreState.UNDEFINED, each[1].reason)


def test_labels_of_a_window_without_anything_to_compare_count_only_once_people_give_them() -> None:
    first, second = judged([["idk", "idk"], ["yes"]], size=1)
    why = "there is no document, so no claim was compared with anything"
    windows = [replace(first, undefined=why), second]
    found, each = score_conversation(windows, NO_VALUE)
    assert each[0] == make_empty_score(ScoreState.UNDEFINED, why)
    assert (found.windowed, found.per_interaction) == (Score(1.0, undefined=1),) * 2
    assert found.pooled == make_score(1.0)
    reviewed, each = score_conversation(windows, NO_VALUE, {(0, 0): "no"})
    assert values(each) == [0.0, 1.0]
    assert reviewed.windowed == reviewed.per_interaction == reviewed.pooled == make_score(0.5)


def test_a_claim_whose_home_window_has_no_score_counts_only_once_people_label_it() -> None:
    first, second = judged([["idk"], ["no"]], size=2)
    later = replace(
        second, occurrences=(replace(second.occurrences[0], label="no"), second.occurrences[1])
    )
    windows = [replace(first, undefined="there is no document"), later]
    found, each = score_conversation(windows, NO_VALUE)
    assert values(each) == [None, 0.5 if later.occurrences[1].label == "yes" else 0.0]
    assert found.per_interaction == Score(0.0, undefined=1)
    assert found.pooled == make_score(0.0)
    said, _ = score_conversation(windows, NO_VALUE, {first.occurrences[0].claim: "yes"})
    assert (said.per_interaction, said.pooled) == (make_score(0.5), make_score(0.5))


@given(labels_of_conversations, sizes, rules)
def test_nothing_makes_a_score_but_labels(
    labels: list[list[str | None]], size: int, rule: ScoringRule
) -> None:
    rule = replace(rule, when_empty=None, as_peer=False)
    windows = judged(labels, size)
    found, each = score_conversation(windows, rule)
    for window, score in zip(windows, each, strict=True):
        assert score.value is None or window.occurrences
        assert window.occurrences or score.state is ScoreState.UNDEFINED
    if all(score.state in (ScoreState.SCORED, ScoreState.UNDEFINED) for score in each):
        assert found.windowed.undefined == sum(score.value is None for score in each)
        defined = [score.value for score in each if score.value is not None]
        assert (found.windowed.value is None) == (not defined)
        assert (found.pooled.value is None) == (not any(labels))
        if defined and not rule.strict:
            assert found.windowed.value == pytest.approx(sum(defined) / len(defined))


@given(labels_of_conversations, sizes, rules)
def test_windows_without_claims_never_move_a_mean(
    labels: list[list[str | None]], size: int, rule: ScoringRule
) -> None:
    rule = replace(rule, when_empty=None)
    windows = judged(labels, size)
    kept = [window for window in windows if window.occurrences]
    if kept and not rule.as_peer:
        whole, part = (score_conversation(each, rule)[0].windowed for each in (windows, kept))
        assert (whole.value, whole.state) == (part.value, part.state)


def test_nothing_to_average_is_skipped_and_1_for_the_peer() -> None:
    assert average_scores([], LENIENT) == make_empty_score(ScoreState.SKIPPED, "no interaction")
    assert average_scores([], PEER) == make_score(1.0)


def test_strict_is_binary_and_the_peers_strict_is_a_mean_of_binary_windows() -> None:
    labels: list[list[str | None]] = [["yes"], ["no"]]
    assert score_conversation(judged(labels), STRICT)[0].windowed == make_score(0.0)
    assert score_conversation(judged(labels), PEER_STRICT)[0].windowed == make_score(0.5)
    assert score_conversation(judged([["yes"], ["idk"]]), STRICT)[0].windowed == make_score(1.0)


# The threshold


def test_three_windows_of_seven_tenths_meet_seven_tenths() -> None:
    rule = replace(LENIENT, threshold=0.7)
    mean = average_scores([make_score(0.7)] * 3, rule)
    assert passes_threshold(mean, rule) is True


def test_they_miss_it_under_the_peers_arithmetic() -> None:
    rule = replace(PEER, threshold=0.7)
    mean = average_scores([make_score(0.7)] * 3, rule)
    assert mean.value == 0.6999999999999998
    assert passes_threshold(mean, rule) is False


def test_equal_meets_a_threshold_and_clearly_less_does_not() -> None:
    assert passes_threshold(make_score(0.5), LENIENT) is True
    assert passes_threshold(make_score(0.5), PEER) is True
    assert passes_threshold(make_score(0.499), LENIENT) is False


def test_strict_raises_the_bar_to_1() -> None:
    rule = replace(STRICT, threshold=0.2)
    assert rule.effective_threshold == 1.0
    assert passes_threshold(make_score(0.9), rule) is False
    assert passes_threshold(make_score(1.0), rule) is True
    assert replace(STRICT, threshold=None).effective_threshold == 1.0


def test_without_a_threshold_or_a_number_there_is_no_pass_and_no_fail() -> None:
    assert passes_threshold(make_score(0.1), replace(LENIENT, threshold=None)) is None
    assert passes_threshold(FAILED, LENIENT) is None


@pytest.mark.parametrize(("value", "state"), [(None, ScoreState.SCORED), (0.5, ScoreState.FAILED)])
def test_a_score_has_a_number_exactly_when_it_is_scored(
    value: float | None, state: ScoreState
) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        Score(value, state)


# A conversation


@pytest.mark.parametrize(
    ("wrong", "windowed"), [(0, 0.389), (1, 0.722), (2, 0.889)], ids=["first", "middle", "last"]
)
def test_one_wrong_claim_of_three_weighs_by_its_place_in_windowed_alone(
    wrong: int, windowed: float
) -> None:
    labels: list[list[str | None]] = [["yes"], ["yes"], ["yes"]]
    labels[wrong] = ["no"]
    found, _ = score_conversation(judged(labels), LENIENT)
    assert found.windowed.value == pytest.approx(windowed, abs=5e-4)
    assert found.per_interaction.value == pytest.approx(2 / 3)
    assert found.pooled.value == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("count", "size", "weights"),
    [
        (3, 10, {0: 0.611, 1: 0.278, 2: 0.111}),
        (5, 10, {0: 0.457, 1: 0.257, 4: 0.040}),
        (12, 10, {0: 0.244, 1: 0.169, 11: 0.0083}),
        (100, 10, {0: 0.0293, 1: 0.0203, 50: 0.0100, 99: 0.0010}),
        (12, 2, {0: 0.125, 1: 0.083, 11: 0.042}),
    ],
)
def test_weights_of_positions_are_the_measured_ones(
    count: int, size: int, weights: dict[int, float]
) -> None:
    for place, weight in weights.items():
        labels: list[list[str | None]] = [["yes"] for _ in range(count)]
        labels[place] = ["no"]
        found, _ = score_conversation(judged(labels, size), LENIENT)
        assert found.windowed.value is not None
        assert 1 - found.windowed.value == pytest.approx(weight, abs=5e-4)


def test_per_interaction_weighs_interactions_and_pooled_weighs_claims() -> None:
    found, each = score_conversation(judged([["no"], ["yes", "yes", "yes"]]), LENIENT)
    assert values(each) == [0.0, 0.75]
    assert found.windowed.value == pytest.approx(0.375)
    assert found.per_interaction.value == pytest.approx(0.5)
    assert found.pooled.value == pytest.approx(0.75)


def test_a_claim_counts_by_its_home_window_outside_its_windows() -> None:
    windows = [
        WindowLabels((0,), (ClaimOccurrence("claim", 0, "no"),)),
        WindowLabels((0, 1), (ClaimOccurrence("claim", 0, "yes"),)),
    ]
    found, each = score_conversation(windows, LENIENT)
    assert values(each) == [0.0, 1.0]
    assert found.windowed == make_score(0.5)
    assert found.pooled == make_score(0.0)
    assert found.per_interaction == make_score(0.5)


def test_a_claim_made_twice_counts_twice_in_its_windows_and_once_outside() -> None:
    twice = ClaimOccurrence("claim", 0, "no")
    window = WindowLabels((0,), (twice, twice, ClaimOccurrence("other", 0, "yes")))
    found, each = score_conversation([window], LENIENT)
    assert values(each) == [pytest.approx(1 / 3)]
    assert found.pooled == make_score(0.5)
    assert found.per_interaction == make_score(0.5)


def test_a_failed_window_leaves_all_three_scores_without_a_number() -> None:
    windows = [*judged([["yes"]]), WindowLabels((0, 1), failure=FAILED)]
    found, each = score_conversation(windows, LENIENT)
    assert each == (make_score(1.0), FAILED)
    assert found.windowed.state is ScoreState.FAILED
    assert found.per_interaction == found.pooled == found.windowed


def test_a_conversation_without_windows_is_skipped_in_all_three() -> None:
    found, each = score_conversation([], LENIENT)
    assert each == ()
    assert {found.windowed, found.per_interaction, found.pooled} == {
        make_empty_score(ScoreState.SKIPPED, "no interaction")
    }


def test_a_missing_verdict_leaves_the_headline_and_its_interaction_incomplete() -> None:
    found, each = score_conversation(judged([["yes"], [None]], size=1), LENIENT)
    assert values(each) == [1.0, None]
    assert found.windowed.state is ScoreState.INCOMPLETE
    assert found.per_interaction.state is ScoreState.INCOMPLETE
    assert found.pooled.state is ScoreState.INCOMPLETE


def test_under_the_peers_rules_a_missing_verdict_is_dropped_from_the_headline_only() -> None:
    found, _ = score_conversation(judged([["yes", None]]), PEER)
    assert found.windowed == make_score(1.0)
    assert found.per_interaction.state is ScoreState.INCOMPLETE
    assert found.pooled.state is ScoreState.INCOMPLETE


def test_surplus_verdicts_enter_the_peers_headline_only() -> None:
    window = WindowLabels((0,), (ClaimOccurrence("claim", 0, "yes"),), surplus=("no",))
    assert score_conversation([window], PEER)[0].windowed == make_score(0.5)
    assert score_conversation([window], PEER)[0].pooled == make_score(1.0)
    assert score_conversation([window], LENIENT)[0].windowed == make_score(1.0)


def test_empty_windows_of_the_peer_score_1_and_hold_no_interaction() -> None:
    found, each = score_conversation([WindowLabels(()), WindowLabels(())], PEER)
    assert values(each) == [1.0, 1.0]
    assert found.windowed == make_score(1.0)
    assert found.per_interaction.state is ScoreState.SKIPPED


# Corrected by people


@given(labels_of_conversations, sizes, rules)
def test_corrected_is_the_judges_score_when_nobody_labelled(
    labels: list[list[str | None]], size: int, rule: ScoringRule
) -> None:
    windows = judged(labels, size)
    assert score_conversation(windows, rule, {}) == score_conversation(windows, rule)


@given(labels_of_conversations, sizes, rules)
def test_repeating_the_judge_changes_nothing(
    labels: list[list[str | None]], size: int, rule: ScoringRule
) -> None:
    windows = judged(labels, size)
    same = {
        occurrence.claim: occurrence.label
        for window in windows
        for occurrence in window.occurrences
        if occurrence.label is not None
    }
    assert score_conversation(windows, rule, same) == score_conversation(windows, rule)


@given(labels_of_conversations, sizes, st.data())
def test_relabelling_a_claim_moves_exactly_the_windows_that_hold_it(
    labels: list[list[str | None]], size: int, data: st.DataObject
) -> None:
    known: list[list[str | None]] = [[each or "idk" for each in part] for part in labels]
    windows = judged(known, size)
    claims = [each.claim for window in windows for each in window.occurrences]
    if not claims:
        return
    claim = data.draw(st.sampled_from(claims))
    assert isinstance(claim, tuple)
    before = known[claim[0]][claim[1]]
    _, old = score_conversation(windows, LENIENT)
    _, new = score_conversation(windows, LENIENT, {claim: "yes" if before == "no" else "no"})
    moved = [one != other for one, other in zip(old, new, strict=True)]
    assert moved == [any(each.claim == claim for each in w.occurrences) for w in windows]


@given(labels_of_conversations, sizes, st.data())
def test_x_leaves_numerator_and_denominator(
    labels: list[list[str | None]], size: int, data: st.DataObject
) -> None:
    unfair = {
        (part, number)
        for part, of_part in enumerate(labels)
        for number, _ in enumerate(of_part)
        if data.draw(st.booleans())
    }
    kept = [
        WindowLabels(
            window.interactions,
            tuple(each for each in window.occurrences if each.claim not in unfair),
        )
        for window in judged(labels, size)
    ]
    corrected = score_conversation(judged(labels, size), LENIENT, dict.fromkeys(unfair, "x"))
    assert corrected == score_conversation(kept, LENIENT)


def test_x_on_every_claim_leaves_an_empty_window() -> None:
    windows = judged([["no"]])
    assert score_conversation(windows, LENIENT, {(0, 0): "x"})[0].windowed == make_score(1.0)
    undefined = score_conversation(windows, NO_VALUE, {(0, 0): "x"})[0].windowed
    assert undefined.state is ScoreState.UNDEFINED


def test_a_person_can_complete_a_window_that_lacks_a_verdict() -> None:
    windows = judged([["yes", None]])
    found, _ = score_conversation(windows, LENIENT, {(0, 1): "no"})
    assert found.windowed == make_score(0.5)
    assert found.pooled == make_score(0.5)


def test_nobody_can_repair_a_failed_window() -> None:
    windows = [WindowLabels((0,), failure=FAILED)]
    assert (
        score_conversation(windows, LENIENT, {(0, 0): "yes"})[0].windowed.state is ScoreState.FAILED
    )


@given(labels_of_conversations, sizes, rules)
def test_all_scores_are_shares_or_states(
    labels: list[list[str | None]], size: int, rule: ScoringRule
) -> None:
    found, each = score_conversation(judged(labels, size), rule)
    for score in (found.windowed, found.per_interaction, found.pooled, *each):
        assert score.value is None or 0 <= score.value <= 1
        assert score.value is None or not math.isnan(score.value)
        assert (score.reason is None) == (score.state is ScoreState.SCORED)


# Windows that the metric does not apply to


def test_skipped_parts_are_left_out_of_a_mean_and_alone_they_are_its_state() -> None:
    assert average_scores([make_score(0.5), NOTHING_TO_READ], LENIENT) == Score(0.5, skipped=1)
    alone = average_scores([NOTHING_TO_READ, NOTHING_TO_READ], LENIENT)
    assert alone == replace(NOTHING_TO_READ, skipped=2)
    undefined = make_empty_score(ScoreState.UNDEFINED, "no claims")
    assert average_scores([NOTHING_TO_READ, undefined], NO_VALUE).state is ScoreState.UNDEFINED


def test_a_skipped_interaction_scores_nowhere_and_never_1() -> None:
    whole = judged([["no"], []], size=1)
    windows = [whole[0], replace(whole[1], failure=NOTHING_TO_READ)]
    scores, each = score_conversation(windows, LENIENT)
    assert each[1] == NOTHING_TO_READ
    assert scores.windowed == Score(0.0, skipped=1)
    assert scores.per_interaction == Score(0.0, skipped=1), "1.0 from nothing would make it 0.5"
    assert scores.pooled == make_score(0.0)


# Words of other metrics


RAGAS = ScoringRule(
    passing=("1",), when_empty=None, labels=INFERENCE.names, synonyms=INFERENCE.synonyms
)
THREE_WAY = replace(LENIENT, labels=FAITHFULNESS.names, synonyms=FAITHFULNESS.synonyms)


@pytest.mark.parametrize(
    ("word", "under_ragas", "under_three_way"),
    [
        ("yes", "1", "yes"),
        ("no", "0", "no"),
        ("idk", "0", "idk"),
        ("borderline", "0", "idk"),
        ("1", "1", "yes"),
        ("0", "0", None),
        ("x", "x", "x"),
        ("perhaps", None, None),
    ],
)
def test_a_word_said_under_one_metric_is_read_under_another_and_never_guessed(
    word: str, under_ragas: str | None, under_three_way: str | None
) -> None:
    assert RAGAS.translate_word_to_label(word) == under_ragas
    assert THREE_WAY.translate_word_to_label(word) == under_three_way


def test_a_rule_of_an_older_run_takes_every_word_as_it_is() -> None:
    assert LENIENT.translate_word_to_label("yes") == "yes"
    assert LENIENT.translate_word_to_label("0") == "0"


def test_a_correction_said_in_another_metrics_words_counts() -> None:
    windows = judged([["1", "0"]])
    scores, _ = score_conversation(windows, RAGAS, {(0, 0): "idk", (0, 1): "yes"})
    assert scores.windowed == make_score(0.5)
    scores, _ = score_conversation(windows, RAGAS, {(0, 0): "no"})
    assert scores.windowed == make_score(0.0)


def test_a_word_without_a_meaning_here_leaves_the_judges_label() -> None:
    windows = judged([["yes", "yes"]])
    assert score_conversation(windows, THREE_WAY, {(0, 0): "0"}) == score_conversation(
        windows, THREE_WAY
    )


def test_claims_are_looked_up_and_not_compared_with_each_other() -> None:
    compared = 0

    class Name:
        def __init__(self, number: int) -> None:
            self.number = number

        def __hash__(self) -> int:
            return hash(self.number)

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return isinstance(other, Name) and self.number == other.number

    window = WindowLabels((0,), tuple(ClaimOccurrence(Name(each), 0, "yes") for each in range(300)))
    found, _ = score_conversation([window], LENIENT)
    assert found.pooled.value == 1.0
    assert compared < 300
