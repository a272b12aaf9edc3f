"""Scores of answers for the tools that hold the traces, and as results of other libraries."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from faithtui.domain.exported_conversation import ExportConversation
from faithtui.formats.writers.answer_results import AnswerResult, list_answer_results
from faithtui.formats.writers.deepeval_run import format_run_json
from faithtui.formats.writers.langfuse import format_langfuse_score_lines
from faithtui.formats.writers.langsmith import format_langsmith_feedback_lines
from faithtui.formats.writers.llamaindex_results import format_results_json
from faithtui.formats.writers.openinference import format_openinference_annotation_lines
from faithtui.formats.writers.opentelemetry import format_opentelemetry_event_lines
from faithtui.formats.writers.ragas_rows import format_ragas_row_lines
from tests.formats.writers.exported import (
    REVIEWED,
    RUN,
    RUN_UUID,
    SPAN,
    TRACE,
    make_claim,
    make_conversation,
    make_label,
)


def results(conversation: ExportConversation = REVIEWED) -> list[AnswerResult]:
    return list(list_answer_results(RUN, conversation))


def lines_of(lines: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in "".join(lines).splitlines()]


def with_ids(**ids: str) -> ExportConversation:
    per_turn: Mapping[str, object] = {"1": ids}
    return replace(REVIEWED, metadata={"per_turn": per_turn})


def test_each_rater_has_one_result_of_an_answer() -> None:
    judge, ann, ann_whole, ben = results()
    assert (judge.name, judge.rater, judge.by) == (
        "turn-faithfulness",
        "openai:judge-1",
        "judge",
    )
    assert (judge.score, judge.label) == (0.5, "pass")
    assert judge.explanation == "Claim 1. (no): because 1"
    assert (ann.name, ann.rater, ann.score) == ("turn-faithfulness-human", "ann", 0.5)
    assert (ann_whole.name, ann_whole.label) == ("answer-faithfulness-human", "no")
    assert ann_whole.score == pytest.approx(1 / 3)
    # What was given in bulk does not count, and `x` leaves nothing to score.
    assert (ben.score, ben.label) == (None, "undefined")
    assert ben.explanation == "no label is about a fair claim"


def test_results_name_their_claims_and_labels() -> None:
    judge, ann, *_ = results()
    assert [each["verdict"] for each in judge.details["claims"]] == ["yes", "no"]  # type: ignore[attr-defined]
    assert [each["label"] for each in ann.details["labels"]] == ["yes", "no"]  # type: ignore[attr-defined]
    assert judge.details["conversation"] == "order-17"


def test_a_missing_verdict_is_no_score() -> None:
    (judge,) = results(make_conversation(make_claim(0, "yes"), make_claim(1, None)))
    assert (judge.score, judge.label) == (None, "incomplete")
    assert judge.explanation == "1 of 2 claims have no verdict"


WRITERS: Mapping[str, Any] = {
    "langfuse": format_langfuse_score_lines,
    "langsmith": format_langsmith_feedback_lines,
    "opentelemetry": format_opentelemetry_event_lines,
    "openinference": format_openinference_annotation_lines,
}


def _without_claims(state: str, reason: str | None, item: str = "done") -> ExportConversation:
    """An answer of which no claim was judged, as its window or its conversation has it."""
    chat = make_conversation(metadata={"per_turn": {"1": {"trace_id": RUN_UUID, "span_id": SPAN}}})
    (window,) = chat.windows
    windows = (window._replace(state=state, score=None, reason=reason),) if item == "done" else ()
    return replace(chat, windows=windows, state=item, score=None, reason=reason)


@pytest.mark.parametrize(
    ("chat", "label", "why"),
    [
        (_without_claims("undefined", "no claims"), "undefined", "no claims"),
        (_without_claims("scored", None), "undefined", "nothing was judged"),
        (_without_claims("failed", "no reply"), "failed", "no reply"),
        (_without_claims("", "no reply", "failed"), "failed", "no reply"),
        (_without_claims("", "no documents", "skipped"), "skipped", "no documents"),
    ],
    ids=["no claims", "other claims", "window failed", "failed", "skipped"],
)
def test_an_answer_without_claims_has_a_result_that_says_why(
    chat: ExportConversation, label: str, why: str
) -> None:
    (judge,) = results(chat)
    assert (judge.by, judge.score, judge.label, judge.explanation) == ("judge", None, label, why)
    assert judge.details["claims"] == []
    for write in WRITERS.values():
        (line,) = lines_of(write(judge))
        assert label in json.dumps(line)
        assert why in json.dumps(line)
    (row,) = json.loads("".join(format_results_json(RUN, [chat])))
    assert (row["score"], row["invalid_result"], row["invalid_reason"]) == (None, True, why)


def test_an_answer_that_is_not_judged_yet_has_no_result() -> None:
    assert results(_without_claims("", None, "pending")) == []


def test_labels_are_counted_in_the_words_of_the_run() -> None:
    rule = replace(RUN.rule, passing=("1",), labels=("1", "0"), synonyms=(("yes", "1"),))
    run = replace(RUN, rule=rule)
    claim = make_claim(0, "1", labels=(make_label("ann", "yes"),))
    _, ann = list_answer_results(run, make_conversation(claim))
    assert ann.score == 1.0


def test_ids_hold_for_the_same_answer_and_differ_between_raters() -> None:
    assert [each.id for each in results()] == [each.id for each in results()]
    assert len({each.id for each in results()}) == 4


def test_langfuse_gets_a_score_of_the_trace() -> None:
    (score,) = lines_of(format_langfuse_score_lines(results()[0]))
    assert score["traceId"] == TRACE
    assert score["observationId"] == SPAN
    assert (score["name"], score["value"], score["dataType"]) == (
        "turn-faithfulness",
        0.5,
        "NUMERIC",
    )
    assert score["timestamp"] == "2026-03-02T09:00:05.000250Z"
    assert score["metadata"]["judge"] == "openai:judge-1"
    assert score["metadata"]["faithtui"]["claims"][1]["claim"] == "Claim 1."


def test_langfuse_gets_a_word_where_there_is_no_number() -> None:
    result = replace(results()[2], score=None)
    (score,) = lines_of(format_langfuse_score_lines(result))
    assert (score["value"], score["dataType"]) == ("no", "CATEGORICAL")


def test_langsmith_gets_feedback_on_the_run() -> None:
    judge, ann, *_ = results(with_ids(trace_id=RUN_UUID, run_id=RUN_UUID))
    (by_judge,) = lines_of(format_langsmith_feedback_lines(judge))
    (by_ann,) = lines_of(format_langsmith_feedback_lines(ann))
    assert by_judge["run_id"] == by_judge["trace_id"] == RUN_UUID
    assert by_judge["feedback_source"] == {
        "type": "model",
        "metadata": {"judge": "openai:judge-1"},
    }
    assert by_ann["feedback_source"] == {"type": "api", "metadata": {"annotator": "ann"}}
    assert (by_ann["key"], by_ann["score"]) == ("turn-faithfulness-human", 0.5)


def test_openinference_gets_an_annotation_of_the_span_or_else_the_trace() -> None:
    judge, ann, *_ = results()
    (by_judge,) = lines_of(format_openinference_annotation_lines(judge))
    (by_ann,) = lines_of(format_openinference_annotation_lines(ann))
    assert by_judge["span_id"] == SPAN
    assert by_judge["annotator_kind"] == "LLM"
    assert by_judge["result"] == {
        "label": "pass",
        "score": 0.5,
        "explanation": "Claim 1. (no): because 1",
    }
    assert by_ann["annotator_kind"] == "HUMAN"
    assert by_ann["identifier"] != by_judge["identifier"]
    (of_trace,) = lines_of(
        format_openinference_annotation_lines(results(with_ids(trace_id=TRACE))[0])
    )
    assert of_trace["trace_id"] == TRACE
    assert "span_id" not in of_trace


def test_opentelemetry_gets_an_event_in_the_trace() -> None:
    (request,) = lines_of(format_opentelemetry_event_lines(results()[0]))
    (record,) = request["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    assert record["eventName"] == "gen_ai.evaluation.result"
    assert (record["traceId"], record["spanId"]) == (TRACE, SPAN)
    assert record["timeUnixNano"] == "1772442005000250000"
    attributes = {each["key"]: each["value"] for each in record["attributes"]}
    assert attributes["gen_ai.evaluation.name"] == {"stringValue": "turn-faithfulness"}
    assert attributes["gen_ai.evaluation.score.value"] == {"doubleValue": 0.5}
    assert attributes["gen_ai.evaluation.score.label"] == {"stringValue": "pass"}
    assert attributes["gen_ai.response.id"] == {"stringValue": "m-1"}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_an_answer_without_ids_goes_nowhere(write: Any) -> None:
    assert list(write(results(replace(REVIEWED, metadata={}))[0])) == []


def test_ids_that_a_tool_would_refuse_are_not_sent() -> None:
    judge = results(with_ids(trace_id="order-17"))[0]
    assert list(format_langsmith_feedback_lines(judge)) == []
    assert list(format_opentelemetry_event_lines(judge)) == []
    zeros = results(with_ids(trace_id="0" * 32))[0]
    assert list(format_opentelemetry_event_lines(zeros)) == []


def test_the_trace_of_a_whole_conversation_is_that_of_its_only_answer() -> None:
    of_all = replace(REVIEWED, metadata={"trace_id": TRACE})
    assert results(of_all)[0].ids.trace == TRACE
    twice = replace(of_all, turns=of_all.turns * 2)
    assert results(twice)[0].ids.trace is None


def test_ragas_rows_are_samples_with_scores_beside() -> None:
    (row,) = lines_of(format_ragas_row_lines(RUN, REVIEWED))
    assert row["user_input"] == "When does it arrive?"
    assert row["response"] == "Within two days. Returns are free."
    assert row["retrieved_contexts"] == [
        "Parcels leave within two days.",
        "Returns cost 5 euros.",
    ]
    assert row["turn-faithfulness"] == 0.5
    assert [each["annotator"] for each in row["annotations"]] == ["ann", "ann", "ben"]
    assert row["ids"]["trace"] == TRACE


def test_llamaindex_results_say_why_they_are_invalid() -> None:
    unscored = make_conversation(make_claim(0, None))
    first, second = json.loads("".join(format_results_json(RUN, [REVIEWED, unscored])))
    assert (first["score"], first["passing"], first["invalid_result"]) == (0.5, True, False)
    assert (second["score"], second["passing"], second["invalid_result"]) == (None, None, True)
    assert second["invalid_reason"] == "1 of 1 claims have no verdict"
    assert json.loads("".join(format_results_json(RUN, []))) == []


def test_a_deepeval_run_has_a_case_for_each_conversation() -> None:
    failed = replace(REVIEWED, score=0.25, corrected=0.25)
    unscored = replace(REVIEWED, score=None, state="failed", reason="no reply")
    run = json.loads("".join(format_run_json(RUN, [REVIEWED, failed, unscored])))
    passing, failing, without = run["conversationalTestCases"]
    assert (run["testPassed"], run["testFailed"]) == (1, 2)
    assert [each["success"] for each in (passing, failing, without)] == [True, False, False]
    metric, with_overrides = passing["metricsData"]
    assert (metric["name"], metric["score"], metric["threshold"], metric["success"]) == (
        "Turn Faithfulness",
        0.5,
        0.5,
        True,
    )
    assert with_overrides["score"] == 1.0
    assert without["metricsData"][0]["error"] == "no reply"
    assert passing["turns"][1]["retrievalContext"][1] == "Returns cost 5 euros."
    assert passing["turns"][0]["retrievalContext"] is None
    assert passing["metadata"]["per_turn"]["1"]["trace_id"] == TRACE
    assert passing["metadata"]["faithtui"]["results"][0]["claims"][1]["verdict"] == "no"


def test_the_log_of_a_deepeval_run_reads_as_deepevals() -> None:
    run = json.loads("".join(format_run_json(RUN, [REVIEWED])))
    log = run["conversationalTestCases"][0]["metricsData"][0]["verboseLogs"]
    assert log.startswith('Window 1 \n \n \nTruths: [\n    "A truth"\n] \n')
    assert '"verdict": "contradicted"' in log
    assert json.loads("".join(format_run_json(RUN, [])))["conversationalTestCases"] == []
