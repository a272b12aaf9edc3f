"""The fields of the form for new runs, and the runs they stand for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Grid, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Label, Select

from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.engine.judge_choices import UNNAMED_MODEL, JudgeChoice
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import ConfigError
from faithtui.store.records import SourceRow
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.new_run.field_words import AS_PEER, CHOICE_HINTS, HINTS, SELECTS
from faithtui.tui.new_run.judge_pane import JudgePane
from faithtui.tui.new_run.option_pane import OptionPane, list_option_rows
from faithtui.tui.new_run.option_text import (
    format_last_used_options,
    options_to_text,
    parse_options,
)
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.amounts import parse_typed_dollars
from faithtui.tui.theme.lines import Piece, escape_line
from faithtui.tui.widgets.choice_pane import ChoicePane
from faithtui.tui.widgets.plain_input import PlainInput

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

LastOptions = Mapping[str, Mapping[str, str]]
"""Options of the newest run of each metric, newest first."""


class RunFields(VerticalScroll):
    """Metrics, judge, strategy, sources and options of runs.

    Args:
        metrics: All there are.
        judges: Those that are known without looking for any.
        sources: All there are, at least one.
        defaults: What the form begins with.
        remembered: What metrics were last run with; the last one used is chosen.
        keys: What keys are called.
        choose_profile: Gives the parameters of a judge, with those that were typed; raises
            ConfigError.
    """

    def __init__(
        self,
        metrics: "Sequence[MetricSpec]",
        judges: Sequence[JudgeChoice],
        sources: Sequence[SourceRow],
        defaults: RunRequest,
        remembered: LastOptions,
        keys: KeyNames,
        choose_profile: Callable[[str, Mapping[str, object]], JudgeProfile],
    ) -> None:
        super().__init__(id="fields", can_focus=False)
        self._metrics = metrics
        self._judges = judges
        self._sources = sources
        self._defaults = defaults
        self._last_options = remembered
        self._keys = keys
        self._choose_profile = choose_profile
        self._begin_with = next(iter(remembered), metrics[0].key)
        self._written_options = format_last_used_options([self._begin_with], remembered)
        """Options as the form wrote them; other ones were typed by a person and stay."""

    def compose(self) -> ComposeResult:
        """Stack the fields."""
        defaults, keys = self._defaults, self._keys
        yield ChoicePane(
            [(spec.key, _metric_pieces(spec)) for spec in self._metrics],
            [self._begin_with],
            id="metrics",
            title="Metrics",
            hint=keys.fill_in_keys("{new-run.choose} chooses"),
        )
        yield JudgePane(
            self._judges,
            (defaults.judge, defaults.base_url),
            id="judges",
            hint=keys.fill_in_keys("{new-run.choose} chooses · {new-run.test} tests"),
        )
        with Grid(id="form"):
            yield Label(Content("judge"))
            yield PlainInput(value=defaults.judge, id="judge", compact=True)
            yield Label(Content("server"))
            yield PlainInput(value=defaults.base_url or "", id="server", compact=True)
            yield Label(Content("sampling"))
            yield PlainInput(id="parameters", compact=True, select_on_focus=False)
            for name, choices in SELECTS.items():
                yield Label(Content(name))
                yield Select[str](
                    choices,
                    value=choices[0][1],
                    allow_blank=False,
                    id=name,
                    compact=True,
                )
            yield Label(Content("budget $"))
            yield PlainInput(id="budget", compact=True)
        yield OptionPane(id="option-list", hint=keys.fill_in_keys("{new-run.choose} changes"))
        with Grid(id="typed"):
            yield Label(Content("options"))
            yield PlainInput(
                value=self._written_options,
                id="options",
                compact=True,
                select_on_focus=False,
            )
        yield ChoicePane(
            [(row.source, _make_data_set_pieces(row)) for row in self._sources],
            (),
            id="sources",
            title="Sources",
            hint="none chosen: all of them",
        )

    def on_mount(self) -> None:
        """Begin with the metrics."""
        self.query_one("#metrics", ChoicePane).focus()
        self.show_options()

    @on(events.Resize)
    def keep_focused_field_in_view(self) -> None:
        """Show the field that was gone to also where the preview below has taken its place."""
        focused = self.screen.focused
        if focused is not None and self in focused.ancestors:
            self.call_after_refresh(focused.scroll_visible, animate=False)

    @property
    def _metric_keys(self) -> tuple[str, ...]:
        return self.query_one("#metrics", ChoicePane).selection

    def get_field_hint(self, field: str) -> str:
        """Say what a field is for, or what is chosen in it.

        Args:
            field: Its id.
        """
        if field in SELECTS:
            return CHOICE_HINTS[str(self.query_one(f"#{field}", Select).value)]
        if field == "judges":
            choice = self.query_one("#judges", JudgePane).choice_at_cursor
            return f"{choice.judge}: {choice.state}" if choice is not None else ""
        if field == "option-list":
            row = self.query_one("#option-list", OptionPane).row_at_cursor
            return row.explanation if row is not None else ""
        return HINTS.get(field, "")

    def show_judges(self, choices: Sequence[JudgeChoice]) -> None:
        """Offer other judges."""
        self.query_one("#judges", JudgePane).show_choices(choices)

    @on(JudgePane.JudgeChosen)
    def fill_in_judge(self, event: JudgePane.JudgeChosen) -> None:
        """Write down the judge that was chosen from the list."""
        self.query_one("#judge", Input).value = event.choice.judge
        self.query_one("#server", Input).value = event.choice.base_url or ""

    @on(Input.Changed, "#judge, #server")
    def highlight_typed_judge(self) -> None:
        """Mark what is typed in the list of judges."""
        self.query_one("#judges", JudgePane).highlight_typed_judge(*self.typed_judge)

    @on(ChoicePane.Changed, "#metrics")
    def fill_in_options(self) -> None:
        """Write the options of the metrics chosen, unless a person typed other ones."""
        field = self.query_one("#options", Input)
        if field.value == self._written_options:
            chosen = self._metric_keys
            self._written_options = format_last_used_options(chosen, self._last_options)
            field.value = self._written_options
        self.show_options()

    @on(Input.Changed, "#options")
    def show_options(self) -> None:
        """Draw the options of the chosen metrics with what is typed; as by default while wrong."""
        try:
            typed = parse_options(self.query_one("#options", Input).value)
        except ConfigError:
            typed = {}
        rows = list_option_rows(self._metric_keys)
        self.query_one("#option-list", OptionPane).show_options(rows, typed)

    @on(OptionPane.OptionChosen)
    def toggle_or_edit_option(self, event: OptionPane.OptionChosen) -> None:
        """Turn an option on or off; one with a value is typed."""
        field, option = self.query_one("#options", Input), event.row.option
        try:
            typed = parse_options(field.value)
        except ConfigError:
            field.focus()  # what is wrong with it is said where its figures would stand
            return
        now = event.row.find_typed_value(typed)
        if isinstance(option.default, bool):
            is_on = option.default if now is None else now.lower() == "true"
            for key in event.row.metrics:
                typed.pop(f"{key}.{option.name}", None)
            typed.pop(option.name, None)
            if is_on is option.default:
                typed[option.name] = "false" if is_on else "true"
            field.value = options_to_text(typed)
            return
        if now is None:
            field.value = f"{field.value} {option.name}=".lstrip()
        field.focus()
        at = field.value.find(f"{option.name}=")
        end = field.value.find(" ", at)
        field.cursor_position = len(field.value) if end < 0 else end

    @property
    def typed_judge(self) -> tuple[str, str | None]:
        """Judge and address as they are typed."""
        judge = self.query_one("#judge", Input).value.strip()
        return judge, self.query_one("#server", Input).value.strip() or None

    def read_judge_and_address(self) -> tuple[str, str | None]:
        """Read the judge and its address.

        Raises:
            ConfigError: There is no judge, or none with a model.
        """
        judge, base_url = self.typed_judge
        if not judge:
            raise ConfigError("judge is empty; expected offline or provider:model")
        if judge.endswith(f":{UNNAMED_MODEL}"):
            raise ConfigError(f"judge: type the name of a model in place of {UNNAMED_MODEL}")
        return judge, base_url

    def read_judge_parameters(self, judge: str) -> JudgeProfile:
        """Read the parameters of the judge.

        Raises:
            ConfigError: A value cannot be, or the judge takes none.
        """
        typed: dict[str, object] = dict(parse_options(self.query_one("#parameters", Input).value))
        return self._choose_profile(judge, typed)

    def read_requests(self) -> list[RunRequest]:
        """Read the form.

        Raises:
            ConfigError: No metric or judge, options or parameters that cannot be read or that
                nobody has, or a budget that is no amount.
        """
        from faithtui.engine.runs.run_planner import select_metric_options

        metrics = self._metric_keys
        if not metrics:
            raise ConfigError("no metric is chosen; space chooses one")
        judge, base_url = self.read_judge_and_address()
        profile = self.read_judge_parameters(judge)
        typed = parse_options(self.query_one("#options", Input).value)
        strategy = str(self.query_one("#strategy", Select).value)
        as_peer = strategy == AS_PEER
        return [
            replace(
                self._defaults,
                metric=metric,
                judge=judge,
                profile=profile,
                base_url=base_url,
                strategy="window" if as_peer else strategy,
                as_peer=as_peer,
                options=select_metric_options(metric, typed, metrics),
                claims=str(self.query_one("#claims", Select).value),
                sources=self.query_one("#sources", ChoicePane).selection,
                batch=self.query_one("#sending", Select).value == "batch",
                budget_nusd=parse_typed_dollars(self.query_one("#budget", Input).value),
            )
            for metric in metrics
        ]


def _metric_pieces(spec: "MetricSpec") -> list[Piece]:
    """Name a metric, and say what it judges and whose it is."""
    return [Piece(f"{spec.title:<25}"), Piece(f" {spec.units[1]} · {spec.peer}", "quiet")]


def _make_data_set_pieces(row: SourceRow) -> list[Piece]:
    """Name a data set and count what is in it."""
    ratings = f", {fmt.format_count_with_noun(row.ratings, 'human label')}" if row.ratings else ""
    counts = fmt.format_count_with_noun(row.conversations, "conversation") + ratings
    return [escape_line(row.source, limit=60), Piece(f"  {counts}", "quiet")]
