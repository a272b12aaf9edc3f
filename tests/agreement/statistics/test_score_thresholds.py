import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.detection import recall
from faithtui.agreement.statistics.score_thresholds import (
    ChosenOn,
    ThresholdGoal,
    ThresholdRule,
    choose_score_threshold,
    make_threshold_table,
)
from faithtui.domain.withheld_reasons import WithheldReason

units = st.lists(
    st.tuples(st.integers(0, 5).map(lambda fifth: fifth / 5), st.booleans()), max_size=40
)


@given(units)
def test_every_score_is_a_threshold_and_flags_what_is_lower(rows: list[tuple[float, bool]]) -> None:
    found = make_threshold_table(rows)
    assert [row.threshold for row in found] == sorted({score for score, _ in rows})
    for row in found:
        assert row.flagged_count == sum(score < row.threshold for score, _ in rows)
        assert row.tp == sum(score < row.threshold and bad for score, bad in rows)
        assert row.tp + row.fp + row.fn + row.tn == len(rows)


def test_figures_of_a_threshold() -> None:
    rows = [(0.2, True), (0.2, False), (0.6, True), (0.9, False), (0.9, False), (1.0, False)]
    first, second, third, fourth = make_threshold_table(rows)
    assert first.precision is WithheldReason.NO_PREDICTED_POSITIVES
    assert (first.recall, first.specificity, first.youden) == (0, 1, 0)
    assert (second.precision, second.recall, second.specificity) == (0.5, 0.5, 0.75)
    assert third.youden == pytest.approx(0.75)
    assert (fourth.recall, fourth.specificity) == (1, 0.25)


def test_one_class_has_no_youden() -> None:
    (row,) = make_threshold_table([(0.5, False)])
    assert row.recall is WithheldReason.NO_REFERENCE_POSITIVES
    assert row.youden is WithheldReason.ONE_CLASS_ONLY
    (row,) = make_threshold_table([(0.5, True)])
    assert row.specificity is WithheldReason.ONE_CLASS_ONLY
    assert make_threshold_table([]) == ()


def test_scores_that_only_rounding_tells_apart_are_one_threshold() -> None:
    assert len(make_threshold_table([(0.7, True), (0.6999999999999998, False)])) == 1


ROWS = [(f"c{i % 12}", (i * 7 % 20) / 20, (i * 7 % 20) < 6 + i % 3) for i in range(120)]


@given(units, st.sampled_from(list(ThresholdRule)))
def test_no_other_threshold_does_better(
    rows: list[tuple[float, bool]], rule: ThresholdRule
) -> None:
    goal = ThresholdGoal(rule, recall=0.8, miss=3, false_alarm=1)
    found = choose_score_threshold([("g", score, bad) for score, bad in rows], goal)
    if isinstance(found, WithheldReason):
        assert found is (WithheldReason.ONE_CLASS_ONLY if rows else WithheldReason.NO_ITEMS)
        return
    table = make_threshold_table(rows)
    chosen = next(row for row in table if row.threshold == found.threshold)
    youden = [row.youden for row in table if not isinstance(row.youden, WithheldReason)]
    match rule:
        case ThresholdRule.YOUDEN:
            assert chosen.youden == pytest.approx(max(youden))
        case ThresholdRule.MIN_COST:
            assert 3 * chosen.fn + chosen.fp == min(3 * row.fn + row.fp for row in table)
        case ThresholdRule.TARGET_RECALL:
            reaching = [row for row in table if row.tp >= 0.8 * (row.tp + row.fn) - 1e-9]
            assert chosen == (reaching[0] if reaching else table[-1])


def test_whole_conversations_have_no_say_in_their_own_threshold() -> None:
    found = choose_score_threshold(ROWS, ThresholdGoal())
    assert not isinstance(found, WithheldReason)
    assert (found.chosen_on, len(found.folds)) == (ChosenOn.CROSS_VALIDATED, 10)
    assert found.table.group_count == 12
    assert found.table.unweighted_total.n == len(ROWS)
    again = choose_score_threshold(list(reversed(ROWS)), ThresholdGoal())
    assert not isinstance(again, WithheldReason)
    assert again.folds == found.folds
    assert again.table.unweighted_total == found.table.unweighted_total


def test_as_many_parts_as_conversations_leave_out_each_alone() -> None:
    found = choose_score_threshold(ROWS, ThresholdGoal(), folds=12)
    assert not isinstance(found, WithheldReason)
    hits = 0
    for out in {group for group, _, _ in ROWS}:
        rest = [("g", score, bad) for group, score, bad in ROWS if group != out]
        alone = choose_score_threshold(rest, ThresholdGoal())
        assert not isinstance(alone, WithheldReason)
        hits += sum(bad and score < alone.threshold for group, score, bad in ROWS if group == out)
    assert found.table.unweighted_total.counts[0][0] == hits


def test_trying_it_on_the_same_labels_looks_better() -> None:
    """Scores say nothing at all here, and a chosen threshold must not seem to."""
    noise = [(f"c{i % 10}", (i * 37 % 101) / 101, (i * 53 % 97) < 30) for i in range(60)]
    found = choose_score_threshold(noise, ThresholdGoal())
    assert not isinstance(found, WithheldReason)
    tuned = next(
        row
        for row in make_threshold_table([row[1:] for row in noise])
        if row.threshold == found.threshold
    )
    assert not isinstance(tuned.youden, WithheldReason)
    (tp, fn), (fp, tn) = found.table.unweighted_total.counts
    assert tp / (tp + fn) + tn / (tn + fp) - 1 < tuned.youden


def test_few_conversations_are_counted_on_the_same_labels() -> None:
    few = [(f"c{i % 4}", score, bad) for i, (_, score, bad) in enumerate(ROWS)]
    found = choose_score_threshold(few, ThresholdGoal())
    assert not isinstance(found, WithheldReason)
    assert (found.chosen_on, found.folds) == (ChosenOn.SAME_LABELS, ())
    row = next(
        row
        for row in make_threshold_table([(score, bad) for _, score, bad in few])
        if row.threshold == found.threshold
    )
    assert recall(found.table.unweighted_total) == row.recall


def test_a_class_in_one_conversation_alone_is_counted_on_the_same_labels() -> None:
    rows = [(f"c{i}", i / 10, i == 0) for i in range(8)]
    found = choose_score_threshold(rows, ThresholdGoal())
    assert not isinstance(found, WithheldReason)
    assert found.chosen_on is ChosenOn.SAME_LABELS
