"""A long run through every fault that may pass, killed again and again: nothing lost, or bought
twice, or wrong.

Smaller or larger by the environment: SOAK_CONVERSATIONS, SOAK_KILLS, SOAK_SHARE
(of attempts that fail), SOAK_CONCURRENCY, SOAK_PROVIDER, SOAK_SEED.
"""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from faithtui.domain.ids import RunId
from faithtui.domain.scores import ScoreSet
from faithtui.engine.runs import run_planner
from faithtui.engine.runs.request import RunRequest
from faithtui.store.records import RunRow, RunState
from faithtui.store.store import Store
from tests.benchmarks.faulty import ROOT, go_on, provider, rule
from tests.benchmarks.measuring import environment, resident_mb, table
from tests.engine.building import conversation, store_with
from tests.judges.fault_server import Entry, read_ledger
from tests.judges.faults import FAULTS, PASSING

CONVERSATIONS = int(os.environ.get("SOAK_CONVERSATIONS", "2000"))
KILLS = int(os.environ.get("SOAK_KILLS", "20"))
SHARE = float(os.environ.get("SOAK_SHARE", "0.2"))
CONCURRENCY = int(os.environ.get("SOAK_CONCURRENCY", "64"))
PROVIDER = os.environ.get("SOAK_PROVIDER", "openai")
SEED = int(os.environ.get("SOAK_SEED", "6"))

TIMEOUT_S = 3.0
"""Deadline of one request: answers take a tenth of a second here, but for those that never come."""

LATENCY = {"latency_s": 0.05, "jitter_s": 0.1}
STEPS = 3
ROUNDS = 10
"""How often the run is taken up again at most, after the last kill, until nothing has failed."""

NO_REPLY = {fault.name for row in ("F08", "F09", "F10", "F11") for fault in FAULTS[row]}
"""What is billed, or not, and brings nothing that could be kept."""


@dataclass
class Watched:
    """What was seen of a run that was killed."""

    kills: int = 0
    starts: int = 0
    most_mb: float = 0.0
    lost_windows: int = 0
    windows: frozenset[tuple[int, int]] = frozenset()


def planned(path: Path, url: str) -> RunId:
    with store_with(path, [conversation(f"c{n}", 1) for n in range(CONVERSATIONS)]) as store:
        order = RunRequest(
            judge=f"{PROVIDER}:m",
            base_url=url,
            concurrency=CONCURRENCY,
            options={"include_reason": "false"},
        )
        return run_planner.save_planned_run(store, order, environ={})


def outcome(path: Path, run: RunId) -> tuple[RunRow, list[ScoreSet | None]]:
    with Store.open(path, create=False) as store:
        assert store.list_damage() == []
        items = store.runs.read_item_rows(store.runs.list_item_ids(run))
        return store.runs.read_run(run), [item.scores for item in items]


def stored_windows(path: Path) -> frozenset[tuple[int, int]]:
    """Read which windows have a score."""
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        rows = connection.execute(
            'SELECT run_item_id, position FROM "window" WHERE score_state = ?', ("scored",)
        )
        return frozenset(rows)


