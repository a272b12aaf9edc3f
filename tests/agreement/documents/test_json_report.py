import json
from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from hypothesis import given

from faithtui.agreement.documents.files import (
    claims_csv,
    list_plots_of_html_report,
    report_html,
    report_json,
    report_markdown,
)
from faithtui.agreement.labelled_units import (
    AnswerUnit,
    ClaimUnit,
    DesignKind,
    LabelDesign,
    StratumCounts,
)
from faithtui.agreement.report.digest import hash_units
from faithtui.agreement.report.model import AgreementReport, MarginTest
from faithtui.agreement.report.report import agreement_report
from faithtui.agreement.report.settings import IntervalMethod, ReportLevel, ReportSettings
from faithtui.domain.labels.label_sets import FAITHFULNESS
from tests.agreement.building import (
    ANSWERS,
    CLAIMS,
    DATES,
    HEADER,
    HOSTILE,
    RULE,
    any_report,
    check_schema,
    claim,
    readings,
    report,
    rich,
)
from tests.agreement.documents.test_csv_report import beside


@pytest.mark.parametrize("level", [None, ReportLevel.CLAIMS, ReportLevel.ANSWERS])
@pytest.mark.parametrize(
    ("claims", "answers"),
    [(CLAIMS, ANSWERS), (CLAIMS, []), ([], ANSWERS), ([], []), (CLAIMS[-2:], []), (CLAIMS[:1], [])],
)
def test_the_json_validates_against_the_schema(
    claims: list[ClaimUnit], answers: list[AnswerUnit], level: ReportLevel | None
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
    assert document["rate"]["estimator"] == "bounds"
    assert document["rate"]["bounds"] == {"low": 0.72093, "high": 0.744186}
    assert document["design"]["valid_for_rate"] is False


def test_the_json_of_a_census_gives_peoples_rate_as_the_corrected_one() -> None:
    found = report(CLAIMS[:41])
    rate = json.loads(report_json(found, HEADER))["rate"]
    value = rate["label_mean"]["value"]
    assert value == pytest.approx(found.claims.rate.corrected_this_run.value, abs=1e-6)
    this_run = rate["corrected_this_run"]
    assert (this_run["ci_low"], this_run["value"], this_run["ci_high"]) == (value, value, value)
    future = rate["corrected_future"]
    assert future["ci_low"] < future["value"] == value < future["ci_high"]
    assert rate["estimator"] == "stratified"


def test_the_json_of_answers_names_its_unit_and_its_own_warnings() -> None:
    document = json.loads(report_json(report(), HEADER, level=ReportLevel.ANSWERS))
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
    assert report_html(report(), HEADER) == report_html(report(), moved)
    assert list(claims_csv(beside(CLAIMS), HEADER, DATES)) == list(
        claims_csv(beside(list(CLAIMS)), HEADER, DATES)
    )
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


def test_the_json_carries_the_digest_of_the_readings() -> None:
    header = replace(HEADER, input_digest=hash_units(CLAIMS, ANSWERS))
    document = json.loads(report_json(report(), header))
    assert document["input_digest"] == header.input_digest
    assert len(document["input_digest"]) == 64


def test_a_run_without_a_threshold_says_so() -> None:
    answers = [replace(each, passes=None) for each in ANSWERS]
    found = agreement_report(readings(CLAIMS, answers), FAITHFULNESS, replace(RULE, threshold=None))
    document = json.loads(report_json(found, HEADER))
    check_schema(document)
    assert document["scores"][0]["threshold"] is None
    assert "by the judge when no threshold is set" in report_markdown(found, HEADER)


@given(any_report())
def test_the_json_of_any_report_validates_against_the_schema(found: AgreementReport) -> None:
    plots = list_plots_of_html_report(found, HEADER)
    for level in ReportLevel:
        check_schema(json.loads(report_json(found, HEADER, level=level, plots=plots)))


@pytest.mark.parametrize(
    "wanted",
    [
        ReportSettings(),
        ReportSettings(interval=IntervalMethod.BOOTSTRAP, resamples=200, seed=3),
        ReportSettings(duplicates="majority", ordinal=True, blind_only=True, level=0.9),
    ],
)
def test_settings_stand_in_the_json(wanted: ReportSettings) -> None:
    document = json.loads(report_json(rich(settings=wanted), HEADER))
    check_schema(document)
    bootstrap = wanted.interval is IntervalMethod.BOOTSTRAP
    assert document["settings"]["seed"] == (3 if bootstrap else None)
    assert document["settings"]["resamples"] == (200 if bootstrap else None)
    assert document["settings"]["level"] == wanted.level
    assert document["settings"]["blind_only"] is wanted.blind_only
    assert document["scope"]["scale"] == ("ordinal" if wanted.ordinal else "nominal")
    asked = document["settings"]["interval"]
    assert asked.startswith("cluster_bootstrap" if bootstrap else "cluster_jackknife")
    percent = document["agreement"]["judge_vs_consensus"]["percent"]
    assert percent["level"] == wanted.level
    assert percent["ci_low"] < percent["value"] < percent["ci_high"]


def test_a_rich_report_fills_every_part_of_the_json() -> None:
    found = rich()
    document = json.loads(
        report_json(found, HEADER, plots=list_plots_of_html_report(found, HEADER))
    )
    check_schema(document)
    agreement = document["agreement"]
    assert agreement["judge_vs_consensus"]["weighted_by_design"] is True
    assert agreement["judge_vs_consensus"]["confusion"]["weighted"] is not None
    assert agreement["judge_vs_consensus"]["marginal_test"] is None
    assert {each["rater"] for each in agreement["judge_vs_rater"]} == {
        each["id"] for each in document["coverage"]["raters"]
    }
    assert len(agreement["between_humans"]["pairs"]) == 6
    assert agreement["blind_vs_shown"]["difference"]["status"] == "ok"
    assert document["design"]["kind"] == "stratified"
    assert [each["name"] for each in document["design"]["strata"]] == ["yes", "no", "idk"]
    assert document["rate"]["corrected_this_run"]["status"] == "ok"
    assert {each["level"] for each in document["scores"]} == {"window", "conversation"}
    assert document["calibration"]["source"] == "stated"
    assert {each["by"] for each in document["breakdowns"]} >= {"turn_position", "rater", "verdict"}
    named = [each["key"] for each in document["breakdowns"] if each["by"] == "metadata"]
    assert named == ["model"]
    assert document["comparison"]["b"] == "judge-y"
    assert document["progress"]["history"][-1]["labels"] == found.claims.table.n
    assert {each["id"] for each in document["plots"]} >= {
        "coverage",
        "confusion-claims",
        "pairs",
        "forest-turn_position",
        "threshold-window",
        "reliability",
        "progress",
        "rate-claims",
    }
    for each in document["plots"]:
        assert each["file"] == f"report.html#{each['id']}"
        assert each["alt"].endswith(".")


def test_without_a_page_there_are_no_plots_in_the_json() -> None:
    assert json.loads(report_json(rich(), HEADER))["plots"] == []


def test_units_drawn_by_verdict_are_no_sign_of_bias() -> None:
    # All 50 flagged claims and 50 of 250 others are labelled; people flag 25 of the one kind and 5
    # of the other, so as many of the run as the judge does.
    claims = [
        claim(i, judge, human)._replace(
            group=str(i % 30),
            stratum=judge,
            position=None if human is None else i,
        )
        for i, (judge, human) in enumerate(
            [("no", "no")] * 25
            + [("no", "yes")] * 25
            + [("yes", "yes")] * 45
            + [("yes", "no")] * 5
            + [("yes", None)] * 200
        )
    ]
    strata = (StratumCounts("no", 50, 50, 50, 0), StratumCounts("yes", 250, 50, 50, 0))
    drawn = LabelDesign(DesignKind.STRATIFIED, 300, strata, random_prefix=True)
    plain = LabelDesign(DesignKind.CONVENIENCE, 300)
    for design, warned in ((drawn, False), (plain, True)):
        found = agreement_report(readings(claims, design=design), FAITHFULNESS, RULE)
        assert ("marginal_bias" in {each.code for each in found.warnings}) is warned
        assert (found.claims.agreement.marginal_test is None) is not warned


def test_evidence_and_extraction_are_in_the_file_of_either_level() -> None:
    found = json.loads(report_json(rich(), HEADER, level=ReportLevel.CLAIMS))
    assert (found["schema_version"], found["evidence"]["claims"]) == ("1.2", 40)
    assert found["evidence"]["uncited"] == 6
    assert found["evidence"]["recall"]["clusters"] == 10
    extraction = found["extraction"]
    assert (extraction["answers"], extraction["fair"], extraction["missed"]) == (20, 100, 19)
    assert extraction["recall"]["value"] == pytest.approx(100 / 119, abs=1e-6)
    answers = json.loads(report_json(rich(), HEADER, level=ReportLevel.ANSWERS))
    assert (answers["evidence"], answers["extraction"]) == (found["evidence"], extraction)
    bare = json.loads(report_json(report(CLAIMS), HEADER))
    assert (bare["evidence"], bare["extraction"]) == (None, None)


def test_three_labels_used_as_often_by_both_sides_differ_in_no_margin() -> None:
    # Each label is mixed up one way only: far from symmetric, but both sides use each 50 times.
    pairs = [("yes", "no"), ("no", "idk"), ("idk", "yes")] * 20 + [
        (word, word) for word in ("yes", "no", "idk") for _ in range(30)
    ]
    claims = [
        claim(i, judge, human)._replace(group=str(i % 30)) for i, (judge, human) in enumerate(pairs)
    ]
    test = agreement_report(readings(claims), FAITHFULNESS, RULE).claims.agreement.marginal_test
    assert test == MarginTest("stuart_maxwell", 0.0, 2, 1.0)
