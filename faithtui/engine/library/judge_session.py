"""A judge opened for measurements of the library, and everything that they share.

One limit of speed, one budget, one set of stored replies and one number of questions in flight,
whether a single conversation is measured or a whole set by several metrics.
"""

import inspect
import math
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, cast

from faithtui.domain.claims.verdicts import Assessment, Claim, Conclusion
from faithtui.domain.conversation import Conversation, Image
from faithtui.domain.field_types import require_items, require_type
from faithtui.domain.judging.image_addresses import find_host_problem, parse_host_name
from faithtui.domain.judging.judge_profile import DEFAULT_PROFILE, NO_PARAMETERS, JudgeProfile
from faithtui.domain.scores import ScoreState, make_empty_score
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.budget import NUSD, Budget, BudgetCaps, SpendingLimit
from faithtui.engine.calls.call_costs import NoPrices, Pricing, TablePrices
from faithtui.engine.calls.circuit_breaker import CircuitBreaker
from faithtui.engine.calls.concurrency_limit import ConcurrencyLimit
from faithtui.engine.calls.image_hosts import check_image_addresses
from faithtui.engine.calls.metric_driver import assess_conversation
from faithtui.engine.calls.output_format_fallback import OutputFormatFallback
from faithtui.engine.calls.rate_limiter import RateLimiters, RequestLimiter, SpeedLimit
from faithtui.engine.calls.reply_cache import MemoryReplyCache, ReplyCache
from faithtui.engine.calls.send import CallCounts, QuestionSender
from faithtui.engine.library.measurement_result import (
    Call,
    Measurement,
    make_call_record,
    make_measurement,
)
from faithtui.errors import ConfigError, FaithtuiError, ImagesNotSupported, InputError
from faithtui.judges.base import ImageData, Judge, JudgeReply, JudgeRequest, LocalJudge
from faithtui.judges.deadlines import TIMEOUT_S, require_valid_timeout
from faithtui.judges.plugin_judge import (
    CustomJudge,
    CustomJudgeAdapter,
    get_ref_or_class_name,
    make_unavailable_error,
)
from faithtui.judges.providers.parameters import RefusedParameters
from faithtui.judges.providers.prices import PriceTable, read_price_table
from faithtui.judges.redaction import Redact
from faithtui.judges.registry import check_and_adapt_judge_profile, open_judge
from faithtui.metrics.base import Metric
from faithtui.metrics.registry import metric_options_to_json

AnyJudge = str | Judge | CustomJudge
"""A reference, or an object with `send` or `answer`."""

CONCURRENCY = 16
"""Questions in flight at once."""


@dataclass(slots=True)
class CallLog:
    """Calls for one conversation."""

    calls: list[Call] = field(default_factory=list)
    """In the order of arrival."""
    stored: int = 0
    """Questions that a reply from before answered."""


