"""Whether what a judge wrote can be found where it must come from, in counts and in one sentence.

The sentence stands beside every score of a run: a number that rests on claims which nobody made is
no score, and nothing in it shows that. docs/integrity.md has the measurements behind the bounds.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

CHECKS: Final = 4
"""Version of the checks. Conversations checked by an earlier one are checked again."""

SUSPECT_SHARE: Final = 0.5
"""A run is suspect when more of its claims than this are not in the answers, or of its truths not
in the passages: then the score is not about them."""
SUSPECT_ECHO_SHARE: Final = 0.25
"""A run is suspect when more of its texts than this repeat the prompt. Sound judges write none."""
FEWEST_ECHOES: Final = 2
"""One text may be an accident."""


@dataclass(frozen=True, slots=True)
class TextCounts:
    """How many of the texts a judge wrote can be found where they must come from.

    Each text counts once in a conversation, however many windows repeat it.
    """

    claims: int = 0
    """Claims, or statements of passages; whole answers are left out: the judge wrote none of it."""
    phantom: int = 0
    """Of the claims, those the answer (or the passage) does not make."""
    truths: int = 0
    """Truths whose passage was read whole."""
    invented: int = 0
    """Of the truths, those the passage does not state."""
    texts: int = 0
    """Claims, truths and reasons."""
    echoed: int = 0
    """Of all these, those that repeat the prompt."""

    @property
    def is_score_suspect(self) -> bool:
        """Whether a score that rests on these texts cannot be taken for one."""
        return bool(
            self.phantom > SUSPECT_SHARE * self.claims
            or self.invented > SUSPECT_SHARE * self.truths
            or (self.echoed >= FEWEST_ECHOES and self.echoed > SUSPECT_ECHO_SHARE * self.texts)
        )


NO_COUNTS: Final = TextCounts()


class Soundness(StrEnum):
    """What the checks say of a score."""

    SOUND = "sound"
    """Every text was found."""
    NOTED = "noted"
    """Some texts were not, as happens to sound judges, too."""
    SUSPECT = "suspect"
    UNCHECKED = "unchecked"
    """Not all of it was looked at, and what was is not suspect."""
    UNJUDGED = "unjudged"
    """There is no score yet: no conversation was judged, as in a run that waits for a batch."""


@dataclass(frozen=True, slots=True)
class IntegritySummary:
    """What the checks say of a run, or of one conversation of it."""

    counts: TextCounts = NO_COUNTS
    """Of the conversations that are checked as they are."""
    checked: int = 0
    """Those conversations."""
    unchecked: int = 0
    """Judged conversations that were not checked since, or by an earlier version of the checks."""

    @property
    def soundness(self) -> Soundness:
        """What the checks say of the score."""
        if self.counts.is_score_suspect:
            return Soundness.SUSPECT
        if self.unchecked:
            return Soundness.UNCHECKED
        if not self.checked:
            return Soundness.UNJUDGED
        some = self.counts.phantom or self.counts.invented or self.counts.echoed
        return Soundness.NOTED if some else Soundness.SOUND

    def format_sentence(
        self, claims: tuple[str, str] = ("claim", "claims"), *, of: str = "answer"
    ) -> str:
        """Say what stands against a score.

        Args:
            claims: What the metric calls a claim, one and many.
            of: What claims are taken from, `answer` or `passage`.

        Returns:
            Such as `suspect: 3 of 3 claims are not in the answer`; "" when everything that was
            judged is checked and was found.
        """
        counts = self.counts
        parts = [
            _format_part(counts.phantom, counts.claims, claims, f"not in the {of}"),
            _format_part(counts.invented, counts.truths, ("truth", "truths"), "not in the passage"),
            _format_part(counts.echoed, counts.texts, ("text", "texts"), "copied from the prompt"),
        ]
        if self.unchecked and not self.checked:
            return "not checked yet"
        if self.unchecked:
            total = self.checked + self.unchecked
            parts.append(f"{self.unchecked:,} of {total:,} conversations not checked yet")
        sentence = ", ".join(filter(None, parts))
        return f"suspect: {sentence}" if counts.is_score_suspect else sentence


EMPTY_SUMMARY: Final = IntegritySummary()


def _format_part(count: int, total: int, names: tuple[str, str], what: str) -> str:
    if not count:
        return ""
    name = names[0] if total == 1 else names[1]
    return f"{count:,} of {total:,} {name} {'is' if count == 1 else 'are'} {what}"
