"""Readings field by field: a report looks at one field of a million claims at a time."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, compress
from typing import Any, NamedTuple

from faithtui.agreement.labelled_units import ClaimReading, LabelState, Opinion
from faithtui.agreement.statistics.packing import Groups
from faithtui.domain.annotations import Action
from faithtui.domain.ids import ClaimId, ConversationId

_AT_ONCE = 10_000
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


class ClaimColumns:
    """Claims, and the fields of `ClaimReading` that a report looks at in columns.

    What most reports never look at is taken when it is asked for.
    """

    conversation: Sequence[ConversationId]
    key: Sequence[str]
    group: Groups
    turn: Sequence[int]
    judge: Sequence[str | None]
    human: Sequence[str | None]
    reviewers: Sequence[int]
    windows: Sequence[int]
    blind: Sequence[bool | None]
    opinions: Sequence[tuple[Opinion, ...]]
    confidence: Sequence[float | None]

    def __init__(self, rows: Sequence[ClaimReading]) -> None:
        """Take claims apart."""
        self.rows = rows
        names = [*ClaimColumns.__annotations__]
        for name, column in zip(names, _columns(rows, ClaimReading._fields, names), strict=True):
            setattr(self, name, Groups(column) if name == "group" else column)

    @cached_property
    def claim(self) -> Sequence[ClaimId]:
        """Number of each."""
        return [row.claim for row in self.rows]

    @cached_property
    def steady(self) -> Sequence[bool]:
        """Whether the judge said the same in all windows."""
        return [row.steady for row in self.rows]

    @cached_property
    def state(self) -> Sequence[LabelState]:
        """How each stands with people."""
        return [row.state for row in self.rows]

    @cached_property
    def stratum(self) -> Sequence[str | None]:
        """Stratum of each."""
        return [row.stratum for row in self.rows]

    @cached_property
    def position(self) -> Sequence[int | None]:
        """Place of each in the drawn order."""
        return [row.position for row in self.rows]

    def where(self, flags: Sequence[bool]) -> "ClaimColumns":
        """Keep the claims whose flag is set; (): all of them."""
        return self if all(flags) else ClaimColumns(list(compress(self.rows, flags)))


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
