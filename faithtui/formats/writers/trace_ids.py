"""The ids that a conversation and its turns have where they came from.

Readers keep them in the metadata: those of a turn under `per_turn`, those of all beside it. Exports
that go back to a tracing tool find them here.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from faithtui.domain.exported_conversation import ExportConversation

PER_TURN: Final = "per_turn"
"""Key of the metadata that holds what is known of single turns, by position as text."""

_TRACE: Final = ("trace_id", "traceId")
_SPAN: Final = ("span_id", "spanId", "run_id", "observation_id", "observationId")
_SESSION: Final = ("session_id", "sessionId", "thread_id")
_PROJECT: Final = ("project_id",)
_MESSAGE: Final = ("message_id", "id", "response_id")


class TraceIds(NamedTuple):
    """Ids of an answer in another tool; None: not known."""

    trace: str | None = None
    span: str | None = None
    """Of the span, observation or run within the trace that holds the whole answer."""
    session: str | None = None
    """Of what the exchanges of a conversation share."""
    message: str | None = None
    project: str | None = None


def find_trace_ids(conversation: ExportConversation, turn: int) -> TraceIds:
    """Find the ids of an answer.

    Those of the whole conversation stand in where a turn has none of its own, for a trace only in
    a conversation of one answer: the trace of several is none of theirs alone.
    """
    metadata = conversation.metadata
    per_turn = metadata.get(PER_TURN)
    known = per_turn.get(str(turn)) if isinstance(per_turn, Mapping) else None
    own: Mapping[str, object] = known if isinstance(known, Mapping) else {}
    answers = sum(each.role == "assistant" for each in conversation.turns)
    of_all: Mapping[str, object] = metadata if answers == 1 else {}
    return TraceIds(
        trace=_find_id(_TRACE, own, of_all),
        span=_find_id(_SPAN, own, of_all),
        session=_find_id(_SESSION, own, metadata),
        message=_find_id(_MESSAGE, own),
        project=_find_id(_PROJECT, own, metadata),
    )


def _find_id(names: Iterable[str], *places: Mapping[str, object]) -> str | None:
    """Take the first id that is there, under one of several names."""
    for place in places:
        for name in names:
            found = place.get(name)
            if isinstance(found, str | int) and not isinstance(found, bool) and str(found):
                return str(found)
    return None
