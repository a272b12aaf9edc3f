"""The confusion matrix, and the keys that move in it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.agreement.report.model import LevelReport
from faithtui.tui.agreement import matrix_lines
from faithtui.tui.metric_words import name_units_at_level
from faithtui.tui.widgets.scroll_pane import Pane

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

CELL = Binding.Group("cell", compact=True)


class MatrixPane(Pane):
    """The confusion matrix, one cell chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter",
            "list_units_of_cell",
            "list units",
            tooltip="List what the cell counts",
            id="agreement.open-cell",
        ),
        Binding(
            "left",
            "move_cell(0,-1)",
            "left",
            group=CELL,
            key_display="←",
            tooltip="Cell to the left",
            id="agreement.cell-left",
        ),
        Binding(
            "right",
            "move_cell(0,1)",
            "right",
            group=CELL,
            key_display="→",
            tooltip="Cell to the right",
            id="agreement.cell-right",
        ),
        Binding(
            "up,k",
            "move_cell(-1,0)",
            "up",
            group=CELL,
            key_display="↑",
            tooltip="Cell above",
            id="agreement.cell-up",
        ),
        Binding(
            "down,j",
            "move_cell(1,0)",
            "down",
            group=CELL,
            key_display="↓",
            tooltip="Cell below",
            id="agreement.cell-down",
        ),
    ]

    @dataclass
    class CellOpened(Message):
        """What a cell counts is wanted: row the human label, column the judge's."""

        row: int
        column: int

    def __init__(self) -> None:
        super().__init__(id="matrix", title="Confusion · counts")
        self.cell = (0, 0)
        self._level: LevelReport | None = None
        self._spec: MetricSpec | None = None

    def show_matrix_of_report_level(self, level: LevelReport, spec: "MetricSpec") -> None:
        """Draw the matrix of a level."""
        last = len(level.table.categories) - 1
        self.cell = (min(self.cell[0], last), min(self.cell[1], last))
        self._level, self._spec = level, spec
        self.show(
            lambda width: matrix_lines.format_confusion_matrix_lines(
                level, self.cell, self.has_focus, spec.labels, width
            ),
            title=f"Confusion · {name_units_at_level(level.level, spec)[1]}",
        )

    def clear_matrix(self) -> None:
        """Have no cells until a level is shown."""
        self._level = self._spec = None

    def on_focus(self) -> None:
        """Draw the chosen cell strongly."""
        self.call_later(self._repaint_content)

    def on_blur(self) -> None:
        """Draw the chosen cell quietly; Textual notes the lost focus after this."""
        self.call_later(self._repaint_content)

    def action_move_cell(self, down: int, right: int) -> None:
        """Choose a cell beside."""
        if self._level is not None:
            last = len(self._level.table.categories) - 1
            self.cell = (
                max(0, min(last, self.cell[0] + down)),
                max(0, min(last, self.cell[1] + right)),
            )
            self._repaint_content()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide keys of cells while there are none."""
        return self._level is not None if action in ("move_cell", "list_units_of_cell") else True

    def action_list_units_of_cell(self) -> None:
        """Ask for what the cell counts."""
        if self._level is not None:
            self.post_message(self.CellOpened(*self.cell))

    def _repaint_content(self) -> None:
        if self._level is not None and self._spec is not None:
            self.show_matrix_of_report_level(self._level, self._spec)
