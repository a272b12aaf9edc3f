"""A line to type in that draws nothing but visible characters, whatever is pasted into it."""

from textual.widgets import Input

from faithtui.domain.plain import visible_line


class PlainInput(Input):
    """An `Input` whose value passes the same function as every other text."""

    def validate_value(self, value: str) -> str:
        """Make what was typed, pasted or loaded visible."""
        return visible_line(value)
