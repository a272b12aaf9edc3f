"""Text as words with exact character offsets: what the overlap baseline compares.

Numbers are read to values here ("three million", "3,000,000" and "3 m" differ only in spelling), so
that nothing further up takes digits apart. Scripts written without blanks go through as overlapping
pairs of characters.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple, cast

from faithtui.judges.embedded.word_lists import (
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

_LETTERS = rf"[^\W\d_](?:[^\W\d_]++|[{_MARKS}])*+(?:['’][^\W\d_]++)*+"
_NUMBER = r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<rank>(?:st|nd|rd|th)\b)?"
_ASCII_LETTERS = r"[A-Za-z]+(?:'[A-Za-z]+)*"
_TOKEN: Final = re.compile(f"{_NUMBER}|{_LETTERS}")
_ASCII_TOKEN: Final = re.compile(f"{_NUMBER}|{_ASCII_LETTERS}", re.ASCII)
"""What `_TOKEN` finds in a text of ASCII, in half the time."""
_PLAIN_TOKEN: Final = re.compile(rf"\d|{_LETTERS}")
"""The tokens of a text without numbers; one digit is enough to see that there are numbers."""
_ASCII_PLAIN_TOKEN: Final = re.compile(rf"\d|{_ASCII_LETTERS}", re.ASCII)
_SPACELESS: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_NUMERIC: Final = frozenset({*NUMBER_WORDS, *SCALES, *PERCENT_WORDS})
_INVISIBLE: Final = re.compile("[\u00ad\u200c\u200d\u2060]")
_CURRENCIES: Final = "$€£¥₹"
_MIN_STEMMED: Final = 4
_PREFIX: Final = 5
_KEPT_FORMS: Final = 1 << 15
"""Written words whose reading is remembered: a language has few that are frequent."""


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
        """First five letters of a stem of at least six, else empty."""
        return prefix_of(self.stem)

    @property
    def is_year(self) -> bool:
        """It reads as a year: a plain whole number from 1000 to 2100."""
        return (
            self.number is not None
            and not self.unit
            and 1000 <= self.number <= 2100
            and self.end - self.start == len("2000")
        )


def read_words(text: str, start: int = 0, end: int | None = None) -> list[Word]:
    """Cut a range of a text into words, in order, with their offsets in the whole text.

    Pairs of characters overlap where a script has no blanks. Empty for a range without letters and
    digits. Never fails, whatever the text holds.
    """
    past = len(text) if end is None else end
    found: list[Word] = []
    pattern = _ASCII_TOKEN if text[start:past].isascii() else _TOKEN
    for match in pattern.finditer(text, start, past):
        first, last = match.span()
        form = _plain_form(match[0])
        if form is not None:
            found.append(Word(first, last, *form))
        elif match["number"] is not None:
            found.append(_digits(text, first, last, past, match["number"], match["rank"]))
        elif match[0].isascii() or not _SPACELESS.search(match[0]):
            _add_word(found, text, first, last, past)
        else:
            _add_pairs(found, text, first, last, past)
    return found


def read_stems(text: str, start: int, end: int) -> tuple[str, ...] | None:
    """The stems that `read_words` would find, several times faster, where that is simple.

    Returns:
        None when the range holds a number, in digits or in words, or a script without blanks:
        these can only be read together with their neighbours.
    """
    sentence = text[start:end]
    pattern = _ASCII_PLAIN_TOKEN if sentence.isascii() else _PLAIN_TOKEN
    stems = tuple(map(_plain_stem, pattern.findall(sentence)))
    return None if None in stems else cast("tuple[str, ...]", stems)


def prefix_of(stem: str) -> str:
    """First five letters of a stem of at least six, empty for shorter ones and for numbers."""
    return stem[:_PREFIX] if len(stem) > _PREFIX and stem[0] != "#" else ""


@lru_cache(maxsize=_KEPT_FORMS)
def stem(word: str) -> str:
    """Strip the endings of an English lower-case word; other words come back as they are.

    Lighter than Porter's: plural, possessive, `-ing`, `-ed`, `-ly`, final `e`, and a list of
    irregular forms. Two forms of one word mostly meet; what they meet in need not be a word.
    """
    word = word.removesuffix("'s")
    word = IRREGULAR.get(word, word)
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


class _Form(NamedTuple):
    """What a written word is, wherever it stands."""

    normal: str
    stem: str
    is_content: bool
    is_capital: bool


@lru_cache(maxsize=_KEPT_FORMS)
def _form(raw: str) -> _Form:
    normal = _normal(raw)
    is_content = normal not in STOP_WORDS and (len(normal) > 1 or not normal.isascii())
    return _Form(normal, stem(normal), is_content, len(raw) > 1 and raw[0].isupper())


@lru_cache(maxsize=_KEPT_FORMS)
def _plain_form(token: str) -> _Form | None:
    """What a token is; None when it takes its neighbours or the text around it to tell."""
    if token[0].isdecimal() or not (token.isascii() or _SPACELESS.search(token) is None):
        return None
    form = _form(token)
    return None if form.normal in _NUMERIC else form


@lru_cache(maxsize=_KEPT_FORMS)
def _plain_stem(token: str) -> str | None:
    form = _plain_form(token)
    if form is None:
        # "one" is a number only beside a tens word or a scale, and those are noticed themselves.
        return _form(token).stem if token.isalpha() and _normal(token) == "one" else None
    return form.stem


def _normal(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).replace("’", "'").casefold()


def _digits(text: str, start: int, end: int, past: int, digits: str, rank: str | None) -> Word:
    unit = "th" if rank else ""
    before = text[start - 1 : start]
    if before and before in _CURRENCIES:
        unit = before
    elif text[end : min(end + 2, past)].lstrip(" ").startswith("%"):
        unit = "%"
    value = float(digits.replace(",", ""))
    decimals = len(digits.partition(".")[2])
    return _number(start, end, text[start:end], value, unit, decimals)


def _number(start: int, end: int, text: str, value: float, unit: str, decimals: int) -> Word:
    return Word(start, end, text, f"#{value:.12g}", True, False, value, unit, decimals)


def _add_word(found: list[Word], text: str, start: int, end: int, past: int) -> None:
    """Append a word, or let it change the number before it."""
    normal, its_stem, is_content, is_capital = _form(text[start:end])
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
    if normal in NUMBER_WORDS and (normal != "one" or _scale_follows(text, end, past)):
        found.append(_number(start, end, normal, NUMBER_WORDS[normal], "", 0))
        return
    found.append(Word(start, end, normal, its_stem, is_content, is_capital))


def _continues(value: float, word: str) -> bool:
    """Whether a units word continues a tens word: twenty five, but not ten five."""
    return 20 <= value < 100 and value % 10 == 0 and 0 < NUMBER_WORDS[word] < 10


def _scale_follows(text: str, end: int, past: int) -> bool:
    """Whether the next word multiplies: "one million" is a number, "one of them" is not."""
    following = _TOKEN.match(text, end + 1, past)
    return following is not None and following[0].lower() in SCALES


def _add_pairs(found: list[Word], text: str, start: int, end: int, past: int) -> None:
    """Append a run that holds a script without blanks, as overlapping pairs of characters."""
    position = start
    for run in _SPACELESS.finditer(text, start, end):
        if run.start() > position:
            _add_word(found, text, position, run.start(), past)
        last = max(run.start() + 1, run.end() - 1)
        for first in range(run.start(), last):
            pair_end = min(first + 2, run.end())
            normal = _normal(text[first:pair_end])
            found.append(Word(first, pair_end, normal, normal, True, False))
        position = run.end()
    if position < end:
        _add_word(found, text, position, end, past)
