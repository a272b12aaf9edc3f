import csv
import importlib
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.labels import FAITHFULNESS
from faithtui.domain.plain import visible_line
from faithtui.domain.readings import AnswerReading, ClaimReading
from faithtui.domain.report import AgreementReport, Level, agreement_report, readings_digest
from faithtui.domain.scores import ScoringRule, passes, scored
from faithtui.interchange.report_csv import COLUMNS, harmless
from faithtui.interchange.report_files import (
    ReportHeader,
    claims_csv,
    report_json,
    report_markdown,
)
from faithtui.interchange.report_markdown import LISTED, escape

SCHEMA = Path(__file__).parents[2] / "fixtures" / "agreement" / "report.schema.json"
RULE = ScoringRule(("yes",), 1.0)

HEADER = ReportHeader(
    run=7,
    metric="turn-faithfulness",
    judge="offline",
    options={"penalize_ambiguous_claims": True, "threshold": 0.5},
    sources=("mtrag",),
    prompt_digest="ab12",
    input_digest="0" * 64,
    windows=40,
    vacuous_windows=2,
    created_at=datetime(2026, 1, 4, 22, 10, tzinfo=UTC),
    generated_at=datetime(2026, 1, 5, 10, 0, tzinfo=UTC),
    tool_version="0.1.0",
)

HOSTILE = [
    "<script>alert(1)</script>",
    "a | b",
    "`code` *bold* _it_ ~~gone~~ **x**",
    "[link](javascript:alert(1)) ![img](x)",
    "https://example.org/x?a=1&b=2 www.example.org",
    "first\nsecond\r\n# third",
    "&lt; &#124; &amp;",
    "\\| \\\\ \\<",
    "$x^2$ {{x}} <!-- c -->",
    "\x1b[31mred\u202eflip\x00",
]


def claim(number: int, judge: str | None, human: str | None, text: str = "") -> ClaimReading:
    return ClaimReading(
        claim=ClaimId(number),
        conversation=ConversationId(number % 8),
        key=f"key {number % 8}",
        group=f"group {number % 8}",
        turn=1,
        text=text or f"claim {number}",
        judge=judge,
        human=human,
        reviewers=0 if human is None else 1,
        windows=1 + number % 2,
        steady=number != 3,
        blind=None if human is None else True,
    )


def answer(number: int, share: float, human: str, rating: float) -> AnswerReading:
    score = scored(share)
    return AnswerReading(
        conversation=ConversationId(number % 8),
        key=f"key {number % 8}",
        group=f"group {number % 8}",
        turn=1,
        score=score,
        claims=2,
        passes=passes(score, RULE),
        human=human,
        rating=rating,
        raters=3,
    )


CLAIMS = [
    *(claim(i, "no" if i % 5 == 0 else "yes", "no" if i % 4 == 0 else "yes") for i in range(40)),
    claim(40, "idk", "idk"),
    claim(41, None, "yes"),
    claim(42, "yes", None),
    claim(43, "yes", "x"),
]
ANSWERS = [
    answer(i, i % 3 / 2, "no" if i % 4 == 0 else "yes", (0.0, 0.5, 1.0, 1.0)[i % 4])
    for i in range(24)
]


def report(
    claims: Sequence[ClaimReading] = CLAIMS, answers: Sequence[AnswerReading] = ANSWERS
) -> AgreementReport:
    return agreement_report(claims, answers, FAITHFULNESS, RULE)


def check_schema(document: Any) -> None:
    # The package ships no types.
    jsonschema: Any = importlib.import_module("jsonschema")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)


@pytest.mark.parametrize("level", [None, Level.CLAIMS, Level.ANSWERS])
@pytest.mark.parametrize(
    ("claims", "answers"),
    [(CLAIMS, ANSWERS), (CLAIMS, []), ([], ANSWERS), ([], []), (CLAIMS[-2:], []), (CLAIMS[:1], [])],
)
def test_the_json_validates_against_the_schema(
    claims: list[ClaimReading], answers: list[AnswerReading], level: Level | None
) -> None:
    check_schema(json.loads(report_json(report(claims, answers), HEADER, level=level)))


