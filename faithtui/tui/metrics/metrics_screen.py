"""The other side of a conversation: what every metric and judge says about each answer."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import getters, on, work
from textual.binding import Binding, BindingType

from faithtui.tui.messages import ShowScreen
from faithtui.tui.metric_words import get_metric_spec
from faithtui.tui.metrics.compare_table import CompareTable
from faithtui.tui.metrics.metric_lines import (
    MetricComparison,
    format_verdicts_and_answer_lines,
    nothing_to_compare_lines,
)
from faithtui.tui.screen.main_screen import CONTENT_GROUP, FaithScreen, conversation_tab_pieces
from faithtui.tui.theme import layouts
from faithtui.tui.theme.lines import BLANK, Line, Piece, escape_line, wrap
from faithtui.tui.widgets.scroll_pane import Pane, RowPane
from faithtui.tui.widgets.zoomable_panes import Panes

LAYOUT_WITHOUT_ANSWER = partial(layouts.lay_out_alone, "metrics")

NOTHING_CHOSEN = " No conversation chosen: {go.conversations}, then {review.metrics}."


class MetricsScreen(FaithScreen):
    """One row per answer, one column per run."""

    TITLE_WORDS: ClassVar[str] = "METRICS"
    HELP_WORDS: ClassVar[str] = (
        "Every metric and judge on the same answers: the run it was opened from, and of the "
        "others the newest run. A cell has the score "
        "of that answer alone, each thing that was judged counted once, and after an arrow the "
        "same with human labels in place; below it how often each label was given, "
        "or "
        "the one verdict of a metric that judges whole answers. human is the human label of the "
        "whole answer. Scores of different metrics do not mean the same."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "M,escape",
            "unzoom_or_go_back",
            "back to review",
            key_display="M/esc",
            tooltip="Back to the review of this conversation",
            id="metrics.back",
        ),
    ]

    table = getters.query_one(CompareTable)
    answer = getters.query_one("#answer", Pane)

    def make_panes(self) -> Panes:
        """Make the table and the answer below it, which is shown once there is one."""
        return Panes(
            CompareTable(),
            Pane(id="answer", title="Answer"),
            layout_function=LAYOUT_WITHOUT_ANSWER,
        )

    def on_mount(self) -> None:
        """Begin in the table."""
        self.compared: MetricComparison | None = None
        self.table.focus()
        super().on_mount()

    def reload(self) -> None:
        """Read the conversation again, or the one that was chosen elsewhere."""
        self.load_and_show_comparison()

    @work(exclusive=True, group=CONTENT_GROUP, exit_on_error=False)
    async def load_and_show_comparison(self) -> None:
        """Read the conversation."""
        self.call_later(
            self.show_comparison_and_record_exposure,
            await self.read_in_thread(self._read_comparison),
        )

    def explain_unread_content(self, why: Sequence[Piece]) -> None:
        """Say in place of the table why there is none; a conversation that is shown stays."""
        if self.compared is None:
            self.table.show(lambda width: [BLANK, *wrap(why, width, first=[Piece(" ")])])

    def _read_comparison(self) -> MetricComparison | None:
        runs, item = self.session.store.runs, self.session.item
        rows = () if item is None else runs.read_item_rows([item])
        if not rows:
            return None
        view = runs.read_conversation_across_runs(rows[0].conversation, rows[0].run)
        specs = tuple(get_metric_spec(each.run.spec) for each in view.runs)
        column = next((at for at, each in enumerate(view.runs) if each.item.id == item), 0)
        return MetricComparison(view, specs, 0, column)

    def show_comparison_and_record_exposure(self, found: MetricComparison | None) -> None:
        """Draw the conversation, with the same cell chosen while it is the same one."""
        before = self.compared
        if found is not None and before is not None:
            same = before.view.conversation == found.view.conversation
            if same and before.run is not None:
                ids = [each.run.id for each in found.view.runs]
                kept = before.run.run.id
                column = ids.index(kept) if kept in ids else found.column
                row = min(before.row, max(0, len(found.view.answers) - 1))
                found = replace(found, row=row, column=column)
        self.compared = found
        if found is not None and not self.session.is_blind:
            self.session.record_exposure([each.item.id for each in found.view.runs])
        self._paint_content()
        self.refresh_bindings()

    @on(RowPane.Moved, "#metrics")
    def show_answer_of_cell(self, event: RowPane.Moved) -> None:
        """Show the answer of the chosen cell."""
        if self.compared is not None:
            self.compared = replace(
                self.compared, row=event.row, column=self.table.selected_column_index
            )
            self._paint_content()

    @on(RowPane.Chosen, "#metrics")
    def review_answer_of_cell(self) -> None:
        """Review the answer under the metric of the column."""
        found = self.compared
        if found is None or found.run is None or found.answer is None:
            return
        session = self.session
        session.switch_run(found.run.run.id)
        session.open_conversation(found.run.item.id, turn=found.answer.turn)
        self.post_message(ShowScreen("review", back=True))

    def action_unzoom_or_go_back(self) -> None:
        """Go back to the review; first give each pane its place again."""
        panes = self.query_one(Panes)
        if panes.zoomed_id is not None:
            panes.zoom_pane(None)
        else:
            self.post_message(ShowScreen("review", back=True))

    def _paint_content(self) -> None:
        found = self.compared
        has_answer = found is not None and found.answer is not None
        self.query_one(Panes).set_layout_function(
            layouts.lay_out_metrics if has_answer else LAYOUT_WITHOUT_ANSWER
        )
        if found is None:
            words = [BLANK, Line((Piece(self.keys.fill_in_keys(NOTHING_CHOSEN), "strong"),))]
            self.table.show(lambda _width: words, title="Metrics compared")
            self.set_title()
            return
        if not found.view.runs:
            self.table.show(
                lambda width: nothing_to_compare_lines(width, self.keys), title="Metrics compared"
            )
        else:
            self.table.show_compared(found)
            self.table.hint = self.keys.fill_in_keys("{metrics.back} goes back to the review")
        answer = found.answer
        title = "Answer" if answer is None else f"Answer · turn {answer.turn + 1}"
        self.answer.show(
            lambda width: format_verdicts_and_answer_lines(found, width), title=title, keep=False
        )
        run = found.run
        crumbs = [Piece(" > ", "quiet"), escape_line(found.view.key, limit=60)]
        right = [] if run is None else [Piece(found.specs[found.column].title, "strong")]
        self.set_title(crumbs, right)

    def title_pieces(self) -> tuple[Piece, ...]:
        """Show the two sides of a conversation."""
        return conversation_tab_pieces(self.TITLE_WORDS, self.keys("metrics.back"))
