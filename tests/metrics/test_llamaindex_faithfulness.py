"""LlamaIndex faithfulness by our rules: what is asked, read, scored and said."""

import asyncio
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithtui.domain.claims.verdicts import Claim
from faithtui.domain.conversation import Document, Image, Turn
from faithtui.domain.scores import ScoreState
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.metric_driver import assess_conversation
from faithtui.engine.calls.reply_cache import MemoryReplyCache
from faithtui.errors import (
    ConfigError,
    ContextWindowTooSmall,
    ImagesNotSupported,
    JudgeAuthFailed,
    JudgeRequestRejected,
    MetricError,
    NotFaithful,
)
from faithtui.judges.base import StopReason
from faithtui.metrics.context_packs import estimate_tokens
from faithtui.metrics.registry import metric_options_to_json
from tests.metrics.plain_replies import (
    PlainJudge,
    Said,
    answer,
    exchange,
    judged,
    make_conversation,
    metric,
    odd_words,
)

LONG = tuple(odd_words(700, f"w{n}x") for n in range(3))
"""Three contexts of 2800 tokens: one chunk each where a judge reads 3900."""

DOWN = JudgeRequestRejected("the provider does not take this request")


async def test_an_answer_that_the_context_backs_scores_one() -> None:
    judge = PlainJudge(["YES"])
    assessments, conclusion = await judged(metric(), answer("It is blue.", "Blue it is."), judge)
    (found,) = assessments
    (verdict,) = found.verdicts
    assert verdict.claim == Claim(turn=1, text="It is blue.", kind="answer")
    assert (verdict.label, verdict.word) == ("yes", "YES")
    assert verdict.reason == "the reply begins with YES"
    assert found.score.value == 1
    assert (conclusion.score.value, conclusion.success) == (1, True)


async def test_a_conversation_passes_when_all_answers_do() -> None:
    conversation = make_conversation(
        *exchange("One.", "A."), *exchange("Two.", "B."), *exchange("3.", "C.")
    )
    assessments, conclusion = await judged(
        metric(), conversation, PlainJudge(["YES", "NO, not at all", "Yes."])
    )
    assert [each.score.value for each in assessments] == [1, 0, 1]
    assert conclusion.score.value == pytest.approx(2 / 3)
    assert conclusion.success is False
    assert assessments[1].reason == "Two. (no): the reply begins with NO"


async def test_several_replies_are_one_answer() -> None:
    judge = PlainJudge(["YES"])
    conversation = make_conversation(
        Turn("user", "Why?"),
        Turn("assistant", "First.", (Document("A."),)),
        Turn("assistant", "Second.", (Document("B."),)),
    )
    ((found,), _) = await judged(metric(), conversation, judge)
    assert found.verdicts[0].claim == Claim(turn=2, text="First.\nSecond.", kind="answer")
    assert judge.tasks[0].answer == "First.\nSecond."
    assert judge.contexts == ["A.\n\nB."]


async def test_the_question_shows_context_and_answer_between_marks() -> None:
    judge = PlainJudge(["YES"])
    await judged(metric(), answer("It is blue.", "Blue it is."), judge)
    (request,) = judge.requests
    assert request.step == "question"
    assert request.schema is None
    assert request.system.startswith("You check")
    assert "\nBlue it is.\n</" in request.prompt
    assert "\nIt is blue.\n</" in request.prompt
    assert "Why?" not in request.prompt
    assert request.max_tokens == 256


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("YES", "yes"),
        ("yes, it says so", "yes"),
        ("**Yes.** The context says so.", "yes"),
        ("`NO`", "no"),
        ("\n  No\u2014it does not.", "no"),
        ("> NO - the context does not say yes", "no"),
        ("<think>No? Yes!</think>\n\nYES", "yes"),
        ("(no)", "no"),
        ("- Yes: all of it", "yes"),
    ],
)
async def test_the_first_word_of_a_reply_counts(reply: str, label: str) -> None:
    judge = PlainJudge([reply])
    ((found,), _) = await judged(metric(), answer("A.", "C."), judge)
    assert (found.verdicts[0].label, found.verdicts[0].word) == (label, reply)
    assert len(judge.requests) == 1


@pytest.mark.parametrize(
    "reply", ["", "Yesterday", "Supported", "YES/NO", "Answer: YES", "TRUE", '{"answer": "YES"}']
)
async def test_a_reply_that_begins_in_another_way_is_asked_for_again(reply: str) -> None:
    judge = PlainJudge([reply, reply, "YES"])
    ((found,), _) = await judged(metric(), answer("A.", "C."), judge)
    assert found.verdicts[0].label == "yes"
    assert len(judge.requests) == 3
    assert "the first word must be YES or NO" in judge.requests[1].prompt


