from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from faithtui.agreement.documents.files import report_markdown
from faithtui.agreement.documents.markdown_report import escape_markdown
from faithtui.agreement.documents.sections.judge_errors import MOST_DISAGREEMENTS
from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.labelled_units import DesignKind, LabelDesign
from faithtui.agreement.report.model import AgreementReport
from faithtui.agreement.report.report import agreement_report
from faithtui.agreement.report.settings import IntervalMethod, ReportSettings
from faithtui.domain.ids import ConversationId
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.text.visible_text import make_visible_line
from tests.agreement.building import (
    CLAIMS,
    HEADER,
    HOSTILE,
    RULE,
    any_report,
    claim,
    hostile_pages,
    readings,
    report,
    rich,
    stored_hostile,
)


class Cells(HTMLParser):
    """Text of the cells of a table, and every tag."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self.in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.in_cell = tag in ("th", "td")
        if self.in_cell:
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        self.in_cell = False

    def handle_data(self, data: str) -> None:
        if self.in_cell:
            self.cells[-1] += data


def drawn(page: str) -> Cells:
    """Draw Markdown with everything that could be read as markup switched on."""
    markdown = MarkdownIt("gfm-like", {"linkify": True, "html": True})
    # Of bare links only those with a scheme or `www.` count, as on the usual hosts.
    assert markdown.linkify is not None
    markdown.linkify.set({"fuzzy_link": False, "fuzzy_email": False})
    found = Cells()
    found.feed(markdown.render(page))
    found.close()
    return found


TABLE_TAGS = {"table", "thead", "tbody", "tr", "th", "td"}


@given(
    st.text(
        st.characters(exclude_categories=["Cs"]) | st.sampled_from("\\|`*_[]<>&~#$!\n"), max_size=40
    )
)
def test_any_text_stays_text_in_a_table_cell(text: str) -> None:
    check_cell(text)


def check_cell(text: str) -> None:
    found = drawn(f"| a | b |\n| --- | --- |\n| x{escape_markdown(text)}x | end |\n")
    assert found.tags == TABLE_TAGS
    assert found.cells == ["a", "b", f"x{make_visible_line(text)}x", "end"]


def test_intervals_stay_readable_and_links_do_not() -> None:
    assert escape_markdown("0.67 [0.55, 0.79]") == "0.67 [0.55, 0.79]"
    assert escape_markdown("86.8% [85.8%, -87.9%] in") == "86.8% [85.8%, -87.9%] in"
    assert escape_markdown("[1](x)") == r"\[1\](x)"
    assert escape_markdown("[1][2]") == r"\[1\][2]"
    assert escape_markdown("[x]") == r"\[x\]"


def headings(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("#")]


def test_the_markdown_says_the_answer_first_and_goes_on_in_order() -> None:
    found = report()
    page = report_markdown(found, HEADER)
    assert [line for line in headings(page) if not line.startswith("###")] == [
        "# Agreement of run 7",
        "## Before you use the figures",
        "## Share that passes: claims",
        "## Share that passes: answers",
        "## What was reviewed",
        "## Detecting unfaithful claims",
        "## Detecting unfaithful answers",
        "## Where it goes wrong",
        "## Agreement: claims",
        "## Agreement: answers",
        "## Annotators",
        "## Scores and thresholds",
        "## Calibration",
        "## Comparison with another judge",
        "## Progress and labels still needed",
        "## Method",
    ]
    assert page.index(found.headline) < page.index("## Before you use the figures")
    assert page.endswith(".\n")


def test_the_markdown_shows_every_number_with_its_n() -> None:
    found = report()
    kappa = found.claims.cohen_kappa
    page = report_markdown(found, HEADER)
    interval = f"{kappa.value:.3f} [{kappa.ci_low:.3f}, {kappa.ci_high:.3f}]"
    assert f"| Cohen's kappa | {interval} | 41 | 8 |" in page
    assert "| human yes | 24 (80.0%) | 6 (20.0%) | 0 | 30 | 1 |" in page
    assert (
        "| corrected: if annotators had labelled all of this run | "
        "withheld (labels are not from a random sample) |"
    ) in page


def test_the_markdown_without_labels_has_no_empty_tables() -> None:
    page = report_markdown(report([], []), HEADER)
    assert "No human labels yet" in page
    assert "Claims: nothing is labelled." not in page
    assert headings(page) == [
        "# Agreement of run 7",
        "## Before you use the figures",
        "## What was reviewed",
        "## Method",
    ]


def test_judged_and_not_labelled_has_the_rate_of_the_judge_alone() -> None:
    page = report_markdown(report([claim(i, "yes", None) for i in range(9)], []), HEADER)
    assert "Claims: nothing is labelled." in page
    assert "## Share that passes: claims" in page
    assert "there is nothing to correct the judge with" in page
    assert "| corrected: expected of future conversations | undefined (nothing to count) |" in page


def test_what_is_missing_is_said() -> None:
    page = report_markdown(report(), HEADER)
    for sentence in (
        "No claim of the figures has labels of two annotators",
        "Labels were not given both ways",
        "Nobody labelled a claim a second time",
        "The judge gives no confidence",
        "No second run was compared.",
    ):
        assert sentence in page


def test_a_rich_report_has_all_sections() -> None:
    found = rich()
    page = report_markdown(found, HEADER)
    for heading in (
        "### Inter-annotator agreement: claims",
        "### Labels given blind, and with the judge's verdict shown",
        "### Self-agreement of annotators (test-retest)",
        "### By turn",
        "### By reason code",
        "### Disagreements: claims",
        "### Windows",
        "### Conversations",
        "### Answers",
    ):
        assert heading in headings(page)
    assert "a random sample «by verdict» of 400 claims by strata, seed 7" in page
    assert "each compared one stands for" in page
    assert "each weighted by one over its probability of being labelled" in page
    assert "| inter-annotator agreement |" in page
    assert "| claim: claim extraction |" in page
    assert "| in force: 0.5 | suggested: " in page
    assert "chosen by cross-validation" in page
    assert "| McNemar for grouped pairs (Durkalski) | " in page
    assert "expected calibration error" in page
    assert "2.5 h" in page


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (ReportSettings(duplicates="worst"), "the most severe label of its windows"),
        (ReportSettings(blind_only=True), "Only verdicts given before the judge's was shown"),
        (ReportSettings(idk=IdkRule.PASS), "idk counts as faithful (--idk pass)"),
        (ReportSettings(idk=IdkRule.FAIL), "idk counts as unfaithful (--idk fail)"),
        (ReportSettings(idk=IdkRule.LIVE), "as in the run's score (--idk live)"),
        (
            ReportSettings(interval=IntervalMethod.BOOTSTRAP, resamples=150, seed=4),
            "drawn with replacement 150 times, seed 4",
        ),
        (ReportSettings(ordinal=True), "use quadratic weights"),
        (ReportSettings(level=0.9), "Intervals (90%)"),
    ],
)
def test_the_method_says_how_it_was_asked(wanted: ReportSettings, sentence: str) -> None:
    assert sentence in report_markdown(rich(settings=wanted), HEADER)


@pytest.mark.parametrize("kind", list(DesignKind))
def test_the_method_says_which_figures_of_few_groups_have_an_interval(kind: DesignKind) -> None:
    found = rich()
    claims = replace(found.claims, design=replace(found.claims.design, kind=kind))
    page = report_markdown(replace(found, claims=claims), HEADER)
    is_drawn = kind in (DesignKind.SIMPLE, DesignKind.STRATIFIED, DesignKind.CLUSTER)
    assert ("Below five groups: none, but two give one" in page) is is_drawn
    assert ("Below five groups: none." in page) is not is_drawn


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (DesignKind.CENSUS, "all 40 claims are labelled"),
        (DesignKind.SIMPLE, "a random sample «s» of 40 claims, seed 3, labelled in the drawn"),
        (DesignKind.CLUSTER, "2 of 8 conversations drawn whole at random «s», seed 3"),
        (DesignKind.OVERRIDE_ONLY, "these give neither agreement nor a rate"),
        (DesignKind.CONVENIENCE, "nothing says they were drawn at random"),
    ],
)
def test_the_page_says_how_labels_were_chosen(kind: DesignKind, sentence: str) -> None:
    claims = [each._replace(position=number) for number, each in enumerate(CLAIMS[:40])]
    design = LabelDesign(
        kind,
        40,
        name="s",
        seed=3,
        random_prefix=True,
        conversations=8,
        drawn_conversations=2,
    )
    found = agreement_report(readings(claims, design=design), FAITHFULNESS, RULE)
    assert sentence in report_markdown(found, HEADER)


def test_a_census_is_counted_and_not_estimated() -> None:
    page = report_markdown(report(CLAIMS[:40], []), HEADER)
    assert (
        "| corrected: if annotators had labelled all of this run | 75.0% (counted, not estimated) |"
        in page
    )
    assert "[75.0%, 75.0%]" not in page


def test_without_a_random_sample_there_are_bounds() -> None:
    assert "lies between 72.1% and 74.4%" in report_markdown(report(), HEADER)


def test_the_markdown_lists_some_disagreements_and_counts_the_rest() -> None:
    found = report([claim(i, "yes", "no") for i in range(MOST_DISAGREEMENTS + 3)], [])
    page = report_markdown(found, HEADER)
    assert page.count("| yes | no |  | claim ") == MOST_DISAGREEMENTS
    assert "3 more are not listed here." in page


def allowed_tags() -> set[str]:
    return TABLE_TAGS | {"h1", "h2", "h3", "p", "ul", "li", "strong", "code"}


@pytest.mark.parametrize("text", [*HOSTILE, *stored_hostile()])
def test_a_hostile_text_stays_text_in_a_table_cell(text: str) -> None:
    check_cell(text)


@pytest.mark.parametrize("text", hostile_pages())
def test_hostile_words_everywhere_make_no_tags(text: str) -> None:
    header = replace(HEADER, judge=text, metric=text, sources=(text,), options={text: text})
    found = drawn(report_markdown(rich(text), header))
    assert found.tags <= allowed_tags()
    # Disagreements list the text, and the name of its conversation.
    shown = make_visible_line(text).strip()
    assert sum(cell.strip() == shown for cell in found.cells) >= 2 * len(
        rich(text).claims.disagreements
    )


@given(any_report())
@settings(max_examples=15)
def test_any_report_makes_a_page_of_tables_that_are_straight(found: AgreementReport) -> None:
    columns = 0
    for line in report_markdown(found, HEADER).splitlines():
        if not line.startswith("|"):
            columns = 0
            continue
        # A bar inside a cell is escaped.
        here = line.replace("\\|", "").count("|")
        assert here == (columns or here)
        columns = here
    # Nothing that has no value was written as a number.
    assert " nan" not in report_markdown(found, HEADER).lower()
    assert "None" not in report_markdown(found, HEADER).replace("None of", "")


def test_a_page_without_anything_to_complain_about_has_no_such_sections() -> None:
    claims = [
        claim(2 * i, judge, human)._replace(group=str(i), conversation=ConversationId(i))
        for i, (judge, human) in enumerate([("yes", "yes"), ("no", "no")] * 25)
    ]
    assert "### Disagreements" not in report_markdown(report(claims, []), HEADER)
    claims[0] = claims[0]._replace(judge="no")
    claims[1] = claims[1]._replace(judge="yes")
    assert "## Before you use" not in report_markdown(report(claims, []), HEADER)


def test_evidence_and_extraction_have_sections_where_there_is_anything_to_say() -> None:
    page = report_markdown(rich(), HEADER)
    assert "On 40 claims annotators marked the words that decide the verdict" in page
    assert "For 6 of them the judge named none" in page
    assert "intersection over union" in page
    assert "Annotators declared 20 answers complete" in page
    assert "10 labelled x are left out" in page
    assert "20 have no label and count as fair" in page
    bare = report_markdown(report(CLAIMS), HEADER)
    assert "## Evidence" not in bare
    assert "Claim extraction" not in bare
