import asyncio
from collections.abc import Callable
from itertools import product
from typing import Any, TypeVar, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithtui.domain.conversation import Document, Turn
from faithtui.domain.judging.tasks import (
    ConcludeReasons,
    ExplainScore,
    ExtractClaims,
    ExtractPooledClaims,
    ExtractPooledTruths,
    ExtractTruths,
)
from faithtui.domain.scores import Score, ScoreState
from faithtui.metrics.base import Question
from faithtui.metrics.window_scores import MOST_NOTED
from tests.metrics.scripted import (
    Json,
    ScriptedAsk,
    both,
    conversation,
    exchange,
    facts,
    judge,
    labels,
    make_conversation,
    metric,
)
from tests.parity.run_cases import Strategy

T = TypeVar("T")

# How many questions


@pytest.mark.parametrize(
    ("options", "calls"),
    [
        ({"strategy": "window"}, lambda n: 3 * n + 1),
        ({"strategy": "window", "include_reason": False}, lambda n: 3 * n),
        ({"strategy": "window", "as_peer": True}, lambda n: 4 * n + 1),
        ({"strategy": "window", "as_peer": True, "include_reason": False}, lambda n: 3 * n),
    ],
)
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("window_size", [1, 2, 10])
async def test_the_number_of_questions_depends_on_interactions_alone(
    options: dict[str, Any], calls: Callable[[int], int], count: int, window_size: int
) -> None:
    ask = ScriptedAsk(facts(count))
    await judge(metric(**options, window_size=window_size), make_conversation(count), ask)
    assert len(ask.questions) == calls(count)


