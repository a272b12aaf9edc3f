"""The line in which a filter is typed: the list follows, and keys stay letters meanwhile."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import Suggester
from textual.timer import Timer
from textual.widgets import Input

from faithtui.domain.filter_completion import (
    complete_filter,
    list_completions,
    list_example_terms,
)
from faithtui.domain.filters import FilterContext, parse_filter
from faithtui.tui.theme.lines import Piece, escape_line
from faithtui.tui.widgets.bars import EdgeLine
from faithtui.tui.widgets.plain_input import PlainInput

PAUSE_S = 0.05
"""How long nothing must be typed before a search begins."""


class TermSuggester(Suggester):
    """Shows what the last word of a filter may become, behind the cursor."""

    def __init__(self, complete: Callable[[str], str | None]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete = complete

    async def get_suggestion(self, value: str) -> str | None:
        """Complete the last word, where it begins with what is typed."""
        found = self._complete(value)
        return found if found is not None and found.startswith(value) else None


class FilterInput(PlainInput):
    """The input of a `FilterBar`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "keep", tooltip="Keep the filter", id="filter.keep"),
        Binding(
            "tab",
            "complete",
            "complete",
            tooltip="Complete what is typed by the first term that it may become",
            id="filter.complete",
        ),
        Binding(
            "down",
            "submit",
            "to the list",
            show=False,
            tooltip="Keep the filter and go to the list",
            id="filter.down",
        ),
        Binding(
            "escape",
            "cancel_filter",
            "undo",
            tooltip="Go on with the filter there was before",
            id="filter.leave",
        ),
    ]

    def action_complete(self) -> None:
        """Complete the last word by the first term that it may become."""
        bar = self.parent
        found = bar.complete_last_word(self.value) if isinstance(bar, FilterBar) else None
        if found is None:
            self.app.bell()
        else:
            self.value = found
            self.cursor_position = len(found)

    def action_cancel_filter(self) -> None:
        """Report that what was typed is not wanted."""
        self.post_message(FilterBar.FilterCancelled())


class FilterBar(Horizontal):
    """A line to type a filter in; hidden while there is none.

    Args:
        key: The key that opens it.
        get_context: Says which words a filter may hold now.
    """

    DEFAULT_CSS = """
    FilterBar {
        height: 1;
        display: none;
        &.-open { display: block; }
        EdgeLine { width: 11; height: 1; }
        FilterInput { width: 1fr; }
    }
    """

    @dataclass
    class FilterChanged(Message):
        """Nothing was typed for a moment, or enter was pressed."""

        text: str
        is_final: bool = False
        """It is finished."""

    @dataclass
    class Typed(Message):
        """A key changed the text."""

        text: str

    class FilterCancelled(Message):
        """The filter there was before is wanted."""

    def __init__(self, key: str, get_context: Callable[[], FilterContext]) -> None:
        super().__init__(id="filter")
        self._key = key
        self._get_context = get_context
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Put a name before the line."""
        name = EdgeLine()
        name.left = (Piece(f"filter {self._key}", "key"),)
        yield name
        yield FilterInput(compact=True, suggester=TermSuggester(self.complete_last_word))

    def complete_last_word(self, text: str) -> str | None:
        """Complete the last word of a text; None: there is nothing to complete it by."""
        return complete_filter(text, self._get_context())

    def format_completions(self, text: str, complete_key: str) -> tuple[Piece, ...]:
        """List what the last word of a text may become; () where any word may follow.

        Args:
            text: What is typed.
            complete_key: What the key is called that completes.
        """
        terms = list_completions(text, self._get_context())
        return (Piece(complete_key, "key"), Piece(f" {' '.join(terms)}", "quiet")) if terms else ()

    def format_hint(self, text: str, complete_key: str) -> tuple[Piece, ...]:
        """Say what the last word may become, else what is wrong, else what can be typed."""
        if completions := self.format_completions(text, complete_key):
            return completions
        context = self._get_context()
        if (problem := parse_filter(text, context).problem) is not None:
            return (escape_line(problem, "warn", limit=400),)
        example = next(iter(list_example_terms(context)), "")
        return (Piece(f"words, or terms such as {example}; - negates", "quiet"),)

    def start_typing(self, text: str) -> None:
        """Let somebody type, from a text on."""
        self.show_filter_text(text)
        self.add_class("-open")
        field = self.query_one(FilterInput)
        # What may be typed depends on the metric, and on whether the judge is hidden.
        field.placeholder = ", ".join(("words", *list_example_terms(self._get_context()), "-not"))
        field.cursor_position = len(field.value)
        field.focus()

    def show_filter_text(self, text: str) -> None:
        """Show a filter that is in force; none hides the line."""
        with self.prevent(Input.Changed):
            self.query_one(FilterInput).value = text
        self.set_class(bool(text), "-open")

    @property
    def is_typing(self) -> bool:
        """Whether somebody is typing."""
        # The field learns that it lost the focus only with its next message.
        return self.screen.focused is self.query_one(FilterInput)

    @on(Input.Changed)
    def post_typed_and_restart_timer(self, event: Input.Changed) -> None:
        """Begin when nothing was typed for a moment."""
        event.stop()
        self.post_message(self.Typed(event.value))
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(PAUSE_S, self._post_filter)

    @on(Input.Submitted)
    def submit_filter(self, event: Input.Submitted) -> None:
        """Report at once."""
        event.stop()
        self._post_filter(kept=True)

    def _post_filter(self, *, kept: bool = False) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.post_message(self.FilterChanged(self.query_one(FilterInput).value, kept))
