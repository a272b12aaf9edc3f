"""Numbers that may be written in another way: 3, 800 and 3,800, 1.000.000, 1,5 km and 1,500 m.

A text does not say whether "3, 800" is one number or two, nor whether "1.000" is a thousand. So
words keep what they are letter by letter, and get aliases: further stems by which they are found.
Two numbers that share one are the same to whoever compares.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from faithtui.domain.text.word_lists import NUMBER_SCALES, PERCENT_WORDS, UNIT_SIZES, UNITS

_NEAR: Final = 0.02
"""Share by which two measures may differ and be one, rounded: 5 miles and 8 km."""

_UNIT_NAMES: Final = "|".join(
    sorted(
        {
            *(name for name in NUMBER_SCALES if len(name) > 1),
            *PERCENT_WORDS,
            *UNITS,
            *(unit for units in UNIT_SIZES.values() for unit in units),
            "per cent",
            "metre",
            "kilometre",
            "litre",
        },
        key=lambda name: (-len(name), name),
    )
)
_UNIT_FOLLOWS: Final = rf"(?= ?%|[ \u00a0-]?(?:{_UNIT_NAMES})s?\b)"
_ANY: Final = re.compile(
    r"\d ?[,.] ?\d|\d[ \u00a0\u2009\u202f'’]\d{3}|\d\s?[apAP]\.?[mM]\b|\d\d[-–/]\d\d"
)
"""What all of these have something of; most texts with numbers have nothing of it.

Each begins with the digit itself, so that the search looks at digits alone: what must not stand
before it is looked at behind it."""
_GROUPS: Final = re.compile(
    r"\d(?<![\d.,]\d)\d{0,2}(?P<mark> ?, |[ \u00a0\u2009\u202f'’.])\d{3}(?:(?P=mark)\d{3})*(?!\d)"
)
"""Digits in groups of three, with another mark than the English comma."""
_DECIMAL_COMMA: Final = re.compile(
    rf"(?P<whole>\d(?<![\d.,]\d)\d{{0,2}}),(?P<part>\d{{1,2}})(?!\d)(?!,\d)"
    rf"(?:{_UNIT_FOLLOWS}|(?<=[$€£¥₹]\d,\d\d)|(?<=[$€£¥₹]\d\d,\d\d)|(?=\s?[€£]))"
)
_BROKEN_DECIMAL: Final = re.compile(
    rf"(?P<whole>\d(?<![\d.,]\d)\d{{0,2}}) ?\. (?P<part>\d{{1,2}})(?!\d){_UNIT_FOLLOWS}"
)
"""A decimal number that lost its form to a tokeniser: "$1. 3 billion"."""
_CLOCK: Final = re.compile(
    r"(?P<hour>\d(?<!\d\d)\d?)(?=(?:[:.]\d\d)?\s?(?P<half>[ap])\.?m\b)", re.I
)


_YEAR_SPAN: Final = re.compile(r"(?<!\d)(?P<century>1[5-9]|20)\d\d[-–/](?P<year>\d\d)(?![\d-])")


class Measure(NamedTuple):
    """A number with its unit, in a unit that all of its dimension share."""

    dimension: str
    value: float

    @property
    def comparison_key(self) -> str:
        """What is compared of it."""
        return f"={self.dimension} {self.value:.9g}"

    def is_near(self, other: "Measure") -> bool:
        """Whether the two may be one, rounded."""
        return self.dimension == other.dimension and abs(self.value - other.value) <= _NEAR * max(
            abs(self.value), abs(other.value)
        )

    def clashes(self, other: "Measure") -> bool:
        """Whether they measure the same and differ: 5 km and 5 minutes do not clash."""
        return self.dimension == other.dimension and not self.is_near(other)


def parse_measure(stem: str) -> Measure:
    """Read what `Measure.comparison_key` wrote."""
    dimension, _, value = stem.removeprefix("=").partition(" ")
    return Measure(dimension, float(value))


class NumberReading(NamedTuple):
    """A part of a text, and the number it may also be."""

    start: int
    end: int
    value: float


def find_alternative_number_readings(text: str) -> Iterable[NumberReading]:
    """Find what may be a number in another way than letter by letter."""
    return () if _ANY.search(text) is None else _find_readings(text)


def _find_readings(text: str) -> Iterator[NumberReading]:
    for match in _GROUPS.finditer(text):
        digits = "".join(filter(str.isdecimal, match[0]))
        yield NumberReading(*match.span(), float(digits))
    for pattern in (_DECIMAL_COMMA, _BROKEN_DECIMAL):
        for match in pattern.finditer(text):
            yield NumberReading(*match.span(), float(f"{match['whole']}.{match['part']}"))
    for match in _CLOCK.finditer(text):
        hour = int(match["hour"])
        is_afternoon = match["half"].lower() == "p"
        if 1 <= hour <= 12:
            yield NumberReading(*match.span(), float(hour % 12 + 12 * is_afternoon))
    for match in _YEAR_SPAN.finditer(text):
        yield NumberReading(*match.span("year"), float(match["century"] + match["year"]))
