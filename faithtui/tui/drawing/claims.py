"""Lines of the claim list, of the claim itself and of the windows that hold it."""

from collections.abc import Sequence

from faithtui.domain.conversation import Span
from faithtui.domain.evidence import read_text
from faithtui.domain.ids import ClaimId
from faithtui.domain.labels import LabelSet
from faithtui.store.records import ClaimView, ReviewView, TurnView
from faithtui.tui import format as fmt
from faithtui.tui.drawing.evidence import MOST_READ
from faithtui.tui.lines import (
    BLANK,
    GLANCE,
    Line,
    Piece,
    fit,
    line,
    shown,
    shown_line,
    spread,
    wrap,
)
from faithtui.tui.place import Focus, is_open, listed, verdict_in

TWO_LINES_FROM = 30
"""Cells from which a claim may take two lines and names its windows."""


def human_letter(claim: ClaimView, labels: LabelSet) -> Piece:
    """Give what people said: a letter, · for the same as the judge, blank for nothing yet."""
    said = claim.mine.verdict if claim.mine and claim.mine.verdict else claim.human
    if said is None:
        return Piece(" ")
    if said == claim.judge.label:
        return Piece("·", "human")
    return Piece(fmt.letter(said, labels), "human strong")


def claim_list(view: ReviewView, focus: Focus, labels: LabelSet, width: int) -> list[Line]:
    """List claims: number, judge's letter, people's letter, words, windows."""
    claims = listed(view, focus.window)
    if not claims:
        return _no_claims(view, width)
    numbers = len(str(len(view.claims)))
    lines: list[Line] = []
    if width >= TWO_LINES_FROM:
        head = Piece(f" {'#':>{numbers}} J H claim", "quiet")
        lines.append(spread([head], [Piece("windows ", "quiet")], width))
    for row, claim in enumerate(claims):
        here = claim.id == focus.claim
        verdict = verdict_in(claim, focus.window)
        noted = bool(claim.mine and claim.mine.note)
        first = (
            Piece(">" if here else " "),
            Piece(f"{claim.number:>{numbers}} ", "" if is_open(claim) else "quiet"),
            Piece(fmt.letter(verdict.label, labels), f"strong {fmt.look(verdict.label, labels)}"),
            Piece(" "),
            human_letter(claim, labels),
            Piece("*" if noted else " ", "human"),
        )
        if width < TWO_LINES_FROM:
            room = width - numbers - 6
            lines.append(Line((*first, Piece(fit(shown_line(claim.text).text, room))), row))
            continue
        where = fmt.windows(tuple(each.window for each in claim.verdicts))
        text = shown_line(claim.text, "" if is_open(claim) else "quiet")
        body = wrap([text], width - len(where) - 2, first=first, row=row, most=2)
        last = body[-1]
        body[-1] = Line(spread(last.pieces, [Piece(where + " ", "quiet")], width).pieces, row)
        lines += body
    return lines


def _no_claims(view: ReviewView, width: int) -> list[Line]:
    """Say why there is nothing to review here."""
    why = view.item.reason or view.reason
    lines = [BLANK, line(Piece(" No claims here.", "strong")), BLANK]
    words = {
        "pending": "This conversation has not been judged yet.",
        "skipped": "It was skipped:",
        "failed": "It failed:",
        "done": "The answers make no statement that could be checked.",
    }[view.item.state.value]
    lines += wrap([Piece(words)], width, first=[Piece(" ")])
    if why:
        lines += wrap([shown(why, "warn")], width, first=[Piece(" ")])
    lines += [
        BLANK,
        *wrap(
            [Piece("N goes to the next claim without a verdict, g c to the list.", "quiet")],
            width,
            first=[Piece(" ")],
        ),
    ]
    return lines


def claim_card(view: ReviewView, claim: ClaimView | None, width: int) -> list[Line]:
    """Show a claim in full and the words of the answer that make it."""
    if claim is None:
        return [line(Piece(" nothing chosen", "quiet"))]
    pad = [Piece(" ")]
    lines = wrap([shown(claim.text, "claim strong")], width - 1, first=pad)
    answer = next((turn for turn in view.turns if turn.position == claim.turn), None)
    question = _question(view.turns, claim.turn)
    lines.append(BLANK)
    if answer is None:
        return lines
    if claim.span is not None:
        lines += wrap(
            [Piece("answer: ", "quiet"), *quoted_answer(answer.content, claim.span)],
            width - 1,
            first=pad,
            most=4,
        )
    else:
        missing = missing_words(claim.text, answer.content)
        if missing:
            said = [
                Piece("not word for word in the answer; not found: ", "quiet"),
                shown_line(", ".join(missing), "warn", limit=200),
            ]
        else:
            said = [Piece("all its words are in the answer", "quiet")]
        lines += wrap(said, width - 1, first=pad, most=3)
        lines += wrap(
            [Piece("answer: ", "quiet"), shown_line(answer.content, limit=600)],
            width - 1,
            first=pad,
            most=4,
        )
    if question is not None:
        lines += wrap(
            [Piece("asked: ", "quiet"), shown_line(question.content, "quiet", limit=600)],
            width - 1,
            first=pad,
            most=3,
        )
    return lines


def quoted_answer(content: str, span: Span) -> list[Piece]:
    """Give the words of an answer that make a claim, and some around them."""
    before = content[max(0, span.start - 60) : span.start]
    after = content[span.end : span.end + 100]
    return [
        shown_line(("…" if span.start > 60 else "") + before.lstrip()),
        Piece("«", "quote"),
        shown_line(content[span.start : span.end], "quote"),
        Piece("»", "quote"),
        shown_line(after.rstrip() + ("…" if span.end + 100 < len(content) else "")),
    ]


