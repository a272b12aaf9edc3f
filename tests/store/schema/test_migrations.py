"""Upgrading: from nothing, and from a file of every revision there has been."""

import importlib.util
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from faithtui.domain.claims.claim_set import hash_set_version
from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.judging.failure_limit import DEFAULT_FAILURE_LIMIT
from faithtui.domain.labels.label_events import Action
from faithtui.domain.scores import Score, ScoreState, make_empty_score, make_score
from faithtui.domain.split_rule import SplitRule
from faithtui.errors import StoreError
from faithtui.store.records import ImportCounts
from faithtui.store.schema.identity import find_head_revision
from faithtui.store.schema.metadata import METADATA
from faithtui.store.schema.migrations.upgrade import upgrade
from faithtui.store.store import Store
from tests.store.building import FACTS, RELEVANT, SUPPORTED, make_conversation, said, spec_of
from tests.store.runs.test_claim_kinds import answer, statement
from tests.store.test_images import DATA, FAR_IMAGE, PIXEL_IMAGE, PIXELS, album

FIXTURES = Path(__file__).parents[3] / "fixtures" / "databases"


def revisions() -> list[str]:
    """All revisions, the oldest first."""
    config = Config()
    config.set_main_option("script_location", "faithtui.store.schema:migrations")
    config.set_main_option("path_separator", "os")
    found = [each.revision for each in ScriptDirectory.from_config(config).walk_revisions()]
    return found[::-1]


def test_the_program_knows_its_newest_revision() -> None:
    assert revisions()[-1] == find_head_revision()


def test_there_is_a_fixture_of_every_revision() -> None:
    expected = [f"v{number}.sqlite" for number, _ in enumerate(revisions(), start=1)]
    assert {each.name for each in FIXTURES.glob("*.sqlite")} == set(expected)


def _is_ours(name: str | None, kind: str, _parents: object) -> bool:
    """Leave out what SQLite keeps for full-text search."""
    return kind != "table" or name is None or not name.startswith("search_")


def differences(store: Store) -> list[object]:
    def compare(connection: Connection) -> list[object]:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "include_name": _is_ours}
        )
        return list(compare_metadata(context, METADATA))

    return store._database.run_in_write_transaction(compare)


def test_the_revisions_make_exactly_the_tables_of_the_program(store: Store) -> None:
    assert differences(store) == []


@pytest.mark.parametrize("fixture", sorted(FIXTURES.glob("*.sqlite")), ids=lambda path: path.stem)
def test_an_older_file_is_upgraded_and_keeps_everything(fixture: Path, path: Path) -> None:
    shutil.copy(fixture, path)
    with Store.open(path) as store:
        assert store.schema_version == find_head_revision()
        assert differences(store) == []
        assert store.list_damage() == []
        row = store.runs.list_runs()[-1]
        assert (row.done, row.skipped, row.claims, row.labelled) == (1, 1, 3, 2)
        first, _ = store.runs.list_item_ids(row.id)
        view = store.runs.read_conversation_for_review(first, "me")
        assert [claim.first_window_verdict.label for claim in view.claims] == ["yes", "no", "idk"]
        assert [claim.human for claim in view.claims] == [None, "yes", "no"]
        assert view.item.corrected is not None
        assert view.item.corrected.pooled == make_score(2 / 3)
        assert row.spec.rule == FACTS
        assert store.calls.find_usable_reply("key") is not None
        conversation = store.conversations.get(view.item.conversation)
        assert len(conversation.ratings) == 2
        assert store.conversations.import_batch([conversation]) == ImportCounts(unchanged=1)
        (act,) = store.label_log.undo("me")
        assert (act.action, act.verdict) == (Action.OVERRIDDEN, "yes")


def test_runs_of_an_older_file_are_not_checked_yet(path: Path) -> None:
    shutil.copy(FIXTURES / "v7.sqlite", path)
    with Store.open(path) as store:
        assert {row.integrity.format_sentence() for row in store.runs.list_runs() if row.done} == {
            "not checked yet"
        }


