"""Where panes stand, for every size of a screen. Pure arithmetic, no widgets.

A layout covers its area without gaps or overlaps; a pane that is not in it is not shown.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

LEAST = (60, 18)
"""Columns and rows that screens are made for, where they do not say otherwise."""
NARROW_BELOW = 100
WIDE_FROM = 160
"""Widths in cells where layouts change."""


class Box(NamedTuple):
    """A place in cells."""

    x: int
    y: int
    width: int
    height: int


PaneLayout = Mapping[str, Box]
LayoutFunction = Callable[[int, int], PaneLayout]
"""Makes a layout for a width and a height in cells."""


def lay_out_alone(pane: str, width: int, height: int) -> PaneLayout:
    """Give one pane all the room."""
    return {pane: Box(0, 0, width, height)}


def clip_layout(layout: PaneLayout, width: int, height: int) -> PaneLayout:
    """Cut a layout to its area, for terminals smaller than any layout was made for."""
    cut = {
        name: Box(
            box.x,
            box.y,
            min(box.width, width - box.x),
            min(box.height, height - box.y),
        )
        for name, box in layout.items()
        if box.x >= 0 and box.y >= 0
    }
    return {name: box for name, box in cut.items() if box.width > 0 and box.height > 0}


def make_home_layout_function(count_rows: Callable[[], int]) -> LayoutFunction:
    """Place the list of runs above what can be done next and what is known of the chosen one.

    Where wide, the last stands beside the two others in full height, and the conversations that
    score lowest below them. Elsewhere a short list leaves its room to the panes below it, as far as
    they have a use for it. An empty one has all the room: there is nothing to do with a run, and
    nothing known of one.

    Args:
        count_rows: Gives how many rows the list has.
    """

    def lay_out_home(width: int, height: int) -> PaneLayout:
        rows = count_rows()
        if not rows:
            return {"list": Box(0, 0, width, height)}
        wanted = rows + 3
        if width >= WIDE_FROM:
            detail = max(74, width * 38 // 100)
            top = max(5, min(wanted, height * 40 // 100))
            steps = min(7, height - top)
            lowest = height - top - steps
            left = width - detail
            # A frame around less than three of them is not worth its lines.
            if lowest < 5:
                steps, lowest = steps + lowest, 0
            return {
                "list": Box(0, 0, left, top),
                "next": Box(0, top, left, steps),
                **({"lowest": Box(0, top + steps, left, lowest)} if lowest else {}),
                "detail": Box(left, 0, detail, height),
            }
        if width < NARROW_BELOW:
            top = max(5, min(wanted, height * 35 // 100))
            steps = max(4, min(7, (height - top) * 45 // 100))
            return {
                "list": Box(0, 0, width, top),
                "next": Box(0, top, width, steps),
                "detail": Box(0, top + steps, width, height - top - steps),
            }
        top = max(min(wanted, height - 17), min(height - 26, height * 40 // 100), 5)
        left = min(70, width * 40 // 100)
        return {
            "list": Box(0, 0, width, top),
            "next": Box(0, top, left, height - top),
            "detail": Box(left, top, width - left, height - top),
        }

    return lay_out_home


def lay_out_queues(width: int, height: int) -> PaneLayout:
    """Place a short list and much to know of the chosen row: below it, or beside it."""
    if width < NARROW_BELOW:
        top = max(5, height // 3)
        return {"list": Box(0, 0, width, top), "detail": Box(0, top, width, height - top)}
    detail = min(width // 2, 90)
    return {
        "list": Box(0, 0, width - detail, height),
        "detail": Box(width - detail, 0, detail, height),
    }


def lay_out_list_and_text(width: int, height: int) -> PaneLayout:
    """Place a list and a text: below it, or beside it where wide.

    The list has columns that must not be cut, so it gets more where there is little.
    """
    if width < WIDE_FROM:
        text = max(min(7, height // 2), height * 36 // 100)
        return {
            "list": Box(0, 0, width, height - text),
            "detail": Box(0, height - text, width, text),
        }
    detail = width * 40 // 100
    return {
        "list": Box(0, 0, width - detail, height),
        "detail": Box(width - detail, 0, detail, height),
    }


def lay_out_settings(width: int, height: int) -> PaneLayout:
    """Place sections beside their values."""
    left = min(24, max(16, width // 5))
    return {"sections": Box(0, 0, left, height), "values": Box(left, 0, width - left, height)}


def lay_out_metrics(width: int, height: int) -> PaneLayout:
    """Place the table of metrics and the answer: below it, or beside it where wide."""
    if width >= WIDE_FROM:
        detail = width * 30 // 100
        return {
            "metrics": Box(0, 0, width - detail, height),
            "answer": Box(width - detail, 0, detail, height),
        }
    detail = max(1, min(height * 36 // 100, 16))
    return {
        "metrics": Box(0, 0, width, height - detail),
        "answer": Box(0, height - detail, width, detail),
    }


_AGREEMENT_NARROW = (
    (30, (("warnings", 1),)),
    (35, (("matrix", 47), ("coefficients", 53))),
    # At 80 columns a share with interval and n, and a rate in percent, take one line each.
    (35, (("detection", 47), ("rate", 53))),
)
_AGREEMENT_MEDIUM = (
    (20, (("warnings", 1),)),
    (27, (("detection", 35), ("matrix", 31), ("coefficients", 34))),
    (25, (("rate", 35), ("classes", 31), ("progress", 34))),
    (28, (("differences", 50), ("slices", 50), ("marked", 50))),
)
_AGREEMENT_WIDE = (
    (16, (("warnings", 1),)),
    (25, (("detection", 25), ("matrix", 25), ("coefficients", 25), ("rate", 25))),
    (26, (("classes", 25), ("people", 25), ("coverage", 25), ("progress", 25))),
    (33, (("differences", 50), ("slices", 25), ("scores", 25), ("marked", 30))),
)
"""Rows of panes by weight, each of panes by weight, in the order in which figures are used."""


def lay_out_agreement(width: int, height: int, empty: Collection[str] = ()) -> PaneLayout:
    """Place the sentence that sums up, then figures in the order of their use.

    Panes without a place are reached by a key that enlarges them.

    Args:
        width: Columns there are.
        height: Rows there are.
        empty: Panes with nothing to say: the others of their row take their room, and where a
            whole row is empty, the other rows.
    """
    rows = (
        _AGREEMENT_NARROW
        if width < NARROW_BELOW
        else _AGREEMENT_MEDIUM
        if width < WIDE_FROM
        else _AGREEMENT_WIDE
    )
    kept = [
        (weight, [each for each in panes if each[0] not in empty])
        for weight, panes in rows
        if any(name not in empty for name, _ in panes)
    ]
    layout: dict[str, Box] = {}
    tops = _split_by_weight(height, [weight for weight, _ in kept])
    for (_, panes), (y, tall) in zip(kept, tops, strict=True):
        columns = _split_by_weight(width, [weight for _, weight in panes])
        for (name, _), (x, wide) in zip(panes, columns, strict=True):
            layout[name] = Box(x, y, wide, tall)
    return layout


def _split_by_weight(size: int, weights: Sequence[int]) -> list[tuple[int, int]]:
    """Share cells out by weight: where each part begins, and its size. They add up to all."""
    total, done, at = sum(weights), 0, 0
    parts = []
    for weight in weights:
        done += weight
        end = size * done // total
        parts.append((at, end - at))
        at = end
    return parts


TOTALS = 7
"""Lines of totals of a run that is on."""
STAGES = 8
"""Lines of stages of a run that is on: they come one by one, and other panes must not move."""


def lay_out_progress(
    width: int,
    height: int,
    *,
    below: str = "events",
    total_lines: int = TOTALS,
    stage_lines: int = STAGES,
) -> PaneLayout:
    """Place totals, stages and events, and where wide what failed.

    Args:
        width: Columns there are.
        height: Rows there are.
        below: Which of `events` and `failed` is seen where there is room for one.
        total_lines: Lines that the totals need.
        stage_lines: Lines that the stages need; more is not given to them.
    """
    totals = min(total_lines + 2, max(5, height * 2 // 3))
    if width < NARROW_BELOW:
        # The least room is for what happens: stages come with the first rows beyond it.
        rest = height - totals
        stages = min(8, stage_lines + 2, max(6, rest - 6), rest - 5)
        if stages < 4:
            return {
                "totals": Box(0, 0, width, totals),
                below: Box(0, totals, width, height - totals),
            }
        return {
            "totals": Box(0, 0, width, totals),
            "stages": Box(0, totals, width, stages),
            below: Box(0, totals + stages, width, height - totals - stages),
        }
    left = get_stages_width(width)
    rest = height - totals
    stages = min(10, stage_lines + 2, rest // 2)
    return {
        "totals": Box(0, 0, width, totals),
        "stages": Box(0, totals, left, stages),
        "failed": Box(0, totals + stages, left, rest - stages),
        "events": Box(left, totals, width - left, rest),
    }


def get_stages_width(width: int) -> int:
    """Give how many columns the stages have beside the events, or above them where narrow."""
    return width if width < NARROW_BELOW else width * 42 // 100


def lay_out_replies(width: int, height: int) -> PaneLayout:
    """Place the calls of a conversation above question and reply of one, or beside them where wide.

    Where it is narrow, question and reply have one place, and here it is the reply's.
    """
    return _lay_out_calls(width, height, "reply")


def lay_out_replies_question(width: int, height: int) -> PaneLayout:
    """Place the same, with the question where there is one place for it and the reply."""
    return _lay_out_calls(width, height, "question")


def _lay_out_calls(width: int, height: int, shown: str) -> PaneLayout:
    if width < WIDE_FROM:
        top = max(5, min(14, height * 36 // 100))
        calls = {"calls": Box(0, 0, width, top)}
        if width < NARROW_BELOW:
            return {**calls, shown: Box(0, top, width, height - top)}
        half = width // 2
        return {
            **calls,
            "question": Box(0, top, half, height - top),
            "reply": Box(half, top, width - half, height - top),
        }
    left = width * 36 // 100
    middle = (width - left) // 2
    return {
        "calls": Box(0, 0, left, height),
        "question": Box(left, 0, middle, height),
        "reply": Box(left + middle, 0, width - left - middle, height),
    }


def lay_out_adjudication(width: int, height: int, *, is_empty: bool = False) -> PaneLayout:
    """Place the claims in full width, the evidence of one, what annotators say, and the raters.

    The table of raters has a place where there is room; a key enlarges it elsewhere.

    Args:
        width: Columns there are.
        height: Rows there are.
        is_empty: There is no claim: how one would come stands in place of evidence and labels.
    """
    raters = min(11, height // 4) if height >= 30 else 0
    rest = height - raters
    below = {"raters": Box(0, rest, width, raters)} if raters else {}
    claims = max(4, rest * 28 // 100)
    if is_empty:
        claims = min(4, rest // 2)
        return {
            "claims": Box(0, 0, width, claims),
            "evidence": Box(0, claims, width, rest - claims),
            **below,
        }
    if width < NARROW_BELOW:
        decide = 8 if rest >= 18 else max(5, rest // 3)
        return {
            "claims": Box(0, 0, width, claims),
            "evidence": Box(0, claims, width, rest - claims - decide),
            "decide": Box(0, rest - decide, width, decide),
            **below,
        }
    left = width * 52 // 100
    return {
        "claims": Box(0, 0, width, claims),
        "evidence": Box(0, claims, left, rest - claims),
        "decide": Box(left, claims, width - left, rest - claims),
        **below,
    }
