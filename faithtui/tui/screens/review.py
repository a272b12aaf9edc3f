"""The screen where people say whether the judge is right, one key per claim."""

from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.domain.ids import ClaimId, ItemId
from faithtui.domain.labels import LabelSet
from faithtui.domain.review import LabelAct
from faithtui.store.records import ReviewView
from faithtui.tui import format as fmt
from faithtui.tui import place
from faithtui.tui.drawing import claims as draw_claims
from faithtui.tui.drawing import evidence as draw_evidence
from faithtui.tui.drawing.verdict import conversation_score
from faithtui.tui.lines import LONGEST, Piece, shown_line
from faithtui.tui.place import Focus
from faithtui.tui.queue import open_item
from faithtui.tui.screens.dialogs import PickDialog, TextDialog
from faithtui.tui.screens.judging import JudgingScreen
from faithtui.tui.session import Session, labels_of, spec_of
from faithtui.tui.widgets.pane import RowPane
from faithtui.tui.widgets.review_panes import Looked, ReviewPanes

WINDOW = Binding.Group("window", compact=True)
PASSAGE = Binding.Group("passage", compact=True)
OPEN = Binding.Group("unlabelled", compact=True)
CLAIM = Binding.Group("claim", compact=True)


class ReviewScreen(JudgingScreen):
    """Windows, claims, evidence, truths and the verdict of one conversation."""

    TITLE_WORDS: ClassVar[str] = "REVIEW"
    CSS_PATH = "review.tcss"
    HELP_WORDS: ClassVar[str] = (
        "One key gives a verdict on the chosen claim, saves it and goes to the next claim. "
        "The judge's verdict is the first letter of a row, people's the second: · is the same, "
        "blank is nothing yet, ! is no verdict of the judge. Not overridden is not agreed: only "
        "claims with a verdict of yours count. A score reads judge → corrected; corrected has "
        "people's verdicts in place. In the windowed score early turns count once per window that "
        "holds them, with the default size up to 29 times more than the last one; w shows the "
        "score in which each interaction counts once."
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
            "left_square_bracket",
            "passage(-1)",
            "passage before",
            group=PASSAGE,
            key_display="[",
            tooltip="Passage before",
            id="review.previous-passage",
        ),
        Binding(
            "right_square_bracket",
            "passage(1)",
            "next passage",
            group=PASSAGE,
            key_display="]",
            tooltip="Next passage",
            id="review.next-passage",
        ),
        Binding(
            "t",
            "source",
            "source",
            tooltip="Read the passage, or the conversation, in full",
            id="review.source",
        ),
        Binding(
            "p",
            "occurrences",
            "same claim",
            tooltip="The same claim in other windows; enter goes to one",
            id="review.same-claim",
        ),
        Binding(
            "w",
            "weighting",
            "weighting",
            tooltip="Switch between the windowed score and the one per interaction",
            id="review.weighting",
        ),
    ]

    @dataclass
    class Loaded(Message):
        """A conversation was read."""

        view: ReviewView
        read: draw_evidence.ReadView
        labels: LabelSet
        has_truths: bool
        claim: ClaimId | None
        edge: int
        """1: begin at the first claim without a verdict; -1: at the last; 0: stay."""
        taken_back: JudgingScreen.TakenBack | None = None
        """The undo or redo that led here."""

    @dataclass
    class Emptied(Message):
        """There is nothing to review."""

        words: str

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.once = False
        self.stale = False
        """The store changed while a conversation was being read."""

    def make_panes(self) -> ReviewPanes:
        """Make the panes, the claims first."""
        return ReviewPanes()

    def on_mount(self) -> None:
        """Begin without a conversation."""
        self.note.display = False
        self.panes.claims.focus()
        super().on_mount()

    # Reading

    def changed(self) -> None:
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
        wanted, session.claim = session.claim, None
        item = session.item
        if item is None:
            self.find_work()
        else:
            known = self.view is not None and item == self.view.item.id
            self.load(item, wanted, 0 if known or wanted else 1)

    @work(exclusive=True, group="view", exit_on_error=False)
    async def load(
        self,
        item: ItemId,
        claim: ClaimId | None,
        edge: int,
        after: JudgingScreen.TakenBack | None = None,
    ) -> None:
        """Read one conversation."""
        loaded = await self.read(self._loaded, item, claim, edge)
        self.post_message(replace(loaded, taken_back=after))

    @work(exclusive=True, group="view", exit_on_error=False)
    async def find_work(self) -> None:
        """Find a conversation to review when none was chosen."""
        store = self.session.store
        run = self.session.run or await self.read(store.runs.last_id)
        if run is None:
            self.post_message(self.Emptied("There is no run yet: g r, then n starts one."))
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
        self.post_message(await self.read(self._loaded, item, None, 1))

    @work(exclusive=True, group="view", exit_on_error=False)
    async def load_next(self, direction: int) -> None:
        """Go to the next conversation that has a claim without a verdict."""
        here = self.session.item
        store, run = self.session.store, self.session.run
        if run is None or here is None:
            return
        queue = self.session.queue or await self.read(store.runs.item_ids, run, "number")
        item = await self.read(open_item, store, queue, here, direction)
        if item is None:
            words = "after" if direction > 0 else "before"
            self.say(
                *self.just_saved,
                Piece(f"no claim without a verdict {words} this one in the run", "warn"),
            )
            self.just_saved = ()
            item = here
        self.session.item = item
        self.post_message(
            await self.read(self._loaded, item, None, 0 if item == here else direction)
        )

    def go_to_claim(self, event: JudgingScreen.TakenBack, act: LabelAct, item: ItemId) -> None:
        """Show the claim of an act that was taken back, in whichever conversation."""
        self.load(item, act.claim, 0, event)

    def _loaded(self, item: ItemId, claim: ClaimId | None, edge: int) -> "ReviewScreen.Loaded":
        view = self.session.store.runs.review_view(item, self.session.reviewer)
        # A run may still add windows to the conversation, and with them truths.
        before = self.looked
        known = before is not None and before.view.item.id == item
        if before is not None and known and before.view.truths == view.truths:
            read = before.read
        else:
            read = draw_evidence.read_view(view)
        spec = spec_of(view.run.spec.metric)
        has_truths = spec is None or spec.has_truths
        labels = labels_of(view.run.spec.metric)
        return self.Loaded(view, read, labels, has_truths, claim, edge)

    @on(Loaded)
    def show_loaded(self, event: Loaded) -> None:
        """Take a conversation that was read."""
        view = place.overlaid(event.view, self.session.reviewer, self.pending)
        same = self.view is not None and self.view.item.id == view.item.id
        at = self.at if same else Focus()
        if event.claim is not None:
            listed = place.listed(view, at.window)
            held = any(claim.id == event.claim for claim in listed)
            at = Focus(at.window if held else None, event.claim)
        elif event.edge:
            at = place.edge_open(view, event.edge) or Focus()
        before = self.at if same else None
        at = place.settled(view, at)
        self.looked = Looked(view, before or at, event.labels, event.has_truths, event.read)
        self.look(at, fresh=not same)
        if not same:
            self.refresh_bindings()
        if event.taken_back is not None:
            self.tell_taken_back(event.taken_back)
        if self.stale:
            self.stale = False
            self.reload()

    @on(Emptied)
    def show_empty(self, event: Emptied) -> None:
        """Say why there is nothing to review."""
        self.looked = None
        self.panes.clear(event.words)
        self.entitle()

    # Looking

    def look(self, at: Focus, *, fresh: bool = False) -> None:
        """Choose what is looked at and draw everything in one go."""
        before = self.looked
        if before is None:
            return
        view = place.overlaid(before.view, self.session.reviewer, self.pending)
        moved = fresh or at.claim != before.at.claim
        claim = place.find(view, at.claim)
        if moved:
            self.since = self.session.seconds()
        self.looked = replace(
            before,
            view=view,
            at=at,
            passages=(
                draw_evidence.ranked_passages(view, claim, at.window, before.read) if claim else ()
            ),
            once=self.once,
            last=self.last,
        )
        self.session.item = view.item.id
        with self.app.batch_update():
            self.panes.draw(self.looked, moved=moved)
            self._entitle(self.looked)

    def _entitle(self, looked: Looked) -> None:
        view, claim = looked.view, looked.claim
        where = f" > claim {claim.number}/{len(view.claims)}" if claim else ""
        self.entitle(
            [
                Piece(f"  #{view.run.id} > ", "quiet"),
                shown_line(view.item.key, limit=max(12, self.size.width - 58)),
                Piece(where, "quiet"),
            ],
            [
                Piece("JUDGE SHOWN", "warn strong"),
                Piece("  per interaction " if self.once else "  windowed ", "quiet"),
                Piece(conversation_score(view, self.once), "strong"),
            ],
        )

    # Moving

    @on(RowPane.Moved, "#claims")
    def follow_claim(self, event: RowPane.Moved) -> None:
        """Show the claim that was chosen in the list."""
        if self.view is not None:
            claims = place.listed(self.view, self.at.window)
            if event.row < len(claims):
                self.look(Focus(self.at.window, claims[event.row].id))

    @on(RowPane.Moved, "#windows")
    @on(RowPane.Chosen, "#windows")
    def follow_window(self, event: RowPane.Moved | RowPane.Chosen) -> None:
        """Limit the claims to the window that was chosen."""
        if self.view is not None:
            window = None if event.row == 0 else event.row - 1
            self.look(place.settled(self.view, Focus(window, self.at.claim)))

    @on(RowPane.Chosen, "#claims")
    def open_claim(self) -> None:
        """Show the judge's word in every window."""
        self.action_occurrences()

    def action_claim(self, by: int) -> None:
        """Choose another claim from any pane."""
        if self.view is not None:
            self.look(place.moved(self.view, self.at, by))

    def action_window(self, by: int) -> None:
        """Limit the claims to another window."""
        if self.view is not None:
            self.look(place.windowed(self.view, self.at, by))

    def action_unlabelled(self, direction: int) -> None:
        """Go to a claim without a verdict."""
        if self.view is None:
            return
        at = place.next_open(self.view, self.at, direction)
        if at is not None:
            self.look(at)
        else:
            self.load_next(direction)

    def action_passage(self, by: int) -> None:
        """Choose another passage and show where it begins."""
        looked = self.looked
        if looked is None or not looked.passages:
            return
        chosen = max(0, min(len(looked.passages) - 1, looked.at.passage + by))
        self.looked = replace(looked, at=replace(looked.at, passage=chosen))
        self.panes.draw_evidence(self.looked, moved=False)
        self.panes.reveal_passage(self.looked)

    def action_source(self) -> None:
        """Show the chosen passage, or from the transcript the conversation, in full."""
        looked = self.looked
        if looked is None:
            return
        view, claim = looked.view, looked.claim
        in_text = self.focused is not None and self.focused.id in ("transcript", "windows", "card")
        if looked.passages and not in_text:
            passage = looked.passages[min(looked.at.passage, len(looked.passages) - 1)]
            self.app.push_screen(
                TextDialog(
                    f"P{passage.document.number} · turn {passage.turn + 1}",
                    lambda width: draw_evidence.full_passage(passage, width),
                )
            )
            return
        start = draw_claims.transcript(view, claim, 100)[1]
        self.app.push_screen(
            TextDialog(
                "Conversation",
                lambda width: draw_claims.transcript(view, claim, width, LONGEST)[0],
                start=start,
            )
        )

    def action_occurrences(self) -> None:
        """Show the same claim in other windows."""
        looked = self.looked
        claim = None if looked is None else looked.claim
        if looked is None or claim is None:
            return

        def jump(row: str | None) -> None:
            if row is not None and self.view is not None:
                window = claim.verdicts[int(row)].window
                self.look(place.settled(self.view, Focus(window, claim.id)))

        self.app.push_screen(
            PickDialog(
                f"Claim {claim.number} in {fmt.plural(len(claim.verdicts), 'window')}",
                lambda width: draw_claims.occurrences(claim, looked.view, looked.labels, width),
            ),
            jump,
        )

    def action_weighting(self) -> None:
        """Show the other score."""
        self.once = not self.once
        if self.looked is not None:
            self.look(self.looked.at)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done without a conversation."""
        if action in ("source", "occurrences", "weighting"):
            return self.view is not None
        return super().check_action(action, parameters)
