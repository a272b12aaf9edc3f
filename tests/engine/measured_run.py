"""A run in a process of its own, as the app has it, that tells what it took:

    python -m tests.engine.measured_run STORE URL CONCURRENCY DONE

Ends when so many conversations are done. Prints one JSON object: `state`, `done`, `first_s` until
the first conversation was judged, `grown_mb` by which the process grew at most, and `late_ms`, the
longest time for which another thread, such as that of the screens, was kept from running.
"""

import json
import sys
import time
from pathlib import Path

import openai  # noqa: F401 (its size is the SDK's and not that of a run)

from faithtui.engine.runs.background import BackgroundRun
from faithtui.engine.runs.request import RunRequest
from faithtui.store.store import Store

TICK_S = 0.005


def resident_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1000


def main(path: Path, url: str, concurrency: int, enough: int) -> None:
    with Store.open(path, create=False) as store:
        before = resident_mb()
        began = time.monotonic()
        run = BackgroundRun.start(
            store,
            RunRequest(
                judge="openai:m",
                base_url=url,
                concurrency=concurrency,
                options={"include_reason": "false"},
            ),
        )
        first_s = None
        grown_mb = late_s = 0.0
        while not run.is_finished and run.snapshot().progress.done < enough:
            slept = time.monotonic()
            time.sleep(TICK_S)
            late_s = max(late_s, time.monotonic() - slept - TICK_S)
            grown_mb = max(grown_mb, resident_mb() - before)
            if first_s is None and run.snapshot().progress.done:
                first_s = time.monotonic() - began
        done = run.snapshot().progress.done
        run.cancel()
        run.join(600.0)
        print(
            json.dumps(
                {
                    "state": run.snapshot().state,
                    "done": done,
                    "first_s": first_s,
                    "grown_mb": round(grown_mb, 1),
                    "late_ms": round(late_s * 1000, 1),
                }
            )
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
