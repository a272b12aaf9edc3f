import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.judging.tasks import ExplainScore
from faithtui.engine.calls.metric_driver import AnswerOutstanding, drive_questions
from faithtui.errors import JudgeError, JudgeTimeout
from faithtui.metrics.base import (
    JudgeTraits,
    Question,
    Questions,
    ReplyShape,
    ask,
    ask_branches,
)

T = TypeVar("T")


def question(name: str) -> Question[str]:
    return Question(
        "reason", ExplainScore(1.0, ()), "", name, ReplyShape(None, lambda said, _: str(said)), 10
    )


class Desk:
    """Answers questions in capital letters, or as a function says. A `Respondent`."""

    def __init__(self, answer: Callable[[str], str] = str.upper, places: int = 100) -> None:
        self.judge_traits = JudgeTraits()
        self.asked: list[tuple[str, int | None]] = []
        self.inside = self.most_inside = 0
        self._answer = answer
        self._places = asyncio.Semaphore(places)

    @contextlib.asynccontextmanager
    async def hold_answer_slot(self) -> AsyncIterator[None]:
        async with self._places:
            self.inside += 1
            self.most_inside = max(self.most_inside, self.inside)
            yield
            self.inside -= 1

    async def __call__(self, question: Question[T], window: int | None = None) -> T:
        self.asked.append((question.prompt, window))
        await asyncio.sleep(0)
        return question.reply.read(self._answer(question.prompt), False)

    @property
    def prompts(self) -> list[str]:
        return [prompt for prompt, _ in self.asked]


def ask_in_turn(*names: str) -> Questions[str]:
    said = []
    for name in names:
        said.append((yield from ask(question(name))))
    return "".join(said)


def outstanding(*names: str) -> Callable[[str], str]:
    def answer(prompt: str) -> str:
        if prompt in names:
            raise AnswerOutstanding
        return prompt.upper()

    return answer


def failing(*names: str) -> Callable[[str], str]:
    def answer(prompt: str) -> str:
        if prompt in names:
            raise JudgeTimeout(prompt)
        return prompt.upper()

    return answer


async def test_a_question_is_put_on_behalf_of_its_window() -> None:
    collector = Desk()
    assert await drive_questions(ask(question("a"), 3), collector) == "A"
    assert await drive_questions(ask(question("b")), collector) == "B"
    assert collector.asked == [("a", 3), ("b", None)]


async def test_questions_that_ask_nothing_have_an_outcome() -> None:
    def nothing() -> Questions[int]:
        yield from ()
        return 7

    assert await drive_questions(nothing(), Desk()) == 7
    assert await drive_questions(ask_branches([nothing(), nothing()]), Desk()) == [7, 7]
    assert await drive_questions(ask_branches([]), Desk()) == []


@pytest.mark.parametrize("at_once", [True, False])
async def test_branches_give_their_outcomes_in_order(at_once: bool) -> None:
    collector = Desk()
    branches = [ask_in_turn("a", "b", "c"), ask_in_turn("x"), ask_in_turn("m", "n")]
    assert await drive_questions(ask_branches(branches, at_once=at_once), collector) == [
        "ABC",
        "X",
        "MN",
    ]
    if at_once:
        assert collector.prompts == ["a", "x", "m", "b", "n", "c"]
    else:
        assert collector.prompts == ["a", "b", "c", "x", "m", "n"]


async def test_branches_have_branches() -> None:
    inner = ask_branches([ask_in_turn("a"), ask_in_turn("b")])
    assert await drive_questions(ask_branches([inner, ask_in_turn("c")]), Desk()) == [
        ["A", "B"],
        "C",
    ]


async def test_a_failed_question_is_an_error_where_it_was_asked() -> None:
    def forgiving() -> Questions[str]:
        try:
            return (yield from ask(question("bad")))
        except JudgeError as error:
            return f"failed: {error}" + (yield from ask(question("next")))

    assert await drive_questions(forgiving(), Desk(failing("bad"))) == "failed: badNEXT"


