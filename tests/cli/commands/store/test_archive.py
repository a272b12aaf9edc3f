"""`faithtui archive`, `faithtui restore` and what lists leave out."""

from pathlib import Path

import pytest

from faithtui import open_store
from faithtui.errors import ConfigError
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.engine.building import planned


def test_archived_runs_are_listed_apart_and_brought_back(cli: Cli, judged: Path) -> None:
    with Store.open(judged) as store:
        planned(store)
    assert cli("archive", "last", "--store", judged, "--json").json == {
        "runs": [2],
        "archived": True,
    }
    assert [each["run"] for each in cli("runs", "--store", judged, "--json").json] == [1]
    away = cli("runs", "--archived", "--store", judged, "--json").json
    assert [each["run"] for each in away] == [2]
    assert away[0]["archived_at"] is not None
    shown = cli("show", "last", "--store", judged, "--json")
    assert [each["state"] for each in shown.json] == ["done", "done"], "last is another run now"
    assert cli("show", "2", "--store", judged).code == 0, "by its number it is still there"
    assert "listed again: 2" in cli("restore", "2", "--store", judged).out
    assert len(cli("runs", "--store", judged, "--json").json) == 2


def test_a_run_that_is_not_there_archives_none(cli: Cli, judged: Path) -> None:
    refused = cli("archive", "1", "7", "--store", judged)
    assert refused.code == 2 or refused.code == 4
    assert "there is no run 7" in refused.err
    assert [each["run"] for each in cli("runs", "--store", judged, "--json").json] == [1]


def test_a_run_that_is_put_away_is_not_the_last_one(cli: Cli, judged: Path) -> None:
    cli("archive", "1", "--store", judged)
    for words in (("report",), ("show", "last"), ("check",), ("gate", "last", "--min-kappa", "0")):
        refused = cli(*words, "--store", judged)
        assert (refused.code, refused.out) == (2 if words[0] != "gate" else refused.code, "")
        assert refused.code != 0
        assert "all are archived; name one, or " in refused.err
        assert "restore 1 lists it again" in refused.err
    with open_store(judged) as project, pytest.raises(ConfigError, match="all are archived"):
        project.report("last")
    listed = cli("runs", "--store", judged)
    assert listed.code == 0
    assert "1 run archived: faithtui" in listed.err
    assert cli("show", "1", "--store", judged).code == 0
