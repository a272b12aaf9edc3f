"""`faithtui archive`, `faithtui restore` and what lists leave out."""

from pathlib import Path

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
