"""Reading what is compared: the claims that annotators and judges gave words on, and figures."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithtui.agreement.report.figures.rater_comparison import (
    ClaimOpinions,
    ComparisonFilter,
    RaterComparison,
    matches_filter,
)
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.store.annotations.raters import RaterRecords
from faithtui.store.store import Store
from faithtui.tui.metric_words import get_metric_spec

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec


@dataclass(frozen=True, slots=True)
class LoadedComparison:
    """Everything that is compared, as it was read; nothing without a run."""

    compared: RaterRecords | None = None
    spec: "MetricSpec | None" = None
    raters: RaterComparison | None = None
    listed: tuple[ClaimOpinions, ...] = ()


def read_comparison(store: Store, run: RunId, chosen: ComparisonFilter) -> LoadedComparison:
    """Read and compute what is compared in a run. Meant for a thread.

    Args:
        store: Where the run is.
        run: The run whose claims are listed.
        chosen: Which of them are.

    Raises:
        StoreError: There is no such run, or a label or a verdict is not what was written.
    """
    store.refuse_corrupted_rows_unless_checked_before()
    compared = store.raters.read_rater_records(run)
    spec = get_metric_spec(compared.run.spec)
    # It brings numpy.
    from faithtui.agreement.report.compare import compare_raters, compute_self_agreement

    again = compute_self_agreement(compared.repeats, (*spec.labels.names, NOT_A_CLAIM))
    found = compare_raters(compared.claims, compared.run_ids, spec.labels, again)
    claims = (
        store.raters.read_judge_disagreements(run)
        if chosen is ComparisonFilter.JUDGES
        else compared.claims
    )
    listed = tuple(each for each in claims if matches_filter(each, chosen, run))
    return LoadedComparison(compared, spec, found, listed)
