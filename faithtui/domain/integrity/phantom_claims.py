"""Claims whose words are not in the answer: the judge may have made them up.

Lexical. A claim may say in full what the answer says in short (a name for a pronoun), so words of
the conversation before the answer are resolved references and not added ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from faithtui.domain.text.word_matching import ReadText, Word, missing_stems

FEW = 0.5
"""A claim with less of its words in the answer is not a rewording of it."""
_LEAST_WORDS = 2
"""One word that is not there is a matter of style in a claim of a few words."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the telling words of a claim come from, in order."""

    found: tuple[Word, ...]
    """In the answer."""
    resolved: tuple[Word, ...]
    """Not in the answer, but in what was said before it."""
    added: tuple[Word, ...]
    """Nowhere in the conversation so far."""

    @property
    def is_phantom(self) -> bool:
        """Whether the words say that the answer does not make this claim.

        So when a number, name, date or negation was added, or when too few of the words are found;
        one word is too few only where none is found. Without telling words nothing is said.
        """
        if any(word.kind in ("number", "name", "date", "negation") for word in self.added):
            return True
        known = len(self.found) + len(self.resolved)
        if not known:
            return bool(self.added)
        return known < FEW * (known + len(self.added)) and len(self.added) >= _LEAST_WORDS

    @property
    def is_telling(self) -> bool:
        """Whether the claim has any word that says something."""
        return bool(self.found or self.resolved or self.added)


def origin_of(claim: ReadText, answer: ReadText, before: Sequence[ReadText]) -> Origin:
    """Say where the words of a claim come from.

    Args:
        claim: The claim.
        answer: The turn that makes it; of a statement, the passage it belongs to.
        before: Turns before it, in any order.
    """
    telling = [word for word in claim.words if word.weight]
    stems = {word.stem for word in telling}
    missing = missing_stems(stems, answer.vocabulary)
    added: set[str] = set()
    if missing:
        earlier = frozenset[str]().union(*(text.vocabulary for text in before))
        added = missing_stems(missing, earlier)
    # A negation has many forms: any in the answer, or anything it says no to, stands for any.
    if any(word.kind == "negation" for word in answer.words):
        negations = {word.stem for word in telling if word.kind == "negation"}
        missing, added = missing - negations, added - negations
    return Origin(
        tuple(word for word in telling if word.stem not in missing),
        tuple(word for word in telling if word.stem in missing - added),
        tuple(word for word in telling if word.stem in added),
    )
