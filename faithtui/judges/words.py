"""Text as words with exact character offsets: what the overlap baseline compares.

Numbers are read to values here ("three million", "3,000,000" and "3 m" differ only in spelling), so
that nothing further up takes digits apart. Scripts written without blanks go through as overlapping
pairs of characters.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from faithtui.judges.lexicon import (
    IRREGULAR,
    NUMBER_WORDS,
    PERCENT_WORDS,
    SCALES,
    STOP_WORDS,
)

_MARKS = (
    "\u00ad\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670"
    "\u0900-\u0963\u0966-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u1000-\u109f\u1780-\u17d3"
    "\u200c\u200d\u2060"
)
"""Combining marks and joiners that continue a word although `\\w` does not cover them."""

_TOKEN: Final = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<rank>(?:st|nd|rd|th)\b)?"
    rf"|[^\W\d_](?:[^\W\d_]++|[{_MARKS}])*+(?:['’][^\W\d_]++)*+"
)
_SPACELESS: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_INVISIBLE: Final = re.compile("[\u00ad\u200c\u200d\u2060]")
_CURRENCIES: Final = "$€£¥₹"
_MIN_STEMMED: Final = 4
_PREFIX: Final = 5


class Word(NamedTuple):
    """One word of a text. A tuple because a long context holds tens of thousands of them."""

    start: int
    """Offset of its first character in the text."""
    end: int
    """Offset past its last character."""
    text: str
    """Its normal form: compatibility-composed, lower-case."""
    stem: str
    """What is compared. Of a number: `#` and its value."""
    is_content: bool
    """It carries content of its own: no stop word."""
    is_capital: bool
    """It begins with a capital letter and has at least two characters."""
    number: float | None = None
    """Its value, None when it is no number."""
    unit: str = ""
    """Of a number: `%`, a currency sign, `th` for a rank, or empty."""
    decimals: int = 0
    """Of a number: digits written after the point."""

    @property
    def prefix(self) -> str:
        """First five letters of a word of at least six, else empty."""
        return self.text[:_PREFIX] if self.number is None and len(self.text) > _PREFIX else ""

    @property
    def is_year(self) -> bool:
        """It reads as a year: a plain whole number from 1000 to 2100."""
        return (
            self.number is not None
            and not self.unit
            and 1000 <= self.number <= 2100
            and self.end - self.start == len("2000")
        )


def read_words(text: str) -> list[Word]:
    """Cut a text into words, in order; pairs of characters overlap where a script has no blanks.

    Empty for a text without letters and digits. Never fails, whatever the text holds.
    """
    found: list[Word] = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if match["number"] is not None:
            found.append(_digits(text, start, end, match["number"], match["rank"]))
        elif match[0].isascii() or not _SPACELESS.search(match[0]):
            _add_word(found, text, start, end)
        else:
            _add_pairs(found, text, start, end)
    return found


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """Strip the endings of an English lower-case word; other words come back as they are.

    Lighter than Porter's: plural, possessive, `-ing`, `-ed`, `-ly`, final `e`, and a list of
    irregular forms. Two forms of one word mostly meet; what they meet in need not be a word.
    """
    word = IRREGULAR.get(word, word).removesuffix("'s")
    if len(word) < _MIN_STEMMED or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > _MIN_STEMMED:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "ches", "shes", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and any(letter in "aeiouy" for letter in rest):
            word = rest
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) >= _MIN_STEMMED:
        word = word.removesuffix("e")
    return word[:-1] + "i" if word.endswith("y") and len(word) >= _MIN_STEMMED else word


def _normal(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).replace("’", "'").casefold()


def _digits(text: str, start: int, end: int, digits: str, rank: str | None) -> Word:
    unit = "th" if rank else ""
    before = text[start - 1 : start]
    if before and before in _CURRENCIES:
        unit = before
    elif text[end : end + 2].lstrip(" ").startswith("%"):
        unit = "%"
    value = float(digits.replace(",", ""))
    decimals = len(digits.partition(".")[2])
    return _number(start, end, text[start:end], value, unit, decimals)


def _number(start: int, end: int, text: str, value: float, unit: str, decimals: int) -> Word:
    return Word(start, end, text, f"#{value:.12g}", True, False, value, unit, decimals)


def _add_word(found: list[Word], text: str, start: int, end: int) -> None:
    """Append a word, or let it change the number before it."""
    raw = text[start:end]
    normal = _normal(raw)
    last = found[-1] if found else None
    if last is not None and last.number is not None and start - last.end <= 1:
        value, unit = last.number, last.unit
        if normal in SCALES and unit in ("", *_CURRENCIES):
            scaled = value * SCALES[normal]
            found[-1] = _number(
                last.start, end, text[last.start : end], scaled, unit, last.decimals
            )
            return
        if normal in PERCENT_WORDS:
            found[-1] = _number(last.start, end, text[last.start : end], value, "%", last.decimals)
            return
        if normal in NUMBER_WORDS and not last.text[0].isdigit() and _continues(value, normal):
            total = value + NUMBER_WORDS[normal]
            found[-1] = _number(last.start, end, text[last.start : end], total, "", 0)
            return
    if normal in NUMBER_WORDS and (normal != "one" or _scale_follows(text, end)):
        found.append(_number(start, end, normal, NUMBER_WORDS[normal], "", 0))
        return
    is_content = normal not in STOP_WORDS and (len(normal) > 1 or not normal.isascii())
    is_capital = end - start > 1 and raw[0].isupper()
    found.append(Word(start, end, normal, stem(normal), is_content, is_capital))


def _continues(value: float, word: str) -> bool:
    """Whether a units word continues a tens word: twenty five, but not ten five."""
    return 20 <= value < 100 and value % 10 == 0 and 0 < NUMBER_WORDS[word] < 10


def _scale_follows(text: str, end: int) -> bool:
    """Whether the next word multiplies: "one million" is a number, "one of them" is not."""
    following = _TOKEN.match(text, end + 1)
    return following is not None and following[0].lower() in SCALES


def _add_pairs(found: list[Word], text: str, start: int, end: int) -> None:
    """Append a run that holds a script without blanks, as overlapping pairs of characters."""
    position = start
    for run in _SPACELESS.finditer(text, start, end):
        if run.start() > position:
            _add_word(found, text, position, run.start())
        last = max(run.start() + 1, run.end() - 1)
        for first in range(run.start(), last):
            pair_end = min(first + 2, run.end())
            normal = _normal(text[first:pair_end])
            found.append(Word(first, pair_end, normal, normal, True, False))
        position = run.end()
    if position < end:
        _add_word(found, text, position, end)
