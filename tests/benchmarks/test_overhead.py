"""What the engine adds to a provider that takes two seconds, and how it finds a provider's limits.

Everything goes through the SDK over real HTTP to a provider in a process of its own. Shorter by the
environment: OVERHEAD_ROUNDS, the calls of each place.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.request import RunRequest
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.benchmarks.faulty import ROOT, provider
from tests.benchmarks.measuring import environment, table
from tests.engine.building import conversation, store_with

LATENCY_S = 2.0
ROUNDS = int(os.environ.get("OVERHEAD_ROUNDS", "48"))
STEPS = 3
LONG_QUEUE = 50_000
ENOUGH = 500
"""Conversations of them that are judged before it is looked at."""


def order(url: str, concurrency: int) -> RunRequest:
    return RunRequest(
        judge="openai:m",
        base_url=url,
        concurrency=concurrency,
        options={"include_reason": "false"},
    )


def judged(store: Store, url: str, concurrency: int) -> tuple[int, float, float]:
    """Run over everything; give the calls, the seconds it took and those of the processor."""
    run = run_planner.save_planned_run(store, order(url, concurrency), environ={})
    cpu = resource.getrusage(resource.RUSAGE_SELF)
    began = time.monotonic()
    state = asyncio.run(runner.execute_run(store, run, lambda event: None))
    took_s = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert state is RunState.DONE
    row = store.runs.read_run(run)
    assert row.failed == 0
    used_s = after.ru_utime + after.ru_stime - cpu.ru_utime - cpu.ru_stime
    return row.calls, took_s, used_s


@pytest.mark.parametrize("concurrency", [16, 64, 256])
def test_the_engine_against_calls_times_latency_over_places(
    tmp_path: Path, concurrency: int
) -> None:
    # A run of a few calls per place is mostly its own beginning and end.
    chats = [conversation(f"c{n}", 1) for n in range(ROUNDS * concurrency // STEPS)]
    with (
        provider({"latency_s": LATENCY_S}) as url,
        store_with(tmp_path / "s.db", chats) as store,
    ):
        calls, took_s, used_s = judged(store, url, concurrency)
    bound_s = calls * LATENCY_S / concurrency
    table(
        f"{concurrency} in flight, {LATENCY_S:.0f} s an answer",
        ("calls", "bound", "took", "to bound", "CPU a call"),
        [
            (
                str(calls),
                f"{bound_s:.1f} s",
                f"{took_s:.1f} s",
                f"{took_s / bound_s:.3f}",
                f"{used_s / calls * 1000:.2f} ms",
            )
        ],
    )
    # 256 in flight take two thirds of a core, which a busy machine may not have to give.
    assert took_s < 3 * bound_s
    assert used_s / calls < 0.02


@pytest.mark.parametrize(
    ("limits", "ideal_per_s"),
    [
        pytest.param({"latency_s": 0.3, "max_in_flight": 8}, 8 / 0.3, id="8 in flight"),
        pytest.param({"latency_s": 0.3, "per_second": 20}, 20.0, id="20 a second"),
        pytest.param(
            {"latency_s": 0.3, "per_second": 20, "cap_retry_after": "1"},
            20.0,
            id="20 a second, with Retry-After",
        ),
    ],
)
def test_a_limit_that_nobody_names_is_nearly_used_up(
    tmp_path: Path, limits: dict[str, Any], ideal_per_s: float
) -> None:
    ledger = tmp_path / "ledger.jsonl"
    chats = [conversation(f"c{n}", 1) for n in range(int(30 * ideal_per_s) // STEPS)]
    with provider(limits, ledger) as url, store_with(tmp_path / "s.db", chats) as store:
        calls, took_s, _ = judged(store, url, 64)
    kinds = [json.loads(line)["kind"] for line in ledger.read_text().splitlines()]
    rejected = kinds.count("capped") / len(kinds)
    per_s = calls / took_s
    table(
        f"a provider that takes {ideal_per_s:.1f} requests a second and does not say so",
        ("calls", "took", "per second", "of what it takes", "rejected"),
        [
            (
                str(calls),
                f"{took_s:.1f} s",
                f"{per_s:.1f}",
                f"{per_s / ideal_per_s:.0%}",
                f"{rejected:.1%}",
            )
        ],
    )
    assert per_s > 0.5 * ideal_per_s
    assert rejected < 0.3


def test_fifty_thousand_waiting_conversations(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    store_with(path, [conversation(f"c{n}", 1) for n in range(LONG_QUEUE)]).close()
    with provider({"latency_s": 0.2}) as url:
        done = subprocess.run(
            [sys.executable, "-m", "tests.engine.measured_run", str(path), url, "64", str(ENOUGH)],
            cwd=ROOT,
            env=environment(tmp_path / "home"),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    table(
        f"{LONG_QUEUE:,} conversations in the queue, until {ENOUGH:,} are judged",
        ("judged", "the first after", "memory grown", "another thread late by at most"),
        [
            (
                str(found["done"]),
                f"{found['first_s']:.1f} s",
                f"{found['grown_mb']:.0f} MB",
                f"{found['late_ms']:.0f} ms",
            )
        ],
    )
    assert found["first_s"] < 6.0
    assert found["grown_mb"] < 100
