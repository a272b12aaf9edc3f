"""One conversation measured outside a store: the same metrics, judges and scoring as in a run.

Nothing is written. Equal questions are asked once within a measurement.
"""

import asyncio
import inspect
import sys
import threading
import time
from collections.abc import Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from faithtui.domain.conversation import Conversation, Image
from faithtui.domain.field_types import require_items, require_type
from faithtui.domain.integrity.run_summary import EMPTY_SUMMARY, IntegritySummary
from faithtui.domain.judging.image_addresses import read_host
from faithtui.domain.label_sets import NOT_A_CLAIM
from faithtui.domain.scores import (
    ClaimOccurrence,
    Score,
    ScoreSet,
    ScoreState,
    ScoringRule,
    WindowLabels,
    no_score,
    score_conversation,
)
from faithtui.domain.verdicts import (
    Assessment,
    Claim,
    Conclusion,
    Evidence,
    Truth,
    Verdict,
    claim_identity,
)
from faithtui.domain.windows import cut_interactions
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.image_hosts import check_image_addresses
from faithtui.engine.calls.metric_driver import assess_conversation
from faithtui.engine.calls.reply_cache import MemoryReplyCache
from faithtui.engine.integrity.judged_conversations import CheckRules
from faithtui.engine.integrity.run_checks import check_assessed
from faithtui.engine.runs.verbose_steps import format_steps
from faithtui.errors import ConfigError, ImagesNotSupported, InputError
from faithtui.judges.base import ImageData, Judge, JudgeReply, JudgeRequest, LocalJudge
from faithtui.judges.deadlines import TIMEOUT_S, check_timeout
from faithtui.judges.providers.prices import cost_usd
from faithtui.judges.registry import open_judge
from faithtui.metrics.base import Metric, MetricSpec
from faithtui.metrics.registry import build, options_to_json

T = TypeVar("T")

CONCURRENCY = 16
"""Questions in flight at once."""


