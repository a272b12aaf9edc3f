"""From which probability on a judge says `yes`, chosen from human labels apart from probabilities.

Where claims are mostly supported, a probability of 0.5 is reached by nearly all of them: a judge
that says `yes` from there on finds next to no unfaithful claim. So recalibrated probabilities leave
verdicts alone. The threshold of verdicts lies on the probabilities as shipped, is looked for with
both kinds of claims weighing the same, and is offered only where that helps on conversations that
had no say in it, by more than luck among so few labels and conversations.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from faithtui.agreement.statistics.labelled_probabilities import LabelledProbability, assign_folds
from faithtui.agreement.statistics.recalibration import fit_recalibration

SHIPPED_THRESHOLD: Final = 0.5
"""From here on the judge says `yes` as shipped."""
_LOWEST, _HIGHEST = 0.41, 0.9
"""Clashing claims get 0.4 at most and are never `yes`; above 0.9 there is nearly nothing left."""
_INTERCEPT_SPREAD: Final = 0.5
"""Standard deviation of the prior of the shift on the log odds, around 0."""
_LUCK: Final = 0.36
"""Over the square root of the number of labels: the gain of balanced accuracy on left-out
conversations from which a threshold is offered, .08 with 20 labels, .036 with 100. What less does
to other claims is measured in docs/judges/offline.md, "Recalibration"."""
_SURE: Final = 2.0
"""Standard errors of the gain that it must be above 0 by, see `ThresholdEffect.gain_error`."""
FEWEST_FOR_THRESHOLD: Final = 40
"""Labels of equal weight below which none is offered: no rule keeps every draw of 20 from doing
harm, and what they could gain is next to nothing."""


@dataclass(frozen=True, slots=True)
class VerdictAccuracy:
    """How well `yes` and not `yes` meet the labels; the positive class is unsupported."""

    recall: float | None
    """Unsupported claims that do not get `yes`, in [0, 1]; None without such claims."""
    precision: float | None
    """Unsupported ones among those that do not get `yes`; None where all get it."""
    balanced_accuracy: float | None
    """Mean of recall and of the share of supported claims that get `yes`."""


@dataclass(frozen=True, slots=True)
class ThresholdEffect:
    """What another threshold of verdicts does to the labelled claims it rests on."""

    threshold: float
    """From all labels, on the probability as shipped."""
    before: VerdictAccuracy
    """At the threshold as shipped."""
    after: VerdictAccuracy
    """Where every claim is judged at a threshold that was chosen without its fold."""
    raised: int
    """Labelled claims whose verdict would become `yes`."""
    lowered: int
    """And those that would lose it."""
    effective_labels: float
    """Sum of the weights."""
    gain_error: float | None
    """Standard error of what balanced accuracy gains, between conversations; None: they are too
    few, or one of them has all claims of a kind."""

    @property
    def helps_enough_to_offer(self) -> bool:
        """Whether it helps enough on conversations that had no say in it."""
        before, after = self.before.balanced_accuracy, self.after.balanced_accuracy
        if before is None or after is None or self.gain_error is None or self.has_too_few_labels:
            return False
        return after - before > max(self._least_gain, _SURE * self.gain_error)

    @property
    def has_too_few_labels(self) -> bool:
        """Whether the labels tell too little for another threshold, whatever they say."""
        # A sum of weights is hardly ever whole.
        return self.effective_labels < FEWEST_FOR_THRESHOLD - 1e-9

    @property
    def _least_gain(self) -> float:
        return _LUCK / math.sqrt(self.effective_labels)


def choose_probability_threshold(labelled: Sequence[LabelledProbability]) -> float:
    """Choose from which probability as shipped on a claim gets `yes`.

    Slope and intercept are fitted as for probabilities, with both kinds of claims weighing the
    same in total and a narrower prior of the intercept; the threshold is where they give 0.5. With
    labels of one kind it stays as shipped.
    """
    free = [each for each in labelled if not each.is_clash]
    whole = sum(each.weight for each in free)
    share = {
        kind: sum(each.weight for each in free if each.is_supported is kind)
        for kind in (False, True)
    }
    if not all(share.values()):
        return SHIPPED_THRESHOLD
    balanced = [
        replace(each, weight=each.weight * whole / (2 * share[each.is_supported])) for each in free
    ]
    found = fit_recalibration(balanced, intercept_spread=_INTERCEPT_SPREAD).undo(0.5)
    return min(max(found, _LOWEST), _HIGHEST)


def evaluate_threshold(labelled: Sequence[LabelledProbability]) -> ThresholdEffect:
    """Choose a threshold, and say what it does: before and after, leaving conversations out."""
    folds = assign_folds(labelled)
    without = {
        fold: choose_probability_threshold(
            [each for each, own in zip(labelled, folds, strict=True) if own != fold]
        )
        for fold in set(folds)
    }
    threshold = choose_probability_threshold(labelled)
    old = [_is_yes(each, SHIPPED_THRESHOLD) for each in labelled]
    new = [_is_yes(each, threshold) for each in labelled]
    left_out = [_is_yes(each, without[fold]) for each, fold in zip(labelled, folds, strict=True)]
    moved = list(zip(old, new, strict=True))
    return ThresholdEffect(
        threshold=threshold,
        before=measure_verdict_accuracy(labelled, old),
        after=measure_verdict_accuracy(labelled, left_out),
        raised=moved.count((False, True)),
        lowered=moved.count((True, False)),
        effective_labels=sum(each.weight for each in labelled),
        gain_error=_estimate_gain_standard_error(labelled, old, left_out),
    )


def measure_verdict_accuracy(
    labelled: Sequence[LabelledProbability], gets_yes: Sequence[bool]
) -> VerdictAccuracy:
    """Hold verdicts against labels, each label by its weight."""
    tp = fp = fn = tn = 0.0
    for each, is_yes in zip(labelled, gets_yes, strict=True):
        if each.is_supported:
            tn, fp = (tn + each.weight, fp) if is_yes else (tn, fp + each.weight)
        else:
            fn, tp = (fn + each.weight, tp) if is_yes else (fn, tp + each.weight)
    recall = tp / (tp + fn) if tp + fn else None
    specificity = tn / (tn + fp) if tn + fp else None
    return VerdictAccuracy(
        recall,
        tp / (tp + fp) if tp + fp else None,
        None if recall is None or specificity is None else (recall + specificity) / 2,
    )


def _estimate_gain_standard_error(
    labelled: Sequence[LabelledProbability], old: Sequence[bool], new: Sequence[bool]
) -> float | None:
    """Estimate the standard error of the gain of balanced accuracy, leaving out one group each.

    Args:
        labelled: Claims.
        old: Whether each gets `yes` before.
        new: And after.
    """
    from faithtui.agreement.statistics.intervals import compute_jackknife_se

    # By group, of each kind: what turns right less what turns wrong, and all claims.
    turned: dict[str, list[float]] = {}
    present: dict[str, list[float]] = {}
    for each, was_yes, is_yes in zip(labelled, old, new, strict=True):
        kind = int(each.is_supported)
        change = (is_yes is each.is_supported) - (was_yes is each.is_supported)
        turned.setdefault(each.group, [0.0, 0.0])[kind] += each.weight * change
        present.setdefault(each.group, [0.0, 0.0])[kind] += each.weight
    sums = [tuple(map(sum, zip(*found.values(), strict=True))) for found in (turned, present)]
    (all_turned, all_present), least = sums, 1e-9 * sum(sums[1])
    gains = []
    for group, own in present.items():
        rest = [whole - part for whole, part in zip(all_present, own, strict=True)]
        if min(rest) < least:
            return None
        gained = [whole - part for whole, part in zip(all_turned, turned[group], strict=True)]
        gains.append(sum(one / other for one, other in zip(gained, rest, strict=True)) / 2)
    return compute_jackknife_se(gains) if len(gains) > 1 else None


def _is_yes(claim: LabelledProbability, threshold: float) -> bool:
    return not claim.is_clash and claim.chance >= threshold
