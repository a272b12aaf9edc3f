"""One worker and one shard: its conversations are read, measured and written, a few at a time.

A worker keeps nothing outside the results folder, so any scheduler may run it, kill it and run it
again elsewhere. What it was killed at is in the shard's journal.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import (
    closing,
    contextmanager,
    suppress,
)
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from faithtui.domain.scores import ScoreState
from faithtui.engine.calls.await_all import await_all
from faithtui.engine.calls.budget import NUSD
from faithtui.engine.calls.circuit_breaker import CircuitBreaker
from faithtui.engine.calls.metric_driver import AnswerOutstanding
from faithtui.engine.calls.send import CallCounts, QuestionSender
from faithtui.engine.interrupts import (
    run_until_done_or_cancelled_twice,
    run_until_done_or_interrupted,
)
from faithtui.engine.library.judge_session import (
    AnyJudge,
    AskingOptions,
    CallLog,
    MeasurementSession,
    SharedLimits,
    check_image_hosts_allowed,
    open_session,
)
from faithtui.engine.runs.gc_pause import slow_gc
from faithtui.engine.shards.call_limits import CallLimits, LocalCallLimits
from faithtui.engine.shards.journal import ShardJournal
from faithtui.engine.shards.measure_settings import MeasureSettings
from faithtui.engine.shards.measured_rows import (
    MeasuredRows,
    make_failed_rows,
    make_measured_rows,
)
from faithtui.engine.shards.question_wave import open_wave
from faithtui.engine.shards.results_schema import get_table_file
from faithtui.engine.shards.shard_source import Shard
from faithtui.engine.shards.table_files import write_table_files
from faithtui.engine.shards.table_reader import count_failed_conversations
from faithtui.errors import (
    FaithtuiError,
    FileUnreadable,
    ImageHostNotAllowed,
    InputError,
    JudgeError,
    JudgeUnusable,
    MetricError,
)
from faithtui.formats.readers.protocol import ParsedRecord
from faithtui.judges.providers.endpoints import is_in_process_judge
from faithtui.judges.registry import check_and_adapt_judge_profile, make_judge_fingerprint
from faithtui.metrics.base import Metric


@dataclass(frozen=True, slots=True)
class ShardOutcome:
    """How a shard stands when its worker ends, or so far."""

    shard: str
    is_whole: bool
    """All its conversations are measured, and its files are written."""
    conversations: int = 0
    """Finished, by this worker and before."""
    conversations_before: int = 0
    """Of these, finished before this worker began."""
    failed: int = 0
    """Of these, that have a reason and no score because something went wrong."""
    first_failure: str | None = None
    """The reason of one that this worker saw fail; None: it saw none."""
    incomplete: int = 0
    """Of these, that lack a verdict."""
    calls: int = 0
    """Of this worker."""
    calls_stored: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    """None: the price of a call is not known."""
    problem: str | None = None
    """Why it ended early, or has one failed row in place of all; None: neither, or somebody ended
    it."""
    error_code: int = 0
    """The exit code that the problem stands for; 0 without one."""
    stops_all: bool = False
    """The judge cannot be asked any more, for this shard or another one."""
    was_whole: bool = False
    """There was nothing to do."""
    waiting: int = 0
    """Questions in a file that wait for answers in another one."""

    @classmethod
    def from_error(cls, shard: str, error: FaithtuiError) -> Self:
        """Say that nothing could be done for a shard, and why."""
        return cls(shard, is_whole=False, problem=str(error), error_code=error.exit_code)


async def measure_shard_async(
    settings: MeasureSettings,
    shard: Shard,
    results: Path,
    *,
    call_limits: CallLimits | None = None,
    judge: AnyJudge | None = None,
    on_progress: Callable[[ShardOutcome], None] = lambda outcome: None,
    stop: asyncio.Event | None = None,
) -> ShardOutcome:
    """Measure a shard, from where a worker before this one left it.

    Args:
        settings: What is measured and how.
        shard: The shard.
        results: The results folder; its manifest is there.
        call_limits: Limits and budget that other workers share; None: those of the settings.
        judge: Who answers, where it is no judge that a name opens; None: the one of the settings.
        on_progress: Called after each conversation.
        stop: Set to end the asking: answers in flight are waited for and kept.

    Raises:
        ShardTaken: Another worker has it.
        FileUnreadable: The system does not give its bytes, or no more of them.
        ConfigError: Metric or judge cannot be used.
        ExportError: The results cannot be written.
    """
    is_whole = get_table_file(results, "conversations", shard.name).exists()
    if is_whole and settings.retry_failed:
        is_whole = await asyncio.to_thread(count_failed_conversations, results, shard.name) == 0
    if is_whole:
        return ShardOutcome(shard.name, is_whole=True, was_whole=True)
    metric = settings.build_metric()
    answering = metric.judge or judge or settings.judge
    asking = settings.make_asking_options()
    is_free = isinstance(answering, str) and is_in_process_judge(answering)
    fingerprint = _get_judge_fingerprint(settings, answering, asking)
    # It may read a long journal, or take over all tables, while other shards are asked about.
    opening = asyncio.to_thread(
        ShardJournal,
        results,
        shard.name,
        fingerprint,
        durable=not is_free,
        retry_failed=settings.retry_failed,
    )
    with slow_gc(), await opening as journal:
        if journal.is_whole and not settings.retry_failed:
            return ShardOutcome(shard.name, is_whole=True, was_whole=True)
        work = _ShardWork(settings, shard, metric, answering, journal, on_progress)
        call_limits = call_limits or LocalCallLimits(settings.speed_limit, settings.budget_caps)
        if settings.wave is None:
            await work.run(asking, call_limits, stop or asyncio.Event())
        else:
            async with open_wave(
                settings.wave, shard.name, settings, answering, asking, journal, work.tally
            ) as sender:
                await work.run(asking, call_limits, stop or asyncio.Event(), sender)
            work.waiting = sender.questions
        if not work.is_read_to_end or work.waiting:
            return work.get_outcome(is_whole=False)
        await asyncio.to_thread(write_table_files, results, shard.name, journal)
        journal.delete()
        return work.get_outcome(is_whole=True)


def _get_judge_fingerprint(
    settings: MeasureSettings, judge: AnyJudge, asking: AskingOptions
) -> str:
    if not isinstance(judge, str):
        return str(getattr(judge, "fingerprint", ""))
    profile = check_and_adapt_judge_profile(judge, settings.profile)
    return make_judge_fingerprint(judge, settings.base_url, profile=profile, redact=asking.redact)


class _ShardWork:
    """A shard under way."""

    def __init__(
        self,
        settings: MeasureSettings,
        shard: Shard,
        metric: Metric[Any],
        judge: AnyJudge,
        journal: ShardJournal,
        on_progress: Callable[[ShardOutcome], None],
    ) -> None:
        self._settings = settings
        self._shard = shard
        self._metric = metric
        self._judge = judge
        self._journal = journal
        self._images = _ImagesInFlight()
        self._on_progress = on_progress
        self._finished_before = journal.finished_count
        self._breaker = CircuitBreaker(settings.max_failures, 0)
        self.tally = CallCounts()
        self.waiting = 0
        """Questions that are in a file."""
        self._records: Iterator[tuple[int, ParsedRecord]] = iter(())
        self._problem: JudgeUnusable | None = None
        self._file_problem: str | None = None
        self._first_failure: str | None = None
        self.is_read_to_end = False
        """Every record of the shard is finished."""

    async def run(
        self,
        options: AskingOptions,
        call_limits: CallLimits,
        stop: asyncio.Event,
        sender: QuestionSender | None = None,
    ) -> None:
        """Measure until everything is, somebody stops it, or nothing can succeed any more."""
        asking = replace(options, images=self._images)
        shared = SharedLimits(
            asking,
            replies=self._journal,
            get_limiter=call_limits.get_limiter,
            budget=call_limits.budget,
            breaker=self._breaker,
            sender=sender,
            tally=self.tally,
            was_answered=call_limits.was_answered,
        )
        with closing(self._iter_unfinished_records()) as self._records:
            async with open_session(self._judge, asking, shared) as session:
                try:
                    await self._work_until_stopped(session, asking, stop)
                finally:
                    call_limits.was_answered |= self.tally.calls > 0

    async def _work_until_stopped(
        self, session: MeasurementSession, asking: AskingOptions, stop: asyncio.Event
    ) -> None:
        workers = (self._measure_until_done(session, asking) for _ in range(asking.concurrency))
        working = asyncio.create_task(await_all(workers))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                working.cancel()
            try:
                await working
                self.is_read_to_end = True
            except JudgeUnusable as error:
                self._problem = error
            except FileUnreadable:
                await session.drain()
                raise
            except asyncio.CancelledError:
                if not stop.is_set():
                    raise
            if not self.is_read_to_end:
                await session.drain()
        finally:
            working.cancel()
            stopping.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(working, stopping, return_exceptions=True)

    def _iter_unfinished_records(self) -> Generator[tuple[int, ParsedRecord]]:
        """Give the records that are not finished; where a file breaks off, one that says why.

        A file of which nobody can read anything is such a record alone: it stays as it is, so that
        its shard would else be under way for ever.

        Raises:
            FileUnreadable: The system does not give its bytes, and may do so later.
        """
        number, line = -1, 0
        try:
            for number, record in enumerate(self._shard.read(self._settings.choice)):
                line = record.line
                if not self._journal.is_finished(number):
                    yield number, record
        except FileUnreadable:
            raise
        except InputError as error:
            if number < 0:
                self._file_problem = str(error)
            number += 1
            if not self._journal.is_finished(number):
                yield number, ParsedRecord(error.line or line + 1, None, 0, 0, error)

    async def _measure_until_done(self, session: MeasurementSession, asking: AskingOptions) -> None:
        """Take conversations until there is none."""
        for number, record in self._records:
            try:
                rows = await self._measure_record(session, asking, number, record)
            except AnswerOutstanding:
                continue  # it is taken up again when the answer is in a file
            self._journal.append_finished_conversation(number, rows)
            if rows.state is ScoreState.FAILED and self._first_failure is None:
                self._first_failure = rows.conversation["reason"]
            self._on_progress(self.get_outcome(is_whole=False))
            # The offline judge answers without waiting; others of the loop get their turn here.
            await asyncio.sleep(0)

    async def _measure_record(
        self,
        session: MeasurementSession,
        asking: AskingOptions,
        number: int,
        record: ParsedRecord,
    ) -> MeasuredRows:
        log = CallLog()
        name, found = self._shard.name, record.found
        if isinstance(found, InputError):
            return make_failed_rows(name, number, record, found, log, self._shard.source)
        with self._images.hold(record.images):
            try:
                check_image_hosts_allowed(found, self._judge, asking)
                measured = await session.measure(self._metric, found, log=log)
            except JudgeUnusable:
                raise
            except (JudgeError, MetricError, ImageHostNotAllowed) as error:
                return make_failed_rows(name, number, record, error, log, self._shard.source)
        return make_measured_rows(name, number, record, measured, log)

    def get_outcome(self, *, is_whole: bool) -> ShardOutcome:
        """Say how the shard stands."""
        tally = self.tally
        return ShardOutcome(
            shard=self._shard.name,
            is_whole=is_whole,
            conversations=self._journal.finished_count,
            conversations_before=self._finished_before,
            failed=self._journal.states[ScoreState.FAILED],
            first_failure=self._first_failure,
            incomplete=self._journal.states[ScoreState.INCOMPLETE],
            calls=tally.calls,
            calls_stored=tally.calls_stored,
            tokens_in=tally.tokens_in,
            tokens_out=tally.tokens_out,
            cost_usd=None if tally.unpriced else tally.cost_nusd / NUSD,
            problem=self._file_problem if self._problem is None else str(self._problem),
            error_code=0 if self._problem is None else self._problem.exit_code,
            stops_all=self._problem is not None,
            waiting=self.waiting,
        )


class _ImagesInFlight(Mapping[str, bytes]):
    """Bytes of the images of the conversations that are being measured, by SHA-256."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}
        self._holders: Counter[str] = Counter()

    def __getitem__(self, digest: str) -> bytes:
        return self._data[digest]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    @contextmanager
    def hold(self, images: Mapping[str, bytes]) -> Iterator[None]:
        """Hold the images of one conversation while it is measured."""
        self._data.update(images)
        self._holders.update(images.keys())
        try:
            yield
        finally:
            self._holders.subtract(images.keys())
            for digest in images:
                if not self._holders[digest]:
                    del self._holders[digest], self._data[digest]


def measure_shard(
    settings: MeasureSettings,
    shard: Shard,
    results: Path,
    *,
    on_progress: Callable[[ShardOutcome], None] = lambda outcome: None,
) -> ShardOutcome:
    """Measure a shard and wait for it; see `measure_shard_async`.

    The first interrupt ends the asking and keeps what was answered; the second is raised.
    """

    async def measure_until(stop: asyncio.Event) -> ShardOutcome:
        return await measure_shard_async(
            settings, shard, results, on_progress=on_progress, stop=stop
        )

    return run_until_done_or_interrupted(lambda: run_until_done_or_cancelled_twice(measure_until))
