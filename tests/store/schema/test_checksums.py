"""A row that was changed behind the program's back is found."""

import asyncio
import shutil
import sqlite3
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action, MarkedPassage
from faithtui.engine.runs import runner
from faithtui.errors import StoreError
from faithtui.store.file.backups import find_damage
from faithtui.store.file.salvage import salvage_to_new_store
from faithtui.store.schema.checksums import CHECKED_COLUMNS, MOST_NAMED
from faithtui.store.store import Store
from tests.engine.building import CountingJudge, conversation, opened, planned, store_with

TABLES = {
    "human_label": "label",
    "label_evidence": "marked evidence",
    "judge_call": "reply",
    "verdict": "verdict",
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("checksums") / "s.db"
    with store_with(path, [conversation(key, 6) for key in "ab"]) as store:
        run = planned(store)
        asyncio.run(
            runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
        )
        for item in store.runs.list_item_ids(run):
            for claim in store.runs.read_conversation_for_review(item, "ann").claims:
                store.label_log.record_verdict(
                    claim.id, "ann", "no", run=run, saw_judge=True, seconds=2
                )
        store.label_log.append_label_event(
            claim.id,
            "ann",
            Action.EVIDENCE,
            run=run,
            judge_verdict=None,
            saw_judge=True,
            evidence=[MarkedPassage("a" * 64, 0, 4)],
        )
    return path


@pytest.fixture
def copy(filled: Path, tmp_path: Path) -> Path:
    path = tmp_path / "s.db"
    with sqlite3.connect(filled) as source, sqlite3.connect(path) as target:
        source.backup(target)
    return path


def problems(path: Path) -> list[str]:
    with Store.open(path) as store:
        return store.list_damage()


def change(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_what_the_program_wrote_is_sound(copy: Path) -> None:
    assert problems(copy) == []
    connection = sqlite3.connect(copy)
    for table in CHECKED_COLUMNS:
        counts = connection.execute(f"SELECT count(*), count(checksum) FROM {table}").fetchone()
        assert counts[0] == counts[1] > 0, table
    connection.close()


@pytest.mark.parametrize(
    ("table", "column"),
    [(table, name) for table, names in CHECKED_COLUMNS.items() for name in names],
)
def test_a_changed_value_is_found_and_named(copy: Path, table: str, column: str) -> None:
    connection = sqlite3.connect(copy)
    ((rowid, kind, text),) = connection.execute(
        f"SELECT rowid, typeof({column}), {column} FROM {table} ORDER BY {column} DESC LIMIT 1"
    )
    connection.close()
    new = {"null": "1", "integer": f"{text} + 1", "real": f"{text} + 0.5"}.get(
        kind, "'yas'" if text == "yes" else f"{column} || 's'"
    )
    change(copy, "PRAGMA foreign_keys = OFF")
    change(copy, f"UPDATE {table} SET {column} = {new} WHERE rowid = {rowid}")
    found = [each for each in problems(copy) if "is not what was written" in each]
    assert len(found) == 1
    assert found[0].startswith(f"the {TABLES[table]} ")


def test_a_label_that_nobody_gave_is_not_exported(copy: Path) -> None:
    with Store.open(copy) as store:
        assert len(store.bundles.make_label_bundle().acts) > 2
    change(copy, "UPDATE human_label SET verdict = 'yas' WHERE id = 2")
    with Store.open(copy) as store, pytest.raises(StoreError, match="is not what was written"):
        store.bundles.make_label_bundle()


def test_of_many_changed_rows_the_first_are_named(copy: Path) -> None:
    change(copy, "UPDATE human_label SET verdict = 'yas'")
    connection = sqlite3.connect(copy)
    (count,) = connection.execute("SELECT count(*) FROM human_label").fetchone()
    connection.close()
    found = problems(copy)
    assert len(found) == MOST_NAMED + 1
    assert found[-1] == f"the same is true of {count - MOST_NAMED} more labels"


def test_what_later_work_fills_in_is_no_change(copy: Path) -> None:
    change(copy, "UPDATE human_label SET clock = clock + 1, sample_id = NULL")
    change(copy, "UPDATE verdict SET is_home = 0")
    change(copy, "UPDATE judge_call SET usable = 0")
    assert problems(copy) == []


def test_what_was_said_in_hostile_words_is_sound(copy: Path) -> None:
    with Store.open(copy) as store:
        item = store.runs.list_item_ids(RunId(1))[0]
        claim = store.runs.read_conversation_for_review(item, "ann").claims[0]
        store.label_log.append_label_event(
            claim.id,
            "ann",
            Action.OVERRIDDEN,
            "no",
            run=RunId(1),
            judge_verdict="yes",
            saw_judge=True,
            note="a\x00b \ud800 \u202e ",
        )
    assert problems(copy) == []


@pytest.mark.parametrize("broken", ["CAST(x'79e573' AS TEXT)", "CAST(verdict AS BLOB)"])
def test_what_is_no_text_any_more_is_found_and_salvaged(
    copy: Path, tmp_path: Path, broken: str
) -> None:
    change(copy, f"UPDATE human_label SET verdict = {broken} WHERE id = 2")
    found = problems(copy)
    assert len(found) == 1
    assert "is not what was written" in found[0]
    assert find_damage(copy) == found
    salvaged = salvage_to_new_store(copy, tmp_path / "new.db")
    assert salvaged.left_out == {"human_label": 1}


def test_an_older_file_with_a_damaged_text_is_upgraded(tmp_path: Path) -> None:
    fixture = Path(__file__).parents[3] / "fixtures" / "databases" / "v9.sqlite"
    path = Path(shutil.copy(fixture, tmp_path / "old.db"))
    change(path, "UPDATE verdict SET reason = CAST(x'79e573' AS TEXT)")
    with Store.open(path) as store:
        assert store.before_upgrade is not None


def test_numbers_that_sqlite_writes_otherwise_are_sound(copy: Path) -> None:
    with Store.open(copy) as store:
        claim = store.runs.read_conversation_for_review(
            store.runs.list_item_ids(RunId(1))[0], "ann"
        ).claims[0]
        for seconds in (-0.0, 3, 1e300):
            store.label_log.record_verdict(
                claim.id, "ann", "no", run=RunId(1), saw_judge=True, seconds=seconds
            )
    assert problems(copy) == []
