"""The real program when its terminal is closed under it, or when it is told to end."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.store.records import RunRow, RunState
from faithtui.store.store import Store
from tests.engine.building import conversation, store_with
from tests.judges.fake_server import answering_server
from tests.tui.terminal import Terminal, command
from tests.tui.test_terminal import given, label, open_review, said, saved, under_way

HANG_UP, TERMINATE = 128 + signal.SIGHUP, 128 + signal.SIGTERM


def give(terminal: Terminal, keys: str) -> None:
    """Give verdicts that are called saved, and then three more that nobody waits for."""
    open_review(terminal)
    for key in keys:
        label(terminal, key)
    terminal.press("y", "n", "y")


def wait_for_one_more(terminal: Terminal) -> None:
    """Wait until one of the three that nobody waited for was saved, or was told to be too early."""
    refusal = "not saved"
    terminal.wait(lambda: len(saved(terminal)) > 2 or refusal in terminal.screen.text)


def is_whole(store: Path) -> bool:
    """Whether the log was folded into the store: it was closed, and not left behind."""
    return not store.with_name(f"{store.name}-wal").exists()


def test_closing_the_terminal_ends_the_app_and_keeps_every_label(
    judged: Path, environment: Mapping[str, str]
) -> None:
    with Terminal(command(judged), environment) as terminal:
        give(terminal, "ynix")
        told = Counter(saved(terminal))
        assert terminal.hang_up() == HANG_UP
    assert told.total() >= 4
    assert is_whole(judged)
    assert told - given(judged) == Counter(), "something was called saved and is not there"


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_ends_the_app_and_gives_the_terminal_back(
    judged: Path, environment: Mapping[str, str], number: signal.Signals
) -> None:
    with Terminal(command(judged), environment) as terminal:
        give(terminal, "yn")
        wait_for_one_more(terminal)
        os.kill(terminal.process.pid, number)
        assert terminal.wait_end() == 128 + number
        told = Counter(saved(terminal))
    assert terminal.bytes.rfind(b"\x1b[?1049l") > terminal.bytes.rfind(b"\x1b[?1049h")
    assert is_whole(judged)
    assert told - given(judged) == Counter()


def test_a_terminal_that_closes_while_the_store_opens_ends_the_app(
    judged: Path, environment: Mapping[str, str]
) -> None:
    with Terminal(command(judged), environment) as terminal:
        terminal.wait("RUNS")
        assert terminal.hang_up() == HANG_UP
    assert said(judged) == Counter()


@pytest.mark.thorough
def test_a_terminal_that_closes_while_an_editor_is_open_ends_the_app(
    judged: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    stubborn = tmp_path / "editor"
    opened, ended = tmp_path / "opened", tmp_path / "ended"
    # It outlives its terminal, so that the app cannot be asked to leave; ends with the test.
    stubborn.write_text(f"#!/bin/sh\ntouch {opened}\nwhile [ ! -e {ended} ]; do sleep 0.1; done\n")
    stubborn.chmod(0o755)
    # With a person's patience: an app that waits for an editor is not waited for.
    program = [sys.executable, "-m", "faithtui", "--store", str(judged)]
    with Terminal(program, {**environment, "VISUAL": str(stubborn)}) as terminal:
        give(terminal, "yn")
        wait_for_one_more(terminal)
        terminal.press("\x05")
        terminal.wait(opened.exists)
        told = Counter(saved(terminal))
        try:
            assert terminal.hang_up() == HANG_UP
        finally:
            ended.touch()
    assert told - given(judged) == Counter()


def only_run(path: Path) -> RunRow:
    with Store.open(path, create=False) as store:
        assert store.list_damage() == []
        return store.runs.read_run(RunId(1))


@pytest.mark.parametrize(
    "how",
    [
        None,
        *(
            pytest.param(each, marks=pytest.mark.thorough)
            for each in (signal.SIGHUP, signal.SIGTERM)
        ),
    ],
)
def test_a_run_that_is_on_when_the_terminal_goes_is_left_to_be_continued(
    tmp_path: Path, environment: Mapping[str, str], how: signal.Signals | None
) -> None:
    path = tmp_path / "s.db"
    store_with(path, [conversation(f"c{number}", 2) for number in range(12)]).close()
    with answering_server() as server:
        (tmp_path / "home").mkdir()
        settings = f'judge = "openai:w"\nbase_url = "{server.url}"\n'
        (tmp_path / "home" / "config.toml").write_text(settings)
        with Terminal(command(path), environment) as terminal:
            under_way(terminal, server, path)
            if how is None:
                assert terminal.hang_up() == HANG_UP
            else:
                os.kill(terminal.process.pid, how)
                assert terminal.wait_end() == 128 + how
        row = only_run(path)
        assert row.state is RunState.CANCELLED
        assert row.pending > 0
        assert is_whole(path)
        server.answers_no_more_than = None
        subprocess.run(
            [sys.executable, "-m", "faithtui", "--store", str(path), "run", "--resume", "1"],
            env=environment,
            capture_output=True,
            check=True,
        )
        row = only_run(path)
        assert (row.state, row.done) == (RunState.DONE, 12)
        assert row.calls == len(server.answers), "nothing stored was asked again"
