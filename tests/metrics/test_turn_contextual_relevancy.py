from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.claims.verdicts import Claim
from faithtui.domain.conversation import Document, Image, Turn
from faithtui.domain.judging.tasks import ConcludeReasons
from faithtui.domain.scores import Score, ScoreState
from faithtui.errors import ConfigError, ImagesNotSupported, MetricError, PeerFails
from faithtui.metrics.registry import build, metric_options_to_json
from tests.metrics.scripted import (
    RELEVANCY,
    ScriptedAsk,
    both,
    conversation,
    exchange,
    judge,
    labels,
    make_conversation,
    relevancy,
    served,
    statement,
    states,
)
from tests.parity.run_cases import Strategy

PAGE = Image("1" * 64, "image/png")


# Options


def test_defaults_are_the_peers() -> None:
    assert metric_options_to_json(relevancy()) == {
        "strategy": "evidence",
        "threshold": 0.5,
        "strict_mode": False,
        "include_reason": True,
        "window_size": 10,
        "model": None,
        "async_mode": True,
        "verbose_mode": False,
        "answers_alone": False,
        "as_peer": False,
    }


@pytest.mark.parametrize(
    ("option", "value"),
    [("threshold", 1.1), ("threshold", -0.1), ("window_size", 0), ("window_size", -3)],
)
def test_options_out_of_range_are_refused_and_taken_under_the_peers_rules(
    option: str, value: float
) -> None:
    given: dict[str, Any] = {option: value}
    with pytest.raises(ConfigError, match=option):
        relevancy(**given)
    relevancy(**given, as_peer=True)


@pytest.mark.parametrize(
    ("model", "judge_ref"),
    [(None, None), ("gpt-5.4", "openai:gpt-5.4"), ("anthropic:x", "anthropic:x")],
)
def test_the_model_names_the_judge(model: str | None, judge_ref: str | None) -> None:
    assert relevancy(model=model).judge == judge_ref


def test_the_prompts_digest_changes_with_any_text(tmp_path: Path) -> None:
    (tmp_path / "relate.txt").write_text("$which $messages $document", encoding="utf-8")
    own = build(RELEVANCY, {}, prompts_dir=tmp_path)
    assert own.prompt_digest != relevancy().prompt_digest


def test_without_async_mode_the_whole_run_asks_one_question_at_a_time() -> None:
    assert relevancy(async_mode=False).pace.one_call
    assert not relevancy().pace.one_call


@pytest.mark.parametrize(("as_peer", "score"), [(False, 0.0), (True, 0.5)])
async def test_strict_is_binary_but_for_the_peers_mean(as_peer: bool, score: float) -> None:
    oracle = {
        "statements": {"D0.": [statement("s", "Q0?")], "D1.": [statement("t"), statement("u", "*")]}
    }
    using = relevancy(strict_mode=True, as_peer=as_peer, threshold=0.2)
    _, conclusion = await judge(using, make_conversation(2), ScriptedAsk(oracle))
    assert conclusion.score.value == score
    assert conclusion.success is False


async def test_without_a_threshold_nothing_passes_or_fails() -> None:
    ask = ScriptedAsk(served(1))
    _, conclusion = await judge(relevancy(threshold=None), make_conversation(1), ask)
    assert conclusion.score.value == 1 / 3
    assert conclusion.success is None
    assert "no threshold was set" in ask.questions[-1].prompt


async def test_without_reasons_windows_still_say_what_cost_them() -> None:
    oracle = {"statements": {"D0.": [statement("s"), statement("t", "Q0?")]}}
    using = relevancy(include_reason=False)
    assessments, conclusion = await judge(using, make_conversation(1), ScriptedAsk(oracle))
    assert assessments[0].reason == "s (no): because"
    assert conclusion.reason is None


@both
async def test_empty_windows_of_the_peer_score_1_and_cost_the_final_reason(
    strategy: Strategy,
) -> None:
    ask = ScriptedAsk(served(2))
    using = relevancy(strategy=strategy, window_size=0, as_peer=True)
    assessments, conclusion = await judge(using, make_conversation(2), ask)
    assert [found.score.value for found in assessments] == [1.0, 1.0]
    assert conclusion.score.value == 1.0
    assert ask.steps == {"final-reason": 1}


@both
async def test_given_claims_are_refused(strategy: Strategy) -> None:
    ask = ScriptedAsk(served(1))
    with pytest.raises(MetricError, match="statements of documents"):
        await judge(relevancy(strategy=strategy), make_conversation(1), ask, [Claim(1, "k")])
    assert ask.questions == []


