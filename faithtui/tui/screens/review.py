"""The screen where people say whether the judge is right, one key per claim."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.domain.ids import ClaimId, ItemId
from faithtui.domain.review import LabelAct
from faithtui.store.records import ReviewView
from faithtui.tui import format as fmt
from faithtui.tui import place
from faithtui.tui.described import spec_of, titled
from faithtui.tui.drawing import claims as draw_claims
from faithtui.tui.drawing import evidence as draw_evidence
from faithtui.tui.drawing.images import NumberedImage, image_numbers, images_of
from faithtui.tui.drawing.transcript import transcript
from faithtui.tui.drawing.verdict import conversation_score
from faithtui.tui.lines import LONGEST, Piece, shown_line, width_of
from faithtui.tui.messages import Go
from faithtui.tui.place import Focus
from faithtui.tui.queue import open_item
from faithtui.tui.screens.base import tabs
from faithtui.tui.screens.dialogs import PickDialog, TextDialog
from faithtui.tui.screens.images import OPEN_IMAGE
from faithtui.tui.screens.judging import JudgingScreen
from faithtui.tui.session import Session
from faithtui.tui.widgets.pane import RowPane
from faithtui.tui.widgets.review_panes import Looked, ReviewPanes

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

WINDOW = Binding.Group("window", compact=True)
PASSAGE = Binding.Group("passage", compact=True)
OPEN = Binding.Group("unlabelled", compact=True)
CLAIM = Binding.Group("claim", compact=True)


class ReviewScreen(JudgingScreen):
    """Windows, claims, evidence, truths and the verdict of one conversation."""

    TITLE_WORDS: ClassVar[str] = "REVIEW"
    CSS_PATH = "review.tcss"
    HELP_WORDS: ClassVar[str] = (
        "One key gives a verdict on the chosen claim (or statement, or answer: whatever the "
        "metric judges), saves it and goes to the next one. "
        "The judge's verdict is the first letter of a row, people's the second: · is the same, "
        "blank is nothing yet, ! is no verdict of the judge. Not overridden is not agreed: only "
        "what has a verdict of yours counts. A score reads judge → corrected; corrected has "
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
        OPEN_IMAGE,
        Binding(
            "p",
            "occurrences",
            "all windows",
            tooltip="The judge's word in every window; enter goes to one",
            id="review.same-claim",
        ),
        Binding(
            "w",
            "weighting",
            "weighting",
            tooltip="Switch between the windowed score and the one per interaction",
            id="review.weighting",
        ),
        Binding(
            "m",
            "metrics",
            "metrics",
            tooltip="All metrics side by side on this conversation; m comes back",
            id="review.metrics",
        ),
    ]

    @dataclass
    class Loaded(Message):
        """A conversation was read."""

        view: ReviewView
        read: draw_evidence.ReadView
        spec: "MetricSpec"
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
        turn, session.turn = session.turn, None
        item = session.item
        if item is None:
            self.find_work()
        else:
            known = self.view is not None and item == self.view.item.id
            self.load(item, wanted, 0 if known or wanted else 1, turn=turn)

    @work(exclusive=True, group="view", exit_on_error=False)
    async def load(
        self,
        item: ItemId,
        claim: ClaimId | None,
        edge: int,
        after: JudgingScreen.TakenBack | None = None,
        turn: int | None = None,
    ) -> None:
        """Read one conversation; begin at a claim, else at the first one of a turn."""
        loaded = await self.read(self._loaded, item, claim, edge)
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
            unit = "claim" if self.looked is None else self.looked.spec.units[0]
            self.say(
                *self.just_saved,
                Piece(f"no {unit} without a verdict {words} this one in the run", "warn"),
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
        return self.Loaded(view, read, spec_of(view.run.spec), claim, edge)

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
        self.looked = Looked(view, before or at, event.spec, event.read)
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
        unit = looked.spec.units[0]
        where = f" > {unit} {claim.number}/{len(view.claims)}" if claim else ""
        right = [
            Piece("JUDGE SHOWN", "warn strong"),
            Piece("  per interaction " if self.once else "  windowed ", "quiet"),
            Piece(conversation_score(view, self.once), "strong"),
        ]
        run = f"  #{view.run.id} > "
        taken = width_of([*self.title_pieces(), *right]) + len(run) + len(where) + 3
        self.entitle(
            [
                Piece(run, "quiet"),
                shown_line(view.item.key, limit=max(8, self.size.width - taken)),
                Piece(where, "quiet"),
            ],
            right,
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
        view, claim, spec = looked.view, looked.claim, looked.spec
        numbers = image_numbers(view)
        in_text = self.focused is not None and self.focused.id in ("transcript", "windows", "card")
        if looked.passages and not in_text:
            passage = looked.passages[min(looked.at.passage, len(looked.passages) - 1)]
            self._read_in_full(
                TextDialog(
                    f"P{passage.document.number} · turn {passage.turn + 1}",
                    lambda width: draw_evidence.full_passage(passage, numbers, width),
                    has_images=bool(passage.document.images),
                ),
                self._of_passage(looked),
            )
            return
        start = transcript(view, claim, spec, 100, whole=True)[1]
        self._read_in_full(
            TextDialog(
                "Conversation",
                lambda width: transcript(view, claim, spec, width, LONGEST, whole=True)[0],
                start=start,
                has_images=bool(numbers),
            ),
            images_of(view),
        )

    def _read_in_full(self, dialog: TextDialog, images: tuple[NumberedImage, ...]) -> None:
        """Show a text, and open its images when they are wanted."""

        def closed(answer: str | None) -> None:
            if answer == "image":
                self.pick_image(images)

        self.app.push_screen(dialog, closed)

    @property
    def images(self) -> tuple[NumberedImage, ...]:
        """The images of the chosen passage from its pane, else all of the conversation."""
        looked = self.looked
        if looked is not None and self.focused is self.panes.evidence:
            return self._of_passage(looked) or super().images
        return super().images

    def _of_passage(self, looked: Looked) -> tuple[NumberedImage, ...]:
        if not looked.passages:
            return ()
        chosen = looked.passages[min(looked.at.passage, len(looked.passages) - 1)]
        own = chosen.document.images
        return tuple(each for each in images_of(looked.view) if each.image in own)

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

        name = f"{titled(looked.spec.units[0])} {claim.number}"
        self.app.push_screen(
            PickDialog(
                f"{name} in {fmt.plural(len(claim.verdicts), 'window')}",
                lambda width: draw_claims.occurrences(claim, looked.view, looked.labels, width),
            ),
            jump,
        )

    def action_weighting(self) -> None:
        """Show the other score."""
        self.once = not self.once
        if self.looked is not None:
            self.look(self.looked.at)

    def action_metrics(self) -> None:
        """Show what every metric says about the answers of this conversation."""
        self.post_message(Go("metrics"))

    def title_pieces(self) -> tuple[Piece, ...]:
        """Show the two sides of a conversation."""
        return tabs(self.TITLE_WORDS)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what cannot be done without a conversation."""
        if action in ("source", "occurrences", "weighting", "metrics"):
            return self.view is not None
        return super().check_action(action, parameters)
