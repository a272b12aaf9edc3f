"""The screen where people say whether the judge is right, one key per claim."""

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.domain.annotations import LabelAct
from faithtui.domain.ids import ClaimId, ItemId
from faithtui.store.annotations.blinding import blinded
from faithtui.store.records import ReviewView
from faithtui.tui.messages import Go
from faithtui.tui.metric_view import spec_of
from faithtui.tui.navigation import holds_keys
from faithtui.tui.replies.show_replies import ReplyingScreen
from faithtui.tui.review import position
from faithtui.tui.review.claim_list import VERDICT
from faithtui.tui.review.drawing import evidence as draw_evidence
from faithtui.tui.review.drawing.claims import ListExtras
from faithtui.tui.review.drawing.verdict import conversation_score
from faithtui.tui.review.panes import Looked, ReviewPanes
from faithtui.tui.review.position import Focus
from faithtui.tui.review.queue_walk import Mark, WalkingScreen
from faithtui.tui.review.re_ask import RefreshingScreen
from faithtui.tui.samples.queue import begun, open_item
from faithtui.tui.screen.main_screen import tabs
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import Piece, shown_line, width_of
from faithtui.tui.widgets.pane import RowPane

WINDOW = Binding.Group("window", compact=True)
OPEN = Binding.Group("unlabelled", compact=True)
CLAIM = Binding.Group("claim", compact=True)

LEAST_NAME = 8
"""Cells of a conversation's name below which it is left out of the title."""