def test_the_json_holds_the_figures_of_the_report() -> None:
    found = report()
    document = json.loads(report_json(found, HEADER))
    agreement = document["agreement"]["judge_vs_consensus"]
    assert document["scope"]["unit"] == "claim"
    assert document["coverage"]["units"] == 44
    assert document["coverage"]["by_verdict"]["none"] == {"units": 1, "reviewed": 1, "skipped": 0}
    assert agreement["n"] == found.claims.table.n == 41
    assert agreement["cohen_kappa"]["value"] == pytest.approx(
        found.claims.cohen_kappa.value, abs=1e-6
    )
    assert agreement["cohen_kappa"]["method"] == "cluster_jackknife_t_atanh"
    assert document["detection"]["strict"]["tp"] == found.claims.strict.tp
    assert document["scores"][0]["threshold"]["at_current"]["fn"] == found.answers.strict.fn
    assert document["rate"]["corrected_future"]["status"] == "withheld"
    assert document["rate"]["estimator"] == "none"
    assert document["design"]["valid_for_rate"] is False


def test_the_json_of_a_census_gives_peoples_rate_as_the_corrected_one() -> None:
    found = report(CLAIMS[:41])
    rate = json.loads(report_json(found, HEADER))["rate"]
    value = rate["label_mean"]["value"]
    assert value == pytest.approx(found.claims.human_rate.value, abs=1e-6)
    this_run = rate["corrected_this_run"]
    assert (this_run["ci_low"], this_run["value"], this_run["ci_high"]) == (value, value, value)
    assert rate["corrected_future"]["method"] == "cluster_jackknife_t_logit"
    assert rate["estimator"] == "stratified"


def test_the_json_of_answers_names_its_unit_and_its_own_warnings() -> None:
    document = json.loads(report_json(report(), HEADER, level=Level.ANSWERS))
    codes = {each["code"] for each in document["warnings"]}
    assert document["scope"]["unit"] == "window"
    assert document["scope"]["categories"] == ["yes", "no"]
    assert "unit_is_answer" in codes
    assert "invalid_verdicts" not in codes


def test_equal_input_gives_equal_bytes_and_the_time_is_utc() -> None:
    here = timezone(timedelta(hours=5))
    moved = replace(HEADER, generated_at=HEADER.generated_at.astimezone(here))
    assert report_json(report(), HEADER) == report_json(report(), moved)
    assert report_markdown(report(), HEADER) == report_markdown(report(), moved)
    assert claims_csv(CLAIMS) == claims_csv(list(CLAIMS))
    assert '"generated_at": "2026-01-05T10:00:00Z"' in report_json(report(), HEADER)


def test_texts_enter_the_json_on_request_only() -> None:
    found = report([claim(i, "yes", "no", f"secret {i}") for i in range(9)])
    assert "secret" not in report_json(found, HEADER)
    shown = json.loads(report_json(found, HEADER, include_text=True))
    assert shown["disagreements"][3]["text"] == "secret 3"
    check_schema(shown)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_ascii_and_unchanged_in_the_json(text: str) -> None:
    found = report_json(report([claim(0, "yes", "no", text)]), HEADER, include_text=True)
    assert found.isascii()
    assert "\x1b" not in found
    assert json.loads(found)["disagreements"][0]["text"] == text


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


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_stays_text_in_a_table_cell(text: str) -> None:
    check_cell(text)


@given(
    st.text(
        st.characters(exclude_categories=["Cs"]) | st.sampled_from("\\|`*_[]<>&~#$!\n"), max_size=40
    )
)
def test_any_text_stays_text_in_a_table_cell(text: str) -> None:
    check_cell(text)


def check_cell(text: str) -> None:
    found = drawn(f"| a | b |\n| --- | --- |\n| x{escape(text)}x | end |\n")
    assert found.tags == TABLE_TAGS
    assert found.cells == ["a", "b", f"x{visible_line(text)}x", "end"]


