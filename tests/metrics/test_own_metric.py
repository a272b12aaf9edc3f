"""A metric of somebody's own, by the contract that docs/contributing.md gives and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from faithtui import single_turn
from faithtui.domain.claims.verdicts import Assessment, Claim, Conclusion, Verdict
from faithtui.domain.conversation import Conversation
from faithtui.domain.judging.tasks import ExtractClaims, JudgeClaims
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.scores import ScoreState, ScoringRule
from faithtui.domain.windows import Window, cut_sliding_windows, split_into_interactions
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.metric_driver import assess_conversation
from faithtui.engine.calls.reply_cache import MemoryReplyCache
from faithtui.errors import JudgeError
from faithtui.judges.embedded.embedded_judge import OfflineJudge
from faithtui.metrics.base import (
    AskOne,
    JudgeTraits,
    MetricSpec,
    Question,
    QuestionPace,
    Questions,
    ask,
    ask_branches,
)
from faithtui.metrics.prompt_texts import PromptSet
from faithtui.metrics.reply_shapes import (
    make_keyed_lists_reply_shape,
    make_keyed_verdicts_reply_shape,
)
from faithtui.metrics.window_scores import (
    WindowFindings,
    assess_window,
    average_windows_without_reason,
)
from tests.metrics import without_loop
from tests.metrics.scripted import DOWN

SPEC = MetricSpec(
    key="own",
    title="Own",
    version="1",
    peer="nobody",
    labels=FAITHFULNESS,
    judges="claim",
    units=("claim", "claims"),
    references=None,
    references_are_facts=True,
    nothing_judged="No claim.",
    nothing_checked="It reads the documents.",
    context_from="the documents of assistant turns",
)


@dataclass(frozen=True, slots=True)
class Own:
    """Claims of each answer, each judged against its documents."""

    prompts: PromptSet = field(default_factory=lambda: PromptSet({}))
    spec: MetricSpec = SPEC
    rule: ScoringRule = field(
        default_factory=lambda: ScoringRule(("yes",), None, 0.5, labels=FAITHFULNESS.names)
    )
    prompt_digest: str = "0" * 64
    pace: QuestionPace = field(default_factory=QuestionPace)
    judge: str | None = None
    verbose_mode: bool = False

    def windows(self, conversation: Conversation) -> tuple[Window, ...]:
        return cut_sliding_windows(
            split_into_interactions(conversation.turns, answers_alone=True), 1
        )

    def explain_skip(self, conversation: Conversation) -> str | None:
        return None

    def gather(
        self, conversation: Conversation, judge: JudgeTraits, claims: Sequence[Claim] | None = None
    ) -> Questions[list[WindowFindings]]:
        windows = self.windows(conversation)
        return (yield from ask_branches(self._judge_answer(conversation, each) for each in windows))

    def _judge_answer(
        self, conversation: Conversation, window: Window
    ) -> Questions[WindowFindings]:
        turn = window.turns[-1]
        answer = conversation.turns[turn]
        documents = tuple(each.text for each in answer.retrieval_context or ())
        try:
            (texts,) = yield from ask(
                Question(
                    step="claims",
                    task=ExtractClaims((answer.content,), (), ()),
                    system="",
                    prompt=f"List the claims of: {answer.content}",
                    reply=make_keyed_lists_reply_shape(["a0"]),
                    max_tokens=500,
                ),
                window.position,
            )
            said = yield from ask(
                Question(
                    step="verdicts",
                    task=JudgeClaims(texts, documents),
                    system="",
                    prompt=f"Judge {texts} by {documents}",
                    reply=make_keyed_verdicts_reply_shape(
                        [f"c{n}" for n in range(len(texts))], FAITHFULNESS.names
                    ),
                    max_tokens=500,
                ),
                window.position,
            )
        except JudgeError as error:
            return WindowFindings(failure=str(error))
        return WindowFindings(
            tuple(
                Verdict(Claim(turn, text), None if each is None else each.word)
                for text, each in zip(texts, said, strict=True)
            )
        )

    def assess(self, findings: list[WindowFindings], window: Window) -> Assessment:
        return assess_window(self.rule, findings[window.position], window)

    def conclude(self, assessments: Sequence[Assessment]) -> Questions[Conclusion]:
        yield from ()  # nothing is asked
        return average_windows_without_reason(self.rule, assessments)

    def make_peer_library_results(
        self,
        conversation: Conversation,
        assessments: Sequence[Assessment],
        conclusion: Conclusion,
        latency_ms: int,
    ) -> tuple[Mapping[str, object], ...]:
        return ({"score": conclusion.score.value},)


CONVERSATION = single_turn(
    "How long can I return it?",
    "You can return it within thirty days. Bring the receipt of the purchase.",
    ["A purchase can be returned within thirty days."],
)


async def test_a_metric_of_ones_own_is_driven_like_ours() -> None:
    steps: list[str] = []
    asker = Asker(
        OfflineJudge(), MemoryReplyCache(), on_reply=lambda step, reply, stored: steps.append(step)
    )
    (found,), conclusion = await assess_conversation(Own(), CONVERSATION, asker.bind_to_item(None))
    assert [verdict.label for verdict in found.verdicts] == ["yes", "idk"]
    assert conclusion.score.value == 0.5
    assert steps == ["claims", "verdicts"]


def test_its_questions_fail_where_it_says_so() -> None:
    def answer(request: AskOne) -> Any:
        raise DOWN

    (found,), conclusion = without_loop.judge(Own(), CONVERSATION, answer)
    assert found.score.state is ScoreState.FAILED
    assert found.score.reason == str(DOWN)
    assert conclusion.score.value is None
