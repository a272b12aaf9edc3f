"""A run by batches that dies at any moment: nothing is lost, and nothing is bought twice."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection

from faithtui.domain.ids import RunId
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.engine.batch_provider import Json, come_back, judged, provider
from tests.engine.building import conversation, store_with

CONVERSATIONS = [conversation("a", 2)]


class _Dead(BaseException):
    """The process is gone."""


def die_at(store: Store, left: int) -> None:
    """Let so many transactions of the journal through, and none of any kind from then on.

    They are the ones that wait for the disk: a batch planned, sent, answered, ended.
    """
    writer = store._database._writer
    transaction = writer._run_in_transaction

    def count_down(work: Callable[[Connection], Json], durable: bool) -> Json:
        nonlocal left
        assert writer._connection is not None
        if not writer._connection.in_transaction():
            left -= durable
            if left < 0:
                raise _Dead
        return transaction(work, durable)

    writer._run_in_transaction = count_down  # type: ignore[method-assign]  # a test


def bury(path: Path) -> None:
    """Take away the leases of the dead: this process lives on, and they were its."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("DELETE FROM lease")
        connection.execute("DELETE FROM worker")
    connection.close()


async def mark_claim_done_and_advance(path: Path, run: RunId, left: int | None) -> RunState | None:
    """Advance a run to its end, or to its death."""
    with Store.open(path, create=False) as store:
        if left is not None:
            die_at(store, left)
        try:
            return (await come_back(store, run))[-1]
        except _Dead:
            return None


async def undisturbed(path: Path) -> Json:
    with provider("openai") as sound, store_with(path, CONVERSATIONS) as store:
        run = sound.plan(store)
        await come_back(store, run)
        return judged(store, run)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["openai", "anthropic"])
async def test_a_death_at_any_entry_of_the_journal_costs_nothing(tmp_path: Path, name: str) -> None:
    expected = await undisturbed(tmp_path / "u.db")
    left = 0
    while True:
        path = tmp_path / f"{left}.db"
        with provider(name) as someone:
            with store_with(path, CONVERSATIONS) as store:
                run = someone.plan(store)
            is_over = await mark_claim_done_and_advance(path, run, left) is not None
            bury(path)
            for batch in someone.batches.batches:
                if not batch.ended:
                    someone.batches.end(batch)
            assert await mark_claim_done_and_advance(path, run, None) is RunState.DONE
            assert someone.sold_twice == [], f"bought twice after a death at entry {left}"
            with Store.open(path, create=False) as store:
                assert store.list_damage() == []
                assert judged(store, run) == expected
                assert store.runs.read_run(run).calls == someone.sold.total()
                assert store.batches.sum_outstanding_by_run() == {}
        path.unlink()
        if is_over:
            break
        left += 1
    assert left == 3 * 4, "three waves: planned, sent, answered, ended"


@pytest.mark.thorough
def test_a_process_killed_again_and_again_comes_to_its_end(tmp_path: Path) -> None:
    expected = asyncio.run(undisturbed(tmp_path / "u.db"))
    path = tmp_path / "s.db"
    environment = {**os.environ, "FAITHTUI_HOME": str(tmp_path), "NO_PROXY": "*"}
    with provider("openai") as someone:
        with store_with(path, CONVERSATIONS) as store:
            run = someone.plan(store)
        kills = 0
        for left in (6, 9, 12, 15, 999):
            process = subprocess.run(
                [sys.executable, "-c", _WORK, str(path), str(run), str(left)],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            if process.returncode == 0:
                break
            assert process.returncode == -signal.SIGKILL, process.stderr
            kills += 1
        assert kills > 2
        assert process.returncode == 0
        assert someone.sold_twice == []
        with Store.open(path, create=False) as store:
            assert store.list_damage() == []
            assert store.runs.read_run(run).state is RunState.DONE
            assert judged(store, run) == expected


_WORK = """
import asyncio, os, signal, sys
from pathlib import Path
from sqlalchemy import event
from faithtui.engine.runs import runner
from faithtui.store.records import RunState
from faithtui.store.store import Store

path, run, left = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
store = Store.open(path, create=False)

def count_down(connection):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

event.listen(store._database._writer._engine, "commit", count_down)
while asyncio.run(runner.execute_run(store, run, lambda event: None)) is RunState.WAITING:
    pass
store.close()
"""
