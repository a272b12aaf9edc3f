"""A judge behind an `Ask` that knows the facts, and can be made to answer something else.

And conversations whose facts it knows: made by hand, and random ones for contextual relevancy.
"""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st

from faithtui.domain.claims.verdicts import Assessment, Claim, Conclusion
from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.judging.tasks import FindEvidence
from faithtui.domain.scores import ScoreState
from faithtui.engine.calls.metric_driver import assess_conversation
from faithtui.errors import JudgeError, JudgeReplyInvalid, JudgeTimeout
from faithtui.judges.base import JudgeRequest
from faithtui.metrics.base import JudgeTraits, Metric, Question, ReplyMismatch
from faithtui.metrics.registry import build
from tests.parity.run_cases import STRATEGIES, OracleJudge

T = TypeVar("T")
Json = Any

Script = Callable[[Question[Any], Json], Json]
"""Gets a question and the honest answer, and gives the answer to use: JSON, a text where the reply
is one, or a JudgeError."""
RELEVANCY = "turn-contextual-relevancy"
DOCUMENTS = ("", " ", "Doc A.", "Doc B.", "Doc C.")
MESSAGES = ("Why?", "Where?", "When?", " ", "")
TEXTS = ("One.", "Two.", " two. ", "Three.", " ")
CLEAR = ("yes", "no")
SLOPPY = (*CLEAR, "Yes, clearly", " NO: other", "idk", "borderline", "", "**yes**", None, 1, True)


def honest(question: Question[Any], answer: Json) -> Json:
    return answer


class ScriptedAsk:
    """Answers from an oracle in the format of the parity cases; keeps every question."""

    def __init__(
        self, oracle: Mapping[str, Json], script: Script = honest, *, takes_images: bool = False
    ) -> None:
        self._oracle = OracleJudge(oracle)
        self._script = script
        self._takes_images = takes_images
        self._in_flight = 0
        self.most_in_flight = 0
        self.questions: list[Question[Any]] = []

    @property
    def judge_traits(self) -> JudgeTraits:
        return JudgeTraits(self._takes_images, self._oracle.context_window)

    def hold_answer_slot(self) -> contextlib.AbstractAsyncContextManager[object]:
        return contextlib.nullcontext()

    async def __call__(self, question: Question[T], window: int | None = None) -> T:
        self.questions.append(question)
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            await asyncio.sleep(0)
            request = JudgeRequest(
                question.step, question.task, question.system, question.prompt, {}, 1
            )
            reply = await self._oracle.send(request)
            plain = question.reply.schema is None
            answer = self._script(question, reply.text if plain else json.loads(reply.text))
        finally:
            self._in_flight -= 1
        if isinstance(answer, JudgeError):
            raise answer
        try:
            return question.reply.read(answer, reply.structured)
        except ReplyMismatch as error:
            raise JudgeReplyInvalid(str(error), raw=reply.text) from error

    @property
    def steps(self) -> Counter[str]:
        return Counter(question.step for question in self.questions)

    def tasks(self, kind: type[T]) -> list[T]:
        return [each.task for each in self.questions if isinstance(each.task, kind)]

    def pairs(self) -> list[tuple[str, str]]:
        """Every (claim, truth) that was compared, repeats kept."""
        return [
            (claim, truth)
            for task in self.tasks(FindEvidence)
            for group in task.groups
            for claim in group.claims
            for truth in group.truths
        ]


def metric(key: str = "turn-faithfulness", **options: object) -> Metric[Any]:
    return build(key, options)


def conversation(*turns: Turn) -> Conversation:
    return Conversation("test", "1", turns, "1")


def exchange(question: str, answer: str, *documents: str) -> tuple[Turn, Turn]:
    return (
        Turn("user", question),
        Turn("assistant", answer, tuple(Document(text) for text in documents)),
    )


def make_conversation(count: int) -> Conversation:
    """Interactions that each retrieve a document of their own."""
    return conversation(
        *(turn for n in range(count) for turn in exchange(f"Q{n}?", f"A{n}.", f"D{n}."))
    )


def facts(count: int) -> dict[str, Json]:
    """What the judge knows of `make_conversation`: two truths and claims each, one wrong."""
    return {
        "truths": {f"D{n}.": [f"d{n} one", f"d{n} two"] for n in range(count)},
        "claims": {f"A{n}.": [f"a{n} one", f"a{n} two"] for n in range(count)},
        "verdicts": {f"a{n} one": {"yes_if_any": [f"d{n} one"]} for n in range(count)}
        | {f"a{n} two": {"no_if_any": [f"d{n} two"]} for n in range(count)},
    }


def relevancy(**options: object) -> Metric[Any]:
    return build(RELEVANCY, options)


def statement(text: str, *serves: str, **more: Json) -> Json:
    """A statement and the messages it serves; `*` is all of them."""
    return {"statement": text, "relevant_to": "*" if "*" in serves else list(serves), **more}


def served(count: int) -> dict[str, Json]:
    """What it knows of the same for relevancy: of each document a statement for its own question,
    one for the next question, and one for none."""
    return {
        "statements": {
            f"D{n}.": [
                statement(f"own {n}", f"Q{n}?"),
                statement(f"next {n}", f"Q{n + 1}?"),
                statement(f"none {n}"),
            ]
            for n in range(count)
        }
    }


async def judge(
    metric: Metric[Any],
    conversation: Conversation,
    ask: ScriptedAsk,
    claims: Sequence[Claim] | None = None,
) -> tuple[list[Assessment], Conclusion]:
    """Run a metric as the engine does."""
    assessments, conclusion = await assess_conversation(metric, conversation, ask, claims)
    return list(assessments), conclusion


both = pytest.mark.parametrize("strategy", STRATEGIES)

DOWN = JudgeTimeout("the judge did not answer")


def labels(assessments: list[Assessment]) -> list[list[str | None]]:
    return [[each.label for each in found.verdicts] for found in assessments]


def states(assessments: list[Assessment]) -> list[ScoreState]:
    return [found.score.state for found in assessments]


def failing(step: str, about: Callable[[Any], bool], error: JudgeError = DOWN) -> Script:
    """Fail the questions of one step whose task is about something."""

    def script(question: Question[Any], answer: Json) -> Json:
        return error if question.step == step and about(question.task) else answer

    return script


def anything(task: object) -> bool:
    return True


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """Exchanges with several messages and answers, in which texts and documents come back."""
    turns: list[Turn] = []
    for _ in range(draw(st.integers(1, 8))):
        for _ in range(draw(st.integers(1, 2))):
            turns.append(Turn("user", draw(st.sampled_from(MESSAGES))))
        for _ in range(draw(st.sampled_from((1, 1, 2)))):
            documents = draw(st.none() | st.lists(st.sampled_from(DOCUMENTS), max_size=3))
            context = None if documents is None else tuple(map(Document, documents))
            turns.append(Turn("assistant", "A.", context))
    return conversation(*turns)


def oracles(words: Sequence[Json] = CLEAR) -> st.SearchStrategy[dict[str, list[Json]]]:
    """Statements of documents; `words` are the verdicts some have whatever is asked."""
    texts = st.sampled_from(TEXTS)
    serves = st.just("*") | st.lists(st.sampled_from(MESSAGES), max_size=3)
    serving = st.fixed_dictionaries({"statement": texts, "relevant_to": serves})
    said = st.fixed_dictionaries({"statement": texts, "verdict": st.sampled_from(words)})
    return st.dictionaries(
        st.sampled_from(DOCUMENTS), st.lists(serving | said, max_size=4), max_size=5
    )
