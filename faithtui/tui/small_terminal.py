"""Terminals without room: a sentence instead of a screen, and no key that acts unseen."""

from typing import TYPE_CHECKING

from textual import events
from textual.geometry import Size

from faithtui.tui.keymap.key_names import format_keys_by_id
from faithtui.tui.theme.layouts import LEAST
from faithtui.tui.widgets.too_small import TooSmall

if TYPE_CHECKING:
    from faithtui.tui.app import FaithApp


class SmallTerminalGuard:
    """Covers the screen while the terminal is too small for it.

    Nothing below is touched, so everything is as it was when there is room again. A key would act
    on what cannot be seen, so none does but the one that quits.

    Args:
        app: The app.
    """

    def __init__(self, app: "FaithApp") -> None:
        self.app = app
        self._terminal_size = Size(0, 0)

    def set_terminal_size(self, size: Size) -> None:
        """Take a new size of the terminal into account."""
        self._terminal_size = size
        self.update_cover()

    def update_cover(self) -> None:
        """Cover the screen if it has no room, and uncover it if it has."""
        least = self._least_size
        for screen in self.app.screen_stack:
            for cover in screen.query(TooSmall):
                cover.remove()
        if self.is_small:
            quit_key = format_keys_by_id(self.app.session.keymap, "app.quit", "ctrl+q")[0]
            self.app.screen.mount(TooSmall(least, quit_key))

    @property
    def is_small(self) -> bool:
        """Whether the screen has no room."""
        columns, rows = self._least_size
        width, height = self._terminal_size
        return 0 < width < columns or 0 < height < rows

    @property
    def _least_size(self) -> tuple[int, int]:
        """What the screen needs; a window above it needs as much as the screen."""
        for screen in reversed(self.app.screen_stack):
            least: tuple[int, int] | None = getattr(screen, "LEAST", None)
            if least is not None:
                return least
        return LEAST

    def is_unseen_input(self, event: events.Event) -> bool:
        """Whether an event is input of a person for a screen that is covered."""
        return isinstance(event, events.InputEvent) and not event.is_forwarded and self.is_small

    async def stop_unseen_input_but_quit_on_quit_keys(self, event: events.Event) -> None:
        """Keep input from a covered screen; only the keys that quit do what they do."""
        event.stop()
        if isinstance(event, events.Key) and event.key in self.app.shutdown.quit_keys:
            await self.app.shutdown.quit_or_ask_first()
