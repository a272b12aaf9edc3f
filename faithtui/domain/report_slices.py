"""Where the judge goes wrong, and how far labelling is: parts and prefixes of the same units."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from faithtui.domain import detection
from faithtui.domain.agreement import KAPPA, PERCENT
from faithtui.domain.estimates import Estimate
from faithtui.domain.readings import ClaimReading
from faithtui.domain.report_people import own_opinions
from faithtui.domain.report_tables import Figures, Unit, collapsed
from faithtui.domain.report_values import (
    Breakdown,
    ProgressPoint,
    ProgressReport,
    Slice,
    SliceRow,
)
from faithtui.domain.stopping import labels_still_needed

LEAST = 10
"""Units of a part below which it has no row."""
MOST_PARTS = 500
"""Parts of a breakdown that have a row: of ten thousand conversations nobody reads the best."""
MOST_POINTS = 12
FEWEST_GROUPS = 20
FEWEST_BAD = 10
"""What an interval needs before it may say that it is narrow enough."""

Keyed = tuple[str, Unit]


def breakdowns(
    claims: Sequence[ClaimReading], figures: Figures, metric: str, model: str
) -> tuple[Breakdown, ...]:
    """Break agreement down by everything that is known of a unit, worst parts first.

    Args:
        claims: Compared ones that the figures of the report are about.
        figures: How they are computed.
        metric: The run's.
        model: The run's judge.
    """
    units = [
        Unit(claim.group, str(claim.human), str(claim.judge), claim.stratum) for claim in claims
    ]
    keys: dict[Slice, Callable[[ClaimReading], str]] = {
        Slice.CONVERSATION: lambda claim: claim.key,
        Slice.TURN: lambda claim: f"turn {claim.turn + 1}",
        Slice.VERDICT: lambda claim: str(claim.judge),
        Slice.WINDOWS: lambda claim: str(claim.windows),
    }
    found = [
        _breakdown(by, zip(map(key, claims), units, strict=True), figures)
        for by, key in keys.items()
    ]
    whole = _breakdown(Slice.METRIC, ((metric, unit) for unit in units), figures)
    found += [
        whole,
        Breakdown(
            Slice.MODEL, tuple(replace(row, key=model) for row in whole.rows), whole.suppressed
        ),
    ]
    by_rater = [
        (
            opinion.reviewer,
            Unit(claim.group, opinion.verdict, str(claim.judge), claim.stratum),
        )
        for claim in claims
        for opinion in own_opinions(claim)
        if opinion.verdict in figures.categories
    ]
    by_code = [
        (opinion.code, unit)
        for claim, unit in zip(claims, units, strict=True)
        for opinion in claim.opinions
        if opinion.code is not None
    ]
    found.append(_breakdown(Slice.RATER, by_rater, figures))
    found.append(_breakdown(Slice.CODE, by_code, figures))
    return tuple(each for each in found if each.rows or each.suppressed)


def _breakdown(by: Slice, units: Iterable[Keyed], figures: Figures) -> Breakdown:
    parts: dict[str, list[Unit]] = defaultdict(list)
    for key, unit in units:
        parts[key].append(unit)
    enough = {key: own for key, own in parts.items() if len(own) >= LEAST}
    shares = {key: _share(own, figures) for key, own in enough.items()}
    worst = sorted(enough, key=lambda key: (shares[key], key))[:MOST_PARTS]
    rows = [_row(key, enough[key], figures) for key in worst]
    rows.sort(key=lambda row: (row.percent.value if row.percent.value is not None else 2, row.key))
    return Breakdown(by, tuple(rows), len(parts) - len(enough), len(enough) - len(rows))


def _share(own: Sequence[Unit], figures: Figures) -> float:
    """Compute how far a part agrees, only to find the worst ones; 2 where it cannot be said."""
    if figures.frame is None:
        return sum(unit.reference == unit.rated for unit in own) / len(own)
    known = figures.frame.weights
    weighed = [
        (known[unit.stratum], unit.reference == unit.rated)
        for unit in own
        if unit.stratum is not None and unit.stratum in known
    ]
    whole = sum(weight for weight, _ in weighed)
    return sum(weight for weight, same in weighed if same) / whole if whole else 2.0


def _row(key: str, own: Sequence[Unit], figures: Figures) -> SliceRow:
    whole = figures.part(own)
    binary = collapsed(whole, figures.bad)
    first = figures.measure({"percent": PERCENT, "kappa": KAPPA}, whole)
    second = figures.measure({"precision": detection.PRECISION, "recall": detection.RECALL}, binary)
    return SliceRow(
        key=key,
        n=len(own),
        clusters=whole.groups,
        percent=first["percent"],
        cohen_kappa=first["kappa"] if len({unit.rated for unit in own}) > 1 else None,
        recall=second["recall"],
        precision=second["precision"],
    )


def progress(claims: Sequence[ClaimReading], figures: Figures) -> ProgressReport:
    """Say how the watched figure narrowed as labels came, and how many are still needed.

    Args:
        claims: Compared ones that the figures of the report are about.
        figures: How they are computed.
    """
    wanted = figures.settings.target
    ordered = sorted(claims, key=_labelled_at)
    units = [
        Unit(claim.group, str(claim.human), str(claim.judge), claim.stratum) for claim in ordered
    ]
    looks = _milestones(len(units))
    tables = list(figures.growing(units, looks)) or [figures.part(units)]
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
    groups = len({unit.group for unit in units})
    bad = sum(unit.reference in figures.bad for unit in units)
    return ProgressReport(
        target=name,
        target_half_width=wanted,
        half_width=half,
        needed=None if half is None else labels_still_needed(len(units), half, wanted),
        stop=half is not None and half <= wanted and groups >= FEWEST_GROUPS and bad >= FEWEST_BAD,
        history=tuple(history),
    )


def _labelled_at(claim: ClaimReading) -> tuple[int, int]:
    """When the last verdict came that the consensus rests on; then the order of the claims."""
    return max((each.order for each in claim.opinions), default=0), claim.claim


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
