"""`faithtui prompts`: what runs ask with, also after their folder changed."""

import json
from pathlib import Path

import pytest

from faithtui.errors import ConfigError, ExportError
from tests.cli.conftest import Cli
from tests.engine.building import conversation, planned, store_with

OWN = "Why? $score $success $reasons\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with two runs: by the program's prompts, and by a folder that is gone since."""
    file = tmp_path / "chats.db"
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "final-reason.txt").write_text(OWN, encoding="utf-8")
    with store_with(file, [conversation("a", 1)]) as store:
        planned(store)
        planned(store, prompts_dir=folder)
    (folder / "final-reason.txt").unlink()
    return file


def test_texts_are_listed_with_the_runs_that_send_them(cli: Cli, path: Path) -> None:
    done = cli("prompts", "list", "--store", path, "--json")
    found = json.loads(done.out)
    ours = [each for each in found if each["metric"] == "turn-faithfulness"]
    assert [(each["runs"], each["packaged"], each["version"]) for each in ours] == [
        ([2], False, 2),
        ([1], True, 2),
    ]
    assert {each["metric"] for each in found if not each["runs"]} == {
        "turn-contextual-relevancy",
        "ragas-faithfulness",
        "llamaindex-faithfulness",
        "deepevalex-faithfulness",
    }
    assert "turn-faithfulness" in cli("prompts", "list", "--store", path).out


def test_a_text_is_printed_as_it_was_sent(cli: Cli, path: Path) -> None:
    done = cli("prompts", "show", "2", "--step", "final-reason", "--store", path)
    assert done.out == OWN
    whole = json.loads(cli("prompts", "show", "2", "--store", path, "--json").out)
    assert whole["texts"]["final-reason"] == OWN
    assert "== evidence\n" in cli("prompts", "show", "2", "--store", path).out
    done = cli("prompts", "show", "2", "--step", "nothing", "--store", path)
    assert done.code == ConfigError.exit_code
    assert "it has system, truths" in done.err


def test_what_is_exported_is_what_a_run_reads_again(cli: Cli, path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert cli("prompts", "export", "2", "-o", folder, "--store", path).code == 0
    assert (folder / "turn-faithfulness" / "final-reason.txt").read_text(encoding="utf-8") == OWN
    with store_with(path, []) as store:
        again = planned(store, prompts_dir=folder)
        digests = {store.runs.read_run(each).spec.prompt_digest for each in (again, 2)}  # type: ignore[arg-type]  # a number
    assert len(digests) == 1
    assert cli("prompts", "export", "2", "-o", folder, "--store", path).code == (
        ExportError.exit_code
    )


def test_two_runs_are_compared_text_by_text(cli: Cli, path: Path) -> None:
    done = cli("prompts", "diff", "1", "2", "--store", path)
    assert "--- run 1: turn-faithfulness/final-reason" in done.out
    assert f"+{OWN}" in done.out
    assert "evidence" not in done.out
    said = json.loads(cli("prompts", "diff", "1", "2", "--store", path, "--json").out)
    assert said["changed"] == ["final-reason"]
    same = cli("prompts", "diff", "1", "1", "--store", path)
    assert (same.out, same.err) == ("", "runs 1 and 1 send the same texts\n")


def test_of_an_imported_run_no_prompts_are_known(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "imported.db"
    file = Path(__file__).parents[3] / "fixtures/real_formats/llamaindex_evaluation_results.json"
    assert cli("--store", path, "import", file).code == 0
    said = "run 1 was imported: nothing was asked, its prompts and parameters are not known"
    assert said in cli("--store", path, "prompts", "show", "1").err
    assert said in cli("--store", path, "prompts", "diff", "1", "1").err
    listed = cli("--store", path, "prompts", "list").out.splitlines()[1]
    assert listed.split() == [
        "not",
        "known",
        "llamaindex-faithfulness",
        "1",
        "imported",
        "verdicts",
    ]
    done = cli("--store", path, "run", "--resume", "1")
    assert (done.code, said in done.err) == (ConfigError.exit_code, True)
