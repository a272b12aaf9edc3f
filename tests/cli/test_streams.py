"""Closed and full standard streams, with real processes: an orderly end and the right code."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from faithtui.cli.streams import READER_GONE
from faithtui.engine.runs import runner
from faithtui.errors import ExportError
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.engine.building import planned
from tests.engine.faulty_runs import STEPS, environment, filled
from tests.judges.fault_server import FaultConfig, FaultServer, fault_server

CONVERSATIONS = 2
BROKEN = 3
"""Of `gate`, whose codes below say what it found."""
CANNOT = "error: cannot write to standard output: "
FULL = Path("/dev/full")

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="there is no full device here")

COMMANDS = [
    "--version",
    "--help",
    "run --help",
    "runs",
    "runs --json",
    "show 1",
    "show 1 --json",
    "metrics",
    "keys",
    "check 1",
    "report 1",
    "export labels",
    "export examples",
    "guideline show",
    "split show",
    "gate 1 --min-kappa 0.6",
    "doctor --offline",
    "judge list",
    "judge about",
    "judge test",
    "judge recalibrate",
    "batch list",
    "run --preview",
    "run",
    "run --json",
    "archive 1",
    "import make_conversations.jsonl",
    "import make_conversations.jsonl --json",
    "merge labels.jsonl",
    "figures chats.jsonl",
    "label 1 --plain --order text",
    "label 1 --plain --order text --json",
    "demo --no-app",
    "nonsense",
]


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str
    census: Mapping[str, int]
    """Rows of its store afterwards."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a judged store."""
    folder = tmp_path_factory.mktemp("streams")
    with filled(folder / "s.db", CONVERSATIONS) as store:
        asyncio.run(runner.execute_run(store, planned(store), lambda event: None))
    return folder


@pytest.fixture(scope="module")
def home_with_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a judged store, files to import, and somebody's labels."""
    folder = tmp_path_factory.mktemp("streams")
    filled(folder / "s.db", CONVERSATIONS).close()
    shutil.copy(next(Path("fixtures/demo").glob("*conversations.jsonl")), folder / "all.jsonl")
    lines = (folder / "all.jsonl").read_text().splitlines(keepends=True)
    (folder / "chats.jsonl").write_text("".join(lines[:2]))
    run_to_its_end(folder, ["run"])
    run_to_its_end(folder, ["label", "1", "--plain", "--order", "text"], "y\ny\nq\n")
    labels = run_to_its_end(folder, ["export", "labels"]).stdout
    (folder / "labels.jsonl").write_text(labels)
    return folder


def command(store: Path, words: list[str]) -> list[str]:
    return [sys.executable, "-m", "faithtui", "--store", str(store), *words]