def test_the_markdown_says_the_answer_first_and_goes_on_in_order() -> None:
    found = report()
    page = report_markdown(found, HEADER)
    headings = [line for line in page.splitlines() if line.startswith("#")]
    assert headings == [
        "# Agreement of run 7",
        "## Before you use the figures",
        "## What was labelled",
        "## Claims",
        "## Answers",
        "## Scores",
        "## Where they differ: claims",
        "## Where they differ: answers",
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
    assert "| people yes | 24 | 6 | 0 | 30 | 1 |" in page
    assert "| passing, by people | withheld (labels are not from a random sample) |" in page


def test_the_markdown_without_labels_has_no_empty_tables() -> None:
    page = report_markdown(report([], []), HEADER)
    assert "No human labels yet" in page
    assert "## Claims" not in page
    assert "## Scores" not in page


def test_the_markdown_lists_some_disagreements_and_counts_the_rest() -> None:
    found = report([claim(i, "yes", "no") for i in range(LISTED + 3)], [])
    page = report_markdown(found, HEADER)
    assert page.count("| yes | no | claim ") == LISTED
    assert "3 more are not listed here." in page


def test_a_hostile_page_has_no_tags_of_its_own() -> None:
    text = " ".join(HOSTILE)
    header = replace(HEADER, judge=text, metric=text, sources=(text,), options={text: text})
    claims = [replace(claim(i, "yes", "no", text), key=text) for i in range(3)]
    found = drawn(report_markdown(report(claims), header))
    allowed = TABLE_TAGS | {"h1", "h2", "p", "ul", "li", "strong", "code"}
    assert found.tags <= allowed
    assert found.cells.count(visible_line(text)) == 6


def test_the_csv_has_one_flat_row_per_claim() -> None:
    rows = list(csv.reader(StringIO(claims_csv(CLAIMS), newline="")))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len(CLAIMS) + 1
    by_claim = {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in rows[1:]}
    assert by_claim["4"]["judge"] == "yes"
    assert by_claim["4"]["human"] == "no"
    assert by_claim["4"]["same"] == "no"
    assert by_claim["3"]["steady"] == "no"
    assert by_claim["41"]["judge"] == by_claim["41"]["same"] == ""
    assert by_claim["42"]["human"] == by_claim["42"]["blind"] == ""


def test_numbers_stay_numbers_in_the_csv() -> None:
    line = claims_csv([claim(12, "yes", "no")]).splitlines()[1]
    assert line == ('12,"key 4","group 4",1,"claim 12","yes","no","no",1,"yes",1,"yes"')


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
def test_a_cell_that_looks_like_a_formula_is_made_harmless(start: str) -> None:
    text = f"{start}cmd|' /C calc'!A0"
    reading = replace(claim(1, "yes", "no", text), key=text, group=text, human=text)
    _, row = csv.reader(StringIO(claims_csv([reading]), newline=""))
    cells = dict(zip(COLUMNS, row, strict=True))
    assert {cells[name] for name in ("conversation", "group", "text", "human")} == {f"'{text}"}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_harmless_cell_never_starts_a_formula(text: str) -> None:
    cell = harmless(text)
    assert cell in (text, f"'{text}")
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_comes_back_from_the_csv(text: str) -> None:
    _, row = csv.reader(StringIO(claims_csv([claim(1, "yes", "no", text)]), newline=""))
    assert row[COLUMNS.index("text")].removeprefix("'") == text.removeprefix("'")


def test_the_json_carries_the_digest_of_the_readings() -> None:
    header = replace(HEADER, input_digest=report().digest)
    document = json.loads(report_json(report(), header))
    assert document["input_digest"] == readings_digest(CLAIMS, ANSWERS)
    assert len(document["input_digest"]) == 64


def test_a_run_without_a_threshold_says_so() -> None:
    answers = [replace(each, passes=None) for each in ANSWERS]
    found = agreement_report(CLAIMS, answers, FAITHFULNESS, replace(RULE, threshold=None))
    document = json.loads(report_json(found, HEADER))
    check_schema(document)
    assert document["scores"][0]["threshold"] is None
    assert "by the judge when no threshold is set" in report_markdown(found, HEADER)


def test_a_page_without_anything_to_complain_about_has_no_such_sections() -> None:
    claims = [
        replace(claim(2 * i, judge, human), group=str(i), conversation=ConversationId(i))
        for i, (judge, human) in enumerate([("yes", "yes"), ("no", "no")] * 25)
    ]
    assert "## Where they differ" not in report_markdown(report(claims, []), HEADER)
    claims[0] = replace(claims[0], judge="no")
    claims[1] = replace(claims[1], judge="yes")
    assert "## Before you use" not in report_markdown(report(claims, []), HEADER)
