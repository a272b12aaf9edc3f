"""Where to put the threshold of a score so that it flags what annotators call unfaithful.

A unit is flagged when its score is below the threshold, as with the score of a run. A threshold
that was chosen on labels looks better on the same labels than it is; so it is tried on
conversations that had no say in it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from faithtui.agreement.statistics.matrices import GroupedMatrix, count_confusion_by_group
from faithtui.agreement.statistics.ranks import count_classes_by_score
from faithtui.domain.estimates import Point
from faithtui.domain.scores import TOLERANCE
from faithtui.domain.withheld_reasons import WithheldReason

FOLDS = 10
FEWEST_TO_CROSS_VALIDATE = 5
"""Conversations; with fewer each choice would rest on next to nothing."""


class ThresholdRule(StrEnum):
    """What makes a threshold the best. Exported word for word."""

    YOUDEN = "youden"
    """Highest recall + specificity - 1."""
    TARGET_RECALL = "target_recall"
    """Fewest FPs among those that reach a recall."""
    MIN_COST = "min_cost"
    """Least cost of FNs and FPs."""


class ChosenOn(StrEnum):
    """What a threshold's figures were counted on. Exported word for word."""

    SAME_LABELS = "same_labels"
    """The labels it was chosen on: too good to be true."""
    CROSS_VALIDATED = "cross_validated"
    """Conversations that were left out when it was chosen."""


@dataclass(frozen=True, slots=True)
class ThresholdGoal:
    """What a threshold is to achieve."""

    rule: ThresholdRule = ThresholdRule.YOUDEN
    recall: float = 0.9
    """Of `TARGET_RECALL`, in [0, 1]."""
    miss: float = 1.0
    """Cost of an unfaithful unit that is not flagged, under `MIN_COST`; at least 0."""
    false_alarm: float = 1.0
    """Cost of a faithful unit that is flagged."""


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """What a threshold would flag."""

    threshold: float
    """Flagged is what scores lower."""
    tp: int
    """Flagged and unfaithful."""
    fp: int
    fn: int
    tn: int

    @property
    def flagged_count(self) -> int:
        """Units below the threshold."""
        return self.tp + self.fp

    @property
    def precision(self) -> Point:
        """Share of the flagged units that are unfaithful."""
        return (
            self.tp / self.flagged_count
            if self.flagged_count
            else WithheldReason.NO_PREDICTED_POSITIVES
        )

    @property
    def recall(self) -> Point:
        """Share of the unfaithful units that are flagged."""
        unfaithful = self.tp + self.fn
        return self.tp / unfaithful if unfaithful else WithheldReason.NO_REFERENCE_POSITIVES

    @property
    def specificity(self) -> Point:
        """Share of the faithful units that are not flagged."""
        faithful = self.tn + self.fp
        return self.tn / faithful if faithful else WithheldReason.ONE_CLASS_ONLY

    @property
    def youden(self) -> Point:
        """Recall + specificity - 1, in [-1, 1].

        Source:
            Youden 1950, Cancer 3:32-35.
        """
        hits, rejections = self.recall, self.specificity
        if isinstance(hits, WithheldReason) or isinstance(rejections, WithheldReason):
            return WithheldReason.ONE_CLASS_ONLY
        return hits + rejections - 1


@dataclass(frozen=True, slots=True)
class ThresholdChoice:
    """A threshold, and how well such a choice does."""

    threshold: float
    """Chosen on all labels."""
    goal: ThresholdGoal
    chosen_on: ChosenOn
    """What `table` was counted on."""
    table: GroupedMatrix
    """((tp, fn), (fp, tn)) by conversation, as `ConfusionMatrix.collapse_to_two_categories` has
    it."""
    folds: tuple[float, ...]
    """The thresholds chosen without each part, in order; () without cross-validation."""


Counts = Mapping[float, tuple[int, int]]
"""Faithful and unfaithful units at each score."""


def make_threshold_table(units: Iterable[tuple[float, bool]]) -> tuple[ThresholdRow, ...]:
    """Say for every score that occurs what it would flag as a threshold.

    Args:
        units: (score, is unfaithful) of each unit. Scores that are equal to nine digits are equal.

    Returns:
        In the order of the scores; the first flags nothing. () without units.
    """
    return _make_threshold_rows(_count_classes_by_rounded_score(units))


