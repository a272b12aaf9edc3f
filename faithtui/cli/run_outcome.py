"""How a run stands for whoever started it: the exit code, its score, and the way to go on."""

from collections.abc import Iterable, Mapping
from typing import Final

from faithtui.cli.output import plural
from faithtui.domain.judging.error_sentences import is_failure_permanent
from faithtui.domain.labels.label_sets import Polarity, format_label_count
from faithtui.domain.scores import format_parts_left_out_of_mean
from faithtui.errors import JudgeError
from faithtui.metrics.registry import find_metric
from faithtui.store.records import LabelCount, RunRow, RunState

DONE: Final = 0
INCOMPLETE: Final = JudgeError.exit_code
"""Something failed, lacks a verdict, or was not judged."""
WAITS: Final = 8
"""Its questions are with a provider, or in a file."""

_GRAVITY: Final = (DONE, WAITS, INCOMPLETE)


def choose_exit_code(row: RunRow) -> int:
    """Say what a command ends with that worked on a run."""
    if row.state is RunState.WAITING:
        return WAITS
    if row.state is not RunState.DONE or is_done_with_failures_or_gaps(row):
        return INCOMPLETE
    return DONE


def is_done_with_failures_or_gaps(row: RunRow) -> bool:
    """Whether a run came to its end, and something of it failed or lacks a verdict."""
    return row.state is RunState.DONE and bool(row.failed or row.incomplete)


def format_run_state(row: RunRow) -> str:
    """Name where a run stands, as the sentence at its end does."""
    return "incomplete" if is_done_with_failures_or_gaps(row) else row.state.value


def choose_gravest_code(codes: Iterable[int]) -> int:
    """Choose the exit code of several runs: what is incomplete counts more than what waits."""
    return max(codes, key=_GRAVITY.index, default=DONE)


def format_resume_hint(row: RunRow, failures: Mapping[str, int]) -> str | None:
    """Say in a sentence what is left of a run and which command takes it up; None: nothing.

    Args:
        row: The run.
        failures: How many of its conversations failed, by reason.
    """
    resume = f"faithtui run --resume {row.id}"
    match row.state:
        case RunState.WAITING:
            return f"run {row.id} waits: {row.reason}; come back with {resume}"
        case RunState.DONE:
            return _format_failures_and_resume_sentence(row, failures, resume)
        case RunState.INTERRUPTED:
            return (
                f"run {row.id} was interrupted: its process ended without finishing "
                f"it. All replies are stored, {resume} resumes it"
            )
        case RunState.STOPPED:
            return f"run {row.id} stopped: {row.reason}. {resume} resumes it"
        case RunState.CANCELLED:
            return f"run {row.id} was cancelled; all replies are stored, {resume} resumes it"
        case _:
            return None


def _format_failures_and_resume_sentence(
    row: RunRow, failures: Mapping[str, int], resume: str
) -> str | None:
    parts = []
    if row.failed:
        parts.append(f"{plural(row.failed, 'conversation')} failed")
    if row.incomplete:
        parts.append(format_missing_verdicts(row))
    if not parts:
        return None
    words = f"run {row.id} is incomplete: {', '.join(parts)}; see faithtui show {row.id}"
    lasting = sum(count for reason, count in failures.items() if is_failure_permanent(reason))
    if lasting == row.failed and not row.incomplete:
        return f"{words}. Asking again would change nothing: another judge or metric may do"
    words += f", ask for it again with {resume}"
    return words + (f"; {lasting} would fail again" if lasting else "")


def format_nothing_judged(row: RunRow, skipped: Mapping[str, int]) -> str | None:
    """Say that a run is done and judged no conversation, which is no failure; None: it did judge.

    Args:
        row: The run.
        skipped: How many of its conversations were skipped, by reason.
    """
    if choose_exit_code(row) != DONE or row.done:
        return None
    why = ", ".join(f"{count:,} skipped: {reason}" for reason, count in skipped.items())
    return (
        f"run {row.id} judged nothing: {why}. That is no failure (exit code 0), and "
        "`faithtui gate last` refuses it"
    )


def format_missing_verdicts(row: RunRow) -> str:
    """Say what is without a verdict in a run that lacks some: `1 claim without a verdict`."""
    if row.missing_verdicts:
        one, many = find_metric(row.spec.metric).spec.units
        count = row.missing_verdicts
        return f"{count:,} {one if count == 1 else many} without a verdict"
    # Each claim has one somewhere, and a window that shows it too has none.
    return f"{plural(row.incomplete, 'conversation')} with a window that lacks a verdict"


def format_claim_counts(row: RunRow, labels: Mapping[str, LabelCount]) -> str:
    """Say how many claims a run has and how often each verdict was given: `9 claims: 8 yes, 1 no`.

    Args:
        row: The run.
        labels: Its claims by the judge's label.
    """
    spec = find_metric(row.spec.metric).spec
    one, many = spec.units
    words = f"{row.claims:,} {one if row.claims == 1 else many}"
    given = [
        format_label_count(name, labels[name].claims)
        for name in spec.labels.names
        if name in labels
    ]
    return f"{words}: {', '.join(given)}" if given else words


def format_pass_of_unsure_claims(row: RunRow, labels: Mapping[str, LabelCount]) -> str | None:
    """Say that claims the judge was unsure of pass, and how to change it; None: there is none.

    Args:
        row: The run.
        labels: Its claims by the judge's label.
    """
    unsure = [
        each.name
        for each in find_metric(row.spec.metric).spec.labels.labels
        if each.polarity is Polarity.UNSURE
        and each.name in labels
        and each.name in row.spec.rule.passing
    ]
    if not unsure:
        return None
    words = f"{' and '.join(unsure)} counts as a pass in the score"
    if "penalize_ambiguous_claims" not in row.spec.options:
        return words
    return f"{words}; as a fail: --option penalize_ambiguous_claims=true"


def format_mean_score_phrases(row: RunRow) -> list[str]:
    """Say a run's mean score, of how many conversations it is, and what it leaves out."""
    score = "no score"
    if row.score is not None:
        score = f"mean score {row.score:.2f}"
        if row.scored < row.done:
            score += f" over {row.scored:,} of {plural(row.done, 'conversation')}"
    left_out = format_parts_left_out_of_mean(
        row.undefined_windows, row.skipped_windows, row.windows
    )
    return [score, left_out] if left_out else [score]
