"""The form that starts runs, of one metric or of several over the same conversations."""

import shlex
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Label, Select

from faithtui.engine.runs.request import RunRequest
from faithtui.errors import ConfigError, FaithtuiError
from faithtui.store.records import SourceRow
from faithtui.tui.navigation import ModalWindow, holds_keys
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.amounts import read_usd
from faithtui.tui.theme.lines import Line, Piece, escape_line, escape_text
from faithtui.tui.widgets.bars import KeyBar
from faithtui.tui.widgets.pane import RowPane
from faithtui.tui.widgets.plain_input import PlainInput

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec


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


def format_options(chosen: Sequence[str], remembered: Mapping[str, Mapping[str, str]]) -> str:
    """Write what metrics were last run with, as `read_options` reads it.

    An option that several metrics were given alike is written once, one of a single metric among
    several with that metric before it.
    """
    given = {key: remembered[key] for key in chosen if key in remembered}
    words: dict[str, None] = {}
    for key, options in given.items():
        for name, value in options.items():
            alike = len(chosen) == 1 or (
                len(given) > 1 and all(other.get(name) == value for other in given.values())
            )
            typed = name if alike else f"{key}.{name}"
            words[f"{typed}={shlex.quote(value)}"] = None
    return " ".join(words)


StartRuns = Callable[[Sequence[RunRequest]], Awaitable[None]]
"""Starts runs; raises FaithtuiError when an order cannot be carried out."""

PreviewRuns = Callable[[Sequence[RunRequest]], Awaitable[str]]
"""Says what runs would ask and cost; raises FaithtuiError when an order cannot be carried out."""

PREVIEW_DELAY_S = 0.6
"""Seconds without a change after which the form is worth looking ahead for."""

_AS_PEER = "as-peer"

LastOptions = Mapping[str, Mapping[str, str]]
"""Options of the newest run of each metric, newest first."""

MOST_CHOICES = 8
"""Choices that are seen at once; a longer list scrolls."""

Choice = tuple[str, Sequence[Piece]]
"""What can be chosen, and how it is drawn."""


