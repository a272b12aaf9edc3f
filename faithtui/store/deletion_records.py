"""What is told of deletions: before, how much they take along, and ever after, that they were."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class DeletionKind(StrEnum):
    """What was deleted."""

    DATASET = "dataset"
    IMPORT = "import"
    PERSON = "person"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class DeletionRow:
    """A deletion there was. Nothing in it says what was deleted."""

    id: int
    kind: DeletionKind
    deleted_by: str
    """Who did it; `NOBODY` when that person was deleted since."""
    counts: Mapping[str, int]
    """Rows that went, or were changed, by what they are; kinds that had none are left out."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deletion did."""

    counts: Mapping[str, int]
    """As in its record."""
    remains: str | None = None
    """Why bytes of it may still be in the files, in a sentence; None: they are not."""


NOBODY = "(deleted)"
"""Stands where a deleted person's name stood beside something that others need."""
