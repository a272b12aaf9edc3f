"""Claims whose words are not in the answer: the judge may have made them up.

Lexical. A claim may say in full what the answer says in short (a name for a pronoun), so words of
the conversation before the answer are resolved references and not added ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from faithtui.domain.text.alignment import align_claim_with_context
from faithtui.domain.text.contradictions import Clash
from faithtui.domain.text.texts import TokenisedText
from faithtui.domain.text.tokens import Word

REWORDING_MIN_SHARE = 0.5
"""A claim with less of its words in the answer is not a rewording of it."""
_LEAST_WORDS = 2
"""One word that is not there is a matter of style in a claim of a few words."""


@dataclass(frozen=True, slots=True)
class ClaimOrigin:
    """Where the telling words of a claim come from, in order."""

    found: tuple[Word, ...]
    """In the answer."""
    disputed: tuple[Word, ...]
    """Numbers and dates that the answer gives only as one of several."""
    resolved: tuple[Word, ...]
    """Not in the answer, but in what was said before it."""
    added: tuple[Word, ...]
    """Nowhere in the conversation so far."""
    clash: Clash | None
    """Where the claim says the opposite of the answer's closest sentence."""

    @property
    def is_phantom(self) -> bool:
        """Whether the words say that the answer does not make this claim.

        So when it clashes with the answer, when a number, name, date or negation was added, or when
        too few of the words are found; one word is too few only where none is found. Without
        telling words nothing is said.
        """
        if self.clash is not None:
            return True
        if any(word.kind in ("number", "name", "date", "negation") for word in self.added):
            return True
        known = len(self.found) + len(self.disputed) + len(self.resolved)
        if not known:
            return bool(self.added)
        return (
            known < REWORDING_MIN_SHARE * (known + len(self.added))
            and len(self.added) >= _LEAST_WORDS
        )

    @property
    def suspect_words(self) -> tuple[Word, ...]:
        """Words of the claim that are not in the answer, or clash with it; () for a lost "not"."""
        claimed = None if self.clash is None else self.clash.claimed
        if claimed is None or claimed in self.added:
            return self.added
        return (*self.added, claimed)

    @property
    def has_telling_words(self) -> bool:
        """Whether the claim has any word that says something."""
        return bool(self.found or self.disputed or self.resolved or self.added)


def _contains_word(text: TokenisedText, word: Word) -> bool:
    return text.index.has_word(word) or text.index.has_stem_or_misspelling(word.stem)


def trace_claim_words_to_source(
    claim: TokenisedText, answer: TokenisedText, before: Sequence[TokenisedText]
) -> ClaimOrigin:
    """Say where the words of a claim come from.

    Args:
        claim: The claim.
        answer: The turn that makes it; of a statement, the passage it belongs to.
        before: Turns before it, in any order.
    """
    telling = [word for word in claim.words if word.weight]
    lacking = [word for word in telling if not _contains_word(answer, word)]
    missing = {word.stem for word in lacking}
    added = {
        word.stem for word in lacking if not any(_contains_word(text, word) for text in before)
    }
    # A negation has many forms: any in the answer, or anything it says no to, stands for any.
    if any(word.kind == "negation" for word in answer.words):
        negations = {word.stem for word in telling if word.kind == "negation"}
        missing, added = missing - negations, added - negations
    alignments = [
        align_claim_with_context(unit.passage, unit.words, answer.index)
        for unit in claim.index.units
    ]
    disputed = frozenset[str]().union(*(each.disputed for each in alignments))
    return ClaimOrigin(
        tuple(word for word in telling if word.stem not in missing | disputed),
        tuple(word for word in telling if word.stem in disputed),
        tuple(word for word in telling if word.stem in missing - added),
        tuple(word for word in telling if word.stem in added),
        next((each.clash for each in alignments if each.clash is not None), None),
    )
