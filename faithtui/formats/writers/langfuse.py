"""Results of answers as scores for Langfuse, one a line.

Each line is the body of a score for `POST /api/public/scores`.

Source: langfuse 5.0.4 (Python SDK), api/scores/types/create_score_request.py.
"""

import json
from collections.abc import Iterator, Mapping

from faithtui.formats.writers.answer_results import AnswerResult
from faithtui.formats.writers.flat_rows import format_utc_time


def format_langfuse_score_lines(result: AnswerResult) -> Iterator[str]:
    """Write a result: its number, else its label; nothing without a trace or a session.

    The id is ours, so that sending a file twice changes scores and adds none.
    """
    ids = result.ids
    if ids.trace is None and ids.session is None:
        return
    about: dict[str, object] = (
        {"sessionId": ids.session}
        if ids.trace is None
        else {"traceId": ids.trace, "observationId": ids.span}
    )
    value_fields: Mapping[str, object] = (
        {"value": result.score, "dataType": "NUMERIC"}
        if result.score is not None
        else {"value": result.label, "dataType": "CATEGORICAL"}
    )
    body = {
        "id": result.id,
        **about,
        "name": result.name,
        **value_fields,
        "comment": result.explanation,
        "timestamp": None if result.at is None else format_utc_time(result.at),
        "metadata": {**result.metadata, "label": result.label},
    }
    yield _format_json_line({name: value for name, value in body.items() if value is not None})


def _format_json_line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"
