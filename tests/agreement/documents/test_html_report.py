"""The page: what it says, that it needs nothing else, and that no text in it is markup."""

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

from faithtui.agreement.documents.files import (
    list_plots_of_html_report,
    report_html,
    report_markdown,
)
from faithtui.agreement.report.headline import describe_judge_as_annotator
from faithtui.agreement.report.model import AgreementReport
from faithtui.agreement.report.settings import ReportLevel
from faithtui.domain.text.visible_text import make_visible
from tests.agreement.building import (
    HEADER,
    HOSTILE,
    any_report,
    hostile_pages,
    report,
    rich,
)

TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "nav", "section"),
    *("h1", "h2", "h3", "p", "ul", "li", "a", "strong", "code", "div", "figure", "figcaption"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary"),
    *("svg", "desc", "text", "line", "path", "circle", "rect"),
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "id", "class", "href", "scope", "open"),
    *("role", "aria-labelledby", "aria-label", "viewbox", "width", "height", "x", "y", "x1", "x2"),
    *("y1", "y2", "cx", "cy", "r", "d", "fill", "fill-opacity", "stroke", "text-anchor"),
    "transform",
}


class Page(HTMLParser):
    """What a browser sees."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self.comments = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(str(value))
            if name == "href":
                self.links.append(str(value))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments += 1


def check_page(text: str) -> Page:
    """Check what must hold of any page, whatever is in it."""
    page = Page(text)
    assert set(page.tags) <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert page.comments == 0
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    tree = ElementTree.fromstring(text)
    style = "".join(each.text or "" for each in tree.iter("style"))
    assert "url(" not in style
    assert "@import" not in style
    for element in tree.iter():
        labels = element.get("aria-labelledby")
        assert labels is None or set(labels.split()) <= set(page.ids)
    for svg in tree.iter("svg"):
        assert svg.get("role") == "img"
        title, description = svg.find("title"), svg.find("desc")
        assert title is not None
        assert title.text
        assert description is not None
        assert description.text
        assert svg.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    for figure in tree.iter("figure"):
        assert len(list(figure.iter("svg"))) == 1
        assert figure.find("details//table/tbody/tr/td") is not None
    assert len(list(tree.iter("svg"))) == len(list(tree.iter("figure")))
    for each in tree.iter("table"):
        assert each.find("caption") is not None
        assert {head.get("scope") for head in each.iterfind("thead/tr/th")} == {"col"}
        assert {head.get("scope") for head in each.iterfind("tbody/tr/th")} <= {"row"}
        wide = {len(list(row)) for row in each.iter("tr")}
        assert len(wide) == 1
    return page


def test_a_rich_page_is_sound_and_needs_nothing_else() -> None:
    text = report_html(rich(), HEADER)
    page = check_page(text)
    assert page.tags["svg"] >= 10
    assert page.tags["script"] == 0
    assert "//" not in text.replace("</", "")
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_the_page_has_everything_that_the_markdown_has() -> None:
    for found in (rich(), report(), report([], [])):
        html = Page(report_html(found, HEADER))
        shown = " ".join(" ".join(html.texts).split())
        drawn = Page(
            MarkdownIt("gfm-like", {"linkify": False}).render(report_markdown(found, HEADER))
        )
        for text in drawn.texts:
            for piece in text.split("\n"):
                words = " ".join(piece.split()).rstrip(":").removeprefix("): ").strip("( ")
                assert words in shown
        assert drawn.tags["tr"] == html.tags["tr"]
        assert [drawn.tags[f"h{level}"] for level in (1, 2, 3)] == [
            html.tags[f"h{level}"] for level in (1, 2, 3)
        ]


def test_the_page_goes_in_the_order_of_its_contents() -> None:
    tree = ElementTree.fromstring(report_html(rich(), HEADER))
    links = [each.text for each in tree.iterfind(".//nav//a")]
    assert links == [each.text for each in tree.iter("h2")]
    first = next(tree.iter("header"))
    lead = first.find("p[@class='lead']")
    assert lead is not None
    as_annotator = describe_judge_as_annotator(rich(), ReportLevel.CLAIMS)
    assert as_annotator.startswith("The judge may not replace an annotator yet: ")
    assert lead.text == f"{rich().headline} {as_annotator}"


def test_the_plots_of_the_json_are_in_the_page() -> None:
    ids = Page(report_html(rich(), HEADER)).ids
    plots = list_plots_of_html_report(rich(), HEADER)
    assert plots
    assert all(
        each.file.split("#") == ["report.html", each.id] and each.id in ids for each in plots
    )


@pytest.mark.parametrize("text", [*HOSTILE, *hostile_pages()])
def test_hostile_words_everywhere_are_words(text: str) -> None:
    header = replace(HEADER, judge=text, metric=text, sources=(text,), options={text: text})
    page = check_page(report_html(rich(text), header))
    shown = "".join(page.texts)
    # Claims, the judge's name, the sample: as they are, but for what is invisible.
    assert shown.count(make_visible(text)) > len(rich(text).claims.disagreements)


@pytest.mark.thorough
@given(any_report())
@settings(max_examples=25)
def test_any_report_makes_a_sound_page_and_the_same_one_again(found: AgreementReport) -> None:
    text = report_html(found, HEADER)
    check_page(text)
    assert text == report_html(found, HEADER)
    assert re.search(r"\bnan\b|\binf\b", text) is None


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.thorough
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_a_browser_draws_the_page_without_complaint(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(report_html(rich(), HEADER), encoding="utf-8")
    pdf = tmp_path / "report.pdf"
    done = subprocess.run(
        [
            str(CHROMIUM),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--enable-logging=stderr",
            "--v=0",
            f"--print-to-pdf={pdf}",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert pdf.read_bytes().startswith(b"%PDF")
    assert "CONSOLE" not in done.stderr