@dataclass(frozen=True, slots=True)
class Call:
    """One reply of the judge."""

    step: str
    """Kind of question within the metric."""
    text: str
    """The reply as it came."""
    tokens_in: int | None
    """None: the provider did not say."""
    tokens_out: int | None
    tokens_cached: int | None
    latency_ms: int
    cost_usd: float | None
    """None: no price is known for the model."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a metric says about a conversation, with everything it rests on."""

    spec: MetricSpec
    """The metric: its key, title, peer and labels."""
    rule: ScoringRule
    """How its labels became scores."""
    options: Mapping[str, object]
    """All its options, defaults included."""
    judge: str
    """What the judge is called, as `provider:model`."""
    conversation: Conversation
    """What was measured."""
    scores: ScoreSet
    """Windowed (the headline), per interaction, and pooled."""
    success: bool | None
    """Whether the score meets the threshold; None without one or without a score."""
    reason: str | None
    """The final reason, where the metric asks for one."""
    windows: tuple[Assessment, ...]
    """Every window in order: its turns, truths, verdicts with evidence, score and reason."""
    calls: tuple[Call, ...]
    """Every reply, in the order of arrival; () when nothing was asked."""
    latency_ms: int
    """From the first question to the result, in milliseconds of wall time."""
    peer: tuple[Mapping[str, object], ...]
    """The result in the peer's own field names: one for a conversation, or one per answer."""
    integrity: IntegritySummary = EMPTY_SUMMARY
    """Whether what the judge wrote can be found in the conversation."""

    @property
    def score(self) -> Score:
        """The headline: the peer's definition."""
        return self.scores.windowed

    @property
    def warning(self) -> str:
        """What stands against the score, such as `suspect: 3 of 3 claims are not in the answer`.

        Empty when every claim, truth and reason was found where it must come from.
        """
        return self.spec.integrity_sentence(self.integrity)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The home verdict of each claim: that of the first window that holds it."""
        found: dict[object, Verdict] = {}
        for window in self.windows:
            for verdict in window.verdicts:
                found.setdefault(claim_identity(verdict.claim), verdict)
        return tuple(found.values())

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What was judged, each once, in the order of the windows."""
        return tuple(verdict.claim for verdict in self.verdicts)

    @property
    def truths(self) -> tuple[Truth, ...]:
        """What it was checked against, each once, in the order of the windows."""
        return tuple(dict.fromkeys(truth for window in self.windows for truth in window.truths))

    @property
    def evidence(self) -> Mapping[Claim, tuple[Evidence, ...]]:
        """The truths the judge named for each claim, of all windows together."""
        found: dict[object, tuple[Claim, dict[Evidence, None]]] = {}
        for window in self.windows:
            for verdict in window.verdicts:
                _, named = found.setdefault(claim_identity(verdict.claim), (verdict.claim, {}))
                named |= dict.fromkeys(verdict.evidence)
        return {claim: tuple(named) for claim, named in found.values()}

    @property
    def tokens_in(self) -> int:
        """All input tokens; calls of which the provider did not say count 0."""
        return sum(call.tokens_in or 0 for call in self.calls)

    @property
    def tokens_out(self) -> int:
        """All output tokens, counted likewise."""
        return sum(call.tokens_out or 0 for call in self.calls)

    @property
    def cost_usd(self) -> float | None:
        """What the calls cost in US dollars; None when the price of one is not known."""
        costs = [call.cost_usd for call in self.calls]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def corrected(self, human: Mapping[Claim, str]) -> ScoreSet:
        """Score the conversation with people's verdicts in place of the judge's.

        Args:
            human: A label of the metric, a word that another metric has for it, or `x` for no fair
                claim, per claim of `claims`.

        Returns:
            The three scores. Without any label they are `scores`, where there are windows.

        Raises:
            InputError: Not a mapping of claims to words.
            KeyError: A claim that was not judged.
            ValueError: A word that means nothing under this metric.
        """
        require_type(human, Mapping, "human", "a mapping such as {result.claims[0]: 'no'}")
        for claim, word in human.items():
            require_type(claim, Claim, "human", "claims of the measurement as keys")
            require_type(word, str, f"human[{claim.text!r}]", "a word for the verdict")
        known = {claim_identity(claim) for claim in self.claims}
        for claim, word in human.items():
            if claim_identity(claim) not in known:
                raise KeyError(claim)
            if self.rule.translate_label(word) is None:
                expected = ", ".join([*self.spec.labels.names, NOT_A_CLAIM])
                raise ValueError(f"{word!r} is no label of {self.spec.key}; expected {expected}")
        if not self.windows:
            return self.scores
        said: dict[object, str] = {claim_identity(claim): label for claim, label in human.items()}
        return _score_set(self.rule, self.conversation, self.windows, said)

    def steps(self) -> str:
        """Tell every step of the judge in lines for people, as `verbose_mode` does."""
        conclusion = Conclusion(self.score, self.success, self.reason)
        return format_steps(self.conversation.key, self.spec, self.windows, conclusion)


