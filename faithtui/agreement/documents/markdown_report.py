"""An agreement report as one page of Markdown for readers: the answer first.

Text from annotators, judges and files is escaped, so that it stays text whatever it contains.
"""

import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from faithtui.agreement.documents.blocks import (
    Block,
    Code,
    Heading,
    ItemList,
    Notices,
    Paragraph,
    Part,
    PlotWithTable,
    Table,
    Text,
)
from faithtui.agreement.documents.header import ReportHeader
from faithtui.agreement.documents.page import make_report_page
from faithtui.agreement.report.model import AgreementReport
from faithtui.agreement.report.settings import Severity
from faithtui.domain.text.visible_text import make_visible_line

_SPECIAL = re.compile(
    r"(?P<interval>\[[-+]?\d[\d.,%+\- ]*\](?![\[(:]))"
    r"|[\\`*_{}\[\]|~$#@]|(?<=[A-Za-z]):(?=//)|(?<=www)\.",
    re.IGNORECASE,
)
"""What can start markup, a table cell, a formula or a link inside a line; intervals cannot."""

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}

SEVERITY_SIGNS = {
    Severity.BLOCKING: "✗ blocking",
    Severity.CAUTION: "! warning",
    Severity.INFO: "i note",
}


def escape_markdown(text: str) -> str:
    """Make a text that shows as itself in Markdown, on one line, also inside a table.

    Everything that could start markup, a link or HTML is escaped; line breaks and invisible
    characters become visible ones. The result must not begin a line of the page.
    """
    line = _SPECIAL.sub(
        lambda found: found[0] if found["interval"] else f"\\{found[0]}", make_visible_line(text)
    )
    return "".join(_ENTITIES.get(char, char) for char in line)


def report_markdown(report: AgreementReport, header: ReportHeader) -> str:
    """Write a report as Markdown.

    Args:
        report: What to write. Texts of claims are shown.
        header: What it is about.

    Returns:
        Text that ends with a line break; see `make_report_page` for the order. Of a picture it has
        the numbers.
    """
    parts = ("\n".join(_block_lines(block)) for block in make_report_page(report, header))
    return "\n\n".join(parts) + "\n"


def _block_lines(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {escape_markdown(block.text)}"
        case Paragraph():
            text = _render_text(block.text)
            yield f"**{text}**" if block.lead else text
        case ItemList():
            yield from (f"- {_render_text(each)}" for each in block.items)
        case Notices():
            for each in block.notices:
                yield (
                    f"- {SEVERITY_SIGNS[each.severity]} (`{each.code}`): "
                    f"{escape_markdown(each.text)}"
                )
        case Table():
            yield from _table_lines(block)
        case PlotWithTable():
            yield from _table_lines(block.table)
        case _:
            assert_never(block)


def _table_lines(table: Table) -> Iterator[str]:
    yield f"{escape_markdown(table.caption)}:"
    yield ""
    side = "---:" if table.figures else "---"
    rules = ["---", *[side] * (len(table.heads) - 1)]
    rows = [[_render_text(cell) for cell in row] for row in table.rows]
    for row in ([escape_markdown(head) for head in table.heads], rules, *rows):
        yield _table_row_line(row)


def _table_row_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _render_text(text: Text) -> str:
    return (
        "".join(map(_render_text_or_code, text))
        if isinstance(text, tuple)
        else _render_text_or_code(text)
    )


def _render_text_or_code(part: Part) -> str:
    if isinstance(part, Code):
        return f"`{part.text}`" if part.text.isalnum() else escape_markdown(part.text)
    return escape_markdown(part)
