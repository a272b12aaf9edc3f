import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithtui.domain.claims.verdicts import Truth
from faithtui.domain.conversation import Document, Image, Turn
from faithtui.domain.judging.tasks import (
    ConcludeReasons,
    ExplainRelevance,
    JudgeDocument,
    RelateDocument,
)
from faithtui.domain.scores import ScoreState
from faithtui.metrics.base import Question
from faithtui.metrics.questions import list_documents
from faithtui.metrics.relevance.window_passages import make_window_views
from tests.metrics.scripted import (
    Json,
    Script,
    ScriptedAsk,
    both,
    conversation,
    conversations,
    exchange,
    judge,
    labels,
    make_conversation,
    oracles,
    relevancy,
    served,
    statement,
    states,
)
from tests.parity.run_cases import Strategy

T = TypeVar("T")


def of_windows(count: int, size: int) -> int:
    """Documents over all windows, when each interaction has one."""
    return sum(min(n, size) for n in range(1, count + 1))


# How many questions


@pytest.mark.parametrize(
    ("options", "calls"),
    [
        ({}, lambda n, w: n + 1),
        ({"include_reason": False}, lambda n, w: n),
        ({"strategy": "window"}, lambda n, w: of_windows(n, w) + 1),
        ({"strategy": "window", "include_reason": False}, of_windows),
        ({"strategy": "window", "as_peer": True}, lambda n, w: of_windows(n, w) + n + 1),
        ({"strategy": "window", "as_peer": True, "include_reason": False}, of_windows),
        ({"as_peer": True}, lambda n, w: 2 * n + 1),
        ({"as_peer": True, "include_reason": False}, lambda n, w: n),
    ],
)
@pytest.mark.parametrize("count", [1, 2, 12])
@pytest.mark.parametrize("window_size", [1, 2, 10])
async def test_evidence_asks_once_a_document_and_the_peer_once_a_document_and_window(
    options: dict[str, Any], calls: Callable[[int, int], int], count: int, window_size: int
) -> None:
    ask = ScriptedAsk(served(count))
    await judge(relevancy(**options, window_size=window_size), make_conversation(count), ask)
    assert len(ask.questions) == calls(count, window_size)


async def test_100_interactions_of_2_documents_cost_201_questions() -> None:
    talked = conversation(
        *(turn for n in range(100) for turn in exchange(f"Q{n}?", "A.", f"D{n}.", f"E{n}."))
    )
    ask = ScriptedAsk({"statements": {"D0.": [statement("s", "Q0?")]}})
    await judge(relevancy(), talked, ask)
    assert ask.steps == {"verdicts": 200, "final-reason": 1}
    assert max(len(task.messages) for task in ask.tasks(RelateDocument)) == 19


async def test_one_more_interaction_costs_its_own_document_and_those_it_can_meet() -> None:
    short, long = ScriptedAsk(served(5)), ScriptedAsk(served(6))
    using = relevancy(include_reason=False, window_size=3)
    await judge(using, make_conversation(5), short)
    await judge(using, make_conversation(6), long)
    before = {question.prompt for question in short.questions}
    assert sum(question.prompt not in before for question in long.questions) == 3


@both
async def test_blank_documents_are_asked_about_under_the_peers_rules_alone(
    strategy: Strategy,
) -> None:
    talked = conversation(*exchange("Q?", "A.", "", " ", "D."))
    for as_peer, documents in ((False, ["D."]), (True, ["", " ", "D."])):
        ask = ScriptedAsk({"statements": {}})
        using = relevancy(strategy=strategy, as_peer=as_peer)
        await judge(using, talked, ask)
        related, judged = ask.tasks(RelateDocument), ask.tasks(JudgeDocument)
        asked = [task.document for task in related] + [task.document for task in judged]
        assert asked == documents


@both
async def test_context_of_user_turns_and_answers_are_not_read(strategy: Strategy) -> None:
    talked = conversation(
        Turn("user", "Q0?", (Document("D0."),)), Turn("assistant", "Secret.", (Document("D1."),))
    )
    ask = ScriptedAsk(served(2))
    await judge(relevancy(strategy=strategy), talked, ask)
    assert ask.steps["verdicts"] == 1
    assert all("Secret" not in question.prompt for question in ask.questions)
    assert "D0." not in ask.questions[0].prompt


