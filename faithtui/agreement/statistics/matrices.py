"""Confusion matrices by group, as arrays: what must be left out together is counted together.

One array holds all groups, so a figure without each conversation in turn is computed in one pass.
The axis of the groups is the last one: formulas read as those of a single matrix do, and numpy
adds long columns instead of many short rows.
"""

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from faithtui.agreement.confusion_matrix import TWO_CATEGORIES, ConfusionMatrix
from faithtui.domain.estimates import Estimate
from faithtui.domain.withheld_reasons import WithheldReason

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_NUMBERS = 2_000_000
"""Numbers that are computed at a time, to bound the memory."""

KeyT = TypeVar("KeyT", bound=Hashable)
NumberT = TypeVar("NumberT", bound=np.number[Any])


class MatrixStack:
    """Confusion matrices of one size, with their sums; figures are computed of all at once.

    Args:
        cells: Shape (q, q, …) for q categories; (q, q) is a single matrix. NaN: not known.
    """

    __slots__ = ("agreed", "cells", "columns", "n", "rows")

    def __init__(self, cells: npt.ArrayLike) -> None:
        self.cells: Floats = np.asarray(cells, dtype=np.float64)
        self.rows: Floats = self.cells.sum(axis=1)
        """The reference's number of each category; shape (q, …)."""
        self.columns: Floats = self.cells.sum(axis=0)
        """The judge's number of each category; shape (q, …)."""
        self.n: Floats = self.rows.sum(axis=0)
        """All units; shape (…), as the figures have."""
        self.agreed: Floats = np.einsum("ii...->...", self.cells)
        """Units with the same label from both; shape (…)."""

    @property
    def size(self) -> int:
        """Number of categories."""
        return len(self.cells)

    @property
    def disagreed(self) -> Floats:
        """Units with two different labels; shape (…)."""
        # Off the diagonal only: n minus the agreed units would leave rounding of weights behind.
        apart = self.cells[~np.eye(self.size, dtype=np.bool_)]
        return np.asarray(apart.sum(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class UnitFrame:
    """All units that labelled ones were drawn from, of all groups in one order."""

    labelled: Ints
    """By stratum, the reference's label and the judge's; shape (strata, q, q, groups)."""
    unfair: Ints
    """Looked at and labelled `x`, by the judge's label; shape (strata, q, groups)."""
    verdicts: Ints
    """All units by the judge's label, looked at or not; shape (strata, q, groups)."""


@dataclass(frozen=True, slots=True, eq=False)
class WeightedTotals:
    """What groups of random weights add up to, many times."""

    units: Floats
    """All units by the judge's label; shape (draws, strata, 1, q)."""
    labels: Floats
    """Labelled units by human label, the last for `x`, and the judge's; shape (draws,
    strata, q + 1, q)."""
    design_effects: Floats
    """What a label given beforehand weighs; shape (strata, q)."""
    parts: Floats
    """Part of the units with a verdict that each stratum has; shape (strata, q)."""
    total: float
    """All units."""


@dataclass(frozen=True, eq=False)  # without slots: what is computed from it is kept
class GroupedMatrix:
    """The units of all groups, counted by stratum and by both labels.

    Groups that are alike are kept once with their number: leaving out any of them gives the same
    figure, and a hundred thousand conversations have a few thousand different matrices. They are
    sorted, so that neither the order of units nor the names of groups matter.
    """

    categories: tuple[str, ...]
    """Declared labels; q of them."""
    counts: Ints
    """Labelled units of the different groups; shape (strata, q, q, different groups)."""
    times: Ints
    """How many groups there are of each kind; all above 0."""
    weights: tuple[float, ...] = (1.0,)
    """What a unit of each stratum weighs, above 0; not read where there are `populations`."""
    populations: Ints | None = None
    """All units of each stratum, labelled or not; shape (strata, different groups). A labelled unit
    then weighs the population of its stratum over the labelled units of it, both counted anew when
    a group is left out, as they would be in another sample of conversations."""
    unfair: Ints | None = None
    """Units that annotators looked at and labelled `x`, by stratum; shape (strata, different
    groups). Where there are `populations`, these have them too: a labelled unit weighs the
    population over the units that annotators looked at, fair or not."""
    frame: "UnitFrame | None" = field(default=None, repr=False)
    """What the labelled units were drawn from; None: nothing but themselves is known."""
    collapsed_from: "tuple[GroupedMatrix, tuple[str, ...]] | None" = field(default=None, repr=False)
    """What this was collapsed from, and the labels that were put together."""
    totals: "dict[float, WeightedTotals]" = field(default_factory=dict, repr=False)
    """Draws of randomly weighted groups, by confidence level."""
    draws: dict[tuple[float, Hashable], MatrixStack] = field(default_factory=dict, repr=False)
    """Matrices drawn from the posterior, by confidence level and by the labels that were put
    together: all figures are read off the same."""
    estimates: dict[tuple[Hashable, float], Estimate] = field(default_factory=dict, repr=False)
    """Figures that were computed, by statistic and confidence level: a report asks for some of the
    same groups more than once."""

    @classmethod
    def from_groups(
        cls,
        categories: Sequence[str],
        counts: Ints,
        *,
        weights: Sequence[float] = (1.0,),
        populations: Ints | None = None,
        unfair: Ints | None = None,
        times: Ints | None = None,
        frame: "UnitFrame | None" = None,
    ) -> "GroupedMatrix":
        """Put groups together that are alike, and leave out those without any unit.

        Args:
            categories: Declared labels.
            counts: As the field, of all groups in any order.
            weights: As the field.
            populations: As the field, of all groups.
            times: How many groups there are of each; None: one.
            unfair: As the field, of all groups.
            frame: As the field.
        """
        strata = len(counts)
        flat = counts.reshape(math.prod(counts.shape[:-1]), counts.shape[-1])
        beside = [each for each in (populations, unfair) if each is not None]
        kinds, found = count_distinct_columns(stack_counts(*beside, flat), times)
        own = kinds[strata * len(beside) :]
        shape = (*counts.shape[:-1], kinds.shape[1])
        return cls(
            tuple(categories),
            own.reshape(shape),
            found,
            tuple(weights),
            None if populations is None else kinds[:strata],
            None if unfair is None else kinds[strata * (len(beside) - 1) : strata * len(beside)],
            frame,
        )

    @property
    def group_count(self) -> int:
        """Number of groups."""
        return int(self.times.sum())

    @property
    def labelled_group_count(self) -> int:
        """Number of groups with a labelled unit."""
        return int(self.times[self.unweighted_by_group.n > 0].sum())

    @property
    def is_weighted(self) -> bool:
        """Whether units stand for others than themselves."""
        return self.populations is not None or self.weights != (1.0,)

    @property
    def stratum_weights(self) -> Floats:
        """How many units a labelled one of each stratum stands for; 0 where annotators saw none."""
        populations = self._population_totals
        if populations is None:
            return np.asarray(self.weights)
        seen = self.total_counts.sum(axis=(1, 2))
        if self._unfair_totals is not None:
            seen = seen + self._unfair_totals
        return np.asarray(np.where(seen > 0, populations / np.maximum(seen, 1), 0.0))

    @cached_property
    def total_counts(self) -> Ints:
        """Labelled units of all groups; shape (strata, q, q)."""
        return np.asarray(self.counts @ self.times)

    @cached_property
    def unweighted_total(self) -> ConfusionMatrix[int]:
        """The labelled units of all groups, each counted once."""
        counts = self.total_counts.sum(axis=0)
        return ConfusionMatrix(self.categories, tuple(map(tuple, counts.tolist())))

    @cached_property
    def weighted_total_stack(self) -> MatrixStack:
        """All groups as one matrix, weighted; NaN where a stratum with units has no label."""
        return MatrixStack(
            self.sum_strata_by_weight(
                self.total_counts, self._population_totals, self._unfair_totals
            )
        )

    @cached_property
    def weighted_total(self) -> ConfusionMatrix[float] | WithheldReason:
        """The same as plain numbers, or why they are not known."""
        if not self.is_weighted:
            return self.unweighted_total
        if np.isnan(self.weighted_total_stack.n):
            return WithheldReason.NO_ITEMS
        return ConfusionMatrix(
            self.categories, tuple(map(tuple, self.weighted_total_stack.cells.tolist()))
        )

    @cached_property
    def unweighted_by_group(self) -> MatrixStack:
        """Labelled units of each different group, each counted once."""
        return MatrixStack(self.counts.sum(axis=0))

    @cached_property
    def without_each_group(self) -> MatrixStack:
        """All groups without each of the different ones, weighted."""
        counts, total_counts = self.counts, self.total_counts
        at_once = max(1, _NUMBERS // max(1, counts[:1].size))
        # A thousand strata of five thousand kinds of groups would be a gigabyte at once.
        parts = []
        for first in range(0, max(1, len(counts)), at_once):
            some = slice(first, first + at_once)
            populations, unfair = (
                None if each is None or total is None else total[some, None] - each[some]
                for each, total in (
                    (self.populations, self._population_totals),
                    (self.unfair, self._unfair_totals),
                )
            )
            without = total_counts[some, ..., None] - counts[some]
            parts.append(self.sum_strata_by_weight(without, populations, unfair, some))
        return MatrixStack(sum(parts[1:], start=parts[0]))

    @property
    def weighted_by_group(self) -> MatrixStack:
        """Labelled units of each different group, weighted; of fixed weights only."""
        return MatrixStack(self.sum_strata_by_weight(self.counts, None))

    @property
    def _population_totals(self) -> Ints | None:
        return None if self.populations is None else np.asarray(self.populations @ self.times)

    @property
    def _unfair_totals(self) -> Ints | None:
        return None if self.unfair is None else np.asarray(self.unfair @ self.times)

    def sum_strata_by_weight(
        self,
        counts: Ints,
        populations: Ints | None,
        unfair: Ints | None = None,
        strata: slice = slice(None),
    ) -> Floats:
        """Weight the units of strata and add them up.

        Args:
            counts: Shape (strata, q, q, …).
            populations: Shape (strata, …); None: `weights` apply.
            unfair: Shape (strata, …); None: none are.
            strata: Which they are; all by default.

        Returns:
            Shape (q, q, …); NaN where a stratum has units and no label.
        """
        if populations is None:
            weights = self.weights[strata]
            if len(weights) == 1:
                return np.asarray(counts[0] * weights[0])
            return np.tensordot(np.asarray(weights), counts, axes=1)
        labelled = counts.sum(axis=(1, 2)) + (0 if unfair is None else unfair)
        # Multiplied first, so that a census gives back its whole numbers.
        cells = (populations[:, None, None] * counts / np.maximum(labelled, 1)[:, None, None]).sum(
            axis=0
        )
        unknown = ((labelled == 0) & (populations > 0)).any(axis=0)
        return np.where(unknown, np.nan, cells)

    def collapse_to_two_categories(self, positive: Collection[str]) -> "GroupedMatrix":
        """Put the categories together into two.

        See `ConfusionMatrix.collapse_to_two_categories`.
        """
        if len(self.times) == 1:
            return self.collapse_keeping_groups(positive)
        counts = collapse_counts_to_two(self.counts, self.categories, positive)
        found = GroupedMatrix.from_groups(
            TWO_CATEGORIES,
            counts,
            weights=self.weights,
            populations=self.populations,
            unfair=self.unfair,
            times=self.times,
        )
        return replace(found, collapsed_from=(self, tuple(positive)))

    def collapse_keeping_groups(self, positive: Collection[str]) -> "GroupedMatrix":
        """Collapse, and keep every group in its place, alike or not."""
        counts = collapse_counts_to_two(self.counts, self.categories, positive)
        return GroupedMatrix(
            TWO_CATEGORIES,
            counts,
            self.times,
            self.weights,
            self.populations,
            self.unfair,
            collapsed_from=(self, tuple(positive)),
        )

    def take_groups(self, places: Ints) -> "GroupedMatrix":
        """Take some of the different groups; of fixed weights only."""
        return GroupedMatrix(
            self.categories, self.counts[..., places], self.times[places], self.weights
        )

    def keep_judge_category(self, category: int) -> "GroupedMatrix":
        """Keep the units to which the judge gives a category; of fixed weights only."""
        counts = np.zeros_like(self.counts)
        counts[:, :, category] = self.counts[:, :, category]
        return GroupedMatrix.from_groups(
            self.categories, counts, weights=self.weights, times=self.times
        )

    def replace_labels_as_single_group(self, counts: Ints, unfair: Ints | None) -> "GroupedMatrix":
        """Take other labels of the same units, all groups as one.

        Args:
            counts: Labelled units by stratum, shape (strata, q, q).
            unfair: Units that are labelled `x`, by stratum; None where they do not matter.

        Returns:
            A single group: its figures have no intervals.
        """
        populations = self._population_totals
        return GroupedMatrix(
            self.categories,
            counts[..., None],
            np.ones(1, np.int64),
            self.weights,
            None if populations is None else populations[:, None],
            None if unfair is None else unfair[:, None],
        )


def collapse_counts_to_two(
    counts: npt.NDArray[NumberT], categories: Sequence[str], positive: Collection[str]
) -> npt.NDArray[NumberT]:
    """Put categories together into two, first the positive ones, then the rest.

    Args:
        counts: Shape (strata, q, q, …).
        categories: Their names.
        positive: Names of the positive ones.

    Returns:
        Shape (strata, 2, 2, …).
    """
    is_rest = np.array([name not in positive for name in categories], dtype=np.bool_)
    sides = (~is_rest, is_rest)
    rows = np.stack([counts[:, side].sum(axis=1) for side in sides], axis=1)
    return np.stack([rows[:, :, side].sum(axis=2) for side in sides], axis=2)


def stack_counts(*parts: Ints) -> Ints:
    """Put rows of counts below each other, in the smallest type that holds them."""
    most = max(int(each.max(initial=0)) for each in parts)
    kind = np.min_scalar_type(most)
    return np.concatenate([each.astype(kind, copy=False) for each in parts])


def count_distinct_columns(
    rows: Ints, times: Ints | None = None, dtype: type[np.integer[Any]] = np.int64
) -> tuple[Ints, Ints]:
    """Find the different columns of a table, sorted, without those that are all 0.

    Args:
        rows: Shape (numbers of a group, groups), not negative.
        times: How often each column counts; None: once.
        dtype: Of the columns that are returned.

    Returns:
        The different columns, shape (numbers of a group, different groups), and how often each
        occurs.
    """
    if not rows.shape[1]:
        return rows, np.zeros(0, np.int64)
    # Numbers of 16 bits or less are sorted by radix, several times as fast.
    small = rows.astype(np.min_scalar_type(int(rows.max(initial=0))), copy=False)
    order = np.lexsort(small[::-1])
    ordered = small[:, order]
    first = np.ones(len(order), np.bool_)
    np.any(ordered[:, 1:] != ordered[:, :-1], axis=0, out=first[1:])
    starts = np.flatnonzero(first)
    found = np.add.reduceat(np.ones_like(order) if times is None else times[order], starts)
    used = ordered[:, starts].any(axis=0)
    return ordered[:, starts[used]].astype(dtype), found[used]


def number_distinct_keys_by_occurrence(keys: Sequence[KeyT]) -> tuple[Ints, list[KeyT]]:
    """Number keys by their first occurrence.

    Returns:
        The number of each, from 0, and the different keys in that order.
    """
    names = list(dict.fromkeys(keys))
    if len(names) == len(keys):
        return np.arange(len(keys)), names
    number = {name: place for place, name in enumerate(names)}
    return np.fromiter(map(number.__getitem__, keys), np.int64, len(keys)), names


def count_units_by_cell_and_group(
    groups: Ints, cells: Ints, group_count: int, cell_count: int
) -> Ints:
    """Count units by cell and group.

    Args:
        groups: Number of each unit's group, from 0.
        cells: Number of each unit's cell, from 0.
        group_count: Number of groups.
        cell_count: Number of cells.

    Returns:
        Shape (cells, groups).
    """
    found = np.bincount(cells * group_count + groups, minlength=cell_count * group_count)
    return found.reshape(cell_count, group_count)


def count_confusion_by_group(
    units: Iterable[tuple[str, str, str]], categories: Sequence[str]
) -> GroupedMatrix:
    """Count units into confusion matrices by group.

    Args:
        units: (group, reference's label, judge's label) of each, in any order.
        categories: Declared labels.

    Raises:
        KeyError: A label is no category.
    """
    size = len(categories)
    place_of = {
        (down, across): i * size + j
        for i, down in enumerate(categories)
        for j, across in enumerate(categories)
    }
    group_of: dict[str, int] = {}
    # In one pass, so that a million units need not be held.
    codes = np.fromiter(
        (
            group_of.setdefault(group, len(group_of)) * size**2 + place_of[reference, judge]
            for group, reference, judge in units
        ),
        np.int64,
    )
    counts = np.bincount(codes, minlength=len(group_of) * size**2)
    by_group = counts.reshape(1, len(group_of), size, size)
    return GroupedMatrix.from_groups(categories, np.moveaxis(by_group, 1, -1))


def count_weighted_confusion_by_group(
    units: Sequence[tuple[str, str, str, float]], categories: Sequence[str]
) -> GroupedMatrix:
    """Count weighted units into confusion matrices by group; equal weights are a stratum.

    Args:
        units: (group, reference's label, judge's label, weight) of each, in any order; a weight is
            one over the probability of being drawn, above 0, and has few different values.
        categories: Declared labels.
    """
    weights = sorted({weight for *_, weight in units})
    size = len(categories)
    place = {name: i for i, name in enumerate(categories)}
    stratum = {weight: i for i, weight in enumerate(weights)}
    groups, names = number_distinct_keys_by_occurrence([group for group, *_ in units])
    cells = np.array(
        [(stratum[w] * size + place[row]) * size + place[column] for _, row, column, w in units],
        dtype=np.int64,
    )
    counts = count_units_by_cell_and_group(groups, cells, len(names), len(weights) * size**2)
    return GroupedMatrix.from_groups(
        categories, counts.reshape(len(weights), size, size, len(names)), weights=weights
    )
