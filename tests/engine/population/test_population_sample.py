"""Drawing claims of a results folder into a store."""

import builtins
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.ids import ItemId
from faithtui.engine.population.population_sample import draw_and_store_population_sample
from faithtui.engine.population.results_scan import ResultsScan
from faithtui.engine.population.sample_request import PopulationRequest
from faithtui.engine.population.sample_sizes import PopulationDesign
from faithtui.engine.review.samples.sample_queues import read_outcome_and_close_finished_spot_check
from faithtui.engine.shards.judgement_json import (
    judgement_from_json_text,
)
from faithtui.errors import ConfigError, InputError, StoreError
from faithtui.store.records import ItemState, RunState
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.store import Store
from tests.engine.population.results import (
    METRIC,
    MadeConversation,
    label_drawn,
    make_conversation,
    make_population,
    read_drawn,
    write_results,
)

BY_LANGUAGE = ("verdict", "language")


ClaimName = tuple[str, str]
"""Key of the conversation and text of the claim."""


def list_drawn(store: Store, row: SampleRow) -> list[ClaimName]:
    """Name the claims of a sample, in that order."""
    return [(each.key, each.text) for each in read_drawn(store, row)]


@pytest.fixture(scope="module")
def store_of_a_sample(
    tmp_path_factory: pytest.TempPathFactory, results: str
) -> Iterator[tuple[Store, SampleRow]]:
    """A store with a sample, for tests in which nothing may change it."""
    with Store.open(tmp_path_factory.mktemp("sample") / "review.db") as store:
        request = PopulationRequest(size=8, stratified_by=BY_LANGUAGE)
        yield store, draw_and_store_population_sample(store, results, request, "ann").row


def test_only_what_is_drawn_comes_in_with_how_many_there_are(store: Store, results: str) -> None:
    found = draw_and_store_population_sample(
        store, results, PopulationRequest(size=24, stratified_by=BY_LANGUAGE), "ann"
    )
    row = found.row
    assert (found.added, row.size, row.frame) == (24, 24, 360)
    assert sum(each.drawn for each in row.strata) == 24
    whole = Counter(
        f"judge {label} · language {each.metadata['language']}"
        for each in make_population(120)
        for label in each.labels
    )
    assert {each.name: each.population for each in row.strata} == whole
    drawn = read_drawn(store, row)
    assert len(drawn) == 24
    assert store.conversations.count() == len({each.key for each in drawn}) < 25
    for entry in store.samples.list_claims_in_served_order(row.id, "ann"):
        (stratum,) = (each for each in row.strata if each.name == entry.stratum)
        assert entry.probability == stratum.drawn / stratum.population
    population = row.population
    assert population is not None
    assert (
        population.conversation_count,
        population.judged,
        population.failed_conversation_count,
    ) == (124, 120, 4)
    assert population.claim_count == 360
    assert population.claim_counts_by_stratum == tuple(each.population for each in row.strata)


def test_a_queue_with_strata_of_metadata_ends_without_sequences(store: Store, results: str) -> None:
    request = PopulationRequest(size=8, stratified_by=BY_LANGUAGE)
    row = draw_and_store_population_sample(store, results, request, "ann").row
    label_drawn(store, row, lambda unit: "yes")
    end = read_outcome_and_close_finished_spot_check(store, row.id, "ann")
    assert end.sequences is None


def test_the_run_is_what_a_run_would_have_written(
    store: Store, results: str, tmp_path: Path
) -> None:
    row = draw_and_store_population_sample(store, results, PopulationRequest(size=12), "ann").row
    run = store.runs.read_run(row.run)
    assert (run.state, run.pending, run.failed) == (RunState.DONE, 0, 0)
    assert run.spec.judge_fingerprint == "offline/test"
    assert run.spec.prompt_digest == METRIC.prompt_digest
    assert run.spec.rule == METRIC.rule
    assert run.spec.sources == ("logs",)
    assert run.spec.prompt_set is not None
    assert store.prompts.find_set(run.spec.prompt_set) is not None
    made = {each.key: each for each in make_population(120)}
    with Store.open(tmp_path / "other.db") as other:
        items = store.runs.list_item_ids(row.run)
        keys = [each.key for each in store.runs.read_item_rows(items)]
        conversations = [make_conversation(made[key]) for key in keys]
        other.conversations.import_batch(conversations, {})
        ids = dict(zip(keys, other.conversations.list_ids(["logs"]), strict=True))
        again = other.runs.create(run.spec, [ids[key] for key in keys])
        for item, key in zip(other.runs.list_item_ids(again), keys, strict=True):
            text = _read_judgement_text(Path(results), key)
            judgement = judgement_from_json_text(text)
            for assessment in judgement.assessments:
                other.runs.save_window(item, assessment)
            other.runs.score_and_finish_item(
                item, ItemState.DONE, None, judgement.conclusion.reason
            )
        here, there = store.runs.read_run(row.run), other.runs.read_run(again)
        same = ("conversations", "done", "windows", "claims", "missing_verdicts", "score", "scored")
        for name in same:
            assert getattr(here, name) == getattr(there, name), name
        for mine, its in zip(items, other.runs.list_item_ids(again), strict=True):
            assert _make_provenance(store, mine) == _make_provenance(other, its)


