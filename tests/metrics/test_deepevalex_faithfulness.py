import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithtui.domain.claims.verdicts import Claim
from faithtui.domain.conversation import Conversation, Document, Image, Turn
from faithtui.domain.judging.tasks import (
    ExplainScore,
    ExtractClaims,
    ExtractPooledClaims,
    ExtractPooledTruths,
    ExtractTruths,
    JudgeClaimList,
    JudgeClaims,
)
from faithtui.domain.scores import ScoreState
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.metric_driver import assess_conversation
from faithtui.engine.calls.reply_cache import MemoryReplyCache
from faithtui.engine.library.measurement import measure_async
from faithtui.errors import (
    ConfigError,
    ImagesNotSupported,
    JudgeAuthFailed,
    JudgeError,
    JudgeRateLimited,
    JudgeRefused,
    JudgeReplyInvalid,
    JudgeReplyTruncated,
    JudgeRequestRejected,
    MissingParameters,
)
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.metrics.base import Metric, Question, ReplyMismatch
from faithtui.metrics.deepevalex.replies import (
    make_any_verdict_list_reply_shape,
    make_text_list_reply_shape,
    parse_deepevalex_failure,
    parse_strict_json,
)
from tests.metrics.scripted import (
    DOWN,
    Json,
    Script,
    ScriptedAsk,
    anything,
    conversation,
    exchange,
    facts,
    failing,
    judge,
    labels,
    make_conversation,
    metric,
    states,
)
from tests.parity.oracle import OracleJudge
from tests.parity.run_cases import conversation_of
from tests.parity.strategies import cases

KEY = "deepevalex-faithfulness"


class PricedJudge(OracleJudge):
    """Goes by the name of a judge whose price is known."""

    ref = "offline"


class Talkative(PricedJudge):
    """Answers one kind of question with a text."""

    def __init__(self, step: str, text: str) -> None:
        super().__init__(facts(1))
        self._step, self._text = step, text

    async def send(self, request: JudgeRequest) -> JudgeReply:
        if request.step == self._step:
            return JudgeReply(self._text)
        return await super().send(request)


def deepevalex(**options: object) -> Metric[Any]:
    return metric(KEY, **options)


def listing(*entries: Json) -> Script:
    """Answer the peer's question for verdicts with these words or whole entries."""

    def script(question: Question[Any], answer: Json) -> Json:
        if question.step != "verdicts":
            return answer
        return {
            "verdicts": [
                each if isinstance(each, dict) else {"verdict": each, "reason": "b"}
                for each in entries
            ]
        }

    return script


# What is asked, and what comes of it


async def test_truths_and_claims_then_verdicts_then_a_reason() -> None:
    ask = ScriptedAsk(facts(1))
    assessments, conclusion = await judge(deepevalex(), make_conversation(1), ask)
    (found,) = assessments
    assert labels(assessments) == [["yes", "no"]]
    assert [truth.text for truth in found.truths] == ["d0 one", "d0 two"]
    assert [truth.document for truth in found.truths] == ["D0.", "D0."]
    assert (found.score.value, conclusion.score.value, conclusion.success) == (0.5, 0.5, True)
    assert (found.reason, conclusion.reason) == ("because", "because")
    assert ask.steps == {"truths": 1, "claims": 1, "verdicts": 1, "reason": 1}
    assert ask.tasks(JudgeClaims) == [JudgeClaims(("a0 one", "a0 two"), ("d0 one", "d0 two"))]
    assert ask.tasks(ExplainScore) == [ExplainScore(0.5, ("because",))]


async def test_what_is_not_mentioned_passes_and_each_answer_counts_once() -> None:
    oracle = facts(2)
    oracle["verdicts"]["a0 one"] = "idk"
    oracle["verdicts"]["a1 two"] = "yes"
    assessments, conclusion = await judge(deepevalex(), make_conversation(2), ScriptedAsk(oracle))
    assert labels(assessments) == [["idk", "no"], ["yes", "yes"]]
    assert conclusion.score.value == 0.75


