"""A damaged page costs what is on it and nothing else."""

import errno
import io
import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.errors import StoreError
from faithtui.store.file import salvage as salvage_module
from faithtui.store.file.backups import copy_database
from faithtui.store.file.salvage import SalvageResult, _ReadableRows, salvage_to_new_store
from faithtui.store.store import Store
from tests.engine.building import conversation
from tests.tui.building import shop

PAGE = 4096
LABELS = 400
PARTS = 16


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("salvage") / "s.db"
    run = shop(path)
    with Store.open(path) as store:
        store.conversations.import_batch([conversation(f"c{n}", 8) for n in range(30)])
        claims = [
            claim.id
            for item in store.runs.list_item_ids(run)
            for claim in store.runs.read_conversation_for_review(item, "ann").claims
        ]
        for number in range(LABELS):
            store.label_log.append_label_event(
                claims[number % len(claims)],
                "ann",
                Action.OVERRIDDEN,
                "no",
                note=f"note {number}",
                run=run,
                judge_verdict="yes",
                saw_judge=True,
            )
    return path


@pytest.fixture
def damaged(filled: Path, tmp_path: Path) -> Path:
    path = tmp_path / "damaged.db"
    copy_database(filled, path)
    return path


def notes(path: Path) -> set[str]:
    with Store.open(path, create=False) as store:
        assert store.list_damage() == []
        return {
            each.note for each in store.bundles.make_label_bundle().acts if each.note is not None
        }


def pages_of(path: Path, table: str) -> list[int]:
    """Give the numbers of a table's pages, from 1."""
    connection = sqlite3.connect(path)
    (root,) = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
    ).fetchone()
    connection.close()
    content = path.read_bytes()
    page = content[(root - 1) * PAGE : root * PAGE]
    if page[0] != 5:
        return [root]
    cells = int.from_bytes(page[3:5], "big")
    starts = [int.from_bytes(page[12 + 2 * n : 14 + 2 * n], "big") for n in range(cells)]
    leaves = [int.from_bytes(page[at : at + 4], "big") for at in starts]
    return [root, *leaves, int.from_bytes(page[8:12], "big")]


def destroy(path: Path, page: int) -> None:
    content = bytearray(path.read_bytes())
    content[(page - 1) * PAGE : page * PAGE] = random.Random(page).randbytes(PAGE)
    path.write_bytes(content)


def left_out(found: SalvageResult) -> list[dict[str, object]]:
    if found.file is None:
        return []
    return [json.loads(line) for line in found.file.read_text().splitlines()]


def test_a_sound_store_comes_over_whole(damaged: Path, tmp_path: Path) -> None:
    found = salvage_to_new_store(damaged, tmp_path / "new.db")
    assert (found.left_out, found.file, found.damaged) == ({}, None, ())
    assert len(notes(tmp_path / "new.db")) == LABELS
    with Store.open(damaged) as old, Store.open(tmp_path / "new.db") as new:
        assert old.bundles.hash_all_current_labels() == new.bundles.hash_all_current_labels()
        assert new.conversations.count() == old.conversations.count()
        assert new.runs.read_run(RunId(1)) == old.runs.read_run(RunId(1))


def test_a_lost_page_of_labels_costs_the_labels_on_it(damaged: Path, tmp_path: Path) -> None:
    pages = pages_of(damaged, "human_label")
    assert len(pages) > 5
    destroy(damaged, pages[3])
    found = salvage_to_new_store(damaged, tmp_path / "new.db")
    assert found.damaged == ("human_label",)
    kept = notes(tmp_path / "new.db")
    on_a_page = LABELS / (len(pages) - 1)
    assert LABELS - 2 * on_a_page < len(kept) < LABELS
    assert {"note 0", f"note {LABELS - 1}"} <= kept


def some_pages() -> list[object]:
    """Pages of which some are tried every time; all of them when there is time."""
    return [
        pytest.param(part, marks=[] if part == 5 else pytest.mark.thorough) for part in range(PARTS)
    ]