def _make_provenance(store: Store, item: ItemId) -> object:
    view = store.runs.read_conversation_for_review(item, "ann")
    return (
        view.item.key,
        view.item.state,
        view.reason,
        [
            (each.text, each.turn, each.verdicts[0].label, len(each.evidence))
            for each in view.claims
        ],
        [each.text for each in view.truths],
        [each.content for each in view.turns],
    )


def _read_judgement_text(folder: Path, key: str) -> str:
    for path in (folder / "conversations").glob("*.parquet"):
        for row in pq.read_table(path).to_pylist():
            if row["key"] == key:
                return str(row["judgement"])
    raise AssertionError(key)


def test_equal_seeds_draw_the_same_however_the_results_are_cut(
    store: Store, results: str, tmp_path: Path, empty_store: Path
) -> None:
    made = make_population(120, failed=4)
    cut = {"z": made[::-1][:31], "m": made[:50], "a": made[50:93]}
    assert sum(map(len, cut.values())) == 124
    other = write_results(tmp_path / "cut", cut)
    request = PopulationRequest(size=16, stratified_by=BY_LANGUAGE, shown_share=0.3)
    row = draw_and_store_population_sample(store, results, request, "ann").row
    shutil.copy(empty_store, tmp_path / "other.db")
    with Store.open(tmp_path / "other.db") as second:
        its = draw_and_store_population_sample(second, str(other), request, "bob").row
        assert list_drawn(store, row) == list_drawn(second, its)
        shown = [each.shown for each in store.samples.list_claims_in_served_order(row.id, "ann")]
        assert shown == [
            each.shown for each in second.samples.list_claims_in_served_order(its.id, "ann")
        ]
        assert any(shown)
        assert not all(shown)
    shutil.copy(empty_store, tmp_path / "third.db")
    with Store.open(tmp_path / "third.db") as third:
        seeded = PopulationRequest(size=16, stratified_by=BY_LANGUAGE, seed=2)
        last = draw_and_store_population_sample(third, results, seeded, "ann").row
        assert set(list_drawn(third, last)) != set(list_drawn(store, row))


@pytest.mark.thorough
def test_a_second_draw_adds_to_the_first(store: Store, results: str) -> None:
    first = draw_and_store_population_sample(
        store, results, PopulationRequest(size=10, design=PopulationDesign.SIMPLE), "ann"
    )
    before = list_drawn(store, first.row)
    second = draw_and_store_population_sample(
        store,
        results,
        PopulationRequest(size=15, design=PopulationDesign.STRATIFIED, stratified_by=BY_LANGUAGE),
        "ann",
    )
    assert (second.row.id, second.row.run) == (first.row.id, first.row.run)
    assert second.added == 15
    after = list_drawn(store, second.row)
    assert after[:10] == before
    assert len(set(after)) == 25
    third = draw_and_store_population_sample(store, results, PopulationRequest(size=6), "ann")
    assert third.row.stratified_by == BY_LANGUAGE
    assert list_drawn(store, third.row)[:25] == after
    strata = {each.name: each for each in third.row.strata}
    drawn = Counter(each.stratum for each in read_drawn(store, third.row))
    assert {name: each.drawn for name, each in strata.items()} == drawn
    for entry in store.samples.list_claims_in_served_order(third.row.id, "ann"):
        assert entry.probability == strata[entry.stratum].draw_probability
    fourth = draw_and_store_population_sample(
        store, results, PopulationRequest(size=16, design=PopulationDesign.UNCERTAINTY), "ann"
    )
    assert fourth.row.stratified_by == (*BY_LANGUAGE, "uncertainty")
    assert fourth.row.size == 47


