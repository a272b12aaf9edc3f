"""The conversations of the chosen run that score lowest, listed beside it where there is room."""

from typing import TYPE_CHECKING

from rich.style import Style
from textual import on

from faithtui.domain.filters import Filter
from faithtui.store.runs.run_records import RunRow
from faithtui.tui.conversations.unanimous_rows import note_painted_list_row
from faithtui.tui.messages import ShowScreen
from faithtui.tui.runs.run_details import HIDDEN
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import Line, Piece, make_line
from faithtui.tui.widgets.scroll_pane import RowPane

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec
    from faithtui.store.records import ItemRow
    from faithtui.tui.runs.run_figures import RunFigures

MOST_LISTED = 50
"""Conversations that are listed: the list of conversations has all of them."""


class LowestScoresPane(RowPane):
    """Lists the conversations of a run that score lowest; one that is chosen is reviewed.

    Args:
        session: Which run and conversation are looked at.
    """

    def __init__(self, session: Session, *, id: str) -> None:
        super().__init__(id=id, title="Lowest scores", opens_on_first_click=True)
        self._session = session
        self._run: RunRow | None = None
        self._items: tuple[ItemRow, ...] = ()

    def show_lowest_conversations(
        self, row: RunRow | None, spec: "MetricSpec | None", found: "RunFigures | None"
    ) -> None:
        """List the conversations of a run.

        Args:
            row: The run; None: none is chosen.
            spec: Its metric; None: not read yet.
            found: What was read of the run; None: nothing yet.
        """
        is_other = row is None or self._run is None or row.id != self._run.id
        blind = self._session.is_blind
        self._run = row
        self._items = () if found is None or blind else found.lowest
        if row is None:
            self.show(lambda _width: ())
            return
        if spec is None or not self._items:
            words = (
                HIDDEN
                if blind
                else "… reading"
                if spec is None or found is None
                else "not read"
                if found.failure
                else "no conversation has a score yet"
            )
            self.show(lambda _width: (make_line(Piece(f" {words}", "quiet")),))
            return
        # Later than the first paint, as it brings the store.
        from faithtui.tui.conversations.conversation_lines import (
            RowOptions,
            format_conversation_row,
            format_list_heading,
        )

        items = self._items
        prefix = "" if found is None else found.key_prefix
        # The order is by the judge's score, so that is the one shown.
        options = RowOptions(spec, row.spec.rule, blind, Filter(), prefix, judge_scores=True)

        def format_item_lines(width: int) -> list[Line]:
            return [
                format_list_heading(spec, width),
                *(
                    Line(format_conversation_row(each, options, width, here=False).pieces, number)
                    for number, each in enumerate(items)
                ),
            ]

        self.show(format_item_lines)
        self.move_to(0 if is_other else min(self.cursor, len(items) - 1))

    def get_line_and_style_at(self, y: int) -> tuple[Line, Style]:
        """Give a line that is drawn, and take note of its conversation."""
        index = self.get_line_index_at(y)
        row = self.lines[index].row if index < len(self.lines) else None
        if row is not None and row < len(self._items):
            note_painted_list_row(self._session, self._items[row])
        return super().get_line_and_style_at(y)

    @on(RowPane.Chosen)
    def review_chosen(self, event: RowPane.Chosen) -> None:
        """Review the chosen conversation."""
        event.stop()
        if self._run is not None and event.row < len(self._items):
            self._session.switch_run(self._run.id)
            self._session.open_conversation(self._items[event.row].id)
            self.post_message(ShowScreen("review"))
