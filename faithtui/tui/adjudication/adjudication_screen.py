"""Where people differ: both sides without their names, the evidence, and the final word."""

import asyncio
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from faithtui.agreement.report.raters import ComparedClaim, order_anonymously
from faithtui.domain.annotations import Action, HumanVerdict, LabelMark
from faithtui.domain.ids import ClaimId
from faithtui.domain.label_sets import NOT_A_CLAIM
from faithtui.tui.adjudication import adjudication_lines as draw
from faithtui.tui.adjudication.rater_comparison import RaterComparisonScreen, SelectedClaim
from faithtui.tui.review import position
from faithtui.tui.review.lines.verdict import UNFAIR_KEY, VERDICT_KEYS
from faithtui.tui.screen.undo import UndoScreen
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.bars import StatusLine
from faithtui.tui.widgets.plain_input import PlainInput, can_be_typed

if TYPE_CHECKING:
    pass

TAKE = Binding.Group("take", compact=True)
FINAL = Binding.Group("final", compact=True)
PASSAGE = Binding.Group("passage", compact=True)


class AdjudicateScreen(UndoScreen, RaterComparisonScreen):
    """Raters, what they differ on, and the last word on it."""

    TITLE_WORDS: ClassVar[str] = "COMPARE / ADJUDICATE"
    HELP_WORDS: ClassVar[str] = (
        "Adjudication: claims on which annotators differ get a final label here. A and B "
        "stand "
        "for "
        "annotators; "
        "who is who changes from claim to claim, and the judges stay hidden until there is a "
        "final label. The table compares each judge with the final human labels, each pair of "
        "annotators, and each annotator with the others and with their own earlier labels "
        "(test-retest). `recall N` is the share of what the reference labels unfaithful that the "
        "rater labels so too. n counts the claims a figure rests on: what both sides gave a "
        "verdict on. "
        f"Below {draw.LEAST_CLAIMS} of them no figure is shown."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "a",
            "take(0)",
            "take A",
            group=TAKE,
            tooltip="The final label is A's",
            id="adjudicate.take-a",
        ),
        Binding(
            "b",
            "take(1)",
            "take B",
            group=TAKE,
            tooltip="The final label is B's",
            id="adjudicate.take-b",
        ),
        *(
            Binding(
                key,
                f"final({number})",
                "final",
                group=FINAL,
                tooltip=f"The final label is the metric's {words} label",
                id=f"adjudicate.final-{number + 1}",
            )
            for number, (key, words) in enumerate(
                zip(VERDICT_KEYS, ("first", "second", "third"), strict=True)
            )
        ),
        Binding(
            UNFAIR_KEY,
            "final(-1)",
            "final",
            group=FINAL,
            tooltip="Final label x: not a fair claim",
            id="adjudicate.final-unfair",
        ),
        Binding(
            "e",
            "note",
            "note",
            tooltip="Write a note that goes with the final label",
            id="adjudicate.note",
        ),
        Binding(
            "s",
            "discuss",
            "discuss",
            tooltip="Flag the claim for a talk and go on; again takes the flag away",
            id="adjudicate.discuss",
        ),
        Binding("u", "undo", "undo", tooltip="Take back your last act", id="adjudicate.undo"),
        Binding(
            "ctrl+r",
            "redo",
            "redo",
            show=False,
            tooltip="Do again what was taken back",
            id="adjudicate.redo",
        ),
        Binding(
            "f",
            "filter",
            "list other",
            tooltip="List where annotators differ, where the judge differs from the human "
            "label, or where judges differ",
            id="adjudicate.filter",
        ),
        Binding(
            "left_square_bracket",
            "passage(-1)",
            "passage before",
            group=PASSAGE,
            key_display="[",
            tooltip="Passage before",
            id="adjudicate.previous-passage",
        ),
        Binding(
            "right_square_bracket",
            "passage(1)",
            "next passage",
            group=PASSAGE,
            key_display="]",
            tooltip="Next passage",
            id="adjudicate.next-passage",
        ),
        Binding(
            "t", "source", "source", tooltip="Read the passage in full", id="adjudicate.source"
        ),
        Binding(
            "v",
            "review",
            "review",
            show=False,
            tooltip="Open the claim in review",
            id="adjudicate.review",
        ),
    ]

    note = getters.query_one("#note", PlainInput)

    @dataclass
    class Saved(Message):
        """An act is in the store."""

        words: str

    def compose(self) -> ComposeResult:
        """Add the line for notes, which takes the place of the status line while it is used."""
        yield from super().compose()
        yield PlainInput(
            id="note", placeholder="note: enter saves it, escape drops it", compact=True
        )

    def on_mount(self) -> None:
        """Begin without the line for notes."""
        self.note.display = False
        super().on_mount()

    def _require_painted_claim(self) -> SelectedClaim | None:
        """Give the painted claim when the cursor is still on it; else that is said."""
        claim = self._claim_at_cursor()
        if claim is None:
            self.refuse("there is nothing to settle in this list")
            return None
        if self.selection is None or self.selection.claim.claim != claim.claim:
            self.refuse("that key came before its claim was drawn: nothing was saved")
            return None
        return self.selection

    def action_take(self, side: int) -> None:
        """Take over what A or B says."""
        chosen = self._require_painted_claim()
        if chosen is None:
            return
        opinions = order_anonymously(chosen.claim)
        if side >= len(opinions):
            keys = " ".join(self.keys(f"adjudicate.final-{name}") for name in (1, 2, 3, "unfair"))
            self.refuse(f"nobody is {draw.LETTERS[side]} here: {keys} give a final label")
            return
        self._save_final_verdict(chosen, opinions[side].verdict or NOT_A_CLAIM)

    def action_final(self, number: int) -> None:
        """Give a final word by its key."""
        chosen = self._require_painted_claim()
        if chosen is None or self.spec is None:
            return
        names = self.spec.labels.names
        if number >= len(names):
            self.refuse(f"{self.spec.title} has no verdict on this key")
            return
        self._save_final_verdict(chosen, NOT_A_CLAIM if number < 0 else names[number])

    def _save_final_verdict(
        self, chosen: SelectedClaim, verdict: str, note: str | None = None
    ) -> None:
        """Save the final word and go to the next claim that needs one."""
        claim, spec = chosen.claim, self.spec
        if spec is None:
            return
        kept = claim.final.note if claim.final is not None else None
        note = note if note is not None else self.notes.pop(claim.claim, kept)
        words = f"final label: {fmt.describe_label(verdict, spec.labels)}"
        shown = position.find_claim(chosen.view, claim.claim)
        final = HumanVerdict(
            claim.claim, self.session.reviewer, verdict, Action.ADJUDICATED, note or None
        )
        self._replace_claim(replace(claim, final=final))
        self._save_act(
            claim,
            Action.ADJUDICATED,
            words,
            verdict=verdict,
            note=note,
            judge=None if self.compared is None else claim.judges.get(self.compared.run.id),
            saw=chosen.seen or not claim.is_open,
            seconds=max(0.0, self.session.seconds() - self.claim_shown_s),
        )
        if shown is not None and claim.is_open:
            self._go_to_next_open(claim.claim)

    def action_discuss(self) -> None:
        """Flag the claim for a talk, or take the flag away."""
        chosen = self._require_painted_claim()
        if chosen is None:
            return
        claim = chosen.claim
        self._replace_claim(replace(claim, flagged=not claim.flagged))
        self._save_act(
            claim,
            Action.MARKED,
            "no longer to be discussed" if claim.flagged else "to be discussed",
            mark=LabelMark.UNFLAG if claim.flagged else LabelMark.FLAG,
            saw=chosen.seen or not claim.is_open,
        )
        if not claim.flagged:
            self._go_to_next_open(claim.claim)

    def _replace_claim(self, claim: ComparedClaim) -> None:
        """Paint what is on its way to the store."""
        self.listed_entries[claim.claim] = claim
        if self.selection is not None and self.selection.claim.claim == claim.claim:
            self.selection = replace(self.selection, claim=claim)
        self.claims.refresh()
        self._draw_claim()

    def _go_to_next_open(self, after: ClaimId) -> None:
        """Go to the next claim that needs a final word, the flagged ones last."""
        ids = list(self.listed_entries)
        here = ids.index(after)
        order = [*ids[here + 1 :], *ids[:here]]
        fresh = [each for each in order if self.listed_entries[each].is_open]
        found = next((each for each in fresh if not self.listed_entries[each].flagged), None)
        if found is not None:
            self.claims.cursor = ids.index(found)

    def _save_act(
        self,
        claim: ComparedClaim,
        action: Action,
        words: str,
        *,
        verdict: str | None = None,
        note: str | None = None,
        mark: LabelMark | None = None,
        judge: str | None = None,
        saw: bool = False,
        seconds: float | None = None,
    ) -> None:
        store = self.session.store
        self.last_act_words = words
        self.in_flight += 1
        self.show_message(Piece(f"saving {words} …", "quiet"))
        future = store.submit(
            store.reviews.record,
            claim.claim,
            self.session.reviewer,
            action,
            verdict,
            note,
            run=None if self.compared is None else self.compared.run.id,
            judge_verdict=judge,
            saw_judge=saw,
            seconds=seconds,
            mark=mark,
            urgent=True,
            durable=True,
        )
        self.wait_saved(future, words)

    @work(group="save", exit_on_error=False)
    async def wait_saved(self, future: Future[object], words: str) -> None:
        """Wait for the disk and say so."""
        try:
            await asyncio.wrap_future(future)
        except Exception:
            self.post_message(self.Saved(""))
            raise  # The app says what happened.
        self.post_message(self.Saved(words))

    @on(Saved)
    def show_saved(self, event: Saved) -> None:
        """Say that an act is safe, and read again."""
        self.in_flight -= 1
        if event.words:
            moment = fmt.format_time(self.session.now())
            self.show_message(Piece(f"saved {moment}", "good"), Piece(f" · {event.words}"))
        else:
            self.last_act_words = ""
            self.show_message(Piece("not saved", "bad strong"))
        self.reload()

    @on(UndoScreen.TakenBack)
    def show_taken_back(self, event: UndoScreen.TakenBack) -> None:
        """Go to the claim concerned, and say what was taken back."""
        if not event.acts:
            self.show_message(Piece(f"nothing to be {event.words}", "warn"))
            return
        act = event.acts[0]
        labels = None if self.spec is None else self.spec.labels
        what = (
            act.action.value
            if act.verdict is None or labels is None
            else fmt.describe_label(act.verdict, labels)
        )
        elsewhere = (
            "" if act.claim in self.listed_entries else ", on a claim that is not in this list"
        )
        self.last_act_words = f"{event.words}: {what}"
        self.claim_to_select = act.claim
        self.show_message(Piece(f"{event.words}: ", "human strong"), Piece(what + elsewhere))
        self.reload()

    # Notes

    def action_note(self) -> None:
        """Open the line for a note, with the one that is there."""
        chosen = self._require_painted_claim()
        if chosen is None:
            return
        final = chosen.claim.final
        note = self.notes.get(chosen.claim.claim, (final.note or "") if final is not None else "")
        if not can_be_typed(note):
            words = (
                "this note is long, or has several lines: {review.edit-note} in review changes it"
            )
            self.refuse(self.keys.fill_in_keys(words))
            return
        self.note.value = note
        self.query_one(StatusLine).display = False
        self.note.display = True
        self.note.focus()

    @on(Input.Submitted, "#note")
    def submit_note(self, event: Input.Submitted) -> None:
        """Keep the note for the final word, or give that word again with it."""
        self._close_note()
        chosen = self.selection
        if chosen is None:
            return
        if chosen.claim.final is not None:
            self._save_final_verdict(chosen, chosen.claim.final.verdict or NOT_A_CLAIM, event.value)
        else:
            self.notes[chosen.claim.claim] = event.value
            self.show_message(Piece("the note goes with the final label", "quiet"))

    def on_key(self, event: events.Key) -> None:
        """Let escape close the line for notes."""
        if event.key == "escape" and self.note.has_focus:
            event.stop()
            self._close_note()

    def _close_note(self) -> None:
        self.note.display = False
        self.query_one(StatusLine).display = True
        self.claims.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a claim while there is none."""
        if action in ("take", "final", "note", "discuss"):
            if not self.is_mounted or self.selection is None:
                return False
            number = parameters[0] if action == "final" else -1
            labels = len(self.spec.labels.names) if self.spec is not None else 0
            return isinstance(number, int) and number < labels
        return super().check_action(action, parameters)
