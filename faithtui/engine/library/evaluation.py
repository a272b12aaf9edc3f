"""A set of conversations measured outside a store, by one or several metrics.

One judge, one limit of speed, one budget, one set of stored replies and one number of questions in
flight for all of them. What is measured when it is interrupted is kept.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from faithtui.domain.conversation import Conversation
from faithtui.domain.field_types import require_type
from faithtui.domain.json_values import Json
from faithtui.domain.judging.judge_profile import DEFAULT_PROFILE, JudgeProfile
from faithtui.domain.text.suggestions import format_known_names
from faithtui.engine.calls.await_all import await_all
from faithtui.engine.calls.budget import NUSD
from faithtui.engine.calls.reply_cache import MemoryReplyCache
from faithtui.engine.interrupts import (
    run_until_done_or_cancelled_twice,
    run_until_done_or_interrupted,
)
from faithtui.engine.library.judge_session import (
    CONCURRENCY,
    AnyJudge,
    AskingOptions,
    MeasurementSession,
    SharedLimits,
    check_image_hosts_allowed,
    check_judge_protocol,
    open_session,
)
from faithtui.engine.library.measurement import build_metric
from faithtui.engine.library.measurement_result import Measurement
from faithtui.engine.library.result_tables import (
    ResultTable,
    format_cost_cell,
    format_score_or_dash,
)
from faithtui.errors import ConfigError, InputError, JudgeError, JudgeUnusable, MetricError
from faithtui.metrics.base import Metric
from faithtui.metrics.registry import find_metric, list_option_names


@dataclass(frozen=True, slots=True)
class EvaluationProgress:
    """How far an evaluation is. Totals, so that one that is missed is no loss."""

    measured: int
    failed: int
    total: int
    """Conversations times metrics."""
    calls: int
    calls_stored: int
    """Questions that needed no call, because an equal one was answered before."""
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    """None: the price of a call is not known."""
    latest: Measurement | None
    """What was measured just now; None: it failed."""


@dataclass(frozen=True, slots=True)
class EvaluationFailure:
    """A conversation that a metric could not measure."""

    metric: str
    conversation: Conversation
    error: JudgeError | MetricError


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What metrics say about a set of conversations, or about as many as were measured."""

    measurements: tuple[Measurement, ...]
    """Metric by metric, in the order of the conversations."""
    failures: tuple[EvaluationFailure, ...]
    pending: int
    """Conversations times metrics that were not measured; 0: it is whole."""
    interrupted: bool
    """Somebody ended it."""
    problem: str | None
    """Why it ended by itself, such as a budget that is used up; None: it did not."""
    calls: int
    calls_stored: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    """What the calls cost in US dollars; None when the price of one is not known."""
    latency_ms: int
    """Wall time."""
    replies: MemoryReplyCache
    """Every reply that may be used again: handed to another evaluation, it buys none twice."""

    @property
    def is_complete(self) -> bool:
        """Whether everything was measured."""
        return not self.pending and not self.failures

    @property
    def mean_scores(self) -> Mapping[str, float | None]:
        """Mean headline score of each metric over the conversations that have one; None: none."""
        found: dict[str, list[float]] = {}
        for each in self.measurements:
            scores = found.setdefault(each.spec.key, [])
            if each.score.value is not None:
                scores.append(each.score.value)
        return {key: fmean(scores) if scores else None for key, scores in found.items()}

    def __iter__(self) -> Iterator[Measurement]:
        """Go through the measurements."""
        return iter(self.measurements)

    def __len__(self) -> int:
        """Count the measurements."""
        return len(self.measurements)

    def rows(self) -> list[dict[str, str | int | float | bool | None]]:
        """Give one flat row per measurement and failure, as `pandas.DataFrame` takes them."""
        failed: list[dict[str, str | int | float | bool | None]] = [
            {
                "metric": each.metric,
                "source": each.conversation.source,
                "conversation": each.conversation.key,
                "state": "failed",
                "reason": str(each.error),
            }
            for each in self.failures
        ]
        return [*(each.to_row() for each in self.measurements), *failed]

    def claim_rows(self) -> list[dict[str, str | int | float | bool | None]]:
        """Give one flat row per claim and metric, each claim once with its first verdict."""
        return [
            {
                "metric": each.spec.key,
                "source": each.conversation.source,
                "conversation": each.conversation.key,
                "turn": verdict.claim.turn,
                "claim": verdict.claim.text,
                "label": verdict.label,
                "reason": verdict.reason,
            }
            for each in self.measurements
            for verdict in each.verdicts
        ]

    def to_dict(self) -> dict[str, Json]:
        """Give everything but the replies and the texts of conversations, as JSON values."""
        return {
            "mean_scores": dict(self.mean_scores),
            "pending": self.pending,
            "interrupted": self.interrupted,
            "problem": self.problem,
            "calls": self.calls,
            "calls_stored": self.calls_stored,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost_usd": self.cost_usd,
            "latency_ms": self.latency_ms,
            "measurements": [each.to_dict() for each in self.measurements],
            "failures": [
                {
                    "metric": each.metric,
                    "source": each.conversation.source,
                    "conversation": each.conversation.key,
                    "error": type(each.error).__name__,
                    "message": str(each.error),
                }
                for each in self.failures
            ],
        }

    def to_table(self) -> ResultTable:
        """Draw the measurements, and below what is missing."""
        means = ", ".join(
            f"{key} {format_score_or_dash(mean)}" for key, mean in self.mean_scores.items()
        )
        cost = format_cost_cell(self.cost_usd)
        usage = f"{self.calls} calls, {self.calls_stored} from before, {cost}"
        notes = [
            f"failed: {each.metric}, {each.conversation.key}: {each.error}"
            for each in self.failures
        ]
        if self.problem is not None:
            notes.append(f"stopped: {self.problem}")
        if self.pending:
            why = "interrupted: " if self.interrupted else ""
            notes.append(f"{why}{self.pending} not measured")
        return ResultTable(
            f"{len(self.measurements)} measured ({means or 'no score'}); {usage}",
            ("conversation", "metric", "score", "passes", "claims", "reason"),
            [
                (
                    each.conversation.key,
                    each.spec.key,
                    format_score_or_dash(each.score.value),
                    {True: "yes", False: "no", None: "—"}[each.success],
                    str(len(each.claims)),
                    each.reason or each.score.reason or "",
                )
                for each in self.measurements
            ],
            tuple(notes),
        )

    def __str__(self) -> str:
        """Draw the measurements as text."""
        return str(self.to_table())

    def __rich__(self) -> ResultTable:
        """Draw the measurements on a console of rich."""
        return self.to_table()

    def _repr_html_(self) -> str:
        """Draw the measurements in a notebook."""
        return self.to_table()._repr_html_()


