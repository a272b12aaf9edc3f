"""Results of answers as OpenInference annotations, one a line.

Each line is an annotation as the client of Phoenix takes it: with `span_id` for
`spans.log_span_annotations`, with `trace_id` for `traces.log_trace_annotations`.

Source: arize-phoenix-client 3.5.0, __generated__/v1 (`SpanAnnotationData`, `TraceAnnotationData`);
openinference-semantic-conventions 0.1.42, trace (`AnnotationAttributes`).
"""

import json
from collections.abc import Iterator

from faithtui.formats.writers.answer_results import AnswerResult


def format_openinference_annotation_lines(result: AnswerResult) -> Iterator[str]:
    """Write a result; nothing where neither span nor trace is known, or there is nothing to say."""
    result_fields = {
        "label": result.label,
        "score": result.score,
        "explanation": result.explanation,
    }
    result_fields = {name: value for name, value in result_fields.items() if value is not None}
    about = (
        {"span_id": result.ids.span}
        if result.ids.span is not None
        else {"trace_id": result.ids.trace}
    )
    if None in about.values() or not result_fields:
        return
    annotation = {
        **about,
        "name": result.name,
        "annotator_kind": "LLM" if result.by == "judge" else "HUMAN",
        # One annotation of each rater: without it a second one would replace the first.
        "identifier": f"{result.rater} {result.id}",
        "result": result_fields,
        "metadata": result.metadata,
    }
    yield json.dumps(annotation, ensure_ascii=False, allow_nan=False) + "\n"
