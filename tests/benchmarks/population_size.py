"""Seconds and memory of drawing a sample from millions of claims.

`python -m tests.benchmarks.population_size --claims 5000000` from the repository root makes results
of so many claims, by DuckDB itself, in a folder that `--folder` names (they stay there for another
time), draws from them in a process of its own, and prints seconds and the most memory it held.
Conversations have five claims and are in shards of 100,000; their judgement is that of one that
`tests/engine/population/results.py` makes, so that every drawn one can be stored.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from tests.engine.population.results import MadeConversation, write_results

OF_EACH = 5
OF_SHARD = 100_000

_CONVERSATIONS = """
COPY (
  SELECT * REPLACE (
    $shard AS shard, 'c' || (n + $first) AS key, n AS number, n + 1 AS line,
    'c' || (n + $first) AS conversation_group,
    '{"language":"' || ['en', 'de', 'fr', 'es'][CAST(1 + hash(n + $first) % 4 AS BIGINT)] || '"}'
      AS metadata,
    regexp_replace(conversation, '"id": "made"', '"id": "c' || (n + $first) || '"') AS conversation
  ) FROM read_parquet($pattern_row), range($count) AS places(n)
) TO $target (FORMAT parquet)
"""
_CLAIMS = """
COPY (
  SELECT * EXCLUDE (n, h) REPLACE (
    $shard AS shard, 'c' || (n + $first) AS key, n AS number,
    CASE WHEN h % 100 < 8 THEN 'no' WHEN h % 100 < 14 THEN 'idk' ELSE 'yes' END AS label,
    (h % 1009) / 1009.0 AS uncertainty, (h % 7) / 6.0 AS conversation_score
  ) FROM (
    SELECT *, hash(n + $first, position) AS h
    FROM read_parquet($pattern_row), range($count) AS places(n)
  )
) TO $target (FORMAT parquet)
"""


def make_results(folder: Path, claims: int) -> Path:
    """Make results of so many claims, unless they are there."""
    conversations = claims // OF_EACH
    shards = [f"part-{place:04}" for place in range(-(-conversations // OF_SHARD))]
    if folder.exists():
        return folder
    one = MadeConversation("made", ("yes",) * OF_EACH)
    pattern = write_results(folder.with_suffix(".one"), {"a": [one]})
    (folder / "conversations").mkdir(parents=True)
    (folder / "claims").mkdir()
    manifest = json.loads((pattern / "manifest.json").read_text())
    manifest["shards"] = [{"name": name} for name in shards]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    database = duckdb.connect()
    for place, name in enumerate(shards):
        first = place * OF_SHARD
        for table, query in (("claims", _CLAIMS), ("conversations", _CONVERSATIONS)):
            database.execute(
                query,
                {
                    "shard": name,
                    "first": first,
                    "count": min(OF_SHARD, conversations - first),
                    "pattern_row": str(pattern / table / "a.parquet"),
                    "target": str(folder / table / f"{name}.parquet"),
                },
            )
    return folder


def read_peak_mb() -> int:
    """Give the most memory this program held; getrusage counts the program that started it, too."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM:"))


def draw(results: str, store: str, stratify: str) -> None:
    """Draw, and print seconds and megabytes."""
    from faithtui import draw_sample

    start, cpu = time.perf_counter(), time.process_time()
    found = draw_sample(results, store, size=400, stratify=stratify.split(","))
    print(
        json.dumps(
            {
                "seconds": round(time.perf_counter() - start, 1),
                "cpu_seconds": round(time.process_time() - cpu, 1),
                "peak_mb": read_peak_mb(),
                "claims": found["claims"],
                "population": found["population"]["claims"],  # type: ignore[index]  # an object
            }
        )
    )


def main() -> None:
    """Make results, and draw from them twice: a first draw, and one that adds to it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, default=5_000_000)
    parser.add_argument("--folder", type=Path, default=Path("population-results"))
    parser.add_argument("--stratify", default="verdict,language")
    parser.add_argument("--draw", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.draw:
        results, store = given.draw
        draw(results, store, given.stratify)
        return
    folder = make_results(given.folder, given.claims)
    files = [*folder.glob("*/*.parquet")]
    size = sum(each.stat().st_size for each in files) / 1e6
    rows = sum(pq.read_metadata(each).num_rows for each in (folder / "claims").glob("*.parquet"))
    print(f"{rows:,} claims in {len(files)} files, {size:,.0f} MB")
    file = folder.with_suffix(".db")
    for each in folder.parent.glob(f"{file.name}*"):
        each.unlink()
    for _ in range(2):
        command = [sys.executable, "-m", "tests.benchmarks.population_size"]
        command += ["--stratify", given.stratify, "--draw", str(folder), str(file)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