class SlowAsk(ScriptedAsk):
    """Takes its time, so that questions that may overlap do."""

    def __init__(self, oracle: dict[str, Json]) -> None:
        super().__init__(oracle)
        self._open = 0
        self.most_open = 0

    async def __call__(self, question: Question[T], window: int | None = None) -> T:
        self._open += 1
        self.most_open = max(self.most_open, self._open)
        for _ in range(50):
            await asyncio.sleep(0)
        answer = await super().__call__(question, window)
        self._open -= 1
        return answer


@both
async def test_one_question_at_a_time_without_async_mode(strategy: Strategy) -> None:
    for async_mode, one in ((False, True), (True, False)):
        ask = SlowAsk(served(4))
        using = relevancy(strategy=strategy, async_mode=async_mode, as_peer=True)
        await judge(using, make_conversation(4), ask)
        assert (ask.most_open == 1) == one


# What the judge is shown


async def test_a_document_meets_the_messages_of_all_windows_that_hold_it() -> None:
    ask = ScriptedAsk(served(5))
    await judge(relevancy(window_size=2), make_conversation(5), ask)
    assert ask.tasks(RelateDocument) == [
        RelateDocument("D0.", ("Q0?", "Q1?")),
        RelateDocument("D1.", ("Q0?", "Q1?", "Q2?")),
        RelateDocument("D2.", ("Q1?", "Q2?", "Q3?")),
        RelateDocument("D3.", ("Q2?", "Q3?", "Q4?")),
        RelateDocument("D4.", ("Q3?", "Q4?")),
    ]


async def test_the_window_strategy_shows_the_messages_of_one_window() -> None:
    ask = ScriptedAsk(served(3))
    await judge(relevancy(strategy="window", window_size=2), make_conversation(3), ask)
    assert ask.tasks(JudgeDocument) == [
        JudgeDocument("D0.", ("Q0?",)),
        JudgeDocument("D0.", ("Q0?", "Q1?")),
        JudgeDocument("D1.", ("Q0?", "Q1?")),
        JudgeDocument("D1.", ("Q1?", "Q2?")),
        JudgeDocument("D2.", ("Q1?", "Q2?")),
    ]


async def test_a_message_said_twice_is_numbered_once() -> None:
    talked = conversation(*exchange("Q?", "A.", "D."), *exchange("Q?", "A.", "E."))
    ask = ScriptedAsk({"statements": {"D.": [statement("s", "Q?")]}})
    assessments, _ = await judge(relevancy(), talked, ask)
    assert ask.tasks(RelateDocument)[0].messages == ("Q?",)
    assert assessments[1].truths == (Truth("Q?"),)


async def test_a_document_that_always_comes_back_never_meets_more_than_its_window_at_once() -> None:
    """The first question finds its statements, the others are about the same ones."""
    talked = conversation(*(turn for n in range(12) for turn in exchange(f"Q{n}?", "A.", "D.")))
    oracle = {
        "statements": {"D.": [statement("late", "Q8?"), statement("all", "*"), statement("no")]}
    }
    ask = ScriptedAsk(oracle)
    using = relevancy(window_size=3, include_reason=False)
    assessments, _ = await judge(using, talked, ask)
    assert [len(task.messages) for task in ask.tasks(RelateDocument)] == [5, 5, 2]
    assert "only these" not in ask.questions[0].prompt
    assert "[s0] late\n[s1] all\n[s2] no" in ask.questions[2].prompt
    assert "q4" in ask.questions[1].prompt
    assert [found[0] for found in labels(assessments)] == ["no"] * 8 + ["yes"] * 3 + ["no"]
    assert all(set(found[1::3]) == {"yes"} for found in labels(assessments))
    assert all(set(found[2::3]) == {"no"} for found in labels(assessments))


async def test_messages_met_before_are_not_shown_again() -> None:
    talked = conversation(*(turn for n in range(6) for turn in exchange(f"Q{n % 3}?", "A.", "D.")))
    ask = ScriptedAsk({"statements": {"D.": [statement("s", "Q0?")]}})
    assessments, _ = await judge(relevancy(window_size=2), talked, ask)
    assert [task.messages for task in ask.tasks(RelateDocument)] == [("Q0?", "Q1?", "Q2?")]
    assert [set(found) for found in labels(assessments)] == [
        {"yes"},
        {"yes"},
        {"no"},
        {"yes"},
        {"yes"},
        {"no"},
    ]


