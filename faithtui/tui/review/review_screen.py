"""The screen where annotators say whether the judge is right, one key per claim.

The screen has the panes and what is looked at. All else is done by controllers: reading
conversations, moving in them, writing labels, verdicts, ranges, hiding the judge, undo, notes,
evidence, search, queues, asking the judge again.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from faithtui.domain.ids import ClaimId
from faithtui.store.records import ClaimView, ReviewView
from faithtui.tui.messages import ShowScreen
from faithtui.tui.replies.show_replies import RawReplies
from faithtui.tui.review import position
from faithtui.tui.review.claim_moves import ClaimMoves
from faithtui.tui.review.conversation_loader import ConversationLoader
from faithtui.tui.review.evidence.evidence_marks import EvidenceMarking
from faithtui.tui.review.evidence.evidence_reader import EvidenceReader
from faithtui.tui.review.evidence.image_opener import ImageOpener
from faithtui.tui.review.guideline.guideline_dialog import GuidelineOpener
from faithtui.tui.review.judge_reveal import JudgeReveal
from faithtui.tui.review.labels.claim_range import ClaimRange
from faithtui.tui.review.labels.label_writer import LabelWriter
from faithtui.tui.review.labels.missed_claims_dialog import MissedClaimAdder
from faithtui.tui.review.labels.note_input import NoteLine
from faithtui.tui.review.labels.notes import Notes
from faithtui.tui.review.labels.review_undo import ReviewUndo
from faithtui.tui.review.labels.verdicts import Verdicts
from faithtui.tui.review.lines.claim_lines import ClaimListExtras
from faithtui.tui.review.lines.title_lines import title_pieces
from faithtui.tui.review.panes import ReviewPanes, ReviewState
from faithtui.tui.review.position import ReviewPosition
from faithtui.tui.review.queue_navigator import QueueNavigator
from faithtui.tui.review.re_ask import ReAsk
from faithtui.tui.review.search import ClaimSearch
from faithtui.tui.review.session_line import SessionLine
from faithtui.tui.screen.blind_mode import BlindMode, describe_keys_ending_blind_work
from faithtui.tui.screen.main_screen import FaithScreen, conversation_tab_pieces
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import Piece, count_cells_of_pieces
from faithtui.tui.widgets.filter_bar import FilterBar
from faithtui.tui.widgets.scroll_pane import RowPane


class ReviewScreen(FaithScreen):
    """Windows, claims, evidence, truths and the verdict of one conversation."""

    TITLE_WORDS: ClassVar[str] = "REVIEW"
    LEAST = (44, 16)
    HELP_WORDS: ClassVar[str] = (
        "One key gives a verdict on the chosen claim (or statement, or answer: whatever the metric "
        "judges), saves it and goes to the next one. Each window that judged a claim has a column "
        'with the judge\'s letter, ! where it gave none; under "you" is your label, a small '
        "letter where it is not counted in agreement, a dot where only others gave one that is "
        "counted, blank elsewhere. Not overridden is not agreed: only what has a label of yours "
        "counts. A score reads judge → with overrides: human labels replace the judge's verdicts. "
        "In the mean of windows early turns count once per window that holds them, with the "
        "default size up to 29 times more than the last one; {review.weighting} shows the score "
        "in which each interaction counts once."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        *ReviewUndo.BINDINGS,
        *Notes.BINDINGS,
        *Verdicts.BINDINGS,
        *JudgeReveal.BINDINGS,
        *BlindMode.BINDINGS,
        *GuidelineOpener.BINDINGS,
        *RawReplies.BINDINGS,
        *EvidenceReader.BINDINGS,
        *EvidenceMarking.BINDINGS,
        *MissedClaimAdder.BINDINGS,
        *ClaimSearch.BINDINGS,
        *ReAsk.BINDINGS,
        *ClaimMoves.BINDINGS,
        *QueueNavigator.BINDINGS,
        Binding(
            "M",
            "show_metrics_screen",
            "metrics",
            tooltip="All metrics side by side on this conversation; M comes back",
            id="review.metrics",
        ),
    ]

    panes = getters.query_one(ReviewPanes)
    note = getters.query_one("#note", NoteLine)
    bar = getters.query_one(FilterBar)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.review_state: ReviewState | None = None
        """What is painted, with labels that are not saved yet."""
        self.loader = ConversationLoader(self)
        self.moves = ClaimMoves(self)
        self.writer = LabelWriter(self)
        self.verdicts = Verdicts(self)
        self.claim_range = ClaimRange(self)
        self.reveal = JudgeReveal(self)
        self.blind_mode = self.reveal.make_blind_mode()
        self.undo = ReviewUndo(self)
        self.notes = Notes(self)
        self.guideline = GuidelineOpener(
            self, lambda: None if self.view is None else self.view.run.spec.metric
        )
        self.evidence = EvidenceReader(self)
        self.marking = EvidenceMarking(self)
        self.missed_claims = MissedClaimAdder(self)
        self.images = ImageOpener(self, self.evidence.list_images)
        self.search = ClaimSearch(self)
        self.queue_navigator = QueueNavigator(self)
        self.session_line = SessionLine(self)
        self.re_ask = ReAsk(self)
        self.replies = RawReplies(self, self.moves.get_shown_item_id, self.moves.get_chosen_claim)
        self.add_controllers(self.reveal, self.blind_mode, self.undo, self.notes, self.guideline)
        self.add_controllers(self.verdicts, self.evidence, self.marking, self.missed_claims)
        self.add_controllers(self.images, self.search, self.re_ask, self.replies)
        self.add_controllers(self.moves, self.queue_navigator)

    def make_panes(self) -> ReviewPanes:
        """Make the panes, the claims first."""
        return ReviewPanes(
            self.keys,
            self.verdicts,
            self.moves.show_claim_of_row,
            self.queue_navigator.step_in_queue_if_any,
            self._repaint_resized,
        )

    def compose_input_lines(self) -> ComposeResult:
        """Give the line for notes, which takes the place of the status line, and the filter's."""
        yield NoteLine(id="note", compact=True)
        yield FilterBar(self.keys("review.find"), lambda: self.search.filter_context)

    def on_mount(self) -> None:
        """Begin without a conversation."""
        self.note.display = False
        self.panes.show_sentence_instead_of_claims("Reading …")
        self.panes.claims.focus()
        super().on_mount()

    def on_screen_suspend(self) -> None:
        """Take no key for a claim that another screen covers."""
        self.reveal.forget_paint_if_covered()

    def on_screen_resume(self) -> None:
        """Refuse keys that came before the claim is seen again."""
        self.reveal.refuse_keys_typed_before_repaint()

    # What is looked at

    @property
    def view(self) -> ReviewView | None:
        """The conversation, as it is painted."""
        return None if self.review_state is None else self.review_state.view

    @property
    def review_position(self) -> ReviewPosition:
        """What is looked at in it."""
        return ReviewPosition() if self.review_state is None else self.review_state.position

    @property
    def claim(self) -> ClaimView | None:
        """The chosen claim."""
        return None if self.review_state is None else self.review_state.claim

    @property
    def unit_word(self) -> str:
        """What the metric judges: claim, statement or answer."""
        return "claim" if self.review_state is None else self.review_state.spec.units[0]

    def find_claim(self, claim: ClaimId) -> ClaimView | None:
        """Find a claim of the conversation; None: it is not here any more."""
        return None if self.view is None else position.find_claim(self.view, claim)

    def format_claim_name(self, claim: ClaimView) -> str:
        """Name a claim on the status line."""
        return f"{self.unit_word} {claim.number}"

    def reload(self) -> None:
        """Read the conversation again, or the one that was chosen elsewhere."""
        self.loader.reload()

    def reload_after_store_change(self) -> None:
        """Read again if it was this conversation that changed."""
        self.loader.reload_if_changed()

    def clear_content(self) -> None:
        """Forget what is drawn, and what was said of it, but not which claim was chosen."""
        if self.claim is not None and self.view is not None:
            self.session.remember_claim(self.view.item.id, self.claim.id)
        super().clear_content()
        self.panes.claims.forget_claim_and_block_keys()
        self.queue_navigator.record_claims_shown_by_queue()
        self.queue_navigator.forget_read_ahead()
        self.session_line.forget_progress()
        self.review_state = None
        self.verdicts.forget_last_verdict()
        self.claim_range.clear_range()
        self.loader.force_reload_at_next_change()
        self.search.clear_search()
        self.writer.clear_messages_and_cancel_leaving()

    def show_nothing_to_review(self, words: str) -> None:
        """Say why there is nothing to review."""
        self.review_state = None
        self.panes.show_nothing_to_review(words)
        self.set_title()

    def explain_unread_content(self, why: Sequence[Piece]) -> None:
        """Say in place of claims why there are none; a conversation that is shown stays."""
        if self.view is None:
            self.panes.show_sentence_instead_of_claims("".join(each.text for each in why))

    def make_idle_status(self) -> tuple[Piece, ...]:
        """Say how the session goes on."""
        return (Piece(words, "quiet"),) if (words := self.session_line.progress_words) else ()

    def show_conversation(self, state: ReviewState, at: ReviewPosition, *, fresh: bool) -> None:
        """Show a conversation as it was read; `fresh`: it is another one."""
        self.review_state = state
        self.paint_at_position(at, fresh=fresh)

    def set_review_state(self, state: ReviewState) -> None:
        """Look at something else; whoever changed it draws what that concerns."""
        self.review_state = state

    def repaint(self) -> None:
        """Draw what is looked at anew."""
        self.paint_at_position(self.review_position)

    def _repaint_resized(self) -> None:
        """Draw for another size, unless keys wait for what is about to be drawn."""
        if not self.panes.claims.is_waiting:
            self.repaint()

    def paint_at_position(self, at: ReviewPosition, *, fresh: bool = False) -> None:
        """Choose what is looked at and draw everything in one go."""
        before = self.review_state
        if before is None:
            return
        view = position.overlay_pending_verdicts(
            before.view, self.session.reviewer, self.writer.pending_verdicts
        )
        moved = fresh or at.claim != before.position.claim
        claim = position.find_claim(view, at.claim)
        if moved:
            self.writer.start_claim_clock()
            self.evidence.clear_copied_message()
        if self.queue_navigator.cursor is not None:
            self.queue_navigator.cursor.move_to(at.claim)
        chosen = position.list_claims_in_range(view, at, self.claim_range.start)
        self.review_state = replace(
            before,
            view=view,
            position=at,
            passages=self.marking.rank_passages(view, claim, at.window, before.tokenised),
            per_interaction=self.evidence.per_interaction,
            last_act_words=self.writer.last_act_words,
            extras=ClaimListExtras(
                frozenset(each.id for each in chosen),
                self.search.highlighted_claims,
                self.keys,
                self.queue_navigator.count_answers(view),
            ),
        )
        if self.session.item != view.item.id:
            self.session.choose_conversation(view.item.id)  # Another one is not wanted any more.
        room = self.size.width - count_cells_of_pieces(self.title_pieces())
        cursor, blind = self.queue_navigator.cursor, self.session.is_blind
        with self.app.batch_update():
            self.panes.paint_all_panes(self.review_state, moved=moved)
            self.set_title(*title_pieces(self.review_state, cursor, room, blind=blind))

    # What panes and lines of the screen say

    @on(RowPane.Moved, "#windows")
    @on(RowPane.Chosen, "#windows")
    def limit_claims_to_window(self, event: RowPane.Moved | RowPane.Chosen) -> None:
        """Limit the claims to the window that was chosen."""
        self.moves.limit_to_window_of_row(event.row)

    @on(RowPane.Chosen, "#claims")
    def show_claim_in_all_windows(self) -> None:
        """Show the judge's verdict in every window."""
        self.evidence.action_list_windows_of_claim()

    @on(Input.Submitted, "#note")
    def save_typed_note(self, event: Input.Submitted) -> None:
        """Save the note."""
        self.notes.submit_note(event)

    @on(NoteLine.FocusMoved, "#note")
    def save_typed_text_or_say_why_not(self) -> bool:
        """Save the note that is being typed: its line, the screen or the app is left."""
        self.notes.save_typed_text()
        return True

    @on(NoteLine.Dropped)
    def drop_note(self) -> None:
        """Leave the note as it was."""
        self.notes.drop_note_and_close_line()

    @on(FilterBar.FilterChanged)
    def highlight_filter_matches(self, event: FilterBar.FilterChanged) -> None:
        """Let what a filter finds stand out."""
        self.search.highlight_and_go_to_matches(event)

    @on(FilterBar.FilterCancelled)
    def restore_previous_filter(self) -> None:
        """Go on with the filter there was before."""
        self.search.restore_previous_filter()

    def on_key(self, event: events.Key) -> None:
        """Let escape drop the range."""
        if event.key == "escape" and self.claim_range.start is not None:
            event.stop()
            self.claim_range.drop_range_with_message()

    # Other screens and windows

    def action_show_metrics_screen(self) -> None:
        """Show what every metric says about the answers of this conversation."""
        if self.session.is_blind:
            way_out = describe_keys_ending_blind_work(self.session, in_review=True)
            self.refuse(f"the metrics would show the judge: {way_out}")
        else:
            self.post_message(ShowScreen("metrics"))

    def title_pieces(self) -> tuple[Piece, ...]:
        """Show the two sides of a conversation."""
        return conversation_tab_pieces(self.TITLE_WORDS, self.keys("review.metrics"))

    def is_key_shown(self, action: str) -> bool:
        """Leave the key of the metrics out of the footer where it is refused."""
        if action == "show_metrics_screen":
            return not self.session.is_blind
        return super().is_key_shown(action)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done without a conversation."""
        if action == "show_metrics_screen":
            return self.view is not None
        return super().check_action(action, parameters)
