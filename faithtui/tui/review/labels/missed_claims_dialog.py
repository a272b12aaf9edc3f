"""`+`: claims of an answer that the judge did not extract, and whether all are known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from faithtui.domain.conversation import Span, normalise_claim
from faithtui.domain.limits import CLAIM
from faithtui.domain.text.word_spans import find_word_spans
from faithtui.engine.review.missed_claims import (
    add_missed_claim,
    mark_answer_complete,
    remove_missed_claim,
)
from faithtui.tui.screen.controller import Controller
from faithtui.tui.screen.dialogs import Dialog
from faithtui.tui.theme.lines import Line, Piece, escape_line, wrap
from faithtui.tui.widgets.bars import KeyBar
from faithtui.tui.widgets.plain_input import PlainInput
from faithtui.tui.widgets.scroll_pane import Pane
from faithtui.tui.widgets.word_picker import WordPicker

if TYPE_CHECKING:
    from faithtui.store.records import ReviewView
    from faithtui.tui.review.review_screen import ReviewScreen


@dataclass(frozen=True, slots=True)
class AnswerClaims:
    """What is known of the claims of an answer."""

    turn: int
    text: str
    """The answer."""
    extracted: tuple[str, ...]
    missed: tuple[str, ...]
    """Those that this reviewer added."""
    is_complete: bool
    """This reviewer says that these are all."""

    @classmethod
    def from_view(cls, view: "ReviewView", turn: int) -> "AnswerClaims":
        """Read it from a conversation."""
        return cls(
            turn,
            next(each.content for each in view.turns if each.position == turn),
            tuple(each.text for each in view.claims if each.turn == turn),
            tuple(each.text for each in view.missed if each.turn == turn and each.is_mine),
            any(each.turn == turn and each.is_mine for each in view.complete),
        )


def describe_added_claims(view: "ReviewView", turn: int) -> str:
    """Say how many claims the reviewer added to an answer, and whether they declared it complete.

    Returns:
        "" for neither.
    """
    missed = sum(each.turn == turn and each.is_mine for each in view.missed)
    words = [f"{missed} missed"] if missed else []
    if any(each.turn == turn and each.is_mine for each in view.complete):
        words.append("complete")
    return " · ".join(words)


class MissedClaimAdder(Controller["ReviewScreen"]):
    """Adds missed claims to the answer of the chosen claim."""

    screen: "ReviewScreen"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "plus",
            "open_missed_claims_dialog",
            "missed claims",
            key_display="+",
            show=False,
            tooltip="Add claims of this answer that the judge did not extract, or say that there "
            "are no others",
            id="review.missed-claims",
        ),
    ]

    def action_open_missed_claims_dialog(self) -> None:
        """Open the answer of the chosen claim."""
        state, claim = self.screen.review_state, self.screen.claim
        if state is None or claim is None:
            return
        if state.spec.judges != "claim":
            self.refuse(f"{state.spec.title} extracts no claims from answers: none can be missed")
            return
        if self.screen.writer.in_flight:
            self.refuse("what was said last is still being saved: press it again")
            return
        known = AnswerClaims.from_view(state.view, claim.turn)
        self.input_queue.open_window(
            MissedClaimsDialog(
                known, self._add_claim, self._remove_claim, self._set_answer_complete
            )
        )

    def _add_claim(self, turn: int, text: str, span: Span | None) -> None:
        self._submit_turn_change(
            f"claim added to turn {turn + 1}", add_missed_claim, turn, text, span=span
        )

    def _remove_claim(self, turn: int, text: str) -> None:
        self._submit_turn_change(
            f"claim removed from turn {turn + 1}", remove_missed_claim, turn, text
        )

    def _set_answer_complete(self, turn: int, complete: bool) -> None:
        words = "all claims are known" if complete else "there may be other claims"
        self._submit_turn_change(
            f"turn {turn + 1}: {words}", mark_answer_complete, turn, complete=complete
        )

    def _submit_turn_change(
        self, words: str, write: Callable[..., object], turn: int, *more: object, **named: object
    ) -> None:
        view, claim, session = self.screen.view, self.screen.claim, self.session
        if view is None or claim is None:
            return
        writer = self.screen.writer
        writer.set_last_event_text(words)
        writer.submit_event(
            [claim.id],
            words,
            write,
            session.store,
            view.run.id,
            view.item.id,
            turn,
            *more,
            reviewer=session.reviewer,
            **named,
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key without a claim."""
        return self.screen.claim is not None


