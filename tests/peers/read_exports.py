"""Reads an export with the package it is for, and tells as JSON what that made of it.

A program for the environment in `.ci/readers.txt`, where faithtui itself is not installed:
`python read_exports.py KIND FILE [ADDRESS]`. What is uploaded goes to the server at ADDRESS.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def upload_to_langfuse(path: Path, address: str) -> Any:
    """Send scores as the client of Langfuse does, many at once."""
    from langfuse.api.client import LangfuseAPI
    from langfuse.api.core.pydantic_utilities import parse_obj_as
    from langfuse.api.scores.types import CreateScoreRequest

    client = LangfuseAPI(base_url=address, username="public", password="secret")
    scores = [parse_obj_as(CreateScoreRequest, line) for line in _read_lines(path)]
    client.scores.create(request=scores)
    return [[each.trace_id, each.name, each.value, str(each.data_type)] for each in scores]


def upload_to_langsmith(path: Path, address: str) -> Any:
    """Send feedback as the client of LangSmith does, one after the other."""
    from langsmith import Client
    from langsmith.schemas import FeedbackCreate

    client = Client(api_url=address, api_key="secret", auto_batch_tracing=False)
    sent = []
    for line in _read_lines(path):
        known = FeedbackCreate.model_validate(line)
        assert known.feedback_source.metadata is not None
        client.create_feedback(
            run_id=known.run_id,
            trace_id=known.trace_id,
            session_id=known.session_id,
            key=known.key,
            score=known.score,
            value=known.value,
            comment=known.comment,
            feedback_id=known.id,
            feedback_source_type=known.feedback_source.type,
            source_info=known.feedback_source.metadata,
            extra=known.extra,
        )
        sent.append([str(known.run_id), known.key, known.score, known.feedback_source.type])
    client.close()
    return sent


def upload_to_phoenix(path: Path, address: str) -> Any:
    """Send annotations as the client of Phoenix does, and name them as OpenInference does."""
    from openinference.semconv.trace import AnnotationAttributes
    from phoenix.client import Client

    client = Client(base_url=address)
    lines = _read_lines(path)
    of_spans = [each for each in lines if "span_id" in each]
    of_traces = [each for each in lines if "span_id" not in each]
    if of_spans:
        client.spans.log_span_annotations(span_annotations=of_spans)
    if of_traces:
        client.traces.log_trace_annotations(trace_annotations=of_traces)
    prefix = "annotation."
    known = {
        value.removeprefix(prefix)
        for name, value in vars(AnnotationAttributes).items()
        if name.startswith("ANNOTATION_")
    }
    said = [{**each, **each["result"]} for each in lines]
    return [sorted(known & each.keys()) for each in said]


def read_opentelemetry(path: Path) -> Any:
    """Parse requests by the protocol's own messages; its JSON has ids in hexadecimal."""
    import base64

    from google.protobuf import json_format
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as known

    found = []
    for line in _read_lines(path):
        for resource in line["resourceLogs"]:
            for scope in resource["scopeLogs"]:
                for record in scope["logRecords"]:
                    for name in ("traceId", "spanId"):
                        if name in record:  # protobuf's own JSON has bytes in base64
                            raw = bytes.fromhex(record[name])
                            record[name] = base64.b64encode(raw).decode()
        request = json_format.ParseDict(line, ExportLogsServiceRequest())
        for resource in request.resource_logs:
            for scope in resource.scope_logs:
                for record in scope.log_records:
                    values = {each.key: each.value for each in record.attributes}
                    found.append(
                        [
                            record.event_name,
                            record.trace_id.hex(),
                            values[known.GEN_AI_EVALUATION_NAME].string_value,
                            values[known.GEN_AI_EVALUATION_SCORE_VALUE].double_value,
                            values[known.GEN_AI_EVALUATION_SCORE_LABEL].string_value,
                        ]
                    )
    return found


def read_deepeval(path: Path) -> Any:
    """Load a test run as deepeval loads its own."""
    from deepeval.test_run.test_run import TestRun

    with path.open(encoding="utf-8") as file:
        run = TestRun.load(file)
    return {
        "passed": run.test_passed,
        "failed": run.test_failed,
        "cases": [
            {
                "name": case.name,
                "success": case.success,
                "turns": [[turn.role, turn.content] for turn in case.turns],
                "contexts": [turn.retrieval_context for turn in case.turns],
                "metrics": [[each.name, each.score, each.success] for each in case.metrics_data],
                "has_log": bool(case.metrics_data[0].verbose_logs),
            }
            for case in run.conversational_test_cases
        ],
    }


def read_ragas(path: Path) -> Any:
    """Load rows as an evaluation dataset."""
    from ragas import EvaluationDataset

    dataset = EvaluationDataset.from_jsonl(path)
    assert not dataset.is_multi_turn()
    return [each.to_dict() for each in dataset]


def read_llamaindex(path: Path) -> Any:
    """Read results one by one."""
    from llama_index.core.evaluation import EvaluationResult

    items = json.loads(path.read_text(encoding="utf-8"))
    results = [EvaluationResult.model_validate(each) for each in items]
    return [[each.query, each.passing, each.score, each.invalid_result] for each in results]


def read_dataset(path: Path) -> Any:
    """Load both configurations of a dataset folder."""
    from datasets import load_dataset

    found = {}
    for name in ("claims", "labels"):
        dataset = load_dataset(str(path), name, split="train", cache_dir=str(path / "cache"))
        found[name] = {
            "rows": len(dataset),
            "columns": dataset.column_names,
            "first": json.loads(json.dumps(dataset[0], default=str)),
        }
    default = load_dataset(str(path), split="train", cache_dir=str(path / "cache"))
    found["default"] = {"rows": len(default)}
    return found


_UPLOAD: dict[str, Callable[[Path, str], Any]] = {
    "langfuse": upload_to_langfuse,
    "langsmith": upload_to_langsmith,
    "openinference": upload_to_phoenix,
}
_READ: dict[str, Callable[[Path], Any]] = {
    "opentelemetry": read_opentelemetry,
    "deepeval": read_deepeval,
    "ragas-rows": read_ragas,
    "llamaindex": read_llamaindex,
    "dataset": read_dataset,
}

if __name__ == "__main__":
    kind, file = sys.argv[1], Path(sys.argv[2])
    told = _UPLOAD[kind](file, sys.argv[3]) if kind in _UPLOAD else _READ[kind](file)
    print(json.dumps(told))
