"""Small windows above a screen. Each closes by a letter or enter too, not by escape alone."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from faithtui.tui.input_queue import ModalWindow
from faithtui.tui.theme.lines import Piece, wrap
from faithtui.tui.widgets.bars import KeyBar
from faithtui.tui.widgets.scroll_pane import Builder, Pane, RowPane
from faithtui.tui.widgets.seen_rows import RowsSeen


class Dialog(ModalWindow[str | None]):
    """A pane above the screen, and its keys."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    HELP_WORDS: ClassVar[str] = ""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,q",
            "close",
            "close",
            key_display="esc/q",
            tooltip="Close this window",
            id="dialog.close",
        ),
    ]

    def __init__(self, title: str, build: Builder, *, start: int = 0) -> None:
        super().__init__()
        self._title = title
        self._build = build
        self._start = start

    def compose(self) -> ComposeResult:
        """Stack the pane and its keys."""
        with Vertical(id="dialog"):
            yield self.make_pane()
            yield KeyBar(id="keys")

    def make_pane(self) -> Pane:
        """Make the pane."""
        return Pane(id="text", title=self._title)

    def on_mount(self) -> None:
        """Fill the pane."""
        self.show_content()

    def show_content(self) -> None:
        """Fill the pane, and give it the focus."""
        pane = self.query_one(Pane)
        pane.show(self._build)
        pane.focus()
        # A pane as high as its lines is measured before it has any.
        self.call_after_refresh(pane.refresh, layout=True)
        if self._start:
            self.call_after_refresh(pane.scroll_to, y=self._start, animate=False)

    def action_close(self) -> None:
        """Close without an answer."""
        self.dismiss(None)


class TextDialog(Dialog):
    """Something to read in full; answers `image` when its images are to be opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter,t",
            "close",
            "Close",
            show=False,
            tooltip="Close this window",
            id="dialog.close-text",
        ),
        Binding(
            "o",
            "open_images",
            "open image",
            tooltip="Open an image outside the terminal",
            id="dialog.open-image",
        ),
    ]

    def __init__(
        self, title: str, build: Builder, *, start: int = 0, has_images: bool = False
    ) -> None:
        super().__init__(title, build, start=start)
        self._has_images = has_images

    def action_open_images(self) -> None:
        """Answer that the images are to be opened."""
        self.dismiss("image")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key where there is no image."""
        return self._has_images if action == "open_images" else True


class PickDialog(Dialog):
    """Something to choose from; answers with the number of the row.

    Args:
        seen: Called with the rows that came into view.
        chosen: The row to begin at.
    """

    def __init__(
        self,
        title: str,
        build: Builder,
        *,
        seen: Callable[[Sequence[int]], None] | None = None,
        chosen: int = 0,
    ) -> None:
        super().__init__(title, build)
        self._seen = seen
        self._chosen = chosen

    def on_mount(self) -> None:
        """Begin at the chosen row."""
        # Textual calls the `on_mount` of `Dialog` besides.
        self.call_after_refresh(self.query_one("#text", RowPane).move_to, self._chosen)

    def make_pane(self) -> Pane:
        """Make the pane."""
        return RowPane(id="text", title=self._title, reports_seen_rows=True)

    def on_rows_seen(self, event: RowsSeen) -> None:
        """Pass on what came into view."""
        if self._seen is not None:
            self._seen(event.rows)

    def on_row_pane_chosen(self, event: RowPane.Chosen) -> None:
        """Answer with the row."""
        self.dismiss(str(event.row))


class ConfirmDialog(Dialog):
    """A question; answers `yes` or not at all."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "yes", "yes", key_display="y/enter", tooltip="Do it", id="dialog.yes"),
        Binding("n", "close", "no", tooltip="Leave things as they are", id="dialog.no"),
    ]

    def __init__(self, title: str, words: str) -> None:
        super().__init__(title, lambda width: wrap([Piece(words)], width - 1, first=[Piece(" ")]))

    def action_yes(self) -> None:
        """Answer yes."""
        self.dismiss("yes")