def test_drawing_all_at_once_and_in_two_parts_is_the_same_set(
    store: Store, results: str, tmp_path: Path, empty_store: Path
) -> None:
    simple = PopulationDesign.SIMPLE
    draw_and_store_population_sample(
        store, results, PopulationRequest(size=8, design=simple), "ann"
    )
    row = draw_and_store_population_sample(store, results, PopulationRequest(size=8), "ann").row
    shutil.copy(empty_store, tmp_path / "other.db")
    with Store.open(tmp_path / "other.db") as other:
        whole = PopulationRequest(size=16, design=simple)
        its = draw_and_store_population_sample(other, results, whole, "ann").row
        assert set(list_drawn(store, row)) == set(list_drawn(other, its))


def test_strata_named_for_a_second_draw_split_a_simple_sample(store: Store, results: str) -> None:
    simple = PopulationDesign.SIMPLE
    draw_and_store_population_sample(
        store, results, PopulationRequest(size=8, design=simple), "ann"
    )
    found = draw_and_store_population_sample(
        store, results, PopulationRequest(size=8, stratified_by=("verdict",)), "ann"
    )
    assert len(found.row.strata) > 1
    assert sum(each.drawn for each in found.row.strata) == 16


def test_whole_conversations_come_with_all_their_claims(store: Store, results: str) -> None:
    request = PopulationRequest(size=9, design=PopulationDesign.CONVERSATIONS)
    row = draw_and_store_population_sample(store, results, request, "ann").row
    assert row.design is SamplingDesign.CONVERSATIONS
    (stratum,) = row.strata
    assert (stratum.population, stratum.drawn, row.size, row.frame) == (120, 9, 27, 360)
    keys = [each.key for each in read_drawn(store, row)]
    assert all(count == 3 for count in Counter(keys).values())
    assert keys == [key for key in dict.fromkeys(keys) for _ in range(3)]
    more = draw_and_store_population_sample(store, results, PopulationRequest(size=3), "ann").row
    assert (more.strata[0].drawn, more.size) == (12, 36)
    assert [each.key for each in read_drawn(store, more)][:27] == keys


@pytest.mark.thorough
def test_sizes_follow_the_precision_that_is_wanted(store: Store, results: str) -> None:
    wide = draw_and_store_population_sample(store, results, PopulationRequest(precision=0.2), "ann")
    assert wide.precision is not None
    assert wide.precision <= 0.2
    narrow = draw_and_store_population_sample(
        store, results, PopulationRequest(precision=0.12), "ann"
    )
    assert narrow.row.size > wide.row.size
    assert narrow.precision is not None
    assert narrow.precision <= 0.12
    with pytest.raises(ConfigError, match="is expected of what is drawn already"):
        draw_and_store_population_sample(store, results, PopulationRequest(precision=0.12), "ann")


@pytest.mark.parametrize("design", ["simple", "uncertainty", "conversations"])
def test_every_design_is_planned_from_a_precision(store: Store, results: str, design: str) -> None:
    request = PopulationRequest(precision=0.2, design=PopulationDesign(design))
    found = draw_and_store_population_sample(store, results, request, "ann")
    assert found.precision is not None
    assert found.precision <= 0.2
    assert found.row.size < found.row.frame


def test_hostile_names_stay_text(store: Store, tmp_path: Path) -> None:
    key = "x'); DROP TABLE claims; -- \u202e\x1b[31m"
    made = [
        MadeConversation(
            f"{key} {number}",
            ("yes", "no"),
            source="a'\"b",
            metadata={"a/b~'c": f"v'{number % 2}", "verdict": "mine"},
        )
        for number in range(20)
    ]
    folder = tmp_path / "all [1] * '?'"
    results = write_results(folder, {"it's": made[:10], "s[0-9]*": made[10:]})
    request = PopulationRequest(
        size=20, stratified_by=("verdict", "a/b~'c", "metadata.verdict", "source")
    )
    row = draw_and_store_population_sample(store, str(results), request, "ann").row
    assert row.size == 20
    assert {each.population for each in row.strata} == {10}
    assert len(row.strata) == 4
    assert all("verdict mine" in each.name for each in row.strata)
    assert {each.key for each in read_drawn(store, row)} <= {each.key for each in made}


