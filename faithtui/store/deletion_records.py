"""What is reported of deletions: before, how much they take along, and after, that they were."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from faithtui.store.records import WorkerRow


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
    """Who did it; `DELETED_PERSON` when that person was deleted since."""
    counts: Mapping[str, int]
    """Rows that went, or were changed, by what they are; kinds that had none are left out."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DeletionResult:
    """What a deletion did."""

    counts: Mapping[str, int]
    """As in its record."""
    remains: str | None = None
    """Why bytes of it may still be in the files, in a sentence; None: they are not."""


EXPOSURES = "notes of who saw a judge's verdicts"
"""What those are called among the counts."""

DELETED_PERSON = "(deleted)"
"""Stands where a deleted person's name stood beside something that others need."""


@dataclass(frozen=True, slots=True)
class DeletionGuard:
    """What must still hold in the moment of a deletion: whoever agreed may have thought long."""

    is_gone: Callable[[WorkerRow], bool]
    """Whether a process that says it works on a run does not any more."""
    counts: Mapping[str, int]
    """What was announced to go."""
