import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithtui.domain.claims.verdicts import Claim
from faithtui.domain.conversation import Document, Image, Turn
from faithtui.domain.judging.tasks import InferStatementList, InferStatements, SplitAnswer
from faithtui.domain.scores import ScoreState
from faithtui.engine.library.measurement import measure_async
from faithtui.errors import ConfigError, JudgeReplyInvalid, JudgeTimeout, MissingParameters
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.metrics.base import Metric, Question, QuestionPace, ReplyMismatch
from faithtui.metrics.ragas.replies import (
    make_inference_list_reply_shape,
    make_keyed_inferences_reply_shape,
    make_statement_list_reply_shape,
    parse_and_repair_first_json,
)
from tests.metrics.scripted import (
    DOWN,
    Json,
    Script,
    ScriptedAsk,
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

KEY = "ragas-faithfulness"


class PricedJudge(OracleJudge):
    """Goes by the name of a judge whose price is known."""

    ref = "offline"


def ragas(**options: object) -> Metric[Any]:
    return metric(KEY, **options)


def without_entry(key: str, times: int) -> Script:
    """Leave the verdict on one statement out, so many times."""
    left = times

    def script(question: Question[Any], answer: Json) -> Json:
        nonlocal left
        if question.step == "inference" and key in answer and left:
            left -= 1
            del answer[key]
        return answer

    return script


def listing(*entries: Json) -> Script:
    """Answer the peer's second question with these verdicts or whole entries."""

    def script(question: Question[Any], answer: Json) -> Json:
        if question.step != "inference":
            return answer
        return {
            "statements": [
                each
                if isinstance(each, dict)
                else {"statement": "s", "reason": "because", "verdict": each}
                for each in entries
            ]
        }

    return script


# What is asked, and what comes of it


async def test_statements_are_judged_against_the_passages() -> None:
    ask = ScriptedAsk(facts(2))
    assessments, conclusion = await judge(ragas(), make_conversation(2), ask)
    assert labels(assessments) == [["1", "0"], ["1", "0"]]
    assert [found.score.value for found in assessments] == [0.5, 0.5]
    assert (conclusion.score.value, conclusion.success, conclusion.reason) == (0.5, None, None)
    assert ask.steps == {"statements": 2, "inference": 2}
    assert ask.tasks(SplitAnswer)[0] == SplitAnswer("Q0?", "A0.")
    assert ask.tasks(InferStatements)[0] == InferStatements(("a0 one", "a0 two"), ("D0.",))
    assert all(found.truths == () for found in assessments)
    assert assessments[0].reason == "a0 two (0): because"


async def test_what_the_passages_do_not_mention_cannot_be_inferred() -> None:
    oracle = {"claims": {"A0.": ["k"]}, "verdicts": {"k": "idk"}}
    assessments, conclusion = await judge(ragas(), make_conversation(1), ScriptedAsk(oracle))
    assert labels(assessments) == [["0"]]
    assert conclusion.score.value == 0


async def test_without_statements_there_is_no_score_and_one_question() -> None:
    ask = ScriptedAsk({})
    assessments, conclusion = await judge(ragas(), make_conversation(1), ask)
    assert states(assessments) == [ScoreState.UNDEFINED]
    assert (conclusion.score.state, conclusion.success) == (ScoreState.UNDEFINED, None)
    assert ask.steps == {"statements": 1}


async def test_an_answer_without_a_score_leaves_the_mean_alone() -> None:
    oracle = {**facts(2), "claims": {"A0.": ["a0 one"]}}
    assessments, conclusion = await judge(ragas(), make_conversation(2), ScriptedAsk(oracle))
    assert states(assessments) == [ScoreState.SCORED, ScoreState.UNDEFINED]
    assert conclusion.score.value == 1


async def test_an_answer_without_text_is_asked_about_by_the_peer_alone() -> None:
    talked = conversation(*exchange("Q0?", " ", "D0."))
    for as_peer, asked in ((False, {}), (True, {"statements": 1})):
        ask = ScriptedAsk({})
        assessments, _ = await judge(ragas(as_peer=as_peer), talked, ask)
        assert states(assessments) == [ScoreState.UNDEFINED]
        assert ask.steps == asked


async def test_statements_belong_to_the_reply_they_repeat() -> None:
    talked = conversation(
        Turn("user", "Q?"),
        Turn("assistant", "It is red.", (Document("D."),)),
        Turn("assistant", "It is round."),
    )
    oracle = {"claims": {"It is red.\nIt is round.": ["It is round.", "It is red."]}}
    ask = ScriptedAsk(oracle)
    (found,), _ = await judge(ragas(), talked, ask)
    assert [verdict.claim.turn for verdict in found.verdicts] == [2, 1]
    assert ask.tasks(SplitAnswer) == [SplitAnswer("Q?", "It is red.\nIt is round.")]


async def test_claims_that_came_along_are_judged_in_place_of_statements() -> None:
    claims = [Claim(1, "a0 one"), Claim(3, "a1 two"), Claim(3, "a1 one")]
    ask = ScriptedAsk(facts(2))
    assessments, _ = await judge(ragas(), make_conversation(2), ask, claims)
    assert [[v.claim for v in found.verdicts] for found in assessments] == [claims[:1], claims[1:]]
    assert labels(assessments) == [["1"], ["0", "1"]]
    assert ask.steps == {"inference": 2}


async def test_equal_and_blank_passages_are_shown_once_and_never() -> None:
    talked = conversation(*exchange("Q0?", "A0.", "D0.", " ", "D0."))
    ask = ScriptedAsk(facts(1))
    await judge(ragas(), talked, ask)
    assert ask.tasks(InferStatements)[0].contexts == ("D0.",)
    await judge(ragas(as_peer=True), talked, ask)
    assert ask.tasks(InferStatementList)[0].contexts == ("D0.", " ", "D0.")


async def test_images_go_with_the_question_that_shows_their_passage() -> None:
    pages = [Image(f"{n}" * 64, "image/png") for n in range(3)]
    talked = conversation(
        Turn("user", "Q?", images=(pages[0],)),
        Turn("assistant", "A0.", (Document("D0.", images=(pages[1],)),), images=(pages[2],)),
    )
    ask = ScriptedAsk(facts(1), takes_images=True)
    await judge(ragas(), talked, ask)
    assert [question.images for question in ask.questions] == [(pages[0], pages[2]), (pages[1],)]
    for question in ask.questions:
        assert all(image.mark in question.prompt for image in question.images)


# Verdicts that are missing


@pytest.mark.parametrize("times", [1, 2])
async def test_a_missing_verdict_is_asked_for_again(times: int) -> None:
    left = times

    def script(question: Question[Any], answer: Json) -> Json:
        nonlocal left
        if question.step == "inference" and left:
            left -= 1
            del answer[f"s{len(answer) - 1}"]
        return answer

    ask = ScriptedAsk(facts(1), script)
    assessments, conclusion = await judge(ragas(), make_conversation(1), ask)
    assert labels(assessments) == [["1", "0"]]
    assert conclusion.score.value == 0.5
    asked = [task.statements for task in ask.tasks(InferStatements)]
    assert asked == [("a0 one", "a0 two"), *[("a0 two",)] * times]


async def test_a_verdict_that_never_comes_leaves_no_score() -> None:
    ask = ScriptedAsk(facts(2), without_entry("s0", 3))
    assessments, conclusion = await judge(ragas(), make_conversation(1), ask)
    assert labels(assessments) == [[None, "0"]]
    assert states(assessments) == [ScoreState.INCOMPLETE]
    assert (conclusion.score.state, conclusion.success) == (ScoreState.INCOMPLETE, None)
    assert ask.steps["inference"] == 3


async def test_a_word_that_is_no_verdict_is_kept_and_never_guessed() -> None:
    oracle = {"claims": {"A0.": ["k"]}, "verdicts": {"k": "1, surely"}}
    (found,), _ = await judge(ragas(), make_conversation(1), ScriptedAsk(oracle))
    assert (found.verdicts[0].label, found.verdicts[0].word) == (None, "1, surely")
    assert found.score.state is ScoreState.INCOMPLETE


@pytest.mark.parametrize(("word", "label"), [("1", "1"), (" 0 ", "0"), (1, "1"), (0, "0")])
async def test_numbers_are_as_good_as_words(word: Json, label: str) -> None:
    oracle = {"claims": {"A0.": ["k"]}, "verdicts": {"k": word}}
    ask = ScriptedAsk(oracle)
    assessments, _ = await judge(ragas(), make_conversation(1), ask)
    assert labels(assessments) == [[label]]
    assert ask.steps["inference"] == 1


@pytest.mark.parametrize("word", [2, True, 1.0, None, "maybe", ["1"]])
async def test_what_only_the_peer_takes_for_a_verdict_is_none(word: Json) -> None:
    oracle = {"claims": {"A0.": ["k"]}, "verdicts": {"k": word}}
    assessments, _ = await judge(ragas(), make_conversation(1), ScriptedAsk(oracle))
    assert labels(assessments) == [[None]]


# Context


async def test_an_answer_whose_context_nobody_knows_is_skipped_without_a_question() -> None:
    talked = conversation(
        *exchange("Q0?", "A0.", "D0."), Turn("user", "Q1?"), Turn("assistant", "A1.")
    )
    ask = ScriptedAsk(facts(2))
    assessments, conclusion = await judge(ragas(), talked, ask)
    assert states(assessments) == [ScoreState.SCORED, ScoreState.SKIPPED]
    assert "retrieved_contexts" in (assessments[1].score.reason or "")
    assert conclusion.score.value == 0.5
    assert ask.steps == {"statements": 1, "inference": 1}


@pytest.mark.parametrize("documents", [(), ("",), (" ", "\n")])
async def test_when_retrieval_returned_nothing_no_statement_follows(
    documents: tuple[str, ...],
) -> None:
    ask = ScriptedAsk(facts(1))
    assessments, conclusion = await judge(
        ragas(), conversation(*exchange("Q0?", "A0.", *documents)), ask
    )
    assert labels(assessments) == [["0", "0"]]
    assert "nothing" in (assessments[0].verdicts[0].reason or "")
    assert conclusion.score.value == 0
    assert ask.steps == {"statements": 1}


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        ((), "no user turn"),
        ((Turn("user", "Q?"),), "no answered user turn"),
        ((Turn("user", "Q?"), Turn("assistant", "A.")), "no retrieval context"),
        ((Turn("user", "Q?"), Turn("assistant", "A.", ())), None),
        (exchange("Q?", "A.", "D."), None),
    ],
)
def test_the_reason_for_skipping_is_named_and_the_peer_never_skips(
    turns: tuple[Turn, ...], reason: str | None
) -> None:
    talked = conversation(*turns)
    assert ragas().explain_skip(talked) == reason
    assert ragas(as_peer=True).explain_skip(talked) is None


