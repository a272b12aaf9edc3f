"""Lines of the list of what is judged, of one entry of it, and of the windows that hold it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from faithtui.domain.conversation import Span
from faithtui.domain.evidence import read_text
from faithtui.domain.ids import ClaimId
from faithtui.domain.labels import LabelSet
from faithtui.store.records import (
    ClaimView,
    DocumentView,
    ReviewView,
    TurnView,
    WindowVerdictView,
)
from faithtui.tui import format as fmt
from faithtui.tui.drawing.evidence import MOST_READ, joined_line
from faithtui.tui.drawing.images import image_lines, image_numbers
from faithtui.tui.drawing.windows import turns_of
from faithtui.tui.lines import (
    BLANK,
    GLANCE,
    Line,
    Piece,
    cut,
    fit,
    line,
    shown,
    shown_line,
    spread,
    wrap,
)
from faithtui.tui.place import Focus, heard, is_open, listed, verdict_in

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

TWO_LINES_FROM = 30
"""Cells from which a claim may take two lines and names its windows."""


def human_letter(view: ReviewView, claim: ClaimView, labels: LabelSet) -> Piece:
    """Give what people said: a letter, · for the same as the judge, blank for nothing yet."""
    mine = heard(view, claim.mine.verdict) if claim.mine else None
    said = mine or claim.human
    if said is None:
        return Piece(" ")
    if said == claim.judge.label:
        return Piece("·", "human")
    return Piece(fmt.letter(said, labels), "human strong")


def claim_list(view: ReviewView, focus: Focus, spec: "MetricSpec", width: int) -> list[Line]:
    """List what is judged: number, judge's letter, people's letter, words, windows.

    Statements stand below the passage they belong to; of a whole answer one line is shown.
    """
    claims = listed(view, focus.window)
    if not claims:
        return _no_claims(view, focus, spec, width)
    numbers = len(str(len(view.claims)))
    passages = _passages(view)
    labels = spec.labels
    lines: list[Line] = []
    if width >= TWO_LINES_FROM:
        head = Piece(f" {'#':>{numbers}} J H {spec.units[0]}", "quiet")
        lines.append(spread([head], [Piece("windows ", "quiet")], width))
    document: int | None = None
    for row, claim in enumerate(claims):
        if claim.document is not None and claim.document != document:
            found = passages.get(claim.document)
            lines.append(line(*cut([Piece(" "), *passage_name(claim.document, found)], width)))
        document = claim.document
        here = claim.id == focus.claim
        verdict = verdict_in(claim, focus.window)
        noted = bool(claim.mine and claim.mine.note)
        first = (
            Piece(">" if here else " "),
            Piece(f"{claim.number:>{numbers}} ", "" if is_open(claim) else "quiet"),
            Piece(fmt.letter(verdict.label, labels), f"strong {fmt.look(verdict.label, labels)}"),
            Piece(" "),
            human_letter(view, claim, labels),
            Piece("*" if noted else " ", "human"),
        )
        if width < TWO_LINES_FROM:
            room = width - numbers - 6
            lines.append(Line((*first, Piece(fit(shown_line(claim.text).text, room))), row))
            continue
        where = fmt.windows(tuple(each.window for each in claim.verdicts))
        text = shown_line(claim.text, "" if is_open(claim) else "quiet")
        if claim.kind == "answer":
            body = [Line(tuple(cut([*first, text], width - len(where) - 2)))]
        else:
            body = wrap([text], width - len(where) - 2, first=first, row=row, most=2)
        last = body[-1]
        body[-1] = Line(spread(last.pieces, [Piece(where + " ", "quiet")], width).pieces, row)
        lines += body
    return lines


def passage_name(number: int, found: tuple[DocumentView, int] | None) -> list[Piece]:
    """Name a passage: its number, where it came from, and the turn that retrieved it first."""
    pieces = [Piece(f"P{number}", "strong")]
    if found is None:
        return pieces
    document, turn = found
    if document.source:
        pieces += [Piece(" · ", "quiet"), shown_line(document.source, "quiet", limit=60)]
    return [*pieces, Piece(f" · turn {turn + 1}", "quiet")]


def _passages(view: ReviewView) -> Mapping[int, tuple[DocumentView, int]]:
    """Find each passage by its number, with the turn of an assistant that retrieved it first."""
    found: dict[int, tuple[DocumentView, int]] = {}
    for turn in sorted(view.turns, key=lambda each: each.role != "assistant"):
        for document in turn.documents or ():
            found.setdefault(document.number, (document, turn.position))
    return found


def _no_claims(view: ReviewView, focus: Focus, spec: "MetricSpec", width: int) -> list[Line]:
    """Say why there is nothing to review here."""
    why = view.item.reason
    if view.item.state.value == "done" and why is None:
        rows = view.windows if focus.window is None else view.windows[focus.window :][:1]
        why = next((row.reason for row in rows if row.reason), view.reason)
    lines = [BLANK, line(Piece(f" No {spec.units[1]} here.", "strong")), BLANK]
    words = {
        "pending": "This conversation has not been judged yet.",
        "skipped": "It was skipped:",
        "failed": "It failed:",
        "done": spec.nothing_judged,
    }[view.item.state.value]
    lines += wrap([Piece(words)], width, first=[Piece(" ")])
    if why and why != words:
        lines += wrap([shown(why, "warn")], width, first=[Piece(" ")])
    lines += [
        BLANK,
        *wrap(
            [
                Piece(
                    f"N goes to the next {spec.units[0]} without a verdict, g c to the list.",
                    "quiet",
                )
            ],
            width,
            first=[Piece(" ")],
        ),
    ]
    return lines


def claim_card(
    view: ReviewView, claim: ClaimView | None, spec: "MetricSpec", width: int
) -> list[Line]:
    """Show what is judged in full, and the words it was taken from."""
    if claim is None:
        return [line(Piece(" nothing chosen", "quiet"))]
    pad = [Piece(" ")]
    if claim.kind == "answer":
        lines = wrap([shown(claim.text, "claim")], width - 1, first=pad)
        lines += _turn_images(view, claim.turn, width)
        return [*lines, BLANK, *_asked(view, claim, width)]
    lines = [*wrap([shown(claim.text, "claim strong")], width - 1, first=pad), BLANK]
    if claim.kind == "statement":
        return lines + _stated(view, claim, spec, width)
    answer = next((turn for turn in view.turns if turn.position == claim.turn), None)
    if answer is None:
        return lines
    lines += _said_in(claim, spec, "answer", answer.content, width)
    return lines + _asked(view, claim, width)


def _stated(view: ReviewView, claim: ClaimView, spec: "MetricSpec", width: int) -> list[Line]:
    """Show where a statement stands in its passage."""
    pad = [Piece(" ")]
    if claim.document is None:
        return []
    found = _passages(view).get(claim.document)
    lines = wrap(
        [Piece("from ", "quiet"), *passage_name(claim.document, found)], width - 1, first=pad
    )
    if found is not None:
        lines += _said_in(claim, spec, "passage", found[0].text, width)
    return lines


def _said_in(claim: ClaimView, spec: "MetricSpec", name: str, text: str, width: int) -> list[Line]:
    """Show the words of a text that make a claim, or which of the claim's words it lacks."""
    pad = [Piece(" ")]
    if claim.span is not None:
        return wrap(
            [Piece(f"{name}: ", "quiet"), *quoted_answer(text, claim.span)],
            width - 1,
            first=pad,
            most=4,
        )
    missing = missing_words(claim.text, text)
    if missing:
        said = [
            Piece(f"not word for word in the {name}; not found: ", "quiet"),
            shown_line(", ".join(missing), "warn", limit=200),
        ]
    else:
        said = [Piece(f"all its words are in the {name}", "quiet")]
    return [
        *wrap(said, width - 1, first=pad, most=3),
        *wrap(
            [Piece(f"{name}: ", "quiet"), joined_line(text[:600])],
            width - 1,
            first=pad,
            most=4,
        ),
    ]