def measure(
    conversation: Conversation,
    metric: str | Metric[Any] = "turn-faithfulness",
    judge: str | Judge = "offline",
    *,
    options: Mapping[str, object] | None = None,
    claims: Sequence[Claim] | None = None,
    images: Mapping[str, bytes] | None = None,
    base_url: str | None = None,
    concurrency: int = CONCURRENCY,
    image_hosts: Collection[str] = (),
    timeout_s: float = TIMEOUT_S,
) -> Measurement:
    """Measure one conversation, and wait for the result.

    Works in a notebook too, where an event loop is running already: the questions are then asked
    on a thread of their own.

    Args:
        conversation: What to measure; see `Conversation.of` and `single_turn`.
        metric: Key of a metric, hyphens or underscores, or one that `build` made.
        judge: `offline`, `openai:MODEL`, `anthropic:MODEL`, `replay:FILE`, or a judge of your own.
        options: Options of the metric by the peer's names, when `metric` is a key.
        claims: Judge these instead of extracting any; None extracts.
        images: Bytes of the conversation's images, by SHA-256.
        base_url: Another server that speaks the judge's protocol.
        concurrency: Questions in the air at once, 1 or more.
        image_hosts: Hosts whose images a judge may be sent by address, so that its provider
            fetches them; `*`: all public ones. Images in `images` go as their bytes.
        timeout_s: Seconds one question may take, from connecting to the last byte, 1 to 86,400;
            means nothing to a judge of your own that is given as an object.

    Returns:
        The result. Where the metric does not apply, its score is `skipped` with a reason; where a
        question failed for good, the window and the score are `failed`.

    Raises:
        ConfigError: Unknown metric, option or judge, a key that is missing, or an image whose
            address the judge may not be sent.
        InputError: Something is of another type; the message names it and what to give instead.
        MetricError: The judge takes no images, `raise_error` and the answer is not supported, or
            `as_peer` and the peer itself fails here.
        JudgeAuthFailed, JudgeQuotaExceeded: No question can succeed.
        JudgeError: Under `as_peer`, where one failure loses the conversation.

    Example:
        >>> from faithtui import measure, single_turn
        >>> talk = single_turn(
        ...     "How long can I return it?",
        ...     "You can return it within thirty days.",
        ...     ["A purchase can be returned within thirty days."],
        ... )
        >>> result = measure(talk, "turn-faithfulness", "offline")
        >>> result.score.value, result.success
        (1.0, True)
        >>> [(verdict.label, verdict.claim.text) for verdict in result.verdicts]
        [('yes', 'You can return it within thirty days.')]
        >>> result.corrected({result.claims[0]: "no"}).windowed.value
        0.0
    """
    return _run_to_end(
        measure_async(
            conversation,
            metric,
            judge,
            options=options,
            claims=claims,
            images=images,
            base_url=base_url,
            concurrency=concurrency,
            image_hosts=image_hosts,
            timeout_s=timeout_s,
        )
    )


async def measure_async(
    conversation: Conversation,
    metric: str | Metric[Any] = "turn-faithfulness",
    judge: str | Judge = "offline",
    *,
    options: Mapping[str, object] | None = None,
    claims: Sequence[Claim] | None = None,
    images: Mapping[str, bytes] | None = None,
    base_url: str | None = None,
    concurrency: int = CONCURRENCY,
    image_hosts: Collection[str] = (),
    timeout_s: float = TIMEOUT_S,
) -> Measurement:
    """Measure one conversation on the running event loop; see `measure`."""
    _check_types(conversation, metric, judge, options, claims, images, base_url, concurrency)
    require_type(timeout_s, int | float, "timeout_s", "a number of seconds")
    if concurrency < 1:
        raise ConfigError(f"concurrency is {concurrency}; expected 1 or more")
    check_timeout(timeout_s, "timeout_s")
    built = _build_metric(metric, options)
    wanted = built.judge or judge
    hosts = _read_hosts(image_hosts)
    if not isinstance(wanted, LocalJudge):
        by_address = [each for each in conversation.images if each.sha256 not in (images or {})]
        check_image_addresses(by_address, wanted if isinstance(wanted, str) else wanted.ref, hosts)
    opened: AbstractAsyncContextManager[Judge] = (
        open_judge(wanted, base_url=base_url, timeout_s=timeout_s)
        if isinstance(wanted, str)
        else nullcontext(cast(Judge, _CheckedJudge(wanted)))
    )
    async with opened as answering:
        found = await _measure_with_judge(
            conversation, built, answering, claims, images or {}, base_url, concurrency
        )
    if built.verbose_mode:
        print(found.steps(), file=sys.stderr)
    return found


