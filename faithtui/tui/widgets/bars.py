"""The lines around the panes: where you are, what happened last, which keys work."""

from collections.abc import Sequence

from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from faithtui.tui.keys import KeyHint, pack
from faithtui.tui.lines import BLANK, Line, Piece, spread
from faithtui.tui.widgets.drawn import Drawn


class EdgeLine(Drawn, Widget):
    """One line with something at each end."""

    left: reactive[tuple[Piece, ...]] = reactive(())
    right: reactive[tuple[Piece, ...]] = reactive(())

    def render_line(self, y: int) -> Strip:
        """Draw both ends; the left one is cut when they meet."""
        width = self.size.width
        inner = spread((Piece(" "), *self.left), (*self.right, Piece(" ")), width)
        return self.strip_of(inner if y == 0 else BLANK, width, self.base_style)


class TitleBar(EdgeLine):
    """Where you are, and in which mode."""


class StatusLine(EdgeLine):
    """What happened last, and how the run goes on."""


class KeyBar(Drawn, Widget):
    """Keys that work now, whole words only, help and back never dropped."""

    def on_mount(self) -> None:
        """Follow what can be done."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _screen: self.refresh())

    def hints(self) -> Sequence[KeyHint]:
        """List what works now, most important first."""
        return KeyHint.of(self.screen)

    def render_line(self, y: int) -> Strip:
        """Draw a line of keys."""
        width = self.size.width
        lines: list[Line] = pack(self.hints(), width, self.size.height)
        return self.strip_of(lines[y] if y < len(lines) else BLANK, width, self.base_style)
