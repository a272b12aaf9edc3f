"""Readings field by field: a report looks at one field of a million claims at a time."""

from collections.abc import Iterable, Sequence
from itertools import chain, compress
from typing import Any, NamedTuple

from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.readings import ClaimReading, LabelState, Opinion
from faithtui.domain.review import Action
from faithtui.domain.statistics.packing import Groups

_AT_ONCE = 10000
"""Rows that are taken apart together, so that little is in memory twice."""


def _columns(
    rows: Sequence[tuple[Any, ...]], fields: Sequence[str], wanted: Sequence[str]
) -> list[list[Any]]:
    """Take the wanted ones of the fields of rows."""
    places = [*map(fields.index, wanted)]
    # Made in full at once: lists that grow side by side leave holes behind.
    found: list[list[Any]] = [[None] * len(rows) for _ in places]
    for start in range(0, len(rows), _AT_ONCE):
        some = list(chain.from_iterable(rows[start : start + _AT_ONCE]))
        for place, column in zip(places, found, strict=True):
            column[start : start + _AT_ONCE] = some[place :: len(fields)]
    return found


class ClaimColumns(NamedTuple):
    """Claims, and the fields of `ClaimReading` that a report looks at in columns."""

    rows: Sequence[ClaimReading]
    claim: Sequence[ClaimId]
    conversation: Sequence[ConversationId]
    key: Sequence[str]
    group: Sequence[str]
    turn: Sequence[int]
    judge: Sequence[str | None]
    human: Sequence[str | None]
    reviewers: Sequence[int]
    windows: Sequence[int]
    steady: Sequence[bool]
    blind: Sequence[bool | None]
    state: Sequence[LabelState]
    opinions: Sequence[tuple[Opinion, ...]]
    confidence: Sequence[float | None]
    stratum: Sequence[str | None]
    position: Sequence[int | None]

    @classmethod
    def of(cls, rows: Sequence[ClaimReading]) -> "ClaimColumns":
        """Take claims apart."""
        found = cls(rows, *_columns(rows, ClaimReading._fields, cls._fields[1:]))
        return found._replace(group=Groups(found.group))

    def where(self, flags: Sequence[bool]) -> "ClaimColumns":
        """Keep the claims whose flag is set; (): all of them."""
        return self if all(flags) else ClaimColumns.of(list(compress(self.rows, flags)))


class OpinionColumns(NamedTuple):
    """The fields of `Opinion` in columns."""

    reviewer: Sequence[str]
    verdict: Sequence[str]
    action: Sequence[Action]
    blind: Sequence[bool | None]
    seconds: Sequence[float | None]
    code: Sequence[str | None]
    order: Sequence[int]

    @classmethod
    def of(cls, rows: Iterable[Opinion]) -> "OpinionColumns":
        """Take opinions apart."""
        return cls(*_columns(list(rows), Opinion._fields, cls._fields))

    def where(self, flags: Sequence[bool]) -> "OpinionColumns":
        """Keep the opinions whose flag is set."""
        if all(flags):
            return self
        return OpinionColumns.of(map(Opinion._make, compress(zip(*self, strict=True), flags)))
