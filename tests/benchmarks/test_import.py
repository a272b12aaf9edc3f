"""How fast conversations of one turn come in, and in how much memory.

The baseline reads the same bytes with `json.loads` and writes them with `executemany` into plain
tables, in the same run: nothing is checked, looked up, hashed or indexed.
"""

import gzip
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from faithtui.engine.dataset_import import import_files
from faithtui.store.store import Store
from tests.benchmarks import big_store
from tests.benchmarks.measuring import best_of, ms, ratio, seconds, table
from tests.benchmarks.test_export import CONVERSATIONS as EXPORTED
from tests.benchmarks.test_export import MOST_MEMORY, export

CONVERSATIONS = 100_000
MEGABYTES = 200
_WORDS = [f"w{number:04d}" for number in range(5000)]


def write_conversations(path: Path, count: int) -> None:
    """Write conversations of one question, one answer and two passages of their own."""
    chance = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            words = chance.choices(_WORDS, k=60)
            turns = [
                {"role": "user", "content": " ".join(words[:10])},
                {
                    "role": "assistant",
                    "content": " ".join(words[10:30]),
                    "retrieval_context": [
                        f"{number} " + " ".join(words[30:45]),
                        f"{number} " + " ".join(words[45:]),
                    ],
                },
            ]
            file.write(json.dumps({"id": f"c{number}", "turns": turns}) + "\n")


def write_plainly(source: Path, target: Path) -> None:
    """Read the bytes with `json.loads` and write them with `executemany`."""
    connection = sqlite3.connect(target)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE conversation (id INTEGER PRIMARY KEY, key TEXT)")
    connection.execute("CREATE TABLE turn (conversation INT, position INT, role TEXT, text TEXT)")
    connection.execute("CREATE TABLE passage (conversation INT, turn INT, position INT, text TEXT)")
    lines = [json.loads(line) for line in source.read_bytes().splitlines()]
    connection.executemany(
        "INSERT INTO conversation VALUES (?, ?)",
        ((number, line["id"]) for number, line in enumerate(lines)),
    )
    connection.executemany(
        "INSERT INTO turn VALUES (?, ?, ?, ?)",
        (
            (number, place, turn["role"], turn["content"])
            for number, line in enumerate(lines)
            for place, turn in enumerate(line["turns"])
        ),
    )
    connection.executemany(
        "INSERT INTO passage VALUES (?, ?, ?, ?)",
        (
            (number, place, position, text)
            for number, line in enumerate(lines)
            for place, turn in enumerate(line["turns"])
            for position, text in enumerate(turn.get("retrieval_context", ()))
        ),
    )
    connection.commit()
    connection.close()


def test_import_of_many_short_conversations(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    write_conversations(path, CONVERSATIONS)
    number = iter(range(1000))

    def imported(*, defer_index: bool) -> float:
        with Store.open(tmp_path / f"{next(number)}.db") as store:
            return seconds(
                lambda: import_files(
                    store, [path], report=lambda progress: None, defer_index=defer_index
                )
            )

    found = best_of(
        2,
        plain=lambda: seconds(lambda: write_plainly(path, tmp_path / f"p{next(number)}.db")),
        store=lambda: imported(defer_index=False),
        without_words=lambda: imported(defer_index=True),
    )
    table(
        f"import of {CONVERSATIONS:,} conversations, {path.stat().st_size / 1e6:.1f} MB",
        ("", "best", "conversations/s", "plain to it"),
        [
            (
                name,
                ms(value),
                f"{CONVERSATIONS / value:,.0f}",
                ratio(found["plain"], value),
            )
            for name, value in found.items()
        ],
    )
    assert found["plain"] > 0.02 * found["store"]
    assert found["without_words"] < found["store"]


_IMPORT = """
import sys
import time
from pathlib import Path
from faithtui.engine.dataset_import import import_files
from faithtui.store.store import Store
with Store.open(Path(sys.argv[2])) as store:
    [file] = import_files(store, [Path(sys.argv[1])], report=lambda progress: None).files
# That of getrusage is of this process before it was another program too: of its parent.
for line in open("/proc/self/status"):
    if line.startswith("VmHWM"):
        print(file.new, int(line.split()[1]) // 1024, time.process_time())
"""


def import_in_process_of_its_own(file: Path, store: Path) -> tuple[int, int, float]:
    """Import a file; give new conversations, peak memory in MB and seconds of CPU."""
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT, str(file), str(store)],
        capture_output=True,
        text=True,
        check=True,
    )
    new, peak_mb, cpu_s = done.stdout.split()
    return int(new), int(peak_mb), float(cpu_s)