async def test_the_result_is_told_in_the_peers_words() -> None:
    using = relevancy(threshold=0.25)
    assessments, conclusion = await judge(using, make_conversation(1), ScriptedAsk(served(1)))
    assert using.make_peer_library_results(make_conversation(1), assessments, conclusion, 5) == (
        {
            "score": 1 / 3,
            "success": True,
            "reason": "because",
            "threshold": 0.25,
            "error": None,
        },
    )


# Whether it applies


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        ((), "no user turn"),
        ((Turn("assistant", "A.", (Document("D."),)),), "no user turn"),
        ((Turn("user", "Q?"),), "no answered user turn"),
        ((Turn("user", "Q?"), Turn("assistant", "A.")), "no retrieval context"),
        ((Turn("user", "Q?"), Turn("assistant", "A.", ())), "no retrieval context"),
        ((Turn("user", "Q?"), Turn("assistant", "A.", (Document(" "),))), "no retrieval context"),
        (
            (Turn("user", "Q?", (Document("D."),)), Turn("assistant", "A.")),
            "no retrieval context",
        ),
        ((Turn("user", " "), Turn("assistant", "A.", (Document("D."),))), "no user message"),
        (
            (*exchange(" ", "A.", "D."), *exchange("Q?", "A.")),
            None,  # the second window holds both
        ),
        (exchange("Q?", "A.", "D."), None),
    ],
)
def test_the_reason_for_skipping_is_named_and_the_peer_never_skips(
    turns: tuple[Turn, ...], reason: str | None
) -> None:
    talked = conversation(*turns)
    assert relevancy().explain_skip(talked) == reason
    assert relevancy(as_peer=True).explain_skip(talked) is None


def test_with_neither_in_one_window_the_missing_message_is_named() -> None:
    talked = conversation(*exchange(" ", "A.", "D."), *exchange("Q?", "A."))
    assert relevancy(window_size=1).explain_skip(talked) == "no user message"


def test_answers_alone_have_no_message_a_document_could_serve() -> None:
    talked = conversation(Turn("assistant", "A.", (Document("D."),)))
    using = relevancy(answers_alone=True)
    assert relevancy().windows(talked) == ()
    assert len(using.windows(talked)) == 1
    assert using.explain_skip(talked) == "no user message"


@both
async def test_under_the_peers_rules_answers_alone_are_asked_about_all_the_same(
    strategy: Strategy,
) -> None:
    talked = conversation(Turn("assistant", "A.", (Document("D."),)))
    ask = ScriptedAsk({"statements": {"D.": [statement("s", "Q?"), statement("t", verdict="yes")]}})
    using = relevancy(strategy=strategy, answers_alone=True, as_peer=True)
    assessments, _ = await judge(using, talked, ask)
    assert labels(assessments) == [["no", "yes"]]


@both
async def test_windows_without_context_are_skipped_and_leave_the_mean(strategy: Strategy) -> None:
    talked = conversation(
        *exchange("Q0?", "A."), *exchange("Q1?", "A.", "D1."), *exchange("Q2?", "A.")
    )
    oracle = {"statements": {"D1.": [statement("s", "Q1?"), statement("t", "Q2?")]}}
    using = relevancy(strategy=strategy, window_size=2)
    assessments, conclusion = await judge(using, talked, ScriptedAsk(oracle))
    assert states(assessments) == [ScoreState.SKIPPED, ScoreState.SCORED, ScoreState.SCORED]
    assert assessments[0].score.reason == "no retrieval context"
    assert [found.without_context for found in assessments] == [True, False, False]
    assert [found.score.value for found in assessments[1:]] == [0.5, 1.0]
    assert conclusion.score.value == 0.75


@both
async def test_windows_without_a_message_are_skipped(strategy: Strategy) -> None:
    talked = conversation(*exchange("\n", "A.", "D0."), *exchange("Q1?", "A.", "D1."))
    ask = ScriptedAsk(served(2))
    using = relevancy(strategy=strategy, window_size=1)
    assessments, conclusion = await judge(using, talked, ask)
    assert assessments[0].score.reason == "no user message"
    assert conclusion.score.value == 1 / 3
    assert ask.steps["verdicts"] == 1


