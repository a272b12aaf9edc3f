"""What is judged in a conversation, and which of it is on screen: keys are about that one."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.ids import ClaimId
from faithtui.store.records import ReviewView
from faithtui.tui.metric_words import capitalise
from faithtui.tui.review.labels.verdict_keys import CLAIM_LIST_BINDINGS
from faithtui.tui.review.lines.claim_lines import ClaimListExtras, get_claim_row_index
from faithtui.tui.review.lines.claim_rows import (
    HEADED_FROM,
    MATRIX_FROM,
    ClaimRows,
    choose_row_layout,
    claim_list_lines,
    highlight_row_at_cursor,
)
from faithtui.tui.review.position import (
    ReviewPosition,
    has_no_reviewer_verdict,
    list_claims_of_window,
)
from faithtui.tui.theme.lazy_lines import LazyLines
from faithtui.tui.widgets.scroll_pane import RowPane

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec


class ClaimList(RowPane):
    """Claims, one of them chosen, and which one is painted.

    Args:
        moved: Called with the row when another one is chosen, at once: with a message the list
            would be painted first, and all other panes once more after it.
        step_in_queue: Goes to the next or previous claim of a queue; False where there is none.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *CLAIM_LIST_BINDINGS,
        Binding(
            "enter",
            "choose",
            "Details",
            show=False,
            tooltip="Show the judge's verdict in every window",
            id="review.open",
        ),
    ]

    def __init__(self, moved: Callable[[int], None], step_in_queue: Callable[[int], bool]) -> None:
        super().__init__(id="claims", title="Claims")
        self._cursor_moved_callback = moved
        self._step_in_queue = step_in_queue
        self._current: ClaimId | None = None
        self._painted_claim: ClaimId | None = None
        self.is_waiting = False
        """Whether no key is accepted until claims are drawn again."""
        self._cached_rows: tuple[tuple[object, ...], ClaimRows] = ((), ClaimRows(LazyLines()))

    def show_claims(
        self, view: ReviewView, at: ReviewPosition, spec: "MetricSpec", extras: ClaimListExtras
    ) -> None:
        """Draw the claims of a conversation or of one window, and choose one."""
        listed = list_claims_of_window(view, at.window)
        where = "" if at.window is None else f" in w{at.window + 1}"
        if extras.queue_done is None:
            done = sum(not has_no_reviewer_verdict(claim) for claim in listed)
            count = f"{done}/{len(listed)} done"
        else:  # What is labelled besides, or was before, is not what the title counts.
            answered, queued = extras.queue_done
            count = f"{len(listed)} · queue {answered}/{queued}"
        row = get_claim_row_index(view, at, at.claim)
        self._current = at.claim
        self.is_waiting = False
        self.show(
            lambda width: self._make_lines(view, at, spec, width, extras, row),
            title=self._add_column_names(f"{capitalise(spec.units[1])}{where} {count}", view),
        )
        self.move_to(row)
        # After the paint and not now: keys typed before it were not about this claim.
        if self._painted_claim != at.claim:
            self.call_after_refresh(self._mark_painted, at.claim)

    def _add_column_names(self, title: str, view: ReviewView) -> str:
        """Name the columns of letters in the title, where the list is too low for a heading."""
        room = self.scrollable_content_region
        has_windows = room.width >= MATRIX_FROM and view.windows and not view.is_blind
        named = f"{title} · you J" if has_windows else f"{title} · J you"
        is_wanted = 0 < room.height < HEADED_FROM and len(named) + 4 <= room.width
        return named if is_wanted else title

    def _make_lines(
        self,
        view: ReviewView,
        at: ReviewPosition,
        spec: "MetricSpec",
        width: int,
        extras: ClaimListExtras,
        row: int,
    ) -> LazyLines:
        """Make the lines, or give those of the key before: moving on changes none of them."""
        layout = choose_row_layout(view, at, width, self.scrollable_content_region.height, spec)
        made_of = (view, spec, extras.highlighted, at.window, layout, extras.range_claims)
        before = self._cached_rows[0]
        # What may be large is the same object when it is the same; the rest is compared.
        same = (
            len(before) == len(made_of)
            and all(one is other for one, other in zip(before[:3], made_of[:3], strict=True))
            and before[3:] == made_of[3:]
        )
        if not same:
            self._cached_rows = made_of, claim_list_lines(view, at, spec, layout, extras)
        rows = self._cached_rows[1]
        self.set_pinned_and_scroll_lines(rows.heading, 0)
        return highlight_row_at_cursor(rows.lines, row)

    def action_down(self) -> None:
        """Choose the next claim; in a queue, its next one."""
        if not self._step_in_queue(1):
            super().action_down()

    def action_up(self) -> None:
        """Choose the claim before; in a queue, its one before."""
        if not self._step_in_queue(-1):
            super().action_up()

    def report_move(self, row: int) -> None:
        """Report that another claim was chosen."""
        self._cursor_moved_callback(row)

    def block_keys_until_repaint(self) -> None:
        """Accept no key until claims are drawn again: what comes next is being read."""
        self._painted_claim, self.is_waiting = None, True

    def forget_paint(self) -> None:
        """Accept no verdict until the chosen claim is painted anew: another screen covers it."""
        self._painted_claim = None

    def note_next_paint(self) -> None:
        """Accept verdicts again from the next paint on, unless something else is being read."""
        self.call_after_refresh(self._mark_painted, self._current)

    def forget_claim_and_block_keys(self) -> None:
        """Accept no verdict until claims are shown again: there are none."""
        self._current = self._painted_claim = None
        self.is_waiting = False

    @property
    def chosen_claim(self) -> ClaimId | None:
        """The claim that was chosen last, which may not be on screen yet."""
        return self._current

    @property
    def painted_claim(self) -> ClaimId | None:
        """The claim on screen, which keys are about; None: there is none, or another was chosen."""
        return self._current if self.is_painted else None

    @property
    def is_painted(self) -> bool:
        """Whether what was chosen last is on screen; also where there is nothing to choose."""
        return not self.is_waiting and self._painted_claim == self._current

    def take_painted_claim(self) -> ClaimId | None:
        """Give the claim on screen to a key that leads on from it.

        A key that is typed ahead would mean the same claim once more: none is accepted until
        claims are drawn again.
        """
        claim = self.painted_claim
        if claim is not None:
            self.block_keys_until_repaint()
        return claim

    def _mark_painted(self, claim: ClaimId | None) -> None:
        self._painted_claim = claim
