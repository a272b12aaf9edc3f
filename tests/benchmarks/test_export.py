"""How fast claims are exported, against the least that could be done, and in how much memory."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.engine.exports.run_exports import RunExporter, RunExportRequest
from faithtui.store.store import Store
from tests.benchmarks import big_store
from tests.benchmarks.measuring import best_of, ratio, seconds, table

CONVERSATIONS = 2_000
MOST_MEMORY = 1.5
"""How many times the memory of a small export a large one may take."""

_ROWS = """
SELECT c.source, c."key", c."group", c.details, cl.id, cl.kind, cl.turn, cl.text, cl.span_start,
  cl.span_end, q.content, a.content,
  (SELECT json_group_array(json_object('document', d.hash, 'text', d.text, 'source', td.source))
   FROM json_each(w.turns) t
   JOIN turn_document td ON td.conversation_id = c.id AND td.turn = t.value
   JOIN document d ON d.id = td.document_id),
  r.id, r.metric, r.judge, r.prompt_digest, w.position, v.label, v.word, v.reason, v.confidence,
  w.judged_at,
  (SELECT json_group_array(json_object('role', m.role, 'content', m.content))
   FROM turn m WHERE m.conversation_id = c.id)
FROM run_item i
JOIN run r ON r.id = i.run_id
JOIN conversation c ON c.id = i.conversation_id
JOIN window w ON w.run_item_id = i.id
JOIN verdict v ON v.window_id = w.id AND v.is_home
JOIN claim cl ON cl.id = v.claim_id
JOIN turn a ON a.conversation_id = c.id AND a.position = cl.turn
LEFT JOIN turn q ON q.conversation_id = c.id AND q.position = cl.turn - 1
WHERE i.run_id = 1 ORDER BY i.number, cl.turn, w.position, v.position
"""
_NAMES = (
    *("source", "conversation", "group", "metadata", "claim_id", "kind", "turn", "claim"),
    *("span_start", "span_end", "question", "answer", "passages", "run", "metric", "judge"),
    *("prompts", "window", "verdict", "word", "reason", "confidence", "judged_at", "messages"),
)
_JSON = [_NAMES.index(each) for each in ("metadata", "passages", "messages")]


def write_rows(path: Path, target: Path) -> int:
    """Write the same claims by one statement and `json.dumps`; give how many."""
    connection = sqlite3.connect(path)
    count = 0
    with target.open("w", encoding="utf-8") as file:
        for row in connection.execute(_ROWS):
            values = list(row)
            for place in _JSON:
                values[place] = json.loads(values[place])
            found = dict(zip(_NAMES, values, strict=True))
            file.write(json.dumps(found, ensure_ascii=False) + "\n")
            count += 1
    connection.close()
    return count


def export(path: Path, target: Path, form: str) -> None:
    with Store.open(path) as store:
        exporter = RunExporter(store, RunExportRequest(RunId(1)))
        exporter.write_jsonl_or_csv_file("claims", form, target, force=True)  # type: ignore[arg-type]  # one of its words


def test_claims_against_one_statement_and_json_dumps(tmp_path: Path) -> None:
    path = big_store.build(tmp_path / "s.db", CONVERSATIONS)
    plain, ours = tmp_path / "plain.jsonl", tmp_path / "ours.jsonl"
    assert write_rows(path, plain) == CONVERSATIONS * big_store.CLAIMS
    found = best_of(
        3,
        plain=lambda: seconds(lambda: write_rows(path, plain)),
        jsonl=lambda: seconds(lambda: export(path, ours, "jsonl")),
        csv=lambda: seconds(lambda: export(path, tmp_path / "ours.csv", "csv")),
        parquet=lambda: seconds(lambda: export(path, tmp_path / "ours.parquet", "parquet")),
    )
    with plain.open() as one, ours.open() as other:
        for plain_line, our_line in zip(one, other, strict=True):
            expected, row = json.loads(plain_line), json.loads(our_line)
            for name in ("conversation", "claim", "answer", "passages", "verdict", "reason"):
                assert row[name] == expected[name]
    table(
        f"export of {CONVERSATIONS * big_store.CLAIMS:,} claims",
        ["", "seconds", "claims a second", "of SELECT + json.dumps"],
        [
            [
                name,
                f"{took:.2f}",
                f"{CONVERSATIONS * big_store.CLAIMS / took:,.0f}",
                ratio(took, found["plain"]),
            ]
            for name, took in found.items()
        ],
    )
    assert found["jsonl"] < 10 * found["plain"]
    assert found["csv"] < 10 * found["plain"]


_PEAK = """
import sys
from pathlib import Path
from faithtui.cli.entry import main
try:
    main()
finally:
    status = Path("/proc/self/status").read_text().splitlines()
    print(next(line.split()[1] for line in status if line.startswith("VmHWM:")))
"""
"""`ru_maxrss` would begin with what the process that starts it holds."""


def peak_mb(path: Path, *words: str) -> int:
    """Export in a process of its own and give its peak memory."""
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, "--store", str(path), "export", *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "FAITHTUI_HOME": str(path.parent / "home")},
    )
    return int(done.stdout.split()[-1]) // 1024


@pytest.mark.parametrize(
    "words",
    [("claims",), ("claims", "-f", "csv"), ("claims", "-f", "parquet"), ("deepeval",)],
    ids=" ".join,
)
def test_memory_does_not_grow_with_the_run(tmp_path: Path, words: tuple[str, ...]) -> None:
    """`FAITHTUI_EXPORT_CONVERSATIONS` says how many conversations the large run has."""
    large = int(os.environ.get("FAITHTUI_EXPORT_CONVERSATIONS", "20000"))
    peaks = {}
    for chats in (CONVERSATIONS, large):
        path = big_store.build(tmp_path / f"{chats}.db", chats)
        peaks[chats] = peak_mb(path, *words, "-o", str(tmp_path / f"{chats}.out"))
        path.unlink()
    table(
        f"peak memory of export {' '.join(words)}",
        ["conversations", "MB"],
        [[f"{chats:,}", str(peak)] for chats, peak in peaks.items()],
    )
    assert peaks[large] < MOST_MEMORY * peaks[CONVERSATIONS]
