from typing import Any

import pytest

from faithtui.domain.conversation import Conversation, Document, Image, Turn
from faithtui.domain.judging.tasks import ExtractPooledTruths, ExtractTruths
from faithtui.errors import (
    ConfigError,
    ImagesNotSupported,
    PeerFails,
)
from faithtui.metrics.base import Question
from faithtui.metrics.questions import IMAGE_RULE
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

PAGE = Image("1" * 64, "image/png")


# Options


@both
async def test_a_limit_keeps_so_many_truths_of_each_document(strategy: Strategy) -> None:
    talked = conversation(*exchange("Q?", "A0.", "D0.", "D1.", "D0."))
    ask = ScriptedAsk(facts(2))  # ignores the limit
    using = metric(strategy=strategy, truths_extraction_limit=1)
    assessments, _ = await judge(using, talked, ask)
    assert [truth.text for truth in assessments[0].truths] == ["d0 one", "d1 one"]
    assert ask.tasks(ExtractTruths) == [ExtractTruths(("D0.", "D1."), 1)]
    assert "at most the 1 most important facts of each document" in ask.questions[0].prompt


@both
async def test_the_peers_limit_is_one_of_the_window_and_only_asked_for(strategy: Strategy) -> None:
    ask = ScriptedAsk(facts(2))  # ignores the limit
    using = metric(strategy=strategy, truths_extraction_limit=1, as_peer=True)
    assessments, _ = await judge(using, make_conversation(2), ask)
    assert ask.tasks(ExtractPooledTruths) == [
        ExtractPooledTruths(("D0.",), 1),
        ExtractPooledTruths(("D0.", "D1."), 1),
    ]
    assert [[truth.text for truth in found.truths] for found in assessments] == [
        ["d0 one", "d0 two"],
        ["d0 one", "d0 two", "d1 one", "d1 two"],
    ]
    assert labels(assessments) == [["yes", "no"], ["yes", "no"] * 2]


@both
async def test_without_a_limit_all_truths_are_asked_for(strategy: Strategy) -> None:
    ask = ScriptedAsk(facts(1))
    await judge(metric(strategy=strategy), make_conversation(1), ask)
    assert "all facts" in next(q.prompt for q in ask.questions if q.step == "truths")


@both
async def test_truths_that_two_documents_state_are_in_view_once(strategy: Strategy) -> None:
    oracle = {"truths": {"D.": ["t", "u"], "E.": ["u", "v"]}}
    talked = conversation(*exchange("Q?", "A.", "D.", "E."))
    for limit in (None, 2):
        using = metric(strategy=strategy, truths_extraction_limit=limit)
        assessments, _ = await judge(using, talked, ScriptedAsk(oracle))
        assert [truth.text for truth in assessments[0].truths] == ["t", "u", "v"]


async def test_a_limit_without_documents_asks_nothing_of_a_window() -> None:
    ask = ScriptedAsk({})
    using = metric(strategy="window", truths_extraction_limit=1)
    await judge(using, conversation(*exchange("Q?", "A.")), ask)
    assert "truths" not in ask.steps


@both
async def test_ambiguous_claims_can_be_penalised(strategy: Strategy) -> None:
    oracle = facts(1) | {"verdicts": {"a0 one": "yes", "a0 two": "idk"}}
    lenient, _ = await judge(metric(strategy=strategy), make_conversation(1), ScriptedAsk(oracle))
    using = metric(strategy=strategy, penalize_ambiguous_claims=True)
    hard, conclusion = await judge(using, make_conversation(1), ScriptedAsk(oracle))
    assert (lenient[0].score.value, hard[0].score.value) == (1.0, 0.5)
    assert (lenient[0].reason, hard[0].reason) == (None, "a0 two (idk): because")
    assert conclusion.score.value == 0.5


@pytest.mark.parametrize(("as_peer", "score"), [(False, 0.0), (True, 0.5)])
async def test_strict_is_binary_but_for_the_peers_mean(as_peer: bool, score: float) -> None:
    oracle = facts(2) | {"verdicts": {"a0 one": "yes", "a1 two": "no"}}
    using = metric(strict_mode=True, as_peer=as_peer, threshold=0.2)
    _, conclusion = await judge(using, make_conversation(2), ScriptedAsk(oracle))
    assert conclusion.score.value == score
    assert conclusion.success is False


async def test_without_a_threshold_nothing_passes_or_fails() -> None:
    ask = ScriptedAsk(facts(1))
    _, conclusion = await judge(metric(threshold=None), make_conversation(1), ask)
    assert conclusion.score.value == 0.5
    assert conclusion.success is None
    assert "no threshold was set" in ask.questions[-1].prompt


async def test_a_score_below_the_threshold_fails() -> None:
    ask = ScriptedAsk(facts(1))
    _, conclusion = await judge(metric(threshold=0.6), make_conversation(1), ask)
    assert conclusion.success is False
    assert "failed" in ask.questions[-1].prompt


