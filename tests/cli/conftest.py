import asyncio
import functools
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main

from faithtui.cli.main import main
from faithtui.cli.output import OutputStyle, set_output_style
from faithtui.engine.runs import runner
from faithtui.store.store import Store
from tests.engine.building import CountingJudge, conversation, opened, planned, store_with


@dataclass(frozen=True)
class Result:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def advice(self) -> str:
        """What was said, with commands as they are without the `--store` of this one."""
        return re.sub(r"faithtui --store \S+ ", "faithtui ", self.err)


Cli = Callable[..., Result]


@pytest.fixture(scope="session", autouse=True)
def commands_are_made_once() -> Iterator[None]:
    """Keep the tree of commands and options, which is the same for each command that is run.

    Typer makes it anew each time; with 1,500 commands that took as long as what many of them do.
    """
    made = functools.cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", made)
        yield


@pytest.fixture(autouse=True)
def output_style_is_the_usual() -> None:
    """Begin as a process does: `-q` of a test before would keep lines back."""
    set_output_style(OutputStyle())


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command in this process, with a home of its own and no keys."""
    monkeypatch.setenv("FAITHTUI_HOME", str(tmp_path / "home"))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "FAITHTUI_JUDGE", "FAITHTUI_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FAITHTUI_REVIEWER", "ann")

    def run(*words: str | Path) -> Result:
        monkeypatch.setattr(sys, "argv", ["faithtui", *map(str, words)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return run


@pytest.fixture(scope="session")
def judged_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a store with two conversations and a finished run, to copy."""
    path = tmp_path_factory.mktemp("judged") / "judged.db"
    with store_with(path, [conversation("a", 2), conversation("b", 1)]) as store:
        run = planned(store)
        asyncio.run(
            runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
        )
    return path


@pytest.fixture
def judged(judged_once: Path, tmp_path: Path) -> Path:
    """Give a store with two conversations and a finished run."""
    return Path(shutil.copy(judged_once, tmp_path))


@pytest.fixture
def store(judged: Path) -> Iterator[Store]:
    with Store.open(judged, create=False) as found:
        yield found
