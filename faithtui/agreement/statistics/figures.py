"""How far two raters agree: figures of a table with their intervals.

The formulas live in `statistics`, the tables in `statistics.tables`; a figure without a value is a
`Reason`.
"""

from collections import Counter
from collections.abc import Iterable

from faithtui.agreement.statistics.alpha import krippendorff_alpha
from faithtui.agreement.statistics.category_weights import Disagreement
from faithtui.agreement.statistics.coefficients import (
    brennan_prediger,
    chance_agreement,
    cohen_kappa,
    gwet_ac1,
    marginal_distance,
    percent_agreement,
    scott_pi,
    specific_agreement,
)
from faithtui.agreement.statistics.intervals import Scale
from faithtui.agreement.statistics.jackknife import Statistic, measure
from faithtui.agreement.statistics.packing import PackedGroups
from faithtui.agreement.statistics.table_groups import GroupedTable, cross_table, table_of_kinds
from faithtui.agreement.statistics.tables import Counted, Counts, Table
from faithtui.domain.estimates import LEVEL, Estimate

__all__ = [
    "AC1",
    "ALPHA",
    "BRENNAN_PREDIGER",
    "KAPPA",
    "PERCENT",
    "SCOTT_PI",
    "Counts",
    "GroupedTable",
    "Statistic",
    "Table",
    "chance_agreement",
    "cohen_kappa",
    "cross_table",
    "gwet_ac1",
    "krippendorff_alpha",
    "marginal_distance",
    "measure",
    "percent_agreement",
    "share",
    "share_of_kinds",
    "specific",
    "weighted_kappa",
]


def share(flags: Iterable[tuple[str, bool]], level: float = LEVEL) -> Estimate:
    """Estimate the share of units with a property.

    Args:
        flags: (group, has it) of each unit.
        level: Confidence level in (0, 1).
    """
    # A share is percent agreement with a reference that always says yes.
    packed = PackedGroups(4)
    yes, no, *_ = packed.ones
    packed.add((group, yes if flag else no) for group, flag in flags)
    return measure(PERCENT, table_of_kinds(packed.kinds(), ("yes", "no")), level)


def share_of_kinds(kinds: Iterable[tuple[int, int, int]], level: float = LEVEL) -> Estimate:
    """Estimate a share as `share` does, of groups that are counted already.

    Args:
        kinds: Units of a group with the property, all its units, and how many groups are like it.
        level: Confidence level in (0, 1).
    """
    found: Counter[tuple[int, ...]] = Counter()
    for hits, units, times in kinds:
        found[hits, units - hits, 0, 0] += times
    return measure(PERCENT, table_of_kinds(found, ("yes", "no")), level)


PERCENT = Statistic(percent_agreement, lambda table: table.n, Scale.LOGIT)
KAPPA = Statistic(cohen_kappa, lambda table: table.n, Scale.ATANH)
ALPHA = Statistic(krippendorff_alpha, lambda table: table.n, Scale.ATANH)
AC1 = Statistic(gwet_ac1, lambda table: table.n, Scale.ATANH)
BRENNAN_PREDIGER = Statistic(brennan_prediger, lambda table: table.n, Scale.ATANH)
SCOTT_PI = Statistic(scott_pi, lambda table: table.n, Scale.ATANH)


def weighted_kappa(weights: Disagreement) -> Statistic:
    """Make weighted kappa a figure with an interval."""
    return Statistic(lambda table: cohen_kappa(table, weights), lambda table: table.n, Scale.ATANH)


def specific(category: int) -> Statistic:
    """Make the specific agreement on a category, by its position, a figure with an interval.

    Units on which anybody used the category enter.
    """

    def units(table: Counted) -> float:
        both = table.counts[category][category]
        return table.rows[category] + table.columns[category] - both

    return Statistic(lambda table: specific_agreement(table, category), units, Scale.LOGIT)