def test_metadata_without_the_key_is_a_stratum_of_its_own(store: Store, tmp_path: Path) -> None:
    made = [
        MadeConversation(f"c{number}", metadata={"team": "one"} if number % 2 else {})
        for number in range(20)
    ]
    results = write_results(tmp_path / "all", {"a": made})
    row = draw_and_store_population_sample(
        store, str(results), PopulationRequest(size=10, stratified_by=("team",)), "ann"
    ).row
    assert {each.name: each.population for each in row.strata} == {
        "team one": 10,
        "team unknown": 10,
    }


def test_an_address_is_read_as_pyarrow_reads_it(store: Store, results: str) -> None:
    row = draw_and_store_population_sample(
        store, f"file://{results}", PopulationRequest(size=5), "ann"
    ).row
    assert row.population is not None
    assert row.population.results == f"file://{results}"
    again = draw_and_store_population_sample(store, results, PopulationRequest(size=5), "ann").row
    assert again.id == row.id, "the same results in another place"


def test_an_address_with_a_key_or_of_a_missing_package_is_refused() -> None:
    with pytest.raises(ConfigError, match="keys come from the environment") as caught:
        ResultsScan("s3://KEY:SECRET@bucket/r")
    assert "SECRET" not in str(caught.value)
    with pytest.raises(InputError, match="cannot be opened"):
        ResultsScan("hf://x/y")


def test_results_that_may_not_be_looked_at_are_not_said_to_be_empty(
    results: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("ACCESS_DENIED")

    monkeypatch.setattr("pyarrow.fs.FileSelector", refuse)
    with pytest.raises(InputError, match="cannot be looked at: ACCESS_DENIED"):
        ResultsScan(f"file://{results}")


def test_an_error_of_python_behind_duckdb_is_told_by_its_last_line(
    results: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("ACCESS_DENIED while reading")

    monkeypatch.setattr("fsspec.implementations.arrow.ArrowFSWrapper._open", refuse)
    with pytest.raises(InputError, match=r"cannot be read: .*ACCESS_DENIED while reading"):
        ResultsScan(f"file://{results}")


@pytest.mark.thorough
def test_strata_of_every_kind_cover_all_claims(store: Store, results: str) -> None:
    request = PopulationRequest(size=60, stratified_by=("score", "uncertainty", "turn", "source"))
    row = draw_and_store_population_sample(store, results, request, "ann").row
    assert sum(each.population for each in row.strata) == 360
    assert {each.name.split(" · ")[2] for each in row.strata} == {"turns 1-2"}
    bands = {"0.0-0.2", "0.2-0.4", "0.4-0.6", "0.6-0.8", "0.8-1.0"}
    assert {each.name.split(" · ")[1] for each in row.strata} == {f"uncertainty {b}" for b in bands}


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"size": 0}, "--size is 0"),
        ({"size": 5, "precision": 0.1}, "leave one out"),
        ({"precision": 0.7}, "--precision is 0.7"),
        ({"stratified_by": ("verdict", "verdict")}, "twice"),
        ({"size": 1}, "3 strata need 3 claims"),
        ({"stratified_by": ("langage",)}, "no judged conversation has 'langage'"),
        ({"design": PopulationDesign.SIMPLE, "stratified_by": ("verdict",)}, "has no strata"),
        ({"shown_share": 1.0}, "expected 0 or more, below 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    store: Store, results: str, wanted: dict[str, object], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        draw_and_store_population_sample(store, results, PopulationRequest(**wanted), "ann")  # type: ignore[arg-type]  # fields by name
    assert not store.runs.list_runs()


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"seed": 9}, "was drawn with seed 1"),
        ({"stratified_by": ("verdict",)}, "name language in --stratify too"),
        ({"design": PopulationDesign.SIMPLE}, "was drawn by verdict, language"),
        ({"design": PopulationDesign.CONVERSATIONS}, "do not add up"),
    ],
)
def test_a_draw_that_does_not_add_up_is_refused(
    store_of_a_sample: tuple[Store, SampleRow],
    results: str,
    wanted: dict[str, object],
    words: str,
) -> None:
    store, row = store_of_a_sample
    with pytest.raises(ConfigError, match=words):
        draw_and_store_population_sample(store, results, PopulationRequest(**wanted), "ann")  # type: ignore[arg-type]  # fields by name
    assert store.samples.read_sample(row.id, "ann") == row


