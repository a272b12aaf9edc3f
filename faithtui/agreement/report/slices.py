"""Agreement by parts of the claims: where the judge goes wrong."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from heapq import nsmallest

import numpy as np

from faithtui.agreement.labelled_units import MetadataValues
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.compute import FigureContext, UnitColumns
from faithtui.agreement.report.figures.annotators import ReviewerLabels
from faithtui.agreement.report.model import (
    Breakdown,
    Slice,
    SliceRow,
)
from faithtui.agreement.statistics import detection
from faithtui.agreement.statistics.coefficients import KAPPA, PERCENT
from faithtui.agreement.statistics.figures import estimate_each_group
from faithtui.agreement.statistics.matrices import GroupedMatrix, Ints
from faithtui.domain.estimates import make_withheld_estimate
from faithtui.domain.withheld_reasons import WithheldReason

FEWEST_UNITS = 10
"""Units of a part below which it has no row."""
MOST_SLICES = 500
"""Parts of a breakdown that have a row: of ten thousand conversations nobody reads the best."""


def make_breakdowns(
    compared: ComparedClaims,
    given: ReviewerLabels,
    metric: str,
    model: str,
    metadata: Sequence[MetadataValues] = (),
) -> tuple[Breakdown, ...]:
    """Break agreement down by everything that is known of a unit, worst parts first.

    Args:
        compared: What the figures of the report are about.
        given: Human labels one by one.
        metric: The run's.
        model: The run's judge.
        metadata: Keys of metadata to break down by, too.
    """
    context, units, inside = (
        compared.figure_context,
        compared.compared_label_columns,
        compared.places_in_figures,
    )
    claims = compared.all
    turns, windows = claims.turns, claims.window_counts
    coded = units.select_units(given.coded_claims)
    found = (
        _break_by_conversation(
            claims.conversation_keys.codes[inside],
            claims.conversation_keys.distinct_values,
            units,
            context,
        ),
        _break_down_by_part(
            Slice.TURN,
            turns.codes[inside],
            [f"turn {each + 1}" for each in turns.distinct_values],
            units,
            context,
        ),
        _break_by_verdict(compared),
        _break_down_by_part(
            Slice.WINDOWS, windows.codes[inside], windows.distinct_values, units, context
        ),
        _make_breakdown_of_all_units_as_one(Slice.METRIC, metric, compared),
        _make_breakdown_of_all_units_as_one(Slice.MODEL, model, compared),
        _break_down_by_part(Slice.RATER, given.valid_reviewers, given.names, given.units, context),
        _break_down_by_part(Slice.CODE, given.codes, given.code_names, coded, context),
        *(_break_by_metadata(each, compared) for each in metadata),
    )
    return tuple(each for each in found if each.rows or each.suppressed)


def _make_breakdown_of_all_units_as_one(
    by: Slice, name: str, compared: ComparedClaims
) -> Breakdown:
    """Give all units as one part."""
    n = len(compared.compared_label_columns)
    if n < FEWEST_UNITS:
        return Breakdown(by, (), int(n > 0))
    return Breakdown(
        by,
        (_make_slice_row(name, n, compared.matrix_with_fixed_weights, compared.figure_context),),
        0,
    )


def _break_down_by_part(
    by: Slice, parts: Ints, names: Sequence[Hashable], units: UnitColumns, context: FigureContext
) -> Breakdown:
    """Break units down.

    Args:
        by: What parts are.
        parts: Part of each unit, from 0.
        names: Of the parts, as they are shown; some may have no units.
        units: All of them.
        context: How figures are computed.
    """
    sizes = np.bincount(parts, minlength=len(names))
    shown = np.flatnonzero(sizes >= FEWEST_UNITS)
    place_of = np.full(len(names), -1, np.int64)
    place_of[shown] = np.arange(len(shown))
    wholes = context.count_units_by_part_and_group(units, place_of[parts], len(shown))
    rows = [
        _make_slice_row(str(names[part]), int(sizes[part]), whole, context)
        for part, whole in zip(shown.tolist(), wholes, strict=True)
    ]
    worst = _sort_worst_first(rows)[:MOST_SLICES]
    few = int(((sizes > 0) & (sizes < FEWEST_UNITS)).sum())
    return Breakdown(by, worst, few, len(rows) - len(worst))


def _break_by_conversation(
    parts: Ints, names: Sequence[str], units: UnitColumns, context: FigureContext
) -> Breakdown:
    """Break units down by conversation; only the worst get figures, as there may be many.

    A conversation is of one group, so that its figures have no intervals.
    """
    sizes = np.bincount(parts, minlength=len(names))
    alone = context.count_each_part_as_group(units, parts, len(names))
    # Those of which nothing can be said come last.
    ranks = np.nan_to_num(PERCENT.compute(alone.weighted_by_group), nan=2.0)
    enough = np.flatnonzero(sizes >= FEWEST_UNITS)
    worst = [
        place
        for *_, place in nsmallest(
            MOST_SLICES,
            zip(
                ranks[enough].tolist(),
                [names[place] for place in enough.tolist()],
                enough.tolist(),
                strict=True,
            ),
        )
    ]
    chosen = alone.take_groups(np.array(worst, np.int64))
    two = chosen.collapse_keeping_groups(context.bad)
    columns = [
        estimate_each_group(statistic, groups)
        for statistic, groups in (
            (PERCENT, chosen),
            (KAPPA, chosen),
            (detection.RECALL, two),
            (detection.PRECISION, two),
        )
    ]
    used = ((chosen.unweighted_by_group.columns > 0).sum(axis=0) > 1).tolist()
    counted = (chosen.unweighted_by_group.n > 0).tolist()
    rows = [
        SliceRow(
            names[place], int(sizes[place]), int(counts), percent, kappa if several else None, *rest
        )
        for place, counts, several, percent, kappa, *rest in zip(
            worst, counted, used, *columns, strict=True
        )
    ]
    few = int(((sizes > 0) & (sizes < FEWEST_UNITS)).sum())
    return Breakdown(Slice.CONVERSATION, _sort_worst_first(rows), few, len(enough) - len(rows))


def _break_by_metadata(found: MetadataValues, compared: ComparedClaims) -> Breakdown:
    """Break units down by a key of the metadata.

    A unit is of one part for each value that its conversation has, and of the part "" without any.
    """
    numbers: dict[str, int] = {}
    parts_of = [
        [numbers.setdefault(value, len(numbers)) for value in found.values.get(each) or ("",)]
        for each in compared.all.conversation_ids
    ]
    conversations = compared.all.conversation_numbers[compared.places_in_figures]
    sizes = np.array([len(each) for each in parts_of], np.int64)
    repeated = np.repeat(np.arange(len(conversations)), sizes[conversations])
    parts = [part for each in conversations.tolist() for part in parts_of[each]]
    broken = _break_down_by_part(
        Slice.METADATA,
        np.array(parts, np.int64),
        list(numbers),
        compared.compared_label_columns.select_units(repeated),
        compared.figure_context,
    )
    return replace(broken, metadata_key=found.key)


def _break_by_verdict(compared: ComparedClaims) -> Breakdown:
    """Break agreement down by the judge's label; the matrices have its columns already.

    Recall is withheld: of units that the judge all gave one label it flags every one or none, so it
    would be 1 or 0 whatever the human labels.
    """
    context = compared.figure_context
    sizes = compared.whole_matrix.unweighted_total.judge_totals
    rows = [
        replace(
            row,
            recall=make_withheld_estimate(WithheldReason.NO_VARIATION, row.recall.n, row.clusters),
        )
        for row in (
            _make_slice_row(
                name,
                int(size),
                compared.matrix_with_fixed_weights.keep_judge_category(place),
                context,
            )
            for place, (name, size) in enumerate(zip(context.categories, sizes, strict=True))
            if size >= FEWEST_UNITS
        )
    ]
    few = sum(0 < each < FEWEST_UNITS for each in sizes)
    return Breakdown(Slice.VERDICT, _sort_worst_first(rows), few)


def _sort_worst_first(rows: Iterable[SliceRow]) -> tuple[SliceRow, ...]:
    """Sort parts; those of which nothing can be said come last."""

    def make_sort_key(row: SliceRow) -> tuple[float, str]:
        return 2.0 if row.percent.value is None else row.percent.value, row.key

    return tuple(sorted(rows, key=make_sort_key))


def _make_slice_row(key: str, n: int, whole: GroupedMatrix, context: FigureContext) -> SliceRow:
    figures = context.estimate_figures({"percent": PERCENT, "kappa": KAPPA}, whole)
    detected = context.estimate_figures(
        {"precision": detection.PRECISION, "recall": detection.RECALL},
        whole.collapse_to_two_categories(context.bad),
    )
    used = sum(map(bool, whole.unweighted_total.judge_totals))
    return SliceRow(
        key=key,
        n=n,
        clusters=whole.group_count,
        percent=figures["percent"],
        cohen_kappa=figures["kappa"] if used > 1 else None,
        recall=detected["recall"],
        precision=detected["precision"],
    )
