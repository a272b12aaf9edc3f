"""The contract between a metric and everything around it.

A metric asks and scores. It never logs, sleeps, retries, opens a file or keeps state; it yields
questions and receives parsed replies, and knows no event loop. Nothing outside a metric's file may
ask which metric it is: what screens, store and exports need stands in `MetricSpec` and
`ScoringRule`.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from faithtui.domain.claims.verdicts import Assessment, Claim, ClaimKind, Conclusion
from faithtui.domain.conversation import Conversation, Image
from faithtui.domain.integrity.run_summary import IntegritySummary
from faithtui.domain.judging.tasks import Task
from faithtui.domain.labels.label_sets import LabelSet
from faithtui.domain.scores import ScoringRule
from faithtui.domain.windows import Window
from faithtui.errors import JudgeUnusable
from faithtui.metrics.prompt_texts import PromptSet

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
FindingsT = TypeVar("FindingsT")

STOPS_THE_RUN = (JudgeUnusable,)
"""Errors after which no other question can succeed either; a metric lets them through."""


AGAIN_SUFFIX: Final = "-again"
"""Ends the step of a question that asks about claims which other questions asked about before."""


class ReplyMismatch(ValueError):
    """A reply does not have the shape it must have; the text is meant for the judge."""


@dataclass(frozen=True, slots=True)
class ReplyShape(Generic[T_co]):
    """What a reply must look like, and how it becomes a value."""

    schema: Mapping[str, object] | None
    """JSON Schema sent to the judge: an object, all properties required, none additional. None:
    the reply is plain text, and `read` gets it as it came."""
    read: Callable[[object, bool], T_co]
    """From parsed JSON, and whether the provider was bound to the schema, to the value.

    Raises Mismatch, with a sentence the judge can act on, when the reply cannot be used.
    """
    parse: Callable[[str], object] | None = None
    """A peer's own way from a reply's text to JSON; raises Mismatch. None: the engine's."""


@dataclass(slots=True)
class AnswerCount:
    """How often a question was answered. The engine counts; a metric only hands it on."""

    answers: int = 0
    problem: str = ""
    """What was wrong with the last answer; "" when it could be used, or none came."""
    raw: str = ""
    """That answer, as it came."""
    is_earlier: bool = False
    """The last answer was stored before what it leaves out was to be asked for again: to have been
    given it then uses up nothing now."""
    empty: int = 0
    """Replies that could be read and said nothing of what was asked."""


def _return_true(value: object) -> bool:
    return True


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
    images: tuple[Image, ...] = ()
    """Images the prompt refers to by their marks."""
    replicate: int = 0
    """Counts up when the same question is asked again on purpose: a stored reply to it is no
    answer then."""
    count: AnswerCount = field(default_factory=AnswerCount, compare=False)
    """Shared by all that is asked in place of the same question: `dataclasses.replace` keeps it.
    A question that is asked again, whole or in part, gets the count of the first."""
    says_something: Callable[[Any], bool] = field(default=_return_true, compare=False)
    """Whether a reply, as `read` gives it, answers anything of the question. One that does not is
    kept like others, and counts as a failure of the judge."""


@dataclass(frozen=True, slots=True)
class AskOne:
    """A request of a metric: put one question. Answered with the reply, as its `read` gives it."""

    question: Question[Any]
    window: int | None = None
    """Position of the window that asks, where its cost is counted; None: the conversation."""


@dataclass(frozen=True, slots=True)
class AskAll:
    """A request of a metric: go through several branches of questions.

    Answered with the list of their outcomes, in the order of the branches. The first error of a
    branch is the answer otherwise, and the other branches are given up.
    """

    branches: "Iterable[Questions[Any]]"
    at_once: bool = True
    """Their questions may be put at the same time; False: one branch after the other."""
    per_answer: bool = False
    """Each branch judges one answer, of which `QuestionPace.answers` may be in flight."""


Request: TypeAlias = AskOne | AskAll

Questions: TypeAlias = Generator[Request, Any, T]
"""Questions that come to an outcome: a generator that yields requests, is sent what they are
answered with, gets a JudgeError thrown in where a question failed, and returns the outcome."""


def ask(question: Question[T], window: int | None = None) -> Questions[T]:
    """Put one question, and give its reply.

    Args:
        question: The question.
        window: Position of the window that asks; None: the conversation as a whole.

    Raises:
        JudgeError: No usable answer after everything that could be tried.
    """
    reply: T = yield AskOne(question, window)
    return reply