@pytest.mark.parametrize(("as_peer", "score"), [(False, None), (True, 1.0)])
async def test_without_claims_only_the_peer_has_a_score(as_peer: bool, score: float | None) -> None:
    ask = ScriptedAsk({"truths": {"D0.": ["t"]}})
    assessments, conclusion = await judge(deepevalex(as_peer=as_peer), make_conversation(1), ask)
    assert (labels(assessments), conclusion.score.value) == ([[]], score)
    if not as_peer:
        assert conclusion.score.state is ScoreState.UNDEFINED
        assert conclusion.score.reason == "the judge drew no claims from the answer"
        assert (conclusion.success, conclusion.reason) == (None, None)
        assert ask.steps == {"truths": 1, "claims": 1}


async def test_without_truths_nothing_was_compared_and_there_is_no_score() -> None:
    ask = ScriptedAsk({"claims": {"A0.": ["k"]}})
    assessments, conclusion = await judge(deepevalex(), make_conversation(1), ask)
    assert labels(assessments) == [["idk"]]
    assert conclusion.score.state is ScoreState.UNDEFINED
    assert conclusion.score.reason == (
        "the judge drew no truths from the documents, so no claim was compared with anything"
    )
    assert ask.steps == {"truths": 1, "claims": 1, "verdicts": 1}


async def test_without_truths_a_no_is_still_the_judges() -> None:
    ask = ScriptedAsk({"claims": {"A0.": ["k"]}, "verdicts": {"k": "no"}})
    assessments, conclusion = await judge(deepevalex(), make_conversation(1), ask)
    assert (labels(assessments), conclusion.score.value) == ([["no"]], 0.0)


async def test_a_contradiction_without_words_is_no_score_without_a_contradiction() -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        if question.step == "verdicts":
            return {key: {**said, "reason": None} for key, said in answer.items()}
        return answer

    ask = ScriptedAsk(facts(1), script)
    await judge(deepevalex(), make_conversation(1), ask)
    assert ask.tasks(ExplainScore) == [ExplainScore(0.5, ("a0 two (no): no reason given",))]


async def test_an_answer_without_fault_is_no_reason_of_a_mean_that_is_lowered() -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        if not isinstance(question.task, ExplainScore):
            return answer
        return {"reason": "bad" if question.task.findings else "No problem was found."}

    oracle = facts(3)
    oracle["verdicts"]["a1 two"] = "yes"
    oracle["claims"]["A2."] = []
    _, conclusion = await judge(deepevalex(), make_conversation(3), ScriptedAsk(oracle, script))
    assert conclusion.score.value == 0.75
    assert conclusion.reason == "bad; 1 of 3 windows undefined"


@pytest.mark.parametrize("as_peer", [False, True])
async def test_reasons_can_be_left_out(as_peer: bool) -> None:
    ask = ScriptedAsk(facts(1))
    using = deepevalex(include_reason=False, as_peer=as_peer)
    assessments, conclusion = await judge(using, make_conversation(1), ask)
    assert conclusion.reason is None
    assert (
        using.make_peer_library_results(make_conversation(1), assessments, conclusion, 1)[0][
            "reason"
        ]
        is None
    )
    assert ask.steps == {"truths": 1, "claims": 1, "verdicts": 1}


async def test_the_reasons_of_the_answers_are_the_conversations() -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        if not isinstance(question.task, ExplainScore):
            return answer
        return {"reason": "bad" if question.task.findings else "good"}

    oracle = facts(3)
    oracle["verdicts"]["a1 two"] = "yes"
    _, conclusion = await judge(deepevalex(), make_conversation(3), ScriptedAsk(oracle, script))
    assert conclusion.reason == "bad; good"


async def test_claims_that_came_along_are_judged() -> None:
    claims = [Claim(1, "a0 two"), Claim(3, "a1 one")]
    for as_peer in (False, True):
        ask = ScriptedAsk(facts(2))
        assessments, _ = await judge(deepevalex(as_peer=as_peer), make_conversation(2), ask, claims)
        assert labels(assessments) == [["no"], ["yes"]]
        assert [v.claim for found in assessments for v in found.verdicts] == claims
        assert "claims" not in ask.steps