async def test_a_document_without_statements_meets_nothing_more() -> None:
    talked = conversation(*(turn for n in range(9) for turn in exchange(f"Q{n}?", "A.", "D.")))
    ask = ScriptedAsk({"statements": {}})
    assessments, _ = await judge(relevancy(window_size=2), talked, ask)
    assert ask.steps["verdicts"] == 1
    assert [found.score.state for found in assessments] == [ScoreState.UNDEFINED] * 9


@given(talked=conversations(), oracle=oracles(), size=st.integers(1, 4))
@settings(deadline=None, max_examples=50)
async def test_every_statement_meets_every_message_it_shares_a_window_with_exactly_once(
    talked: Any, oracle: Any, size: int
) -> None:
    using = relevancy(window_size=size)
    ask = ScriptedAsk({"statements": oracle})
    await judge(using, talked, ask)
    met = [
        (each.task.document, message)
        for each in ask.questions
        if isinstance(each.task, RelateDocument) and each.step == "verdicts"
        for message in each.task.messages
    ]
    assert len(met) == len(set(met))
    expected = {
        (document.text, message.text)
        for view in make_window_views(talked, using.windows(talked), as_peer=False)
        for document in view.documents
        for message in view.messages
    }
    stated = {text for text, found in oracle.items() if any(s["statement"].strip() for s in found)}
    assert {pair for pair in met if pair[0] in stated} == {
        pair for pair in expected if pair[0] in stated
    }
    assert {document for document, _ in met} == {document for document, _ in expected}


async def test_images_of_the_document_and_of_its_messages_go_with_the_question() -> None:
    pages = [Image(str(n) * 64, "image/png") for n in range(4)]
    talked = conversation(
        Turn("user", "Q0?", images=(pages[0],)),
        Turn("assistant", "A.", (Document("D.", images=(pages[1],)),), images=(pages[3],)),
        Turn("user", "Q1?", images=(pages[2],)),
        Turn("assistant", "B.", ()),
    )
    ask = ScriptedAsk({"statements": {"D.": [statement("s", "Q1?")]}}, takes_images=True)
    assessments, _ = await judge(relevancy(), talked, ask)
    assert ask.questions[0].images == (pages[0], pages[2], pages[1])
    assert pages[1].mark in ask.questions[0].prompt
    assert ask.tasks(RelateDocument) == [RelateDocument("D.", ("Q0?", "Q1?"))]
    assert labels(assessments) == [["no"], ["yes"]]


# Reasons


@both
async def test_the_peers_window_reason_is_shown_both_kinds_of_statements(
    strategy: Strategy,
) -> None:
    ask = ScriptedAsk(served(1))
    await judge(relevancy(strategy=strategy, as_peer=True), make_conversation(1), ask)
    assert ask.tasks(ExplainRelevance) == [
        ExplainRelevance(1 / 3, ("Q0?",), ("next 0: because", "none 0: because"), ("own 0",))
    ]
    prompt = ask.questions[1].prompt
    assert "0.33" in prompt
    assert "[i0] next 0: because\n[i1] none 0: because" in prompt
    assert "[r0] own 0" in prompt


async def test_the_peers_reason_says_when_a_verdict_had_none() -> None:
    oracle = {"statements": {"D0.": [{"statement": "s", "verdict": "no", "reason": None}]}}
    ask = ScriptedAsk(oracle)
    await judge(relevancy(as_peer=True), make_conversation(1), ask)
    assert ask.tasks(ExplainRelevance)[0].irrelevant == ("s: no reason given",)


async def test_the_final_reason_is_shown_score_outcome_and_reasons() -> None:
    ask = ScriptedAsk({"statements": {"D0.": [statement("s"), statement("t", "*")]}})
    _, conclusion = await judge(relevancy(), make_conversation(1), ask)
    assert ask.tasks(ConcludeReasons) == [ConcludeReasons(0.5, True, ("s (no): because",))]
    assert "passed" in ask.questions[-1].prompt
    assert "0.50" in ask.questions[-1].prompt
    assert conclusion.reason == "because"


# Verdicts that are missing


