"""Version, quiet, verbose, colours, before a command's name and after it; tables that fit."""

import logging
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from faithtui.cli.output import (
    GAP,
    NARROWEST,
    TableColumn,
    choose_columns_and_widths_that_fit,
    print_table,
)
from faithtui.logbook import ROOT, close_log
from tests.cli.conftest import Cli
from tests.docs.test_command_names import COMMANDS

COLUMNS = st.lists(
    st.builds(
        TableColumn,
        st.text("abc", min_size=1, max_size=14),
        st.sampled_from(["left", "right"]),
        st.just(False),
        st.integers(0, 3),
    )
    | st.text("abc", min_size=1, max_size=14).map(lambda title: TableColumn(title, flexible=True)),
    min_size=1,
    max_size=16,
)


@pytest.fixture
def watched() -> Iterator[None]:
    """Print no more of the log afterwards."""
    yield
    close_log()


def test_the_version_has_a_short_name(cli: Cli) -> None:
    assert cli("-V").out == cli("--version").out != ""


def test_help_is_a_command(cli: Cli) -> None:
    assert cli("help").out == cli("--help").out
    assert cli("help", "judge", "test").out == cli("judge", "test", "--help").out
    found = cli("help", "raport")
    assert found.code == 2
    assert "Did you mean 'report'" in found.err


def test_quiet_leaves_results_and_errors(cli: Cli, judged: os.PathLike[str]) -> None:
    loud = cli("run", "--store", str(judged))
    assert "2/2 conversations" in loud.err
    quiet = cli("-q", "run", "--store", str(judged))
    assert (quiet.err, quiet.code) == ("", 0)
    assert "conversations judged" in quiet.out
    assert "error: there is no run 99" in cli("-q", "show", "99", "--store", str(judged)).err


def test_verbose_prints_the_log(cli: Cli, judged: os.PathLike[str]) -> None:
    assert "INFO run" not in cli("run", "--store", str(judged)).err
    try:
        found = cli("-v", "run", "--store", str(judged))
        assert "INFO run 3: started: turn-faithfulness" in found.err
        again = cli("-v", "run", "--store", str(judged))
        assert again.err.count("INFO run 4: started") == 1
    finally:
        close_log()
    assert not [each for each in logging.getLogger(ROOT).handlers if each.stream is sys.stderr]  # type: ignore[attr-defined]  # those that print have one


def test_every_command_takes_them_after_its_name() -> None:
    for words, command in COMMANDS.items():
        taken = {option for each in command.params for option in each.opts}
        assert taken >= {"-q", "--quiet", "-v", "--verbose", "--color"}, words


def test_what_stands_after_the_name_counts_as_what_stands_before(
    cli: Cli, judged: os.PathLike[str]
) -> None:
    assert cli("run", "-q", "--store", str(judged)).err == ""
    assert cli("-q", "run", "--resume", "1", "--store", str(judged)).err == ""
    assert "1 runs" not in cli("runs", "--quiet", "--store", str(judged)).err
    assert cli("runs", "--color", "always", "--store", str(judged)).out.startswith("\x1b[1mrun")
    both = cli("--color", "always", "runs", "--color", "never", "--store", str(judged))
    assert "\x1b" not in both.out
    kept = cli("--color", "always", "runs", "-q", "--store", str(judged))
    assert kept.out.startswith("\x1b[1mrun")
    assert "expected auto, always, never" in cli("runs", "--color", "yes").err
    assert cli("judge", "-q", "list").code == 0


