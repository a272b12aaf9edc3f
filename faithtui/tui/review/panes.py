"""The panes of the review screen: everything that is drawn of one conversation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters
from textual.binding import BindingType

from faithtui.domain.labels.label_sets import LabelSet
from faithtui.store.annotations.guidelines import Guideline
from faithtui.store.records import ClaimView, FreshVerdict, ReviewView
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.metric_words import capitalise, get_reference_noun_plural
from faithtui.tui.review import position
from faithtui.tui.review.claim_list import ClaimList
from faithtui.tui.review.guideline.guideline_lines import count_guideline_lines, paint_guideline
from faithtui.tui.review.labels.missed_claims_dialog import describe_added_claims
from faithtui.tui.review.labels.verdicts import Verdicts
from faithtui.tui.review.layout import (
    ReviewContent,
    lay_out_empty_review,
    lay_out_review,
    lay_out_zoomed_review,
    max_or_zero,
)
from faithtui.tui.review.lines import claim_lines, evidence_lines
from faithtui.tui.review.lines.claim_card import claim_card_lines, find_nearest_sentence
from faithtui.tui.review.lines.reference_lines import judge_named_reference_lines, reference_lines
from faithtui.tui.review.lines.transcript_lines import exchange_lines, find_exchange_turn_range
from faithtui.tui.review.lines.verdict_lines import VerdictView, uses_strip_layout, verdict_lines
from faithtui.tui.review.lines.window_lines import window_list_lines
from faithtui.tui.review.position import ReviewPosition
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import BLANK, Line, Piece, escape_line, wrap
from faithtui.tui.widgets.scroll_pane import Pane, RowPane
from faithtui.tui.widgets.zoomable_panes import Panes

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec


@dataclass(frozen=True, slots=True)
class ReviewState:
    """What is looked at, complete."""

    view: ReviewView
    position: ReviewPosition
    spec: "MetricSpec"
    """The run's metric."""
    tokenised: evidence_lines.TokenisedView = field(
        default_factory=lambda: evidence_lines.TokenisedView({}, {})
    )
    passages: Sequence[evidence_lines.RankedPassageView] = ()
    """Ranked for the claim."""
    per_interaction: bool = False
    """Show scores in which each interaction counts once."""
    last_act_words: str = ""
    """The last label event in words."""
    extras: claim_lines.ClaimListExtras = claim_lines.NO_EXTRAS
    """What the list of claims shows besides them."""
    asked_again: tuple[FreshVerdict, ...] = ()
    """What the judge said when it was asked again, of all claims that are not hidden."""

    guideline: Guideline | None = None
    """What says how to judge."""

    @property
    def label_set(self) -> LabelSet:
        """The labels that judge and annotators can give."""
        return self.spec.labels

    @property
    def claim(self) -> ClaimView | None:
        """The chosen claim."""
        return position.find_claim(self.view, self.position.claim)


