"""The panes of the review screen: everything that is drawn of one conversation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual import getters

from faithtui.domain.label_sets import LabelSet
from faithtui.store.records import ClaimView, FreshVerdict, ReviewView
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.metric_view import references_of, titled
from faithtui.tui.review import position
from faithtui.tui.review.claim_list import ClaimList
from faithtui.tui.review.drawing import claims as draw_claims
from faithtui.tui.review.drawing import evidence as draw_evidence
from faithtui.tui.review.drawing.card import claim_card
from faithtui.tui.review.drawing.references import named_references, reference_lines
from faithtui.tui.review.drawing.transcript import transcript
from faithtui.tui.review.drawing.verdict import VerdictView, is_strip, verdict_lines
from faithtui.tui.review.drawing.windows import window_list
from faithtui.tui.review.position import Focus
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme import layouts
from faithtui.tui.theme.lines import BLANK, Line, shown_line
from faithtui.tui.widgets.pane import Pane, RowPane
from faithtui.tui.widgets.panes import Panes

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec


@dataclass(frozen=True, slots=True)
class Looked:
    """What is looked at, complete."""

    view: ReviewView
    at: Focus
    spec: "MetricSpec"
    """The run's metric."""
    read: draw_evidence.ReadView = field(default_factory=lambda: draw_evidence.ReadView({}, {}))
    passages: Sequence[draw_evidence.PassageView] = ()
    """Ranked for the claim."""
    once: bool = False
    """Show scores in which each interaction counts once."""
    last: str = ""
    """The last act in words."""
    extras: draw_claims.ListExtras = draw_claims.NO_EXTRAS
    """What the list of claims shows besides them."""
    fresh: tuple[FreshVerdict, ...] = ()
    """What the judge said when it was asked again, of all claims that are not hidden."""

    @property
    def labels(self) -> LabelSet:
        """What judge and people can say."""
        return self.spec.labels

    @property
    def claim(self) -> ClaimView | None:
        """The chosen claim."""
        return position.find(self.view, self.at.claim)


