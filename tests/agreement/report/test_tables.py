"""Parts and prefixes of units are counted together; one by one they must be the same."""

import numpy as np
import pytest

from faithtui.agreement.report.compute import FigureContext, UnitColumns, WeightedFrame
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.statistics.coefficients import PERCENT
from faithtui.agreement.statistics.matrices import GroupedMatrix, Ints

WORDS = ("yes", "no", "idk")
GROUPS = 13
FRAME = WeightedFrame(
    ("yes", "no"), np.full((2, GROUPS), 20), np.zeros((2, GROUPS), np.int64), (2.5, 4.0)
)


def context_of(*, strata: bool) -> FigureContext:
    return FigureContext(WORDS, ("no",), ReportSettings(), FRAME if strata else None)


def drawn(seed: int, *, strata: bool) -> UnitColumns:
    """Draw units of 13 groups; some are in no stratum."""
    chance = np.random.default_rng(seed)
    return UnitColumns(
        chance.integers(GROUPS, size=240),
        chance.integers(9, size=240),
        GROUPS,
        chance.integers(-1, 2, size=240) if strata else None,
    )


def as_units(of: GroupedMatrix) -> tuple[object, ...]:
    """What is in it, to compare."""
    return of.categories, of.counts.tolist(), of.times.tolist(), of.weights


@pytest.mark.parametrize("strata", [False, True])
@pytest.mark.parametrize("parts", [1, 16, 17, 40, 240])
def test_parts_are_those_of_their_units_however_many_there_are(parts: int, *, strata: bool) -> None:
    context, units = context_of(strata=strata), drawn(parts, strata=strata)
    part_of = np.random.default_rng(1).integers(-1, parts, size=len(units))
    found = context.count_units_by_part_and_group(units, part_of, parts)
    assert len(found) == parts
    for part, each in enumerate(found):
        own = context.count_some_units_by_group(units.select_units(np.flatnonzero(part_of == part)))
        assert as_units(each) == as_units(own)


@pytest.mark.parametrize("strata", [False, True])
@pytest.mark.parametrize("in_order", [False, True])
def test_what_grows_is_what_there_is_so_far(*, in_order: bool, strata: bool) -> None:
    context, units = context_of(strata=strata), drawn(7, strata=strata)
    order: Ints = np.arange(len(units))
    if not in_order:
        order = np.random.default_rng(2).permutation(order)
    looks = (25, 26, 130, 240)
    found = context.count_growing_subsets_by_group(units, order, looks)
    for look, each in zip(looks, found, strict=True):
        assert as_units(each) == as_units(
            context.count_some_units_by_group(units.select_units(order[:look]))
        )


@pytest.mark.parametrize("strata", [False, True])
def test_parts_of_one_group_each_are_counted_by_themselves(*, strata: bool) -> None:
    context, units = context_of(strata=strata), drawn(3, strata=strata)
    part_of = units.groups * 3 + np.arange(len(units)) % 3
    alone = context.count_each_part_as_group(units, part_of, 3 * GROUPS)
    shares = PERCENT.compute(alone.weighted_by_group)
    for part in range(3 * GROUPS):
        own = context.count_some_units_by_group(units.select_units(np.flatnonzero(part_of == part)))
        assert alone.take_groups(np.array([part])).unweighted_total == own.unweighted_total
        share = PERCENT.compute(own.weighted_total_stack)
        assert shares[part] == pytest.approx(float(share), nan_ok=True)