async def test_answers_alone_can_be_judged_on_request() -> None:
    talked = conversation(Turn("assistant", "A0.", (Document("D0."),)))
    assert ragas().windows(talked) == ()
    assessments, _ = await judge(ragas(answers_alone=True), talked, ScriptedAsk(facts(1)))
    assert labels(assessments) == [["1", "0"]]


# Failures


@pytest.mark.parametrize("step", ["statements", "inference"])
async def test_a_question_that_fails_fails_its_answer_and_under_the_peers_rules_all(
    step: str,
) -> None:
    def about_the_second(task: Any) -> bool:
        return "A1." in repr(task) or "a1 one" in repr(task)

    script = failing(step, about_the_second)
    assessments, conclusion = await judge(
        ragas(), make_conversation(2), ScriptedAsk(facts(2), script)
    )
    assert states(assessments) == [ScoreState.SCORED, ScoreState.FAILED]
    assert assessments[1].score.reason == f"JudgeTimeout: {DOWN}"
    assert conclusion.score.state is ScoreState.FAILED
    with pytest.raises(JudgeTimeout):
        await judge(ragas(as_peer=True), make_conversation(2), ScriptedAsk(facts(2), script))


# Options


def test_defaults_are_the_peers_and_there_is_no_threshold() -> None:
    rule = ragas().rule
    assert (rule.threshold, rule.when_empty, rule.passing) == (None, None, ("1",))
    assert ragas().pace == QuestionPace(answers=10)
    assert ragas(batch_size=3).pace == QuestionPace(answers=3)