def test_an_older_file_takes_images_statements_and_answers(path: Path) -> None:
    shutil.copy(FIXTURES / "v1.sqlite", path)
    with Store.open(path) as store:
        store.conversations.import_batch([album("new")], DATA)
        assert store.images.read(PIXEL_IMAGE.sha256).data == PIXELS
        statements = {1: [statement("yes", "A page.", "Page.")]}
        _, item = said(store, album("new"), spec_of("relevancy", RELEVANT), statements)
        assert [
            each.document for each in store.runs.read_conversation_for_review(item, "me").claims
        ] == [1]
        answers = {1: [answer("yes")]}
        _, item = said(store, make_conversation("one"), spec_of("support", SUPPORTED), answers)
        (claim,) = store.runs.read_conversation_for_review(item, "me").claims
        assert ([each.reviewer for each in claim.others], claim.human) == (["ann"], "yes")
        assert store.list_damage() == []


@pytest.mark.parametrize(("word", "heard"), [("1", "yes"), ("0", None), ("borderline", "idk")])
def test_a_run_of_an_older_file_hears_the_words_of_later_metrics(
    path: Path, word: str, heard: str | None
) -> None:
    shutil.copy(FIXTURES / "v1.sqlite", path)
    with Store.open(path) as store:
        item, _ = store.runs.list_item_ids(store.runs.list_runs()[-1].id)
        before = store.runs.read_conversation_for_review(item, "me")
        (unread,) = [each for each in before.claims if each.human is None]
        store.label_log.append_label_event(
            unread.id, "me", Action.BLIND, word, run=None, judge_verdict=None, saw_judge=False
        )
        after = store.runs.read_conversation_for_review(item, "me")
        assert [each.human for each in after.claims if each.id == unread.id] == [heard]
        assert after.item.labelled == before.item.labelled + (heard is not None)
        assert after.item.corrected == before.item.corrected  # supported, or not addressed, or none


def test_images_statements_and_answers_of_a_file_are_kept(path: Path) -> None:
    shutil.copy(FIXTURES / "v2.sqlite", path)
    with Store.open(path) as store:
        (number,) = store.conversations.list_ids(("albums",))
        assert store.conversations.get(number).turns == album().turns
        assert store.images.read(PIXEL_IMAGE.sha256).data == PIXELS
        assert store.images.read(FAR_IMAGE.sha256).data is None
        first, _ = store.runs.read_conversation_across_runs(number).answers
        assert [(cell.labels, cell.corrected.value) for cell in first.cells if cell] == [
            ({"yes": 1}, 0.0),
            ({"no": 1}, 1.0),
        ]


def test_sets_of_truths_of_a_file_are_kept_and_older_support_stands_alone(tmp_path: Path) -> None:
    found = {}
    for name in ("v7.sqlite", "v8.sqlite"):
        shutil.copy(FIXTURES / name, tmp_path / name)
        with Store.open(tmp_path / name) as store:
            first, _ = store.runs.list_item_ids(store.runs.list_runs()[-1].id)
            claims = store.runs.read_conversation_for_review(first, "me").claims
            found[name] = [each for claim in claims for each in claim.evidence]
    assert [(each.stance, each.sets) for each in found["v7.sqlite"]] == [("supports", ())]
    assert [(each.stance, each.sets) for each in found["v8.sqlite"]] == [
        ("supports", (1,)),
        ("supports", (1,)),
    ]


def test_an_upgrade_that_fails_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_halfway(connection: Connection) -> None:
        upgrade(connection)
        raise StoreError("the disk is full")

    shutil.copy(FIXTURES / "v10.sqlite", path)
    before = path.read_bytes()
    monkeypatch.setattr("faithtui.store.schema.migrations.upgrade.upgrade", fail_halfway)
    with pytest.raises(StoreError, match="the disk is full"):
        Store.open(path)
    with sqlite3.connect(path) as left:
        (version,) = left.execute("SELECT version_num FROM alembic_version").fetchone()
        assert version == "0010"
    left.close()
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.glob("*.schema-*")] == []
    monkeypatch.undo()
    with Store.open(path) as store:
        assert store.schema_version == find_head_revision()


