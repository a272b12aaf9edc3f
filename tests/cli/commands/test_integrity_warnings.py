"""A score of a run never stands alone on the command line when what it rests on was made up."""

import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.domain.integrity.run_summary import CHECKS
from tests.cli.conftest import Cli
from tests.engine.building import conversation, store_with

MODULE = """
import random
from tests.engine.building import fill_schema

class Babble:
    fingerprint = "babble 1"

    def __init__(self, rest, base_url):
        self.chance = random.Random(rest)

    async def answer(self, question):
        import json
        return json.dumps(fill_schema(question.schema, self.chance))
"""
SUSPECT = "claims are not in the answer"


@pytest.fixture
def babble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A model of random weights under a grammar, as a judge of a package."""
    folder = tmp_path / "site"
    metadata = folder / "babble-1.0.dist-info"
    metadata.mkdir(parents=True)
    (folder / "babble_judge.py").write_text(MODULE)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: babble\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[faithtui.judges]\nbabble = babble_judge:Babble\n")
    monkeypatch.syspath_prepend(folder)
    yield "babble:1"
    sys.modules.pop("babble_judge", None)


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    path = tmp_path / "chats.db"
    store_with(path, [conversation("a", 2), conversation("b", 1)]).close()
    return path


@pytest.fixture
def random_run(cli: Cli, chats: Path, babble: str) -> Path:
    assert cli("run", "--judge", babble, "--store", chats).code == 0
    return chats


def test_the_end_of_a_run_says_it_beside_the_score(cli: Cli, chats: Path, babble: str) -> None:
    result = cli("run", "--judge", babble, "--store", chats)
    assert result.code == 0
    assert "mean score" in result.out
    score = result.out.index("mean score")
    assert SUSPECT in result.out[score:]
    assert " · suspect: " in result.out[score:]


def test_the_last_event_says_it_to_programs(cli: Cli, chats: Path, babble: str) -> None:
    result = cli("run", "--judge", babble, "--store", chats, "--json")
    last = json.loads(result.out.splitlines()[-1])
    assert last["event"] == "RunEnded"
    assert last["integrity"]["state"] == "suspect"
    assert last["integrity"]["sentence"].startswith("suspect: ")
    assert last["integrity"]["phantom"] == last["integrity"]["claims"] > 0
    assert last["score"] is not None


def test_the_list_of_runs_says_it(cli: Cli, random_run: Path) -> None:
    (row,) = cli("runs", "--store", random_run).out.splitlines()[1:]
    assert "suspect: " in row
    assert SUSPECT in row
    (run,) = cli("runs", "--store", random_run, "--json").json
    assert run["integrity"]["state"] == "suspect"
    assert run["integrity"]["unchecked"] == 0


def test_show_says_it_of_every_conversation(cli: Cli, random_run: Path) -> None:
    rows = cli("show", "1", "--store", random_run).out.splitlines()[1:]
    assert len(rows) == 2
    assert all("suspect: " in row for row in rows)
    said = cli("show", "1", "1", "--store", random_run).out.splitlines()
    scored = next(at for at, line in enumerate(said) if line.startswith("judge: mean of windows"))
    assert said[scored + 1].startswith("suspect: ")
    told = cli("show", "1", "1", "--store", random_run, "--json").json
    assert told["run"]["integrity"]["state"] == "suspect"
    assert told["conversation"]["integrity"]["state"] == "suspect"
    assert told["metrics_compared"]["runs"][0]["integrity"]["state"] == "suspect"


def test_reports_say_it_first(cli: Cli, random_run: Path, tmp_path: Path) -> None:
    report = cli("report", "1", "--store", random_run, "--json").json
    codes = [(each["code"], each["severity"]) for each in report["warnings"]]
    assert codes[0] == ("suspect_run", "blocking")
    assert report["warnings"][0]["message"].startswith("Suspect: ")
    folder = tmp_path / "report"
    assert cli("report", "1", "--store", random_run, "-o", folder).code == 0
    for name in ("report.md", "report.html", "report.json"):
        assert SUSPECT in (folder / name).read_text(encoding="utf-8"), name


def test_gate_notes_it(cli: Cli, random_run: Path) -> None:
    result = cli("gate", "1", "--min-labels", "1", "--store", random_run)
    assert result.code == 2, "not enough labels"
    assert "note: run 1: suspect: " in result.err


def test_a_sound_run_says_nothing(cli: Cli, chats: Path) -> None:
    ended = cli("run", "--store", chats)
    listed = cli("runs", "--store", chats)
    shown = cli("show", "1", "--store", chats)
    for result in (ended, listed, shown):
        assert "suspect" not in result.out
        assert "not checked" not in result.out
    (run,) = cli("runs", "--store", chats, "--json").json
    assert run["integrity"]["state"] == "sound"
    assert run["integrity"]["sentence"] == ""
    report = cli("report", "1", "--store", chats, "--json").json
    codes = {each["code"] for each in report["warnings"]}
    assert codes.isdisjoint({"suspect_run", "not_checked", "texts_not_found"})


def forget_checks(path: Path, version: int = 0) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE run SET checks = ?, checked = 0", (version,))
        connection.execute("UPDATE run_item SET checked = ?", (version,))
    connection.close()


@pytest.mark.parametrize("version", [0, CHECKS - 1])
def test_what_is_not_checked_is_never_shown_as_sound(cli: Cli, chats: Path, version: int) -> None:
    cli("run", "--store", chats)
    forget_checks(chats, version)
    assert "not checked yet" in cli("runs", "--store", chats).out
    (run,) = cli("runs", "--store", chats, "--json").json
    assert (run["integrity"]["state"], run["integrity"]["unchecked"]) == ("unchecked", 2)
    assert "not checked" not in cli("show", "1", "--store", chats).out, "a look finishes the check"
    assert "not checked" not in cli("runs", "--store", chats).out


def test_resuming_a_run_checks_it(cli: Cli, random_run: Path) -> None:
    (before,) = cli("runs", "--store", random_run, "--json").json
    forget_checks(random_run)
    assert "suspect: " in cli("run", "--resume", "1", "--store", random_run).out
    (after,) = cli("runs", "--store", random_run, "--json").json
    assert after["integrity"] == before["integrity"]


def test_comparing_runs_says_it_of_each(cli: Cli, random_run: Path) -> None:
    cli("run", "--store", random_run)
    said = cli("show", "2", "1", "--store", random_run).out
    assert "1 turn-faithfulness: suspect: " in said
    assert "2 turn-faithfulness: suspect" not in said
