import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.errors import JudgeError, JudgeRateLimited, JudgeUnavailable
from faithtui.judges.base import JudgeReply
from faithtui.judges.deadlines import Deadline, time_out_after
from faithtui.judges.providers.batches import open_batch_client
from faithtui.judges.registry import open_judge
from tests.judges.fault_server import (
    FaultConfig,
    FaultServer,
    Rule,
    fault_server,
    read_config,
    read_ledger,
)
from tests.judges.faults import Fault, status
from tests.judges.held_deadlines import HeldDeadlines
from tests.judges.questions import question


async def ask_all(
    url: str, count: int, *, repeat: int = 1, deadline: Deadline = time_out_after
) -> list[JudgeReply | JudgeError]:
    """Put so many questions at once, each so often in turn."""
    async with open_judge(
        "openai:m", base_url=url, environ={}, timeout_s=600.0, deadline=deadline
    ) as judge:

        async def one(number: int) -> list[JudgeReply | JudgeError]:
            results: list[JudgeReply | JudgeError] = []
            for _ in range(repeat):
                try:
                    results.append(await judge.send(question(f"{number}?")))
                except JudgeError as error:
                    results.append(error)
            return results

        return [
            each for results in await asyncio.gather(*map(one, range(count))) for each in results
        ]


def busy(**changes: object) -> Rule:
    return Rule((status(503),), **changes)  # type: ignore[arg-type]  # checked by the class


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        yield running


@pytest.mark.thorough
async def test_faults_come_at_their_rate_and_do_not_depend_on_time() -> None:
    kinds = []
    for _ in range(2):
        with fault_server(FaultConfig(rules=(busy(probability=0.2),), seed=7)) as server:
            await ask_all(server.url, 200)
            assert await asyncio.to_thread(server.wait_until_idle)  # answers come first
            kinds.append({entry.question: entry.kind for entry in server.entries})
            assert 20 <= server.kinds["status 503"] <= 60
    assert kinds[0] == kinds[1]


async def test_a_fault_may_be_for_some_attempts_alone(server: FaultServer) -> None:
    server.config.rules = (busy(attempts=(1, 3)),)
    results = await ask_all(server.url, 2, repeat=4)
    kinds = ["fault" if isinstance(each, JudgeUnavailable) else "reply" for each in results]
    assert kinds == ["fault", "reply", "fault", "reply"] * 2


async def test_a_fault_may_be_for_some_questions_alone(server: FaultServer) -> None:
    server.config.rules = (busy(contains="1?"),)
    results = await ask_all(server.url, 3)
    assert [isinstance(each, JudgeReply) for each in results] == [True, False, True]


async def test_a_fault_may_happen_so_often_in_all(server: FaultServer) -> None:
    server.config.rules = (busy(most=2), Rule((status(429),), most=1))
    await ask_all(server.url, 1, repeat=5)
    assert await asyncio.to_thread(server.wait_until_idle)  # answers come first
    assert [entry.kind for entry in server.entries] == [
        *["status 503"] * 2,
        "status 429",
        "ok",
        "ok",
    ]


async def test_a_rule_chooses_among_its_faults(server: FaultServer) -> None:
    server.config.rules = (Rule((status(500), status(502), Fault("empty_body"))),)
    await ask_all(server.url, 40)
    assert await asyncio.to_thread(server.wait_until_idle)  # answers come first
    assert set(server.kinds) == {"status 500", "status 502", "empty_body"}


async def test_more_than_the_server_takes_at_once_is_refused(server: FaultServer) -> None:
    server.config.max_in_flight = 4
    server.config.waits_for = 10
    server.config.cap_retry_after = "2"
    results = await ask_all(server.url, 10)
    assert await asyncio.to_thread(server.wait_until_idle)  # answers come first
    refused = [each for each in results if isinstance(each, JudgeRateLimited)]
    assert len(refused) == 6
    assert {each.retry_after_s for each in refused} == {2.0}
    assert server.kinds == {"ok": 4, "capped": 6}


async def test_more_than_the_server_takes_in_a_second_is_refused() -> None:
    seconds = [7.0]
    with fault_server(FaultConfig(per_second=5), clock=lambda: seconds[0]) as server:
        await ask_all(server.url, 9)
        assert await asyncio.to_thread(server.wait_until_idle)  # answers come first
        assert server.kinds == {"ok": 5, "capped": 4}
        seconds[0] += 1
        await ask_all(server.url, 3)
        assert await asyncio.to_thread(server.wait_until_idle)  # answers come first
        assert server.kinds == {"ok": 8, "capped": 4}


async def test_latency_is_that_of_answers(server: FaultServer) -> None:
    server.config.latency_s = 0.1
    server.config.jitter_s = 0.1
    started = time.monotonic()
    (result,) = await ask_all(server.url, 1)
    assert time.monotonic() - started >= 0.1
    assert isinstance(result, JudgeReply)


async def test_headers_go_with_every_answer(server: FaultServer) -> None:
    server.config.headers = {"x-ratelimit-limit-requests": "600"}
    (result,) = await ask_all(server.url, 1)
    assert isinstance(result, JudgeReply)
    assert result.limits.requests_per_minute == 600


