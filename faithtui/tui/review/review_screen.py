"""The screen where people say whether the judge is right, one key per claim."""

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.domain.annotations import LabelEvent
from faithtui.domain.ids import ClaimId, ItemId
from faithtui.store.annotations.blind_view import blind_view
from faithtui.store.records import ReviewView
from faithtui.tui.messages import ShowScreen
from faithtui.tui.metric_view import spec_of
from faithtui.tui.navigation import holds_keys
from faithtui.tui.replies.show_replies import ShowRepliesScreen
from faithtui.tui.review import position
from faithtui.tui.review.claim_list import VERDICT
from faithtui.tui.review.lines import evidence as draw_evidence
from faithtui.tui.review.lines.claims import ClaimListExtras
from faithtui.tui.review.lines.verdict import conversation_score
from faithtui.tui.review.panes import ReviewPanes, ReviewState
from faithtui.tui.review.position import ReviewPosition
from faithtui.tui.review.queue_walk import ConversationMark, ReviewQueueScreen
from faithtui.tui.review.re_ask import AskAgainScreen
from faithtui.tui.samples.queue import find_open_item, load_queue_cursor
from faithtui.tui.screen.main_screen import tab_pieces
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import Piece, escape_line, width_of
from faithtui.tui.widgets.pane import RowPane

WINDOW = Binding.Group("window", compact=True)
OPEN = Binding.Group("unlabelled", compact=True)
CLAIM = Binding.Group("claim", compact=True)

LEAST_NAME = 8
"""Cells of a conversation's name below which it is left out of the title."""


