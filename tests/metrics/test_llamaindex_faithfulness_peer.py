"""LlamaIndex faithfulness by the peer's rules, against a second telling of them."""

import contextlib
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.engine.calls.metric_driver import assess_conversation
from faithtui.errors import (
    ContextWindowTooSmall,
    JudgeError,
    JudgeReplyInvalid,
    JudgeRequestRejected,
    MissingParameters,
    NotFaithful,
)
from faithtui.judges.base import JudgeRequest, StopReason
from faithtui.metrics.base import JudgeTraits, Question
from tests.metrics.plain_replies import (
    PlainJudge,
    Said,
    T,
    answer,
    exchange,
    judged,
    make_conversation,
    metric,
    odd_words,
)

SWALLOWED = JudgeReplyInvalid("no usable reply", raw="")
"""What the peer knows as ValueError, TypeError or ValidationError."""
DOWN = JudgeRequestRejected("the provider does not take this request")

PEER = metric(as_peer=True)

LONG = odd_words(1000)
"""4000 tokens and the overlap of its nodes: two chunks where a judge reads 3900."""

REPLIES: st.SearchStrategy[Said] = st.sampled_from(
    ("", "   ", "YES", "NO", "No. Eyes open.", "yesterday", "TRUE", "\nyes\n", SWALLOWED)
)


class PlainAsk:
    """An ask without an engine: every question gets the next reply, nothing is asked again."""

    def __init__(self, replies: Sequence[Said]) -> None:
        self.judge = PlainJudge(replies)
        self.judge_traits = JudgeTraits(context_window=self.judge.context_window)

    def hold_answer_slot(self) -> contextlib.AbstractAsyncContextManager[object]:
        return contextlib.nullcontext()

    async def __call__(self, question: Question[T], window: int | None = None) -> T:
        request = JudgeRequest(
            question.step, question.task, question.system, question.prompt, None, 256
        )
        return question.reply.read((await self.judge.send(request)).text, False)


async def result(
    conversation: Conversation, replies: Sequence[Said] = (), **judges: int
) -> tuple[dict[str, object], PlainJudge]:
    judge = PlainJudge(replies, **judges)  # type: ignore[arg-type]  # only context_window
    assessments, conclusion = await judged(PEER, conversation, judge)
    (told,) = PEER.make_peer_library_results(conversation, assessments, conclusion, 0)
    return dict(told), judge


@pytest.mark.parametrize(
    ("reply", "passing"),
    [
        ("YES", True),
        ("No. Eyes open.", True),
        ("NO - the context does not say yes", True),
        ("yesterday", True),
        ("<think>yes</think>NO", True),
        ("Supported", False),
        ("TRUE", False),
        ("Y.E.S", False),
        ("   ", False),
        ("\uff59\uff45\uff53", False),
    ],
)
async def test_the_letters_decide_wherever_they_stand(reply: str, passing: bool) -> None:
    told, judge = await result(answer("A.", "C."), [reply])
    assert (told["passing"], told["score"]) == (passing, float(passing))
    assert told["feedback"] == reply
    assert told["invalid_result"] is False
    assert len(judge.requests) == 1


async def test_the_rule_is_named_and_the_raw_reply_shown() -> None:
    ((found,), _) = await judged(PEER, answer("A.", "C."), PlainJudge(["No.\nEyes open."]))
    (verdict,) = found.verdicts
    assert verdict.word == "No.\nEyes open."
    assert verdict.reason == (
        'the letters "yes" occur in the reply (“No. Eyes open.”), which is LlamaIndex\'s rule'
    )
    ((found,), _) = await judged(PEER, answer("A.", "C."), PlainJudge([f"No{'o' * 100}"]))
    reason = found.verdicts[0].reason or ""
    assert reason.startswith('the letters "yes" occur nowhere in the reply (“Nooo')
    assert "ooo…”), which" in reason


def as_the_peer_reads(replies: Sequence[Said], chunks: int) -> tuple[bool, str, list[str]]:
    """Tell the peer's rules once more: what passes, the feedback, and the kinds of question."""
    existing, kinds = "", []
    for number in range(chunks):
        kinds.append("refine" if existing else "question")
        said = replies[number] if number < len(replies) else "NO"
        if isinstance(said, str) and said != "":
            existing = said
    feedback = existing or "Empty Response"
    return feedback.lower().find("yes") >= 0, feedback, kinds


@pytest.mark.thorough
@given(st.lists(REPLIES, max_size=8), st.integers(1, 4))
@settings(deadline=None, max_examples=30)
async def test_random_replies_are_read_as_the_peer_reads_them(
    replies: list[Said], contexts: int
) -> None:
    chunks = {1: 2, 2: 4, 3: 5, 4: 7}[contexts]  # as the peer made of 900 words each
    conversation = answer("A. b.", *(odd_words(900, f"w{n}x") for n in range(contexts)))
    ask = PlainAsk(replies)
    (found,), _ = await assess_conversation(PEER, conversation, ask)
    passing, feedback, kinds = as_the_peer_reads(replies, chunks)
    assert ask.judge.steps == kinds
    assert found.verdicts[0].word == feedback
    assert found.score.value == float(passing)


async def test_the_last_reply_decides_even_after_a_yes() -> None:
    told, judge = await result(answer("A.", LONG), ["YES", "NO"])
    assert judge.steps == ["question", "refine"]
    assert told["passing"] is False


