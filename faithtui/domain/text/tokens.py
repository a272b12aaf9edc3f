"""Text as words with exact character offsets: what everything lexical compares.

Numbers are read to values here ("three million", "3,000,000" and "3 m" differ only in spelling), so
that nothing further up takes digits apart. Scripts written without blanks go through as overlapping
pairs of characters.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final, Literal, NamedTuple, cast

from faithtui.domain.conversation import Span
from faithtui.domain.text.number_readings import (
    Measure,
    find_alternative_number_readings,
    parse_measure,
)
from faithtui.domain.text.numbers import is_year_value, parse_spelled_number
from faithtui.domain.text.word_lists import (
    BEFORE_MONTHS,
    CONDITIONS,
    CURRENCIES,
    FOREIGN_STOP_WORDS,
    IRREGULAR,
    MONTHS,
    MONTHS_SHORT,
    NEGATIONS,
    NUMBER_SCALES,
    NUMBER_SUFFIXES,
    NUMBER_WORDS,
    ORDINALS,
    PERCENT_WORDS,
    STOP_WORDS,
    UNIT_SIZES,
    UNITS,
    WEEKDAYS,
)

MarkKind = Literal["word", "number", "name", "date", "negation", "condition"]
DECISIVE: Final[frozenset[MarkKind]] = frozenset(
    {"number", "name", "date", "negation", "condition"}
)
"""Kinds of words that make two alike sentences say different things."""
MAY: Final = "#may"
"""Stem of the month, which is written like the verb."""

_MARKS = (
    "\u00ad\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670"
    "\u0900-\u0963\u0966-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u1000-\u109f\u1780-\u17d3"
    "\u200c\u200d\u2060"
)
"""Combining marks and joiners that continue a word although `\\w` does not cover them."""

_LETTER = r"[^\W\d_]"
_LETTERS = rf"{_LETTER}(?:[^\W\d_]++|[{_MARKS}])*+(?:['’][^\W\d_]++)*+"
_NUMBER = (
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?![\d,])|\d+(?:\.\d+)?)"
    r"(?P<rank>(?:st|nd|rd|th)\b)?(?::00(?![\d:]))?"
)
_ASCII_LETTERS = r"[A-Za-z]+(?:'[A-Za-z]+)*"
_TOKEN: Final = re.compile(f"{_LETTERS}|{_NUMBER}")
_ASCII_TOKEN: Final = re.compile(f"{_ASCII_LETTERS}|{_NUMBER}", re.ASCII)
"""What `_TOKEN` finds in a text of ASCII, in half the time."""
_PLAIN_TOKEN: Final = re.compile(rf"[^\W_]{_LETTERS.removeprefix(_LETTER)}")
"""The tokens of a text without numbers; one digit is enough to see that there are numbers.

