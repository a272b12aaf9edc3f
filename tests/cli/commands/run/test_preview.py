from pathlib import Path

import pytest

from faithtui.cli.commands.run import preview
from faithtui.engine.runs import run_planner
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.engine.building import conversation, store_with

PAID = "openai:gpt-6-luna"


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    path = tmp_path / "chats.db"
    with store_with(path, [conversation(f"c{n}", 2) for n in range(4)]):
        return path


def test_a_preview_says_what_it_would_cost_and_runs_nothing(cli: Cli, chats: Path) -> None:
    result = cli("run", "--store", chats, "--judge", PAID, "--preview")
    assert result.code == 0
    assert f"turn-faithfulness by {PAID}: 4 conversations" in result.out
    assert "at most $" in result.out
    assert "truths" in result.out
    assert "nothing was asked" in result.err
    with Store.open(chats, create=False) as store:
        assert store.runs.list_runs() == ()


def test_a_preview_is_json_for_programs(cli: Cli, chats: Path) -> None:
    words = ("--judge", PAID, "--judge", "offline", "--preview", "--json")
    first, second = cli("run", "--store", chats, *words).json
    assert first["calls"]["value"] > second["calls"]["value"] > 0
    assert first["cost_nusd"]["low"] <= first["cost_nusd"]["value"]
    assert "claims" in {step["step"] for step in first["steps"]}
    # The second judge gets the claims of the first.
    assert "claims" not in {step["step"] for step in second["steps"]}


def test_a_preview_says_what_the_judge_is_asked_with(cli: Cli, chats: Path) -> None:
    words = ("--judge", PAID, "--judge", "offline", "--temperature", "0.3", "--seed", "7")
    result = cli("run", "--store", chats, *words, "--preview")
    assert result.out.count("asked with") == 1
    assert "  asked with temperature 0.3, seed 7\n" in result.out
    paid, offline = cli("run", "--store", chats, *words, "--preview", "--json").json
    assert paid["parameters"] == {"temperature": 0.3, "seed": 7}
    assert offline["parameters"] == {}


def test_a_wrong_variable_is_named(cli: Cli, chats: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAITHTUI_SEED", "7")
    monkeypatch.setenv("FAITHTUI_TEMPERATURE", "hot")
    result = cli("run", "--store", chats, "--judge", PAID, "--preview")
    assert result.code == 2
    assert "environment variable FAITHTUI_TEMPERATURE: temperature is not valid" in result.err


def test_several_runs_of_a_judge_are_added_up(cli: Cli, chats: Path) -> None:
    words = ("--metric", "all", "--judge", PAID, "--preview")
    result = cli("run", "--store", chats, *words)
    assert result.code == 0
    total = result.out.splitlines()[-1]
    assert total.startswith("all: ")
    assert total.count("at most $") == 1


def test_what_is_left_of_a_run_can_be_previewed(cli: Cli, chats: Path) -> None:
    assert cli("run", "--store", chats).code == 0
    result = cli("run", "--store", chats, "--resume", "last", "--preview")
    assert result.code == 0
    assert "0 conversations" in result.out
    assert "0 questions to overlap baseline" in result.out


def test_only_runs_that_cost_something_are_announced(
    chats: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(chats, create=False) as store:
        free = run_planner.save_planned_run(store, RunRequest())
        paid = run_planner.save_planned_run(
            store, RunRequest(judge=PAID), environ={"OPENAI_API_KEY": "k"}
        )
        later = run_planner.save_planned_run(
            store,
            RunRequest(judge="openai:gpt-6-sol", claims_run=paid),
            environ={"OPENAI_API_KEY": "k"},
        )
        preview.print_cost_notice(store, [free], RunEnvironment())
        assert capsys.readouterr() == ("", "")
        preview.print_cost_notice(store, [free, paid, later], RunEnvironment())
    out, err = capsys.readouterr()
    assert out == ""
    luna, sol = err.splitlines()
    assert f"to {PAID}; " in luna
    assert "to openai:gpt-6-sol; " in sol


def test_a_table_of_ones_own_is_named_in_the_settings(
    cli: Cli, chats: Path, tmp_path: Path
) -> None:
    table = tmp_path / "own.toml"
    table.write_text(
        'date = "2031-05"\n[[price]]\njudge = "openai:house-model"\ninput = 7.0\noutput = 8.0\n'
    )
    home = tmp_path / "home"
    home.mkdir()
    words = ("run", "--store", chats, "--judge", "openai:house-model", "--preview")
    assert "cost not known" in cli(*words).out
    (home / "config.toml").write_text(f'prices = "{table}"\n')
    result = cli(*words)
    assert "prices of own.toml, 2031-05" in result.out
    assert "of own.toml, 2031-05; then genai-prices " in cli("doctor", "--offline").out
