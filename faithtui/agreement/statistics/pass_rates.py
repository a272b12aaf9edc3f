"""Rates corrected by the human labels of some of the claims, of this run or of another one.

Annotators label some claims of each verdict, and how many of each verdict there are is known; so
each verdict gets the share that annotators found in it, weighted by how often the judge gives it.
Labels may then be drawn more densely where the judge says no. Two questions, two intervals: what
the rate is among the claims of this run, and what to expect of conversations still to come. Neither
may be asked of labels that were not drawn at random: only `compute_worst_case_bounds` hold there.

Where the accuracy of a judge was measured elsewhere, once, and its later runs have another base
rate, `correct_by_accuracy` serves. On labels of the same run it wastes half of what they tell.

Source: Cochran, Sampling Techniques (1977), chapter 5; Tenenbein 1970, Journal of the American
Statistical Association 65:1350-1361, for a judge who sees all and an annotator who sees some.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from faithtui.agreement.statistics.figures import divide_or_nan
from faithtui.agreement.statistics.intervals import (
    IntervalScale,
    make_estimate_with_jackknife_interval,
    wilson_interval,
)
from faithtui.agreement.statistics.matrices import Floats, Ints, count_distinct_columns
from faithtui.domain.estimates import (
    FEWEST_DRAWN_GROUPS,
    LEVEL,
    Estimate,
    EstimateMethod,
    EstimateStatus,
    Point,
    make_undefined_estimate,
)
from faithtui.domain.withheld_reasons import WithheldReason

_CLUSTER_SPREAD = 4 / 3
"""Variance over that between the drawn conversations. Measured: with 1 the lower end of the rate
was above the truth of the run in 3.5 % of simulated samples of 20 to 30 conversations, and with
this in 1.6 %."""
_TIMES_LARGEST, _TIMES_AVERAGE, _LARGE_SHARE = 2, 3, 0.1
"""Of the largest drawn conversation, of the average one, and of all units, from which on an undrawn
conversation is not like those drawn. Where two of 40 have a tenth of the claims each, of which 70 %
are unfaithful and 2 % of the others, the lower end was above the truth in a quarter of samples of
20 when these two were taken for like the drawn ones, and in none of 300 with this."""
_FIELLER_STEPS = 2_000
"""Rates that are tried for `fieller_interval`."""
_SAME = 1e-12
"""Differences below this are rounding: 0.4 + 0.6 - 1 is no information."""


@dataclass(frozen=True, slots=True)
class LabelledStratum:
    """Claims that were drawn alike, such as those with one verdict, and the human labels of some.

    Rates are of fair claims. How many of the unlabelled ones are fair is estimated, from those that
    annotators looked at.

    Raises:
        ValueError: More faithful than labelled, or more labelled and unfair than there are.
    """

    population: int
    """Fair or not."""
    labelled: int
    """Labelled faithful or unfaithful."""
    faithful: int
    """Labelled faithful."""
    unfair: int = 0
    """Labelled `x`, not a fair claim."""

    def __post_init__(self) -> None:
        """Check the counts against each other."""
        seen = self.labelled + self.unfair
        if not (0 <= self.faithful <= self.labelled <= seen <= self.population):
            raise ValueError(
                f"{self.faithful} faithful of {self.labelled} labelled, {self.unfair} unfair, of "
                f"{self.population}: more than there are"
            )

    @property
    def reviewed_count(self) -> int:
        """Claims that annotators looked at, fair or not."""
        return self.labelled + self.unfair


@dataclass(frozen=True, slots=True, eq=False)
class GroupedStrata:
    """Claims, labels and faithful labels of each stratum by conversation.

    Conversations that are alike are kept once with their number, sorted; those without claims are
    left out.
    """

    counts: Ints
    """Population, labelled, faithful and unfair; shape (4, strata, different conversations)."""
    times: Ints
    """How many conversations there are of each."""

    @classmethod
    def from_counts(cls, counts: Ints, times: Ints | None = None) -> "GroupedStrata":
        """Take counts of conversations in any order, shape (4, strata, conversations)."""
        # Sorted stratum by stratum.
        rows = counts.swapaxes(0, 1).reshape(4 * counts.shape[1], counts.shape[2])
        types, found = count_distinct_columns(rows, times)
        by_stratum = types.reshape(counts.shape[1], 4, types.shape[1])
        return cls(by_stratum.swapaxes(0, 1), found)

    @property
    def totals_by_stratum(self) -> tuple[LabelledStratum, ...]:
        """All conversations together, stratum by stratum."""
        return tuple(LabelledStratum(*each) for each in (self.counts @ self.times).T.tolist())


def make_grouped_strata(
    conversations: Iterable[Sequence[LabelledStratum]],
) -> GroupedStrata:
    """Put conversations together.

    Args:
        conversations: What each has of each stratum, in the same order in all; may be 0.
    """
    rows = [
        [(part.population, part.labelled, part.faithful, part.unfair) for part in each]
        for each in conversations
    ]
    if not rows:
        return GroupedStrata(np.zeros((4, 0, 0), np.int64), np.zeros(0, np.int64))
    return GroupedStrata.from_counts(np.array(rows, np.int64).T)


def compute_stratified_rate(strata: Sequence[LabelledStratum]) -> Point:
    """Weight the share of each stratum by its part of all fair claims.

    Returns:
        In [0, 1]; undefined when there are no claims, when nobody looked at any claim of a stratum
        that has some, so that nothing is known of that part, or when no claim is fair.

    Source:
        Cochran 1977, 5.3: sum of (N_h / N) p_h; with unfair claims the ratio of two such sums for
        a domain of the population, 5A.14.
    """
    if any(each.population and not each.reviewed_count for each in strata):
        return WithheldReason.NO_ITEMS
    whole = estimate_fair_claim_count(strata)
    if not whole:
        return WithheldReason.NO_ITEMS
    parts = (
        each.population / whole * each.faithful / each.reviewed_count
        for each in strata
        if each.reviewed_count
    )
    return math.fsum(parts)


def estimate_fair_claim_count(strata: Sequence[LabelledStratum]) -> float:
    """Estimate how many claims are fair; 0 where nobody looked at any."""
    return math.fsum(
        each.population * (each.labelled / each.reviewed_count)
        for each in strata
        if each.reviewed_count
    )


def compute_stratified_se(
    strata: Sequence[LabelledStratum], *, finite_population: bool = True
) -> float | None:
    """Compute the textbook standard error of `compute_stratified_rate`.

    A stratum in which all labels are alike adds nothing to it; `estimate_run_rate` has one that
    mistrusts this.

    Args:
        strata: Such that the rate is defined.
        finite_population: Whether the rate among these very claims is meant, so that a stratum of
            which all is labelled adds nothing.

    Returns:
        None when a stratum has a single label, unless it has a single claim and
        `finite_population`: one label tells no spread.

    Source:
        Cochran 1977, 5.5: variance sum of W_h² p_h (1 - p_h) / (n_h - 1) (1 - n_h / N_h).
    """
    whole = sum(each.population for each in strata)
    variance = 0.0
    for each in strata:
        if not each.population or (finite_population and each.labelled == each.population):
            continue
        if each.labelled == 1:
            return None
        share = each.faithful / each.labelled
        rest = 1 - each.labelled / each.population if finite_population else 1.0
        variance += (
            (each.population / whole) ** 2 * share * (1 - share) / (each.labelled - 1) * rest
        )
    return math.sqrt(variance)


def compute_unweighted_rate(strata: Sequence[LabelledStratum]) -> Point:
    """Compute the share of faithful labels, whatever way they were drawn.

    Not the rate of the run, unless all strata were labelled at the same density.
    """
    labelled = sum(each.labelled for each in strata)
    return sum(each.faithful for each in strata) / labelled if labelled else WithheldReason.NO_ITEMS


def compute_worst_case_bounds(strata: Sequence[LabelledStratum]) -> tuple[float, float] | None:
    """Say what the rate of these claims cannot leave, however the labels were chosen.

    Returns:
        The share if every unlabelled claim were unfaithful, and if every one were faithful; None
        without claims.

    Source:
        Manski 1989, Journal of Human Resources 24:343-360.
    """
    whole = sum(each.population - each.unfair for each in strata)
    if not whole:
        return None
    faithful = sum(each.faithful for each in strata)
    unfaithful = sum(each.labelled for each in strata) - faithful
    return faithful / whole, 1 - unfaithful / whole


def estimate_run_rate(
    strata: Sequence[LabelledStratum], *, clusters: int = 0, level: float = LEVEL
) -> Estimate:
    """Estimate the rate among the claims of this run, from claims drawn at random per stratum.

    Args:
        strata: By verdict, drawn each at its own density; a simple random sample of the run may be
            split by verdict afterwards.
        clusters: Conversations of the labelled claims, to be shown.
        level: Confidence level in (0, 1).

    Returns:
        The rate with a normal interval that is no wider than `compute_worst_case_bounds`; of width
        0 when everything is labelled.

    Source:
        Cochran 1977, 5.6 and 5A.9, with divisor n_h and, in the variance only, the share
        (y_h + 1) / (n_h + 2) of Laplace: a stratum with equal labels would otherwise claim to be
        without error. With unfair claims the rate is a ratio, 5A.14. Simulated coverage of 95 %
        intervals is 95 to 97 %.
    """
    value = compute_stratified_rate(strata)
    labelled = sum(each.labelled for each in strata)
    bounds = compute_worst_case_bounds(strata)
    if isinstance(value, WithheldReason) or bounds is None:
        return make_undefined_estimate(WithheldReason.NO_ITEMS, labelled, clusters)
    whole = estimate_fair_claim_count(strata)
    # Without unfair claims there are two types of label to be mistrusted, else three.
    outcomes = 3 if any(each.unfair for each in strata) else 2
    variance = 0.0
    for each in strata:
        if each.reviewed_count:
            faithful = (each.faithful + 1) / (each.reviewed_count + outcomes)
            unfaithful = (each.labelled - each.faithful + 1) / (each.reviewed_count + outcomes)
            # Of what a claim adds to the rate: 1 - value, -value, or nothing if it is unfair.
            mean = faithful - value * (faithful + unfaithful)
            spread = faithful * (1 - value) ** 2 + unfaithful * value**2 - mean**2
            rest = 1 - each.reviewed_count / each.population
            variance += (each.population / whole) ** 2 * spread / each.reviewed_count * rest
    se = math.sqrt(variance)
    half = NormalDist().inv_cdf((1 + level) / 2) * se
    low, high = bounds
    return Estimate(
        value,
        EstimateStatus.OK,
        labelled,
        clusters,
        # Rounding may put a bound a hair beside the value it equals.
        ci_low=min(value, max(low, value - half)),
        ci_high=max(value, min(high, value + half)),
        level=level,
        method=EstimateMethod.STRATIFIED,
        se=se,
    )


def widen_interval_for_unknown_units(rate: Estimate, known: float, unknown: int) -> Estimate:
    """Let units that nothing is known of all fail, or all pass.

    Args:
        rate: Of the units that labelled ones stand for.
        known: How many these are, fair ones alone.
        unknown: How many further ones it shall be about too.

    Returns:
        The same value; its interval holds the share among all of them where that of `rate` holds
        the share among the known.
    """
    if rate.ci_low is None or rate.ci_high is None or not unknown:
        return rate
    share = known / (known + unknown)
    return replace(rate, ci_low=rate.ci_low * share, ci_high=1 - (1 - rate.ci_high) * share)


def estimate_run_rate_clustered(
    groups: GroupedStrata, level: float = LEVEL, *, drawn_from: int | None = None
) -> Estimate:
    """Estimate the rate among the claims of this run, from whole conversations drawn at random.

    Args:
        groups: All conversations of the run; those that were not drawn have no labels.
        level: Confidence level in (0, 1).
        drawn_from: Conversations there are where `groups` has those that were not drawn together;
            None: as many as groups.

    Returns:
        The rate of `compute_stratified_rate`, with an interval by leaving out the labels of one
        drawn conversation at a time; its width shrinks with the part of the conversations that was
        not drawn, and is 0 when everything is labelled. A single one has none.

    Source:
        Cochran 1977, 9A.1 and 2.6: variance between drawn clusters, times 1 - g / G.
    """
    total = groups.totals_by_stratum
    _, labelled, faithful, unfair = groups.counts
    is_drawn = (labelled + unfair).any(axis=0)
    times = groups.times[is_drawn]
    drawn = int(times.sum())
    value = compute_stratified_rate(total)
    if isinstance(value, WithheldReason) or all(
        each.reviewed_count == each.population for each in total
    ):
        return estimate_run_rate(total, clusters=drawn, level=level)
    populations, all_labelled, all_faithful, all_unfair = np.array(groups.counts @ groups.times)[
        ..., None
    ]
    without = _weigh_stratum_shares(
        np.broadcast_to(populations, labelled.shape),
        all_labelled - labelled,
        all_faithful - faithful,
        all_unfair - unfair,
    )[is_drawn]
    undrawn = compute_variance_share_of_undrawn(groups, drawn_from)
    moved = value + math.sqrt(undrawn) * (without - value)
    n = sum(each.labelled for each in total)
    return make_estimate_with_jackknife_interval(
        value, moved, times, IntervalScale.LOGIT, n=n, level=level, fewest=FEWEST_DRAWN_GROUPS
    )


def compute_variance_share_of_undrawn(groups: GroupedStrata, drawn_from: int | None) -> float:
    """Compute how much of the variance of conversations is left for the rate of this run.

    Args:
        groups: All conversations of the run; those that were not drawn have no labels.
        drawn_from: As of `estimate_run_rate_clustered`.

    Returns:
        0 where all were drawn; up to 4/3, see `_CLUSTER_SPREAD`.

    Source:
        Cochran 1977, 2.6: 1 - g / G.
    """
    _, labelled, _, unfair = groups.counts
    drawn = int(groups.times[(labelled + unfair).any(axis=0)].sum())
    every = int(groups.times.sum()) if drawn_from is None else drawn_from
    return _CLUSTER_SPREAD * max(0.0, 1 - drawn / every)


def count_units_of_large_undrawn_conversations(groups: GroupedStrata) -> int:
    """Count the units of conversations that drawn ones cannot stand for.

    Args:
        groups: All conversations of the run; those that were not drawn have no labels.

    Returns:
        The units of undrawn conversations that have each more than twice as many as the largest
        drawn one, or more than a tenth of all and three times the average.
    """
    populations, labelled, _, unfair = groups.counts
    sizes, is_drawn = populations.sum(axis=0), (labelled + unfair).any(axis=0)
    share = max(_LARGE_SHARE, _TIMES_AVERAGE / int(groups.times.sum()))
    largest = min(
        _TIMES_LARGEST * sizes[is_drawn].max(initial=0), share * int(sizes @ groups.times)
    )
    is_large = sizes > largest
    return int((sizes * groups.times)[~is_drawn & is_large].sum())


def estimate_future_rate(groups: GroupedStrata, level: float = LEVEL) -> Estimate:
    """Estimate the rate to expect of conversations like these that are still to come.

    Args:
        groups: All conversations of the run, labelled or not.
        level: Confidence level in (0, 1).

    Returns:
        The rate of `compute_stratified_rate` with a jackknife interval: each conversation is left
        out with its labels and its claims, so that how often each verdict is given is estimated
        anew.
    """
    total = groups.totals_by_stratum
    return make_estimate_with_jackknife_interval(
        compute_stratified_rate(total),
        compute_rates_without_each_conversation(groups),
        groups.times,
        IntervalScale.LOGIT,
        n=sum(each.labelled for each in total),
        level=level,
    )


def compute_rates_without_each_conversation(groups: GroupedStrata) -> Floats:
    """Compute the rate without each of the different conversations; NaN where there is none.

    A stratum that loses its only labels is then taken to be like the others, weighted as they are;
    the whole conversation counts as the reason of the change.
    """
    rest = (groups.counts @ groups.times)[..., None] - groups.counts
    return _weigh_stratum_shares(*rest)


def _weigh_stratum_shares(
    populations: Ints, labelled: Ints, faithful: Ints, unfair: Ints
) -> Floats:
    """Weight the shares of the strata that have labels; each shape (strata, conversations)."""
    seen = labelled + unfair
    weights = divide_or_nan(populations, np.where(seen > 0, seen, np.inf))
    return divide_or_nan((weights * faithful).sum(axis=0), (weights * labelled).sum(axis=0))


def merge_unlabelled_strata(groups: GroupedStrata) -> GroupedStrata:
    """Put strata of which nothing is labelled anywhere together with the smallest labelled one.

    For a simple random sample that was split by verdict afterwards and missed a rare verdict. With
    a sample that was drawn by verdict, it would pass one verdict off as another.

    Returns:
        Conversations with as many strata as before, the unlabelled ones empty; as they were when
        nothing is labelled.

    Source:
        Cochran 1977, 5A.9: strata after selection are put together where they are too small.
    """
    total = groups.totals_by_stratum
    labelled = [(each.population, i) for i, each in enumerate(total) if each.reviewed_count]
    empty = [i for i, each in enumerate(total) if each.population and not each.reviewed_count]
    if not labelled or not empty:
        return groups
    merged = groups.counts.copy()
    merged[0, min(labelled)[1]] += merged[0, empty].sum(axis=0)
    merged[:, empty] = 0
    return GroupedStrata.from_counts(merged, groups.times)


@dataclass(frozen=True, slots=True)
class OutsideAccuracy:
    """What a judge found in a run, and how well it did where the truth is known."""

    apparent: float
    """Share the judge called positive, in [0, 1]."""
    tested: int
    sensitivity: float
    """Share of the positives it called positive, in [0, 1]."""
    n_sensitivity: int
    """Positives this was measured on."""
    specificity: float
    """Share of the negatives it called negative, in [0, 1]."""
    n_specificity: int
    """Negatives this was measured on."""


@dataclass(frozen=True, slots=True)
class OutsideRate:
    """A corrected rate, and what to know about it."""

    raw: float | None
    """As the formula gives it: below 0 when the judge flags less than its FPs."""
    estimate: Estimate
    """The same, clipped to [0, 1], with its interval."""

    @property
    def is_out_of_range(self) -> bool:
        """Whether the raw value is no share."""
        return self.raw is not None and not 0 <= self.raw <= 1


def rogan_gladen_rate(apparent: float, sensitivity: float, specificity: float) -> Point:
    """Correct a share of positives for known sensitivity and specificity.

    Returns:
        Not clipped, so it may lie outside [0, 1]; undefined when the judge is uninformative.

    Source:
        Rogan & Gladen 1978, American Journal of Epidemiology 107:71-76:
        (apparent + specificity - 1) / (sensitivity + specificity - 1).
    """
    information = sensitivity + specificity - 1
    if abs(information) < _SAME:
        return WithheldReason.UNINFORMATIVE_JUDGE
    return (apparent + specificity - 1) / information


def lang_reiczigel_interval(
    accuracy: OutsideAccuracy, level: float = LEVEL
) -> tuple[float, float] | WithheldReason:
    """Make the interval of `rogan_gladen_rate` when sensitivity and specificity are estimates.

    Returns:
        Lower and upper end, clipped to [0, 1]; `NO_ITEMS` when one of the three samples is empty,
        `UNINFORMATIVE_JUDGE` when there is nothing to divide by, before or after the adjustment.

    Source:
        Lang & Reiczigel 2014, Preventive Veterinary Medicine 113:13-22: z² pseudo-items in the run,
        one success and one failure in each accuracy sample, and a shift of the middle.
    """
    if not (accuracy.tested and accuracy.n_sensitivity and accuracy.n_specificity):
        return WithheldReason.NO_ITEMS
    z = NormalDist().inv_cdf((1 + level) / 2)
    added = _add_pseudo_items(accuracy, z)
    plain = rogan_gladen_rate(accuracy.apparent, accuracy.sensitivity, accuracy.specificity)
    rate = rogan_gladen_rate(added.apparent, added.hits, added.rejections)
    if isinstance(plain, WithheldReason) or isinstance(rate, WithheldReason):
        return WithheldReason.UNINFORMATIVE_JUDGE
    shift = 2 * z * z * (rate * added.hits_variance - (1 - rate) * added.rejections_variance)
    variance = (
        added.apparent_variance
        + rate**2 * added.hits_variance
        + (1 - rate) ** 2 * added.rejections_variance
    )
    half = z * math.sqrt(variance) / abs(added.hits + added.rejections - 1)
    return _clip_share(rate + shift - half), _clip_share(rate + shift + half)


@dataclass(frozen=True, slots=True)
class _AdjustedAccuracy:
    """Shares after pseudo-items are added, and the variances of their means."""

    apparent: float
    apparent_variance: float
    hits: float
    hits_variance: float
    rejections: float
    rejections_variance: float


def _add_pseudo_items(accuracy: OutsideAccuracy, z: float) -> _AdjustedAccuracy:
    """Add z² items to the run, and one success and one failure to either accuracy sample."""
    tested = accuracy.tested + z * z
    apparent = (accuracy.tested * accuracy.apparent + z * z / 2) / tested
    n_hits, n_rejections = accuracy.n_sensitivity + 2, accuracy.n_specificity + 2
    hits = (accuracy.n_sensitivity * accuracy.sensitivity + 1) / n_hits
    rejections = (accuracy.n_specificity * accuracy.specificity + 1) / n_rejections
    return _AdjustedAccuracy(
        apparent=apparent,
        apparent_variance=apparent * (1 - apparent) / tested,
        hits=hits,
        hits_variance=hits * (1 - hits) / n_hits,
        rejections=rejections,
        rejections_variance=rejections * (1 - rejections) / n_rejections,
    )


def fieller_interval(
    accuracy: OutsideAccuracy, level: float = LEVEL
) -> tuple[float, float] | WithheldReason:
    """Make an interval of `rogan_gladen_rate` that holds for a judge which may be guessing.

    A rate is inside where the share that it would make the judge flag differs from what the judge
    flags by no more than chance explains. So nothing is divided by sensitivity + specificity - 1,
    which may be 0, and a judge that guesses leaves all of [0, 1]. Where the rates inside are two
    pieces, what lies between is inside too.

    Returns:
        Lower and upper end in [0, 1], rounded outwards to 1 / 2,000; `NO_ITEMS` when one of the
        three samples is empty, `RATE_OUT_OF_RANGE` when no rate makes what the judge flags likely,
        so that it does not err as it did where its accuracy was measured.

    Source:
        Fieller 1954, J R Stat Soc B 16:175-185, with the pseudo-items of
        `lang_reiczigel_interval`.
    """
    if not (accuracy.tested and accuracy.n_sensitivity and accuracy.n_specificity):
        return WithheldReason.NO_ITEMS
    z = NormalDist().inv_cdf((1 + level) / 2)
    added = _add_pseudo_items(accuracy, z)
    rates = np.linspace(0, 1, _FIELLER_STEPS + 1)
    flagged = rates * added.hits + (1 - rates) * (1 - added.rejections)
    variance = added.apparent_variance + rates**2 * added.hits_variance
    variance += (1 - rates) ** 2 * added.rejections_variance
    inside = rates[(flagged - added.apparent) ** 2 <= z * z * variance]
    if not len(inside):
        return WithheldReason.RATE_OUT_OF_RANGE
    step = 1 / _FIELLER_STEPS
    return _clip_share(float(inside[0]) - step), _clip_share(float(inside[-1]) + step)


def correct_by_accuracy(accuracy: OutsideAccuracy, level: float = LEVEL) -> OutsideRate:
    """Estimate a rate of positives by an accuracy measured elsewhere, with what to doubt in it.

    The interval is the wider of `lang_reiczigel_interval` and `fieller_interval` at either end; of
    a judge that may be guessing the latter alone, with the reason `UNINFORMATIVE_JUDGE` beside it.
    """
    raw = rogan_gladen_rate(accuracy.apparent, accuracy.sensitivity, accuracy.specificity)
    found = fieller_interval(accuracy, level)
    for each in (raw, found):
        if isinstance(each, WithheldReason):
            return OutsideRate(None, make_undefined_estimate(each, accuracy.tested))
    assert not isinstance(raw, WithheldReason)
    assert not isinstance(found, WithheldReason)
    value = _clip_share(raw)
    # A value at 0 or 1 may lie outside, as pseudo-items move the middle.
    ends = [(value, value), found]
    is_maybe_guessing = _is_maybe_guessing(accuracy, level)
    if not is_maybe_guessing:
        other = lang_reiczigel_interval(accuracy, level)
        ends += [] if isinstance(other, WithheldReason) else [other]
    estimate = Estimate(
        value,
        EstimateStatus.OK,
        accuracy.tested,
        0,
        WithheldReason.UNINFORMATIVE_JUDGE if is_maybe_guessing else None,
        ci_low=min(low for low, _ in ends),
        ci_high=max(high for _, high in ends),
        level=level,
        method=EstimateMethod.FIELLER,
    )
    return OutsideRate(raw, estimate)


def _is_maybe_guessing(accuracy: OutsideAccuracy, level: float) -> bool:
    """Say whether the interval of sensitivity + specificity - 1 touches 0.

    Source:
        Newcombe 1998, Statistics in Medicine 17:873-890, method 10, for a sum.
    """
    if not (accuracy.n_sensitivity and accuracy.n_specificity):
        return False
    hits, rejections = accuracy.sensitivity, accuracy.specificity
    low_hits, high_hits = wilson_interval(hits, accuracy.n_sensitivity, level)
    low_rejections, high_rejections = wilson_interval(rejections, accuracy.n_specificity, level)
    middle = hits + rejections - 1
    return (
        middle - math.hypot(hits - low_hits, rejections - low_rejections)
        <= 0
        <= middle + math.hypot(high_hits - hits, high_rejections - rejections)
    )


def _clip_share(share: float) -> float:
    return min(max(share, 0.0), 1.0)
