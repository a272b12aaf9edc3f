"""Moving between screens: `g`, `q`, ctrl+o and the palette of all commands."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen
from textual.theme import ThemeProvider

from faithtui.tui import screen_catalog
from faithtui.tui.input_queue import CommandWindow
from faithtui.tui.keymap import palette
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.screen.blind_mode import describe_keys_ending_blind_work
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.widgets.scroll_pane import Pane
from faithtui.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from faithtui.tui.app import FaithApp


class ScreenSwitcher:
    """Shows the main screens, each made when it is first shown, and remembers the way back.

    Screens that would show the judge to a reviewer who works blind stay closed.

    Args:
        app: The app.
        first_screen: Main screen to begin with.

    Attributes:
        first_screen: The same.
        current: Name of the main screen shown.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "g",
            "ask_where_to_go",
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
            "show_jump_labels",
            "jump",
            show=False,
            key_display="ctrl+o",
            tooltip="Go to any pane or row that is seen, by a letter",
            id="app.jump",
        ),
        Binding("q", "go_back", "back", tooltip="Back to the screen before", id="app.back"),
    ]

    def __init__(self, app: "FaithApp", *, first_screen: str) -> None:
        self.app = app
        self.first_screen = first_screen
        self.current = first_screen
        self._previous: list[str] = []
        self._hidden_for: ClaimQueue | bool = False
        """The blind work for which screens were emptied; True: it is no queue."""

    def install_main_screen(self, name: str) -> None:
        """Make a main screen when it is first shown."""
        if not self.app.is_screen_installed(name):
            kind = screen_catalog.load_screen_class(name)
            self.app.install_screen(kind(self.app.session), name)

    def show(self, name: str, *, remember: bool = True) -> None:
        """Show a main screen; `q` comes back to this one if it is to be remembered."""
        self._clear_screens_when_blind()
        if name == self.current:
            return
        screen = self.app.screen
        if self._is_closed_while_blind(name):
            if isinstance(screen, FaithScreen):
                way_out = describe_keys_ending_blind_work(
                    self.app.session, in_review=self.current == "review"
                )
                words = f"{name} would show judge's verdicts or others' labels: {way_out}"
                screen.refuse(words)
            else:
                self.app.bell()
            return
        if not remember and self._previous and self._previous[-1] == name:
            self._previous.pop()
        if remember:
            self._previous.append(self.current)
        self.current = name
        self.install_main_screen(name)
        for left in self.app.screen_stack:
            if isinstance(left, FaithScreen):
                left.save_typed_text_or_say_why_not()
                left.show_message()  # Whoever comes back has done something else meanwhile.
        self.app.input_queue.switch_to_main_screen(name)

    @property
    def can_go_back(self) -> bool:
        """Whether there was a screen before."""
        return bool(self._previous)

    def go_back(self) -> None:
        """Go to the screen before."""
        while self._previous and self._is_closed_while_blind(self._previous[-1]):
            self._previous.pop()
        if self._previous:
            self.show(self._previous[-1], remember=False)

    def reload_open_screens(self) -> None:
        """Let every screen read what may have changed."""
        for screen in self.app.screen_stack:
            if isinstance(screen, FaithScreen) and screen.is_mounted:
                screen.reload_after_store_change()

    def show_that_waiting_was_cancelled(self) -> None:
        """Say on the screen that what keys waited for does not come any more."""
        if isinstance(self.app.screen, FaithScreen):
            self.app.screen.refuse("given up")

    def _is_closed_while_blind(self, name: str) -> bool:
        """Say whether a screen would show what a blind reviewer must not see."""
        return self.app.session.is_blind and name in screen_catalog.SCREENS_CLOSED_WHILE_BLIND

    def _clear_screens_when_blind(self) -> None:
        """Empty what was drawn while the judge could be seen, once when blind work begins."""
        app = self.app
        blind = (app.session.claim_queue or True) if app.session.is_blind else False
        if blind is self._hidden_for:
            return
        self._hidden_for = blind
        for name in screen_catalog.SCREENS_SHOWING_JUDGE if blind else ():
            screen = app.get_screen(name) if app.is_screen_installed(name) else None
            if isinstance(screen, FaithScreen) and screen.is_mounted:
                screen.clear_content()

    def record_claims_shown_by_queue(self) -> None:
        """Record what a blind queue shows of the judge, before the app is left."""
        if not self.app.is_screen_installed("review"):
            return
        from faithtui.tui.review.review_screen import ReviewScreen

        screen = self.app.get_screen("review")
        if isinstance(screen, ReviewScreen) and screen.is_mounted:
            screen.queue_navigator.record_claims_shown_by_queue()

    def ask_where_to_go(self) -> None:
        """Ask which screen."""
        from faithtui.tui.screen.go_to_dialog import GoToDialog

        screen = self.app.screen

        def show_chosen_screen(name: str | None) -> None:
            if name:
                self.show(name)
            elif name is not None and isinstance(screen.focused, Pane):
                screen.focused.action_home()
            elif name is not None and isinstance(screen.focused, VirtualList):
                screen.focused.action_go_to_first_or_last(0)

        self.app.input_queue.open_window(GoToDialog(), show_chosen_screen)

    def show_jump_labels(self) -> None:
        """Put a letter on everything that one can go to."""
        from faithtui.tui.screen.jump_letters import JumpScreen, JumpTarget, list_jump_targets

        def go_to_target(target: JumpTarget | None) -> None:
            if target is not None:
                target.go()

        places = list_jump_targets(self.app.screen)
        if places:
            self.app.input_queue.open_window(JumpScreen(places), go_to_target)

    def open_palette(self) -> None:
        """Offer every command."""
        self.app.input_queue.open_window(CommandWindow(id="--command-palette"))

    def search_themes(self) -> None:
        """Offer every theme."""
        themes = CommandWindow(providers=[ThemeProvider], placeholder="Search for themes…")
        self.app.input_queue.open_window(themes)

    def list_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """List everything that can be done now, with its key and its id."""
        app = self.app
        return palette.list_commands(app, screen, self.show, app.session.keymap, app.input_queue)

    def is_action_available(self, action: str) -> bool:
        """Whether an action of the app leads anywhere now."""
        if action == "go_back":
            return self.can_go_back
        if action in ("command_palette", "show_jump_labels"):
            return not isinstance(self.app.screen, ModalScreen)
        return True