def _asked(view: ReviewView, claim: ClaimView, width: int) -> list[Line]:
    """Show what the user had asked."""
    question = _question(view.turns, claim.turn)
    if question is None:
        return []
    return wrap(
        [Piece("asked: ", "quiet"), shown_line(question.content, "quiet", limit=600)],
        width - 1,
        first=[Piece(" ")],
        most=3,
    )


def _turn_images(view: ReviewView, position: int, width: int) -> list[Line]:
    turn = next((each for each in view.turns if each.position == position), None)
    if turn is None:
        return []
    return image_lines(turn.images, image_numbers(view), width - 1, [Piece(" ")])


def quoted_answer(content: str, span: Span) -> list[Piece]:
    """Give the words of a text that make a claim, and some around them."""
    before = content[max(0, span.start - 60) : span.start]
    after = content[span.end : span.end + 100]
    return [
        joined_line(("…" if span.start > 60 else "") + before.lstrip()),
        Piece("«", "quote"),
        joined_line(content[span.start : span.end], "quote"),
        Piece("»", "quote"),
        joined_line(after.rstrip() + ("…" if span.end + 100 < len(content) else "")),
    ]


def missing_words(claim: str, answer: str) -> list[str]:
    """List the claim's telling words that the text does not have, in order."""
    there = {word.stem for word in read_text(answer[:MOST_READ]).words}
    read = read_text(claim[:GLANCE])
    return [
        claim[word.span.start : word.span.end]
        for word in read.words
        if word.weight and word.stem not in there
    ]