class ReviewScreen(ShowRepliesScreen, AskAgainScreen):
    """Windows, claims, evidence, truths and the verdict of one conversation."""

    TITLE_WORDS: ClassVar[str] = "REVIEW"
    LEAST = (44, 16)
    HELP_WORDS: ClassVar[str] = (
        "One key gives a verdict on the chosen claim (or statement, or answer: whatever the metric "
        "judges), saves it and goes to the next one. The judge's verdict is the first letter of a "
        "row, the human label the second: · is the same, blank is no label yet, ! is no "
        "verdict "
        "of the judge. Not overridden is not agreed: only what has a label of yours counts. A "
        "score reads judge → with overrides: human labels replace the judge's verdicts. In the "
        "windowed score early turns count once per window that holds them, with the default size "
        "up to 29 times more than the last one; {review.weighting} shows the score in which each "
        "interaction counts once."
    )

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "j", "claim(1)", "next claim", group=CLAIM, tooltip="Next claim", id="review.next-claim"
        ),
        Binding(
            "k",
            "claim(-1)",
            "claim before",
            group=CLAIM,
            tooltip="Claim before",
            id="review.previous-claim",
        ),
        Binding(
            "J",
            "window(1)",
            "next window",
            group=WINDOW,
            tooltip="Limit the claims to the next window",
            id="review.next-window",
        ),
        Binding(
            "K",
            "window(-1)",
            "window before",
            group=WINDOW,
            tooltip="Limit the claims to the window before; before the first: all of them",
            id="review.previous-window",
        ),
        Binding(
            "N",
            "unlabelled(1)",
            "next unlabelled",
            group=OPEN,
            tooltip="Next claim without a verdict, also in a later conversation",
            id="review.next-unlabelled",
        ),
        Binding(
            "P",
            "unlabelled(-1)",
            "unlabelled before",
            group=OPEN,
            tooltip="Claim before without a verdict, also in an earlier conversation",
            id="review.previous-unlabelled",
        ),
        Binding(
            "M",
            "metrics",
            "metrics",
            tooltip="All metrics side by side on this conversation; M comes back",
            id="review.metrics",
        ),
    ]

    @dataclass
    class NothingToReview(Message):
        """There is nothing to review."""

        words: str

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.must_reread = False
        """The store changed while a conversation was being read."""
        self.mark: ConversationMark | None = None
        """What the conversation shown is known by; None: there is none."""

    def make_panes(self) -> ReviewPanes:
        """Make the panes, the claims first."""
        return ReviewPanes(self.keys)

    def on_mount(self) -> None:
        """Begin without a conversation."""
        self.note.display = False
        self.panes.show_empty("Reading …")
        self.panes.claims.focus()
        super().on_mount()

    # Reading

    def handle_store_change(self) -> None:
        """Read again if it was this conversation that changed."""
        if self.mark is None:
            self.read_again()
        else:
            self.follow_store()

    @work(exclusive=True, group="follow", exit_on_error=False)
    async def follow_store(self) -> None:
        """Look whether anything of the conversation changed, which costs little."""
        item = self.session.item
        if item is not None and await self.read(self._mark_of, item) != self.mark:
            self.read_again()

    def _mark_of(self, item: ItemId) -> ConversationMark | None:
        store = self.session.store
        newest = store.reviews.find_newest_act()
        rows = store.runs.item_rows([item])
        return (rows[0], newest) if rows else None

    def read_again(self) -> None:
        """Read again, but never in the way of a jump to another conversation."""
        if any(each.group == "view" and not each.is_finished for each in self.workers):
            self.must_reread = True
        else:
            self.reload()

    def reload(self) -> None:
        """Read the conversation again, or the one that was chosen elsewhere."""
        if self.in_flight:
            return  # The last save reads again; until then the screen is ahead of the store.
        session = self.session
        # Kept until it is shown: what is being read may be read again before that.
        wanted, turn, item = session.claim, session.turn, session.item
        if item is None:
            self.find_conversation()
        else:
            known = self.view is not None and item == self.view.item.id
            self.load(item, wanted, 0 if known or wanted else 1, turn=turn)

    def load(
        self,
        item: ItemId,
        claim: ClaimId | None,
        edge: int,
        after: ReviewQueueScreen.TakenBack | None = None,
        turn: int | None = None,
    ) -> None:
        """Read one conversation and show it; begin at a claim, else at the first one of a turn.

        While the list of claims waits for it, keys do too: they are meant for what comes.
        """
        worker = self._load_conversation(item, claim, edge, after, turn)
        if self.panes.claims.is_waiting:
            self.navigation.hold_keys_for(worker, can_give_up=False)

    @work(exclusive=True, group="view", exit_on_error=False)
    async def _load_conversation(
        self,
        item: ItemId,
        claim: ClaimId | None,
        edge: int,
        after: ReviewQueueScreen.TakenBack | None,
        turn: int | None,
    ) -> None:
        loaded = await self.read(self.read_conversation, item, claim, edge)
        if claim is None and turn is not None:
            at_turn = (each.id for each in loaded.view.claims if each.turn == turn)
            loaded = replace(loaded, claim=next(at_turn, None))
        self.post_message(replace(loaded, taken_back=after))

    @work(exclusive=True, group="view", exit_on_error=False)
    async def find_conversation(self) -> None:
        """Find a conversation to review when none was chosen."""
        store = self.session.store
        run = self.session.run or await self.read(store.runs.last_id)
        if run is None:
            self.post_message(
                self.NothingToReview(
                    self.keys.fill_in_keys(
                        "There is no run yet: {go.runs}, then {runs.new} starts one."
                    )
                )
            )
            return
        self.session.run = run
        queue = await self.read(store.runs.item_ids, run, "number")
        item = await self.read(find_open_item, store, queue, None, 1)
        if item is None and queue:
            item = queue[0]
        if item is None:
            self.post_message(self.NothingToReview("This run has no conversations."))
            return
        self.session.item = item
        self.post_message(await self.read(self.read_conversation, item, None, 1))

    @holds_keys(can_give_up=True)
    @work(exclusive=True, group="view", exit_on_error=False)
    async def load_next(self, direction: int, *, after_verdict: bool = False) -> None:
        """Go to the next conversation that has a claim without a verdict."""
        here = self.session.item
        store, run = self.session.store, self.session.run
        if run is None or here is None:
            return
        queue = self.session.item_queue or await self.read(store.runs.item_ids, run, "number")
        item = await self.read(find_open_item, store, queue, here, direction)
        if item is None:
            words = "after" if direction > 0 else "before"
            unit = "claim" if self.review_state is None else self.review_state.spec.units[0]
            self.show_message(
                *self.just_saved,
                Piece(f"no {unit} without a verdict {words} this one in the run", "warn"),
            )
            self.just_saved = ()
            item = here
            if after_verdict:
                # Verdicts typed ahead were for a claim that there is not.
                bindings = self.active_bindings.items()
                verdicts = {key for key, each in bindings if each.binding.group is VERDICT}
                self.navigation.drop_typed_ahead(verdicts)
        self.session.item = item
        self.post_message(
            await self.read(self.read_conversation, item, None, 0 if item == here else direction)
        )

    def go_to_claim(
        self, event: ReviewQueueScreen.TakenBack, act: LabelEvent, item: ItemId
    ) -> None:
        """Show the claim of an act that was taken back, in whichever conversation."""
        self.undo_in_queue(event)
        self.panes.claims.block_keys()
        # A save that ends meanwhile reads again, and must come to the same claim.
        self.session.item, self.session.claim = item, act.claim
        self.load(item, act.claim, 0, event)

    def read_conversation(
        self, item: ItemId, claim: ClaimId | None, edge: int
    ) -> ReviewQueueScreen.Loaded:
        """Read a conversation, without what is hidden. Meant for a thread."""
        session = self.session
        terms = session.hiding_terms
        mark = self._mark_of(item)
        view = session.store.runs.review_view(item, session.reviewer)
        queue, walk = session.claim_queue, self.queue_cursor
        if queue is None:
            walk = None
        elif walk is None or walk.queue is not queue or walk.is_outdated:
            walk = load_queue_cursor(session.store, queue, session.reviewer)
        if session.is_blind:
            view = blind_view(
                view,
                open_to=session.revealed | (queue.shown if queue is not None else set()),
                sample=queue.sample if queue is not None else None,
                truths=item in session.revealed_truths,
            )
        asked_again = session.store.calls.list_fresh_verdicts(item)
        # A run may still add windows to the conversation, and with them truths.
        before = self.review_state
        known = before is not None and before.view.item.id == item
        if before is not None and known and before.view.truths == view.truths:
            read = before.tokenised
        else:
            read = draw_evidence.tokenise_view(view)
        return self.Loaded(
            view,
            read,
            spec_of(view.run.spec),
            claim,
            edge,
            queue_cursor=walk,
            hiding_terms=terms,
            mark=mark,
            asked_again=tuple(each for each in asked_again if each.claim not in view.hidden),
        )

    @on(ReviewQueueScreen.Loaded)
    def show_loaded(self, event: ReviewQueueScreen.Loaded) -> None:
        """Take a conversation that was read, unless another one is wanted by now."""
        if event.view.item.id != self.session.item:
            return
        if event.hiding_terms != self.session.hiding_terms:
            # Something is to be hidden by now that was not when this was read, or the other way.
            if all(each.is_finished for each in self.workers if each.group == "view"):
                self.load(event.view.item.id, event.claim, event.edge, event.taken_back)
            return
        self.session.claim = self.session.turn = None
        self.mark = event.mark
        self.set_queue_cursor(event.queue_cursor)
        view = position.overlay_pending(event.view, self.session.reviewer, self.pending_verdicts)
        same = self.view is not None and self.view.item.id == view.item.id
        at = self.review_position if same else ReviewPosition()
        if event.claim is not None:
            listed = position.list_claims(view, at.window)
            held = any(claim.id == event.claim for claim in listed)
            at = ReviewPosition(at.window if held else None, event.claim)
        elif event.edge:
            at = position.find_edge_open(view, event.edge) or ReviewPosition()
        before = self.review_position if same else None
        at = position.fit_position(view, at)
        self.review_state = ReviewState(
            view, before or at, event.spec, event.tokenised, asked_again=event.asked_again
        )
        if not same:
            self.range_start = None
            self.filter_text = ""
            self.bar.show("")
        self._record_exposure(view)
        self.update_view(at, fresh=not same)
        self.read_ahead()
        self.read_queue_progress()
        if not same:
            self.refresh_bindings()
        if event.taken_back is not None:
            self.tell_taken_back(event.taken_back)
        if self.must_reread:
            self.must_reread = False
            self.reload()

    @property
    def reply_item(self) -> ItemId | None:
        """The conversation whose raw replies are meant."""
        return None if self.view is None else self.view.item.id

    def clear_content(self) -> None:
        """Forget what is drawn, and what was said of it."""
        super().clear_content()
        self.panes.claims.forget_claim()
        self.forget_read_ahead()
        self.review_state = self.last_verdict = self.range_start = self.mark = None
        self.last_act_words, self.filter_text, self.just_saved, self.is_leaving = "", "", (), False

    def _record_exposure(self, view: ReviewView) -> None:
        """Remember that this reviewer has seen the judge's words here: no later label is blind."""
        if not self.session.is_blind:
            self.session.record_exposure([view.item.id])

    @on(NothingToReview)
    def show_empty(self, event: NothingToReview) -> None:
        """Say why there is nothing to review."""
        self.review_state = self.mark = None
        self.panes.show_empty(event.words)
        self.set_title()

    # Looking

    def update_view(self, at: ReviewPosition, *, fresh: bool = False) -> None:
        """Choose what is looked at and draw everything in one go."""
        before = self.review_state
        if before is None:
            return
        view = position.overlay_pending(before.view, self.session.reviewer, self.pending_verdicts)
        moved = fresh or at.claim != before.position.claim
        claim = position.find_claim(view, at.claim)
        if moved:
            self.claim_shown_s = self.session.seconds()
        if self.queue_cursor is not None:
            self.queue_cursor.move_to(at.claim)
        self.review_state = replace(
            before,
            view=view,
            position=at,
            passages=(
                draw_evidence.rank_claim_passages(view, claim, at.window, before.tokenised)
                if claim
                else ()
            ),
            per_interaction=self.per_interaction,
            last_act_words=self.last_act_words,
            extras=ClaimListExtras(
                frozenset(each.id for each in position.list_range(view, at, self.range_start)),
                self._list_highlighted_claims(),
                self.keys,
            ),
        )
        self.session.item = view.item.id
        with self.app.batch_update():
            self.panes.draw_all(self.review_state, moved=moved)
            self._update_title(self.review_state)

    def _list_highlighted_claims(self) -> Container[ClaimId] | None:
        """Give the claims that are not drawn quietly: found by a filter, else of the queue."""
        found = self.found_claims
        if found is not None:
            return frozenset(found)
        # Not copied: a queue may hold a hundred thousand claims, and lines are kept while it stays.
        return None if self.queue_cursor is None else self.queue_cursor.queue.place

    def _update_title(self, looked: ReviewState) -> None:
        view, claim = looked.view, looked.claim
        unit = looked.spec.units[0]
        where = f" > {unit} {claim.number}/{len(view.claims)}" if claim else ""
        blind = self.session.is_blind
        right = [
            Piece("BLIND" if blind else "JUDGE SHOWN", "human strong" if blind else "warn strong"),
            Piece("  per interaction " if self.per_interaction else "  windowed ", "quiet"),
            Piece(conversation_score(view, self.per_interaction), "strong"),
        ]
        run = f"  #{view.run.id} > "
        if self.queue_cursor is not None:
            queue, done = self.queue_cursor.queue, len(self.queue_cursor.answered_claims)
            kind = ", a convenience order" if queue.is_convenience else ""
            run += f"{escape_line(queue.title, limit=30).text}{kind} {done}/{len(queue.entries)} > "
        taken = width_of([*self.title_pieces(), *right]) + len(run) + len(where) + 3
        room = self.size.width - taken
        if room >= LEAST_NAME:
            name = escape_line(view.item.key, limit=room)
        else:
            # Where one is counts for more than the conversation's name, and than the run's number.
            run, name = run.removesuffix(" > "), Piece("")
            if room < -len(" > "):
                run = run.partition(" > ")[2]
                run, where = (f"  {run}", where) if run else ("", where.replace(" > ", "  ", 1))
        self.set_title([Piece(run, "quiet"), name, Piece(where, "quiet")], right)

    # Moving

    @on(RowPane.Moved, "#claims")
    def follow_claim(self, event: RowPane.Moved) -> None:
        """Show the claim that was chosen in the list."""
        if self.view is not None:
            claims = position.list_claims(self.view, self.review_position.window)
            if event.row < len(claims):
                self.last_verdict = None
                self.update_view(ReviewPosition(self.review_position.window, claims[event.row].id))

    @on(RowPane.Moved, "#windows")
    @on(RowPane.Chosen, "#windows")
    def follow_window(self, event: RowPane.Moved | RowPane.Chosen) -> None:
        """Limit the claims to the window that was chosen."""
        if self.view is not None:
            window = None if event.row == 0 else event.row - 1
            self.update_view(
                position.fit_position(self.view, ReviewPosition(window, self.review_position.claim))
            )

    @on(RowPane.Chosen, "#claims")
    def open_claim(self) -> None:
        """Show the judge's verdict in every window."""
        self.action_occurrences()

    def advance(self, claim: ClaimId, *, later: bool = False) -> None:
        """Go on after a verdict, or after putting a claim off."""
        looked = self.review_state
        if looked is None:
            return
        if self.queue_cursor is not None:
            self.advance_in_queue(claim, later=later)
        elif not self.session.preferences.auto_advance:
            self.update_view(looked.position)
        else:
            ahead = position.overlay_pending(
                looked.view, self.session.reviewer, self.pending_verdicts
            )
            at = position.advance_position(ahead, looked.position)
            self.is_leaving = at is None
            self.update_view(at or looked.position)
            if self.is_leaving:
                self.panes.claims.block_keys()

    def action_claim(self, by: int) -> None:
        """Choose another claim from any pane."""
        if self.view is not None:
            self.last_verdict = None
            self.update_view(position.move_by_claims(self.view, self.review_position, by))

    def action_window(self, by: int) -> None:
        """Limit the claims to another window."""
        if self.view is not None:
            self.update_view(position.move_by_windows(self.view, self.review_position, by))

    def action_unlabelled(self, direction: int) -> None:
        """Go to a claim without a verdict; in a queue, to the next one of it."""
        if self.view is None:
            return
        self.last_verdict = None
        if self.step_found(direction):
            return
        if self.queue_cursor is not None:
            self.step_in_queue(direction)
            return
        at = position.find_next_open(self.view, self.review_position, direction)
        if at is not None:
            self.update_view(at)
        else:
            self.load_next(direction)

    def action_metrics(self) -> None:
        """Show what every metric says about the answers of this conversation."""
        if self.session.is_blind:
            key = self.keys("review.blind")
            self.refuse(f"the metrics would show the judge: {key} or another queue stops hiding it")
        else:
            self.post_message(ShowScreen("metrics"))

    def title_pieces(self) -> tuple[Piece, ...]:
        """Show the two sides of a conversation."""
        return tab_pieces(self.TITLE_WORDS, self.keys("review.metrics"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done without a conversation."""
        if action == "metrics":
            return self.view is not None
        return super().check_action(action, parameters)
