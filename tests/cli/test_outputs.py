"""Commands that write files: never onto a store, onto another file only when told to."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.store.store import Store
from tests.cli.conftest import Cli

WRITERS = {
    "export labels": ("export", "labels", "-o"),
    "export claims": ("export", "claims", "last", "-o"),
    "export parquet": ("export", "claims", "-f", "parquet", "-o"),
    "export langfuse": ("export", "langfuse", "-o"),
    "export examples": ("export", "examples", "last", "--all", "-o"),
    "gate": ("gate", "last", "--min-kappa", "0", "--among-labelled", "--write-certificate"),
    "doctor": ("doctor", "--offline", "--bundle"),
}
"""Commands that write a file whose name comes last."""


@pytest.fixture
def labelled(judged: Path) -> Path:
    with Store.open(judged) as store:
        for item in store.runs.list_item_ids(RunId(1)):
            for claim in store.runs.read_conversation_for_review(item, "ann").claims:
                store.label_log.record_verdict(claim.id, "ann", "no", run=RunId(1), saw_judge=False)
    return judged


FOLDER_WRITERS = {
    "report": ("report", "last", "-o"),
    "export dataset": ("export", "dataset", "last", "-o"),
    "measure": ("measure", "--judge", "offline", "data.jsonl", "-o"),
}
"""Commands that make a folder whose name comes last."""


@pytest.mark.parametrize("words", FOLDER_WRITERS.values(), ids=FOLDER_WRITERS)
@pytest.mark.parametrize("end", ["-journal", "-wal"])
def test_no_command_makes_a_folder_in_the_place_of_a_file_of_a_store(
    cli: Cli,
    labelled: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    end: str,
) -> None:
    """SQLite cannot open a database beside which such a name is taken by a folder."""
    monkeypatch.chdir(tmp_path)
    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    Path("data.jsonl").write_text(json.dumps({"turns": turns}))
    other = Path(shutil.copy(labelled, tmp_path / "other.db"))
    folder = other.with_name(other.name + end)
    store = () if words[0] == "measure" else ("--store", labelled)
    result = cli(*words, folder, *store)
    assert result.code == 7
    assert "is the name of a file of a store; choose another folder" in result.err
    assert not folder.exists()


@pytest.mark.parametrize("words", WRITERS.values(), ids=WRITERS)
def test_a_file_that_is_there_is_replaced_only_when_told_to(
    cli: Cli, labelled: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("mine")
    result = cli(*words, path, "--store", labelled)
    assert result.code in (3, 7)
    assert "is there already; name another file, or replace it with --force" in result.err
    assert path.read_text() == "mine"
    cli(*words, path, "--force", "--store", labelled)
    if words[0] != "gate":  # whose labels disagree with the judge
        assert path.read_bytes() != b"mine"


def test_a_report_replaces_its_own_files_and_no_store(
    cli: Cli, labelled: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert cli("report", "last", "-o", out, "--store", labelled).code == 0
    assert cli("report", "last", "-o", out, "--store", labelled).code == 0
    shutil.copy(labelled, out / "claims.csv")
    before = (out / "claims.csv").read_bytes()
    result = cli("report", "last", "-o", out, "--store", labelled)
    assert result.code == 7
    assert "never overwritten" in result.err
    assert (out / "claims.csv").read_bytes() == before


def test_whatever_holds_texts_is_its_owners_alone(cli: Cli, labelled: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        out = tmp_path / "deep" / "out"
        cli("report", "last", "-o", out, "--store", labelled)
        cli("export", "labels", "-o", tmp_path / "labels.jsonl", "--store", labelled)
        cli("doctor", "--offline", "--bundle", tmp_path / "bundle.zip", "--store", labelled)
    finally:
        os.umask(before)
    made = [*out.iterdir(), tmp_path / "labels.jsonl", tmp_path / "bundle.zip"]
    assert {each.stat().st_mode & 0o777 for each in made} == {0o600}
    assert {each.stat().st_mode & 0o777 for each in (out, out.parent)} == {0o700}


def test_a_report_is_written_whole_or_not_at_all(cli: Cli, judged: Path, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "claims.csv").symlink_to(judged)
    refused = cli("report", "last", "-o", folder, "--store", judged)
    assert refused.code == 7
    assert "claims.csv is a store" in refused.err
    assert "choose another directory with -o" in refused.err
    assert [each.name for each in folder.iterdir()] == ["claims.csv"]


def test_a_dash_is_stdout(cli: Cli, judged: Path, tmp_path: Path) -> None:
    plain = cli("export", "labels", "--store", judged)
    dashed = cli("export", "labels", "-o", "-", "--store", judged)
    assert (dashed.code, dashed.out) == (0, plain.out)


@pytest.mark.thorough
def test_an_open_pipe_is_written_to_by_its_name(judged: Path) -> None:
    words = ["--store", str(judged), "export", "labels", "-o", "/dev/stdout"]
    done = subprocess.run(
        [sys.executable, "-m", "faithtui", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()[:1]] == [
        "faithtui-labels"
    ]
    assert "/dev/stdout" not in done.stdout


def test_a_report_by_metadata_reads_every_key(cli: Cli, judged: Path) -> None:
    result = cli("report", "last", "--by", "model", "--by", "tags", "--store", judged)
    assert (result.code, result.err) == (
        2,
        "error: no conversation of run 1 came with metadata, so nothing has a `model`\n",
    )