async def test_after_three_such_replies_there_is_no_verdict() -> None:
    judge = PlainJudge(["Perhaps", "Maybe", "Who   knows?"])
    ((found,), conclusion) = await judged(metric(), answer("A.", "C."), judge)
    (verdict,) = found.verdicts
    assert (verdict.label, verdict.word) == (None, "Who   knows?")
    assert verdict.reason == "a reply (“Who knows?”) begins with neither YES nor NO"
    assert found.score.state is ScoreState.INCOMPLETE
    assert conclusion.score.state is ScoreState.INCOMPLETE
    assert conclusion.success is None


async def test_a_long_context_is_asked_about_chunk_by_chunk() -> None:
    judge = PlainJudge(["NO", "NO, nor here", "NO"])
    ((found,), _) = await judged(metric(), answer("A.", *LONG), judge)
    assert judge.contexts == list(LONG)
    assert judge.steps == ["question", "refine", "refine"]
    assert [task.earlier for task in judge.tasks] == [None, "NO", "NO, nor here"]
    assert found.verdicts[0].reason == "the replies to all 3 parts begin with NO"
    assert found.score.value == 0


async def test_the_first_yes_settles_it() -> None:
    judge = PlainJudge(["NO", "YES", "NO"])
    ((found,), _) = await judged(metric(), answer("A.", *LONG), judge)
    assert judge.steps == ["question", "refine"]
    assert found.verdicts[0].label == "yes"
    assert found.verdicts[0].reason == "the reply to part 2 of the context begins with YES"


async def test_a_yes_settles_what_an_earlier_unreadable_reply_left_open() -> None:
    judge = PlainJudge(["?", "?", "?", "YES"])
    ((found,), _) = await judged(metric(), answer("A.", *LONG[:2]), judge)
    assert found.verdicts[0].label == "yes"
    assert judge.steps == ["question"] * 4


async def test_a_no_does_not() -> None:
    judge = PlainJudge(["NO", "?", "??", "???", "NO"])
    ((found,), _) = await judged(metric(), answer("A.", *LONG), judge)
    assert (found.verdicts[0].label, found.verdicts[0].word) == (None, "???")


async def test_a_long_reply_makes_the_next_chunk_smaller_and_nothing_is_lost() -> None:
    judge = PlainJudge([f"NO {odd_words(400, 'q')}", "NO", "NO", "NO"])
    await judged(metric(), answer("A.", *LONG[:2]), judge)
    assert judge.steps == ["question", "refine", "refine"]
    assert judge.contexts[0] == LONG[0]
    words = LONG[1].split()
    first, rest = judge.contexts[1].split(), judge.contexts[2].split()
    assert first == words[: len(first)]
    assert rest == words[-len(rest) :]
    assert len(first) + len(rest) > len(words)


@given(st.lists(st.sampled_from(("YES", "NO")), min_size=3, max_size=3))
@settings(deadline=None, max_examples=20)
async def test_any_support_suffices(replies: list[Said]) -> None:
    ((found,), _) = await judged(metric(), answer("A.", *LONG), PlainJudge(replies))
    assert found.score.value == float("YES" in replies)


async def test_an_answer_of_unknown_context_is_skipped() -> None:
    conversation = make_conversation(*exchange("A.", "C."), *exchange("B.", known=False))
    judge = PlainJudge(["YES"])
    assessments, conclusion = await judged(metric(), conversation, judge)
    assert [each.score.state for each in assessments] == [ScoreState.SCORED, ScoreState.SKIPPED]
    assert assessments[1].score.reason == "no retrieval context"
    assert assessments[1].without_context
    assert conclusion.score.value == 1
    assert len(judge.requests) == 1


@pytest.mark.parametrize(
    ("conversation", "reason"),
    [
        (answer("A.", known=False), "no retrieval context"),
        (make_conversation(Turn("assistant", "Hello.")), "no user turn"),
        (make_conversation(Turn("user", "Hello?")), "no answered user turn"),
        (answer("A."), None),
    ],
)
def test_a_conversation_without_an_answer_to_judge_is_skipped(
    conversation: object, reason: str | None
) -> None:
    assert metric().explain_skip(conversation) == reason  # type: ignore[arg-type]  # parametrized


async def test_an_answer_alone_is_judged_when_that_is_wanted() -> None:
    conversation = make_conversation(Turn("assistant", "Hello.", (Document("C."),)))
    ((found,), _) = await judged(metric(answers_alone=True), conversation, PlainJudge(["YES"]))
    assert found.score.value == 1


