"""`faithtui batch`, and what `faithtui run` does with a run whose questions are out."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from faithtui.cli.commands.run.run import PATIENCE_S, environment_from_settings
from faithtui.cli.output import Column, plural, print_json, print_table, print_text, print_to_stderr
from faithtui.cli.run_outcome import exit_code, format_resume_hint
from faithtui.cli.stores import open_store, read_run_id
from faithtui.config import load_settings
from faithtui.engine.batches import batch_run, files
from faithtui.errors import InputError
from faithtui.store.records import RunState


def print_batches(store: Path | None, *, as_json: bool) -> int:
    """List what is out and has not come back."""
    with open_store(store, load_settings()) as opened:
        out = opened.batches.sum_all_outstanding()
        rows = [opened.runs.row(run) for run in out]
    if as_json:
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
        return 0
    if not rows:
        print_text("no run has questions out")
        return 0
    print_table(
        (
            Column("run", "right"),
            Column("judge", flexible=True),
            Column("batches", "right"),
            Column("questions", "right"),
            Column("in files", "right"),
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
    return 0


def export_batch_questions(
    store: Path | None, run: str, file: Path, image_hosts: Sequence[str], *, as_json: bool
) -> int:
    """Write the questions a run can ask now into a file."""
    settings = load_settings()
    with open_store(store, settings, busy_timeout_s=PATIENCE_S) as opened:
        number = read_run_id(opened, run)
        count = asyncio.run(
            files.export_questions(
                opened, number, file, around=environment_from_settings(settings, image_hosts)
            )
        )
        row = opened.runs.row(number)
    if as_json:
        print_json({"run": number, "questions": count, "file": str(file) if count else None})
    elif count:
        print_text(f"{plural(count, 'question')} of run {number} in {file}")
        print_to_stderr(f"import the replies with faithtui batch import {number} FILE")
    else:
        print_text(f"run {number} has nothing to ask now: {row.reason or row.state.value}")
    return 0


def import_batch_answers(store: Path | None, run: str, file: Path, *, as_json: bool) -> int:
    """Read a file of answers; 3 when a line was refused, else what the run comes to."""
    settings = load_settings()
    with open_store(store, settings, busy_timeout_s=PATIENCE_S) as opened:
        number = read_run_id(opened, run)
        brought = asyncio.run(
            files.import_answers(opened, number, file, around=environment_from_settings(settings))
        )
        row = opened.runs.row(number)
    if as_json:
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
        elif sentence := format_resume_hint(row):
            print_to_stderr(sentence)
    if brought.first_refused is None:
        return exit_code(row)
    print_to_stderr(
        f"{plural(brought.refused, 'line')} refused; the first: {brought.first_refused}"
    )
    return InputError.exit_code


def cancel_run_batches(store: Path | None, run: str, *, as_json: bool) -> int:
    """Have the provider stop what is out of a run."""
    settings = load_settings()
    with open_store(store, settings, busy_timeout_s=PATIENCE_S) as opened:
        number = read_run_id(opened, run)
        out = asyncio.run(
            batch_run.cancel_batches(opened, number, around=environment_from_settings(settings))
        )
    if as_json:
        print_json({"run": number, "batches": out.batches, "questions": out.questions})
    elif out.questions:
        print_text(f"run {number}: {plural(out.questions, 'question')} called back")
        print_to_stderr(f"what was answered until now is read by faithtui run --resume {number}")
    else:
        print_text(f"run {number} has nothing out")
    return 0