async def test_the_server_may_stop_answering(server: FaultServer) -> None:
    server.config.answers_no_more_than = 3
    deadlines = HeldDeadlines()
    expiring = asyncio.create_task(deadlines.expire_when_stuck(server))
    results = await ask_all(server.url, 5, deadline=deadlines)
    expiring.cancel()
    assert await asyncio.to_thread(server.wait_for, 3)  # answers come first
    assert sum(isinstance(each, JudgeReply) for each in results) == 3
    assert server.billed.total() == 3


async def test_an_answer_nobody_waited_for_is_billed_and_not_delivered(server: FaultServer) -> None:
    server.config.waits_for = 2
    asking = asyncio.create_task(ask_all(server.url, 1))
    assert await asyncio.to_thread(server.wait_for_request, 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await ask_all(server.url, 2)
    assert await asyncio.to_thread(server.wait_for, 3)
    entry = next(entry for entry in server.entries if entry.n == 1)
    assert (entry.billed, entry.delivered) == (True, False)


async def test_the_ledger_is_written_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with fault_server(FaultConfig(rules=(busy(attempts=(1,)),)), ledger=path) as server:
        await ask_all(server.url, 3, repeat=2)
        assert await asyncio.to_thread(server.wait_until_idle)  # answers come first
        written = read_ledger(path)
        assert written == server.entries
    assert [entry.billed for entry in written].count(True) == 3
    assert {entry.n for entry in written} == set(range(1, 7))
    with path.open("a") as ledger:
        ledger.write('{"n": 7, "at"')
    assert read_ledger(path) == written


async def test_batches_are_answered_with_the_same_words(server: FaultServer) -> None:
    asked = [(f"q{number}", question(f"{number}?")) for number in range(3)]
    singly = {f"q{n}": each for n, each in enumerate(await ask_all(server.url, 3))}
    async with open_batch_client("openai:m", base_url=server.url, environ={}) as client:
        batch_id = await client.submit("run1", asked)
        while (await client.fetch_status(batch_id)).state == "working":
            pass
        results = {name: result async for name, result in client.stream_results(batch_id)}
    for name, reply in results.items():
        assert isinstance(reply, JudgeReply)
        single = singly[name]
        assert isinstance(single, JudgeReply)
        assert reply.text == single.text
    assert await asyncio.to_thread(server.wait_until_idle)  # answers come first
    assert server.kinds == {"ok": 6}


@pytest.mark.thorough
async def test_hundreds_of_connections_are_held_at_once(server: FaultServer) -> None:
    server.config.waits_for = 256
    results = await ask_all(server.url, 256)
    assert all(isinstance(each, JudgeReply) for each in results)
    assert server.most_in_flight == 256


async def test_a_path_nobody_serves_is_missing(server: FaultServer) -> None:
    async with open_judge("openai:m", base_url=f"{server.url}/other", environ={}) as judge:
        with pytest.raises(JudgeError, match="no route"):
            await judge.send(question())


def test_settings_are_read_from_json() -> None:
    config = read_config(
        json.dumps(
            {
                "seed": 3,
                "latency_s": 0.5,
                "knows": ["text"],
                "rules": [
                    {
                        "faults": [{"kind": "status", "status": 429, "retry_after": "1"}],
                        "probability": 0.2,
                        "attempts": [1],
                    }
                ],
            }
        )
    )
    rule = Rule((status(429, retry_after="1"),), probability=0.2, attempts=(1,))
    assert config == FaultConfig(rules=(rule,), seed=3, latency_s=0.5, knows=("text",))
    with pytest.raises(ValueError, match="no such fault: odd"):
        read_config('{"rules": [{"faults": [{"kind": "odd"}]}]}')


@pytest.mark.parametrize("how", ["signal", "orphaned"])
def test_it_runs_in_a_process_of_its_own(tmp_path: Path, how: str) -> None:
    path = tmp_path / "ledger.jsonl"
    command = [sys.executable, "-m", "tests.judges.fault_server", "--ledger", str(path)]
    config = json.dumps({"rules": [{"faults": [{"kind": "status"}], "attempts": [1]}]})
    with subprocess.Popen(
        [*command, "--config", config],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        port = int(process.stdout.readline())
        results = asyncio.run(ask_all(f"http://127.0.0.1:{port}", 2, repeat=2))
        if how == "signal":
            os.kill(process.pid, signal.SIGTERM)
        else:
            process.stdin.close()
        assert process.wait(10) == 0
    assert [isinstance(each, JudgeReply) for each in results] == [False, True] * 2
    assert len(read_ledger(path)) == 4


async def test_a_repair_is_another_try_of_the_same_question(server: FaultServer) -> None:
    server.config.rules = (Rule((Fault("empty_content"),), attempts=(1,)),)
    async with open_judge("openai:m", base_url=server.url, environ={}) as judge:
        first = await judge.send(question())
        again = f"{question().prompt}\n\nAn earlier answer could not be used: it was empty."
        second = await judge.send(replace(question(), prompt=again))
    assert first.text == ""
    assert second.text
