"""`g`: the screens by letter, one of which is gone to."""

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType

from faithtui.tui import screen_catalog
from faithtui.tui.keymap.key_names import format_key, sort_by_definition_order
from faithtui.tui.screen.dialogs import Dialog
from faithtui.tui.theme.lines import Line, Piece, fit_text, truncate_pieces
from faithtui.tui.widgets.scroll_pane import Pane, RowPane

FIRST_ENTRY_WORDS = "To the beginning of the focused pane"


class GoToDialog(Dialog):
    """Which screen to go to, by one more letter, enter or a click."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # The window lists them all: a line of keys with room for some would say that others fail.
        *(
            Binding(
                entry.letter,
                f"go('{name}')",
                name,
                show=False,
                tooltip=f"Go to: {entry.words}",
                id=f"go.{name}",
            )
            for name, entry in screen_catalog.SCREENS.items()
        ),
        Binding(
            "0",
            "go('')",
            "first entry",
            show=False,
            tooltip=FIRST_ENTRY_WORDS,
            id="go.first",
        ),
    ]

    def __init__(self) -> None:
        super().__init__("go to", self._lines)

    def make_pane(self) -> Pane:
        """Make the pane; one click is enough, as on the keys."""
        return RowPane(id="text", title=self._title, opens_on_first_click=True)

    def action_go(self, name: str) -> None:
        """Answer with the screen; "" is the beginning of this one's focused pane."""
        self.dismiss(name)

    def on_row_pane_chosen(self, event: RowPane.Chosen) -> None:
        """Answer with the screen of the row."""
        self.dismiss(self._list_places()[event.row][0])

    def _list_places(self) -> list[tuple[str, str]]:
        """List the screens in their order with their keys, then "" with that of this one."""
        keys: dict[str, list[str]] = {}
        for each in sort_by_definition_order(self.active_bindings.values()):
            if (each.binding.id or "").startswith("go."):
                keys.setdefault(each.binding.id or "", []).append(format_key(each.binding))
        return [
            ("" if name == "go.first" else name.removeprefix("go."), "/".join(dict.fromkeys(each)))
            for name, each in keys.items()
        ]

    def _lines(self, width: int) -> Sequence[Line]:
        places = self._list_places()
        names = [name or "first entry" for name, _ in places]
        room = max(map(cell_len, names), default=0)
        key_room = max((cell_len(key) for _, key in places), default=0)
        lines = []
        for row, ((name, key), shown) in enumerate(zip(places, names, strict=True)):
            words = screen_catalog.WORDS[name] if name else FIRST_ENTRY_WORDS
            pieces = [
                Piece(f"  {fit_text(key, key_room)}  ", "key"),
                Piece(fit_text(shown, room), "strong"),
                Piece(f"  {words}", "quiet"),
            ]
            lines.append(Line(tuple(truncate_pieces(pieces, width - 1)), row))
        return lines