def test_memory_of_a_large_file(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    text = "word " * 200
    with rows.open("w", encoding="utf-8") as file:
        file.write("question,answer,contexts\n")
        for number in range(MEGABYTES * 1_000_000 // 2_020):
            file.write(f'q {number},"{text}","[""{number} {text[:990]}""]"\n')
    new, peak_mb, _ = import_in_process_of_its_own(rows, tmp_path / "x.db")
    table(
        f"import of a table of {rows.stat().st_size / 1e6:.0f} MB",
        ("conversations", "peak memory"),
        [(f"{new:,}", f"{peak_mb} MB")],
    )
    assert peak_mb < 300


def test_memory_of_a_packed_file(tmp_path: Path) -> None:
    """`FAITHTUI_IMPORT_MEGABYTES` says how large it is unpacked."""
    wanted = int(os.environ.get("FAITHTUI_IMPORT_MEGABYTES", str(MEGABYTES)))
    zstandard = pytest.importorskip("zstandard")
    plain, text = tmp_path / "rows.jsonl", "word " * 1200
    with plain.open("w", encoding="utf-8") as file:
        for number in range(wanted * 1_000_000 // 6_060):
            row = {"question": f"q {number}", "answer": "a", "contexts": [f"{number} {text}"]}
            file.write(json.dumps(row) + "\n")
    gzipped, zstd = plain.with_suffix(".jsonl.gz"), plain.with_suffix(".jsonl.zst")
    with plain.open("rb") as source, gzip.open(gzipped, "wb", 1) as packed:
        shutil.copyfileobj(source, packed)
    with plain.open("rb") as source, zstd.open("wb") as target:
        zstandard.ZstdCompressor().copy_stream(source, target)
    rows = []
    for path in (plain, gzipped, zstd):
        new, peak_mb, cpu_s = import_in_process_of_its_own(path, tmp_path / "x.db")
        size = f"{path.stat().st_size / 1e6:,.0f} MB"
        rows.append((path.suffix, size, f"{new:,}", f"{peak_mb} MB", f"{cpu_s:.1f} s"))
        for each in tmp_path.glob("x.db*"):
            each.unlink()
        assert peak_mb < 300
    table("import of a packed file", ("", "file", "conversations", "peak memory", "CPU"), rows)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_claims_that_were_exported_come_in_again(tmp_path: Path, form: str) -> None:
    """`FAITHTUI_IMPORT_CONVERSATIONS` says how many conversations the large file has."""
    large = int(os.environ.get("FAITHTUI_IMPORT_CONVERSATIONS", "10000"))
    rows, peaks = [], []
    for chats in (EXPORTED, large):
        path = big_store.build(tmp_path / f"{chats}.db", chats)
        file = tmp_path / f"{chats}.{form}"
        export(path, file, form)
        path.unlink()
        new, peak_mb, cpu_s = import_in_process_of_its_own(file, tmp_path / f"{chats}-again.db")
        assert new == chats
        peaks.append(peak_mb)
        size = f"{file.stat().st_size / 1e6:,.0f} MB"
        rows.append((f"{chats * big_store.CLAIMS:,}", f"{peak_mb} MB", f"{cpu_s:.1f} s", size))
    table(f"import of claims, {form}", ("claims", "peak memory", "CPU", "file"), rows)
    assert peaks[1] < MOST_MEMORY * peaks[0]
