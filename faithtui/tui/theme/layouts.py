"""Where panes stand, for every size of a screen. Pure arithmetic, no widgets.

A plan covers its area without gaps or overlaps; a pane that is not in it is not shown.
"""

from collections.abc import Callable, Mapping
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


Plan = Mapping[str, Box]
Planner = Callable[[int, int], Plan]
"""Makes a plan for a width and a height in cells."""


def make_zoomed_planner(plan: Planner, pane: str, keep: tuple[str, ...] = ()) -> Planner:
    """Give one pane all the room, but for panes at the lower edge that are never lost.

    Args:
        plan: The usual plan.
        pane: What to enlarge.
        keep: Panes that stay below it when the usual plan has them at its lower edge in full width.
    """

    def plan_zoomed(width: int, height: int) -> Plan:
        usual = plan(width, height)
        kept = {
            name: box
            for name, box in usual.items()
            if name in keep and name != pane and box.width == width
        }
        below = sum(box.height for box in kept.values())
        return {pane: Box(0, 0, width, height - below), **kept}

    return plan_zoomed


def clip_plan(plan: Plan, width: int, height: int) -> Plan:
    """Cut a plan to its area, for terminals smaller than any plan was made for."""
    cut = {
        name: Box(
            box.x,
            box.y,
            min(box.width, width - box.x),
            min(box.height, height - box.y),
        )
        for name, box in plan.items()
        if box.x >= 0 and box.y >= 0
    }
    return {name: box for name, box in cut.items() if box.width > 0 and box.height > 0}