@pytest.mark.parametrize(("size", "most"), [(1, 1), (2, 2), (10, 6)])
async def test_batch_size_is_the_number_of_answers_in_flight(size: int, most: int) -> None:
    class Busy(PricedJudge):
        in_flight = most_in_flight = 0

        async def send(self, request: JudgeRequest) -> JudgeReply:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            for _ in range(100):  # So long that every answer that may begin has begun.
                await asyncio.sleep(0)
            self.in_flight -= 1
            return await super().send(request)

    busy = Busy(facts(6))
    result = await measure_async(make_conversation(6), ragas(batch_size=size), busy, concurrency=64)
    assert (busy.most_in_flight, len(result.calls)) == (most, 12)


@pytest.mark.parametrize("as_peer", [False, True])
def test_without_an_answer_in_flight_nothing_could_be_judged(as_peer: bool) -> None:
    with pytest.raises(ConfigError, match="batch_size is 0; expected 1 or more"):
        ragas(batch_size=0, as_peer=as_peer)


@pytest.mark.parametrize(
    ("llm", "ref"),
    [
        (None, None),
        ("gpt-5.4", "openai:gpt-5.4"),
        ("anthropic:claude-opus-4-5", "anthropic:claude-opus-4-5"),
        ("offline", "offline"),
    ],
)
def test_llm_names_the_judge(llm: str | None, ref: str | None) -> None:
    assert ragas(llm=llm).judge == ref


