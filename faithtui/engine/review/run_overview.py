"""What the list of runs says of a run beside its row: verdicts, scores, agreement, what to settle.

The counts take milliseconds and are read apart from the figures of agreement, which read every
label of the run. A list asks for both beside the keys, never before its first paint.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from faithtui.agreement.sampling.draw import SampleKind
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import RunId
from faithtui.domain.scores import ScoringRule, make_score, passes_threshold
from faithtui.store.records import LabelCount, RunRow
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.store import Store

BINS = 10
"""Parts of [0, 1] in which scores are counted."""


@dataclass(frozen=True, slots=True)
class RunCounts:
    """What a run came to, as far as its conversations are judged."""

    labels: Mapping[str, LabelCount]
    """Claims and conversations by the judge's label; labels not given are left out."""
    score_bins: tuple[int, ...]
    """Conversations by score, lowest first; the last bin holds 1.0."""
    passed: int | None
    """Conversations that meet the threshold; None: the run has none."""

    @property
    def scored_conversation_count(self) -> int:
        """Conversations with a score."""
        return sum(self.score_bins)


@dataclass(frozen=True, slots=True)
class RunTrust:
    """How far the judge of a run can be trusted, as far as annotators have looked."""

    unit: tuple[str, str]
    """What was compared, one and many."""
    compared: int
    """Units with a verdict of the judge and a human label."""
    labelled: int
    """Units with a human label, compared or not: an answer without claims cannot be."""
    differ: int
    """Of those, the ones on which they differ."""
    kappa: Estimate
    corrected: Estimate
    """Share of the claims that passes, corrected with human labels, whatever was compared; without
    a value where no sample allows it."""
    to_settle: int
    """Claims on which annotators differ, without a final label."""


def count_verdicts_and_scores(store: Store, row: RunRow) -> RunCounts:
    """Count verdicts and scores of a run."""
    return _make_run_counts(
        store.run_contents.count_judge_labels(row.id),
        store.run_contents.count_windowed_scores(row.id),
        row.spec.rule,
    )


def _make_run_counts(
    labels: Mapping[str, LabelCount], scores: Mapping[float, int], rule: ScoringRule
) -> RunCounts:
    bins = [0] * BINS
    for score, count in scores.items():
        # Stored scores are means: 0.3 of three windows may be a little less.
        bins[min(BINS - 1, int(score * BINS + 1e-9))] += count
    passed = None
    if rule.effective_threshold is not None:
        passed = sum(
            count
            for score, count in scores.items()
            if passes_threshold(make_score(score), rule) is True
        )
    return RunCounts(labels, tuple(bins), passed)


def compute_run_trust(store: Store, run: RunId) -> RunTrust:
    """Compute how far the judge of a run can be trusted.

    Reads all labels of the run: a quarter of a second for a thousand answers.

    Raises:
        StoreError: There is no such run.
    """
    # It brings numpy.
    from faithtui.engine.review.reports.agreement_report import compute_run_agreement

    report = compute_run_agreement(store, run).report
    level = report.primary_level_report
    to_settle = 0
    if report.claims.coverage.labelled_by_two_or_more:
        records = store.raters.read_rater_records(run)
        to_settle = sum(each.is_undecided for each in records.claims)
    return RunTrust(
        unit=level.unit,
        compared=level.agreement.n,
        labelled=level.coverage.reviewed,
        differ=level.table.n - level.table.agreed_count,
        kappa=level.cohen_kappa,
        corrected=report.claims.rate.corrected_this_run,
        to_settle=to_settle,
    )


def find_open_sample(samples: Sequence[SampleRow], reviewer: str) -> SampleRow | None:
    """Find the newest sample that an annotator may go on with; None: there is none.

    Args:
        samples: With the progress of that annotator, the newest first.
        reviewer: The annotator: spot-checks and repeats of others are theirs.
    """
    for each in samples:
        mine = each.kind is SampleKind.SAMPLE or each.reviewer == reviewer
        if mine and each.remaining and each.closed_at is None:
            return each
    return None
