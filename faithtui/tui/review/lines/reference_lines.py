"""Lines of what is checked against: facts the judge drew, or messages of the conversation."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from faithtui.domain.claims.verdicts import Stance
from faithtui.domain.ids import TruthId
from faithtui.domain.integrity.missing_facts import MissingFact
from faithtui.domain.text.passage_ranking import compute_weighted_word_overlap
from faithtui.store.records import ClaimView, ReviewView, TruthView, TurnView
from faithtui.tui.metric_words import get_reference_noun_plural, reference_letter
from faithtui.tui.review.lines.evidence_lines import (
    STANCE_LOOKS,
    TokenisedView,
    list_joint_truth_sets,
    list_uncovered_facts,
    make_one_line_piece,
    tokenise_claim,
)
from faithtui.tui.review.lines.image_lines import image_placeholder_lines, map_images_to_numbers
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import BLANK, Line, Piece, escape_line, escape_text, make_line, wrap

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

_MOST_LOST = 3
"""Facts of one passage that are quoted."""
_LINES_OF_LOST = 4
SIMILAR_FROM = 0.3
"""Shared words below this share say nothing worth a number."""


def reference_lines(
    view: ReviewView,
    claim: ClaimView | None,
    window: int | None,
    read: TokenisedView,
    spec: "MetricSpec",
    width: int,
    key: str = "T",
) -> list[Line]:
    """List what a claim is checked against: what the judge named, then the others in view.

    Args:
        view: The conversation, without what is hidden.
        claim: The claim looked at.
        window: The window looked at; None: all of them.
        read: The texts of the view, read once.
        spec: The metric.
        width: Cells of a line.
        key: What shows the references while they are hidden.
    """
    pad = [Piece(" ")]
    if spec.references is None:
        return wrap([Piece(spec.nothing_checked, "quiet")], width - 1, first=pad)
    if claim is None:
        return []
    if are_references_hidden(view, claim):
        words = f"hidden with the judge's verdict; {key} shows them, and that is recorded"
        return wrap([Piece(fmt.HIDDEN, "quiet"), Piece(f" {words}", "quiet")], width - 1, first=pad)
    if not view.truths:
        return wrap([Piece(spec.nothing_checked, "warn")], width - 1, first=pad)
    lines = judge_named_reference_lines(view, claim, window, spec, width, read)
    if not lines and claim.id not in view.hidden:
        words = f"no {get_reference_noun_plural(spec)} cited"
        lines = [make_line(Piece(f" {words}", "quiet")), BLANK]
    if spec.references_are_facts:
        lines += format_missing_fact_lines(view, claim, read, width)
    home = window if window is not None else claim.first_window_verdict.window
    named = {each.truth for each in claim.evidence}
    rest = [truth for truth in view.truths if truth.id not in named and home in truth.windows]
    if not rest or not view.truths_whole:
        return lines
    if not spec.references_are_facts:
        lines.append(make_line(Piece(f" others in w{home + 1}", "quiet")))
        for truth in rest:
            lines += _single_reference_lines(view, truth, spec, width, "quiet", "", read)
        return lines
    if not read.is_filled:
        words = f"others in w{home + 1} are being compared …"
        return [*lines, make_line(Piece(f" {words}", "quiet"))]
    tokenised_claim = tokenise_claim(claim)
    shares = {
        truth.number: compute_weighted_word_overlap(tokenised_claim, read.truths[truth.id])
        for truth in rest
    }
    lines.append(make_line(Piece(f" others in w{home + 1}, nearest first", "quiet")))
    for truth in sorted(rest, key=lambda each: (-shares[each.number], each.number)):
        share = shares[truth.number]
        note = f"similarity {share:.2f}" if share >= SIMILAR_FROM else ""
        lines += _single_reference_lines(view, truth, spec, width, "quiet", note, read)
    return lines


def are_references_hidden(view: ReviewView, claim: ClaimView | None) -> bool:
    """Say whether what a claim is checked against is kept from the reviewer.

    What the judge named for a claim that is open says nothing of one that is not, but what it drew
    from the passages is its work too.
    """
    if view.truths_whole:
        return False
    return not view.truths or (claim is not None and claim.id in view.hidden)


def format_missing_fact_lines(
    view: ReviewView, claim: ClaimView, read: TokenisedView, width: int
) -> list[Line]:
    """Say what the passages of a claim's turn tell and no truth does; [] for nothing."""
    turn = next((each for each in view.turns if each.position == claim.turn), None)
    lines: list[Line] = []
    for document in turn.documents or () if turn is not None else ():
        facts = list_uncovered_facts(view, claim, document.number, read)
        if not facts:
            continue
        count = fmt.format_count_with_noun(len(facts), "fact")
        words = f"P{document.number} has {count} that no truth covers:"
        lines += wrap([Piece(words, "warn strong")], width - 1, first=[Piece(" ! ", "warn strong")])
        for fact in facts[:_MOST_LOST]:
            lines += wrap(
                _make_pieces_of_missing_fact(document.text, fact),
                width - 1,
                first=[Piece("   ")],
                most=_LINES_OF_LOST,
            )
        if len(facts) > _MOST_LOST:
            more = f"and {len(facts) - _MOST_LOST} more; t shows the passage"
            lines.append(make_line(Piece(f"   {more}", "quiet")))
    if lines:
        why = "(truth extraction lost it: the judge never saw it)"
        lines += [*wrap([Piece(why, "quiet")], width - 1, first=[Piece("   ")]), BLANK]
    return lines