class ReviewPanes(Panes):
    """Question and answer, what is judged, one of it, its evidence, truths and the verdict."""

    BINDINGS: ClassVar[list[BindingType]] = [*Verdicts.PANE_BINDINGS]

    claims = getters.query_one("#claims", ClaimList)
    windows = getters.query_one("#windows", RowPane)
    transcript = getters.query_one("#transcript", Pane)
    card = getters.query_one("#card", Pane)
    evidence = getters.query_one("#evidence", Pane)
    truths = getters.query_one("#truths", Pane)
    verdict = getters.query_one("#verdict", Pane)
    guideline = getters.query_one("#guideline", Pane)

    def __init__(
        self,
        keys: KeyNames,
        verdicts: Verdicts,
        moved: Callable[[int], None],
        step_in_queue: Callable[[int], bool],
        repaint: Callable[[], None],
    ) -> None:
        self._keys = keys
        self._repaint_content = repaint
        self._verdicts = verdicts
        claims = ClaimList(moved, step_in_queue)
        for node in (self, claims):
            verdicts.add_actions_to(node)
        super().__init__(
            claims,
            Pane(id="transcript", title="Turn"),
            RowPane(id="windows", title="Windows"),
            Pane(id="card", title="Claim"),
            Pane(id="evidence", title="Evidence"),
            Pane(id="truths", title="Truths"),
            Pane(id="verdict", title="Verdict"),
            Pane(id="guideline", title="Guideline"),
            layout_function=lay_out_review,
            zoomed=lambda pane: partial(lay_out_zoomed_review, pane),
        )
        self._content: ReviewContent | None = ReviewContent()
        """What the panes were placed for; None: there is nothing to review."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide keys for labels that the metric does not have."""
        return self._verdicts.check_action(action, parameters)

    def on_resize(self, event: events.Resize) -> None:
        """Draw anew when all panes have their new places: what one says depends on the others."""
        self.call_after_refresh(self._repaint_content)

    def paint_all_panes(self, state: ReviewState, *, moved: bool) -> None:
        """Draw everything.

        Args:
            state: What is looked at.
            moved: It is another claim than before, so panes begin at their top.
        """
        view, at, claim, spec = state.view, state.position, state.claim, state.spec
        self._fit_panes_to_content(state)
        paint_guideline(self.guideline, state.guideline, self._keys("review.guideline"))
        self.claims.show_claims(view, at, spec, state.extras)
        self.windows.show(
            lambda width: window_list_lines(view, at, spec, width),
            title=f"Windows {len(view.windows)}",
            made_of=(view, at.window, spec),
        )
        if at.window is not None:
            self.windows.move_to(at.window + 1)
        elif self.zoomed_id != "windows":
            # Enlarged it begins at the claim's own window, although all are chosen.
            self.windows.move_to(0)
        self._paint_transcript(state, moved)
        unit = capitalise(spec.units[0])
        best = state.passages[0] if state.passages else None
        self.card.show(
            lambda width: claim_card_lines(
                view,
                claim,
                spec,
                width,
                state.tokenised,
                beside_answer=self.transcript.display,
                best=best,
            ),
            title=unit + (f" {claim.number} · turn {claim.turn + 1}" if claim else ""),
            keep=not moved,
        )
        self.card.hint = (
            "in " + fmt.format_window_ranges(tuple(each.window for each in claim.verdicts))
            if claim
            else ""
        )
        self.paint_evidence(state, moved=moved)
        self._paint_references(state, moved)
        self.paint_verdict(state)

    def _paint_references(self, state: ReviewState, moved: bool) -> None:
        """Draw what is checked against; where there is nothing of the kind, the conversation."""
        view, at, claim, spec = state.view, state.position, state.claim, state.spec
        title = capitalise(get_reference_noun_plural(spec))
        if claim is not None and spec.references_are_facts:
            window = position.get_judge_verdict(claim, at.window).window
            title += f" for {spec.units[0]} {claim.number} in w{window + 1}"
        elif spec.references is not None and view.truths_whole:
            title += f" {len(view.truths)}"
        key = self._keys("review.truths")
        self.truths.show(
            lambda width: reference_lines(
                view, claim, at.window, state.tokenised, spec, width, key
            ),
            title=title,
            keep=not moved,
        )

    def _format_hidden_panes_hint(self) -> str:
        """Say by which key panes come that have something to say and no room."""
        away = [
            each
            for each in ("windows", "truths")
            if self._has_content_for_pane(each) and not self.is_shown_unzoomed(each)
        ]
        key = self._keys("review.windows")
        return f"{key} {', '.join(away)}" if away else ""

    def _fit_panes_to_content(self, state: ReviewState) -> None:
        """Let each pane have the room that this conversation needs."""
        content = measure_content(state)
        if content != self._content:
            self._content = content
            self.set_layout_function(
                partial(lay_out_review, content=content),
                lambda pane: partial(lay_out_zoomed_review, pane, content=content),
            )

    def cycle_zoom_through_panes(self, panes: Sequence[str]) -> None:
        """Enlarge the first of some panes, or the one after that which is, or none."""
        worth = [each for each in panes if self._has_content_for_pane(each)]
        at = worth.index(self.zoomed_id) + 1 if self.zoomed_id in worth else 0
        self.zoom_pane(worth[at] if at < len(worth) else None)
        if self.zoomed_id is not None:
            self.query_one(f"#{self.zoomed_id}").focus()

    def _has_content_for_pane(self, pane: str) -> bool:
        return self._content is not None and self._content.has_content_for_pane(pane)

    def paint_verdict(self, state: ReviewState) -> None:
        """Draw what was and can be said."""
        shown = VerdictView(
            state.view,
            state.claim,
            state.position,
            state.spec,
            state.per_interaction,
            state.last_act_words,
            self._keys,
            state.asked_again,
        )
        unit, claim = state.spec.units[0], state.claim
        judge = escape_line(state.view.run.spec.judge_title, limit=80).text

        def build_lines(width: int) -> Sequence[Line]:
            height = self.verdict.scrollable_content_region.height
            # A strip has no line of its own for the judge's name.
            elsewhere = self._format_hidden_panes_hint()
            hints = [f"judge: {judge}", elsewhere]
            strip = uses_strip_layout(width, height)
            self.verdict.hint = " · ".join(each for each in hints if each) if strip else ""
            self.claims.hint = "" if strip else elsewhere
            return verdict_lines(shown, width, height)

        self.verdict.show(
            build_lines, title="Verdict" if claim is None else f"Verdict on {unit} {claim.number}"
        )

    def paint_evidence(self, state: ReviewState, *, moved: bool) -> None:
        """Draw the passages, and what the judge named where that has no pane of its own.

        Messages come first there: they are what annotators compare with, the passage is given.
        """
        passages, chosen = state.passages, state.position.passage

        def build_lines(width: int) -> Sequence[Line]:
            above = self._exchange_lines_above_passages(state, width)
            self.evidence.set_pinned_and_scroll_lines(len(above), 0)
            return [
                *above,
                *self._message_lines_above_passages(state, width),
                *self._passage_lines(state, width)[0],
                *self._fact_lines_below_passages(state, width),
            ]

        ranked = any(each.is_ranked for each in passages)
        count = f" {min(chosen + 1, len(passages))}/{len(passages)}" if ranked else ""
        title = f"Evidence{count} · passages, ranked" if ranked or not passages else "Passage"
        if state.spec.references and not state.spec.references_are_facts:
            title = (
                title if self.truths.display else f"{capitalise(state.spec.references)} · passage"
            )
        self.evidence.show(build_lines, title=title, keep=not moved)
        hint = (
            "{review.previous-passage} {review.next-passage} passage · {review.source} full source"
        )
        self.evidence.hint = self._keys.fill_in_keys(hint) if passages else ""

    def scroll_to_passage(self, state: ReviewState) -> None:
        """Scroll to the chosen passage."""
        width = self.evidence.scrollable_content_region.width
        if width > 0 and state.passages:
            lines, starts = self._passage_lines(state, width)
            chosen = state.position.passage
            end = starts[chosen + 1] - 1 if chosen + 1 < len(starts) else len(lines) - 1
            above = len(self._exchange_lines_above_passages(state, width))
            above += len(self._message_lines_above_passages(state, width))
            self.evidence.scroll_to_lines(above + starts[chosen], above + end)

    def show_nothing_to_review(self, words: str) -> None:
        """Show why there is nothing to review, with all the room, and accept no verdict."""
        self._content = None
        self.set_layout_function(lay_out_empty_review, lambda _pane: lay_out_empty_review)
        self.show_sentence_instead_of_claims(words)

    def show_sentence_instead_of_claims(self, words: str) -> None:
        """Show a sentence in place of claims, and accept no verdict."""
        self.claims.forget_claim_and_block_keys()
        self.claims.show(
            lambda width: [BLANK, *claim_lines.wrap_sentence(words, width)], title="Claims"
        )

    def _exchange_lines_above_passages(self, state: ReviewState, width: int) -> list[Line]:
        """Draw the question and what is judged above the passages, where they have no pane."""
        claim, turns = state.claim, state.view.turns
        if self.transcript.display or claim is None:
            return []
        first, answer = find_exchange_turn_range(state.view, claim.turn)
        asked = [escape_line(turns[first].content, "quiet", limit=600)] if first < answer else []
        lines = wrap(asked, width - 1, first=[Piece(" user  ", "quiet")], most=1) if asked else []
        if self.card.display:
            return lines
        best = state.passages[0] if state.passages else None
        hidden = claim.id in state.view.hidden
        claim_pieces = evidence_lines.highlight_unsupported_words(claim, None if hidden else best)
        name = [Piece(f" {state.spec.units[0][:5]:<6}", "quiet")]
        return [*lines, *wrap(claim_pieces, width - 1, first=name, most=2)]

    def _message_lines_above_passages(self, state: ReviewState, width: int) -> list[Line]:
        """Draw what stands above the passages: messages, where they have no pane."""
        if state.claim is None or self.truths.display:
            return []
        if state.spec.references is None:
            words = [Piece(state.spec.nothing_checked, "quiet")]
            return wrap(words, width - 1, first=[Piece(" ")])
        if state.spec.references_are_facts:
            return []
        view, at = state.view, state.position
        key = self._keys("review.truths")
        lines = reference_lines(
            view, state.claim, at.window, state.tokenised, state.spec, width, key
        )
        return [*lines, BLANK]

    def _fact_lines_below_passages(self, state: ReviewState, width: int) -> list[Line]:
        """Draw what stands below the passages: facts the judge named, where they have no pane."""
        claim, spec = state.claim, state.spec
        if self.truths.display or not spec.references_are_facts or claim is None:
            return []
        return judge_named_reference_lines(
            state.view, claim, state.position.window, spec, width, state.tokenised
        )

    def _passage_lines(self, state: ReviewState, width: int) -> tuple[list[Line], list[int]]:
        height = self.evidence.scrollable_content_region.height
        return evidence_lines.passage_lines(
            state.view,
            state.claim,
            state.passages,
            state.position.passage,
            state.spec,
            width,
            height,
        )

    def _paint_transcript(self, state: ReviewState, moved: bool) -> None:
        view, claim, spec = state.view, state.claim, state.spec

        def build_lines(width: int) -> Sequence[Line]:
            height = self.transcript.scrollable_content_region.height
            near = find_nearest_sentence(claim, state.tokenised)
            drawn = exchange_lines(view, claim, spec, width, height, near)
            self.transcript.set_pinned_and_scroll_lines(
                drawn.pinned, drawn.top, drawn.label_first_line
            )
            return drawn.lines

        self.transcript.show(build_lines, title=_format_exchange_title(state), keep=not moved)
        self.transcript.hint = self._keys.fill_in_keys("{review.source} all turns")


