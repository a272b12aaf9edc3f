"""Questions of a run in a file, and their answers from one: in the form of OpenAI's Batch API.

So every server that reads such files can judge a run: batch programs of model servers, another
account, another machine. The answers are joined to the same rows as those of a provider.
"""

import sys
import tempfile
import uuid
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
)
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from faithtui.domain.ids import RunId
from faithtui.domain.json_values import parse_object_or_none
from faithtui.domain.judging.image_addresses import ANY_HOST
from faithtui.engine.batches.batch_driver import drive_pending_conversations
from faithtui.engine.batches.batch_run import (
    find_ending_of_driven_run,
    format_batch_export_hint,
    hold_batch_lease,
)
from faithtui.engine.batches.question_collector import (
    CollectedQuestion,
    QuestionBuffer,
    QuestionCollector,
)
from faithtui.engine.batches.results import UNANSWERED, store_results
from faithtui.engine.calls.call_costs import TablePrices
from faithtui.engine.calls.image_hosts import check_image_hosts_of_unfinished_run
from faithtui.engine.calls.unstored_replies import UnstoredReplies
from faithtui.engine.runs.control import RunControl
from faithtui.engine.runs.events import EventSink, RunStarted
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.engine.runs.run_execution import (
    RunEnding,
    RunExecution,
    execute_run_and_record_end,
    load_refused_parameters_and_keep_new_ones,
    open_run_judge,
    rebuild_and_check_metric,
)
from faithtui.errors import ExportError, InputError
from faithtui.judges.base import Judge, JudgeRequest
from faithtui.judges.providers.batches import BatchResult, QuestionFile, open_question_file_format
from faithtui.output_files import write_text
from faithtui.store.calls.batch_records import BY_FILE, BatchQuestion, WaitingQuestion
from faithtui.store.records import RunRow, RunState
from faithtui.store.store import Store

_NAME: Final = "x" * 64
"""As long as the name of a question can be."""


@dataclass(slots=True)
class AnswerImport:
    """What a file of answers brought."""

    answered: int = 0
    failed: int = 0
    """Questions that ended without an answer."""
    ignored: int = 0
    """Lines that are not waited for: known already, or of another run."""
    refused: int = 0
    """Lines that cannot be read."""
    first_refused: InputError | None = None


async def export_questions(
    store: Store,
    run: RunId,
    path: Path,
    *,
    emit: EventSink = lambda event: None,
    environment: RunEnvironment | None = None,
) -> int:
    """Write the questions a run can ask now into a file, each once.

    From then on they count as asked. What they will cost is not held against the run's budget:
    whoever serves the file spends it.

    Args:
        store: Open store.
        run: A run that is not done, by batches or not.
        path: A file that is not there yet.
        emit: Gets every event: conversations that need nothing more are finished on the way.
        environment: What it shares with other runs of the process; None: nothing.

    Returns:
        How many there were; 0 leaves no file.

    Raises:
        ConfigError: The judge does not speak OpenAI's protocol, or is not what it was.
        ExportError: The file is there, or cannot be written.
        StoreError: The store cannot be read or written.
    """
    environment = environment or RunEnvironment()
    count = 0
    _refuse_existing_file(path)
    async with hold_batch_lease(store):
        UnstoredReplies(store.path).recover_into_store(store)
        row = store.runs.read_run(run)
        check_image_hosts_of_unfinished_run(store, row, environment.image_hosts)
        spec = row.spec
        lines = open_question_file_format(
            spec.judge,
            base_url=spec.base_url,
            redact=environment.redact,
            profile=spec.profile,
            refused=load_refused_parameters_and_keep_new_ones(store, row),
        )
        uid = uuid.uuid4().hex
        questions: dict[str, BatchQuestion] = {}

        async def collect_and_write_questions(execution: RunExecution, judge: Judge) -> RunEnding:
            nonlocal count
            async with lines as form:
                with tempfile.TemporaryFile() as spool:
                    collector = _make_collector(
                        execution, environment, lambda each: len(form.format_question(_NAME, each))
                    )

                    async def spool_questions() -> None:
                        for wanted in _take_all_questions(collector.buffer):
                            key = wanted.question.key
                            # Conversations are driven in parts, and those of a later part may ask
                            # what is in the file already.
                            if key not in questions:
                                spool.write(
                                    form.format_question(f"{uid}-{len(questions)}", wanted.request)
                                )
                                questions[key] = wanted.question

                    await drive_pending_conversations(execution, judge, collector, spool_questions)
                    if questions:
                        spool.seek(0)
                        lines_of_spool = (line.decode("ascii") for line in spool)
                        write_text(path, lines_of_spool, force=False)
            if questions:
                await execution.writer.write(
                    lambda: store.batches.record_batch_with_questions(
                        run, uid, list(questions.values()), provider_id=BY_FILE
                    )
                )
            count = len(questions)
            ending = find_ending_of_driven_run(execution, collector)
            assert ending is not None, "everything that was wanted is in the file"
            return ending

        await _execute_run_without_asking_judge(
            store, row, emit, environment, collect_and_write_questions
        )
    return count


