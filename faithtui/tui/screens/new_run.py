"""The form that starts a run."""

import shlex
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Select

from faithtui.engine.requests import RunRequest
from faithtui.errors import ConfigError, FaithtuiError
from faithtui.store.records import SourceRow
from faithtui.tui import format as fmt
from faithtui.tui.lines import Line, Piece, shown, shown_line
from faithtui.tui.session import Defaults
from faithtui.tui.widgets.bars import KeyBar
from faithtui.tui.widgets.pane import RowPane
from faithtui.tui.widgets.plain_input import PlainInput


def read_options(text: str) -> dict[str, str]:
    """Read `name=value name=value` as on a command line.

    Raises:
        ConfigError: A word without `=`, or a quote that is not closed.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"options: {error}; expected name=value name=value") from error
    options = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ConfigError(f"options: `{word}` is not name=value")
        options[name] = value
    return options


Starter = Callable[[RunRequest], Awaitable[None]]
"""Starts a run; raises FaithtuiError when the order cannot be carried out."""


class SourcePane(RowPane):
    """Data sets to run over; none chosen means all."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "space,enter",
            "choose",
            "choose",
            key_display="space",
            tooltip="Choose a source, or leave it out again",
            id="new-run.source",
        ),
    ]

    def __init__(self, sources: Sequence[SourceRow]) -> None:
        super().__init__(id="sources", title="Sources", hint="none chosen: all of them")
        self._sources = sources
        self._chosen: set[str] = set()

    @property
    def chosen(self) -> tuple[str, ...]:
        """Sources chosen, in the order of the list."""
        return tuple(row.source for row in self._sources if row.source in self._chosen)

    def on_mount(self) -> None:
        """Draw the sources."""
        self.show(self._rows)

    def action_choose(self) -> None:
        """Choose a source, or leave it out again."""
        self._chosen ^= {self._sources[self.cursor].source}
        self.show(self._rows)

    def _rows(self, width: int) -> Sequence[Line]:
        return [
            Line(
                (
                    Piece("[x] " if row.source in self._chosen else "[ ] ", "key"),
                    shown_line(row.source, limit=60),
                    Piece(f"  {self._counts(row)}", "quiet"),
                ),
                number,
            )
            for number, row in enumerate(self._sources)
        ]

    def _counts(self, row: SourceRow) -> str:
        ratings = f", {fmt.plural(row.ratings, 'human label')}" if row.ratings else ""
        return fmt.plural(row.conversations, "conversation") + ratings


class NewRunScreen(ModalScreen[None]):
    """Metric, judge, strategy, sources and options of a run."""

    CSS_PATH = "new_run.tcss"
    HELP_WORDS: ClassVar[str] = (
        "tab goes from field to field, space or enter changes a choice, ctrl+s starts the run. "
        "It goes on in the background. The judge is provider:model; offline needs no key. "
        "Options are those of the metric, written name=value with blanks between."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+s",
            "start",
            "start the run",
            tooltip="Start the run in the background",
            id="new-run.start",
        ),
        Binding(
            "tab",
            "app.focus_next",
            "next field",
            tooltip="Go to the next field",
            id="new-run.field",
        ),
        Binding(
            "escape",
            "close",
            "close",
            tooltip="Close the form without starting a run",
            id="new-run.close",
        ),
    ]

    def __init__(
        self,
        metrics: Sequence[tuple[str, str]],
        sources: Sequence[SourceRow],
        defaults: Defaults,
        start: Starter,
    ) -> None:
        super().__init__()
        self._metrics = metrics
        self._sources = sources
        self._defaults = defaults
        self._start = start

    def compose(self) -> ComposeResult:
        """Stack the fields."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content("New run")
            with VerticalScroll(id="fields"):
                yield Label(Content("metric"))
                yield Select[str](
                    [(Content(title), key) for key, title in self._metrics],
                    value=self._metrics[0][0],
                    allow_blank=False,
                    id="metric",
                    compact=True,
                )
                yield Label(Content("judge   provider:model, or offline"))
                yield PlainInput(value=self._defaults.judge, id="judge", compact=True)
                yield Label(Content("strategy"))
                yield Select[str](
                    [
                        ("evidence: each question once, verdicts by named truths", "evidence"),
                        ("window: the peer's own questions, window by window", "window"),
                    ],
                    value="evidence",
                    allow_blank=False,
                    id="strategy",
                    compact=True,
                )
                yield Label(Content("options   name=value …, such as window_size=5 threshold=0.7"))
                yield PlainInput(value=self._defaults.options, id="options", compact=True)
                yield Label(Content("claims"))
                yield Select[str](
                    [
                        ("extracted from the answers by the judge", "extracted"),
                        ("imported: those that came with the data", "imported"),
                    ],
                    value="extracted",
                    allow_blank=False,
                    id="claims",
                    compact=True,
                )
                yield SourcePane(self._sources)
                yield Label(Content(""), id="problem")
            yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Begin with the judge; the metric is mostly right."""
        self.query_one("#judge", Input).focus()

    @work(exclusive=True, group="start", exit_on_error=False)
    async def action_start(self) -> None:
        """Start what was ordered, or say why that cannot be."""
        try:
            await self._start(self._request())
        except FaithtuiError as error:
            self.complain(str(error))
            return
        self.dismiss(None)

    def action_close(self) -> None:
        """Close without a run."""
        self.dismiss(None)

    @on(Input.Submitted)
    def start_from_input(self) -> None:
        """Start on enter in a text field."""
        self.action_start()

    def complain(self, words: str) -> None:
        """Say what is wrong with the order."""
        self.query_one("#problem", Label).update(Content(shown(words).text))

    def _request(self) -> RunRequest:
        judge = self.query_one("#judge", Input).value.strip()
        if not judge:
            raise ConfigError("judge is empty; expected offline or provider:model")
        same = judge == self._defaults.judge
        return RunRequest(
            metric=str(self.query_one("#metric", Select).value),
            judge=judge,
            base_url=self._defaults.base_url if same else None,
            strategy=str(self.query_one("#strategy", Select).value),
            options=read_options(self.query_one("#options", Input).value),
            imported_claims=self.query_one("#claims", Select).value == "imported",
            sources=self.query_one(SourcePane).chosen,
            concurrency=self._defaults.concurrency,
        )