def plan_list(width: int, height: int) -> Plan:
    """Place a list and what is known of the chosen row: below it, or beside it where wide."""
    if width >= WIDE_FROM:
        detail = width * 32 // 100
        return {
            "list": Box(0, 0, width - detail, height),
            "detail": Box(width - detail, 0, detail, height),
        }
    detail = max(min(9, height // 2), height * 40 // 100)
    return {
        "list": Box(0, 0, width, height - detail),
        "detail": Box(0, height - detail, width, detail),
    }


def make_home_planner(count_rows: Callable[[], int]) -> Planner:
    """Place the list of runs above what can be done next and what is known of the chosen one.

    A short list leaves its room to the panes below it, as far as they have a use for it.

    Args:
        count_rows: Gives how many rows the list has.
    """

    def plan_home(width: int, height: int) -> Plan:
        wanted = count_rows() + 3
        if width < NARROW_BELOW:
            top = max(5, min(wanted, height * 35 // 100))
            steps = max(4, min(7, (height - top) * 45 // 100))
            return {
                "list": Box(0, 0, width, top),
                "next": Box(0, top, width, steps),
                "detail": Box(0, top + steps, width, height - top - steps),
            }
        top = max(min(wanted, height - 17), min(height - 22, height * 40 // 100), 5)
        left = min(70, width * 40 // 100)
        return {
            "list": Box(0, 0, width, top),
            "next": Box(0, top, left, height - top),
            "detail": Box(left, top, width - left, height - top),
        }

    return plan_home


def plan_queues(width: int, height: int) -> Plan:
    """Place a short list and much to know of the chosen row: below it, or beside it."""
    if width < NARROW_BELOW:
        top = max(5, height // 3)
        return {"list": Box(0, 0, width, top), "detail": Box(0, top, width, height - top)}
    detail = min(width // 2, 90)
    return {
        "list": Box(0, 0, width - detail, height),
        "detail": Box(width - detail, 0, detail, height),
    }


def plan_list_and_text(width: int, height: int) -> Plan:
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


def plan_settings(width: int, height: int) -> Plan:
    """Place sections beside their values."""
    left = min(24, max(16, width // 5))
    return {"sections": Box(0, 0, left, height), "values": Box(left, 0, width - left, height)}


def plan_metrics(width: int, height: int) -> Plan:
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


def plan_agreement(width: int, height: int) -> Plan:
    """Place matrix and coefficients, the rate, labels, and what follows from them.

    Panes without a place are reached by a key that enlarges them.
    """
    if width < NARROW_BELOW:
        left = min(34, width * 44 // 100)
        warnings = 5 if height >= 19 else 4
        top = min(9, (height - warnings + 1) // 2)
        middle = height - top - warnings
        return {
            "matrix": Box(0, 0, left, top),
            "coefficients": Box(left, 0, width - left, top),
            "classes": Box(0, top, left, middle),
            "rate": Box(left, top, width - left, middle),
            "warnings": Box(0, height - warnings, width, warnings),
        }
    if width < WIDE_FROM:
        left = width * 31 // 100
        right = width * 33 // 100
        middle = width - left - right
        top = second = max(min(9, height // 4), height * 25 // 100)
        last = max(5, height * 22 // 100)
        rest = height - top - second - last
        half = width // 2
        return {
            "matrix": Box(0, 0, left, top),
            "coefficients": Box(left, 0, middle, top),
            "rate": Box(left + middle, 0, right, top),
            "classes": Box(0, top, left, second),
            "detection": Box(left, top, middle, second),
            "progress": Box(left + middle, top, right, second),
            "differences": Box(0, top + second, half, rest),
            "slices": Box(half, top + second, width - half, rest),
            "warnings": Box(0, height - last, width, last),
        }
    quarter = width // 4
    top = max(min(12, height // 4), height * 24 // 100)
    second = max(min(12, height // 4), height * 26 // 100)
    last = max(6, height * 16 // 100)
    rest = height - top - second - last
    columns = (0, quarter, 2 * quarter, 3 * quarter)
    sizes = (quarter, quarter, quarter, width - 3 * quarter)
    upper = zip(("matrix", "coefficients", "rate", "progress"), columns, sizes, strict=True)
    lower = zip(("classes", "detection", "people", "coverage"), columns, sizes, strict=True)
    return {
        **{name: Box(x, 0, wide, top) for name, x, wide in upper},
        **{name: Box(x, top, wide, second) for name, x, wide in lower},
        "differences": Box(0, top + second, 2 * quarter, rest),
        "slices": Box(2 * quarter, top + second, quarter, rest),
        "scores": Box(3 * quarter, top + second, width - 3 * quarter, rest),
        "warnings": Box(0, height - last, width, last),
    }


def plan_progress(width: int, height: int) -> Plan:
    """Place totals, stages and events, and where wide what failed."""
    return _plan_run(width, height, "events")


def plan_progress_failed(width: int, height: int) -> Plan:
    """Place the same, with what failed where events have the only room."""
    return _plan_run(width, height, "failed")


def _plan_run(width: int, height: int, below: str) -> Plan:
    totals = min(9, max(5, height * 2 // 3))
    if width < NARROW_BELOW:
        # The least room is for what happens: stages come with the first rows beyond it.
        stages = min(6, height - totals - 5)
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
    left = width * 42 // 100
    rest = height - totals
    stages = min(10, rest // 2)
    return {
        "totals": Box(0, 0, width, totals),
        "stages": Box(0, totals, left, stages),
        "failed": Box(0, totals + stages, left, rest - stages),
        "events": Box(left, totals, width - left, rest),
    }


def plan_replies(width: int, height: int) -> Plan:
    """Place the calls of a conversation above question and reply of one, or beside them where wide.

    Where it is narrow the question has no place of its own: it stands below the reply.
    """
    if width < WIDE_FROM:
        top = max(5, min(14, height * 36 // 100))
        calls = {"calls": Box(0, 0, width, top)}
        if width < NARROW_BELOW:
            return {**calls, "reply": Box(0, top, width, height - top)}
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


def plan_adjudication(width: int, height: int) -> Plan:
    """Place the raters, the claims, the evidence of one of them and what is decided about it."""
    if width < NARROW_BELOW:
        decide = 6 if height >= 18 else 5
        raters = min(6, max(3, (height - decide) * 40 // 100))
        middle = height - raters - decide
        left = width * 46 // 100
        return {
            "raters": Box(0, 0, width, raters),
            "claims": Box(0, raters, left, middle),
            "evidence": Box(left, raters, width - left, middle),
            "decide": Box(0, height - decide, width, decide),
        }
    raters = min(11, height * 27 // 100)
    rest = height - raters
    left, right = width * 36 // 100, width * 28 // 100
    return {
        "raters": Box(0, 0, width, raters),
        "claims": Box(0, raters, left, rest),
        "evidence": Box(left, raters, width - left - right, rest),
        "decide": Box(width - right, raters, right, rest),
    }