def test_revisions_are_shipped_inside_the_package() -> None:
    package = importlib.util.find_spec("faithtui.store")
    assert package is not None
    assert package.origin is not None
    versions = Path(package.origin).parent / "schema" / "migrations" / "versions"
    assert [each.name[:4] for each in sorted(versions.glob("0*.py"))] == revisions()


def test_copies_upgraded_apart_name_their_acts_alike(tmp_path: Path) -> None:
    named = []
    for copy in ("a.db", "b.db"):
        shutil.copy(FIXTURES / "v1.sqlite", tmp_path / copy)
        with Store.open(tmp_path / copy) as store, store._database.open_reader() as connection:
            named.append(connection.exec_driver_sql("SELECT id, uid, clock FROM human_label").all())
    assert named[0] == named[1]
    assert len({uid for _, uid, _ in named[0]}) == len(named[0]) > 2
    assert [clock for _, _, clock in named[0]] == [number for number, _, _ in named[0]]


def test_the_split_and_the_examples_of_a_file_are_kept(path: Path) -> None:
    shutil.copy(FIXTURES / "v6.sqlite", path)
    with Store.open(path) as store:
        made = store.splits.read_split_rule()
        assert made is not None
        assert (made.rule, made.made_by) == (SplitRule(7, 60, 20, 20), "ann")
        newest, *_, oldest = store.runs.list_runs()
        assert [each.runs for each in store.splits.list_test_openings()] == [(oldest.id, newest.id)]
        assert oldest.spec.example_set is None
        assert newest.spec.example_set is not None
        (example,) = store.examples.read_set(newest.spec.example_set)
        assert example["claim"] == "Claim 1.0"


def test_an_older_file_has_no_split_and_can_get_one(path: Path) -> None:
    shutil.copy(FIXTURES / "v1.sqlite", path)
    with Store.open(path) as store:
        assert store.splits.read_split_rule() is None
        assert store.splits.map_conversations_to_splits() == {}
        assert [row.spec.example_set for row in store.runs.list_runs()] == [None]
        store.splits.set_split_rule_unless_set(SplitRule(0, 60, 20, 20), "me")
        assert set(store.splits.map_conversations_to_splits()) == set(
            store.conversations.list_ids()
        )


def test_windows_without_a_score_are_counted_in_an_older_file(path: Path) -> None:
    shutil.copy(FIXTURES / "v7.sqlite", path)
    with sqlite3.connect(path) as raw:
        raw.execute(
            "UPDATE window SET score = NULL, score_state = 'undefined', score_reason = 'no claims' "
            "WHERE run_item_id = 1"
        )
        nothing = '{"value": null, "state": "undefined", "reason": "no claims"}'
        raw.execute(
            "UPDATE run_item SET score = NULL, scores = json_object('windowed', json(?), "
            "'per_interaction', json(?), 'pooled', json(?)) WHERE id = 1",
            (nothing, nothing, nothing),
        )
    raw.close()
    with Store.open(path) as store:
        row = store.runs.read_run(RunId(1))
        (item,) = store.runs.read_item_rows([ItemId(1)])
        assert (row.undefined, row.undefined_windows, row.skipped_windows) == (1, 2, 0)
        assert (item.undefined_windows, item.skipped_windows) == (2, 0)
        assert item.scores is not None
        assert item.scores.windowed == make_empty_score(ScoreState.UNDEFINED, "no claims")


def test_counts_of_windows_without_a_score_are_kept(path: Path) -> None:
    shutil.copy(FIXTURES / "v9.sqlite", path)
    with Store.open(path) as store:
        row = store.runs.list_runs()[0]
        assert (row.score, row.scored, row.undefined) == (0.5, 1, 0)
        assert (row.windows, row.undefined_windows, row.skipped_windows) == (3, 1, 1)
        (item,) = store.runs.read_item_rows(store.runs.list_item_ids(row.id))
        assert item.scores is not None
        assert item.scores.windowed == Score(0.5, undefined=1, skipped=1)


