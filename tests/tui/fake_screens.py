"""Screens that are not drawn: controllers run on them with their real keys, session and store.

`FakeScreen` stands for `FaithScreen` as far as controllers know it. What they would show is kept as
text, what they would open is kept as windows, and their workers run in the loop of the test:

    screen = FakeScreen(session)
    screen.add(RunControl(cast(ProgressScreen, screen)))
    assert not screen.press("p")      # refused: there is no run
    await screen.settle()             # all workers are through, and what they asked for is done
"""

import asyncio
from ast import literal_eval
from collections.abc import Callable, Coroutine
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeVar, cast

from textual.binding import Binding
from textual.message import Message

from faithtui.agreement.report.figures.rater_comparison import ClaimOpinions, ComparisonFilter
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_events import Action, HumanVerdict
from faithtui.store.records import ClaimView, ReviewView
from faithtui.tui.adjudication.adjudication_screen import AdjudicationScreen
from faithtui.tui.adjudication.claim_evidence import ClaimEvidence
from faithtui.tui.adjudication.final_label_undo import FinalLabelUndo
from faithtui.tui.adjudication.final_labels import FinalLabels
from faithtui.tui.adjudication.final_notes import FinalNotes
from faithtui.tui.input_queue import EarlyInputs, InputQueue, KeyCheck
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.metric_words import get_metric_spec
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
from faithtui.tui.screen.controller import Controller
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import Piece

T = TypeVar("T")


class FakeWorker:
    """A worker that runs as a task of the test."""

    def __init__(self, group: str, task: asyncio.Task[Any]) -> None:
        self.group = group
        self.task = task

    @property
    def is_finished(self) -> bool:
        return self.task.done()

    def cancel(self) -> None:
        self.task.cancel()


class FakeNavigation(InputQueue):
    """Keeps windows that were opened, and what keys wait for."""

    def __init__(self) -> None:
        self.windows: list[Any] = []
        self._answered: list[Callable[[Any], None] | None] = []
        self.held: set[object] = set()
        self.dropped: set[str] = set()
        self.early_checks: list[KeyCheck] = []
        self.early_inputs = EarlyInputs()

    def open_window(self, window: Any, answered: Callable[[Any], None] | None = None) -> None:
        self.windows.append(window)
        self._answered.append(answered)

    def answer(self, answer: object) -> None:
        """Close the window opened last with an answer."""
        self.windows.pop()
        answered = self._answered.pop()
        assert answered is not None
        answered(answer)

    def hold_keys(self, cause: object, give_up: object = None) -> None:
        self.held.add(cause)

    def release_keys(self, cause: object) -> None:
        self.held.discard(cause)

    def hold_keys_for(self, worker: Any, *, can_give_up: bool) -> None:
        self.held.add(worker)

    def check_early_keys(self, check: KeyCheck) -> None:
        self.early_checks.append(check)

    def drop_typed_ahead(self, keys: Any, kept: Any = (), verdicts: Any = ()) -> list[str]:
        self.dropped |= set(keys)
        return sorted(keys)


class FakeApp:
    """The part of an app that controllers call."""

    available_themes: tuple[str, ...] = ()
    current_screen_name = "review"

    def __init__(self, input_queue: InputQueue) -> None:
        self.input_queue = input_queue
        self.bells = 0
        self.copied: list[str] = []
        self.notes: list[str] = []

    def bell(self) -> None:
        self.bells += 1

    def copy_to_clipboard(self, text: str) -> None:
        self.copied.append(text)

    def notify(self, words: str, **_how: object) -> None:
        self.notes.append(words)


