"""The evidence of a claim that is adjudicated: read, shown, and turned by keys."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.worker import Worker

from faithtui.agreement.report.figures.rater_comparison import ClaimOpinions
from faithtui.store.annotations.blind_view import hide_judge_verdicts
from faithtui.store.records import ReviewView
from faithtui.tui.adjudication import adjudication_lines
from faithtui.tui.messages import ShowScreen
from faithtui.tui.review import position
from faithtui.tui.review.lines import evidence_lines
from faithtui.tui.review.lines.claim_card import claim_card_lines
from faithtui.tui.review.lines.image_lines import map_images_to_numbers
from faithtui.tui.screen.controller import Controller, run_in_worker
from faithtui.tui.screen.dialogs import TextDialog
from faithtui.tui.session import Session
from faithtui.tui.theme.lines import BLANK, Line
from faithtui.tui.widgets.scroll_pane import Pane
from faithtui.tui.widgets.zoomable_panes import Panes

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec
    from faithtui.tui.adjudication.adjudication_screen import AdjudicationScreen

PASSAGE = Binding.Group("passage", compact=True)
_ANSWER_FIRST_FROM = 10
"""Lines of a pane from which the answer's words stand above the passages."""


@dataclass(frozen=True, slots=True)
class SelectedClaim:
    """The claim that is painted, with its conversation."""

    claim: ClaimOpinions
    view: ReviewView
    """Without the judges' verdicts where a final label is needed."""
    read: evidence_lines.TokenisedView
    passages: Sequence[evidence_lines.RankedPassageView]
    seen: bool
    """The adjudicator knew the judge's verdict before."""
    passage: int = 0


