"""The agreement screen beside its matrix: parts that a key enlarges, and switches."""

import contextlib
import re
import sqlite3
import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.labelled_units import DesignKind, LabelDesign, StratumCounts
from faithtui.agreement.report.headline import describe_judge_as_annotator
from faithtui.agreement.report.model import AgreementReport
from faithtui.agreement.report.report import agreement_report
from faithtui.agreement.report.settings import IntervalMethod, ReportLevel, ReportSettings
from faithtui.domain.estimates import Estimate, EstimateMethod, EstimateStatus
from faithtui.domain.ids import SampleId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.engine.review.reports import agreement_report as agreement_report_module
from faithtui.engine.review.reports.agreement_report import RunAgreement
from faithtui.metrics.base import MetricSpec
from faithtui.metrics.registry import find_metric
from faithtui.store.store import Store
from faithtui.tui.agreement import figure_lines as figures
from faithtui.tui.agreement import matrix_lines
from faithtui.tui.agreement.agreement_screen import (
    PARTS,
    AgreementScreen,
    choose_first_level,
    describe_other_level,
)
from faithtui.tui.agreement.curve_lines import (
    BAND,
    POINT,
    format_interval_curve_lines,
    format_reliability_bin,
    format_share_bar,
)
from faithtui.tui.app import FaithApp
from faithtui.tui.screen.dialogs import PickDialog
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Line, count_cells_of_pieces
from faithtui.tui.widgets.scroll_pane import Pane
from faithtui.tui.widgets.zoomable_panes import Panes
from tests.agreement.building import readings
from tests.agreement.report.test_parts import RULE, claim, said, stratified
from tests.agreement.report.test_report import answer
from tests.tui.driving import (
    calm,
    opened,
    press,
    screen_text,
    status,
    text_of,
    title,
    type_ahead,
    until,
)
from tests.tui.test_screens import labelled

SIZES = [(80, 24), (120, 40), (200, 60)]


async def agreeing(pilot: Pilot[None]) -> AgreementScreen:
    await opened(pilot)
    await press(pilot, "a")
    screen = pilot.app.screen
    assert isinstance(screen, AgreementScreen)
    if screen.level is not ReportLevel.CLAIMS:
        await press(pilot, "m")
    return screen


