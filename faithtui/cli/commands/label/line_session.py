"""A session of labelling line by line: what is said before and after the claims."""

import sys
from io import TextIOWrapper

from faithtui.cli.commands.label.line_context import LineContext
from faithtui.cli.commands.label.line_mode import LineMode
from faithtui.cli.commands.label.line_output import LineOutput
from faithtui.cli.commands.label.line_text import wrap_with_name_before
from faithtui.cli.exit_codes import INTERRUPTED
from faithtui.domain.ids import SampleId
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.engine.review.samples.sample_queues import read_outcome_and_close_finished_spot_check
from faithtui.store.store import Store
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.samples.sample_lines import describe_confidence_sequences, queue_status


def run_line_session(store: Store, queue: ClaimQueue, reviewer: str, *, as_json: bool) -> int:
    """Work through a queue on stdin and stdout, and give the exit code."""
    if isinstance(sys.stdin, TextIOWrapper):
        # A byte that is no text is a wrong key, or a blot in a note: no reason to stop.
        sys.stdin.reconfigure(errors="replace")
    output = LineOutput(as_json=as_json, prompt_ends_line=not sys.stdin.isatty())
    output.print_event(
        "queue", *_format_opening_lines(queue, reviewer), **_make_opening_json(queue, reviewer)
    )
    mode = LineMode(LineContext(store, queue, reviewer, output, sys.stdin.readline))
    interrupted = False
    try:
        mode.run()
    except KeyboardInterrupt:
        interrupted = True
    mode.print_done_and_remaining_counts()
    if queue.sample is not None:
        _close_done_queue_and_print_status(
            store, queue, queue.sample, reviewer, output, through=not interrupted
        )
    if interrupted:
        return INTERRUPTED
    return 0 if mode.error is None else mode.error.exit_code


def _format_opening_lines(queue: ClaimQueue, reviewer: str) -> list[str]:
    where = f"sample {queue.sample}" if queue.sample is not None else "not a random sample"
    title = make_visible_line(queue.title, 200)
    lines = [
        *wrap_with_name_before(
            "queue", f"{title}, {where}, {len(queue.entries)} of run {queue.run}"
        ),
        *wrap_with_name_before("reviewer", make_visible_line(reviewer, 200)),
        "judge: hidden until you answer" if queue.blind else "judge: shown",
    ]
    if queue.repeats:
        lines.append("these are claims you labelled before; this changes no verdict")
    return lines


def _make_opening_json(queue: ClaimQueue, reviewer: str) -> dict[str, object]:
    return {
        "title": queue.title,
        "run": queue.run,
        "sample": queue.sample,
        "claims": len(queue.entries),
        "blind": queue.blind,
        "reviewer": reviewer,
    }


def _close_done_queue_and_print_status(
    store: Store,
    queue: ClaimQueue,
    sample: SampleId,
    reviewer: str,
    output: LineOutput,
    *,
    through: bool,
) -> None:
    """Say how the sample stands, and what a spot-check came to."""
    end = read_outcome_and_close_finished_spot_check(
        store, sample, reviewer, works_blind=queue.blind
    )
    row = end.progress.row
    lines = wrap_with_name_before("status", queue_status(end.progress))
    # They follow from the judge's verdicts, of which line mode says nothing while blind.
    sequences = None if queue.blind else end.sequences
    needed = end.progress.needed
    if sequences is not None:
        lines += wrap_with_name_before("known", describe_confidence_sequences(sequences))
    check = end.check if end.progress.is_finished and through else None
    if check is not None:
        lines += wrap_with_name_before("decision", f"{check.decision.value}. {check.decision_text}")
    output.print_event(
        "status",
        *lines,
        answered=row.answered,
        size=row.size,
        later=row.skipped,
        pace_s=row.pace_s,
        needed=None if needed is None else min(needed, end.progress.left),
        needed_for=None if needed is None else "pass_rate" if end.progress.planned else "kappa",
        needed_is_enough=None if needed is None else end.progress.is_enough_left,
        rate_at_every_look=None if sequences is None else sequences.rate,
        recall_at_every_look=None if sequences is None else sequences.recall,
        decision=None if check is None else check.decision.value,
    )
