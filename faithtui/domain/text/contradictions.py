"""Explicit clashes between a claim and one sentence.

Another number, date, rank or name, a negation on one side only, two opposites in the same place, or
an exception to what the claim says without one. Both are aligned word by word; a clash is a
difference in one gap of that alignment. Silence beats a guess here: a clash is one only where the
rest of the two sentences agrees, which `alignment` sees to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from faithtui.domain.text.numbers import is_rounding_of
from faithtui.domain.text.tokens import MAY, Word, stem
from faithtui.domain.text.word_lists import (
    ABSOLUTE,
    BENDS_NEGATION,
    CONDITIONS,
    EXCEPTIONS,
    EXCLUSIVE_KINDS,
    MONTHS,
    NEGATED_ENDINGS,
    NEGATES_SILENTLY,
    NEGATING_PREFIXES,
    NEGATIONS,
    NO_OPPOSITES,
    OPPOSITE_PAIRS,
    ORDINALS,
    PERSON_TITLES,
    WEEKDAYS,
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
    """A year, a month, a weekday or a rank."""
    NAME = "name"
    NEGATION = "negation"
    OPPOSITE = "opposite"
    CONDITION = "condition"
    """An exception to what the claim says of all."""


@dataclass(frozen=True, slots=True)
class Clash:
    """A place where claim and sentence cannot both be right."""

    kind: ClashKind
    claimed: Word | None
    """The word of the claim; None when only the sentence is negated."""
    found: Word | None
    """The word of the sentence; None when only the claim is negated."""
    rest_of_name: tuple[Word, ...] = ()
    """Further words of the claim that belong to `claimed`: the rest of a name."""
    negated_word: Word | None = None
    """The word of the sentence that only the claim negates."""


def find_clash(claim: Sequence[Word], sentence: Sequence[Word]) -> Clash | None:
    """The first clash of a claim with a sentence, None when there is none.

    Numbers and dates come before opposites, then names, negations and conditions.
    """
    claim, sentence = claim[:_MOST_WORDS], sentence[:_MOST_WORDS]
    mine, theirs = (
        select_words_missing_in_other(claim, sentence),
        select_words_missing_in_other(sentence, claim),
    )
    claim_texts = {word.text for word in claim}
    is_turned = NEGATIONS.isdisjoint(claim_texts) != NEGATIONS.isdisjoint(
        [word.text for word in sentence]
    )
    differing = list(_find_clashing_pairs(mine, theirs))
    names = _select_names(mine, claim), _select_names(theirs, sentence)
    exception = None if ABSOLUTE.isdisjoint(claim_texts) else _find_exception_clash(claim, sentence)
    if not differing and not is_turned and not all(names) and exception is None:
        return None  # most pairs end here, before anything is aligned
    gaps = list(list_gaps_between_aligned_words(claim, sentence))
    for kind, one, other in sorted(differing, key=lambda each: _KIND_ORDER.index(each[0])):
        if kind is ClashKind.OPPOSITE and _is_negated(one, claim) != _is_negated(other, sentence):
            continue
        if any(one in claimed and other in found for claimed, found, _ in gaps) or (
            kind is ClashKind.DATE and _are_months_of_one_date(one, claim, other, sentence)
        ):
            return Clash(kind, one, other)
    if all(names) and (clash := _find_name_clash(*names, gaps)) is not None:
        return clash
    if is_turned and (clash := _find_negation_clash(claim, sentence, gaps)) is not None:
        return clash
    if exception is not None and any(exception.found in gap.found for gap in gaps):
        return exception
    return None


def select_words_missing_in_other(words: Sequence[Word], others: Sequence[Word]) -> list[Word]:
    """Words that the other side does not have, in whatever way a number is written."""
    held = {word.stem for word in others}
    for word in others:
        if word.aliases:
            held.update(word.aliases)
    return [
        word
        for word in words
        if word.stem not in held and (not word.aliases or held.isdisjoint(word.aliases))
    ]


_KIND_ORDER: Final = (ClashKind.NUMBER, ClashKind.DATE, ClashKind.OPPOSITE)


class Gap(NamedTuple):
    """What stands between two aligned words."""

    claimed: Sequence[Word]
    """Words of the claim."""
    found: Sequence[Word]
    """Words of the sentence."""
    following: Word | None
    """The aligned word of the sentence behind it; None where one end is not aligned."""


def _find_clashing_pairs(
    mine: Sequence[Word], theirs: Sequence[Word]
) -> Iterator[tuple[ClashKind, Word, Word]]:
    """Pairs that would clash if they stood in the same place."""
    numbers = [word for word in theirs if word.number is not None]
    by_stem = {
        word.stem: word for word in reversed(theirs) if word.number is None or word.unit == "th"
    }
    by_text = {word.text: word for word in reversed(theirs) if word.number is None}
    excluded = _map_stems_to_clashing_stems()
    for one in mine:
        if one.number is not None:
            for other in numbers:
                if _do_numbers_clash(one, other):
                    is_date = one.is_year or one.unit == "th"
                    yield ClashKind.DATE if is_date else ClashKind.NUMBER, one, other
            if one.unit != "th":
                continue
        elif one.aliases and one.measure is not None:  # a unit: 5 km, 5 miles
            for other in theirs:
                if other.measure is not None and one.measure.clashes(other.measure):
                    yield ClashKind.NUMBER, one, other
        for kind, stems in excluded.get(one.stem, ()):
            for each in by_stem.keys() & stems:
                if not _are_units_of_one_dimension(one, by_stem[each]):
                    yield kind, one, by_stem[each]
        if one.text.endswith(NEGATED_ENDINGS):
            for text in _list_negated_forms(one.text) & by_text.keys():
                yield ClashKind.OPPOSITE, one, by_text[text]


def _are_months_of_one_date(
    one: Word, claim: Sequence[Word], other: Word, sentence: Sequence[Word]
) -> bool:
    """Whether two months stand beside the same day or year, in whatever order they are written."""
    if one.number is not None or other.number is not None:
        return False
    beside = [
        {word.stem for word in words[max(0, at - 1) : at + 2] if word.number is not None}
        for words, at in ((claim, claim.index(one)), (sentence, sentence.index(other)))
    ]
    return not beside[0].isdisjoint(beside[1])


def _is_negated(word: Word, words: Sequence[Word]) -> bool:
    """Whether a negation stands closely before a word."""
    place = words.index(word)
    return any(map(is_negation, words[max(0, place - _NEGATION_REACH) : place]))


def is_negation(word: Word) -> bool:
    """Whether a word turns the statement round."""
    return word.text in NEGATIONS


def may_be_rounded_match(claimed: Word, found: Word) -> bool:
    """Whether two different numbers may still be one, told with less precision."""
    if claimed.number is None or found.number is None or claimed.number == found.number:
        return claimed.number == found.number
    if claimed.measure is not None and found.measure is not None:
        return claimed.measure.is_near(found.measure)
    if claimed.is_year or found.is_year or claimed.unit == "th" or found.unit == "th":
        return False
    return is_rounding_of(
        claimed.number, found.number, decimals=claimed.decimals, other_decimals=found.decimals
    )


def find_alternative_numbers(sentence: Sequence[Word]) -> frozenset[str]:
    """Stems of the numbers and dates that a sentence gives only as one of several.

    "In 1923, or 1932 by other accounts": whoever says one of them alone says more than the
    sentence. Between the two may stand words without content of their own.
    """
    if not any(word.text == "or" for word in sentence):
        return frozenset()
    found: set[str] = set()
    left: list[Word] = []
    right: list[Word] | None = None
    between = 0
    for word in sentence:
        if word.text == "or":
            left, right, between = right or left, [], 0
        elif word.kind in ("number", "date"):
            between = 0
            if right is None:
                left.append(word)
                continue
            for other in left:
                if _are_both_numbers_or_words(other, word):
                    found |= {other.stem, word.stem}
            right.append(word)
        elif word.is_content and word.text not in _HEDGES_OF_ALTERNATIVES:
            between += 1
            if right is not None:
                left, right = right, None
            elif between > 1:  # one may be what is counted: "five boats or six"
                left = []
    return frozenset(found)


_HEDGES_OF_ALTERNATIVES: Final = frozenset(
    {"perhaps", "possibly", "maybe", "probably", "even", "possible"}
)
"""Words that may stand between two alternatives."""


def _are_both_numbers_or_words(one: Word, other: Word) -> bool:
    return one.stem != other.stem and (one.number is None) == (other.number is None)


def is_name(words: Sequence[Word], place: int) -> bool:
    """Whether a word is a name: a capital inside the sentence, or before another name at its start.

    At the beginning of a sentence every word has a capital.
    """
    word = words[place]
    if word.kind == "name":
        return True
    if not word.is_capital or not word.is_content or word.kind != "word" or word.stem[0] == "#":
        return False
    if place:
        return True
    return len(words) > 1 and words[1].start - word.end == 1 and is_name(words, 1)


def _select_names(differing: Sequence[Word], words: Sequence[Word]) -> list[Word]:
    """Names among the words that the other side does not have."""
    return [
        word
        for word in differing
        if (word.is_capital or word.kind == "name") and is_name(words, words.index(word))
    ]


def _find_name_clash(
    ours: Sequence[Word], theirs: Sequence[Word], gaps: Sequence[Gap]
) -> Clash | None:
    """Two names in the same place, with nothing else there but the same small words.

    A title may stand for a name, an epithet ("the Reds") for a club, a short form for a long one:
    all of these may be the same.
    """
    for claimed, found, _ in gaps:
        mine = [word for word in claimed if word.is_content]
        other = [word for word in found if word.is_content]
        if not mine or not other or not all(word in ours for word in mine):
            continue
        if not all(word in theirs for word in other):
            continue
        if any(word.text in PERSON_TITLES for word in (*mine, *other)):
            continue
        small = ({word.text for word in side if not word.is_content} for side in (claimed, found))
        if len(set(map(frozenset, small))) > 1 or _may_be_same_name(mine, other):
            continue
        return Clash(ClashKind.NAME, mine[0], other[0], tuple(mine[1:]))
    return None


def _may_be_same_name(mine: Sequence[Word], other: Sequence[Word]) -> bool:
    """Whether names may be two forms of one: alike at the beginning, or the letters of one."""
    if any(
        one.text[:_ALIKE_NAME] == two.text[:_ALIKE_NAME] or one.stem_prefix == two.stem_prefix != ""
        for one in mine
        for two in other
    ):
        return True
    if len(mine) == len(other):
        return False
    return not {word.text[0] for word in mine}.isdisjoint(word.text[0] for word in other)


_ALIKE_NAME: Final = 3
"""Letters that make two names alike: Mike and Michael are not, Alex and Alexander are."""


def _find_exception_clash(claim: Sequence[Word], sentence: Sequence[Word]) -> Clash | None:
    """What the claim says of all, and the sentence takes something out of."""
    absolute = next((word for word in claim if word.text in ABSOLUTE), None)
    if absolute is None or any(word.text in CONDITIONS for word in claim):
        return None
    taken = next((word for word in sentence if word.text in EXCEPTIONS), None)
    return None if taken is None else Clash(ClashKind.CONDITION, absolute, taken)


def _align_stems(claim: Sequence[Word], sentence: Sequence[Word]) -> list[tuple[int, int]]:
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


def list_gaps_between_aligned_words(
    claim: Sequence[Word], sentence: Sequence[Word]
) -> Iterator[Gap]:
    """What stands between aligned words; of what stands before or behind all, the nearest words."""
    pairs = _align_stems(claim, sentence)
    left = upper = 0
    for number, (right, lower) in enumerate(pairs):
        if not number:
            left, upper = max(0, right - _WIDEST_GAP), max(0, lower - _WIDEST_GAP)
        if (right > left or lower > upper) and max(right - left, lower - upper) <= _WIDEST_GAP:
            following = sentence[lower] if number else None
            yield Gap(claim[left:right], sentence[upper:lower], following)
        left, upper = right + 1, lower + 1
    if pairs and (left < len(claim) or upper < len(sentence)):
        yield Gap(claim[left : left + _WIDEST_GAP], sentence[upper : upper + _WIDEST_GAP], None)


def _are_units_of_one_dimension(one: Word, other: Word) -> bool:
    """Whether two units are compared by what they amount to: 2 hours, 120 minutes."""
    if one.measure is None or other.measure is None:
        return False
    return one.measure.dimension == other.measure.dimension


def _do_numbers_clash(one: Word, other: Word) -> bool:
    if one.number is None or other.number is None or one.is_year != other.is_year:
        return False
    if one.unit != other.unit and (one.unit == "th" or (one.unit and other.unit)):
        return False
    if other.unit == "th" != one.unit:
        return False
    if one.measure is not None and other.measure is not None:
        return one.measure.clashes(other.measure)
    return not may_be_rounded_match(one, other) and not may_be_rounded_match(other, one)


@lru_cache(maxsize=1)
def _map_stems_to_clashing_stems() -> dict[str, tuple[tuple[ClashKind, frozenset[str]], ...]]:
    """Stem to the stems that cannot stand in its place, by the kind of clash."""
    table: dict[str, list[tuple[ClashKind, frozenset[str]]]] = {}
    ranks = [f"#{value}th" for value in ORDINALS.values()]
    months = [MAY if name == "may" else stem(name) for name in MONTHS]
    exclusive = [
        *((ClashKind.DATE, each) for each in (ranks, months, list(map(stem, WEEKDAYS)))),
        *((ClashKind.OPPOSITE, list(map(stem, names))) for names in EXCLUSIVE_KINDS),
    ]
    for kind, stems in exclusive:
        for each in stems:
            table.setdefault(each, []).append((kind, frozenset(stems) - {each}))
    opposites: dict[str, set[str]] = {}
    for left, right in OPPOSITE_PAIRS:
        opposites.setdefault(stem(left), set()).add(stem(right))
        opposites.setdefault(stem(right), set()).add(stem(left))
    for each, others in opposites.items():
        table.setdefault(each, []).append((ClashKind.OPPOSITE, frozenset(others)))
    return {each: tuple(found) for each, found in table.items()}


@lru_cache(maxsize=1 << 12)
def _list_negated_forms(word: str) -> frozenset[str]:
    """A word of `NEGATED_ENDINGS` with and without each prefix that makes an opposite."""
    bases = {word, *(word.removeprefix(prefix) for prefix in NEGATING_PREFIXES)}
    pairs = {
        (base, prefix + base)
        for base in bases
        if len(base) >= _LEAST_NEGATED and base not in NO_OPPOSITES
        for prefix in NEGATING_PREFIXES
    }
    return frozenset(other for pair in pairs if word in pair for other in pair if other != word)


def _find_negation_clash(
    claim: Sequence[Word],
    sentence: Sequence[Word],
    gaps: Sequence[Gap],
) -> Clash | None:
    """A negation on one side only, alone with function words between aligned words."""
    is_claim_negated = any(map(is_negation, claim))
    if any(word.text in BENDS_NEGATION for word in (*claim, *sentence)):
        return None
    if any(word.text in NEGATES_SILENTLY for word in (sentence if is_claim_negated else claim)):
        return None
    for claimed, found, following in gaps:
        negated, plain = (claimed, found) if is_claim_negated else (found, claimed)
        turned = next(filter(is_negation, negated), None)
        if turned is None or following is None:
            continue
        if any(word.is_content for word in plain):
            continue
        if any(word.is_content and word is not turned for word in negated):
            continue
        return Clash(
            ClashKind.NEGATION,
            turned if is_claim_negated else None,
            None if is_claim_negated else turned,
            negated_word=following if is_claim_negated else None,
        )
    return None
