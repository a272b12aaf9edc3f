"""The peers as they are installed give what was recorded of them, and what faithtui gives.

Runs where `.ci/peers.txt` is installed; elsewhere these tests are skipped.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.parity import run_cases
from tests.parity.reference_judge import known_claims, known_truths, known_verdict

Json = Any

RECORDED = Path(__file__).parents[2] / "fixtures" / "parity" / "cases.json"

pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings("ignore"),  # the peers and what they need warn of their own changes
]


def cases_of(metric: str) -> list[Json]:
    """List the recorded cases of a metric that come to a score by nothing but its judge's words."""
    cases = json.loads(RECORDED.read_text(encoding="utf-8"))["cases"]
    return [
        each
        for each in cases
        if each["metric"] == metric
        and not each["expected"]["error"]
        and not (each["judge"].get("faults") or each["judge"].get("verdict_list"))
        # A model that is bound to deepeval's schema cannot say a word that it does not know.
        and not set(map(str, (each["judge"].get("verdicts") or {}).values())) & {"maybe", "unknown"}
        and all(isinstance(text, str) for text in each["input"].get("contexts", ()))
    ]


def id_of(case: Json) -> str:
    return str(case["id"])


@pytest.mark.parametrize("case", cases_of("turn_faithfulness"), ids=id_of)
def test_deepeval_gives_the_recorded_score_and_so_does_faithtui(
    case: Json, monkeypatch: pytest.MonkeyPatch, import_peer: Callable[[str], ModuleType]
) -> None:
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    models = import_peer("deepeval.models")
    metrics = import_peer("deepeval.metrics")
    test_case = import_peer("deepeval.test_case")
    judge, turns = case["judge"], case["input"]["turns"]
    base: Any = models.DeepEvalBaseLLM

    class Scripted(base):  # type: ignore[misc]  # where deepeval is absent nobody knows its types
        """Answers from the case, by what stands in the question."""

        def __init__(self) -> None:
            super().__init__()
            self.truths: list[str] = []
            self.claims: list[str] = []

        def load_model(self, *words: object, **more: object) -> object:
            return self

        def get_model_name(self, *words: object, **more: object) -> str:
            return "scripted"

        def generate(self, prompt: str, schema: Any = None, **more: object) -> Any:
            match schema.__name__:
                case "Truths":
                    documents = [
                        each
                        for turn in turns
                        for each in turn.get("retrieval_context") or ()
                        if each in prompt
                    ]
                    self.truths = known_truths(judge, documents, None)
                    return schema(truths=self.truths)
                case "Claims":
                    answers = [each["content"] for each in turns if each["role"] == "assistant"]
                    self.claims = known_claims(judge, [each for each in answers if each in prompt])
                    return schema(claims=self.claims)
                case "Verdicts":
                    words = [known_verdict(judge, each, self.truths) for each in self.claims]
                    return schema(verdicts=[{"verdict": _as_deepeval(each)} for each in words])
                case _:
                    return schema(reason="because")

        async def a_generate(self, prompt: str, schema: Any = None, **more: object) -> Any:
            return self.generate(prompt, schema)

    metric = metrics.TurnFaithfulnessMetric(
        model=Scripted(), async_mode=False, **(case["options"] or {})
    )
    chat = test_case.ConversationalTestCase(turns=[test_case.Turn(**each) for each in turns])
    metric.measure(chat, _show_indicator=False)
    assert metric.score == pytest.approx(case["expected"]["score"])
    assert metric.success is case["expected"]["success"]
    assert our_scores(case) == [pytest.approx(metric.score)] * 2


def _as_deepeval(word: str) -> str:
    return "borderline" if word == "idk" else word


@pytest.mark.parametrize("case", cases_of("llamaindex_faithfulness"), ids=id_of)
def test_llamaindex_gives_the_recorded_score_and_so_does_faithtui(
    case: Json, import_peer: Callable[[str], ModuleType]
) -> None:
    evaluation = import_peer("llama_index.core.evaluation")
    llms = import_peer("llama_index.core.llms")
    callbacks = import_peer("llama_index.core.llms.callbacks")
    judge, given = case["judge"], case["input"]
    base: Any = llms.CustomLLM

    class Scripted(base):  # type: ignore[misc]  # where LlamaIndex is absent nobody knows its types
        """Answers from the case, by what stands in the question."""

        asked: int = 0

        @property
        def metadata(self) -> Any:
            return llms.LLMMetadata(context_window=judge.get("context_window", 3900))

        @callbacks.llm_completion_callback()  # type: ignore[untyped-decorator]  # as above
        def complete(self, prompt: str, formatted: bool = False, **more: object) -> Any:
            self.asked += 1
            return llms.CompletionResponse(text=self._reply(prompt))

        def _reply(self, prompt: str) -> str:
            if replies := judge.get("replies"):
                return str(replies[min(self.asked, len(replies)) - 1])
            # What stands before the question are examples, and an earlier YES is kept.
            shown = prompt.rpartition("Information:")[2]
            wanted = judge.get("yes_if_context_has") or ()
            kept = "YES" in shown.partition("existing answer")[2]
            return "YES" if kept or any(each in shown for each in wanted) else "NO"

        @callbacks.llm_completion_callback()  # type: ignore[untyped-decorator]  # as above
        def stream_complete(self, prompt: str, formatted: bool = False, **more: object) -> Any:
            raise NotImplementedError

    evaluator = evaluation.FaithfulnessEvaluator(llm=Scripted())
    found = evaluator.evaluate(
        query=given.get("question"), response=given["answer"], contexts=given["contexts"]
    )
    assert found.score == pytest.approx(case["expected"]["score"])
    assert our_scores(case)[0] == pytest.approx(found.score)


def our_scores(case: Mapping[str, Json]) -> list[float | None]:
    """Score a case by faithtui under the peer's rules: under both strategies where it has two."""
    strategies = run_cases.STRATEGIES[:1] if "answer" in case["input"] else run_cases.STRATEGIES
    return [
        asyncio.run(run_cases.measured(case, run_cases.judge_of(case), each)).score
        for each in strategies
    ]
