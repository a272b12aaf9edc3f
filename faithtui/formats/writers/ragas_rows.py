"""Answers as rows of ragas, one a line: single-turn samples, with scores beside.

Read by `ragas.EvaluationDataset.from_jsonl`, which passes over the columns it does not know.

Source: ragas 0.4.3, dataset_schema.py (`SingleTurnSample`, `EvaluationDataset.from_list`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from faithtui.domain.exported_conversation import ExportConversation, ExportRun
from faithtui.formats.writers.answer_results import (
    OWN_KEY,
    AnswerResult,
    list_answer_results,
)


def format_ragas_row_lines(run: ExportRun, conversation: ExportConversation) -> Iterator[str]:
    """Write the answers of a conversation with a verdict or a human label."""
    by_turn: dict[int, list[AnswerResult]] = {}
    for result in list_answer_results(run, conversation):
        by_turn.setdefault(result.turn, []).append(result)
    for results in by_turn.values():
        yield json.dumps(_make_row(conversation, results), ensure_ascii=False) + "\n"


def _make_row(
    conversation: ExportConversation, results: Sequence[AnswerResult]
) -> Mapping[str, object]:
    first = results[0]
    is_known = bool(first.passages) or conversation.turns[first.turn].passages is not None
    row: dict[str, object] = {
        "user_input": first.question or "",
        "retrieved_contexts": [each.text for each in first.passages] if is_known else None,
        "retrieved_context_ids": [each.document for each in first.passages] if is_known else None,
        "response": first.answer,
    }
    for each in results:
        if each.by == "judge":
            row[each.name] = each.score
    row |= {
        "annotations": [
            {"name": each.name, "annotator": each.rater, "score": each.score, "label": each.label}
            for each in results
            if each.by == "annotator"
        ],
        "ids": {name: value for name, value in first.ids._asdict().items() if value is not None},
        OWN_KEY: [each.details for each in results],
        "metadata": conversation.metadata,
    }
    return row
