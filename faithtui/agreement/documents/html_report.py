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
    ItemList,
    Notices,
    Paragraph,
    Part,
    Plot,
    PlotWithTable,
    Table,
    Text,
)
from faithtui.agreement.documents.header import PlotFile, ReportHeader
from faithtui.agreement.documents.markdown_report import SEVERITY_SIGNS
from faithtui.agreement.documents.markup import (
    Markup,
    concatenate_markup,
    escape_to_markup,
    make_element,
)
from faithtui.agreement.documents.page import make_report_page
from faithtui.agreement.report.model import AgreementReport

REPORT_FILE_NAME = "report.html"
"""What the page is called beside a report in JSON."""
LONGEST_ON_ONE_LINE = 30
"""Characters: `-0.123 [-0.123, -0.123], n 999` stays on one line."""
CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
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
    return _render_page(f"Agreement of run {header.run}", make_report_page(report, header))


def list_plots_of_html_report(
    report: AgreementReport, header: ReportHeader
) -> tuple[PlotFile, ...]:
    """List the plots of the page, in order."""
    return tuple(
        PlotFile(block.plot.id, f"{REPORT_FILE_NAME}#{block.plot.id}", block.plot.alt)
        for block in make_report_page(report, header)
        if isinstance(block, PlotWithTable)
    )


def _render_page(title: str, blocks: tuple[Block, ...]) -> str:
    style = files("faithtui.agreement.documents").joinpath("report.css").read_text("utf-8")
    head = make_element(
        "head",
        make_element("meta", charset="utf-8"),
        make_element("meta", http_equiv="Content-Security-Policy", content=CONTENT_POLICY),
        make_element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        make_element("meta", name="color-scheme", content="light dark"),
        make_element("title", title),
        make_element("style", Markup(f"\n{style}")),
    )
    body = make_element("body", make_element("main", *_render_sections(blocks)))
    return f"<!DOCTYPE html>\n{make_element('html', head, body, lang='en').text}\n"


def _render_sections(blocks: tuple[Block, ...]) -> Iterator[Markup]:
    """Put everything up to the next heading of a section into one element."""
    number = 0
    part: list[Markup] = []
    for block in blocks:
        if isinstance(block, Heading) and block.level == 2:
            yield _render_section(number, part)
            number, part = number + 1, []
            if number == 1:
                yield _render_table_of_contents(blocks)
        part.append(_render_block(block, f"section-{number}"))
    yield _render_section(number, part)


def _render_section(number: int, parts: list[Markup]) -> Markup:
    if not number:
        return make_element("header", *_join_with_line_breaks(parts))
    return make_element(
        "section", *_join_with_line_breaks(parts), aria_labelledby=f"section-{number}"
    )


def _join_with_line_breaks(parts: list[Markup]) -> Iterator[Markup]:
    for each in parts:
        yield concatenate_markup(Markup("\n"), each)
    yield Markup("\n")


def _render_table_of_contents(blocks: tuple[Block, ...]) -> Markup:
    titles = [block.text for block in blocks if isinstance(block, Heading) and block.level == 2]
    links = (
        make_element("li", make_element("a", title, href=f"#section-{number}"))
        for number, title in enumerate(titles, 1)
    )
    return make_element("nav", make_element("ul", *links), aria_label="Sections")


def _render_block(block: Block, section: str) -> Markup:
    match block:
        case Heading():
            return make_element(
                f"h{block.level}", block.text, id=section if block.level == 2 else None
            )
        case Paragraph():
            return make_element(
                "p", _render_text(block.text), class_="lead" if block.lead else None
            )
        case ItemList():
            return make_element(
                "ul", *(make_element("li", _render_text(each)) for each in block.items)
            )
        case Notices():
            return make_element(
                "ul",
                *(
                    make_element(
                        "li",
                        make_element("strong", SEVERITY_SIGNS[each.severity]),
                        " ",
                        make_element("code", each.code),
                        f" {each.text}",
                        class_=each.severity.value,
                    )
                    for each in block.notices
                ),
                class_="notices",
            )
        case Table():
            return make_element("div", _render_table(block), class_="wide")
        case PlotWithTable():
            return _render_plot(block.plot, block.table, folded=block.folded)
        case _:
            assert_never(block)


def _render_plot(plot: Plot, table: Table, *, folded: bool) -> Markup:
    return make_element(
        "figure",
        make_element("figcaption", plot.title),
        plot.svg,
        make_element("p", plot.alt, class_="alt"),
        make_element(
            "details",
            make_element("summary", "The numbers"),
            make_element("div", _render_table(table), class_="wide"),
            open=None if folded else "open",
        ),
        id=plot.id,
    )


def _render_table(table: Table) -> Markup:
    heads = (make_element("th", head, scope="col") for head in table.heads)
    return make_element(
        "table",
        make_element("caption", table.caption),
        make_element("thead", make_element("tr", *heads)),
        make_element("tbody", *(_render_row(row) for row in table.rows)),
        class_="figures" if table.figures else "texts",
    )


def _render_row(row: tuple[Text, ...]) -> Markup:
    name, *cells = row
    return make_element(
        "tr",
        make_element("th", _render_text(name), scope="row"),
        *(
            make_element("td", _render_text(cell), class_=_choose_cell_class(cell))
            for cell in cells
        ),
    )


def _choose_cell_class(cell: Text) -> str | None:
    """Let a cell wrap that says in words why there is no number; numbers stay on one line."""
    return "long" if isinstance(cell, str) and len(cell) > LONGEST_ON_ONE_LINE else None


def _render_text(found: Text) -> Markup:
    return (
        concatenate_markup(*map(_render_text_or_code, found))
        if isinstance(found, tuple)
        else _render_text_or_code(found)
    )


def _render_text_or_code(part: Part) -> Markup:
    return make_element("code", part.text) if isinstance(part, Code) else escape_to_markup(part)
