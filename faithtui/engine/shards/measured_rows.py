"""Rows of the result tables, from what came of one conversation.

Each record gives one row of conversations, whatever became of it: one that could not be read or
measured has a reason where the others have a score.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import to_json

from faithtui.domain.claims.verdicts import Conclusion, Verdict, make_claim_identity_key
from faithtui.domain.conversation import Conversation, Passage, content_hash
from faithtui.domain.labels.label_sets import LabelSet, Polarity
from faithtui.domain.scores import ScoreState
from faithtui.engine.library.judge_session import CallLog
from faithtui.engine.library.measurement_result import Measurement
from faithtui.engine.shards.judgement_json import Judgement, judgement_to_json_text
from faithtui.engine.shards.results_schema import NO_VERDICT
from faithtui.errors import FaithtuiError, InputError
from faithtui.formats.readers.protocol import ParsedRecord
from faithtui.formats.writers.conversations import conversation_to_json

Row = dict[str, Any]

_LABELS: Final = {Polarity.GOOD: "yes", Polarity.BAD: "no", Polarity.UNSURE: "idk"}


@dataclass(frozen=True, slots=True)
class MeasuredRows:
    """What goes into the tables for one record."""

    conversation: Row
    windows: list[Row]
    claims: list[Row]

    @property
    def state(self) -> ScoreState:
        """What became of it."""
        return ScoreState(self.conversation["state"])


def make_measured_rows(
    shard: str, number: int, record: ParsedRecord, measured: Measurement, log: CallLog
) -> MeasuredRows:
    """Make the rows of a conversation that was measured.

    Args:
        shard: Name of the shard.
        number: Place of the record in it.
        record: What was read.
        measured: What came of it.
        log: Its calls.
    """
    conversation = measured.conversation
    identity = _make_key_columns(shard, number, conversation)
    claims = _make_claim_rows(identity, measured)
    labels = [each["label"] for each in claims]
    judgement = Judgement(
        measured.windows, Conclusion(measured.score, measured.success, measured.reason)
    )
    row = {
        **identity,
        **_make_conversation_columns(record, conversation),
        "state": measured.score.state.value,
        "reason": measured.reason or measured.score.reason,
        "windowed": measured.scores.windowed.value,
        "per_interaction": measured.scores.per_interaction.value,
        "pooled": measured.scores.pooled.value,
        "success": measured.success,
        "claims": len(labels),
        **{name: labels.count(name) for name in (*_LABELS.values(), NO_VERDICT)},
        "integrity": measured.warning,
        **_make_call_columns(log, measured.latency_ms),
        "judgement": judgement_to_json_text(judgement) if measured.windows else None,
    }
    return MeasuredRows(row, _make_window_rows(identity, measured), claims)


def make_failed_rows(
    shard: str,
    number: int,
    record: ParsedRecord,
    error: FaithtuiError,
    log: CallLog,
    source: str,
) -> MeasuredRows:
    """Make the row of a record that could not be read or measured.

    Args:
        shard: Name of the shard.
        number: Place of the record in it.
        record: What was read, or why it could not be.
        error: What went wrong.
        log: Its calls.
        source: Name of the data set.
    """
    if isinstance(record.found, InputError):
        identity = {
            "shard": shard,
            "source": source,
            "key": f"line {record.line}",
            "number": number,
        }
        described: Row = {
            "line": record.line,
            "content_sha256": None,
            "conversation_group": None,
            "metadata": "{}",
            "conversation": None,
        }
    else:
        identity = _make_key_columns(shard, number, record.found)
        described = _make_conversation_columns(record, record.found)
    row = {
        **identity,
        **described,
        "state": ScoreState.FAILED.value,
        "reason": f"{type(error).__name__}: {error}",
        "windowed": None,
        "per_interaction": None,
        "pooled": None,
        "success": None,
        "claims": 0,
        **dict.fromkeys((*_LABELS.values(), NO_VERDICT), 0),
        "integrity": "",
        **_make_call_columns(log, sum(each.latency_ms for each in log.calls)),
        "judgement": None,
    }
    return MeasuredRows(row, [], [])


def _make_key_columns(shard: str, number: int, conversation: Conversation) -> Row:
    return {
        "shard": shard,
        "source": conversation.source,
        "key": conversation.key,
        "number": number,
    }


def _make_conversation_columns(record: ParsedRecord, conversation: Conversation) -> Row:
    written = conversation_to_json(conversation, record.images)
    return {
        "line": record.line,
        "content_sha256": content_hash(conversation.turns),
        "conversation_group": conversation.group,
        "metadata": _to_json(written["metadata"]),
        "conversation": _to_json(written),
    }


def _make_call_columns(log: CallLog, latency_ms: int) -> Row:
    costs = [each.cost_usd for each in log.calls]
    known = [each for each in costs if each is not None]
    return {
        "calls": len(log.calls),
        "calls_stored": log.stored,
        "tokens_in": sum(each.tokens_in or 0 for each in log.calls),
        "tokens_out": sum(each.tokens_out or 0 for each in log.calls),
        "cost_usd": sum(known) if len(known) == len(costs) else None,
        "latency_ms": latency_ms,
    }


def _make_window_rows(identity: Row, measured: Measurement) -> list[Row]:
    return [
        {
            **identity,
            "position": each.window.position,
            "first_turn": min(each.window.turns, default=None),
            "last_turn": max(each.window.turns, default=None),
            "state": each.score.state.value,
            "score": each.score.value,
            "reason": each.reason or each.score.reason,
        }
        for each in measured.windows
    ]


def _make_claim_rows(identity: Row, measured: Measurement) -> list[Row]:
    labels = measured.spec.labels
    found: dict[object, list[tuple[int, Verdict]]] = {}
    for window in measured.windows:
        for verdict in window.verdicts:
            verdicts = found.setdefault(make_claim_identity_key(verdict.claim), [])
            if not verdicts or verdicts[-1][0] != window.window.position:
                verdicts.append((window.window.position, verdict))
    documents = _number_documents(measured.conversation)
    return [
        {
            **identity,
            "position": position,
            "turn": verdicts[0][1].claim.turn,
            "document": documents.get(verdicts[0][1].claim.document),
            "claim": verdicts[0][1].claim.text,
            "label": _get_polarity_word(labels, verdicts[0][1].label),
            "raw": verdicts[0][1].word,
            "reason": verdicts[0][1].reason,
            "home_window": verdicts[0][0],
            "windows": len(verdicts),
            "differs": len({each.label for _, each in verdicts}) > 1,
            "uncertainty": _compute_uncertainty([each for _, each in verdicts], labels),
            "conversation_score": measured.score.value,
        }
        for position, verdicts in enumerate(found.values())
    ]


def _number_documents(conversation: Conversation) -> Mapping[str | None, int]:
    places: dict[str | None, int] = {}
    for turn in conversation.turns:
        for document in turn.retrieval_context or ():
            shown = Passage(document.text, document.images).text_with_marks
            places.setdefault(shown, len(places))
    return places


def _get_polarity_word(labels: LabelSet, name: str | None) -> str:
    return NO_VERDICT if name is None else _LABELS[labels.get_label(name).polarity]


def _compute_uncertainty(verdicts: list[Verdict], labels: LabelSet) -> float:
    """Say how far from certain a verdict is; the column `uncertainty` has the definition."""
    home = verdicts[0]
    if home.confidence is not None:
        return 1 - abs(2 * home.confidence - 1)
    if home.label is None:
        return 1.0
    others = sum(each.label != home.label for each in verdicts) / len(verdicts)
    return max(others, 0.5) if _get_polarity_word(labels, home.label) == "idk" else others


def _to_json(value: object) -> str:
    return to_json(value, inf_nan_mode="constants").decode()
