"""Results of answers as OpenTelemetry events `gen_ai.evaluation.result`.

Each line is an OTLP request of logs as JSON (`ExportLogsServiceRequest`), as `POST /v1/logs` of a
collector takes it and its file receiver reads it.

Source: OpenTelemetry protocol 1.x, JSON encoding (ids in hexadecimal, 64-bit integers as text);
semantic conventions for generative AI, event `gen_ai.evaluation.result`.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from faithtui.formats.writers.answer_results import AnswerResult

EVENT: Final = "gen_ai.evaluation.result"
_SCOPE: Final = "faithtui"
_HEXADECIMAL: Final = frozenset("0123456789abcdef")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def format_opentelemetry_event_lines(result: AnswerResult) -> Iterator[str]:
    """Write a result; nothing where no trace is known."""
    trace, span = (
        _normalise_hex_id_or_none(result.ids.trace, 32),
        _normalise_hex_id_or_none(result.ids.span, 16),
    )
    if trace is None:
        return
    record = {
        "timeUnixNano": None if result.at is None else _to_nanoseconds(result.at),
        "eventName": EVENT,
        "traceId": trace,
        "spanId": span,
        "attributes": [
            _make_attribute(name, value)
            for name, value in (
                ("gen_ai.evaluation.name", result.name),
                ("gen_ai.evaluation.score.value", result.score),
                ("gen_ai.evaluation.score.label", result.label),
                ("gen_ai.evaluation.explanation", result.explanation),
                ("gen_ai.response.id", result.ids.message),
                ("gen_ai.conversation.id", result.ids.session),
                ("faithtui.result.id", result.id),
                ("faithtui.rater", result.rater),
                ("faithtui.rater.kind", result.by),
                ("faithtui.details", json.dumps(result.details, ensure_ascii=False)),
            )
            if value is not None
        ],
    }
    request = {
        "resourceLogs": [
            {
                "resource": {"attributes": [_make_attribute("service.name", "faithtui")]},
                "scopeLogs": [
                    {
                        "scope": {"name": _SCOPE},
                        "logRecords": [
                            {name: value for name, value in record.items() if value is not None}
                        ],
                    }
                ],
            }
        ]
    }
    yield json.dumps(request, ensure_ascii=False, allow_nan=False) + "\n"


def _make_attribute(name: str, value: str | float) -> dict[str, object]:
    kind = "stringValue" if isinstance(value, str) else "doubleValue"
    return {"key": name, "value": {kind: value}}


def _normalise_hex_id_or_none(text: str | None, digits: int) -> str | None:
    """Give an id that OpenTelemetry takes: so many hexadecimal digits, not all 0."""
    found = (text or "").lower().removeprefix("0x").replace("-", "")
    known = len(found) == digits and _HEXADECIMAL.issuperset(found) and found.strip("0")
    return found if known else None


def _to_nanoseconds(moment: datetime) -> str:
    since = moment - _EPOCH
    return str(((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000)