class ClaimInput(PlainInput):
    """A line for a claim: the footer names its keys while it is used."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "add", tooltip="Add the claim", id="missed.add"),
        Binding("escape", "drop", "drop", tooltip="Drop what was typed", id="missed.drop"),
    ]

    @dataclass
    class Dropped(Message):
        """What was typed is not wanted."""

    def action_drop(self) -> None:
        """Report that what was typed is not wanted."""
        self.post_message(self.Dropped())


class MissedClaimsDialog(Dialog):
    """An answer with its claims; others are selected in it, or typed.

    Args:
        known: What is known of them.
        add: Called with turn, text and place of a claim that is added.
        remove: Called with turn and text of a claim that was added and is removed again.
        set_complete: Called with the turn, and whether all its claims are known.
    """

    HELP_WORDS: ClassVar[str] = (
        "Add claims that the answer makes and the judge did not extract: {words.select} takes the "
        "words that are selected in the answer, {missed.write} lets you type one. "
        "{missed.complete} says that all claims of the answer are listed; recall of claim "
        "extraction is computed on such answers alone. Wording is not edited and claims are not "
        "split. {missed.remove} removes the claim that was added last."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "e",
            "open_claim_input",
            "type a claim",
            tooltip="Type a claim in words of your own",
            id="missed.write",
        ),
        Binding(
            "u",
            "remove_last_added_claim",
            "remove last",
            tooltip="Remove the claim that you added last",
            id="missed.remove",
        ),
        Binding(
            "c",
            "toggle_answer_complete",
            "complete or not",
            tooltip="Say that all claims of the answer are listed, or no longer",
            id="missed.complete",
        ),
        Binding(
            "plus",
            "close",
            "Close",
            show=False,
            tooltip="Close this window",
            id="missed.close",
        ),
    ]

    def __init__(
        self,
        known: AnswerClaims,
        add: Callable[[int, str, Span | None], None],
        remove: Callable[[int, str], None],
        set_complete: Callable[[int, bool], None],
    ) -> None:
        super().__init__("Claims", self._format_added_and_extracted_claim_lines)
        self._known = known
        self._add = add
        self._remove = remove
        self._set_complete = set_complete
        self._added: list[str] = list(known.missed)
        self._is_complete = known.is_complete
        self._message = ""
        """Why the last claim was not added."""
        self._refused_text = ""
        """What was typed and could not be added when the app was to be left."""

    def compose(self) -> ComposeResult:
        """Stack claims, answer and a line to type in; the keys stand where they always do."""
        with Vertical(id="dialog"):
            yield Pane(id="claim", title="Claims")
            yield WordPicker(id="words")
            line = ClaimInput(id="typed", placeholder="enter adds it, escape drops it")
            line.border_title = "A claim in words of your own"
            yield line
        yield KeyBar(id="keys")

    def show_content(self) -> None:
        """Show the answer."""
        self.query_one("#typed").display = False
        picker = self.query_one(WordPicker)
        picker.show_text(self._known.text, (), title=f"Answer · turn {self._known.turn + 1}")
        picker.focus()
        self._repaint_content()

    @on(WordPicker.Selected)
    def add_selected_words_as_claim(self, event: WordPicker.Selected) -> None:
        """Add the words that are selected."""
        self._try_to_add(self._known.text[event.start : event.end], Span(event.start, event.end))

    @on(Input.Submitted, "#typed")
    def add_typed_claim(self, event: Input.Submitted) -> None:
        """Add what was typed; what cannot be added stays, to be changed."""
        if not event.value.strip() or self._try_to_add(event.value, None):
            self._close_claim_input()

    @on(PlainInput.FocusMoved, "#typed")
    def add_typed_claim_on_blur(self) -> None:
        """Add what was typed when another pane takes the keys."""
        line = self.query_one("#typed", PlainInput)
        if not line.display:
            return
        if not line.value.strip() or self._try_to_add(line.value, None):
            line.display = False

    def save_typed_text_or_say_why_not(self) -> bool:
        """Add the claim that is being typed, before the app is left.

        Returns:
            False when it cannot be added, and that was said; True when it is asked once more.
        """
        line = self.query_one("#typed", PlainInput)
        if not line.display or not line.value.strip() or line.value == self._refused_text:
            return True
        if self._try_to_add(line.value, None, " (quit again to drop it)"):
            line.display = False
            return True
        self._refused_text = line.value
        return False

    def action_open_claim_input(self) -> None:
        """Open the line to type in."""
        line = self.query_one("#typed", PlainInput)
        line.value, line.display = "", True
        line.focus()

    def action_remove_last_added_claim(self) -> None:
        """Remove the claim that was added last."""
        self._message = "" if self._added else "no claim of yours is in the list"
        if self._added:
            self._remove(self._known.turn, self._added.pop())
        self._repaint_content()

    def action_toggle_answer_complete(self) -> None:
        """Say that all claims are listed, or no longer."""
        self._message = ""
        self._is_complete = not self._is_complete
        self._set_complete(self._known.turn, self._is_complete)
        self._repaint_content()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave letters and escape to the line while it is typed in."""
        return action != "close" or not isinstance(self.focused, ClaimInput)

    def action_close(self) -> None:
        """Close the line to type in, or the window."""
        if self.query_one("#typed").display:
            self._close_claim_input()
        else:
            super().action_close()

    @on(ClaimInput.Dropped)
    def _close_claim_input(self) -> None:
        self.query_one("#typed").display = False
        self.query_one(WordPicker).focus()

    def _try_to_add(self, typed: str, span: Span | None, way_out: str = "") -> bool:
        """Add a claim, or say why it is not one and how to go on."""
        text = " ".join(typed.split())
        same = normalise_claim(text)
        problem = CLAIM.find_size_problem(len(text))
        if not find_word_spans(text):
            problem = "a claim has no words; write what the answer says"
        elif any(normalise_claim(each) == same for each in (*self._known.extracted, *self._added)):
            problem = "this claim is in the list already"
        self._message = f"{problem}{way_out}" if problem else ""
        if problem is None:
            self._added.append(text)
            self._add(self._known.turn, text, span)
            self.query_one(WordPicker).show_marks(())
        else:
            self.app.bell()
        self._repaint_content()
        return problem is None

    def _repaint_content(self) -> None:
        count = f"{len(self._known.extracted)} extracted · {len(self._added)} added by you"
        state = "complete" if self._is_complete else "not declared complete"
        self.query_one("#claim", Pane).show(
            self._format_added_and_extracted_claim_lines, title=f"Claims · {count} · {state}"
        )

    def _format_added_and_extracted_claim_lines(self, width: int) -> Sequence[Line]:
        lines: list[Line] = []
        if self._message:
            lines += wrap([Piece(self._message, "warn")], width - 1, first=[Piece(" ! ", "warn")])
        for text in reversed(self._added):
            first = [Piece(" + ", "human strong")]
            lines += wrap([escape_line(text, "human")], width - 1, first=first)
        for text in self._known.extracted:
            lines += wrap([escape_line(text)], width - 1, first=[Piece(" · ", "quiet")])
        return lines
