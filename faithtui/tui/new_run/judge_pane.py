"""The judges that a run can use, one of which is chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from faithtui.engine.judge_choices import JudgeChoice
from faithtui.tui.theme.lines import Line, Piece, escape_line, fit_text, make_line
from faithtui.tui.widgets.choice_pane import CHOOSE
from faithtui.tui.widgets.scroll_pane import RowPane

MOST_SEEN = 6
"""Judges that are seen at once; a longer list scrolls."""

_WIDEST_NAME = 34


class JudgePane(RowPane):
    """Judges with what is known of each; what is typed below the list may be none of them.

    Args:
        choices: The judges.
        judge: What is chosen at first, and its address.
    """

    BINDINGS: ClassVar[list[BindingType]] = [CHOOSE]

    @dataclass
    class JudgeChosen(Message):
        """A judge of the list is chosen."""

        pane: "JudgePane"
        choice: JudgeChoice

        @property
        def control(self) -> "JudgePane":
            """The pane."""
            return self.pane

    def __init__(
        self, choices: Sequence[JudgeChoice], judge: tuple[str, str | None], *, id: str, hint: str
    ) -> None:
        super().__init__(id=id, title="Judge", hint=hint, opens_on_first_click=True)
        self._judge = judge
        self._choices: Sequence[JudgeChoice] = choices

    @property
    def choice_at_cursor(self) -> JudgeChoice | None:
        """The judge under the cursor."""
        return self._choices[self.cursor] if self.cursor < len(self._choices) else None

    def on_mount(self) -> None:
        """Begin at the chosen judge."""
        self.show_choices(self._choices)
        chosen = [row for row, each in enumerate(self._choices) if self._is_chosen(each)]
        self.move_to(chosen[0] if chosen else 0)

    def show_choices(self, choices: Sequence[JudgeChoice]) -> None:
        """Draw judges; the cursor stays at the one where it was."""
        before = self.choice_at_cursor
        self._choices = choices
        self.styles.height = max(3, min(MOST_SEEN, len(choices))) + 2
        self.show(self._row_lines)
        places = [
            row
            for row, each in enumerate(choices)
            if before is not None and (each.judge, each.base_url) == (before.judge, before.base_url)
        ]
        self.move_to(places[0] if places else 0)

    def highlight_typed_judge(self, judge: str, base_url: str | None) -> None:
        """Mark the judge that is typed, where it is one of the list."""
        if (judge, base_url) != self._judge:
            self._judge = (judge, base_url)
            self.show(self._row_lines)

    def action_choose(self) -> None:
        """Choose the judge under the cursor."""
        choice = self.choice_at_cursor
        if choice is not None:
            self.highlight_typed_judge(choice.judge, choice.base_url)
            self.post_message(self.JudgeChosen(self, choice))

    def _is_chosen(self, choice: JudgeChoice) -> bool:
        return (choice.judge, choice.base_url) == self._judge

    def _row_lines(self, width: int) -> Sequence[Line]:
        longest = max((len(each.judge) for each in self._choices), default=0)
        name = min(longest, _WIDEST_NAME, max(12, width * 40 // 100))
        return [
            make_line(
                Piece(" (x) " if self._is_chosen(each) else " ( ) ", "key"),
                Piece(fit_text(escape_line(each.judge).text, name)),
                Piece(
                    "  " + fit_text(escape_line(each.state).text, width - name - 8).rstrip(),
                    "quiet" if each.is_ready else "warn",
                ),
                row=row,
            )
            for row, each in enumerate(self._choices)
        ]
