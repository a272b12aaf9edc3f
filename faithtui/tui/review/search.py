"""`/` in a conversation: claims that a filter finds stand out, and N and P walk through them."""

from collections.abc import Container
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.filters import FilterContext, Scope, parse_filter
from faithtui.domain.ids import ClaimId
from faithtui.store.records import ReviewView
from faithtui.tui.screen.controller import Controller
from faithtui.tui.screen.filter_matches import list_matching_claims, make_context_of_run_filter
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece, escape_line
from faithtui.tui.widgets.filter_bar import FilterBar

if TYPE_CHECKING:
    from faithtui.tui.review.review_screen import ReviewScreen

STEP_KEYS_WORDS = " · {review.next-unlabelled} and {review.previous-unlabelled} go through them"


class ClaimSearch(Controller["ReviewScreen"]):
    """Finds claims of the conversation by words and terms, typed on the screen's filter bar."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "slash",
            "type_filter",
            "find",
            tooltip="Find claims of this conversation by words or terms; "
            "{review.next-unlabelled} and {review.previous-unlabelled} go through them",
            id="review.find",
        ),
    ]

    def __init__(self, screen: "ReviewScreen") -> None:
        super().__init__(screen)
        self.filter_text = ""
        """The filter in force."""
        self._previous_filter = ""
        self._found_cache: tuple[ReviewView, str, tuple[ClaimId, ...] | None] | None = None
        """What a filter found of a conversation, last."""

    def clear_search(self) -> None:
        """Search for nothing any more."""
        self.filter_text = ""
        self.screen.bar.show_filter_text("")

    @property
    def filter_context(self) -> FilterContext:
        """Say which words a filter over the claims of the conversation may hold."""
        view = self.screen.view
        if view is None:
            return FilterContext(Scope.CLAIMS)
        return make_context_of_run_filter(view.run.spec.rule, Scope.CLAIMS, blind=view.is_blind)

    @property
    def found_claims(self) -> tuple[ClaimId, ...] | None:
        """Claims of the conversation that the filter finds, in their order; None: no filter."""
        view = self.screen.view
        if view is None or not self.filter_text:
            return None
        # Asked for several times a key; texts may be long.
        known = self._found_cache
        if known is None or known[0] is not view or known[1] != self.filter_text:
            reading = parse_filter(self.filter_text, self.filter_context)
            found = None if reading.problem else list_matching_claims(view, reading.filter)
            self._found_cache = known = (view, self.filter_text, found)
        return known[2]

    @property
    def highlighted_claims(self) -> Container[ClaimId] | None:
        """Claims that are not drawn quietly: found by the filter, else of the queue; None: all."""
        found, cursor = self.found_claims, self.screen.queue_navigator.cursor
        if found is not None:
            return frozenset(found)
        # Not copied: a queue may hold a hundred thousand claims, and lines are kept while it stays.
        return None if cursor is None else cursor.queue.place

    def action_type_filter(self) -> None:
        """Let somebody type a filter."""
        self._previous_filter = self.filter_text
        self.screen.bar.start_typing(self.filter_text)
        self._show_found_count(is_typing=True)

    def highlight_and_go_to_matches(self, event: FilterBar.FilterChanged) -> None:
        """Let what a filter finds stand out, and go to the first of it."""
        self.filter_text = event.text.strip()
        self._show_found_count(is_typing=not event.is_final)
        found = self.found_claims
        if found:
            here = self.screen.review_position.claim
            order = [claim.id for claim in self.screen.view.claims] if self.screen.view else []
            at = order.index(here) if here in order else 0
            ahead = next((each for each in found if order.index(each) >= at), found[0])
            self.screen.paint_at_position(
                replace(self.screen.review_position, window=None, claim=ahead, passage=0)
            )
        else:
            self.screen.repaint()
        if event.is_final:
            self.screen.bar.show_filter_text(self.filter_text)
            self.screen.panes.claims.focus()

    def restore_previous_filter(self) -> None:
        """Go on with the filter there was before."""
        self.filter_text = self._previous_filter
        self.screen.bar.show_filter_text(self.filter_text)
        self.screen.panes.claims.focus()
        self._show_found_count()
        self.screen.repaint()

    def go_to_next_match_if_any(self, direction: int) -> bool:
        """Go to the next or previous claim that was found.

        Returns:
            False where no filter is in force, or it finds nothing.
        """
        found, view = self.found_claims, self.screen.view
        if not found or view is None:
            return False
        order = [claim.id for claim in view.claims]
        here = (
            order.index(self.screen.review_position.claim)
            if self.screen.review_position.claim in order
            else -1
        )
        places = [order.index(each) for each in found]
        ahead = [each for each in places if each > here]
        behind = [each for each in places if each < here]
        if direction > 0:
            goal = ahead[0] if ahead else places[0]
        else:
            goal = behind[-1] if behind else places[-1]
        self.screen.paint_at_position(
            replace(self.screen.review_position, window=None, claim=order[goal], passage=0)
        )
        self._show_found_count()
        return True

    def _show_found_count(self, *, is_typing: bool = False) -> None:
        view, bar, text = self.screen.view, self.screen.bar, self.filter_text
        problem = parse_filter(text, self.filter_context).problem
        if view is None or not text or problem:
            wrong = escape_line(problem or "", "warn", limit=300)
            key = self.keys("filter.complete")
            self.show_message(*(bar.format_hint(text, key) if is_typing else (wrong,)))
            return
        completions = (
            bar.format_completions(text, self.keys("filter.complete")) if is_typing else ()
        )
        units = (
            ("claim", "claims")
            if self.screen.review_state is None
            else self.screen.review_state.spec.units
        )
        count = len(self.found_claims or ())
        self.show_message(
            Piece(fmt.format_count_with_noun(count, *units), "strong" if count else "warn"),
            Piece(" found here · "),
            *(completions or self._describe_filter_and_keys(count)),
        )

    def _describe_filter_and_keys(self, found: int) -> tuple[Piece, ...]:
        keys = self.keys.fill_in_keys(STEP_KEYS_WORDS) if found > 1 else ""
        return escape_line(self.filter_text, "quiet", limit=100), Piece(keys, "quiet")
