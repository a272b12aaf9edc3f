"""The options of the chosen metrics in words, with their values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.message import Message

from faithtui.tui.theme.lines import Line, Piece, escape_line, fit_text, make_line
from faithtui.tui.widgets.choice_pane import CHOOSE
from faithtui.tui.widgets.scroll_pane import RowPane

if TYPE_CHECKING:
    from faithtui.metrics.registry import MetricOption

MOST_SEEN = 6
"""Options that are seen at once; more of them scroll."""

ORDERED_APART = frozenset(("strategy", "as_peer"))
"""Options with a field of their own."""

_WIDEST_NAME = 28
_WIDEST_VALUE = 12


@dataclass(frozen=True, slots=True)
class OptionRow:
    """An option of one or several of the chosen metrics."""

    option: "MetricOption"
    metrics: tuple[str, ...]
    """Keys of the chosen metrics that have it."""
    is_shared: bool
    """All of the chosen metrics have it."""

    @property
    def name_in_words(self) -> str:
        """Its name in words."""
        return self.option.name.replace("_", " ")

    @property
    def explanation(self) -> str:
        """What it does, its default, and whose it is."""
        meaning = self.option.meaning.replace("`", "").rstrip(".")
        whose = "" if self.is_shared else f"; of {', '.join(self.metrics)}"
        return f"{meaning}. By default {format_value(self.option.default)}{whose}"

    def find_typed_value(self, typed: Mapping[str, str]) -> str | None:
        """Give what was typed for it; None: nothing."""
        names = [self.option.name, *(f"{key}.{self.option.name}" for key in self.metrics)]
        found = dict.fromkeys(typed[name] for name in names if name in typed)
        return " / ".join(found) if found else None


def list_option_rows(chosen: Sequence[str]) -> list[OptionRow]:
    """List the options of metrics, each once, in the order in which the metrics have them.

    Args:
        chosen: Keys of metrics.
    """
    from faithtui.metrics.registry import describe_options

    options: dict[str, MetricOption] = {}
    metrics: dict[str, list[str]] = {}
    for key in chosen:
        for each in describe_options(key):
            if each.name not in ORDERED_APART:
                options.setdefault(each.name, each)
                metrics.setdefault(each.name, []).append(key)
    return [
        OptionRow(option, tuple(metrics[name]), len(metrics[name]) == len(chosen))
        for name, option in options.items()
    ]


def format_value(value: object) -> str:
    """Write a value of an option in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


class OptionPane(RowPane):
    """Options of the chosen metrics; what is changed is typed on the line below."""

    BINDINGS: ClassVar[list[BindingType]] = [CHOOSE]

    @dataclass
    class OptionChosen(Message):
        """An option is to be changed."""

        pane: "OptionPane"
        row: OptionRow

        @property
        def control(self) -> "OptionPane":
            """The pane."""
            return self.pane

    def __init__(self, *, id: str, hint: str) -> None:
        super().__init__(id=id, title="Options", hint=hint, opens_on_first_click=True)
        self._rows: Sequence[OptionRow] = ()
        self._typed: Mapping[str, str] = {}

    @property
    def row_at_cursor(self) -> OptionRow | None:
        """The option under the cursor."""
        return self._rows[self.cursor] if self.cursor < len(self._rows) else None

    def show_options(self, rows: Sequence[OptionRow], typed: Mapping[str, str]) -> None:
        """Draw options with the values that were typed."""
        if [each.option.name for each in rows] != [each.option.name for each in self._rows]:
            self.move_to(0)
        self._rows, self._typed = rows, typed
        self.styles.height = max(1, min(MOST_SEEN, len(rows))) + 2
        self.show(self._row_lines)

    def action_choose(self) -> None:
        """Change the option under the cursor."""
        row = self.row_at_cursor
        if row is not None:
            self.post_message(self.OptionChosen(self, row))

    def _row_lines(self, width: int) -> Sequence[Line]:
        longest = max((len(each.name_in_words) for each in self._rows), default=0)
        name = min(longest, _WIDEST_NAME)
        return [
            self._format_row_line(number, each, name, width)
            for number, each in enumerate(self._rows)
        ]

    def _format_row_line(self, number: int, row: OptionRow, name: int, width: int) -> Line:
        typed = row.find_typed_value(self._typed)
        default = row.option.default
        shown = format_value(default) if typed is None else _format_typed_value(typed, default)
        value = fit_text(escape_line(shown).text, _WIDEST_VALUE)
        meaning = row.option.meaning.replace("`", "")
        return make_line(
            Piece(f" {fit_text(row.name_in_words, name)}  "),
            Piece(value, "quiet" if typed is None else "human strong"),
            Piece(f" {fit_text(meaning, width - name - _WIDEST_VALUE - 5).rstrip()}", "quiet"),
            row=number,
        )


def _format_typed_value(typed: str, default: object) -> str:
    if isinstance(default, bool):
        return {"true": "yes", "false": "no"}.get(typed.lower(), typed)
    return typed
