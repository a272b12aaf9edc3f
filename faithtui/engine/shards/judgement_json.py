"""All that a judge said about one conversation, as one JSON text, and back.

Written by shards and read where a conversation is taken into a store: what is read is equal to what
was written. Truths and documents repeat in every window that shows them, so each stands once in a
list and is named by its place there.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pydantic_core import to_json

from faithtui.domain.claims.verdicts import (
    Assessment,
    Claim,
    Conclusion,
    Evidence,
    Truth,
    Verdict,
)
from faithtui.domain.conversation import Span
from faithtui.domain.scores import Score, ScoreState
from faithtui.domain.windows import Window
from faithtui.errors import InputError

_FORMAT: Final = 1

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a metric came to for one conversation."""

    assessments: tuple[Assessment, ...]
    """Its windows, in order."""
    conclusion: Conclusion


def judgement_to_json_text(judgement: Judgement) -> str:
    """Write a judgement as JSON."""
    documents: _PlaceList[str] = _PlaceList()
    claims: _PlaceList[Claim] = _PlaceList()
    truths: _PlaceList[Truth] = _PlaceList()
    windows = [
        {
            "position": each.window.position,
            "interactions": each.window.interactions,
            "turns": each.window.turns,
            "score": _score_to_json(each.score),
            "verdicts": [
                [
                    claims.get_or_add_index(verdict.claim),
                    verdict.label,
                    verdict.word,
                    verdict.reason,
                    verdict.confidence,
                    [
                        [truths.get_or_add_index(named.truth), named.stance, named.sets]
                        for named in verdict.evidence
                    ]
                    if verdict.evidence
                    else (),
                ]
                for verdict in each.verdicts
            ],
            "truths": truths.list_or_add_indices(each.truths),
            "surplus": each.surplus,
            "reason": each.reason,
            "without_context": each.without_context,
        }
        for each in judgement.assessments
    ]
    conclusion = judgement.conclusion
    return to_json(
        {
            "format": _FORMAT,
            "claims": [
                [
                    each.turn,
                    each.text,
                    _span_to_json(each.span),
                    each.kind,
                    None if each.document is None else documents.get_or_add_index(each.document),
                ]
                for each in claims.values
            ],
            "truths": [
                [
                    each.text,
                    None if each.document is None else documents.get_or_add_index(each.document),
                    _span_to_json(each.span),
                    each.quote,
                ]
                for each in truths.values
            ],
            "documents": documents.values,
            "windows": windows,
            "conclusion": [
                _score_to_json(conclusion.score),
                conclusion.success,
                conclusion.reason,
            ],
        }
    ).decode()


def judgement_from_json_text(text: str) -> Judgement:
    """Read a judgement.

    Raises:
        InputError: It is none, or of a later version.
    """
    try:
        found = json.loads(text)
        if found["format"] != _FORMAT:
            raise InputError(
                f"is a judgement of format {found['format']}; this version reads {_FORMAT}, so "
                "install a later one",
                field="judgement",
            )
        documents = found["documents"]
        claims = [_read_claim(each, documents) for each in found["claims"]]
        truths = [_read_truth(each, documents) for each in found["truths"]]
        score, success, reason = found["conclusion"]
        return Judgement(
            tuple(_read_assessment(each, claims, truths) for each in found["windows"]),
            Conclusion(_read_score(score), success, reason),
        )
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(
            f"is no judgement of `faithtui measure` ({type(error).__name__}: {error}); measure the "
            "shard again",
            field="judgement",
        ) from error


class _PlaceList(Generic[T]):
    """Different values in the order in which they came first."""

    def __init__(self) -> None:
        self._places: dict[T, int] = {}
        # Windows share most values; to look at their fields again takes ten times as long.
        self._places_of_objects: dict[int, int] = {}

    @property
    def values(self) -> list[T]:
        return list(self._places)

    def list_or_add_indices(self, values: Sequence[T]) -> list[int]:
        """Give the places of values; see `get_or_add_index`."""
        known = self._places_of_objects
        return [
            self.get_or_add_index(each) if (place := known.get(id(each))) is None else place
            for each in values
        ]

    def get_or_add_index(self, value: T) -> int:
        """Give the place of a value; its object must live as long as this list."""
        place = self._places_of_objects.get(id(value))
        if place is None:
            place = self._places.setdefault(value, len(self._places))
            self._places_of_objects[id(value)] = place
        return place


def _score_to_json(score: Score) -> list[object]:
    return [score.value, score.state.value, score.reason, score.undefined, score.skipped]


def _read_score(found: Sequence[Any]) -> Score:
    value, state, reason, undefined, skipped = found
    return Score(value, ScoreState(state), reason, undefined, skipped)


def _span_to_json(span: Span | None) -> list[int] | None:
    return None if span is None else [span.start, span.end]


def _read_span(found: Sequence[int] | None) -> Span | None:
    return None if found is None else Span(*found)


def _read_claim(found: Sequence[Any], documents: Sequence[str]) -> Claim:
    turn, text, span, kind, document = found
    return Claim(
        turn, text, _read_span(span), kind, None if document is None else documents[document]
    )


def _read_truth(found: Sequence[Any], documents: Sequence[str]) -> Truth:
    text, document, span, quote = found
    return Truth(text, None if document is None else documents[document], _read_span(span), quote)


def _read_assessment(
    found: Mapping[str, Any], claims: Sequence[Claim], truths: Sequence[Truth]
) -> Assessment:
    verdicts = tuple(
        Verdict(
            claims[claim],
            label,
            word,
            reason,
            confidence,
            tuple(Evidence(truths[truth], stance, tuple(sets)) for truth, stance, sets in evidence),
        )
        for claim, label, word, reason, confidence, evidence in found["verdicts"]
    )
    window = Window(found["position"], tuple(found["interactions"]), tuple(found["turns"]))
    return Assessment(
        window=window,
        score=_read_score(found["score"]),
        verdicts=verdicts,
        truths=tuple(truths[each] for each in found["truths"]),
        surplus=tuple(found["surplus"]),
        reason=found["reason"],
        without_context=found["without_context"],
    )
