"""One run under way: what it consists of, and how one conversation of it is judged and stored.

Shared by runs that ask question by question and by those that hand their questions over in batches:
what becomes of an answer is the same.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, fields, replace
from typing import Any

from faithtui.domain.claims.verdicts import Assessment, Claim
from faithtui.domain.ids import ConversationId, ItemId
from faithtui.domain.judging.error_sentences import MOST_SAID
from faithtui.domain.judging.judge_profile import normalise_fingerprint
from faithtui.domain.scores import ScoreState
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.circuit_breaker import CircuitBreaker
from faithtui.engine.calls.image_hosts import check_image_addresses, list_address_only_images
from faithtui.engine.calls.leases import StoreLeases
from faithtui.engine.calls.metric_driver import drive_questions
from faithtui.engine.integrity.item_checks import ItemChecks
from faithtui.engine.integrity.judged_conversations import CheckRules
from faithtui.engine.review.examples_from_labels import read_stored_examples
from faithtui.engine.review.recalibration import read_run_calibration
from faithtui.engine.review.run_prompts import (
    explain_imported_run_unknowns,
    load_run_prompts_without_examples,
)
from faithtui.engine.runs.control import RunControl
from faithtui.engine.runs.events import (
    EventSink,
    ItemFinished,
    ParameterRefused,
    RunEnded,
    RunEvent,
    RunProgress,
    StoreTroubled,
    WindowAssessed,
    WindowFailed,
)
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.engine.runs.run_log import log_unscored_conversation, make_logging_sink
from faithtui.engine.runs.run_writer import RunWriter
from faithtui.engine.runs.verbose_steps import format_windows_and_score
from faithtui.errors import ConfigError, JudgeError, MetricError, StoreError
from faithtui.judges.base import Judge
from faithtui.judges.providers.parameters import RefusedParameters
from faithtui.judges.redaction import Redact
from faithtui.judges.registry import make_judge_fingerprint, open_judge
from faithtui.metrics.base import STOPS_THE_RUN, Metric
from faithtui.metrics.registry import build
from faithtui.store.records import (
    ItemCheckResult,
    ItemState,
    PendingItem,
    RunRow,
    RunSpec,
    RunState,
    RunTotals,
)
from faithtui.store.store import Store

RunEnding = tuple[RunState, str | None]
"""Where a run stands when nothing more is done for it at present, and why."""


@dataclass(slots=True)
class RunExecution:
    """One run under way."""

    store: Store
    row: RunRow
    metric: Metric[Any]
    control: RunControl
    writer: RunWriter
    emit: EventSink
    on_steps: Callable[[str], None]
    counts: RunProgress
    totals: RunTotals
    """What its calls came to, by all processes."""
    checks: ItemChecks
    leases: StoreLeases
    """Shows that this process works on it, and who asks what."""
    breaker: CircuitBreaker
    """What stops it when too much fails."""
    image_hosts: Collection[str] = ()
    """Whose images the judge may be sent by address."""
    pending_items: Iterator[PendingItem] = field(default_factory=lambda: iter(()))

    def update_progress(self, **changes: int) -> RunProgress:
        """Add to the totals and give them, with those of the calls."""
        tally, totals, old = self.control.tally, self.totals, self.counts
        self.counts = RunProgress(
            conversations=old.conversations,
            done=old.done + changes.get("done", 0),
            failed=old.failed + changes.get("failed", 0),
            skipped=old.skipped + changes.get("skipped", 0),
            incomplete=old.incomplete + changes.get("incomplete", 0),
            windows=old.windows + changes.get("windows", 0),
            calls=tally.calls,
            calls_again=tally.calls_again,
            calls_stored=tally.calls_stored,
            in_flight=tally.in_flight,
            retries=tally.retries,
            tokens_in=totals.tokens_in,
            tokens_out=totals.tokens_out,
            tokens_cached=totals.tokens_cached,
            cost_nusd=totals.cost_nusd,
            unpriced_calls=totals.unpriced_calls,
        )
        return self.counts


async def execute_run_and_record_end(
    store: Store,
    row: RunRow,
    metric: Metric[Any],
    control: RunControl,
    emit: EventSink,
    tell: Callable[[str], None],
    through: Callable[[RunExecution], Awaitable[RunEnding]],
    *,
    image_hosts: Collection[str] = (),
) -> RunState:
    """Work on a run, and say in the store and to whoever listens how that ended.

    Args:
        store: Open store.
        row: The run.
        metric: Its metric.
        control: Its handles.
        emit: Gets every event.
        tell: Gets the steps of each conversation, as text.
        through: Does the work.
        image_hosts: Whose images the judge may be sent by address.

    Returns:
        Where it stands.

    Raises:
        BaseException: Whatever `through` raised, after the store has it.
    """
    run = row.id
    latest = RunProgress()
    emit = make_logging_sink(emit, row, control.tally)

    def on_event(event: RunEvent) -> None:
        nonlocal latest
        latest = event.progress
        emit(event)

    execution = _make_execution(store, row, metric, control, on_event, tell)
    execution.image_hosts = image_hosts
    # This process is entered as working on the run until the store says how it ended.
    async with contextlib.AsyncExitStack() as entered:
        try:
            await entered.enter_async_context(execution.leases.hold_worker_registration())
            state, reason = await through(execution)
        except asyncio.CancelledError:
            state, reason = RunState.CANCELLED, None
            try:
                # What is with the provider is answered, and paid for, whoever waits for it.
                if store.batches.sum_outstanding_of_run(run).questions:
                    state = RunState.WAITING
                store.runs.set_state(run, state)
                row = store.runs.read_run(run)
            except StoreError as error:  # locked or full: the run is cancelled all the same
                reason = str(error)
            emit(RunEnded(run, state, reason, _make_last_progress(row, latest)))
            raise
        except BaseException as error:
            # Whatever ends a run, the store says so where it still can; the error itself goes on to
            # whoever started it.
            reason = f"{type(error).__name__}: {error}"
            with contextlib.suppress(StoreError):
                store.runs.set_state(run, RunState.STOPPED, reason)
            with contextlib.suppress(StoreError):
                row = store.runs.read_run(run)
            emit(RunEnded(run, RunState.STOPPED, reason, _make_last_progress(row, latest)))
            raise
        # Committed before the event: whoever hears of the end finds it in the store.
        await execution.writer.write(store.runs.set_state, run, state, reason)
        try:
            # The run has ended: a check that is given up, or cannot be written, leaves it
            # unchecked.
            with contextlib.suppress(StoreError):
                await execution.checks.check_and_save_remaining_conversations(run)
        finally:
            emit(RunEnded(run, state, reason, execution.update_progress()))
    return state


def _make_execution(
    store: Store,
    row: RunRow,
    metric: Metric[Any],
    control: RunControl,
    emit: EventSink,
    tell: Callable[[str], None],
) -> RunExecution:
    execution: RunExecution

    def emit_trouble(sentence: str | None) -> None:
        emit(StoreTroubled(row.id, sentence, execution.update_progress()))

    writer = RunWriter(store, on_trouble=emit_trouble)
    execution = RunExecution(
        store,
        row,
        metric,
        control,
        writer,
        emit,
        tell,
        RunProgress.from_row(row),
        _call_totals_from_row(row),
        ItemChecks(store, CheckRules.from_metric(metric), writer.write_in_shared_transaction),
        StoreLeases(store, run=row.id, write=writer.write_in_shared_transaction),
        CircuitBreaker(row.spec.max_failures, row.conversations),
    )
    return execution


async def judge_and_save_conversation(
    execution: RunExecution, asker: Asker, item: PendingItem
) -> None:
    """Judge one conversation and store it, window by window."""
    store, metric = execution.store, execution.metric
    conversation = store.conversations.get(item.conversation)
    skipped = metric.explain_skip(conversation)
    claims = None
    if skipped is None:
        claims, skipped = find_claims_to_judge(store, execution.row.spec, item.conversation)
    if skipped is not None:
        log_unscored_conversation(execution.row, conversation, ItemState.SKIPPED, skipped)
        await _finish_conversation(execution, item.id, ItemState.SKIPPED, skipped)
        return
    windows = metric.windows(conversation)
    ask = asker.bind_to_item(item.id, asked_after=item.asked_after)
    try:
        check_image_addresses(
            list_address_only_images(conversation.images),
            execution.row.spec.judge,
            execution.image_hosts,
        )
        findings = await drive_questions(metric.gather(conversation, ask.judge_traits, claims), ask)
        assessments = [metric.assess(findings, window) for window in windows]
        # Before the closing question: windows that are judged are kept if that one fails.
        failures = await _save_windows_and_list_failures(execution, item, assessments)
        conclusion = await drive_questions(metric.conclude(assessments), ask)
        if metric.verbose_mode:
            title = f"{conversation.source}/{conversation.key}"
            execution.on_steps(
                format_windows_and_score(title, metric.spec, assessments, conclusion)
            )
    # No fault of this conversation, which stays pending and is taken up on resume.
    except STOPS_THE_RUN:
        raise
    except (JudgeError, MetricError) as error:
        why_failed = f"{type(error).__name__}: {error}"
        log_unscored_conversation(execution.row, conversation, ItemState.FAILED, why_failed)
        await _finish_conversation(execution, item.id, ItemState.FAILED, why_failed)
        execution.breaker.record_failed_conversation_or_stop(str(error).rstrip("."))
        return
    state = ItemState.FAILED if failures else ItemState.DONE
    reason = failures[0] if failures else None
    checked = None
    if not (item.stored_windows or item.unfinished_windows):
        # What was stored before need not be what was assessed now.
        checked = await execution.checks.check_unsaved_assessments(
            item.id, state, conversation, assessments
        )
    missing = None
    if state is ItemState.DONE and conclusion.score.state is ScoreState.INCOMPLETE:
        missing = conclusion.score.reason
    await _finish_conversation(
        execution,
        item.id,
        state,
        reason,
        conclusion.reason,
        checked,
        incomplete=missing is not None,
    )
    why = reason or missing
    if why is not None:
        log_unscored_conversation(execution.row, conversation, state, why)
        execution.breaker.record_failed_conversation_or_stop(why.rstrip("."))


def find_claims_to_judge(
    store: Store, spec: RunSpec, conversation: ConversationId
) -> tuple[tuple[Claim, ...] | None, str | None]:
    """Look up the claims a run is to judge instead of extracting any.

    Returns:
        The claims, None where they are to be extracted; and why the conversation is skipped.
    """
    match spec.claims_from:
        case "imported":
            claims = store.conversations.list_imported_claims(conversation)
            return claims, None if claims else "no imported claims"
        case "run":
            if spec.claims_run is None:
                return (), "the run whose claims it judges was deleted"
            claims = store.run_contents.list_claims(spec.claims_run, conversation)
            return claims, None if claims else f"run {spec.claims_run} has no claims of it"
        case "set":
            if spec.claim_set is None:
                return (), "the claim set whose claims it judges was deleted"
            claims = store.claim_sets.list_claims_in_conversation(spec.claim_set, conversation)
            return claims, None if claims else "the claim set has no claims of it"
        case _:
            return None, None


async def _save_windows_and_list_failures(
    execution: RunExecution, item: PendingItem, assessments: Sequence[Assessment]
) -> list[str]:
    """Store each window whole, and say why windows failed."""
    failures = []
    for assessment in assessments:
        position = assessment.window.position
        failed = assessment.score.state is ScoreState.FAILED
        if failed:
            failures.append(assessment.score.reason or "failed")
        if position in item.stored_windows:
            continue
        await execution.writer.write_in_shared_transaction(
            execution.store.runs.save_window, item.id, assessment
        )
        progress = execution.update_progress(windows=int(position not in item.unfinished_windows))
        if failed:
            kind, _, words = (assessment.score.reason or "").partition(":")
            message = make_visible_line(words.strip(), MOST_SAID)
            execution.emit(
                WindowFailed(execution.row.id, item.id, position, kind, progress, message)
            )
        else:
            execution.emit(WindowAssessed(execution.row.id, item.id, position, progress))
    return failures


async def _finish_conversation(
    execution: RunExecution,
    item: ItemId,
    state: ItemState,
    reason: str | None,
    conclusion: str | None = None,
    checked: ItemCheckResult | None = None,
    *,
    incomplete: bool = False,
) -> None:
    finish = execution.store.runs.score_and_finish_item
    await execution.writer.write_in_shared_transaction(
        finish, item, state, reason, conclusion, checked
    )
    if checked is None and state is not ItemState.SKIPPED:
        await execution.checks.check_stored_conversation_and_save_findings(item)
    progress = execution.update_progress(**{state.value: 1, "incomplete": int(incomplete)})
    execution.emit(ItemFinished(execution.row.id, item, state, progress, incomplete))


def rebuild_and_check_metric(store: Store, row: RunRow) -> Metric[Any]:
    """Build the run's metric, with the texts it was begun with, and see that it asks the same.

    Raises:
        ConfigError: It was imported, its prompts are not to be had any more, or its version or its
            options are not what they were.
        StoreError: Its examples are not there.
        InputError: Its examples are not what they should be.
    """
    spec = row.spec
    if spec.is_imported:
        raise ConfigError(
            f"{explain_imported_run_unknowns(row.id)}; start a new run over its conversations"
        )
    metric = build(
        spec.metric,
        spec.options,
        prompts=load_run_prompts_without_examples(store, spec),
        examples=read_stored_examples(store, spec.example_set),
    )
    if metric.prompt_digest != spec.prompt_digest or metric.spec.version != spec.metric_version:
        raise ConfigError(
            f"run {row.id} was begun with other prompts or another version of {spec.metric}; "
            "start a new run"
        )
    return metric


def check_judge_unchanged(row: RunRow, redact: Redact | None) -> None:
    """See that a run's judge is still the one it was begun with, its parameters included.

    Raises:
        ConfigError: It is not.
    """
    spec = row.spec
    calibration = read_run_calibration(spec.calibration)
    now = make_judge_fingerprint(
        spec.judge,
        spec.base_url,
        profile=spec.profile,
        redact=redact,
        calibration=calibration,
    )
    if now != normalise_fingerprint(spec.judge_fingerprint):
        raise ConfigError(
            f"run {row.id} was begun with another version of {spec.judge}, or with another "
            "way of redacting what it is sent; start a new run"
        )


def open_run_judge(
    row: RunRow,
    environment: RunEnvironment,
    before_step: Callable[[], None] = lambda: None,
    refused: RefusedParameters | None = None,
) -> AbstractAsyncContextManager[Judge]:
    """Open the judge a run was begun with.

    Args:
        row: The run.
        environment: What it shares with other runs of the process.
        before_step: As `open_judge` takes it.
        refused: Likewise.

    Raises:
        ConfigError: It is not what it was, or cannot be opened.
    """
    check_judge_unchanged(row, environment.redact)
    return open_judge(
        row.spec.judge,
        base_url=row.spec.base_url,
        profile=row.spec.profile,
        refused=refused,
        timeout_s=environment.choose_timeout(row.spec.profile),
        redact=environment.redact,
        calibration=read_run_calibration(row.spec.calibration),
        log_prompts=environment.log_prompts,
        before_step=before_step,
    )


def load_refused_parameters_and_keep_new_ones(store: Store, row: RunRow) -> RefusedParameters:
    """Recall what the model of a run does not take; what else it refuses is kept."""
    fingerprint = row.spec.judge_fingerprint
    if not row.spec.profile.parameters:
        return RefusedParameters()

    def store_refused_parameter(name: str) -> None:
        # Nobody waits for it: it only saves the next run a request.
        store.submit(store.calls.remember_refused_parameter, fingerprint, name)

    return RefusedParameters(
        store.calls.recall_refused_parameters(fingerprint), store_refused_parameter
    )


def emit_future_parameter_refusals(execution: RunExecution, refused: RefusedParameters) -> None:
    """Report every parameter that the model of a run refuses from now on."""
    keep_refusal = refused.on_refused

    def keep_and_emit(name: str) -> None:
        keep_refusal(name)
        progress = execution.update_progress()
        execution.emit(ParameterRefused(execution.row.id, name, progress))

    refused.on_refused = keep_and_emit


def _make_last_progress(row: RunRow, latest: RunProgress) -> RunProgress:
    """Read a run's totals from the store, and add what only this process knows of its calls."""
    return replace(
        RunProgress.from_row(row),
        calls=latest.calls,
        calls_again=latest.calls_again,
        calls_stored=latest.calls_stored,
        retries=latest.retries,
    )


def _call_totals_from_row(row: RunRow) -> RunTotals:
    """Read what a run's calls came to from the store."""
    return RunTotals(**{each.name: getattr(row, each.name) for each in fields(RunTotals)})
