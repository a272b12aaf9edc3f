"""Lines of what is judged, in full, and of the words it was taken from."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from faithtui.domain.conversation import Span
from faithtui.domain.integrity.phantom_claims import ClaimOrigin, trace_claim_words_to_source
from faithtui.domain.text.passage_ranking import find_source_sentence
from faithtui.domain.text.texts import TokenisedText
from faithtui.domain.text.tokens import Word
from faithtui.store.records import ClaimView, ReviewView, TurnView
from faithtui.tui.review.lines.claim_lines import index_passages_by_number, passage_name_pieces
from faithtui.tui.review.lines.evidence_lines import (
    RankedPassageView,
    TokenisedView,
    highlight_unsupported_words,
    make_one_line_piece,
    tokenise_claim,
)
from faithtui.tui.review.lines.image_lines import image_placeholder_lines, map_images_to_numbers
from faithtui.tui.theme.lines import BLANK, Line, Piece, escape_line, escape_text, make_line, wrap

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

_BEFORE, _AFTER = 60, 100
"""Characters around the words of a claim."""


def claim_card_lines(
    view: ReviewView,
    claim: ClaimView | None,
    spec: "MetricSpec",
    width: int,
    read: TokenisedView,
    *,
    beside_answer: bool = False,
    best: RankedPassageView | None = None,
) -> list[Line]:
    """Show what is judged in full, and the words it was taken from.

    Beside the answer, in which these words are marked, it is enough to say what the claim adds. The
    words that the best passage contradicts or does not have are marked in it.

    Whether words were added is not said while the judge is hidden: it would reveal which claims
    look wrong.
    """
    if claim is None:
        return [make_line(Piece(" nothing chosen", "quiet"))]
    pad = [Piece(" ")]
    if claim.kind == "answer":
        lines = wrap([escape_text(claim.text, "claim")], width - 1, first=pad)
        lines += _turn_image_lines(view, claim.turn, width)
        return [*lines, BLANK, *_question_lines(view, claim, width)]
    hidden = claim.id in view.hidden
    lines = wrap(highlight_unsupported_words(claim, None if hidden else best), width - 1, first=pad)
    if beside_answer and claim.kind == "claim":
        return lines + _words_not_in_answer_lines(view, claim, read, hidden, width)
    lines.append(BLANK)
    if claim.kind == "statement":
        return lines + _statement_lines(view, claim, read, hidden, width)
    answer = next((turn for turn in view.turns if turn.position == claim.turn), None)
    source = read.turns.get(claim.turn)
    if answer is None or source is None:
        return lines
    before = _list_turn_texts_before_claim(claim, read)
    lines += _claim_in_source_text_lines(
        claim, "answer", answer.content, source, before, hidden, width
    )
    return lines + _question_lines(view, claim, width)


def quote_span_with_context(content: str, span: Span) -> list[Piece]:
    """Give the words of a text that make a claim, and some around them."""
    before = content[max(0, span.start - _BEFORE) : span.start]
    after = content[span.end : span.end + _AFTER]
    return [
        make_one_line_piece(("…" if span.start > _BEFORE else "") + before.lstrip()),
        Piece("«", "quote"),
        make_one_line_piece(content[span.start : span.end], "quote"),
        Piece("»", "quote"),
        make_one_line_piece(after.rstrip() + ("…" if span.end + _AFTER < len(content) else "")),
    ]


def find_nearest_sentence(claim: ClaimView | None, read: TokenisedView) -> Span | None:
    """Find the sentence of an answer that is nearest to a claim that does not stand in it."""
    source = None if claim is None else read.turns.get(claim.turn)
    if claim is None or source is None or claim.span is not None or claim.kind != "claim":
        return None
    place = find_source_sentence(tokenise_claim(claim), source)
    return None if place is None else source.sentences[place]


def _list_turn_texts_before_claim(claim: ClaimView, read: TokenisedView) -> list[TokenisedText]:
    return [text for position, text in read.turns.items() if position < claim.turn]


def _words_not_in_answer_lines(
    view: ReviewView, claim: ClaimView, read: TokenisedView, hidden: bool, width: int
) -> list[Line]:
    """Say which words of a claim the answer lacks; [] where it stands in it as it is."""
    source = read.turns.get(claim.turn)
    if claim.span is not None or source is None or hidden:
        return []
    tokenised_claim = tokenise_claim(claim)
    origin = trace_claim_words_to_source(
        tokenised_claim, source, _list_turn_texts_before_claim(claim, read)
    )
    pieces = _claim_word_origin_pieces(tokenised_claim, origin, "answer")
    return wrap(pieces, width - 1, first=[Piece(" ")], most=3)


def _statement_lines(
    view: ReviewView, claim: ClaimView, read: TokenisedView, hidden: bool, width: int
) -> list[Line]:
    """Show where a statement stands in its passage."""
    if claim.document is None:
        return []
    found = index_passages_by_number(view).get(claim.document)
    pieces = [Piece("from ", "quiet"), *passage_name_pieces(claim.document, found)]
    lines = wrap(pieces, width - 1, first=[Piece(" ")])
    source = read.documents.get(claim.document)
    if source is not None and found is not None:
        lines += _claim_in_source_text_lines(
            claim, "passage", found[0].text, source, (), hidden, width
        )
    return lines


def _claim_in_source_text_lines(
    claim: ClaimView,
    name: str,
    text: str,
    source: TokenisedText,
    before: Sequence[TokenisedText],
    hidden: bool,
    width: int,
) -> list[Line]:
    """Show the words of a text that make a claim, or which of the claim's words it lacks."""
    pad = [Piece(" ")]
    if claim.span is not None:
        pieces = [Piece(f"{name}: ", "quiet"), *quote_span_with_context(text, claim.span)]
        return wrap(pieces, width - 1, first=pad, most=4)
    tokenised_claim = tokenise_claim(claim)
    lines = []
    if not hidden:
        words = _claim_word_origin_pieces(
            tokenised_claim, trace_claim_words_to_source(tokenised_claim, source, before), name
        )
        lines += wrap(words, width - 1, first=pad, most=3)
    place = find_source_sentence(tokenised_claim, source)
    quote = (
        [make_one_line_piece(text[:600])]
        if place is None
        else quote_span_with_context(text, source.sentences[place])
    )
    label = f"{name}: " if place is None else f"{name}, nearest words: "
    return lines + wrap([Piece(label, "quiet"), *quote], width - 1, first=pad, most=4)


