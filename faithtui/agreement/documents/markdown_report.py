"""An agreement report as one page of Markdown for people: the answer first.

Text from people, judges and files is escaped, so that it stays text whatever it contains.
"""

import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from faithtui.agreement.documents.blocks import (
    Block,
    Code,
    Heading,
    Items,
    Notices,
    Paragraph,
    Part,
    Picture,
    Table,
    Text,
)
from faithtui.agreement.documents.header import ReportHeader
from faithtui.agreement.documents.page import report_page
from faithtui.agreement.report.model import AgreementReport
from faithtui.agreement.report.settings import Severity
from faithtui.domain.text.sanitizing import visible_line

_SPECIAL = re.compile(
    r"(?P<interval>\[[-+]?\d[\d.,%+\- ]*\](?![\[(:]))"
    r"|[\\`*_{}\[\]|~$#@]|(?<=[A-Za-z]):(?=//)|(?<=www)\.",
    re.IGNORECASE,
)
"""What can start markup, a table cell, a formula or a link inside a line; intervals cannot."""

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}

SIGNS = {Severity.BLOCKING: "✗ blocking", Severity.CAUTION: "! warning", Severity.INFO: "i note"}


def escape(text: str) -> str:
    """Make a text that shows as itself in Markdown, on one line, also inside a table.

    Everything that could start markup, a link or HTML is escaped; line breaks and invisible
    characters become visible ones. The result must not begin a line of the page.
    """
    line = _SPECIAL.sub(
        lambda found: found[0] if found["interval"] else f"\\{found[0]}", visible_line(text)
    )
    return "".join(_ENTITIES.get(char, char) for char in line)


def report_markdown(report: AgreementReport, header: ReportHeader) -> str:
    """Write a report as Markdown.

    Args:
        report: What to write. Texts of claims are shown.
        header: What it is about.

    Returns:
        Text that ends with a line break; see `report_page` for the order. Of a picture it has the
        numbers.
    """
    parts = ("\n".join(_lines(block)) for block in report_page(report, header))
    return "\n\n".join(parts) + "\n"


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {escape(block.text)}"
        case Paragraph():
            text = _text(block.text)
            yield f"**{text}**" if block.lead else text
        case Items():
            yield from (f"- {_text(each)}" for each in block.items)
        case Notices():
            for each in block.notices:
                yield f"- {SIGNS[each.severity]} (`{each.code}`): {escape(each.text)}"
        case Table():
            yield from _table(block)
        case Picture():
            yield from _table(block.table)
        case _:
            assert_never(block)


def _table(table: Table) -> Iterator[str]:
    yield f"{escape(table.caption)}:"
    yield ""
    side = "---:" if table.figures else "---"
    rules = ["---", *[side] * (len(table.heads) - 1)]
    rows = [[_text(cell) for cell in row] for row in table.rows]
    for row in ([escape(head) for head in table.heads], rules, *rows):
        yield _row(row)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(text: Text) -> str:
    return "".join(map(_part, text)) if isinstance(text, tuple) else _part(text)


def _part(part: Part) -> str:
    if isinstance(part, Code):
        return f"`{part.text}`" if part.text.isalnum() else escape(part.text)
    return escape(part)
