"""Statistics of categories by name: from plain values to plain values.

What must never happen here: an error for an input that is well formed and has no answer, or an
answer for one that is not.
"""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import NormalDist

import numpy as np

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.statistics import (
    coefficients,
    detection,
    intervals,
    paired_judges,
    ratings,
    standard_errors,
)
from faithtui.agreement.statistics.coefficients import DisagreementWeights, MeasurementLevel
from faithtui.agreement.statistics.figures import Figure, compute_leave_one_out
from faithtui.agreement.statistics.intervals import (
    IntervalScale,
    compute_jackknife_se,
    make_estimate_with_jackknife_interval,
)
from faithtui.agreement.statistics.matrices import MatrixStack
from faithtui.agreement.statistics.ratings import RatingFigure
from faithtui.agreement.statistics.standard_errors import ChanceModel
from faithtui.domain.estimates import Point
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.errors import InputError
from tests.agreement.golden.tables import (
    RATING_KINDS,
    TABLE_KINDS,
    Fields,
    category_of,
    confidence_of,
    conversations,
    counted,
    differences,
    discordant,
    discordant_groups,
    kind_of,
    level_of,
    positive_first,
    several_raters,
    two_raters,
    verified,
    weights_of,
    whole,
)

Result = dict[str, object]
Entry = Callable[[Fields, Fields], Result]

_Matrix = ConfusionMatrix[float]
_OfTable = Figure[[DisagreementWeights | None]]
_OfRatings = RatingFigure[[DisagreementWeights | None]]


def result(value: Point, **more: object) -> Result:
    """Put a value, or the reason why there is none, and its other numbers into a result.

    Numbers without a value of their own are left out.
    """
    if isinstance(value, WithheldReason):
        return {"value": None, "status": "undefined", "reason": str(value)}
    known = {name: each for name, each in more.items() if each is not None}
    return {"value": value, **{k: v for k, v in known.items() if not isinstance(v, WithheldReason)}}


def _agreement(of_table: _OfTable, of_ratings: _OfRatings, by_chance: ChanceModel) -> Entry:
    """Make an entry of a coefficient of any number of raters."""

    def entry(fields: Fields, params: Fields) -> Result:
        kind = kind_of(fields, (*TABLE_KINDS, *RATING_KINDS))
        if kind in RATING_KINDS:
            weights = weights_of(fields, params)
            units = several_raters(fields)
            se = standard_errors.compute_ratings_standard_error(units, by_chance, weights)
            return result(of_ratings(units, weights), se=se)
        return _of_two(of_table, by_chance)(fields, params)

    return entry


def _of_two(compute: _OfTable, by_chance: ChanceModel) -> Entry:
    """Make an entry of a coefficient of two raters."""

    def entry(fields: Fields, params: Fields) -> Result:
        weights = weights_of(fields, params)
        table = two_raters(fields)
        if isinstance(table, WithheldReason):
            return result(table)
        return result(compute(table, weights), se=_error(table, by_chance, weights))

    return entry


def _kappa(fields: Fields, params: Fields) -> Result:
    weights = weights_of(fields, params)
    factor = NormalDist().inv_cdf((1 + confidence_of(params)) / 2)
    table = two_raters(fields)
    if isinstance(table, WithheldReason):
        return result(table)
    value = coefficients.cohen_kappa(table, weights)
    se = _error(table, ChanceModel.MARGINS, weights)
    if isinstance(value, WithheldReason) or se is None:
        return result(value)
    return result(
        value,
        se=se,
        se_null=standard_errors.compute_null_standard_error(table, weights),
        ci_low=value - factor * se,
        ci_high=value + factor * se,
    )


def _scott_pi(fields: Fields, params: Fields) -> Result:
    """Read counts too: who said what does not matter, as long as there are two ratings."""
    if kind_of(fields, (*TABLE_KINDS, *RATING_KINDS)) != "counts":
        return _of_two(coefficients.scott_pi, ChanceModel.POOLED)(fields, params)
    units = several_raters(fields)
    if any(sum(pattern) > 2 for pattern in units.patterns):
        raise InputError("compares two raters; these are more", field="units")
    weights = weights_of(fields, params)
    pairs = {pattern: times for pattern, times in units.pattern_counts if sum(pattern) == 2}
    if units.rated_count and not pairs:
        return result(WithheldReason.NO_OVERLAP)
    complete = ratings.Ratings.from_counts(units.categories, pairs)
    return result(ratings.fleiss_kappa(complete, weights))


def _pabak(fields: Fields, params: Fields) -> Result:
    categories = fields.get("categories")
    if isinstance(categories, (list, tuple)) and len(categories) != 2:
        raise InputError("is for two categories; brennan_prediger is for more", field="categories")
    return _brennan_prediger(fields, params)


def _alpha(fields: Fields, params: Fields) -> Result:
    if kind_of(fields, (*TABLE_KINDS, *RATING_KINDS)) in TABLE_KINDS:
        return _alpha_of_two(fields, params)
    level, scores = level_of(fields, params)
    return result(ratings.krippendorff_alpha(several_raters(fields), level, scores))


