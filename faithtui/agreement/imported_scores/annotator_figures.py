"""How far annotators agree with each other on labels that came with the data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from faithtui.agreement.imported_scores.label_scales import ScaleView
from faithtui.agreement.imported_scores.rated_units import RatedUnit
from faithtui.agreement.statistics import ratings
from faithtui.agreement.statistics.coefficients import KAPPA, MeasurementLevel
from faithtui.agreement.statistics.figures import estimate_figure
from faithtui.agreement.statistics.intervals import IntervalScale
from faithtui.agreement.statistics.matrices import count_confusion_by_group
from faithtui.agreement.statistics.ratings import estimate_rating_figure
from faithtui.domain.estimates import LEVEL, Estimate, EstimateStatus, Point
from faithtui.domain.withheld_reasons import WithheldReason


@dataclass(frozen=True, slots=True)
class AnnotatorPair:
    """Two annotators who labelled some of the same units."""

    first: str
    second: str
    """Sorted: `first` comes before it."""
    kappa: Estimate
    """Cohen's kappa over the declared categories; `n` counts the units both labelled."""


@dataclass(frozen=True, slots=True)
class AnnotatorFigures:
    """Agreement of all annotators under one reading of their labels."""

    view: ScaleView
    percent: Estimate
    """Mean over units of the share of agreeing pairs, in [0, 1]. `n` of all four counts the units
    with two labels or more."""
    alpha_nominal: Estimate
    alpha_ordinal: Estimate
    """The categories stand in the order of the view."""
    ac1: Estimate
    pairs: tuple[AnnotatorPair, ...]
    """Everybody with everybody with whom there is a unit in common."""
    mean_kappa: Point
    """Plain mean of the pairs' kappas, of those that have one."""
    weighted_kappa: Point
    """Their mean, each weighing the units of its pair."""


def compute_inter_annotator_agreement(
    units: Sequence[RatedUnit], view: ScaleView, level: float = LEVEL
) -> AnnotatorFigures:
    """Compute the agreement of annotators.

    Args:
        units: What they labelled.
        view: How their labels are read.
        level: Confidence level in (0, 1) of the intervals, which leave out whole groups.
    """
    groups = ratings.group_ratings(
        (
            (unit.group, [view.get_category_of_scale_level(each) for each in unit.levels.values()])
            for unit in units
        ),
        view.categories,
    )

    def estimate_with_value(compute: ratings.RatingFigure[[]], scale: IntervalScale) -> Estimate:
        return restore_withheld_value(
            estimate_rating_figure(compute, groups, scale, level), compute(groups.total)
        )

    pairs = tuple(_compare_annotator_pairs(units, view, level))
    known = [(pair.kappa.value, pair.kappa.n) for pair in pairs if pair.kappa.value is not None]
    none = WithheldReason.NO_VARIATION if pairs else WithheldReason.NO_OVERLAP
    ordinal = ratings.krippendorff_alpha.bind(MeasurementLevel.ORDINAL)
    return AnnotatorFigures(
        view=view,
        percent=estimate_with_value(ratings.percent_agreement.bind(), IntervalScale.LOGIT),
        alpha_nominal=estimate_with_value(ratings.krippendorff_alpha.bind(), IntervalScale.ATANH),
        alpha_ordinal=estimate_with_value(ordinal, IntervalScale.ATANH),
        ac1=estimate_with_value(ratings.gwet_ac1.bind(), IntervalScale.ATANH),
        pairs=pairs,
        mean_kappa=fmean(value for value, _ in known) if known else none,
        weighted_kappa=fmean(*zip(*known, strict=True)) if known else none,
    )


def restore_withheld_value(estimate: Estimate, value: Point) -> Estimate:
    """Keep the value of a figure that is withheld for want of an interval.

    These figures describe labels that are all there and are compared with those of other tools;
    the reason stays, and says why there is no interval.
    """
    if estimate.status is not EstimateStatus.WITHHELD or isinstance(value, WithheldReason):
        return estimate
    return replace(estimate, value=value, status=EstimateStatus.OK)


def _compare_annotator_pairs(
    units: Sequence[RatedUnit], view: ScaleView, level: float
) -> list[AnnotatorPair]:
    # By unit and not by pair: hundreds of annotators share units with a few others each.
    together: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for unit in units:
        words = {
            person: view.get_category_of_scale_level(each) for person, each in unit.levels.items()
        }
        for first, second in combinations(sorted(words), 2):
            reading = (unit.group, words[first], words[second])
            together.setdefault((first, second), []).append(reading)
    found = []
    for (first, second), readings in sorted(together.items()):
        table = count_confusion_by_group(readings, view.categories)
        kappa = restore_withheld_value(
            estimate_figure(KAPPA, table, level), KAPPA.compute(table.unweighted_total)
        )
        found.append(AnnotatorPair(first, second, kappa))
    return found
