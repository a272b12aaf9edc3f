"""Lines of a conversation: turns, the passages behind them, and what a metric does not read."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithtui.domain.conversation import Image, Span
from faithtui.store.records import ClaimView, ReviewView, TurnView
from faithtui.tui.review.lines.image_lines import image_placeholder_lines, map_images_to_numbers
from faithtui.tui.review.lines.markup import strip_markdown_and_shorten_urls
from faithtui.tui.theme.lines import PANE_TEXT_LIMIT, Line, Piece, escape_line, escape_text, wrap

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec


TURNS_AROUND = 6
"""Turns before and after an exchange that stand beside it where there is room."""
HANGING_FROM = 44
"""Cells from which what was said stands beside who said it."""
TALL_FROM = 18
"""Lines of a pane from which the turns around an exchange are shown too."""


@dataclass(frozen=True, slots=True)
class ExchangeLines:
    """A question and its answer as lines."""

    lines: Sequence[Line]
    pinned: int = 0
    """So many of the first lines, the question, stay at the top."""
    top: int = 0
    """How far they are scrolled to begin with."""
    speakers: Sequence[tuple[int, str]] = ()
    """In which line each turn begins, and who speaks, in words for a line that goes on."""

    def label_first_line(self, index: int) -> Line:
        """Give a line as it stands where those before it are scrolled away: it says who speaks."""
        line = self.lines[index]
        place = bisect_right(self.speakers, index, key=lambda each: each[0]) - 1
        if place < 0 or self.speakers[place][0] == index:
            return line
        label = Piece(self.speakers[place][1], "quiet")
        cells = len(label.text)
        margin, *rest = line.pieces or (Piece(""),)
        if margin.text.strip() or len(margin.text) < cells:
            # There is no margin for it: the line that it hides is the last one of the page before.
            return Line((label,), line.row)
        return Line((label, Piece(margin.text[cells:], margin.look), *rest), line.row)


def find_exchange_turn_range(view: ReviewView, turn: int) -> tuple[int, int]:
    """Find the turns from the last thing the user said before an answer to that answer.

    Args:
        view: The conversation.
        turn: Position of the answer.

    Returns:
        Indexes in `view.turns` of the first turn and of the answer.
    """
    answer = next((n for n, each in enumerate(view.turns) if each.position == turn), 0)
    asked = (n for n in range(answer - 1, -1, -1) if view.turns[n].role == "user")
    return next(asked, answer), answer


def exchange_lines(
    view: ReviewView,
    claim: ClaimView | None,
    spec: "MetricSpec",
    width: int,
    height: int,
    near: Span | None = None,
) -> ExchangeLines:
    """Show what the user asked and the answer with the claim's words marked.

    Where both are longer than the pane, the question is cut and stays at the top, and the answer is
    scrolled to the claim. Where there is much room, the turns around them are shown too.

    Args:
        view: The conversation.
        claim: The claim; None shows the whole conversation.
        spec: The run's metric.
        width: Cells of a line.
        height: Lines of the pane.
        near: The nearest words, of a claim that does not stand in the answer as it is.
    """
    if claim is None:
        return ExchangeLines(transcript_lines(view, None, spec, width)[0])
    if not view.turns:
        return ExchangeLines(())
    first, answer = find_exchange_turn_range(view, claim.turn)
    around = TURNS_AROUND if height >= TALL_FROM else 0
    draw = _TurnDrawing.from_view(view, claim, spec, width, near=near)
    answer_lines, begin, end = draw.answer_lines(view.turns[answer])
    question = draw.turns_lines(view.turns[first:answer])
    if len(question) + end < height:
        shown = view.turns[max(0, first - around) : answer + 1 + around]
        lines, speakers = draw.format_turn_lines_with_speakers(shown)
        top, _ = speakers[first - max(0, first - around)]
        return ExchangeLines(lines, top=top, speakers=speakers)
    most = _count_question_lines(height, end - begin + 1)
    question = draw.turns_lines(view.turns[first:answer], most)[:most]
    begin, end = begin + len(question), end + len(question)
    # A line before the claim shows that it goes on from something.
    top = max(0, begin - len(question) - 1) if end >= height else 0
    speakers = [(len(question), draw.format_speaker(view.turns[answer]))]
    return ExchangeLines([*question, *answer_lines], len(question), top, speakers)


def _count_question_lines(height: int, claim_lines: int) -> int:
    """Say how many lines a question may take above the claim and the line it goes on from."""
    return max(2 if height >= 5 else 1, min(max(3, height // 4), height - claim_lines - 1))


def transcript_lines(
    view: ReviewView,
    claim: ClaimView | None,
    spec: "MetricSpec",
    width: int,
    most: int = PANE_TEXT_LIMIT,
    *,
    whole: bool = False,
) -> tuple[list[Line], int]:
    """Show the conversation with the claim's words marked.

    Args:
        view: The conversation.
        claim: The claim; None marks nothing.
        spec: The run's metric.
        width: Cells of a line.
        most: Characters of a turn that are drawn.
        whole: Show the passages of user turns too, which stand nowhere else.

    Returns:
        The lines, and the index of the line where the claim's turn begins (0 without one).
    """
    lines: list[Line] = []
    at = 0
    draw = _TurnDrawing.from_view(view, claim, spec, width, most)
    for turn in view.turns:
        if claim is not None and turn.position == claim.turn:
            at = len(lines)
        lines += draw.turn_lines(turn)
        if whole and turn.role == "user":
            lines += _unused_passage_lines(turn, width, most)
    return lines, at


@dataclass(frozen=True, slots=True)
class _TurnDrawing:
    """What the lines of all turns of a conversation depend on."""

    claim: ClaimView | None
    spec: "MetricSpec"
    width: int
    most: int
    """Characters of a turn that are drawn."""
    near: Span | None
    numbers: Mapping[Image, int]
    judged: frozenset[int]
    """Positions of the turns that some window holds."""

    @classmethod
    def from_view(
        cls,
        view: ReviewView,
        claim: ClaimView | None,
        spec: "MetricSpec",
        width: int,
        most: int = PANE_TEXT_LIMIT,
        near: Span | None = None,
    ) -> "_TurnDrawing":
        """Take what is needed of a conversation."""
        judged = frozenset(turn for window in view.windows for turn in window.turns)
        return cls(claim, spec, width, most, near, map_images_to_numbers(view.turns), judged)

    def turns_lines(self, turns: Iterable[TurnView], most_lines: int | None = None) -> list[Line]:
        """Show some turns, each with at most so many lines of what was said."""
        return [line for turn in turns for line in self.turn_lines(turn, most_lines)]

    def format_turn_lines_with_speakers(
        self, turns: Iterable[TurnView]
    ) -> tuple[list[Line], list[tuple[int, str]]]:
        """Show some turns, and say in which line each begins and who speaks."""
        lines: list[Line] = []
        speakers: list[tuple[int, str]] = []
        for turn in turns:
            speakers.append((len(lines), self.format_speaker(turn)))
            lines += self.turn_lines(turn)
        return lines, speakers

    def format_speaker(self, turn: TurnView) -> str:
        """Say who speaks, where what is said goes on: as wide as where it begins."""
        return f" {turn.position + 1:>2} {'user' if turn.role == 'user' else 'bot '}…"

    def answer_lines(self, turn: TurnView) -> tuple[list[Line], int, int]:
        """Show the claim's turn, and say in which of its lines the claim begins and ends."""
        lines = self.turn_lines(turn)
        marked = [
            number
            for number, line in enumerate(lines)
            if any(piece.look in ("quote", "near") for piece in line.pieces)
        ]
        return (lines, marked[0], marked[-1]) if marked else (lines, 0, 0)

    def turn_lines(self, turn: TurnView, most_lines: int | None = None) -> list[Line]:
        """Show a turn: what was said, its images, its passages by number."""
        claim = self.claim if self.claim and self.claim.turn == turn.position else None
        indent = [Piece(" " * (9 if self.width >= HANGING_FROM else 2))]
        who = "user" if turn.role == "user" else "bot "
        first = [Piece(f" {turn.position + 1:>2} {who} ", "quiet")]
        if self.width < HANGING_FROM:
            pieces = [*first, *self._turn_text_pieces(turn, claim)]
            lines = wrap(pieces, self.width - 1, rest=indent, most=most_lines)
        else:
            pieces = self._turn_text_pieces(turn, claim)
            lines = wrap(pieces, self.width - 1, first=first, most=most_lines)
        lines += image_placeholder_lines(turn.images, self.numbers, self.width - 1, indent)
        lines += _passage_number_lines(turn, claim, self.numbers, self.spec, self.width, indent)
        if self.judged and turn.position not in self.judged:
            words = [Piece("in no window: not judged", "warn")]
            lines += wrap(words, self.width - 1, first=indent)
        return lines

    def _turn_text_pieces(self, turn: TurnView, claim: ClaimView | None) -> list[Piece]:
        """Give what is said: the claim's words between « », or else the nearest ones in ‹ ›."""
        own = claim.span if claim is not None and claim.kind == "claim" else None
        span = own or (None if claim is None else self.near)
        text = turn.content
        if span is None:
            return [self._make_turn_text_piece(text, "quiet" if turn.role == "user" else "")]
        opening, closing, look = ("«", "»", "quote") if own else ("‹", "›", "near")
        start = max(0, span.start - self.most)
        return [
            Piece("… " if start else ""),
            self._make_turn_text_piece(text[start : span.start]),
            Piece(opening, look),
            self._make_turn_text_piece(text[span.start : span.end], look),
            Piece(closing, look),
            self._make_turn_text_piece(text[span.end :]),
        ]

    def _make_turn_text_piece(self, text: str, look: str = "") -> Piece:
        """Make a piece of what is said, shortened where it stands beside other panes."""
        is_whole = self.most > PANE_TEXT_LIMIT
        return escape_text(
            text if is_whole else strip_markdown_and_shorten_urls(text), look, self.most
        )


