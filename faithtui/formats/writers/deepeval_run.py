"""A run as a saved test run of deepeval: one JSON object with a test case per conversation.

Read by `deepeval.test_run.test_run.TestRun.load`. What deepeval has no place for (ids, claims,
labels) is in `metadata` of each case.

Source: deepeval 4.3.1, test_run/test_run.py (`TestRun`), test_run/api.py
(`ConversationalApiTestCase`, `TurnApi`), tracing/api.py (`MetricData`),
metrics/turn_faithfulness (what its verbose log says, in which order).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from faithtui.domain.exported_conversation import ExportConversation, ExportRun, ExportWindow
from faithtui.domain.scores import make_score, passes_threshold
from faithtui.formats.writers.answer_results import OWN_KEY, list_answer_results

_INDENT: Final = "    "


def format_run_json(run: ExportRun, conversations: Iterable[ExportConversation]) -> Iterator[str]:
    """Write a run, conversation by conversation.

    Args:
        run: The run.
        conversations: Its conversations, with the verdicts of every window.
    """
    # All in one line, as deepeval writes it: a line for each case would look like a file of cases.
    yield '{"testCases": [], "conversationalTestCases": ['
    passed = failed = 0
    for order, each in enumerate(conversations):
        case, is_passed = _make_test_case(run, each, order)
        passed, failed = passed + is_passed, failed + (not is_passed)
        yield (", " if order else "") + json.dumps(case, ensure_ascii=False, allow_nan=False)
    closing = {
        "metricsScores": [],
        "identifier": run.id,
        "hyperparameters": {
            "metric": run.metric,
            "judge": run.judge,
            "model": run.model,
            "prompts": run.prompts,
            "strategy": run.strategy,
        },
        "testPassed": passed,
        "testFailed": failed,
        "runDuration": 0.0,
    }
    yield "], " + json.dumps(closing, ensure_ascii=False)[1:] + "\n"


def _make_test_case(
    run: ExportRun, conversation: ExportConversation, order: int
) -> tuple[dict[str, object], bool]:
    """Make a test case, and say whether it passes; one without a score does not."""
    by_judge = _make_metric_result(run, conversation, conversation.score, run.judge)
    metrics = [by_judge]
    if any(each.labels for each in conversation.claims):
        metrics.append(
            {
                **_make_metric_result(run, conversation, conversation.corrected, "annotators"),
                "name": f"{_name_metric(run)} (with overrides)",
                "reason": None,
                "verboseLogs": None,
            }
        )
    case = {
        "name": conversation.key,
        "success": by_judge["success"] is True,
        "order": order,
        "metricsData": metrics,
        "runDuration": 0.0,
        "turns": [
            {
                "role": turn.role,
                "content": turn.content,
                "order": position,
                "retrievalContext": None
                if turn.passages is None
                else [each.text for each in turn.passages],
            }
            for position, turn in enumerate(conversation.turns)
        ],
        "metadata": {
            **conversation.metadata,
            OWN_KEY: {
                "run_id": run.id,
                "conversation_id": conversation.id,
                "source": conversation.source,
                "conversation": conversation.key,
                "data_sets": run.data_sets,
                "windows": [each.position for each in conversation.windows],
                "results": [each.details for each in list_answer_results(run, conversation)],
            },
        },
    }
    return case, case["success"] is True


def _make_metric_result(
    run: ExportRun, conversation: ExportConversation, score: float | None, rater: str
) -> dict[str, object]:
    success = None if score is None else passes_threshold(make_score(score), run.rule)
    return {
        "name": _name_metric(run),
        "threshold": run.threshold,
        "success": success,
        "score": score,
        "reason": conversation.reason,
        "strictMode": run.rule.strict,
        "evaluationModel": rater,
        "error": (conversation.reason or conversation.state) if score is None else None,
        "verboseLogs": _format_verbose_log(conversation.windows, conversation.reason),
    }


def _name_metric(run: ExportRun) -> str:
    """Name a metric as deepeval does: `Turn Faithfulness`."""
    return run.metric.replace("-", " ").title()


def _format_verbose_log(windows: Sequence[ExportWindow], reason: str | None) -> str:
    steps = [
        step
        for window in windows
        for step in (
            f"Window {window.position + 1} \n",
            f"Truths: {_format_text_list(window.truths)} \n",
            f"Claims: {_format_text_list([each.claim for each in window.verdicts])} \n",
            f"Verdicts: {_format_verdict_list(window)} \n",
            f"Score: {window.score} \n",
            f"Reason: {window.reason} \n",
        )
    ]
    return " \n \n".join([*steps, f"Final Reason: {reason}\n"])


def _format_text_list(texts: Sequence[str]) -> str:
    return _format_item_list([f'"{each}"' for each in texts])


def _format_verdict_list(window: ExportWindow) -> str:
    verdicts = [
        {"reason": each.reason, "verdict": each.word or each.label} for each in window.verdicts
    ]
    return _format_item_list(
        [json.dumps(each, indent=4).replace("\n", "\n" + _INDENT) for each in verdicts]
    )


def _format_item_list(items: Sequence[str]) -> str:
    if not items:
        return "[]"
    inner = f",\n{_INDENT}".join(items)
    return f"[\n{_INDENT}{inner}\n]"
