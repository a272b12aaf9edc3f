"""Every key of the app, for the docs and for the tests that keep them in step."""

from collections.abc import Iterator

from textual.binding import Binding
from textual.dom import DOMNode

from faithtui.tui import catalog
from faithtui.tui.app import FaithApp
from faithtui.tui.keys import display
from faithtui.tui.screens import dialogs
from faithtui.tui.screens.agreement import MatrixPane
from faithtui.tui.screens.base import FaithScreen
from faithtui.tui.screens.judging import JudgingScreen
from faithtui.tui.screens.new_run import ChoicePane, NewRunScreen
from faithtui.tui.screens.refused import RefusedScreen
from faithtui.tui.widgets.claim_list import ClaimList
from faithtui.tui.widgets.compare_table import CompareTable
from faithtui.tui.widgets.pane import Pane, RowPane
from faithtui.tui.widgets.virtual_list import VirtualList

SCOPES: tuple[tuple[str, type[DOMNode]], ...] = (
    ("Everywhere", FaithApp),
    ("Go to", dialogs.GoDialog),
    ("Every screen", FaithScreen),
    *((name.capitalize(), catalog.main_screen(name)) for name in catalog.LETTERS),
    ("Review: verdicts and notes", JudgingScreen),
    ("Review: claims", ClaimList),
    ("Metrics: table", CompareTable),
    ("Agreement: matrix", MatrixPane),
    ("Lists", VirtualList),
    ("Panes with entries", RowPane),
    ("Panes", Pane),
    ("New run", NewRunScreen),
    ("New run: metrics and sources", ChoicePane),
    ("Windows above a screen", dialogs.Dialog),
    ("Text in full", dialogs.TextDialog),
    ("Questions", dialogs.ConfirmDialog),
    ("Help", dialogs.HelpDialog),
    ("Store refused", RefusedScreen),
)
"""Where keys work, and the class that has them."""


def every_binding() -> Iterator[tuple[str, Binding]]:
    """List bindings by scope, in the order they were written; inherited ones only once."""
    for scope, kind in SCOPES:
        for binding in kind.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding):
                yield scope, binding


def key_tables() -> str:
    """Write all keys as Markdown: a heading and a table per scope."""
    parts: list[str] = []
    current = ""
    for scope, binding in every_binding():
        if scope != current:
            current = scope
            parts += [f"\n## {scope}\n", "| key | does | id |", "|---|---|---|"]
        keys = " ".join(f"`{key}`" for key in keys_of(binding))
        parts.append(f"| {keys} | {binding.tooltip} | `{binding.id}` |")
    return "\n".join(parts).lstrip("\n") + "\n"


def keys_of(binding: Binding) -> list[str]:
    """Write the keys of a binding as people read them."""
    if binding.key_display:
        return binding.key_display.split("/")
    return [display(Binding(key, binding.action)) for key in binding.key.split(",")]
