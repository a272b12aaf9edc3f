"""The lines around the panes: where you are, what happened last, which keys work."""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.reactive import reactive
from textual.widget import Widget

from faithtui.tui.keymap.key_names import KeyHint, pack_hints
from faithtui.tui.theme.lines import (
    BLANK,
    Line,
    Piece,
    align_to_edges,
    count_cells_of_pieces,
    truncate_pieces,
)
from faithtui.tui.widgets.key_clicks import list_keys_in_clicked_hint
from faithtui.tui.widgets.line_widget import LineWidget

PART_MARK = " · "
"""What stands between parts of the status line."""
LEAST_RIGHT = 8
"""Cells below which the right end of the status line gives way altogether."""


class EdgeLine(LineWidget, Widget):
    """One line with something at each end."""

    left: reactive[tuple[Piece, ...]] = reactive(())
    right: reactive[tuple[Piece, ...]] = reactive(())

    def get_line_and_style_at(self, y: int) -> tuple[Line, Style]:
        """Give the line with both ends."""
        return self.lay_out_line(self.size.width) if y == 0 else BLANK, self.looks.base_style

    def lay_out_line(self, width: int) -> Line:
        """Put both ends into `width` cells; the left one is cut when they meet."""
        return align_to_edges((Piece(" "), *self.left), (*self.right, Piece(" ")), width)


class TitleBar(EdgeLine):
    """Where you are, and in which mode; words behind a key can be clicked as the key can."""

    def list_clicked_keys(
        self, pieces: Sequence[Piece], x: int, active: Mapping[str, str]
    ) -> tuple[events.Key, ...]:
        """Find the key that a click on a tab presses."""
        return list_keys_in_clicked_hint(pieces, x, active)


class StatusLine(EdgeLine):
    """What happened last, how the run or the session goes on, and who reviews."""

    who: reactive[tuple[Piece, ...]] = reactive(())
    """In whose name labels are saved; never pushed out by what happened."""

    @property
    def _is_warning(self) -> bool:
        """Whether what happened begins with what was not done."""
        return bool(self.left) and self.left[0].look.split()[:1] in (["warn"], ["bad"])

    def has_room_for(self, piece: Piece) -> bool:
        """Whether something that happened is read to its end."""
        return piece.text in self.lay_out_line(self.size.width).text

    def lay_out_line(self, width: int) -> Line:
        """Put all into `width` cells: how it goes on gives way first, then what happened is cut.

        Where what happened is cut anyway, the first part of how it goes on stays in half the line,
        but not beside a warning: what was not done matters more than how it goes on.
        """
        who = truncate_pieces(self.who, max(1, width // 3)) if self.who else []
        beside = width - count_cells_of_pieces(who) - (8 if who else 5)
        room = beside - count_cells_of_pieces(self.left)
        right: Sequence[Piece] = self.right
        if room < 0 and not self._is_warning:
            room = beside - width // 2
            right = _keep_first_part(right)
        if count_cells_of_pieces(right) > room:
            right = _keep_parts_that_fit(right, room) if room >= LEAST_RIGHT else ()
        between = [Piece(PART_MARK, "quiet")] if right and who else []
        ends = (*right, *between, *who, Piece(" "))
        return align_to_edges((Piece(" "), *self.left), ends, width)


def _keep_first_part(pieces: Sequence[Piece]) -> Sequence[Piece]:
    """Leave out all parts but the first; () where there is one alone, as it may be a sentence."""
    text = "".join(each.text for each in pieces)
    return _keep_parts_that_fit(pieces, cell_len(text.partition(PART_MARK)[0]))


def _keep_parts_that_fit(pieces: Sequence[Piece], room: int) -> Sequence[Piece]:
    """Leave out parts at the end, which stand behind ` · `, and a first one that is too long.

    A piece of `blind spot-check 3/20` would be another figure.
    """
    text = "".join(each.text for each in pieces)
    end = text.rfind(PART_MARK)
    while end > 0 and cell_len(text[:end]) > room:
        end = text.rfind(PART_MARK, 0, end)
    if end <= 0:
        return ()
    kept: list[Piece] = []
    for each in pieces:
        kept.append(Piece(each.text[:end], each.look))
        end = max(0, end - len(each.text))
    return kept


def _join_hints(hints: Sequence[Sequence[Piece]], gap: str) -> list[Piece]:
    found: list[Piece] = []
    for hint in hints:
        found += [*([Piece(gap)] if found else []), *hint]
    return found


class HintLine(EdgeLine):
    """Keys with their words, which can be clicked as well; no part of a hint is drawn."""

    hints: reactive[tuple[tuple[Piece, ...], ...]] = reactive(())
    short_hints: reactive[tuple[tuple[Piece, ...], ...]] = reactive(())
    """The same in fewer cells, for a line that has no room for all hints."""

    def lay_out_line(self, width: int) -> Line:
        """Give the hints two blanks apart, else short ones one apart; … stands for more of them."""
        shown = _join_hints(self.hints, "  ")
        if count_cells_of_pieces(shown) >= width:
            hints = self.short_hints or self.hints
            shown = _join_hints(hints, " ")
            while hints and count_cells_of_pieces(shown) >= width:
                hints = hints[:-1]
                shown = [*_join_hints(hints, " "), Piece(" …", "quiet")]
        return align_to_edges((Piece(" "), *shown), (), width)

    def list_clicked_keys(
        self, pieces: Sequence[Piece], x: int, active: Mapping[str, str]
    ) -> tuple[events.Key, ...]:
        """Find the key that a click on a hint presses."""
        return list_keys_in_clicked_hint(pieces, x, active)


class KeyBar(LineWidget, Widget):
    """Keys that work now, whole words only, help and back never dropped."""

    _drawn_hints: Sequence[KeyHint] | None = None
    """What is drawn; None before the first time."""

    def on_mount(self) -> None:
        """Follow what can be done."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _screen: self.update_hints())

    def update_hints(self) -> None:
        """Draw again where other keys work than before: most keys pressed change nothing here."""
        if self._drawn_hints is None:
            return  # The screen may not be made yet, and what it can do is asked for at the paint.
        hints = self.list_hints()
        if hints != self._drawn_hints:
            self._drawn_hints = hints
            self.refresh()

    def list_hints(self) -> Sequence[KeyHint]:
        """List what works now, most important first."""
        return KeyHint.list_for_screen(self.screen)

    def list_clicked_keys(
        self, pieces: Sequence[Piece], x: int, active: Mapping[str, str]
    ) -> tuple[events.Key, ...]:
        """Find the key that a click on a hint presses."""
        return list_keys_in_clicked_hint(pieces, x, active)

    def get_line_and_style_at(self, y: int) -> tuple[Line, Style]:
        """Give a line of keys."""
        width = self.size.width
        if self._drawn_hints is None:
            self._drawn_hints = self.list_hints()
        lines: list[Line] = pack_hints(self._drawn_hints, width, self.size.height)
        return lines[y] if y < len(lines) else BLANK, self.looks.base_style
