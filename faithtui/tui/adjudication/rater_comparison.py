"""What raters say of the same claims: read, listed and drawn. Nothing here is decided."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import getters, on, work
from textual.message import Message

from faithtui.agreement.report.rater_comparison import (
    ComparedClaim,
    Filter,
    Raters,
    is_listed,
    raters,
)
from faithtui.agreement.report.self_consistency import steadiness
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.label_sets import NOT_A_CLAIM
from faithtui.store.annotations.blinding import blinded
from faithtui.store.annotations.raters import ClaimRow, Compared
from faithtui.store.records import ReviewView
from faithtui.tui.adjudication import drawing as draw
from faithtui.tui.messages import Go
from faithtui.tui.metric_view import spec_of
from faithtui.tui.review import position
from faithtui.tui.review.drawing import evidence as draw_evidence
from faithtui.tui.review.drawing.card import claim_card
from faithtui.tui.review.drawing.images import image_numbers
from faithtui.tui.runs.drawing import run_crumbs
from faithtui.tui.screen.dialogs import TextDialog
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.screen.pager import Pager
from faithtui.tui.theme import layouts
from faithtui.tui.theme.lines import BLANK, Line, Piece
from faithtui.tui.widgets.pane import Pane
from faithtui.tui.widgets.panes import Panes
from faithtui.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

FILTERS = tuple(Filter)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The claim that is painted, with its conversation."""

    claim: ComparedClaim
    view: ReviewView
    """Without the judges' words where a final word is needed."""
    read: draw_evidence.ReadView
    passages: Sequence[draw_evidence.PassageView]
    seen: bool
    """The adjudicator knew the judge's word before."""
    passage: int = 0