def process(path: Path, run: RunId, url: str, home: Path) -> subprocess.Popen[str]:
    words = (path, run, url, PROVIDER, TIMEOUT_S)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.faulty", *map(str, words)],
        cwd=ROOT,
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def killed_again_and_again(path: Path, run: RunId, url: str, ledger: Path) -> Watched:
    """Start the run and kill it at moments of chance; then let it come to its end."""
    choose = random.Random(SEED)
    # Spread over the run, which asks a quarter more than there are questions.
    goals = sorted(choose.uniform(0, 1.2 * STEPS * CONVERSATIONS) for _ in range(KILLS))
    seen = Watched()
    while True:
        home = path.parent / f"home{seen.starts}"
        working = process(path, run, url, home)
        seen.starts += 1
        goal = goals.pop(0) if goals else None
        while working.poll() is None:
            with suppress(FileNotFoundError, ProcessLookupError, StopIteration):
                seen.most_mb = max(seen.most_mb, resident_mb(working.pid))
            if goal is not None and lines_of(ledger) >= goal:
                time.sleep(choose.uniform(0, 0.05))
                working.send_signal(signal.SIGKILL)
                seen.kills += 1
                break
            time.sleep(0.05)
        _, told = working.communicate()
        now = stored_windows(path)
        seen.lost_windows += len(seen.windows - now)
        seen.windows = now
        if working.returncode == -signal.SIGKILL:
            continue
        assert working.returncode == 0, told
        with Store.open(path, create=False) as store:
            row = store.runs.read_run(run)
        is_over = row.state is RunState.DONE and not row.failed
        if (is_over and not goals) or seen.starts > KILLS + ROUNDS:
            return seen
        if is_over:
            # The run ended before the last moments came: there is nothing left to kill.
            goals.clear()


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def bought(entries: Sequence[Entry]) -> int:
    """Count the answers that were worth keeping, whether or not anybody was still there."""
    return sum(entry.billed and entry.kind not in NO_REPLY for entry in entries)


def test_every_fault_and_twenty_kills_lose_nothing(tmp_path: Path) -> None:
    path, ledger = tmp_path / "s.db", tmp_path / "ledger.jsonl"
    config = {"seed": SEED, **LATENCY, "rules": [rule(PASSING, probability=SHARE)]}
    began = time.monotonic()
    with provider(config, ledger) as url:
        run = planned(path, url)
        seen = killed_again_and_again(path, run, url, ledger)
    took_s = time.monotonic() - began
    with provider({}) as url:
        whole = tmp_path / "whole.db"
        clean = planned(whole, url)
        asyncio.run(go_on(whole, clean, url, PROVIDER, 30.0))
    row, scores = outcome(path, run)
    _, true = outcome(whole, clean)
    entries = read_ledger(ledger)
    faults = Counter(entry.kind for entry in entries if entry.kind != "ok")
    with closing(sqlite3.connect(path)) as connection:
        ((kept, usable, questions),) = connection.execute(
            "SELECT count(*), sum(usable), count(DISTINCT CASE WHEN usable THEN key END)"
            " FROM judge_call"
        )
    wrong = sum(ours != theirs for ours, theirs in zip(scores, true, strict=True))
    in_flight = bought(entries) - kept
    table(
        f"{CONVERSATIONS} conversations, {SHARE:.0%} of attempts fail in one of {len(PASSING)} "
        f"ways, {seen.kills} kills, {CONCURRENCY} in flight, {PROVIDER}",
        ("", "seen", "aim"),
        [
            ("requests", str(len(entries)), ""),
            ("that failed or were spoiled", f"{faults.total()} ({len(faults)} kinds)", ""),
            ("replies kept", f"{kept} ({usable} usable)", ""),
            ("windows lost", str(seen.lost_windows + CONVERSATIONS - row.windows), "0"),
            ("stored replies asked again", str(usable - questions), "0"),
            ("in flight at a kill, asked again", str(in_flight), f"≤ {seen.kills * CONCURRENCY}"),
            ("wrong scores", str(wrong), "0"),
            ("state", f"{row.state}, {row.done} done, {row.failed} failed", "done"),
            ("starts", str(seen.starts), ""),
            ("wall", f"{took_s:.0f} s", ""),
            ("memory at most", f"{seen.most_mb:.0f} MB", ""),
        ],
    )
    assert (row.state, row.done, row.failed) == (RunState.DONE, CONVERSATIONS, 0)
    assert seen.lost_windows == 0
    assert row.windows == CONVERSATIONS
    assert usable == questions
    assert 0 <= in_flight <= seen.kills * CONCURRENCY
    assert wrong == 0
    assert len(faults) > len(PASSING) // 2