def test_conversations_that_lack_a_verdict_are_counted_in_an_older_file(path: Path) -> None:
    shutil.copy(FIXTURES / "v10.sqlite", path)
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE verdict SET label = NULL WHERE run_item_id = 1 AND position = 0")
        lacking = '{"value": null, "state": "incomplete", "reason": "1 of 3 claims"}'
        raw.execute(
            "UPDATE run_item SET score = NULL, scores = json_object('windowed', json(?), "
            "'per_interaction', json(?), 'pooled', json(?)) WHERE id = 1",
            (lacking, lacking, lacking),
        )
    raw.close()
    with Store.open(path) as store:
        assert store.runs.read_run(RunId(1)).incomplete == 1
        assert store.runs.list_failed_or_incomplete_items(RunId(1)) == (ItemId(1),)
        assert store.runs.read_run(RunId(1)).spec.max_failures == DEFAULT_FAILURE_LIMIT
        assert store.runs.reopen_failed_or_incomplete_items(RunId(1)) == 1
        row = store.runs.read_run(RunId(1))
        assert (row.incomplete, row.pending) == (0, 1)
        (pending,) = store.runs.list_pending_items(RunId(1))
        assert pending.asked_after == 1, "replies that were stored until now are asked past"


def test_the_claim_set_of_a_file_is_kept(path: Path) -> None:
    shutil.copy(FIXTURES / "v14.sqlite", path)
    with Store.open(path) as store:
        (row,) = store.claim_sets.list_versions()
        assert (row.title, row.drawn, row.frame) == ("kept version 1", 2, 3)
        assert not row.has_new_labels
        found = store.claim_sets.read_claim_set_bundle(row.id)
        digest = hash_set_version(
            found.metric, found.window_size, found.design, found.strata, found.claims
        )
        assert digest == row.digest


def test_a_claim_set_of_an_older_file_was_drawn_when_its_sample_was(path: Path) -> None:
    shutil.copy(FIXTURES / "v17.sqlite", path)
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE claim_set SET sample_uid = (SELECT min(uid) FROM sample)")
        raw.execute(
            "INSERT INTO claim_set SELECT id + 1, 'gone', version, digest, labels_digest, metric, "
            "window_size, design, stratified_by, seed, frame, strata, 'no-such', made_by, "
            "created_at FROM claim_set"
        )
    raw.close()
    with Store.open(path) as store:
        by_name = {each.name: each for each in store.claim_sets.list_versions()}
        (sample,) = [
            each
            for each in store.samples.list_samples("me")
            if each.uid == by_name["kept"].sample_uid
        ]
        assert by_name["kept"].drawn_at == sample.created_at
        assert by_name["gone"].drawn_at is None
        assert {each.other_labels for each in by_name.values()} == {None}


def test_the_drawing_of_a_claim_set_of_a_file_is_kept(path: Path) -> None:
    shutil.copy(FIXTURES / "v18.sqlite", path)
    with Store.open(path) as store:
        (row,) = store.claim_sets.list_versions()
        assert (row.drawn_at, row.other_labels) == (datetime(2026, 1, 1, tzinfo=UTC), 2)


def test_guidelines_and_marked_evidence_of_a_file_are_kept(path: Path) -> None:
    shutil.copy(FIXTURES / "v15.sqlite", path)
    with Store.open(path) as store:
        versions = store.guidelines.list_versions()
        assert [(each.text, each.metric) for each in versions] == [
            ("Fees count.", None),
            ("Fees of banks count.", "turn-faithfulness"),
        ]
        act = store.bundles.make_label_bundle().acts[-1]
        assert act.action is Action.EVIDENCE
        assert act.guideline == versions[-1].digest
        assert [(mark.start, mark.end) for mark in act.evidence] == [(0, 5)]


def test_guidelines_of_an_older_file_are_for_every_metric(path: Path) -> None:
    shutil.copy(FIXTURES / "v14.sqlite", path)
    with sqlite3.connect(path) as raw:
        raw.execute(
            "INSERT INTO guideline (digest, text, author, created_at) "
            "VALUES ('d', 'Fees count.', 'me', '2026-01-01 00:00:00.000000')"
        )
    raw.close()
    with Store.open(path) as store:
        (version,) = store.guidelines.list_versions()
        assert (version.metric, version.is_default) == (None, False)
        assert store.guidelines.find_version_or_default("ragas-faithfulness") == version
