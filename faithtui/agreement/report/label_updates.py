"""Figures of a report brought up to date after a few labels, without reading or drawing anew."""

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from faithtui.agreement.labelled_units import (
    ClaimUnit,
)
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.figures.claims_and_answers import (
    count_claim_review_coverage,
    count_unjudged_by_human_label,
)
from faithtui.agreement.report.model import (
    Agreement,
    ClassReport,
    Coverage,
    Detection,
    LazyDisagreements,
    LevelReport,
    VerdictCount,
)
from faithtui.agreement.statistics.matrices import (
    GroupedMatrix,
)
from faithtui.domain.estimates import FEWEST_GROUPS, Estimate, make_withheld_estimate
from faithtui.domain.withheld_reasons import WithheldReason

FiguresT = TypeVar("FiguresT", Agreement, ClassReport, Detection)

_UNCHANGED = (
    *("units", "conversations", "groups", "verdict_rows", "compared_groups"),
    "missing_verdicts",
)
"""What a label does not change, or what only a whole count can tell."""


def update_claim_report_without_intervals(
    compared: ComparedClaims,
    level: LevelReport,
    before: Iterable[ClaimUnit],
    after: Iterable[ClaimUnit],
) -> LevelReport:
    """Bring the figures of claims up to date after a few labels, without intervals.

    The time it takes depends on the number of changed claims alone. The share that passes stays as
    it was.

    Args:
        compared: What the report was computed from.
        level: As it was.
        before: Claims as they were read for it.
        after: The same claims, as annotators label them now.
    """
    context, whole = compared.figure_context, compared.whole_matrix
    old, new = (
        ComparedClaims(tuple(claims), compared.labels, compared.design, compared.settings)
        for claims in (before, after)
    )
    moved = whole.total_counts.copy()
    unfair = None if whole.unfair is None else whole.unfair @ whole.times
    for some, change in ((old, -1), (new, 1)):
        if unfair is not None and some.unfair_and_drawable_counts is not None:
            unfair = unfair + change * some.unfair_and_drawable_counts[0].sum(axis=(1, 2))
        for place in some.places_in_figures.tolist():
            stratum = 0 if context.frame is None else int(some.stratum_place_of_claims[place])
            moved[stratum, some.all.human_labels[place], some.all.judge_labels[place]] += change
    whole = whole.replace_labels_as_single_group(moved, unfair)
    agreement = _withhold_constant_kappa(
        replace(context.compute_agreement(whole), clusters=level.agreement.clusters), whole
    )
    coverage = _update_coverage_counts(
        level.coverage, count_claim_review_coverage(old), count_claim_review_coverage(new)
    )
    return replace(
        level,
        coverage=coverage,
        agreement=_drop_intervals(agreement, level.agreement),
        unjudged=tuple(
            a - b + c
            for a, b, c in zip(
                level.unjudged,
                count_unjudged_by_human_label(old),
                count_unjudged_by_human_label(new),
                strict=True,
            )
        ),
        classes=tuple(
            map(_drop_intervals, context.compute_per_label_figures(whole), level.classes)
        ),
        strict=_drop_intervals(context.compute_detection(whole, compared.bad), level.strict),
        lenient=None
        if level.lenient is None
        else _drop_intervals(context.compute_detection(whole, compared.not_good), level.lenient),
        disagreements=_list_disagreements_after_change(level, old, new),
    )


def _withhold_constant_kappa(agreement: Agreement, whole: GroupedMatrix) -> Agreement:
    """Withhold kappa where one side gives all units one label.

    `make_estimate_with_jackknife_interval` does the same. It is 0 then, and stays 0 whichever group
    is left out.
    """
    margins = (whole.weighted_total_stack.rows, whole.weighted_total_stack.columns)
    if agreement.clusters < FEWEST_GROUPS or all((each > 0).sum() > 1 for each in margins):
        return agreement
    kappas = ("cohen_kappa", "weighted_kappa")
    found = {name: getattr(agreement, name) for name in kappas}
    changes: dict[str, Any] = {
        name: make_withheld_estimate(WithheldReason.NO_VARIATION, each.n, agreement.clusters)
        for name, each in found.items()
        if each is not None and each.value is not None
    }
    return replace(agreement, **changes)


def _list_disagreements_after_change(
    level: LevelReport, old: ComparedClaims, new: ComparedClaims
) -> LazyDisagreements:
    """List disagreements; the new ones come last until all is read anew."""
    kept = level.disagreements.claims if isinstance(level.disagreements, LazyDisagreements) else ()
    gone, come = (
        [
            each.all.rows[place]
            for place in np.flatnonzero(
                each.is_compared & (each.all.human_labels != each.all.judge_labels)
            ).tolist()
        ]
        for each in (old, new)
    )
    # A hundred thousand are not looked through unless one of them is gone.
    if gone:
        numbers = {each.claim for each in gone}
        kept = [each for each in kept if each.claim not in numbers]
    return LazyDisagreements([*kept, *come] if come else kept)


def _drop_intervals(found: FiguresT, was: FiguresT) -> FiguresT:
    """Leave intervals out; they are not withheld, they are still to come."""
    changes: dict[str, Any] = {}
    for each in fields(found):
        value, old = getattr(found, each.name), getattr(was, each.name)
        if isinstance(value, Estimate):
            clusters = old.clusters if isinstance(old, Estimate) else value.clusters
            reason = None if value.reason is WithheldReason.TOO_FEW_CLUSTERS else value.reason
            changes[each.name] = Estimate(value.value, value.status, value.n, clusters, reason)
    return replace(found, **changes)


def _update_coverage_counts(was: Coverage, lost: Coverage, found: Coverage) -> Coverage:
    """Take counts off and put others in."""
    changes: dict[str, Any] = {
        each.name: getattr(was, each.name) - getattr(lost, each.name) + getattr(found, each.name)
        for each in fields(was)
        if each.name not in (*_UNCHANGED, "by_verdict")
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
