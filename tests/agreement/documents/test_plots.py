"""Plots: what they draw, in words and numbers, and that equal values give equal bytes."""

import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from faithtui.agreement.documents.blocks import Plot
from faithtui.agreement.documents.markup import (
    Markup,
    concatenate_markup,
    escape_to_markup,
    make_element,
)
from faithtui.agreement.documents.plots.axes import PLOT_WIDTH, AxisScale, shorten_label
from faithtui.agreement.documents.plots.report_plots import (
    confusion_plot,
    interval_progress_plot,
    pairwise_kappa_plot,
    pass_rate_plot,
    recall_and_specificity_plot,
    reliability_plot,
    review_coverage_plot,
    slice_agreement_plot,
)
from faithtui.agreement.report.model import (
    Breakdown,
    CalibrationReport,
    LevelReport,
    ProgressPoint,
    ProgressReport,
    ReliabilityBin,
    Slice,
    SliceRow,
)
from faithtui.domain.estimates import Estimate, EstimateMethod, EstimateStatus
from tests.agreement.building import report, rich


def share(value: float, low: float, high: float, n: int = 20) -> Estimate:
    return Estimate(
        value,
        EstimateStatus.OK,
        n,
        9,
        ci_low=low,
        ci_high=high,
        level=0.95,
        method=EstimateMethod.JACKKNIFE_LOGIT,
    )


def texts(plot: Plot) -> list[str]:
    return [each.text or "" for each in tree(plot).iter("text")]


def tree(plot: Plot) -> ElementTree.Element:
    return ElementTree.fromstring(plot.svg.text)


def claims() -> LevelReport:
    return rich().claims


def all_plots() -> Iterator[Plot | None]:
    found = rich()
    assert found.humans is not None
    assert found.calibration is not None
    yield review_coverage_plot("coverage", claims().coverage, "claims")
    yield confusion_plot("confusion", claims().agreement, "claims")
    yield pairwise_kappa_plot("pairs", found.humans, found.raters, "judge")
    for each in found.breakdowns:
        if len(each.rows) > 1:
            yield slice_agreement_plot(f"forest-{each.by.value}", each, claims().percent_agreement)
    threshold = found.unit_scores[0].threshold
    assert threshold is not None
    yield recall_and_specificity_plot("threshold", threshold, "window")
    yield reliability_plot("reliability", found.calibration)
    yield interval_progress_plot("progress", found.progress, "Cohen's kappa")
    yield pass_rate_plot("rate", claims().rate, "claims")


def test_every_plot_lies_inside_its_frame_and_says_something() -> None:
    plots = [plot for plot in all_plots() if plot is not None]
    assert len(plots) > 8
    for plot in plots:
        svg = tree(plot)
        _, _, width, height = map(float, svg.attrib["viewBox"].split())
        assert width == PLOT_WIDTH
        assert plot.alt.endswith(".")
        for each in svg.iter():
            for name, most in (("x", width), ("cx", width), ("y", height), ("cy", height)):
                if name in each.attrib:
                    assert -1 <= float(each.attrib[name]) <= most + 1
            for number in re.findall(r"-?\d+\.?\d*", each.get("d", "")):
                assert -1 <= float(number) <= max(width, height) + 1


def test_equal_values_give_equal_bytes() -> None:
    assert list(all_plots()) == list(all_plots())


def test_a_cell_shows_its_count_and_its_share_of_the_row() -> None:
    plot = confusion_plot("c", report().claims.agreement, "claims")
    shown = texts(plot)
    assert [each for each in shown if each in ("24", "80%", "6", "20%")][:4] == [
        "24",
        "80%",
        "6",
        "20%",
    ]
    assert "judge" in shown
    assert "human" in shown
    assert plot.alt == (
        "Judge and human label are the same for 27 of 41 claims; where they differ, most often "
        "the human label is no and the judge's yes: 8."
    )
    # What both say alike is told by its frame, not by colour alone.
    kinds = [each.get("class", "") for each in tree(plot).iter("rect")]
    assert kinds.count("cell same") == 3
    assert kinds.count("cell other") == 6


def test_a_forest_draws_the_worst_and_counts_the_rest() -> None:
    rows = tuple(
        SliceRow(
            f"key {i}",
            20,
            9,
            share(i / 30, i / 40, min(1, i / 20)),
            *[share(0, 0, 1)] * 3,
        )
        for i in range(1, 26)
    )
    plot = slice_agreement_plot("f", Breakdown(Slice.CONVERSATION, rows, 3), share(0.5, 0.4, 0.6))
    assert plot is not None
    shown = texts(plot)
    assert "key 20" in shown
    assert "key 21" not in shown
    assert "5 more" in shown
    assert "all 50%" in shown
    assert plot.alt == (
        "Agreement by conversation runs from 3% (key 1) to 83% (key 25); over all it is 50%. "
        "The 20 worst are drawn, 5 more are not."
    )


def test_a_part_without_an_interval_is_a_dot_alone() -> None:
    bare = replace(share(0.4, 0, 1), ci_low=None, ci_high=None, level=None, method=None)
    rows = tuple(SliceRow(key, 20, 9, bare, bare, bare, bare) for key in "ab")
    plot = slice_agreement_plot("f", Breakdown(Slice.RATER, rows, 0), bare)
    assert plot is not None
    assert len(list(tree(plot).iter("circle"))) == 2
    assert not [each for each in tree(plot).iter("line") if each.get("class") == "bar"]


