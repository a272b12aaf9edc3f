"""Values as JSON: the fields of a value class become keys by their names.

What differs from that stands in a table of forms, one per class. A field that is added to a class
is written without a change here or there.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any

from faithtui.domain.estimates import Estimate

Json = Mapping[str, "Json"] | Sequence["Json"] | str | int | float | bool | None
JsonFields = dict[str, Json]


@dataclass(frozen=True, slots=True)
class JsonForm:
    """How the JSON object of a value class differs from its fields."""

    left_out: Mapping[str, str] = field(default_factory=dict)
    """Fields that are no keys, each with the reason."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Keys of fields that have another name there."""
    more: Callable[[Any], JsonFields] | None = None
    """Makes further keys of a value, or gives a field's key another value."""
    order: tuple[str, ...] = ()
    """Keys that come first, in this order; the others follow in the order of the fields."""


ESTIMATE_ORDER = ("value", "status", "reason", "ci_low", "ci_high", "level", "method", "se")
"""Keys of an estimate that come before its counts."""


class JsonWriter:
    """Turns values into what `json.dumps` takes.

    Args:
        forms: What differs from the fields, by class.
        decimals: Numbers with a fraction are rounded to so many; None: left as they are.
    """

    def __init__(self, forms: Mapping[type, JsonForm], decimals: int | None = None) -> None:
        self._forms = {Estimate: JsonForm(order=ESTIMATE_ORDER), **forms}
        self._decimals = decimals
        self._fields: dict[type, tuple[str, ...]] = {}

    def convert(self, value: object) -> Json:
        """Turn a value into JSON.

        Args:
            value: A plain value, an enum (its value is written), a mapping with text keys, an
                instance of a dataclass or of a `NamedTuple` (an object), or a list or tuple of
                these.

        Raises:
            TypeError: It is none of these.
        """
        match value:
            case Enum():
                found: Json = value.value
                return found
            case None | bool() | int() | str():
                return value
            case float() if self._decimals is not None:
                # Adding 0.0 turns -0.0 into 0.0.
                return round(value, self._decimals) + 0.0
            case float():
                return value
            case Mapping():
                return {str(key): self.convert(each) for key, each in value.items()}
        if is_dataclass(value) or hasattr(value, "_fields"):
            return self.convert_object(value)
        if isinstance(value, list | tuple):
            return [self.convert(each) for each in value]
        raise TypeError(f"a {type(value).__name__} cannot be written as JSON")

    def convert_object(self, value: object, **more: Json) -> JsonFields:
        """Turn an instance of a value class into a JSON object.

        Args:
            value: The instance.
            more: Further keys, or other values of its keys; they count for the order of the form.
        """
        kind = type(value)
        form = self._forms.get(kind, _BY_NAME)
        if kind not in self._fields:
            kept = (each for each in list_field_names(kind) if each not in form.left_out)
            self._fields[kind] = tuple(kept)
        found: JsonFields = {
            form.renamed.get(name, name): self.convert(getattr(value, name))
            for name in self._fields[kind]
            if name not in more
        }
        if form.more is not None:
            found |= form.more(value)
        found |= more
        return {key: found[key] for key in (*form.order, *found) if key in found}


_BY_NAME = JsonForm()


def value_json(value: object) -> Json:
    """Turn a value into JSON by the names of its fields, numbers as they are.

    Raises:
        TypeError: It is nothing that `JsonWriter.convert` takes.
    """
    return JsonWriter({}).convert(value)


def list_field_names(kind: type) -> tuple[str, ...]:
    """List the names of the fields of a dataclass or of a `NamedTuple`, in order."""
    if is_dataclass(kind):
        return tuple(each.name for each in fields(kind))
    named: tuple[str, ...] = getattr(kind, "_fields", ())
    return named


def parse_object_or_none(line: bytes) -> dict[str, object] | None:
    """Read a line of a file as a JSON object; None when it is broken or something else."""
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