def _alpha_of_two(fields: Fields, params: Fields) -> Result:
    """Give Gwet's standard error too, where distances do not depend on the data."""
    level, scores = level_of(fields, params)
    found = two_raters(fields)
    if isinstance(found, WithheldReason):
        return result(found)
    # Its correction for small samples needs to know how many units there are.
    table = counted(found)
    nominal = level is MeasurementLevel.NOMINAL
    se = _error(table, ChanceModel.POOLED, None) if nominal else None
    return result(coefficients.krippendorff_alpha(table, level, scores), se=se)


def _of_category(fields: Fields, params: Fields) -> Result:
    """Give Fleiss' kappa of one category, or of each in their order where none is named."""
    units = several_raters(fields)
    chosen = category_of(fields, params, units.categories)
    if chosen is not None:
        return result(ratings.fleiss_kappa(units.collapse_others(chosen)))
    found = [
        result(ratings.fleiss_kappa(units.collapse_others(k)))["value"]
        for k in range(len(units.categories))
    ]
    return {"value": found, "categories": list(units.categories)}


def _detected(compute: Callable[[_Matrix], Point]) -> Entry:
    """Make an entry of a figure of a 2x2 table, positive first."""

    def entry(fields: Fields, params: Fields) -> Result:
        chosen = params.get("positive")
        table = two_raters(fields)
        if isinstance(table, WithheldReason):
            return result(table)
        return result(compute(positive_first(fields, chosen, table)))

    return entry


def _plain(compute: Callable[[_Matrix], Point]) -> Entry:
    """Make an entry of a figure of a whole table."""

    def entry(fields: Fields, params: Fields) -> Result:
        table = two_raters(fields)
        return result(table if isinstance(table, WithheldReason) else compute(table))

    return entry


def _confusion(fields: Fields, params: Fields) -> Result:
    table = two_raters(fields)
    if isinstance(table, WithheldReason):
        return result(table)
    return {
        "value": [list(row) for row in table.counts],
        "categories": list(table.categories),
        "n": table.n,
    }


def _verified(compute: Callable[[_Matrix], Point], *, weighted: bool, binary: bool) -> Entry:
    """Make an entry of a figure of labels given by judge category; the first is positive."""

    def entry(fields: Fields, params: Fields) -> Result:
        sample = verified(fields)
        if binary:
            sample = sample.collapse_to_two_categories(sample.categories[:1])
        cells = sample.weighted_total if weighted else sample.unweighted_total
        return result(cells if isinstance(cells, WithheldReason) else compute(cells))

    return entry


def _two_sided(compute: Callable[[int, int], Point]) -> Entry:
    return lambda fields, params: result(compute(*discordant(fields)))


def _mcnemar(fields: Fields, params: Fields, *, corrected: bool = False, p: bool = False) -> Result:
    return _tested(paired_judges.mcnemar_test(*discordant(fields), corrected=corrected), p=p)


def _clustered(
    test: Callable[
        [Sequence[paired_judges.DiscordantGroup]], paired_judges.ChiSquare | WithheldReason
    ],
) -> Entry:
    return lambda fields, params: _tested(test(discordant_groups(fields)))


def _of_margins(test: Callable[[_Matrix], paired_judges.ChiSquare | WithheldReason]) -> Entry:
    def entry(fields: Fields, params: Fields) -> Result:
        table = two_raters(fields)
        return _tested(table if isinstance(table, WithheldReason) else test(counted(table)))

    return entry


def _tested(found: paired_judges.ChiSquare | WithheldReason, *, p: bool = False) -> Result:
    if isinstance(found, WithheldReason):
        return result(found)
    value = found.p if p else found.statistic
    return result(value, statistic=found.statistic, df=found.df, p=found.p)


def _sign_flip(fields: Fields, params: Fields) -> Result:
    seed = whole(params.get("seed", 0), "seed")
    draws = whole(params.get("draws", paired_judges.SIGN_FLIP_DRAWS), "draws")
    if not draws:
        raise InputError("expected at least one", field="draws")
    found = paired_judges.sign_flip_test(differences(fields), seed=seed, draws=draws)
    return (
        result(found) if isinstance(found, WithheldReason) else result(found.p, draws=found.draws)
    )


def _jackknife_se(compute: Figure[[]]) -> Entry:
    def entry(fields: Fields, params: Fields) -> Result:
        groups = conversations(fields)
        value = compute(groups.unweighted_total)
        if isinstance(value, WithheldReason) or groups.group_count < 2:
            return result(
                value if isinstance(value, WithheldReason) else WithheldReason.NO_VARIATION
            )
        values, times = compute_leave_one_out(compute, groups)
        if np.isnan(values).any():
            without = groups.without_each_group.cells[..., int(np.isnan(values).argmax())]
            return result(compute.explain_undefined(MatrixStack(without)))
        return result(compute_jackknife_se(values, times))

    return entry


