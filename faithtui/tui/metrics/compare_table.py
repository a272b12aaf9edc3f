"""The table of all metrics of a conversation: one cell is chosen, the headings stay in sight."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from faithtui.tui.metrics.metric_lines import MetricComparison, format_comparison_table_lines
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Line
from faithtui.tui.widgets.scroll_pane import RowPane

COLUMN = Binding.Group("metric", compact=True)


class CompareTable(RowPane):
    """Answers down, runs across."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "left,h",
            "move_column(-1)",
            "metric before",
            group=COLUMN,
            key_display="←",
            tooltip="Column to the left",
            id="metrics.left",
        ),
        Binding(
            "right,l",
            "move_column(1)",
            "next metric",
            group=COLUMN,
            key_display="→",
            tooltip="Column to the right",
            id="metrics.right",
        ),
        Binding(
            "enter",
            "choose",
            "review it",
            tooltip="Review the chosen answer under the metric of the column",
            id="metrics.open",
        ),
    ]

    def __init__(self) -> None:
        super().__init__(id="metrics", title="Metrics compared")
        self._compared: MetricComparison | None = None
        self._column = 0
        self._head = 0

    @property
    def selected_column_index(self) -> int:
        """Index of the run whose column is chosen."""
        return self._column

    def show_compared(self, compared: MetricComparison) -> None:
        """Draw the table with its chosen cell."""
        self._compared = compared
        self._column = compared.column
        answers = fmt.format_count_with_noun(len(compared.view.answers), "answer")
        runs = fmt.format_count_with_noun(len(compared.view.runs), "run")
        self.show(self._table_lines, title=f"Metrics compared · {answers} · {runs}")
        self.move_to(compared.row)
        # The headings may change while lines below them are looked at.
        self.refresh()

    def action_move_column(self, by: int) -> None:
        """Choose a column beside."""
        if self._compared is not None and self._compared.view.runs:
            last = len(self._compared.view.runs) - 1
            self._column = max(0, min(last, self._column + by))
            self.post_message(self.Moved(self, self.cursor))

    def scroll_to_lines(self, first: int, last: int) -> None:
        """Scroll so that these lines are seen below the headings."""
        super().scroll_to_lines(max(0, first - self._head), last)

    def get_line_index_at(self, y: int) -> int:
        """Keep the headings where they are, whatever is scrolled below them."""
        return y if y < self._head else super().get_line_index_at(y)

    def on_click(self, event: events.Click) -> None:
        """Choose nothing on the headings."""
        if event.get_content_offset_capture(self).y < self._head:
            event.prevent_default()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide keys of cells while there are none."""
        if action in ("move_column", "choose"):
            return self._compared is not None and bool(self._compared.view.runs)
        return True

    def _table_lines(self, width: int) -> list[Line]:
        if self._compared is None:
            return []
        lines, self._head = format_comparison_table_lines(self._compared, width)
        return lines
