"""The contract between a metric and everything around it.

A metric asks and scores. It never logs, sleeps, retries, opens a file or keeps state; its only
effect is to await `ask`. Nothing outside a metric's file may ask which metric it is: what screens,
store and exports need stands in `MetricSpec` and `ScoringRule`.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from faithtui.domain.assessment import Assessment, Claim, Conclusion
from faithtui.domain.conversation import Conversation
from faithtui.domain.labels import LabelSet
from faithtui.domain.scores import ScoringRule
from faithtui.domain.tasks import Task
from faithtui.domain.windows import Window
from faithtui.errors import JudgeAuthFailed, JudgeQuotaExceeded

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
FindingsT = TypeVar("FindingsT")

STOPS_THE_RUN = (JudgeAuthFailed, JudgeQuotaExceeded)
"""Errors after which no other question can succeed either; a metric lets them through."""


class Mismatch(ValueError):
    """A reply does not have the shape it must have; the text is meant for the judge."""


@dataclass(frozen=True, slots=True)
class ReplyShape(Generic[T_co]):
    """What a reply must look like, and how it becomes a value."""

    schema: Mapping[str, object]
    """JSON Schema sent to the judge: an object, all properties required, none additional."""
    read: Callable[[object, bool], T_co]
    """From parsed JSON, and whether the provider was bound to the schema, to the value.

    Raises Mismatch, with a sentence the judge can act on, when the reply cannot be used.
    """
    parse: Callable[[str], object] | None = None
    """A peer's own way from a reply's text to JSON; raises Mismatch. None: the engine's."""


@dataclass(frozen=True, slots=True)
class Question(Generic[T_co]):
    """One question of a metric."""

    step: str
    """Kind of question, unique within the metric: `truths`, `claims`, `verdicts`, …"""
    task: Task
    system: str
    prompt: str
    reply: ReplyShape[T_co]
    max_tokens: int


class Ask(Protocol):
    """Put one question to the judge and get a parsed reply. The only effect a metric has."""

    @property
    def takes_images(self) -> bool:
        """Whether the judge behind it accepts images."""

    def __call__(self, question: Question[T]) -> Coroutine[object, object, T]:
        """Ask, and wait for the answer.

        Raises:
            JudgeError: No usable answer after everything that could be tried.
        """


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """What the rest of the program knows about a metric."""

    key: str
    """Hyphenated name on the command line and in the store."""
    title: str
    """Name on screens."""
    version: str
    """Changes when questions or arithmetic change."""
    peer: str
    """System and version whose metric this is, such as `deepeval 4.3.1`."""
    labels: LabelSet
    has_truths: bool
    """Whether the judge draws truths from the context first."""
    claims_from: str
    """Where claims come from, in words for the screen: `answer`."""


class Metric(Protocol[FindingsT]):
    """A metric with its options. Implementations are frozen dataclasses; the fields are options."""

    @property
    def spec(self) -> MetricSpec:
        """What the rest of the program knows about it."""

    @property
    def rule(self) -> ScoringRule:
        """How its labels become scores under its options."""

    @property
    def prompt_digest(self) -> str:
        """64 hexadecimal digits that change when any prompt text changes."""

    def windows(self, conversation: Conversation) -> tuple[Window, ...]:
        """Cut the conversation; () when the metric finds nothing to judge."""

    def why_skipped(self, conversation: Conversation) -> str | None:
        """Say why the metric does not apply to this conversation; None when it does."""

    async def gather(
        self,
        conversation: Conversation,
        ask: Ask,
        claims: Sequence[Claim] | None = None,
    ) -> FindingsT:
        """Ask everything there is to ask about a conversation, each question once.

        A question that fails is kept as a failure of the windows that needed it.

        Args:
            conversation: All of it, whatever the window size.
            ask: The judge.
            claims: Judge these instead of extracting any; None extracts.

        Raises:
            MetricError: The metric cannot apply to this conversation.
            JudgeAuthFailed, JudgeQuotaExceeded: No other question can succeed either.
            JudgeError: Under a peer's rules, where one failure loses the conversation.
        """

    def assess(self, findings: FindingsT, window: Window) -> Assessment:
        """Score one window from what was gathered. Pure."""

    async def conclude(self, assessments: Sequence[Assessment], ask: Ask) -> Conclusion:
        """Combine all windows, in order, and ask for a final reason where the options want one."""