async def test_chunks_overlap_and_come_in_order() -> None:
    _, judge = await result(answer("A.", LONG))
    first, second = (context.split() for context in judge.contexts)
    assert first[0] == "w0x0"
    assert second[-1] == "w0x999"
    assert second[0] in first


async def test_contexts_of_blanks_are_one_question_about_nothing() -> None:
    told, judge = await result(answer("A.", "", "  "), ["YES"])
    assert judge.contexts == [""]
    assert told["passing"] is True


@pytest.mark.parametrize("contexts", [(" ",), ("  ", "\n\t")])
async def test_contexts_of_white_space_alone_are_no_question(contexts: tuple[str, ...]) -> None:
    """The peer makes no node of them, and one of an empty text."""
    told, judge = await result(answer("A.", *contexts), context_window=100)
    assert judge.requests == []
    assert (told["feedback"], told["contexts"]) == ("Empty Response", list(contexts))


async def test_no_contexts_are_no_question_and_an_empty_response() -> None:
    told, judge = await result(answer("A."))
    assert judge.requests == []
    assert (told["feedback"], told["score"], told["contexts"]) == ("Empty Response", 0.0, [])


async def test_the_window_is_not_looked_at_without_a_chunk() -> None:
    told, _ = await result(answer("A."), context_window=100)
    assert told["feedback"] == "Empty Response"


async def test_an_empty_answer_is_asked_about() -> None:
    told, judge = await result(answer("", "C."), ["YES"])
    assert judge.tasks[0].answer == ""
    assert (told["passing"], told["response"]) == (True, "")


async def test_a_reply_that_cannot_be_used_is_no_error_but_an_empty_response() -> None:
    told, _ = await result(answer("A.", "C."), [SWALLOWED] * 3)
    assert (told["feedback"], told["score"], told["invalid_result"]) == (
        "Empty Response",
        0.0,
        False,
    )


@pytest.mark.parametrize("stop", [StopReason.LENGTH, StopReason.REFUSAL])
async def test_half_a_reply_and_a_refusal_are_replies(stop: StopReason) -> None:
    told, _ = await result(answer("A.", "C."), [stop] * 3)
    assert (told["feedback"], told["passing"]) == ("yes and no", True)


async def test_other_errors_lose_the_conversation() -> None:
    with pytest.raises(JudgeError, match="does not take this request"):
        await result(answer("A.", "C."), [DOWN])


async def test_unknown_contexts_are_missing() -> None:
    with pytest.raises(MissingParameters) as caught:
        await result(answer("A.", known=False))
    assert caught.value.names == ("contexts",)


@pytest.mark.parametrize("turns", [(), (Turn("user", "Why?"),)])
async def test_without_an_answer_the_response_is_missing(turns: tuple[Turn, ...]) -> None:
    assert PEER.explain_skip(make_conversation(*turns)) is None
    with pytest.raises(MissingParameters) as caught:
        await judged(PEER, make_conversation(*turns), PlainJudge())
    assert caught.value.names == ("response",)


async def test_an_answer_without_a_question_is_judged() -> None:
    told, _ = await result(make_conversation(Turn("assistant", "A.", (Document("C."),))), ["YES"])
    assert (told["passing"], told["query"]) == (True, "")


@pytest.mark.parametrize(("response", "window"), [("", 997), ("Hi.", 999), ("A b c.", 1001)])
async def test_a_window_one_token_too_small_is_refused(response: str, window: int) -> None:
    with pytest.raises(ContextWindowTooSmall):
        await result(answer(response, "x"), context_window=window)
    _, judge = await result(answer(response, "x"), context_window=window + 1)
    assert len(judge.requests) == 1


async def test_a_judge_that_does_not_say_reads_3900_tokens() -> None:
    judge = PlainJudge(context_window=None)
    await judged(PEER, answer("A.", *[odd_words(900)] * 4), judge)
    assert len(judge.requests) == 7


async def test_a_chunk_that_does_not_fit_beside_a_long_reply_comes_back_last_part_first() -> None:
    long = f"NO {odd_words(1000, 'q')}"
    _, judge = await result(answer("A.", LONG), [long])
    assert judge.steps[0] == "question"
    assert len(judge.contexts) == 3
    assert judge.contexts[1].split()[-1] == "w0x999"
    assert judge.contexts[2].split()[-1] != "w0x999"
    assert [task.earlier for task in judge.tasks] == [None, long, "NO"]


@pytest.mark.parametrize("contexts", [("C.",), ()])
async def test_raise_error_raises_on_any_failing_result(contexts: tuple[str, ...]) -> None:
    with pytest.raises(NotFaithful):
        await judged(
            metric(as_peer=True, raise_error=True), answer("A.", *contexts), PlainJudge(["NO"])
        )


async def test_a_conversation_is_the_mean_of_its_answers() -> None:
    conversation = make_conversation(*exchange("A.", "C."), *exchange("B.", "D."))
    _, conclusion = await judged(PEER, conversation, PlainJudge(["YES", "NO"]))
    assert (conclusion.score.value, conclusion.success) == (0.5, False)


async def test_a_model_that_the_peers_prompt_does_not_fit_is_shown_no_context() -> None:
    blind, ours = metric(as_peer=True, llm="llama3:8b"), metric(llm="openai:llama3:8b")
    for found, seen in ((blind, False), (ours, True)):
        judge = PlainJudge(["YES"])
        await judged(found, answer("A.", "The only document."), judge)
        assert ("The only document." in judge.requests[0].prompt) is seen