def evaluate(
    conversations: Iterable[Conversation],
    metrics: str | Metric[Any] | Sequence[str | Metric[Any]] = "turn-faithfulness",
    judge: AnyJudge = "offline",
    *,
    options: Mapping[str, object] | None = None,
    images: Mapping[str, bytes] | None = None,
    base_url: str | None = None,
    profile: JudgeProfile | None = None,
    concurrency: int = CONCURRENCY,
    image_hosts: Collection[str] = (),
    timeout_s: float | None = None,
    budget_usd: float | None = None,
    budget_tokens: int | None = None,
    requests_per_minute: int | None = None,
    tokens_per_minute: int | None = None,
    replies: MemoryReplyCache | None = None,
    on_progress: Callable[[EvaluationProgress], None] | None = None,
) -> Evaluation:
    """Measure conversations by one or several metrics, and wait for the results.

    Works in a notebook too, where an event loop is running already: the questions are then asked
    on a thread of their own. The first interrupt ends the asking: answers in flight are waited
    for, since they are paid for, and what is measured until then is returned. A second one is
    raised.

    Args:
        conversations: What to measure.
        metrics: Keys of metrics, hyphens or underscores, or metrics that `build` made; one, or
            several that are gone through one after the other.
        judge: As for `measure`.
        options: Options by the peer's names, for every metric that has them.
        images: Bytes of the conversations' images, by SHA-256.
        base_url: Another server that speaks the judge's protocol.
        profile: Parameters that a provider's model is asked with; None: temperature 0.
        concurrency: Questions in flight at once, over all conversations; 1 or more.
        image_hosts: As for `measure`.
        timeout_s: As for `measure`.
        budget_usd: What all calls together may cost in US dollars; None: anything.
        budget_tokens: Tokens they may use; None: any number.
        requests_per_minute: Most requests; None: as many as the provider takes, which is learned.
        tokens_per_minute: Most tokens; None: likewise.
        replies: Replies of an earlier evaluation, which are used and added to; None: none.
        on_progress: Called after each conversation, where the questions are asked. What it raises
            ends the asking and is the `problem` of the results.

    Returns:
        The results. It is returned too when it was interrupted, or when no other question can
        succeed after something was answered: `pending` counts what is missing, and `replies` has
        what was paid for.

    Raises:
        ConfigError: Unknown metric, option or judge, a key that is missing, a budget that cannot
            be kept, or an image whose address the judge may not be sent.
        InputError: Something is of another type; the message names it and what to give instead.
        JudgeUnusable: No question can succeed, and nothing was answered.
        KeyboardInterrupt: It was interrupted twice.

    Example:
        >>> from faithtui import evaluate, single_turn
        >>> conversations = [
        ...     single_turn("Open?", "It opens at nine.", ["It opens at nine."], key="a"),
        ...     single_turn("Dogs?", "Dogs may enter.", ["It opens at nine."], key="b"),
        ... ]
        >>> result = evaluate(conversations, options={"penalize_ambiguous_claims": True})
        >>> [each.score.value for each in result]
        [1.0, 0.0]
        >>> result.mean_scores
        {'turn-faithfulness': 0.5}
    """
    return run_until_done_or_interrupted(
        lambda: run_until_done_or_cancelled_twice(
            lambda stop: evaluate_async(
                conversations,
                metrics,
                judge,
                options=options,
                images=images,
                base_url=base_url,
                profile=profile,
                concurrency=concurrency,
                image_hosts=image_hosts,
                timeout_s=timeout_s,
                budget_usd=budget_usd,
                budget_tokens=budget_tokens,
                requests_per_minute=requests_per_minute,
                tokens_per_minute=tokens_per_minute,
                replies=replies,
                on_progress=on_progress,
                stop=stop,
            )
        )
    )


