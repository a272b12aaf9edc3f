"""An agreement report as one HTML page that needs nothing else: no script, no file, no network.

Whatever is in a report is text here: the elements are built by `markup`, which escapes it.
"""

from collections.abc import Iterator
from importlib.resources import files
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
    Plot,
    Table,
    Text,
)
from faithtui.agreement.documents.header import PlotFile, ReportHeader
from faithtui.agreement.documents.markdown_report import SIGNS
from faithtui.agreement.documents.markup import Markup, element, joined, text
from faithtui.agreement.documents.page import report_page
from faithtui.agreement.report.model import AgreementReport

NAME = "report.html"
"""What the page is called beside a report in JSON."""
LONG = 30
"""Characters: `-0.123 [-0.123, -0.123], n 999` stays on one line."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""A browser that finds anything to load in the page does not load it."""


def report_html(report: AgreementReport, header: ReportHeader) -> str:
    """Write a report as HTML.

    Args:
        report: What to write. Texts of claims are shown.
        header: What it is about.

    Returns:
        A page that is well-formed XML too. It has everything that the Markdown has, in the same
        order, and the plots.
    """
    return _page(f"Agreement of run {header.run}", report_page(report, header))


def report_plots(report: AgreementReport, header: ReportHeader) -> tuple[PlotFile, ...]:
    """List the plots of the page, in order."""
    return tuple(
        PlotFile(block.plot.id, f"{NAME}#{block.plot.id}", block.plot.alt)
        for block in report_page(report, header)
        if isinstance(block, Picture)
    )


def _page(title: str, blocks: tuple[Block, ...]) -> str:
    style = files("faithtui.agreement.documents").joinpath("report.css").read_text("utf-8")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(f"\n{style}")),
    )
    body = element("body", element("main", *_sections(blocks)))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en').text}\n"


def _sections(blocks: tuple[Block, ...]) -> Iterator[Markup]:
    """Put everything up to the next heading of a section into one element."""
    number = 0
    part: list[Markup] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level == 2:
            yield _section(number, part)
            number, part = number + 1, []
            if number == 1:
                yield _contents(blocks)
        part.append(_element(block, f"section-{number}"))
    yield _section(number, part)


def _section(number: int, parts: list[Markup]) -> Markup:
    if not number:
        return element("header", *_lines(parts))
    return element("section", *_lines(parts), aria_labelledby=f"section-{number}")


def _lines(parts: list[Markup]) -> Iterator[Markup]:
    for each in parts:
        yield joined(Markup("\n"), each)
    yield Markup("\n")


def _contents(blocks: tuple[Block, ...]) -> Markup:
    titles = [block.text for block in blocks if isinstance(block, Heading) and block.level == 2]
    links = (
        element("li", element("a", title, href=f"#section-{number}"))
        for number, title in enumerate(titles, 1)
    )
    return element("nav", element("ul", *links), aria_label="Sections")


def _element(block: Block, section: str) -> Markup:
    match block:
        case Heading():
            return element(f"h{block.level}", block.text, id=section if block.level == 2 else None)
        case Paragraph():
            return element("p", _text(block.text), class_="lead" if block.lead else None)
        case Items():
            return element("ul", *(element("li", _text(each)) for each in block.items))
        case Notices():
            return element(
                "ul",
                *(
                    element(
                        "li",
                        element("strong", SIGNS[each.severity]),
                        " ",
                        element("code", each.code),
                        f" {each.text}",
                        class_=each.severity.value,
                    )
                    for each in block.notices
                ),
                class_="notices",
            )
        case Table():
            return element("div", _table(block), class_="wide")
        case Picture():
            return _figure(block.plot, block.table, folded=block.folded)
        case _:
            assert_never(block)


def _figure(plot: Plot, table: Table, *, folded: bool) -> Markup:
    return element(
        "figure",
        element("figcaption", plot.title),
        plot.svg,
        element("p", plot.alt, class_="alt"),
        element(
            "details",
            element("summary", "The numbers"),
            element("div", _table(table), class_="wide"),
            open=None if folded else "open",
        ),
        id=plot.id,
    )


def _table(table: Table) -> Markup:
    heads = (element("th", head, scope="col") for head in table.heads)
    return element(
        "table",
        element("caption", table.caption),
        element("thead", element("tr", *heads)),
        element("tbody", *(_row(row) for row in table.rows)),
        class_="figures" if table.figures else "texts",
    )


def _row(row: tuple[Text, ...]) -> Markup:
    name, *cells = row
    return element(
        "tr",
        element("th", _text(name), scope="row"),
        *(element("td", _text(cell), class_=_width(cell)) for cell in cells),
    )


def _width(cell: Text) -> str | None:
    """Let a cell wrap that says in words why there is no number; numbers stay on one line."""
    return "long" if isinstance(cell, str) and len(cell) > LONG else None


def _text(found: Text) -> Markup:
    return joined(*map(_part, found)) if isinstance(found, tuple) else _part(found)


def _part(part: Part) -> Markup:
    return element("code", part.text) if isinstance(part, Code) else text(part)