def missing_words(claim: str, answer: str) -> list[str]:
    """List the claim's telling words that its answer does not have, in order."""
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


def window_list(view: ReviewView, focus: Focus, width: int) -> list[Line]:
    """List windows with their turns, claims and scores; the first entry is all of them."""
    head = _window_columns("", "turns", "claims", "open", "score", width)
    lines = [line(Piece(head, "quiet"))]
    scores, corrected = view.item.scores, view.item.corrected
    lines.append(
        _window_row(
            0,
            focus.window is None,
            "all",
            _turns(tuple(turn.position for turn in view.turns)),
            view.claims,
            fmt.score_change(
                scores.windowed if scores else None, corrected.windowed if corrected else None
            ),
            width,
        )
    )
    for row, window in enumerate(view.windows, start=1):
        lines.append(
            _window_row(
                row,
                focus.window == window.position,
                f"w{window.position + 1}",
                _turns(window.turns) + (" !" if window.without_context else ""),
                listed(view, window.position),
                fmt.score_change(window.score, window.corrected),
                width,
            )
        )
    if any(window.without_context for window in view.windows):
        lines.append(line(Piece(" ! no context was retrieved", "quiet")))
    return lines


def _turns(turns: tuple[int, ...]) -> str:
    if not turns:
        return "none"
    first, last = turns[0] + 1, turns[-1] + 1
    return f"{first}" if first == last else f"{first}-{last}"


def _window_row(
    row: int,
    here: bool,
    name: str,
    turns: str,
    held: Sequence[ClaimView],
    score: str,
    width: int,
) -> Line:
    left = sum(is_open(claim) for claim in held)
    text = _window_columns(
        name, turns, str(len(held)), str(left) if left else "done" if held else "", score, width
    )
    return line((">" if here else " ") + text[1:], row=row)


def _window_columns(name: str, turns: str, claims: str, left: str, score: str, width: int) -> str:
    room = width - 1 - 4 - 6 - 5
    last = max(10, min(14, room - 8))
    return (
        f" {fit(name, 4)}{fit(turns, room - last)}{fit(claims, 6, right=True)}"
        f"{fit(left, 5, right=True)}{fit(score, last, right=True)}"
    )


def transcript(
    view: ReviewView, claim: ClaimView | None, width: int, most: int = GLANCE
) -> tuple[list[Line], int]:
    """Show the conversation with the claim's words marked.

    Args:
        view: The conversation.
        claim: The claim; None marks nothing.
        width: Cells of a line.
        most: Characters of a turn that are drawn.

    Returns:
        The lines, and the index of the line where the claim's turn begins (0 without one).
    """
    lines: list[Line] = []
    at = 0
    judged = {turn for window in view.windows for turn in window.turns}
    for turn in view.turns:
        mine = claim is not None and turn.position == claim.turn
        if mine:
            at = len(lines)
        who = "user" if turn.role == "user" else "bot "
        first = [Piece(f" {turn.position + 1:>2} {who} ", "quiet")]
        if mine and claim is not None and claim.span is not None:
            span = claim.span
            pieces = [
                shown(turn.content[: span.start], most=most),
                Piece("«", "quote"),
                shown(turn.content[span.start : span.end], "quote", most),
                Piece("»", "quote"),
                shown(turn.content[span.end :], most=most),
            ]
        else:
            pieces = [shown(turn.content, "quiet" if turn.role == "user" else "", most)]
        lines += wrap(pieces, width - 1, first=first)
        lines += _documents(turn, mine, width)
        if judged and turn.position not in judged:
            words = "in no window: not judged"
            lines += wrap([Piece(words, "warn")], width - 1, first=[Piece(" " * 9)])
    return lines, at


def _documents(turn: TurnView, mine: bool, width: int) -> list[Line]:
    """Name the passages of an answer by number."""
    if turn.role == "user":
        return []
    if turn.documents is None:
        words = "context unknown"
    elif not turn.documents:
        words = "retrieval returned nothing"
    else:
        words = " ".join(f"P{document.number}" for document in turn.documents)
    pieces = [Piece(words, "quiet")]
    if mine:
        pieces.append(Piece("  <- claim", "human"))
    return wrap(pieces, width - 1, first=[Piece(" " * 9)])


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
                    Piece(f"turns {_turns(window.turns):<8}", "quiet"),
                    Piece(fmt.word(verdict.label, labels), fmt.look(verdict.label, labels)),
                    Piece(f"{sure}{home}", "quiet"),
                ),
                row,
            )
        )
        if verdict.word is not None and labels.read(verdict.word) != verdict.word:
            lines += wrap(
                [Piece("wrote: ", "quiet"), shown_line(verdict.word, limit=200)],
                width - 1,
                first=[Piece(" " * 6)],
                row=row,
                most=2,
            )
        if verdict.reason:
            lines += wrap([shown(verdict.reason)], width - 1, first=[Piece(" " * 6)], row=row)
    return lines


def words_lines(words: str, width: int) -> list[Line]:
    """Write a sentence of ours."""
    return wrap([Piece(words)], width - 1, first=[Piece(" ")])


def row_of(view: ReviewView, focus: Focus, claim: ClaimId | None) -> int:
    """Find the entry of a claim in the list; 0 when it is not listed."""
    claims = listed(view, focus.window)
    return next((row for row, each in enumerate(claims) if each.id == claim), 0)
