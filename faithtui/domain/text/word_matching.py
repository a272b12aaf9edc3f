"""Texts cut into words and sentences, and words compared as a reader would.

Everything lexical builds on this: evidence, lost facts, phantom claims. It knows no meaning. Words
are equal up to case and common endings, numbers up to the way they are written, and a word that is
nowhere letter for letter may be found misspelt.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from rapidfuzz import fuzz, process

from faithtui.domain.conversation import Span

MarkKind = Literal["word", "number", "name", "date", "negation", "condition"]

DECISIVE: frozenset[MarkKind] = frozenset({"number", "name", "date", "negation", "condition"})
"""Kinds of words that make two alike sentences say different things."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text."""

    span: Span
    stem: str
    """What is compared: folded, without common endings."""
    kind: MarkKind
    weight: int
    """0 for words that say nothing about the subject, 2 for numbers, names and dates, else 1."""


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text cut into words and sentences once, so that many others can be compared with it."""

    text: str
    words: tuple[Word, ...]
    sentences: tuple[Span, ...]
    """In order, without the white space between them; () for a blank text."""
    runs: tuple[tuple[int, int], ...] = field(repr=False)
    """First and last-plus-one word of each sentence."""
    stems: tuple[frozenset[str], ...] = field(repr=False)
    """Stems of each sentence."""
    vocabulary: frozenset[str] = field(repr=False)
    """Stems of all words."""

    def words_in(self, sentence: int) -> tuple[Word, ...]:
        """Give the words of a sentence."""
        first, last = self.runs[sentence]
        return self.words[first:last]

    def said(self, word: Word) -> str:
        """Give a word as it stands in the text."""
        return self.text[word.span.start : word.span.end]


_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(
    r"\d{4}-\d{2}-\d{2}(?!\d)|\d+(?:[.,:/]\d+)*%?"
    rf"|[{_CJK}]|[^\W\d_{_CJK}]+(?:['’][^\W\d_{_CJK}]+)*",
    re.UNICODE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+|(?<=[。！？])|\n+")
_ENDED = re.compile(r"(?<=\w\w)[.!?…]+[\"'”’)\]]*$|[•*#|>]\s*$|(?<=\s)-\s+$")
"""What stands before a word that opens a sentence within what looks like one."""
_ENDED_WITHIN = 8
"""Characters before a word that are looked at for that."""
_SMALL_BEFORE = 3
"""Small letters that a name may have before its capital: iPhone, eBay, macOS."""
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ENDINGS = ("'s", "’s", "ing", "edly", "ed", "ies", "es", "ly", "s")
_NEGATION_WORDS = """
no not never none nor neither nobody nothing nowhere cannot without unable lacks lack nicht kein
keine keinen nie ohne pas jamais sans sin nunca ni non
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_CONDITION_WORDS = """
unless except excluding if until provided only außer sofern falls sauf salvo
"""
_CONDITIONS = frozenset(_CONDITION_WORDS.split())
_STOP_WORDS = """
a an the and or but of in on at to for from by with as is are was were be been being am it its this
that these those there here he she they them his her their you your we our i me my do does did done
has have had having will would can could may might shall should must so than then also which who
whom whose what when where how why into over under about between such very just more most some any
all each both other own same too up down out off der die das ein eine und oder ist sind le la les un
une des et est de du el los las y es en que
"""
_STOP = frozenset(_STOP_WORDS.split())
_TEENS = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBER_WORDS = {
    **{word: str(number) for number, word in enumerate(_TEENS.split(), start=2)},
    **{word: str(10 * number) for number, word in enumerate(_TENS.split(), start=2)},
}
_MONTHS = """
january february march april june july august september october november december jan feb apr jun
jul aug sep sept oct nov dec
"""
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_DATES = {word: word[:3] for word in (_MONTHS + _WEEKDAYS).split()}
"""Names of months and days with what is compared. May is told by a number beside it."""

ALIKE_FROM = 90
"""Two words are one, misspelt, from this ratio on: `colour` and `color`, not `form` and `from`.

Measured on WiCE: 85 and below find fewer right sentences, 90 as many as without."""
_ALIKE_LETTERS = 5
"""Shorter words are never taken for misspelt ones."""
_MOST_ALIKE = 50
"""So many words are looked for misspelt: each is held against every word of the other text."""


def read_text(text: str) -> ReadText:
    """Cut a text into words and sentences."""
    sentences: list[Span] = []
    start = 0
    for end_match in _SENTENCE_END.finditer(text):
        _add_sentence(sentences, text, start, end_match.start())
        start = end_match.end()
    _add_sentence(sentences, text, start, len(text))
    words = _words(text, sentences)
    runs = _runs(words, sentences)
    return ReadText(
        text,
        words,
        tuple(sentences),
        runs,
        tuple(frozenset(word.stem for word in words[first:last]) for first, last in runs),
        frozenset(word.stem for word in words),
    )


def weights_of(words: Sequence[Word]) -> dict[str, int]:
    """Weigh the words that say something about the subject: stem to weight, in order."""
    weights: dict[str, int] = {}
    for word in words:
        if word.weight and word.kind != "negation":
            weights[word.stem] = max(word.weight, weights.get(word.stem, 0))
    return weights


