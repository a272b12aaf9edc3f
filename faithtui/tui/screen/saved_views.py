"""`V`: filters and orders that have a name."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from faithtui.store.runs.run_records import SavedView
from faithtui.tui.input_queue import ModalWindow
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.theme.lines import BLANK, Line, Piece, escape_line, make_line, wrap
from faithtui.tui.widgets.bars import KeyBar
from faithtui.tui.widgets.plain_input import PlainInput
from faithtui.tui.widgets.scroll_pane import RowPane

if TYPE_CHECKING:
    from faithtui.store.search.saved_views import SavedViews


class SavedViewsDialog(ModalWindow[SavedView | None]):
    """Views of a list to choose from; answers with the chosen one."""

    CSS_PATH = "saved_views.tcss"
    HELP_WORDS: ClassVar[str] = (
        "A saved view is a filter and an order under a name. Everybody who opens this store has it."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "s",
            "ask_for_view_name",
            "save this one",
            tooltip="Save the filter in force",
            id="views.save",
        ),
        Binding("d", "delete", "delete", tooltip="Delete the chosen view", id="views.delete"),
        Binding(
            "u",
            "restore_deleted_view",
            "undo",
            tooltip="Bring the deleted view back",
            id="views.undo",
        ),
        Binding(
            "escape,q",
            "close",
            "close",
            key_display="esc/q",
            tooltip="Close this window",
            id="views.close",
        ),
    ]

    def __init__(
        self,
        kept: "SavedViews",
        screen: str,
        views: Sequence[SavedView],
        here: SavedView,
        keys: KeyNames,
    ) -> None:
        super().__init__()
        self._keys = keys
        self._saved_views = kept
        self._screen = screen
        self._views = list(views)
        self._current_view = here
        self._deleted: SavedView | None = None

    def compose(self) -> ComposeResult:
        """Stack the views, a line for a name, and the keys."""
        with Vertical(id="dialog"):
            yield RowPane(id="text", title="Saved views")
            yield PlainInput(id="name", compact=True, placeholder="a name, then enter")
            yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Show the views."""
        self.query_one("#name").display = False
        self._paint_content()
        self.query_one(RowPane).focus()

    @on(RowPane.Chosen)
    def choose_view(self, event: RowPane.Chosen) -> None:
        """Answer with the chosen view."""
        if event.row < len(self._views):
            self.dismiss(self._views[event.row])

    @on(Input.Submitted)
    def save_filter_as_view(self, event: Input.Submitted) -> None:
        """Save the filter in force under the name typed."""
        name = event.value.strip()
        self._close_name_input()
        if name:
            self.save_or_delete_view(
                SavedView(name, self._current_view.filter, self._current_view.sort), keep=True
            )

    def action_ask_for_view_name(self) -> None:
        """Ask for a name."""
        field = self.query_one("#name", PlainInput)
        field.value = ""
        field.display = True
        field.focus()

    def action_delete(self) -> None:
        """Delete the chosen view; `u` brings it back."""
        at = self.query_one(RowPane).cursor
        if at < len(self._views):
            self._deleted = self._views[at]
            self.save_or_delete_view(self._deleted, keep=False)

    def action_restore_deleted_view(self) -> None:
        """Bring the deleted view back."""
        if self._deleted is not None:
            self.save_or_delete_view(self._deleted, keep=True)
            self._deleted = None

    def action_close(self) -> None:
        """Close the line for a name, else the window."""
        if self.query_one("#name").display:
            self._close_name_input()
        else:
            self.dismiss(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done now."""
        if action == "delete":
            return bool(self._views)
        if action == "restore_deleted_view":
            return self._deleted is not None
        return True

    @work(group="views", exit_on_error=False)
    async def save_or_delete_view(self, view: SavedView, *, keep: bool) -> None:
        """Save or delete a view and show what there is now."""
        if keep:
            await asyncio.to_thread(self._saved_views.save, self._screen, view)
        else:
            await asyncio.to_thread(self._saved_views.delete, self._screen, view.name)
        self._views = list(await asyncio.to_thread(self._saved_views.list_views, self._screen))
        self._paint_content()
        self.refresh_bindings()

    def _close_name_input(self) -> None:
        self.query_one("#name").display = False
        self.query_one(RowPane).focus()

    def _paint_content(self) -> None:
        pane = self.query_one(RowPane)
        pane.show(self._lines, title=f"Saved views {len(self._views)}")
        pane.move_to(min(pane.cursor, max(0, len(self._views) - 1)))
        # A pane as high as its lines is measured before it has any.
        self.call_after_refresh(pane.refresh, layout=True)

    def _lines(self, width: int) -> list[Line]:
        here = escape_line(self._current_view.filter or "no filter", "human", limit=120)
        now = wrap([Piece("in force: ", "quiet"), here], width - 1, first=[Piece(" ")])
        if not self._views:
            words = self._keys.fill_in_keys_as_pieces(
                "No view is saved yet. {views.save} saves this one."
            )
            return [*now, BLANK, *wrap(words, width - 1, first=[Piece(" ")])]
        return [
            *now,
            BLANK,
            *(
                make_line(
                    Piece(" "),
                    escape_line(view.name, "strong", limit=60),
                    Piece("  "),
                    escape_line(view.filter or "no filter", limit=200),
                    escape_line(f"  order: {view.sort}" if view.sort else "", "quiet", limit=60),
                    row=number,
                )
                for number, view in enumerate(self._views)
            ),
        ]
