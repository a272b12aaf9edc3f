"""The panes of the review screen: everything that is drawn of one conversation."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from textual import getters

from faithtui.domain.labels import FAITHFULNESS, LabelSet
from faithtui.store.records import ClaimView, ReviewView
from faithtui.tui import format as fmt
from faithtui.tui import place, plans
from faithtui.tui.drawing import claims as draw_claims
from faithtui.tui.drawing import evidence as draw_evidence
from faithtui.tui.drawing.verdict import VerdictView, verdict_lines
from faithtui.tui.lines import BLANK, Line
from faithtui.tui.place import Focus
from faithtui.tui.widgets.claim_list import ClaimList
from faithtui.tui.widgets.pane import Pane, RowPane
from faithtui.tui.widgets.panes import Panes


@dataclass(frozen=True, slots=True)
class Looked:
    """What is looked at, complete."""

    view: ReviewView
    at: Focus
    labels: LabelSet = FAITHFULNESS
    has_truths: bool = True
    read: draw_evidence.ReadView = field(default_factory=lambda: draw_evidence.ReadView({}, {}))
    passages: Sequence[draw_evidence.PassageView] = ()
    """Ranked for the claim."""
    once: bool = False
    """Show scores in which each interaction counts once."""
    last: str = ""
    """The last act in words."""

    @property
    def claim(self) -> ClaimView | None:
        """The chosen claim."""
        return place.find(self.view, self.at.claim)


class ReviewPanes(Panes):
    """Windows, claims, the claim, its evidence, truths and the verdict."""

    claims = getters.query_one("#claims", ClaimList)
    windows = getters.query_one("#windows", RowPane)
    transcript = getters.query_one("#transcript", Pane)
    card = getters.query_one("#card", Pane)
    evidence = getters.query_one("#evidence", Pane)
    truths = getters.query_one("#truths", Pane)
    verdict = getters.query_one("#verdict", Pane)

    def __init__(self) -> None:
        super().__init__(
            ClaimList(),
            RowPane(id="windows", title="Windows"),
            Pane(id="transcript", title="Transcript"),
            Pane(id="card", title="Claim"),
            Pane(id="evidence", title="Evidence"),
            Pane(id="truths", title="Truths"),
            Pane(id="verdict", title="Verdict"),
            planner=plans.review,
            keep=("verdict",),
        )

    def draw(self, looked: Looked, *, moved: bool) -> None:
        """Draw everything.

        Args:
            looked: What is looked at.
            moved: It is another claim than before, so panes begin at their top.
        """
        view, at, claim = looked.view, looked.at, looked.claim
        self.claims.show_claims(view, at, looked.labels)
        self.windows.show(
            lambda width: draw_claims.window_list(view, at, width),
            title=f"Windows {len(view.windows)}",
        )
        self.windows.move_to(0 if at.window is None else at.window + 1)
        self._draw_transcript(looked, moved)
        self.card.show(
            lambda width: draw_claims.claim_card(view, claim, width),
            title=f"Claim {claim.number} · turn {claim.turn + 1}" if claim else "Claim",
            keep=not moved,
        )
        self.card.hint = (
            "in " + fmt.windows(tuple(each.window for each in claim.verdicts)) if claim else ""
        )
        self.draw_evidence(looked, moved=moved)
        self.truths.show(
            lambda width: draw_evidence.truth_lines(
                view, claim, at.window, looked.read, looked.has_truths, width
            ),
            title=f"Truths {len(view.truths)}",
            keep=not moved,
        )
        self.draw_verdict(looked)

    def draw_verdict(self, looked: Looked) -> None:
        """Draw what was and can be said."""
        shown = VerdictView(
            looked.view, looked.claim, looked.at, looked.labels, looked.once, looked.last
        )
        self.verdict.show(
            lambda width: verdict_lines(shown, width, self.verdict.scrollable_content_region.height)
        )

    def draw_evidence(self, looked: Looked, *, moved: bool) -> None:
        """Draw the passages, and the named truths where they have no pane of their own."""
        claim, passages, chosen = looked.claim, looked.passages, looked.at.passage

        def build(width: int) -> Sequence[Line]:
            lines = self._passages(looked, width)[0]
            if not self.truths.display and claim is not None and claim.evidence:
                lines += draw_evidence.named_truths(looked.view, claim, looked.at.window, width)
            return lines

        count = f" {min(chosen + 1, len(passages))}/{len(passages)}" if passages else ""
        self.evidence.show(build, title=f"Evidence{count} · passages, ranked", keep=not moved)
        self.evidence.hint = "[ ] passage · t full source" if passages else ""

    def reveal_passage(self, looked: Looked) -> None:
        """Scroll to the chosen passage."""
        width = self.evidence.scrollable_content_region.width
        if width > 0 and looked.passages:
            lines, starts = self._passages(looked, width)
            chosen = looked.at.passage
            end = starts[chosen + 1] - 1 if chosen + 1 < len(starts) else len(lines) - 1
            self.evidence.reveal(starts[chosen], end)

    def clear(self, words: str) -> None:
        """Show why there is nothing to review, and accept no verdict."""
        self.claims.clear()
        self.claims.show(
            lambda width: [BLANK, *draw_claims.words_lines(words, width)], title="Claims"
        )

    def _passages(self, looked: Looked, width: int) -> tuple[list[Line], list[int]]:
        height = self.evidence.scrollable_content_region.height
        return draw_evidence.passage_lines(
            looked.view, looked.claim, looked.passages, looked.at.passage, width, height
        )

    def _draw_transcript(self, looked: Looked, moved: bool) -> None:
        begins = 0

        def build(width: int) -> Sequence[Line]:
            nonlocal begins
            lines, begins = draw_claims.transcript(looked.view, looked.claim, width)
            return lines

        self.transcript.show(
            build, title=f"Transcript · {fmt.plural(len(looked.view.turns), 'turn')}"
        )
        if moved:
            self.transcript.scroll_to(y=max(0, begins - 3), animate=False)