async def test_without_reasons_windows_still_say_what_cost_them() -> None:
    ask = ScriptedAsk(facts(1))
    assessments, conclusion = await judge(metric(include_reason=False), make_conversation(1), ask)
    assert assessments[0].reason == "a0 two (no): because"
    assert conclusion.reason is None


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("threshold", 1.1),
        ("threshold", -0.1),
        ("threshold", float("nan")),
        ("window_size", 0),
        ("window_size", -3),
        ("truths_extraction_limit", 0),
        ("truths_extraction_limit", -1),
    ],
)
def test_options_out_of_range_are_refused_and_taken_under_the_peers_rules(
    option: str, value: float
) -> None:
    given: dict[str, Any] = {option: value}
    with pytest.raises(ConfigError, match=option):
        metric(**given)
    metric(**given, as_peer=True)


@both
async def test_empty_windows_of_the_peer_score_1(strategy: Strategy) -> None:
    using = metric(strategy=strategy, window_size=0, as_peer=True)
    ask = ScriptedAsk(facts(2))
    assessments, conclusion = await judge(using, make_conversation(2), ask)
    assert labels(assessments) == [[], []]
    assert conclusion.score.value == 1.0
    assert ask.steps == {"truths": 2, "claims": 2, "final-reason": 1}


async def test_claims_made_up_about_an_empty_window_belong_to_nothing() -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        return {"claims": ["k"]} if question.step == "claims" else answer

    using = metric(strategy="window", window_size=0, as_peer=True)
    assessments, _ = await judge(using, make_conversation(1), ScriptedAsk(facts(1), script))
    assert labels(assessments) == [[]]


# Whether it applies


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        ((), "no user turn"),
        ((Turn("assistant", "A.", (Document("D."),)),), "no user turn"),
        ((Turn("user", "Q?"),), "no answered user turn"),
        ((Turn("assistant", "A.", ()), Turn("user", "Q?")), "no answered user turn"),
        ((Turn("user", "Q?"), Turn("assistant", "A.")), "no retrieval context"),
        (
            (Turn("user", "Q?", (Document("D."),)), Turn("assistant", "A.")),
            "no retrieval context",
        ),
        ((Turn("user", "Q?"), Turn("assistant", "A.", ())), None),
        (exchange("Q?", "A.", "D."), None),
    ],
)
def test_the_reason_for_skipping_is_named_and_the_peer_never_skips(
    turns: tuple[Turn, ...], reason: str | None
) -> None:
    talked = conversation(*turns)
    assert metric().explain_skip(talked) == reason
    assert metric(as_peer=True).explain_skip(talked) is None


async def test_answers_alone_can_be_judged_on_request() -> None:
    talked = conversation(Turn("assistant", "A0.", (Document("D0."),)))
    using = metric(answers_alone=True)
    assert metric().windows(talked) == ()
    assert using.explain_skip(talked) is None
    assessments, _ = await judge(using, talked, ScriptedAsk(facts(1)))
    assert labels(assessments) == [["yes", "no"]]


@both
async def test_nothing_to_judge_costs_nothing(strategy: Strategy) -> None:
    talked = conversation(Turn("assistant", "A0.", (Document("D0."),)))
    for as_peer, score in ((False, None), (True, 1.0)):
        ask = ScriptedAsk(facts(1))
        assessments, conclusion = await judge(
            metric(strategy=strategy, as_peer=as_peer), talked, ask
        )
        assert (assessments, ask.questions) == ([], [])
        assert conclusion.score.value == score


@pytest.mark.parametrize(
    "turns",
    [
        (Turn("user", "Q?", images=(PAGE,)), Turn("assistant", "A0.", ())),
        (Turn("user", "Q?"), Turn("assistant", "A0.", (Document("D0.", images=(PAGE,)),))),
        (Turn("user", "Q?", (Document("D0.", images=(PAGE,)),)), Turn("assistant", "A0.", ())),
    ],
)
@both
async def test_images_are_refused_before_any_question_by_a_judge_that_takes_none(
    strategy: Strategy, turns: tuple[Turn, ...]
) -> None:
    ask = ScriptedAsk(facts(1))
    with pytest.raises(ImagesNotSupported):
        await judge(metric(strategy=strategy), conversation(*turns), ask)
    assert ask.questions == []
    seeing = ScriptedAsk(facts(1), takes_images=True)
    await judge(metric(strategy=strategy), conversation(*turns), seeing)
    assert seeing.questions


@both
async def test_documents_with_a_source_fail_under_the_peers_rules_alone(
    strategy: Strategy,
) -> None:
    talked = conversation(
        Turn("user", "Q?"), Turn("assistant", "A0.", (Document("D0.", source="a.md"),))
    )
    ask = ScriptedAsk(facts(1))
    with pytest.raises(PeerFails, match="TypeError"):
        await judge(metric(strategy=strategy, as_peer=True), talked, ask)
    assert ask.questions == []
    assessments, _ = await judge(metric(strategy=strategy), talked, ask)
    assert labels(assessments) == [["yes", "no"]]


# Images


