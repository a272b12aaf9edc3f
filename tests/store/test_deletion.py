"""What is deleted is gone: from every table, from the bytes of the files, and from what follows."""

import json
import random
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import ForeignKeyConstraint

from faithtui.agreement.sampling.draw import (
    SampleKind,
    SamplePlan,
    SamplingDesign,
    make_sample_draw,
)
from faithtui.domain.conversation import Conversation, Document, Image, Rating, Turn
from faithtui.domain.filters import parse_filter
from faithtui.domain.ids import RunId, SampleId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.split_rule import SplitRule
from faithtui.errors import StoreError
from faithtui.formats.label_bundles import format_bundle_lines
from faithtui.store.deletion import ITEM_TABLES, NAME_COLUMNS
from faithtui.store.deletion_records import DELETED_PERSON, DeletionKind
from faithtui.store.records import (
    CallContext,
    FreshVerdict,
    ItemState,
    SavedView,
    StoredReply,
)
from faithtui.store.schema.metadata import METADATA
from faithtui.store.search.filter_search import make_filter_context
from faithtui.store.store import Store
from tests.store.building import FACTS, SPEC, assess, windows_of

CANARY = "xyzzycanary"
LABELS = {1: ["yes", "no"], 3: ["idk", "yes", "no"]}


def make_conversation(
    source: str, key: str, words: str, images: tuple[Image, ...] = ()
) -> Conversation:
    """A conversation of two answers; a document and an image are those of every other one."""
    shared = Document("A fact that everybody was shown.", "shared.md", images)
    turns = (
        Turn("user", f"What of {words}?", images=images),
        Turn("assistant", f"{words} it is.", (Document(f"{words} is so.", f"{words}.md"), shared)),
        Turn("user", f"And {words} again?"),
        Turn("assistant", f"Again {words}.", (shared,)),
    )
    ratings = (Rating(1, f"rater of {words}", "yes-no-idk", "yes", f"{words} holds", None, words),)
    details = {"about": words, "other": {"per_rater": {f"rater of {words}": 3, "cat": 2}}}
    return Conversation(source, key, turns, f"g/{key}", details, ratings)


PIXELS = b"\x89PNG\r\n\x1a\n" + CANARY.encode() * 3
OWN = Image("a" * 64, "image/png")
SHARED = Image("b" * 64, "image/png")
DATA = {OWN.sha256: PIXELS, SHARED.sha256: b"\x89PNG\r\n\x1a\n plain"}


def judge_all(store: Store, sources: tuple[str, ...]) -> RunId:
    """Run over some data sets, all windows stored, with a reply for each conversation."""
    numbers = store.conversations.list_ids(sources)
    run = store.runs.create(replace(SPEC, rule=FACTS, sources=sources), numbers)
    for number, item in zip(numbers, store.runs.list_item_ids(run), strict=True):
        found = store.conversations.get(number)
        store.calls.save_reply_release_lease_and_add_totals(
            CallContext(f"key {number} {run}", "offline", "truths", run, item),
            StoredReply(f"reply on {found.turns[1].content}", "ok", True, 1, 1, 0, None, None, 1),
        )
        for window in windows_of(found):
            judged = assess(window, LABELS, rule=FACTS)
            verdicts = tuple(
                replace(
                    each,
                    claim=replace(
                        each.claim, text=f"{each.claim.text} of {found.turns[1].content}"
                    ),
                    reason=f"because {found.turns[1].content}",
                )
                for each in judged.verdicts
            )
            store.runs.save_window(item, replace(judged, verdicts=verdicts))
        store.runs.score_and_finish_item(item, ItemState.DONE, None, found.key)
    return run


def label_all(store: Store, run: RunId, seed: int, reviewers: tuple[str, ...]) -> None:
    """Label claims as a seed has it, the same for the same conversation in any store."""
    for item in store.runs.list_item_ids(run):
        view = store.runs.read_conversation_for_review(item, "nobody")
        for claim in view.claims:
            for reviewer in reviewers:
                chance = random.Random(f"{seed} {view.item.key} {claim.text} {reviewer}")
                if chance.random() < 0.4:
                    continue
                store.label_log.record_verdict(
                    claim.id,
                    reviewer,
                    chance.choice(["yes", "no", "idk", "x"]),
                    run=run,
                    saw_judge=chance.random() < 0.5,
                    seconds=2.0,
                )
                if chance.random() < 0.3:
                    store.label_log.append_label_event(
                        claim.id,
                        reviewer,
                        Action.NOTED,
                        note=f"noted on {claim.text}",
                        run=run,
                        judge_verdict=claim.first_window_verdict.label,
                        saw_judge=False,
                    )


