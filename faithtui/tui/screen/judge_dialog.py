"""`A`: what is known of a judge, above every screen of one of its runs."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from faithtui.domain.ids import RunId
from faithtui.errors import FaithtuiError
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.screen.dialogs import Dialog
from faithtui.tui.theme.lines import (
    BLANK,
    FULL_TEXT_LIMIT,
    Line,
    Piece,
    escape_line,
    escape_text,
    fit_text,
    make_line,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.tui.session import Session

ON_YOUR_DATA = (
    "How far it can be trusted on your own data: {go.queues}, then {queues.draw} draws a sample to "
    "label; {go.agreement} shows its agreement with human labels."
)
"""What to do for figures that count."""


_WIDEST = 80
"""Cells beyond which lines of text do not grow: they would be hard to read."""
_NAME = 12
"""Cells up to which a first column names what the rest of the line says."""
_MARGIN = (Piece(" "),)
_COLUMNS = re.compile(r"(.*?)( {2,})(.*)")
"""A line with columns: the first one, the room behind it, the others."""


class JudgeDialog(Dialog):
    """What a judge is, what it costs, how good it was measured to be, and where it fails.

    Args:
        title: Which judge.
        facts: What is known of it.
        keys: What keys are called.
        prompts: Texts of the run's questions, by step; or why there are none.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "A,enter",
            "close",
            "Close",
            show=False,
            tooltip="Close this window",
            id="judge.close",
        ),
    ]

    def __init__(
        self, title: str, facts: str, keys: KeyNames, prompts: Mapping[str, str] | str
    ) -> None:
        def build_lines(width: int) -> list[Line]:
            room = min(width - 2, _WIDEST)
            words = wrap(keys.fill_in_keys_as_pieces(ON_YOUR_DATA), room, first=_MARGIN)
            return [*_rewrap_text(facts, room), BLANK, *words, *_prompt_lines(prompts, room)]

        super().__init__(title, build_lines)


def _rewrap_text(text: str, width: int) -> list[Line]:
    """Draw a text that is broken for one width in another one."""
    lines: list[Line] = []
    flow: list[str] = []

    def flush_paragraph() -> None:
        if flow:
            lines.extend(
                wrap([escape_text(" ".join(flow), most=FULL_TEXT_LIMIT)], width, first=_MARGIN)
            )
            flow.clear()

    for each in text.split("\n"):
        found = _COLUMNS.fullmatch(each)
        head, gap, tail = found.groups() if found else (each, "", "")
        if each and not gap and not each.startswith("- "):
            flow.append(each)
            continue
        flush_paragraph()
        if gap and len(head) + len(gap) <= _NAME:
            lines += wrap(
                [escape_line(tail)], width, first=[*_MARGIN, Piece(f"{head}{gap}", "quiet")]
            )
        elif gap:  # a row of a table: its figures keep their place at the right end
            row = each if len(each) < width else f"{fit_text(head, width - 2 - len(tail))} {tail}"
            lines.append(make_line(*_MARGIN, row))
        elif each:
            lines += wrap([escape_line(each[2:])], width, first=[*_MARGIN, Piece("- ")])
        else:
            lines.append(BLANK)
    flush_paragraph()
    return lines


def _prompt_lines(prompts: Mapping[str, str] | str, width: int) -> list[Line]:
    """Draw the texts of questions, line by line as they were sent."""
    title = make_line(*_MARGIN, Piece("Prompts of the run", "strong"))
    if isinstance(prompts, str):
        return [BLANK, title, *wrap([escape_line(prompts, "quiet")], width, first=_MARGIN)]
    lines = [BLANK, title]
    for step, text in prompts.items():
        lines += [BLANK, make_line(*_MARGIN, escape_line(step, "human"))]
        for each in text.removesuffix("\n").split("\n"):
            shown = escape_line(each, limit=FULL_TEXT_LIMIT)
            lines += wrap([shown], width, first=_MARGIN) if each else [BLANK]
    return lines


def read_judge_description_and_prompts(
    session: "Session", run: RunId
) -> tuple[str, Mapping[str, str] | str]:
    """Read what is known of the judge of a run, and the texts it is asked with.

    Imports what is slow: meant for a thread.

    Returns:
        What is known; the texts by step, or why they are not known.

    Raises:
        FaithtuiError: The run is not there, or the prices of the settings cannot be used.
    """
    from faithtui.engine.review.judge_description import describe_judge
    from faithtui.engine.review.run_prompts import read_run_prompts_with_examples

    row = session.store.runs.read_run(run)
    facts = describe_judge(session.store, row, session.get_run_environment().prices)
    try:
        return facts, read_run_prompts_with_examples(session.store, run).texts
    except FaithtuiError as error:
        return facts, str(error)
