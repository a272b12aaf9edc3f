"""Judge the conversations of a run: bounded, cancellable, resumable.

The same code runs in the app's background thread and on the command line. What is stored stays
stored: each reply when it arrives, each window whole or not at all.
"""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager

from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.judging.error_sentences import MOST_SAID
from faithtui.domain.text.sanitizing import visible_line
from faithtui.engine.batches import batch_run
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.budget import Budget, Caps, Spent
from faithtui.engine.calls.costs import TablePrices
from faithtui.engine.calls.image_hosts import check_run
from faithtui.engine.calls.leases import Leases, NoLeases
from faithtui.engine.calls.output_format_fallback import Ladder
from faithtui.engine.calls.unstored_replies import UnstoredReplies
from faithtui.engine.review.examples import kept
from faithtui.engine.runs.control import MOST_CONCURRENT, RunControl
from faithtui.engine.runs.environment import Circumstances
from faithtui.engine.runs.events import CallRetried, Draining, EventSink, RunStarted, WayChanged
from faithtui.engine.runs.recorder import StoreImages, StoreReplies
from faithtui.engine.runs.run_execution import (
    Course,
    Ending,
    judge_item,
    judge_of,
    same_metric,
    to_its_end,
)
from faithtui.errors import JudgeError, StoreError
from faithtui.judges.base import Judge, Rung
from faithtui.metrics.base import STOPS_THE_RUN
from faithtui.metrics.concurrency import together
from faithtui.store.records import PendingItem, RunState, RunTotals
from faithtui.store.store import Store

_PAGE = 500
"""Conversations that are read at once of those still to be judged."""


async def execute(
    store: Store,
    run: RunId,
    emit: EventSink,
    *,
    judge: AbstractAsyncContextManager[Judge] | None = None,
    retry_unfinished: bool = False,
    tell: Callable[[str], None] = lambda steps: None,
    control: RunControl | None = None,
    around: Circumstances | None = None,
) -> RunState:
    """Judge everything in a run that is not judged yet.

    When it is cancelled, the answers on their way are waited for and kept; cancelled again, they
    are given up.

    Args:
        store: Open store.
        run: A run that `planner.plan` wrote down, started or not.
        emit: Gets every event, on this thread.
        judge: Opened and closed here; None opens the one the run names.
        retry_unfinished: Take up failed conversations again.
        tell: Gets the steps of each conversation, as text, under `verbose_mode`.
        control: Handles for somebody else; None: nobody has any.
        around: What it shares with other runs of the process; None: nothing.

    Returns:
        DONE, or STOPPED when going on became pointless (the event says why). A run by batches also
        comes to WAITING, when the provider has its questions.

    Raises:
        ConfigError: The run's judge, prompts or options are not what they were, or addresses of
            images would be sent to hosts that nobody allowed.
        StoreError: The store cannot be written; what was written stays.
        CancelledError: Let through after the run is marked as cancelled.
    """
    around = around or Circumstances()
    UnstoredReplies(store.path).read_back(store)
    row = store.runs.row(run)
    metric = same_metric(row, kept(store, row.spec.examples))
    check_run(store, row, around.image_hosts, with_unfinished=retry_unfinished)
    if judge is None:
        if row.spec.batch:
            return await batch_run.advance(
                store,
                run,
                emit,
                retry_unfinished=retry_unfinished,
                tell=tell,
                control=control,
                around=around,
            )
        judge = judge_of(row, around)
    if retry_unfinished:
        store.runs.reopen_unfinished(run)
        row = store.runs.row(run)
    opening = judge

    async def through(course: Course) -> Ending:
        async with opening as opened:
            return await _through(course, opened, around)

    control = control or RunControl(row.spec.concurrency)
    return await to_its_end(
        store, row, metric, control, emit, tell, through, image_hosts=around.image_hosts
    )