def sample_of(
    store: Store, run: RunId, design: SamplingDesign, size: int, reviewer: str = "ann"
) -> SampleId:
    by = ("verdict",) if design is SamplingDesign.STRATIFIED else ()
    plan = SamplePlan(design, 7, size)
    drawn = make_sample_draw(store.samples.read_frame(run, by), plan)
    return store.samples.save_draw_as_sample(
        run, reviewer, drawn, plan, name="s", stratified_by=by
    ).id


def remains(path: Path, word: str) -> list[str]:
    """Name the files and columns that hold a word, in any case."""
    found = [
        each.name
        for each in path.parent.glob(f"{path.name}*")
        if word.casefold().encode() in each.read_bytes().lower()
    ]
    with sqlite3.connect(path) as connection:
        for (table,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        ).fetchall():
            for _, column, *_ in connection.execute(f'PRAGMA table_info("{table}")').fetchall():
                (count,) = connection.execute(
                    f'SELECT count(*) FROM "{table}" '
                    f'WHERE instr(lower(CAST("{column}" AS TEXT)), ?)',
                    (word.casefold(),),
                ).fetchone()
                if count:
                    found.append(f"{table}.{column}")
    connection.close()
    return found


def facts(store: Store) -> dict[str, Any]:
    """What a store says, without numbers and times that depend on what else was in it."""
    lines = []
    for line in format_bundle_lines(store.bundles.make_label_bundle()):
        told = json.loads(line)
        for name in (
            "uid",
            "clock",
            "created_at",
            "batch",
            "number",
            "conversation",
            "claim",
            "acts",
        ):
            told.pop(name, None)
        for name in ("run", "target", "sample"):
            told[name] = told.get(name) is not None
        if told["type"] not in ("run", "faithtui-labels"):
            lines.append(json.dumps(told, sort_keys=True))
    runs = {}
    for row in store.runs.list_runs():
        items = store.runs.read_item_rows(store.runs.list_item_ids(row.id))
        runs[row.spec.metric, row.spec.judge_fingerprint] = (
            (
                row.conversations,
                row.done,
                row.windows,
                row.claims,
                row.labelled,
                row.missing_verdicts,
            ),
            (row.score, row.corrected, row.scored),
            {
                (each.source, each.key): (each.scores, each.corrected, each.claims, each.labelled)
                for each in items
            },
        )
    return {
        "labels": sorted(lines),
        "stands": store.bundles.hash_all_current_labels(),
        "runs": runs,
        "sources": [(row.source, row.conversations) for row in store.conversations.list_sources()],
    }


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_without_one_of_two_data_sets_a_store_is_as_if_it_had_never_been_there(
    tmp_path: Path, seed: int
) -> None:
    stores = []
    for name, sources in (("both", ("a", "b")), ("only", ("b",))):
        store = Store.open(tmp_path / f"{name}.db")
        stores.append(store)
        mixed = [
            make_conversation(source, f"k{number}", f"{source}{number}", (SHARED,))
            for number in range(3)
            for source in sources
        ]
        store.conversations.import_batch(mixed, DATA)
        run = judge_all(store, ())
        label_all(store, run, seed, ("ann", "ben"))
    both, only = stores
    numbers = both.conversations.list_ids(("a",))
    both.deletions.delete_conversations(DeletionKind.DATASET, numbers, "ann")
    assert facts(both) == facts(only)
    assert both.list_damage() == []
    for each in stores:
        each.close()