async def test_claims_keep_the_turn_and_the_place_they_were_made_in() -> None:
    talked = conversation(
        Turn("user", "Q?"),
        Turn("assistant", "It is red.", (Document("D."),)),
        Turn("assistant", "It is round."),
    )
    oracle = {"claims": {"It is red.": ["It is red"], "It is round.": ["It is round"]}}
    for as_peer in (False, True):
        (found,), _ = await judge(deepevalex(as_peer=as_peer), talked, ScriptedAsk(oracle))
        claims = [verdict.claim for verdict in found.verdicts]
        assert [(claim.turn, claim.text) for claim in claims] == [
            (1, "It is red"),
            (2, "It is round"),
        ]
        assert all(claim.span is not None for claim in claims)


async def test_images_go_with_the_questions_that_show_them() -> None:
    pages = [Image(f"{n}" * 64, "image/png") for n in range(3)]
    talked = conversation(
        Turn("user", "Q?", images=(pages[0],)),
        Turn("assistant", "A0.", (Document("D0.", images=(pages[1],)),), images=(pages[2],)),
    )
    for as_peer, with_answer in ((False, (pages[0], pages[2])), (True, (pages[2],))):
        ask = ScriptedAsk(facts(1), takes_images=True)
        await judge(deepevalex(as_peer=as_peer), talked, ask)
        shown = {question.step: question.images for question in ask.questions}
        assert shown == {
            "truths": (pages[1],),
            "claims": with_answer,
            "verdicts": (),
            "reason": (),
        }


async def test_images_are_refused_before_any_question_by_a_judge_that_takes_none() -> None:
    page = Image("ab" * 32, "image/png")
    talked = conversation(Turn("user", "Q?", images=(page,)), *exchange("Q0?", "A0.", "D0."))
    for as_peer in (False, True):
        ask = ScriptedAsk(facts(1))
        with pytest.raises(ImagesNotSupported):
            await judge(deepevalex(as_peer=as_peer), talked, ask)
        assert ask.questions == []


# Each question once, and shared with turn faithfulness


async def test_a_document_is_read_once_however_often_it_is_retrieved() -> None:
    talked = conversation(
        *exchange("Q0?", "A0.", "D0.", "D1.", "D0."),
        *exchange("Q1?", "A1.", "D1.", "D2.", " "),
        *exchange("Q2?", "A2.", "D0."),
    )
    ask = ScriptedAsk(facts(3))
    assessments, _ = await judge(deepevalex(), talked, ask)
    assert [task.documents for task in ask.tasks(ExtractTruths)] == [("D0.", "D1."), ("D2.",)]
    assert [[truth.text for truth in found.truths] for found in assessments] == [
        ["d0 one", "d0 two", "d1 one", "d1 two"],
        ["d1 one", "d1 two", "d2 one", "d2 two"],
        ["d0 one", "d0 two"],
    ]


async def steps_after_turn_faithfulness(
    talked: Conversation, oracle: Mapping[str, Json], **options: object
) -> tuple[set[str], set[str]]:
    """Run both metrics over one store; give the steps whose replies were asked for and stored."""
    replies = MemoryReplyCache()
    heard: list[tuple[str, bool]] = []
    for key in ("turn-faithfulness", KEY):
        heard.clear()
        asker = Asker(
            OracleJudge(oracle),
            replies,
            concurrency=4,
            on_reply=lambda step, reply, stored: heard.append((step, stored)),
        )
        await assess_conversation(metric(key, **options), talked, asker.bind_to_item(None))
        await asker.aclose()
    asked = {step for step, stored in heard if not stored}
    return asked, {step for step, stored in heard if stored}


async def test_truths_and_claims_cost_nothing_after_turn_faithfulness() -> None:
    talked = conversation(
        *exchange("Q0?", "A0.", "D0.", "D1."),
        *exchange("Q1?", "A1.", "D1.", "D2."),
        *(turn for n in range(2, 14) for turn in exchange(f"Q{n}?", f"A{n}.", "D0.", f"D{n}.")),
    )
    asked, stored = await steps_after_turn_faithfulness(talked, facts(14))
    assert asked == {"verdicts", "reason"}
    assert {"truths", "claims"} <= stored


