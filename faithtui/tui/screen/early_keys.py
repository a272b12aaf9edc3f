"""Keys about a claim that came before it was on screen: they do nothing, and are named."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from textual.keys import format_key
from textual.widgets import Input

from faithtui.tui.input_queue import KeyCheck

if TYPE_CHECKING:
    from faithtui.tui.screen.main_screen import FaithScreen

_MAX_KEYS: Final = 8


def make_early_key_check(
    screen: "FaithScreen", is_refused: Callable[[str], bool], refuse: Callable[[str], None]
) -> KeyCheck:
    """Make a check for `InputQueue.check_early_keys` that refuses keys about a claim.

    Args:
        screen: Where claims are labelled; keys for other screens, and text, are never refused.
        is_refused: Is asked of the id of a key's binding, in the order typed.
        refuse: Says why keys did nothing.
    """

    def refuse_if_about_claim(key: str) -> bool:
        if screen.app.screen is not screen or isinstance(screen.focused, Input):
            return False
        active = screen.active_bindings.get(key)
        if active is None or active.binding.id is None or not is_refused(active.binding.id):
            return False
        screen.refused_keys.append(key)
        named = list_typed_keys(screen.refused_keys)
        refuse(f"not saved: {named} · typed before the claim was drawn")
        return True

    return refuse_if_about_claim


def list_typed_keys(keys: Sequence[str]) -> str:
    """Name keys in the order typed, by what stands on them; of many the first eight."""
    shown = " ".join(format_key(each) for each in keys[:_MAX_KEYS])
    return shown if len(keys) <= _MAX_KEYS else f"{shown} and {len(keys) - _MAX_KEYS} more"
