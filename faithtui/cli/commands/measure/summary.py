"""What a command says at the end of measuring shards: a sentence, JSON, and the exit code."""

from faithtui.cli.output import plural, print_text, print_to_stderr
from faithtui.cli.run_outcome import DONE, INCOMPLETE, WAITS
from faithtui.domain.json_values import JsonFields, value_json
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.engine.shards.measure_shards import MeasureSummary

_MOST_PROBLEMS = 10
"""Shards whose problem is shown; a wrong format is that of thousands of files."""

_MOST_FAILURES = 3
"""Shards of which one failed conversation is shown; their rows have the reason of each."""


def choose_exit_code_of_shards(summary: MeasureSummary) -> int:
    """Say what the command ends with."""
    codes = [each.error_code for each in summary.outcomes if each.error_code]
    if codes:
        return codes[0]
    if summary.waiting:
        return WAITS
    if summary.failed or summary.incomplete or not summary.is_whole:
        return INCOMPLETE
    return DONE


def print_summary(summary: MeasureSummary, *, with_line: bool) -> None:
    """Say what became of the shards.

    Args:
        summary: What became of them.
        with_line: Whether the sentence goes to stdout; problems go to stderr in any case.
    """
    problems = [each for each in summary.outcomes if each.problem is not None]
    for each in problems[:_MOST_PROBLEMS]:
        print_to_stderr(make_visible_line(f"shard {each.shard}: {each.problem}"))
    if len(problems) > _MOST_PROBLEMS:
        more = plural(len(problems) - _MOST_PROBLEMS, "more shard")
        print_to_stderr(f"{more} with a problem; --json has the reason of each")
    failures = [each for each in summary.outcomes if each.first_failure and not each.problem]
    for each in failures[:_MOST_FAILURES]:
        reason = f"shard {each.shard}: {each.failed:,} failed, such as {each.first_failure}"
        print_to_stderr(make_visible_line(reason))
    if with_line:
        print_text(make_visible_line(_format_totals(summary)))
    if summary.waiting:
        print_to_stderr(
            f"{plural(summary.waiting, 'question')} in files; put the answers into the folder "
            "`answers` beside them, under the same names, and give the same command again"
        )
    elif not summary.is_whole:
        print_to_stderr("the same command goes on where this one stopped, and buys no reply again")


def summary_to_json(summary: MeasureSummary) -> JsonFields:
    """Give everything as JSON values."""
    return {
        "results": str(summary.results),
        "shards": summary.shards,
        "whole": summary.whole,
        "conversations": summary.conversations,
        "conversations_before": summary.conversations_before,
        "failed": summary.failed,
        "incomplete": summary.incomplete,
        "waiting": summary.waiting,
        "calls": summary.calls,
        "cost_usd": summary.cost_usd,
        "outcomes": value_json(summary.outcomes),
    }


def _format_totals(summary: MeasureSummary) -> str:
    parts = [
        f"{summary.whole:,} of {plural(summary.shards, 'shard')} whole in {summary.results}",
        _format_measured_counts(summary) if summary.outcomes else "nothing was left to measure",
    ]
    if summary.failed:
        parts.append(f"{summary.failed:,} failed, with the reason in their rows")
    if summary.incomplete:
        parts.append(f"{summary.incomplete:,} without all verdicts")
    if summary.calls:
        cost = "price unknown" if summary.cost_usd is None else f"${summary.cost_usd:.4f}"
        parts.append(f"{plural(summary.calls, 'call')}, {cost}")
    return "; ".join(parts)


def _format_measured_counts(summary: MeasureSummary) -> str:
    before = summary.conversations_before
    now = plural(summary.conversations - before, "conversation")
    found = f"{now} of {plural(len(summary.outcomes), 'shard')} measured now"
    return f"{found}, {before:,} before" if before else found