@pytest.mark.parametrize("contexts", [(), ("", "  ")])
async def test_nothing_retrieved_supports_nothing_and_nothing_is_asked(
    contexts: tuple[str, ...],
) -> None:
    judge = PlainJudge()
    ((found,), _) = await judged(metric(), answer("A.", *contexts), judge)
    assert (found.verdicts[0].label, found.verdicts[0].word) == ("no", None)
    assert found.verdicts[0].reason == "retrieval returned nothing that could support the answer"
    assert found.without_context is (contexts == ())
    assert judge.requests == []


async def test_an_answer_without_text_has_no_score() -> None:
    judge = PlainJudge()
    ((found,), conclusion) = await judged(metric(), answer(" ", "C."), judge)
    assert found.score.state is ScoreState.UNDEFINED
    assert conclusion.success is None
    assert judge.requests == []


@pytest.mark.parametrize("said", [DOWN, StopReason.LENGTH, StopReason.REFUSAL])
async def test_a_failing_judge_fails_the_answer_and_never_scores_zero(said: Said) -> None:
    conversation = make_conversation(*exchange("A.", "C."), *exchange("B.", "D."))
    # A cut answer is asked again after what else is asked at the same time.
    judge = PlainJudge([said, "NO", "YES"] if said is DOWN else [said] * 6)
    assessments, conclusion = await judged(metric(), conversation, judge)
    assert assessments[0].score.state is ScoreState.FAILED
    assert conclusion.score.state is ScoreState.FAILED


async def test_errors_that_stop_a_run_go_through() -> None:
    with pytest.raises(JudgeAuthFailed):
        await judged(metric(), answer("A.", "C."), PlainJudge([JudgeAuthFailed("wrong key")]))


async def test_a_window_too_small_for_the_answer_fails_it_and_says_so() -> None:
    judge = PlainJudge(context_window=300)
    ((found,), _) = await judged(metric(), answer("A.", "C."), judge)
    assert found.score.state is ScoreState.FAILED
    assert (found.score.reason or "").startswith(ContextWindowTooSmall.__name__)
    assert "set context_window" in (found.score.reason or "")
    assert judge.requests == []


@pytest.mark.parametrize(
    ("option", "said", "calls"), [(None, 3900, 3), (None, None, 1), (16_000, 3900, 1)]
)
async def test_the_context_window_is_the_option_or_the_judges_or_ours(
    option: int | None, said: int | None, calls: int
) -> None:
    judge = PlainJudge(context_window=said)
    await judged(metric(context_window=option), answer("A.", *LONG), judge)
    assert len(judge.requests) == calls


@pytest.mark.thorough
@given(st.integers(1100, 6000), st.integers(1, 400))
@settings(deadline=None, max_examples=25)
async def test_every_question_and_its_reply_fit_the_window(window: int, output: int) -> None:
    judge = PlainJudge(context_window=window)
    await judged(metric(num_output=output), answer("It is blue.", *LONG), judge)
    for request in judge.requests:
        assert estimate_tokens(request.system) + estimate_tokens(request.prompt) + output <= window


async def test_raise_error_raises_instead_of_a_failing_result() -> None:
    conversation = make_conversation(*exchange("A.", "C."), *exchange("B.", "D."))
    with pytest.raises(NotFaithful, match="the answer in turn 4 is not supported"):
        await judged(metric(raise_error=True), conversation, PlainJudge(["YES", "NO"]))
    _, conclusion = await judged(
        metric(raise_error=True), conversation, PlainJudge(["YES", "YES, too"])
    )
    assert conclusion.success is True


async def test_claims_are_not_what_it_judges() -> None:
    asker = Asker(PlainJudge(), MemoryReplyCache(), concurrency=1)
    with pytest.raises(MetricError, match="whole answers, not claims"):
        await assess_conversation(
            metric(), answer("A.", "C."), asker.bind_to_item(None), [Claim(1, "A.")]
        )


async def test_results_have_the_peers_fields() -> None:
    conversation = make_conversation(
        *exchange("A.", "C."), *exchange("B."), *exchange("D.", known=False)
    )
    made = metric()
    assessments, conclusion = await judged(made, conversation, PlainJudge(["**Yes**"]))
    first, second, third = made.make_peer_library_results(conversation, assessments, conclusion, 12)
    assert first == {
        "query": "Why?",
        "contexts": ["C."],
        "response": "A.",
        "passing": True,
        "feedback": "**Yes**",
        "score": 1.0,
        "pairwise_source": None,
        "invalid_result": False,
        "invalid_reason": None,
    }
    assert (second["passing"], second["feedback"], second["contexts"]) == (False, None, [])
    assert (third["passing"], third["score"], third["contexts"]) == (None, None, None)
    assert third["invalid_result"] is True
    assert third["invalid_reason"] == "no retrieval context"


