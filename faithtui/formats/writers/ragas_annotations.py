"""Reviewed answers as the annotations that ragas trains its faithfulness metric from.

Read by `ragas.metrics.Faithfulness().train(path, ...)`.

Source: ragas 0.4.3, dataset_schema.py (`MetricAnnotation`, `SampleAnnotation`, `PromptAnnotation`),
metrics/base.py (`train`, `_optimize_demonstration`), metrics/_faithfulness.py (the prompts' input
and output models) and optimizers/genetic.py (`_get_evaluation_dataset`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from faithtui.formats.writers.answer_results import OWN_KEY

METRIC = "faithfulness"
"""`Faithfulness().name`."""
STATEMENTS = "statement_generator_prompt"
INFERENCE = "n_l_i_statement_prompt"
"""Names of its prompts, as `get_prompts()` has them."""


@dataclass(frozen=True, slots=True)
class AnnotatedStatement:
    """A statement of an answer, with its verdict and its human label."""

    text: str
    judge: bool | None
    """It can be inferred; None: no verdict."""
    judge_reason: str
    human: bool | None
    """It can be inferred; None: it is no fair statement, and nobody should be judged on it."""
    human_reason: str
    """For a human label that differs from the judge's."""
    verdict: str | None = None
    """The judge's, in the words of the run's metric; ragas has 1 and 0 alone."""
    word: str | None = None
    """What the judge wrote."""


@dataclass(frozen=True, slots=True)
class AnnotatedAnswer:
    """An answer with labels on every statement."""

    question: str
    answer: str
    contexts: tuple[str, ...]
    statements: tuple[AnnotatedStatement, ...]
    source: str = ""
    """Data set of its conversation."""
    conversation: str = ""
    """Id of the conversation there."""
    turn: int = 0
    """Position of the first reply in it."""
    run: Mapping[str, object] = field(default_factory=dict)
    """`rater`, `metric` and `options` of the run."""

    @property
    def human_score(self) -> float | None:
        """Share of its fair statements that can be inferred by human labels; None without any."""
        human_verdicts = [each.human for each in self.statements if each.human is not None]
        return sum(human_verdicts) / len(human_verdicts) if human_verdicts else None


def format_annotations_json(answers: Sequence[AnnotatedAnswer]) -> str:
    """Write annotations as one JSON document, ASCII because ragas opens it in any encoding.

    - `edited_output` is what annotators make of a reply, and null where they leave it as it is.
    - Every sample is accepted, because ragas learns from no other, and `metric_output` is the score
      by human labels: ragas takes it for the truth of an accepted sample, and reads `target`,
      which has the same, nowhere.
    - A statement that nobody should be judged on is taken out of the edited statements, and is not
      asked about in the second prompt.

    Args:
        answers: Those without a score are left out: ragas wants a number.
    """
    samples = [
        _make_sample_json(each, each.human_score)
        for each in answers
        if each.human_score is not None
    ]
    return json.dumps({METRIC: samples}, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def _make_sample_json(answer: AnnotatedAnswer, score: float) -> dict[str, object]:
    fair = [each for each in answer.statements if each.human is not None]
    texts = [each.text for each in answer.statements]
    left = [each.text for each in fair]
    judged = [
        _make_statement_verdict_json(each.text, each.judge_reason, each.judge)
        for each in fair
        if each.judge is not None
    ]
    decided = [
        _make_statement_verdict_json(each.text, each.judge_reason, each.judge)
        if each.human is each.judge
        else _make_statement_verdict_json(each.text, each.human_reason, each.human)
        for each in fair
    ]
    return {
        "metric_input": {
            "user_input": answer.question,
            "response": answer.answer,
            "retrieved_contexts": list(answer.contexts),
        },
        "metric_output": score,
        "prompts": {
            STATEMENTS: _make_prompt_input_and_outputs(
                {"question": answer.question, "answer": answer.answer},
                {"statements": texts},
                {"statements": left},
            ),
            INFERENCE: _make_prompt_input_and_outputs(
                {"context": "\n".join(answer.contexts), "statements": left},
                {"statements": judged},
                {"statements": decided},
            ),
        },
        "is_accepted": True,
        "target": score,
        # ragas passes over it; without it equal answers could not be told apart again, and a run
        # that is imported again would have neither the options nor all words of this one.
        OWN_KEY: {
            "by": "judge",
            **answer.run,
            "source": answer.source,
            "conversation": answer.conversation,
            "turn": answer.turn,
            "claims": [_make_claim_json(each) for each in answer.statements],
        },
    }


def _make_claim_json(statement: AnnotatedStatement) -> dict[str, object]:
    """Write a claim as other exports have it, in the words of the run's metric."""
    return {
        "kind": "claim",
        "claim": statement.text,
        "verdict": statement.verdict,
        "word": statement.word,
        "reason": statement.judge_reason or None,
    }


def _make_prompt_input_and_outputs(
    asked: dict[str, object], output: dict[str, object], edited: dict[str, object]
) -> dict[str, object]:
    return {
        "prompt_input": asked,
        "prompt_output": output,
        "edited_output": None if edited == output else edited,
    }


def _make_statement_verdict_json(
    statement: str, reason: str, inferred: bool | None
) -> dict[str, object]:
    return {"statement": statement, "reason": reason, "verdict": int(bool(inferred))}