def spelt_alike(stems: Sequence[str], there: Collection[str]) -> dict[str, frozenset[str]]:
    """Find words that are nowhere letter for letter, but nearly.

    Args:
        stems: Words to find; numbers and short ones are left out, and what is beyond the first
            50 of the others.
        there: Where to look.

    Returns:
        For each word that has any, the words that are taken for it.
    """
    wanted = [stem for stem in stems if len(stem) >= _ALIKE_LETTERS and stem.isalpha()]
    wanted = wanted[:_MOST_ALIKE]
    if not wanted:
        return {}
    pool = [stem for stem in there if len(stem) >= _ALIKE_LETTERS - 1 and stem.isalpha()]
    found: dict[str, frozenset[str]] = {}
    for stem in wanted:
        near = process.extract(stem, pool, scorer=fuzz.ratio, score_cutoff=ALIKE_FROM, limit=8)
        if near:
            found[stem] = frozenset(each for each, _, _ in near)
    return found


def missing_stems(stems: Collection[str], there: Collection[str]) -> set[str]:
    """List the stems that a text has neither letter for letter nor misspelt."""
    missing = set(stems).difference(there)
    return missing - spelt_alike(sorted(missing), there).keys()


def _add_sentence(sentences: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end = start + len(piece.strip())
    if start < end:
        sentences.append(Span(start, end))


def _runs(words: Sequence[Word], sentences: Sequence[Span]) -> tuple[tuple[int, int], ...]:
    runs = []
    position = 0
    for span in sentences:
        while position < len(words) and words[position].span.start < span.start:
            position += 1
        first = position
        while position < len(words) and words[position].span.start < span.end:
            position += 1
        runs.append((first, position))
    return tuple(runs)


def _words(text: str, sentences: Sequence[Span]) -> tuple[Word, ...]:
    """Read the words of a text.

    A capital letter makes a name inside a sentence. At its beginning every word has one, so there
    it does so only for a word that has one inside a sentence, too, or more than one itself.
    """
    found = [(match.group(), *match.span()) for match in _WORD.finditer(text)]
    opening = _opening(text, found, sentences)
    names = {
        word.casefold()
        for place, (word, _, _) in enumerate(found)
        if word[0].isupper() and place not in opening
    }
    words = []
    for place, (word, start, end) in enumerate(found):
        if word[0].isupper():
            named = (
                place not in opening
                or word.casefold() in names
                or text[end : end + 1].isdigit()
                or _has_own_capital(word)
            )
        else:
            named = not (word.islower() or word[0].isdigit()) and _has_own_capital(word)
        stem, kind, weight = _read_word(word, named)
        if word == "May" and _beside_number(text, Span(start, end)):
            stem, kind, weight = "may", "date", 2
        words.append(Word(Span(start, end), stem, kind, weight))
    return tuple(words)


def _opening(
    text: str, found: Sequence[tuple[str, int, int]], sentences: Sequence[Span]
) -> set[int]:
    """Find the words that open a sentence: only numbers and signs stand before them."""
    opening: set[int] = set()
    nexts = iter(sentences)
    begins = next(nexts, None)
    is_open = False
    before = 0
    for place, (word, start, end) in enumerate(found):
        while begins is not None and start >= begins.start:
            is_open = True
            begins = next(nexts, None)
        # Texts of web pages often lack the blank between two sentences, or two entries of a list.
        near = max(before - 2, start - _ENDED_WITHIN, 0)
        if is_open or _ENDED.search(text, near, start):
            opening.add(place)
            is_open = word[0].isdigit()
        before = end
    return opening


def _has_own_capital(word: str) -> bool:
    """Whether a word has a capital letter that no beginning of a sentence gives it."""
    at = next((place for place, each in enumerate(word) if place and each.isupper()), 0)
    # Not `sleepBetter`: two words that a web page lost the blank between.
    return at > 0 and (word[0].isupper() or at <= _SMALL_BEFORE)


@lru_cache(maxsize=1 << 15)
def _read_word(text: str, named: bool) -> tuple[str, MarkKind, int]:
    """Give stem, kind and weight of a word."""
    if text[0].isdigit():
        return _number(text)
    folded = text.casefold().replace("’", "'")
    if folded in _NUMBER_WORDS:
        return _NUMBER_WORDS[folded], "number", 2
    if folded in _NEGATIONS or folded.endswith("n't"):
        return folded, "negation", 1
    if folded in _CONDITIONS:
        return folded, "condition", 0
    if folded in _DATES and text[0].isupper():
        return _DATES[folded], "date", 2
    if folded in _STOP:
        return folded, "word", 0
    return _stem(folded), "name" if named else "word", 2 if named else 1


def _number(text: str) -> tuple[str, MarkKind, int]:
    stem = text.rstrip("%").strip(".,:/")
    if _THOUSANDS.fullmatch(stem):
        stem = stem.replace(",", "")
    is_date = _YEAR.fullmatch(text) or text.count("/") == 2 or text.count("-") == 2
    return stem, "date" if is_date else "number", 2


def _beside_number(text: str, span: Span) -> bool:
    before, after = text[max(0, span.start - 4) : span.start], text[span.end : span.end + 4]
    return any(character.isdigit() for character in before + after)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
