import asyncio
import json
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import pytest

from faithtui.domain.scores import ScoreState
from faithtui.errors import JudgeError, JudgeReplyInvalid, MissingParameters
from faithtui.judges.base import JudgeRequest
from faithtui.metrics.base import AskOne, JudgeTraits, Question, ReplyMismatch
from faithtui.metrics.registry import METRICS
from tests.metrics import without_loop
from tests.metrics.scripted import (
    DOWN,
    ScriptedAsk,
    conversation,
    exchange,
    facts,
    judge,
    make_conversation,
    metric,
    served,
)
from tests.metrics.without_loop import Answer
from tests.parity.run_cases import OracleJudge

T = TypeVar("T")
ORACLE = facts(4) | served(4)
KEYS = [entry.spec.key for entry in METRICS]
everywhere = pytest.mark.parametrize(
    ("key", "strategy", "as_peer"),
    [
        (key, strategy, as_peer)
        for key in KEYS
        for strategy in ("evidence", "window")
        for as_peer in (False, True)
    ],
)


def know(oracle: Mapping[str, Any], asked: list[Question[Any]]) -> Answer:
    """Answer from facts, and keep the questions."""
    knowing = OracleJudge(oracle)

    def answer(request: AskOne) -> Any:
        question = request.question
        asked.append(question)
        sent = JudgeRequest(question.step, question.task, question.system, question.prompt, {}, 1)
        reply = _finish(knowing.send(sent))
        try:
            said = reply.text if question.reply.schema is None else json.loads(reply.text)
            return question.reply.read(said, reply.structured)
        except ReplyMismatch as error:
            raise JudgeReplyInvalid(str(error), raw=reply.text) from error

    return answer


def _finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        outcome: T = end.value
        return outcome
    raise AssertionError("it waits for something")


@everywhere
def test_a_metric_needs_no_event_loop(key: str, strategy: str, as_peer: bool) -> None:
    made = metric(key, strategy=strategy, as_peer=as_peer)
    asked: list[Question[Any]] = []
    found = without_loop.judge(made, make_conversation(4), know(ORACLE, asked))
    live = ScriptedAsk(ORACLE)
    assessments, conclusion = asyncio.run(judge(made, make_conversation(4), live))
    assert (list(found[0]), found[1]) == (assessments, conclusion)
    assert {each.prompt for each in asked} == {each.prompt for each in live.questions}
    assert len(asked) == len(live.questions)


@everywhere
def test_a_judge_that_never_answers_fails_windows_or_the_conversation(
    key: str, strategy: str, as_peer: bool
) -> None:
    def answer(request: AskOne) -> Any:
        raise DOWN

    made = metric(key, strategy=strategy, as_peer=as_peer)
    if as_peer:
        with pytest.raises(JudgeError, match=str(DOWN)):
            without_loop.judge(made, make_conversation(2), answer)
    else:
        assessments, _ = without_loop.judge(made, make_conversation(2), answer)
        assert {each.score.state for each in assessments} == {ScoreState.FAILED}


def test_every_window_pays_for_its_own_questions() -> None:
    asked: list[AskOne] = []
    answer = know(ORACLE, [])

    def note(request: AskOne) -> Any:
        asked.append(request)
        return answer(request)

    without_loop.judge(metric("turn-faithfulness"), make_conversation(4), note)
    paid = {(each.question.step, each.window) for each in asked}
    assert {("truths", n) for n in range(4)} | {("claims", n) for n in range(4)} <= paid
    assert ("final-reason", None) in paid


def test_deepevalex_refuses_a_lost_conversation_before_anything_is_asked() -> None:
    lost = conversation(*exchange("Q0?", "A0.", "D0."), *exchange("Q1?", "A1."))
    made = metric("deepevalex-faithfulness", as_peer=True)
    with pytest.raises(MissingParameters, match="retrieval_context"):
        next(made.gather(lost, JudgeTraits()))
