"""What has nothing to judge, or nothing to judge by, has no score; and reasons fit their scores."""

from typing import Any

import pytest

from faithtui.domain.claims.verdicts import Assessment, Claim, Verdict
from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.judging.tasks import ConcludeReasons, ExplainRelevance, ExplainScore
from faithtui.domain.scores import Score, ScoreState, make_score
from faithtui.domain.windows import Window
from faithtui.metrics import turn_faithfulness
from faithtui.metrics.base import Question
from faithtui.metrics.window_scores import format_score_lowering_counts
from tests.metrics.scripted import (
    Json,
    Script,
    ScriptedAsk,
    conversation,
    exchange,
    facts,
    judge,
    make_conversation,
    metric,
)

NO_CLAIMS = "the judge drew no claims from the answer"
NO_STATEMENTS = "the judge drew no statements from the answer"
NO_TEXT = "the answer has no text"
NO_TRUTHS = "the judge drew no truths from the documents, so no claim was compared with anything"
NO_DOCUMENT = "there is no document, so no claim was compared with anything"

TURN, EX, RAGAS, LLAMA = (
    "turn-faithfulness",
    "deepevalex-faithfulness",
    "ragas-faithfulness",
    "llamaindex-faithfulness",
)
BOTH = ("evidence", "window")

WELCOME = conversation(*exchange("Thanks!", "You're welcome!", "D0."))
SILENT = conversation(*exchange("Q?", " ", "D0."))
BARE = conversation(*exchange("Q?", "A0."))
CLAIMS = {"claims": {"A0.": ["k"]}}


@pytest.mark.parametrize(
    ("key", "talked", "oracle", "state", "reason"),
    [
        (TURN, WELCOME, {}, ScoreState.UNDEFINED, NO_CLAIMS),
        (TURN, SILENT, {}, ScoreState.UNDEFINED, NO_TEXT),
        (TURN, BARE, CLAIMS, ScoreState.UNDEFINED, NO_DOCUMENT),
        (TURN, make_conversation(1), CLAIMS, ScoreState.UNDEFINED, NO_TRUTHS),
        (EX, WELCOME, {}, ScoreState.UNDEFINED, NO_CLAIMS),
        (EX, SILENT, {}, ScoreState.SKIPPED, "missing_params: actual_output"),
        (EX, BARE, CLAIMS, ScoreState.SKIPPED, "missing_params: retrieval_context"),
        (EX, make_conversation(1), CLAIMS, ScoreState.UNDEFINED, NO_TRUTHS),
        (RAGAS, WELCOME, {}, ScoreState.UNDEFINED, NO_STATEMENTS),
        (RAGAS, SILENT, {}, ScoreState.UNDEFINED, NO_TEXT),
        (LLAMA, SILENT, {}, ScoreState.UNDEFINED, NO_TEXT),
    ],
)
@pytest.mark.parametrize("strategy", BOTH)
async def test_nothing_to_judge_or_to_judge_by_is_no_score(
    key: str,
    talked: Conversation,
    oracle: dict[str, Json],
    state: ScoreState,
    reason: str,
    strategy: str,
) -> None:
    using = metric(key, strategy=strategy)
    assessments, conclusion = await judge(using, talked, ScriptedAsk(oracle))
    assert [(each.score.state, each.score.reason) for each in assessments] == [(state, reason)]
    assert (conclusion.score.state, conclusion.score.reason) == (state, reason)
    assert (conclusion.score.value, conclusion.success, conclusion.reason) == (None, None, None)


@pytest.mark.parametrize(
    ("key", "options"),
    [(TURN, {"penalize_ambiguous_claims": True}), (RAGAS, {}), (LLAMA, {})],
)
async def test_what_nothing_supports_fails_where_support_is_asked_for(
    key: str, options: dict[str, object]
) -> None:
    oracle = {"claims": {"A0.": ["k"]}}
    assessments, conclusion = await judge(metric(key, **options), BARE, ScriptedAsk(oracle))
    assert [each.score for each in assessments] == [make_score(0.0)]
    assert conclusion.score == make_score(0.0)