class ChoicePane(RowPane):
    """Things to choose any number of."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "space,enter",
            "choose",
            "choose",
            key_display="space",
            tooltip="Choose an entry, or leave it out again",
            id="new-run.choose",
        ),
    ]

    class Changed(Message):
        """Something else is chosen."""

        def __init__(self, pane: "ChoicePane") -> None:
            super().__init__()
            self.pane = pane

        @property
        def control(self) -> "ChoicePane":
            """The pane."""
            return self.pane

    def __init__(
        self, choices: Sequence[Choice], chosen: Iterable[str], *, id: str, title: str, hint: str
    ) -> None:
        super().__init__(id=id, title=title, hint=hint)
        self._choices = choices
        self._chosen = set(chosen)
        self.styles.height = min(MOST_CHOICES, len(choices)) + 2

    @property
    def selection(self) -> tuple[str, ...]:
        """What is chosen, in the order of the list."""
        return tuple(name for name, _ in self._choices if name in self._chosen)

    def on_mount(self) -> None:
        """Draw the choices."""
        self.show(self._row_lines)

    def action_choose(self) -> None:
        """Choose an entry, or leave it out again."""
        self._chosen ^= {self._choices[self.cursor][0]}
        self.show(self._row_lines)
        self.post_message(self.Changed(self))

    def _row_lines(self, width: int) -> Sequence[Line]:
        return [
            Line(
                (Piece(" [x] " if name in self._chosen else " [ ] ", "key"), *pieces),
                number,
            )
            for number, (name, pieces) in enumerate(self._choices)
        ]


class NewRunScreen(ModalWindow[None]):
    """Metrics, judge, strategy, sources and options of runs.

    Args:
        metrics: All there are.
        sources: All there are, at least one.
        defaults: What the form begins with.
        remembered: What metrics were last run with; the last one used is chosen.
        start: Starts the runs.
        foresee: Says what they would ask and cost, where a judge may cost something.
    """

    CSS_PATH = "new_run.tcss"
    HELP_WORDS: ClassVar[str] = (
        "{new-run.field} goes from field to field, {new-run.choose} changes a choice, "
        "{new-run.start} starts. One run is made per metric chosen; they go on in the background, "
        "one after the other. The judge is provider:model; offline needs no key. Options are "
        "written name=value with blanks between, and go to every chosen metric that has them; "
        "metric.name=value goes to that metric alone. Until you change them they are those of the "
        "metric's newest run."
    )

    HINTS: ClassVar[Mapping[str, str]] = {
        "metrics": "one run per metric, one after the other",
        "judge": "offline, which needs no key, or provider:model",
        "strategy": "how questions are cut; the scores mean the same",
        "options": "name=value …; metric.name=value for one of several",
        "claims": "imported ones need a metric that judges claims",
        "sending": "batches are answered while faithtui is closed; continue the run later",
        "budget": "US dollars that each run may cost at most; empty: no limit",
        "sources": "data sets to run over; none chosen: all of them",
    }
    """What each field is for, by its id."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+s",
            "start",
            "start",
            tooltip="Start the runs in the background",
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
        metrics: "Sequence[MetricSpec]",
        sources: Sequence[SourceRow],
        defaults: RunRequest,
        remembered: LastOptions,
        start: StartRuns,
        foresee: PreviewRuns,
    ) -> None:
        super().__init__()
        self._metrics = metrics
        self._sources = sources
        self._defaults = defaults
        self._last_options = remembered
        self._start = start
        self._preview_runs = foresee
        self._preview_timer: Timer | None = None
        self._begin_with = next(iter(remembered), metrics[0].key)
        self._written_options = format_options([self._begin_with], remembered)
        """Options as the form wrote them; other ones were typed by a person and stay."""

    def compose(self) -> ComposeResult:
        """Stack the fields."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content("New run")
            with VerticalScroll(id="fields", can_focus=False):
                yield ChoicePane(
                    [(spec.key, _metric_pieces(spec)) for spec in self._metrics],
                    [self._begin_with],
                    id="metrics",
                    title="Metrics",
                    hint="space chooses",
                )
                with Grid(id="form"):
                    yield Label(Content("judge"))
                    yield PlainInput(value=self._defaults.judge, id="judge", compact=True)
                    yield Label(Content("strategy"))
                    yield Select[str](
                        [
                            ("evidence: each question once, verdicts by what is named", "evidence"),
                            ("window: the peer's own questions, window by window", "window"),
                            ("as the peer: its questions and its number, oddities too", _AS_PEER),
                        ],
                        value="evidence",
                        allow_blank=False,
                        id="strategy",
                        compact=True,
                    )
                    yield Label(Content("options"))
                    yield PlainInput(value=self._written_options, id="options", compact=True)
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
                    yield Label(Content("sending"))
                    yield Select[str](
                        [
                            ("one by one: answers come at once", "singly"),
                            ("by batches of the provider: cheaper, within a day", "batch"),
                        ],
                        value="singly",
                        allow_blank=False,
                        id="sending",
                        compact=True,
                    )
                    yield Label(Content("budget $"))
                    yield PlainInput(id="budget", compact=True)
                yield ChoicePane(
                    [(row.source, _source_pieces(row)) for row in self._sources],
                    (),
                    id="sources",
                    title="Sources",
                    hint="none chosen: all of them",
                )
                yield Label(Content(""), id="preview")
                yield Label(Content(""), id="problem")
            yield Label(Content(""), id="hint")
            yield KeyBar(id="keys")

    def on_mount(self) -> None:
        """Begin with the metrics."""
        self.query_one("#metrics", ChoicePane).focus()
        self.say_hint("metrics")

    @on(events.DescendantFocus)
    def follow_focus(self, event: events.DescendantFocus) -> None:
        """Say what the field is for that is gone to."""
        self.say_hint(event.widget.id or "")

    def say_hint(self, field: str) -> None:
        """Say what a field is for."""
        self.query_one("#hint", Label).update(Content(self.HINTS.get(field, "")))

    @on(ChoicePane.Changed, "#metrics")
    def remember_options(self) -> None:
        """Write the options of the metrics chosen, unless a person typed other ones."""
        field = self.query_one("#options", Input)
        if field.value == self._written_options:
            chosen = self.query_one("#metrics", ChoicePane).selection
            self._written_options = format_options(chosen, self._last_options)
            field.value = self._written_options

    @on(Input.Changed)
    @on(Select.Changed)
    @on(ChoicePane.Changed)
    def preview_soon(self) -> None:
        """Look ahead once nothing is changed for a moment."""
        if self._preview_timer is not None:
            self._preview_timer.stop()
        self._preview_timer = self.set_timer(PREVIEW_DELAY_S, self.update_preview)

    @work(exclusive=True, group="preview", exit_on_error=False)
    async def update_preview(self) -> None:
        """Say what the runs would ask and cost, where the judge is none that comes with us."""
        words = ""
        try:
            requests = self._read_requests()
            if not any(request.judge == "offline" for request in requests):
                words = await self._preview_runs(requests)
        except FaithtuiError:
            words = ""  # said when the run is started; until then the form may be half filled
        label = self.query_one("#preview", Label)
        label.update(Content(escape_text(words).text))
        label.display = bool(words)

    @holds_keys(can_give_up=False)
    @work(exclusive=True, group="start", exit_on_error=False)
    async def action_start(self) -> None:
        """Start what was ordered, or say why that cannot be."""
        try:
            await self._start(self._read_requests())
        except FaithtuiError as error:
            self.show_problem(str(error))
            return
        self.dismiss(None)

    def action_close(self) -> None:
        """Close without a run."""
        self.dismiss(None)

    @on(Input.Submitted)
    def start_from_input(self) -> None:
        """Start on enter in a text field."""
        self.action_start()

    def show_problem(self, words: str) -> None:
        """Say what is wrong with the order."""
        problem = self.query_one("#problem", Label)
        problem.update(Content(escape_text(words).text))
        self.call_after_refresh(problem.scroll_visible, animate=False)

    def _read_requests(self) -> list[RunRequest]:
        """Read the form.

        Raises:
            ConfigError: No metric or judge, options that cannot be read or that nobody has, or a
                budget that is no amount.
        """
        from faithtui.engine.runs.planner import select_metric_options

        metrics = self.query_one("#metrics", ChoicePane).selection
        if not metrics:
            raise ConfigError("no metric is chosen; space chooses one")
        judge = self.query_one("#judge", Input).value.strip()
        if not judge:
            raise ConfigError("judge is empty; expected offline or provider:model")
        same = judge == self._defaults.judge
        typed = read_options(self.query_one("#options", Input).value)
        strategy = str(self.query_one("#strategy", Select).value)
        as_peer = strategy == _AS_PEER
        return [
            replace(
                self._defaults,
                metric=metric,
                judge=judge,
                base_url=self._defaults.base_url if same else None,
                strategy="window" if as_peer else strategy,
                as_peer=as_peer,
                options=select_metric_options(metric, typed, metrics),
                claims=str(self.query_one("#claims", Select).value),
                sources=self.query_one("#sources", ChoicePane).selection,
                batch=self.query_one("#sending", Select).value == "batch",
                budget_nusd=read_usd(self.query_one("#budget", Input).value),
            )
            for metric in metrics
        ]


def _metric_pieces(spec: "MetricSpec") -> list[Piece]:
    """Name a metric, and say what it judges and whose it is."""
    return [Piece(f"{spec.title:<25}"), Piece(f" {spec.units[1]} · {spec.peer}", "quiet")]


def _source_pieces(row: SourceRow) -> list[Piece]:
    """Name a data set and count what is in it."""
    ratings = f", {fmt.count_in_words(row.ratings, 'human label')}" if row.ratings else ""
    counts = fmt.count_in_words(row.conversations, "conversation") + ratings
    return [escape_line(row.source, limit=60), Piece(f"  {counts}", "quiet")]
