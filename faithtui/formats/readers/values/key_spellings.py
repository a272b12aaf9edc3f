"""Objects of other tools' files, whose keys come in several spellings.

`retrievalContext`, `retrieval_context` and `Retrieval Context` are one key here. Whatever is not
asked for stays in `get_unread_fields`, so that nothing vanishes unseen.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from faithtui.formats.json_lines import describe_json

_FOLDED = re.compile(r"[^a-z0-9]+")


@lru_cache(maxsize=4096)
def normalise_key_spelling(key: str) -> str:
    """Give all spellings of a key the same text: case, underscores and spaces do not count."""
    folded = _FOLDED.sub("", key.lower())
    return folded or key


def has_keys(value: object, *keys: str) -> bool:
    """Say whether a value is an object that has all of these keys, in any spelling."""
    if not isinstance(value, dict):
        return False
    folded = {normalise_key_spelling(key) for key in value if isinstance(key, str)}
    return all(normalise_key_spelling(key) in folded for key in keys)


def has_any_key(value: object, *keys: str) -> bool:
    """Say whether a value is an object that has one of these keys, in any spelling."""
    return any(has_keys(value, key) for key in keys)


class ShapeError(Exception):
    """A value that is not what its format has there; the caller adds file and line."""

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        self.reason = reason
        super().__init__(field, reason)


class AnySpelling:
    """An object, looked up by key in any spelling.

    Args:
        value: The object.
        where: Name of the field it stands in, for messages; "" for a whole record.
    """

    __slots__ = ("_keys", "_taken", "value", "where")

    def __init__(self, value: Mapping[str, object], where: str = "") -> None:
        self.value = value
        self.where = where
        self._keys: dict[str, list[str]] = {}
        for key in value:
            self._keys.setdefault(normalise_key_spelling(key), []).append(key)
        self._taken: set[str] = set()

    def read_first_value(self, *names: str) -> object:
        """Give the first of some keys that holds something; None when none does.

        Only the key that is given counts as read.
        """
        for name in names:
            for key in self._keys.get(normalise_key_spelling(name), ()):
                if self.value[key] is not None:
                    self._taken.add(key)
                    return self.value[key]
        return None

    def read_text(self, *names: str) -> str | None:
        """Give a text, numbers as text too; None when there is none.

        Raises:
            ShapeError: The key holds something else.
        """
        value = self.read_first_value(*names)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, float):
            return str(int(value)) if value.is_integer() else str(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        raise self.make_error(names, value, "a string")

    def read_if_text(self, *names: str) -> str | None:
        """Give a text.

        None also where the key holds something else, which stays in `get_unread_fields`.
        """
        for name in names:
            for key in self._keys.get(normalise_key_spelling(name), ()):
                if isinstance(self.value[key], str):
                    self._taken.add(key)
                    return str(self.value[key])
        return None

    def read_object(self, *names: str) -> "AnySpelling":
        """Give an object; an empty one when there is none.

        Raises:
            ShapeError: The key holds something else.
        """
        value = self._parse_cell(names, self.read_first_value(*names))
        if value is None:
            return AnySpelling({})
        if isinstance(value, dict):
            return AnySpelling(value, self._make_field_path(names))
        raise self.make_error(names, value, "an object")

    def read_objects(self, *names: str) -> "Iterator[AnySpelling]":
        """Give the objects of a list, in order; none when there is no list.

        Raises:
            ShapeError: The key holds something else.
        """
        for each in self.read_objects_or_errors(*names):
            if isinstance(each, ShapeError):
                raise each
            yield each

    def read_objects_or_errors(self, *names: str) -> "Iterator[AnySpelling | ShapeError]":
        """Give the objects of a list, in order, and an error for each element that is none.

        A key that holds no list is one error.
        """
        value = self._parse_cell(names, self.read_first_value(*names))
        if value is None:
            return
        if not isinstance(value, list):
            yield self.make_error(names, value, "a list of objects")
            return
        for place, each in enumerate(value):
            where = f"{self._make_field_path(names)}[{place}]"
            if isinstance(each, dict):
                yield AnySpelling(each, where)
            else:
                yield ShapeError(where, f"is {describe_json(each)}; expected an object")

    def has_one_of_keys(self, *names: str) -> bool:
        """Say whether one of some keys is there, null or not."""
        return any(normalise_key_spelling(name) in self._keys for name in names)

    def get_key_spelling(self, *names: str) -> str:
        """Give the spelling in which the first of some keys stands here; the first name if none."""
        for name in names:
            if normalise_key_spelling(name) in self._keys:
                return self._keys[normalise_key_spelling(name)][0]
        return names[0]

    def get_unread_fields(self) -> dict[str, object]:
        """Give what nobody asked for and holds something."""
        return {
            key: value
            for key, value in self.value.items()
            if key not in self._taken and value is not None
        }

    def mark_as_unread(self, *names: str) -> None:
        """Put some keys back into `get_unread_fields`: what they hold was not understood."""
        for name in names:
            self._taken.difference_update(self._keys.get(normalise_key_spelling(name), ()))

    def make_error(self, names: tuple[str, ...], value: object, expected: str) -> ShapeError:
        """Make the error that says what a key holds and what was expected."""
        reason = f"is {describe_json(value)}; expected {expected}"
        return ShapeError(self._make_field_path(names), reason)

    def _parse_cell(self, names: tuple[str, ...], value: object) -> object:
        """Read a list or an object that a cell of a table holds as text."""
        if not isinstance(value, str):
            return value
        from faithtui.formats.readers.values.cells import parse_list_or_object_cell

        return parse_list_or_object_cell(value, self._make_field_path(names)) or None

    def _make_field_path(self, names: tuple[str, ...]) -> str:
        name = self.get_key_spelling(*names)
        return f"{self.where}.{name}" if self.where else name
