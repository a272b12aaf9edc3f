"""Reading the inputs of `evaluate`: values from outside, checked before anything is computed.

Malformed input raises an `InputError` that names the field. It is never mended or guessed.
"""

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from statistics import NormalDist
from typing import TypeVar

from faithtui.domain.estimates import LEVEL
from faithtui.errors import InputError

Given = Mapping[str, object]
"""A JSON object."""

WordT = TypeVar("WordT", bound=StrEnum)


def refused(name: str, expected: str, value: object) -> InputError:
    """Make the error for a field that holds something else."""
    return InputError(f"expected {expected}, not {value!r}", field=name)


def kind_of(given: Given, *accepted: str) -> str:
    """Read which kind of input this is; it has to be one of those accepted."""
    kind = given.get("kind")
    if kind not in accepted:
        raise refused("kind", " or ".join(accepted), kind)
    return str(kind)


def number(given: Given, name: str, default: float | None = None) -> float:
    """Read a finite number; without a default it has to be there."""
    return _number(given.get(name, default), name)


def at_least_0(given: Given, name: str, default: float | None = None) -> float:
    """Read a finite number of at least 0."""
    value = number(given, name, default)
    if value < 0:
        raise refused(name, "at least 0", value)
    return value


def above_0(given: Given, name: str, default: float | None = None) -> float:
    """Read a finite number above 0."""
    value = number(given, name, default)
    if value <= 0:
        raise refused(name, "more than 0", value)
    return value


def share(given: Given, name: str) -> float:
    """Read a number in [0, 1]."""
    value = number(given, name)
    if not 0 <= value <= 1:
        raise refused(name, "a number in [0, 1]", value)
    return value


def count(given: Given, name: str, default: int | None = None) -> int:
    """Read a whole number of at least 0; 3.0 is one."""
    return _count(given.get(name, default), name)


def confidence(params: Given) -> float:
    """Read the confidence level, 0.95 unless stated."""
    value = number(params, "confidence", LEVEL)
    if not 0 < value < 1:
        raise refused("confidence", "a number between 0 and 1", value)
    return value


def normal_quantile(params: Given) -> float:
    """Give how many standard errors a normal interval of the stated confidence reaches."""
    return NormalDist().inv_cdf((1 + confidence(params)) / 2)


def word(given: Given, name: str, words: type[WordT], default: WordT | None = None) -> WordT:
    """Read one of a closed set of words; without a default it has to be there."""
    value = given.get(name, default)
    try:
        return words(str(value))
    except ValueError:
        raise refused(name, f"one of {', '.join(words)}", value) from None


def truth(given: Given, name: str, default: bool) -> bool:
    """Read true or false."""
    value = given.get(name, default)
    if not isinstance(value, bool):
        raise refused(name, "true or false", value)
    return value


def text(given: Given, name: str) -> str:
    """Read a text."""
    value = given.get(name)
    if not isinstance(value, str):
        raise refused(name, "a text", value)
    return value


def text_or_none(given: Given, name: str) -> str | None:
    """Read a text; null, or no such field, is None."""
    return None if given.get(name) is None else text(given, name)


def items(given: Given, name: str) -> Sequence[object]:
    """Read a list."""
    value = given.get(name)
    if not isinstance(value, (list, tuple)):
        raise refused(name, "a list", value)
    return value


def objects(given: Given, name: str) -> list[Given]:
    """Read a list of JSON objects."""
    return [_object(each, name) for each in items(given, name)]


def nested(given: Given, name: str) -> Given:
    """Read a JSON object."""
    return _object(given.get(name), name)


def numbers(given: Given, name: str) -> list[float]:
    """Read a list of finite numbers."""
    return [_number(each, name) for each in items(given, name)]


def counts(given: Given, name: str) -> list[int]:
    """Read a list of whole numbers of at least 0."""
    return [_count(each, name) for each in items(given, name)]


def flags(given: Given, name: str) -> list[bool]:
    """Read a list of 0 and 1, or false and true."""
    values = items(given, name)
    if not all(isinstance(each, (int, float)) and each in (0, 1) for each in values):
        raise InputError("expected 0 and 1 only", field=name)
    return [bool(each) for each in values]


def rows_of_numbers(given: Given, name: str) -> list[list[float]]:
    """Read rows of finite numbers, each as long as the first."""
    rows = [numbers({name: row}, name) for row in items(given, name)]
    if any(len(row) != len(rows[0]) for row in rows):
        raise InputError("rows of different length", field=name)
    return rows


def same_length(**lists: Sequence[object]) -> None:
    """Refuse lists of different length."""
    if len({len(each) for each in lists.values()}) > 1:
        lengths = ", ".join(f"{name} has {len(each)}" for name, each in lists.items())
        raise InputError(f"lists of different length: {lengths}")


def _number(value: object, name: str) -> float:
    # True is an int in Python, and no number to anybody who writes a case.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise refused(name, "a finite number", value)
    return value


def _count(value: object, name: str) -> int:
    found = _number(value, name)
    if found < 0 or found != int(found):
        raise refused(name, "a whole number of at least 0", value)
    return int(found)


def _object(value: object, name: str) -> Given:
    if not isinstance(value, Mapping):
        raise refused(name, "an object", value)
    return value
