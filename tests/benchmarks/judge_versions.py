"""How long the embedded judge of this tree takes for a claim, beside that of another tree.

Run it as `python -m tests.benchmarks.judge_versions OTHER_TREE DATA.jsonl`.

OTHER_TREE is a checkout of another commit. DATA holds one JSON object per line with `claim` and
`context`. Each tree is loaded by a process of its own; the two judge the same rows in turns, so
that what else the machine does meets both. Printed are the best of all turns: cold, the context
read anew for each claim, and warm, the same claims again.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
WORKER: Final = """
import json, sys, time
from faithtui.domain.text.sentence_index import index_passages
from faithtui.judges.embedded.overlap import judge_claim
rows = [(each["claim"], each["context"]) for each in map(json.loads, open(sys.argv[1]))]
for line in sys.stdin:
    first, past = map(int, line.split())
    cold = warm = 0
    for claim, context in rows[first:past]:
        began = time.process_time_ns()
        index = index_passages((context,))
        judge_claim(claim, index)
        between = time.process_time_ns()
        judge_claim(claim, index)
        cold += between - began
        warm += time.process_time_ns() - between
    print(json.dumps((cold, warm)), flush=True)
"""


def main() -> None:
    """Measure both trees in turns and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("other", type=Path, help="a checkout of another commit")
    parser.add_argument("data", type=Path, help="rows with claim and context, one per line")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--part", type=int, default=40, help="rows a process judges in a row")
    given = parser.parse_args()
    rows = sum(1 for _ in given.data.open(encoding="utf-8"))
    workers = {
        name: subprocess.Popen(
            [sys.executable, "-c", WORKER, str(given.data.resolve())],
            env={**os.environ, "PYTHONPATH": str(tree.resolve())},
            cwd=tree,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, tree in (("other", given.other), ("this", ROOT))
    }
    parts = range(0, rows, given.part)
    best: dict[tuple[str, int], tuple[int, int]] = {}
    for _ in range(given.turns):
        for part in parts:
            for name, worker in workers.items():
                assert worker.stdin is not None
                assert worker.stdout is not None
                worker.stdin.write(f"{part} {part + given.part}\n")
                worker.stdin.flush()
                cold, warm = json.loads(worker.stdout.readline())
                known = best.get((name, part), (cold, warm))
                best[name, part] = min(cold, known[0]), min(warm, known[1])
    for worker in workers.values():
        worker.communicate()
    sums = {
        name: [sum(best[name, part][kind] for part in parts) / rows / 1e6 for kind in (0, 1)]
        for name in workers
    }
    print(f"{rows:,} rows, best of {given.turns} turns, {time.strftime('%Y-%m-%d')}")
    print(f"{'':<8}{'other':>10}{'this':>10}{'ratio':>8}")
    for kind, title in enumerate(("cold", "warm")):
        other, this = sums["other"][kind], sums["this"][kind]
        print(f"{title:<8}{other:>7.3f} ms{this:>7.3f} ms{this / other:>8.2f}")


if __name__ == "__main__":
    main()
