"""What can be done next with a run, most urgent first. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithtui.domain.integrity.run_summary import Soundness
from faithtui.domain.labels.label_sets import Polarity
from faithtui.store.runs.run_records import RunRow, RunState
from faithtui.tui.metric_words import format_unit_count
from faithtui.tui.theme import format as fmt

if TYPE_CHECKING:
    from faithtui.engine.review.run_overview import RunCounts, RunTrust
    from faithtui.metrics.base import MetricSpec
    from faithtui.store.samples.sample_records import SampleRow


WRITING_ACTIONS = frozenset(
    {
        "new_run",
        "resume",
        "retry",
        "archive_or_restore",
        "undo_archiving",
        "redo_archiving",
        "offer_spot_check",
    }
)
"""What nobody can do in a store that can only be read."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """Something that can be done next."""

    key: str
    """Id of the binding that does it."""
    action: str
    """The same as an action of the screen."""
    words: str
    is_urgent: bool = False
    """The run's figures are not to be used before."""


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """What was drawn from a run, as a reviewer sees it."""

    open_sample: "SampleRow | None"
    """The newest sample in which the reviewer has claims left."""
    has_samples: bool
    spot_check_size: int
    """Claims of a spot-check."""
    pace_s: float
    """Seconds a claim takes the reviewer."""


@dataclass(frozen=True, slots=True)
class RunKnowledge:
    """What is known of a run beside its row; None: not read yet, or not to be had."""

    counts: "RunCounts | None" = None
    trust: "RunTrust | None" = None
    queues: "QueueFacts | None" = None
    is_under_way: bool = False
    """This process works on it."""
    has_sibling: bool = False
    """Another run of the metric is listed."""
    blind: bool = False
    """Nothing may be shown that was chosen by what the judge said."""


def list_next_steps(row: RunRow, spec: "MetricSpec", known: RunKnowledge) -> tuple[NextStep, ...]:
    """List what can be done next with a run, most urgent first."""
    return (*_list_completion_steps(row, spec, known), *_list_label_steps(row, spec, known))


def _list_completion_steps(
    row: RunRow, spec: "MetricSpec", known: RunKnowledge
) -> Iterator[NextStep]:
    """List what is to be done before the run is complete, and its figures sound."""
    if known.is_under_way or row.state is RunState.RUNNING:
        judged = f"{row.conversations - row.pending} of {row.conversations} conversations judged"
        yield NextStep("runs.progress", "screen('progress')", f"watch it: {judged}")
    elif row.pending and row.state is RunState.PLANNED:
        words = f"start it: {fmt.format_count_with_noun(row.pending, 'conversation')} to judge"
        yield NextStep("runs.continue", "resume", words, is_urgent=True)
    elif row.pending:
        words = f"resume: {row.pending} of {row.conversations} conversations left, "
        words += "nothing is asked twice"
        yield NextStep("runs.continue", "resume", words, is_urgent=True)
    if known.is_under_way:
        return
    if row.failed or row.incomplete:
        lacking = [
            *(
                [fmt.format_count_with_noun(row.failed, "failed conversation")]
                if row.failed
                else ()
            ),
            *([f"{row.incomplete} that lack a verdict"] if row.incomplete else ()),
        ]
        words = f"ask again: {' and '.join(lacking)}"
        yield NextStep("runs.retry", "retry", words, is_urgent=True)
    if row.integrity.soundness is Soundness.SUSPECT:
        words = "see what looks wrong before you use the score"
        yield NextStep("go.integrity", "screen('integrity')", words, is_urgent=True)
    elif row.integrity.soundness is Soundness.UNCHECKED and row.done:
        words = "check the judge's replies for what looks wrong"
        yield NextStep("go.integrity", "screen('integrity')", words)


def _list_label_steps(row: RunRow, spec: "MetricSpec", known: RunKnowledge) -> Iterator[NextStep]:
    """List what tells more about the judge."""
    trust, queues = known.trust, known.queues
    if trust is not None and trust.to_settle and not known.blind:
        words = f"settle {format_unit_count(trust.to_settle, spec)} on which annotators differ"
        yield NextStep("go.adjudicate", "screen('adjudicate')", words)
    if queues is not None and queues.open_sample is not None:
        sample = queues.open_sample
        words = f"resume the sample: {sample.remaining} of {sample.size} {spec.units[1]} left"
        words += f", about {_format_minutes(sample.remaining * queues.pace_s)}"
        yield NextStep("go.queues", "screen('queues')", words)
    elif queues is not None and row.labelled < row.claims:
        if not queues.has_samples:
            count = min(queues.spot_check_size, row.claims)
            words = f"spot-check {count} random {spec.units[count != 1]}, blind, "
            words += f"about {_format_minutes(count * queues.pace_s)}"
            yield NextStep("runs.spot-check", "offer_spot_check", words)
        elif trust is not None and trust.corrected.value is None:
            words = f"draw a random sample of {spec.units[1]}: it allows a corrected rate"
            yield NextStep("go.queues", "screen('queues')", words)
    if not known.blind:
        yield from _list_judge_verdict_steps(spec, known)
    if row.done:
        if row.spec.judge == "offline":
            words = "run a model as the judge on the same data"
            yield NextStep("runs.new", "new_run", words)
        elif not known.has_sibling:
            yield NextStep("runs.new", "new_run", "run a second judge on the same data")
    if trust is not None and trust.compared and not known.blind:
        words = "write the report: HTML, Markdown, JSON, CSV"
        yield NextStep("runs.export", "export", words)


def _list_judge_verdict_steps(spec: "MetricSpec", known: RunKnowledge) -> Iterator[NextStep]:
    """List what the judge's verdicts themselves point at."""
    bad = [each.name for each in spec.labels.labels if each.polarity is Polarity.BAD]
    counts, trust = known.counts, known.trust
    for label in bad[:1]:
        found = None if counts is None else counts.labels.get(label)
        if found is not None:
            words = fmt.format_count_with_noun(found.conversations, "conversation")
            words = f"review {words} with a «{label}»"
            yield NextStep("runs.failing", "show_failing", words)
    if trust is not None and trust.differ:
        units = trust.unit[trust.differ != 1]
        words = f"see {fmt.format_count(trust.differ)} {units} where annotators and judge differ"
        yield NextStep("runs.agreement", "screen('agreement')", words)


def _format_minutes(seconds: float) -> str:
    return f"{max(1, round(seconds / 60))} min"