Letters and digits are one set of characters, so that all else is skipped at once."""
_ASCII_PLAIN_TOKEN: Final = re.compile(r"[A-Za-z0-9][A-Za-z]*(?:'[A-Za-z]+)*", re.ASCII)
_SPACELESS: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_WITHOUT_CONTENT: Final = STOP_WORDS | FOREIGN_STOP_WORDS
_NUMERIC: Final = frozenset({*NUMBER_WORDS, *NUMBER_SCALES, *PERCENT_WORDS})
_INVISIBLE: Final = re.compile("[\u00ad\u200c\u200d\u2060]")
_ISO_DATE: Final = re.compile(r"\d{4}-(0[1-9]|1[0-2])-\d\d(?!\d)")
_RUN: Final = re.compile(r"\d[\d.,]*|[^\W\d_]+")
"""Digits and words that a number is made of."""
_NEIGHBOUR: Final = 4
"""Characters around a word in which a digit makes a month of it."""
_SHORT_MONTHS: Final = frozenset(map(str.capitalize, MONTHS_SHORT))
_NEEDS_NEIGHBOURS: Final = frozenset({*_SHORT_MONTHS, "cent"})
"""Written words that may be a month, or the second half of "per cent"."""
_DATE_NAMES: Final = frozenset({*MONTHS, *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS)}) - {"may"}
_RANKED_DAY: Final = re.compile(
    rf"\W+(?:of\W+)?(?:{'|'.join([*MONTHS, *MONTHS_SHORT])})\b", re.IGNORECASE
)
_MONTH_BEFORE: Final = re.compile(
    rf"\b(?:{'|'.join([*MONTHS, *MONTHS_SHORT])})\W+(?:the\W+)?\Z", re.IGNORECASE
)
_LEAST_SCALED: Final = 1000
"""A number from here on is whole as it stands: "1,200 or 3 million"."""
_LONGEST_MONTH: Final = 16
"""Characters in which a month with "the" or "of" is looked for beside a day."""
_MIN_STEMMED: Final = 4
_SMALL_BEFORE: Final = 3
"""Small letters that a name may have before its capital: iPhone, eBay, macOS."""
_PREFIX: Final = 5
_KEPT_FORMS: Final = 1 << 12
"""Written words whose reading is remembered: a language has few that are frequent, and logs have
names and numbers without end. Eight times as many take 12 MB, and save 3 % of what is read anew."""


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
    kind: MarkKind = "word"
    """What it decides. A name is known here by capitals within the word only."""
    number: float | None = None
    """Its value, None when it is no number."""
    unit: str = ""
    """Of a number: `%`, a currency sign, `th` for a rank, or empty."""
    decimals: int = 0
    """Of a number: digits written after the point."""
    aliases: tuple[str, ...] = ()
    """Of a number, and of the unit behind it: further stems by which it is found. See
    `number_readings`."""

    @property
    def span(self) -> Span:
        """Where it stands in the text."""
        return Span(self.start, self.end)

    @property
    def weight(self) -> int:
        """2 for numbers, names and dates, 0 for what says nothing of the subject, else 1."""
        if self.kind in ("number", "name", "date"):
            return 2
        return int(self.is_content or self.kind == "negation")

    @property
    def measure(self) -> Measure | None:
        """What a number and its unit amount to; None for other words."""
        last = self.aliases[-1] if self.aliases else ""
        return parse_measure(last) if last.startswith("=") else None

    @property
    def stem_and_aliases(self) -> tuple[str, ...]:
        """Its stem and its aliases: two words that share one are the same."""
        return (self.stem, *self.aliases)

    def has_key_in(self, keys: AbstractSet[str]) -> bool:
        """Whether one of its keys is among some."""
        return self.stem in keys or (bool(self.aliases) and not keys.isdisjoint(self.aliases))

    @property
    def stem_prefix(self) -> str:
        """First five letters of a stem of at least six, else empty."""
        return get_stem_prefix(self.stem)

    @property
    def is_year(self) -> bool:
        """It reads as a year: a plain whole number from 1000 to 2100."""
        return self.number is not None and self.kind == "date"


def tokenise_words(text: str, start: int = 0, end: int | None = None) -> list[Word]:
    """Cut a range of a text into words, in order, with their offsets in the whole text.

    Pairs of characters overlap where a script has no blanks. Empty for a range without letters and
    digits. Never fails, whatever the text holds.
    """
    past = len(text) if end is None else end
    found: list[Word] = []
    looked_at = text[start:past]
    pattern = _ASCII_TOKEN if looked_at.isascii() else _TOKEN
    is_after_number = False
    numbers: dict[int, None] = {}
    # Half the time of a call with defaults; a context has thousands of words.
    make, make_plain, add = tuple.__new__, _make_context_free_fields, found.append
    for match in pattern.finditer(text, start, past):
        rest = make_plain(match[0])
        if rest is not None and not is_after_number:
            add(make(Word, match.span() + rest))
            continue
        first, last = match.span()
        if match["number"] is not None:
            _add_number_or_date_month(found, text, match, start, past)
        elif match[0].isascii() or not _SPACELESS.search(match[0]):
            _add_word_or_extend_number(found, text, first, last, start, past)
        else:
            _add_character_pairs(found, text, first, last, start, past)
        is_after_number = found[-1].number is not None
        if is_after_number:
            numbers[len(found) - 1] = None
    if numbers:
        _add_alternative_readings(found, numbers, looked_at, start)
    return found


def _add_alternative_readings(
    found: list[Word], numbers: Iterable[int], text: str, start: int
) -> None:
    """Give numbers, and the units behind them, what else they may be written as.

    Args:
        found: All words.
        numbers: Where there was a number when its word was read; later ones may have joined it.
        text: The words have their offsets in, but for `start`.
        start: Offset of the text.
    """
    places: dict[int, int] = {}
    for each in find_alternative_number_readings(text):
        places = places or {word.start - start: place for place, word in enumerate(found)}
        own = [places[at] for at in range(each.start, each.end) if at in places]
        last = found[own[-1]] if own else None
        if last is None or last.number is None:
            continue
        scale = _compute_scale_factor(text[last.start - start : each.end], last.number)
        for place in own:
            _add_number_alias(found, place, each.value * scale)
        _add_measure(found, own[-1], each.value * scale)
        if (measure := found[own[-1]].measure) is not None:
            for place in own[:-1]:
                aliases = (*found[place].aliases, measure.comparison_key)
                found[place] = found[place]._replace(aliases=aliases)
    for place in numbers:
        if place + 1 >= len(found):
            continue
        word, following = found[place], found[place + 1]
        if word.number is None or word.unit == "th" or following.start - word.end > 1:
            continue
        if following.text in NUMBER_SUFFIXES:
            _add_scale_suffix_reading(found, place)
        if following.stem in _UNIT_SIZES:
            _add_measure(found, place, word.number)


def _compute_scale_factor(digits: str, value: float) -> float:
    """What a word behind the last digits multiplied them by: 1e9 for the "3 billion" of "1. 3"."""
    return value / float(digits) if digits.isdecimal() and float(digits) else 1.0


def _add_number_alias(found: list[Word], place: int, value: float) -> None:
    word = found[place]
    alias = f"#{value:.12g}"
    if alias not in word.stem_and_aliases:
        found[place] = word._replace(aliases=(*word.aliases, alias))


def _find_adjacent_word(found: Sequence[Word], place: int, most_between: int) -> Word | None:
    """The word behind a number when it stands close; None otherwise."""
    if place + 1 == len(found):
        return None
    following = found[place + 1]
    return following if following.start - found[place].end <= most_between else None


def _add_scale_suffix_reading(found: list[Word], place: int) -> None:
    """Read the letter of "1.5M" and "3B", where it may also be a unit."""
    word, following = found[place], _find_adjacent_word(found, place, 0)
    if following is not None and following.end - following.start == 1:
        letter = following.text if following.text in NUMBER_SUFFIXES else ""
        if letter:
            scaled = cast("float", word.number) * NUMBER_SUFFIXES[letter]
            _add_number_alias(found, place, scaled)
            _add_number_alias(found, place + 1, scaled)


def _add_measure(found: list[Word], place: int, value: float) -> None:
    following = _find_adjacent_word(found, place, 1)
    if following is None or following.stem not in _UNIT_SIZES or found[place].unit:
        return
    dimension, size = _UNIT_SIZES[following.stem]
    measure = Measure(dimension, value * size)
    for each in (place, place + 1):
        word = found[each]
        kept = (alias for alias in word.aliases if alias != measure.comparison_key)
        found[each] = word._replace(aliases=(*kept, measure.comparison_key))


def tokenise_stems(text: str, start: int, end: int) -> tuple[str, ...] | None:
    """The stems that `tokenise_words` would find, several times faster, where that is simple.

    Returns:
        None when the range holds a number, in digits or in words, or a script without blanks:
        these can only be read together with their neighbours.
    """
    sentence = text[start:end]
    pattern = _ASCII_PLAIN_TOKEN if sentence.isascii() else _PLAIN_TOKEN
    stems = tuple(map(_make_context_free_stem, pattern.findall(sentence)))
    return None if None in stems else cast("tuple[str, ...]", stems)


def get_stem_prefix(stem: str) -> str:
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
    if len(word) > _MIN_STEMMED:
        word = _unify_spelling(word)
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


def _unify_spelling(word: str) -> str:
    """Write British and American spellings alike: colour, organise, centre, catalogue."""
    for british, american in (("our", "or"), ("iz", "is"), ("yz", "ys"), ("ogue", "og")):
        if british in word:
            word = word.replace(british, american)
    bare = word.removesuffix("s")
    if bare.endswith(("tre", "bre")):
        word = bare[:-2] + "er" + word[len(bare) :]
    return word


class _WordForm(NamedTuple):
    """What a written word is, wherever it stands."""

    normal: str
    stem: str
    is_content: bool
    is_capital: bool
    kind: MarkKind


@lru_cache(maxsize=_KEPT_FORMS)
def _make_word_form(raw: str) -> _WordForm:
    normal = _normalise(raw)
    is_content = normal not in _WITHOUT_CONTENT and (len(normal) > 1 or not normal.isascii())
    is_capital = len(raw) > 1 and raw[0].isupper()
    kind: MarkKind = "word"
    if normal in NEGATIONS or normal.endswith("n't"):
        kind = "negation"
    elif normal in CONDITIONS:
        kind = "condition"
    elif is_capital and normal in _DATE_NAMES:
        kind = "date"
    elif is_content and has_capital_inside_word(raw):
        kind = "name"
    if normal in ORDINALS:
        its_stem = f"#{ORDINALS[normal]}th"
    else:
        # A "1" is found in "one of them", which is no number itself.
        its_stem = "#1" if normal == "one" else stem(normal)
    return _WordForm(normal, its_stem, is_content, is_capital, kind)


def has_capital_inside_word(raw: str) -> bool:
    """Whether a word has a capital letter that no beginning of a sentence gives it."""
    at = next((place for place, each in enumerate(raw) if place and each.isupper()), 0)
    # Not `sleepBetter`: two words that a web page lost the blank between.
    return at > 0 and (raw[0].isupper() or at <= _SMALL_BEFORE)


@lru_cache(maxsize=_KEPT_FORMS)
def _make_context_free_form(token: str) -> _WordForm | None:
    """What a token is; None when it takes its neighbours or the text around it to tell."""
    if token[0].isdecimal() or not (token.isascii() or _SPACELESS.search(token) is None):
        return None
    form = _make_word_form(token)
    return None if form.normal in _NUMERIC or token in _NEEDS_NEIGHBOURS else form


@lru_cache(maxsize=_KEPT_FORMS)
def _make_context_free_fields(token: str) -> tuple[object, ...] | None:
    """Everything but the offsets of a word that tells by itself; None for others."""
    form = _make_context_free_form(token)
    return None if form is None else Word(0, 0, *form)[2:]


@lru_cache(maxsize=_KEPT_FORMS)
def _make_context_free_stem(token: str) -> str | None:
    form = _make_context_free_form(token)
    if form is None:
        # "one" is a number only beside a tens word or a scale, and those are noticed themselves.
        return (
            _make_word_form(token).stem if token.isalpha() and _normalise(token) == "one" else None
        )
    return form.stem


def _normalise(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).replace("’", "'").casefold()


def _make_number_word(
    start: int, end: int, text: str, value: float, unit: str, decimals: int
) -> Word:
    is_spelled = not text[0].isdecimal() and _RUN.findall(text)[-1] not in NUMBER_SCALES
    is_year = not unit and is_year_value(value) and (len(text) == len("2000") or is_spelled)
    stem = f"#{value:.12g}th" if unit == "th" else f"#{value:.12g}"
    kind: MarkKind = "date" if is_year else "number"
    aliases = (f"#{value / 100:.12g}",) if unit == "%" else ()
    return Word(start, end, text, stem, True, False, kind, value, unit, decimals, aliases)


def _add_number_or_date_month(
    found: list[Word], text: str, match: re.Match[str], begin: int, past: int
) -> None:
    """Append a number written in digits, or the month of a date such as 2024-05-01."""
    start, end = match.span()
    if end - start == 2 and start - begin >= len("2024-") and text[start - 1] == "-":
        date = _ISO_DATE.match(text, start - len("2024-"), past)
        if date is not None:
            month = MONTHS[int(date[1]) - 1]
            found.append(_make_month_word(start, end, month))
            return
    unit = ""
    before = text[start - 1 : start] if start > begin else ""
    if match["rank"] and not _is_day_of_month(text, start, end, begin, past):
        unit = "th"
    elif before and before in CURRENCIES:
        unit = before
    elif text[end : min(end + 2, past)].lstrip(" ").startswith("%"):
        unit = "%"
    digits = match["number"]
    value = float(digits.replace(",", ""))
    written = text[start : match.end("number")] if unit != "th" else text[start:end]
    found.append(_make_number_word(start, end, written, value, unit, len(digits.partition(".")[2])))


def _is_day_of_month(text: str, start: int, end: int, begin: int, past: int) -> bool:
    """Whether a rank is the day of a month: 3rd May, May 3rd."""
    if _RANKED_DAY.match(text, end, past):
        return True
    return _MONTH_BEFORE.search(text, max(begin, start - _LONGEST_MONTH), start) is not None


def _make_month_word(start: int, end: int, name: str) -> Word:
    its_stem = MAY if name == "may" else stem(name)
    return Word(start, end, name, its_stem, is_content=True, is_capital=True, kind="date")


def _add_word_or_extend_number(
    found: list[Word], text: str, start: int, end: int, begin: int, past: int
) -> None:
    """Append a word, or let it change the number before it."""
    raw = text[start:end]
    form = _make_word_form(raw)
    normal = form.normal
    if found and _try_to_extend_number(found, text, start, end, raw, normal):
        return
    if normal in NUMBER_WORDS and (normal != "one" or _is_scale_next(text, end, past)):
        found.append(_make_number_word(start, end, normal, NUMBER_WORDS[normal], "", 0))
    elif normal in MONTHS_SHORT and _is_month(found, text, start, end, raw, begin, past):
        found.append(_make_month_word(start, end, MONTHS_SHORT[normal]))
    else:
        found.append(Word(start, end, *form))


def _try_to_extend_number(
    found: list[Word], text: str, start: int, end: int, raw: str, normal: str
) -> bool:
    """Let a word change the number before it: a scale, percent, more of the number, a unit."""
    last, joint = found[-1], found[-1].end
    if start - joint > 1:
        return False
    if last.number is None:
        if normal in NUMBER_SCALES and last.text == "a" and len(normal) > 2:
            _merge_article_into_number(found, text, end)
            return True
        is_joined = len(found) > 1 and last.start - found[-2].end <= 1
        number = found[-2] if is_joined and last.text in ("and", "per") else None
        if number is None or number.number is None:
            return False
        if last.text == "per" and normal == "cent":
            normal = "percent"
        elif last.text == "per" or normal not in NUMBER_WORDS:
            return False
    else:
        number = last
    value, unit, decimals = number.number, number.unit, number.decimals
    is_spelled = not number.text[0].isdecimal()
    written = text[number.start : end].lower()
    if normal in PERCENT_WORDS:
        grown = _make_number_word(
            number.start, end, number.text, cast("float", value), "%", decimals
        )
    elif unit in CURRENCIES and raw in ("m", "M") and start == joint:
        scaled = cast("float", value) * NUMBER_SCALES["million"]
        grown = _make_number_word(number.start, end, written, scaled, unit, decimals)
    elif normal in ORDINALS and is_spelled and 0 < ORDINALS[normal] < 10 and not unit:
        if not 20 <= cast("float", value) < 100 or cast("float", value) % 10:
            return False
        rank = cast("float", value) + ORDINALS[normal]
        grown = _make_number_word(number.start, end, written, rank, "th", 0)
    elif (normal in NUMBER_SCALES and unit in ("", *CURRENCIES)) or (
        normal in NUMBER_WORDS and is_spelled and not unit
    ):
        spelled = parse_spelled_number(tuple(_RUN.findall(written.replace(",", ""))))
        if spelled is None:
            return False
        grown = _make_number_word(number.start, end, written, spelled, unit, decimals)
        if normal in NUMBER_SCALES:
            _scale_earlier_number(found, NUMBER_SCALES[normal])
    elif normal in UNITS and raw.islower() and not is_spelled:
        form = _make_word_form(UNITS[normal])
        found.append(Word(start, end, *form))
        return True
    else:
        return False
    if number is not last:
        found.pop()
    found[-1] = grown
    return True


def _scale_earlier_number(found: list[Word], scale: float) -> None:
    """Read "5 or 6 million" as two numbers of millions, and "5-6 million" too."""
    joined = found[-2].text in ("or", "to") if len(found) > 2 else False
    place = len(found) - (3 if joined else 2)
    if place < 0 or (not joined and found[-1].start - found[place].end != 1):
        return
    word = found[place]
    if word.number is None or word.kind != "number" or word.unit in ("%", "th"):
        return
    if word.number < _LEAST_SCALED and _RUN.findall(word.text)[-1] not in NUMBER_SCALES:
        scaled = word.number * scale
        found[place] = word._replace(stem=f"#{scaled:.12g}", number=scaled)


def _merge_article_into_number(found: list[Word], text: str, end: int) -> None:
    """Read "a million" as a number, and "half a million"."""
    article = found.pop()
    start = article.start
    if found and found[-1].text == "half" and start - found[-1].end <= 1:
        start = found.pop().start
    written = text[start:end].lower()
    value = parse_spelled_number(tuple(_RUN.findall(written)))
    found.append(_make_number_word(start, end, written, value or 0.0, "", 0))


def _is_month(
    found: list[Word], text: str, start: int, end: int, raw: str, begin: int, past: int
) -> bool:
    """Whether a capitalised word is the short form of a month, or May."""
    if not raw[0].isupper():
        return False
    neighbours = (
        text[max(begin, start - _NEIGHBOUR) : start] + text[end : min(past, end + _NEIGHBOUR)]
    )
    if any(character.isdecimal() for character in neighbours):
        return True
    return raw == "May" and bool(found) and found[-1].text in BEFORE_MONTHS


def _is_scale_next(text: str, end: int, past: int) -> bool:
    """Whether the next word multiplies: "one million" is a number, "one of them" is not."""
    following = _TOKEN.match(text, end + 1, past)
    return following is not None and following[0].lower() in NUMBER_SCALES


def _add_character_pairs(
    found: list[Word], text: str, start: int, end: int, begin: int, past: int
) -> None:
    """Append a run that holds a script without blanks, as overlapping pairs of characters."""
    position = start
    for run in _SPACELESS.finditer(text, start, end):
        if run.start() > position:
            _add_word_or_extend_number(found, text, position, run.start(), begin, past)
        last = max(run.start() + 1, run.end() - 1)
        for first in range(run.start(), last):
            pair_end = min(first + 2, run.end())
            normal = _normalise(text[first:pair_end])
            found.append(Word(first, pair_end, normal, normal, is_content=True, is_capital=False))
        position = run.end()
    if position < end:
        _add_word_or_extend_number(found, text, position, end, begin, past)


_UNIT_SIZES: Final = {
    stem(unit): (dimension, size)
    for dimension, units in UNIT_SIZES.items()
    for unit, size in units.items()
}
"""Stem of a unit to what it measures and its size."""