class FakeScreen:
    """A screen for the controllers that are added to it."""

    is_current = True
    is_mounted = True
    focused: Any = None

    def __init__(self, session: Session) -> None:
        self.session = session
        self.input_queue = FakeNavigation()
        self.app = FakeApp(self.input_queue)
        self.posted: list[Message] = []
        self.workers: list[FakeWorker] = []
        self.failures: list[Exception] = []
        self.message = ""
        """What was said last."""
        self.messages: list[str] = []
        self.reloads = 0
        self.status_line = SimpleNamespace(left=(), display=True)
        self._later: list[Callable[[], object]] = []
        self._controllers: list[Controller[Any]] = []

    @property
    def keys(self) -> KeyNames:
        return self.session.keys

    def add(self, *controllers: Controller[Any]) -> None:
        """Let keys reach controllers."""
        self._controllers += controllers

    def press(self, key: str) -> bool:
        """Press a key; False where no controller has it, or it can do nothing now."""
        for controller in self._controllers:
            for each in (*controller.PANE_BINDINGS, *controller.BINDINGS):
                assert isinstance(each, Binding)
                if key in each.key.split(","):
                    name, _, words = each.action.partition("(")
                    parameters = literal_eval(f"({words.rstrip(')')},)") if words else ()
                    if not controller.check_action(name, parameters):
                        return False
                    result = getattr(controller, f"action_{name}")(*parameters)
                    assert not isinstance(result, Coroutine)
                    return True
        return False

    async def settle(self) -> None:
        """Wait until every worker is through and all it asked for is done."""
        while self._later or any(not each.is_finished for each in self.workers):
            self.run_later()
            tasks = [each.task for each in self.workers if not each.is_finished]
            if tasks:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        self.input_queue.held -= set(self.workers)
        for worker in self.workers:
            if not worker.task.cancelled() and (error := worker.task.exception()) is not None:
                assert isinstance(error, Exception)
                self.failures.append(error)
        self.workers.clear()

    def run_later(self) -> None:
        """Do what was asked for so far."""
        later, self._later = self._later, []
        for each in later:
            each()

    # What controllers call

    def show_message(self, *pieces: Piece) -> None:
        self.message = "".join(piece.text for piece in pieces)
        self.messages.append(self.message)
        self.status_line.left = pieces

    def get_unread_refusal(self) -> tuple[Piece, ...]:
        return ()

    def refuse(self, words: str) -> None:
        self.app.bell()
        self.show_message(Piece(words))

    async def read_in_thread(self, fn: Callable[..., T], *args: object, **kwargs: object) -> T:
        return await asyncio.to_thread(fn, *args, **kwargs)

    def run_worker(
        self,
        work: Callable[[], Coroutine[Any, Any, Any]],
        *,
        name: str,
        group: str,
        exclusive: bool,
        exit_on_error: bool,
    ) -> FakeWorker:
        assert not exit_on_error, f"{name}: the app says what failed"
        if exclusive:
            for each in self.workers:
                if each.group == group:
                    each.cancel()
        worker = FakeWorker(group, asyncio.ensure_future(work()))
        self.workers.append(worker)
        return worker

    def call_later(self, fn: Callable[..., object], *args: object, **kwargs: object) -> None:
        self._later.append(lambda: fn(*args, **kwargs))

    def post_message(self, message: Message) -> None:
        self.posted.append(message)

    def refresh_bindings(self) -> None:
        pass

    def reload(self) -> None:
        self.reloads += 1

    def query_one(self, _kind: object) -> Any:
        return self.status_line

    def show_input_line(self, line: Any, text: str) -> None:
        line.value, line.display = text, True

    def close_input_line(self, line: Any) -> None:
        line.display = False


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


class FakeAdjudicateScreen(FakeScreen):
    """The claims on which bo and zoe differ, the first one under the cursor."""

    filter = ComparisonFilter.HUMANS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.compared = session.store.raters.read_rater_records(RunId(1))
        self.spec = get_metric_spec(self.compared.run.spec)
        self.listed = [each for each in self.compared.claims if each.has_disagreement]
        self.at = 0
        screen = cast(AdjudicationScreen, self)
        self.labels = FinalLabels(screen)
        self.undo = FinalLabelUndo(screen)
        self.evidence = ClaimEvidence(screen)
        self.notes = FinalNotes(screen)
        self.note_subjects: list[str] = []
        """What the line for notes named, in this order."""
        self.note = SimpleNamespace(value="", display=False, name_subject=self.note_subjects.append)
        self.claims = SimpleNamespace(focus=lambda: None, display=True)
        self.add(self.evidence, self.notes)

    def show_claim_being_saved(self, claim: ClaimOpinions) -> None:
        self.listed[self.at] = claim

    def claim_at_cursor(self) -> ClaimOpinions | None:
        return self.listed[self.at] if self.at < len(self.listed) else None

    def query_one(self, _kind: object, _type: object = None) -> SimpleNamespace:
        """Give a pane in which nothing is drawn."""
        region = SimpleNamespace(width=0, height=10)
        return SimpleNamespace(
            show=lambda _build, **_how: None, scrollable_content_region=region, hint=""
        )

    def settle_claim(self) -> ClaimOpinions:
        """Let the claim under the cursor have a final word."""
        claim = self.listed[self.at]
        final = HumanVerdict(claim.claim, "ann", "yes", Action.ADJUDICATED)
        self.listed[self.at] = replace(claim, final=final)
        return self.listed[self.at]
