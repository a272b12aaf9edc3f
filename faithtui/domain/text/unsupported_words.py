"""What keeps a claim from being what a passage says, short of a contradiction.

A copied sentence with one name, number, "not" or "all" put in still shares nearly all its words
with the passage. Nothing here says that the claim is wrong; it says that the words it shares do not
make it right.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from faithtui.domain.text.contradictions import (
    Gap,
    is_name,
    is_negation,
    list_gaps_between_aligned_words,
)
from faithtui.domain.text.sentence_index import (
    SentenceIndex,
    compute_lcs_length,
    map_stems_to_position_bits,
)
from faithtui.domain.text.tokens import Word
from faithtui.domain.text.word_lists import CERTAIN, NEGATIONS, POSSIBLE, SOME_OF_MANY, UNIVERSAL

NEAR_COPY: Final = 0.75
"""Share of a claim's words that the best sentence holds in order: then every word counts."""


class DoubtKind(StrEnum):
    """What differs."""

    NAME = "name"
    """The claim has a name that the context lacks."""
    NUMBER = "number"
    """The same of a number."""
    DATE = "date"
    """The same of a month or a weekday."""
    ELSEWHERE = "elsewhere"
    """The sentence has another word there; the claim's word stands in another sentence."""
    NEGATION = "negation"
    """One side of a nearly copied sentence is negated more often."""
    QUANTIFIER = "quantifier"
    """The claim says all where the sentence says some."""
    CERTAINTY = "certainty"
    """The claim says will where the sentence says may."""
    EXCHANGED_NAMES = "exchanged names"
    """Two names stand in each other's place."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A place where a claim is not what the passage says."""

    kind: DoubtKind
    claimed: Word | None
    """The word of the claim; None when only the sentence has one."""
    found: Word | None
    """The word of the sentence; None when only the claim has one."""


def find_missing_name(
    claim: str, words: Sequence[Word], missing: Sequence[Word], context: SentenceIndex
) -> Doubt | None:
    """The first name of a claim that the context lacks.

    At the beginning of a sentence, of a quotation and behind a colon a word has a capital whatever
    it is: there it is a name where the next word is one. Initials of words that stand beside each
    other in the context are theirs: UN, United Nations.
    """
    for word in missing:
        if not word.is_capital or not word.is_content or word.kind not in ("word", "name"):
            continue
        place = words.index(word)
        if not place or _ENDED.search(claim, max(0, word.start - _ENDED_WITHIN), word.start):
            is_followed = is_name(words[place : place + 2], 0)
            if not is_followed or word.kind == "name":
                continue
        if not _are_initials_of_words_in_context(claim[word.start : word.end], context):
            return Doubt(DoubtKind.NAME, word, None)
    return None


_ENDED: Final = re.compile(r"[.:!?;\n\"“«(*_–—-]\W*\Z")
"""What may stand before a capital that tells nothing."""
_ENDED_WITHIN: Final = 6
_MOST_INITIALS: Final = 6


def _are_initials_of_words_in_context(written: str, context: SentenceIndex) -> bool:
    if not written.isupper() or not written.isalpha() or len(written) > _MOST_INITIALS:
        return False
    beside = {(one[0], two[0]) for one, two in context.bigrams}
    return beside.issuperset(pairwise(written.lower()))


def find_near_copy_doubt(
    claim: Sequence[Word], sentence: Sequence[Word], common_order: float
) -> Doubt | None:
    """The first difference of a nearly copied claim that changes what is said.

    Args:
        claim: Words of the claim.
        sentence: Words of the sentence that holds most of it.
        common_order: Share of the claim's words that it holds in the claim's order.
    """
    if common_order < NEAR_COPY:
        return None
    texts = {word.text for word in claim}, {word.text for word in sentence}
    rules = [
        rule
        for is_possible, rule in (
            (
                not NEGATIONS.isdisjoint(texts[0] | texts[1])
                and _count_negations(claim) != _count_negations(sentence),
                _find_negation_doubt,
            ),
            (not POSSIBLE.isdisjoint(texts[1] - texts[0]), _find_certainty_doubt),
            (
                not UNIVERSAL.isdisjoint(texts[0] - texts[1])
                and not SOME_OF_MANY.isdisjoint(texts[1] - texts[0]),
                _find_quantifier_doubt,
            ),
        )
        if is_possible
    ]
    if rules:
        gaps = list(list_gaps_between_aligned_words(claim, sentence))
        for rule in rules:
            if (doubt := rule(gaps)) is not None:
                return doubt
    return _find_exchanged_names(claim, sentence) if common_order < 1 else None


def _count_negations(words: Sequence[Word]) -> int:
    return sum(map(is_negation, words))


def _find_negation_doubt(gaps: Sequence[Gap]) -> Doubt | None:
    """A negation where the other side has neither one nor another word of content."""
    for gap in gaps:
        if gap.following is None:  # "No, the band …", and what a fragment leaves out
            continue
        claimed = next(filter(is_negation, gap.claimed), None)
        found = next(filter(is_negation, gap.found), None)
        if (claimed is None) == (found is None):
            continue
        plain = gap.found if claimed is not None else gap.claimed
        if not any(word.is_content for word in plain):
            return Doubt(DoubtKind.NEGATION, claimed, found)
    return None


def _find_certainty_doubt(gaps: Sequence[Gap]) -> Doubt | None:
    """A "may" that the claim leaves out, or says "will" in place of."""
    for gap in gaps:
        found = next((word for word in gap.found if word.text in POSSIBLE), None)
        if found is None or gap.following is None:
            continue
        if any(word.text in POSSIBLE for word in gap.claimed):
            continue
        claimed = next((word for word in gap.claimed if word.text in CERTAIN), None)
        if claimed is not None:
            return Doubt(DoubtKind.CERTAINTY, claimed, found)
    return None


def _find_quantifier_doubt(gaps: Sequence[Gap]) -> Doubt | None:
    for gap in gaps:
        claimed = next((word for word in gap.claimed if word.text in UNIVERSAL), None)
        found = next((word for word in gap.found if word.text in SOME_OF_MANY), None)
        if claimed is not None and found is not None:
            return Doubt(DoubtKind.QUANTIFIER, claimed, found)
    return None


def _find_exchanged_names(claim: Sequence[Word], sentence: Sequence[Word]) -> Doubt | None:
    """Two names whose places have to be exchanged to make the claim the sentence's own words."""
    stems = [word.stem for word in claim]
    held = {word.stem for word in sentence}
    names = [
        place
        for place, word in enumerate(claim)
        if word.stem in held and word.is_capital and word.is_content
        if is_name(claim, place) or not place
    ]
    if len(names) < 2:
        return None
    own = [word.stem for word in sentence]
    now = compute_lcs_length(map_stems_to_position_bits(stems), len(stems), own)
    for number, one in enumerate(names):
        for two in names[number + 1 :]:
            if stems[one] == stems[two] or own.index(stems[one]) < own.index(stems[two]):
                continue
            other = list(stems)
            other[one], other[two] = stems[two], stems[one]
            common = compute_lcs_length(map_stems_to_position_bits(other), len(other), own)
            if common >= now + 2 or (common == len(stems) > now):
                return Doubt(DoubtKind.EXCHANGED_NAMES, claim[one], claim[two])
    return None
