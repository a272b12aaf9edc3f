"""From readings to the tables of a report: which units count, and with what weight."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise, repeat
from operator import add, mul
from typing import Any, TypeVar

from faithtui.agreement.report.values.levels import Agreement, ClassReport, Detection, MarginTest
from faithtui.agreement.report.values.settings import IntervalMethod, ReportSettings
from faithtui.agreement.statistics import coefficients, detection
from faithtui.agreement.statistics.category_weights import quadratic
from faithtui.agreement.statistics.figures import (
    AC1,
    ALPHA,
    KAPPA,
    PERCENT,
    Statistic,
    Table,
    chance_agreement,
)
from faithtui.agreement.statistics.intervals import Scale
from faithtui.agreement.statistics.jackknife import measures
from faithtui.agreement.statistics.packing import (
    PackedGroups,
    Packing,
    Spans,
    packed_kinds,
    spans_of,
)
from faithtui.agreement.statistics.paired_judges import bowker, mcnemar_mid
from faithtui.agreement.statistics.table_groups import (
    Grouped,
    collapsed_groups,
    summed,
    table_of_kinds,
    weighted_table_of_kinds,
)
from faithtui.agreement.statistics.tables import (
    Counted,
    StratifiedTable,
    WeightedTable,
    empty_table,
)
from faithtui.domain.estimates import Estimate, Point, Reason

PI = Statistic(coefficients.scott_pi, lambda table: table.n, Scale.ATANH)

Whole = Grouped[Any]
"""Tables of all groups: `Table` where every unit weighs the same, else `StratifiedTable`."""

NameT = TypeVar("NameT", int, str)

Counts = tuple[int, ...]
"""Of a group, cell by cell, row by row; of a sample by strata weight by weight."""

_MOST_TOGETHER = 16
"""Parts that are counted in one number; with more of them the number is too long to be fast."""


@dataclass(frozen=True)  # without slots, so that spans are found when asked for
class Units:
    """What two sides gave labels, in columns, as there may be a million of them."""

    groups: Sequence[str]
    cells: Sequence[int]
    """Place of the reference's label times the number of labels, plus that of the other's."""
    strata: Sequence[str | None] = ()
    """() where every unit weighs the same."""

    def __len__(self) -> int:
        """Count them."""
        return len(self.cells)

    @cached_property
    def spans(self) -> Spans:
        """Which of them belong together."""
        return spans_of(self.groups)

    def taken(self, places: Sequence[int]) -> "Units":
        """Take some of them, in the order of the places."""
        return Units(
            [self.groups[place] for place in places],
            [self.cells[place] for place in places],
            [self.strata[place] for place in places] if self.strata else (),
        )


@dataclass(frozen=True, slots=True)
class Frame:
    """The units that a sample by strata stands for."""

    strata: tuple[str, ...]
    """In order."""
    members: tuple[tuple[str, str], ...]
    """(group, stratum) of every unit with a label of the judge, labelled by annotators or not."""
    weights: Mapping[str, float]
    """How many units a labelled one stands for, by stratum; without those that have none."""


@dataclass(frozen=True, slots=True)
class Figures:
    """How figures are computed: by which labels, settings and frame."""

    categories: tuple[str, ...]
    bad: tuple[str, ...]
    """Unfaithful in the strict sense: the positive class of indices."""
    settings: ReportSettings
    frame: Frame | None = None
    """None: every unit weighs the same."""

    def units(
        self,
        groups: Sequence[str],
        reference: Iterable[str],
        rated: Iterable[str],
        strata: Sequence[str | None] = (),
    ) -> Units:
        """Put columns together, all labels being categories; `strata` where there is a frame."""
        size = len(self.categories)
        down = {name: place * size for place, name in enumerate(self.categories)}
        across = {name: place for place, name in enumerate(self.categories)}
        cells = [down[one] + across[other] for one, other in zip(reference, rated, strict=True)]
        return Units(groups, cells, strata if self.frame is not None else ())

    def whole(self, units: Units) -> Whole:
        """Put all units into tables by group, each with a label of both sides.

        Of a sample by strata, weights are estimated anew without each group.
        """
        if self.frame is None:
            return self.plain(units)
        return _stratified(units, self.frame, self.categories)

    def part(self, units: Units) -> Whole:
        """Put some of the units into tables by group; each weighs what it weighs in the whole."""
        packing = Packing(self._size, units.spans.most)
        return self._tables(packing.kinds_of(units.spans.sums(self._added(units, packing))))

    def growing(self, units: Units, order: Sequence[int], at: Sequence[int]) -> Iterator[Whole]:
        """Put ever more units into tables by group, see `part`.

        Args:
            units: All of them.
            order: Their places, in the order in which they come; a range: they are in order.
            at: How many to put in, rising; yields the tables of so many each time.
        """
        packing = Packing(self._size, units.spans.most)
        sizes = [last - first for first, last in pairwise((0, *at))]
        step_of = [*chain.from_iterable(map(repeat, range(len(at)), sizes))]
        if not isinstance(order, range):
            by_order, step_of = step_of, [0] * len(units)
            for place, step in zip(order, by_order, strict=True):
                step_of[place] = step
        so_far: Iterable[int] = repeat(0)
        for more in self._together(units, packing, step_of, len(at)):
            so_far = [*map(add, so_far, more)]
            yield self._tables(packing.kinds_of(so_far))

    def _together(
        self, units: Units, packing: Packing, part_of: Sequence[int], parts: int
    ) -> Iterator[Sequence[int]]:
        """Count several parts of the units at once, each at a place of its own in one number.

        Args:
            units: All of them.
            packing: Of one part.
            part_of: Of each unit, from 0; of one that is left out, the number of parts.
            parts: How many there are.

        Yields:
            Each part's packed counts by group.
        """
        added = [*self._added(units, packing)]
        mask = (1 << packing.bits) - 1
        for first in range(0, parts, _MOST_TOGETHER):
            here = range(first, min(first + _MOST_TOGETHER, parts))
            factors = [0] * (parts + 1)
            factors[here.start : here.stop] = [1 << packing.bits * (at - first) for at in here]
            groups = units.spans.sums(map(mul, added, map(factors.__getitem__, part_of)))
            for at in here:
                shift = packing.bits * (at - first)
                yield [group >> shift & mask for group in groups]

    def parts(
        self, units: Units, names: Sequence[NameT], wanted: Mapping[NameT, bool]
    ) -> dict[NameT, Whole]:
        """Put several parts of the units into tables by group, see `part`.

        Args:
            units: All of them.
            names: Of which part each unit is.
            wanted: All these names, and whether the part is wanted.
        """
        packing = Packing(self._size, units.spans.most)
        shown = [name for name, is_wanted in wanted.items() if is_wanted]
        place_of: dict[NameT, int] = dict.fromkeys(wanted, len(shown))
        place_of.update({name: place for place, name in enumerate(shown)})
        part_of = [*map(place_of.__getitem__, names)]
        found = self._together(units, packing, part_of, len(shown))
        return {
            name: self._tables(packing.kinds_of(each))
            for name, each in zip(shown, found, strict=True)
        }

    def alone(self, units: Units, spans: Spans) -> tuple[list[Counts], list[int]]:
        """Count units of many parts, each of one group.

        Args:
            units: All of them.
            spans: Which of them are a part, all being of the same group.

        Returns:
            The different counts that parts have, and which of them each has.
        """
        packing = Packing(self._size, spans.most)
        packed = spans.sums(self._added(units, packing))
        place_of = {each: place for place, each in enumerate(dict.fromkeys(packed))}
        return [*map(packing.unpacked, place_of)], [*map(place_of.__getitem__, packed)]

    def agreed(self, counts: Counts) -> float | None:
        """Say what share of counted units is agreed on; None without any that counts."""
        cells = len(self.categories) ** 2
        weights = [1.0] if self.frame is None else sorted(self.frame.weights.values())
        parts = [
            (weight, counts[start : start + cells])
            for weight, start in zip(weights, range(0, len(counts), cells), strict=True)
        ]
        whole = math.fsum(weight * sum(part) for weight, part in parts)
        same = math.fsum(weight * sum(part[:: len(self.categories) + 1]) for weight, part in parts)
        return same / whole if whole else None

    def table(self, counts: Counts) -> Whole:
        """Put the counts of one group into a table."""
        return self._tables({counts: 1} if any(counts) else {})

    @property
    def _size(self) -> int:
        """Counts of a group: by cell, and by weight where there is a frame."""
        cells = len(self.categories) ** 2
        return cells if self.frame is None else cells * len(self.frame.weights)

    def _added(self, units: Units, packing: Packing) -> Iterable[int]:
        """Say what each unit adds to the counts of its group; 0: it counts in no stratum."""
        ones = packing.ones
        if self.frame is None:
            return map(ones.__getitem__, units.cells)
        cells = len(self.categories) ** 2
        ones_of = {
            name: ones[place * cells : (place + 1) * cells]
            for place, name in enumerate(self._by_weight)
        }
        none = (0,) * cells
        return (
            ones_of.get(stratum, none)[cell]
            for cell, stratum in zip(units.cells, units.strata, strict=True)
        )

    @property
    def _by_weight(self) -> list[str | None]:
        """Strata in the order of what a unit of theirs weighs."""
        weights = {} if self.frame is None else self.frame.weights
        return [*sorted(weights, key=weights.__getitem__)]

    def _tables(self, kinds: Mapping[tuple[int, ...], int]) -> Whole:
        """Make tables of what is counted."""
        if self.frame is None:
            return table_of_kinds(kinds, self.categories)
        weights = sorted(self.frame.weights.values())
        return weighted_table_of_kinds(kinds, weights, self.categories)

    def plain(self, units: Units) -> Whole:
        """Put units into tables by group; each weighs the same."""
        kinds = packed_kinds(units.spans, units.cells, len(self.categories) ** 2)
        return table_of_kinds(kinds, self.categories)

    @property
    def agreed_cells(self) -> frozenset[int]:
        """Cells in which both sides gave the same label."""
        size = len(self.categories)
        return frozenset(range(0, size * size, size + 1))

    def weights(self, units: Units) -> Sequence[float]:
        """Say how many units each stands for; 0 for one that is in no stratum of the sample."""
        if self.frame is None:
            return [1] * len(units)
        known = self.frame.weights
        return [0 if stratum is None else known.get(stratum, 0) for stratum in units.strata]

    def measure(self, statistics: Mapping[str, Statistic], whole: Whole) -> dict[str, Estimate]:
        """Compute figures with their intervals, leaving out one group at a time."""
        return measures(statistics, whole, self.settings.level)

    def resampled(
        self,
        statistics: Mapping[str, Statistic],
        whole: Whole,
        positive: tuple[str, ...] | None = None,
    ) -> dict[str, Estimate]:
        """Compute the figures of a level with their intervals, as the settings want them.

        Args:
            statistics: Figures by name.
            whole: Tables by group.
            positive: Labels that are put together, and all the others too; None: all stay apart.
        """
        settings = self.settings
        if settings.interval is IntervalMethod.JACKKNIFE:
            return self.measure(
                statistics, whole if positive is None else collapsed(whole, positive)
            )
        from faithtui.agreement.statistics.bootstrap import bootstrap_measures

        return bootstrap_measures(
            statistics,
            whole,
            positive,
            resamples=settings.resamples,
            seed=settings.seed,
            level=settings.level,
        )

    def one(self, statistic: Statistic, whole: Whole) -> Estimate:
        """Compute one figure with its interval."""
        return self.measure({"": statistic}, whole)[""]

    def agreement(self, whole: Whole, *, main: bool = False) -> Agreement:
        """Compare two sides.

        Args:
            whole: Tables by group; rows the reference.
            main: They are the judge and people as a whole, whose intervals may be asked for by
                resampling. Parts and single people always leave out one group at a time: there
                are many of them.
        """
        table = whole.total.raw
        read = whole.total.read()
        statistics = {"percent": PERCENT, "kappa": KAPPA, "pi": PI, "alpha": ALPHA, "ac1": AC1}
        if self.settings.ordinal:
            weights = quadratic(range(len(self.categories)))
            statistics |= {
                "weighted": Statistic(
                    lambda found: coefficients.cohen_kappa(found, weights), _n, Scale.ATANH
                ),
                "ac2": Statistic(
                    lambda found: coefficients.gwet_ac1(found, weights), _n, Scale.ATANH
                ),
            }
        found = (self.resampled if main else self.measure)(statistics, whole)
        binary = whole.total.collapsed(self.bad).read()
        weighted = read.counts if isinstance(read, WeightedTable) else None
        return Agreement(
            table=table,
            clusters=_labelled_groups(whole),
            weighted=weighted,
            percent=found["percent"],
            chance=_of(chance_agreement, read),
            cohen_kappa=found["kappa"],
            scott_pi=found["pi"],
            krippendorff_alpha=found["alpha"],
            gwet_ac1=found["ac1"],
            weighted_kappa=found.get("weighted"),
            gwet_ac2=found.get("ac2"),
            max_kappa=_of(coefficients.maximum_kappa, read),
            prevalence_index=_of(coefficients.prevalence_index, binary),
            bias_index=_of(coefficients.bias_index, binary),
            margins=_margins(table) if weighted is None else None,
        )

    def classes(self, whole: Whole) -> tuple[ClassReport, ...]:
        """Say how each label fares."""
        found = []
        for name in self.categories:
            against_rest = collapsed(whole, (name,))
            counts = against_rest.total.raw
            figures = self.measure(
                {
                    "precision": detection.PRECISION,
                    "recall": detection.RECALL,
                    "f1": detection.F1,
                },
                against_rest,
            )
            found.append(
                ClassReport(
                    label=name,
                    human=counts.rows[0],
                    judge=counts.columns[0],
                    both=counts.counts[0][0],
                    **figures,
                )
            )
        return tuple(found)

    def detection(
        self, whole: Whole, positive: tuple[str, ...], *, main: bool = False
    ) -> Detection:
        """Ask how well the judge finds units with some labels; `main` as in `agreement`."""
        (tp, fn), (fp, tn) = whole.total.collapsed(positive).raw.counts
        statistics = {
            "prevalence": detection.PREVALENCE,
            "precision": detection.PRECISION,
            "recall": detection.RECALL,
            "specificity": detection.SPECIFICITY,
            "npv": detection.NPV,
            "f1": detection.F1,
            "balanced_accuracy": detection.BALANCED_ACCURACY,
            "mcc": detection.MCC,
        }
        figures = (
            self.resampled(statistics, whole, positive)
            if main
            else self.measure(statistics, collapsed(whole, positive))
        )
        return Detection(positive=positive, tp=tp, fp=fp, fn=fn, tn=tn, **figures)


def _labelled_groups(whole: Whole) -> int:
    """Count groups with a unit in the table."""
    total = whole.total
    # The units that strata stand for come before the labelled ones.
    first = len(total.populations) if isinstance(total, StratifiedTable) else 0
    return sum([times for parts, times in whole.counted if any(parts[first:])])


def _n(table: Counted) -> float:
    return table.n


def _of(compute: Callable[[Counted], Point], read: Counted | Reason) -> float | None:
    """Compute a figure that comes without an interval; None where it has no value."""
    value = read if isinstance(read, Reason) else compute(read)
    return None if isinstance(value, Reason) else value


def collapsed(whole: Whole, positive: tuple[str, ...]) -> Whole:
    """Put the categories together into two, see `Table.collapsed`."""
    return Grouped(*collapsed_groups(whole, positive))


def _margins(table: Table) -> MarginTest | None:
    """Test whether both sides use the labels equally often."""
    if not table.n:
        return None
    if len(table.categories) == 2:
        p = mcnemar_mid(table.counts[0][1], table.counts[1][0])
        return None if isinstance(p, Reason) else MarginTest("mcnemar_mid_p", None, 1, p)
    found = bowker(table)
    if isinstance(found, Reason):
        return None
    return MarginTest("bowker", found.statistic, found.df, found.p)


def _stratified(
    units: Units, frame: Frame, categories: tuple[str, ...]
) -> Grouped[StratifiedTable]:
    """Put labelled units and all that they stand for into tables by group."""
    place_of = {name: place for place, name in enumerate(frame.strata)}
    size, strata = len(categories) ** 2, len(frame.strata)
    packed = PackedGroups(strata * (1 + size), len(frame.members))
    packed.add((group, packed.ones[place_of[stratum]]) for group, stratum in frame.members)
    packed.add(
        (group, packed.ones[strata + place_of[stratum] * size + cell])
        for group, cell, stratum in zip(units.groups, units.cells, units.strata, strict=True)
        if stratum is not None
    )
    none = StratifiedTable(categories, (0,) * strata, (empty_table(categories).counts,) * strata)
    return Grouped(*summed(none, packed.kinds()))