async def import_answers_and_finish_conversations(
    store: Store,
    run: RunId,
    path: Path,
    *,
    emit: EventSink = lambda event: None,
    environment: RunEnvironment | None = None,
) -> AnswerImport:
    """Read a file of answers, and finish the conversations that have all they need.

    A file may hold some of the answers, or those of several files of questions, and may be read
    twice: what is known is passed over.

    Args:
        store: Open store.
        run: The run.
        path: Lines as OpenAI's Batch API gives them.
        emit: Gets every event.
        environment: What it shares with other runs of the process; None: nothing.

    Raises:
        ConfigError: The judge does not speak OpenAI's protocol, or is not what it was.
        InputError: The file cannot be read at all.
        StoreError: The store cannot be read or written.
    """
    # Nothing is sent: its questions are made again only to find their answers.
    environment = replace(environment or RunEnvironment(), image_hosts=(ANY_HOST,))
    imported = AnswerImport()
    uids: dict[str, int] = {}
    for line in _read_json_lines(path, imported):
        uid = _get_custom_id(line).partition("-")[0]
        uids[uid] = uids.get(uid, 0) + 1
    async with hold_batch_lease(store):
        row = store.runs.read_run(run)
        spec = row.spec
        lines = open_question_file_format(
            spec.judge,
            base_url=spec.base_url,
            redact=environment.redact,
            profile=spec.profile,
            refused=load_refused_parameters_and_keep_new_ones(store, row),
        )

        async def store_answers_and_drive_conversations(
            execution: RunExecution, judge: Judge
        ) -> RunEnding:
            batches = store.batches
            async with lines as form:
                for batch in batches.find_batches(uids):
                    if batch.run != run:
                        continue
                    waiting = batches.list_waiting_questions(batch.uid)
                    results = _iterate_batch_results_of_file(path, form, batch.uid, waiting)
                    read = await store_results(execution, environment, batch, results)
                    imported.answered += read.answered
                    imported.failed += read.failed
                    if waiting and not batches.list_waiting_questions(batch.uid):
                        await execution.writer.write(
                            batches.close_finished_batch, batch.uid, UNANSWERED
                        )
            imported.ignored = sum(uids.values()) - imported.answered - imported.failed
            collector = _make_collector(execution, environment, lambda each: 0)
            collector.buffer.discard_and_close()

            async def take_nothing() -> None:
                """Nothing is taken here."""

            await drive_pending_conversations(execution, judge, collector, take_nothing)
            left = len(collector.buffer.left_out_keys)
            return find_ending_of_driven_run(execution, collector) or (
                RunState.WAITING,
                f"{left:,} more {'question is' if left == 1 else 'questions are'} to be asked; "
                f"{format_batch_export_hint(run)}",
            )

        await _execute_run_without_asking_judge(
            store, row, emit, environment, store_answers_and_drive_conversations
        )
    return imported


async def _execute_run_without_asking_judge(
    store: Store,
    row: RunRow,
    emit: EventSink,
    environment: RunEnvironment,
    through: Callable[[RunExecution, Judge], Awaitable[RunEnding]],
) -> None:
    """Work on a run with its judge at hand, which is not asked."""
    metric = rebuild_and_check_metric(store, row)
    check_image_hosts_of_unfinished_run(store, row, environment.image_hosts)
    opening = open_run_judge(row, environment)

    async def drive_with_judge(execution: RunExecution) -> RunEnding:
        await execution.writer.write(store.runs.set_state, row.id, RunState.RUNNING)
        execution.emit(RunStarted(row.id, execution.update_progress()))
        async with opening as judge:
            return await through(execution, judge)

    control = RunControl(row.spec.concurrency)
    await execute_run_and_record_end(
        store,
        row,
        metric,
        control,
        emit,
        lambda steps: None,
        drive_with_judge,
        image_hosts=environment.image_hosts,
    )


def _make_collector(
    execution: RunExecution, environment: RunEnvironment, size_of: Callable[[JudgeRequest], int]
) -> QuestionCollector:
    spec = execution.row.spec
    return QuestionCollector(
        execution.writer,
        execution.row.id,
        execution.control.tally,
        size_of=size_of,
        most_bytes=sys.maxsize,
        pricing=TablePrices(environment.prices, spec.judge, spec.base_url, batch=True),
    )


def _take_all_questions(buffer: QuestionBuffer) -> list[CollectedQuestion]:
    return buffer.remove_questions_of_one_batch(len(buffer.questions), sys.maxsize)


def _refuse_existing_file(path: Path) -> None:
    # It may hold the only copy of questions that count as asked, so nothing replaces it.
    if path.exists():
        raise ExportError(f"{path} is there already; name another file")


def _read_json_lines(
    path: Path, imported: AnswerImport | None = None
) -> Iterator[Mapping[str, object]]:
    """Read the lines of a file that are JSON objects.

    Args:
        path: The file.
        imported: Where the others are counted; None: they were.

    Raises:
        InputError: It cannot be read at all.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                found = parse_object_or_none(line)
                if found is not None:
                    yield found
                elif imported is not None:
                    imported.refused += 1
                    imported.first_refused = imported.first_refused or InputError(
                        "is no JSON object", path=path, line=number
                    )
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from error


def _get_custom_id(line: Mapping[str, object]) -> str:
    name = line.get("custom_id")
    return name if isinstance(name, str) else ""


async def _iterate_batch_results_of_file(
    path: Path, form: QuestionFile, uid: str, waiting: Mapping[int, WaitingQuestion]
) -> AsyncGenerator[BatchResult]:
    plain = {str(number) for number, each in waiting.items() if each.is_plain}
    pictured = {str(number) for number, each in waiting.items() if each.has_images}
    for line in _read_json_lines(path):
        batch, _, number = _get_custom_id(line).partition("-")
        if batch == uid:
            yield (
                number,
                form.read_result(line, is_plain=number in plain, with_images=number in pictured),
            )
