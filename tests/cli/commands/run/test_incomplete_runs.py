"""Runs that did not come to their end, from the command line: what is said, and the exit code."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.cli.run_outcome import choose_exit_code, choose_gravest_code
from faithtui.domain.ids import RunId
from faithtui.domain.judging.failure_limit import FailureLimit
from faithtui.engine.runs import runner
from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.engine.building import CountingJudge, conversation, opened, planned, store_with
from tests.engine.faulty_runs import filled
from tests.judges.fault_server import FaultServer, Rule, fault_server
from tests.judges.faults import Fault

CONVERSATIONS = 4
PROVED = Rule((Fault("extra_fields"),), most=3)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        yield running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.db"
    filled(path, CONVERSATIONS).close()
    return path


def ordered(path: Path, server: FaultServer, *words: str) -> tuple[str | Path, ...]:
    judge = ("--judge", "openai:m", "--base-url", server.url, "--option", "include_reason=false")
    return ("run", "--store", path, *judge, *words)


def claim_of(cli: Cli, path: Path) -> str:
    """Name the last claim of the third conversation of the first run."""
    (*_, last) = cli("show", "1", "3", "--store", path, "--json").json["claims"]
    return str(last["text"])


def test_a_missing_verdict_is_told_everywhere_and_filled_in_by_resuming(
    cli: Cli, tmp_path: Path, path: Path, server: FaultServer
) -> None:
    sound = tmp_path / "sound.db"
    filled(sound, CONVERSATIONS).close()
    assert cli(*ordered(sound, server)).code == 0
    claim = claim_of(cli, sound)
    server.config.rules = (PROVED, Rule((Fault("missing_verdict"),), contains=claim))
    ran = cli(*ordered(path, server))
    assert ran.code == 5
    assert "3 of 4 conversations scored, 1 claim without a verdict" in ran.out
    assert "4 of 4 conversations judged" not in ran.out
    sentence = "run 1 is incomplete: 1 claim without a verdict; see faithtui show 1, ask for it"
    assert sentence in ran.advice
    assert "faithtui run --resume 1" in ran.advice
    (row,) = cli("runs", "--json", "--store", path).json
    assert (row["state"], row["incomplete"], row["missing_verdicts"]) == ("done", 1, 1)
    listed = cli("runs", "--store", path)
    assert sentence in listed.advice
    assert "incomplete" in listed.out.splitlines()[1].split()
    shown = cli("show", "1", "--store", path)
    assert sentence in shown.advice
    assert [line.split()[2] for line in shown.out.splitlines()[1:]].count("incomplete") == 1
    server.config.rules = ()
    before = len(server.entries)
    resumed = cli("run", "--resume", "1", "--store", path)
    assert resumed.code == 0
    assert "4 of 4 conversations judged" in resumed.out
    assert len(server.entries) - before == 1
    assert cli("runs", "--store", path).err == ""


def test_a_run_that_fails_alike_stops_and_says_how_to_go_on(
    cli: Cli, path: Path, server: FaultServer
) -> None:
    server.config.rules = (Rule((Fault("refusal"),)),)
    stopped = cli(*ordered(path, server, "--max-failures", "2"))
    assert stopped.code == 5
    assert "run 1 stopped: 2 questions in a row failed in the same way" in stopped.err
    assert "--max-failures" in stopped.err
    again = cli("run", "--resume", "1", "--max-failures", "100%", "--store", path)
    assert again.code == 5
    assert f"{CONVERSATIONS} conversations failed" in again.err
    with Store.open(path, create=False) as store:
        assert store.runs.read_run(RunId(1)).spec.max_failures == FailureLimit(share=1.0)
    server.config.rules = ()
    assert cli("run", "--resume", "1", "--store", path).code == 0


def test_a_limit_of_failures_is_a_number_or_a_share(
    cli: Cli, path: Path, server: FaultServer, tmp_path: Path
) -> None:
    refused = cli(*ordered(path, server, "--max-failures", "many"))
    assert (refused.code, refused.out) == (2, "")
    assert "--max-failures is `many`; expected a number from 1" in refused.err
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "config.toml").write_text('max_failures = "3%"\n')
    assert cli(*ordered(path, server)).code == 0
    with Store.open(path, create=False) as store:
        assert store.runs.read_run(RunId(1)).spec.max_failures == FailureLimit(share=0.03)


def test_a_killed_run_is_not_shown_as_running(cli: Cli, path: Path) -> None:
    with Store.open(path, create=False) as store:
        store.runs.set_state(planned(store), RunState.RUNNING)
    (row,) = cli("runs", "--json", "--store", path).json
    assert row["state"] == "interrupted"
    listed = cli("runs", "--store", path)
    assert "interrupted" in listed.out
    sentence = "run 1 was interrupted: its process ended without finishing it"
    assert sentence in listed.advice
    assert "faithtui run --resume 1 resumes it" in listed.advice
    assert sentence in cli("show", "1", "--store", path).err
    assert cli("run", "--resume", "1", "--store", path).code == 0
    assert cli("runs", "--store", path).err == ""


def test_what_is_incomplete_counts_more_than_what_waits() -> None:
    assert choose_gravest_code([0, 8, 5]) == 5
    assert choose_gravest_code([0, 8]) == 8
    assert choose_gravest_code([0]) == 0


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (RunState.DONE, 0),
        (RunState.WAITING, 8),
        (RunState.STOPPED, 5),
        (RunState.CANCELLED, 5),
        (RunState.PLANNED, 5),
    ],
)
def test_a_run_ends_with_the_code_of_its_state(path: Path, state: RunState, code: int) -> None:
    with Store.open(path, create=False) as store:
        run = planned(store)
        store.runs.set_state(run, state, "so")
        assert choose_exit_code(store.runs.read_run(run)) == code


def test_what_would_fail_again_is_not_advised_to_be_asked_again(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with store_with(path, [conversation(name) for name in "abc"]) as store:
        run = planned(store)
        for item in store.runs.list_item_ids(run):
            reason = "ImagesNotSupported: the judge takes no images; choose another judge"
            store.runs.score_and_finish_item(item, ItemState.FAILED, reason)
        store.runs.set_state(run, RunState.DONE)
    shown = cli("show", run, "--store", path)
    assert "3 conversations failed; see faithtui show 1. Asking again would change" in shown.advice
    assert "--resume" not in shown.err
    assert "the judge takes no images" in shown.out
    assert "ImagesNotSupported" not in shown.out + cli("show", run, "2", "--store", path).out
    with Store.open(path) as store:
        item = store.runs.list_item_ids(run)[0]
        store.runs.score_and_finish_item(item, ItemState.FAILED, "JudgeTimeout: no answer in 60 s")
    again = cli("show", run, "--store", path)
    assert "ask for it again with faithtui run --resume 1; 2 would fail again" in again.advice


async def test_a_report_on_a_part_of_a_run_says_so(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with store_with(path, [conversation(name) for name in "abc"]) as store:
        run = planned(store)
        await runner.execute_run(store, run, lambda event: None, judge=opened(CountingJudge()))
        store.runs.set_state(run, RunState.CANCELLED)
        item = store.runs.list_item_ids(run)[1]
        store.runs.score_and_finish_item(item, ItemState.FAILED, "no")
        store.runs.reopen_failed_or_incomplete_items(run, [item])
        assert store.runs.read_run(run).pending == 1
    report = cli("report", run, "--store", path)
    assert report.code == 0
    assert "2 of 3 conversations are judged: run 1 is cancelled, and all figures" in report.out
    with Store.open(path) as store:
        store.runs.set_state(run, RunState.RUNNING)
    assert "run 1 is interrupted, and all" in cli("report", run, "--store", path).out
    gate = cli("gate", run, "--min-kappa", "0", "--store", path)
    assert gate.code == 3
    assert "is not finished (interrupted)" in gate.out + gate.err
