"""Notes on claims, on a line of the screen or in the user's own editor."""

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from faithtui.domain.labels.label_events import Action
from faithtui.domain.limits import NOTE
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.errors import ConfigError
from faithtui.store.records import ClaimView
from faithtui.tui.review.external_editor import edit_text
from faithtui.tui.screen.controller import Controller
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.plain_input import can_be_typed

if TYPE_CHECKING:
    from faithtui.tui.review.review_screen import ReviewScreen


class Notes(Controller["ReviewScreen"]):
    """Notes on the claims of the review screen, whose line `#note` they are typed on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "e", "open_note_line", "note", tooltip="Write a note on the claim", id="review.note"
        ),
        Binding(
            "ctrl+e",
            "edit_note",
            "note in editor",
            show=False,
            tooltip="Write the note in $VISUAL or $EDITOR",
            id="review.edit-note",
        ),
    ]

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(screen)
        self.noted_claim: ClaimView | None = None
        """The claim that the line for a note was opened on; another one may be chosen meanwhile.
        None: nobody is typing a note."""

    def action_open_note_line(self) -> None:
        """Open the line for a note, with the one that is there."""
        claim = self.screen.claim
        if claim is None:
            return
        note = claim.mine.note if claim.mine and claim.mine.note else ""
        if not can_be_typed(note):
            words = "this note is long, or has several lines: {review.edit-note} opens your editor"
            self.refuse(self.keys.fill_in_keys(words))
            return
        self.noted_claim = claim
        self.screen.note.drop_held_text()
        self.screen.note.name_subject(self.screen.format_claim_name(claim))
        self.screen.show_input_line(self.screen.note, note)

    def submit_note(self, event: Input.Submitted) -> None:
        """Save the note; an empty one removes it."""
        text = "\n".join(each for each in (self.screen.note.held, event.value) if each)
        claim = self.noted_claim
        self.drop_note_and_close_line()
        if claim is not None:
            self._save_note(claim, text)

    def save_typed_text(self) -> None:
        """Save a note that is being typed, because whoever types it goes elsewhere."""
        claim, self.noted_claim = self.noted_claim, None
        if claim is None:
            return
        self.screen.close_input_line(self.screen.note)
        text = self.screen.note.join_held_and_typed_note("")
        if self._is_changed(claim, text):
            self._save_note(claim, text)

    def _save_note(self, claim: ClaimView, text: str) -> None:
        if self._is_changed(claim, text):
            self.screen.writer.save_event(
                claim, Action.NOTED, f"note on {self.screen.format_claim_name(claim)}", note=text
            )
        else:
            self.show_message(
                Piece(f"note on {self.screen.format_claim_name(claim)} left as it was", "quiet")
            )

    def _is_changed(self, claim: ClaimView, text: str) -> bool:
        before = (claim.mine.note or "") if claim.mine else ""
        return text not in (before, make_visible_line(before))

    def action_edit_note(self) -> None:
        """Write the note in the user's own editor."""
        claim = self.screen.claim
        if claim is None:
            return
        before = claim.mine.note if claim.mine and claim.mine.note else ""
        text = edit_text(self.app, before, name="note.txt", limit=NOTE)
        if isinstance(text, ConfigError):
            self.refuse(str(text))
        else:
            self._save_note(claim, text)

    def drop_note_and_close_line(self) -> None:
        """Drop what was typed, and show the status line again."""
        self.noted_claim = None
        self.screen.close_input_line(self.screen.note)
        self.screen.panes.claims.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the keys without a claim."""
        return self.screen.claim is not None