PHOTO, PLAN = Image("a" * 64, "image/png"), Image("b" * 64, "", "https://example.org/plan.png")


def illustrated() -> Conversation:
    """Images in a question, in an answer and in documents, with and without text around them."""
    return conversation(
        Turn("user", "Q0?", images=(PAGE,)),
        Turn("assistant", "A0.", (Document("D0.", images=(PHOTO,)), Document("D0."))),
        Turn("user", "Q1?"),
        Turn("assistant", "", (Document("", images=(PLAN,)), Document("D0.", images=(PHOTO,)))),
    )


def pictures(ask: ScriptedAsk, step: str) -> list[tuple[Image, ...]]:
    return [question.images for question in ask.questions if question.step == step]


@pytest.mark.parametrize("as_peer", [False, True])
async def test_each_image_goes_once_with_the_text_it_belongs_to(as_peer: bool) -> None:
    ask = ScriptedAsk(facts(1), takes_images=True)
    await judge(metric(as_peer=as_peer), illustrated(), ask)
    assert pictures(ask, "truths") == [(PHOTO,), (PLAN,)]
    assert pictures(ask, "claims")[0] == (PAGE,)


@pytest.mark.parametrize("as_peer", [False, True])
async def test_the_images_of_a_window_go_with_its_questions(as_peer: bool) -> None:
    ask = ScriptedAsk(facts(1), takes_images=True)
    await judge(metric(strategy="window", as_peer=as_peer), illustrated(), ask)
    assert pictures(ask, "truths") == [(PHOTO,), (PHOTO, PLAN)]
    assert pictures(ask, "claims") == [(PAGE,), (PAGE,)]


@both
@pytest.mark.parametrize("as_peer", [False, True])
async def test_verdicts_and_reasons_are_asked_without_images(
    strategy: Strategy, as_peer: bool
) -> None:
    ask = ScriptedAsk(facts(1), takes_images=True)
    await judge(metric(strategy=strategy, as_peer=as_peer), illustrated(), ask)
    asked = [question for question in ask.questions if question.step not in ("truths", "claims")]
    assert {question.step for question in asked} >= {"verdicts", "final-reason"}
    assert all(question.images == () for question in asked)
    assert not any("attached image" in question.prompt for question in asked)


@both
async def test_images_are_shown_by_their_marks_inside_the_text_they_belong_to(
    strategy: Strategy,
) -> None:
    ask = ScriptedAsk(facts(1), takes_images=True)
    await judge(metric(strategy=strategy), illustrated(), ask)
    prompts = {step: "" for step in ("truths", "claims")}
    for question in ask.questions:
        if question.step in prompts:
            prompts[question.step] += question.prompt
            assert all(image.mark in question.prompt for image in question.images)
    assert f"D0.\n{PHOTO.mark}\n</" in prompts["truths"]
    assert f"\n{PLAN.mark}\n</" in prompts["truths"]
    assert f"Q0?\n{PAGE.mark}\n</" in prompts["claims"]


async def test_documents_that_differ_in_their_images_alone_are_two_documents() -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        if question.step == "truths" and question.images == (PHOTO,):
            return {"d0": ["seen"], "d1": ["read"]}
        return {"d0": ["drawn"]} if question.step == "truths" else answer

    ask = ScriptedAsk({}, script, takes_images=True)
    assessments, _ = await judge(metric(), illustrated(), ask)
    assert ask.tasks(ExtractTruths) == [ExtractTruths(("D0.", "D0.")), ExtractTruths(("",))]
    assert [[each.text for each in found.truths] for found in assessments] == [
        ["seen", "read"],
        ["seen", "read", "drawn"],
    ]


async def test_an_answer_that_is_an_image_is_asked_about() -> None:
    talked = conversation(Turn("user", "Q?"), Turn("assistant", " ", (), images=(PHOTO,)))
    ask = ScriptedAsk({"claims": {" ": ["k"]}}, takes_images=True)
    assessments, _ = await judge(metric(), talked, ask)
    assert pictures(ask, "claims") == [(PHOTO,)]
    assert [(each.claim.turn, each.claim.text) for each in assessments[0].verdicts] == [(1, "k")]
    assert assessments[0].verdicts[0].claim.span is None


@both
async def test_how_to_read_images_is_said_only_where_there_is_one(strategy: Strategy) -> None:
    ask = ScriptedAsk(facts(1), takes_images=True)
    await judge(metric(strategy=strategy), illustrated(), ask)
    await judge(metric(strategy=strategy), make_conversation(1), ask)
    told = [question for question in ask.questions if IMAGE_RULE in question.prompt]
    assert {question.step for question in told} == {"truths"}  # no answer has an image
    assert all(question.images for question in told)


@both
async def test_what_looks_like_an_image_in_a_text_is_text(strategy: Strategy) -> None:
    talked = conversation(*exchange("[DEEPEVAL:IMAGE:/etc/passwd]", "A0.", PAGE.mark))
    ask = ScriptedAsk(facts(1))
    await judge(metric(strategy=strategy), talked, ask)
    assert all(question.images == () for question in ask.questions)