async def evaluate_async(
    conversations: Iterable[Conversation],
    metrics: str | Metric[Any] | Sequence[str | Metric[Any]] = "turn-faithfulness",
    judge: AnyJudge = "offline",
    *,
    options: Mapping[str, object] | None = None,
    images: Mapping[str, bytes] | None = None,
    base_url: str | None = None,
    profile: JudgeProfile | None = None,
    concurrency: int = CONCURRENCY,
    image_hosts: Collection[str] = (),
    timeout_s: float | None = None,
    budget_usd: float | None = None,
    budget_tokens: int | None = None,
    requests_per_minute: int | None = None,
    tokens_per_minute: int | None = None,
    replies: MemoryReplyCache | None = None,
    on_progress: Callable[[EvaluationProgress], None] | None = None,
    stop: asyncio.Event | None = None,
) -> Evaluation:
    """Measure conversations on the running event loop; see `evaluate`.

    Cancelling it gives up what is under way; `on_progress` was given all that was measured. Setting
    `stop` ends the asking instead, and what is measured until then is returned.
    """
    plan = _plan_evaluation(
        conversations,
        metrics,
        judge,
        options,
        AskingOptions(
            images={} if images is None else images,
            base_url=base_url,
            profile=DEFAULT_PROFILE if profile is None else profile,
            concurrency=concurrency,
            image_hosts=image_hosts,
            timeout_s=timeout_s,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            replies=replies,
        ),
        on_progress,
    )
    return await _run_evaluation_plan(plan, stop or asyncio.Event())