async def _through(course: Course, judge: Judge, around: Circumstances) -> Ending:
    store, row = course.store, course.row
    course.waiting = _pending(store, row.id)
    # Who asks what matters where an answer costs something, and so does room for the answer.
    leases: Leases = course.leases if judge.account else NoLeases()
    room = course.recorder.unstored.reserve() if judge.account else contextlib.nullcontext()
    with room:
        asker = _asker(course, judge, around, leases)
        await course.recorder.write(store.runs.set_state, row.id, RunState.RUNNING)
        course.emit(RunStarted(row.id, course.progress()))
        left = row.conversations - row.done - row.failed - row.skipped
        workers = min(MOST_CONCURRENT, left)
        try:
            await together(_worker(course, asker) for _ in range(workers))
        except STOPS_THE_RUN as error:
            await _landed(course, asker)
            return RunState.STOPPED, str(error)
        except StoreError as error:
            await _landed(course, asker)
            raise course.recorder.unstored.explain(error) from error
        except BaseException:  # cancelled, or nobody hears the events: answers are paid for still
            await _landed(course, asker)
            raise
        finally:
            await asker.aclose()
            retries = course.control.tally.retries
            if retries:
                with contextlib.suppress(StoreError):
                    store.calls.count_retries(row.id, retries)
    return RunState.DONE, None


def _pending(store: Store, run: RunId) -> Iterator[PendingItem]:
    """Give what is still to be judged, read little by little: there may be a million of them."""
    last: ItemId | None = None
    while page := store.runs.pending(run, after=last, limit=_PAGE):
        yield from page
        last = page[-1].id


async def _landed(course: Course, asker: Asker) -> None:
    """Wait for the answers on their way, which are paid for."""
    if course.control.tally.in_flight:
        course.emit(Draining(course.row.id, course.progress()))
    await asker.drain()


def _asker(course: Course, judge: Judge, around: Circumstances, leases: Leases) -> Asker:
    store, row, control = course.store, course.row, course.control
    budget = control.budget = Budget(
        Caps(row.spec.budget_nusd, row.spec.budget_tokens),
        Spent(row.cost_nusd, row.tokens_in + row.tokens_out),
    )

    def retried(step: str, error: JudgeError, wait_s: float) -> None:
        said = visible_line(error.said, MOST_SAID)
        kind = type(error).__name__
        course.emit(CallRetried(row.id, step, kind, wait_s, course.progress(), error.status, said))

    def stepped(left: Rung, taken: Rung) -> None:
        course.emit(WayChanged(row.id, left.value, taken.value, course.progress()))

    def counted(totals: RunTotals) -> None:
        course.totals = totals
        budget.tell(Spent(totals.cost_nusd, totals.tokens_in + totals.tokens_out))

    def found(rung: Rung) -> None:
        # Nobody waits for it: it only saves the next run some questions.
        store.submit(store.calls.remember, judge.fingerprint, rung.value)

    known = store.calls.memory(judge.fingerprint) if judge.rungs else None
    control.limiter = around.traffic.limiter(judge.account)
    return Asker(
        judge,
        StoreReplies(course.recorder, judge.ref, row.id, leases.holder, counted),
        slots=control.requests,
        tally=control.tally,
        ladder=Ladder(
            judge.ref,
            judge.rungs,
            known=None if known is None else Rung(known),
            on_known=found,
            on_step=stepped,
        ),
        limiter=control.limiter,
        budget=budget,
        pricing=TablePrices(around.prices, row.spec.judge, row.spec.base_url),
        leases=leases,
        on_retry=retried,
        pause=around.sleep,
        pace=course.metric.pace,
        load_image=StoreImages(store, row.spec.judge, around.image_hosts),
        breaker=course.breaker,
    )


async def _worker(course: Course, asker: Asker) -> None:
    """Take conversations until there is none: a million of them are never a million tasks."""
    while True:
        async with course.control.conversations:
            item = next(course.waiting, None)
            if item is None:
                return
            await judge_item(course, asker, item)
