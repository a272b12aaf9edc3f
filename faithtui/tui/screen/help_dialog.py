"""`?`: the window that explains a screen and its keys."""

from typing import Any, ClassVar, Self

from textual.binding import Binding, BindingType
from textual.screen import Screen

from faithtui.tui.keymap.help import help_lines, help_texts, list_active_key_help
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.screen.dialogs import Dialog


class HelpDialog(Dialog):
    """Explains a screen and its keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "question_mark,enter",
            "close",
            "Close",
            show=False,
            tooltip="Close this window",
            id="dialog.close-help",
        ),
    ]

    @classmethod
    def from_screen(cls, screen: Screen[Any], names: KeyNames) -> Self:
        """Explain a screen as it is now.

        Args:
            screen: The screen.
            names: What keys are called in sentences.
        """
        texts = help_texts(screen)
        keys = list_active_key_help(screen)
        return cls("Help", lambda width: help_lines(texts, keys, names, width))
