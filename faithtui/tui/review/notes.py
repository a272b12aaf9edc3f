"""Notes on claims, on a line of the screen or in the user's own editor."""

from typing import ClassVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from faithtui.domain.annotations import Action
from faithtui.domain.limits import NOTE
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.errors import ConfigError
from faithtui.store.records import ClaimView
from faithtui.tui.review.external_editor import edit_text
from faithtui.tui.review.label_store import LabelWriterScreen
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.bars import StatusLine
from faithtui.tui.widgets.plain_input import PlainInput, can_be_typed


class NotesScreen(LabelWriterScreen):
    """A screen on which claims get notes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "note", "note", tooltip="Write a note on the claim", id="review.note"),
        Binding(
            "ctrl+e",
            "edit_note",
            "note in editor",
            show=False,
            tooltip="Write the note in $VISUAL or $EDITOR",
            id="review.edit-note",
        ),
    ]

    note = getters.query_one("#note", PlainInput)

    def compose(self) -> ComposeResult:
        """Add the line for notes, which takes the place of the status line while it is used."""
        yield from super().compose()
        yield PlainInput(
            id="note", placeholder="note: enter saves it, escape drops it", compact=True
        )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.noted_claim: ClaimView | None = None
        """The claim that the line for a note was opened on; another one may be chosen meanwhile."""

    def action_note(self) -> None:
        """Open the line for a note, with the one that is there."""
        claim = self.claim
        if claim is None:
            return
        note = claim.mine.note if claim.mine and claim.mine.note else ""
        if not can_be_typed(note):
            words = "this note is long, or has several lines: {review.edit-note} opens your editor"
            self.refuse(self.keys.fill_in_keys(words))
            return
        self.noted_claim = claim
        self.note.value = note
        self.query_one(StatusLine).display = False
        self.note.display = True
        self.note.focus()

    @on(Input.Submitted, "#note")
    def submit_note(self, event: Input.Submitted) -> None:
        """Save the note; an empty one removes it."""
        self._close_note()
        if self.noted_claim is not None:
            self._save_note(self.noted_claim, event.value)

    def _save_note(self, claim: ClaimView, text: str) -> None:
        before = (claim.mine.note or "") if claim.mine else ""
        if text not in (before, make_visible_line(before)):
            self.save_act(claim, Action.NOTED, f"note on {self.name_of(claim)}", note=text)
        else:
            self.show_message(Piece(f"note on {self.name_of(claim)} left as it was", "quiet"))

    def action_edit_note(self) -> None:
        """Write the note in the user's own editor."""
        claim = self.claim
        if claim is None:
            return
        before = claim.mine.note if claim.mine and claim.mine.note else ""
        text = edit_text(self.app, before, name="note.txt", limit=NOTE)
        if isinstance(text, ConfigError):
            self.refuse(str(text))
        else:
            self._save_note(claim, text)

    def on_key(self, event: events.Key) -> None:
        """Let escape close the line for notes."""
        if event.key == "escape" and self.note.has_focus:
            event.stop()
            self._close_note()

    def _close_note(self) -> None:
        self.note.display = False
        self.query_one(StatusLine).display = True
        self.panes.claims.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done without a claim."""
        if action in ("note", "edit_note"):
            return self.claim is not None
        return super().check_action(action, parameters)