_CALLS: ContextVar[CallLog | None] = ContextVar("_CALLS", default=None)
"""Calls of the measurement that is under way: questions are asked in tasks that it began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingSettings:
    """How a judge is asked, in values that any process can be given.

    The one declaration of these options: what is measured in a results folder has them too. The
    keywords of `evaluate`, `measure` and `measure_shards` are written out for their callers.
    """

    base_url: str | None = None
    profile: JudgeProfile = DEFAULT_PROFILE
    concurrency: int = CONCURRENCY
    """Questions in flight at once, of each worker."""
    image_hosts: Collection[str] = ()
    timeout_s: float | None = None
    budget_usd: float | None = None
    """What all calls together may cost in US dollars; None: anything."""
    budget_tokens: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    @property
    def budget_caps(self) -> BudgetCaps:
        """What may be spent."""
        nusd = None if self.budget_usd is None else round(self.budget_usd * NUSD)
        return BudgetCaps(nusd, self.budget_tokens)

    @property
    def has_budget(self) -> bool:
        """Whether anything limits what may be spent."""
        return self.budget_usd is not None or self.budget_tokens is not None

    @property
    def speed_limit(self) -> SpeedLimit:
        """How fast the judge may be asked."""
        return SpeedLimit(self.requests_per_minute, self.tokens_per_minute)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingOptions(AskingSettings):
    """How the library asks a judge, with what is open in this process."""

    images: Mapping[str, bytes] = field(default_factory=dict)
    replies: MemoryReplyCache | None = None
    redact: Redact | None = None
    """Applied to every text before it leaves the process; None: nothing is."""
    prices: PriceTable | None = None
    """What calls cost; None: as `genai-prices` says."""

    def check(self) -> None:
        """Refuse what cannot be meant, before anything is asked.

        Raises:
            InputError: A value of another type.
            ConfigError: A value out of its range.
        """
        require_type(self.images, Mapping, "images", "bytes by the SHA-256 of each image")
        for digest, data in self.images.items():
            require_type(digest, str, "images", "SHA-256 digests as texts")
            require_type(data, bytes, f"images[{digest!r}]", "the bytes of the image")
        require_type(self.base_url, str | None, "base_url", "an address, or None")
        expected = "a JudgeProfile such as JudgeProfile(temperature=0.2), or None"
        require_type(self.profile, JudgeProfile, "profile", expected)
        require_type(self.concurrency, int, "concurrency", "a whole number, 1 or more")
        if self.timeout_s is not None:
            require_type(self.timeout_s, int | float, "timeout_s", "a number of seconds")
            require_valid_timeout(self.timeout_s, "timeout_s")
        if self.concurrency < 1:
            raise ConfigError(f"concurrency is {self.concurrency}; expected 1 or more")
        for name in ("budget_usd", "budget_tokens", "requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            require_type(value, int | float | None, name, "a number above 0, or None")
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise ConfigError(f"{name} is {value}; expected a number above 0, or None")
        expected = "a MemoryReplyCache, or None"
        require_type(self.replies, MemoryReplyCache | None, "replies", expected)


class SharedLimits:
    """What all judges of one call of the library share. Belongs to one event loop."""

    def __init__(
        self,
        options: AskingOptions,
        *,
        replies: ReplyCache | None = None,
        get_limiter: Callable[[str], RequestLimiter | None] | None = None,
        budget: SpendingLimit | None = None,
        breaker: CircuitBreaker | None = None,
        sender: QuestionSender | None = None,
        tally: CallCounts | None = None,
        was_answered: bool = False,
    ) -> None:
        """Begin; nothing is asked yet.

        Args:
            options: How the judges are asked.
            replies: Where replies are kept; None: as the options say, else in memory.
            get_limiter: Gives the limiter of an account that others ask too; None: nobody else
                asks.
            budget: What others may spend too; None: that of the options.
            breaker: Stops when too much fails; None: nothing does.
            sender: Brings questions to the judge; None: one request at once for each.
            tally: Where calls are counted; None for one of its own.
            was_answered: The judge answered before, so that a silence is worth a wait.
        """
        self.was_answered = was_answered
        self.slots = ConcurrencyLimit(options.concurrency)
        self.tally = tally or CallCounts()
        self.replies: ReplyCache = replies or options.replies or MemoryReplyCache()
        self.get_limiter: Callable[[str], RequestLimiter | None] = (
            get_limiter or RateLimiters(options.speed_limit).get_limiter
        )
        self.budget: SpendingLimit = budget or Budget(options.budget_caps)
        self.breaker = breaker
        self.sender = sender


class MeasurementSession:
    """Measures conversations with one judge. Belongs to one event loop."""

    def __init__(
        self,
        judge: Judge,
        options: AskingOptions,
        shared: SharedLimits,
        profile: JudgeProfile,
        refused: RefusedParameters,
    ) -> None:
        self._judge = judge
        self._options = options
        self._shared = shared
        self._profile = profile
        self._refused = refused
        self._format_fallback = OutputFormatFallback(judge.ref, judge.output_formats)
        self._pricing = _choose_pricing(judge.ref, options)
        self._askers: dict[int, tuple[Metric[Any], Asker]] = {}

    async def measure(
        self,
        metric: Metric[Any],
        conversation: Conversation,
        claims: Sequence[Claim] | None = None,
        *,
        log: CallLog | None = None,
    ) -> Measurement:
        """Measure one conversation.

        Args:
            metric: By what.
            conversation: What to measure.
            claims: Judge these instead of extracting any; None extracts.
            log: Where its calls are noted, also when it fails; None: in the result alone.

        Raises:
            FaithtuiError: As `measure` says.
        """
        began = time.perf_counter()
        log = log or CallLog()
        assessments: tuple[Assessment, ...] = ()
        reason = metric.explain_skip(conversation)
        if reason is not None:
            conclusion = Conclusion(make_empty_score(ScoreState.SKIPPED, reason), None)
        else:
            token = _CALLS.set(log)
            try:
                ask = self._get_or_make_asker(metric).bind_to_item(None)
                assessments, conclusion = await assess_conversation(
                    metric, conversation, ask, claims
                )
            finally:
                _CALLS.reset(token)
        return make_measurement(
            metric,
            metric_options_to_json(metric),
            self._judge.ref,
            conversation,
            assessments,
            conclusion,
            log.calls,
            round((time.perf_counter() - began) * 1000),
            self._profile.describe(self._refused.names),
        )

    async def drain(self) -> None:
        """Send nothing more, and wait for the answers in flight: they are paid for."""
        for _, asker in self._askers.values():
            await asker.drain()

    async def aclose(self) -> None:
        """Cancel what nobody waits for any more."""
        for _, asker in self._askers.values():
            await asker.aclose()

    def _get_or_make_asker(self, metric: Metric[Any]) -> Asker:
        """Give the asker of a metric: its options may set a pace of their own."""
        if id(metric) not in self._askers:
            shared = self._shared
            asker = Asker(
                self._judge,
                shared.replies,
                slots=ConcurrencyLimit(1) if metric.pace.one_call else shared.slots,
                tally=shared.tally,
                format_fallback=self._format_fallback,
                limiter=shared.get_limiter(self._judge.account),
                budget=shared.budget,
                breaker=shared.breaker,
                sender=shared.sender,
                was_answered=shared.was_answered,
                pricing=self._pricing,
                pace=metric.pace,
                load_image=_CallerImages(self._options.images),
                on_reply=self._add_reply_to_call_log,
                answer_limit=self._profile.max_tokens,
            )
            self._askers[id(metric)] = metric, asker
        return self._askers[id(metric)][1]

    def _add_reply_to_call_log(self, step: str, reply: JudgeReply, stored: bool) -> None:
        log = _CALLS.get()
        if log is None:
            return
        if stored:
            log.stored += 1
        else:
            log.calls.append(make_call_record(step, reply, self._judge.ref, self._options.base_url))


@asynccontextmanager
async def open_session(
    judge: AnyJudge, options: AskingOptions, shared: SharedLimits
) -> AsyncIterator[MeasurementSession]:
    """Open a judge for measurements; leaving the context gives up what is not answered.

    Raises:
        ConfigError: Unknown judge, a key that is missing, or a budget in money for a judge whose
            price is not known.
    """
    refused = RefusedParameters()
    opened: AbstractAsyncContextManager[Judge]
    if isinstance(judge, str):
        profile = check_and_adapt_judge_profile(judge, options.profile)
        opened = open_judge(
            judge,
            base_url=options.base_url,
            profile=profile,
            refused=refused,
            timeout_s=options.timeout_s,
            redact=options.redact,
        )
    else:
        profile = NO_PARAMETERS
        opened = nullcontext(_wrap_caller_judge(judge, options))
    async with opened as answering:
        session = MeasurementSession(answering, options, shared, profile, refused)
        try:
            yield session
        finally:
            await session.aclose()


def check_image_hosts_allowed(
    conversation: Conversation, judge: AnyJudge, options: AskingOptions
) -> None:
    """Refuse images whose addresses the judge may not be sent.

    Raises:
        ImageHostNotAllowed: There are some.
        InputError: A host that is allowed is none.
    """
    hosts = parse_image_hosts(options.image_hosts)
    if isinstance(judge, LocalJudge):
        return
    by_address = [each for each in conversation.images if each.sha256 not in options.images]
    check_image_addresses(
        by_address, judge if isinstance(judge, str) else get_ref_or_class_name(judge), hosts
    )


_JUDGE_ATTRIBUTES = (
    "ref",
    "fingerprint",
    "takes_images",
    "context_window",
    "output_formats",
    "account",
)


def check_judge_protocol(judge: object) -> None:
    """Refuse what is no judge.

    Raises:
        InputError: It is neither a reference nor an object with `send` or `answer`, or it lacks
            what the protocol Judge has.
    """
    if isinstance(judge, type) or not (hasattr(judge, "send") or hasattr(judge, "answer")):
        expected = "a text such as openai:MODEL, or an object with `answer` or the protocol Judge"
        require_type(judge, str, "judge", expected)
    if isinstance(judge, str) or not hasattr(judge, "send"):
        return
    missing = [each for each in _JUDGE_ATTRIBUTES if not hasattr(judge, each)]
    if missing:
        raise InputError(
            f"has no {', '.join(missing)}; the protocol Judge says what", field="judge"
        )


def parse_image_hosts(named: Collection[str]) -> list[str]:
    """Read the hosts a caller names.

    Raises:
        InputError: One of them is none.
    """
    expected = "a list of hosts such as cdn.example.com, or *"
    require_items(named, Collection, str, "image_hosts", expected)
    hosts = [parse_host_name(each) for each in named]
    for host, each in zip(hosts, named, strict=True):
        if host is None:
            raise InputError(f"holds {each[:80]!r}; expected {expected}", field="image_hosts")
        problem = find_host_problem(host)
        if problem is not None:
            raise InputError(f"holds {each[:80]!r}, {problem}", field="image_hosts")
    return [host for host in hosts if host is not None]


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
            JudgeUnavailable: It raised something that is no error of faithtui.
        """
        try:
            reply: object = self._judge.send(request)
            if inspect.isawaitable(reply):
                reply = await reply
        except FaithtuiError:
            raise
        # It is the caller's code and may raise anything; what it raised is the cause.
        except Exception as error:
            raise make_unavailable_error(get_ref_or_class_name(self._judge), error) from error
        require_type(reply, JudgeReply, "judge.send", "a JudgeReply, such as JudgeReply(text)")
        assert isinstance(reply, JudgeReply)
        return reply


def _wrap_caller_judge(judge: Judge | CustomJudge, options: AskingOptions) -> Judge:
    """Take a caller's judge in the form the engine asks; the caller closes it."""
    if hasattr(judge, "send"):
        return cast(Judge, _CheckedJudge(cast(Judge, judge)))
    return CustomJudgeAdapter(
        judge,
        get_ref_or_class_name(judge),
        options.base_url,
        timeout_s=options.timeout_s or TIMEOUT_S,
    )


def _choose_pricing(ref: str, options: AskingOptions) -> Pricing:
    """Find the prices of a judge.

    Raises:
        ConfigError: There is a budget in money, and the price is not known.
    """
    pricing: Pricing = TablePrices(options.prices or read_price_table(), ref, options.base_url)
    try:
        known = pricing.compute_max_cost_nusd(1, 1) is not None
    except ConfigError:  # a judge of the caller's own, under a name that no provider has
        pricing, known = NoPrices(), False
    if options.budget_usd is not None and not known:
        raise ConfigError(
            f"the price of {ref} is not known, so budget_usd cannot be kept; use budget_tokens"
        )
    return pricing


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