@pytest.mark.parametrize("key", [TURN, EX])
@pytest.mark.parametrize("strategy", BOTH)
async def test_the_peers_rules_keep_their_1(key: str, strategy: str) -> None:
    using = metric(key, strategy=strategy, as_peer=True)
    assessments, conclusion = await judge(using, WELCOME, ScriptedAsk({}))
    assert [each.score for each in assessments] == [make_score(1.0)]
    assert (conclusion.score, conclusion.success) == (make_score(1.0), True)


@pytest.mark.parametrize("strategy", BOTH)
async def test_the_mean_is_over_windows_with_a_score(strategy: str) -> None:
    talked = conversation(
        *exchange("Hi!", "Hello!", "D0."),
        *exchange("Q0?", "A0.", "D0."),
        *exchange("Q?", "", "D0."),
    )
    ask = ScriptedAsk(facts(1))
    using = metric(strategy=strategy, window_size=1)
    assessments, conclusion = await judge(using, talked, ask)
    assert [each.score.reason for each in assessments] == [NO_CLAIMS, None, NO_TEXT]
    assert conclusion.score == Score(0.5, undefined=2)
    (task,) = ask.tasks(ConcludeReasons)
    assert task.reasons == ("a0 two (no): because", "2 of 3 windows undefined")


async def test_claims_that_were_not_given_are_not_blamed_on_the_judge() -> None:
    _, conclusion = await judge(metric(), make_conversation(1), ScriptedAsk({}), [])
    assert conclusion.score.reason == "no claims were given for the answer"


# Reasons


def answering(text: str, step: str = "final-reason") -> Script:
    def script(question: Question[Any], answer: Json) -> Json:
        return {"reason": text} if question.step == step else answer

    return script


@pytest.mark.parametrize("strategy", BOTH)
@pytest.mark.parametrize("as_peer", [False, True])
@pytest.mark.parametrize(
    "text", ["No problem was found.", "All claims are fully supported by the documents."]
)
async def test_no_reason_finds_nothing_wrong_beside_a_score_that_was_lowered(
    strategy: str, as_peer: bool, text: str
) -> None:
    oracle = facts(1) | {"verdicts": {"a0 one": "idk", "a0 two": "no"}}
    using = metric(strategy=strategy, as_peer=as_peer, penalize_ambiguous_claims=True)
    _, conclusion = await judge(using, make_conversation(1), ScriptedAsk(oracle, answering(text)))
    assert (conclusion.score.value, conclusion.success) == (0.0, False)
    assert conclusion.reason is not None
    assert conclusion.reason.startswith("1 claim contradicted; 1 claim not addressed: ")


@pytest.mark.parametrize("key", ["turn-faithfulness", "turn-contextual-relevancy"])
async def test_what_the_peer_says_of_a_faultless_window_is_not_said_of_a_lowered_mean(
    key: str,
) -> None:
    def script(question: Question[Any], answer: Json) -> Json:
        match question.task:
            case ConcludeReasons(reasons=reasons):
                return {"reason": " ".join(reasons)}
            case ExplainScore(score=1.0) | ExplainRelevance(score=1.0):
                return {"reason": "Nothing contradicts the documents, and nothing is irrelevant."}
            case _:
                return answer

    statements = {"D0.": [{"statement": "s", "relevant_to": ["Q9?"]}], "D1.": []}
    oracle = facts(1) | {"statements": statements, "claims": {"A0.": ["a0 two"], "A1.": ["k"]}}
    using = metric(key, as_peer=True, window_size=1, threshold=0.9)
    _, conclusion = await judge(using, make_conversation(2), ScriptedAsk(oracle, script))
    assert (conclusion.score.value, conclusion.success) == (0.5, False)
    assert conclusion.reason is not None
    assert conclusion.reason.startswith("1 ")
    assert "othing" not in conclusion.reason


