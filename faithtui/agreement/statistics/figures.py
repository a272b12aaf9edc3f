"""What a figure of confusion matrices is: a formula, why it may have no value, and its interval.

Intervals leave out one group at a time, all groups in one pass.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Concatenate, Generic, ParamSpec, overload

import numpy as np
import numpy.typing as npt

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.statistics.intervals import (
    IntervalScale,
    make_estimate_with_jackknife_interval,
)
from faithtui.agreement.statistics.matrices import (
    Floats,
    GroupedMatrix,
    Ints,
    MatrixStack,
    count_distinct_columns,
    count_units_by_cell_and_group,
    number_distinct_keys_by_occurrence,
)
from faithtui.domain.estimates import FEWEST_GROUPS, LEVEL, Estimate, Point
from faithtui.domain.withheld_reasons import WithheldReason

OptionsP = ParamSpec("OptionsP")

WhyUndefined = WithheldReason | Callable[[MatrixStack], WithheldReason]
"""Why a figure of a matrix with units has no value."""


class Figure(Generic[OptionsP]):
    """A figure of a confusion matrix, or of many at once.

    Of a `ConfusionMatrix` it is a number or the reason why there is none: `NO_ITEMS` without units,
    else the figure's own reason. Of a `MatrixStack` it is an array of the stack's shape, NaN where
    there is no value.

    Args:
        compute: The formula, for stacks.
        why: Why it has no value where there are units.
    """

    def __init__(
        self, compute: Callable[Concatenate[MatrixStack, OptionsP], Floats], why: WhyUndefined
    ) -> None:
        self._compute = compute
        self.why = why
        self.__doc__ = compute.__doc__
        self.__name__ = getattr(compute, "__name__", "")

    @overload
    def __call__(
        self, of: ConfusionMatrix[float], *options: OptionsP.args, **named: OptionsP.kwargs
    ) -> Point: ...
    @overload
    def __call__(
        self, of: MatrixStack, *options: OptionsP.args, **named: OptionsP.kwargs
    ) -> Floats: ...
    def __call__(
        self,
        of: ConfusionMatrix[float] | MatrixStack,
        *options: OptionsP.args,
        **named: OptionsP.kwargs,
    ) -> Point | Floats:
        """Compute it."""
        if isinstance(of, MatrixStack):
            return self._compute(of, *options, **named)
        stack = MatrixStack(of.counts)
        return self._to_point(stack, self._compute(stack, *options, **named))

    def bind(self, *options: OptionsP.args, **named: OptionsP.kwargs) -> "Figure[[]]":
        """Fix the options."""
        compute = self._compute
        return Figure(lambda of: compute(of, *options, **named), self.why)

    def compute_over_groups(
        self, groups: GroupedMatrix, *options: OptionsP.args, **named: OptionsP.kwargs
    ) -> Point:
        """Compute it over all groups."""
        whole = groups.weighted_total_stack
        return self._to_point(whole, self._compute(whole, *options, **named))

    def _to_point(self, stack: MatrixStack, found: Floats) -> Point:
        value = float(found)
        return value if value == value else self.explain_undefined(stack)  # NaN is not itself

    def explain_undefined(self, matrix: MatrixStack) -> WithheldReason:
        """Say why a single matrix has no such figure."""
        if not matrix.n > 0:
            return WithheldReason.NO_ITEMS
        return self.why if isinstance(self.why, WithheldReason) else self.why(matrix)


def as_figure(
    why: WhyUndefined = WithheldReason.NO_VARIATION,
) -> Callable[[Callable[Concatenate[MatrixStack, OptionsP], Floats]], Figure[OptionsP]]:
    """Make a formula for stacks of matrices a `Figure`."""
    return partial(Figure, why=why)


@dataclass(frozen=True, slots=True)
class Statistic:
    """A figure, with what its interval needs to know."""

    compute: Figure[[]]
    units: Callable[[MatrixStack], Floats]
    """Units that enter: all of them, or the denominator of a share."""
    scale: IntervalScale

    def compute_of_single_matrix(self, matrix: ConfusionMatrix[float]) -> Point:
        """Compute the figure of a single matrix."""
        return self.compute(matrix)


def divide_or_nan(part: npt.ArrayLike, whole: npt.ArrayLike) -> Floats:
    """Divide; NaN where the divisor is 0 or NaN."""
    divisor = np.asarray(whole, dtype=np.float64)
    return np.asarray(part / np.where(divisor == 0, np.nan, divisor))


def compute_leave_one_out(compute: Figure[[]], groups: GroupedMatrix) -> tuple[Floats, Ints]:
    """Compute a figure without each group.

    Returns:
        Per different group the figure without one such group, NaN where it is then undefined; and
        how many such groups there are.
    """
    return compute(groups.without_each_group), groups.times


def estimate_figure(statistic: Statistic, groups: GroupedMatrix, level: float = LEVEL) -> Estimate:
    """Compute a figure with its interval, leaving out one group at a time.

    Args:
        statistic: The figure.
        groups: Only those with units that enter are counted and left out: a conversation without
            a flagged claim says nothing about precision.
        level: Confidence level in (0, 1).
    """
    known = groups.estimates.get((statistic, level))
    if known is not None:
        return known
    value = statistic.compute.compute_over_groups(groups)
    units = statistic.units(groups.unweighted_by_group)
    enters = units > 0
    times = groups.times[enters]
    left_out = np.zeros(len(times))
    # Of so few groups only their number matters.
    if times.sum() >= FEWEST_GROUPS and not isinstance(value, WithheldReason):
        left_out = statistic.compute(groups.without_each_group)[enters]
    n = int(units @ groups.times)
    found = make_estimate_with_jackknife_interval(
        value, left_out, times, statistic.scale, n=n, level=level
    )
    groups.estimates[statistic, level] = found
    return found


def estimate_each_group(statistic: Statistic, groups: GroupedMatrix) -> list[Estimate]:
    """Compute a figure of each of many groups by itself, without intervals.

    Args:
        statistic: The figure.
        groups: Of fixed weights; one estimate for each of the different ones, in order.
    """
    stack = groups.weighted_by_group
    values = statistic.compute(stack).tolist()
    units = statistic.units(groups.unweighted_by_group).astype(np.int64).tolist()
    found = []
    for place, (value, n) in enumerate(zip(values, units, strict=True)):
        point: Point = value
        if value != value:  # NaN
            point = statistic.compute.explain_undefined(MatrixStack(stack.cells[..., place]))
        found.append(
            make_estimate_with_jackknife_interval(
                point, np.zeros(int(n > 0)), 1, statistic.scale, n=n
            )
        )
    return found


def estimate_figures(
    statistics: Mapping[str, Statistic], groups: GroupedMatrix, level: float = LEVEL
) -> dict[str, Estimate]:
    """Compute figures with their intervals, by name; see `estimate_figure`."""
    return {name: estimate_figure(each, groups, level) for name, each in statistics.items()}


def estimate_share(flags: Iterable[tuple[str, bool]], level: float = LEVEL) -> Estimate:
    """Estimate the share of units with a property.

    Args:
        flags: (group, has it) of each unit.
        level: Confidence level in (0, 1).

    Returns:
        In [0, 1]; undefined without units.
    """
    units = list(flags)
    groups, names = number_distinct_keys_by_occurrence([group for group, _ in units])
    hits = np.array([flag for _, flag in units], dtype=np.int64)
    counts = count_units_by_cell_and_group(groups, hits, len(names), 2)
    return estimate_share_of_counts(counts[1], counts[0] + counts[1], level)


def estimate_share_of_counts(hits: Ints, units: Ints, level: float = LEVEL) -> Estimate:
    """Estimate the share of units with a property, of groups that are counted already.

    Args:
        hits: Units of each group with the property.
        units: All its units; groups without any do not enter.
        level: Confidence level in (0, 1).
    """
    # Sorted, so that the order of groups does not show in the last digit.
    (hit, all_units), times = count_distinct_columns(np.stack([hits, units]))
    total_hits, total, groups = int(hit @ times), int(all_units @ times), int(times.sum())
    value: Point = total_hits / total if total else WithheldReason.NO_ITEMS
    left_out = np.zeros(len(times))
    if groups >= FEWEST_GROUPS:
        left_out = divide_or_nan(total_hits - hit, total - all_units)
    return make_estimate_with_jackknife_interval(
        value, left_out, times, IntervalScale.LOGIT, n=total, level=level
    )