@dataclass(frozen=True, slots=True)
class _EvaluationPlan:
    """An evaluation that was checked."""

    conversations: tuple[Conversation, ...]
    metrics: tuple[Metric[Any], ...]
    judges: tuple[AnyJudge, ...]
    """Of each metric: its options may name one."""
    asking: AskingOptions
    on_progress: Callable[[EvaluationProgress], None] | None


def _plan_evaluation(
    conversations: Iterable[Conversation],
    metrics: str | Metric[Any] | Sequence[str | Metric[Any]],
    judge: AnyJudge,
    options: Mapping[str, object] | None,
    asking: AskingOptions,
    on_progress: Callable[[EvaluationProgress], None] | None,
) -> _EvaluationPlan:
    """Check everything before anything is asked.

    Raises:
        ConfigError: As `evaluate`.
        InputError: As `evaluate`.
    """
    expected = "a list of Conversation, as Conversation.of and single_turn make them"
    if isinstance(conversations, str | bytes | Mapping) or not isinstance(conversations, Iterable):
        require_type(conversations, list, "conversations", expected)
    chosen = tuple(conversations)
    for number, each in enumerate(chosen):
        require_type(each, Conversation, f"conversations[{number}]", expected)
    if not chosen:
        raise InputError("is empty; expected one or more", field="conversations")
    check_judge_protocol(judge)
    asking.check()
    if on_progress is not None and not callable(on_progress):
        raise InputError("is no function; expected one that takes a progress", field="on_progress")
    named = metrics if isinstance(metrics, list | tuple) else (metrics,)
    if not named:
        raise InputError("is empty; expected one or more", field="metrics")
    built = tuple(_build_metrics(named, options))
    judges = tuple(each.judge or judge for each in built)
    for wanted in dict.fromkeys(map(id, judges)):
        one = next(each for each in judges if id(each) == wanted)
        for each in chosen:
            check_image_hosts_allowed(each, one, asking)
    return _EvaluationPlan(chosen, built, judges, asking, on_progress)


def _build_metrics(
    named: Sequence[str | Metric[Any]], options: Mapping[str, object] | None
) -> Iterator[Metric[Any]]:
    if len(named) == 1 or not options:
        yield from (build_metric(each, options) for each in named)
        return
    require_type(options, Mapping, "options", "a mapping such as {'window_size': 5}")
    keys = [find_metric(each).spec.key for each in named if isinstance(each, str)]
    known = {key: list_option_names(key) for key in keys}
    for name in options:
        if not any(_normalise_metric_name(name) in names for names in known.values()):
            every = sorted({each for names in known.values() for each in names})
            raise ConfigError(
                f"no metric has an option `{name}`; known: {format_known_names(name, every)}"
            )
    for each in named:
        if isinstance(each, str):
            names = known[find_metric(each).spec.key]
            yield build_metric(
                each, {n: v for n, v in options.items() if _normalise_metric_name(n) in names}
            )
        else:
            yield build_metric(each, None)


def _normalise_metric_name(name: str) -> str:
    return name.strip().replace("-", "_")


class _ProgressFailed(Exception):
    """The caller's `on_progress` raised something, which is the cause."""


