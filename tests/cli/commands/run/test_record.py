"""`faithtui run --record`: a recording answers as the judge did, without it."""

import json
from pathlib import Path

import pytest

from faithtui.engine.runs import runner
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import ExportError
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.judges.embedded.embedded_judge import OfflineJudge
from faithtui.judges.registry import make_judge_fingerprint
from faithtui.judges.replay_judge import ReplayJudge
from faithtui.judges.reply_recorder import ReplyRecorder
from faithtui.metrics.registry import METRICS
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.engine.building import conversation, opened, planned, store_with


class Stammering(OfflineJudge):
    """Says of every question at first what cannot be used."""

    ref = "offline"
    context_window = 4_000

    def __init__(self) -> None:
        super().__init__()
        self._heard: set[str] = set()

    async def send(self, request: JudgeRequest) -> JudgeReply:
        if request.step not in self._heard:
            self._heard.add(request.step)
            return JudgeReply("well …")
        return await super().send(request)


def scores_of(cli: Cli, store: Path) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for run in cli("runs", "--json", "--store", store).json:
        found.setdefault(run["metric"], []).append((run["score"], run["claims"], run["state"]))
    return found


def test_every_metric_is_replayed_from_one_recording(cli: Cli, tmp_path: Path) -> None:
    store, file = tmp_path / "chats.db", tmp_path / "replies.jsonl"
    store_with(store, [conversation("a", 2), conversation("b", 1)]).close()
    done = cli("run", "--metric", "all", "--record", file, "--store", store)
    assert done.code == 0
    replayed = cli("run", "--metric", "all", "--judge", f"replay:{file}", "--store", store)
    assert replayed.code == 0, replayed.err
    found = scores_of(cli, store)
    assert len(found) == len(METRICS)
    for metric, (second, first) in found.items():
        assert second == first, metric
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert lines[0] == {
        "format": "faithtui-replies",
        "version": 1,
        "judge": "offline",
        "fingerprint": make_judge_fingerprint("offline"),
        "context_window": None,
    }
    assert file.stat().st_mode & 0o777 == 0o600
    assert "Q0?" not in file.read_text().partition("\n")[0]


def test_replies_of_the_store_are_recorded_too_and_a_recording_is_written_on(
    cli: Cli, tmp_path: Path
) -> None:
    store, file = tmp_path / "chats.db", tmp_path / "replies.jsonl"
    store_with(store, [conversation("a", 2)]).close()
    assert cli("run", "--store", store).code == 0
    assert cli("run", "--record", file, "--store", store).code == 0
    first = file.read_text()
    assert len(first.splitlines()) > 3
    assert (
        cli("run", "--record", file, "--metric", "ragas-faithfulness", "--store", store).code == 0
    )
    both = file.read_text()
    assert both.startswith(first)
    assert both.count("faithtui-replies") == 1
    assert cli("run", "--judge", f"replay:{file}", "--store", store).code == 0


async def test_what_was_repaired_is_replayed_at_once(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    with (
        store_with(tmp_path / "chats.db", [conversation("a", 1)]) as store,
        ReplyRecorder(file) as recorder,
    ):
        run = planned(store)
        await runner.execute_run(
            store,
            run,
            lambda event: None,
            judge=opened(Stammering()),
            environment=RunEnvironment(recorder=recorder),
        )
        first = store.runs.read_run(run)
    replay = ReplayJudge(file)
    assert replay.context_window == 4_000
    with store_with(tmp_path / "other.db", [conversation("a", 1)]) as store:
        run = planned(store)
        await runner.execute_run(store, run, lambda event: None, judge=opened(replay))
        second = store.runs.read_run(run)
    assert (second.score, second.claims, second.state) == (first.score, first.claims, first.state)
    assert second.calls < first.calls


@pytest.mark.parametrize("other", ["--batch", "--preview"])
def test_a_recording_needs_replies(cli: Cli, judged: Path, tmp_path: Path, other: str) -> None:
    file = tmp_path / "replies.jsonl"
    found = cli("run", other, "--record", file, "--store", judged)
    assert found.code == 2
    assert f"and {other} gets none" in found.err
    assert not file.exists()


def test_what_is_no_recording_is_never_written_on(cli: Cli, judged: Path, tmp_path: Path) -> None:
    notes, deep = tmp_path / "notes.txt", tmp_path / "deep.jsonl"
    notes.write_text("mine\n")
    deep.write_text("[" * 50_000)
    for path in (notes, deep):
        before = path.read_bytes()
        found = cli("run", "--record", path, "--store", judged)
        assert found.code == ExportError.exit_code
        assert "is there already and is no recording" in found.err
        assert path.read_bytes() == before
    found = cli("run", "--record", tmp_path / "none" / "r.jsonl", "--store", judged)
    assert "cannot be written" in found.err
    with Store.open(judged, create=False) as store:
        assert len(store.runs.list_runs()) == 1


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("linked", [False, True])
def test_no_recording_goes_into_a_store_or_a_file_beside_one(
    cli: Cli, judged: Path, tmp_path: Path, end: str, linked: bool
) -> None:
    path = judged.with_name(judged.name + end)
    if linked:
        path = tmp_path / "replies.jsonl"
        path.symlink_to(judged.name + end)
    found = cli("run", "--record", path, "--store", judged)
    assert found.code == ExportError.exit_code
    assert "is a store, or belongs to one; name another file for --record" in found.err
    with Store.open(judged, create=False) as store:
        assert len(store.runs.list_runs()) == 1
    assert not judged.with_name(judged.name + "-journal").exists()


def test_a_recording_of_a_later_version_is_refused(cli: Cli, judged: Path, tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text('{"format": "faithtui-replies", "version": 2}\n')
    found = cli("run", "--judge", f"replay:{file}", "--store", judged)
    assert found.code == 3
    assert "is a recording of version 2; expected 1" in found.err


def test_several_judges_are_not_recorded_together(cli: Cli, judged: Path, tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    words = ("--judge", "offline", "--judge", "openai:m", "--record", file, "--store", judged)
    found = cli("run", *words)
    assert found.code == 2
    assert "--record takes one judge" in found.err
    assert not file.exists()
    with Store.open(judged, create=False) as store:
        assert len(store.runs.list_runs()) == 1


def test_a_run_adds_nothing_to_the_recording_of_another_judge(
    cli: Cli, judged: Path, tmp_path: Path
) -> None:
    file = tmp_path / "replies.jsonl"
    with ReplyRecorder(file) as recorder:
        recorder.record_judge_of_next_replies("openai:m1", "m1 at t=0", None)
    before = file.read_bytes()
    for more in ((), ("--resume", "1")):
        found = cli("run", *more, "--record", file, "--store", judged)
        assert found.code == ExportError.exit_code
        # No run was begun that could be resumed.
        assert found.err == f"error: {file} is a recording of openai:m1; name another file\n"
        assert file.read_bytes() == before
    with Store.open(judged, create=False) as store:
        assert [each.state for each in store.runs.list_runs()] == [RunState.DONE]