@both
async def test_the_peers_windows_without_context_score_1_without_a_question(
    strategy: Strategy,
) -> None:
    talked = conversation(*exchange("Q0?", "A."), *exchange("Q1?", "A.", "D1."))
    ask = ScriptedAsk({"statements": {"D1.": [statement("s")]}})
    using = relevancy(strategy=strategy, as_peer=True, include_reason=False)
    assessments, conclusion = await judge(using, talked, ask)
    assert [found.score.value for found in assessments] == [1.0, 0.0]
    assert conclusion.score.value == 0.5
    assert assessments[0].reason == (
        "No statement of a document was judged, so nothing was found irrelevant."
    )
    assert ask.steps == {"verdicts": 1}


@both
async def test_documents_without_statements_leave_a_window_without_a_score(
    strategy: Strategy,
) -> None:
    assessments, conclusion = await judge(
        relevancy(strategy=strategy), make_conversation(1), ScriptedAsk({"statements": {}})
    )
    assert labels(assessments) == [[]]
    assert conclusion.score.state is ScoreState.UNDEFINED
    assert conclusion.score.reason == "the judge drew no statements from the documents"
    assert (conclusion.success, conclusion.reason) == (None, None)


@both
async def test_the_mean_is_over_windows_with_a_score_and_counts_the_others(
    strategy: Strategy,
) -> None:
    talked = conversation(
        *exchange("Q0?", "A.", "D0."), *exchange("Q1?", "A.", "D1."), *exchange("Q2?", "A.")
    )
    ask = ScriptedAsk({"statements": {"D0.": [statement("s", "Q9?"), statement("t", "Q0?")]}})
    _, conclusion = await judge(relevancy(strategy=strategy, window_size=1), talked, ask)
    assert conclusion.score == Score(0.5, undefined=1, skipped=1)
    (task,) = ask.tasks(ConcludeReasons)
    assert task.reasons[-2:] == ("1 of 3 windows undefined", "1 of 3 windows skipped")


# Images and sources


@pytest.mark.parametrize(
    "turns",
    [
        (Turn("user", "Q?", images=(PAGE,)), Turn("assistant", "A.", (Document("D."),))),
        (Turn("user", "Q?"), Turn("assistant", "A.", (Document("D.", images=(PAGE,)),))),
    ],
)
@both
async def test_images_are_refused_before_any_question_by_a_judge_that_takes_none(
    strategy: Strategy, turns: tuple[Turn, ...]
) -> None:
    ask = ScriptedAsk({"statements": {}})
    with pytest.raises(ImagesNotSupported):
        await judge(relevancy(strategy=strategy), conversation(*turns), ask)
    assert ask.questions == []
    seeing = ScriptedAsk({"statements": {}}, takes_images=True)
    await judge(relevancy(strategy=strategy), conversation(*turns), seeing)
    assert seeing.questions[0].images == (PAGE,)
    assert PAGE.mark in seeing.questions[0].prompt


@both
async def test_a_document_and_a_message_of_images_alone_are_judged(strategy: Strategy) -> None:
    map_, face = Image("2" * 64, "image/png"), Image("3" * 64, "image/png")
    talked = conversation(
        Turn("user", "", images=(face,)),
        Turn("assistant", "A.", (Document("", images=(map_,)),)),
    )
    ask = ScriptedAsk({"statements": {"": [statement("a map", "*")]}}, takes_images=True)
    assessments, _ = await judge(relevancy(strategy=strategy), talked, ask)
    assert labels(assessments) == [["yes"]]
    assert ask.questions[0].images == (face, map_)
    assert [truth.text for truth in assessments[0].truths] == [face.mark]


@both
async def test_documents_with_a_source_fail_under_the_peers_rules_alone(
    strategy: Strategy,
) -> None:
    """The peer does not split documents of a conversation with images, and does not fail there."""
    plain, seen = Turn("user", "Q?"), Turn("user", "Q?", images=(PAGE,))
    answer = Turn("assistant", "A.", (Document("D.", source="a.md"),))
    oracle = {"statements": {"D.": [statement("s", "Q?")]}}
    ask = ScriptedAsk(oracle, takes_images=True)
    peers = relevancy(strategy=strategy, as_peer=True)
    with pytest.raises(PeerFails, match="TypeError"):
        await judge(peers, conversation(plain, answer), ask)
    assert ask.questions == []
    for using, question in ((relevancy(strategy=strategy), plain), (peers, seen)):
        assessments, _ = await judge(using, conversation(question, answer), ask)
        assert labels(assessments) == [["yes"]]
