"""What a judge can learn from: a claim with what it was judged against, and the human label."""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from faithtui.domain.claims.verdicts import ClaimKind, Stance
from faithtui.domain.split_rule import Split

KeyT = TypeVar("KeyT", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Reference:
    """A truth, or a message of the user, that a claim was checked against."""

    text: str
    stance: Stance | None
    """What the judge named it for; None: it did not name it."""


@dataclass(frozen=True, slots=True)
class Example:
    """A judged claim with a human label. All texts are as they came."""

    metric: str
    """Key of the metric whose words both verdicts are in."""
    run: int
    judge: str
    source: str
    key: str
    """The conversation's own id in its source."""
    group: str
    split: Split | None
    """None: the store had no split."""
    turn: int
    """Position of the assistant turn, from 0."""
    claim_id: int
    """In the store it was exported from."""
    kind: ClaimKind
    question: str
    """What the user said just before the turn; "" for nothing."""
    claim: str
    passages: tuple[str, ...]
    """Documents in view of the window it was first judged in; of a statement, the document it was
    drawn from. Repeats are left out."""
    references: tuple[Reference, ...]
    """What the judge compared it with there, where the metric draws any; () else."""
    judge_verdict: str | None
    judge_reason: str | None
    verdict: str
    """The consensus: a label of the metric, or `x`."""
    reviewers: int
    """Annotators whose label counts."""
    blind: bool | None
    """All of them gave it before the judge's verdict was known; None: not known."""
    code: str | None
    """Reason code: the stage that failed, by the word of those who said `verdict`."""
    note: str | None
    """Their remarks, a line each."""

    @property
    def is_judge_right(self) -> bool:
        """Whether the verdict equals the human label."""
        return self.judge_verdict == self.verdict


def draw_random_keys(keys: Sequence[KeyT], limit: int | None, seed: int) -> list[KeyT]:
    """Draw some at random, each as likely as any other.

    With the same seed a smaller limit draws a part of what a larger one draws.

    Args:
        keys: Different values with a `repr` of their own.
        limit: At most so many; None: all.
        seed: The same seed draws the same.

    Returns:
        Those drawn, in the order of `keys`.
    """
    if limit is None:
        return list(keys)
    chosen = frozenset(sorted(keys, key=lambda key: _hash_key_with_seed(seed, key))[:limit])
    return [key for key in keys if key in chosen]


def _hash_key_with_seed(seed: int, key: Hashable) -> str:
    return hashlib.sha256(f"{seed}\n{key!r}".encode("utf-8", "surrogatepass")).hexdigest()
