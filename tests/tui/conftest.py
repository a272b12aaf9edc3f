import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from textual import constants
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot

from faithtui.engine.runs import runner
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.session import Session
from tests.engine.building import conversation, planned, store_with
from tests.tui.building import NOON, shop

# No motion. The variable of this name would be read too late: a plugin of pytest imports Textual.
constants.TEXTUAL_ANIMATIONS = "none"  # type: ignore[misc]  # it is Final outside of tests

REVIEWER = "ann"
CLAIMS = 12
"""Claims of each conversation of `judged`."""


@pytest.fixture(scope="session", autouse=True)
def apps_share_parsed_styles() -> Iterator[None]:
    """Parse each style sheet once for all apps.

    Each app parses forty of them anew, which takes a fifth of the time in which it starts.
    """
    parsed: dict[object, list[RuleSet]] = {}
    parse_rules = Stylesheet._parse_rules

    def parse_once(self: Stylesheet, *source: object, **kind: object) -> list[RuleSet]:
        key = (source, *kind.items(), *self._variables.items())
        if key not in parsed:
            parsed[key] = parse_rules(self, *source, **kind)  # type: ignore[arg-type]
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


@pytest.fixture(autouse=True)
def apps_close_their_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Close the store of each app when its test is over: Textual ends it without a key to quit.

    Else the writer's thread goes on for ever and keeps the store and the app, a megabyte and more.
    """
    run_test, run = FaithApp.run_test, FaithApp.run

    @contextlib.asynccontextmanager
    async def run_and_close(
        self: FaithApp, *args: object, **kwargs: object
    ) -> AsyncIterator[Pilot[None]]:
        try:
            async with run_test(self, *args, **kwargs) as pilot:  # type: ignore[arg-type]
                yield pilot
        finally:
            await asyncio.to_thread(self.shutdown.wait_for_runs_and_close_store)

    def run_and_close_at_once(self: FaithApp, *args: object, **kwargs: object) -> object:
        try:
            return run(self, *args, **kwargs)  # type: ignore[arg-type]
        finally:
            self.shutdown.wait_for_runs_and_close_store()

    monkeypatch.setattr(FaithApp, "run_test", run_and_close)
    # So are pictures taken.
    monkeypatch.setattr(FaithApp, "run", run_and_close_at_once)


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


@pytest.fixture
def session(store_path: Path, tmp_path: Path) -> Iterator[Session]:
    """Give a session on the store without an app: for controllers on a `FakeScreen`."""
    clock = count()
    session = Session(
        "ann",
        store_path,
        now=lambda: NOON,
        seconds=lambda: float(next(clock)),
        report_directory=tmp_path / "reports",
    )
    with Store.open(store_path, clock=lambda: NOON) as store:
        session.set_store(store)
        yield session


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Settings of nobody, and a reviewer with a name."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("FAITHTUI", "NO"))
    }
    return {
        **kept,
        "FAITHTUI_HOME": str(tmp_path / "home"),
        "FAITHTUI_REVIEWER": REVIEWER,
        "LC_ALL": "C.UTF-8",
        "NO_PROXY": "*",
    }


@pytest.fixture(scope="session")
def judged_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("judged") / "judged.db"
    with store_with(path, [conversation(key, CLAIMS) for key in "abc"]) as store:
        run = planned(store)
        asyncio.run(runner.execute_run(store, run, lambda event: None))
    return path


@pytest.fixture
def judged(judged_once: Path, tmp_path: Path) -> Path:
    """Give a store in which the embedded judge has judged three conversations of many claims."""
    return Path(shutil.copy(judged_once, tmp_path))
