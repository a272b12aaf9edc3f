"""What agreement is computed from: one reading per unique claim, one per rated answer."""

from dataclasses import dataclass

from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.scores import Score


@dataclass(frozen=True, slots=True)
class ClaimReading:
    """A unique claim, statement or answer, what the judge said and what people said."""

    claim: ClaimId
    conversation: ConversationId
    key: str
    """The conversation's own id, for people."""
    group: str
    """What must stay together when conversations are left out."""
    turn: int
    text: str
    judge: str | None
    """Label of the claim's home window (the first that holds it); None: no verdict."""
    human: str | None
    """Consensus of people in the words of the run's metric, `x` included, or a word that means
    nothing there; None: unreviewed, which is not agreement."""
    reviewers: int
    """How many people gave a verdict that counts."""
    windows: int
    """How many windows hold the claim."""
    steady: bool
    """The judge gave the same label in all of them."""
    blind: bool | None = None
    """Every verdict in the consensus was given before the judge's was shown, as imported ones
    are; None: not known, or unreviewed."""


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """An answer that people rated as a whole, and the judge's score of that answer alone."""

    conversation: ConversationId
    key: str
    group: str
    turn: int
    score: Score
    """Passing claims of this answer / its claims; by the metric's rule."""
    claims: int
    """0: nothing to judge, so the score says nothing about the judge."""
    passes: bool | None
    """The score meets the threshold; None when there is none."""
    human: str | None
    """Majority of people's labels in the words of the run's metric; None when none of them means
    anything there, and when the answer is no fair claim."""
    rating: float | None
    """Mean of people's ratings, in [0, 1]; None when the scale has none."""
    raters: int
