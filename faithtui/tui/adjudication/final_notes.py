"""Notes that go with a final label, typed on a line of the screen."""

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.tui.review import position
from faithtui.tui.screen.controller import Controller
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.plain_input import can_be_typed

if TYPE_CHECKING:
    from faithtui.tui.adjudication.adjudication_screen import AdjudicationScreen
    from faithtui.tui.adjudication.claim_evidence import SelectedClaim


class FinalNotes(Controller["AdjudicationScreen"]):
    """Notes on claims that are adjudicated."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "e",
            "open_note_line",
            "note",
            tooltip="Write a note that goes with the final label",
            id="adjudicate.note",
        ),
    ]

    def __init__(self, screen: "AdjudicationScreen") -> None:
        super().__init__(screen)
        self._noted: SelectedClaim | None = None
        """The claim that the line for a note was opened on; None: nobody is typing a note."""

    def action_open_note_line(self) -> None:
        """Open the line for a note, with the one that is there."""
        chosen = self.screen.labels.get_painted_claim_or_refuse()
        if chosen is None:
            return
        note = self._find_note(chosen)
        if not can_be_typed(note):
            words = (
                "this note is long, or has several lines: {review.edit-note} in review changes it"
            )
            self.refuse(self.keys.fill_in_keys(words))
            return
        self._noted = chosen
        self.screen.note.name_subject(self._format_claim_name(chosen))
        self.screen.show_input_line(self.screen.note, note)

    def _format_claim_name(self, chosen: "SelectedClaim") -> str:
        """Name the claim by its number in its conversation, as review does."""
        unit = "claim" if self.screen.spec is None else self.screen.spec.units[0]
        shown = position.find_claim(chosen.view, chosen.claim.claim)
        return unit if shown is None else f"{unit} {shown.number}"

    def _find_note(self, chosen: "SelectedClaim") -> str:
        final = chosen.claim.final
        kept = (final.note or "") if final is not None else ""
        return self.session.final_notes.get(chosen.claim.claim, kept)

    def submit_note(self, text: str) -> None:
        """Keep the note for the final label, or give that label again with it."""
        chosen = self._noted or self.screen.evidence.selection
        self.drop_note_and_close_line()
        if chosen is not None:
            self._save_note(chosen, text)

    def save_typed_text(self) -> None:
        """Do the same with a note that is being typed, because whoever types it goes elsewhere."""
        chosen, self._noted = self._noted, None
        if chosen is None:
            return
        self.screen.close_input_line(self.screen.note)
        if self.screen.note.value != self._find_note(chosen):
            self._save_note(chosen, self.screen.note.value)

    def _save_note(self, chosen: "SelectedClaim", text: str) -> None:
        if chosen.claim.final is not None:
            self.screen.labels.save_final_label_with_note(
                chosen, chosen.claim.final.verdict or NOT_A_CLAIM, text
            )
        else:
            self.session.final_notes[chosen.claim.claim] = text
            self.show_message(Piece("the note is kept, and goes with the final label", "quiet"))

    def drop_note_and_close_line(self) -> None:
        """Drop what was typed, and show the status line again."""
        self._noted = None
        self.screen.close_input_line(self.screen.note)
        self.screen.claims.focus()

    def is_key_shown(self, action: str) -> bool:
        """Leave the key out of the footer while the claim is hidden."""
        return self.screen.evidence.is_claim_visible

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key without a claim."""
        return self.screen.evidence.selection is not None
