"""How a session goes on, in a line: what is left, the pace, labels of today, self-agreement."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithtui.agreement.report.figures.rater_comparison import RepeatedLabel
from faithtui.engine.review.samples.sample_queues import QueueProgress
from faithtui.store.annotations.session_counts import SessionCounts
from faithtui.tui.samples.sample_lines import (
    KINDS,
    describe_confidence_sequences_briefly,
    describe_labels_needed,
    describe_pace_and_time_left,
)
from faithtui.tui.theme import format as fmt

if TYPE_CHECKING:
    from faithtui.agreement.report.model import ConfidenceSequences


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What is known of a session."""

    counts: SessionCounts
    progress: QueueProgress | None = None
    """Of the sample that is worked through."""
    repeats: Sequence[RepeatedLabel] = ()
    """The annotator's own second labels."""
    sequences: "ConfidenceSequences | None" = None
    """Of the sample; None where there are none."""


def describe_session_progress(
    facts: SessionFacts, left: int, where: str, *, has_timer: bool
) -> str:
    """Say how a session goes on, the weightiest first: the line leaves out parts at its end.

    Args:
        facts: What is known.
        left: Claims without a verdict, where no sample is worked through.
        where: What they are left in, such as `here`.
        has_timer: Say the pace and the time that is left.
    """
    progress = facts.progress
    if progress is None:
        parts = [f"{fmt.format_count(left)} left {where}"] if left else []
        parts += describe_pace_and_time_left(facts.counts.pace_s, left) if has_timer else []
    else:
        parts = _list_sample_parts(progress, facts.sequences, has_timer=has_timer)
    if facts.counts.labelled:
        parts.append(f"{fmt.format_count(facts.counts.labelled)} today")
    if facts.repeats:
        same = sum(each.first == each.second for each in facts.repeats)
        parts.append(f"self-agreement {same}/{len(facts.repeats)}")
    return " · ".join(parts)


def _list_sample_parts(
    progress: QueueProgress, sequences: "ConfidenceSequences | None", *, has_timer: bool
) -> list[str]:
    """Say how a sample goes on, the weightiest first."""
    row = progress.row
    mode = "blind " if row.blind else ""
    timer = describe_pace_and_time_left(row.pace_s, row.remaining) if has_timer else []
    parts = [f"{mode}{KINDS[row.kind]} {row.answered}/{row.size}", *timer[1:]]
    if progress.needed is not None:
        parts.append(describe_labels_needed(progress))
    if row.skipped:
        parts.append(f"{row.skipped} skipped")
    # First, as a narrow line keeps one part, and how far the sample is stands in the title too.
    known = [] if sequences is None else [describe_confidence_sequences_briefly(sequences)]
    return [*known, *parts, *timer[:1]]