class ReviewScreen(ReplyingScreen, RefreshingScreen):
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
    class Emptied(Message):
        """There is nothing to review."""

        words: str

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.stale = False
        """The store changed while a conversation was being read."""
        self.mark: Mark | None = None
        """What the conversation shown is known by; None: there is none."""
        self.exposed: set[ItemId] = set()
        """Conversations whose judge was on this screen."""

    def make_panes(self) -> ReviewPanes:
        """Make the panes, the claims first."""
        return ReviewPanes(self.keys)

    def on_mount(self) -> None:
        """Begin without a conversation."""
        self.note.display = False
        self.panes.clear("Reading …")
        self.panes.claims.focus()
        super().on_mount()

    # Reading

    def changed(self) -> None:
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

    def _mark_of(self, item: ItemId) -> Mark | None:
        store = self.session.store
        newest = store.reviews.newest()
        rows = store.runs.item_rows([item])
        return (rows[0], newest) if rows else None

    def read_again(self) -> None:
        """Read again, but never in the way of a jump to another conversation."""
        if any(each.group == "view" and not each.is_finished for each in self.workers):
            self.stale = True
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
            self.find_work()
        else:
            known = self.view is not None and item == self.view.item.id
            self.load(item, wanted, 0 if known or wanted else 1, turn=turn)

    def load(
        self,
        item: ItemId,
        claim: ClaimId | None,
        edge: int,
        after: WalkingScreen.TakenBack | None = None,
        turn: int | None = None,
    ) -> None:
        """Read one conversation and show it; begin at a claim, else at the first one of a turn.

        While the list of claims waits for it, keys do too: they are meant for what comes.
        """
        worker = self._load(item, claim, edge, after, turn)
        if self.panes.claims.is_waiting:
            self.navigation.hold_keys_for(worker, can_give_up=False)

    @work(exclusive=True, group="view", exit_on_error=False)
    async def _load(
        self,
        item: ItemId,
        claim: ClaimId | None,
        edge: int,
        after: WalkingScreen.TakenBack | None,
        turn: int | None,
    ) -> None:
        loaded = await self.read(self.read_conversation, item, claim, edge)
        if claim is None and turn is not None:
            at_turn = (each.id for each in loaded.view.claims if each.turn == turn)
            loaded = replace(loaded, claim=next(at_turn, None))
        self.post_message(replace(loaded, taken_back=after))

    @work(exclusive=True, group="view", exit_on_error=False)
    async def find_work(self) -> None:
        """Find a conversation to review when none was chosen."""
        store = self.session.store
        run = self.session.run or await self.read(store.runs.last_id)
        if run is None:
            self.post_message(
                self.Emptied(
                    self.keys.fill("There is no run yet: {go.runs}, then {runs.new} starts one.")
                )
            )
            return
        self.session.run = run
        queue = await self.read(store.runs.item_ids, run, "number")
        item = await self.read(open_item, store, queue, None, 1)
        if item is None and queue:
            item = queue[0]
        if item is None:
            self.post_message(self.Emptied("This run has no conversations."))
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
        queue = self.session.queue or await self.read(store.runs.item_ids, run, "number")
        item = await self.read(open_item, store, queue, here, direction)
        if item is None:
            words = "after" if direction > 0 else "before"
            unit = "claim" if self.looked is None else self.looked.spec.units[0]
            self.say(
                *self.just_saved,
                Piece(f"no {unit} without a verdict {words} this one in the run", "warn"),
            )
            self.just_saved = ()
            item = here
            if after_verdict:
                # Verdicts typed ahead were for a claim that there is not.
                bindings = self.active_bindings.items()
                verdicts = {key for key, each in bindings if each.binding.group is VERDICT}
                self.navigation.drop_next(verdicts)
        self.session.item = item
        self.post_message(
            await self.read(self.read_conversation, item, None, 0 if item == here else direction)
        )

    def go_to_claim(self, event: WalkingScreen.TakenBack, act: LabelAct, item: ItemId) -> None:
        """Show the claim of an act that was taken back, in whichever conversation."""
        self.take_back_in_queue(event)
        self.panes.claims.wait()
        # A save that ends meanwhile reads again, and must come to the same claim.
        self.session.item, self.session.claim = item, act.claim
        self.load(item, act.claim, 0, event)

    def read_conversation(
        self, item: ItemId, claim: ClaimId | None, edge: int
    ) -> WalkingScreen.Loaded:
        """Read a conversation, without what is hidden. Meant for a thread."""
        session = self.session
        terms = session.hiding
        mark = self._mark_of(item)
        view = session.store.runs.review_view(item, session.reviewer)
        queue, walk = session.claims, self.walk
        if queue is None:
            walk = None
        elif walk is None or walk.queue is not queue or walk.outdated:
            walk = begun(session.store, queue, session.reviewer)
        if session.blind:
            view = blinded(
                view,
                open_to=session.revealed | (queue.shown if queue is not None else set()),
                sample=queue.sample if queue is not None else None,
                truths=item in session.truths_open,
            )
        asked_again = session.store.calls.fresh(item)
        # A run may still add windows to the conversation, and with them truths.
        before = self.looked
        known = before is not None and before.view.item.id == item
        if before is not None and known and before.view.truths == view.truths:
            read = before.read
        else:
            read = draw_evidence.read_view(view)
        return self.Loaded(
            view,
            read,
            spec_of(view.run.spec),
            claim,
            edge,
            walk=walk,
            terms=terms,
            mark=mark,
            fresh=tuple(each for each in asked_again if each.claim not in view.hidden),
        )

    @on(WalkingScreen.Loaded)
    def show_loaded(self, event: WalkingScreen.Loaded) -> None:
        """Take a conversation that was read, unless another one is wanted by now."""
        if event.view.item.id != self.session.item:
            return
        if event.terms != self.session.hiding:
            # Something is to be hidden by now that was not when this was read, or the other way.
            if all(each.is_finished for each in self.workers if each.group == "view"):
                self.load(event.view.item.id, event.claim, event.edge, event.taken_back)
            return
        self.session.claim = self.session.turn = None
        self.mark = event.mark
        self.take_walk(event.walk)
        view = position.overlaid(event.view, self.session.reviewer, self.pending)
        same = self.view is not None and self.view.item.id == view.item.id
        at = self.at if same else Focus()
        if event.claim is not None:
            listed = position.listed(view, at.window)
            held = any(claim.id == event.claim for claim in listed)
            at = Focus(at.window if held else None, event.claim)
        elif event.edge:
            at = position.edge_open(view, event.edge) or Focus()
        before = self.at if same else None
        at = position.settled(view, at)
        self.looked = Looked(view, before or at, event.spec, event.read, fresh=event.fresh)
        if not same:
            self.range_from = None
            self.sought = ""
            self.bar.show("")
        self._expose(view)
        self.look(at, fresh=not same)
        self.prepare()
        self.tell_how_far()
        if not same:
            self.refresh_bindings()
        if event.taken_back is not None:
            self.tell_taken_back(event.taken_back)
        if self.stale:
            self.stale = False
            self.reload()

    @property
    def replied(self) -> ItemId | None:
        """The conversation whose raw replies are meant."""
        return None if self.view is None else self.view.item.id

    def conceal(self) -> None:
        """Forget what is drawn, and what was said of it."""
        super().conceal()
        self.panes.claims.clear()
        self.forget_prepared()
        self.looked = self.given = self.range_from = self.mark = None
        self.last, self.sought, self.just_saved, self.leaving = "", "", (), False

    def _expose(self, view: ReviewView) -> None:
        """Remember that this reviewer has seen the judge's words here: no later label is blind."""
        item = view.item.id
        if not self.session.blind and item not in self.exposed:
            self.exposed.add(item)
            store = self.session.store
            # Nobody waits for it: a store that cannot be written says so at the next verdict.
            store.submit(store.reviews.expose, item, self.session.reviewer)

    @on(Emptied)
    def show_empty(self, event: Emptied) -> None:
        """Say why there is nothing to review."""
        self.looked = self.mark = None
        self.panes.clear(event.words)
        self.entitle()

    # Looking

    def look(self, at: Focus, *, fresh: bool = False) -> None:
        """Choose what is looked at and draw everything in one go."""
        before = self.looked
        if before is None:
            return
        view = position.overlaid(before.view, self.session.reviewer, self.pending)
        moved = fresh or at.claim != before.at.claim
        claim = position.find(view, at.claim)
        if moved:
            self.since = self.session.seconds()
        if self.walk is not None:
            self.walk.follow(at.claim)
        self.looked = replace(
            before,
            view=view,
            at=at,
            passages=(
                draw_evidence.ranked_passages(view, claim, at.window, before.read) if claim else ()
            ),
            once=self.once,
            last=self.last,
            extras=ListExtras(
                frozenset(each.id for each in position.between(view, at, self.range_from)),
                self._standing_out(),
                self.keys,
            ),
        )
        self.session.item = view.item.id
        with self.app.batch_update():
            self.panes.draw(self.looked, moved=moved)
            self._entitle(self.looked)

    def _standing_out(self) -> Container[ClaimId] | None:
        """Give the claims that are not drawn quietly: found by a filter, else of the queue."""
        found = self.found
        if found is not None:
            return frozenset(found)
        # Not copied: a queue may hold a hundred thousand claims, and lines are kept while it stays.
        return None if self.walk is None else self.walk.queue.place

    def _entitle(self, looked: Looked) -> None:
        view, claim = looked.view, looked.claim
        unit = looked.spec.units[0]
        where = f" > {unit} {claim.number}/{len(view.claims)}" if claim else ""
        blind = self.session.blind
        right = [
            Piece("BLIND" if blind else "JUDGE SHOWN", "human strong" if blind else "warn strong"),
            Piece("  per interaction " if self.once else "  windowed ", "quiet"),
            Piece(conversation_score(view, self.once), "strong"),
        ]
        run = f"  #{view.run.id} > "
        if self.walk is not None:
            queue, done = self.walk.queue, len(self.walk.done)
            kind = ", a convenience order" if queue.convenience else ""
            run += f"{shown_line(queue.title, limit=30).text}{kind} {done}/{len(queue.entries)} > "
        taken = width_of([*self.title_pieces(), *right]) + len(run) + len(where) + 3
        room = self.size.width - taken
        if room >= LEAST_NAME:
            name = shown_line(view.item.key, limit=room)
        else:
            # Where one is counts for more than the conversation's name, and than the run's number.
            run, name = run.removesuffix(" > "), Piece("")
            if room < -len(" > "):
                run = run.partition(" > ")[2]
                run, where = (f"  {run}", where) if run else ("", where.replace(" > ", "  ", 1))
        self.entitle([Piece(run, "quiet"), name, Piece(where, "quiet")], right)

    # Moving

    @on(RowPane.Moved, "#claims")
    def follow_claim(self, event: RowPane.Moved) -> None:
        """Show the claim that was chosen in the list."""
        if self.view is not None:
            claims = position.listed(self.view, self.at.window)
            if event.row < len(claims):
                self.given = None
                self.look(Focus(self.at.window, claims[event.row].id))

    @on(RowPane.Moved, "#windows")
    @on(RowPane.Chosen, "#windows")
    def follow_window(self, event: RowPane.Moved | RowPane.Chosen) -> None:
        """Limit the claims to the window that was chosen."""
        if self.view is not None:
            window = None if event.row == 0 else event.row - 1
            self.look(position.settled(self.view, Focus(window, self.at.claim)))

    @on(RowPane.Chosen, "#claims")
    def open_claim(self) -> None:
        """Show the judge's verdict in every window."""
        self.action_occurrences()

    def advance(self, claim: ClaimId, *, later: bool = False) -> None:
        """Go on after a verdict, or after putting a claim off."""
        looked = self.looked
        if looked is None:
            return
        if self.walk is not None:
            self.go_on_in_queue(claim, later=later)
        elif not self.session.preferences.auto_advance:
            self.look(looked.at)
        else:
            ahead = position.overlaid(looked.view, self.session.reviewer, self.pending)
            at = position.advanced(ahead, looked.at)
            self.leaving = at is None
            self.look(at or looked.at)
            if self.leaving:
                self.panes.claims.wait()

    def action_claim(self, by: int) -> None:
        """Choose another claim from any pane."""
        if self.view is not None:
            self.given = None
            self.look(position.moved(self.view, self.at, by))

    def action_window(self, by: int) -> None:
        """Limit the claims to another window."""
        if self.view is not None:
            self.look(position.windowed(self.view, self.at, by))

    def action_unlabelled(self, direction: int) -> None:
        """Go to a claim without a verdict; in a queue, to the next one of it."""
        if self.view is None:
            return
        self.given = None
        if self.step_found(direction):
            return
        if self.walk is not None:
            self.step_in_queue(direction)
            return
        at = position.next_open(self.view, self.at, direction)
        if at is not None:
            self.look(at)
        else:
            self.load_next(direction)

    def action_metrics(self) -> None:
        """Show what every metric says about the answers of this conversation."""
        if self.session.blind:
            key = self.keys("review.blind")
            self.refuse(f"the metrics would show the judge: {key} or another queue stops hiding it")
        else:
            self.post_message(Go("metrics"))

    def title_pieces(self) -> tuple[Piece, ...]:
        """Show the two sides of a conversation."""
        return tabs(self.TITLE_WORDS, self.keys("review.metrics"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done without a conversation."""
        if action == "metrics":
            return self.view is not None
        return super().check_action(action, parameters)
