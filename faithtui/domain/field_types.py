"""Values of another type than a field has, refused in a sentence that names field and way out.

For what users write as a library: a text where a list of texts is meant is a sequence of letters,
and a mistyped role would be judged as nobody's. Files are checked where they are read.
"""

from collections.abc import Iterable
from types import UnionType
from typing import cast

from faithtui.errors import InputError

Kinds = type | UnionType | tuple[type, ...]
"""One type, or several."""


def require_type(value: object, kinds: Kinds, field: str, expected: str) -> None:
    """Refuse a value that is of none of some types.

    Args:
        value: What was given.
        kinds: What it may be.
        field: Its name, for the message.
        expected: What to give instead, in words.

    Raises:
        InputError: It is of another type.
    """
    if not isinstance(value, kinds):
        raise InputError(f"is {_describe_value(value)}; expected {expected}", field=field)


def require_items(values: object, container: type, kinds: Kinds, field: str, expected: str) -> None:
    """Refuse what is no such container, or holds anything else than some types.

    Args:
        values: What was given.
        container: What it must be, `tuple` or the like. A text is never one.
        kinds: What it may hold.
        field: Its name, for the message.
        expected: What to give instead, in words.

    Raises:
        InputError: It is something else, or one of its values is.
    """
    if isinstance(values, (str, bytes)) or not isinstance(values, container):
        raise InputError(f"is {_describe_value(values)}; expected {expected}", field=field)
    for place, each in enumerate(cast("Iterable[object]", values)):
        if not isinstance(each, kinds):  # looked at before, as naming every place takes longest
            require_type(each, kinds, f"{field}[{place}]", expected)


def _describe_value(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, str):
        return "a text"
    name = type(value).__name__
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return f"{'an' if name[:1].lower() in tuple('aeiou') else 'a'} {name}"
