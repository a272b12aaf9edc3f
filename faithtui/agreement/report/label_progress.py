"""How the interval of agreement narrowed as labels came, and how many are still needed."""

from collections.abc import Sequence

import numpy as np

from faithtui.agreement.report.claim_columns import ComparedClaims, select_by_position
from faithtui.agreement.report.figures.annotators import ReviewerLabels
from faithtui.agreement.report.figures.sequential_intervals import make_confidence_sequences
from faithtui.agreement.report.model import ProgressPoint, ProgressReport
from faithtui.agreement.sampling.stopping_rules import estimate_labels_needed
from faithtui.agreement.statistics.coefficients import KAPPA, PERCENT
from faithtui.agreement.statistics.figures import estimate_figure
from faithtui.domain.estimates import Estimate

_MOST_DRAWN_LABELS = 1_000
"""Labels up to which the interval of a point in the progress is drawn too; of more, leaving out
groups alone holds, and draws would take longer than the rest of a report."""
MOST_PROGRESS_POINTS = 8
FEWEST_GROUPS_TO_STOP = 20
FEWEST_BAD = 10
"""What an interval needs before it may say that it is narrow enough."""


def compute_interval_progress(
    compared: ComparedClaims, given: ReviewerLabels, passing: Sequence[str]
) -> ProgressReport:
    """Say how the watched figure narrowed as labels came, and how many are still needed.

    Args:
        compared: What the figures of the report are about.
        given: Human labels one by one.
        passing: Labels that count as a pass.
    """
    context, units, level = (
        compared.figure_context,
        compared.compared_label_columns,
        compared.settings.level,
    )
    wanted = compared.settings.target
    looks = _choose_progress_label_counts(len(units))
    # Claims that were labelled at once are in the order of their numbers.
    labelled = select_by_position(compared.all.rows, compared.places_in_figures)
    numbers = np.fromiter((each.claim for each in labelled), np.int64, len(labelled))
    order = np.lexsort((numbers, given.last_log_places))
    wholes = context.count_growing_subsets_by_group(units, order, looks) or [
        compared.matrix_with_fixed_weights
    ]
    last = estimate_figure(KAPPA, wholes[-1], level)
    name, statistic = "cohen_kappa", KAPPA
    if last.value is None:
        name, statistic = "percent", PERCENT
        last = estimate_figure(PERCENT, wholes[-1], level)
    history = []
    for labels, whole in zip(looks, wholes, strict=False):
        found = (
            context.estimate_figures({name: statistic}, whole)[name]
            if labels <= _MOST_DRAWN_LABELS
            else estimate_figure(statistic, whole, level)
        )
        history.append(ProgressPoint(labels, found.value, found.ci_low, found.ci_high))
    # The last point is the figure that the report shows.
    last = context.estimate_figures({name: statistic}, compared.whole_matrix)[name]
    if history:
        history[-1] = ProgressPoint(looks[-1], last.value, last.ci_low, last.ci_high)
    half = _compute_half_width(last)
    rows = compared.whole_matrix.unweighted_total.reference_totals
    bad = sum(rows[context.categories.index(name)] for name in context.bad)
    return ProgressReport(
        target=name,
        target_half_width=wanted,
        half_width=half,
        labels_still_needed=None
        if half is None
        else min(
            int(compared.all.is_unreviewed.sum()), estimate_labels_needed(len(units), half, wanted)
        ),
        stop=half is not None
        and half <= wanted
        and last.clusters >= FEWEST_GROUPS_TO_STOP
        and bad >= FEWEST_BAD,
        history=tuple(history),
        sequences=make_confidence_sequences(compared, passing),
    )


def _compute_half_width(found: Estimate) -> float | None:
    if found.ci_low is None or found.ci_high is None:
        return None
    return (found.ci_high - found.ci_low) / 2


def _choose_progress_label_counts(n: int) -> list[int]:
    """Numbers of labels to look at: every 25 at first, later further apart, and all of them."""
    if not n:
        return []
    step = max(25, -(-n // (25 * MOST_PROGRESS_POINTS)) * 25)
    return [*range(step, n, step), n]
