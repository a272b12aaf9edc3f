"""From units to the figures of a report: which units count, with what weight, in which parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.report.model import Agreement, ClassReport, Detection, MarginTest
from faithtui.agreement.report.settings import IntervalMethod, ReportSettings
from faithtui.agreement.statistics import coefficients, detection
from faithtui.agreement.statistics.bootstrap import Resamples, estimate_by_bootstrap
from faithtui.agreement.statistics.coefficients import (
    AC1,
    ALPHA,
    KAPPA,
    PERCENT,
    SCOTT_PI,
    make_weighted_statistic,
    quadratic_weights,
)
from faithtui.agreement.statistics.figures import Statistic
from faithtui.agreement.statistics.matrices import (
    Flags,
    Floats,
    GroupedMatrix,
    Ints,
    UnitFrame,
)
from faithtui.agreement.statistics.paired_judges import mcnemar_mid_p, stuart_maxwell_test
from faithtui.agreement.statistics.posterior import (
    estimate_figures_by_posterior,
    widen_intervals_by_posterior,
)
from faithtui.domain.estimates import Estimate, Point
from faithtui.domain.withheld_reasons import WithheldReason

DETECTION_STATISTICS: Mapping[str, Statistic] = {
    "prevalence": detection.PREVALENCE,
    "precision": detection.PRECISION,
    "recall": detection.RECALL,
    "specificity": detection.SPECIFICITY,
    "npv": detection.NPV,
    "f1": detection.F1,
    "balanced_accuracy": detection.BALANCED_ACCURACY,
    "mcc": detection.MCC,
}
"""Figures of detection by the name of their field in `Detection`."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitColumns:
    """What two sides gave labels, in columns."""

    groups: Ints
    """Number of each unit's group, from 0; shape (units,)."""
    cells: Ints
    """Place of the reference's label times the number of labels, plus that of the other's."""
    group_count: int
    """Groups there are, not all of which need have units."""
    strata: Ints | None = None
    """Place of each unit's stratum in the frame, -1: in none; None where every unit weighs the
    same."""

    def __len__(self) -> int:
        """Count them."""
        return len(self.cells)

    def select_units(self, places: Ints) -> "UnitColumns":
        """Take some of them, by their places or by flags."""
        strata = None if self.strata is None else self.strata[places]
        return UnitColumns(self.groups[places], self.cells[places], self.group_count, strata)


@dataclass(frozen=True, slots=True, eq=False)
class WeightedFrame:
    """The units that a sample by strata stands for."""

    strata: tuple[str, ...]
    """In order."""
    populations: Ints
    """Units with a label of the judge, labelled by annotators or not; shape (strata, groups)."""
    unfair: Ints
    """Of these, drawn ones that annotators label `x`; shape (strata, groups)."""
    weights: tuple[float, ...]
    """How many units a labelled one of each stratum stands for; 0 where none is labelled."""


