"""Parameters of a judge in a run: sent, learned where refused, kept, shown, and no secret told."""

import asyncio
import json
import logging
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from faithtui.domain.judging.judge_profile import HIDDEN, JudgeProfile
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.reply_cache import MemoryReplyCache
from faithtui.engine.preview.run_preview import preview_requests, preview_runs
from faithtui.engine.review.reports.agreement_report import write_report
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.events import ParameterRefused, RunEvent
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import ConfigError, JudgeReplyTruncated
from faithtui.judges.base import JudgeReply, JudgeRequest, StopReason
from faithtui.logbook import open_log
from faithtui.metrics.prompt_texts import load_prompts
from faithtui.metrics.questions import STEPS, make_pooled_claims_question
from faithtui.store.records import RunState
from faithtui.store.runs.startup_list import read_startup_runs
from tests.engine.building import CountingJudge, conversation, store_with
from tests.judges.fake_server import AnsweringServer, answering_server

SECRET = "g4teway-secret-value"
PROFILE = JudgeProfile(
    seed=7,
    max_tokens=900,
    extra_body={"top_k": 1},
    extra_headers={"X-Gateway-Key": "$GATEWAY"},
)
OTHER = JudgeProfile(temperature=0.7)


def request_for(server: AnsweringServer, profile: JudgeProfile = PROFILE) -> RunRequest:
    return RunRequest(judge="openai:m", base_url=server.url, profile=profile)


async def test_a_refusal_is_told_kept_and_not_repeated_by_a_later_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY", SECRET)
    logs = tmp_path / "logs"
    open_log(logs)
    file = tmp_path / "chats.db"
    with store_with(file, [conversation("a", 1)]) as store, answering_server() as server:
        server.refuses = "temperature"
        seen: list[RunEvent] = []
        run = run_planner.save_planned_run(store, request_for(server))
        assert await runner.execute_run(store, run, seen.append) is RunState.DONE
        assert [e.name for e in seen if isinstance(e, ParameterRefused)] == ["temperature"]
        assert ["temperature" in each for each in server.bodies] == [
            True,
            *[False] * (len(server.bodies) - 1),
        ]
        for body in server.bodies:
            assert (body["seed"], body["top_k"], body["max_tokens"]) == (7, 1, 900)
        row = store.runs.read_run(run)
        fingerprint = row.spec.judge_fingerprint
        assert store.calls.recall_refused_parameters(fingerprint) == ("temperature",)

        asked = len(server.bodies)
        store.conversations.import_batch([conversation("b", 1)])
        later = run_planner.save_planned_run(store, request_for(server))
        assert await runner.execute_run(store, later, lambda event: None) is RunState.DONE
        assert len(server.bodies) > asked
        assert not any("temperature" in each for each in server.bodies[asked:])
        asked = len(server.bodies)
        third = run_planner.save_planned_run(store, request_for(server))
        assert await runner.execute_run(store, third, lambda event: None) is RunState.DONE
        assert len(server.bodies) == asked, "all of it was answered before"

        told = "temperature 0 (refused by the model, not sent), seed 7, max_tokens 900, top_k 1, "
        told += "header X-Gateway-Key: $GATEWAY"
        now = datetime(2026, 11, 24, tzinfo=UTC)
        folder = tmp_path / "report"
        written = write_report(store, run, ("md", "json", "html"), folder, clock=lambda: now)
        report = json.loads(next(each for each in written if each.suffix == ".json").read_bytes())
        assert report["scope"]["runs"][0]["judge_parameters"] == told
        (page,) = [each for each in written if each.suffix == ".md"]
        assert f"Judge openai:m ({told})" in page.read_text(encoding="utf-8").replace("\\", "")
    logging.shutdown()
    assert_secret_is_nowhere(tmp_path)


def assert_secret_is_nowhere(folder: Path) -> None:
    files = [each for each in folder.rglob("*") if each.is_file()]
    assert len(files) > 4
    for each in files:
        assert SECRET.encode() not in each.read_bytes(), each


async def test_other_parameters_are_another_judge_whose_replies_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY", SECRET)
    chats = [conversation("a", 1)]
    with store_with(tmp_path / "chats.db", chats) as store, answering_server() as server:
        for profile in (PROFILE, OTHER):
            before = len(server.bodies)
            order = [request_for(server, profile)]
            (preview,) = await asyncio.to_thread(preview_requests, store, order)
            run = run_planner.save_planned_run(store, request_for(server, profile))
            await runner.execute_run(store, run, lambda event: None)
            assert len(server.bodies) > before
            assert preview.calls_stored == 0
        assert server.bodies[-1]["temperature"] == 0.7
        prints = {each.spec.judge_fingerprint for each in store.runs.list_runs()}
        assert len(prints) == 2


