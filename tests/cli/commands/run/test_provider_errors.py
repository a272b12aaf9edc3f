"""What a provider answered to an attempt that failed, as the command line tells it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.engine.faulty_runs import filled
from tests.judges.fault_server import FaultServer, Rule, fault_server
from tests.judges.faults import Fault


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        yield running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.db"
    filled(path, 2).close()
    return path


def ordered(path: Path, server: FaultServer) -> tuple[str | Path, ...]:
    judge = ("--judge", "openai:m", "--base-url", server.url, "--option", "include_reason=false")
    return ("run", "--store", path, *judge)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("status", 500, message="upstream connect error"), "HTTP 500: upstream connect"),
        (Fault("status", 429, message="slow down"), "HTTP 429: slow down"),
        (Fault("not_json"), "HTTP 200 without complete JSON: <html><title>Welcome"),
        (Fault("status", 503, message="\x1b[2Jbusy [red]"), "HTTP 503: [2Jbusy [red]"),
        (Fault("reset_before"), "no answer: "),
    ],
    ids=["500", "429", "page", "hostile", "cut"],
)
def test_what_a_provider_answered_is_told_with_its_status(
    cli: Cli, path: Path, server: FaultServer, fault: Fault, words: str
) -> None:
    server.config.rules = (Rule((fault,), most=1),)
    ran = cli(*ordered(path, server))
    assert ran.code == 0
    assert words in ran.err
    assert "\x1b[2J" not in ran.err


def test_a_provider_that_repeats_the_key_is_told_without_it(
    cli: Cli, path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHTUI_JUDGE_KEY", "very-secret-key-of-mine")
    fault = Fault("status", 500, message="not with", echo_key=True)
    server.config.rules = (Rule((fault,), most=1),)
    ran = cli(*ordered(path, server))
    assert "HTTP 500: not with" in ran.err
    assert "very-secret" not in ran.err
    lines = cli("run", "--resume", "1", "--store", path, "--json").out
    assert "very-secret" not in lines
