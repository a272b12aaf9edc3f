"""Every option and argument of the command line that names a file to write, found from itself."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import typer.main

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign
from faithtui.cli.main import app
from faithtui.domain.ids import RunId
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.store.runs.test_run_designs import drawn, label, sampled

CONVERSATION = (
    '{"turns": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}'
)
WRITERS: Mapping[tuple[str, str], str] = {
    ("backup", "file"): "backup OUT",
    ("batch export", "file"): "batch export 2 OUT",
    ("claim-set export", "output"): "claim-set export shop -o OUT",
    ("doctor", "bundle"): "doctor --offline --bundle OUT",
    ("doctor", "salvage"): "doctor --salvage OUT",
    ("export", "output"): "export labels -o OUT",
    ("gate", "write_certificate"): "gate 1 --min-kappa -1 --among-labelled --write-certificate OUT",
    ("measure", "output"): "measure --judge offline data.jsonl -o OUT",
    ("prompts export", "output"): "prompts export 1 -o OUT",
    ("report", "output"): "report 1 -o OUT",
    ("run", "record"): "run --judge offline --record OUT",
    ("trend", "svg"): "trend shop --svg OUT",
}
"""By command and parameter: a line that writes."""
KINDS = ("claims", "dataset", "langfuse", "examples", "ragas", "ragas-rows", "deepeval")
LINES = [*WRITERS.values(), *(f"export {kind} 1 -o OUT" for kind in KINDS)]
READERS = {
    ("backup", "restore"),
    ("batch import", "file"),
    ("claim-set import", "file"),
    ("delete import", "file"),
    ("figures", "files"),
    ("gate", "certificate"),
    ("import", "paths"),
    ("judge evaluate", "file"),
    ("measure", "prompts"),
    ("measure", "wave"),  # a folder that is there already
    ("merge", "files"),
    ("report", "probes"),
    ("run", "examples"),
    ("run", "prompts"),
}


def list_files_named(command: object, words: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Give command and parameter wherever one names a file that is not the store."""
    for name, each in getattr(command, "commands", {}).items():
        yield from list_files_named(each, (*words, name))
    for parameter in getattr(command, "params", ()):
        is_file = str(parameter.metavar or "").startswith(("FILE", "DIR", "NEW", "PATH"))
        if is_file and parameter.name != "store":
            yield " ".join(words), parameter.name


def test_no_parameter_that_names_a_file_is_forgotten() -> None:
    found = set(list_files_named(typer.main.get_command(app)))
    assert found == {*WRITERS, *READERS}


@pytest.fixture(scope="module")
def filled(judged_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = Path(shutil.copy(judged_once, tmp_path_factory.mktemp("filled") / "s.db"))
    with Store.open(path) as store:
        row = sampled(store, RunId(1), SamplePlan(SamplingDesign.SIMPLE, 1, 2))
        label(store, RunId(1), drawn(store, row))
        store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
    return path


def read_all(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


@pytest.mark.parametrize("line", LINES)
def test_no_output_goes_over_a_store_by_whatever_name(
    cli: Cli, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(tmp_path)
    Path("data.jsonl").write_text(CONVERSATION)
    path = Path(shutil.copy(filled, place / "s.db"))
    if line.startswith("batch"):
        cli("run", "--store", path, "--judge", "vllm:w", "--batch")
    shutil.copy(filled, place / "other.jsonl")
    (place / "link").symlink_to(path)
    os.link(path, place / "hard")
    store = () if line.startswith("measure") else ("--store", path)

    def write(target: Path, *more: str) -> tuple[int, str]:
        words = (str(target) if word == "OUT" else word for word in line.split())
        result = cli(*words, *more, *store)
        return result.code, result.err

    forced = ("--force",) if "--force" in cli(*line.split()[:2], "--help").out else ()
    before = read_all(place)
    for name in ("s.db", "s.db-wal", "link", "hard", "other.jsonl", "other.jsonl-wal"):
        code, said = write(place / name, *forced)
        assert code in (2, 3, 4, 7), (name, code, said)
        assert said.startswith("error: "), (name, said)
        assert not (place / "s.db-wal").exists()
        # What a run, a reply or a set left in the store itself is no export.
        after = read_all(place)
        assert after.keys() == before.keys(), name
        assert after["other.jsonl"] == before["other.jsonl"], name
        assert after["s.db"][:16] == b"SQLite format 3\x00", name
        with Store.open(path, create=False) as opened:
            assert opened.list_damage() == []
    code, said = write(tmp_path / "new.json")
    # Of three claims no certificate is written.
    assert code == 0 or "no certificate is written: not enough labels" in said, said
    assert (tmp_path / "new.json").exists() == (code == 0), "the line does write"


@pytest.mark.parametrize("line", ["report 1 -o", "export claims 1 -o", "backup"])
def test_a_file_or_folder_may_be_called_by_the_name_of_stdout(
    cli: Cli, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path(shutil.copy(filled, tmp_path / "s.db"))
    assert cli(*line.split(), "./-", "--store", path).code == 0
    assert (tmp_path / "-").exists()
    if line.startswith("report"):
        assert cli(*line.split(), "-/new", "--store", path).code == 0
        assert (tmp_path / "-" / "new" / "report.md").exists()


SLOW = ("batch", "doctor", "gate", "measure", "run")


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, marks=pytest.mark.thorough if line.startswith(SLOW) else ())
        for line in WRITERS.values()
    ],
)
def test_no_output_is_called_by_the_name_of_stdout(
    cli: Cli, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.jsonl").write_text(CONVERSATION)
    path = Path(shutil.copy(filled, tmp_path / "s.db"))
    store = () if line.startswith("measure") else ("--store", path)
    if line.startswith("batch"):
        cli("run", "--store", path, "--judge", "vllm:w", "--batch")
    result = cli(*line.replace("OUT", "-").split(), *store)
    if line.startswith(("export", "report")):
        assert (result.code, bool(result.out)) == (0, True)
    else:
        assert "error: nothing is written to stdout (-) here; name a" in result.err
        assert result.code in (3, 7)
    assert not Path("-").exists()
