"""The share of units that pass: by the judge, by people, and what may be concluded from both."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from faithtui.domain.agreement import share
from faithtui.domain.estimates import Estimate, Reason, withheld
from faithtui.domain.readings import DesignKind, DesignReading
from faithtui.domain.report_values import Rate, RateEstimator
from faithtui.domain.statistics.corrected_rate import (
    Conversation,
    LabelledStratum,
    conversation_kinds,
    corrected_future,
    corrected_this_run,
    corrected_this_run_clustered,
    merge_unlabelled,
    total_of,
    worst_case_bounds,
)

_NO_VERDICT = ""
"""Stratum of units the judge gave no label."""


@dataclass(frozen=True, slots=True)
class RateUnit:
    """One unit of a run; those that people call unfair are left out before."""

    group: str
    stratum: str | None
    """In the frame of a sample by strata."""
    verdict: str | None
    """The judge's label; None: it gave none."""
    judge: bool | None
    """Passes by the judge; None: no label."""
    human: bool | None
    """Passes by people; None: no label that counts."""
    drawn: bool
    """In the sample the report rests on."""


def rate_of(
    units: Sequence[RateUnit], design: DesignReading, labels: Sequence[str], level: float
) -> Rate:
    """Estimate the share of units that pass.

    Args:
        units: All of the run.
        design: How the labelled ones were chosen.
        labels: What the judge can say.
        level: Confidence level in (0, 1).
    """
    judge = share(((unit.group, unit.judge) for unit in units if unit.judge is not None), level)
    labelled = share(((unit.group, unit.human) for unit in units if unit.human is not None), level)
    kind = design.kind
    if kind in (DesignKind.NONE, DesignKind.CONVENIENCE, DesignKind.OVERRIDE_ONLY):
        none = withheld(Reason.DESIGN_NOT_RANDOM, labelled.n, labelled.clusters)
        strata = _strata(units, labels, design, only_drawn=False)
        bounds = worst_case_bounds(total_of(conversation_kinds(strata)))
        nothing = kind is DesignKind.NONE
        return Rate(
            judge,
            labelled,
            _undefined_without(labelled, none),
            _undefined_without(labelled, none),
            RateEstimator.NONE if nothing or bounds is None else RateEstimator.BOUNDS,
            None if nothing else bounds,
            (),
        )
    strata = _strata(units, labels, design, only_drawn=kind is not DesignKind.CENSUS)
    if kind is not DesignKind.STRATIFIED:
        strata = merge_unlabelled(strata)
    if kind is DesignKind.CLUSTER:
        this_run = corrected_this_run_clustered(strata, level)
    else:
        this_run = corrected_this_run(
            total_of(conversation_kinds(strata)), clusters=labelled.clusters, level=level
        )
    post = kind in (DesignKind.SIMPLE, DesignKind.CLUSTER)
    return Rate(
        judge,
        labelled,
        this_run,
        corrected_future(strata, level),
        RateEstimator.POST_STRATIFIED if post else RateEstimator.STRATIFIED,
        None,
        (*_ASSUMED[kind], *_ALWAYS),
    )


_ASSUMED = {
    DesignKind.CENSUS: ("every unit was labelled",),
    DesignKind.SIMPLE: ("units were drawn at random, and labelled in the drawn order",),
    DesignKind.STRATIFIED: (
        "units were drawn at random within each stratum, and labelled in the drawn order",
    ),
    DesignKind.CLUSTER: ("whole conversations were drawn at random",),
}
_ALWAYS = (
    "what was put off is like what was labelled",
    "human labels are the truth",
    "groups are a random sample of future ones (future interval only)",
)


def _undefined_without(labelled: Estimate, otherwise: Estimate) -> Estimate:
    """Say that nothing is labelled, where that is why."""
    return otherwise if labelled.n else labelled


def _strata(
    units: Sequence[RateUnit], labels: Sequence[str], design: DesignReading, *, only_drawn: bool
) -> list[Conversation]:
    """Count units, labels and passes by group and stratum.

    Strata are those of the sample; where it had none, the judge's verdicts.
    """
    by_design = design.kind is DesignKind.STRATIFIED
    names = [each.name for each in design.strata] if by_design else [*labels, _NO_VERDICT]
    place = {name: number for number, name in enumerate(names)}
    counts: dict[str, list[list[int]]] = defaultdict(lambda: [[0, 0, 0] for _ in names])
    for unit in units:
        name = unit.stratum if by_design else (unit.verdict or _NO_VERDICT)
        if name is None:
            continue  # Not in the frame.
        cell = counts[unit.group][place[name]]
        cell[0] += 1
        if unit.human is not None and (unit.drawn or not only_drawn):
            cell[1] += 1
            cell[2] += unit.human
    return [tuple(LabelledStratum(*cell) for cell in cells) for _, cells in sorted(counts.items())]