def test_verbose_says_what_an_import_looked_at_and_left_out(
    cli: Cli, tmp_path: Path, watched: None
) -> None:
    rows = tmp_path / "eval.csv"
    rows.write_text(
        "id,question,answer,contexts\n1,When?,At nine.,[]\n1,When?,At nine.,[]\n2,Where?,,[]\n",
        encoding="utf-8",
    )
    store = ("--store", tmp_path / "s.db")
    found = cli("import", "-v", rows, *store)
    assert found.code == 0
    assert "eval.csv is a table; looked at its first 3 records, with the keys `id`" in found.err
    assert "eval.csv may be rows: " in found.err
    assert re.search(r"eval.csv is nothing for .*\bragas\b", found.err)
    assert "eval.csv, record 2: 1 is there already, with the same turns" in found.err
    assert "eval.csv, record 3: 2 has no question that was answered" in found.err
    assert re.search(r"time for 3 records: reading [\d.]+ s, storing [\d.]+ s", found.err)


def test_verbose_says_what_a_run_skipped_and_an_export_left_out(
    cli: Cli, judged: Path, watched: None
) -> None:
    ran = cli("run", "-v", "--claims", "imported", "--store", judged)
    assert re.search(r"run \d: parcels/a skipped: no imported claims", ran.err)
    assert re.search(r"run \d: took [\d.]+ s", ran.err)
    asked = cli("run", "-v", "--store", judged)
    assert re.search(r"step claims: \d+ calls, in which the judge took [\d.]+ s", asked.err)
    out = cli("export", "langfuse", "1", "-v", "--store", judged)
    assert "parcels/a has an answer (turn 2) without the id of a trace" in out.err
    assert re.search(r"2 conversations read in [\d.]+ s", out.err)


def test_details_are_not_written_into_the_log(cli: Cli, judged: Path, watched: None) -> None:
    assert "skipped: no" in cli("run", "-v", "--claims", "imported", "--store", judged).err
    (written,) = (judged.parent / "home").rglob("faithtui.log")
    assert "started" in written.read_text(encoding="utf-8")
    assert "parcels/a" not in written.read_text(encoding="utf-8")


def test_colours_are_for_terminals_or_on_demand(
    cli: Cli, judged: os.PathLike[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    words = ("runs", "--store", str(judged))
    plain = cli(*words)
    assert "\x1b" not in plain.out + plain.err
    painted = cli("--color", "always", *words)
    assert painted.out.startswith("\x1b[1mrun")
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted.out) == plain.out
    wrong = cli("--color", "always", "show", "99", "--store", str(judged))
    assert wrong.err.startswith("\x1b[1;31merror:\x1b[0m there is no run 99")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "\x1b" not in cli("--color", "never", *words).out
    assert "expected auto, always, never" in cli("--color", "yes", *words).err


@given(COLUMNS, st.integers(20, 200), st.data())
def test_a_table_fits_the_terminal(
    columns: list[TableColumn], room: int, data: st.DataObject
) -> None:
    widths = [
        data.draw(st.integers(len(each.title), 18 if each.align == "right" else 90))
        for each in columns
    ]
    shown, fitted = choose_columns_and_widths_that_fit(columns, widths, room)
    assert shown[0] == 0
    assert shown == sorted(shown)
    assert sum(fitted[each] for each in shown) + len(GAP) * (len(shown) - 1) <= room
    for index in shown:
        # Numbers are whole, and text keeps something to read.
        least = widths[index] if columns[index].align == "right" else min(widths[index], NARROWEST)
        assert fitted[index] >= min(least, room)
    if sum(widths) + len(GAP) * (len(columns) - 1) <= room:
        assert (shown, fitted) == (list(range(len(columns))), widths)


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_no_line_of_a_table_is_wider_than_the_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((width, 24)))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    columns = (
        TableColumn("run", "right"),
        TableColumn("judge", flexible=True),
        *(TableColumn(f"number {each}", "right", rank=each % 3) for each in range(12)),
        TableColumn("made"),
    )
    print_table(columns, [("1", "openai:" + "一" * 30, *["0.123"] * 12, "2026-01-02")] * 2)
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert len(lines) == 3
    assert max(map(cell_len, lines)) <= width
    assert ("too narrow for: " in err) == (width < 200)