@pytest.mark.thorough
@given(case=cases())
@settings(deadline=None, max_examples=30)
async def test_whatever_the_conversation_truths_and_claims_are_shared(case: Json) -> None:
    talked = conversation_of(case["input"])
    asked, _ = await steps_after_turn_faithfulness(talked, case["judge"], answers_alone=True)
    assert asked <= {"verdicts", "reason"}


async def test_the_limit_is_kept_per_document_whatever_the_judge_sends() -> None:
    talked = conversation(*exchange("Q0?", "A0.", "D0.", "D1."))
    (found,), _ = await judge(deepevalex(truths_extraction_limit=1), talked, ScriptedAsk(facts(2)))
    assert [truth.text for truth in found.truths] == ["d0 one", "d1 one"]
    ask = ScriptedAsk(facts(2))
    (found,), _ = await judge(deepevalex(truths_extraction_limit=1, as_peer=True), talked, ask)
    assert len(found.truths) == 4
    assert ask.tasks(ExtractPooledTruths) == [ExtractPooledTruths(("D0.", "D1."), 1)]


# Verdicts that are missing


async def test_a_missing_verdict_is_asked_for_again_and_never_guessed() -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        if question.step == "verdicts":
            answer["c0"] = {"reason": "", "verdict": "Yes, clearly"}
        return answer

    ask = ScriptedAsk(facts(1), script)
    (found,), conclusion = await judge(deepevalex(), make_conversation(1), ask)
    assert labels([found]) == [[None, "no"]]
    assert found.verdicts[0].word == "Yes, clearly"
    assert (found.score.state, conclusion.score.state) == (ScoreState.INCOMPLETE,) * 2
    assert conclusion.success is None
    assert [task.claims for task in ask.tasks(JudgeClaims)] == [
        ("a0 one", "a0 two"),
        ("a0 one",),
        ("a0 one",),
    ]
    assert "reason" not in ask.steps


# What an answer must have


@pytest.mark.parametrize(
    ("turns", "names"),
    [
        ((Turn("user", ""), Turn("assistant", "", ())), "input, actual_output, retrieval_context"),
        ((Turn("user", "Q?"), Turn("assistant", "A.")), "retrieval_context"),
        ((Turn("user", "Q?"), Turn("assistant", "A.", ())), "retrieval_context"),
        ((Turn("user", ""), Turn("assistant", "A.", (Document("D."),))), "input"),
        ((Turn("user", "Q?"), Turn("assistant", "", (Document("D."),))), "actual_output"),
    ],
)
async def test_what_is_missing_is_named_and_costs_nothing(
    turns: tuple[Turn, ...], names: str
) -> None:
    ask = ScriptedAsk(facts(1))
    talked = conversation(*exchange("Q0?", "A0.", "D0."), *turns)
    using = deepevalex()
    assessments, conclusion = await judge(using, talked, ask)
    assert states(assessments) == [ScoreState.SCORED, ScoreState.SKIPPED]
    assert assessments[1].score.reason == f"missing_params: {names}"
    assert conclusion.score.value == 0.5
    assert ask.steps == {"truths": 1, "claims": 1, "verdicts": 1, "reason": 1}
    result = using.make_peer_library_results(talked, assessments, conclusion, 1)[1]
    assert result["error"] == {"kind": "missing_params", "params": names.split(", ")}
    ask = ScriptedAsk(facts(1))
    with pytest.raises(MissingParameters) as caught:
        await judge(deepevalex(as_peer=True), conversation(*turns), ask)
    assert (", ".join(caught.value.names), ask.questions) == (names, [])


async def test_white_space_is_enough_for_the_peer_alone() -> None:
    talked = conversation(Turn("user", " "), Turn("assistant", " ", (Document(" "),)))
    assessments, _ = await judge(deepevalex(), talked, ScriptedAsk({}))
    assert assessments[0].score.reason == "missing_params: input, actual_output, retrieval_context"
    ask = ScriptedAsk({})
    _, conclusion = await judge(deepevalex(as_peer=True), talked, ask)
    assert conclusion.score.value == 1.0
    assert ask.steps == {"truths": 1, "claims": 1, "reason": 1}