def test_dots_of_reliability_grow_with_their_number() -> None:
    bins = (
        ReliabilityBin(0.0, 0.3, 10, 0.2, 0.1, 0.0, 0.4),
        ReliabilityBin(0.3, 1.0, 40, 0.8, 0.9, 0.7, 1.0),
    )
    found = CalibrationReport(
        "stated", 50, False, share(0.1, 0.0, 0.2), 0.1, None, 0.05, True, bins
    )
    plot = reliability_plot("r", found)
    assert plot is not None
    small, large = (float(each.attrib["r"]) for each in tree(plot).iter("circle"))
    assert small < large
    assert "n per dot: 10 to 40" in texts(plot)
    assert plot.alt == (
        "The widest gap is where the judge is sure to 0.20 and human labels support 10% of 10: "
        "less than it says."
    )


def test_progress_draws_a_band_and_the_width_that_is_wanted() -> None:
    history = tuple(
        ProgressPoint(labels, 0.5, 0.5 - width, 0.5 + width)
        for labels, width in ((25, 0.4), (50, 0.3), (75, 0.2))
    )
    found = ProgressReport("cohen_kappa", 0.1, 0.2, 200, False, history)
    plot = interval_progress_plot("p", found, "Cohen's kappa")
    assert plot is not None
    assert "± 0.1" in texts(plot)
    assert [each.get("class") for each in tree(plot).iter("path")] == ["band", "curve"]
    assert plot.alt == (
        "After 75 labels Cohen's kappa is 0.50; its interval is ± 0.20 wide and ± 0.1 is wanted."
    )
    without = replace(
        found,
        half_width=None,
        history=tuple(ProgressPoint(each.labels, 0.5, None, None) for each in history),
    )
    plain = interval_progress_plot("p", without, "Cohen's kappa")
    assert plain is not None
    assert [each.get("class") for each in tree(plain).iter("path")] == ["curve"]
    assert plain.alt.endswith("it has no interval yet.")


@pytest.mark.parametrize("last", [1, 5, 30, 74, 999, 12_345, 1_000_000])
def test_the_axis_of_labels_has_few_round_numbers(last: int) -> None:
    history = tuple(ProgressPoint(labels, 0.5, None, None) for labels in (1, last))
    plot = interval_progress_plot(
        "p", ProgressReport("percent", 0.1, None, None, False, history), "x"
    )
    assert plot is not None
    ticks = [
        float(each.text or "")
        for each in tree(plot).iter("text")
        if each.get("class") == "tick" and each.get("text-anchor") == "middle"
    ]
    assert 2 <= len(ticks) <= 7
    assert ticks[0] == 0
    assert ticks[-1] <= last


def test_every_name_below_the_bar_of_what_became_has_room() -> None:
    many = 1_234_567
    found = replace(
        claims().coverage,
        units=12 * many,
        agreed=many,
        overridden=many,
        skipped=many,
        bulk_accepted=many,
        stale=many,
        unreviewed=9 * many,
        compared=2 * many,
    )
    plot = review_coverage_plot("coverage", found, "claims")
    assert plot is not None
    named = [each for each in tree(plot).iter("text") if "%" in "".join(each.itertext())]
    assert len(named) == 7
    for each in named:
        starts, letters = float(each.attrib["x"]), len("".join(each.itertext()))
        # 13 px letters are 7.2 px wide on average in the widest of the fonts named.
        room = (PLOT_WIDTH / 2 if starts < PLOT_WIDTH / 2 else PLOT_WIDTH) - starts
        assert 7.2 * letters <= room


def test_there_is_no_picture_of_nothing() -> None:
    empty = report([], [])
    assert review_coverage_plot("c", empty.claims.coverage, "claims") is None
    assert pass_rate_plot("r", empty.claims.rate, "claims") is None
    assert interval_progress_plot("p", empty.progress, "x") is None
    assert slice_agreement_plot("f", Breakdown(Slice.RATER, (), 0), share(0.5, 0, 1)) is None
    found = CalibrationReport("stated", 0, False, share(0, 0, 0), None, None, None, True, ())
    assert reliability_plot("r", found) is None
    threshold = rich().unit_scores[0].threshold
    assert threshold is not None
    assert recall_and_specificity_plot("t", replace(threshold, curve=()), "window") is None
    humans = rich().humans
    assert humans is not None
    assert pairwise_kappa_plot("p", replace(humans, pairs=()), (), "judge") is None


def test_names_are_cut_to_the_room_there_is() -> None:
    assert shorten_label("short") == "short"
    assert shorten_label("x" * 25) == "x" * 23 + "…"
    assert shorten_label("測" * 20) == "測" * 11 + "…"
    assert "\x1b" not in shorten_label("\x1b[31m")


def test_a_value_beyond_a_scale_lies_on_its_end() -> None:
    scale = AxisScale(0, 1, 100, 200)
    assert [scale.to_position(value) for value in (-1, 0, 0.25, 1, 2)] == [100, 100, 125, 200, 200]


def test_strings_are_text_and_only_elements_are_markup() -> None:
    made = make_element(
        "p", "a < b & c", make_element("b", '"'), title='x"<y', aria_label=None, x=1.005
    )
    assert made.text == '<p title="x&quot;&lt;y" x="1">a &lt; b &amp; c<b>&quot;</b></p>'
    assert concatenate_markup("<", Markup("<i/>")).text == "&lt;<i/>"
    assert (
        make_element("line", class_="a", stroke_width=-0.001).text
        == '<line class="a" stroke-width="0"/>'
    )
    assert escape_to_markup("\x00\ud800").text == "␀�"