def change_run(file: Path, run: int, **columns: str) -> None:
    """Write a run as an earlier version stored it."""
    with closing(sqlite3.connect(file)) as raw, raw:
        for name, value in columns.items():
            raw.execute(f"UPDATE run SET {name} = ? WHERE id = ?", (value, run))


async def test_a_run_of_before_names_of_headers_were_folded_goes_on_and_buys_nothing_twice(
    tmp_path: Path,
) -> None:
    profile = JudgeProfile(extra_headers={"X-Team": "evals"})
    file = tmp_path / "chats.db"
    with store_with(file, [conversation("a", 1)]) as store, answering_server() as server:
        order = request_for(server, profile)
        runs = [run_planner.save_planned_run(store, order) for _ in range(2)]
        today = store.runs.read_run(runs[0]).spec.judge_fingerprint
        earlier = today.replace("x-team", "X-Team").replace('"temperature":0.0', '"temperature":0')
        assert earlier != today
        for run in runs:
            change_run(file, run, judge_fingerprint=earlier)
        assert await runner.execute_run(store, runs[0], lambda event: None) is RunState.DONE
        asked = len(server.bodies)
        assert asked
        # What is stored is looked up by what the run was begun with.
        (left,) = await asyncio.to_thread(preview_runs, store, runs[1:])
        assert (left.calls.value, left.calls_stored) == (0, asked)
        assert await runner.execute_run(store, runs[1], lambda event: None) is RunState.DONE
        assert len(server.bodies) == asked


async def test_a_run_that_was_stored_with_a_secret_is_read_without_it_and_not_asked(
    tmp_path: Path,
) -> None:
    file = tmp_path / "chats.db"
    with store_with(file, [conversation("a", 1)]) as store, answering_server() as server:
        run = run_planner.save_planned_run(store, request_for(server, JudgeProfile()))
        row = store.runs.read_run(run)
        body = {"metadata": {"api_key": SECRET, "team": "evals"}}
        identity = json.dumps({"extra_body": body}, separators=(",", ":"))
        change_run(
            file,
            run,
            profile=json.dumps({"extra_body": body}),
            judge_fingerprint=f"{row.spec.judge_fingerprint.partition(' parameters')[0]}"
            f" parameters={identity}",
        )
        read = store.runs.read_run(run)
        assert SECRET not in repr(read)
        assert read.spec.profile.extra_body == {"metadata": {"api_key": HIDDEN, "team": "evals"}}
        assert read_startup_runs(file) == store.runs.list_runs()
        with pytest.raises(ConfigError, match=r"hold a secret .*: api_key\. Start a new run"):
            await runner.execute_run(store, run, lambda event: None)
        assert server.bodies == []
        with pytest.raises(ConfigError, match="api_key"):
            run_planner.save_planned_run(store, request_for(server, read.spec.profile))


async def test_a_limit_of_tokens_that_was_set_is_never_raised() -> None:
    class Cut(CountingJudge):
        async def send(self, request: JudgeRequest) -> JudgeReply:
            self.asked.append(request)
            return JudgeReply('{"claims": [', StopReason.LENGTH)

    steps = {step: STEPS[step] for step in ("system", "pooled-claims")}
    question = make_pooled_claims_question(load_prompts("shared", steps, None), [], [])
    judge = Cut()
    asker = Asker(judge, MemoryReplyCache(), answer_limit=900)
    with pytest.raises(JudgeReplyTruncated, match="was set to 900; set max_tokens higher"):
        await asker.ask(question, None)
    assert [each.max_tokens for each in judge.asked] == [900]


def test_a_header_without_its_variable_is_told_before_the_run(tmp_path: Path) -> None:
    with store_with(tmp_path / "chats.db", [conversation("a", 1)]) as store:
        request = RunRequest(judge="openai:m", profile=PROFILE)
        with pytest.raises(ConfigError, match="GATEWAY, which is not set"):
            run_planner.save_planned_run(store, request, environ={"OPENAI_API_KEY": "k"})
        assert store.runs.list_runs() == ()
