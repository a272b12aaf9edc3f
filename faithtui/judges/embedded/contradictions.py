"""Explicit clashes between a claim and one sentence.

Another number, date or rank, a negation on one side only, or two opposites in the same place. Both
are aligned word by word; a clash is a difference in one gap of that alignment. Silence beats a
guess here: `no` is said only where the rest of the two sentences agrees.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from faithtui.judges.embedded.tokens import Word, stem
from faithtui.judges.embedded.word_lists import (
    BENDS_NEGATION,
    EXCLUSIVE,
    EXCLUSIVE_KINDS,
    NEGATED_ENDINGS,
    NEGATES_SILENTLY,
    NEGATING_PREFIXES,
    NEGATIONS,
    NO_OPPOSITES,
    OPPOSITE_PAIRS,
)

_WIDEST_GAP: Final = 4
"""Words between two aligned words, on either side, that still stand for each other."""
_MOST_WORDS: Final = 250
"""Words of a sentence that are aligned; the rest is left out, for alignment costs the product."""
_NEGATION_REACH: Final = 4
"""Words behind a negation that it still turns: "not very easy" agrees with "difficult"."""
_LEAST_NEGATED: Final = 5
"""Letters of a word of which a prefix makes the opposite."""


class ClashKind(StrEnum):
    """What differs."""

    NUMBER = "number"
    DATE = "date"
    """A month, a weekday or a rank written as a word."""
    NEGATION = "negation"
    OPPOSITE = "opposite"


@dataclass(frozen=True, slots=True)
class Clash:
    """A place where claim and sentence cannot both be right."""

    kind: ClashKind
    claimed: Word | None
    """The word of the claim; None when only the sentence is negated."""
    found: Word | None
    """The word of the sentence; None when only the claim is negated."""


def find_clash(claim: Sequence[Word], sentence: Sequence[Word]) -> Clash | None:
    """The first clash of a claim with a sentence, None when there is none.

    Numbers and dates come before opposites, opposites before negations.
    """
    claim, sentence = claim[:_MOST_WORDS], sentence[:_MOST_WORDS]
    claim_stems = {word.stem for word in claim}
    sentence_stems = {word.stem for word in sentence}
    mine = [word for word in claim if word.stem not in sentence_stems]
    theirs = [word for word in sentence if word.stem not in claim_stems]
    is_turned = any(map(is_negation, claim)) != any(map(is_negation, sentence))
    differing = list(_differing(mine, theirs))
    if not differing and not is_turned:
        return None  # most pairs end here, before anything is aligned
    gaps = [
        (claim[left:right], sentence[upper:lower], is_inner)
        for left, right, upper, lower, is_inner in _gaps(
            _alignment(claim, sentence), claim, sentence
        )
        if right - left <= _WIDEST_GAP and lower - upper <= _WIDEST_GAP
    ]
    for kind, one, other in sorted(differing, key=lambda each: _FIRST.index(each[0])):
        if kind is ClashKind.OPPOSITE and _is_negated(one, claim) != _is_negated(other, sentence):
            continue
        if any(one in claimed and other in found for claimed, found, _ in gaps):
            return Clash(kind, one, other)
    return _negation(claim, sentence, gaps) if is_turned else None


_FIRST: Final = (ClashKind.NUMBER, ClashKind.DATE, ClashKind.OPPOSITE)


def _differing(
    mine: Sequence[Word], theirs: Sequence[Word]
) -> Iterator[tuple[ClashKind, Word, Word]]:
    """Pairs that would clash if they stood in the same place."""
    numbers = [word for word in theirs if word.number is not None]
    by_stem = {word.stem: word for word in reversed(theirs) if word.number is None}
    by_text = {word.text: word for word in reversed(theirs) if word.number is None}
    for one in mine:
        if one.number is not None:
            for other in numbers:
                if _numbers_clash(one, other):
                    yield ClashKind.NUMBER, one, other
            continue
        for kind, stems in _excluded().get(one.stem, ()):
            for each in by_stem.keys() & stems:
                yield kind, one, by_stem[each]
        for text in _negated_forms(one.text) & by_text.keys():
            yield ClashKind.OPPOSITE, one, by_text[text]


def _is_negated(word: Word, words: Sequence[Word]) -> bool:
    """Whether a negation stands closely before a word."""
    place = words.index(word)
    return any(map(is_negation, words[max(0, place - _NEGATION_REACH) : place]))


def is_negation(word: Word) -> bool:
    """Whether a word turns the statement round."""
    return word.text in NEGATIONS


def is_hedged_match(claimed: Word, found: Word) -> bool:
    """Whether two different numbers may still be one, told with less precision.

    True when the found value rounds or is cut off to the claimed one at the claimed precision: its
    decimals, or its trailing zeros down to two significant digits.
    """
    if claimed.number is None or found.number is None or claimed.number == found.number:
        return claimed.number == found.number
    value, other = claimed.number, found.number
    if not 0.5 * value < other < 2 * value:
        return False
    if claimed.is_year or found.is_year or claimed.unit == "th" or found.unit == "th":
        return False
    digits = f"{value:.12g}".replace(".", "")
    significant = max(len(digits.strip("0")), 2 if claimed.number >= 10 else 1)
    rounded = float(f"{other:.{significant - 1}e}")
    is_rounder = len(f"{other:.12g}".replace(".", "").strip("0")) > len(digits.strip("0"))
    cut = abs(other - value) / value < 10.0 ** (1 - significant) and other > value
    return is_rounder and (rounded == value or (cut and found.decimals > claimed.decimals))


def _alignment(claim: Sequence[Word], sentence: Sequence[Word]) -> list[tuple[int, int]]:
    """Positions of a longest common subsequence of stems, in order."""
    shared = {word.stem for word in claim} & {word.stem for word in sentence}
    rows = [position for position, word in enumerate(claim) if word.stem in shared]
    columns = [position for position, word in enumerate(sentence) if word.stem in shared]
    row_stems = [claim[position].stem for position in rows]
    column_stems = [sentence[position].stem for position in columns]
    table = [[0] * (len(columns) + 1) for _ in range(len(rows) + 1)]
    for row in range(len(rows) - 1, -1, -1):
        below, here, mine = table[row + 1], table[row], row_stems[row]
        for column in range(len(columns) - 1, -1, -1):
            if mine == column_stems[column]:
                here[column] = below[column + 1] + 1
            else:
                here[column] = max(below[column], here[column + 1])
    pairs: list[tuple[int, int]] = []
    row = column = 0
    while row < len(rows) and column < len(columns):
        if row_stems[row] == column_stems[column]:
            pairs.append((rows[row], columns[column]))
            row, column = row + 1, column + 1
        elif table[row + 1][column] >= table[row][column + 1]:
            row += 1
        else:
            column += 1
    return pairs


def _gaps(
    pairs: Sequence[tuple[int, int]], claim: Sequence[Word], sentence: Sequence[Word]
) -> Iterator[tuple[int, int, int, int, bool]]:
    """Ranges of claim and sentence between aligned words, and whether both ends are aligned."""
    left = upper = 0
    for number, (right, lower) in enumerate(pairs):
        if right > left or lower > upper:
            yield left, right, upper, lower, number > 0
        left, upper = right + 1, lower + 1
    if pairs and (left < len(claim) or upper < len(sentence)):
        yield left, len(claim), upper, len(sentence), False


def _numbers_clash(one: Word, other: Word) -> bool:
    if one.number is None or other.number is None or one.is_year != other.is_year:
        return False
    if one.unit and other.unit and one.unit != other.unit:
        return False
    return not is_hedged_match(one, other) and not is_hedged_match(other, one)


@lru_cache(maxsize=1)
def _excluded() -> dict[str, tuple[tuple[ClashKind, frozenset[str]], ...]]:
    """Stem to the stems that cannot stand in its place, by the kind of clash."""
    table: dict[str, list[tuple[ClashKind, frozenset[str]]]] = {}
    for kind, sets in ((ClashKind.DATE, EXCLUSIVE), (ClashKind.OPPOSITE, EXCLUSIVE_KINDS)):
        for names in sets:
            stems = frozenset(map(stem, names))
            for each in stems:
                table.setdefault(each, []).append((kind, stems - {each}))
    opposites: dict[str, set[str]] = {}
    for left, right in OPPOSITE_PAIRS:
        opposites.setdefault(stem(left), set()).add(stem(right))
        opposites.setdefault(stem(right), set()).add(stem(left))
    for each, others in opposites.items():
        table.setdefault(each, []).append((ClashKind.OPPOSITE, frozenset(others)))
    return {each: tuple(found) for each, found in table.items()}


@lru_cache(maxsize=1 << 12)
def _negated_forms(word: str) -> frozenset[str]:
    """A word with and without each prefix that makes an opposite; () when none does."""
    if not word.endswith(NEGATED_ENDINGS):
        return frozenset()
    bases = {word, *(word.removeprefix(prefix) for prefix in NEGATING_PREFIXES)}
    pairs = {
        (base, prefix + base)
        for base in bases
        if len(base) >= _LEAST_NEGATED and base not in NO_OPPOSITES
        for prefix in NEGATING_PREFIXES
    }
    return frozenset(other for pair in pairs if word in pair for other in pair if other != word)


def _negation(
    claim: Sequence[Word],
    sentence: Sequence[Word],
    gaps: Sequence[tuple[Sequence[Word], Sequence[Word], bool]],
) -> Clash | None:
    """A negation on one side only, alone with function words between aligned words."""
    is_claim_negated = any(map(is_negation, claim))
    if any(word.text in BENDS_NEGATION for word in (*claim, *sentence)):
        return None
    if any(word.text in NEGATES_SILENTLY for word in (sentence if is_claim_negated else claim)):
        return None
    for claimed, found, is_inner in gaps:
        negated, plain = (claimed, found) if is_claim_negated else (found, claimed)
        turned = next(filter(is_negation, negated), None)
        if turned is None or not is_inner:
            continue
        if any(word.is_content for word in plain):
            continue
        if any(word.is_content and word is not turned for word in negated):
            continue
        return Clash(
            ClashKind.NEGATION,
            turned if is_claim_negated else None,
            None if is_claim_negated else turned,
        )
    return None
