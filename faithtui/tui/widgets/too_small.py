"""What stands over a screen while the terminal has no room for it."""

from rich.style import Style
from textual.widget import Widget

from faithtui.tui.theme.lines import BLANK, Line, Piece, wrap
from faithtui.tui.widgets.line_widget import LineWidget


class TooSmall(LineWidget, Widget):
    """Says how large the terminal must be.

    Args:
        least: Columns and rows that are needed.
        quit_key: What the key that quits is called.
    """

    DEFAULT_CSS = """
    TooSmall {
        layer: above;
        width: 100%;
        height: 100%;
        background: $background;
    }
    """

    def __init__(self, least: tuple[int, int], quit_key: str) -> None:
        super().__init__()
        self._least = least
        self._quit_key = quit_key

    def get_line_and_style_at(self, y: int) -> tuple[Line, Style]:
        """Give a line of the sentence, which begins at the top: what is cut is its end."""
        width, height = self.size
        lines = too_small_lines((width, height), self._least, self._quit_key)
        return lines[y] if y < len(lines) else BLANK, self.looks.base_style


def too_small_lines(size: tuple[int, int], least: tuple[int, int], quit_key: str) -> list[Line]:
    """Say how large a terminal must be, and that nothing is lost.

    Args:
        size: Columns and rows there are.
        least: Columns and rows that are needed.
        quit_key: What the key that quits is called.
    """
    width = max(1, size[0])
    lines = wrap(
        [Piece(f"Enlarge this terminal to {least[0]}x{least[1]}", "strong"), Piece(".")], width
    )
    lines += wrap(
        [
            Piece(f"It has {size[0]}x{size[1]}. Nothing is lost, runs go on; ", "quiet"),
            Piece(quit_key, "key"),
            Piece(" quits.", "quiet"),
        ],
        width,
    )
    return lines