def _question(turns: Sequence[TurnView], answer: int) -> TurnView | None:
    """Find the user turn an answer replies to."""
    before = [turn for turn in turns if turn.position < answer and turn.role == "user"]
    return before[-1] if before else None


def occurrences(claim: ClaimView, view: ReviewView, labels: LabelSet, width: int) -> list[Line]:
    """List the judge's word on a claim in each window that holds it."""
    lines: list[Line] = []
    for row, verdict in enumerate(claim.verdicts):
        window = view.windows[verdict.window]
        home = " (home: counts for agreement)" if row == 0 else ""
        sure = f" P {verdict.confidence:.2f}" if verdict.confidence is not None else ""
        lines.append(
            Line(
                (
                    Piece(f" w{verdict.window + 1:<3}", "strong"),
                    Piece(f"turns {turns_of(window.turns):<8}", "quiet"),
                    Piece(fmt.word(verdict.label, labels), fmt.look(verdict.label, labels)),
                    Piece(f"{sure}{home}", "quiet"),
                ),
                row,
            )
        )
        if wrote_otherwise(claim, verdict):
            lines += wrap(
                [Piece("wrote: ", "quiet"), shown_line(verdict.word or "", limit=400)],
                width - 1,
                first=[Piece(" " * 6)],
                row=row,
                most=4,
            )
        if verdict.reason:
            lines += wrap([shown(verdict.reason)], width - 1, first=[Piece(" " * 6)], row=row)
    return lines


def wrote_otherwise(claim: ClaimView, verdict: WindowVerdictView) -> bool:
    """Say whether the judge wrote something else than the label that was read from it.

    On a whole answer its reply is always worth reading: the label was read out of a text.
    """
    if verdict.word is None:
        return False
    return claim.kind == "answer" or verdict.word.strip().casefold() != verdict.label


def words_lines(words: str, width: int) -> list[Line]:
    """Write a sentence of ours."""
    return wrap([Piece(words)], width - 1, first=[Piece(" ")])


def row_of(view: ReviewView, focus: Focus, claim: ClaimId | None) -> int:
    """Find the entry of a claim in the list; 0 when it is not listed."""
    claims = listed(view, focus.window)
    return next((row for row, each in enumerate(claims) if each.id == claim), 0)
