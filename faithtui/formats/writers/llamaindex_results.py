"""What the judge says of answers, as evaluation results of LlamaIndex: one JSON array.

Read by `llama_index.core.evaluation.EvaluationResult.model_validate`, item by item, which passes
over what LlamaIndex has no place for: ids, claims and labels.

Source: llama-index-core 0.14.25, evaluation/base.py (`EvaluationResult`).
"""

import json
from collections.abc import Iterable, Iterator

from faithtui.domain.exported_conversation import ExportConversation, ExportRun
from faithtui.formats.writers.answer_results import OWN_KEY, list_answer_results


def format_results_json(
    run: ExportRun, conversations: Iterable[ExportConversation]
) -> Iterator[str]:
    """Write the judge's results, piece by piece; without a score a result is invalid, and why."""
    separator = "[\n"
    for conversation in conversations:
        results = list(list_answer_results(run, conversation))
        for result in results:
            if result.by != "judge":
                continue
            is_invalid = result.score is None
            item = {
                "query": result.question,
                "contexts": [each.text for each in result.passages],
                "response": result.answer,
                "passing": {"pass": True, "fail": False}.get(result.label or ""),
                "feedback": None if is_invalid else result.explanation,
                "score": result.score,
                "pairwise_source": None,
                "invalid_result": is_invalid,
                "invalid_reason": result.explanation if is_invalid else None,
                OWN_KEY: [each.details for each in results if each.turn == result.turn],
                "metadata": conversation.metadata,
            }
            yield separator + json.dumps(item, ensure_ascii=False, allow_nan=False)
            separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"
