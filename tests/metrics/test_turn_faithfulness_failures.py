from typing import get_args

import pytest

from faithtui.domain.scores import ScoreState
from faithtui.errors import (
    JudgeAuthFailed,
    JudgeError,
    JudgeQuotaExceeded,
    JudgeReplyInvalid,
    JudgeTimeout,
)
from tests.metrics.scripted import (
    Script,
    ScriptedAsk,
    anything,
    both,
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
from tests.parity.run_cases import Strategy


@pytest.mark.parametrize(
    "script",
    [
        failing("claims", lambda task: task.answers == ("A1.",)),
        failing("truths", lambda task: task.documents == ("D1.",)),
        failing(
            "verdicts",
            lambda task: any(
                "d1 one" in group.truths and "a1 one" in group.claims for group in task.groups
            ),
        ),
    ],
)
async def test_a_failure_fails_only_windows_that_hold_its_interaction(script: Script) -> None:
    assessments, conclusion = await judge(
        metric(window_size=2), make_conversation(4), ScriptedAsk(facts(4), script)
    )
    assert states(assessments) == [
        ScoreState.SCORED,
        ScoreState.FAILED,
        ScoreState.FAILED,
        ScoreState.SCORED,
    ]
    assert assessments[1].score.reason == "JudgeTimeout: the judge did not answer"
    assert conclusion.score.state is ScoreState.FAILED
    assert (conclusion.success, conclusion.reason) == (None, None)


async def test_a_lost_comparison_fails_every_window_that_needs_it() -> None:
    oracle = {
        "truths": {"D.": ["t"]},
        "claims": {"A.": ["k"]},
        "verdicts": {"k": {"no_if_any": ["t"]}},
    }
    talked = conversation(
        *exchange("Q?", "A.", "D."), *exchange("Q?", "Hm."), *exchange("Q?", "A.", "D.")
    )
    script = failing("verdicts", anything)
    assessments, _ = await judge(metric(window_size=1), talked, ScriptedAsk(oracle, script))
    assert states(assessments) == [ScoreState.FAILED, ScoreState.UNDEFINED, ScoreState.FAILED]


async def test_a_window_that_does_not_need_a_lost_comparison_does_not_fail() -> None:
    oracle = {"truths": {"D.": ["t"]}, "claims": {"A1.": ["k"]}}
    talked = conversation(
        *exchange("Q?", "A0.", "D."), *exchange("Q?", "A1."), *exchange("Q?", "A2.")
    )
    script = failing("verdicts", anything)
    assessments, _ = await judge(metric(window_size=2), talked, ScriptedAsk(oracle, script))
    assert states(assessments) == [
        ScoreState.UNDEFINED,
        ScoreState.FAILED,
        ScoreState.UNDEFINED,
    ]
    assert labels(assessments)[2] == ["idk"]


async def test_the_window_strategy_fails_the_windows_whose_question_fails() -> None:
    script = failing("verdicts", lambda task: "a1 one" in task.claims)
    assessments, _ = await judge(
        metric(strategy="window", window_size=2),
        make_conversation(4),
        ScriptedAsk(facts(4), script),
    )
    assert states(assessments) == [
        ScoreState.SCORED,
        ScoreState.FAILED,
        ScoreState.FAILED,
        ScoreState.SCORED,
    ]


@both
@pytest.mark.parametrize("async_mode", [True, False])
@pytest.mark.parametrize("error", [JudgeAuthFailed("no key"), JudgeQuotaExceeded("spent")])
@pytest.mark.parametrize("step", ["truths", "claims", "verdicts", "final-reason"])
async def test_errors_after_which_nothing_can_succeed_are_let_through(
    strategy: Strategy, async_mode: bool, error: JudgeError, step: str
) -> None:
    ask = ScriptedAsk(facts(3), failing(step, anything, error))
    with pytest.raises(type(error)) as raised:
        await judge(metric(strategy=strategy, async_mode=async_mode), make_conversation(3), ask)
    assert raised.value is error


@both
@pytest.mark.parametrize("step", ["truths", "claims", "verdicts", "reason", "final-reason"])
async def test_under_the_peers_rules_one_failure_loses_the_conversation(
    strategy: Strategy, step: str
) -> None:
    ask = ScriptedAsk(facts(3), failing(step, anything))
    with pytest.raises(JudgeTimeout):
        await judge(metric(strategy=strategy, as_peer=True), make_conversation(3), ask)


async def test_a_final_reason_that_cannot_be_had_never_costs_the_score() -> None:
    ask = ScriptedAsk(facts(2), failing("final-reason", anything))
    _, conclusion = await judge(metric(window_size=1), make_conversation(2), ask)
    assert conclusion.score.value == 0.5
    assert conclusion.success is True
    assert conclusion.reason == (
        "2 claims contradicted: a0 two (no): because; a1 two (no): because"
    )


async def test_where_nothing_lowered_the_score_a_reason_that_cannot_be_had_says_so() -> None:
    oracle = facts(1) | {"verdicts": {"a0 one": "yes", "a0 two": "yes"}}
    ask = ScriptedAsk(oracle, failing("final-reason", anything))
    _, conclusion = await judge(metric(), make_conversation(1), ask)
    assert (conclusion.score.value, conclusion.reason) == (1.0, "nothing lowered the score")


async def test_a_word_outside_the_schema_loses_the_peers_conversation_when_it_decides() -> None:
    oracle = facts(1) | {"verdicts": {"a0 one": "maybe"}}
    for strategy in get_args(Strategy):
        with pytest.raises((JudgeReplyInvalid, ValueError), match="maybe"):
            await judge(
                metric(strategy=strategy, as_peer=True), make_conversation(1), ScriptedAsk(oracle)
            )


async def test_a_peers_judge_may_have_another_word_once_its_truths_are_out_of_view() -> None:
    oracle = {
        "truths": {"D0.": ["t"]},
        "claims": {"A1.": ["k"]},
        "verdicts": {"k": {"yes_if_any": ["t"], "else": "no"}},
    }
    talked = conversation(
        *exchange("Q?", "A0.", "D0."), *exchange("Q?", "A1."), *exchange("Q?", "A2.")
    )
    for async_mode in (True, False):
        using = metric(window_size=2, as_peer=True, async_mode=async_mode)
        assessments, _ = await judge(using, talked, ScriptedAsk(oracle))
        assert labels(assessments) == [[], ["yes"], ["no"]]
