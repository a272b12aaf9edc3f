"""Commands on a store that can only be read, and copies of stores."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli


@pytest.fixture
def read_only(judged: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("faithtui.store.database.can_write", lambda path: path != judged)
    return judged


@pytest.mark.parametrize(
    "words",
    [
        ("runs",),
        ("show", "last"),
        ("show", "last", "a"),
        ("report", "last"),
        ("report", "last", "-o", "OUT"),
        ("export", "labels"),
        ("export", "examples", "last"),
        ("check", "last"),
        ("doctor", "--offline"),
        ("backup", "OUT.db"),
    ],
    ids=" ".join,
)
def test_what_only_reads_works(
    cli: Cli, read_only: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    before = read_only.read_bytes()
    told = [str(tmp_path / each) if each.startswith("OUT") else each for each in words]
    result = cli(*told, "--store", read_only)
    assert result.code == 0
    assert "error" not in result.err
    assert read_only.read_bytes() == before


@pytest.mark.parametrize("words", [("run",), ("archive", "1"), ("import", "LATE")], ids=" ".join)
def test_what_writes_says_why_it_cannot(
    cli: Cli, read_only: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    late = tmp_path / "late.jsonl"
    late.write_text(json.dumps({"id": "late", "turns": turns}), encoding="utf-8")
    before = read_only.read_bytes()
    result = cli(*(str(late) if each == "LATE" else each for each in words), "--store", read_only)
    assert result.code == 4
    assert "can only be read here; copy it" in result.err
    assert read_only.read_bytes() == before


def test_doctor_says_that_nothing_is_saved(cli: Cli, read_only: Path) -> None:
    assert "it can only be read here" in cli("doctor", "--offline", "--store", read_only).out


def test_a_backup_is_made_put_back_and_named(cli: Cli, judged: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    made = cli("backup", copy, "--store", judged)
    assert (made.code, "opened and sound" in made.out) == (0, True)
    assert cli("backup", copy, "--store", judged).code == 7
    cli("archive", "1", "--store", judged)
    restored = cli("backup", "--restore", copy, "--store", judged, "--json").json
    assert restored == {
        "store": str(judged),
        "before": str(judged.with_name("judged.before-restore.db")),
    }
    assert len(cli("runs", "--json", "--store", judged).json) == 1
    assert cli("backup", "--store", judged).code == 2
    assert cli("backup", copy, "--restore", copy, "--store", judged).code == 2
    assert cli("backup", tmp_path / "x.db", "--store", tmp_path / "none.db").code == 4


def test_what_is_left_of_a_damaged_store_is_taken_over(
    cli: Cli, judged: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.db"
    whole = cli("doctor", "--salvage", new, "--store", judged)
    assert (whole.code, f"use it with --store {new}" in whole.err) == (0, True)
    assert (
        cli("runs", "--json", "--store", new).json == cli("runs", "--json", "--store", judged).json
    )
    assert cli("doctor", "--salvage", new, "--store", judged).code == 7


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("export", "claims"), 4),
        (("report",), 4),
        (("plan",), 4),
        (("compare", "1", "1"), 4),
        (("judge", "recalibrate"), 4),
        (("gate", "1", "--min-kappa", "0"), 3),
    ],
)
def test_a_verdict_that_no_judge_gave_is_in_no_figure_and_no_file(
    cli: Cli, judged: Path, words: tuple[str, ...], code: int
) -> None:
    import sqlite3

    connection = sqlite3.connect(judged)
    connection.execute("UPDATE verdict SET label = 'no' WHERE rowid = 1")
    connection.commit()
    connection.close()
    result = cli(*words, "--store", judged)
    assert result.code == code
    assert "the verdict on claim " in result.err
    assert "is not what was written" in result.err


def test_doctor_names_changed_rows_and_the_way_back(cli: Cli, judged: Path, tmp_path: Path) -> None:
    import sqlite3

    connection = sqlite3.connect(judged)
    connection.execute("UPDATE verdict SET label = 'yas' WHERE rowid = 1")
    connection.commit()
    connection.close()
    result = cli("doctor", "--offline", "--store", judged)
    assert result.code == 4
    assert "is not what was written" in result.out
    assert "--salvage NEW" in result.out
    found = cli("doctor", "--salvage", tmp_path / "new.db", "--store", judged, "--json")
    assert found.code == 4
    assert found.json["left_out"] == {"verdict": 1}
    assert Path(found.json["left_out_file"]).is_file()
    assert cli("doctor", "--offline", "--store", tmp_path / "new.db").code == 0


def test_doctor_names_files_that_others_may_read(cli: Cli, judged: Path) -> None:
    judged.chmod(0o644)
    result = cli("doctor", "--offline", "--store", judged)
    assert result.code == 0
    assert f"{judged} can be read by others (rights 644)" in result.out
    judged.chmod(0o600)
    assert "can be read by others" not in cli("doctor", "--offline", "--store", judged).out


def test_a_network_drive_is_warned_about(
    cli: Cli, judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faithtui.store.file.location.find_network_drive_type", lambda path: "nfs4")
    result = cli("runs", "--store", judged)
    assert result.code == 0
    assert "is on a network drive (nfs4)" in result.err


def test_an_upgrade_names_the_copy(cli: Cli, tmp_path: Path) -> None:
    import shutil

    old = Path(__file__).parents[2] / "fixtures" / "databases" / "v9.sqlite"
    path = Path(shutil.copy(old, tmp_path / "old.db"))
    result = cli("runs", "--store", path)
    assert result.code == 0
    assert f"the file as it was before: {tmp_path / 'old.schema-0009.db'}" in result.err
    assert cli("runs", "--store", path).err == ""