async def test_no_reason_finds_something_wrong_where_nothing_lowered_the_score() -> None:
    oracle = facts(1) | {"verdicts": {"a0 one": "yes", "a0 two": "yes"}}
    script = answering("One claim contradicts the documents.")
    _, conclusion = await judge(metric(), make_conversation(1), ScriptedAsk(oracle, script))
    assert (conclusion.score.value, conclusion.reason) == (1.0, "nothing lowered the score")


@pytest.mark.parametrize(
    "text",
    [
        "No contradiction was found, but one claim is not addressed.",
        "All but one of the claims are supported.",
        "One claim goes beyond the documents.",
    ],
)
async def test_a_reason_that_says_what_was_wrong_is_kept(text: str) -> None:
    oracle = facts(1) | {"verdicts": {"a0 one": "idk", "a0 two": "yes"}}
    using = metric(penalize_ambiguous_claims=True)
    _, conclusion = await judge(using, make_conversation(1), ScriptedAsk(oracle, answering(text)))
    assert (conclusion.score.value, conclusion.reason) == (0.5, text)


async def test_the_peers_reason_is_asked_with_all_that_cost_something() -> None:
    oracle = facts(1) | {"verdicts": {"a0 one": "idk", "a0 two": "yes"}}
    ask = ScriptedAsk(oracle)
    await judge(metric(as_peer=True, penalize_ambiguous_claims=True), make_conversation(1), ask)
    (task,) = ask.tasks(ExplainScore)
    assert (task.score, len(task.findings)) == (0.5, 1)


async def test_a_strict_conversation_says_that_one_is_enough() -> None:
    ask = ScriptedAsk(facts(1), answering("No problem was found."))
    _, conclusion = await judge(metric(strict_mode=True), make_conversation(1), ask)
    assert (conclusion.score.value, conclusion.success) == (0.0, False)
    (task,) = ask.tasks(ConcludeReasons)
    note = "strict mode: one of these is enough for a score of 0"
    assert task.reasons == ("a0 two (no): because", note)
    assert conclusion.reason == f"1 claim contradicted: a0 two (no): because; {note}"


def test_what_lowered_a_score_is_counted_once_for_each_claim() -> None:
    spec = turn_faithfulness.SPEC
    rule = metric(penalize_ambiguous_claims=True).rule
    wrong, unsaid, right = (Claim(1, text) for text in ("wrong", "unsaid", "right"))
    said = (Verdict(wrong, "no"), Verdict(unsaid, "idk"), Verdict(right, "yes"))
    windows = [
        Assessment(Window(0, (0,), (0, 1)), make_score(1 / 3), said),
        Assessment(Window(1, (0, 1), (0, 1, 2, 3)), make_score(1 / 3), said),
        Assessment(Window(2, (2,), (4, 5)), Score(None, ScoreState.UNDEFINED, NO_CLAIMS)),
    ]
    assert format_score_lowering_counts(spec.labels, spec.units, rule, windows) == (
        "1 claim contradicted",
        "1 claim not addressed",
        "1 of 3 windows undefined",
    )
    assert format_score_lowering_counts(spec.labels, spec.units, metric().rule, windows[:1]) == (
        "1 claim contradicted",
    )


def test_nothing_retrieved_is_not_the_same_as_nobody_knowing() -> None:
    unknown = conversation(Turn("user", "Q?"), Turn("assistant", "A0."))
    empty = conversation(Turn("user", "Q?"), Turn("assistant", "A0.", ()))
    blank = conversation(Turn("user", "Q?"), Turn("assistant", "A0.", (Document(" "),)))
    assert [metric().explain_skip(each) for each in (unknown, empty, blank)] == [
        "no retrieval context",
        None,
        None,
    ]
