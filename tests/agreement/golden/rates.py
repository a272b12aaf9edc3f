"""Statistics of `evaluate` on shares: intervals, plans and corrected rates."""

import re
from collections.abc import Callable

import numpy as np

from faithtui.agreement.sampling.stopping_rules import plan_label_count
from faithtui.agreement.statistics.intervals import (
    IntervalScale,
    make_jackknife_interval,
    wilson_interval,
)
from faithtui.agreement.statistics.pass_rates import (
    LabelledStratum,
    OutsideAccuracy,
    compute_rates_without_each_conversation,
    compute_stratified_rate,
    compute_stratified_se,
    compute_unweighted_rate,
    lang_reiczigel_interval,
    make_grouped_strata,
    rogan_gladen_rate,
)
from faithtui.agreement.statistics.prediction_powered import (
    LabelCosts,
    Labelled,
    Unlabelled,
    find_cheapest_label_budget,
    ppi_mean,
    split_budget_labels_and_judging,
)
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.errors import InputError
from tests.agreement.golden import inputs as read
from tests.agreement.golden.inputs import Given
from tests.agreement.golden.results import Result, result_of, undefined


def _wilson_interval(given: Given, params: Given) -> Result:
    read.kind_of(given, "proportion")
    k, n = read.count(given, "k"), read.count(given, "n")
    if k > n:
        raise read.refused("k", f"at most {n}", k)
    level = read.confidence(params)
    if not n:
        return undefined(WithheldReason.NO_ITEMS)
    low, high = wilson_interval(k / n, n, level)
    return {"value": k / n, "ci_low": low, "ci_high": high}


def _sample_size_proportion(given: Given, params: Given) -> Result:
    read.kind_of(given, "plan")
    size = plan_label_count(
        read.above_0(given, "half_width"),
        read.share(given, "p"),
        design_effect=read.above_0(given, "design_effect", 1.0),
        level=read.confidence(params),
    )
    return {"value": size}


def _stratum(given: Given) -> LabelledStratum:
    population, labelled = read.count(given, "population"), read.count(given, "labelled")
    faithful = read.count(given, "faithful")
    if labelled > population:
        raise read.refused("labelled", f"at most {population}", labelled)
    if faithful > labelled:
        raise read.refused("faithful", f"at most {labelled}", faithful)
    return LabelledStratum(population, labelled, faithful)


def _strata(given: Given) -> tuple[LabelledStratum, ...]:
    """Read strata, or conversations and add them up."""
    if read.kind_of(given, "strata", "cluster_strata") == "strata":
        return tuple(map(_stratum, read.objects(given, "strata")))
    return make_grouped_strata(_conversations(given)).totals_by_stratum


def _conversations(given: Given) -> list[tuple[LabelledStratum, ...]]:
    """Read conversations; a verdict that one of them does not list is one it does not have."""
    read.kind_of(given, "cluster_strata")
    rows: list[dict[object, LabelledStratum]] = []
    for conversation in read.items(given, "conversations"):
        parts = read.objects({"conversation": conversation}, "conversation")
        names = [part.get("verdict", place) for place, part in enumerate(parts)]
        if len(set(names)) < len(names):
            raise InputError("the same verdict twice", field="conversations")
        rows.append(dict(zip(names, map(_stratum, parts), strict=True)))
    verdicts = dict.fromkeys(name for row in rows for name in row)
    none = LabelledStratum(0, 0, 0)
    return [tuple(row.get(name, none) for name in verdicts) for row in rows]


def _stratified_proportion(given: Given, params: Given) -> Result:
    strata = _strata(given)
    finite = read.truth(params, "finite_population", True)
    z = read.normal_quantile(params)
    value = compute_stratified_rate(strata)
    if isinstance(value, WithheldReason):
        return undefined(value)
    se = compute_stratified_se(strata, finite_population=finite)
    if se is None:
        return {"value": value, "se": None, "ci_low": None, "ci_high": None}
    return {"value": value, "se": se, "ci_low": value - z * se, "ci_high": value + z * se}


def _stratified_proportion_jackknife(given: Given, params: Given) -> Result:
    kinds = make_grouped_strata(_conversations(given))
    level = read.confidence(params)
    value = compute_stratified_rate(kinds.totals_by_stratum)
    if isinstance(value, WithheldReason):
        return undefined(value)
    left_out, groups = compute_rates_without_each_conversation(kinds), int(kinds.times.sum())
    if groups < 2 or np.isnan(left_out).any():
        # With one conversation, or all labels in one of them, nothing says how they vary.
        reason = WithheldReason.TOO_FEW_CLUSTERS.value
        return {"value": value, "ci_low": None, "ci_high": None, "reason": reason}
    if 0 < value < 1 and np.ptp(left_out) > 1e-12:
        low, high = make_jackknife_interval(
            value, left_out, kinds.times, IntervalScale.LOGIT, level
        )
    else:
        low, high = wilson_interval(value, groups, level)
    return {"value": value, "ci_low": low, "ci_high": high}


def _naive_label_mean(given: Given, _: Given) -> Result:
    return result_of(compute_unweighted_rate(_strata(given)))


