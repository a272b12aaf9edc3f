"""`faithtui check`."""

import sqlite3
from pathlib import Path

import pytest

from faithtui.domain.integrity.findings import FindingKind
from tests.cli.conftest import Cli
from tests.engine.building import conversation, planned, store_with


@pytest.fixture
def broken(judged: Path) -> Path:
    """A run in which one verdict is gone."""
    with sqlite3.connect(judged) as connection:
        connection.execute("UPDATE verdict SET label = NULL, word = NULL WHERE claim_id = 1")
        connection.execute("UPDATE run_item SET checked = 0")
    connection.close()
    return judged


def test_a_sound_run_says_so(cli: Cli, judged: Path) -> None:
    result = cli("check", "last", "--store", judged)
    assert result.code == 0
    assert "nothing looks wrong in 2 checked conversations" in result.out


def test_counts_name_the_kinds(cli: Cli, broken: Path) -> None:
    result = cli("check", "1", "--store", broken)
    assert result.code == 0
    (row,) = [line for line in result.out.splitlines() if line.startswith("missing-verdict")]
    assert row.split()[1:4] == ["2", "1", "1"]
    assert row.endswith("claims without a verdict")


@pytest.mark.parametrize("kind", ["missing-verdict", "Missing_Verdict"])
def test_entries_of_a_kind(cli: Cli, broken: Path, kind: str) -> None:
    result = cli("check", "1", kind, "--store", broken)
    rows = result.out.splitlines()[1:]
    assert len(rows) == 2
    assert all("parcels/a" in row and "the judge said nothing" in row for row in rows)
    assert "window 1" in rows[0]


def test_json_has_counts_and_entries(cli: Cli, broken: Path) -> None:
    said = cli("check", "1", "--json", "--store", broken).json
    assert (said["run"], said["checked"], said["unchecked"]) == (1, 2, 0)
    assert said["counts"]["missing-verdict"] == {"entries": 2, "claims": 1, "conversations": 1}
    assert {each["kind"] for each in said["findings"]} == {"missing-verdict"}
    assert {each["claim"] for each in said["findings"]} == {1}
    assert cli("check", "1", "flip", "--json", "--store", broken).json["findings"] == []


def test_an_unknown_kind_names_the_known_ones(cli: Cli, broken: Path) -> None:
    result = cli("check", "1", "nonsense", "--store", broken)
    assert result.code == 2
    for kind in FindingKind:
        assert kind.value in result.err


def test_an_unknown_run_is_refused(cli: Cli, broken: Path) -> None:
    assert cli("check", "9", "--store", broken).code == 4


def test_a_run_without_a_judged_conversation_is_not_called_sound(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with store_with(path, [conversation("a", 1)]) as store:
        planned(store)
    result = cli("check", "1", "--store", path)
    assert result.code == 0
    assert "nothing was checked" in result.out
    assert "looks wrong" not in result.out
