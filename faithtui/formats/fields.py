"""Fields of one JSON object, each checked; what is wrong is reported with file, line and field."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from faithtui.domain.labels.label_bundle import LARGEST_CLOCK
from faithtui.domain.limits import Limit
from faithtui.errors import InputError
from faithtui.formats.json_lines import describe_json

T = TypeVar("T")
WordT = TypeVar("WordT", bound=str)


class FieldReader:
    """An object of a file.

    Every method raises `InputError` where the field does not hold what it is asked for.

    Args:
        value: The object.
        path: The file.
        line: Line number from 1.
        within: Name of the field the object stands in, with a dot; "" for a whole line.
    """

    __slots__ = ("_line", "_path", "_value", "_within")

    def __init__(
        self, value: Mapping[str, object], path: Path, line: int, within: str = ""
    ) -> None:
        self._value = value
        self._path = path
        self._line = line
        self._within = within

    @property
    def value(self) -> Mapping[str, object]:
        """The whole object."""
        return self._value

    def make_error(self, name: str, reason: str) -> InputError:
        """Make the error that says what is wrong with a field."""
        return InputError(reason, path=self._path, line=self._line, field=self._within + name)

    def get_value_or_none(self, name: str) -> object:
        """Give what the field holds; None when it is not there."""
        return self._value.get(name)

    def read_text(self, name: str, *, empty: bool = False, limit: Limit | None = None) -> str:
        """Give a text; `empty`: "" is one; `limit`: how long it may be."""
        value = self._value.get(name)
        if isinstance(value, str) and (value or empty):
            problem = None if limit is None else limit.find_size_problem(len(value))
            if problem is not None:
                raise self.make_error(name, problem)
            return value
        raise self._make_type_error(name, "a string" if empty else "a string that is not empty")

    def read_text_or_none(
        self, name: str, *, empty: bool = False, limit: Limit | None = None
    ) -> str | None:
        """Give a text, None when there is none."""
        if self._value.get(name) is None:
            return None
        return self.read_text(name, empty=empty, limit=limit)

    def read_whole_number(self, name: str, least: int) -> int:
        """Give a whole number, `least` or more and no larger than any count may be."""
        value = self._value.get(name)
        if type(value) is int and least <= value <= LARGEST_CLOCK:
            return value
        raise self._make_type_error(name, f"a whole number from {least} to {LARGEST_CLOCK}")

    def read_non_negative_number_or_none(self, name: str) -> float | None:
        """Give a number that is not negative, None when there is none."""
        value = self._value.get(name)
        if value is None:
            return None
        if type(value) in (int, float) and 0 <= value <= LARGEST_CLOCK:  # type: ignore[operator]  # a number
            return float(value)  # type: ignore[arg-type]  # a number
        raise self._make_type_error(name, "a number that is not negative")

    def read_number_up_to_1(self, name: str, *, zero: bool = False) -> float:
        """Give a number from 0 to 1; 0 itself only where `zero` allows it."""
        value: Any = self._value.get(name)
        if type(value) in (int, float) and (value > 0 or (zero and value == 0)) and value <= 1:
            return float(value)
        raise self._make_type_error(name, f"a number {'from' if zero else 'above'} 0 to 1")

    def read_flag(self, name: str) -> bool:
        """Give true or false; what is not there is false."""
        value = self._value.get(name, False)
        if isinstance(value, bool):
            return value
        raise self._make_type_error(name, "true or false")

    def read_one_of_words(self, name: str, words: Sequence[WordT]) -> WordT:
        """Give one of some words."""
        value = self._value.get(name)
        if isinstance(value, str) and value in words:
            return words[words.index(value)]
        raise self._make_type_error(name, "one of " + ", ".join(f"`{word}`" for word in words))

    def read_utc_time(self, name: str) -> datetime:
        """Give a moment, in UTC."""
        value = self._value.get(name)
        if isinstance(value, str):
            try:
                moment = datetime.fromisoformat(value)
                if moment.tzinfo is not None:
                    return moment.astimezone(UTC)
            except (ValueError, OverflowError):
                pass
        raise self._make_type_error(name, "a time with its zone, such as 2026-01-31T12:00:00+00:00")

    def read_utc_time_or_none(self, name: str) -> datetime | None:
        """Give a moment, None when there is none."""
        return None if self._value.get(name) is None else self.read_utc_time(name)

    def read_texts(self, name: str) -> tuple[str, ...]:
        """Give a list of texts; what is not there is empty."""
        value = self._value.get(name, [])
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise self._make_type_error(name, "a list of strings")

    def read_objects(self, name: str) -> Iterator["FieldReader"]:
        """Give the objects of a list, in order."""
        value = self._value.get(name)
        if not isinstance(value, list):
            raise self._make_type_error(name, "a list of objects")
        for place, each in enumerate(value):
            if not isinstance(each, dict):
                raise self.make_error(
                    f"{name}[{place}]", f"is {describe_json(each)}; expected an object"
                )
            yield FieldReader(each, self._path, self._line, f"{self._within}{name}[{place}].")

    def get_entry_of_earlier_line(self, name: str, known: Mapping[int, T]) -> T:
        """Give what an earlier line with this number said."""
        number = self._value.get(name)
        if type(number) is int and number in known:
            return known[number]
        raise self._make_type_error(
            name, f"the number of a {name} on an earlier line that could be used"
        )

    def _make_type_error(self, name: str, expected: str) -> InputError:
        if name not in self._value:
            return self.make_error(name, f"is missing; expected {expected}")
        return self.make_error(name, f"is {describe_json(self._value[name])}; expected {expected}")