class ClaimEvidence(Controller["AdjudicationScreen"]):
    """The chosen claim with its passages, what can be said of it, and the claim in review."""

    screen: "AdjudicationScreen"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "left_square_bracket",
            "choose_passage(-1)",
            "passage before",
            group=PASSAGE,
            key_display="[",
            tooltip="Passage before",
            id="adjudicate.previous-passage",
        ),
        Binding(
            "right_square_bracket",
            "choose_passage(1)",
            "next passage",
            group=PASSAGE,
            key_display="]",
            tooltip="Next passage",
            id="adjudicate.next-passage",
        ),
        Binding(
            "t",
            "show_full_passage",
            "source",
            tooltip="Read the passage in full",
            id="adjudicate.source",
        ),
        Binding(
            "v",
            "review",
            "review",
            show=False,
            tooltip="Open the claim in review",
            id="adjudicate.review",
        ),
    ]

    def __init__(self, screen: "AdjudicationScreen") -> None:
        super().__init__(screen)
        self.selection: SelectedClaim | None = None
        """The claim that is painted; None: there is none, or it is being read."""
        self._reading: Worker[None] | None = None
        """The reading that was begun last."""
        self._keys_wait = False
        """Whether keys wait until the chosen claim is painted."""

    @property
    def is_claim_visible(self) -> bool:
        """Whether a pane is seen in which the claim under the cursor stands."""
        return self.screen.claims.display or self.screen.query_one("#evidence", Pane).display

    def name_key_that_shows_claim(self) -> str:
        """Name the key that shows the claim again while an enlarged pane hides it."""
        is_table = self.screen.query_one(Panes).zoomed_id == "raters"
        return self.keys("adjudicate.raters" if is_table else "screen.zoom")

    def forget_claim(self) -> None:
        """Forget the claim: another list is read."""
        self.selection = None

    def clear_panes(self) -> None:
        """Forget the claim, and what is drawn of it."""
        self.selection = None
        for pane in ("#evidence", "#decide"):
            self.screen.query_one(pane, Pane).clear_lines()

    def show_or_read_claim(self, claim: ClaimOpinions | None) -> None:
        """Show the claim under the cursor: drawn anew if it is painted already, else read."""
        if claim is None:
            self.selection = None
            self.paint_evidence_and_choices()
        elif self.selection is not None and self.selection.claim.claim == claim.claim:
            masked = self.selection.claim.is_undecided != claim.is_undecided
            self.update_and_paint_claim(claim)
            if masked:
                self._begin_reading(claim)
        else:
            self.screen.labels.start_claim_clock()
            self._begin_reading(claim)
            self.screen.labels.refuse_early_keys()
        self.screen.refresh_bindings()

    def hold_keys_while_reading(self) -> None:
        """Let keys wait for the claim that is being read."""
        if self._reading is not None and not self._reading.is_finished:
            self._keys_wait = True
            self.input_queue.hold_keys_for(self._reading, can_give_up=True)

    def _begin_reading(self, claim: ClaimOpinions) -> None:
        """Read a claim in place of the one before; keys that waited for that wait for this."""
        self._reading = self.load_and_show_claim(claim)
        if self._keys_wait:
            self.hold_keys_while_reading()

    def update_and_paint_claim(self, claim: ClaimOpinions) -> None:
        """Draw what is known of the painted claim by now; another one changes nothing."""
        if self.selection is not None and self.selection.claim.claim == claim.claim:
            self.selection = replace(self.selection, claim=claim)
        self.paint_evidence_and_choices()

    @run_in_worker("claim")
    async def load_and_show_claim(self, claim: ClaimOpinions) -> None:
        """Read the conversation of a claim; a cursor that runs on cancels this."""
        self.screen.call_later(
            self.show_claim_if_still_chosen,
            await self.read_in_thread(read_selected_claim, self.session, claim),
        )

    def show_claim_if_still_chosen(self, read: SelectedClaim) -> None:
        """Draw a claim that was read, if it is still the chosen one."""
        now = self.screen.claim_at_cursor()
        if now is None or now.claim != read.claim.claim:
            return
        if now.is_undecided and not read.claim.is_undecided:
            self._begin_reading(now)
            return
        self._keys_wait = False
        self.selection = replace(read, claim=now)
        if not now.is_undecided:
            self.session.record_exposure([now.item], in_all_runs=True)
        self.paint_evidence_and_choices(moved=True)
        self.screen.refresh_bindings()

    def paint_evidence_and_choices(self, *, moved: bool = False) -> None:
        """Draw the chosen claim, and what can be said of it."""
        chosen, spec, compared = self.selection, self.screen.spec, self.screen.compared
        evidence, decide = (
            self.screen.query_one("#evidence", Pane),
            self.screen.query_one("#decide", Pane),
        )
        if chosen is None or spec is None or compared is None:
            evidence.show(
                lambda width: adjudication_lines.adjudication_step_lines(
                    self.screen.compared, self.screen.filter, self.screen.spec, width, self.keys
                ),
                title="How claims come here",
            )
            evidence.hint = ""
            decide.show(lambda _width: ())
            return
        shown = position.find_claim(chosen.view, chosen.claim.claim)
        evidence.show(
            lambda width: self.format_claim_and_passage_lines(chosen, spec, width)[0],
            title=f"{spec.units[0].capitalize()} · evidence"
            + (f" · turn {shown.turn + 1}" if shown else ""),
            keep=not moved,
        )
        hint = (
            "{adjudicate.previous-passage} {adjudicate.next-passage} passage · "
            "{adjudicate.source} full"
        )
        evidence.hint = self.keys.fill_in_keys(hint) if chosen.passages else ""
        found = adjudication_lines.FinalVerdictView(
            chosen.claim,
            compared,
            spec,
            self.screen.filter,
            self.screen.labels.last_act_words,
            self.keys,
        )
        decide.show(
            lambda width: adjudication_lines.format_final_decision_lines(
                found, width, decide.scrollable_content_region.height
            )
        )

    def format_claim_and_passage_lines(
        self, chosen: SelectedClaim, spec: "MetricSpec", width: int
    ) -> tuple[list[Line], list[int]]:
        """Give the lines of claim and passages, and where each passage begins."""
        shown = position.find_claim(chosen.view, chosen.claim.claim)
        card = claim_card_lines(chosen.view, shown, spec, width, chosen.read)
        height = self.screen.query_one("#evidence", Pane).scrollable_content_region.height
        lines, starts = evidence_lines.passage_lines(
            chosen.view, shown, chosen.passages, chosen.passage, spec, width, height
        )
        above, below = [*card, BLANK], list[Line]()
        if height < _ANSWER_FIRST_FROM and BLANK in card:
            # The passages settle it: the words that it was taken from come behind them.
            at = card.index(BLANK)
            above, below = card[:at], card[at:]
        return [*above, *lines, *below], [len(above) + start for start in starts]

    def action_choose_passage(self, by: int) -> None:
        """Choose another passage and show where it begins."""
        chosen, spec = self.selection, self.screen.spec
        if chosen is None or not chosen.passages or spec is None:
            return
        number = max(0, min(len(chosen.passages) - 1, chosen.passage + by))
        self.selection = replace(chosen, passage=number)
        self.paint_evidence_and_choices()
        pane = self.screen.query_one("#evidence", Pane)
        width = pane.scrollable_content_region.width
        if width > 0:
            lines, starts = self.format_claim_and_passage_lines(self.selection, spec, width)
            end = starts[number + 1] - 1 if number + 1 < len(starts) else len(lines) - 1
            pane.scroll_to_lines(starts[number], end)

    def action_show_full_passage(self) -> None:
        """Show the chosen passage in full."""
        chosen = self.selection
        if chosen is None or not chosen.passages:
            self.refuse("there is no passage here")
            return
        passage = chosen.passages[chosen.passage]
        numbers = map_images_to_numbers(chosen.view.turns)
        self.input_queue.open_window(
            TextDialog(
                f"P{passage.document.number} · turn {passage.turn + 1}",
                lambda width: evidence_lines.full_passage_lines(passage, numbers, width),
            )
        )

    def action_review(self) -> None:
        """Open the claim in review."""
        claim = self.screen.claim_at_cursor()
        if claim is None:
            self.refuse("there is nothing in this list")
            return
        if claim.is_undecided:
            self.refuse(
                "review shows annotators' names and the judge's verdict: settle the claim first"
            )
            return
        self.session.open_conversation(claim.item, claim.claim)
        self.screen.post_message(ShowScreen("review"))

    def is_key_shown(self, action: str) -> bool:
        """Leave keys about passages out of the footer while none is seen."""
        return action == "review" or self.screen.query_one("#evidence", Pane).display

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a claim while there is none."""
        return action == "review" or self.selection is not None


def read_selected_claim(session: Session, claim: ClaimOpinions) -> SelectedClaim:
    """Read the conversation of a claim, as far as it may be seen. Meant for a thread."""
    view = session.store.runs.read_conversation_for_review(claim.item, session.reviewer)
    own = position.find_claim(view, claim.claim)
    if claim.is_undecided:
        # Whoever adjudicates may have answered before, which would count as an answer.
        view = replace(view, claims=tuple(replace(each, mine=None) for each in view.claims))
        view = hide_judge_verdicts(view)
    read = evidence_lines.tokenise_view(view)
    shown = position.find_claim(view, claim.claim)
    passages = (
        ()
        if shown is None
        else evidence_lines.find_and_rank_claim_passages(view, shown, None, read)
    )
    return SelectedClaim(claim, view, read, passages, seen=own is not None and own.seen)
