"""JSON columns refuse what is not what was written, wherever it is read."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import JSON

from faithtui.errors import StoreDamaged
from faithtui.store.file.salvage import salvage_to_new_store
from faithtui.store.runs.startup_list import read_startup_runs
from faithtui.store.schema.metadata import METADATA
from faithtui.store.schema.stored_json import (
    StoredJson,
    is_stored_json_sound,
    list_json_columns,
    parse_stored_json,
)
from faithtui.store.store import Store
from tests.tui.building import shop

COLUMNS = [(table, name) for table, names in list_json_columns().items() for name in names]
BROKEN = '{"a": [1,'
SCORES = ("windowed", "per_interaction", "pooled")
WITHOUT_STATE = {"value": 0.5, "reason": None}
WITH_HALF_A_CHARACTER = {"value": None, "state": "failed", "reason": "\ud800"}
POPULATION = {
    **{"results": "r", "digest": "d", "states": {"scored": 1}, "judged": 1, "passed": 1},
    **{"scores": {"pooled": 0.5}, "labels": ["yes"], "stratified_by": [], "open_shards": 0},
    **{"strata": [{"name": "all", "values": [], "drawn": 2}], "counts": [[[3]]]},
}
NOT_A_NUMBER = {"value": float("nan"), "state": "scored", "reason": None}


def test_no_column_of_json_is_without_a_shape() -> None:
    columns = [each for table in METADATA.tables.values() for each in table.columns]
    assert [each for each in columns if isinstance(each.type, JSON)] == []
    assert len([each for each in columns if isinstance(each.type, StoredJson)]) == len(COLUMNS)


@pytest.mark.parametrize(("table", "name"), COLUMNS)
def test_no_column_takes_what_is_no_json_or_of_another_shape(table: str, name: str) -> None:
    shape = list_json_columns()[table][name]
    assert parse_stored_json(shape, None) is None
    for stored in (BROKEN, "", b"\xff\xfe\x00", "null", "17", '"text"', "[[]]"):
        with pytest.raises(StoreDamaged, match=r"`faithtui doctor` names its row"):
            parse_stored_json(shape, stored)


@pytest.mark.parametrize(
    ("table", "name", "value"),
    [
        ("run", "rule", '{"passing": 1}'),
        ("run", "rule", '{"passing": ["yes"], "when_empty": null, "labels": ["yes"]}'),
        ("run", "rule", '{"passing": ["yes"], "when_empty": null, "mood": 1}'),
        ("run", "rule", '{"passing": ["yes"], "when_empty": "1"}'),
        ("run", "profile", '{"extra_headers": 5}'),
        ("run", "calibration", '{"slope": 1.0}'),
        ("run", "calibration", '{"slope": "x", "labels": 3}'),
        ("run", "profile", '{"temperature": []}'),
        ("run_item", "scores", '{"windowed": {}}'),
        ("run_item", "scores", json.dumps({name: WITHOUT_STATE for name in SCORES})),
        ("run_item", "labels", '{"yes": "1"}'),
        ("window", "turns", '["1"]'),
        ("window", "turns", "[1.0]"),
        ("window", "turns", "[true]"),
        ("turn", "images", '[{"sha256": 1}]'),
        ("turn", "images", '[{"sha256": "a", "media_type": "b", "size": 1}]'),
        ("sample", "strata", '[{"name": "all"}]'),
        ("sample", "strata", '[{"name": "all", "population": "3", "drawn": 1}]'),
        ("sample", "strata", '[{"name": "all", "population": 3, "drawn": -1}]'),
        ("run", "calibration", '{"labels": -1}'),
        ("run_item", "labels", '{"yes": -1}'),
        ("window", "turns", "[-1]"),
        ("deletion", "counts", '{"labels": -1}'),
        ("conversation", "details", '{"a": ' + "[" * 99_999 + "]" * 99_999 + "}"),
        ("sample", "population", '{"strata": []}'),
        ("sample", "population", json.dumps({**POPULATION, "judged": 4.0})),
        ("sample", "population", json.dumps({**POPULATION, "passed": -1})),
    ],
)
def test_a_record_is_looked_into(table: str, name: str, value: str) -> None:
    assert not is_stored_json_sound(list_json_columns()[table][name], value)


@pytest.mark.parametrize(
    ("table", "name", "value"),
    [
        # Written before rules named their labels.
        ("run", "rule", '{"passing": ["yes"], "when_empty": 1, "threshold": 0.5, "strict": false}'),
        (
            "conversation",
            "details",
            '{"a": NaN, "b": "\\ud800", "c": ' + "[" * 400 + "]" * 400 + "}",
        ),
        ("run", "calibration", '{"slope": 1, "intercept": 0.5, "labels": 3, "threshold": 0.4}'),
        ("run_item", "scores", json.dumps({name: WITH_HALF_A_CHARACTER for name in SCORES})),
        ("run_item", "scores", json.dumps({name: NOT_A_NUMBER for name in SCORES})),
        ("sample", "population", json.dumps(POPULATION)),
    ],
)
def test_what_earlier_versions_wrote_is_read(table: str, name: str, value: str) -> None:
    parse_stored_json(list_json_columns()[table][name], value)


def test_the_row_that_was_read_is_named_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    run = shop(path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE conversation SET details = '[]'")
        raw.execute("UPDATE run_item SET scores = ? WHERE id > 1", (BROKEN,))
    with Store.open(path) as store:
        others = len(store.runs.list_item_ids(run)) - 2
        with pytest.raises(StoreDamaged, match=r"^row 2 of table run_item .* its scores") as caught:
            store.runs.read_item_rows(store.runs.list_item_ids(run))
        assert f"(and {others} more have the same value)" in str(caught.value)


@pytest.mark.parametrize(("table", "column"), [("run", "rule"), ("run", "judge")])
def test_a_text_that_is_no_utf_8_is_refused_in_a_sentence(
    tmp_path: Path, table: str, column: str
) -> None:
    path = tmp_path / "s.db"
    shop(path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(f"UPDATE {table} SET {column} = CAST(x'ff41' AS TEXT)")
    assert read_startup_runs(path) is None
    told = rf"column {column} of .* no UTF-8 .*--salvage"
    with Store.open(path) as store:
        (sentence,) = store.list_damage()
        assert sentence.startswith(f"row 1 of table {table} is not what was written")
        assert f"changed its {column} later" in sentence
        with pytest.raises(StoreDamaged, match=told):
            store.runs.list_runs()


def test_the_row_and_the_way_out_are_named(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    run = shop(path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE run_item SET scores = ? WHERE id = 2", (BROKEN,))
    with Store.open(path) as store:
        sentence = "row 2 of table run_item is not what was written: something changed its scores"
        assert store.list_damage() == [f"{sentence} later"]
        with pytest.raises(StoreDamaged, match=rf"^{sentence} later; .*--restore .*--salvage"):
            store.runs.read_item_rows(store.runs.list_item_ids(run))
        assert read_startup_runs(path)
    found = salvage_to_new_store(path, tmp_path / "new.db")
    assert (found.left_out, found.replaced) == ({}, {"run_item": 1})
    with Store.open(tmp_path / "new.db") as store:
        assert store.list_damage() == []


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("rule", each) for each in (BROKEN, "17", "{}")),
        *(("profile", each) for each in (BROKEN, '{"temperature": 99}', '{"warmth": 1}')),
        *((each, BROKEN) for each in ("options", "sources", "calibration")),
    ],
)
def test_a_damaged_run_is_left_to_the_store(tmp_path: Path, column: str, value: str) -> None:
    path = tmp_path / "s.db"
    shop(path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(f"UPDATE run SET {column} = ?", (value,))
    assert read_startup_runs(path) is None
    with Store.open(path) as store, pytest.raises(StoreDamaged, match="row 1 of table run "):
        store.runs.list_runs()
