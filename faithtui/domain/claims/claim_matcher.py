"""Which claim of a labelled set a judge meant that worded its claims itself.

Exact identity first. What is left is compared within one answer: two claims are taken for one when
they share enough of their telling words and nothing in them clashes. One to one, the best first. No
rule of words finds all: what stays unmatched on either side is counted by whoever asks.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from faithtui.domain.text.tokens import Word

MIN_SHARED = 0.75
"""Share of telling words that two wordings of one claim have in common, by Dice's coefficient.
Measured on fixtures/claim_pairs: 36 of 38 wordings of the same claim, 6 of 40 other claims of the
same answer. A test prints other thresholds."""

_DECIDING = ("number", "name", "date")
"""Kinds of words that tell claims apart alone."""


class ClaimWording(NamedTuple):
    """A claim as somebody worded it."""

    claim: int
    """Its key; equal keys are the same claim."""
    place: Hashable
    """What it is about: claims of other places are others."""
    text: str


def match_claims(own: Sequence[ClaimWording], wanted: Sequence[ClaimWording]) -> dict[int, int]:
    """Match claims of a judge to those of a set.

    Args:
        own: Claims of the judge, each once.
        wanted: Claims of the set, each once.

    Returns:
        Claim of the set by claim of the judge; each at most once.
    """
    known = {each.claim for each in wanted}
    found = {each.claim: each.claim for each in own if each.claim in known}
    mine: dict[Hashable, list[ClaimWording]] = defaultdict(list)
    for each in own:
        if each.claim not in found:
            mine[each.place].append(each)
    theirs: dict[Hashable, list[ClaimWording]] = defaultdict(list)
    for each in wanted:
        if each.claim not in found and each.place in mine:
            theirs[each.place].append(each)
    for place, others in theirs.items():
        found |= _match_by_wording(mine[place], others)
    return found


def _match_by_wording(
    own: Sequence[ClaimWording], wanted: Sequence[ClaimWording]
) -> dict[int, int]:
    """Match claims of one answer that nothing else tells apart, the most alike first."""
    from faithtui.domain.text.texts import tokenise_text

    read = {each.claim: tokenise_text(each.text).words for each in (*own, *wanted)}
    pairs = [
        (-shared, first, second)
        for first, one in enumerate(own)
        for second, other in enumerate(wanted)
        if (shared := _compute_word_similarity(read[one.claim], read[other.claim])) >= MIN_SHARED
    ]
    found: dict[int, int] = {}
    taken: set[int] = set()
    for _, first, second in sorted(pairs):
        if own[first].claim not in found and wanted[second].claim not in taken:
            found[own[first].claim] = wanted[second].claim
            taken.add(wanted[second].claim)
    return found


def compute_wording_similarity(one: str, other: str) -> float:
    """Say how far two texts word the same claim, from 0 to 1; 0 where they clash."""
    from faithtui.domain.text.texts import tokenise_text

    return _compute_word_similarity(tokenise_text(one).words, tokenise_text(other).words)


def _compute_word_similarity(one: Sequence["Word"], other: Sequence["Word"]) -> float:
    from faithtui.domain.text.contradictions import find_clash, select_words_missing_in_other
    from faithtui.domain.text.texts import collect_stem_weights

    mine, theirs = collect_stem_weights(one), collect_stem_weights(other)
    if any(
        word.kind in _DECIDING
        for word in (
            *select_words_missing_in_other(one, other),
            *select_words_missing_in_other(other, one),
        )
    ):
        return 0.0
    whole = sum(mine.values()) + sum(theirs.values())
    if not whole:
        return 0.0
    shared = sum(min(weight, theirs[stem]) for stem, weight in mine.items() if stem in theirs)
    share = 2 * shared / whole
    # Asked last, as it takes longest: most pairs of claims share little.
    if share < MIN_SHARED or (find_clash(one, other) is None and find_clash(other, one) is None):
        return share
    return 0.0
