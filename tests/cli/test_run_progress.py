"""The line on stderr that follows a run."""

import io
from dataclasses import replace

import pytest

from faithtui.cli.run_progress import ProgressLine
from faithtui.domain.ids import RunId
from faithtui.engine.calls.budget import BudgetCaps
from faithtui.engine.runs.events import (
    CallRetried,
    Draining,
    ParameterRefused,
    RunEvent,
    RunProgress,
    RunStarted,
    StoreTroubled,
    WayChanged,
)

RUN = RunId(1)
MANY = RunProgress(2000, 1999, windows=31_000, calls=62_000, calls_stored=900, tokens_in=12_345_678)


class Terminal(io.StringIO):
    """Text that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def lines(*events: RunEvent, caps: BudgetCaps | None = None) -> list[str]:
    out = io.StringIO()
    line = ProgressLine(out, caps or BudgetCaps(), clock=lambda: 7.0)
    for event in events:
        line(event)
    return out.getvalue().splitlines()


def test_the_live_line_never_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    out = Terminal()
    ProgressLine(out, clock=lambda: 7.0)(RunStarted(RUN, MANY))
    assert out.getvalue() == "\r\x1b[K[###############.] 1,999/2,000 conversations · 0:00 · 31,00"
    assert len(out.getvalue()) - len("\r\x1b[K") == 59


def test_lines_in_a_file_are_whole_and_count_in_words() -> None:
    assert lines(RunStarted(RUN, RunProgress(1, 0, windows=1, calls=1))) == [
        "0/1 conversations · 0:00 · 1 window · 1 call"
    ]


def test_the_time_left_is_no_time_of_day() -> None:
    line = ProgressLine(io.StringIO(), BudgetCaps())
    words = line._format_progress(RunProgress(4, 1), elapsed=355.0)
    assert words.startswith("1/4 conversations · 18 min left · ")


def test_calls_for_what_was_asked_before_are_counted_beside_all_calls() -> None:
    (line,) = lines(RunStarted(RUN, RunProgress(1, 0, calls=310, calls_again=59)))
    assert line.endswith("310 calls (59 asked again)")


def test_money_and_tokens_stand_beside_their_limits() -> None:
    spent = RunProgress(
        2, 1, calls=3, tokens_in=900, tokens_cached=600, tokens_out=40, cost_nusd=12_300_000
    )
    (line,) = lines(RunStarted(RUN, spent), caps=BudgetCaps(nusd=500_000_000))
    assert "$0.0123 of $0.50" in line
    assert "900 tokens in (600 cached), 40 out" in line


def test_an_unknown_price_is_said_and_never_a_zero() -> None:
    (line,) = lines(RunStarted(RUN, RunProgress(2, 1, calls=3, unpriced_calls=3)))
    assert "price of 3 calls unknown" in line
    assert "$" not in line


def test_what_happens_on_the_way_is_told_in_words() -> None:
    progress = RunProgress(2, in_flight=3)
    assert lines(
        WayChanged(RUN, "schema", "tool", progress),
        ParameterRefused(RUN, "temperature", progress),
        StoreTroubled(RUN, "the disk is full\x1b[2J", progress),
        StoreTroubled(RUN, None, progress),
        Draining(RUN, progress),
    ) == [
        "a schema did not work with this judge; asking by a tool call from now on",
        "the model does not take temperature; it is not sent any more",
        "the disk is full␛[2J",
        "the store can be written again; going on",
        "waiting for 3 questions in flight; Ctrl-C again stops at once",
    ]


def test_thousands_of_attempts_made_again_are_not_thousands_of_lines() -> None:
    again = CallRetried(RUN, "claims", "JudgeRateLimited", 1.0, RunProgress(2))
    said = lines(*[replace(again, wait_s=float(n)) for n in range(1, 500)])
    assert said == ["claims: asked faster than the provider takes; asked again in 1.0 s"]