@pytest.mark.parametrize("at_once", [True, False])
async def test_an_error_of_a_branch_comes_out_itself_and_ends_the_others(at_once: bool) -> None:
    collector = Desk(failing("bad"))
    branches = [ask_in_turn("bad", "never"), ask_in_turn("a", "b", "c", "d", "e")]
    with pytest.raises(JudgeTimeout, match="bad"):
        await drive_questions(ask_branches(branches, at_once=at_once), collector)
    assert "never" not in collector.prompts
    assert "e" not in collector.prompts


async def test_an_error_that_a_metric_makes_comes_out_itself() -> None:
    def broken() -> Questions[None]:
        yield from ask(question("a"))
        raise KeyError("a bug")

    with pytest.raises(KeyError, match="a bug"):
        await drive_questions(ask_branches([broken()]), Desk())


async def test_branches_of_answers_take_places() -> None:
    collector = Desk(places=2)
    branches = [ask_in_turn(f"a{n}", f"b{n}") for n in range(5)]
    await drive_questions(ask_branches(branches, per_answer=True), collector)
    assert collector.most_inside == 2
    await drive_questions(ask_branches([ask_in_turn("c")]), collector)
    assert collector.most_inside == 2


async def test_where_an_answer_is_outstanding_the_other_branches_go_on() -> None:
    collector = Desk(outstanding("b"))
    after: list[str] = []

    def both() -> Questions[None]:
        yield from ask_branches([ask_in_turn("a", "b", "never"), ask_in_turn("x", "y", "z")])
        after.append("never")

    with pytest.raises(AnswerOutstanding):
        await drive_questions(both(), collector)
    assert sorted(collector.prompts) == ["a", "b", "x", "y", "z"]
    assert after == []


async def test_one_after_the_other_nothing_is_asked_behind_an_outstanding_answer() -> None:
    collector = Desk(outstanding("b"))
    branches = [ask_in_turn("a", "b", "never"), ask_in_turn("never")]
    with pytest.raises(AnswerOutstanding):
        await drive_questions(ask_branches(branches, at_once=False), collector)
    assert collector.prompts == ["a", "b"]


async def test_what_a_metric_tidies_up_is_tidied_where_an_answer_is_outstanding() -> None:
    tidied: list[str] = []

    def careful() -> Questions[None]:
        try:
            yield from ask(question("a"))
        finally:
            tidied.append("done")

    with pytest.raises(AnswerOutstanding):
        await drive_questions(careful(), Desk(outstanding("a")))
    assert tidied == ["done"]


async def test_cancelling_ends_every_branch() -> None:
    begun = asyncio.Event()

    class Waiting(Desk):
        async def __call__(self, question: Question[T], window: int | None = None) -> T:
            begun.set()
            await asyncio.get_running_loop().create_future()
            return await super().__call__(question, window)

    asking = asyncio.create_task(
        drive_questions(ask_branches([ask_in_turn("a"), ask_in_turn("b")]), Waiting())
    )
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


Tree = Any
"""A number of questions asked in turn, or trees asked at once or in turn."""

trees = st.recursive(
    st.integers(0, 3),
    lambda below: st.tuples(st.booleans(), st.lists(below, min_size=1, max_size=4)),
    max_leaves=20,
)


def ask_tree(tree: Tree, name: str = "") -> Questions[str]:
    if isinstance(tree, int):
        return (yield from ask_in_turn(*(f"{name}.{n}" for n in range(tree))))
    at_once, below = tree
    parts = (ask_tree(each, f"{name}{n}") for n, each in enumerate(below))
    return "".join((yield from ask_branches(parts, at_once=at_once)))


@given(trees, st.data())
async def test_passes_over_answers_that_come_in_parts_end_where_one_pass_ends(
    tree: Tree, data: st.DataObject
) -> None:
    live = Desk()
    outcome = await drive_questions(ask_tree(tree), live)
    there: set[str] = set()
    passes = 0
    while True:
        collector = Desk(outstanding(*set(live.prompts) - there))
        try:
            found = await drive_questions(ask_tree(tree), collector)
        except AnswerOutstanding:
            wanted = [each for each in collector.prompts if each not in there]
            assert wanted, "whoever waits says for what"
            assert len(set(wanted)) == len(wanted)
            come = data.draw(st.sets(st.sampled_from(wanted), min_size=1))
            there |= come
            passes += 1
            continue
        break
    assert found == outcome
    assert there == set(live.prompts), "asked are the same questions, each once"
    assert passes <= len(there)