def ask_branches(
    branches: Iterable[Questions[T]], *, at_once: bool = True, per_answer: bool = False
) -> Questions[list[T]]:
    """Go through several branches of questions, and give their outcomes in order; see `AskAll`.

    Raises:
        Exception: The first that any branch raised.
    """
    outcomes: list[T] = yield AskAll(branches, at_once, per_answer)
    return outcomes


@dataclass(frozen=True, slots=True)
class JudgeTraits:
    """What a metric may know of the judge that will answer."""

    takes_images: bool = False
    """Whether it accepts images."""
    context_window: int | None = None
    """How many tokens it can read and write at once; None when nobody knows."""


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
    judges: ClaimKind
    """What gets a verdict. Ratings of answers are compared with `claim` and `answer`."""
    units: tuple[str, str]
    """Its name on screens, one and many: `claim`, `claims`."""
    references: str | None
    """Heading of what units are checked against (`truths`); None: the judge reads the passages."""
    references_are_facts: bool
    """References were drawn from documents; else they are messages of the conversation."""
    nothing_judged: str
    """Sentence for a window without units; what that scores is the rule's to say."""
    nothing_checked: str
    """Sentence for the place of the references, where there are none."""
    context_from: str
    """Whose retrieval context is read, in words that follow `not used: this metric reads`."""

    def format_integrity_sentence(self, found: IntegritySummary) -> str:
        """Say what stands against a score of this metric; "" when nothing does.

        Args:
            found: What the checks say of a run, or of a conversation of it.
        """
        return found.format_sentence(
            self.units, of="passage" if self.judges == "statement" else "answer"
        )


@dataclass(frozen=True, slots=True)
class QuestionPace:
    """How fast a metric's options allow questions to be put. The engine keeps to it."""

    one_call: bool = False
    """One question at a time, in the whole run."""
    answers: int | None = None
    """At most so many answers in flight at once, in the whole run; None: no limit of its own."""
    pause_s: float = 0.0
    """Seconds to wait before each call."""


class Metric(Protocol[FindingsT]):
    """A metric with its options. Implementations are frozen dataclasses; the fields are options."""

    @property
    def spec(self) -> MetricSpec:
        """What the rest of the program knows about it."""

    @property
    def rule(self) -> ScoringRule:
        """How its labels become scores under its options."""

    @property
    def prompts(self) -> PromptSet:
        """Its prompt texts, with holes for what is judged."""

    @property
    def prompt_digest(self) -> str:
        """64 hexadecimal digits that change when any prompt text changes."""

    @property
    def pace(self) -> QuestionPace:
        """How fast its options allow questions to be put."""

    @property
    def judge(self) -> str | None:
        """Judge that its options name, as `provider:model`; None: the run's."""

    @property
    def verbose_mode(self) -> bool:
        """Whether each conversation's steps are to be told on stderr."""

    def windows(self, conversation: Conversation) -> tuple[Window, ...]:
        """Cut the conversation; () when the metric finds nothing to judge."""

    def explain_skip(self, conversation: Conversation) -> str | None:
        """Say why the metric does not apply to this conversation; None when it does."""

    def gather(
        self, conversation: Conversation, judge: JudgeTraits, claims: Sequence[Claim] | None = None
    ) -> Questions[FindingsT]:
        """Ask everything there is to ask about a conversation, each question once.

        A question that fails is kept as a failure of the windows that needed it.

        Args:
            conversation: All of it, whatever the window size.
            judge: What the judge can do.
            claims: Judge these instead of extracting any; None extracts.

        Raises:
            MetricError: The metric cannot apply to this conversation.
            JudgeUnusable: No other question can succeed either.
            JudgeError: Under a peer's rules, where one failure loses the conversation.
        """

    def assess(self, findings: FindingsT, window: Window) -> Assessment:
        """Score one window from what was gathered. Pure."""

    def conclude(self, assessments: Sequence[Assessment]) -> Questions[Conclusion]:
        """Combine all windows, in order, and ask for a final reason where the options want one.

        Raises:
            NotFaithful: The options want an error instead of a failing result.
        """

    def make_peer_library_results(
        self,
        conversation: Conversation,
        assessments: Sequence[Assessment],
        conclusion: Conclusion,
        latency_ms: int,
    ) -> tuple[Mapping[str, object], ...]:
        """Say the result in the peer's words: its field names, with JSON values. Pure.

        Returns:
            One result where the peer measures a conversation; one per window where it measures an
            answer.
        """