@pytest.mark.parametrize("part", some_pages())
def test_no_label_is_lost_by_a_page_that_holds_none(
    filled: Path, tmp_path: Path, part: int
) -> None:
    own = set(pages_of(filled, "human_label"))
    count = filled.stat().st_size // PAGE
    whole = 0
    for page in range(2 + part, count + 1, PARTS)[:4]:
        path, new = tmp_path / f"{page}.db", tmp_path / f"{page}-new.db"
        copy_database(filled, path)
        if path.stat().st_size // PAGE < page or page in own:
            continue
        destroy(path, page)
        try:
            found = salvage_to_new_store(path, new)
        except StoreError:
            continue  # the page of a table that says which revision it is
        told = {
            str(each["row"]["note"])  # type: ignore[index]  # a row
            for each in left_out(found)
            if each["table"] == "human_label"
        }
        assert len(notes(new) | (told - {"None"})) == LABELS, page
        whole += 1
    assert whole >= 2


def test_what_the_disk_cannot_read_costs_its_pages_alone(
    damaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = sqlite3.connect(damaged)
    ((page,),) = connection.execute(
        "SELECT max(pageno) FROM dbstat WHERE name = 'human_label' AND pagetype = 'leaf'"
    )
    connection.close()
    bad = (page - 1) * PAGE + 512  # a sector of it
    read = salvage_module._read_block

    def read_block(file: io.FileIO, start: int, length: int) -> bytes:
        if start <= bad < start + length:
            raise OSError(errno.EIO, "Input/output error")
        return read(file, start, length)

    monkeypatch.setattr(salvage_module, "_read_block", read_block)
    found = salvage_to_new_store(damaged, tmp_path / "new.db")
    assert found.damaged == ("human_label",)
    kept = notes(tmp_path / "new.db")
    assert LABELS - 60 < len(kept) < LABELS
    assert kept == {f"note {number}" for number in range(len(kept))}
    assert [each.name for each in tmp_path.glob(".faithtui-*")] == []


def test_a_file_that_ends_early_is_copied_with_zeros(tmp_path: Path) -> None:
    path = tmp_path / "short"
    path.write_bytes(b"x" * 100)
    with path.open("rb", buffering=0) as file, pytest.raises(OSError, match="output"):
        salvage_module._read_block(file, 50, 51)


def test_rows_that_refer_to_lost_ones_are_kept_beside(damaged: Path, tmp_path: Path) -> None:
    connection = sqlite3.connect(damaged)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("DELETE FROM claim WHERE id = 1")
    connection.execute("UPDATE human_label SET verdict = 'yas' WHERE note = 'note 7'")
    connection.commit()
    connection.close()
    found = salvage_to_new_store(damaged, tmp_path / "new.db")
    rows = left_out(found)
    assert sum(found.left_out.values()) == len(rows)
    assert {str(each["why"]) for each in rows if each["table"] == "human_label"} == {
        "what it refers to in claim is lost",
        "it is not what was written",
    }
    assert found.file is not None
    assert found.file.stat().st_mode & 0o777 == 0o600
    assert len(notes(tmp_path / "new.db")) == LABELS - found.left_out["human_label"] + sum(
        each["row"]["note"] is None  # type: ignore[index]  # a row
        for each in rows
        if each["table"] == "human_label"
    )


DAMAGED_JSON = [
    ("run", "sources", "[]"),
    ("run", "options", "{}"),
    ("run", "profile", "NULL"),
    ("run", "calibration", "NULL"),
    ("conversation", "details", "{}"),
    ("turn", "images", "[]"),
    ("run_item", "labels", "{}"),
    ("run_item", "scores", "NULL"),
    ("window", "turns", "[]"),
]


def test_damaged_json_is_emptied_and_what_refers_to_its_row_stays(
    damaged: Path, tmp_path: Path
) -> None:
    sound = salvage_to_new_store(damaged, tmp_path / "sound.db")
    with closing(sqlite3.connect(damaged)) as raw, raw:
        for table, column, _ in DAMAGED_JSON:
            raw.execute(f"UPDATE {table} SET {column} = '{{\"a\": [1,' WHERE rowid = 1")
    found = salvage_to_new_store(damaged, tmp_path / "new.db")
    assert (found.rows, found.left_out) == (sound.rows, {})
    assert sum(found.replaced.values()) == len(DAMAGED_JSON)
    rows = left_out(found)
    assert sorted((each["table"], each["column"], each["why"]) for each in rows) == sorted(
        (table, column, f"its {column} is not what was written: {empty} is in its place")
        for table, column, empty in DAMAGED_JSON
    )
    assert {each["row"].get("id", 1) for each in rows} == {1}  # type: ignore[attr-defined]  # a row
    assert len(notes(tmp_path / "new.db")) == LABELS
    with Store.open(tmp_path / "new.db") as store:
        assert store.runs.read_run(RunId(1)).spec.sources == ()
        store.runs.read_item_rows(store.runs.list_item_ids(RunId(1)))


def test_labels_outlast_a_run_whose_rule_is_damaged(damaged: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(damaged)) as raw, raw:
        raw.execute("UPDATE run SET rule = '{'")
    found = salvage_to_new_store(damaged, tmp_path / "new.db")
    assert found.left_out["run"] == 1
    assert "human_label" not in found.left_out
    assert len(notes(tmp_path / "new.db")) == LABELS


def test_labels_outlast_a_sample_whose_strata_are_damaged(damaged: Path, tmp_path: Path) -> None:
    with Store.open(damaged) as store:
        plan = SamplePlan(SamplingDesign.SIMPLE, seed=1, size=2)
        drawn = make_sample_draw(store.samples.read_frame(RunId(1)), plan)
        sample = store.samples.save_draw_as_sample(RunId(1), "bea", drawn, plan, name="s")
        for each in drawn.claims:
            store.label_log.record_verdict(
                each.unit.claim, "bea", "no", run=RunId(1), saw_judge=False, sample=sample.id
            )
    with closing(sqlite3.connect(damaged)) as raw, raw:
        raw.execute("""UPDATE sample SET strata = '[{"name": "", "population": "9"}]'""")
    found = salvage_to_new_store(damaged, tmp_path / "new.db")
    assert found.left_out == {"sample": 1, "sample_claim": 2}
    with Store.open(tmp_path / "new.db") as store:
        assert store.list_damage() == []
        assert store.samples.list_samples("bea") == ()
        acts = [each for each in store.bundles.make_label_bundle().acts if each.reviewer == "bea"]
        assert [(each.verdict, each.sample) for each in acts] == [("no", None)] * 2


def test_a_store_without_a_first_page_says_so(damaged: Path, tmp_path: Path) -> None:
    destroy(damaged, 1)
    with pytest.raises(StoreError, match=r"list of tables is damaged.*backup --restore"):
        salvage_to_new_store(damaged, tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


def test_rows_behind_many_damaged_pages_are_read_from_the_first_one_on(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE many (id INTEGER PRIMARY KEY, text)")
    rows = [(number, f"row {number} of many") for number in range(1, 60_001)]
    connection.executemany("INSERT INTO many VALUES (?, ?)", rows)
    connection.commit()
    connection.close()
    pages = pages_of(path, "many")[1:]
    a_page = len(rows) // len(pages)
    lost = pages[20:90]
    content = bytearray(path.read_bytes())
    for page in lost:
        content[(page - 1) * PAGE : page * PAGE] = random.Random(page).randbytes(PAGE)
    path.write_bytes(content)
    connection = sqlite3.connect(path)
    read = [row for row in _ReadableRows(connection, "many", "id")]
    connection.close()
    assert len(rows) - len(read) < (len(lost) + 2) * a_page * 1.2
    assert read[-1] == (60_000,)
