"""Filters on digits: what conversations are most often narrowed to, and how many each finds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.timer import Timer

from faithtui.domain.filters import parse_filter
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_sets import Polarity
from faithtui.store.runs.run_records import SavedView
from faithtui.tui.runs.run_lines import MOST_CLAIMS
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.bars import HintLine

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec
    from faithtui.tui.conversations.conversations_screen import ConversationsScreen

MOST = 6
"""Filters that have a digit."""
REREAD_FACTOR = 10
"""How many times as long as counting took nobody counts again because of a change."""


@dataclass(frozen=True, slots=True)
class QuickFilter:
    """A filter that has a key."""

    words: str
    text: str
    """As it is typed."""
    short: str = ""
    """In a narrow line; "": the same."""


def list_quick_filters(
    spec: "MetricSpec", *, blind: bool, rated: bool = False
) -> tuple[QuickFilter, ...]:
    """List the filters that have a key: the judge's labels that matter, then what is to be done.

    Args:
        spec: The run's metric.
        blind: Without those that reveal the verdict.
        rated: With one for whole answers: annotators labelled some, and they can be looked through.
    """
    labels = spec.labels.labels
    label_names = [each.name for each in labels if each.polarity is Polarity.BAD]
    label_names += [each.name for each in labels if each.polarity is Polarity.UNSURE]
    found = [] if blind else [QuickFilter(each, f"verdict:{each}") for each in label_names]
    found.append(QuickFilter("open", "is:unlabelled"))
    if not blind:
        found.append(QuickFilter("differ", "is:disagreement"))
        if rated:
            found.append(QuickFilter("answers differ", "answers:differ", "ans. differ"))
    return (*found, QuickFilter("flagged", "is:flagged"))[:MOST]


class QuickFilters(Controller["ConversationsScreen"]):
    """Filters on digits, and the line that counts what each finds."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            str(number + 1),
            f"toggle_quick_filter({number})",
            "filters",
            show=False,
            tooltip=f"Take filter {number + 1} of the line above the list, or take it away",
            id=f"conversations.filter-{number + 1}",
        )
        for number in range(MOST)
    ]

    def __init__(self, screen: "ConversationsScreen") -> None:
        super().__init__(screen)
        self._counts: Mapping[str, int] = {}
        self._counted: object = None
        """What the run was known by when they were counted."""
        self._rest_until_s = 0.0
        self._is_counting = False
        self._timer: Timer | None = None

    def paint_and_recount_filters(self) -> None:
        """Draw the filters, and count again what may have changed."""
        self.paint_filters()
        run, spec = self.screen.run_row, self.screen.spec
        mark = (self.screen.mark, self.session.is_blind)
        if run is None or spec is None or self._is_counting or self._counted == mark:
            return
        rest = self._rest_until_s - self.session.seconds() if self._counts else 0.0
        if rest <= 0:
            self._is_counting = True
            self._count_and_show_matches(run.id, spec, mark)
        elif self._timer is None:
            # The last change of a run may come while this rests.
            self._timer = self.screen.set_timer(rest, self._recount_filters_after_delay)

    def _recount_filters_after_delay(self) -> None:
        self._timer = None
        self.paint_and_recount_filters()

    @run_in_worker("quick filters", exclusive=False)
    async def _count_and_show_matches(self, run: RunId, spec: "MetricSpec", mark: object) -> None:
        try:
            began = self.session.seconds()
            counts = await self.read_in_thread(self._read_counts, run, spec)
            self._counts, self._counted = counts, mark
            ended = self.session.seconds()
            self._rest_until_s = ended + REREAD_FACTOR * (ended - began)
            self.screen.call_later(self.paint_and_recount_filters)
        finally:
            self._is_counting = False

    def _read_counts(self, run: RunId, spec: "MetricSpec") -> Mapping[str, int]:
        search, filter_context = self.session.store.search, self.screen.filter_context
        return {
            each.text: search.count_matching_items(
                run, parse_filter(each.text, filter_context).filter
            )
            for each in self._list_filters(spec)
        }

    def _list_filters(self, spec: "MetricSpec") -> tuple[QuickFilter, ...]:
        run = self.screen.run_row
        rated = self.screen.facts.answer_labels > 0
        can_count = run is not None and run.claims <= MOST_CLAIMS
        return list_quick_filters(spec, blind=self.session.is_blind, rated=rated and can_count)

    def paint_filters(self) -> None:
        """Draw the filters with their keys."""
        line, spec = self.screen.query_one("#quick", HintLine), self.screen.spec
        if spec is None:
            line.hints = line.short_hints = ()
            return
        hints, short = [], []
        for number, each in enumerate(self._list_filters(spec)):
            taken = self.screen.state.filter == each.text
            count = self._counts.get(each.text)
            found = "…" if count is None else fmt.format_count(count)
            look = "human strong" if taken else "quiet" if count == 0 else ""
            key = Piece(self.keys(f"conversations.filter-{number + 1}"), "key")
            hints.append((Piece("["), key, Piece(f"] {each.words} {found}", look)))
            few = found if count is None else fmt.format_compact_count(count)
            short.append((Piece("["), key, Piece(f"]{each.short or each.words} {few}", look)))
        line.hints, line.short_hints = tuple(hints), tuple(short)

    def action_toggle_quick_filter(self, number: int) -> None:
        """Take a filter, or take it away where it is in force."""
        spec = self.screen.spec
        if spec is None:
            return
        filters = self._list_filters(spec)
        if number < len(filters):
            wanted = filters[number].text
            now = "" if self.screen.state.filter == wanted else wanted
            self.screen.apply_saved_view(SavedView("", now, self.screen.state.sort))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide them until there is a run."""
        return self.screen.spec is not None
