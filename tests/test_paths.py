"""Where things live, with and without FAITHTUI_HOME."""

import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

from faithtui import paths


def test_one_variable_moves_everything(tmp_path: Path) -> None:
    environment = {"FAITHTUI_HOME": str(tmp_path / "home")}
    assert paths.data_dir(environment) == tmp_path / "home"
    assert paths.get_default_store_path(environment) == tmp_path / "home" / "faithtui.db"
    assert paths.get_demo_store_path(environment) == tmp_path / "home" / "demo.db"
    assert paths.config_file(environment) == tmp_path / "home" / "config.toml"
    assert paths.log_dir(environment) == tmp_path / "home" / "logs"


@pytest.mark.parametrize("environment", [{}, {"FAITHTUI_HOME": ""}])
def test_without_it_the_system_decides(environment: dict[str, str]) -> None:
    assert paths.data_dir(environment) == platformdirs.user_data_path("faithtui", appauthor=False)
    assert paths.config_file(environment).parent == platformdirs.user_config_path(
        "faithtui", appauthor=False
    )
    assert paths.log_dir(environment) == platformdirs.user_log_path("faithtui", appauthor=False)


def test_the_users_store_and_the_demo_are_two_files() -> None:
    assert paths.get_default_store_path({}) != paths.get_demo_store_path({})
    assert paths.get_default_store_path({}).parent == paths.get_demo_store_path({}).parent


def test_home_is_expanded_and_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert paths.data_dir({"FAITHTUI_HOME": "~/project"}) == tmp_path / "project"
    monkeypatch.chdir(tmp_path)
    assert paths.data_dir({"FAITHTUI_HOME": "here"}) == tmp_path / "here"


def test_nothing_is_made_by_importing_or_asking(tmp_path: Path) -> None:
    asked = (
        "from faithtui import config, paths\n"
        "paths.data_dir(); paths.get_default_store_path(); paths.get_demo_store_path()\n"
        "paths.config_file(); paths.log_dir(); config.load_settings()\n"
    )
    environment = {"HOME": str(tmp_path), "PYTHONPATH": str(Path(paths.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", asked], check=True, env=environment, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []
