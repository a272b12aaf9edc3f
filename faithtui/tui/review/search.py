"""`/` in a conversation: claims that a filter finds stand out, and N and P walk through them."""

from dataclasses import replace
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from faithtui.domain.filters import Scope, read_filter
from faithtui.domain.ids import ClaimId
from faithtui.store.records import ReviewView
from faithtui.tui.review.evidence import LookingScreen
from faithtui.tui.screen.filter_matching import ground_for, matching
from faithtui.tui.session import Session
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece, shown_line
from faithtui.tui.widgets.filter_bar import FilterBar

THROUGH = " · {review.next-unlabelled} and {review.previous-unlabelled} go through them"


class SeekingScreen(LookingScreen):
    """A screen on which claims of a conversation are found by words and terms."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "slash",
            "find",
            "find",
            tooltip="Find claims of this conversation by words or terms; "
            "{review.next-unlabelled} and {review.previous-unlabelled} go through them",
            id="review.find",
        ),
    ]

    bar = getters.query_one(FilterBar)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.sought = ""
        """The filter in force."""
        self._before = ""
        self._known: tuple[ReviewView, str, tuple[ClaimId, ...] | None] | None = None
        """What a filter found of a conversation, last."""

    def compose(self) -> ComposeResult:
        """Add the line for the filter."""
        yield from super().compose()
        yield FilterBar(self.keys("review.find"))

    @property
    def found(self) -> tuple[ClaimId, ...] | None:
        """Claims of the conversation that the filter finds, in their order; None: no filter."""
        view = self.view
        if view is None or not self.sought:
            return None
        # Asked for several times a key; texts may be long.
        known = self._known
        if known is None or known[0] is not view or known[1] != self.sought:
            ground = ground_for(view.run.spec.rule, Scope.CLAIMS, blind=view.blind)
            reading = read_filter(self.sought, ground)
            found = None if reading.problem else matching(view, reading.filter)
            self._known = known = (view, self.sought, found)
        return known[2]

    def action_find(self) -> None:
        """Let somebody type a filter."""
        self._before = self.sought
        self.bar.open(self.sought)

    @on(FilterBar.Typed)
    def seek(self, event: FilterBar.Typed) -> None:
        """Let what a filter finds stand out, and go to the first of it."""
        self.sought = event.text.strip()
        self._tell_found()
        found = self.found
        if found:
            here = self.at.claim
            order = [claim.id for claim in self.view.claims] if self.view else []
            at = order.index(here) if here in order else 0
            ahead = next((each for each in found if order.index(each) >= at), found[0])
            self.look(replace(self.at, window=None, claim=ahead, passage=0))
        else:
            self.look(self.at)
        if event.kept:
            self.bar.show(self.sought)
            self.panes.claims.focus()

    @on(FilterBar.Left)
    def leave_filter(self) -> None:
        """Go on with the filter there was before."""
        self.sought = self._before
        self.bar.show(self.sought)
        self.panes.claims.focus()
        self.look(self.at)

    def step_found(self, direction: int) -> bool:
        """Go to the next or previous claim that was found.

        Returns:
            False where no filter is in force, or it finds nothing.
        """
        found, view = self.found, self.view
        if not found or view is None:
            return False
        order = [claim.id for claim in view.claims]
        here = order.index(self.at.claim) if self.at.claim in order else -1
        places = [order.index(each) for each in found]
        ahead = [each for each in places if each > here]
        behind = [each for each in places if each < here]
        if direction > 0:
            goal = ahead[0] if ahead else places[0]
        else:
            goal = behind[-1] if behind else places[-1]
        self.look(replace(self.at, window=None, claim=order[goal], passage=0))
        self._tell_found()
        return True

    def _tell_found(self) -> None:
        view = self.view
        if view is None or not self.sought:
            return
        ground = ground_for(view.run.spec.rule, Scope.CLAIMS, blind=view.blind)
        problem = read_filter(self.sought, ground).problem
        if problem:
            self.say(shown_line(problem, "warn", limit=300))
            return
        units = ("claim", "claims") if self.looked is None else self.looked.spec.units
        count = len(self.found or ())
        self.say(
            Piece(fmt.plural(count, *units), "strong" if count else "warn"),
            Piece(" found here · "),
            shown_line(self.sought, "quiet", limit=100),
            Piece(self.keys.fill(THROUGH) if count > 1 else "", "quiet"),
        )
