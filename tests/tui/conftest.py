import os

# Before Textual is imported: no motion, colours of a real terminal whatever runs the tests.
os.environ["TEXTUAL_ANIMATIONS"] = "none"
os.environ["COLORTERM"] = "truecolor"
os.environ.pop("NO_COLOR", None)
os.environ["TZ"] = "UTC"

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from faithtui.tui.app import FaithApp
from tests.tui.building import NOON, shop

time.tzset()


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stores") / "shop.db"
    shop(path)
    return path


@pytest.fixture
def store_path(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "shop.db"))


@pytest.fixture
def app(store_path: Path, tmp_path: Path) -> FaithApp:
    return FaithApp(
        store_path, reviewer="ann", report_directory=tmp_path / "reports", now=lambda: NOON
    )


@pytest.fixture
def make_app(tmp_path: Path) -> Callable[[Path], FaithApp]:
    def make(path: Path) -> FaithApp:
        return FaithApp(
            path, reviewer="ann", report_directory=tmp_path / "reports", now=lambda: NOON
        )

    return make
