"""A review screen that is not drawn, with all its controllers on a store of a few conversations."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from faithtui.domain.ids import ClaimId
from faithtui.store.records import ClaimView, ReviewView
from faithtui.tui.review.claim_moves import ClaimMoves
from faithtui.tui.review.conversation_loader import ConversationLoader
from faithtui.tui.review.evidence.evidence_marks import EvidenceMarking
from faithtui.tui.review.evidence.evidence_reader import EvidenceReader
from faithtui.tui.review.judge_reveal import JudgeReveal
from faithtui.tui.review.labels.claim_range import ClaimRange
from faithtui.tui.review.labels.label_writer import LabelWriter
from faithtui.tui.review.labels.missed_claims_dialog import MissedClaimAdder
from faithtui.tui.review.labels.notes import Notes
from faithtui.tui.review.labels.review_undo import ReviewUndo
from faithtui.tui.review.labels.verdicts import Verdicts
from faithtui.tui.review.lines.evidence_lines import find_and_rank_claim_passages
from faithtui.tui.review.lines.verdict_lines import list_verdict_choices
from faithtui.tui.review.panes import ReviewState
from faithtui.tui.review.position import ReviewPosition, find_claim, overlay_pending_verdicts
from faithtui.tui.review.queue_navigator import QueueNavigator
from faithtui.tui.review.re_ask import ReAsk
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.review.search import ClaimSearch
from faithtui.tui.review.session_line import SessionLine
from faithtui.tui.session import Session
from tests.tui.fake_screen import FakeScreen


class FakeClaimList:
    """Has the chosen claim on screen, and counts how often keys were to wait for a painted one."""

    def __init__(self, choose_claim: Callable[[], ClaimId | None]) -> None:
        self.blocked = 0
        self.is_waiting = False
        self.is_painted = True
        self._choose_claim = choose_claim

    @property
    def chosen_claim(self) -> ClaimId | None:
        return self._choose_claim()

    @property
    def painted_claim(self) -> ClaimId | None:
        return self.chosen_claim if self.is_painted else None

    def take_painted_claim(self) -> ClaimId | None:
        return self.painted_claim

    def block_keys_until_repaint(self) -> None:
        self.blocked += 1

    def focus(self) -> None:
        pass


class FakeReviewScreen(FakeScreen):
    """Everything of the review screen but its panes."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.review_state: ReviewState | None = None
        self.empty_words = ""
        self.active_bindings: dict[str, Any] = {}
        self.status_checks = 0
        self.note_subjects: list[str] = []
        """What the line for notes named, in this order."""
        self.note = SimpleNamespace(
            value="",
            display=False,
            held="",
            drop_held_text=lambda: None,
            name_subject=self.note_subjects.append,
        )
        self.bar = SimpleNamespace(
            text="",
            show_filter_text=self._show_filter,
            start_typing=self._show_filter,
            format_hint=lambda *_: (),
            format_completions=lambda *_: (),
        )
        self.panes = SimpleNamespace(
            claims=FakeClaimList(lambda: self.review_position.claim),
            evidence=object(),
            paint_evidence=lambda _state, *, moved: None,
            scroll_to_passage=lambda _state: None,
        )
        screen = cast(ReviewScreen, self)
        self.loader = ConversationLoader(screen)
        self.moves = ClaimMoves(screen)
        self.writer = LabelWriter(screen)
        self.verdicts = Verdicts(screen)
        self.claim_range = ClaimRange(screen)
        self.reveal = JudgeReveal(screen)
        self.blind_mode = self.reveal.make_blind_mode()
        self.undo = ReviewUndo(screen)
        self.notes = Notes(screen)
        self.evidence = EvidenceReader(screen)
        self.marking = EvidenceMarking(screen)
        self.missed_claims = MissedClaimAdder(screen)
        self.search = ClaimSearch(screen)
        self.queue_navigator = QueueNavigator(screen)
        self.session_line = SessionLine(screen)
        self.re_ask = ReAsk(screen)
        self.add(
            self.verdicts, self.reveal, self.blind_mode, self.undo, self.notes, self.evidence,
            self.marking, self.missed_claims, self.search,
            self.re_ask, self.moves, self.queue_navigator,
        )  # fmt: skip

    @property
    def view(self) -> ReviewView | None:
        return None if self.review_state is None else self.review_state.view

    @property
    def claim(self) -> ClaimView | None:
        return None if self.review_state is None else self.review_state.claim

    @property
    def review_position(self) -> ReviewPosition:
        return ReviewPosition() if self.review_state is None else self.review_state.position

    @property
    def unit_word(self) -> str:
        return "claim" if self.review_state is None else self.review_state.spec.units[0]

    def find_claim(self, claim: ClaimId) -> ClaimView | None:
        return None if self.view is None else find_claim(self.view, claim)

    def format_claim_name(self, claim: ClaimView) -> str:
        return f"{self.unit_word} {claim.number}"

    async def open(self, number: int = 1) -> "FakeReviewScreen":
        """Review a conversation of the newest run."""
        store = self.session.store
        run = store.runs.find_newest_run_id()
        assert run is not None
        self.session.switch_run(run)
        self.session.choose_conversation(store.runs.list_item_ids(run, "number")[number - 1])
        self.loader.reload()
        await self.settle()
        assert self.view is not None
        self.panes.claims.blocked = 0
        return self

    @property
    def claims(self) -> tuple[ClaimId, ...]:
        """Ids of the claims of the conversation, in their order."""
        assert self.view is not None
        return tuple(claim.id for claim in self.view.claims)

    @property
    def chosen(self) -> int | None:
        """Place of the chosen claim in the conversation."""
        at = self.review_position.claim
        return None if at is None else self.claims.index(at)

    def give(self, label: str) -> None:
        """Press a verdict's key on the chosen claim."""
        assert self.review_state is not None
        choices = list_verdict_choices(self.review_state.spec)
        self.press(next(key for key, name, _ in choices if name == label))

    # What controllers call

    def reload(self) -> None:
        super().reload()
        self.loader.reload()

    def reload_after_store_change(self) -> None:
        self.loader.reload_if_changed()

    def set_review_state(self, state: ReviewState) -> None:
        self.review_state = state

    def show_conversation(self, state: ReviewState, at: ReviewPosition, *, fresh: bool) -> None:
        self.review_state = state
        self.paint_at_position(at, fresh=fresh)

    def paint_at_position(self, at: ReviewPosition, *, fresh: bool = False) -> None:
        if self.review_state is None:
            return
        state = self.review_state
        if fresh or at.claim != state.position.claim:
            self.writer.start_claim_clock()
        if self.queue_navigator.cursor is not None:
            self.queue_navigator.cursor.move_to(at.claim)
        pending = self.writer.pending_verdicts
        view = overlay_pending_verdicts(state.view, self.session.reviewer, pending)
        claim = find_claim(view, at.claim)
        passages = (
            find_and_rank_claim_passages(view, claim, at.window, state.tokenised)
            if claim is not None
            else ()
        )
        self.review_state = replace(state, view=view, position=at, passages=passages)

    def repaint(self) -> None:
        self.paint_at_position(self.review_position)

    def show_nothing_to_review(self, words: str) -> None:
        self.review_state = None
        self.empty_words = words

    def show_run_progress(self) -> None:
        self.status_checks += 1

    def _show_filter(self, text: str) -> None:
        self.bar.text = text
