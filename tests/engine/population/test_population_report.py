"""Report, gate and certificate on a sample of results: they speak of all of them."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from faithtui.agreement.documents.markdown_report import escape_markdown
from faithtui.agreement.gate.threshold_checks import CheckOutcome
from faithtui.agreement.labelled_units import ClaimUnit, DesignKind
from faithtui.agreement.report.model import LevelReport
from faithtui.agreement.report.settings import ReportLevel, ReportSettings
from faithtui.domain.claims.verdicts import Assessment
from faithtui.domain.ids import RunId
from faithtui.domain.split_rule import Split
from faithtui.engine.population.population_sample import draw_and_store_population_sample
from faithtui.engine.population.sample_request import PopulationRequest
from faithtui.engine.population.sample_sizes import PopulationDesign
from faithtui.engine.review.gate.certificates import read_certificate_file
from faithtui.engine.review.gate.gate import GateRequest, check_gate_and_write_certificate_if_passed
from faithtui.engine.review.gate.gate_json import gate_to_json
from faithtui.engine.review.reports.agreement_report import compute_run_agreement, iter_report_text
from faithtui.engine.review.samples.sample_queues import (
    draw_and_save_run_sample,
    make_repeat_labels_request,
)
from faithtui.engine.review.samples.store_split import save_store_split
from faithtui.engine.shards.judgement_json import judgement_from_json_text
from faithtui.errors import StoreError
from faithtui.formats.label_bundles import format_bundle_lines, read_bundle
from faithtui.store.deletion_records import DeletionKind
from faithtui.store.records import ItemState
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.store import Store
from tests.agreement.building import check_schema
from tests.engine.population.results import label_drawn, make_population, write_results

BY_LANGUAGE = ("verdict", "language")


def say_as_the_judge(unit: ClaimUnit) -> str:
    return unit.judge or "idk"


def say_otherwise_of_some(unit: ClaimUnit) -> str:
    """Call one in four supported claims unfaithful, by their text."""
    return "no" if unit.judge == "yes" and hash_text(unit) % 4 == 0 else unit.judge or "idk"


def hash_text(unit: ClaimUnit) -> int:
    return sum(unit.text.encode())


def compute_true_share(conversations: int) -> float:
    """Compute the share that passes when every claim is labelled by `say_otherwise_of_some`."""
    truth = [
        not (label == "no" or (label == "yes" and sum(text.encode()) % 4 == 0))
        for each in make_population(conversations)
        for place, label in enumerate(each.labels)
        for text in [f"Claim {place} of {each.key}."]
    ]
    return sum(truth) / len(truth)


def draw(store: Store, results: str, **wanted: object) -> SampleRow:
    request = PopulationRequest(**wanted)  # type: ignore[arg-type]  # fields by name
    return draw_and_store_population_sample(store, results, request, "ann").row


@pytest.fixture(scope="session")
def labelled_file(
    tmp_path_factory: pytest.TempPathFactory, results: str, empty_store: Path
) -> Path:
    """A store with a sample by verdicts, all of it labelled."""
    path = tmp_path_factory.mktemp("labelled") / "review.db"
    shutil.copy(empty_store, path)
    with Store.open(path) as store:
        label_drawn(store, draw(store, results, size=60), say_otherwise_of_some)
    return path


@pytest.fixture
def labelled(tmp_path: Path, labelled_file: Path) -> Iterator[tuple[Store, SampleRow]]:
    """A copy of it, and its sample."""
    path = tmp_path / "labelled.db"
    shutil.copy(labelled_file, path)
    with Store.open(path) as store:
        (row,) = store.samples.list_samples("ann")
        yield store, row


def test_before_any_label_the_judge_s_share_is_that_of_the_population(
    store: Store, results: str
) -> None:
    row = draw(store, results, size=12)
    report = compute_run_agreement(store, row.run).report
    assert report.answers.level is ReportLevel.ANSWERS
    assert report.answers.coverage.units == 0
    passing = [label != "no" for each in make_population(120) for label in each.labels]
    assert report.claims.design.kind is DesignKind.NONE
    assert report.claims.rate.judge_raw.value == sum(passing) / len(passing)
    assert report.claims.rate.judge_raw.n == 360
    assert report.claims.rate.corrected_this_run.value is None


@pytest.mark.thorough
@pytest.mark.parametrize("design", ["simple", "uncertainty", "conversations"])
def test_all_drawn_claims_labelled_are_a_sample_and_no_census(
    store: Store, results: str, design: str
) -> None:
    size = 20 if design == "conversations" else 60
    row = draw(store, results, size=size, design=PopulationDesign(design))
    label_drawn(store, row, say_otherwise_of_some)
    kinds = {
        "simple": DesignKind.SIMPLE,
        "conversations": DesignKind.CLUSTER,
        "uncertainty": DesignKind.STRATIFIED,
    }
    claims = compute_run_agreement(store, row.run).report.claims
    assert claims.design.kind is kinds[design]
    check_claims_of_a_sample(claims)


def test_drawn_by_verdicts_they_have_the_weights_of_the_drawing(
    labelled: tuple[Store, SampleRow],
) -> None:
    store, row = labelled
    claims = compute_run_agreement(store, row.run).report.claims
    assert claims.design.kind is DesignKind.STRATIFIED
    check_claims_of_a_sample(claims)
    weights = dict(claims.weights)
    for each in row.strata:
        assert weights[each.name] == pytest.approx(each.population / each.drawn)


def check_claims_of_a_sample(claims: LevelReport) -> None:
    """See that they speak of the whole population, and that its share is within the interval."""
    assert claims.design.frame_units == 360
    assert claims.design.conversations == 120
    corrected, future = claims.rate.corrected_this_run, claims.rate.corrected_future
    assert corrected.ci_low is not None
    assert corrected.ci_high is not None
    assert future.ci_low is not None
    assert future.ci_high is not None
    assert corrected.ci_low < corrected.ci_high
    assert future.ci_low <= corrected.ci_low < corrected.ci_high <= future.ci_high
    assert corrected.ci_low <= compute_true_share(120) <= corrected.ci_high
    assert claims.agreement.cohen_kappa.has_interval


def test_labels_of_every_claim_count_the_population(store: Store, tmp_path: Path) -> None:
    results = write_results(tmp_path / "all", {"a": make_population(12)})
    row = draw(store, str(results), size=1000)
    label_drawn(store, row, say_otherwise_of_some)
    report = compute_run_agreement(store, row.run).report
    corrected = report.claims.rate.corrected_this_run
    assert corrected.value == pytest.approx(compute_true_share(12))
    assert corrected.ci_low == corrected.ci_high == corrected.value
    assert report.population is not None
    for each in report.population.slices:
        assert each.corrected.ci_low == each.corrected.ci_high


def test_a_report_says_what_it_is_about(store: Store, results: str) -> None:
    row = draw(store, results, size=50, stratified_by=BY_LANGUAGE)
    label_drawn(store, row, say_otherwise_of_some)
    agreement = compute_run_agreement(store, row.run)
    population = agreement.report.population
    assert population is not None
    assert (population.claims, population.conversations, population.judged) == (360, 124, 120)
    assert population.states == {"failed": 4, "scored": 120}
    assert population.failed_share == pytest.approx(4 / 124)
    assert population.bounds is not None
    corrected = agreement.report.claims.rate.corrected_this_run
    assert corrected.ci_low is not None
    assert corrected.ci_high is not None
    assert population.bounds.low == pytest.approx(corrected.ci_low * 120 / 124)
    assert population.bounds.high == pytest.approx((corrected.ci_high * 120 + 4) / 124)
    slices = {(each.key, each.value): each for each in population.slices}
    of_language = [each for each in slices if each[0] == "language"]
    assert set(of_language) == {("language", "de"), ("language", "en")}
    assert sum(slices[each].claims for each in of_language) == 360
    english = [
        label
        for each in make_population(120)
        if each.metadata["language"] == "en"
        for label in each.labels
    ]
    found = slices["language", "en"]
    assert found.claims == len(english)
    assert found.judge == pytest.approx(sum(each != "no" for each in english) / len(english))
    assert 10 <= found.corrected.clusters <= found.corrected.n
    page = "".join(iter_report_text(store, agreement, "md"))
    assert "of 360 claims in 120 conversations" in page
    assert "in the population" in page
    assert (
        f"The figures are about 360 claims of 120 conversations in {escape_markdown(str(results))}"
        in page
    )
    assert "4 of 124 conversations of the population (3.2%) could not be judged" in page
    assert "| language | en |" in page
    found_json = json.loads("".join(iter_report_text(store, agreement, "json")))
    check_schema(found_json)
    assert found_json["population"]["claims"] == 360
    assert "counts" not in found_json["design"]
    assert "population" not in found_json["design"]
    assert "360 claims" in "".join(iter_report_text(store, agreement, "html"))


def test_few_labels_of_a_part_give_no_share(store: Store, results: str) -> None:
    row = draw(store, results, size=24, stratified_by=BY_LANGUAGE)
    label_drawn(store, row, say_as_the_judge, first=12)
    population = compute_run_agreement(store, row.run).report.population
    assert population is not None
    assert population.few > 0
    assert all(each.corrected.n >= 10 for each in population.slices)


def test_another_judge_on_what_was_drawn_does_not_speak_of_the_population(
    labelled: tuple[Store, SampleRow], results: str
) -> None:
    store, row = labelled
    items = store.runs.read_item_rows(store.runs.list_item_ids(row.run))
    spec = store.runs.read_run(row.run).spec
    assessments = _read_assessments(results)
    other = store.runs.create(spec, [each.conversation for each in items])
    for item, twin in zip(store.runs.list_item_ids(other), items, strict=True):
        for window in assessments[twin.key]:
            store.runs.save_window(item, window)
        store.runs.score_and_finish_item(item, ItemState.DONE, None)
    report = compute_run_agreement(store, RunId(other)).report
    assert report.claims.design.kind is DesignKind.CONVENIENCE
    assert report.claims.rate.corrected_this_run.value is None


def _read_assessments(results: str) -> dict[str, tuple[Assessment, ...]]:
    return {
        each["key"]: judgement_from_json_text(each["judgement"]).assessments
        for path in (Path(results) / "conversations").glob("*.parquet")
        for each in pq.read_table(path).to_pylist()
        if each["judgement"]
    }


def test_a_split_of_a_population_has_no_corrected_share(
    labelled: tuple[Store, SampleRow],
) -> None:
    store, row = labelled
    save_store_split(store, "ann", (40, 30, 30))
    report = compute_run_agreement(store, row.run, split=Split.TRAIN).report
    assert report.claims.design.kind is DesignKind.CONVENIENCE
    assert report.claims.rate.corrected_this_run.value is None


def test_the_share_by_the_judge_is_of_the_groups_that_conversations_form(
    store: Store, tmp_path: Path
) -> None:
    made = [
        replace(each, group=f"g{number // 3}" if number < 9 else None)
        for number, each in enumerate(make_population(24, failed=2))
    ]
    row = draw(store, str(write_results(tmp_path / "all", {"a": made})), size=12)
    assert row.population is not None
    assert (row.population.judged, row.population.groups) == (24, 3 + 15)
    rate = compute_run_agreement(store, row.run).report.claims.rate
    assert rate.judge_raw.clusters == 18


def test_a_gate_and_its_certificate_name_the_population(
    labelled: tuple[Store, SampleRow], results: str, tmp_path: Path
) -> None:
    store, row = labelled
    order = GateRequest(score=0.5, labels=20, write=tmp_path / "certificate.json")
    result = check_gate_and_write_certificate_if_passed(store, row.run, order)
    assert result.outcome is CheckOutcome.PASSED
    assert f"the figures are about 360 claims of 120 conversations in {results}" in result.notes
    assert any("could not be judged" in each for each in result.notes)
    assert any("counted as failing" in each for each in result.notes)
    assert gate_to_json(result)
    certificate = read_certificate_file(tmp_path / "certificate.json")
    population = certificate.sample.population
    assert population is not None
    assert (population.claims, population.conversations, population.failed) == (360, 124, 4)
    assert population.judged == 120
    assert dict(population.strata) == {each.name: each.population for each in row.strata}
    again = check_gate_and_write_certificate_if_passed(
        store, row.run, GateRequest(certificate=tmp_path / "certificate.json")
    )
    assert again.outcome is CheckOutcome.PASSED
    draw_and_store_population_sample(store, results, PopulationRequest(size=5), "ann")
    changed = check_gate_and_write_certificate_if_passed(
        store, row.run, GateRequest(certificate=tmp_path / "certificate.json")
    )
    assert changed.outcome is CheckOutcome.STALE
    assert any(each.startswith("sample: ") for each in changed.broken)


def test_a_gate_does_not_pass_where_much_failed(store: Store, tmp_path: Path) -> None:
    made = make_population(24, failed=4)
    results = write_results(tmp_path / "all", {"a": made})
    row = draw(store, str(results), size=12)
    label_drawn(store, row, say_as_the_judge)
    result = check_gate_and_write_certificate_if_passed(store, row.run, GateRequest(score=0.1))
    assert result.outcome is CheckOutcome.STALE
    assert any("failed on 4 of 28 conversations" in each for each in result.broken)


def test_labels_travel_with_the_population_of_their_sample(
    labelled: tuple[Store, SampleRow], tmp_path: Path
) -> None:
    store, row = labelled
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(format_bundle_lines(store.bundles.make_label_bundle())), "utf-8")
    parsed = read_bundle(path)
    assert not parsed.refusals
    (sample,) = parsed.bundle.samples
    assert sample.population is not None
    assert row.population is not None
    assert sample.population == row.population.to_json()
    text = path.read_text("utf-8").replace('"judged":120', '"judged":-1')
    header, _, events = text.partition("\n")
    path.write_text(re.sub(r',"digest":"\w+"', "", header) + "\n" + events, "utf-8")
    (refused, *_) = read_bundle(path).refusals
    assert "population" in str(refused)


@pytest.mark.thorough
def test_a_deleted_conversation_leaves_the_rest_a_sample(store: Store, tmp_path: Path) -> None:
    results = str(write_results(tmp_path / "all", {"a": make_population(20)}))
    row = draw(store, results, size=20, design=PopulationDesign.SIMPLE)
    label_drawn(store, row, say_as_the_judge)
    gone = store.runs.read_item_rows(store.runs.list_item_ids(row.run))[0]
    lost = sum(
        each.item == gone.id for each in store.samples.list_claims_in_served_order(row.id, "ann")
    )
    store.deletions.delete_conversations(DeletionKind.DATASET, [gone.conversation], "ann")
    left = store.samples.read_sample(row.id, "ann")
    assert (left.size, left.strata[0].drawn, left.strata[0].population) == (
        20 - lost,
        20 - lost,
        60,
    )
    assert all(
        each.probability == left.strata[0].draw_probability
        for each in store.samples.list_claims_in_served_order(row.id, "ann")
    )
    more = draw(store, results, size=60)
    keys = {each.key for each in store.runs.read_item_rows(store.runs.list_item_ids(row.run))}
    assert gone.key not in keys, "what was deleted stays away"
    assert (more.size, more.strata[0].drawn) == (57, 57)
    report = compute_run_agreement(store, row.run).report
    assert report.claims.design.frame_units == 60


def test_a_repeat_is_still_drawn_of_own_labels(labelled: tuple[Store, SampleRow]) -> None:
    store, row = labelled
    repeat = draw_and_save_run_sample(store, row.run, "ann", make_repeat_labels_request(5, 10))
    assert repeat.size == 10
    with pytest.raises(StoreError, match="repeat"):
        compute_run_agreement(store, row.run, ReportSettings(sample=repeat.id))