def choose_score_threshold(
    readings: Sequence[tuple[str, float, bool]], goal: ThresholdGoal, folds: int = FOLDS
) -> ThresholdChoice | WithheldReason:
    """Choose a threshold, and count how well thresholds chosen in this way do.

    Args:
        readings: (conversation, score, is unfaithful) of each unit.
        goal: What to look for. Ties: the lowest threshold, which flags least. A recall that no
            score reaches gives the highest.
        folds: Parts, at least 2, into which conversations are put in the order of a hash of their
            name. Whole conversations are left out, one part at a time.

    Returns:
        `NO_ITEMS`, or `ONE_CLASS_ONLY` when annotators call all units the same. With fewer than
        five conversations, or when all units of a class are in one part, the figures are those on
        the same labels.

    Source:
        Stone 1974, Journal of the Royal Statistical Society B 36:111-147.
    """
    counts = _count_classes_by_rounded_score((score, bad) for _, score, bad in readings)
    best = _find_best_threshold(counts, goal)
    if isinstance(best, WithheldReason):
        return best
    part_of = _assign_folds({group for group, _, _ in readings}, folds)
    chosen: list[float] = []
    parts: dict[int, list[tuple[float, bool]]] = {}
    for group, score, bad in readings if part_of else ():
        parts.setdefault(part_of[group], []).append((score, bad))
    for _, units in sorted(parts.items()):
        without = _find_best_threshold(
            _subtract_counts(counts, _count_classes_by_rounded_score(units)), goal
        )
        if isinstance(without, WithheldReason):
            chosen.clear()
            break
        chosen.append(without)

    def is_flagged(group: str, score: float) -> bool:
        return _round_score(score) < (chosen[part_of[group]] if chosen else best)

    table = count_confusion_by_group(
        (
            (
                group,
                name_positive_if_unfaithful(bad),
                name_positive_if_unfaithful(is_flagged(group, score)),
            )
            for group, score, bad in readings
        ),
        ("positive", "negative"),
    )
    chosen_on = ChosenOn.CROSS_VALIDATED if chosen else ChosenOn.SAME_LABELS
    return ThresholdChoice(best, goal, chosen_on, table, tuple(chosen))


def _assign_folds(groups: Collection[str], folds: int) -> dict[str, int]:
    """Put conversations into parts of equal size; {} when there are too few."""
    if len(groups) < FEWEST_TO_CROSS_VALIDATE:
        return {}
    ordered = sorted(groups, key=lambda name: sha256(name.encode()).digest())
    return {name: place % min(folds, len(ordered)) for place, name in enumerate(ordered)}


def _find_best_threshold(counts: Counts, goal: ThresholdGoal) -> float | WithheldReason:
    rows = _make_threshold_rows(counts)
    if not rows:
        return WithheldReason.NO_ITEMS
    if isinstance(rows[0].youden, WithheldReason):
        return WithheldReason.ONE_CLASS_ONLY
    # Whole numbers only, so that ties are ties.
    bad, good = rows[0].fn, rows[0].tn
    match goal.rule:
        case ThresholdRule.YOUDEN:
            return max(rows, key=lambda row: row.tp * good - row.fp * bad).threshold
        case ThresholdRule.MIN_COST:
            return min(
                rows, key=lambda row: row.fn * goal.miss + row.fp * goal.false_alarm
            ).threshold
        case ThresholdRule.TARGET_RECALL:
            reached = (row for row in rows if row.tp >= goal.recall * bad - TOLERANCE)
            return next(reached, rows[-1]).threshold


def _make_threshold_rows(counts: Counts) -> tuple[ThresholdRow, ...]:
    good = sum(each for each, _ in counts.values())
    bad = sum(each for _, each in counts.values())
    rows = []
    tp = fp = 0
    for score in sorted(counts):
        rows.append(ThresholdRow(score, tp, fp, bad - tp, good - fp))
        fp += counts[score][0]
        tp += counts[score][1]
    return tuple(rows)


def _count_classes_by_rounded_score(units: Iterable[tuple[float, bool]]) -> Counts:
    return count_classes_by_score((_round_score(score), bad) for score, bad in units)


def _subtract_counts(counts: Counts, part: Counts) -> Counts:
    """Leave out the units of a part; scores that nothing is left of are no thresholds."""
    rest = {}
    for score, (good, bad) in counts.items():
        less_good, less_bad = part.get(score, (0, 0))
        if good + bad > less_good + less_bad:
            rest[score] = (good - less_good, bad - less_bad)
    return rest


def _round_score(score: float) -> float:
    """Round, so that three windows of 0.7 are 0.7 whatever their order."""
    return round(score, 9)


def name_positive_if_unfaithful(bad: bool) -> str:
    """Name the class of a unit: "positive" if it is unfaithful, else "negative"."""
    return "positive" if bad else "negative"
