from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from faithtui.config import load_settings_with_origins
from faithtui.tui.app import FaithApp
from tests.tui.building import NOON


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text('# mine\nreviewer = "ann"\nconcurrency = 4\n', "utf-8")
    return path


@pytest.fixture
def make(store_path: Path, file: Path) -> Callable[..., FaithApp]:
    def made(environment: Mapping[str, str] | None = None) -> FaithApp:
        configured = load_settings_with_origins(file, environment or {"LANG": "C.UTF-8"})
        return FaithApp(store_path, reviewer="ann", now=lambda: NOON, configured=configured)

    return made
