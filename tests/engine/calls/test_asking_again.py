"""What a judge left out is really asked for again, though equal questions share one reply."""

import json
from collections import Counter

import pytest

from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.judging.tasks import FindEvidence, InferStatements, JudgeClaims, RelateDocument
from faithtui.domain.scores import ScoreState
from faithtui.engine.library.measurement import measure
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.judges.embedded.embedded_judge import OfflineJudge
from faithtui.metrics.registry import METRICS

CONVERSATION = Conversation.of(
    Turn("user", "When does it leave?"),
    Turn("assistant", "It leaves within two days.", (Document("It leaves within two days."),)),
)

NUMBERED = (FindEvidence, JudgeClaims, InferStatements, RelateDocument)
"""Questions whose replies name each claim, so that one can be missing."""

cases = [
    (each.spec.key, strategy)
    for each in METRICS
    for strategy in ("evidence", "window")
    if (each.spec.key, strategy) != ("turn-contextual-relevancy", "window")
    if each.spec.judges != "answer"
]


class Reluctant(OfflineJudge):
    """Says nothing about any claim, the first few times it is asked."""

    def __init__(self, silences: int) -> None:
        super().__init__()
        self._left = silences
        self.asked: Counter[str] = Counter()

    async def send(self, request: JudgeRequest) -> JudgeReply:
        self.asked[type(request.task).__name__] += 1
        reply = await super().send(request)
        if not isinstance(request.task, NUMBERED) or not self._left:
            return reply
        self._left -= 1
        if isinstance(request.task, RelateDocument):
            said = json.loads(reply.text)
            for each in said["statements"]:
                each |= {"verdict": "perhaps", "serves": []}
            return JudgeReply(json.dumps(said))
        return JudgeReply("{}")


@pytest.mark.parametrize(("key", "strategy"), cases)
@pytest.mark.parametrize("silences", [1, 2])
def test_a_judge_that_answers_at_last_is_heard(key: str, strategy: str, silences: int) -> None:
    judge = Reluctant(silences)
    result = measure(CONVERSATION, key, judge, options={"strategy": strategy})
    assert result.score.state is ScoreState.SCORED
    assert max(judge.asked[kind.__name__] for kind in NUMBERED) == silences + 1


@pytest.mark.parametrize(("key", "strategy"), cases)
def test_one_that_never_answers_leaves_no_score_and_is_asked_three_times(
    key: str, strategy: str
) -> None:
    judge = Reluctant(99)
    result = measure(CONVERSATION, key, judge, options={"strategy": strategy})
    assert result.score.state is ScoreState.INCOMPLETE
    assert max(judge.asked[kind.__name__] for kind in NUMBERED) == 3
