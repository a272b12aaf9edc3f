"""Where the judge goes wrong, and how far labelling is: parts and prefixes of the same units."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from heapq import nsmallest
from itertools import islice, repeat
from operator import itemgetter, lt
from typing import TypeVar

from faithtui.agreement.report.annotators import Said
from faithtui.agreement.report.level_figures import Compared
from faithtui.agreement.report.tables import Figures, Units, Whole, collapsed
from faithtui.agreement.report.unit_columns import ClaimColumns
from faithtui.agreement.report.values.parts import (
    Breakdown,
    ProgressPoint,
    ProgressReport,
    Slice,
    SliceRow,
)
from faithtui.agreement.sampling.stopping import labels_still_needed
from faithtui.agreement.statistics import detection
from faithtui.agreement.statistics.figures import KAPPA, PERCENT
from faithtui.agreement.statistics.packing import Spans
from faithtui.agreement.statistics.table_groups import with_cells
from faithtui.domain.estimates import Estimate

LEAST = 10
"""Units of a part below which it has no row."""
MOST_PARTS = 500
"""Parts of a breakdown that have a row: of ten thousand conversations nobody reads the best."""
MOST_POINTS = 8
FEWEST_GROUPS = 20
FEWEST_BAD = 10
"""What an interval needs before it may say that it is narrow enough."""
KeyT = TypeVar("KeyT", int, str)


def breakdowns(compared: Compared, said: Said, metric: str, model: str) -> tuple[Breakdown, ...]:
    """Break agreement down by everything that is known of a unit, worst parts first.

    Args:
        compared: What the figures of the report are about.
        said: What people said one by one.
        metric: The run's.
        model: The run's judge.
    """
    claims, figures = compared.inside, compared.figures
    every = _Sliced(compared.units, compared.part, figures)
    alike = said.part is compared.part
    opinions = every if alike else _Sliced(said.units, said.part, figures)
    with_code = compared.units.taken([place for _, place in said.coded])
    found = (
        _by_conversation(claims.key, every),
        _breakdown(Slice.TURN, claims.turn, every, _turn),
        _by_verdict(compared),
        _breakdown(Slice.WINDOWS, claims.windows, every),
        _undivided(Slice.METRIC, metric, every),
        _undivided(Slice.MODEL, model, every),
        _breakdown(Slice.RATER, said.valid.reviewer, opinions),
        _breakdown(Slice.CODE, [code for code, _ in said.coded], _Sliced(with_code, None, figures)),
    )
    return tuple(each for each in found if each.rows or each.suppressed)


class _Sliced:
    """What is broken down."""

    def __init__(self, units: Units, whole: Whole | None, figures: Figures) -> None:
        """Take units with their tables by group, None where they are still to be made."""
        self.units = units
        self.whole = whole
        self.figures = figures

    @cached_property
    def row(self) -> SliceRow:
        """Give the row of all of it, which several breakdowns have."""
        whole = self.figures.part(self.units) if self.whole is None else self.whole
        return _row("", len(self.units), whole, self.figures)


def _turn(position: int) -> str:
    return f"turn {position + 1}"


def _undivided(by: Slice, name: str, sliced: _Sliced) -> Breakdown:
    """Give all units as one part."""
    n = len(sliced.units)
    if n < LEAST:
        return Breakdown(by, (), int(n > 0))
    return Breakdown(by, (replace(sliced.row, key=name),), 0)


def _breakdown(
    by: Slice, keys: Sequence[KeyT], sliced: _Sliced, name: Callable[[KeyT], str] = str
) -> Breakdown:
    """Break units down by a key of each, of which the name is shown."""
    units, figures = sliced.units, sliced.figures
    if len(set(keys)) == 1:
        return _undivided(by, name(keys[0]), sliced)
    sizes = Counter(keys)
    parts = figures.parts(units, keys, {key: size >= LEAST for key, size in sizes.items()})
    rows = _rows([(name(key), sizes[key], part) for key, part in parts.items()], figures)
    worst = _worst_first(rows)[:MOST_PARTS]
    return Breakdown(by, worst, len(sizes) - len(parts), len(rows) - len(worst))


def _by_conversation(keys: Sequence[str], sliced: _Sliced) -> Breakdown:
    """Break units down by conversation; only the worst get figures, as there may be many."""
    units, figures = sliced.units, sliced.figures
    spans = Spans(keys)
    if len(spans.names) == 1:
        return _undivided(Slice.CONVERSATION, keys[0], sliced)
    sizes = spans.sums(repeat(1, len(keys)))
    counts, which = figures.alone(units, spans)
    agreed = [*map(figures.agreed, counts)]
    # Those of which nothing can be said come last.
    ranks = [2.0 if share is None else share for share in agreed]
    enough = [
        (ranks[place], key, n, counts[place])
        for key, n, place in zip(spans.names, sizes, which, strict=True)
        if n >= LEAST
    ]
    worst = nsmallest(MOST_PARTS, enough, key=itemgetter(0, 1))
    rows = _rows([(key, n, figures.table(each)) for _, key, n, each in worst], figures)
    few = len(spans.names) - len(enough)
    return Breakdown(Slice.CONVERSATION, _worst_first(rows), few, len(enough) - len(rows))


def _rows(parts: Iterable[tuple[str, int, Whole]], figures: Figures) -> list[SliceRow]:
    """Make the rows of parts, given by name and units; small parts are often alike."""
    known: dict[object, SliceRow] = {}
    rows = []
    for key, n, part in parts:
        alike = (n, part.counted)
        if alike not in known:
            known[alike] = _row(key, n, part, figures)
        rows.append(replace(known[alike], key=key))
    return rows


def _by_verdict(compared: Compared) -> Breakdown:
    """Break agreement down by the judge's label; the tables have its columns already."""
    figures = compared.figures
    names, size = figures.categories, len(figures.categories)
    sizes = compared.whole.total.raw.columns
    parts = {
        name: with_cells(compared.part, range(place, size * size, size))
        for place, name in enumerate(names)
        if sizes[place] >= LEAST
    }
    rows = _rows([(name, sizes[names.index(name)], part) for name, part in parts.items()], figures)
    few = sum(0 < each < LEAST for each in sizes)
    return Breakdown(Slice.VERDICT, _worst_first(rows), few)


