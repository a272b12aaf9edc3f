"""Standard errors of agreement over conversations, by formula and by enumeration.

The enumerations are the exact answers that resampling approaches.
"""

import math
from collections import Counter

from faithtui.agreement.statistics.coefficients import percent_agreement
from faithtui.agreement.statistics.table_groups import Grouped
from faithtui.agreement.statistics.tables import Table
from faithtui.domain.estimates import Point, Reason


def linearised_se(groups: Grouped[Table]) -> Point:
    """Compute the standard error of percent agreement, taking whole groups as drawn.

    Returns:
        sqrt(G / (G - 1) * sum (a_g - r n_g)²) / n, a_g of n_g units of a group agreeing and r of
        all; undefined for one group.

    Source:
        Cochran, Sampling Techniques (1977), 2.9 and 9A.1: a ratio of two totals.
    """
    share = percent_agreement(groups.total)
    if isinstance(share, Reason):
        return share
    count = groups.groups
    if count < 2:
        return Reason.NO_VARIATION
    spread = math.fsum(times * (kind.agreed - share * kind.n) ** 2 for kind, times in groups.kinds)
    return math.sqrt(count / (count - 1) * spread) / groups.total.n


def exact_bootstrap(groups: Grouped[Table]) -> tuple[float, float] | Reason:
    """Compute mean and standard error of percent agreement over all resamples of the groups.

    Args:
        groups: Without empty ones.

    Returns:
        Mean and standard deviation over the G^G equally likely resamples of G groups.

    Source:
        Efron & Tibshirani, An Introduction to the Bootstrap (1993), section 6.4, the ideal
        bootstrap. Enumerated by sums instead of by resamples: many resamples have the same.
    """
    count = groups.groups
    if not count:
        return Reason.NO_ITEMS
    kinds = Counter[tuple[int, int]]()
    for kind, times in groups.kinds:
        kinds[kind.agreed, kind.n] += times
    sums = Counter({(0, 0): 1})
    for _ in range(count):
        drawn = Counter[tuple[int, int]]()
        for (agreed, n), ways in sums.items():
            for (more_agreed, more), times in kinds.items():
                drawn[agreed + more_agreed, n + more] += ways * times
        sums = drawn
    # Divided as whole numbers: G^G soon leaves the range of floats.
    everything = count**count
    shares = [(agreed / n, ways / everything) for (agreed, n), ways in sums.items()]
    mean = math.fsum(share * chance for share, chance in shares)
    spread = math.fsum(chance * (share - mean) ** 2 for share, chance in shares)
    return mean, math.sqrt(spread)
