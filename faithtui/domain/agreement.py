"""How far two raters agree: figures of a table with their intervals, and statistics by name.

The formulas live in `statistics`, the tables in `statistics.tables`; a figure without a value is a
`Reason`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from faithtui.domain.estimates import LEVEL, Estimate
from faithtui.domain.intervals import Scale
from faithtui.domain.statistics.alpha import krippendorff_alpha
from faithtui.domain.statistics.coefficients import (
    brennan_prediger,
    chance_agreement,
    cohen_kappa,
    gwet_ac1,
    marginal_distance,
    percent_agreement,
    scott_pi,
    specific_agreement,
)
from faithtui.domain.statistics.leaving_out import Statistic, measure
from faithtui.domain.statistics.packing import PackedGroups
from faithtui.domain.statistics.table_groups import GroupedTable, cross_table, table_of_kinds
from faithtui.domain.statistics.tables import Counted, Counts, Table
from faithtui.domain.statistics.weights import Disagreement
from faithtui.errors import InputError

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
    "evaluate",
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


def evaluate(
    statistic: str, input: Mapping[str, object], params: Mapping[str, object] | None = None
) -> dict[str, object]:
    """Compute a statistic by its name from plain values.

    Args:
        statistic: A name that the registries in `statistics` know.
        input: What to compute it from; `kind` says what the other fields are.
        params: Options of the statistic: weights, level of measurement, confidence and so on.

    Returns:
        `value` and the other numbers of the statistic. A result that has no meaning is
        {"value": None, "status": "undefined", "reason": ...}; there is never NaN in it.

    Raises:
        InputError: The name is not known, the statistic cannot be computed from such an input, or
            the input is malformed; never a guess.
    """
    # Imported when asked for: only few users compute by name, and the app starts without.
    from faithtui.domain.statistics import evaluation, evaluation_numbers

    entries = {**evaluation.ENTRIES, **evaluation_numbers.ENTRIES}
    if statistic not in entries:
        raise InputError(f"{statistic!r} is no statistic known here; known: {sorted(entries)}")
    if not isinstance(input, Mapping):
        raise InputError(f"expected fields with a kind, not {input!r}", field="input")
    return entries[statistic](input, params or {})


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
