"""Results of answers as feedback for LangSmith, one a line.

Each line is the body of `POST /feedback`.

Source: langsmith 0.15.0 (Python SDK), schemas.py (`FeedbackCreate`) and client.py
(`create_feedback`).
"""

import json
from collections.abc import Iterator
from uuid import UUID

from faithtui.formats.writers.answer_results import AnswerResult
from faithtui.formats.writers.flat_rows import format_utc_time


def format_langsmith_feedback_lines(result: AnswerResult) -> Iterator[str]:
    """Write a result; nothing where no run of LangSmith is known.

    Annotators are an `api` source with their name in its metadata: `app` is for those who labelled
    in LangSmith itself.
    """
    run = _parse_uuid_or_none(result.ids.span) or _parse_uuid_or_none(result.ids.trace)
    if run is None:
        return
    at = None if result.at is None else format_utc_time(result.at)
    body = {
        "id": result.id,
        "created_at": at,
        "modified_at": at,
        "run_id": run,
        "trace_id": _parse_uuid_or_none(result.ids.trace) or run,
        "session_id": _parse_uuid_or_none(result.ids.project),
        "key": result.name,
        "score": result.score,
        "value": result.label,
        "comment": result.explanation,
        "feedback_source": {
            "type": "model" if result.by == "judge" else "api",
            "metadata": {"judge" if result.by == "judge" else "annotator": result.rater},
        },
        "extra": result.metadata,
    }
    line = {name: value for name, value in body.items() if value is not None}
    yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def _parse_uuid_or_none(text: str | None) -> str | None:
    """Give an id that LangSmith takes; its ids are UUIDs."""
    try:
        return None if text is None else str(UUID(text))
    except ValueError:
        return None
