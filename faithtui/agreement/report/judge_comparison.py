"""Two judges on the same units, each held against people."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from faithtui.agreement.report.level_figures import Compared
from faithtui.agreement.report.tables import Figures, Whole
from faithtui.agreement.report.values.parts import ComparisonReport
from faithtui.agreement.statistics.figures import KAPPA, PERCENT, Statistic
from faithtui.agreement.statistics.intervals import Scale, estimate
from faithtui.agreement.statistics.packing import Spans, packed_kinds
from faithtui.agreement.statistics.paired_judges import (
    DiscordantGroup,
    durkalski,
    holm,
    mcnemar_mid,
    sign_flip,
)
from faithtui.agreement.statistics.table_groups import (
    cross_table,
    table_of_kinds,
    weighted_table_of_kinds,
)
from faithtui.domain.estimates import Estimate, Point, Reason
from faithtui.domain.ids import ClaimId


@dataclass(frozen=True, slots=True)
class PairedUnit:
    """A unit that both judges gave a label."""

    group: str
    a: str
    b: str
    human: str | None
    """Consensus of people; None: no label of the metric."""
    claim: ClaimId | None = None
    """None: not known, so that no sample can say what it stands for."""
    weight: float = 1
    """How many units it stands for; 0: not of the sample that the figures rest on."""


def weighed(units: Iterable[PairedUnit], compared: Compared) -> tuple[PairedUnit, ...]:
    """Give units the weights that they have in the figures of a report.

    Args:
        units: What both judges gave a label.
        compared: What the figures of the report are about.
    """
    weights = compared.figures.weights(compared.units)
    known = dict(zip(compared.inside.claim, weights, strict=True))
    return tuple(
        each if each.claim is None else replace(each, weight=known.get(each.claim, 0))
        for each in units
    )


def comparisons(
    pairs: Sequence[tuple[str, str, Sequence[PairedUnit]]], figures: Figures
) -> tuple[ComparisonReport, ...]:
    """Compare pairs of judges; p values are adjusted for all of them together.

    Args:
        pairs: Name of judge A, of judge B, and the units both judged.
        figures: How figures are computed; units weigh what they say themselves.
    """
    found = [_compared(a, b, units, figures) for a, b, units in pairs]
    known = [each.signflip_p for each in found if each.signflip_p is not None]
    adjusted = iter(holm(known))
    return tuple(
        replace(
            each,
            comparisons=len(found),
            holm_p=None if each.signflip_p is None else next(adjusted),
        )
        for each in found
    )


def _compared(a: str, b: str, units: Sequence[PairedUnit], figures: Figures) -> ComparisonReport:
    names, level = figures.categories, figures.settings.level
    labelled = [each for each in units if each.human in names and each.weight]
    both = _Both.of(labelled, names)
    only_a, only_b = both.only_one
    groups = both.discordant
    flipped = sign_flip([each.c - each.b for each in groups], seed=figures.settings.seed)
    clustered = durkalski(groups)
    plain = Reason.NO_VARIATION if both.is_weighted else mcnemar_mid(only_a, only_b)
    first, second = both.whole(0), both.whole(1)
    judges = cross_table(((each.group, each.a, each.b) for each in units), names)
    return ComparisonReport(
        a=a,
        b=b,
        common=len(labelled),
        clusters=len(groups),
        weighted=both.is_weighted,
        judges=figures.agreement(judges),
        accuracy_a=figures.one(PERCENT, first),
        accuracy_b=figures.one(PERCENT, second),
        difference=both.difference(PERCENT, level),
        kappa_difference=both.difference(KAPPA, level),
        only_a=only_a,
        only_b=only_b,
        signflip_p=None if isinstance(flipped, Reason) else flipped.p,
        durkalski_p=None if isinstance(clustered, Reason) else clustered.p,
        mcnemar_p=None if isinstance(plain, Reason) else plain,
        comparisons=1,
        holm_p=None,
    )


_Cells = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Both:
    """Labelled units of both judges, counted by group."""

    categories: tuple[str, ...]
    weights: tuple[float, ...]
    """Different weights, rising."""
    kinds: tuple[tuple[_Cells, int], ...]
    """Units of the different groups by weight, people's label, A's and B's; and how many groups
    have these. Sorted."""

    @classmethod
    def of(cls, labelled: Sequence[PairedUnit], categories: tuple[str, ...]) -> "_Both":
        """Count units."""
        weights = tuple(sorted({each.weight for each in labelled}))
        sets = (weights, categories, categories, categories)
        place_of = {found: place for place, found in enumerate(product(*sets))}
        kinds = packed_kinds(
            Spans([each.group for each in labelled]),
            (place_of[each.weight, str(each.human), each.a, each.b] for each in labelled),
            len(place_of),
        )
        return cls(categories, weights, tuple(sorted(kinds.items())))

    @property
    def is_weighted(self) -> bool:
        """Whether some unit stands for more than itself."""
        return any(weight != 1 for weight in self.weights)

    @property
    def only_one(self) -> tuple[int, int]:
        """Units on which only A agrees with people, and only B; each counted once."""
        only_a = only_b = 0
        for cells, times in self.kinds:
            for (_, human, a, b), count in self._rows(cells):
                only_a += count * times * (human == a != b)
                only_b += count * times * (human == b != a)
        return only_a, only_b

    @property
    def discordant(self) -> list[DiscordantGroup]:
        """Weigh what only one judge is right on, by group."""
        found = []
        for cells, times in self.kinds:
            n = b_right = a_right = 0.0
            for (weight, human, a, b), count in self._rows(cells):
                n += weight * count
                a_right += weight * count * (human == a != b)
                b_right += weight * count * (human == b != a)
            found += [DiscordantGroup(n, a_right, b_right)] * times
        return found

    def whole(self, judge: int) -> Whole:
        """Put people's labels beside those of a judge, 0 being A, by group."""
        kinds: Counter[_Cells] = Counter()
        for cells, times in self.kinds:
            kinds[self._side(cells, judge)] += times
        return self._table(kinds)

    def difference(self, statistic: Statistic, level: float) -> Estimate:
        """Estimate a figure of B minus that of A, leaving out one group at a time."""
        all_a, all_b = self.whole(0).total, self.whole(1).total
        pairs: Counter[tuple[_Cells, _Cells]] = Counter()
        for cells, times in self.kinds:
            pairs[self._side(cells, 0), self._side(cells, 1)] += times
        left_out = [
            (
                _gap(
                    statistic.of(all_a.without(self._table({first: 1}).total)),
                    statistic.of(all_b.without(self._table({second: 1}).total)),
                ),
                times,
            )
            for (first, second), times in sorted(pairs.items())
        ]
        gap = _gap(statistic.of(all_a), statistic.of(all_b))
        n = sum(sum(cells) * times for cells, times in self.kinds)
        return estimate(gap, left_out, Scale.NATURAL, n=n, level=level)

    def _rows(self, cells: _Cells) -> Iterable[tuple[tuple[float, str, str, str], int]]:
        sets = (self.weights, self.categories, self.categories, self.categories)
        found = zip(product(*sets), cells, strict=True)
        return ((place, count) for place, count in found if count)

    def _side(self, cells: _Cells, judge: int) -> _Cells:
        """Add up over the labels of the other judge."""
        size = len(self.categories)
        found = [0] * (len(cells) // size)
        for place, count in enumerate(cells):
            before, pair = divmod(place, size * size)
            found[before * size + divmod(pair, size)[judge]] += count
        return tuple(found)

    def _table(self, kinds: dict[_Cells, int]) -> Whole:
        if self.is_weighted:
            return weighted_table_of_kinds(kinds, self.weights, self.categories)
        return table_of_kinds(kinds, self.categories)


def _gap(first: Point, second: Point) -> Point:
    if isinstance(first, Reason):
        return first
    return second if isinstance(second, Reason) else second - first
