"""`faithtui batch`, and what `faithtui run` does with a run whose questions are out."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from faithtui.cli.output import Column, plural, put, put_json, put_table, say
from faithtui.cli.run.run import PATIENCE_S, around_of
from faithtui.cli.run.run_outcome import exit_code, how_to_go_on
from faithtui.cli.stores import open_store, run_id
from faithtui.config import load_settings
from faithtui.engine.batches import batch_run, files
from faithtui.errors import InputError
from faithtui.store.records import RunState


def list_(store: Path | None, *, as_json: bool) -> int:
    """List what is out and has not come back."""
    with open_store(store, load_settings()) as opened:
        out = opened.batches.all_out()
        rows = [opened.runs.row(run) for run in out]
    if as_json:
        put_json(
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
        put("no run has questions out")
        return 0
    put_table(
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


def export(
    store: Path | None, run: str, file: Path, image_hosts: Sequence[str], *, as_json: bool
) -> int:
    """Write the questions a run can ask now into a file."""
    settings = load_settings()
    with open_store(store, settings, busy_timeout_s=PATIENCE_S) as opened:
        number = run_id(opened, run)
        count = asyncio.run(
            files.export_questions(opened, number, file, around=around_of(settings, image_hosts))
        )
        row = opened.runs.row(number)
    if as_json:
        put_json({"run": number, "questions": count, "file": str(file) if count else None})
    elif count:
        put(f"{plural(count, 'question')} of run {number} in {file}")
        say(f"import the replies with faithtui batch import {number} FILE")
    else:
        put(f"run {number} has nothing to ask now: {row.reason or row.state.value}")
    return 0


def import_(store: Path | None, run: str, file: Path, *, as_json: bool) -> int:
    """Read a file of answers; 3 when a line was refused, else what the run comes to."""
    settings = load_settings()
    with open_store(store, settings, busy_timeout_s=PATIENCE_S) as opened:
        number = run_id(opened, run)
        brought = asyncio.run(
            files.import_answers(opened, number, file, around=around_of(settings))
        )
        row = opened.runs.row(number)
    if as_json:
        put_json(
            {
                "run": number,
                "answered": brought.answered,
                "failed": brought.failed,
                "passed_over": brought.passed_over,
                "refused": brought.refused,
                "state": row.state.value,
                "reason": row.reason,
            }
        )
    else:
        parts = [plural(brought.answered, "answer")]
        if brought.failed:
            parts.append(f"{plural(brought.failed, 'question')} without one")
        if brought.passed_over:
            parts.append(f"{plural(brought.passed_over, 'line')} not waited for")
        finished = row.done + row.failed + row.skipped
        parts.append(f"{finished} of {row.conversations} conversations finished")
        put(f"run {number}: " + " · ".join(parts))
        if row.state is RunState.WAITING:
            say(f"run {number} waits: {row.reason}")
        elif sentence := how_to_go_on(row):
            say(sentence)
    if brought.first_refused is None:
        return exit_code(row)
    say(f"{plural(brought.refused, 'line')} refused; the first: {brought.first_refused}")
    return InputError.exit_code


def cancel(store: Path | None, run: str, *, as_json: bool) -> int:
    """Have the provider stop what is out of a run."""
    settings = load_settings()
    with open_store(store, settings, busy_timeout_s=PATIENCE_S) as opened:
        number = run_id(opened, run)
        out = asyncio.run(batch_run.cancel(opened, number, around=around_of(settings)))
    if as_json:
        put_json({"run": number, "batches": out.batches, "questions": out.questions})
    elif out.questions:
        put(f"run {number}: {plural(out.questions, 'question')} called back")
        say(f"what was answered until now is read by faithtui run --resume {number}")
    else:
        put(f"run {number} has nothing out")
    return 0