def silent(times: int, text: str, *, word: str | None = None) -> Script:
    """Give no verdict, or a word nobody knows, for one statement, so many times."""
    left = [times]

    def script(question: Question[Any], answer: Json) -> Json:
        for each in answer.get("statements") or answer.get("verdicts") or ():
            if each["statement"] == text and left[0]:
                left[0] -= 1
                each |= {"verdict": word, "serves": []}
        return answer

    return script


@both
@pytest.mark.parametrize("times", [0, 1, 2])
@pytest.mark.parametrize("word", [None, "perhaps", "Yes, clearly"])
async def test_missing_verdicts_are_asked_for_again_at_most_twice(
    strategy: Strategy, times: int, word: str | None
) -> None:
    ask = ScriptedAsk(served(1), silent(times, "own 0", word=word))
    assessments, _ = await judge(relevancy(strategy=strategy), make_conversation(1), ask)
    assert labels(assessments) == [["yes", "no", "no"]]
    assert ask.steps["verdicts"] == 1 + times


@both
@pytest.mark.parametrize("word", [None, "perhaps"])
async def test_a_verdict_that_stays_missing_leaves_the_window_incomplete(
    strategy: Strategy, word: str | None
) -> None:
    ask = ScriptedAsk(served(1), silent(3, "own 0", word=word))
    assessments, conclusion = await judge(relevancy(strategy=strategy), make_conversation(1), ask)
    assert labels(assessments) == [[None, "no", "no"]]
    assert assessments[0].verdicts[0].word == word
    assert states(assessments) == [ScoreState.INCOMPLETE]
    assert conclusion.score.state is ScoreState.INCOMPLETE
    assert conclusion.success is None
    assert ask.steps == {"verdicts": 3}


@both
async def test_only_the_missing_statements_are_asked_about_again_and_never_in_the_same_words(
    strategy: Strategy,
) -> None:
    ask = ScriptedAsk(served(1), silent(2, "own 0"))
    await judge(relevancy(strategy=strategy, include_reason=False), make_conversation(1), ask)
    first, again, last = (question.prompt for question in ask.questions)
    assert "every statement" in first
    assert "[s0] own 0\n\n" in again
    assert "next 0" not in again
    assert len({first, again, last}) == 3


async def test_a_statement_that_a_later_question_leaves_out_is_asked_about_again() -> None:
    talked = conversation(*(turn for n in range(4) for turn in exchange(f"Q{n}?", "A.", "D.")))
    left = [1]

    def script(question: Question[Any], answer: Json) -> Json:
        if "Q3?" in getattr(question.task, "messages", ()) and left[0]:
            left[0] -= 1
            answer["statements"] = [{"statement": "new", "verdict": "yes", "serves": []}]
        return answer

    ask = ScriptedAsk({"statements": {"D.": [statement("s", "Q3?"), statement("t")]}}, script)
    using = relevancy(window_size=2, include_reason=False)
    assessments, _ = await judge(using, talked, ask)
    assert [task.messages for task in ask.tasks(RelateDocument)] == [
        ("Q0?", "Q1?", "Q2?"),
        ("Q3?",),
        ("Q3?",),
    ]
    assert labels(assessments) == [["no", "no"]] + [["no"] * 4] * 2 + [["yes", "no"] * 2]


@both
async def test_under_the_peers_rules_nothing_is_asked_again(strategy: Strategy) -> None:
    oracle = {"statements": {"D0.": [{"statement": "s", "verdict": "idk"}]}, "reply_style": "json"}
    ask = ScriptedAsk(oracle)
    assessments, _ = await judge(
        relevancy(strategy=strategy, as_peer=True), make_conversation(1), ask
    )
    assert ask.steps == {"verdicts": 1, "final-reason": 1}
    assert labels(assessments) == [[None]]
    assert assessments[0].score.value == 1.0


def test_documents_and_messages_of_a_window_are_those_that_can_be_seen() -> None:
    talked = conversation(*exchange("Q?", "A.", "D.", " "), *exchange(" ", "B.", "D."))
    using = relevancy()
    views = make_window_views(talked, using.windows(talked), as_peer=False)
    assert [each.text for each in views[1].documents] == ["D.", "D."]
    assert views[1].newest == ()
    (last,) = make_window_views(talked, using.windows(talked)[1:], as_peer=True)
    assert list(last.documents) == list_documents(talked, last.window.turns)
    assert [each.text for each in last.messages] == ["Q?", " "]
