"""The share of units that pass: by the judge, by people, and what may be concluded from both."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

from faithtui.agreement.labelled_units import DesignKind, DesignReading
from faithtui.agreement.report.values.levels import Rate, RateEstimator
from faithtui.agreement.statistics.corrected_rate import (
    Kinds,
    corrected_future,
    corrected_this_run,
    corrected_this_run_clustered,
    kinds_of_counts,
    merge_unlabelled,
    total_of,
    worst_case_bounds,
)
from faithtui.agreement.statistics.figures import share, share_of_kinds
from faithtui.agreement.statistics.packing import Packing, spans_of
from faithtui.domain.estimates import Estimate, Reason, withheld


@dataclass(frozen=True, slots=True)
class RateUnits:
    """Units of a run in columns; those that people call unfair are left out before."""

    groups: Sequence[str]
    strata: Sequence[str | None]
    """In the frame of a sample by strata, None being outside; else the judge's label, None being
    none."""
    judge: Sequence[bool | None]
    """Passes by the judge; None: no label."""
    human: Sequence[bool | None]
    """Passes by people; None: no label that counts."""
    drawn: Sequence[bool] = ()
    """In the sample the report rests on; () where there is none."""

    def within(self, flags: Sequence[bool]) -> "RateUnits":
        """Keep the units whose flag is set."""
        return RateUnits(
            groups=list(compress(self.groups, flags)),
            strata=list(compress(self.strata, flags)),
            judge=list(compress(self.judge, flags)),
            human=list(compress(self.human, flags)),
            drawn=list(compress(self.drawn, flags)),
        )


def rate_of(units: RateUnits, design: DesignReading, labels: Sequence[str], level: float) -> Rate:
    """Estimate the share of units that pass.

    Args:
        units: All of the run.
        design: How the labelled ones were chosen.
        labels: What the judge can say.
        level: Confidence level in (0, 1).
    """
    kind = design.kind
    only_drawn = bool(units.drawn)
    names = _names(labels, design)
    kinds = _kinds(units, names, only_drawn=only_drawn)
    judge, labelled = _judge(units, names, kinds, level), _labelled(units, kinds, level)
    if kind in (DesignKind.NONE, DesignKind.CONVENIENCE, DesignKind.OVERRIDE_ONLY):
        none = withheld(Reason.DESIGN_NOT_RANDOM, labelled.n, labelled.clusters)
        total = total_of(kinds)
        # Where nothing is left unlabelled they would be the rate that is withheld.
        nothing = all(each.labelled == each.population for each in total)
        nothing = nothing or kind is DesignKind.NONE
        bounds = None if nothing else worst_case_bounds(total)
        return Rate(
            judge,
            labelled,
            _undefined_without(labelled, none),
            _undefined_without(labelled, none),
            RateEstimator.NONE if bounds is None else RateEstimator.BOUNDS,
            bounds,
            (),
        )
    if kind is not DesignKind.STRATIFIED:
        kinds = merge_unlabelled(kinds)
    if kind is DesignKind.CLUSTER:
        this_run = corrected_this_run_clustered(kinds, level)
    else:
        this_run = corrected_this_run(total_of(kinds), clusters=labelled.clusters, level=level)
    post = kind in (DesignKind.SIMPLE, DesignKind.CLUSTER)
    return Rate(
        judge,
        labelled,
        this_run,
        corrected_future(kinds, level),
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
    "what was skipped is like what was labelled",
    "human labels are the truth",
    "groups are a random sample of future ones (future interval only)",
)


def _undefined_without(labelled: Estimate, otherwise: Estimate) -> Estimate:
    """Say that nothing is labelled, where that is why."""
    return otherwise if labelled.n else labelled


def _names(labels: Sequence[str], design: DesignReading) -> Sequence[str | None]:
    """Name the strata: those of the sample; where it had none, the judge's verdicts."""
    if design.kind is DesignKind.STRATIFIED:
        return [each.name for each in design.strata]
    return [*labels, None]


def _judge(units: RateUnits, names: Sequence[str | None], kinds: Kinds, level: float) -> Estimate:
    """Estimate the share that passes by the judge."""
    if None not in names:
        return _share(units.groups, units.judge, level)
    # Strata are the judge's labels, which pass or do not.
    passes = dict(zip(units.strata, units.judge, strict=True))
    known = [place for place, name in enumerate(names) if passes.get(name) is not None]
    good = [place for place in known if passes[names[place]]]
    return share_of_kinds(
        [
            (
                sum([of[place].population for place in good]),
                sum([of[place].population for place in known]),
                times,
            )
            for of, times in kinds
        ],
        level,
    )


def _labelled(units: RateUnits, kinds: Kinds, level: float) -> Estimate:
    """Estimate the share that passes by people among what they labelled."""
    if units.drawn:
        # What lies outside the sample is in no stratum of it.
        return _share(units.groups, units.human, level)
    return share_of_kinds(
        [
            (sum([each.faithful for each in of]), sum([each.labelled for each in of]), times)
            for of, times in kinds
        ],
        level,
    )


def _share(groups: Sequence[str], flags: Sequence[bool | None], level: float) -> Estimate:
    """Estimate how many of the flags that are there are set."""
    return share(
        ((group, flag) for group, flag in zip(groups, flags, strict=True) if flag is not None),
        level,
    )


def _kinds(units: RateUnits, names: Sequence[str | None], *, only_drawn: bool) -> Kinds:
    """Count units, labels and passes by group and stratum."""
    place_of = {name: place for place, name in enumerate(names)}
    human = units.human
    if only_drawn:
        pairs = zip(human, units.drawn, strict=True)
        human = [flag if drawn else None for flag, drawn in pairs]
    if None not in place_of and None in units.strata:
        # What is not in the frame is of no stratum.
        inside = [name is not None for name in units.strata]
        units, human = units.within(inside), list(compress(human, inside))
    spans = spans_of(units.groups)
    packing = Packing(3 * len(names), spans.most)
    ones = packing.ones
    # By stratum and what people say: a unit, a label, a pass.
    more = {
        (name, flag): ones[3 * place]
        + (0 if flag is None else ones[3 * place + 1])
        + (ones[3 * place + 2] if flag else 0)
        for name, place in place_of.items()
        for flag in (None, False, True)
    }
    keys = zip(units.strata, human, strict=True)
    return kinds_of_counts(packing.kinds_of(spans.sums(map(more.__getitem__, keys))))