def _make_pieces_of_missing_fact(text: str, fact: MissingFact) -> list[Piece]:
    """Quote what was lost, with the words that decide marked."""
    pieces = [Piece("«", "quote")]
    start = fact.span.start
    for word in fact.words:
        pieces.append(make_one_line_piece(text[start : word.start], "quote"))
        pieces.append(make_one_line_piece(text[word.start : word.end], "quote strong"))
        start = word.end
    pieces.append(make_one_line_piece(text[start : fact.span.end], "quote"))
    return [*pieces, Piece("»", "quote")]


_VERBS = {"contradicts": "contradict", "supports": "support", "partial": "support a part of"}


def judge_named_reference_lines(
    view: ReviewView,
    claim: ClaimView,
    window: int | None,
    spec: "MetricSpec",
    width: int,
    read: TokenisedView,
) -> list[Line]:
    """List what the judge named for a claim; [] for nothing.

    What is in view in the window decided the verdict there: it comes before what other windows say.
    """
    home = window if window is not None else claim.first_window_verdict.window
    by_id = {truth.id: truth for truth in view.truths}
    lines: list[Line] = []
    for is_in_view in (True, False):
        for stance, look in STANCE_LOOKS:
            chosen = [
                by_id[each.truth]
                for each in claim.evidence
                if each.stance == stance
                and each.truth in by_id
                and (home in by_id[each.truth].windows) is is_in_view
            ]
            if not chosen:
                continue
            words = _head_named_references(claim, by_id, chosen, stance, spec)
            lines += wrap([Piece(words, f"{look} strong")], width - 1, first=[Piece(" ")])
            note = "" if is_in_view else f"not in w{home + 1}"
            for truth in chosen:
                lines += _single_reference_lines(view, truth, spec, width, look, note, read)
            lines.append(BLANK)
    return lines


def _head_named_references(
    claim: ClaimView,
    by_id: Mapping[TruthId, TruthView],
    chosen: Sequence[TruthView],
    stance: Stance,
    spec: "MetricSpec",
) -> str:
    """Say what references that the judge named say of a claim, and which only together."""
    unit, noun = f"{spec.units[0]} {claim.number}", get_reference_noun_plural(spec)
    if not spec.references_are_facts:
        return f"{noun} that {unit} serves"
    words = f"{noun} that {_VERBS[stance]} {unit}"
    letter = reference_letter(spec)
    together = [
        "+".join(f"{letter}{truth.number}" for truth in each)
        for each in list_joint_truth_sets(claim, by_id)
        if any(truth in chosen for truth in each)
    ]
    if stance == "supports" and together:
        words += f" ({', '.join(together[:5])} only together)"
    return words


def _single_reference_lines(
    view: ReviewView,
    truth: TruthView,
    spec: "MetricSpec",
    width: int,
    look: str,
    note: str,
    read: TokenisedView,
) -> list[Line]:
    # Three digits need a blank too, and all of them the same margin.
    cells = max(3, len(str(len(view.truths))) + 1)
    first = [Piece(f" {reference_letter(spec)}{truth.number:<{cells}}", f"{look} strong")]
    plain = "quiet" if look == "quiet" else ""
    turn = None if spec.references_are_facts else _find_user_turn_of_truth(view, truth)
    if turn is not None:
        tail = " ".join(word for word in (f"turn {turn.position + 1}", note) if word)
        pieces = [escape_text(turn.content, plain), Piece(f"  {tail}", "quiet")]
        images = image_placeholder_lines(
            turn.images, map_images_to_numbers(view.turns), width - 1, [Piece(" " * (cells + 2))]
        )
        return wrap(pieces, width - 1, first=first) + images
    where = _describe_truth_source(truth, read) if truth.document is not None else ""
    tail = " ".join(word for word in (where, note) if word)
    pieces = [escape_line(truth.text, plain)]
    if tail:
        pieces.append(Piece(f"  {tail}", "quiet"))
    if _is_truth_not_in_document(view, truth, read):
        pieces.append(Piece(" not found in it", "warn"))
    return wrap(pieces, width - 1, first=first)


def _describe_truth_source(truth: TruthView, read: TokenisedView) -> str:
    """Name the document of a truth and which of its sentences it was drawn from."""
    sentence = read.places.get(truth.id)
    return f"P{truth.document}" + ("" if sentence is None else f" s{sentence + 1}")


def _is_truth_not_in_document(view: ReviewView, truth: TruthView, read: TokenisedView) -> bool:
    """Whether no sentence of its document, read whole, shares a telling word with a truth."""
    if truth.document is None or read.places.get(truth.id) is not None:
        return False
    if truth.document not in read.documents:
        return False
    characters = len(read.documents[truth.document].text)
    return any(
        document.number == truth.document and len(document.text) == characters
        for turn in view.turns
        for document in turn.documents or ()
    )


def _find_user_turn_of_truth(view: ReviewView, truth: TruthView) -> TurnView | None:
    """Find the turn of a message; after its text a reference may name its images."""
    for turn in view.turns:
        content = turn.content
        if turn.role == "user" and (truth.text == content or truth.text.startswith(f"{content}\n")):
            return turn
    return None
