"""Evidence and missed claims in line mode: words quoted from a passage or from the answer."""

from faithtui.cli.commands.label.line_text import wrap_with_name_before
from faithtui.cli.commands.label.served_claim import ServedClaim
from faithtui.domain.conversation import Span
from faithtui.domain.labels.label_events import MarkedPassage
from faithtui.domain.text.location import find_span

ALL = "all"
"""After `+`: the claims are all."""


def find_quote_in_passages(served: ServedClaim, quote: str) -> MarkedPassage | None:
    """Find the first passage, best ranked first, that has these words; None where none has."""
    for passage in served.passages:
        span = find_span(quote, passage.document.text)
        if span is not None:
            return MarkedPassage(passage.document.hash, span.start, span.end)
    return None


def find_quote_in_answer(served: ServedClaim, quote: str) -> Span | None:
    """Find words in the answer; None where they are the annotator's own."""
    turn = next((each for each in served.view.turns if each.position == served.claim.turn), None)
    return None if turn is None else find_span(quote, turn.content)


def is_answer_declared_complete(served: ServedClaim) -> bool:
    """Whether the annotator said that the answer's claims are all known."""
    return any(each.turn == served.claim.turn and each.is_mine for each in served.view.complete)


def format_evidence_and_missed_lines(served: ServedClaim) -> list[str]:
    """Say what the annotator marked for this claim and added to its answer."""
    mine, turn = served.claim.mine, served.claim.turn
    by_hash = {each.document.hash: each.document for each in served.passages}
    lines: list[str] = []
    for mark in () if mine is None else mine.evidence:
        document = by_hash.get(mark.document)
        if document is not None:
            name = f"your evidence in P{document.number}"
            lines += wrap_with_name_before(name, document.text[mark.start : mark.end])
    for each in served.view.missed:
        if each.turn == turn and each.is_mine:
            lines += wrap_with_name_before("you added the claim", each.text)
    if is_answer_declared_complete(served):
        lines.append("you say that the claims of this answer are all known")
    return lines