def run_to_its_end(
    folder: Path, words: list[str], typed: str = ""
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command(folder / "s.db", words),
        env=environment(folder / "home"),
        cwd=folder,
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def closed(number: int) -> Callable[[], None]:
    return lambda: os.close(number)


def start(folder: Path, words: list[str], way: str, stack: ExitStack) -> Any:
    """Start a command with a store of its own and its streams as the way says."""
    own = folder / way.replace(" ", "-") / str(abs(hash(tuple(words))))
    own.mkdir(parents=True)
    for name in ("s.db", "chats.jsonl", "labels.jsonl"):
        shutil.copy(folder / name, own / name)
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    streams["stdout"] = subprocess.PIPE
    match way:
        case "reader gone":
            reader, writer = os.pipe()
            os.close(reader)
            stack.callback(os.close, writer)
            streams["stdout"] = writer
        case "full":
            streams["stdout"] = stack.enter_context(FULL.open("wb"))
        case "full talk":
            streams["stderr"] = stack.enter_context(FULL.open("wb"))
        case "no stdout":
            streams |= {"stdout": None, "preexec_fn": closed(1)}
        case "no stderr":
            streams |= {"stderr": None, "preexec_fn": closed(2)}
        case "no stdin":
            streams |= {"stdin": None, "preexec_fn": closed(0)}
    process = subprocess.Popen(
        command(own / "s.db", words), env=environment(own / "home"), cwd=own, text=True, **streams
    )
    return process, own


def ended(process: Any, own: Path) -> Ended:
    out, err = process.communicate()
    with Store.open(own / "s.db", create=False) as store:
        assert store.list_damage() == []
        return Ended(process.returncode, out or "", err or "", store.count_rows())


WAYS = ("plain", "reader gone", "full", "no stdout", "no stderr", "no stdin", "full talk")


@pytest.mark.thorough
@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_ends_in_order_whatever_becomes_of_its_streams(
    home_with_files: Path, line: str
) -> None:
    words = line.split()
    with ExitStack() as stack:
        started = {way: start(home_with_files, words, way, stack) for way in WAYS}
        found = {way: ended(*each) for way, each in started.items()}
    plain = found["plain"]
    for way, each in found.items():
        assert "Traceback" not in each.err, (way, each.err)
        assert "ignored" not in each.err, (way, each.err)
        # In an order of its own, a run that stopped early may have written less.
        assert each.census == plain.census or words[0] in ("run", "label"), way
    for way in ("no stderr", "no stdin", "full talk"):
        assert (found[way].code, bool(found[way].out)) == (plain.code, bool(plain.out)), way
    if not plain.out:
        assert {each.code for each in found.values()} == {plain.code}
        return
    is_gate = words[0] == "gate"
    assert found["reader gone"].code == (plain.code if is_gate else READER_GONE)
    assert "error" not in found["reader gone"].err
    for way, why in (("full", "No space left on device"), ("no stdout", "it is closed")):
        assert found[way].code == (BROKEN if is_gate else ExportError.exit_code), way
        assert found[way].err.count(CANNOT + why) == 1


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server(FaultConfig(latency_s=0.05)) as running:
        yield running


@pytest.mark.parametrize("way", ["reader gone", "full", "no stdout"])
def test_a_run_whose_events_nobody_takes_loses_no_answer(
    tmp_path: Path, server: FaultServer, way: str
) -> None:
    for name in ("chats.jsonl", "labels.jsonl"):
        (tmp_path / name).touch()
    chats = 8
    filled(tmp_path / "s.db", chats).close()
    words = ["run", "--judge", "openai:m", "--base-url", server.url, "--json"]
    words += ["--concurrency", "6", "--option", "include_reason=false"]
    with ExitStack() as stack:
        process, own = start(tmp_path, words, way, stack)
        stopped = ended(process, own)
    assert stopped.code == (READER_GONE if way == "reader gone" else ExportError.exit_code)
    assert "run 1 stopped; what is stored stays: faithtui --store " in stopped.err
    again = subprocess.run(
        command(own / "s.db", ["run", "--resume", "1"]),
        env=environment(own / "home"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    assert set(server.billed.values()) == {1}
    assert len(server.billed) == chats * STEPS
    with Store.open(own / "s.db", create=False) as store:
        (row,) = store.runs.list_runs()
        assert (row.state, row.done) == (RunState.DONE, chats)


@pytest.mark.thorough
def test_a_reader_that_takes_one_line_gets_it(home: Path) -> None:
    words = " ".join(command(home / "s.db", ["show", "1", "--json"]))
    shown = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{words} | head -c 1"],
        env=environment(home / "home"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert len(shown.stdout) == 1
    assert shown.stderr == ""


@pytest.mark.thorough
def test_labels_given_before_the_reader_went_stay_and_no_other_is_given(home: Path) -> None:
    """The answer is there before its receipt, so it is kept whether the receipt arrives or not."""
    own = home / "labelled"
    own.mkdir()
    shutil.copy(home / "s.db", own / "s.db")
    process = subprocess.Popen(
        command(own / "s.db", ["label", "1", "--plain", "--order", "text", "--json"]),
        env=environment(own / "home") | {"FAITHTUI_REVIEWER": "zoe"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    while json.loads(process.stdout.readline())["event"] != "claim":
        pass
    process.stdout.close()
    process.stdin.write("y\nn\nn\nn\n")
    process.stdin.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() == READER_GONE
    assert said == ""
    with Store.open(own / "s.db", create=False) as store:
        assert store.list_damage() == []
        items = store.runs.list_item_ids(store.runs.list_runs()[0].id)
        views = [store.runs.read_conversation_for_review(item, "zoe") for item in items]
    given = [claim.human for view in views for claim in view.claims if claim.human is not None]
    assert set(given) == {"yes"}, "equal claims share a label, and no other answer was read"


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("guideline set -", 3, "error: "),
        ("judge key set openai", 2, "error: the key for OPENAI_API_KEY is empty"),
        ("judge recalibrate --apply", 2, "error: "),
        ("label 1 --order text", 2, "error: the app needs a terminal"),
        ("", 2, "error: the app needs a terminal"),
    ],
)
def test_a_closed_stdin_is_an_empty_one(home: Path, line: str, code: int, said: str) -> None:
    own = home / f"in-{abs(hash(line))}"
    own.mkdir()
    shutil.copy(home / "s.db", own / "s.db")
    empty, none = (
        subprocess.run(
            command(own / "s.db", line.split()),
            env=environment(own / "home"),
            capture_output=True,
            text=True,
            check=False,
            **streams,
        )
        for streams in ({"stdin": subprocess.DEVNULL}, {"preexec_fn": closed(0)})
    )
    assert (empty.returncode, empty.stdout, empty.stderr) == (
        none.returncode,
        none.stdout,
        none.stderr,
    )
    assert "Traceback" not in none.stderr
    assert none.stderr.startswith(said)
    assert none.returncode == code


@pytest.mark.thorough
def test_no_file_takes_the_number_of_a_closed_stream(home: Path) -> None:
    """Else what is printed would be written into the store."""
    own = home / "all-closed"
    own.mkdir()
    shutil.copy(home / "s.db", own / "s.db")
    done = subprocess.run(
        command(own / "s.db", ["archive", "1"]),
        env=environment(own / "home"),
        preexec_fn=lambda: os.closerange(0, 3),
        check=False,
    )
    assert done.returncode == ExportError.exit_code
    with Store.open(own / "s.db", create=False) as store:
        assert store.list_damage() == []
        assert [row.archived_at is not None for row in store.runs.list_runs()] == [True]


def test_in_this_process_nothing_is_wrapped(cli: Cli) -> None:
    assert cli("metrics").code == 0