async def test_an_image_is_enough_too() -> None:
    page = Image("ab" * 32, "image/png")
    talked = conversation(
        Turn("user", "", images=(page,)), Turn("assistant", "A0.", (Document("", images=(page,)),))
    )
    for as_peer in (False, True):
        ask = ScriptedAsk({"claims": {"A0.": ["k"]}}, takes_images=True)
        assessments, _ = await judge(deepevalex(as_peer=as_peer), talked, ask)
        assert labels(assessments) == [["idk"]]


async def test_answers_alone_can_be_judged_on_request_but_not_by_the_peer() -> None:
    talked = conversation(Turn("assistant", "A0.", (Document("D0."),)))
    assert deepevalex().windows(talked) == ()
    assert deepevalex().explain_skip(talked) == "no user turn"
    assessments, _ = await judge(deepevalex(answers_alone=True), talked, ScriptedAsk(facts(1)))
    assert labels(assessments) == [["yes", "no"]]
    with pytest.raises(MissingParameters) as caught:
        await judge(deepevalex(as_peer=True), talked, ScriptedAsk(facts(1)))
    assert caught.value.names == ("input",)


async def test_the_peer_needs_an_answer() -> None:
    using = deepevalex(as_peer=True)
    for turns in ((), (Turn("user", "Q?"),)):
        assert using.explain_skip(conversation(*turns)) is None
        with pytest.raises(MissingParameters) as caught:
            await judge(using, conversation(*turns), ScriptedAsk({}))
        assert caught.value.names == ("actual_output",)


@pytest.mark.parametrize("documents", [None, ()])
def test_a_conversation_without_any_known_context_is_skipped(
    documents: tuple[Document, ...] | None,
) -> None:
    talked = conversation(Turn("user", "Q?"), Turn("assistant", "A.", documents))
    expected = "no retrieval context" if documents is None else None
    assert deepevalex().explain_skip(talked) == expected


# Failures, by the peer's names

FAILURES: list[tuple[JudgeError, str, Mapping[str, object]]] = [
    (JudgeRequestRejected("bad", status=400), "api_error (status 400): bad", {"status": 400}),
    (JudgeRateLimited("slow", status=429), "api_error (status 429): slow", {"status": 429}),
    (DOWN, f"request_failed: {DOWN}", {}),
    (JudgeReplyInvalid("prose", raw="Sure!"), "json_parse_error: prose", {}),
    (JudgeReplyTruncated("half", raw='{"a'), "json_parse_error: half", {}),
    (JudgeRefused("no", raw="I cannot."), "json_parse_error: no", {}),
]


@pytest.mark.parametrize(("error", "reason", "more"), FAILURES)
@pytest.mark.parametrize("step", ["truths", "claims", "verdicts"])
async def test_a_failure_has_the_peers_name_and_fails_its_answer_alone(
    step: str, error: JudgeError, reason: str, more: Mapping[str, object]
) -> None:
    def about_the_second(task: Any) -> bool:
        return any(text in repr(task) for text in ("D1.", "answers=('A1.',)", "a1 one"))

    using = deepevalex()
    ask = ScriptedAsk(facts(2), failing(step, about_the_second, error))
    assessments, conclusion = await judge(using, make_conversation(2), ask)
    assert states(assessments) == [ScoreState.SCORED, ScoreState.FAILED]
    assert assessments[1].score.reason == reason
    kind, message = reason.split(" ")[0].rstrip(":"), reason.split(": ", 1)[1]
    result = using.make_peer_library_results(make_conversation(2), assessments, conclusion, 1)[1]
    assert result["error"] == {"kind": kind, "message": message, **more}
    assert result["score"] is result["success"] is None
    with pytest.raises(type(error)) as caught:
        await judge(
            deepevalex(as_peer=True),
            make_conversation(2),
            ScriptedAsk(facts(2), failing(step, anything, error)),
        )
    assert str(caught.value) == reason


