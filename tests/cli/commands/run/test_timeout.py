"""How long a question may take: on the command line, in the settings, and from Python."""

import asyncio
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui import measure, single_turn
from faithtui.errors import ConfigError, InputError
from faithtui.judges.deadlines import TIMEOUT_S
from tests.cli.conftest import Cli
from tests.engine.faulty_runs import STEPS, filled
from tests.judges.fault_server import FaultServer, fault_server

CONVERSATIONS = 2
CONVERSATION = single_turn("How long?", "A year.", ["Returns are possible for a year."])


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        running.batches.polls_until_end = 0
        yield running


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """Note how many seconds each exchange with a provider is given."""
    seconds: list[float | None] = []
    timeout = asyncio.timeout

    def noted(delay: float | None) -> asyncio.Timeout:
        seconds.append(delay)
        return timeout(delay)

    monkeypatch.setattr(asyncio, "timeout", noted)
    return seconds


@pytest.fixture
def path(tmp_path: Path) -> Path:
    filled(tmp_path / "s.db", CONVERSATIONS).close()
    return tmp_path / "s.db"


def set_timeout(tmp_path: Path, value: str) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "config.toml").write_text(f"timeout_s = {value}\n")


def order(path: Path, server: FaultServer) -> tuple[str | Path, ...]:
    judge = ("--judge", "openai:m", "--base-url", server.url)
    return ("--store", path, "run", *judge, "--option", "include_reason=false")


@pytest.mark.parametrize("way", [(), ("--batch", "--wait")], ids=["one by one", "batch"])
@pytest.mark.parametrize(
    ("typed", "setting", "expected"),
    [
        ((), None, {TIMEOUT_S}),
        ((), "55", {55.0}),
        (("--timeout", "77.5"), None, {77.5}),
        (("--timeout", "77"), "55", {77.0}),
    ],
)
def test_every_request_of_a_run_gets_the_seconds_that_were_given(
    cli: Cli,
    tmp_path: Path,
    path: Path,
    server: FaultServer,
    given: list[float | None],
    monkeypatch: pytest.MonkeyPatch,
    way: tuple[str, ...],
    typed: tuple[str, ...],
    setting: str | None,
    expected: set[float],
) -> None:
    monkeypatch.setattr("faithtui.cli.commands.run.execution.LOOK_S", 0.0)
    if setting is not None:
        set_timeout(tmp_path, setting)
    result = cli(*order(path, server), *way, *typed)
    assert result.code == 0, result.err
    # A batch that is handed over gets a little more for its size.
    assert {math.floor(each or 0) for each in given} == set(map(math.floor, expected))
    assert len(server.entries) == CONVERSATIONS * STEPS


def test_another_timeout_asks_nothing_again(cli: Cli, path: Path, server: FaultServer) -> None:
    assert cli(*order(path, server)).code == 0
    assert cli(*order(path, server), "--timeout", "300").code == 0
    assert cli("--store", path, "run", "--resume", "last", "--timeout", "9").code == 0
    assert len(server.entries) == CONVERSATIONS * STEPS


@pytest.mark.parametrize("typed", ["0", "-5", "0.5", "nan", "inf", "86401", "1e9"])
def test_what_is_no_timeout_is_refused_before_anything_is_asked(
    cli: Cli, path: Path, server: FaultServer, typed: str
) -> None:
    for words in (order(path, server), ("judge", "test", "offline")):
        result = cli(*words, "--timeout", typed)
        assert result.code == ConfigError.exit_code
        assert f"--timeout is {float(typed)}; expected a number of seconds from 1" in result.err
    assert server.entries == []


@pytest.mark.parametrize("value", ["0", "86401", "nan", '"long"', "true", "[]"])
def test_what_is_no_timeout_in_the_settings_is_named(cli: Cli, tmp_path: Path, value: str) -> None:
    set_timeout(tmp_path, value)
    result = cli("judge", "test")
    assert result.code == ConfigError.exit_code
    assert "`timeout_s` is not valid; expected a number of seconds from 1 to 86400" in result.err


@pytest.mark.parametrize(
    ("typed", "setting", "expected"),
    [((), None, 30.0), ((), "55", 55.0), (("--timeout", "77"), "55", 77.0)],
)
def test_a_try_of_a_judge_is_short_unless_somebody_says_otherwise(
    cli: Cli,
    tmp_path: Path,
    server: FaultServer,
    given: list[float | None],
    typed: tuple[str, ...],
    setting: str | None,
    expected: float,
) -> None:
    if setting is not None:
        set_timeout(tmp_path, setting)
    cli("judge", "test", "openai:m", "--base-url", server.url, *typed)
    assert given
    assert set(given) == {expected}


def test_a_run_that_goes_on_is_not_previewed_with_a_timeout(cli: Cli, path: Path) -> None:
    result = cli("--store", path, "run", "--resume", "1", "--preview", "--timeout", "9")
    assert result.code == ConfigError.exit_code
    assert "leave out --timeout" in result.err


def test_the_library_takes_a_timeout(server: FaultServer, given: list[float | None]) -> None:
    measure(CONVERSATION, judge="openai:m", base_url=server.url, timeout_s=44)
    measure(CONVERSATION, judge="openai:m", base_url=server.url)
    assert set(given) == {44.0, TIMEOUT_S}


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, 86_401])
def test_the_library_refuses_what_is_no_timeout(value: float) -> None:
    with pytest.raises(ConfigError, match=r"timeout_s is .* expected a number of seconds"):
        measure(CONVERSATION, timeout_s=value)


def test_the_library_refuses_a_timeout_of_another_type() -> None:
    with pytest.raises(InputError, match="timeout_s: is a text; expected a number of seconds"):
        measure(CONVERSATION, timeout_s="30")  # type: ignore[arg-type]  # that is the point
