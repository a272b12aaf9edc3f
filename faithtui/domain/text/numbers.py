"""Numbers as they are written in words, and numbers that are told with less precision.

Everything that compares numbers compares the values found here, so that "twelve", "12", "a dozen"
and "12.0" are one.
"""

from functools import lru_cache
from typing import Final

from faithtui.domain.text.word_lists import NUMBER_SCALES, NUMBER_WORDS

_LEAST_YEAR: Final = 1000
_PAST_YEARS: Final = 2101
_FIRST_CENTURY: Final = 15
"""Before it, two number words beside each other are two numbers: "twelve thirteen"."""
_SHARES: Final = {"a": 1.0, "half": 0.5}
"""What a number may begin with before a scale: "a million", "half a million"."""
NEAR_SHARE: Final = 0.1
"""Share by which "about" and "over" let a number differ."""


@lru_cache(maxsize=1 << 12)
def parse_spelled_number(words: tuple[str, ...]) -> float | None:
    """Read a number written in words: "two hundred and five", "twenty-five", "nineteen ninety".

    Args:
        words: Lower-case words in order. The first may be digits, "a" or "half".

    Returns:
        None when the words are no single number.
    """
    total, part = 0.0, None
    for place, word in enumerate(words):
        if word in NUMBER_SCALES:
            if part is None:
                return None
            if word in ("hundred", "dozen"):
                part *= NUMBER_SCALES[word]
            else:
                total, part = total + part * NUMBER_SCALES[word], 0.0
        elif word == "and":
            # Only within a number: "two hundred and five", not "five and six".
            if place + 1 == len(words) or words[place - 1] not in NUMBER_SCALES:
                return None
        elif word in NUMBER_WORDS:
            value = NUMBER_WORDS[word]
            if part is None:
                part = float(value)
            elif _continues_number(part, value, words[place - 1]):
                part += value
            elif place == 1 and _FIRST_CENTURY <= part <= 20 and value >= 10:
                part = 100 * part + value  # a year: nineteen twenty, twenty eleven
            else:
                return None
        elif place == 0 and word in _SHARES:
            part = _SHARES[word]
        elif place == 0 and word[0].isdecimal():
            part = float(word)
        elif not (place == 1 and word == "a" and words[0] == "half"):
            return None
    return None if part is None else total + part


def _continues_number(part: float, value: int, before: str) -> bool:
    if before in NUMBER_SCALES or before == "and":
        return 0 < value < 100
    return before in NUMBER_WORDS and NUMBER_WORDS[before] >= 20 and 0 < value < 10


def is_year_value(value: float) -> bool:
    """Whether a number may be a year: whole, from 1000 to 2100."""
    return _LEAST_YEAR <= value < _PAST_YEARS and value == int(value)


def is_near(one: float, other: float) -> bool:
    """Whether a number may be told as "about" another one."""
    return abs(one - other) <= abs(one) * NEAR_SHARE


def is_rounding_of(value: float, other: float, *, decimals: int, other_decimals: int) -> bool:
    """Whether a number may be another one told with less precision.

    True when the other rounds or is cut off to it at its precision: its decimals, or its trailing
    zeros down to two significant digits.
    """
    if value == other:
        return True
    if not 0.5 * value < other < 2 * value:
        return False
    digits = f"{value:.12g}".replace(".", "")
    significant = max(len(digits.strip("0")), 2 if value >= 10 else 1)
    rounded = float(f"{other:.{significant - 1}e}")
    is_rounder = len(f"{other:.12g}".replace(".", "").strip("0")) > len(digits.strip("0"))
    cut = abs(other - value) / value < 10.0 ** (1 - significant) and other > value
    return is_rounder and (rounded == value or (cut and other_decimals > decimals))