class ReviewPanes(Panes):
    """Windows, what is judged, one of it, its evidence, what it is checked against, the verdict."""

    claims = getters.query_one("#claims", ClaimList)
    windows = getters.query_one("#windows", RowPane)
    transcript = getters.query_one("#transcript", Pane)
    card = getters.query_one("#card", Pane)
    evidence = getters.query_one("#evidence", Pane)
    truths = getters.query_one("#truths", Pane)
    verdict = getters.query_one("#verdict", Pane)

    def __init__(self, keys: KeyNames) -> None:
        self._keys = keys
        super().__init__(
            ClaimList(),
            RowPane(id="windows", title="Windows"),
            Pane(id="transcript", title="Transcript"),
            Pane(id="card", title="Claim"),
            Pane(id="evidence", title="Evidence"),
            Pane(id="truths", title="Truths"),
            Pane(id="verdict", title="Verdict"),
            planner=layouts.review,
            keep=("verdict",),
        )

    def draw(self, looked: Looked, *, moved: bool) -> None:
        """Draw everything.

        Args:
            looked: What is looked at.
            moved: It is another claim than before, so panes begin at their top.
        """
        view, at, claim, spec = looked.view, looked.at, looked.claim, looked.spec
        self.claims.show_claims(view, at, spec, looked.extras)
        self.windows.show(
            lambda width: window_list(view, at, spec, width),
            title=f"Windows {len(view.windows)}",
            made_of=(view, at.window, spec),
        )
        self.windows.move_to(0 if at.window is None else at.window + 1)
        self._draw_transcript(looked, moved)
        unit = titled(spec.units[0])
        self.card.show(
            lambda width: claim_card(view, claim, spec, width, looked.read),
            title=unit + (f" {claim.number} · turn {claim.turn + 1}" if claim else ""),
            keep=not moved,
        )
        self.card.hint = (
            "in " + fmt.windows(tuple(each.window for each in claim.verdicts)) if claim else ""
        )
        self.draw_evidence(looked, moved=moved)
        self._draw_references(looked, moved)
        self.draw_verdict(looked)

    def _draw_references(self, looked: Looked, moved: bool) -> None:
        """Draw what is checked against; where there is nothing of the kind, the conversation."""
        view, at, claim, spec = looked.view, looked.at, looked.claim, looked.spec
        title = titled(references_of(spec))
        if spec.references is not None and view.truths_whole:
            title += f" {len(view.truths)}"
        key = self._keys("review.truths")

        def build(width: int) -> Sequence[Line]:
            lines = reference_lines(view, claim, at.window, looked.read, spec, width, key)
            if spec.references is None and not self.transcript.display:
                lines += [BLANK, *transcript(view, claim, spec, width)[0]]
            return lines

        self.truths.show(build, title=title, keep=not moved)

    def draw_verdict(self, looked: Looked) -> None:
        """Draw what was and can be said."""
        shown = VerdictView(
            looked.view,
            looked.claim,
            looked.at,
            looked.spec,
            looked.once,
            looked.last,
            self._keys,
            looked.fresh,
        )
        unit, claim = looked.spec.units[0], looked.claim
        judge = shown_line(looked.view.run.spec.judge_title, limit=80).text

        def build(width: int) -> Sequence[Line]:
            height = self.verdict.scrollable_content_region.height
            # A strip has no line of its own for the judge's name.
            self.verdict.hint = f"judge: {judge}" if is_strip(height) else ""
            return verdict_lines(shown, width, height)

        self.verdict.show(
            build, title="Verdict" if claim is None else f"Verdict on {unit} {claim.number}"
        )

    def draw_evidence(self, looked: Looked, *, moved: bool) -> None:
        """Draw the passages, and what the judge named where that has no pane of its own.

        Messages come first there: they are what people compare with, the passage is given.
        """
        passages, chosen = looked.passages, looked.at.passage

        def build(width: int) -> Sequence[Line]:
            lines = self._passages(looked, width)[0]
            return [*self._before_passages(looked, width), *lines, *self._named(looked, width)]

        ranked = any(each.ranks for each in passages)
        count = f" {min(chosen + 1, len(passages))}/{len(passages)}" if ranked else ""
        title = f"Evidence{count} · passages, ranked" if ranked or not passages else "Passage"
        if looked.spec.references and not looked.spec.references_are_facts:
            title = title if self.truths.display else f"{titled(looked.spec.references)} · passage"
        self.evidence.show(build, title=title, keep=not moved)
        hint = (
            "{review.previous-passage} {review.next-passage} passage · {review.source} full source"
        )
        self.evidence.hint = self._keys.fill(hint) if passages else ""

    def reveal_passage(self, looked: Looked) -> None:
        """Scroll to the chosen passage."""
        width = self.evidence.scrollable_content_region.width
        if width > 0 and looked.passages:
            lines, starts = self._passages(looked, width)
            chosen = looked.at.passage
            end = starts[chosen + 1] - 1 if chosen + 1 < len(starts) else len(lines) - 1
            above = len(self._before_passages(looked, width))
            self.evidence.reveal(above + starts[chosen], above + end)

    def clear(self, words: str) -> None:
        """Show why there is nothing to review, and accept no verdict."""
        self.claims.clear()
        self.claims.show(
            lambda width: [BLANK, *draw_claims.words_lines(words, width)], title="Claims"
        )

    def _before_passages(self, looked: Looked, width: int) -> list[Line]:
        """Draw what stands above the passages: messages, where they have no pane."""
        if self.truths.display or looked.spec.references_are_facts or looked.claim is None:
            return []
        view, at = looked.view, looked.at
        key = self._keys("review.truths")
        lines = reference_lines(view, looked.claim, at.window, looked.read, looked.spec, width, key)
        return [*lines, BLANK]

    def _named(self, looked: Looked, width: int) -> list[Line]:
        """Draw what stands below the passages: facts the judge named, where they have no pane."""
        claim, spec = looked.claim, looked.spec
        if self.truths.display or not spec.references_are_facts or claim is None:
            return []
        return named_references(looked.view, claim, looked.at.window, spec, width, looked.read)

    def _passages(self, looked: Looked, width: int) -> tuple[list[Line], list[int]]:
        height = self.evidence.scrollable_content_region.height
        return draw_evidence.passage_lines(
            looked.view,
            looked.claim,
            looked.passages,
            looked.at.passage,
            looked.spec,
            width,
            height,
        )

    def _draw_transcript(self, looked: Looked, moved: bool) -> None:
        begins = 0

        def build(width: int) -> Sequence[Line]:
            nonlocal begins
            lines, begins = transcript(looked.view, looked.claim, looked.spec, width)
            return lines

        self.transcript.show(
            build, title=f"Transcript · {fmt.plural(len(looked.view.turns), 'turn')}"
        )
        if moved:
            self.transcript.scroll_to(y=max(0, begins - 3), animate=False)
