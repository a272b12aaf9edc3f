"""Terminals without room: a sentence instead of a screen, and no key that acts unseen."""

from textual import events
from textual.app import App

from faithtui.tui.keymap.key_names import keys_by_id
from faithtui.tui.navigation import Navigation
from faithtui.tui.session import Session
from faithtui.tui.theme.layouts import LEAST
from faithtui.tui.widgets.too_small import TooSmall


class SmallTerminalApp(App[None]):
    """An app that covers its screen while the terminal is too small for it.

    Nothing below is touched, so everything is as it was when there is room again. A key would act
    on what cannot be seen, so none does but the one that quits.

    Args:
        session: What screens share.
    """

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.navigation = Navigation(
            self, self.forward_event, lambda: self.quit_keys, self.show_given_up
        )
        self._terminal_size = (0, 0)

    async def on_mount(self) -> None:
        """Look at every screen that is shown."""
        self.screen_change_signal.subscribe(self, lambda _screen: self.update_cover())

    def on_resize(self, event: events.Resize) -> None:
        """Cover or uncover the screen."""
        self._terminal_size = (event.size.width, event.size.height)
        self.update_cover()

    def update_cover(self) -> None:
        """Cover the screen if it has no room, and uncover it if it has."""
        least = self._least_size
        for screen in self.screen_stack:
            for cover in screen.query(TooSmall):
                cover.remove()
        if self.is_small:
            quit_key = keys_by_id(self.session.keymap, "app.quit", "ctrl+q")[0]
            self.screen.mount(TooSmall(least, quit_key))

    @property
    def is_small(self) -> bool:
        """Whether the screen has no room."""
        columns, rows = self._least_size
        width, height = self._terminal_size
        return 0 < width < columns or 0 < height < rows

    @property
    def _least_size(self) -> tuple[int, int]:
        """What the screen needs; a window above it needs as much as the screen."""
        for screen in reversed(self.screen_stack):
            least: tuple[int, int] | None = getattr(screen, "LEAST", None)
            if least is not None:
                return least
        return LEAST

    @property
    def quit_keys(self) -> tuple[str, ...]:
        """Keys that quit."""
        return tuple(self.session.keymap.get("app.quit", "ctrl+q").split(","))

    async def on_event(self, event: events.Event) -> None:
        """Let what somebody does wait for its turn."""
        if self.navigation.is_user_input(event):
            self.navigation.take_input(event)
        else:
            await self.forward_event(event)

    async def forward_event(self, event: events.Event) -> None:
        """Give an event to the screen; keep keys and the mouse from what is covered."""
        if isinstance(event, events.InputEvent) and not event.is_forwarded and self.is_small:
            event.stop()
            if isinstance(event, events.Key) and event.key in self.quit_keys:
                await self.run_action("leave")
            return
        await super().on_event(event)

    def show_given_up(self) -> None:
        """Say that what keys waited for does not come any more."""
        raise NotImplementedError