def test_results_that_grew_are_another_population(store: Store, tmp_path: Path) -> None:
    made = make_population(60)
    folder = write_results(tmp_path / "all", {"a": made[:30]}, ["b"])
    row = draw_and_store_population_sample(
        store, str(folder), PopulationRequest(size=10), "ann"
    ).row
    assert row.population is not None
    assert row.population.open_shards == 1
    write_results(folder, {"b": made[30:]}, ["a"])
    with pytest.raises(ConfigError, match=r"drawn from 90 claims .* has 180"):
        draw_and_store_population_sample(store, str(folder), PopulationRequest(size=10), "ann")


def test_everything_can_be_drawn_and_then_nothing_is_left(store: Store, tmp_path: Path) -> None:
    results = str(write_results(tmp_path / "all", {"a": make_population(12)}))
    row = draw_and_store_population_sample(store, results, PopulationRequest(size=1000), "ann").row
    assert row.size == 36
    assert all(each.draw_probability == 1 for each in row.strata)
    with pytest.raises(ConfigError, match="everything of the population"):
        draw_and_store_population_sample(store, results, PopulationRequest(size=1), "ann")


def test_what_is_no_results_folder_is_refused(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "none"
    folder.mkdir()

    def try_to_draw(words: str) -> None:
        with pytest.raises(InputError, match=words):
            draw_and_store_population_sample(store, str(folder), PopulationRequest(size=5), "ann")

    try_to_draw("has no whole shard")
    write_results(folder, {"a": make_population(10)})
    (folder / "claims" / "a.parquet").rename(tmp_path / "kept.parquet")
    try_to_draw("no claims of shard a")
    (folder / "claims" / "a.parquet").write_text("no Parquet")
    try_to_draw("cannot be read")
    (tmp_path / "kept.parquet").rename(folder / "claims" / "a.parquet")
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text("{}")
    try_to_draw("is none of `faithtui measure`")
    manifest["settings"]["format"] = 99
    (folder / "manifest.json").write_text(json.dumps(manifest))
    try_to_draw("is of format 99")
    (folder / "manifest.json").unlink()
    try_to_draw("cannot be read")
    assert not store.runs.list_runs()


def test_too_many_strata_are_refused(store: Store, tmp_path: Path) -> None:
    made = [MadeConversation(f"c{n}", metadata={"user": f"u{n}"}) for n in range(250)]
    results = write_results(tmp_path / "all", {"a": made})
    request = PopulationRequest(size=240, stratified_by=("user",))
    with pytest.raises(ConfigError, match="more than 200 strata"):
        draw_and_store_population_sample(store, str(results), request, "ann")


def test_a_draw_is_stored_whole_or_not_at_all(store: Store, results: str) -> None:
    stolen = [MadeConversation(f"c{n}", ("idk",)) for n in range(120)]
    store.conversations.import_batch([make_conversation(each) for each in stolen], {})
    with pytest.raises(StoreError, match="with other messages"):
        draw_and_store_population_sample(store, results, PopulationRequest(size=20), "ann")
    assert not store.runs.list_runs()
    assert not store.samples.list_samples("ann")


def test_without_duckdb_the_extra_is_named(
    store: Store, results: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without_duckdb(name: str, *args: object, **more: object) -> object:
        if name == "duckdb":
            raise ImportError(name)
        return real(name, *args, **more)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(builtins, "__import__", without_duckdb)
    with pytest.raises(ConfigError, match=r"pip install 'faithtui\[sample\]'"):
        draw_and_store_population_sample(store, results, PopulationRequest(size=20), "ann")


def test_the_run_of_a_population_is_no_frame_of_its_own(
    store_of_a_sample: tuple[Store, SampleRow],
) -> None:
    store, row = store_of_a_sample
    frame = store.samples.read_frame(row.run)
    plan = SamplePlan(SamplingDesign.SIMPLE, 1, 5)
    with pytest.raises(StoreError, match="faithtui sample draws more"):
        store.samples.save_draw_as_sample(
            row.run, "ann", make_sample_draw(frame, plan), plan, name="s"
        )
    with pytest.raises(StoreError, match="faithtui sample draws more"):
        store.samples.draw_more_claims(row.id, "ann", 5)
    with pytest.raises(StoreError, match="a claim set has everything"):
        store.claim_sets.make_claim_set_version_if_changed("gold", row.id, "ann")
