"""Elements of HTML and SVG, built so that text can never become markup.

The only way to markup is `make_element`; whatever else is put into one is text and gets escaped.
The result is XML as well, so that any parser can check it.
"""

from dataclasses import dataclass
from html import escape

from faithtui.domain.text.visible_text import make_visible

AttributeValue = str | int | float
"""Of an attribute. Numbers are written with at most two decimals."""


@dataclass(frozen=True, slots=True)
class Markup:
    """Text that is markup already."""

    text: str


Child = Markup | str


def escape_to_markup(words: str) -> Markup:
    """Escape a text; what is invisible or no character of XML becomes visible."""
    return Markup(escape(make_visible(words)))


def concatenate_markup(*parts: Child) -> Markup:
    """Put parts one after the other."""
    return Markup(
        "".join(
            each.text if isinstance(each, Markup) else escape_to_markup(each).text for each in parts
        )
    )


def make_element(tag: str, *children: Child, **attributes: AttributeValue | None) -> Markup:
    """Make an element.

    Args:
        tag: Its name.
        children: What is in it; a string is text.
        attributes: `class_` stands for `class`, and any other underscore for a hyphen; one that
            is None is left out.

    Returns:
        `<tag .../>` without children, which HTML takes for void elements and inside SVG only.
    """
    found = "".join(
        f" {name.rstrip('_').replace('_', '-')}="
        f'"{escape(make_visible(_attribute_value_text(value)))}"'
        for name, value in attributes.items()
        if value is not None
    )
    inner = concatenate_markup(*children).text
    return Markup(f"<{tag}{found}>{inner}</{tag}>" if children else f"<{tag}{found}/>")


def _attribute_value_text(value: AttributeValue) -> str:
    return f"{round(value, 2) + 0.0:g}" if isinstance(value, float) else str(value)
