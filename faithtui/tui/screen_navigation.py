"""Moving between screens: `g`, `q`, `?`, ctrl+o and the palette of all commands."""

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen
from textual.theme import ThemeProvider

from faithtui.tui import screen_catalog
from faithtui.tui.keymap import palette
from faithtui.tui.messages import ShowScreen
from faithtui.tui.navigation import CommandWindow
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.session import Session
from faithtui.tui.small_terminal import SmallTerminalApp
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.pane import Pane
from faithtui.tui.widgets.virtual_list import VirtualList


class ScreenNavigationApp(SmallTerminalApp):
    """An app of main screens that are made when they are first shown.

    Args:
        session: What screens share.
        first_screen: Main screen to begin with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "g",
            "go",
            "go to",
            tooltip="Go to another screen: one more letter says which",
            id="app.go",
        ),
        Binding(
            "colon",
            "command_palette",
            "commands",
            show=False,
            key_display=":",
            tooltip="Search all commands",
            id="app.commands-colon",
        ),
        Binding(
            "ctrl+p",
            "command_palette",
            "commands",
            key_display="ctrl+p",
            tooltip="Search all commands",
            id="app.commands",
        ),
        Binding(
            "ctrl+o",
            "jump",
            "jump",
            show=False,
            key_display="ctrl+o",
            tooltip="Go to any pane or row that is seen, by a letter",
            id="app.jump",
        ),
        Binding("q", "go_back", "back", tooltip="Back to the screen before", id="app.back"),
        Binding(
            "ctrl+q",
            "leave",
            "quit",
            key_display="ctrl+q",
            priority=True,
            tooltip="Quit; asks while a run is on",
            id="app.quit",
        ),
        Binding(
            "question_mark",
            "help",
            "help",
            key_display="?",
            tooltip="Explain this screen and its keys",
            id="app.help",
        ),
    ]

    COMMANDS = {palette.CommandProvider}  # noqa: RUF012 - the base class declares it so

    def __init__(self, session: Session, *, first_screen: str) -> None:
        super().__init__(session)
        self.current_screen_name = first_screen
        """Name of the main screen shown."""
        self._previous_screens: list[str] = []
        self._hidden_for: ClaimQueue | bool = False
        """The blind work for which screens were emptied; True: it is no queue."""

    def reload_screens(self) -> None:
        """Let every screen read what may have changed."""
        for screen in self.screen_stack:
            if isinstance(screen, FaithScreen) and screen.is_mounted:
                screen.handle_store_change()

    @on(ShowScreen)
    def go_to_screen(self, event: ShowScreen) -> None:
        """Show a main screen."""
        self.show_screen(event.screen, remember=not event.back)

    def show_screen(self, name: str, *, remember: bool = True) -> None:
        """Show a main screen; `q` comes back to this one if it is to be remembered."""
        self._clear_screens_when_blind()
        if name == self.current_screen_name:
            return
        if self._is_closed_while_blind(name):
            self.bell()
            if isinstance(self.screen, FaithScreen):
                words = f"{name} would show judge's verdicts or others' labels while you work blind"
                self.screen.show_message(Piece(words, "warn"))
            return
        if not remember and self._previous_screens and self._previous_screens[-1] == name:
            self._previous_screens.pop()
        if remember:
            self._previous_screens.append(self.current_screen_name)
        self.current_screen_name = name
        self.install_main_screen(name)
        self.navigation.show_main(name)

    def _is_closed_while_blind(self, name: str) -> bool:
        """Say whether a screen would show what a blind reviewer must not see."""
        return self.session.is_blind and name in screen_catalog.SCREENS_CLOSED_WHILE_BLIND

    def _clear_screens_when_blind(self) -> None:
        """Empty what was drawn while the judge could be seen, once when blind work begins."""
        session = self.session
        blind = (session.claim_queue or True) if session.is_blind else False
        if blind is self._hidden_for:
            return
        self._hidden_for = blind
        for name in screen_catalog.SCREENS_SHOWING_JUDGE if blind else ():
            screen = self.get_screen(name) if self.is_screen_installed(name) else None
            if isinstance(screen, FaithScreen) and screen.is_mounted:
                screen.clear_content()

    def install_main_screen(self, name: str) -> None:
        """Make a main screen when it is first shown."""
        if not self.is_screen_installed(name):
            self.install_screen(screen_catalog.load_screen_class(name)(self.session), name)

    def action_go(self) -> None:
        """Ask which screen."""
        from faithtui.tui.screen.dialogs import GoDialog

        screen = self.screen

        def go_to_answer(name: str | None) -> None:
            if name:
                self.show_screen(name)
            elif name is not None and isinstance(screen.focused, Pane):
                screen.focused.action_home()
            elif name is not None and isinstance(screen.focused, VirtualList):
                screen.focused.action_edge(0)

        self.navigation.open_window(GoDialog(), go_to_answer)

    def action_command_palette(self) -> None:
        """Offer every command."""
        self.navigation.open_window(CommandWindow(id="--command-palette"))

    def search_themes(self) -> None:
        """Offer every theme."""
        themes = CommandWindow(providers=[ThemeProvider], placeholder="Search for themes…")
        self.navigation.open_window(themes)

    def show_given_up(self) -> None:
        """Say that what keys waited for does not come any more."""
        if isinstance(self.screen, FaithScreen):
            self.screen.refuse("given up")

    def action_go_back(self) -> None:
        """Go to the screen before."""
        while self._previous_screens and self._is_closed_while_blind(self._previous_screens[-1]):
            self._previous_screens.pop()
        if self._previous_screens:
            self.show_screen(self._previous_screens[-1], remember=False)

    def action_help(self) -> None:
        """Explain the screen."""
        from faithtui.tui.screen.dialogs import HelpDialog

        self.navigation.open_window(HelpDialog.from_screen(self.screen, self.session.keys))

    def action_jump(self) -> None:
        """Put a letter on everything that one can go to."""
        from faithtui.tui.screen.jump import JumpScreen, JumpTarget, list_jump_targets

        def go_to_target(target: JumpTarget | None) -> None:
            if target is not None:
                target.go()

        places = list_jump_targets(self.screen)
        if places:
            self.navigation.open_window(JumpScreen(places), go_to_target)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what leads nowhere."""
        if action == "go_back":
            return bool(self._previous_screens)
        if action in ("command_palette", "jump"):
            return not isinstance(self.screen, ModalScreen)
        return True

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Offer everything that can be done now, with its key and its id."""
        yield from palette.list_commands(
            self, screen, self.show_screen, self.session.keymap, self.navigation
        )