class ComparingScreen(FaithScreen):
    """Raters, the claims they differ on, and the evidence of the chosen one."""

    claims = getters.query_one("#claims", VirtualList)

    @dataclass
    class Loaded(Message):
        """Everything that is compared was read."""

        compared: Compared | None
        spec: "MetricSpec | None"
        raters: Raters | None
        listed: tuple[ComparedClaim, ...]

    @dataclass
    class Shown(Message):
        """The conversation of a claim was read."""

        chosen: Chosen

    def make_panes(self) -> Panes:
        """Make the panes, the list first."""
        return Panes(
            VirtualList[ClaimRow](
                id="claims",
                title="Claims",
                draw=self._line,
                head=self._head,
                empty=lambda width: draw.nothing_to_settle(
                    self.compared, self.filter, self.spec, width
                ),
                moved=self.follow,
            ),
            Pane(id="evidence", title="Evidence"),
            Pane(id="decide", title="Adjudicate · names hidden"),
            Pane(id="raters", title="Raters on the same claims"),
            planner=layouts.adjudicate,
            keep=("decide",),
        )

    def on_mount(self) -> None:
        """Begin in the list."""
        self.compared: Compared | None = None
        self.spec: MetricSpec | None = None
        self.raters: Raters | None = None
        self.filter = Filter.HUMANS
        self.listed: dict[ClaimId, ComparedClaim] = {}
        self.pager: Pager[ClaimId, ClaimRow] | None = None
        self.chosen: Chosen | None = None
        self.notes: dict[ClaimId, str] = {}
        """Notes on claims without a final word yet, which go with it."""
        self.in_flight = 0
        self.since = self.session.seconds()
        self.last = ""
        self._judged: list[ItemId] = []
        """Conversations of rows that were drawn with the judges' words."""
        self.wanted: ClaimId | None = None
        """Claim to go to when the list is drawn next."""
        self.claims.focus()
        super().on_mount()

    # Reading

    def reload(self) -> None:
        """Read everything again, but not over what is on its way to the store."""
        if not self.in_flight:
            self.load()

    @work(exclusive=True, group="compared", exit_on_error=False)
    async def load(self) -> None:
        """Read and compute what is compared."""
        store = self.session.store
        run = self.session.run or await self.read(store.runs.last_id)
        if run is None:
            self.post_message(self.Loaded(None, None, None, ()))
            return
        self.session.choose_run(run)
        self.post_message(await self.read(self._loaded, run, self.filter))

    def _loaded(self, run: RunId, chosen: Filter) -> Loaded:
        reads = self.session.store.raters
        compared = reads.compared(run)
        spec = spec_of(compared.run.spec)
        again = steadiness(compared.repeats, (*spec.labels.names, NOT_A_CLAIM))
        runs = [each.id for each in compared.runs]
        found = raters(compared.claims, runs, spec.labels, again)
        claims = reads.judges_differ(run) if chosen is Filter.JUDGES else compared.claims
        listed = tuple(each for each in claims if is_listed(each, chosen, run))
        return self.Loaded(compared, spec, found, listed)

    @on(Loaded)
    def show_loaded(self, event: Loaded) -> None:
        """Draw the list with the cursor on the same claim, and the table."""
        if self.in_flight:
            return  # It was read before the last act; the save reads again.
        before = self._claim()
        known = None if before is None else before.claim
        self.compared, self.spec, self.raters = event.compared, event.spec, event.raters
        self.listed = {each.claim: each for each in event.listed}
        here = self.wanted or known
        if self.wanted in self.listed:
            self.wanted = None
        ids = tuple(self.listed)
        self.pager = Pager(ids, self.session.store.raters.rows, lambda row: row.id)
        at = None if here is None else self.pager.index(here)
        if at is None:
            still_open = (number for number, each in enumerate(event.listed) if each.is_open)
            at = next(still_open, 0)
        self.claims.show(self.pager, at, title=f"{self._units()} · {self.filter} {len(ids)}")
        self._draw_table()
        self._entitle()
        self._follow_row()

    def follow(self) -> None:
        """Show the chosen claim."""
        self._follow_row()

    @on(VirtualList.Chosen)
    def open_chosen(self) -> None:
        """Open the chosen claim in review."""
        self.action_review()

    def _follow_row(self) -> None:
        claim = self._claim()
        if claim is None:
            self.chosen = None
            self._draw_claim()
        elif self.chosen is not None and self.chosen.claim.claim == claim.claim:
            masked = self.chosen.claim.is_open != claim.is_open
            self.chosen = replace(self.chosen, claim=claim)
            self._draw_claim()
            if masked:
                self.show_claim(claim)
        else:
            self.since = self.session.seconds()
            self.show_claim(claim)
        self.refresh_bindings()

    @work(exclusive=True, group="claim", exit_on_error=False)
    async def show_claim(self, claim: ComparedClaim) -> None:
        """Read the conversation of a claim; a cursor that runs on cancels this."""
        self.post_message(self.Shown(await self.read(self._shown, claim)))

    def _shown(self, claim: ComparedClaim) -> Chosen:
        view = self.session.store.runs.review_view(claim.item, self.session.reviewer)
        own = position.find(view, claim.claim)
        if claim.is_open:
            # Whoever adjudicates may have answered before, which would count as an answer.
            view = replace(view, claims=tuple(replace(each, mine=None) for each in view.claims))
            view = blinded(view)
        read = draw_evidence.read_view(view)
        shown = position.find(view, claim.claim)
        passages = () if shown is None else draw_evidence.ranked_passages(view, shown, None, read)
        return Chosen(claim, view, read, passages, seen=own is not None and own.seen)

    @on(Shown)
    def show_shown(self, event: Shown) -> None:
        """Draw the claim if it is still the chosen one."""
        now = self._claim()
        if now is None or now.claim != event.chosen.claim.claim:
            return
        if now.is_open and not event.chosen.claim.is_open:
            self.show_claim(now)
            return
        self.chosen = replace(event.chosen, claim=now)
        if not now.is_open:
            self.session.see([now.item], in_all_runs=True)
        self._draw_claim(moved=True)
        self.refresh_bindings()

    # Drawing

    def _units(self) -> str:
        return "Claims" if self.spec is None else self.spec.units[1].capitalize()

    def _claim(self) -> ComparedClaim | None:
        """Give the claim under the cursor as it is known now."""
        if self.pager is None or not len(self.pager):
            return None
        return self.listed[self.pager.ids[min(self.claims.cursor, len(self.pager) - 1)]]

    def _most(self) -> int:
        most = max((len(each.opinions) for each in self.listed.values()), default=2)
        return max(2, min(len(draw.LETTERS), most))

    def _line(self, row: ClaimRow, width: int, here: bool) -> Line:
        claim = self.listed.get(row.id)
        if claim is None or self.compared is None or self.spec is None:
            return BLANK
        if not claim.is_open and claim.judges and width >= draw.JUDGES_FROM:
            if not self._judged:
                self.call_later(self._tell_judged)
            self._judged.append(claim.item)
        return draw.claim_line(row, claim, self.compared, self._most(), self.spec.labels, width)

    def _tell_judged(self) -> None:
        """Remember whose judge was in view."""
        self.session.see(self._judged, in_all_runs=True)
        self._judged.clear()

    def _head(self, width: int) -> Line:
        if self.compared is None or self.spec is None:
            return BLANK
        return draw.claim_head(self.compared, self._most(), self.spec, width)

    def _draw_table(self) -> None:
        compared, found, spec = self.compared, self.raters, self.spec
        if compared is None or found is None or spec is None:
            self.query_one("#raters", Pane).show(lambda _width: ())
            return
        self.query_one("#raters", Pane).show(
            lambda width: draw.rater_lines(compared, found, spec, width),
            title=f"Raters on the same {spec.units[1]}",
        )

    def _entitle(self) -> None:
        if self.compared is None:
            self.entitle([Piece("  no run", "quiet")])
            return
        differ = [each for each in self.compared.claims if each.differs]
        left = sum(each.is_open for each in differ)
        self.entitle(
            run_crumbs(self.compared.run),
            [
                Piece(f"{left} to adjudicate", "warn strong" if left else "good"),
                Piece(f" · final {len(differ) - left}/{len(differ)}", "quiet"),
            ],
        )

    def _draw_claim(self, *, moved: bool = False) -> None:
        chosen, spec, compared = self.chosen, self.spec, self.compared
        evidence, decide = self.query_one("#evidence", Pane), self.query_one("#decide", Pane)
        if chosen is None or spec is None or compared is None:
            evidence.show(lambda _width: (), title="Evidence")
            evidence.hint = ""
            decide.show(
                lambda width: draw.way_to_settle(
                    self.compared, self.filter, self.spec, width, self.keys
                )
            )
            return
        shown = position.find(chosen.view, chosen.claim.claim)
        evidence.show(
            lambda width: self._evidence(chosen, spec, width)[0],
            title=f"{spec.units[0].capitalize()} · evidence"
            + (f" · turn {shown.turn + 1}" if shown else ""),
            keep=not moved,
        )
        hint = (
            "{adjudicate.previous-passage} {adjudicate.next-passage} passage · "
            "{adjudicate.source} full"
        )
        evidence.hint = self.keys.fill(hint) if chosen.passages else ""
        found = draw.DecideView(chosen.claim, compared, spec, self.filter, self.last, self.keys)
        decide.show(
            lambda width: draw.decide_lines(found, width, decide.scrollable_content_region.height)
        )

    def _evidence(
        self, chosen: Chosen, spec: "MetricSpec", width: int
    ) -> tuple[list[Line], list[int]]:
        shown = position.find(chosen.view, chosen.claim.claim)
        card = claim_card(chosen.view, shown, spec, width, chosen.read)
        height = self.query_one("#evidence", Pane).scrollable_content_region.height
        lines, starts = draw_evidence.passage_lines(
            chosen.view, shown, chosen.passages, chosen.passage, spec, width, height
        )
        above = [*card, BLANK]
        return [*above, *lines], [len(above) + start for start in starts]

    # Deciding

    # Looking

    def action_filter(self) -> None:
        """List something else."""
        self.filter = FILTERS[(FILTERS.index(self.filter) + 1) % len(FILTERS)]
        self.chosen = None
        self.say(Piece(f"listing: {self.filter}", "quiet"))
        self.reload()

    def action_passage(self, by: int) -> None:
        """Choose another passage and show where it begins."""
        chosen, spec = self.chosen, self.spec
        if chosen is None or not chosen.passages or spec is None:
            return
        number = max(0, min(len(chosen.passages) - 1, chosen.passage + by))
        self.chosen = replace(chosen, passage=number)
        self._draw_claim()
        pane = self.query_one("#evidence", Pane)
        width = pane.scrollable_content_region.width
        if width > 0:
            lines, starts = self._evidence(self.chosen, spec, width)
            end = starts[number + 1] - 1 if number + 1 < len(starts) else len(lines) - 1
            pane.reveal(starts[number], end)

    def action_source(self) -> None:
        """Show the chosen passage in full."""
        chosen = self.chosen
        if chosen is None or not chosen.passages:
            self.refuse("there is no passage here")
            return
        passage = chosen.passages[chosen.passage]
        numbers = image_numbers(chosen.view)
        self.navigation.open_window(
            TextDialog(
                f"P{passage.document.number} · turn {passage.turn + 1}",
                lambda width: draw_evidence.full_passage(passage, numbers, width),
            )
        )

    def action_review(self) -> None:
        """Open the claim in review."""
        claim = self._claim()
        if claim is None:
            self.refuse("there is nothing in this list")
            return
        if claim.is_open:
            self.refuse(
                "review shows annotators' names and the judge's verdict: settle the claim first"
            )
            return
        self.session.item, self.session.claim = claim.item, claim.claim
        self.post_message(Go("review"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a claim while there is none."""
        if action in ("source", "passage"):
            return self.is_mounted and self.chosen is not None
        return super().check_action(action, parameters)