def _jackknife_ci(compute: Figure[[]], scale: IntervalScale) -> Entry:
    def entry(fields: Fields, params: Fields) -> Result:
        groups = conversations(fields)
        found = make_estimate_with_jackknife_interval(
            compute(groups.unweighted_total),
            *compute_leave_one_out(compute, groups),
            scale,
            n=groups.unweighted_total.n,
            level=confidence_of(params),
            fewest=2,
        )
        if found.value is None:
            return result(found.reason or WithheldReason.NO_VARIATION)
        ends = {"ci_low": found.ci_low, "ci_high": found.ci_high}
        return result(found.value, **ends, se=found.se, method=found.method)

    return entry


def _exact_bootstrap(fields: Fields, params: Fields, *, which: int) -> Result:
    found = intervals.enumerate_agreement_bootstrap(conversations(fields))
    return result(found if isinstance(found, WithheldReason) else found[which])


def _error(
    table: _Matrix, by_chance: ChanceModel, weights: DisagreementWeights | None
) -> float | None:
    """Compute a standard error of counts; weights do not say how many units there are."""
    if not all(isinstance(count, int) for row in table.counts for count in row):
        return None
    found = standard_errors.compute_standard_error(table, by_chance, weights)
    return None if isinstance(found, WithheldReason) else found


_percent = _agreement(coefficients.percent_agreement, ratings.percent_agreement, ChanceModel.NONE)
_brennan_prediger = _agreement(
    coefficients.brennan_prediger, ratings.brennan_prediger, ChanceModel.UNIFORM
)
_gwet = _agreement(coefficients.gwet_ac1, ratings.gwet_ac1, ChanceModel.GWET)
_fleiss = _agreement(coefficients.scott_pi, ratings.fleiss_kappa, ChanceModel.POOLED)

ENTRIES: dict[str, Entry] = {
    "percent_agreement": _percent,
    "cohen_kappa": _kappa,
    "weighted_kappa": _kappa,
    "scott_pi": _scott_pi,
    "pabak": _pabak,
    "brennan_prediger": _brennan_prediger,
    "randolph_kappa": _brennan_prediger,
    "gwet_ac1": _gwet,
    "gwet_ac2": _gwet,
    "krippendorff_alpha": _alpha,
    "krippendorff_alpha_two_raters": _alpha_of_two,
    "fleiss_kappa": _fleiss,
    "fleiss_kappa_category": _of_category,
    "positive_agreement": _detected(partial(coefficients.specific_agreement, category=0)),
    "negative_agreement": _detected(partial(coefficients.specific_agreement, category=1)),
    "prevalence_index": _detected(coefficients.prevalence_index),
    "bias_index": _detected(coefficients.bias_index),
    "precision": _detected(detection.precision),
    "recall": _detected(detection.recall),
    "specificity": _detected(detection.specificity),
    "npv": _detected(detection.npv),
    "f1": _detected(detection.f1),
    "balanced_accuracy": _detected(detection.balanced_accuracy),
    "mcc": _detected(detection.mcc),
    "accuracy": _plain(coefficients.percent_agreement),
    "macro_f1": _plain(coefficients.macro_f1),
    "confusion_matrix": _confusion,
    "naive_recall": _verified(detection.recall, weighted=False, binary=True),
    "naive_specificity": _verified(detection.specificity, weighted=False, binary=True),
    "corrected_recall": _verified(detection.recall, weighted=True, binary=True),
    "corrected_specificity": _verified(detection.specificity, weighted=True, binary=True),
    "corrected_percent_agreement": _verified(
        coefficients.percent_agreement, weighted=True, binary=False
    ),
    "corrected_cohen_kappa": _verified(coefficients.cohen_kappa, weighted=True, binary=False),
    "mcnemar_stat": _mcnemar,
    "mcnemar_stat_cc": partial(_mcnemar, corrected=True),
    "mcnemar_p": partial(_mcnemar, p=True),
    "mcnemar_p_cc": partial(_mcnemar, corrected=True, p=True),
    "mcnemar_p_exact": _two_sided(paired_judges.mcnemar_exact_p),
    "mcnemar_p_mid": _two_sided(paired_judges.mcnemar_mid_p),
    "clustered_mcnemar_durkalski": _clustered(paired_judges.durkalski_test),
    "clustered_mcnemar_obuchowski": _clustered(paired_judges.obuchowski_test),
    "bowker_symmetry": _of_margins(paired_judges.bowker_test),
    "stuart_maxwell": _of_margins(paired_judges.stuart_maxwell_test),
    "signflip_p_two_sided": _sign_flip,
    "jackknife_se_kappa": _jackknife_se(coefficients.cohen_kappa.bind()),
    "jackknife_se_agreement": _jackknife_se(coefficients.percent_agreement.bind()),
    "jackknife_ci_kappa": _jackknife_ci(coefficients.cohen_kappa.bind(), IntervalScale.ATANH),
    "jackknife_ci_agreement": _jackknife_ci(
        coefficients.percent_agreement.bind(), IntervalScale.LOGIT
    ),
    "linearised_se_agreement": lambda fields, params: result(
        intervals.compute_linearised_agreement_se(conversations(fields))
    ),
    "exact_bootstrap_se_agreement": partial(_exact_bootstrap, which=1),
    "exact_bootstrap_mean_agreement": partial(_exact_bootstrap, which=0),
}
