"""Claims with a judge's probability and a human label, and when these allow no recalibration."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

FEWEST_LABELS: Final = 20
"""Labels below which nothing is offered: two numbers from fewer are mostly the prior."""
FEWEST_OF_CLASS: Final = 5
"""Supported and unsupported claims below which nothing is offered: labels of one kind would only
teach the judge to say that kind."""
FEWEST_GROUPS: Final = 5
"""Conversations below which nothing is offered: the effect is measured by leaving them out."""
_FOLDS: Final = 10


@dataclass(frozen=True, slots=True)
class LabelledProbability:
    """A claim with a judge's probability and a human label."""

    group: str
    """What must stay together when the effect is measured: the conversation."""
    chance: float
    """The judge's probability, in [0, 1], that the claim is supported; as shipped."""
    is_supported: bool
    """The human label."""
    weight: float = 1.0
    """What it counts for beside the others, above 0; see `scale_weights_to_effective_size`."""
    is_clash: bool = False
    """The judge says `no` whatever the probability: its words clash with the context."""
    is_override: bool = False
    """The human label is not that of the judge."""
    is_drawn: bool = False
    """Drawn at random, or labelled before the judge's verdict was shown: nobody picked it because
    the judge is wrong. Others do not count."""


def explain_recalibration_refusal(labelled: Sequence[LabelledProbability]) -> str | None:
    """Say why labels allow no recalibration, and what would; None: those that count allow it."""
    if len(labelled) < FEWEST_LABELS:
        claims, are = ("claim", "is") if len(labelled) == 1 else ("claims", "are")
        return (
            f"{len(labelled)} {claims} judged by the embedded judge {are} labelled by "
            f"annotators; recalibrating takes {FEWEST_LABELS}: label more with faithtui label"
        )
    drawn = [each for each in labelled if each.is_drawn]
    if len(drawn) < FEWEST_LABELS:
        return (
            f"{len(labelled) - len(drawn)} of {len(labelled)} labels were given with the judge's "
            "verdict in view on claims that nobody drew: who looks for its mistakes says little of "
            f"where it is right; recalibrating takes {FEWEST_LABELS} others: label a random sample "
            "with faithtui label --sample stratified"
        )
    if all(each.is_override for each in drawn):
        return (
            f"all {len(drawn)} labels are corrections of the judge: they say nothing of where it "
            "is right; label a random sample with faithtui label --sample stratified"
        )
    good = sum(each.is_supported for each in drawn)
    bad = len(drawn) - good
    groups = len({each.group for each in drawn})
    if min(good, bad) < FEWEST_OF_CLASS:
        return (
            f"annotators call {good} claims supported and {bad} not; recalibrating takes "
            f"{FEWEST_OF_CLASS} of each, or it would only teach the judge to say one of them: "
            "faithtui label --sample stratified finds more of the rare kind"
        )
    if groups < FEWEST_GROUPS:
        return (
            f"the labels are on claims of {groups} {'group' if groups == 1 else 'groups'} of "
            f"conversations; recalibrating takes {FEWEST_GROUPS}, as it is tried on conversations "
            "that had no say in it: label claims of more conversations"
        )
    return None


def scale_weights_to_effective_size(
    labelled: Sequence[LabelledProbability],
) -> list[LabelledProbability]:
    """Scale weights to sum to as many labels as would tell as much if all weighed the same.

    Source:
        Kish 1965, 11.7: (sum of w)² / sum of w².
    """
    whole = sum(each.weight for each in labelled)
    squares = sum(each.weight**2 for each in labelled)
    scale = whole / squares if squares else 1.0
    return [replace(each, weight=each.weight * scale) for each in labelled]


def assign_folds(labelled: Sequence[LabelledProbability]) -> list[int]:
    """Share claims out to at most ten parts, whole groups together.

    A single group is shared out claim by claim instead.
    """
    groups = list(dict.fromkeys(each.group for each in labelled))
    if len(groups) == 1:
        return [number % _FOLDS for number in range(len(labelled))]
    fold_of_group = {group: number % _FOLDS for number, group in enumerate(groups)}
    return [fold_of_group[each.group] for each in labelled]
