"""The failing provider in a process of its own, and a program that judges and may be killed.

    python -m tests.benchmarks.faulty STORE RUN URL PROVIDER TIMEOUT_S

goes on with a run, failed conversations included, and prints its state.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from faithtui.domain.ids import RunId
from faithtui.engine.runs import runner
from faithtui.judges.registry import open_judge
from faithtui.store.store import Store
from tests.judges.faults import Fault

ROOT = Path(__file__).parents[2]


@contextmanager
def provider(config: Mapping[str, Any], ledger: Path | None = None) -> Iterator[str]:
    """Run the provider until the context is left.

    Args:
        config: As `read_config` of the fault server takes it.
        ledger: Where it notes what it was asked; None: nowhere.

    Yields:
        Its address.
    """
    command = [sys.executable, "-m", "tests.judges.fault_server", "--config", json.dumps(config)]
    if ledger is not None:
        command += ["--ledger", str(ledger)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.stdin.close()


def rule(faults: tuple[Fault, ...], **when: object) -> dict[str, object]:
    """Write a rule of the server as JSON."""
    return {"faults": [asdict(fault) for fault in faults], **when}


async def go_on(path: Path, run: RunId, url: str, who: str, timeout_s: float) -> str:
    """Execute what is left of a run."""
    with Store.open(path, create=False, busy_timeout_s=30.0) as store:
        return await runner.execute_run(
            store,
            run,
            lambda event: None,
            judge=open_judge(f"{who}:m", base_url=url, timeout_s=timeout_s, environ={}),
            retry_unfinished=True,
        )


if __name__ == "__main__":
    path, number, url, who, seconds = sys.argv[1:]
    print(asyncio.run(go_on(Path(path), RunId(int(number)), url, who, float(seconds))))
