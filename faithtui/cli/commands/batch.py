"""`faithtui batch`: the questions that are out, in files and with providers."""

from pathlib import Path
from typing import Annotated

import typer

from faithtui.cli.output import (
    TableColumn,
    plural,
    print_json,
    print_table,
    print_text,
    print_to_stderr,
)
from faithtui.cli.output_options import JsonOption, make_command_group
from faithtui.cli.shared_options import (
    ImageHostsOption,
    RunArgument,
    StoreOption,
    merge_common_options,
    parse_path_as_typed,
)
from faithtui.cli.stores import PATIENCE_S, open_store, read_run_id
from faithtui.errors import InputError

batch = make_command_group(
    "batch",
    "List, export, import and cancel batches of questions.\n\nExample: faithtui batch list",
)


@batch.command("list")
def list_runs_waiting_for_batch(
    context: typer.Context, store: StoreOption = None, json: JsonOption = False
) -> None:
    """List the runs that wait for a batch.

    Example: faithtui batch list
    """
    options = merge_common_options(context, store, json)
    with open_store(options.store) as opened:
        out = opened.batches.sum_outstanding_by_run()
        rows = [opened.runs.read_run(run) for run in out]
    if options.json:
        print_json(
            [
                {
                    "run": row.id,
                    "batches": out[row.id].batches,
                    "questions": out[row.id].questions,
                    "in_files": out[row.id].by_file,
                }
                for row in rows
            ]
        )
        return
    if not rows:
        print_text("no run has questions out")
        return
    print_table(
        (
            TableColumn("run", "right"),
            TableColumn("judge", flexible=True),
            TableColumn("batches", "right"),
            TableColumn("questions", "right"),
            TableColumn("in files", "right"),
        ),
        [
            (
                str(row.id),
                row.spec.judge_title,
                str(out[row.id].batches),
                str(out[row.id].questions),
                str(out[row.id].by_file),
            )
            for row in rows
        ],
    )


@batch.command()
def export(
    context: typer.Context,
    run: RunArgument,
    file: Annotated[
        Path,
        typer.Argument(
            parser=parse_path_as_typed, metavar="FILE", help="The file to write; it must not exist."
        ),
    ],
    allow_image_host: ImageHostsOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Write the questions of a run into a file for a Batch API.

    The format is that of OpenAI's Batch API, which other servers read too. From then on, the
    questions count as asked.

    Example: faithtui batch export last questions.jsonl
    """
    import asyncio

    from faithtui.cli.run_settings import make_run_environment_from_settings
    from faithtui.config import load_settings
    from faithtui.engine.batches import files

    options = merge_common_options(context, store, json)
    hosts = tuple(allow_image_host or ())
    settings = load_settings()
    with open_store(options.store, settings, busy_timeout_s=PATIENCE_S) as opened:
        number = read_run_id(opened, run)
        count = asyncio.run(
            files.export_questions(
                opened,
                number,
                file,
                environment=make_run_environment_from_settings(settings, hosts),
            )
        )
        row = opened.runs.read_run(number)
    if options.json:
        print_json({"run": number, "questions": count, "file": str(file) if count else None})
    elif count:
        print_text(f"{plural(count, 'question')} of run {number} in {file}")
        print_to_stderr(f"import the replies with faithtui batch import {number} FILE")
    else:
        print_text(f"run {number} has nothing to ask now: {row.reason or row.state.value}")


@batch.command("import")
def import_(
    context: typer.Context,
    run: RunArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file of replies.")],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Read a file of replies in the format of OpenAI's Batch API.

    Conversations that have all replies are finished; questions that follow from the replies
    go into the next file. Exit code 3 if a line was refused, else 5 if the run ended
    incomplete, 8 if it still waits.

    Example: faithtui batch import last replies.jsonl
    """
    import asyncio

    from faithtui.cli.run_outcome import choose_exit_code, format_resume_hint
    from faithtui.cli.run_settings import make_run_environment_from_settings
    from faithtui.config import load_settings
    from faithtui.engine.batches import files
    from faithtui.store.records import ItemState, RunState

    options = merge_common_options(context, store, json)
    settings = load_settings()
    with open_store(options.store, settings, busy_timeout_s=PATIENCE_S) as opened:
        number = read_run_id(opened, run)
        brought = asyncio.run(
            files.import_answers_and_finish_conversations(
                opened, number, file, environment=make_run_environment_from_settings(settings)
            )
        )
        row = opened.runs.read_run(number)
        failures = opened.run_contents.count_conversations_by_state_reason(number, ItemState.FAILED)
    if options.json:
        print_json(
            {
                "run": number,
                "answered": brought.answered,
                "failed": brought.failed,
                "passed_over": brought.ignored,
                "refused": brought.refused,
                "state": row.state.value,
                "reason": row.reason,
            }
        )
    else:
        parts = [plural(brought.answered, "answer")]
        if brought.failed:
            parts.append(f"{plural(brought.failed, 'question')} without one")
        if brought.ignored:
            parts.append(f"{plural(brought.ignored, 'line')} not waited for")
        finished = row.done + row.failed + row.skipped
        parts.append(f"{finished} of {row.conversations} conversations finished")
        print_text(f"run {number}: " + " · ".join(parts))
        if row.state is RunState.WAITING:
            print_to_stderr(f"run {number} waits: {row.reason}")
        elif sentence := format_resume_hint(row, failures):
            print_to_stderr(sentence)
    if brought.first_refused is None:
        raise typer.Exit(choose_exit_code(row))
    print_to_stderr(
        f"{plural(brought.refused, 'line')} refused; the first: {brought.first_refused}"
    )
    raise typer.Exit(InputError.exit_code)


@batch.command()
def cancel(
    context: typer.Context,
    run: RunArgument,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Cancel the batches of a run, and drop its exported questions.

    Replies that the provider finished until then are billed; `faithtui run --resume` reads
    them and asks the rest again.

    Example: faithtui batch cancel last
    """
    import asyncio

    from faithtui.cli.run_settings import make_run_environment_from_settings
    from faithtui.config import load_settings
    from faithtui.engine.batches import batch_run

    options = merge_common_options(context, store, json)
    settings = load_settings()
    with open_store(options.store, settings, busy_timeout_s=PATIENCE_S) as opened:
        number = read_run_id(opened, run)
        out = asyncio.run(
            batch_run.cancel_batches_of_run(
                opened, number, environment=make_run_environment_from_settings(settings)
            )
        )
    if options.json:
        print_json({"run": number, "batches": out.batches, "questions": out.questions})
    elif out.questions:
        print_text(f"run {number}: {plural(out.questions, 'question')} called back")
        print_to_stderr(f"what was answered until now is read by faithtui run --resume {number}")
    else:
        print_text(f"run {number} has nothing out")