async def test_the_result_in_the_peers_words_is_a_number_or_none() -> None:
    using, talked = ragas(), make_conversation(2)
    oracle = {**facts(2), "claims": {"A0.": ["a0 one"]}}
    assessments, conclusion = await judge(using, talked, ScriptedAsk(oracle))
    results = using.make_peer_library_results(talked, assessments, conclusion, 12)
    assert results == ({"score": 1.0}, {"score": None})


# The peer's rules


@pytest.mark.parametrize(
    ("verdict", "label"),
    [
        (1, "1"),
        (0, "0"),
        (2, "1"),
        (-1, "1"),
        (10**30, "1"),
        (True, "1"),
        (False, "0"),
        (1.0, "1"),
        (0.0, "0"),
        ("1", "1"),
        (" 0 ", "0"),
        ("1.0", "1"),
    ],
)
async def test_the_peer_takes_any_integer_but_0_for_1(verdict: Json, label: str) -> None:
    oracle = {"claims": {"A0.": ["k"]}}
    (found,), _ = await judge(
        ragas(as_peer=True), make_conversation(1), ScriptedAsk(oracle, listing(verdict))
    )
    (said,) = found.verdicts
    assert said.label == label
    assert said.word == (verdict if isinstance(verdict, str) else json.dumps(verdict))


@pytest.mark.parametrize(
    "entry",
    [
        0.5,
        "maybe",
        "yes",
        "True",
        None,
        [],
        {"statement": "s", "reason": "r"},
        {"statement": "s", "verdict": 1},
        {"statement": None, "reason": "r", "verdict": 1},
        {"reason": "r", "verdict": 1},
    ],
)
def test_the_peer_refuses_what_is_no_integer_or_has_no_words(entry: Json) -> None:
    whole = (
        entry if isinstance(entry, dict) else {"statement": "s", "reason": "r", "verdict": entry}
    )
    with pytest.raises(ReplyMismatch, match=r"statements\[0\]"):
        make_inference_list_reply_shape().read({"statements": [whole]}, False)


@pytest.mark.parametrize(
    "reply", [[], 5, None, {}, {"statements": None}, {"statements": {}}, {"statements": [1]}]
)
def test_replies_of_another_shape_are_refused(reply: Json) -> None:
    with pytest.raises(ReplyMismatch, match=r"statements|JSON object"):
        make_statement_list_reply_shape(as_peer=True).read(reply, False)
    with pytest.raises(ReplyMismatch, match="statements"):
        make_inference_list_reply_shape().read(reply, False)