@pytest.mark.parametrize("size", SIZES)
async def test_keys_wait_for_the_first_figures_and_the_summary_is_first(
    app: FaithApp, store_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    labelled(store_path)
    compute, going = agreement_report_module.compute_run_agreement, threading.Event()

    def wait(*args: Any) -> RunAgreement:
        going.wait(20)
        return compute(*args)

    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        # The list of runs, which opens first, computes agreement too.
        monkeypatch.setattr(agreement_report_module, "compute_run_agreement", wait)
        type_ahead(app, "g", "a", "m")
        await until(pilot, lambda: isinstance(app.screen, AgreementScreen))
        screen = app.screen
        assert isinstance(screen, AgreementScreen)
        await until(pilot, lambda: "Computing agreement …" in text_of(app, "warnings"))
        assert screen.level is None
        going.set()
        await calm(pilot)
        assert screen.agreement is not None
        assert screen.level is not screen.agreement.report.primary_level_report.level, (
            "m is not lost"
        )
        assert "Computing" not in screen_text(app)
        assert app.focused is screen.query_one("#warnings")
        await press(pilot, "tab", "shift+tab")
        assert app.focused is screen.query_one("#warnings")
        assert re.search(r"Summary and \d+ warnings?", screen_text(app))


def test_claims_of_a_sample_come_before_rated_answers_and_the_other_level_is_named() -> None:
    rated = [answer(i, 1.0 if i % 3 else 0.0, "yes" if i % 4 else "no") for i in range(40)]
    few = [claim(0, "yes", "yes"), claim(1, "yes", "yes")]
    found = agreement_report(readings(few, rated), FAITHFULNESS, RULE, ReportSettings())
    assert choose_first_level(found) is ReportLevel.ANSWERS
    drawn = replace(
        found,
        claims=replace(found.claims, design=LabelDesign(DesignKind.SIMPLE, 2, sample=SampleId(1))),
    )
    assert choose_first_level(drawn) is ReportLevel.CLAIMS
    assert describe_other_level(drawn, ReportLevel.CLAIMS, "m") == "m 40 labelled answers"
    assert describe_other_level(drawn, ReportLevel.ANSWERS, "m") == "m 2 labelled claims"
    bare = agreement_report(readings(few), FAITHFULNESS, RULE, ReportSettings())
    assert describe_other_level(bare, ReportLevel.CLAIMS, "m") == ""


async def test_what_is_given_up_says_how_it_is_computed(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute, going = agreement_report_module.compute_run_agreement, threading.Event()

    def wait(*args: Any) -> RunAgreement:
        going.wait(20)
        return compute(*args)

    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        # The list of runs, which opens first, computes agreement too.
        monkeypatch.setattr(agreement_report_module, "compute_run_agreement", wait)
        type_ahead(app, "g", "a", "escape")
        await until(pilot, lambda: isinstance(app.screen, AgreementScreen))
        await until(pilot, lambda: "g a computes it" in text_of(app, "warnings"))
        going.set()
        await press(pilot, "g", "a")
        assert isinstance(app.screen, AgreementScreen)
        assert app.screen.agreement is not None


def words(lines: list[Line]) -> str:
    return "\n".join(each.text for each in lines)


@pytest.mark.parametrize("size", SIZES)
async def test_each_part_is_one_key_away_and_the_same_key_gives_it_back(
    app: FaithApp, store_path: Path, size: tuple[int, int]
) -> None:
    labelled(store_path)
    async with app.run_test(size=size) as pilot:
        screen = await agreeing(pilot)
        panes = screen.query_one(Panes)
        for key, pane, _, _ in PARTS:
            await press(pilot, key)
            assert panes.zoomed_id == pane
            assert text_of(app, pane).strip()
            await press(pilot, key)
            assert panes.zoomed_id is None
        assert "esc all panes" not in screen_text(app)
        await press(pilot, "1")
        assert "esc all panes" in screen_text(app)
        await press(pilot, "escape")
        assert panes.zoomed_id is None


@pytest.mark.thorough
async def test_unsure_is_switched_without_labelling_again(app: FaithApp, store_path: Path) -> None:
    labelled(store_path)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await agreeing(pilot)
        seen = []
        for _ in IdkRule:
            await press(pilot, "i")
            await calm(pilot)
            assert screen.agreement is not None
            seen.append(screen.agreement.report.claims.table.categories)
        assert seen[-1] == ("yes", "no", "idk")
        assert set(seen[:-1]) == {("faithful", "unfaithful")}
        await press(pilot, "i")
        assert "idk treated as pass" in title(app)
        screen.matrix.focus()
        await press(pilot, "enter")
        assert isinstance(app.screen, PickDialog)
        assert "faithful" in str(app.screen.query_one("#text", Pane).border_title)


async def test_only_blind_verdicts_count_when_asked(app: FaithApp, store_path: Path) -> None:
    labelled(store_path)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await agreeing(pilot)
        assert screen.agreement is not None
        assert screen.check_action("next_idk_rule", ())
        screen.spec = find_metric("ragas-faithfulness").spec
        assert not screen.check_action("next_idk_rule", ()), "a metric without such a label"
        before = screen.agreement.report.claims.coverage
        await press(pilot, "b")
        assert screen.agreement is not None
        after = screen.agreement.report.claims.coverage
        assert after.compared == before.compared - before.shown
        assert "blind only" in title(app)
        await press(pilot, "b")
        assert screen.agreement is not None
        assert screen.agreement.report.claims.coverage == before


# Drawing


def made() -> AgreementReport:
    rows = []
    for i in range(240):
        judge, human = ("yes", "no")[i % 4 == 0], ("yes", "no")[i * i % 7 == 0]
        ann = said("ann\x1b[31m", human, seconds=12.0, code="truth" if judge != human else None)
        bo = said("bo", judge, blind=False)
        rows.append(claim(i, judge, human, opinions=(ann, bo), confidence=(0.9, 0.2)[i % 4 == 0]))
    return agreement_report(readings(rows), FAITHFULNESS, RULE)


def test_the_share_of_the_whole_run_that_the_judge_passes_is_hidden_while_blind() -> None:
    rows = [
        claim(i, ("yes", "no")[i % 4 == 0], "no", position=i)
        if i < 60
        else claim(i, ("yes", "no")[i % 4 == 0], None)
        for i in range(240)
    ]
    design = LabelDesign(DesignKind.SIMPLE, 240, random_prefix=True)
    report = agreement_report(readings(rows, design=design), FAITHFULNESS, RULE)
    assert report.claims.rate.judge_raw.value == 0.75
    shown, hidden = (
        words(
            [
                *figures.format_pass_rate_lines(report.claims, 200, blind=blind),
                *matrix_lines.format_headline_and_warning_lines(
                    report, ReportLevel.CLAIMS, 400, blind=blind
                ),
            ]
        )
        for blind in (False, True)
    )
    for each in ("75.0% [", "passes 75.0% of the claims", "too lenient by 75.0 points"):
        assert each in shown
        assert each not in hidden
    assert "judge        hidden while you work blind\n this run     0.0%" in hidden


def test_the_stratum_of_a_skipped_claim_is_hidden_while_blind() -> None:
    """In a sample by verdict it is what the judge says of the claim."""
    rows = [
        claim(i, judge, "no", position=i, stratum=f"judge {judge}")
        for i, judge in enumerate(("no", "yes", "yes", "yes") * 15)
    ]
    strata = (StratumCounts("judge yes", 45, 45, 40, 5), StratumCounts("judge no", 15, 15, 15, 0))
    design = LabelDesign(DesignKind.STRATIFIED, 60, strata, random_prefix=True)
    report = agreement_report(readings(rows, design=design), FAITHFULNESS, RULE)
    shown, hidden = (
        words(
            matrix_lines.format_headline_and_warning_lines(
                report, ReportLevel.CLAIMS, 400, blind=blind
            )
        )
        for blind in (False, True)
    )
    assert "5 of 45 claims of «judge yes» were skipped" in shown
    assert "judge yes" not in hidden
    assert "5 claims of the sample skipped so far." in hidden
    # The title counts what is drawn.
    for blind, drawn in ((False, shown), (True, hidden)):
        count = drawn.count(" ! ") + drawn.count(" !! ")
        title = matrix_lines.make_summary_title(report, ReportLevel.CLAIMS, blind=blind)
        assert title.startswith(f"Summary and {count} warning")
    assert hidden.count(" ! ") < shown.count(" ! ")


@pytest.mark.parametrize("width", [38, 60, 118])
def test_parts_fit_their_width_and_hold_no_control(width: int) -> None:
    report = made()
    drawn = [
        *figures.format_pass_rate_lines(report.claims, width),
        *figures.format_annotator_agreement_lines(report, width),
        *figures.format_agreement_by_slice_lines(report, width),
        *figures.format_window_and_conversation_score_lines(report, width),
        *figures.calibration_lines(report, width),
        *figures.format_labels_needed_lines(report, width, 12),
        *matrix_lines.format_headline_and_warning_lines(report, ReportLevel.CLAIMS, width),
    ]
    assert drawn
    for each in drawn:
        assert count_cells_of_pieces(each.pieces) <= width
        assert "\x1b" not in each.text


def test_the_last_sentence_says_whether_the_judge_may_replace_an_annotator() -> None:
    report = made()
    humans = report.humans
    assert humans is not None
    percent = report.claims.percent_agreement
    assert percent.ci_low is not None
    points = replace(percent, ci_low=None, ci_high=None, level=None, method=None)
    kappa = replace(percent, ci_low=0.4)

    def say(low: float | None, high: float | None, percent: Estimate) -> str:
        alpha = points if low is None else replace(kappa, ci_low=low, ci_high=high)
        found = replace(report.claims.agreement, cohen_kappa=kappa, percent=percent)
        claims = replace(report.claims, agreement=found)
        known = replace(humans, krippendorff_alpha=alpha)
        changed = replace(report, humans=known, claims=claims, warnings=())
        return describe_judge_as_annotator(changed, ReportLevel.CLAIMS)

    assert "as low as 0.40" in say(0.1, 0.45, percent)
    assert "not shown to agree" in say(-0.1, 0.3, percent)
    assert "not shown to agree" in say(None, None, percent)
    assert "at least as well" in say(0.1, 0.3, percent)
    assert say(0.1, 0.3, points) == "", "intervals come a moment after a label"
    kappa = replace(percent, value=0.04, ci_low=-0.2, ci_high=0.37)
    chance = "it may agree no better than chance: kappa 0.04 [-0.20, 0.37]."
    assert say(None, None, percent).endswith(f"an annotator yet: {chance}")
    rows = [claim(i, "yes", "yes") for i in range(20)]
    chosen = agreement_report(
        readings(rows, design=LabelDesign(DesignKind.CONVENIENCE, 20)), FAITHFULNESS, RULE
    )
    lines = words(matrix_lines.format_headline_and_warning_lines(chosen, ReportLevel.CLAIMS, 200))
    assert lines.lstrip().startswith("No labelled claim is unfaithful, so what the judge misses is")
    not_yet = "The judge may not replace an annotator yet: the labels are no random sample."
    assert lines.index(not_yet) > lines.index("On 20 claims")
    alone = agreement_report(readings(rows), FAITHFULNESS, RULE)
    assert "is not known" in describe_judge_as_annotator(alone, ReportLevel.CLAIMS)


def test_where_idk_counts_as_fail_names_are_whole_and_what_passes_is_said_by_verdict() -> None:
    rows = [claim(i, ("yes", "no", "idk")[i % 3], "yes") for i in range(60)]
    found = agreement_report(readings(rows), FAITHFULNESS, RULE, ReportSettings(idk=IdkRule.FAIL))
    assert matrix_lines.describe_pass_criterion(found).startswith(
        "In this run yes and idk pass, all others fail: "
    ), "the matrix has other names"
    lines = matrix_lines.format_confusion_matrix_lines(
        found.claims, (0, 0), False, FAITHFULNESS, 58
    )
    assert lines[3].text.startswith(" unfaithful ")
    assert "…" not in words(list(lines))


def test_what_to_do_next_follows_from_the_figures() -> None:
    found = words(figures.next_step_lines(made(), ReportLevel.CLAIMS, 200))
    assert "For kappa ±0.10: " in found
    assert "name «truth» as what failed" in found
    assert "Keep queues blind" in found
    rows = [claim(0, "yes", "yes"), claim(1, "yes", None)]
    chosen = agreement_report(
        readings(rows, design=LabelDesign(DesignKind.CONVENIENCE, 2)), FAITHFULNESS, RULE
    )
    assert "Draw a random sample" in words(figures.next_step_lines(chosen, ReportLevel.CLAIMS, 200))


def test_the_rate_says_which_way_the_judge_errs_and_what_it_rests_on() -> None:
    found = agreement_report(stratified({"yes": 60, "no": 200, "idk": 10}), FAITHFULNESS, RULE)
    text = words(figures.format_pass_rate_lines(found.claims, 60))
    assert "a random sample by strata, weighted" in text
    assert "this run" in text
    assert "future" in text
    rows = [claim(i, "no", "yes") for i in range(60)]
    strict = agreement_report(readings(rows), FAITHFULNESS, RULE)
    assert "the judge is too strict by 100.0 points" in words(
        figures.format_pass_rate_lines(strict.claims, 60)
    )


def test_weights_and_ways_are_named_beside_the_coefficients() -> None:
    weighted = agreement_report(stratified({"yes": 60, "no": 200, "idk": 10}), FAITHFULNESS, RULE)
    text = words(matrix_lines.coefficient_lines(weighted, weighted.claims, 300))
    assert "weighted by the sample" in text
    asked = ReportSettings(interval=IntervalMethod.BOOTSTRAP, resamples=50, seed=4)
    plain = stratified({"yes": 60, "no": 20, "idk": 10}, named=False)
    drawn = agreement_report(plain, FAITHFULNESS, RULE, asked)
    assert "50 draws of 25 groups, seed 4" in words(
        matrix_lines.coefficient_lines(drawn, drawn.claims, 300)
    )


def test_a_curve_has_its_band_its_points_and_its_ends() -> None:
    points = [(25.0, 0.2, None, None), (50.0, 0.5, 0.3, 0.7), (100.0, 0.6, 0.5, 0.7)]
    lines = format_interval_curve_lines(points, 40, 12)
    assert len(lines) == 12
    text = words(lines)
    assert POINT in text
    assert BAND in text
    assert "100 labels" in text
    assert lines[0].text.startswith(" 1.0│")
    assert all(count_cells_of_pieces(each.pieces) <= 40 for each in lines)
    assert format_interval_curve_lines([], 40, 12) == []


def test_a_single_point_is_drawn_once() -> None:
    lines = format_interval_curve_lines([(8.0, 0.6, 0.1, 0.9)], 40, 8)
    assert words(lines).count(POINT) == 1
    assert all(each.text.count(BAND) <= 1 for each in lines)
    assert lines[-1].text.strip() == "8 labels"


@pytest.mark.parametrize("height", range(4, 20))
@pytest.mark.parametrize("low", [0.0, -0.5, -1.0])
def test_the_scale_of_a_curve_is_even(height: int, low: float) -> None:
    lines = format_interval_curve_lines([(8.0, 0.6, None, None)], 40, height, low=low)
    labels = [each.text[:4].strip() for each in lines[:-2]]
    places = [place for place, label in enumerate(labels) if label]
    values = [float(labels[place]) for place in places]
    assert values[0] == 1.0
    assert values[-1] == low
    assert len({after - before for before, after in pairwise(places)}) == 1
    assert len({round(before - after, 6) for before, after in pairwise(values)}) == 1


def test_a_bin_shows_what_was_said_beside_what_is() -> None:
    assert format_reliability_bin(0.9, 0.5, 0.4, 0.6, 11) == "····░●░··|·"
    assert format_reliability_bin(0.5, 0.5, 0.5, 0.5, 11) == "·····●·····"
    assert format_share_bar(0.5, 4) == "██░░"
    assert format_share_bar(None, 4) == "    "


async def test_a_label_moves_the_figures_at_once_and_intervals_follow(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labelled(store_path)
    loaded: list[RunAgreement | None] = []
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await agreeing(pilot)
        await calm(pilot)
        show = screen.show_agreement

        def note_and_show(found: RunAgreement | None, spec: MetricSpec | None) -> None:
            loaded.append(found)
            show(found, spec)

        monkeypatch.setattr(screen, "show_agreement", note_and_show)
        assert screen.agreement is not None
        before = screen.agreement.report.claims.table
        loaded.clear()
        with Store.open(store_path) as store:
            run = store.runs.find_newest_run_id()
            assert run is not None
            first = next(
                each for each in store.labelled_units.read_claim_units(run) if each.human == "yes"
            )
            (who,) = {each.reviewer for each in first.opinions}
            store.label_log.append_label_event(
                first.claim, who, Action.BLIND, "no", run=None, judge_verdict=None, saw_judge=False
            )
        # The change is told here; who watches the store would read everything once more.
        app.store_watcher.data_version = app.session.store.read_change_number()
        screen.reload()
        await until(pilot, lambda: len(loaded) == 2)
        await calm(pilot)
        points, whole = loaded
        assert points is not None
        assert whole is not None
        assert (points.points_only, whole.points_only) == (True, False)
        assert points.report.claims.table == whole.report.claims.table
        assert points.report.claims.table.n == before.n
        assert points.report.claims.table != before
        assert "intervals follow" not in title(app)
        loaded.clear()
        screen.reload()
        await until(pilot, lambda: bool(loaded))
        await calm(pilot)
        assert len(loaded) == 1


def test_shares_that_pass_are_percent_as_in_the_headline() -> None:
    found = agreement_report(stratified({"yes": 60, "no": 200, "idk": 10}), FAITHFULNESS, RULE)
    text = words(figures.format_pass_rate_lines(found.claims, 60))
    judge = found.claims.rate.judge_raw
    assert judge.value is not None
    assert f"{judge.value:.1%}" in text
    assert f"{judge.value:.3f}" not in text
    assert f"passes {judge.value:.1%} of the claims" in found.headline


def test_what_is_weighted_and_what_is_counted_is_said_beside_it() -> None:
    weighted = agreement_report(stratified({"yes": 60, "no": 200, "idk": 10}), FAITHFULNESS, RULE)
    for lines in (
        matrix_lines.format_per_label_score_lines(weighted.claims, FAITHFULNESS, 300),
        matrix_lines.format_unfaithful_detection_lines(weighted.claims, weighted.passing, 300),
    ):
        assert "the shares are weighted by the sample" in words(lines)
    plain = agreement_report(readings([claim(0, "no", "yes")]), FAITHFULNESS, RULE)
    assert "weighted" not in words(
        matrix_lines.format_unfaithful_detection_lines(plain.claims, plain.passing, 300)
    )


@pytest.mark.parametrize(("width", "missing"), [(32, False), (38, True), (60, False), (60, True)])
@pytest.mark.parametrize("times", [1, 40, 6_000, 300_000])
def test_no_count_of_the_matrix_is_cut(times: int, width: int, *, missing: bool) -> None:
    """The first three digits of five look like a count of their own."""
    one = agreement_report(
        readings([claim(0, "yes", "yes"), claim(1, "no", "yes"), claim(2, "idk", "no")]),
        FAITHFULNESS,
        RULE,
    ).claims
    counts = tuple(tuple(each * times for each in row) for row in one.table.counts)
    table = replace(one.table, counts=counts)
    level = replace(
        one,
        agreement=replace(one.agreement, table=table),
        unjudged=(times, 0, 0) if missing else (0, 0, 0),
    )
    lines = matrix_lines.format_confusion_matrix_lines(level, (0, 0), True, FAITHFULNESS, width)
    text = words(lines)
    assert "…" not in text
    exact, short = str(times), fmt.format_compact_count(times)
    assert f"[{exact}]" in text or f"[{short}]" in text
    if width == 60 and times < 100_000:
        assert f"[{exact}]" in text
    assert max(count_cells_of_pieces(each.pieces) for each in lines) <= width


def test_long_names_leave_room_for_the_sums() -> None:
    level = agreement_report(
        readings([claim(0, "yes", "yes"), claim(1, "no", "yes")]),
        FAITHFULNESS,
        RULE,
        ReportSettings(idk=IdkRule.FAIL),
    ).claims
    lines = matrix_lines.format_confusion_matrix_lines(level, (0, 0), True, FAITHFULNESS, 32)
    assert max(count_cells_of_pieces(each.pieces) for each in lines) <= 32
    assert lines[1].text.split() == ["human", "faith…", "unfai…", "│", "all"]


def test_limits_have_the_digits_that_tell_them_apart() -> None:
    wide = Estimate(
        *(0.864, EstimateStatus.OK, 10, 5),
        ci_low=0.7,
        ci_high=0.912,
        level=0.95,
        method=EstimateMethod.JACKKNIFE,
    )
    assert fmt.format_estimate(wide) == "0.864 [0.70, 0.91]"
    narrow = replace(wide, ci_low=0.8631, ci_high=0.8652)
    assert fmt.format_estimate(narrow) == "0.864 [0.863, 0.865]"


@pytest.mark.parametrize("more", [-1, 0, 1, 2000])
def test_a_long_list_is_drawn_as_far_as_anybody_reads_and_says_how_to_find_the_rest(
    more: int,
) -> None:
    count = matrix_lines.MOST_LISTED + more
    differing = [claim(number, "yes", "no") for number in range(count)]
    report = agreement_report(readings(differing), FAITHFULNESS, RULE)
    listed = report.claims.disagreements
    assert len(listed) == count
    units = [
        matrix_lines.ListedUnit(each.claim, each.conversation, each.key, 0, each.text)
        for each in listed
    ]
    for lines in (
        matrix_lines.format_disagreement_lines(listed, FAITHFULNESS, "is:disagreement", 78),
        matrix_lines.format_cell_unit_lines(units, "is:disagreement", 78),
    ):
        rows = {each.row for each in lines if each.row is not None}
        assert rows == set(range(min(count, matrix_lines.MOST_LISTED)))
        told = f"… and {more:,} more; the list of conversations finds them by is:disagreement"
        assert (told in words(lines)) == (more > 0)
    assert ("CSV has them all" in words(matrix_lines.format_cell_unit_lines(units, "", 78))) == (
        more > 0
    )
    long = [listed[0]._replace(key="conversation-" * 3)]
    for width, is_whole in ((78, True), (50, False)):
        found = words(matrix_lines.format_disagreement_lines(long, FAITHFULNESS, "", width))
        assert ("conversation-" * 3 in found) is is_whole


async def test_while_figures_are_computed_that_is_said(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labelled(store_path)
    compute, going = agreement_report_module.compute_run_agreement, threading.Event()

    def compute_later(*args: Any, **kwargs: Any) -> RunAgreement:
        going.wait(20)
        return compute(*args, **kwargs)

    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        # Not before: the list of runs computes figures as well.
        monkeypatch.setattr(agreement_report_module, "compute_run_agreement", compute_later)
        await pilot.press("a")
        await until(pilot, lambda: "computing agreement of run #1" in status(app))
        assert "Computing agreement …" in text_of(app, "warnings")
        going.set()
        await calm(pilot)
        assert "computing" not in status(app)
        assert "Computing" not in text_of(app, "warnings")


@pytest.mark.parametrize(
    ("table", "column", "sentence"),
    [("verdict", "label", "the verdict on claim "), ("human_label", "verdict", "the label of bo ")],
)
async def test_of_a_changed_row_there_are_no_figures(
    app: FaithApp, store_path: Path, table: str, column: str, sentence: str
) -> None:
    labelled(store_path)
    with contextlib.closing(sqlite3.connect(store_path)) as connection, connection:
        connection.execute(f"UPDATE {table} SET {column} = 'idk' WHERE rowid = 1")
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "a")
        await until(pilot, lambda: "is not what was written" in text_of(app, "warnings"))
        shown = " ".join(text_of(app, "warnings").split())
        assert sentence in shown
        assert "`faithtui doctor` names all of them, and --salvage takes the others over" in shown
        assert text_of(app, "coefficients").strip() == ""
        assert "computing" not in status(app)
        await press(pilot, "X")
        assert not list(app.session.report_directory.glob("faithtui-report-*"))


async def test_parts_that_are_all_too_small_take_no_room(app: FaithApp, store_path: Path) -> None:
    labelled(store_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "a")
        assert app.screen.query_one("#differences").display
        assert not app.screen.query_one("#slices").display
        await press(pilot, "2")
        assert "fewer than 10 not shown" in text_of(app, "slices")


def test_a_figure_keeps_its_n_on_its_line_in_a_narrow_pane() -> None:
    value = Estimate(
        0.514,
        EstimateStatus.OK,
        37,
        9,
        ci_low=0.25,
        ci_high=0.77,
        level=0.95,
        method=EstimateMethod.BOOTSTRAP,
    )
    assert [each.text for each in figures.format_estimate_lines("precision", value, 60)] == [
        " precision   0.514 [0.25, 0.77] n=37"
    ]
    assert [each.text for each in figures.format_estimate_lines("precision", value, 36)] == [
        " precision   0.514 [.25, .77] n=37"
    ]