async def _measure_with_judge(
    conversation: Conversation,
    metric: Metric[Any],
    judge: Judge,
    claims: Sequence[Claim] | None,
    images: Mapping[str, bytes],
    base_url: str | None,
    concurrency: int,
) -> Measurement:
    began = time.perf_counter()
    calls: list[Call] = []

    def on_reply(step: str, reply: JudgeReply, stored: bool) -> None:
        if not stored:
            calls.append(_make_call(step, reply, judge.ref, base_url))

    assessments: tuple[Assessment, ...] = ()
    reason = metric.why_skipped(conversation)
    if reason is not None:
        conclusion = Conclusion(no_score(ScoreState.SKIPPED, reason), None)
    else:
        asker = Asker(
            judge,
            MemoryReplyCache(),
            concurrency=concurrency,
            pace=metric.pace,
            load_image=_CallerImages(images),
            on_reply=on_reply,
        )
        try:
            assessments, conclusion = await assess_conversation(
                metric, conversation, asker.bind_to_item(None), claims
            )
        finally:
            await asker.aclose()
    latency_ms = round((time.perf_counter() - began) * 1000)
    scores = (
        _score_set(metric.rule, conversation, assessments, {})
        if assessments
        else ScoreSet(conclusion.score, conclusion.score, conclusion.score)
    )
    return Measurement(
        spec=metric.spec,
        rule=metric.rule,
        options=options_to_json(metric),
        judge=judge.ref,
        conversation=conversation,
        scores=scores,
        success=conclusion.success,
        reason=conclusion.reason,
        windows=assessments,
        calls=tuple(calls),
        latency_ms=latency_ms,
        peer=metric.peer_results(conversation, assessments, conclusion, latency_ms),
        integrity=_check_integrity(metric, conversation, assessments, conclusion),
    )


_JUDGE_ATTRIBUTES = ("ref", "fingerprint", "takes_images", "context_window", "rungs", "account")


class _CheckedJudge:
    """A judge of the caller's own, of which every reply is checked to be one."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def __getattr__(self, name: str) -> Any:
        return getattr(self._judge, name)

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Put the request to the judge.

        Raises:
            InputError: What it gave is no reply.
        """
        reply: object = self._judge.send(request)
        if inspect.isawaitable(reply):
            reply = await reply
        require_type(reply, JudgeReply, "judge.send", "a JudgeReply, such as JudgeReply(text)")
        assert isinstance(reply, JudgeReply)
        return reply


def _check_types(
    conversation: object,
    metric: object,
    judge: object,
    options: object,
    claims: object,
    images: Mapping[str, bytes] | None,
    base_url: object,
    concurrency: object,
) -> None:
    """Refuse what is of another type before anything is asked.

    Raises:
        InputError: Something is.
    """
    made = "a Conversation, as Conversation.of and single_turn make it"
    require_type(conversation, Conversation, "conversation", made)
    if isinstance(metric, type) or not hasattr(metric, "gather"):
        require_type(metric, str, "metric", "the key of a metric, or what build makes of one")
    if isinstance(judge, type) or not hasattr(judge, "send"):
        expected = "a text such as openai:MODEL, or an object with the protocol Judge"
        require_type(judge, str, "judge", expected)
    missing = [
        each
        for each in _JUDGE_ATTRIBUTES
        if not isinstance(judge, str) and not hasattr(judge, each)
    ]
    if missing:
        raise InputError(
            f"has no {', '.join(missing)}; the protocol Judge says what", field="judge"
        )
    require_type(options, Mapping | None, "options", "a mapping such as {'window_size': 5}")
    if claims is not None:
        require_items(claims, Sequence, Claim, "claims", "a list of Claim, or None")
    require_type(images, Mapping | None, "images", "bytes by the SHA-256 of each image")
    for digest, data in (images or {}).items():
        require_type(digest, str, "images", "SHA-256 digests as texts")
        require_type(data, bytes, f"images[{digest!r}]", "the bytes of the image")
    require_type(base_url, str | None, "base_url", "an address, or None")
    require_type(concurrency, int, "concurrency", "a whole number, 1 or more")