EXAMPLES = [
    {"source": f"set {CANARY}", "key": f"{CANARY} 1", "claim": CANARY},
    {"source": "plain", "key": "p1", "claim": "ginger"},
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a store in which everything that can be holds the canary, beside plain words."""
    path = tmp_path_factory.mktemp("filled") / "store.db"
    with Store.open(path) as found:
        found.conversations.import_batch(
            [
                make_conversation(f"set {CANARY}", f"{CANARY} 1", f"{CANARY} one", (OWN, SHARED)),
                make_conversation(f"set {CANARY}", f"{CANARY} 2", f"{CANARY} two"),
                make_conversation("plain", "p1", "ginger", (SHARED,)),
                make_conversation("plain", "p2", "pepper"),
            ],
            DATA,
        )
        run = judge_all(found, (f"set {CANARY}", "plain"))
        alone = judge_all(found, (f"set {CANARY}",))
        label_all(found, run, 1, ("ann", "ben"))
        for number in (
            sample_of(found, run, SamplingDesign.SIMPLE, 8),
            sample_of(found, alone, SamplingDesign.STRATIFIED, 4),
        ):
            found.claim_sets.make_claim_set_version_if_changed(f"set-{number}", number, "ann")
        for item in found.runs.list_item_ids(run):
            found.exposures.record(item, "ann")
            claim = found.runs.read_conversation_for_review(item, "ann").claims[0]
            found.calls.add_re_asked_verdict(
                FreshVerdict(item, claim.id, 0, 1_000_000, "no", "no", claim.text, None, "ann")
            )
        found.saved_views.save(
            "conversations", SavedView("mine", f'source:"set {CANARY}"', "number")
        )
        found.saved_views.save("conversations", SavedView("other", "source:plain", "number"))
        found.examples.store_set(EXAMPLES)
    return path


@pytest.fixture
def path(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(filled, tmp_path))


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path, busy_timeout_s=0.2) as found:
        yield found


def test_nothing_of_a_data_set_is_left_anywhere(store: Store, path: Path) -> None:
    digest = store.examples.store_set(EXAMPLES)
    assert len(remains(path, CANARY)) > 20
    numbers = store.conversations.list_ids((f"set {CANARY}",))
    counted = store.deletions.delete_conversations(
        DeletionKind.DATASET, numbers, "ann", count_only=True
    )
    assert len(remains(path, CANARY)) > 20, "counting deletes nothing"
    assert store.deletions.list_deletions() == ()
    done = store.deletions.delete_conversations(DeletionKind.DATASET, numbers, "ann")
    assert done.remains is None
    assert done.counts == counted.counts
    # While the store is open: the log beside it is looked at too.
    assert remains(path, CANARY) == []
    assert store.list_damage() == []
    (row,) = store.deletions.list_deletions()
    assert (row.kind, row.deleted_by, row.counts) == ("dataset", "ann", done.counts)
    assert done.counts["conversations"] == 2
    assert done.counts["runs"] == 1
    assert done.counts["images"] == 1
    assert done.counts["documents"] == 3
    assert done.counts["stored replies"] == 4
    assert [view.name for view in store.saved_views.list_views("conversations")] == ["other"]
    (run,) = store.runs.list_runs()
    assert run.spec.sources == ("plain",)
    assert store.examples.read_set(digest) == ({"source": "plain", "key": "p1", "claim": "ginger"},)
    # What is shared with others is still there.
    assert store.images.read(SHARED.sha256).data == DATA[SHARED.sha256]
    ground = make_filter_context(run.spec.rule)
    assert len(store.search.list_matching_items(run.id, parse_filter("ginger", ground).filter)) == 1
    assert (
        len(store.search.list_matching_items(run.id, parse_filter("everybody", ground).filter)) == 2
    )


def test_bytes_of_a_data_set_are_gone_from_the_file_and_its_log(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        store.conversations.import_batch(
            [make_conversation("set", f"k{n}", f"{CANARY} {n}") for n in range(20)]
            + [make_conversation("b", "p", "ginger")]
        )
        run = judge_all(store, ())
        label_all(store, run, 1, ("ann",))
        store.deletions.delete_conversations(
            DeletionKind.DATASET, store.conversations.list_ids(("set",)), "ann"
        )
        # While the store is open: the log beside it is looked at too.
        assert remains(path, CANARY) == []
        assert len(store.runs.list_item_ids(run)) == 1
    assert remains(path, CANARY) == []


def test_the_same_file_can_be_imported_again(store: Store) -> None:
    again = make_conversation(f"set {CANARY}", f"{CANARY} 1", f"{CANARY} one", (OWN, SHARED))
    numbers = store.conversations.list_ids((f"set {CANARY}",))
    store.deletions.delete_conversations(DeletionKind.DATASET, numbers, "ann")
    assert store.conversations.import_batch([again], DATA).new == 1
    assert store.list_damage() == []


def test_nothing_of_a_person_is_left_anywhere(store: Store, path: Path) -> None:
    name = "Zuleika.Q"
    run = store.runs.list_runs()[-1].id
    details = {"per_rater": {name: {"naturalness": 3}, "cat": 1}, "by": [name, {"annotator": name}]}
    store.conversations.import_batch(
        [replace(make_conversation("plain", "p3", "salt"), metadata=details)]
    )
    before = facts(store)
    label_all(store, run, 2, (name,))
    for item in store.runs.list_item_ids(run):
        store.exposures.record(item, name)
    rated = make_conversation("plain", "p1", "ginger", (SHARED,))
    mine = Rating(3, name, "yes-no-idk", "no", f"a claim only {name} named", None, f"I am {name}")
    store.conversations.import_batch([replace(rated, ratings=(*rated.ratings, mine))], DATA)
    sample = sample_of(store, run, SamplingDesign.SIMPLE, 3, name)
    plan = SamplePlan(SamplingDesign.SIMPLE, 1, 2)
    repeats = make_sample_draw(store.samples.read_frame_for_blind_repeats(run, name), plan)
    store.samples.save_draw_as_sample(
        run, name, repeats, plan, name="again", kind=SampleKind.REPEAT
    )
    store.guidelines.add_version("Be fair.", name)
    store.saved_views.save("claims", SavedView("hers", f"reviewer:{name}", "number"))
    item = store.runs.list_item_ids(run)[0]
    claim = store.runs.read_conversation_for_review(item, "ann").claims[0]
    store.calls.add_re_asked_verdict(
        FreshVerdict(item, claim.id, 0, 1_000_001, "no", "no", "", None, name)
    )
    store.splits.set_split_rule_unless_set(SplitRule(7, 60, 20, 20), name)
    store.splits.record_test_opening("report", [run], name)
    assert remains(path, name)
    done = store.deletions.delete_person(name, name)
    assert remains(path, name) == []
    assert store.list_damage() == []
    assert store.deletions.list_deletions()[-1].deleted_by == DELETED_PERSON
    assert store.samples.read_sample(sample, "ann").reviewer == DELETED_PERSON
    assert store.guidelines.find_version_in_force().author == DELETED_PERSON  # type: ignore[union-attr]  # it was set
    assert done.counts["samples"] == 1
    after = facts(store)
    assert after["stands"] == before["stands"]
    assert after["runs"] == before["runs"]
    third = store.conversations.get(store.conversations.list_ids(("plain",))[-1])
    assert third.metadata == {"per_rater": {"cat": 1}, "by": [DELETED_PERSON]}
    assert store.deletions.delete_person(name, "ann", count_only=True).counts == {}


def test_a_name_that_may_be_a_position_leaves_metadata_alone(store: Store) -> None:
    details = {"turns": {"1": {"kind": "a"}, "3": {"kind": "b"}}}
    rated = replace(
        make_conversation("plain", "p4", "mace"),
        metadata=details,
        ratings=(Rating(1, "1", "yes-no-idk", "yes"),),
    )
    store.conversations.import_batch([rated])
    done = store.deletions.delete_person("1", "ann")
    assert done.counts["labels"] == 1
    assert (
        done.counts["conversations whose metadata may name this annotator, left as they are"] == 1
    )
    last = store.conversations.list_ids(("plain",))[-1]
    assert store.conversations.get(last).metadata == details


def test_a_run_goes_and_what_people_said_stays(store: Store) -> None:
    first, second = sorted(row.id for row in store.runs.list_runs())
    said = facts(store)["labels"]
    store.splits.record_test_opening("report", [first, second], "ann")
    done = store.deletions.delete_run(first, "ann")
    assert done.counts["runs"] == 1
    assert [row.id for row in store.runs.list_runs()] == [second]
    left = [json.loads(each) for each in facts(store)["labels"]]
    labels = [each for each in left if each["type"] == "act"]
    assert len(labels) == sum(json.loads(each)["type"] == "act" for each in said)
    assert store.list_damage() == []
    assert [each.runs for each in store.splits.list_test_openings()] == [(second,)]
    assert store.calls.find_usable_reply(f"key 1 {first}") is None
    assert store.calls.find_usable_reply(f"key 1 {second}") is not None
    with pytest.raises(StoreError, match="there is no run"):
        store.deletions.delete_run(first, "ann")


@pytest.mark.parametrize("design", list(SamplingDesign))
def test_a_sample_stays_one_of_what_is_left(store: Store, design: SamplingDesign) -> None:
    run = min(row.id for row in store.runs.list_runs())
    number = sample_of(store, run, design, 3 if design is SamplingDesign.CONVERSATIONS else 12)
    gone = store.conversations.list_ids(("plain",))[:1]
    before = store.samples.read_sample(number, "ann")
    store.deletions.delete_conversations(DeletionKind.IMPORT, gone, "ann")
    after = store.samples.read_sample(number, "ann")
    frame = store.samples.read_frame(run, before.stratified_by)
    assert after.frame == len(frame) < before.frame
    if design is not SamplingDesign.CONVERSATIONS:
        assert {each.name: each.population for each in after.strata} == dict(
            frame.claim_counts_by_stratum
        )
        entries = store.samples.list_claims_in_served_order(number, "ann")
        drawn = {each.name: each.drawn for each in after.strata}
        for name, count in drawn.items():
            assert sum(each.stratum == name for each in entries) == count
        probability = {each.name: each.draw_probability for each in after.strata}
        assert all(each.probability == probability[each.stratum] for each in entries)
        # Another draw from what is left would not continue this one.
        with pytest.raises(StoreError, match="is not what this sample was drawn from any more"):
            store.samples.draw_more_claims(number, "ann", 1)


def test_a_sample_of_a_run_that_has_gone_on_goes_and_its_labels_stay(store: Store) -> None:
    run = min(row.id for row in store.runs.list_runs())
    number = sample_of(store, run, SamplingDesign.SIMPLE, 6)
    entry = store.samples.list_claims_in_served_order(number, "ann")[-1]
    store.label_log.record_verdict(
        entry.claim, "cat", "no", run=run, saw_judge=False, sample=number
    )
    store._database.run_in_write_transaction(
        lambda connection: connection.exec_driver_sql("UPDATE sample SET frame = frame + 1")
    )
    item = next(each for each in store.runs.list_item_ids(run) if each != entry.item)
    gone = [store.runs.read_conversation_for_review(item, "ann").item.conversation]
    done = store.deletions.delete_conversations(DeletionKind.IMPORT, gone, "ann")
    assert done.counts["samples"] >= 1
    assert store.samples.list_samples("ann", run) == ()
    assert store.list_damage() == []
    assert any("cat" in each for each in facts(store)["labels"])


def test_whoever_reads_meanwhile_is_told_of(store: Store, path: Path) -> None:
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM conversation").fetchone()
    done = store.deletions.delete_person("ben", "ann")
    assert done.remains is not None
    assert "the rows are deleted, but" in done.remains
    assert done.counts["labels"] > 0
    reader.close()


def test_numbers_given_again_do_not_lead_to_what_was_deleted(store: Store) -> None:
    run = min(row.id for row in store.runs.list_runs())
    ground = make_filter_context(store.runs.read_run(run).spec.rule)
    wanted = parse_filter("reviewer:ben", ground).filter
    assert store.search.list_matching_items(run, wanted)
    store.deletions.delete_person("ben", "ann")
    label_all(store, run, 9, ("cat",))
    assert store.search.list_matching_items(run, wanted) == ()


def test_every_table_with_something_of_a_conversation_or_a_person_is_known() -> None:
    """A table that comes later must say what becomes of its rows."""
    by_item = {name for name, table in METADATA.tables.items() if "run_item_id" in table.columns}
    assert by_item == {table.name for table, _ in ITEM_TABLES}
    people = {
        (name, column.name)
        for name, table in METADATA.tables.items()
        for column in table.columns
        if column.name in ("reviewer", "author") or column.name.endswith("_by")
    } - {
        ("human_label", "reviewer"),
        ("exposure", "reviewer"),
        ("sample", "stratified_by"),
        ("claim_set", "stratified_by"),
    }
    assert people == {(table.name, column) for table, column in NAME_COLUMNS}
    parents = {
        (name, constraint.referred_table.name)
        for name, table in METADATA.tables.items()
        for constraint in table.constraints
        if isinstance(constraint, ForeignKeyConstraint)
    }
    assert {child for child, parent in parents if parent == "conversation"} == {
        "turn",
        "run_item",
        "claim",
    }
    assert {child for child, parent in parents if parent == "run"} == {
        "run_item",
        "finding",
        "human_label",
        "sample",
        "judge_call",
        "batch",
    }
    assert {child for child, parent in parents if parent in ("sample", "human_label", "batch")} == {
        "sample_claim",
        "human_label",
        "label_evidence",
        "batch_request",
    }