def _rogan_gladen(given: Given, _: Given) -> Result:
    sensitivity, specificity = read.share(given, "sensitivity"), read.share(given, "specificity")
    if read.kind_of(given, "apparent_prevalence", "estimated_accuracy") == "estimated_accuracy":
        tested, apparent = read.count(given, "tested"), read.share(given, "apparent")
    else:
        positives, tested = read.count(given, "positives"), read.count(given, "tested")
        if positives > tested:
            raise read.refused("positives", f"at most {tested}", positives)
        apparent = positives / tested if tested else 0.0
    if not tested:
        return undefined(WithheldReason.NO_ITEMS)
    value = rogan_gladen_rate(apparent, sensitivity, specificity)
    if isinstance(value, WithheldReason):
        return undefined(value)
    return {"value": value, "clipped": min(max(value, 0.0), 1.0)}


def _lang_reiczigel_interval(given: Given, params: Given) -> Result:
    read.kind_of(given, "estimated_accuracy")
    accuracy = OutsideAccuracy(
        read.share(given, "apparent"),
        read.count(given, "tested"),
        read.share(given, "sensitivity"),
        read.count(given, "n_sensitivity"),
        read.share(given, "specificity"),
        read.count(given, "n_specificity"),
    )
    ends = lang_reiczigel_interval(accuracy, read.confidence(params))
    if isinstance(ends, WithheldReason):
        return undefined(ends)
    value = rogan_gladen_rate(accuracy.apparent, accuracy.sensitivity, accuracy.specificity)
    return {**result_of(value), "ci_low": ends[0], "ci_high": ends[1]}


def _ppi_mean(given: Given, params: Given) -> Result:
    if read.kind_of(given, "ppi_vectors", "ppi_counts") == "ppi_vectors":
        labelled, unlabelled = _ppi_vectors(given)
    else:
        labelled, unlabelled = _ppi_counts(given)
    stated = params.get("lambda", "auto")
    lambda_ = None if stated == "auto" else read.number(params, "lambda")
    z = read.normal_quantile(params)
    found = ppi_mean(labelled, unlabelled, lambda_)
    if isinstance(found, WithheldReason):
        return undefined(found)
    result: Result = {"value": found.value, "lambda": found.lambda_, "se": found.se}
    if found.se is None:
        return {**result, "ci_low": None, "ci_high": None}
    half = z * found.se
    return {**result, "ci_low": found.value - half, "ci_high": found.value + half}


def _ppi_vectors(given: Given) -> tuple[Labelled, Unlabelled]:
    human, judge = read.numbers(given, "human"), read.numbers(given, "judge")
    read.same_length(human=human, judge=judge)
    others = read.numbers(given, "judge_unlabelled")
    labelled = [(h, j, 1) for h, j in zip(human, judge, strict=True)]
    return labelled, [(j, 1) for j in others]


def _ppi_counts(given: Given) -> tuple[Labelled, Unlabelled]:
    labelled = [
        (float(human), float(judge), times)
        for (human, judge), times in _named_counts(given, "labelled", r"h(\d+)j(\d+)")
    ]
    unlabelled = [
        (float(judge), times) for (judge,), times in _named_counts(given, "unlabelled", r"j(\d+)")
    ]
    return labelled, unlabelled


def _named_counts(given: Given, name: str, pattern: str) -> list[tuple[tuple[str, ...], int]]:
    """Read counts whose names hold numbers, such as `h1j0`; those that are 0 are left out."""
    found = []
    table = read.nested(given, name)
    for key in table:
        match = re.fullmatch(pattern, key)
        if match is None:
            raise InputError(f"{key!r} is not named like {pattern}", field=name)
        times = read.count(table, key)
        if times:
            found.append((match.groups(), times))
    return found


def _ppi_power(given: Given, _: Given) -> Result:
    read.kind_of(given, "ppi_power")
    correlation = read.number(given, "correlation")
    if not -1 <= correlation <= 1:
        raise read.refused("correlation", "a number in [-1, 1]", correlation)
    costs = LabelCosts(
        label=read.number(given, "cost_label"),
        prediction=read.number(given, "cost_prediction"),
        unit=read.number(given, "cost_x", 0.0),
    )
    if given.get("budget") is not None:
        split = split_budget_labels_and_judging(
            correlation, costs, read.at_least_0(given, "budget")
        )
    else:
        split = find_cheapest_label_budget(
            correlation, costs, read.at_least_0(given, "effective_n")
        )
    return {
        "value": split.effective,
        "n": split.labelled,
        "N": split.judged_only,
        "cost": split.cost,
        "effective_n": split.effective,
    }


ENTRIES: dict[str, Callable[[Given, Given], Result]] = {
    "wilson_interval": _wilson_interval,
    "sample_size_proportion": _sample_size_proportion,
    "stratified_proportion": _stratified_proportion,
    "stratified_proportion_jackknife": _stratified_proportion_jackknife,
    "naive_label_mean": _naive_label_mean,
    "rogan_gladen": _rogan_gladen,
    "lang_reiczigel_interval": _lang_reiczigel_interval,
    "ppi_mean": _ppi_mean,
    "ppi_power": _ppi_power,
}
"""From the name of a statistic to (input, params) -> result."""