async def test_the_query_is_echoed_and_never_shown() -> None:
    conversation = answer("A.", "C.")
    made = metric(query="Something else?")
    judge = PlainJudge(["YES"])
    assessments, conclusion = await judged(made, conversation, judge)
    (result,) = made.make_peer_library_results(conversation, assessments, conclusion, 12)
    assert result["query"] == "Something else?"
    assert "Something" not in judge.requests[0].prompt + judge.requests[0].system


def picture(letter: str) -> Image:
    return Image(letter * 64, "image/png")


async def test_images_go_with_the_chunk_that_shows_their_mark_and_the_answers_with_every_one() -> (
    None
):
    first, second, own = picture("a"), picture("b"), picture("c")
    conversation = make_conversation(
        Turn("user", "Why?"),
        Turn(
            "assistant",
            "So.",
            (Document(LONG[0], images=(first,)), Document(LONG[1], images=(second, first))),
            (own,),
        ),
    )
    judge = PlainJudge(takes_images=True)
    await judged(metric(), conversation, judge)
    sent = [[image.sha256[0] for image in request.images] for request in judge.requests]
    assert sent == [["a", "c"], ["b", "c"]]
    assert first.mark in judge.contexts[0]
    assert own.mark in judge.tasks[1].answer


async def test_a_document_of_images_alone_is_shown() -> None:
    conversation = make_conversation(
        Turn("user", "Why?"),
        Turn("assistant", "So.", (Document("", images=(picture("a"),)),)),
    )
    judge = PlainJudge(["YES"], takes_images=True)
    ((found,), _) = await judged(metric(), conversation, judge)
    assert found.score.value == 1
    assert len(judge.requests[0].images) == 1


async def test_an_image_whose_mark_was_cut_in_two_goes_with_the_first_chunk() -> None:
    image = picture("a")
    conversation = make_conversation(
        Turn("user", "Why?"),
        Turn("assistant", "So.", (Document("One two three.", images=(image,)),)),
    )
    judge = PlainJudge(takes_images=True)
    made = metric(
        eval_template="{context_str}{query_str}",
        refine_template="{context_str}{query_str}{existing_answer}",
        context_window=256 + 500 + estimate_tokens("So.") + 4,
    )
    await judged(made, conversation, judge)
    assert not any(image.mark in chunk for chunk in judge.contexts)
    assert [len(request.images) for request in judge.requests][:2] == [1, 0]


async def test_images_are_refused_by_a_judge_that_takes_none() -> None:
    conversation = make_conversation(
        Turn("user", "Why?", images=(picture("a"),)), *exchange("A.", "C.")[1:]
    )
    with pytest.raises(ImagesNotSupported):
        await judged(metric(), conversation, PlainJudge())


def test_both_strategies_are_one() -> None:
    one, other = metric(strategy="evidence"), metric(strategy="window")
    assert one.windows(answer("A.", "C.")) == other.windows(answer("A.", "C."))
    assert one.prompt_digest == other.prompt_digest


def test_a_pause_goes_before_each_question() -> None:
    assert metric(sleep_time_in_seconds="0.5").pace.pause_s == 0.5
    assert metric().pace.pause_s == 0


@pytest.mark.parametrize(
    ("llm", "judge"),
    [(None, None), ("gpt-4.1", "openai:gpt-4.1"), ("anthropic:x", "anthropic:x")],
)
def test_llm_names_the_judge(llm: str | None, judge: str | None) -> None:
    assert metric(llm=llm).judge == judge


@pytest.mark.parametrize(
    "options",
    [
        {"sleep_time_in_seconds": -1},
        {"sleep_time_in_seconds": math.inf},
        {"context_window": 0},
        {"num_output": 0},
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        metric(**options)
    assert metric_options_to_json(metric(**options, as_peer=True)).items() >= options.items()


async def test_answers_are_judged_at_the_same_time() -> None:
    """All first questions are on their way before any reply is there."""
    asked = asyncio.Event()

    class Waiting(PlainJudge):
        async def send(self, request):  # type: ignore[no-untyped-def]  # as its base
            reply = await super().send(request)
            if len(self.requests) == 2:
                asked.set()
            await asked.wait()
            return reply

    conversation = make_conversation(*exchange("A.", "C."), *exchange("B.", "D."))
    asker = Asker(Waiting(["YES", "YES"]), MemoryReplyCache(), concurrency=2)
    assessments, _ = await assess_conversation(metric(), conversation, asker.bind_to_item(None))
    assert len(assessments) == 2
