"""The guideline beside the claim, while the judge is hidden: what each verdict key means."""

import re

from faithtui.store.annotations.guidelines import Guideline
from faithtui.tui.theme.layouts import Box, Plan
from faithtui.tui.theme.lines import (
    PANE_TEXT_LIMIT,
    Line,
    Piece,
    escape_line,
    escape_text,
    make_line,
    wrap,
)
from faithtui.tui.widgets.pane import Pane

_KEY_LINE = re.compile(r"(?P<key>[ynix])[ \t]{2,}(?P<words>\S.*)")
"""A line that says what a verdict key means."""

_ROOM_OF_REFERENCES = "truths"
"""Whose place it takes: what the judge drew is hidden with its verdicts."""


class GuidelinePane(Pane):
    """The version in force, from its beginning."""

    def __init__(self) -> None:
        super().__init__(id="guideline", title="Guideline")

    def show_guideline(self, guideline: Guideline | None, key: str, hint: str) -> None:
        """Draw a version.

        Args:
            guideline: What is in force; None: nothing is.
            key: What opens all of it, and its versions.
            hint: Words in the lower frame.
        """
        name = "" if guideline is None else f" · {name_version(guideline)}"
        self.show(
            lambda width: guideline_lines("" if guideline is None else guideline.text, width),
            title=f"Guideline{name} · {key}",
            made_of=(guideline,),
        )
        self.hint = hint


def name_version(guideline: Guideline) -> str:
    """Name a version: `default`, or `version 2`."""
    return "default" if guideline.is_default else f"version {guideline.number}"


def guideline_lines(text: str, width: int, most: int = PANE_TEXT_LIMIT) -> list[Line]:
    """Draw the text of a guideline; lines that begin with a verdict key stand out.

    Args:
        text: The text; it is foreign.
        width: Cells of a line.
        most: Characters that are drawn; how many are left out is said.
    """
    lines: list[Line] = []
    for each in text[:most].splitlines():
        found = _KEY_LINE.fullmatch(each)
        if found is None:
            lines += wrap([escape_text(each, "", most)], width - 1, first=[Piece(" ")])
        else:
            head = [Piece(" "), Piece(f"[{found['key']}]", "key"), Piece(" ")]
            lines += wrap([escape_line(found["words"], "", most)], width - 1, first=head)
    if len(text) > most:
        lines.append(make_line(Piece(f" … ({len(text) - most:,} more characters)", "quiet")))
    return lines or [make_line(Piece(" there is none yet", "quiet"))]


def add_guideline(plan: Plan, *, with_references: bool) -> Plan:
    """Give the guideline room in a plan of the review screen, where it has a third column.

    Args:
        plan: Without it.
        with_references: What stands in its place is not hidden: they share it.
    """
    room = plan.get(_ROOM_OF_REFERENCES)
    if room is None:
        return plan
    others = {name: box for name, box in plan.items() if name != _ROOM_OF_REFERENCES}
    if not with_references:
        return {**others, "guideline": room}
    upper = room.height // 2
    below = Box(room.x, room.y + upper, room.width, room.height - upper)
    return {
        **others,
        "guideline": room._replace(height=upper),
        _ROOM_OF_REFERENCES: below,
    }