@pytest.mark.parametrize("count", [1, 4, 5, 6, 11])
@pytest.mark.parametrize(
    ("window_size", "neighbours"), [(1, 1), (2, 1), (3, 1), (4, 2), (9, 2), (10, 2), (100, 2)]
)
async def test_evidence_reads_each_interaction_once_and_compares_neighbours_together(
    count: int, window_size: int, neighbours: int
) -> None:
    comparisons = -(-count // neighbours)
    for as_peer, include_reason in product((False, True), (False, True)):
        ask = ScriptedAsk(facts(count))
        using = metric(window_size=window_size, as_peer=as_peer, include_reason=include_reason)
        await judge(using, make_conversation(count), ask)
        reasons = include_reason * (1 + as_peer * count)
        assert len(ask.questions) == 2 * count + comparisons + reasons
        assert (ask.steps["truths"], ask.steps["claims"]) == (count, count)


@pytest.mark.parametrize("word", ["idk", "no"])
async def test_a_claim_without_any_truth_in_view_is_the_judges_to_decide(word: str) -> None:
    ask = ScriptedAsk({"claims": {"A.": ["k"]}, "verdicts": {"k": word}})
    assessments, _ = await judge(metric(), conversation(*exchange("Q?", "A.")), ask)
    reasons = {"final-reason": 1} if word == "no" else {}
    assert ask.steps == {"claims": 1, "verdicts": 1} | reasons
    assert labels(assessments) == [[word]]
    assert assessments[0].score.value == (0.0 if word == "no" else None)
    assert assessments[0].without_context


# Which pairs


words = st.sampled_from(("k1", "k2", "k3", "k4"))


@st.composite
def conversations(draw: st.DrawFn) -> tuple[dict[str, Json], Any, int]:
    """A conversation in which documents, truths and claims may come back."""
    documents = ("D1.", "D2.", "D3.", " ")
    truths = draw(
        st.fixed_dictionaries(
            {each: st.lists(st.sampled_from(("t1", "t2", "t3")), max_size=3) for each in documents}
        )
    )
    count = draw(st.integers(1, 6))
    claims = {f"A{n}.": draw(st.lists(words, max_size=3)) for n in range(count)}
    turns = [
        turn
        for n in range(count)
        for turn in exchange(
            "Q?", f"A{n}.", *draw(st.lists(st.sampled_from(documents), max_size=2))
        )
    ]
    return {"truths": truths, "claims": claims}, conversation(*turns), draw(st.integers(1, 7))


@given(conversations())
@settings(deadline=None)
async def test_every_pair_that_shares_a_window_is_judged_once(
    drawn: tuple[dict[str, Json], Any, int],
) -> None:
    oracle, talked, window_size = drawn
    ask = ScriptedAsk(oracle)
    using = metric(window_size=window_size, include_reason=False)
    await judge(using, talked, ask)
    sharing = set()
    for window in using.windows(talked):
        turns = [talked.turns[turn] for turn in window.turns]
        truths = {
            truth
            for turn in turns
            for document in turn.retrieval_context or ()
            if document.text.strip()
            for truth in oracle["truths"][document.text]
        }
        claims = {claim for turn in turns for claim in oracle["claims"].get(turn.content, ())}
        sharing |= {(claim, truth) for claim in claims for truth in truths}
    assert len(ask.pairs()) == len(set(ask.pairs()))
    if window_size < 4:
        assert set(ask.pairs()) == sharing
    else:  # a question about neighbours has some pairs at its ends that share no window
        assert set(ask.pairs()) >= sharing


@given(conversations(), st.booleans())
@settings(deadline=None)
async def test_both_strategies_give_the_same_verdicts(
    drawn: tuple[dict[str, Json], Any, int], penalize: bool
) -> None:
    oracle, talked, window_size = drawn
    oracle["truths"][" "] = []  # a blank document states nothing
    oracle["verdicts"] = {
        "k1": {"yes_if_any": ["t1"]},
        "k2": {"no_if_any": ["t2"], "yes_if_any": ["t1"]},
        "k3": {"no_if_any": ["t1", "t3"]},
    }
    found = [
        await judge(
            metric(strategy=strategy, window_size=window_size, penalize_ambiguous_claims=penalize),
            talked,
            ScriptedAsk(oracle),
        )
        for strategy in get_args(Strategy)
    ]
    (one, one_concluded), (other, other_concluded) = found
    assert labels(one) == labels(other)
    assert [each.score for each in one] == [each.score for each in other]
    assert one_concluded == other_concluded


async def test_a_document_seen_before_is_not_asked_about_again() -> None:
    ask = ScriptedAsk({"truths": {"D.": ["t"], "E.": ["s"]}})
    talked = conversation(*exchange("Q?", "A.", "D.", "D."), *exchange("R?", "B.", "E.", "D."))
    await judge(metric(), talked, ask)
    assert [task.documents for task in ask.tasks(ExtractTruths)] == [("D.",), ("E.",)]


async def test_blank_documents_and_answers_are_not_asked_about() -> None:
    ask = ScriptedAsk({})
    assessments, conclusion = await judge(
        metric(include_reason=False), conversation(*exchange("Q?", " ", "\n")), ask
    )
    assert ask.questions == []
    assert conclusion.score == Score(None, ScoreState.UNDEFINED, "the answer has no text", 1)
    assert not assessments[0].without_context


@pytest.mark.parametrize("count", [1, 5, 6, 12])
async def test_one_more_interaction_costs_its_own_questions_alone(count: int) -> None:
    short, long = ScriptedAsk(facts(count)), ScriptedAsk(facts(count + 1))
    await judge(metric(include_reason=False), make_conversation(count), short)
    await judge(metric(include_reason=False), make_conversation(count + 1), long)
    before = {question.prompt for question in short.questions}
    assert sum(question.prompt not in before for question in long.questions) == 3


@both
async def test_context_of_user_turns_is_ignored(strategy: Strategy) -> None:
    talked = conversation(
        Turn("user", "Q?", (Document("D0."),)), Turn("assistant", "A0.", (Document("D1."),))
    )
    ask = ScriptedAsk(facts(2))
    assessments, _ = await judge(metric(strategy=strategy), talked, ask)
    assert [truth.text for truth in assessments[0].truths] == ["d1 one", "d1 two"]
    assert labels(assessments) == [["idk", "idk"]]


# What the judge is shown


async def test_an_answer_is_read_with_the_earlier_turns_of_its_window_as_reference() -> None:
    ask = ScriptedAsk(facts(3))
    await judge(metric(window_size=2), make_conversation(3), ask)
    assert ask.tasks(ExtractClaims) == [
        ExtractClaims(("A0.",), ("Q0?",)),
        ExtractClaims(("A1.",), ("Q1?",), ("user: Q0?", "assistant: A0.")),
        ExtractClaims(("A2.",), ("Q2?",), ("user: Q1?", "assistant: A1.")),
    ]
    prompts = [question.prompt for question in ask.questions if question.step == "claims"]
    assert "assistant: A1." in prompts[2]
    assert "A0." not in prompts[2]


async def test_of_the_earlier_turns_the_last_four_are_shown_and_long_ones_shortened() -> None:
    long = f"First {'word ' * 1000}last."
    turns = (*exchange("Q0?", "A0."), *exchange("Q1?\nassistant: I", long), *exchange("Q2?", "A2."))
    ask = ScriptedAsk({})
    await judge(metric(), conversation(*turns, *exchange("Q3?", "A3.")), ask)
    (*_, last) = ask.tasks(ExtractClaims)
    start, shortened, *rest = last.history
    assert (start, *rest) == ("user: Q1? assistant: I", "user: Q2?", "assistant: A2.")
    assert shortened.startswith("assistant: First word")
    assert shortened.endswith("word ...")
    assert 3_900 < len(shortened) <= 4_004
    prompt = ask.questions[[each.task for each in ask.questions].index(last)].prompt
    assert "\n".join(last.history) in prompt
    assert "Q0?" not in prompt


async def test_what_is_read_is_compared_while_later_answers_are_still_being_read() -> None:
    compared = asyncio.Event()

    class Waiting(ScriptedAsk):
        async def __call__(self, question: Question[T], window: int | None = None) -> T:
            if question.task == ExtractTruths(("D2.",)):
                await asyncio.wait_for(compared.wait(), 10)
            if question.step == "verdicts":
                compared.set()
            return await super().__call__(question, window)

    assessments, _ = await judge(metric(window_size=2), make_conversation(3), Waiting(facts(3)))
    assert labels(assessments) == [["yes", "no"] * count for count in (1, 2, 2)]


async def test_the_window_strategy_shows_whole_windows() -> None:
    ask = ScriptedAsk(facts(3))
    await judge(metric(strategy="window", window_size=2), make_conversation(3), ask)
    assert [task.documents for task in ask.tasks(ExtractPooledTruths)] == [
        ("D0.",),
        ("D0.", "D1."),
        ("D1.", "D2."),
    ]
    assert [task.answers for task in ask.tasks(ExtractPooledClaims)] == [
        ("A0.",),
        ("A0.", "A1."),
        ("A1.", "A2."),
    ]


async def test_the_peers_window_reason_is_shown_contradictions_alone() -> None:
    oracle = facts(1)
    oracle["claims"]["A0."].append("a0 three")
    ask = ScriptedAsk(oracle)
    await judge(metric(strategy="window", as_peer=True), make_conversation(1), ask)
    assert ask.tasks(ExplainScore) == [ExplainScore(2 / 3, ("because",))]


async def test_the_final_reason_is_shown_score_outcome_and_reasons() -> None:
    ask = ScriptedAsk(facts(1))
    _, conclusion = await judge(metric(), make_conversation(1), ask)
    assert ask.tasks(ConcludeReasons) == [ConcludeReasons(0.5, True, ("a0 two (no): because",))]
    assert "passed" in ask.questions[-1].prompt
    assert "0.50" in ask.questions[-1].prompt
    assert conclusion.reason == "because"


async def test_a_claim_that_costs_many_windows_is_noted_once_for_the_final_reason() -> None:
    ask = ScriptedAsk(facts(3))
    await judge(metric(), make_conversation(3), ask)
    (task,) = ask.tasks(ConcludeReasons)
    assert task.reasons == tuple(f"a{n} two (no): because" for n in range(3))


async def test_a_final_reason_is_asked_from_so_many_notes_at_most() -> None:
    ask = ScriptedAsk(facts(MOST_NOTED + 3))
    await judge(metric(window_size=1), make_conversation(MOST_NOTED + 3), ask)
    (task,) = ask.tasks(ConcludeReasons)
    assert task.reasons[-2:] == (f"a{MOST_NOTED - 1} two (no): because", "and 3 more")


@both
async def test_one_question_at_a_time_without_async_mode(strategy: Strategy) -> None:
    for async_mode, most in ((False, 1), (True, 2)):
        ask = ScriptedAsk(facts(4))
        await judge(metric(strategy=strategy, async_mode=async_mode), make_conversation(4), ask)
        assert (ask.most_in_flight == 1) == (most == 1)
