"""What a judge said about a window: claims, truths, evidence and verdicts.

A verdict is never edited. A human label stands beside it (see `review`).
"""

from dataclasses import dataclass
from typing import Final, Literal

from faithtui.domain.conversation import Span, normalise_text
from faithtui.domain.field_types import require_type
from faithtui.domain.scores import Score
from faithtui.domain.windows import Window

Stance = Literal["supports", "partial", "contradicts"]
"""What a truth says of a claim: all of it, alone or with others; a part of it; the opposite."""

STANCES: Final[tuple[Stance, ...]] = ("supports", "partial", "contradicts")
"""In the order of lists."""

ClaimKind = Literal["claim", "statement", "answer"]
"""What gets a verdict: a statement of an answer, a statement of a document, a whole answer."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What gets a verdict.

    Identity within a conversation is the kind, the turn and the normalised text; for a statement
    of a document the document too, for a whole answer the turn alone.
    """

    turn: int
    """Position of the assistant turn that makes it; of a statement, the first that has its
    document; of the answer of several turns, the last."""
    text: str
    span: Span | None = None
    """Where it stands in the turn's content, in `document` for a statement; None when its words
    could not be located."""
    kind: ClaimKind = "claim"
    document: str | None = None
    """The document a statement belongs to, as `Passage.text_with_marks` has it: its text, and the
    marks of its images. None for the other kinds."""

    def __post_init__(self) -> None:
        """Refuse values of other types with an InputError that names the field."""
        require_type(self.turn, int, "turn", "the position of an assistant turn, from 0")
        require_type(self.text, str, "text", "a text")


@dataclass(frozen=True, slots=True)
class Truth:
    """What claims are checked against: a fact drawn from the context, or a user message."""

    text: str
    document: str | None = None
    """The document it came from, as `Passage.text_with_marks` has it; None when the judge saw
    several at once."""
    span: Span | None = None
    """Where it stands in that document, None when it is not a literal piece of it."""
    quote: str | None = None
    """The words of the document that state it, as the judge wrote them down; None when it was not
    asked for them. `span` is where they stand; None when they stand nowhere."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A truth the judge named for a claim."""

    truth: Truth
    stance: Stance
    sets: tuple[int, ...] = ()
    """Numbers, from 1 for each claim, of the sets of several truths that are enough for the claim
    only together and that this one belongs to; () when it supports the claim alone, and for the
    other stances."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judge's verdict on one claim in one window."""

    claim: Claim
    label: str | None
    """Label of the metric's set, None when the judge gave none we can read."""
    word: str | None = None
    """What the judge wrote, letter for letter; None when it wrote nothing."""
    reason: str | None = None
    confidence: float | None = None
    """Probability in [0, 1] that the claim is supported, None when the judge gives none."""
    evidence: tuple[Evidence, ...] = ()
    """Truths of this window that the judge named; () in strategies that do not ask for them."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """One window, judged."""

    window: Window
    score: Score
    verdicts: tuple[Verdict, ...] = ()
    """One per claim, in the order of the answers; the same claim may occur twice."""
    truths: tuple[Truth, ...] = ()
    """Truths in view, without repeats, in reading order."""
    surplus: tuple[str | None, ...] = ()
    """Labels the judge gave beyond the last claim; counted by a peer's arithmetic only."""
    reason: str | None = None
    """Why the window got its score, in words."""
    without_context: bool = False
    """No assistant turn of the window has a document."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What is said about a whole conversation once its windows are judged."""

    score: Score
    success: bool | None
    """Whether the score meets the threshold; None without a threshold or without a score."""
    reason: str | None = None


def make_claim_identity_key(claim: Claim) -> tuple[object, ...]:
    """Name what a claim is: two with equal names are the same claim, in any window.

    Source: the store's identity of claims, in docs/data-model.md.
    """
    if claim.kind == "answer":
        return (claim.kind, claim.turn)
    return (claim.kind, claim.turn, claim.document, normalise_text(claim.text))
