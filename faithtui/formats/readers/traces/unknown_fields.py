"""What records of a trace have and their tool's schema has not: reported by key, kept if safe.

Metadata goes into exports, so it must never hold a secret, nor the prompt of each call once more.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Self

from faithtui.formats.readers.values.cells import parse_list_or_object_or_keep_text
from faithtui.formats.readers.values.key_spellings import normalise_key_spelling

_MOST_CHARACTERS: Final = 2_000
"""Of the JSON of a value that is kept; a prompt is longer."""
_SECRET_NAME: Final = re.compile(
    r"header|authorization|apikey|token(?!iz)|cookie|secret(?!ar)|password"
)
_SECRET_NAME_BUT_HEADER: Final = re.compile(_SECRET_NAME.pattern.removeprefix("header|"))
_HEADING: Final = re.compile(r"header(\d+|path)")
"""What LangChain's and LlamaIndex's splitters of Markdown call the headings above a passage."""
_COUNT: Final = re.compile(r"tokens$|tokencount")
_GIVES_VALUE: Final = re.compile(r"[:=]|bearer\s", re.IGNORECASE)
"""What stands in a header of a request, and not in a heading."""
_NAMES_OF_SECRETS: Final = (
    r"(header|authorization|api[ _.-]?key|token(?!iz)|cookie|secret(?!ar)|password)[\w .-]{0,60}"
)
"""With the rest of a name; its bound keeps the search of a long text linear."""
_NAME_AS_VALUE: Final = r"""\\*["']\s*,"""
_SECRET_INSIDE: Final = re.compile(
    rf"""{_NAMES_OF_SECRETS}({_NAME_AS_VALUE}|\\*["']?\s*[:=])|\bbearer\s""", re.IGNORECASE
)
"""Such a name in the JSON of a value, perhaps within JSON that stands in a text of it."""
_SECRET_BEHIND_ITS_NAME: Final = re.compile(_NAMES_OF_SECRETS + _NAME_AS_VALUE, re.IGNORECASE)
"""Such a name as a value of its own, as in a list of pairs: what stands behind it may be one."""
_to_json_text: Final = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(slots=True)
class UnknownFields:
    """Fields that nobody understood."""

    kept: Counter[str] = field(default_factory=Counter)
    """How often each key came with a value that is kept."""
    dropped: Counter[str] = field(default_factory=Counter)
    """How often each came with one that is too large, or that may be a secret."""
    values: dict[str, dict[str, object]] = field(default_factory=dict)
    """Distinct values by key, each by its JSON."""
    unreachable: set[str] = field(default_factory=set)
    """Keys that `--map` does not reach, as they stand in a text or among attributes, or should not,
    as what is under them may be a secret."""

    def add_fields(
        self,
        fields: Mapping[str, object],
        known: Collection[str],
        within: str = "",
        *,
        can_be_mapped: bool = True,
    ) -> None:
        """Add what a record has and its tool's schema has not.

        Args:
            fields: The record, or an object in it.
            known: Folded names that the schema has; a second spelling of one is not read.
            within: Name of the field the object stands in, with a dot; "" for a whole record.
            can_be_mapped: Whether `--map` reaches it there.
        """
        folds = set()
        for key, value in fields.items():
            if value is None:
                continue
            fold = normalise_key_spelling(key)
            if (fold not in known or fold in folds) and value not in ("", [], {}):
                self.add_value(f"{within}{key}", value, can_be_mapped=can_be_mapped)
            folds.add(fold)

    def add_value(self, key: str, value: object, *, can_be_mapped: bool = True) -> None:
        """Add the value of one key that no schema has; see `add_fields`."""
        text = _to_json_text(value)
        if text in self.values.get(key, ()):
            self.kept[key] += 1
            return
        if not can_be_mapped:
            self.unreachable.add(key)
        if len(text) > _MOST_CHARACTERS or _is_secret_name(key) or _has_secret_inside(text):
            self.dropped[key] += 1
            return
        self.kept[key] += 1
        self.values.setdefault(key, {})[text] = value

    def drop_secrets(self, fields: Mapping[str, object], within: str) -> dict[str, object]:
        """Give metadata without the texts that may be secrets, which are counted as dropped.

        A name of one covers all texts under it. A number, as a count of tokens, is none. Of JSON in
        a text what is no secret is kept.
        """
        found = self._leave_out_secrets(fields, within.removesuffix("."), is_secret=False)
        assert isinstance(found, dict)
        return found

    def _leave_out_secrets(self, value: object, key: str, *, is_secret: bool) -> object:
        """Give a value without secrets; None for a text that may be one."""
        if isinstance(value, dict):
            kept = {
                name: self._leave_out_secrets(
                    each,
                    f"{key}.{name}" if key else name,
                    is_secret=is_secret or _is_name_of_secret(name, each),
                )
                for name, each in value.items()
            }
            return {
                name: each for name, each in kept.items() if each is not None or value[name] is None
            }
        if isinstance(value, list):
            listed = [
                self._leave_out_secrets(each, f"{key}[]", is_secret=is_secret) for each in value
            ]
            return [each for each in listed if each is not None]
        if isinstance(value, str) and value and (is_secret or _has_secret_inside(value)):
            inner = value if is_secret else parse_list_or_object_or_keep_text(value)
            if isinstance(inner, dict | list):
                visible = self._leave_out_secrets(inner, key, is_secret=False)
                text = _to_json_text(visible)
                if _SECRET_BEHIND_ITS_NAME.search(text) is None:
                    return value if visible == inner else text
            self.dropped[key] += 1
            self.unreachable.add(key)
            return None
        return value

    def add_all(self, other: "UnknownFields") -> None:
        """Add what another one holds."""
        self.kept.update(other.kept)
        self.dropped.update(other.dropped)
        for key, values in other.values.items():
            self.values.setdefault(key, {}).update(values)
        self.unreachable |= other.unreachable

    def to_json(self) -> list[object]:
        """Write it as JSON; an empty list where it holds nothing."""
        if not self.kept and not self.dropped:
            return []
        return [self.kept, self.dropped, self.values, sorted(self.unreachable)]

    @classmethod
    def from_json(cls, value: list[object]) -> Self:
        """Read what `to_json` wrote."""
        if not value:
            return cls()
        kept, dropped, values, unreachable = value
        return cls(Counter(kept), Counter(dropped), values, set(unreachable))  # type: ignore[call-overload,arg-type]  # as `to_json` wrote them


def _is_name_of_secret(name: str, value: object) -> bool:
    """Say whether a name says that its value is a secret: no heading of Markdown, and no count."""
    if not _is_secret_name(name):
        return False
    fold = normalise_key_spelling(name)
    is_count = isinstance(value, str) and value.isdecimal() and _COUNT.search(fold) is not None
    is_heading = isinstance(value, str) and _HEADING.fullmatch(fold) is not None
    return not (is_count or is_heading or _is_title_under_header(fold, value))


def _is_title_under_header(fold: str, value: object) -> bool:
    """Say whether `header` is what stands above a passage: texts that give no name a value."""
    if _SECRET_NAME_BUT_HEADER.search(fold) is not None:
        return False
    texts = value if isinstance(value, list) else [value]
    return all(isinstance(each, str) and not _GIVES_VALUE.search(each) for each in texts)


@lru_cache(maxsize=1024)  # a key comes once a record
def _is_secret_name(key: str) -> bool:
    return _SECRET_NAME.search(normalise_key_spelling(key)) is not None


@lru_cache(maxsize=1024)  # most values of an attribute come again
def _has_secret_inside(text: str) -> bool:
    return _SECRET_INSIDE.search(text) is not None
