"""Between JSON columns and domain values."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

from faithtui.domain.conversation import Image, Span
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.scores import Score, ScoreSet, ScoreState, ScoringRule

if TYPE_CHECKING:
    from sqlalchemy import Row

    AnyRow: TypeAlias = Row[*tuple[Any, ...]]
    """A row of columns that the reader names."""
else:
    # Only a name for types: the first look at a store must not wait for SQLAlchemy.
    AnyRow = Any

_LEFT_OUT = ("undefined", "skipped")

_UNIT = 1_000_000_000_000
"""Scores are summed in units of 1e-12."""


def convert_score_to_integer_units(score: float | None) -> int:
    """Turn a score into whole units, so that sums stay exact; 0 for none."""
    return 0 if score is None else round(score * _UNIT)


def mean_from_score_units(total: int, count: int) -> float | None:
    """Turn a sum of units into a mean; None of nothing."""
    return total / _UNIT / count if count else None


def scoring_rule_to_json(rule: ScoringRule) -> dict[str, object]:
    """Write a scoring rule."""
    return {
        **asdict(rule),
        "passing": list(rule.passing),
        "labels": list(rule.labels),
        "synonyms": [list(pair) for pair in rule.synonyms],
    }


def scoring_rule_from_json(stored: Mapping[str, Any]) -> ScoringRule:
    """Read a scoring rule.

    One that was written before rules named their labels is of three-way faithfulness: there was no
    other metric. It gets those labels, so that words said under later metrics are translated.
    """
    if "labels" in stored:
        labels, synonyms = stored["labels"], stored["synonyms"]
    else:
        labels, synonyms = FAITHFULNESS.names, FAITHFULNESS.synonyms
    return ScoringRule(
        **{
            **stored,
            "passing": tuple(stored["passing"]),
            "labels": tuple(labels),
            "synonyms": tuple((word, label) for word, label in synonyms),
        }
    )


def score_set_to_json(scores: ScoreSet) -> dict[str, object]:
    """Write three scores; what a mean leaves out only where it leaves anything out."""
    return {
        name: {key: value for key, value in score.items() if value or key not in _LEFT_OUT}
        for name, score in asdict(scores).items()
    }


def score_set_from_json(stored: Mapping[str, Any]) -> ScoreSet:
    """Read three scores."""
    return ScoreSet(
        windowed=_score_from_json(stored["windowed"]),
        per_interaction=_score_from_json(stored["per_interaction"]),
        pooled=_score_from_json(stored["pooled"]),
    )


def _score_from_json(stored: Mapping[str, Any]) -> Score:
    return Score(
        stored["value"],
        ScoreState(stored["state"]),
        stored["reason"],
        stored.get("undefined", 0),
        stored.get("skipped", 0),
    )


def images_to_json(images: tuple[Image, ...]) -> list[dict[str, str | None]]:
    """Write the images of a turn or document."""
    return [asdict(image) for image in images]


def images_from_json(stored: Sequence[Mapping[str, Any]]) -> tuple[Image, ...]:
    """Read the images of a turn or document."""
    return tuple(Image(**image) for image in stored)


def span_from_row(row: AnyRow) -> Span | None:
    """Read the columns `span_start` and `span_end`."""
    return None if row.span_start is None else Span(row.span_start, row.span_end)


def span_to_columns(span: Span | None) -> dict[str, int | None]:
    """Write the columns `span_start` and `span_end`."""
    if span is None:
        return {"span_start": None, "span_end": None}
    return {"span_start": span.start, "span_end": span.end}
