"""Reading the evidence of a claim that is adjudicated."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.tui.adjudication import adjudication_lines as draw
from faithtui.tui.messages import ShowScreen
from faithtui.tui.review import position
from faithtui.tui.review.lines import evidence as draw_evidence
from faithtui.tui.review.lines.card import claim_card
from faithtui.tui.review.lines.images import image_numbers
from faithtui.tui.screen.controller import Controller
from faithtui.tui.screen.dialogs import TextDialog
from faithtui.tui.theme.lines import BLANK, Line
from faithtui.tui.widgets.pane import Pane

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec
    from faithtui.tui.adjudication.adjudication_screen import AdjudicateScreen, SelectedClaim

PASSAGE = Binding.Group("passage", compact=True)


class ClaimReader(Controller["AdjudicateScreen"]):
    """The chosen claim with its passages, what can be said of it, and the claim in review."""

    screen: "AdjudicateScreen"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "left_square_bracket",
            "passage(-1)",
            "passage before",
            group=PASSAGE,
            key_display="[",
            tooltip="Passage before",
            id="adjudicate.previous-passage",
        ),
        Binding(
            "right_square_bracket",
            "passage(1)",
            "next passage",
            group=PASSAGE,
            key_display="]",
            tooltip="Next passage",
            id="adjudicate.next-passage",
        ),
        Binding(
            "t", "source", "source", tooltip="Read the passage in full", id="adjudicate.source"
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

    def draw_claim(self, *, moved: bool = False) -> None:
        """Draw the chosen claim, and what can be said of it."""
        chosen, spec, compared = self.screen.selection, self.screen.spec, self.screen.compared
        evidence, decide = (
            self.screen.query_one("#evidence", Pane),
            self.screen.query_one("#decide", Pane),
        )
        if chosen is None or spec is None or compared is None:
            evidence.show(lambda _width: (), title="Evidence")
            evidence.hint = ""
            decide.show(
                lambda width: draw.next_step_lines(
                    self.screen.compared, self.screen.filter, self.screen.spec, width, self.keys
                )
            )
            return
        shown = position.find_claim(chosen.view, chosen.claim.claim)
        evidence.show(
            lambda width: self.evidence_lines(chosen, spec, width)[0],
            title=f"{spec.units[0].capitalize()} · evidence"
            + (f" · turn {shown.turn + 1}" if shown else ""),
            keep=not moved,
        )
        hint = (
            "{adjudicate.previous-passage} {adjudicate.next-passage} passage · "
            "{adjudicate.source} full"
        )
        evidence.hint = self.keys.fill_in_keys(hint) if chosen.passages else ""
        found = draw.FinalVerdictView(
            chosen.claim,
            compared,
            spec,
            self.screen.filter,
            self.screen.labels.last_act_words,
            self.keys,
        )
        decide.show(
            lambda width: draw.decide_lines(found, width, decide.scrollable_content_region.height)
        )

    def evidence_lines(
        self, chosen: "SelectedClaim", spec: "MetricSpec", width: int
    ) -> tuple[list[Line], list[int]]:
        """Give the lines of claim and passages, and where each passage begins."""
        shown = position.find_claim(chosen.view, chosen.claim.claim)
        card = claim_card(chosen.view, shown, spec, width, chosen.read)
        height = self.screen.query_one("#evidence", Pane).scrollable_content_region.height
        lines, starts = draw_evidence.passage_lines(
            chosen.view, shown, chosen.passages, chosen.passage, spec, width, height
        )
        above = [*card, BLANK]
        return [*above, *lines], [len(above) + start for start in starts]

    def action_passage(self, by: int) -> None:
        """Choose another passage and show where it begins."""
        chosen, spec = self.screen.selection, self.screen.spec
        if chosen is None or not chosen.passages or spec is None:
            return
        number = max(0, min(len(chosen.passages) - 1, chosen.passage + by))
        self.screen.selection = replace(chosen, passage=number)
        self.draw_claim()
        pane = self.screen.query_one("#evidence", Pane)
        width = pane.scrollable_content_region.width
        if width > 0:
            lines, starts = self.evidence_lines(self.screen.selection, spec, width)
            end = starts[number + 1] - 1 if number + 1 < len(starts) else len(lines) - 1
            pane.scroll_to_lines(starts[number], end)

    def action_source(self) -> None:
        """Show the chosen passage in full."""
        chosen = self.screen.selection
        if chosen is None or not chosen.passages:
            self.refuse("there is no passage here")
            return
        passage = chosen.passages[chosen.passage]
        numbers = image_numbers(chosen.view.turns)
        self.navigation.open_window(
            TextDialog(
                f"P{passage.document.number} · turn {passage.turn + 1}",
                lambda width: draw_evidence.full_passage(passage, numbers, width),
            )
        )

    def action_review(self) -> None:
        """Open the claim in review."""
        claim = self.screen.claim_at_cursor()
        if claim is None:
            self.refuse("there is nothing in this list")
            return
        if claim.is_open:
            self.refuse(
                "review shows annotators' names and the judge's verdict: settle the claim first"
            )
            return
        self.session.item, self.session.claim = claim.item, claim.claim
        self.screen.post_message(ShowScreen("review"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide what needs a claim while there is none."""
        return action == "review" or self.screen.selection is not None
