"""A report on a sample in a store: what each label stands for is counted in the run."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.agreement.labelled_units import DesignKind
from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.ids import RunId
from faithtui.engine.review.agreement_report import compute_run_agreement, render_report
from faithtui.store.store import Store
from tests.store.runs.test_run_designs import drawn, judged_all, label, sampled

KEYS = "abcdefghijklmnopqrst"
"""Conversations of five claims each: three that the judge passes, one `no` and one `idk`."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "sampled.db") as opened:
        yield opened


@pytest.fixture
def run(store: Store) -> RunId:
    return judged_all(store, KEYS)


def test_labels_of_a_stratum_stand_for_the_run_and_not_for_what_was_drawn(
    store: Store, run: RunId
) -> None:
    sizes = {"judge yes": 6, "judge no": 10, "judge idk": 5}
    row = sampled(store, run, SamplePlan(SamplingDesign.STRATIFIED, 7, sizes=sizes), "verdict")
    # People call half of the drawn `yes` a contradiction, and agree with all the rest.
    yes = drawn(store, row, "judge yes")
    label(store, run, yes[:3], "no")
    label(store, run, yes[3:], "yes")
    label(store, run, drawn(store, row, "judge no"), "no")
    label(store, run, drawn(store, row, "judge idk"), "idk")
    found = compute_run_agreement(store, run)
    counts = Counter(each.judge for each in found.readings.claims)
    assert counts == {"yes": 60, "no": 20, "idk": 20}
    claims = found.report.claims
    assert claims.design.kind is DesignKind.STRATIFIED
    # By hand: 30 of the 60 `yes`, 20 `no` and 20 `idk` are right.
    assert claims.percent.value == pytest.approx(0.7)
    weighted = [list(row) for row in claims.agreement.weighted or ()]
    assert weighted == [[30, 0, 0], [30, 20, 0], [0, 0, 20]]
    assert claims.strict.recall.value == pytest.approx(20 / 50)
    assert claims.strict.prevalence.value == pytest.approx(0.5)
    assert claims.rate.corrected_this_run.value == pytest.approx((30 + 20) / 100)
    rows = csv.DictReader(io.StringIO("".join(render_report(store, found, "csv"))))
    weights = {each["judge"]: float(each["weight"]) for each in rows if each["weight"]}
    assert weights == {"yes": 10.0, "no": 2.0, "idk": 4.0}


def test_a_simple_sample_weighs_all_alike(store: Store, run: RunId) -> None:
    plan = SamplePlan(SamplingDesign.SIMPLE, 7, 20)
    row = store.samples.add(
        run, "ann", make_sample_draw(store.samples.read_frame(run), plan), plan, name="s"
    )
    label(store, run, drawn(store, row), "yes")
    found = compute_run_agreement(store, run).report.claims
    assert found.agreement.weighted is None
    assert found.rate.corrected_this_run.value == 1.0
    assert found.rate.corrected_this_run.n == 20