@pytest.mark.parametrize("step", ["truths", "claims", "verdicts"])
async def test_a_reply_of_the_wrong_shape_is_named_after_what_was_asked(step: str) -> None:
    wrong = JudgeReplyInvalid("wrong", raw='{"other": 1}')
    ask = ScriptedAsk(facts(1), failing(step, anything, wrong))
    assessments, _ = await judge(deepevalex(), make_conversation(1), ask)
    assert assessments[0].score.reason == f"invalid_{step}_response: wrong"


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("Sure!", "json_parse_error"),
        ('```json\n{"claims": []}\n```', "json_parse_error"),
        ('{"claim": []}', "invalid_claims_response"),
        ("[]", "invalid_claims_response"),
    ],
)
async def test_the_peer_reads_nothing_but_json(raw: str, name: str) -> None:
    with pytest.raises(JudgeReplyInvalid, match=f"^{name}: "):
        await measure_async(
            make_conversation(1), deepevalex(as_peer=True), Talkative("claims", raw)
        )


async def test_json_in_a_fence_is_read_by_default() -> None:
    fenced = '```json\n{"a0": ["a0 one"]}\n```'
    result = await measure_async(make_conversation(1), deepevalex(), Talkative("claims", fenced))
    assert (result.score.value, result.reason) == (1.0, "because")


async def test_a_reason_that_cannot_be_had_costs_the_score_under_the_peers_rules_alone() -> None:
    wrong = JudgeReplyInvalid("wrong", raw="{}")
    script = failing("reason", anything, wrong)
    (found,), conclusion = await judge(
        deepevalex(), make_conversation(1), ScriptedAsk(facts(1), script)
    )
    assert (found.score.value, conclusion.success) == (0.5, True)
    assert conclusion.reason == "a0 two (no): because"
    with pytest.raises(JudgeReplyInvalid, match="invalid_reason_response: wrong"):
        await judge(deepevalex(as_peer=True), make_conversation(1), ScriptedAsk(facts(1), script))


@pytest.mark.parametrize("as_peer", [False, True])
@pytest.mark.parametrize("step", ["truths", "claims", "verdicts", "reason"])
async def test_a_refused_key_stops_everything_and_is_named_too(step: str, as_peer: bool) -> None:
    script = failing(step, anything, JudgeAuthFailed("no key", status=401))
    with pytest.raises(JudgeAuthFailed, match=r"api_error \(status 401\): no key"):
        await judge(
            deepevalex(as_peer=as_peer), make_conversation(1), ScriptedAsk(facts(1), script)
        )


async def test_the_peer_tells_the_failure_of_the_truths_first() -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        match question.step:
            case "claims":
                return DOWN
            case "truths":
                return JudgeRequestRejected("bad", status=400)
        return answer

    with pytest.raises(JudgeRequestRejected):
        await judge(deepevalex(as_peer=True), make_conversation(1), ScriptedAsk(facts(1), script))


def test_a_window_that_is_incomplete_has_an_error_without_a_name_of_the_peers() -> None:
    assert parse_deepevalex_failure("1 of 2 claims have no verdict") == {
        "kind": "no_score",
        "message": "1 of 2 claims have no verdict",
    }


# The result in the peer's words


async def test_the_result_has_the_peers_fields() -> None:
    using = deepevalex(truths_extraction_limit=5, threshold=0.6)
    assessments, conclusion = await judge(using, make_conversation(1), ScriptedAsk(facts(1)))
    (result,) = using.make_peer_library_results(make_conversation(1), assessments, conclusion, 1234)
    assert result == {
        "metric": "Faithfulness",
        "score": 0.5,
        "success": False,
        "reason": "because",
        "threshold": 0.6,
        "latency_ms": 1234,
        "metadata": {
            "truths": ["d0 one", "d0 two"],
            "claims": ["a0 one", "a0 two"],
            "verdicts": [
                {"verdict": "yes", "reason": "because"},
                {"verdict": "no", "reason": "because"},
            ],
            "truths_extraction_limit": 5,
        },
        "error": None,
    }
    json.dumps(result)


@pytest.mark.parametrize(
    ("threshold", "as_peer", "success"),
    [
        (0.5, False, True),
        (0.5, True, True),
        (0.51, False, False),
        (None, False, None),
        (None, True, False),
        (2, True, False),
        (-1, True, True),
    ],
)
async def test_success_is_reaching_the_threshold_and_without_one_the_peer_fails(
    threshold: float | None, as_peer: bool, success: bool | None
) -> None:
    using = deepevalex(threshold=threshold, as_peer=as_peer)
    assessments, conclusion = await judge(using, make_conversation(1), ScriptedAsk(facts(1)))
    assert conclusion.success is success
    assert (
        using.make_peer_library_results(make_conversation(1), assessments, conclusion, 1)[0][
            "success"
        ]
        is success
    )


