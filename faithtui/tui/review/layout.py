"""Where the panes of the review screen stand: each gets the room that its content needs.

What a reviewer compares comes first at every size: question and answer, the claim, its passages and
what can be said. A pane that has nothing to say has no place. Pure arithmetic, no widgets.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from faithtui.tui.review.lines.window_lines import TEXT_FROM
from faithtui.tui.theme.layouts import NARROW_BELOW, WIDE_FROM, Box, PaneLayout


@dataclass(frozen=True, slots=True)
class ReviewContent:
    """What the panes have to hold, of the whole conversation: moving in it moves no pane."""

    claims: int = 1
    windows: int = 1
    claim_characters: int = 0
    """Of the longest claim."""
    exchange_characters: int = 0
    """Of the longest answer with its question."""
    is_blind: bool = False
    """The judge is hidden: it needs no room."""
    has_references: bool = True
    """There is something a claim is checked against, and it may be shown."""
    has_card: bool = True
    """What is judged is not the whole answer, which is shown anyway."""
    guideline_lines: int = 0
    """Lines of a guideline that is to stand beside the claims; 0 for none."""

    def has_content_for_pane(self, pane: str) -> bool:
        """Whether the pane of the windows or of what is checked against is worth a look."""
        return self.has_references if pane == "truths" else self.windows > 1

    def count_longest_claim_lines(self, width: int) -> int:
        """Count the lines that the longest claim takes, and one for what is said of it."""
        return _estimate_wrapped_lines(self.claim_characters, width - 4) + 1

    def count_longest_exchange_lines(self, width: int) -> int:
        """Count the lines that the longest answer and its question take."""
        return _estimate_wrapped_lines(self.exchange_characters, width - 12) + 3


EMPTY = ReviewContent()
GUIDELINE_BELOW_FROM = 30
"""Lines from which the guideline stands below the evidence, which keeps enough of them."""
LEAST_LIST = 7
"""Lines below which a list of claims is not worth a place beside the windows."""


def max_or_zero(lengths: Iterable[int]) -> int:
    """Give the greatest length; 0 for none."""
    return max(lengths, default=0)


def lay_out_review(width: int, height: int, content: ReviewContent = EMPTY) -> PaneLayout:
    """Place question and answer, claims, the claim, evidence, truths, windows and the verdict."""
    if width < 60 or height < 17:
        return _lay_out_tiny(width, height)
    if width < NARROW_BELOW:
        return _lay_out_narrow(width, height, content)
    if width < WIDE_FROM:
        layout = _lay_out_blind if content.is_blind else _lay_out_medium
        return layout(width, height, content)
    layout = _lay_out_wide_blind if content.is_blind else _lay_out_wide
    return layout(width, height, content)


def lay_out_empty_review(width: int, height: int) -> PaneLayout:
    """Give all the room to what says why there is nothing to review."""
    return {"claims": Box(0, 0, width, height)}


def lay_out_zoomed_review(
    pane: str, width: int, height: int, content: ReviewContent = EMPTY
) -> PaneLayout:
    """Enlarge a pane; what is judged and its verdict stay, because verdict keys act on it.

    Args:
        pane: What to enlarge.
        width: Cells.
        height: Lines.
        content: What there is to say.
    """
    strip = min(5 if content.is_blind else 6, height // 3)
    below = [] if pane == "verdict" else [("verdict", strip)]
    if not content.has_card:
        # What is judged is the answer, which stands in the conversation.
        above = (
            []
            if pane == "transcript"
            else [("transcript", max(min(4, height // 3), height * 30 // 100))]
        )
    elif pane == "card":
        above = []
    else:
        most = 6 if height >= 30 else 4 if height >= 20 else 1
        above = [("card", _clamp(content.count_longest_claim_lines(width), 1, most) + 2)]
    room = height - sum(lines for _, lines in (*above, *below))
    if pane == "windows":
        # They need what they need; their claims take what is left.
        needed = _count_window_lines(width, content)
        if room - needed >= LEAST_LIST:
            return _stack_panes(
                0, 0, width, height, (*above, (pane, needed), ("claims", 0), *below)
            )
    return _stack_panes(0, 0, width, height, (*above, (pane, 0), *below))


def _lay_out_tiny(width: int, height: int) -> PaneLayout:
    """Keep the claim, its evidence and the verdict; the question stands above the evidence."""
    strip = min(4, height // 3)
    claims = min(3, (height - strip) // 2)
    return _stack_panes(
        0, 0, width, height, (("claims", claims), ("evidence", 0), ("verdict", strip))
    )


def _lay_out_narrow(width: int, height: int, content: ReviewContent) -> PaneLayout:
    strip = 5 if content.is_blind else 6
    top = height - strip
    left = max(26, width * 43 // 100)
    claims = _clamp(content.claims + 2, 4, max(4, top * 36 // 100))
    return {
        **_stack_panes(0, 0, left, top, (("transcript", 0), ("claims", claims))),
        **_place_claim_and_evidence(
            left, width - left, top, content, 0, most=4 if height >= 20 else 2
        ),
        "verdict": Box(0, top, width, strip),
    }


def _lay_out_medium(width: int, height: int, content: ReviewContent) -> PaneLayout:
    # The columns of the windows take as much of the left as what the claims say.
    left = width * 54 // 100
    right = width - left
    verdict = _clamp(height * 36 // 100, 7, 13)
    return {
        **_place_claims_column(0, left, height, content, "truths", verdict),
        **_place_claim_and_evidence(left, right, height, content, height * 36 // 100),
    }


def _lay_out_blind(width: int, height: int, content: ReviewContent) -> PaneLayout:
    left = max(38, width * 38 // 100)
    # Where keys are explained above it, the verdict needs less.
    verdict = _clamp(height * 30 // 100, 7, 9 if content.guideline_lines else 11)
    # In little height it gives way to the question: `h` reads it.
    guideline = _choose_guideline_height(content, height * 3 // 10) if height >= 20 else ()
    below = 0
    if height >= GUIDELINE_BELOW_FROM and guideline:
        # There each verdict is explained on a line; in the narrow column that would take two, and
        # the room of the claims.
        below = min(guideline[0][1], max(6, height * 20 // 100))
    return {
        **_place_exchange_column(0, left, height, content, verdict, () if below else guideline),
        **_place_claim_and_evidence(
            left, width - left, height - below, content, 0, references=height * 30 // 100
        ),
        **({"guideline": Box(left, height - below, width - left, below)} if below else {}),
    }


def _lay_out_wide(width: int, height: int, content: ReviewContent) -> PaneLayout:
    first = width * 36 // 100
    third = max(46, width * 26 // 100)
    second = width - first - third
    verdict = _clamp(height * 42 // 100, 7, 22)
    last = [("truths", 0)] if content.has_references else []
    return {
        **_place_claims_column(0, first, height, content, "windows", 0),
        **_place_claim_and_evidence(first, second, height, content, height * 42 // 100),
        **_stack_panes(
            first + second,
            0,
            third,
            height,
            (*last, ("verdict", verdict if content.has_references else 0)),
        ),
    }


def _lay_out_wide_blind(width: int, height: int, content: ReviewContent) -> PaneLayout:
    first = width * 32 // 100
    third = max(44, width * 24 // 100)
    second = width - first - third
    verdict = _clamp(height * 36 // 100, 7, 18)
    guideline = _choose_guideline_height(content, height * 3 // 10)
    return {
        **_stack_panes(0, 0, first, height, (("transcript", 0), *guideline)),
        **_place_claim_and_evidence(
            first, second, height, content, 0, references=height * 30 // 100
        ),
        **_stack_panes(first + second, 0, third, height, (("claims", 0), ("verdict", verdict))),
    }


def _place_claims_column(
    x: int, width: int, height: int, content: ReviewContent, below: str, verdict: int
) -> PaneLayout:
    """Place the list of claims, what stands below it where that says something, the verdict."""
    last = [("verdict", verdict)] if verdict else []
    least = 7
    room = height - verdict
    if not content.has_content_for_pane(below) or room < 2 * least:
        return _stack_panes(x, 0, width, height, (("claims", 0), *last))
    claims = _clamp(2 * content.claims + 6, least, max(least, room * 66 // 100))
    if below == "windows":
        # The windows need what they need; the claims take what is left.
        lines = _clamp(_count_window_lines(width, content), least, room * 40 // 100)
        return _stack_panes(x, 0, width, height, (("claims", 0), ("windows", max(1, lines)), *last))
    return _stack_panes(x, 0, width, height, (("claims", claims), ("truths", 0), *last))


def _place_exchange_column(
    x: int,
    width: int,
    height: int,
    content: ReviewContent,
    verdict: int,
    guideline: Sequence[tuple[str, int]],
) -> PaneLayout:
    """Place question and answer, the guideline, the claims and the verdict below each other."""
    room = height - verdict - sum(lines for _, lines in guideline)
    spare = room - content.count_longest_exchange_lines(width) - 2
    least = 5 if guideline else 8
    claims = max(4, min(_clamp(spare, least, room // 2), content.claims + 3))
    rows = (("transcript", 0), *guideline, ("claims", claims), ("verdict", verdict))
    return _stack_panes(x, 0, width, height, rows)


def _choose_guideline_height(content: ReviewContent, most: int) -> Sequence[tuple[str, int]]:
    if not content.guideline_lines:
        return ()
    return (("guideline", _clamp(content.guideline_lines + 2, 3, most)),)


def _place_claim_and_evidence(
    x: int,
    width: int,
    height: int,
    content: ReviewContent,
    exchange: int,
    *,
    most: int = 6,
    references: int = 0,
) -> PaneLayout:
    """Place the claim above its evidence.

    Args:
        x: The left edge.
        width: Cells.
        height: Lines.
        content: What there is to say.
        exchange: Lines that question and answer take above both, at most; 0 for none.
        most: Lines that the claim takes, at most.
        references: Lines for what it is checked against, below both.
    """
    rows: list[tuple[str, int]] = []
    if exchange:
        rows.append(
            ("transcript", _clamp(content.count_longest_exchange_lines(width) + 2, 5, exchange))
        )
    if content.has_card:
        rows.append(("card", _clamp(content.count_longest_claim_lines(width), 1, most) + 2))
    last = [("truths", references)] if references and content.has_references else []
    return _stack_panes(x, 0, width, height, (*rows, ("evidence", 0), *last))


def _count_window_lines(width: int, content: ReviewContent) -> int:
    """Count the lines of the list of windows with its frame."""
    each = 1 if width >= TEXT_FROM + 2 else 2
    return each * content.windows + 4


def _stack_panes(
    x: int, y: int, width: int, height: int, rows: Sequence[tuple[str, int]]
) -> dict[str, Box]:
    """Put panes below each other; the one with 0 lines takes what the others leave."""
    rest = height - sum(lines for _, lines in rows)
    layout: dict[str, Box] = {}
    for name, lines in rows:
        tall = lines or rest
        layout[name] = Box(x, y, width, tall)
        y += tall
    return layout


def _clamp(value: int, least: int, most: int) -> int:
    return max(least, min(value, most))


def _estimate_wrapped_lines(characters: int, width: int) -> int:
    """Count the lines of a text; words that do not fit leave a tenth of each line blank."""
    return -(-characters * 11 // (10 * max(1, width)))