def _claim_word_origin_pieces(claim: TokenisedText, origin: ClaimOrigin, name: str) -> list[Piece]:
    """Say which words of a claim its text has, which come from earlier, and which from nowhere."""
    if origin.is_phantom and not origin.suspect_words:
        pieces = [Piece(f"phantom? the {name} denies it", "warn strong")]
    elif origin.is_phantom:
        pieces = [Piece(f"phantom? not in the {name}: ", "warn strong")]
        pieces.append(_words_piece(claim, origin.suspect_words, "warn"))
    elif origin.added:
        pieces = [Piece(f"not word for word in the {name}; added: ", "quiet")]
        pieces.append(_words_piece(claim, origin.added, "warn"))
    elif origin.disputed:
        pieces = [Piece(f"only as one of several in the {name}: ", "quiet")]
        pieces.append(_words_piece(claim, origin.disputed, "warn"))
    elif origin.resolved:
        pieces = [Piece(f"not word for word in the {name}; nothing added", "quiet")]
    else:
        return [Piece(f"all its words are in the {name}, 0 added", "quiet")]
    if origin.resolved:
        pieces += [
            Piece("; from earlier turns: ", "quiet"),
            _words_piece(claim, origin.resolved, ""),
        ]
    return pieces


def _words_piece(claim: TokenisedText, words: Sequence[Word], look: str) -> Piece:
    word_texts = dict.fromkeys(claim.get_word_text(word) for word in words)
    return escape_line(", ".join(word_texts), look, limit=200)


def _question_lines(view: ReviewView, claim: ClaimView, width: int) -> list[Line]:
    """Show what the user had asked."""
    question = _find_question_turn(view.turns, claim.turn)
    if question is None:
        return []
    return wrap(
        [Piece("asked: ", "quiet"), escape_line(question.content, "quiet", limit=600)],
        width - 1,
        first=[Piece(" ")],
        most=3,
    )


def _turn_image_lines(view: ReviewView, position: int, width: int) -> list[Line]:
    turn = next((each for each in view.turns if each.position == position), None)
    if turn is None:
        return []
    return image_placeholder_lines(
        turn.images, map_images_to_numbers(view.turns), width - 1, [Piece(" ")]
    )


def _find_question_turn(turns: Sequence[TurnView], answer: int) -> TurnView | None:
    """Find the user turn an answer replies to."""
    before = [turn for turn in turns if turn.position < answer and turn.role == "user"]
    return before[-1] if before else None
