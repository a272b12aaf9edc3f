"""`E`: the words of a passage that decide a verdict, marked by hand."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_events import Action, MarkedPassage, toggle_evidence_mark
from faithtui.store.records import ClaimView, DocumentView, ReviewView
from faithtui.tui.review.lines.evidence_lines import (
    RankedPassageView,
    TokenisedView,
    add_reviewer_evidence,
    find_and_rank_claim_passages,
)
from faithtui.tui.screen.controller import Controller
from faithtui.tui.screen.dialogs import Dialog
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Line, Piece, escape_line, wrap
from faithtui.tui.widgets.bars import KeyBar
from faithtui.tui.widgets.scroll_pane import Pane
from faithtui.tui.widgets.word_picker import WordPicker

if TYPE_CHECKING:
    from faithtui.tui.review.review_screen import ReviewScreen

Marks = tuple[MarkedPassage, ...]


class EvidenceMarking(Controller["ReviewScreen"]):
    """Marks passages as evidence for the chosen claim."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "E",
            "open_evidence_dialog",
            "mark evidence",
            show=False,
            tooltip="Mark the words of a passage that decide the verdict; not a label",
            id="review.mark-evidence",
        ),
    ]

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(screen)
        self._pending: dict[ClaimId, Marks] = {}
        """Marks that the conversation was not read with yet."""

    def get_evidence_marks(self, claim: ClaimView) -> Marks:
        """Give what this reviewer marked for a claim, with what is being saved."""
        stored = () if claim.mine is None else claim.mine.evidence
        return self._pending.get(claim.id, stored)

    def rank_passages(
        self, view: ReviewView, claim: ClaimView | None, window: int | None, read: TokenisedView
    ) -> tuple[RankedPassageView, ...]:
        """Rank the passages of a claim, with what is marked in them; () without a claim."""
        if claim is None:
            return ()
        return add_reviewer_evidence(
            find_and_rank_claim_passages(view, claim, window, read), self.get_evidence_marks(claim)
        )

    def drop_unsaved_marks(self) -> None:
        """Take marks as the store has them."""
        self._pending.clear()

    def action_open_evidence_dialog(self) -> None:
        """Open the passages of the chosen claim."""
        state, claim = self.screen.review_state, self.screen.claim
        if state is None or claim is None:
            return
        if claim.kind == "statement":
            self.refuse(f"a {state.spec.units[0]} is a part of its passage: nothing else decides")
        elif not state.passages:
            self.refuse("there is no passage here to mark anything in")
        else:
            chosen = min(state.position.passage, len(state.passages) - 1)
            self.input_queue.open_window(
                EvidenceDialog(
                    claim.text,
                    state.passages,
                    chosen,
                    self.get_evidence_marks(claim),
                    lambda marks: self._save_marks(claim, marks),
                )
            )

    def _save_marks(self, claim: ClaimView, marks: Marks) -> None:
        """Save what is marked by now, all of it."""
        self._pending[claim.id] = marks
        name = self.screen.format_claim_name(claim)
        words = (
            f"{fmt.format_count_with_noun(len(marks), 'stretch', 'stretches')} marked as evidence"
        )
        words = f"{words if marks else 'no evidence marked'} for {name}"
        writer = self.screen.writer
        writer.set_last_event_text(words)
        self.screen.repaint()
        writer.submit_event(
            [claim.id],
            words,
            self.session.store.label_log.append_label_event,
            claim.id,
            self.session.reviewer,
            Action.EVIDENCE,
            run=None if self.screen.view is None else self.screen.view.run.id,
            judge_verdict=claim.first_window_verdict.label,
            saw_judge=writer.has_seen_judge(claim),
            sample=writer.find_sample_of_claim(claim),
            evidence=marks,
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the key without a claim."""
        return self.screen.claim is not None


class EvidenceDialog(Dialog):
    """The passages of a claim, one at a time, in which words are marked.

    Args:
        claim: Text of the claim.
        passages: Its passages, as they are ranked.
        chosen: The one to begin with.
        marks: What is marked by now.
        save: Called with all marks after each change.
    """

    HELP_WORDS: ClassVar[str] = (
        "Mark the words that decide the verdict. {words.select} marks the word at the cursor; "
        "{words.from} begins a longer stretch, and the mouse drags over one. What is marked "
        "already is marked no longer. Each change is saved at once; {review.undo} in review takes "
        "it back."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "left_square_bracket",
            "choose_passage(-1)",
            "passage before",
            key_display="[",
            tooltip="Passage before",
            id="evidence.previous-passage",
        ),
        Binding(
            "right_square_bracket",
            "choose_passage(1)",
            "next passage",
            key_display="]",
            tooltip="Next passage",
            id="evidence.next-passage",
        ),
        Binding(
            "E",
            "close",
            "Close",
            show=False,
            tooltip="Close this window",
            id="evidence.close",
        ),
    ]

    def __init__(
        self,
        claim: str,
        passages: Sequence[RankedPassageView],
        chosen: int,
        marks: Marks,
        save: Callable[[Marks], None],
    ) -> None:
        super().__init__("Claim", self._claim_lines)
        self._claim = claim
        self._passages = passages
        self._chosen = chosen
        self._marks = marks
        self._save = save

    @property
    def _document(self) -> DocumentView:
        return self._passages[self._chosen].document

    def compose(self) -> ComposeResult:
        """Stack the claim and the passage; the keys stand where they always do."""
        with Vertical(id="dialog"):
            yield Pane(id="claim", title="Claim")
            yield WordPicker(id="words")
        yield KeyBar(id="keys")

    def show_content(self) -> None:
        """Show the claim and the passage that was chosen."""
        self.query_one("#claim", Pane).show(self._claim_lines)
        self.query_one(WordPicker).focus()
        self._show_passage()

    @on(WordPicker.Selected)
    def toggle_and_save_evidence(self, event: WordPicker.Selected) -> None:
        """Mark what was selected, or no longer, and save that."""
        mark = MarkedPassage(self._document.hash, event.start, event.end)
        self._marks = self._trim_whitespace_of_marks(toggle_evidence_mark(self._marks, mark))
        self.query_one(WordPicker).show_marks(self._list_marked_spans())
        self._save(self._marks)

    def action_choose_passage(self, by: int) -> None:
        """Show another passage."""
        self._chosen = (self._chosen + by) % len(self._passages)
        self._show_passage()

    def _show_passage(self) -> None:
        document, best = self._document, self._passages[self._chosen].ranked.best
        source = "" if not document.source else f" · {escape_line(document.source, limit=60).text}"
        self.query_one(WordPicker).show_text(
            document.text,
            self._list_marked_spans(),
            title=f"P{document.number}{source} · {self._chosen + 1} of {len(self._passages)}",
            begin=0 if best is None else best.start,
        )

    def _trim_whitespace_of_marks(self, marks: Marks) -> Marks:
        """Let stretches of the document begin and end with words, where a part was taken out."""
        text, name = self._document.text, self._document.hash
        found = []
        for each in marks:
            start, end = each.start, each.end
            if each.document == name:
                marked_text = text[start:end]
                start += len(marked_text) - len(marked_text.lstrip())
                end -= len(marked_text) - len(marked_text.rstrip())
            if start < end:
                found.append(each._replace(start=start, end=end))
        return tuple(found)

    def _list_marked_spans(self) -> list[tuple[int, int]]:
        name = self._document.hash
        return [(each.start, each.end) for each in self._marks if each.document == name]

    def _claim_lines(self, width: int) -> Sequence[Line]:
        claim = escape_line(self._claim, "strong", limit=2_000)
        return wrap([claim], width - 1, first=[Piece(" ")])