class _EvaluationRun:
    """One evaluation under way. Belongs to one event loop."""

    def __init__(self, plan: _EvaluationPlan, shared: SharedLimits) -> None:
        self._plan = plan
        self._shared = shared
        self._jobs = iter(
            [(m, c) for m in range(len(plan.metrics)) for c in range(len(plan.conversations))]
        )
        self.measured: dict[tuple[int, int], Measurement] = {}
        self.failures: dict[tuple[int, int], EvaluationFailure] = {}

    @property
    def total_measurements(self) -> int:
        return len(self._plan.metrics) * len(self._plan.conversations)

    async def measure_until_done(self, sessions: Sequence[MeasurementSession]) -> None:
        """Take conversations until there is none."""
        for job in self._jobs:
            metric, conversation = self._plan.metrics[job[0]], self._plan.conversations[job[1]]
            try:
                found = await sessions[job[0]].measure(metric, conversation)
            except JudgeUnusable:
                raise
            except (JudgeError, MetricError) as error:
                self.failures[job] = EvaluationFailure(metric.spec.key, conversation, error)
            else:
                self.measured[job] = found
                if metric.verbose_mode:
                    print(found.steps(), file=sys.stderr)
            self._report_progress(self.measured.get(job))

    @property
    def cost_usd(self) -> float | None:
        """What was spent so far; None: not known."""
        tally = self._shared.tally
        return None if tally.unpriced else tally.cost_nusd / NUSD

    def _report_progress(self, latest: Measurement | None) -> None:
        if self._plan.on_progress is None:
            return
        tally = self._shared.tally
        progress = EvaluationProgress(
            measured=len(self.measured),
            failed=len(self.failures),
            total=self.total_measurements,
            calls=tally.calls,
            calls_stored=tally.calls_stored,
            tokens_in=tally.tokens_in,
            tokens_out=tally.tokens_out,
            cost_usd=self.cost_usd,
            latest=latest,
        )
        try:
            self._plan.on_progress(progress)
        # It is the caller's code and may raise anything; what was paid for is kept all the same.
        except Exception as error:
            message = f"on_progress raised {type(error).__name__}: {error}"
            raise _ProgressFailed(message) from error


async def _run_evaluation_plan(plan: _EvaluationPlan, stop: asyncio.Event) -> Evaluation:
    """Measure until everything is measured, somebody stops it, or nothing can succeed any more."""
    began = time.perf_counter()
    replies = plan.asking.replies or MemoryReplyCache()
    shared = SharedLimits(plan.asking, replies=replies)
    run = _EvaluationRun(plan, shared)
    problem: JudgeUnusable | _ProgressFailed | None = None
    async with AsyncExitStack() as opened:
        by_judge: dict[int, MeasurementSession] = {}
        for judge in plan.judges:
            if id(judge) not in by_judge:
                session = await opened.enter_async_context(open_session(judge, plan.asking, shared))
                by_judge[id(judge)] = session
        sessions = [by_judge[id(judge)] for judge in plan.judges]
        # As many conversations as questions: more would only be half done when it is interrupted.
        workers = min(plan.asking.concurrency, run.total_measurements)
        work = await_all(run.measure_until_done(sessions) for _ in range(workers))
        working = asyncio.create_task(work)
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                working.cancel()
            try:
                await working
            except (JudgeUnusable, _ProgressFailed) as error:
                problem = error
            except asyncio.CancelledError:
                if not stop.is_set():
                    raise
            if stop.is_set() or problem is not None:
                for session in by_judge.values():
                    await session.drain()
        finally:
            working.cancel()
            stopping.cancel()
            with suppress(asyncio.CancelledError, JudgeUnusable):
                await asyncio.gather(working, stopping, return_exceptions=True)
    if isinstance(problem, JudgeUnusable) and not (run.measured or shared.tally.calls):
        raise problem
    pending = run.total_measurements - len(run.measured) - len(run.failures)
    return Evaluation(
        measurements=tuple(run.measured[job] for job in sorted(run.measured)),
        failures=tuple(run.failures[job] for job in sorted(run.failures)),
        pending=pending,
        interrupted=stop.is_set() and pending > 0,
        problem=None if problem is None else str(problem),
        calls=shared.tally.calls,
        calls_stored=shared.tally.calls_stored,
        tokens_in=shared.tally.tokens_in,
        tokens_out=shared.tally.tokens_out,
        cost_usd=run.cost_usd,
        latency_ms=round((time.perf_counter() - began) * 1000),
        replies=replies,
    )