def _worst_first(rows: Iterable[SliceRow]) -> tuple[SliceRow, ...]:
    """Sort parts; those of which nothing can be said come last."""

    def place(row: SliceRow) -> tuple[float, str]:
        return 2.0 if row.percent.value is None else row.percent.value, row.key

    return tuple(sorted(rows, key=place))


def _row(key: str, n: int, whole: Whole, figures: Figures) -> SliceRow:
    binary = collapsed(whole, figures.bad)
    first = figures.measure({"percent": PERCENT, "kappa": KAPPA}, whole)
    second = figures.measure({"precision": detection.PRECISION, "recall": detection.RECALL}, binary)
    used = sum(map(bool, whole.total.raw.columns))
    return SliceRow(
        key=key,
        n=n,
        clusters=whole.groups,
        percent=first["percent"],
        cohen_kappa=first["kappa"] if used > 1 else None,
        recall=second["recall"],
        precision=second["precision"],
    )


def progress(compared: Compared, said: Said) -> ProgressReport:
    """Say how the watched figure narrowed as labels came, and how many are still needed."""
    figures = compared.figures
    wanted = figures.settings.target
    units = compared.units
    looks = _milestones(len(units))
    order = _in_order(compared.inside, said.came)
    tables = list(figures.growing(units, order, looks)) or [compared.part]
    last = figures.one(KAPPA, tables[-1])
    name, statistic = "cohen_kappa", KAPPA
    if last.value is None:
        name, statistic = "percent", PERCENT
        last = figures.one(PERCENT, tables[-1])
    history = []
    for labels, whole in zip(looks, tables, strict=False):
        found = last if whole is tables[-1] else figures.one(statistic, whole)
        history.append(ProgressPoint(labels, found.value, found.ci_low, found.ci_high))
    half = _half_width(last)
    rows = compared.whole.total.raw.rows
    bad = sum(rows[figures.categories.index(name)] for name in figures.bad)
    return ProgressReport(
        target=name,
        target_half_width=wanted,
        half_width=half,
        needed=None if half is None else labels_still_needed(len(units), half, wanted),
        stop=half is not None
        and half <= wanted
        and last.clusters >= FEWEST_GROUPS
        and bad >= FEWEST_BAD,
        history=tuple(history),
    )


def _in_order(claims: ClaimColumns, came: Sequence[int]) -> Sequence[int]:
    """Give the places of claims by when they were labelled.

    Those that came at once are in the order of the claims.
    """
    if all(map(lt, came, islice(came, 1, None))):
        return range(len(came))  # labelled from first to last
    places = sorted(range(len(came)), key=claims.claim.__getitem__)
    places.sort(key=came.__getitem__)
    return places


def _half_width(found: Estimate) -> float | None:
    if found.ci_low is None or found.ci_high is None:
        return None
    return (found.ci_high - found.ci_low) / 2


def _milestones(n: int) -> list[int]:
    """Numbers of labels to look at: every 25 at first, later further apart, and all of them."""
    if not n:
        return []
    step = max(25, -(-n // (25 * MOST_POINTS)) * 25)
    return [*range(step, n, step), n]
