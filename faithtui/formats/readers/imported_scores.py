"""Conversations with the scores of automatic judges that came with them, for figures.

Strict where an import is lenient: figures of part of a file would look like those of the whole, so
the first line that cannot be used ends the reading.
"""

from collections.abc import Iterator
from pathlib import Path

from faithtui.agreement.imported_scores.label_scales import has_shared_units
from faithtui.agreement.imported_scores.rated_units import (
    ScoredConversation,
    get_rated_unit_kind,
    make_unit_key,
)
from faithtui.domain.conversation import Conversation
from faithtui.errors import InputError
from faithtui.formats.json_lines import describe_json
from faithtui.formats.readers.conversation_files import read_conversation_records

SCORES = "reference_judges"
ASSIGNED = "annotators_assigned"


def read_scored_conversations(path: Path) -> Iterator[ScoredConversation]:
    """Read the conversations of a file with the scores that came with them.

    `reference_judges` holds a number per judge, which is the last answer's, or an object of
    numbers by position of the answer. `metadata.annotators_assigned` names whose labels count.

    Args:
        path: A file of one JSON object a line, in faithtui's own shape.

    Yields:
        One value for each line that is not blank, in order.

    Raises:
        InputError: The file or one of its lines cannot be used, nobody labelled anything in it,
            two lines have one id, or somebody labelled the same thing twice on a scale.
    """
    lines: dict[str, int] = {}
    labels = 0
    for line in read_conversation_records(path):
        if isinstance(line.found, InputError):
            raise line.found
        conversation = line.found
        before = lines.setdefault(conversation.key, line.line)
        if before != line.line:
            raise InputError(
                f"is that of line {before} too; give each line an id of its own, or put all labels "
                "of a conversation into one line",
                path=path,
                line=line.line,
                field="id",
            )
        try:
            _refuse_duplicate_labels(conversation)
            scored = ScoredConversation(
                conversation, _read_scores(conversation), _read_assigned_annotators(conversation)
            )
        except _FieldError as error:
            raise InputError(error.reason, path=path, line=line.line, field=error.field) from error
        labels += len(conversation.ratings)
        yield scored
    if not labels:
        raise InputError(
            "has no human labels, so there is nothing to compare; expected `human_labels` in its "
            "lines",
            path=path,
        )


class _FieldError(Exception):
    """A field that does not fit; the caller adds file and line."""

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        self.reason = reason
        super().__init__(field, reason)


def _refuse_duplicate_labels(conversation: Conversation) -> None:
    """Refuse a second label of a person on the same unit and scale: which one counts?"""
    seen: dict[tuple[object, ...], int] = {}
    for number, rating in enumerate(conversation.ratings):
        if not has_shared_units(rating.scale):
            continue
        name = (rating.scale, rating.annotator, get_rated_unit_kind(rating), *make_unit_key(rating))
        before = seen.setdefault(name, number)
        if before != number:
            raise _FieldError(
                f"human_labels[{number}]",
                f"is a second label of {describe_json(rating.annotator)} on what "
                f"human_labels[{before}]"
                f" is about, on the scale {describe_json(rating.scale)}; keep one of them",
            )


def _read_scores(conversation: Conversation) -> dict[str, dict[int, float]]:
    given = conversation.metadata.get(SCORES, {})
    assert isinstance(given, dict)  # faithtui's own shape takes nothing else
    return {
        judge: _read_scores_by_turn(judge, value, conversation) for judge, value in given.items()
    }


def _read_scores_by_turn(judge: str, value: object, conversation: Conversation) -> dict[int, float]:
    """Read the scores of one judge; null is a score that is not there."""
    field = f"{SCORES}.{judge}"
    answers = [place for place, turn in enumerate(conversation.turns) if turn.role == "assistant"]
    if not isinstance(value, dict):
        score = _read_number(
            value, field, "a number, or an object of numbers by position of the turn"
        )
        if score is not None and not answers:
            raise _FieldError(field, "is a score, but there is no assistant turn it could be of")
        return {} if score is None else {answers[-1]: score}
    names = {str(place): place for place in answers}
    found: dict[int, float] = {}
    for name, each in value.items():
        if name not in names:
            raise _FieldError(
                f"{field}.{name}",
                f"is of turn {describe_json(name)}; expected the position of an assistant turn, "
                f"counted from 0: {', '.join(names) or 'there is none'}",
            )
        score = _read_number(each, f"{field}.{name}", "a number, or null where there is no score")
        if score is not None:
            found[names[name]] = score
    return found


def _read_number(value: object, field: str, expected: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _FieldError(field, f"is {describe_json(value)}; expected {expected}")
    try:
        return float(value)
    except OverflowError as error:
        raise _FieldError(field, "is a number too large to compare; expected a score") from error


def _read_assigned_annotators(conversation: Conversation) -> frozenset[str] | None:
    """Read whose labels count; whole numbers are names too, as among the labels."""
    given = conversation.metadata.get(ASSIGNED)
    if given is None:
        return None
    if not isinstance(given, list) or not all(
        isinstance(name, str | int) and not isinstance(name, bool) for name in given
    ):
        raise _FieldError(
            f"metadata.{ASSIGNED}",
            f"is {describe_json(given)}; expected a list of the names of those whose labels count",
        )
    return frozenset(map(str, given))
