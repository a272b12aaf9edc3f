"""Lines of the passages behind a claim, and of the judge's truths."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from faithtui.domain.conversation import Span
from faithtui.domain.evidence import (
    NamedTruth,
    RankedPassage,
    ReadText,
    excerpt,
    overlap,
    rank_passages,
    read_text,
)
from faithtui.domain.ids import TruthId
from faithtui.store.records import ClaimView, DocumentView, ReviewView, TruthView
from faithtui.tui.lines import BLANK, GLANCE, LONGEST, Line, Piece, line, shown, shown_line, wrap

_LINE_END = re.compile(r"\s*\n\s*")
MOST_READ = 60_000
"""Characters of a text that are compared; a key must not wait for more."""


@dataclass(frozen=True, slots=True)
class ReadView:
    """A conversation's passages and truths cut into words once, for all its claims."""

    documents: Mapping[int, ReadText]
    """By P number."""
    truths: Mapping[TruthId, ReadText]


@dataclass(frozen=True, slots=True)
class PassageView:
    """A passage, ranked for a claim."""

    document: DocumentView
    turn: int
    """The turn that retrieved it: the claim's own where several did."""
    own: bool
    """It was retrieved for the claim's turn."""
    read: ReadText
    ranked: RankedPassage
    truths: tuple[tuple[int, str], ...]
    """T numbers the judge named for the claim in this passage, each with its stance."""


def read_view(view: ReviewView) -> ReadView:
    """Cut the passages and truths of a conversation into words. Slow for long ones."""
    documents = {
        document.number: document for turn in view.turns for document in turn.documents or ()
    }
    return ReadView(
        {number: read_text(document.text[:MOST_READ]) for number, document in documents.items()},
        {truth.id: read_text(truth.text[:GLANCE]) for truth in view.truths},
    )


def ranked_passages(
    view: ReviewView, claim: ClaimView, window: int | None, read: ReadView
) -> tuple[PassageView, ...]:
    """Rank the passages of a claim: those of its turn first, then the others of its window."""
    home = window if window is not None else claim.judge.window
    turns = set(view.windows[home].turns) if home < len(view.windows) else set()
    own: dict[int, tuple[DocumentView, int]] = {}
    others: dict[int, tuple[DocumentView, int]] = {}
    for turn in view.turns:
        if turn.position == claim.turn:
            own |= {document.number: (document, turn.position) for document in turn.documents or ()}
        elif turn.position in turns:
            for document in turn.documents or ():
                others.setdefault(document.number, (document, turn.position))
    others = {number: found for number, found in others.items() if number not in own}
    truths = {truth.id: truth for truth in view.truths}
    named: dict[int, list[NamedTruth]] = {}
    numbers: dict[int, list[tuple[int, str]]] = {}
    for each in claim.evidence:
        truth = truths.get(each.truth)
        if truth is None or truth.document is None:
            continue
        named.setdefault(truth.document, []).append(
            NamedTruth(truth.text[:GLANCE], each.stance, truth.span)
        )
        numbers.setdefault(truth.document, []).append((truth.number, each.stance))
    said = read_text(claim.text[:GLANCE])
    found: list[PassageView] = []
    for group, is_own in ((own, True), (others, False)):
        keys = list(group)
        ranking = rank_passages(
            said, [read.documents[key] for key in keys], [named.get(key, []) for key in keys]
        )
        found += [
            PassageView(
                *group[keys[ranked.position]],
                is_own,
                read.documents[keys[ranked.position]],
                ranked,
                tuple(numbers.get(keys[ranked.position], ())),
            )
            for ranked in ranking
        ]
    return tuple(found)


