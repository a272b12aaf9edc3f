"""What is judged in a conversation, and the verdicts that are given on what is painted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from faithtui.domain.ids import ClaimId
from faithtui.store.records import ReviewView
from faithtui.tui.metric_view import capitalise
from faithtui.tui.review.lines.claim_rows import (
    HEADED_FROM,
    MATRIX_FROM,
    ClaimRows,
    choose_row_layout,
    claim_list_lines,
    highlight_row_at_cursor,
)
from faithtui.tui.review.lines.claims import ClaimListExtras, get_claim_row_index
from faithtui.tui.review.lines.verdict import UNFAIR_KEY, list_verdict_choices
from faithtui.tui.review.position import ReviewPosition, has_no_reviewer_verdict, list_claims
from faithtui.tui.theme.lazy_lines import LazyLines
from faithtui.tui.widgets.scroll_pane import RowPane

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

ADVANCING_ACTIONS = ("later", "repeat", "accept")
"""What leads to another claim, besides a verdict."""


class ClaimList(RowPane):
    """Claims, one of them chosen, and what verdict keys do with the one that is painted.

    Args:
        moved: Called with the row when another one is chosen, at once: with a message the list
            would be painted first, and all other panes once more after it.
        step_in_queue: Goes to the next or previous claim of a queue; False where there is none.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "space",
            "request_act_on_claim('later')",
            "skip",
            show=False,
            tooltip="Skip the claim and go on; it comes again at the end",
            id="review.later-too",
        ),
        Binding(
            "enter",
            "choose",
            "Details",
            show=False,
            tooltip="Show the judge's verdict in every window",
            id="review.open",
        ),
    ]

    @dataclass
    class VerdictGiven(Message):
        """A person gave a verdict on the claim that was on screen."""

        pane: "ClaimList"
        claim: ClaimId
        label: str

        @property
        def control(self) -> "ClaimList":
            """The list."""
            return self.pane

    @dataclass
    class ActionRequested(Message):
        """Something else is to be done with the claim that was on screen."""

        pane: "ClaimList"
        claim: ClaimId
        action: str
        """`later`, `flag`, `repeat`, `range`, `unsure`, `accept`, `code` for
        the list of codes, or `code-policy` and so on."""
        was_drawn: bool = True
        """Whether the claim was on screen. Doubts and codes come before the next claim is: they
        may be about the verdict given last."""

        @property
        def control(self) -> "ClaimList":
            """The list."""
            return self.pane

    @dataclass
    class PressedTooEarly(Message):
        """A verdict key came before the claim it would be about had been drawn, or without one."""

        pane: "ClaimList"

        @property
        def control(self) -> "ClaimList":
            """The list."""
            return self.pane

    def __init__(self, moved: Callable[[int], None], step_in_queue: Callable[[int], bool]) -> None:
        super().__init__(id="claims", title="Claims")
        self._cursor_moved_callback = moved
        self._step_in_queue = step_in_queue
        self._spec: MetricSpec | None = None
        self._current: ClaimId | None = None
        self._painted_claim: ClaimId | None = None
        self.is_waiting = False
        """Whether no key is accepted until claims are drawn again."""
        self._cached_rows: tuple[tuple[object, ...], ClaimRows] = ((), ClaimRows(LazyLines()))

    def show_claims(
        self, view: ReviewView, at: ReviewPosition, spec: "MetricSpec", extras: ClaimListExtras
    ) -> None:
        """Draw the claims of a conversation or of one window, and choose one."""
        listed = list_claims(view, at.window)
        where = "" if at.window is None else f" in w{at.window + 1}"
        if extras.queue_done is None:
            done = sum(not has_no_reviewer_verdict(claim) for claim in listed)
            count = f"{done}/{len(listed)} done"
        else:  # What is labelled besides, or was before, is not what the title counts.
            answered, queued = extras.queue_done
            count = f"{len(listed)} · {answered}/{queued} of the queue"
        row = get_claim_row_index(view, at, at.claim)
        self._spec = spec
        self._current = at.claim
        self.is_waiting = False
        self.show(
            lambda width: self._make_lines(view, at, spec, width, extras, row),
            title=self._add_column_names(f"{capitalise(spec.units[1])}{where} {count}", view),
        )
        self.move_to(row)
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
        """Tell that another claim was chosen."""
        self._cursor_moved_callback(row)

    def block_keys_until_redraw(self) -> None:
        """Accept no key until claims are drawn again: what comes next is being read."""
        self._painted_claim, self.is_waiting = None, True

    def forget_claim_and_block_keys(self) -> None:
        """Accept no verdict until claims are shown again: there are none."""
        self._current = self._painted_claim = None
        self.is_waiting = False

    def action_give_verdict(self, key: str) -> None:
        """Give the verdict of a key, on the claim that is on screen."""
        claim = self._require_drawn_claim()
        if self._spec is None or claim is None:
            return
        label = next(
            (name for each, name, _ in list_verdict_choices(self._spec) if each == key), None
        )
        if label is not None:
            self.post_message(self.VerdictGiven(self, claim, label))
            # A key that is typed ahead would mean the same claim once more.
            self.block_keys_until_redraw()

    def action_request_act_on_claim(self, what: str) -> None:
        """Ask for something else to be done with the claim that is on screen."""
        current = self._current
        if current is not None and (what == "unsure" or what.startswith("code")):
            self.post_message(self.ActionRequested(self, current, what, was_drawn=self._is_drawn))
            return
        claim = self._require_drawn_claim()
        if claim is not None:
            self.post_message(self.ActionRequested(self, claim, what))
            if what in ADVANCING_ACTIONS:
                self.block_keys_until_redraw()

    @property
    def _is_drawn(self) -> bool:
        return not self.is_waiting and self._painted_claim == self._current

    def _require_drawn_claim(self) -> ClaimId | None:
        """Give the claim that was painted; None, and a refusal, where another one was chosen."""
        if self._current is None or not self._is_drawn:
            self.post_message(self.PressedTooEarly(self))
            return None
        return self._current

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide keys for labels that the metric does not have."""
        if action == "give_verdict" and self._spec is not None:
            return parameters[0] in (
                UNFAIR_KEY,
                *(key for key, _, _ in list_verdict_choices(self._spec)),
            )
        return True

    def _mark_painted(self, claim: ClaimId | None) -> None:
        self._painted_claim = claim
