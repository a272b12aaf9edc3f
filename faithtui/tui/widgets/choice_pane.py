"""Panes of things to choose: by a key, or by one click."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.tui.theme.lines import Line, Piece
from faithtui.tui.widgets.scroll_pane import RowPane

MOST_CHOICES = 8
"""Choices that are seen at once; a longer list scrolls."""

CHOOSE = Binding(
    "space,enter",
    "choose",
    "choose",
    key_display="space",
    tooltip="Choose an entry, or leave it out again",
    id="new-run.choose",
)
"""What every pane of things to choose has."""

Choice = tuple[str, Sequence[Piece]]
"""What can be chosen, and how it is drawn."""


class ChoicePane(RowPane):
    """Things to choose any number of."""

    BINDINGS: ClassVar[list[BindingType]] = [CHOOSE]

    @dataclass
    class Changed(Message):
        """Something else is chosen."""

        pane: "ChoicePane"

        @property
        def control(self) -> "ChoicePane":
            """The pane."""
            return self.pane

    def __init__(
        self, choices: Sequence[Choice], chosen: Iterable[str], *, id: str, title: str, hint: str
    ) -> None:
        super().__init__(id=id, title=title, hint=hint, opens_on_first_click=True)
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
        """Toggle the entry under the cursor: `RowPane` names what enter and a click do."""
        self.toggle_entry_at_cursor()

    def toggle_entry_at_cursor(self) -> None:
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