def _check_integrity(
    metric: Metric[Any],
    conversation: Conversation,
    assessments: Sequence[Assessment],
    conclusion: Conclusion,
) -> IntegritySummary:
    if not assessments:
        return EMPTY_SUMMARY
    complete = conclusion.score.state is not ScoreState.FAILED
    rules = CheckRules.from_metric(metric)
    found = check_assessed(conversation, assessments, rules, complete=complete)
    return IntegritySummary(found.counts, checked=1)


def _build_metric(metric: str | Metric[Any], options: Mapping[str, object] | None) -> Metric[Any]:
    if isinstance(metric, str):
        return build(metric, options or {})
    if options:
        raise ConfigError("options go with the name of a metric; this one is built already")
    return metric


def _score_set(
    rule: ScoringRule,
    conversation: Conversation,
    assessments: Sequence[Assessment],
    human: Mapping[object, str],
) -> ScoreSet:
    parts = cut_interactions(conversation.turns, answers_alone=True)
    interaction_of = {turn: part.position for part in parts for turn in part.turns}
    scores, _ = score_conversation(
        [
            WindowLabels(
                interactions=each.window.interactions,
                occurrences=tuple(
                    ClaimOccurrence(
                        claim_identity(verdict.claim),
                        interaction_of.get(verdict.claim.turn, -1),
                        verdict.label,
                    )
                    for verdict in each.verdicts
                ),
                surplus=each.surplus,
                failure=each.score
                if each.score.state in (ScoreState.FAILED, ScoreState.SKIPPED)
                else None,
                undefined=each.score.reason
                if each.score.state is ScoreState.UNDEFINED
                and all(verdict.label is not None for verdict in each.verdicts)
                else None,
            )
            for each in assessments
        ],
        rule,
        human,
    )
    return scores


def _read_hosts(named: Collection[str]) -> list[str]:
    """Read the hosts a caller names.

    Raises:
        InputError: One of them is none.
    """
    expected = "a list of hosts such as cdn.example.com, or *"
    require_items(named, Collection, str, "image_hosts", expected)
    hosts = [read_host(each) for each in named]
    for host, each in zip(hosts, named, strict=True):
        if host is None:
            raise InputError(f"holds {each[:80]!r}; expected {expected}", field="image_hosts")
    return [host for host in hosts if host is not None]


def _make_call(step: str, reply: JudgeReply, judge: str, base_url: str | None) -> Call:
    usage = reply.usage
    try:
        cost = cost_usd(judge, usage, base_url=base_url)
    except ConfigError:  # a judge of the caller's own, under a name that no provider has
        cost = None
    return Call(
        step=step,
        text=reply.text,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_cached=usage.tokens_cached,
        latency_ms=reply.latency_ms,
        cost_usd=cost,
    )


@dataclass(frozen=True, slots=True)
class _CallerImages:
    """Images that the caller handed over."""

    data: Mapping[str, bytes]

    def __call__(self, image: Image) -> ImageData:
        """Give an image as a judge gets it.

        Raises:
            ImagesNotSupported: Its bytes were not handed over.
        """
        data = self.data.get(image.sha256)
        if data is None and image.url is None:
            raise ImagesNotSupported(
                f"the bytes of image {image.sha256[:12]} are missing; hand them over in `images`"
            )
        return ImageData(image.sha256, image.media_type, image.mark, data, image.url)


def _run_to_end(answer: Coroutine[object, object, T]) -> T:
    """Run to the end, on a thread of its own where a loop is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(answer)
    results: list[T] = []
    errors: list[BaseException] = []

    def run_in_thread() -> None:
        try:
            results.append(asyncio.run(answer))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run_in_thread, name="faithtui-measure")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
