"""How the app looks: its theme, ASCII alone where that is wanted, and its styles, read once."""

from pathlib import Path
from typing import TYPE_CHECKING

from textual.filter import LineFilter

import faithtui.tui
from faithtui.tui.theme import theme
from faithtui.tui.theme.ascii import AsciiFilter

if TYPE_CHECKING:
    from faithtui.tui.app import FaithApp

_STYLES = Path(faithtui.tui.__file__).parent


class Appearance:
    """Chooses the theme and draws with ASCII alone where that is wanted.

    Args:
        app: The app, which gets our themes and begins with one.
        theme_name: One of `theme.THEMES`, or the name of any theme of Textual's; None: dark.
        ascii: Draw with ASCII alone.

    Attributes:
        ascii_filter: Replaces characters while it is enabled.
    """

    def __init__(self, app: "FaithApp", theme_name: str | None, *, ascii: bool) -> None:
        self.app = app
        self.ascii_filter = AsciiFilter(enabled=ascii)
        for each in theme.THEMES.values():
            app.register_theme(each)
        wanted = self._find_theme(theme_name)
        self._styles_are_fresh = wanted != app.theme
        app.theme = wanted
        app.stylesheet.set_variables(app.get_css_variables())

    @property
    def line_filters(self) -> list[LineFilter]:
        """What lines pass through last."""
        return [self.ascii_filter] if self.ascii_filter.enabled else []

    def consume_fresh_styles_flag(self) -> bool:
        """Whether styles are those of the theme already: once, for the first theme."""
        are_fresh, self._styles_are_fresh = self._styles_are_fresh, False
        return are_fresh

    def read_styles_of_all_screens(self) -> None:
        """Read the styles of all screens.

        A screen that brings styles nobody read yet would have all others read anew with them.
        """
        for path in sorted(_STYLES.rglob("*.tcss")):
            self.app.stylesheet.read(path)

    def set_theme_and_ascii(self, theme_name: str | None, *, ascii: bool) -> None:
        """Draw everything in another theme, or with other characters."""
        self.app.theme = self._find_theme(theme_name)
        if ascii == self.ascii_filter.enabled:
            return
        self.ascii_filter.enabled = ascii
        for screen in self.app.screen_stack:
            for widget in screen.walk_children(with_self=True):
                widget.notify_style_update()
            screen.refresh(layout=True)

    def _find_theme(self, name: str | None) -> str:
        """Find a theme by the word of the settings; dark when there is no such theme."""
        known = theme.THEMES.get(name or "dark")
        wanted = known.name if known is not None else name
        return wanted if wanted in self.app.available_themes else theme.DARK.name