def _passage_number_lines(
    turn: TurnView,
    claim: ClaimView | None,
    numbers: Mapping[Image, int],
    spec: "MetricSpec",
    width: int,
    indent: Sequence[Piece],
) -> list[Line]:
    """Name the passages of a turn by number, and say where the metric does not read them."""
    documents = turn.documents or ()
    names = " ".join(f"P{document.number}" for document in documents)
    if turn.role == "user":
        if not documents:
            return []
        return wrap(
            [Piece(names, "quiet"), Piece(f" {explain_unread_context(spec)}", "warn")],
            width - 1,
            first=indent,
        )
    if turn.documents is None:
        names = "context unknown"
    elif not documents:
        names = "retrieval returned nothing"
    pieces = [Piece(names, "quiet")]
    if claim is not None:
        where = f" in P{claim.document}" if claim.document is not None else ""
        pieces.append(Piece(f"  <- {spec.units[0]}{where}", "human"))
    lines = wrap(pieces, width - 1, first=indent)
    for document in documents:
        first = [*indent, Piece(f"P{document.number} ", "quiet")]
        lines += image_placeholder_lines(document.images, numbers, width - 1, first)
    return lines


def explain_unread_context(spec: "MetricSpec") -> str:
    """Say that a metric does not read a context."""
    return f"not used: this metric reads {spec.context_from}"


def _unused_passage_lines(turn: TurnView, width: int, most: int) -> list[Line]:
    """Show the passages of a turn that the metric does not read."""
    lines: list[Line] = []
    for document in turn.documents or ():
        source = [escape_line(f"{document.source}: ", "quiet", limit=62)] if document.source else []
        lines += wrap(
            [*source, escape_text(document.text, "quiet", most)],
            width - 1,
            first=[Piece(f"{'':9}P{document.number} ", "quiet")],
        )
    return lines