@pytest.mark.parametrize("reply", [[], 5, None, {"s0": "1"}])
def test_numbered_verdicts_of_another_shape_are_refused(reply: Json) -> None:
    with pytest.raises(ReplyMismatch, match="object"):
        make_keyed_inferences_reply_shape(["s0"]).read(reply, False)


@pytest.mark.parametrize(
    ("verdicts", "score"),
    [([1], 1.0), ([1, 0, 0, 0], 0.25), ([0, 0, 1, 1], 0.5), ([], None)],
)
async def test_the_peer_divides_by_the_verdicts_that_came(
    verdicts: Sequence[int], score: float | None
) -> None:
    ask = ScriptedAsk(facts(1), listing(*verdicts))
    assessments, conclusion = await judge(ragas(as_peer=True), make_conversation(1), ask)
    assert conclusion.score.value == score
    assert len(assessments[0].verdicts) == 2
    assert ask.steps == {"statements": 1, "inference": 1}


async def test_the_peer_judges_on_no_context_and_notices_late_that_it_is_unknown() -> None:
    using = ragas(as_peer=True)
    ask = ScriptedAsk(facts(1))
    assessments, _ = await judge(using, conversation(*exchange("Q0?", "A0.")), ask)
    assert labels(assessments) == [["0", "0"]]
    unknown = conversation(Turn("user", "Q0?"), Turn("assistant", "A0."))
    ask = ScriptedAsk(facts(1))
    with pytest.raises(MissingParameters) as caught:
        await judge(using, unknown, ask)
    assert caught.value.names == ("retrieved_contexts",)
    assert ask.steps == {"statements": 1}
    assessments, _ = await judge(using, unknown, ScriptedAsk({}))
    assert states(assessments) == [ScoreState.UNDEFINED]


@pytest.mark.parametrize(
    ("turns", "missing"),
    [
        ((Turn("assistant", "A0.", (Document("D0."),)),), ("user_input",)),
        ((Turn("user", "Q0?"),), ("response",)),
        ((), ("response",)),
    ],
)
async def test_the_peer_needs_a_question_and_an_answer(
    turns: tuple[Turn, ...], missing: tuple[str, ...]
) -> None:
    ask = ScriptedAsk(facts(1))
    with pytest.raises(MissingParameters) as caught:
        await judge(ragas(as_peer=True), conversation(*turns), ask)
    assert caught.value.names == missing
    assert ask.questions == []


# How the peer finds JSON in a reply


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Sure:\n```json\n{"a": [1, 2]}\n```\nDone {"b": 2}.', {"a": [1, 2]}),
        ('{"b": 2} and {"a": 1}', {"b": 2}),
        ('[1] {"a": 1}', [1]),
        ('{"statements": ["k1", "k', {"statements": ["k1", "k"]}),
        ('{"statements": ["k1",', {"statements": ["k1"]}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ('{"a": "one\ntwo', {"a": "one\ntwo"}),
        ('{"a": "one\\', {"a": "one"}),
        ('{"a": 1, "b', {"a": 1}),
        ("```\n5\n```", 5),
        ("here: ```5```", 5),
        ('"{}"', {}),
        ("\ufeff{}", {}),
        ('```json {"a": "```"', {"a": "```"}),
        ('{"a": [1}', None),
    ],
)
def test_the_first_structure_is_read_and_its_end_mended(text: str, value: Json) -> None:
    assert parse_and_repair_first_json(text) == value


@pytest.mark.parametrize(
    "text", ["", "I cannot say.", "[note] {}", "{note} {}", "{'a': 1}", "[" * 100_000]
)
def test_a_reply_without_json_is_refused(text: str) -> None:
    with pytest.raises(ReplyMismatch, match="not valid JSON"):
        parse_and_repair_first_json(text)


@given(
    entries=st.lists(
        st.fixed_dictionaries(
            {"statement": st.text(), "reason": st.text(), "verdict": st.integers(-2, 2)}
        ),
        max_size=4,
    ),
    ascii_only=st.booleans(),
)
def test_what_was_written_as_json_is_read_back(entries: Json, ascii_only: bool) -> None:
    text = json.dumps({"statements": entries}, ensure_ascii=ascii_only)
    if not any(
        bracket in each["statement"] + each["reason"] for each in entries for bracket in "{}"
    ):
        assert parse_and_repair_first_json(text) == {"statements": entries}


