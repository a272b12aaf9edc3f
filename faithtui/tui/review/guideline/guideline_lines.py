"""The guideline beside the claim, while the judge is hidden: what each verdict key means."""

import re

from faithtui.store.annotations.guidelines import Guideline
from faithtui.tui.theme.lines import (
    PANE_TEXT_LIMIT,
    Line,
    Piece,
    escape_line,
    escape_text,
    make_line,
    wrap,
)
from faithtui.tui.widgets.scroll_pane import Pane

_KEY_LINE = re.compile(r"(?P<key>[ynix])[ \t]{2,}(?P<words>\S.*)")
"""A line that says what a verdict key means."""

_USUAL_WIDTH = 44
"""Cells of a line of it, about."""


def paint_guideline(pane: Pane, guideline: Guideline | None, key: str) -> None:
    """Draw the version in force into a pane, from its beginning.

    Args:
        pane: The pane.
        guideline: What is in force; None: nothing is.
        key: What opens all of it, and its versions.
    """
    name = "" if guideline is None else f" · {format_version_name(guideline)}"
    pane.show(
        lambda width: guideline_lines("" if guideline is None else guideline.text, width),
        title=f"Guideline{name}",
        made_of=(guideline,),
    )
    pane.hint = f"{key} versions"


def format_version_name(guideline: Guideline) -> str:
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


def count_guideline_lines(guideline: Guideline | None) -> int:
    """Count the lines of a guideline in a column of a screen; 0 for none."""
    return 0 if guideline is None else len(guideline_lines(guideline.text, _USUAL_WIDTH))
