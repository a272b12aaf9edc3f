"""Point estimates after a few labels, from tables that are counted: intervals take longer."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from faithtui.agreement.labelled_units import ClaimReading
from faithtui.agreement.report.level_figures import Compared, claim_level_report
from faithtui.agreement.report.report import Prepared
from faithtui.agreement.report.report_warnings import headline
from faithtui.agreement.report.values.levels import (
    Agreement,
    ClassReport,
    Coverage,
    Detection,
    Differing,
    LevelReport,
    VerdictCount,
)
from faithtui.agreement.report.values.report import AgreementReport, primary_level
from faithtui.agreement.statistics.table_groups import Grouped
from faithtui.agreement.statistics.tables import StratifiedTable
from faithtui.domain.estimates import Estimate, Reason
from faithtui.domain.label_sets import Polarity

FiguresT = TypeVar("FiguresT", Agreement, ClassReport, Detection)

_STAYS = ("total", "conversations", "groups", "rows", "compared_groups", "missing_verdicts")
"""What a label does not change, or what only a whole count can tell."""


def with_points(
    prepared: Prepared,
    report: AgreementReport,
    before: Sequence[ClaimReading],
    after: Sequence[ClaimReading],
    judge: str = "",
) -> AgreementReport:
    """Bring the figures of claims up to date without intervals.

    The time it takes depends on the number of changed claims alone. Rates, people, parts, scores
    and progress stay as they were.

    Args:
        prepared: What the report was computed from.
        report: As it was.
        before: Claims as they were read for it.
        after: The same claims, as people label them now.
        judge: Name of the judge, for the headline.
    """
    old, new = prepared.read(before), prepared.read(after)
    compared, was = prepared.compared, report.claims
    figures, names = compared.figures, compared.labels.names
    total = compared.whole.total
    parts = list(total.parts)
    for claims, step in ((old, -1), (new, 1)):
        for claim in _small(claims, prepared).inside.rows:
            place = names.index(str(claim.human)) * len(names) + names.index(str(claim.judge))
            if isinstance(total, StratifiedTable):
                stratum = (
                    0 if figures.frame is None else figures.frame.strata.index(str(claim.stratum))
                )
                place += len(total.populations) + stratum * len(names) ** 2
            parts[place] += step
    moved = total.rebuilt(parts)
    whole = Grouped(moved, ((moved.parts, 1),))
    lost = _level(old, prepared, was)
    found = _level(new, prepared, was)
    not_good = tuple(
        label.name for label in compared.labels.labels if label.polarity is not Polarity.GOOD
    )
    level = replace(
        was,
        coverage=_shifted(was.coverage, lost.coverage, found.coverage),
        agreement=_bare(
            replace(figures.agreement(whole), clusters=was.agreement.clusters), was.agreement
        ),
        unjudged=tuple(
            a - b + c for a, b, c in zip(was.unjudged, lost.unjudged, found.unjudged, strict=True)
        ),
        classes=tuple(map(_bare, figures.classes(whole), was.classes)),
        strict=_bare(figures.detection(whole, figures.bad), was.strict),
        lenient=None
        if was.lenient is None
        else _bare(figures.detection(whole, not_good), was.lenient),
        disagreements=_listed(was, lost, found),
    )
    return replace(
        report, claims=level, headline=headline(primary_level(level, report.answers), judge)
    )


def _listed(was: LevelReport, lost: LevelReport, found: LevelReport) -> Differing:
    """List disagreements; the new ones come last until all is read anew."""
    kept, gone, come = (_claims(each) for each in (was, lost, found))
    # A hundred thousand are not looked through unless one of them is gone.
    if gone:
        numbers = {each.claim for each in gone}
        kept = [each for each in kept if each.claim not in numbers]
    return Differing([*kept, *come] if come else kept)


def _claims(level: LevelReport) -> Sequence[ClaimReading]:
    return level.disagreements.claims if isinstance(level.disagreements, Differing) else ()


def _small(claims: Sequence[ClaimReading], prepared: Prepared) -> Compared:
    """Count a few claims as the figures of the report count them."""
    compared = prepared.compared
    return Compared(claims, compared.labels, compared.design, compared.figures.settings)


def _level(claims: Sequence[ClaimReading], prepared: Prepared, was: LevelReport) -> LevelReport:
    """Count a few claims by themselves."""
    return claim_level_report(_small(claims, prepared), prepared.passing, was.unit)


def _bare(found: FiguresT, was: FiguresT) -> FiguresT:
    """Leave intervals out; they are not withheld, they are still to come."""
    changes: dict[str, Any] = {}
    for each in fields(found):
        value, old = getattr(found, each.name), getattr(was, each.name)
        if isinstance(value, Estimate):
            clusters = old.clusters if isinstance(old, Estimate) else value.clusters
            reason = None if value.reason is Reason.TOO_FEW_CLUSTERS else value.reason
            changes[each.name] = replace(value, clusters=clusters, reason=reason)
    return replace(found, **changes)


def _shifted(was: Coverage, lost: Coverage, found: Coverage) -> Coverage:
    """Take counts off and put others in."""
    changes: dict[str, Any] = {
        each.name: getattr(was, each.name) - getattr(lost, each.name) + getattr(found, each.name)
        for each in fields(was)
        if each.name not in (*_STAYS, "by_verdict")
    }
    by_verdict = tuple(
        VerdictCount(
            a.judge,
            a.units,
            a.reviewed - b.reviewed + c.reviewed,
            a.skipped - b.skipped + c.skipped,
        )
        for a, b, c in zip(was.by_verdict, lost.by_verdict, found.by_verdict, strict=True)
    )
    return replace(was, by_verdict=by_verdict, **changes)
