"""The lines around the panes: where you are, what happened last, which keys work."""

from collections.abc import Sequence

from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from faithtui.tui.keymap.key_names import KeyHint, pack
from faithtui.tui.theme.lines import BLANK, Line, Piece, cut, spread, width_of
from faithtui.tui.widgets.drawn import Drawn

LEAST_RIGHT = 8
"""Cells below which the right end of the status line gives way altogether."""


class EdgeLine(Drawn, Widget):
    """One line with something at each end."""

    left: reactive[tuple[Piece, ...]] = reactive(())
    right: reactive[tuple[Piece, ...]] = reactive(())

    def render_line(self, y: int) -> Strip:
        """Draw both ends."""
        width = self.size.width
        inner = self.laid_out(width) if y == 0 else BLANK
        return self.strip_of(inner, width, self.base_style)

    def laid_out(self, width: int) -> Line:
        """Put both ends into `width` cells; the left one is cut when they meet."""
        return spread((Piece(" "), *self.left), (*self.right, Piece(" ")), width)


class TitleBar(EdgeLine):
    """Where you are, and in which mode."""


class StatusLine(EdgeLine):
    """What happened last, and how the run goes on."""

    def laid_out(self, width: int) -> Line:
        """Put both ends into `width` cells; what happened last is whole as long as it can be."""
        room = width - width_of(self.left) - 5
        right: Sequence[Piece] = self.right
        if self.left and width_of(right) > room:
            right = cut(right, room) if room >= LEAST_RIGHT else ()
        return spread((Piece(" "), *self.left), (*right, Piece(" ")), width)


class KeyBar(Drawn, Widget):
    """Keys that work now, whole words only, help and back never dropped."""

    _listed: Sequence[KeyHint] | None = None
    """What is drawn; None before the first time."""

    def on_mount(self) -> None:
        """Follow what can be done."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _screen: self.follow())

    def follow(self) -> None:
        """Draw again where other keys work than before: most keys pressed change nothing here."""
        if self._listed is None:
            return  # The screen may not be made yet, and what it can do is asked for at the paint.
        hints = self.hints()
        if hints != self._listed:
            self._listed = hints
            self.refresh()

    def hints(self) -> Sequence[KeyHint]:
        """List what works now, most important first."""
        return KeyHint.of(self.screen)

    def render_line(self, y: int) -> Strip:
        """Draw a line of keys."""
        width = self.size.width
        if self._listed is None:
            self._listed = self.hints()
        lines: list[Line] = pack(self._listed, width, self.size.height)
        return self.strip_of(lines[y] if y < len(lines) else BLANK, width, self.base_style)