@dataclass(frozen=True, slots=True, eq=False)
class FigureContext:
    """How figures are computed: by which labels, settings and frame."""

    categories: tuple[str, ...]
    bad: tuple[str, ...]
    """Unfaithful in the strict sense: the positive class of indices."""
    settings: ReportSettings
    frame: WeightedFrame | None = None
    """None: every unit weighs the same."""
    frame_counts: tuple[Ints, Ints] | None = None
    """By stratum, the judge's label and group: drawn units that annotators label `x`, and all
    units that were drawn from; shapes (strata, q, groups), one stratum where `frame` is None. None:
    nothing was drawn."""
    _resamples: list[Resamples] = field(default_factory=list)
    """The last draws: all figures of a level are read off the same ones."""

    def count_all_units_by_group(self, units: UnitColumns) -> GroupedMatrix:
        """Count all units by group.

        Of a sample by strata, weights are estimated anew without each group.
        """
        if self.frame_counts is None:
            return self.count_some_units_by_group(units)
        if self.frame is None or units.strata is None:
            counts, _ = self._count_units_by_cell(units, None, 1)
            return GroupedMatrix.from_groups(
                self.categories, counts, frame=UnitFrame(counts, *self.frame_counts)
            )
        inside = units.strata >= 0
        cells = (units.strata * np.int64(len(self.categories) ** 2) + units.cells)[inside]
        strata, size = len(self.frame.strata), len(self.categories)
        counts = np.bincount(
            cells * units.group_count + units.groups[inside],
            minlength=strata * size**2 * units.group_count,
        )
        counts = counts.reshape(strata, size, size, units.group_count)
        return GroupedMatrix.from_groups(
            self.categories,
            counts,
            populations=self.frame.populations,
            unfair=self.frame.unfair,
            frame=UnitFrame(counts, *self.frame_counts),
        )

    def count_some_units_by_group(self, units: UnitColumns) -> GroupedMatrix:
        """Count some of the units by group; each weighs what it weighs in the whole."""
        return self.count_units_by_part_and_group(units, np.zeros(len(units), np.int64), 1)[0]

    def count_units_by_part_and_group(
        self, units: UnitColumns, part_of: Ints, parts: int
    ) -> list[GroupedMatrix]:
        """Count several parts of the units by group, see `count_some_units_by_group`.

        Args:
            units: All of them.
            part_of: Of each unit, from 0; -1: of none.
            parts: How many there are.
        """
        counts, starts = self._count_units_by_cell(units, part_of, parts)
        return [
            self.make_grouped_matrix(counts[..., first:last])
            for first, last in pairwise(starts.tolist())
        ]

    def count_growing_subsets_by_group(
        self, units: UnitColumns, order: Ints, at: Sequence[int]
    ) -> list[GroupedMatrix]:
        """Count ever more units by group, see `count_some_units_by_group`.

        Args:
            units: All of them.
            order: Their places, in the order in which they come.
            at: How many to count, rising.

        Returns:
            One for each number.
        """
        found = []
        groups, names = units.groups, units.group_count
        if len(units) < names:
            numbers, groups = np.unique(groups, return_inverse=True)
            names = len(numbers)
        so_far = UnitColumns(groups, units.cells, names, units.strata)
        counts: Ints | None = None
        for first, last in pairwise((0, *at)):
            more, _ = self._count_units_by_cell(so_far.select_units(order[first:last]), None, 1)
            counts = more if counts is None else counts + more
            found.append(self.make_grouped_matrix(counts))
        return found

    def count_each_part_as_group(
        self, units: UnitColumns, part_of: Ints, parts: int
    ) -> GroupedMatrix:
        """Count parts that are each of one group.

        Returns:
            A group for each part in order, alike or not; of a part without units all 0.
        """
        alone = UnitColumns(part_of, units.cells, parts, units.strata)
        counts, _ = self._count_units_by_cell(alone, None, 1)
        return GroupedMatrix(
            self.categories, counts, np.ones(parts, np.int64), self.stratum_weights
        )

    def make_grouped_matrix(self, counts: Ints) -> GroupedMatrix:
        """Put counts by group together; shape (strata, q, q, groups)."""
        return GroupedMatrix.from_groups(self.categories, counts, weights=self.stratum_weights)

    @property
    def stratum_weights(self) -> tuple[float, ...]:
        """What a unit of each stratum weighs."""
        return (1.0,) if self.frame is None else self.frame.weights

    def _count_units_by_cell(
        self, units: UnitColumns, part_of: Ints | None, parts: int
    ) -> tuple[Ints, Ints]:
        """Count units by cell, part and group.

        Args:
            units: All of them.
            part_of: Of each unit, -1: of none; None: there is only one, and all its groups are
                given, with units or without.
            parts: How many there are.

        Returns:
            Shape (strata, q, q, pairs of part and group), and where the pairs of each part begin,
            with their number at the end.
        """
        groups, cells = units.groups, units.cells
        size, strata = len(self.categories), len(self.stratum_weights)
        pairs = groups if part_of is None else part_of * np.int64(units.group_count) + groups
        if units.strata is not None:
            cells = units.strata * np.int64(size**2) + cells
        left_out = None if part_of is None else part_of < 0
        if units.strata is not None:
            outside = units.strata < 0
            left_out = outside if left_out is None else left_out | outside
        if left_out is not None and left_out.any():
            pairs, cells = pairs[~left_out], cells[~left_out]
        count = parts * units.group_count
        starts = np.arange(parts + 1) * units.group_count
        if part_of is not None and count > 4 * len(pairs):
            # Few of the pairs have units.
            names, pairs = np.unique(pairs, return_inverse=True)
            count = len(names)
            starts = np.searchsorted(names, starts)
        found = np.bincount(cells * np.int64(count) + pairs, minlength=strata * size**2 * count)
        return found.reshape(strata, size, size, count), starts

    def weigh_units(self, units: UnitColumns) -> Floats:
        """Say how many units each stands for; 0 for one that is in no stratum of the sample."""
        if units.strata is None:
            return np.ones(len(units))
        return np.where(units.strata >= 0, np.array(self.stratum_weights)[units.strata], 0.0)

    def list_agreement_flags(self, units: UnitColumns) -> Flags:
        """Say of each unit whether both sides gave the same label."""
        size = len(self.categories)
        return np.asarray(units.cells // size == units.cells % size)

    def estimate_figures(
        self, statistics: Mapping[str, Statistic], whole: GroupedMatrix
    ) -> dict[str, Estimate]:
        """Compute figures with their intervals, see `estimate_figures_by_posterior`."""
        return estimate_figures_by_posterior(statistics, whole, self.settings.level)

    def estimate_figures_with_wanted_intervals(
        self,
        statistics: Mapping[str, Statistic],
        whole: GroupedMatrix,
        positive: tuple[str, ...] | None = None,
    ) -> dict[str, Estimate]:
        """Compute the figures of a level with their intervals, as the settings want them.

        Args:
            statistics: Figures by name.
            whole: Units by group.
            positive: Labels that are put together, and all the others too; None: all stay apart.
        """
        settings = self.settings
        groups = whole if positive is None else whole.collapse_to_two_categories(positive)
        if settings.interval is IntervalMethod.JACKKNIFE or not whole.group_count:
            return self.estimate_figures(statistics, groups)
        if not self._resamples or self._resamples[0].groups is not whole:
            self._resamples[:] = [Resamples(whole, settings.resamples, settings.seed)]
        found = estimate_by_bootstrap(
            statistics, whole, positive, resamples=self._resamples[0], level=settings.level
        )
        return widen_intervals_by_posterior(found, statistics, groups, settings.level)

    def compute_agreement(self, whole: GroupedMatrix, *, main: bool = False) -> Agreement:
        """Compare two sides.

        Args:
            whole: Units by group; rows the reference.
            main: They are the judge and all annotators, whose intervals may be asked for by
                resampling. Parts and single annotators always leave out one group at a time: there
                are many of them.
        """
        statistics = {
            "percent": PERCENT,
            "kappa": KAPPA,
            "pi": SCOTT_PI,
            "alpha": ALPHA,
            "ac1": AC1,
        }
        if self.settings.ordinal:
            weights = quadratic_weights(range(len(self.categories)))
            statistics |= {
                "weighted": make_weighted_statistic(coefficients.cohen_kappa, weights),
                "ac2": make_weighted_statistic(coefficients.gwet_ac1, weights),
            }
        found = (self.estimate_figures_with_wanted_intervals if main else self.estimate_figures)(
            statistics, whole
        )
        cells = whole.weighted_total
        binary = (
            cells
            if isinstance(cells, WithheldReason)
            else cells.collapse_to_two_categories(self.bad)
        )
        is_weighted = whole.is_weighted and not isinstance(cells, WithheldReason)
        return Agreement(
            table=whole.unweighted_total,
            clusters=whole.labelled_group_count,
            weighted=cells.counts
            if is_weighted and not isinstance(cells, WithheldReason)
            else None,
            percent=found["percent"],
            chance=_compute_value_or_none(coefficients.chance_agreement, cells),
            cohen_kappa=found["kappa"],
            scott_pi=found["pi"],
            krippendorff_alpha=found["alpha"],
            gwet_ac1=found["ac1"],
            weighted_kappa=found.get("weighted"),
            gwet_ac2=found.get("ac2"),
            max_kappa=_compute_value_or_none(coefficients.maximum_kappa, cells),
            prevalence_index=_compute_value_or_none(coefficients.prevalence_index, binary),
            bias_index=_compute_value_or_none(coefficients.bias_index, binary),
            marginal_test=None if is_weighted else _test_marginal_symmetry(whole.unweighted_total),
        )

    def compute_per_label_figures(self, whole: GroupedMatrix) -> tuple[ClassReport, ...]:
        """Say how each label fares."""
        found = []
        for name in self.categories:
            against_rest = whole.collapse_to_two_categories((name,))
            counts = against_rest.unweighted_total
            figures = self.estimate_figures(
                {each: DETECTION_STATISTICS[each] for each in ("precision", "recall", "f1")},
                against_rest,
            )
            found.append(
                ClassReport(
                    label=name,
                    human=counts.reference_totals[0],
                    judge=counts.judge_totals[0],
                    both=counts.counts[0][0],
                    **figures,
                )
            )
        return tuple(found)

    def compute_detection(
        self, whole: GroupedMatrix, positive: tuple[str, ...], *, main: bool = False
    ) -> Detection:
        """Ask how well the judge finds units with some labels; `main` as in `compute_agreement`."""
        (tp, fn), (fp, tn) = whole.unweighted_total.collapse_to_two_categories(positive).counts
        figures = (
            self.estimate_figures_with_wanted_intervals(DETECTION_STATISTICS, whole, positive)
            if main
            else self.estimate_figures(
                DETECTION_STATISTICS, whole.collapse_to_two_categories(positive)
            )
        )
        return Detection(positive=positive, tp=tp, fp=fp, fn=fn, tn=tn, **figures)


def _compute_value_or_none(
    figure: Callable[[ConfusionMatrix[float]], Point],
    cells: ConfusionMatrix[float] | WithheldReason,
) -> float | None:
    """Compute a figure that comes without an interval; None where it has no value."""
    value = cells if isinstance(cells, WithheldReason) else figure(cells)
    return None if isinstance(value, WithheldReason) else value


def _test_marginal_symmetry(table: ConfusionMatrix[int]) -> MarginTest | None:
    """Test whether both sides use the labels equally often."""
    if not table.n:
        return None
    if len(table.categories) == 2:
        p = mcnemar_mid_p(table.counts[0][1], table.counts[1][0])
        return None if isinstance(p, WithheldReason) else MarginTest("mcnemar_mid_p", None, 1, p)
    found = stuart_maxwell_test(table)
    if isinstance(found, WithheldReason):
        return None
    return MarginTest("stuart_maxwell", found.statistic, found.df, found.p)
