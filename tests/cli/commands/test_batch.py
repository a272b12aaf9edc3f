"""Runs by batches from the command line."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.cli.commands.run import execution
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.engine.batch_provider import Provider, provider
from tests.engine.batches.test_files import serve
from tests.engine.building import conversation, store_with


@pytest.fixture
def someone() -> Iterator[Provider]:
    with provider("openai") as found:
        yield found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.db"
    store_with(path, [conversation("a", 2), conversation("b", 1)]).close()
    return path


def ordered(path: Path, someone: Provider, *words: str) -> tuple[str | Path, ...]:
    judge = ("--judge", "openai:w", "--base-url", someone.server.url)
    return ("run", "--store", path, *judge, "--batch", *words)


def test_a_run_is_submitted_left_and_resumed(cli: Cli, path: Path, someone: Provider) -> None:
    first = cli(*ordered(path, someone))
    assert first.code == 8
    assert "questions handed to the provider" in first.err
    assert "run 1 waits: 6 questions in 1 batch are with the provider" in first.err
    assert "come back with faithtui run --resume 1" in first.advice
    assert "waiting: 6 out" in cli("runs", "--store", path).out
    (shown,) = cli("runs", "--store", path, "--json").json
    assert (shown["state"], shown["questions_out"]) == ("waiting", 6)
    for _ in range(5):
        result = cli("run", "--store", path, "--resume", "1")
        assert result.code == (8 if "waits" in result.err else 0)
        if "waits" not in result.err:
            break
    assert result.code == 0
    assert "2 of 2 conversations judged" in result.out
    assert someone.sold_twice == []
    (shown,) = cli("runs", "--store", path, "--json").json
    assert (shown["state"], shown["questions_out"]) == ("done", 0)


def test_events_for_programs_tell_of_batches(cli: Cli, path: Path, someone: Provider) -> None:
    lines = cli(*ordered(path, someone, "--json")).out.splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["event"] for event in events] == ["RunStarted", "BatchSent", "RunEnded"]
    assert events[1]["questions"] == 6
    assert events[2]["state"] == "waiting"


def test_whoever_waits_for_one_run_is_not_told_to_come_back(
    cli: Cli, path: Path, someone: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "LOOK_S", 0.01)
    result = cli(*ordered(path, someone, "--wait"))
    assert result.code == 0
    assert "come back" not in result.out + result.err
    assert "run 1 waits: 6 questions in 1 batch are with the provider\n" in result.err
    assert "2 of 2 conversations judged" in result.out


@pytest.mark.thorough
def test_whoever_waits_is_shown_the_end(
    cli: Cli, path: Path, someone: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "LOOK_S", 0.01)
    someone.batches.polls_until_end = 2
    metrics = ("--metric", "turn-faithfulness", "--metric", "deepevalex-faithfulness")
    result = cli(*ordered(path, someone, *metrics, "--wait"))
    assert result.code == 0
    assert result.out.count("2 of 2 conversations judged") == 2
    assert someone.sold_twice == []
    assert len(someone.batches.batches) > 4


def test_a_conversation_that_failed_is_tried_again_only_when_all_is_back(
    cli: Cli, path: Path, someone: Provider
) -> None:
    refusal = {"error": {"message": "not that"}}
    someone.twist = lambda prompt: (400, refusal) if "Parcel b-0" in prompt else None
    cli(*ordered(path, someone))
    for _ in range(5):
        result = cli("run", "--store", path, "--resume", "1")
        if "waits" not in result.err:
            break
    assert result.code == 5
    assert "1 conversation failed" in result.err
    assert set(someone.asked.values()) == {1}, "while others were out, nothing was tried again"
    someone.twist = lambda prompt: None
    for _ in range(5):
        result = cli("run", "--store", path, "--resume", "1")
        if "waits" not in result.err:
            break
    assert result.code == 0
    assert someone.sold_twice == []


def test_what_is_out_is_listed_and_called_back(cli: Cli, path: Path, someone: Provider) -> None:
    assert cli("batch", "list", "--store", path).out == "no run has questions out\n"
    cli(*ordered(path, someone))
    listed = cli("batch", "list", "--store", path).out
    assert listed.splitlines()[1].split() == ["1", "openai:w", "1", "6", "0"]
    (shown,) = cli("batch", "list", "--store", path, "--json").json
    assert shown == {"run": 1, "batches": 1, "questions": 6, "in_files": 0}
    result = cli("batch", "cancel", "1", "--store", path)
    assert result.code == 0
    assert "6 questions called back" in result.out
    assert someone.batches.batches[0].cancelled
    cli("run", "--store", path, "--resume", "1")
    assert cli("batch", "cancel", "1", "--store", path, "--json").json["questions"] > 0
    someone.batches.batches.clear()
    cli("batch", "cancel", "1", "--store", path)
    assert cli("batch", "cancel", "1", "--store", path).out == "run 1 has nothing out\n"


def test_questions_go_into_files_and_answers_come_from_them(
    cli: Cli, path: Path, someone: Provider, tmp_path: Path
) -> None:
    result = cli("run", "--store", path, "--judge", "vllm:w", "--batch")
    assert result.code == 5
    assert "faithtui batch export 1 FILE" in result.advice
    for number in range(5):
        questions, answers = tmp_path / f"{number}.q", tmp_path / f"{number}.a"
        exported = cli("batch", "export", "last", questions, "--store", path)
        assert exported.code == 0
        if not questions.exists():
            break
        assert f" of run 1 in {questions}" in exported.out
        serve(questions, answers)
        imported = cli("batch", "import", "1", answers, "--store", path)
        assert imported.code == (8 if "waits" in imported.err else 0)
    assert imported.code == 0
    assert "run 1 has nothing to ask now: done" in exported.out
    assert "2 of 2 conversations finished" in imported.out
    with Store.open(path, create=False) as store:
        assert store.runs.read_run(store.runs.list_runs()[0].id).state is RunState.DONE


def test_lines_that_cannot_be_read_are_counted_and_the_first_is_named(
    cli: Cli, path: Path, tmp_path: Path
) -> None:
    cli("run", "--store", path, "--judge", "vllm:w", "--batch")
    shown = cli("batch", "export", "1", tmp_path / "q", "--store", path, "--json").json
    assert shown == {"run": 1, "questions": 6, "file": str(tmp_path / "q")}
    answers = serve(tmp_path / "q", tmp_path / "a")
    answers.write_text(answers.read_text() + "oops\n")
    result = cli("batch", "import", "1", answers, "--store", path)
    assert result.code == 3
    assert "run 1: 6 answers" in result.out
    assert "1 line refused; the first:" in result.err
    again = cli("batch", "import", "1", answers, "--store", path, "--json")
    assert again.json["passed_over"] == 6
    assert again.json["state"] == "waiting"


def test_judges_without_batches_are_refused_before_anything_begins(cli: Cli, path: Path) -> None:
    result = cli("run", "--store", path, "--judge", "offline", "--batch")
    assert result.code == 2
    assert "offline takes no batches" in result.err
    assert cli("runs", "--store", path, "--json").json == []
