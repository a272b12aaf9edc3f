"""`faithtui runs`: the runs of a store."""

from typing import Annotated

import typer

from faithtui.cli.output import (
    TableColumn,
    format_score_cell,
    format_score_with_overrides,
    plural,
    print_json,
    print_table,
    print_to_stderr,
)
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import StoreOption, merge_common_options
from faithtui.cli.stores import open_store


def runs(
    context: typer.Context,
    archived: Annotated[
        bool, typer.Option("--archived", help="List the archived runs instead.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """List the runs, newest first, without archived runs.

    Example: faithtui runs --json
    """
    from faithtui.cli.run_outcome import (
        format_resume_hint,
        format_run_state,
        is_done_with_failures_or_gaps,
    )
    from faithtui.engine.integrity.judged_conversations import format_integrity_sentence
    from faithtui.engine.review.conversation_json import run_settings_and_state_to_json
    from faithtui.engine.runs.run_liveness import read_runs_marking_interrupted
    from faithtui.store.records import ItemState, RunState
    from faithtui.tui.runs.run_options_text import (
        describe_differing_options,
        format_changed_options,
    )

    options = merge_common_options(context, store, json)
    with open_store(options.store) as opened:
        everything = read_runs_marking_interrupted(opened)
        rows = [row for row in everything if (row.archived_at is not None) is archived]
        out = opened.batches.sum_outstanding_by_run()
        started_at = {
            row.id: opened.run_contents.find_start_time(row.id) for row in rows if options.json
        }
        failures = {
            row.id: opened.run_contents.count_conversations_by_state_reason(
                row.id, ItemState.FAILED
            )
            for row in rows
            if is_done_with_failures_or_gaps(row)
        }
    if options.json:
        print_json(
            [
                {
                    **run_settings_and_state_to_json(row),
                    "started_at": None if (at := started_at[row.id]) is None else at.isoformat(),
                    "questions_out": out[row.id].questions if row.id in out else 0,
                }
                for row in rows
            ]
        )
        return
    print_table(
        (
            TableColumn("run", "right"),
            TableColumn("metric"),
            TableColumn("judge", flexible=True),
            TableColumn("state"),
            TableColumn("conversations", "right"),
            TableColumn("failed", "right", rank=2),
            TableColumn("skipped", "right", rank=2),
            TableColumn("undefined", "right", rank=2),
            TableColumn("without verdict", "right", rank=2),
            TableColumn("claims", "right", rank=1),
            TableColumn("labelled", "right", rank=1),
            TableColumn("score", "right"),
            TableColumn("with overrides", "right", rank=1),
            TableColumn("options", rank=3),
            TableColumn("integrity", rank=1),
            TableColumn("made", rank=4),
        ),
        [
            (
                str(row.id),
                row.spec.metric,
                row.spec.judge_title,
                f"{row.state.value}: {out[row.id].questions} out"
                if row.id in out
                else format_run_state(row),
                f"{row.done}/{row.conversations}",
                str(row.failed),
                str(row.skipped),
                str(row.undefined),
                str(row.incomplete),
                str(row.claims),
                str(row.labelled),
                format_score_cell(row.score),
                format_score_with_overrides(row.corrected, row.labelled, row.claims),
                format_changed_options(row.spec),
                format_integrity_sentence(row.spec.metric, row.integrity),
                f"{row.created_at:%Y-%m-%d %H:%M} UTC",
            )
            for row in rows
        ],
    )
    if everything and not rows and not archived:
        print_to_stderr(
            f"{plural(len(everything), 'run')} archived: faithtui runs --archived lists them"
        )
    for note in describe_differing_options({row.id: row.spec for row in reversed(rows)}):
        print_to_stderr(note)
    for row in rows:
        if row.state is RunState.DONE and row.reason:
            print_to_stderr(f"run {row.id}: {row.reason}")
        if row.state is RunState.INTERRUPTED or is_done_with_failures_or_gaps(row):
            print_to_stderr(format_resume_hint(row, failures.get(row.id, {})) or "")