async def test_half_a_reply_counts_under_the_peers_rules_alone() -> None:
    half = '{"statements": ["a0 one", "a0 tw'

    class Lame(PricedJudge):
        async def send(self, request: JudgeRequest) -> JudgeReply:
            if request.step == "statements":
                return JudgeReply(half)
            return await super().send(request)

    lame = Lame(facts(1))
    result = await measure_async(make_conversation(1), ragas(as_peer=True), lame)
    assert [claim.text for claim in result.claims] == ["a0 one", "a0 tw"]
    result = await measure_async(make_conversation(1), ragas(), lame)
    assert result.score.state is ScoreState.FAILED


# Whatever the judge says

ANY_VERDICT = st.sampled_from([0, 1, 2, -1, True, False, "0", "1", 1.0, 0.5, "maybe", None])


def as_ragas(statements: Sequence[str], verdicts: Sequence[Json]) -> float | str | None:
    """Compute the peer's score: None is NaN, a text an error."""
    if not statements:
        return None
    read = []
    for verdict in verdicts:
        if verdict is None or verdict == "maybe" or verdict == 0.5:
            return "error"
        read.append(int(verdict))
    return sum(each != 0 for each in read) / len(read) if read else None


@given(
    statements=st.lists(st.sampled_from(["", "k1", "k2", " k1"]), max_size=4),
    verdicts=st.lists(ANY_VERDICT, max_size=5),
)
@settings(deadline=None)
async def test_under_the_peers_rules_the_score_is_the_peers(
    statements: list[str], verdicts: list[Json]
) -> None:
    ask = ScriptedAsk({"claims": {"A0.": statements}}, listing(*verdicts))
    expected = as_ragas(statements, verdicts)
    if expected == "error":
        with pytest.raises(JudgeReplyInvalid):
            await judge(ragas(as_peer=True), make_conversation(1), ask)
        return
    (found,), conclusion = await judge(ragas(as_peer=True), make_conversation(1), ask)
    assert conclusion.score.value == found.score.value == expected
    assert [verdict.claim.text for verdict in found.verdicts] == statements


@given(choices=st.lists(st.sampled_from(["keep", "drop", "nonsense"]), max_size=12))
@settings(deadline=None)
async def test_a_missing_verdict_never_passes(choices: list[str]) -> None:
    left = iter(choices)

    def script(question: Question[Any], answer: Json) -> Json:
        if question.step == "inference":
            for key in list(answer):
                match next(left, "drop"):
                    case "drop":
                        del answer[key]
                    case "nonsense":
                        answer[key] = {"reason": "", "verdict": "perhaps"}
        return answer

    assessments, conclusion = await judge(
        ragas(), make_conversation(2), ScriptedAsk(facts(2), script)
    )
    for found in assessments:
        known = [verdict.label for verdict in found.verdicts]
        if None in known:
            assert found.score.state is ScoreState.INCOMPLETE
            assert conclusion.score.state is ScoreState.INCOMPLETE
        else:
            assert known == ["1", "0"]


@given(
    count=st.integers(1, 4),
    position=st.integers(0, 7),
    word=st.sampled_from(["1", "0", "yes", "no", "idk", "x"]),
)
@settings(deadline=None)
async def test_a_relabelled_statement_moves_its_own_answer_alone(
    count: int, position: int, word: str
) -> None:
    result = await measure_async(make_conversation(count), ragas(), PricedJudge(facts(count)))
    claim = result.claims[position % len(result.claims)]
    moved = result.score_with_overrides({claim: word}).windowed.value
    meaning = {"yes": "1", "no": "0", "idk": "0"}.get(word, word)
    scores = []
    for found in result.windows:
        said = [meaning if v.claim == claim else v.label for v in found.verdicts]
        counted = [label for label in said if label != "x"]
        scores.append(counted.count("1") / len(counted))
    assert moved == pytest.approx(sum(scores) / count)
    assert result.score_with_overrides({}).windowed == result.scores.windowed
    assert result.corrected({}) == result.score_with_overrides({}), "the old name"