def passage_lines(
    view: ReviewView,
    claim: ClaimView | None,
    passages: Sequence[PassageView],
    chosen: int,
    width: int,
    height: int,
) -> tuple[list[Line], list[int]]:
    """Show passages with what matters in them marked, the chosen one at more length.

    Returns:
        The lines, and for each passage the index of its first line.
    """
    if claim is None:
        return [], []
    if not passages:
        return _no_passages(view, claim, width), []
    lines: list[Line] = []
    starts: list[int] = []
    for number, passage in enumerate(passages):
        if not passage.own and (number == 0 or passages[number - 1].own):
            words = "in the window, not retrieved for this answer:"
            lines += wrap([Piece(words, "quiet")], width, first=[Piece(" ")])
        starts.append(len(lines))
        mark, *heading = _heading(passage, number == chosen)
        lines += wrap(heading, width, first=[mark], rest=[Piece("     ")])
        budget = width * (max(6, height // 2) if number == chosen else max(3, height // 8))
        lines += wrap(excerpted(passage, budget), width - 1, first=[Piece("  ")])
        lines.append(BLANK)
    return lines, starts


def _heading(passage: PassageView, chosen: bool) -> list[Piece]:
    document = passage.document
    pieces = [
        Piece(">" if chosen else " "),
        Piece(f"P{document.number}", "strong key" if chosen else "strong"),
    ]
    if document.source:
        pieces += [Piece(" · "), shown_line(document.source, limit=60)]
    pieces.append(Piece(f" · turn {passage.turn + 1} · match {passage.ranked.match:.2f}", "quiet"))
    for number, stance in passage.truths:
        look = "good" if stance == "supports" else "bad"
        pieces.append(Piece(f" · T{number} {stance}", look))
    return pieces


def excerpted(passage: PassageView, budget: int) -> list[Piece]:
    """Cut a passage down to what surrounds its quotes."""
    needed = [quote.span for quote in passage.ranked.quotes]
    if not needed and passage.ranked.best is not None:
        needed = [passage.ranked.best]
    parts = excerpt(passage.read, needed, budget)
    if not parts:
        return [Piece("(empty)", "quiet")]
    pieces: list[Piece] = []
    for number, part in enumerate(parts):
        if number or passage.read.text[: part.start].strip():
            pieces.append(Piece("… " if number == 0 else " … ", "quiet"))
        pieces += marked(passage, part, one_line=True)
    if parts[-1].end < len(passage.document.text.rstrip()):
        pieces.append(Piece(" …", "quiet"))
    return pieces


def marked(passage: PassageView, part: Span, *, one_line: bool = False) -> list[Piece]:
    """Give a stretch of a passage with quotes between « » and telling words marked."""
    text = passage.document.text
    make = _joined_line if one_line else _whole
    looks = {None: "quote", "supports": "quote-good", "contradicts": "quote-bad"}
    edges = {part.start, part.end}
    for span in (
        *(quote.span for quote in passage.ranked.quotes),
        *(mark.span for mark in passage.ranked.marks),
    ):
        edges |= {edge for edge in (span.start, span.end) if part.start < edge < part.end}
    ordered = sorted(edges)
    opening = {quote.span.start: looks[quote.stance] for quote in passage.ranked.quotes}
    closing = {quote.span.end: looks[quote.stance] for quote in passage.ranked.quotes}
    marks = {mark.span.start: mark for mark in passage.ranked.marks}
    quotes = iter(passage.ranked.quotes)
    current = next(quotes, None)
    pieces: list[Piece] = []
    for start, end in pairwise(ordered):
        while current is not None and current.span.end <= start:
            current = next(quotes, None)
        inside = current is not None and current.span.start <= start < current.span.end
        look = looks[current.stance] if inside and current is not None else ""
        if start in opening:
            pieces.append(Piece("«", f"{opening[start]} strong"))
        mark = marks.get(start)
        if mark is not None:
            look = f"{look} {'mark' if mark.kind in ('number', 'negation') else 'strong'}"
        pieces.append(make(text[start:end], look.strip()))
        if end in closing:
            pieces.append(Piece("»", f"{closing[end]} strong"))
    return pieces


def full_passage(passage: PassageView, width: int) -> list[Line]:
    """Show a whole passage, line ends and all."""
    length = len(passage.document.text)
    heading = wrap(_heading(passage, False), width)
    if not length:
        return [*heading, BLANK, line(Piece(" (empty)", "quiet"))]
    pieces = marked(passage, Span(0, min(length, LONGEST)))
    if length > LONGEST:
        pieces.append(Piece(f"… ({length - LONGEST:,} more characters)", "quiet"))
    return [*heading, BLANK, *wrap(pieces, width - 1, first=[Piece(" ")])]


def _whole(text: str, look: str) -> Piece:
    return shown(text, look, LONGEST)


def _joined_line(text: str, look: str) -> Piece:
    """Draw an excerpt on one line; line ends become blanks, `t` shows them."""
    return shown_line(_LINE_END.sub(" ", text), look, limit=LONGEST)


def _no_passages(view: ReviewView, claim: ClaimView, width: int) -> list[Line]:
    turn = next((each for each in view.turns if each.position == claim.turn), None)
    if turn is None or turn.documents is None:
        words = "Nothing is known of what the assistant was shown for this answer."
    else:
        words = "Retrieval returned nothing for this answer, nor for its window."
    return [BLANK, *wrap([Piece(words, "warn")], width - 1, first=[Piece(" ")])]


def truth_lines(
    view: ReviewView,
    claim: ClaimView | None,
    window: int | None,
    read: ReadView,
    has_truths: bool,
    width: int,
) -> list[Line]:
    """List the judge's truths: those it named for the claim, then the others in view."""
    pad = [Piece(" ")]
    if not has_truths:
        return wrap(
            [Piece("This metric draws no truths: the judge reads the passages.", "quiet")],
            width - 1,
            first=pad,
        )
    if claim is None:
        return []
    if not view.truths:
        return wrap(
            [Piece("The judge drew no truths from the context.", "warn")], width - 1, first=pad
        )
    lines = named_truths(view, claim, window, width)
    if not lines:
        words = f"named for claim {claim.number}: none"
        lines = [line(Piece(f" {words}", "quiet")), BLANK]
    home = window if window is not None else claim.judge.window
    named = {each.truth for each in claim.evidence}
    rest = [truth for truth in view.truths if truth.id not in named and home in truth.windows]
    if rest:
        said = read_text(claim.text[:GLANCE])
        shares = {truth.number: overlap(said, read.truths[truth.id]) for truth in rest}
        lines.append(line(Piece(f" others in w{home + 1}, nearest first", "quiet")))
        for truth in sorted(rest, key=lambda each: (-shares[each.number], each.number)):
            share = shares[truth.number]
            lines += _truth(truth, width, "quiet", f"~ {share:.2f}" if share >= 0.3 else "")
    return lines


def named_truths(view: ReviewView, claim: ClaimView, window: int | None, width: int) -> list[Line]:
    """List the truths that the judge named for a claim; [] for none."""
    home = window if window is not None else claim.judge.window
    by_id = {truth.id: truth for truth in view.truths}
    lines: list[Line] = []
    for stance, look in (("contradicts", "bad"), ("supports", "good")):
        chosen = [
            by_id[each.truth]
            for each in claim.evidence
            if each.stance == stance and each.truth in by_id
        ]
        if not chosen:
            continue
        what = "contradict" if stance == "contradicts" else "support"
        lines.append(line(Piece(f" truths that {what} claim {claim.number}", f"{look} strong")))
        for truth in chosen:
            note = "" if home in truth.windows else "not in this window"
            lines += _truth(truth, width, look, note)
        lines.append(BLANK)
    return lines


def _truth(truth: TruthView, width: int, look: str, note: str) -> list[Line]:
    where = f"P{truth.document}" if truth.document is not None else ""
    tail = " ".join(word for word in (where, note) if word)
    pieces = [shown_line(truth.text, "quiet" if look == "quiet" else "")]
    if tail:
        pieces.append(Piece(f"  {tail}", "quiet"))
    return wrap(pieces, width - 1, first=[Piece(f" T{truth.number:<3}", f"{look} strong")])