def _format_exchange_title(state: ReviewState) -> str:
    """Say which answer the pane of question and answer shows."""
    view, claim = state.view, state.claim
    if claim is None:
        return "Conversation"
    marks = describe_added_claims(view, claim.turn)
    # Where the answer has marks, they are worth more room than how many turns there are.
    title = f"turn {claim.turn + 1} " + (f"· {marks}" if marks else f"of {len(view.turns)}")
    is_judged = claim.kind == "answer"
    unit = f"{capitalise(state.spec.units[0])} {claim.number}"
    return f"{unit} · {title}" if is_judged else capitalise(title)


def measure_content(state: ReviewState) -> ReviewContent:
    """Say what the panes have to hold of a conversation."""
    view, spec = state.view, state.spec
    answers = {claim.turn for claim in view.claims}
    longest_answer = max_or_zero(
        len(each.content) for each in view.turns if each.position in answers
    )
    asked = max_or_zero(len(each.content) for each in view.turns if each.role == "user")
    return ReviewContent(
        claims=len(view.claims),
        windows=len(view.windows),
        claim_characters=max_or_zero(len(claim.text) for claim in view.claims),
        exchange_characters=longest_answer + asked,
        is_blind=view.is_blind,
        has_references=spec.references is not None
        and (view.truths_whole or not spec.references_are_facts),
        has_card=any(claim.kind != "answer" for claim in view.claims),
        guideline_lines=count_guideline_lines(state.guideline) if view.is_blind else 0,
    )
