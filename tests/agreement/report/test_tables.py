"""Tables of parts are counted together and in running sums; one by one they must be the same."""

from random import Random

import pytest

from faithtui.agreement.report.tables import Figures, Frame, Units
from faithtui.agreement.report.values.settings import ReportSettings
from faithtui.agreement.statistics.packing import Spans

WORDS = ("yes", "no", "idk")
FRAME = Frame(
    ("yes", "no"),
    tuple((f"g{place % 13}", "no" if place % 4 else "yes") for place in range(400)),
    {"yes": 2.5, "no": 4.0},
)


def drawn(chance: Random, *, apart: bool, strata: bool) -> Units:
    """Draw units of 13 groups, whose units follow each other or not; some are in no stratum."""
    groups = [f"g{chance.randrange(13)}" for _ in range(240)]
    if not apart:
        groups.sort()
    return Units(
        groups,
        [chance.randrange(9) for _ in groups],
        [chance.choice(("yes", "no", None)) for _ in groups] if strata else (),
    )


@pytest.mark.parametrize("strata", [False, True])
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("parts", [1, 16, 17, 40])
def test_parts_are_those_of_their_units_however_many_there_are(
    parts: int, *, apart: bool, strata: bool
) -> None:
    chance = Random(parts)
    figures = Figures(WORDS, ("no",), ReportSettings(), FRAME if strata else None)
    units = drawn(chance, apart=apart, strata=strata)
    names = [chance.randrange(parts) for _ in units.cells]
    found = figures.parts(units, names, {name: name != 5 for name in range(parts)})
    assert list(found) == [name for name in range(parts) if name != 5]
    for name, part in found.items():
        own = [place for place, each in enumerate(names) if each == name]
        assert part == figures.part(units.taken(own))


@pytest.mark.parametrize("strata", [False, True])
@pytest.mark.parametrize("in_order", [False, True])
def test_what_grows_is_what_there_is_so_far(*, in_order: bool, strata: bool) -> None:
    chance = Random(7)
    figures = Figures(WORDS, ("no",), ReportSettings(), FRAME if strata else None)
    units = drawn(chance, apart=not in_order, strata=strata)
    places = range(len(units))
    order = places if in_order else chance.sample(places, len(places))
    looks = (25, 26, 130, 240)
    for look, found in zip(looks, figures.growing(units, order, looks), strict=True):
        assert found == figures.part(units.taken(order[:look]))


@pytest.mark.parametrize("strata", [False, True])
def test_parts_of_one_group_each_are_counted_by_themselves(*, strata: bool) -> None:
    figures = Figures(WORDS, ("no",), ReportSettings(), FRAME if strata else None)
    units = drawn(Random(3), apart=True, strata=strata)
    keys = [f"{group}/{place % 3}" for place, group in enumerate(units.groups)]
    spans = Spans(keys)
    counts, which = figures.alone(units, spans)
    assert len(counts) == len(set(counts))
    for key, place in zip(spans.names, which, strict=True):
        part = figures.part(units.taken([at for at, each in enumerate(keys) if each == key]))
        assert figures.table(counts[place]) == part
        table = part.total.read()
        share = table.agreed / table.n if table.n else None
        assert figures.agreed(counts[place]) == (None if share is None else pytest.approx(share))
