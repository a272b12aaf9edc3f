"""Reports of a run in a store: what is asked for reaches the figures and the files."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.report.settings import IntervalMethod, ReportSettings
from faithtui.domain.conversation import Rating
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_events import Action
from faithtui.engine.review.reports.agreement_report import (
    FILES,
    Format,
    compute_run_agreement,
    iter_report_text,
    update_claim_figures_for_new_labels,
    write_report,
    write_report_files,
)
from faithtui.errors import ConfigError, ExportError, StoreError
from faithtui.store.records import ItemState
from faithtui.store.store import Store
from tests.agreement.building import check_schema
from tests.store.building import (
    SPEC,
    assess,
    imported,
    judged,
    make_conversation,
    spec_of,
    windows_of,
)

CONVERSATION = make_conversation(answers=3)
LABELS = {1: ["yes", "no"], 3: ["idk", "yes"], 5: ["no"]}


def noon() -> datetime:
    return datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store.db", clock=noon) as opened:
        yield opened


@pytest.fixture
def run(store: Store) -> RunId:
    found, _ = judged(store, CONVERSATION, LABELS)
    return found


def claims_of(store: Store, run: RunId) -> list[ClaimId]:
    return [each.claim for each in store.labelled_units.read_claim_units(run)]


def label(
    store: Store, claim: ClaimId, verdict: str, *, who: str = "ann", saw: bool = False
) -> None:
    store.label_log.append_label_event(
        claim,
        who,
        Action.OVERRIDDEN if saw else Action.BLIND,
        verdict,
        note="Read it twice.",
        run=None,
        judge_verdict=None,
        saw_judge=saw,
    )


def written(store: Store, run: RunId, form: Format, *, include_text: bool = False) -> str:
    agreement = compute_run_agreement(store, run)
    return "".join(iter_report_text(store, agreement, form, clock=noon, include_text=include_text))


def test_labels_of_a_store_reach_the_figures(store: Store, run: RunId) -> None:
    first, second, *_ = claims_of(store, run)
    label(store, first, "yes")
    label(store, second, "yes", saw=True)
    found = compute_run_agreement(store, run)
    assert found.report.claims.table.n == 2
    assert found.report.claims.coverage.agreed == 1
    assert " On 2 claims from 1 conversation " in found.report.headline
    blind = compute_run_agreement(store, run, ReportSettings(blind_only=True))
    assert blind.report.claims.table.n == 1


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (IdkRule.PASS, ("faithful", "unfaithful")),
        (IdkRule.THREE, ("yes", "no", "idk")),
    ],
)
def test_the_idk_rule_reaches_the_tables(
    store: Store, run: RunId, rule: IdkRule, expected: tuple[str, ...]
) -> None:
    label(store, claims_of(store, run)[0], "idk")
    found = compute_run_agreement(store, run, ReportSettings(idk=rule)).report
    assert found.claims.table.categories == expected


def test_the_rule_for_duplicates_reaches_the_readings(store: Store) -> None:
    run, _ = judged(store, CONVERSATION, LABELS)
    found = compute_run_agreement(store, run, ReportSettings(duplicates="latest"))
    assert found.report.settings.duplicates == "latest"
    assert [each.judge for each in found.claims] == ["yes", "no", "idk", "yes", "no"]


def test_another_run_is_compared_on_the_same_claims(store: Store, run: RunId) -> None:
    other, _ = judged(
        store, CONVERSATION, {**LABELS, 5: ["yes"]}, spec=spec_of(SPEC.metric, SPEC.rule, "replay")
    )
    for claim in claims_of(store, run):
        label(store, claim, "yes")
    compared = compute_run_agreement(store, run, other=other).report.comparison
    assert compared is not None
    assert compared.n_common == 5
    assert (compared.a_only_correct, compared.b_only_correct) == (0, 1)
    assert compared.b.endswith(f"run {other}")
    with pytest.raises(ConfigError, match=f"both are run {run}"):
        compute_run_agreement(store, run, other=run)
    with pytest.raises(StoreError, match="no run 9"):
        compute_run_agreement(store, run, other=RunId(9))


def test_answers_with_different_labels_have_their_text_on_request_only(store: Store) -> None:
    rated = make_conversation(
        answers=2, ratings=[Rating(turn, "ann", "mtrag-faithfulness-1-4", "1") for turn in (1, 3)]
    )
    question, answer, *rest = rated.turns
    said = f"Boots | keep <b>warm</b>.\n{900 * 'w'}"
    rated = replace(rated, turns=(question, replace(answer, content=said), *rest))
    run, _ = judged(store, rated, {1: ["yes", "yes"], 3: ["yes", "yes"]})
    plain, page = written(store, run, "md"), written(store, run, "html", include_text=True)
    assert ("Answers with different labels" in plain, "Boots" in plain) == (True, False)
    shown = written(store, run, "md", include_text=True)
    cut = "w" * 273
    row = f"score 1.00, threshold 0.5 | Boots \\| keep &lt;b&gt;warm&lt;/b&gt;.␊{cut}… |\n"
    assert "| annotators | score | text |" in shown
    assert row in shown
    assert "| Answer 1 of one. |" in shown
    assert f"Boots | keep &lt;b&gt;warm&lt;/b&gt;.\n{cut}…<" in page
    assert "answer_text" not in written(store, run, "json")
    document = json.loads(written(store, run, "json", include_text=True))
    listed = document["disagreements"]
    assert [each["answer_text"] for each in listed] == [said, "Answer 1 of one."]
    assert listed[0]["text"] == "score 1.00, threshold 0.5"
    check_schema(document)


def test_rows_of_the_csv_have_passages_and_notes_where_somebody_acted(
    store: Store, run: RunId
) -> None:
    first, *_ = claims_of(store, run)
    label(store, first, "no")
    rows = list(csv.DictReader(io.StringIO(written(store, run, "csv"), newline="")))
    assert len(rows) == 5
    assert json.loads(rows[0]["passages"]) == ["Fact 0."]
    assert json.loads(rows[0]["notes"]) == ["Read it twice."]
    assert json.loads(rows[0]["verdicts"])[0]["reviewer"] == "ann"
    assert {row["passages"] for row in rows[1:]} == {""}
    everything = csv.DictReader(
        io.StringIO(written(store, run, "csv", include_text=True), newline="")
    )
    assert all(row["passages"] for row in everything)


def test_a_claim_that_annotators_are_evenly_split_on_is_called_tied(
    store: Store, run: RunId
) -> None:
    first, second, *_ = claims_of(store, run)
    for claim in (first, second):
        label(store, claim, "no")
    label(store, first, "yes", who="bo")
    rows = csv.DictReader(io.StringIO(written(store, run, "csv"), newline=""))
    said = [(row["human"], row["same"], row["tied"], row["state"]) for row in rows]
    assert said == [
        ("", "", "yes", "labelled"),
        ("no", "yes", "no", "labelled"),
        *[("", "", "", "unreviewed")] * 3,
    ]


def test_the_labels_of_a_census_weigh_one(store: Store, run: RunId) -> None:
    for claim in claims_of(store, run):
        label(store, claim, "yes")
    rows = list(csv.DictReader(io.StringIO(written(store, run, "csv"), newline="")))
    assert {row["weight"] for row in rows} == {"1.0"}


def test_all_formats_are_written_and_the_same_labels_give_the_same_bytes(
    store: Store, run: RunId, tmp_path: Path
) -> None:
    label(store, claims_of(store, run)[0], "no")
    formats = tuple(FILES)
    wanted = ReportSettings(interval=IntervalMethod.BOOTSTRAP, resamples=100, seed=5)
    for name in ("one", "two"):
        paths = write_report(store, run, formats, tmp_path / name, settings=wanted, clock=noon)
        assert [path.name for path in paths] == [FILES[each] for each in formats]
    for name in FILES.values():
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    document = json.loads((tmp_path / "one" / "report.json").read_text("utf-8"))
    assert document["settings"]["seed"] == 5
    assert document["generated_at"] == "2026-01-02T12:00:00Z"
    page = (tmp_path / "one" / "report.html").read_text("utf-8")
    assert document["plots"]
    assert all(f'id="{each["id"]}"' in page for each in document["plots"])


def test_json_without_the_page_names_no_plots(store: Store, run: RunId, tmp_path: Path) -> None:
    (path,) = write_report(store, run, ("json",), tmp_path, clock=noon)
    assert json.loads(path.read_text("utf-8"))["plots"] == []


def test_a_folder_that_is_a_file_is_an_export_error(
    store: Store, run: RunId, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(ExportError, match="choose another directory"):
        write_report(store, run, ("md",), tmp_path / "file", clock=noon)


def test_a_report_replaces_its_own_files_and_no_others(
    store: Store, run: RunId, tmp_path: Path
) -> None:
    agreement = compute_run_agreement(store, run)
    for _ in range(2):
        write_report_files(store, agreement, tuple(FILES), tmp_path, clock=noon)
    for name in FILES.values():
        own = tmp_path.joinpath(name).read_bytes()
        (tmp_path / name).write_text('"claim_id","conversation"\nmine\n', encoding="utf-8")
        with pytest.raises(ExportError, match="no file of a report; choose another directory"):
            write_report_files(store, agreement, tuple(FILES), tmp_path, clock=noon)
        assert tmp_path.joinpath(name).read_text("utf-8").endswith("mine\n")
        (tmp_path / name).write_bytes(own)


def test_labels_given_since_move_the_figures_without_a_new_reading(
    store: Store, run: RunId
) -> None:
    first, second, third, *_ = claims_of(store, run)
    label(store, first, "yes")
    known = compute_run_agreement(store, run)
    assert update_claim_figures_for_new_labels(store, known) is None
    label(store, second, "yes")
    label(store, third, "x")
    points = update_claim_figures_for_new_labels(store, known)
    assert points is not None
    assert points.points_only
    whole = compute_run_agreement(store, run).report.claims
    assert points.report.claims.table == whole.table
    assert points.report.claims.coverage.not_a_claim == 1
    assert points.report.claims.percent_agreement.value == whole.percent_agreement.value
    label(store, second, "no")
    again = update_claim_figures_for_new_labels(store, points)
    assert again is not None
    assert again.report.claims.table == compute_run_agreement(store, run).report.claims.table


def test_many_labels_since_are_read_anew(store: Store, run: RunId) -> None:
    known = compute_run_agreement(store, run)
    for each in claims_of(store, run)[:3]:
        label(store, each, "yes")
    said = store.labelled_units.read_labels_of_claims_changed_after(run, known.newest, most=3)
    assert said is not None
    assert len(said) == 3
    assert (
        store.labelled_units.read_labels_of_claims_changed_after(run, known.newest, most=2) is None
    )


def test_an_auditor_finds_dates_and_guideline_versions_of_labels(store: Store, run: RunId) -> None:
    first, second, third, *_ = claims_of(store, run)
    label(store, first, "yes")
    store.guidelines.add_version("Judge by the passages alone.", "ann")
    digest = store.guidelines.add_version("Judge by the passages and the question.", "ann").digest
    label(store, second, "no")
    label(store, third, "no")
    label(store, third, "idk")
    facts = (
        "labels were stored on 2026-01-02 12:00 UTC: "
        f"2 labels under guideline version 2 ({digest}), 1 label under no guideline."
    )
    assert f"Claims: {facts}" in written(store, run, "md").replace("\\", "")
    (warning,) = [
        each
        for each in json.loads(written(store, run, "json"))["warnings"]
        if each["code"] == "label_dates"
    ]
    assert warning["message"] == f"Claims: {facts}"
    assert facts in written(store, run, "html")


METADATA: dict[str, object] = {
    "n": {"model": "=1+1"},
    "tags": ["a", "b", "a"],
    "live": True,
    "merged": [{"id": "c", "metadata": {"model": "of another", "tags": ["c"]}}],
}


def test_agreement_is_broken_down_by_metadata_of_conversations(tmp_path: Path) -> None:
    chats = [
        replace(make_conversation(key, answers=1), metadata=metadata)
        for key, metadata in (("a", METADATA), ("b", {"tags": ["b"], "n": {"model": None}}))
    ]
    with Store.open(tmp_path / "metadata.db", clock=noon) as store:
        run = store.runs.create(SPEC, [imported(store, each) for each in chats])
        for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
            for window in windows_of(each):
                assessed = assess(window, {1: ["yes"] * 11}, rule=SPEC.rule)
                store.runs.save_window(item, assessed)
            store.runs.score_and_finish_item(item, ItemState.DONE, None, "")
        for number, claim in enumerate(claims_of(store, run)):
            label(store, claim, "yes" if number < 11 else "no")
        settings = ReportSettings(metadata_keys=("model", "tags", "live"))
        found = compute_run_agreement(store, run, settings)
        by = {
            each.metadata_key: {row.key: (row.n, row.percent.value) for row in each.rows}
            for each in found.report.breakdowns
            if each.metadata_key
        }
        assert by == {
            "model": {"": (11, 0.0), "=1+1": (11, 1.0)},
            "tags": {"b": (22, 0.5), "a": (11, 1.0)},
            "live": {"": (11, 0.0), "true": (11, 1.0)},
        }
        text = "".join(iter_report_text(store, found, "csv"))
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [json.loads(rows[place]["metadata tags"]) for place in (0, -1)] == [
            ["a", "b"],
            ["b"],
        ]
        assert [rows[place]["metadata model"] for place in (0, -1)] == ['["=1+1"]', ""]


def test_a_key_that_no_conversation_has_is_refused_with_what_there_is(store: Store) -> None:
    run, _ = judged(
        store, replace(CONVERSATION, metadata={"model": "m", "o": {"tags": []}}), LABELS
    )
    with pytest.raises(ConfigError, match=r"known: model, tags\. Did you mean `model`"):
        compute_run_agreement(store, run, ReportSettings(metadata_keys=("modle",)))


def test_without_metadata_nothing_can_be_broken_down(store: Store, run: RunId) -> None:
    with pytest.raises(ConfigError, match="came with metadata"):
        compute_run_agreement(store, run, ReportSettings(metadata_keys=("model",)))