# Options


@pytest.mark.parametrize(
    ("options", "ref"),
    [
        ({}, None),
        ({"model": "gpt-5.4"}, "openai:gpt-5.4"),
        ({"model": "anthropic:claude-opus-4-5"}, "anthropic:claude-opus-4-5"),
        ({"adapter": "openai", "model": "gpt-5.4"}, "openai:gpt-5.4"),
        ({"adapter": "anthropic", "model": "claude-opus-4-5"}, "anthropic:claude-opus-4-5"),
        ({"adapter": "openai", "model": "llama3:8b"}, "openai:llama3:8b"),
    ],
)
def test_adapter_and_model_name_the_judge(options: dict[str, str], ref: str | None) -> None:
    assert deepevalex(**options).judge == ref


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"adapter": "ollama", "model": "m"},
            "no adapter `ollama`; there are openai",
        ),
        ({"adapter": "openai"}, "adapter is openai and model is not set"),
        ({"threshold": 1.5}, "threshold is 1.5"),
        ({"truths_extraction_limit": 0}, "truths_extraction_limit is 0; expected 1 or more"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        deepevalex(**options)
    if "adapter" in options:
        with pytest.raises(ConfigError, match=message):
            deepevalex(as_peer=True, **options)
    else:
        deepevalex(as_peer=True, **options)


# The peer's rules


async def test_the_peer_asks_for_a_reason_even_without_claims() -> None:
    ask = ScriptedAsk({"truths": {"D0.": ["t"]}})
    _, conclusion = await judge(deepevalex(as_peer=True), make_conversation(1), ask)
    assert (conclusion.score.value, conclusion.reason) == (1.0, "because")
    assert ask.steps == {"truths": 1, "claims": 1, "reason": 1}
    assert ask.tasks(ExplainScore) == [ExplainScore(1.0, ())]


async def test_the_peer_reads_the_answer_without_its_question() -> None:
    ask = ScriptedAsk(facts(1))
    await judge(deepevalex(as_peer=True), make_conversation(1), ask)
    assert ask.tasks(ExtractPooledClaims) == [ExtractPooledClaims(("A0.",), ())]
    assert ask.tasks(ExtractClaims) == []
    assert ask.tasks(JudgeClaimList) == [JudgeClaimList(("a0 one", "a0 two"), ("d0 one", "d0 two"))]


@pytest.mark.parametrize(
    ("word", "label"),
    [
        ("yes", "yes"),
        (" NO\n", "no"),
        ("Idk", "idk"),
        ("No, it contradicts", "idk"),
        ("borderline", "idk"),
        ("maybe", "idk"),
        ("", "idk"),
        (None, "idk"),
        (3, "idk"),
        (["no"], "idk"),
        ({"reason": "no verdict"}, "idk"),
    ],
)
async def test_the_peer_takes_every_other_word_for_idk(word: Json, label: str) -> None:
    ask = ScriptedAsk({"claims": {"A0.": ["k"]}}, listing(word))
    assessments, conclusion = await judge(deepevalex(as_peer=True), make_conversation(1), ask)
    assert labels(assessments) == [[label]]
    assert conclusion.score.value == (label != "no")


async def test_an_entry_that_is_null_is_idk_and_other_things_fail() -> None:
    assert [
        said.word for said in make_any_verdict_list_reply_shape().read({"verdicts": [None]}, False)
    ] == [None]
    wrong: tuple[Json, ...] = ("no", 1, [], True)
    for entry in wrong:
        with pytest.raises(ReplyMismatch, match=r"verdicts\[0\]"):
            make_any_verdict_list_reply_shape().read({"verdicts": [entry]}, False)


@pytest.mark.parametrize("reply", [[], None, "claims", {}, {"claims": None}, {"claims": "k"}])
def test_what_is_no_list_is_refused(reply: Json) -> None:
    with pytest.raises(ReplyMismatch, match="`claims` must be a list"):
        make_text_list_reply_shape("claims").read(reply, False)


def test_a_list_may_hold_what_the_peer_can_write_as_text() -> None:
    read = make_text_list_reply_shape("claims").read(
        {"claims": [" k ", 1, 2.5, True, None, ""]}, False
    )
    assert read == (" k ", "1", "2.5", "true", "", "")
    with pytest.raises(ReplyMismatch, match="list of strings"):
        make_text_list_reply_shape("claims").read({"claims": [{}]}, False)


@pytest.mark.parametrize(
    "text",
    ['```json\n{"a": 1}\n```', 'Sure: {"a": 1}', '{"a": 1,}', '{"a": NaN}', "", "[" * 100_000],
)
def test_a_reply_that_is_not_json_as_a_whole_is_refused(text: str) -> None:
    with pytest.raises(ReplyMismatch, match="not valid JSON"):
        parse_strict_json(text)


async def test_every_question_of_the_peer_is_read_strictly() -> None:
    assert parse_strict_json(' {"a": [1]} ') == {"a": [1]}
    ask = ScriptedAsk(facts(1))
    await judge(deepevalex(as_peer=True), make_conversation(1), ask)
    assert {question.reply.parse for question in ask.questions} == {parse_strict_json}


WORDS = st.sampled_from(["yes", "no", "idk", " NO ", "No!", "maybe", None, 3])


def as_elixir(claims: Sequence[str], words: Sequence[Json]) -> float:
    """Compute the peer's score."""
    heard = [word.strip().lower() if isinstance(word, str) else "idk" for word in words]
    if not claims or not heard:
        return 1.0
    return sum(word != "no" for word in heard) / len(heard)


@given(claims=st.lists(st.sampled_from(["", "k1", "k2", " k1"]), max_size=4), words=st.lists(WORDS))
@settings(deadline=None)
async def test_under_the_peers_rules_the_score_is_the_peers(
    claims: list[str], words: list[Json]
) -> None:
    ask = ScriptedAsk({"claims": {"A0.": claims}}, listing(*words))
    (found,), conclusion = await judge(deepevalex(as_peer=True), make_conversation(1), ask)
    assert conclusion.score.value == as_elixir(claims, words)
    assert [verdict.claim.text for verdict in found.verdicts] == claims
    assert conclusion.success is (as_elixir(claims, words) >= 0.5)
    assert ask.steps["reason"] == 1


@given(choices=st.lists(st.sampled_from(["keep", "drop", "nonsense"]), max_size=12))
@settings(deadline=None)
async def test_a_missing_verdict_never_passes(choices: list[str]) -> None:
    left = iter(choices)

    def script(question: Question[Any], answer: Json) -> Json:
        if question.step == "verdicts":
            for key in list(answer):
                match next(left, "drop"):
                    case "drop":
                        del answer[key]
                    case "nonsense":
                        answer[key] = {"reason": "", "verdict": "perhaps"}
        return answer

    assessments, conclusion = await judge(
        deepevalex(), make_conversation(2), ScriptedAsk(facts(2), script)
    )
    for found in assessments:
        known = [verdict.label for verdict in found.verdicts]
        if None in known:
            assert found.score.state is ScoreState.INCOMPLETE
            assert conclusion.success is None
        else:
            assert known == ["yes", "no"]


@given(
    count=st.integers(1, 4),
    position=st.integers(0, 7),
    word=st.sampled_from(["yes", "no", "idk", "1", "x"]),
)
@settings(deadline=None)
async def test_a_relabelled_claim_moves_its_own_answer_alone(
    count: int, position: int, word: str
) -> None:
    result = await measure_async(make_conversation(count), deepevalex(), PricedJudge(facts(count)))
    claim = result.claims[position % len(result.claims)]
    meaning = {"1": "yes"}.get(word, word)
    scores = []
    for found in result.windows:
        said = [meaning if v.claim == claim else v.label for v in found.verdicts]
        counted = [label for label in said if label != "x"]
        scores.append(sum(label != "no" for label in counted) / len(counted))
    moved = result.score_with_overrides({claim: word}).windowed.value
    assert moved == pytest.approx(sum(scores) / count)
    assert result.score_with_overrides({}).windowed == result.scores.windowed
