"""How fast the store takes what it is given."""

import json
import sqlite3
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from faithtui.domain.conversation import Conversation
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.labels.label_events import Action
from faithtui.engine.dataset_import import import_files
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.benchmarks.conftest import LABELS
from tests.benchmarks.measuring import best_of, ms, ratio, seconds, table
from tests.store.building import SPEC, assess, judged, make_conversation, windows_of

DEMO = Path(__file__).parents[2] / "fixtures" / "demo" / "mtrag_model_answers.jsonl"
CONVERSATIONS = 150
LABELLED = 100


class Plain:
    """One table with two indexes, written by plain `sqlite3` as the store is: WAL, one writer."""

    def __init__(self, path: Path, synchronous: str) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute(f"PRAGMA synchronous = {synchronous}")
        self.connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b INT, text TEXT)")
        self.connection.execute("CREATE INDEX ta ON t (a)")
        self.connection.execute("CREATE INDEX tb ON t (b)")

    def insert(self, rows: int) -> None:
        """Write some rows in a transaction of their own."""
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany(
            "INSERT INTO t (a, b, text) VALUES (?, ?, ?)",
            [(row, -row, f"a text of some length {row}") for row in range(rows)],
        )
        self.connection.execute("COMMIT")


def count_rows(path: Path) -> int:
    """Count the rows of all tables."""
    connection = sqlite3.connect(path)
    names = [
        name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
    ]
    total = sum(
        connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names
    )
    connection.close()
    return int(total)


def test_import_against_reading_json(tmp_path: Path) -> None:
    lines = DEMO.read_bytes().splitlines()
    number = iter(range(1000))

    def imported() -> float:
        with Store.open(tmp_path / f"{next(number)}.db") as store:
            return seconds(lambda: import_files(store, [DEMO], report=lambda progress: None))

    found = best_of(
        5, json=lambda: seconds(lambda: [json.loads(line) for line in lines]), store=imported
    )
    table(
        f"import, {len(lines)} conversations, {DEMO.stat().st_size / 1e6:.1f} MB",
        ("", "best", "lines/s", "to json"),
        [
            (name, ms(value), f"{len(lines) / value:,.0f}", ratio(value, found["json"]))
            for name, value in found.items()
        ],
    )
    assert found["store"] < 100 * found["json"]


def test_a_window_against_as_many_rows_by_plain_sqlite(tmp_path: Path) -> None:
    number = iter(range(1000))
    chats = [make_conversation(f"c{each}") for each in range(CONVERSATIONS)]
    assessments = [[assess(window, LABELS) for window in windows_of(each)] for each in chats]
    windows = sum(map(len, assessments))
    rows = 0

    def stored() -> float:
        nonlocal rows
        path = tmp_path / f"{next(number)}.db"
        with Store.open(path) as store:
            store.conversations.import_batch(chats)
            run = store.runs.create(SPEC, store.conversations.list_ids())
            items = store.runs.list_item_ids(run)
            before = count_rows(path)

            def save() -> None:
                for item, each in zip(items, assessments, strict=True):
                    for assessment in each:
                        store.runs.save_window(item, assessment)

            took = seconds(save)
            rows = count_rows(path) - before
            return took

    def plain() -> float:
        database = Plain(tmp_path / f"{next(number)}.db", "NORMAL")
        each = round(rows / windows)

        def insert() -> None:
            for _ in range(windows):
                database.insert(each)

        took = seconds(insert)
        database.connection.close()
        return took

    stored()  # counts the rows
    found = best_of(3, plain=plain, store=stored)
    table(
        f"a window of {rows / windows:.1f} rows, a transaction each",
        ("", "best a window", "to plain sqlite3"),
        [(name, ms(v / windows), ratio(v, found["plain"])) for name, v in found.items()],
    )
    assert found["store"] < 100 * found["plain"]


def test_a_label_alone_and_while_a_run_writes(tmp_path: Path) -> None:
    database = Plain(tmp_path / "plain.db", "FULL")
    with Store.open(tmp_path / "s.db") as store:
        run, item = judged(store, make_conversation("labelled", answers=12), {1: ["yes"] * 30})
        claims = [claim.id for claim in store.runs.read_conversation_for_review(item, "ann").claims]
        others = [make_conversation(f"c{number}", answers=4) for number in range(400)]
        store.conversations.import_batch(others)
        busy = store.runs.create(SPEC, store.conversations.list_ids()[1:])
        times: dict[str, list[float]] = {"plain sqlite3, one row": [], "alone": [], "busy": []}
        for number in range(LABELLED):
            claim = claims[number % len(claims)]
            times["plain sqlite3, one row"].append(seconds(lambda: database.insert(1)))
            times["alone"].append(seconds(labelling(store, run, claim)))
        stream = iter(zip(store.runs.list_item_ids(busy), others, strict=True))
        written = 0
        pending = store.submit(lambda: None)
        began = time.perf_counter()
        for number in range(LABELLED):
            # As a run does: there is always a window waiting for the writer.
            if pending.done():
                pending = store.submit(judge, store, *next(stream))
                written += 1
            times["busy"].append(seconds(labelling(store, run, claims[number % len(claims)])))
        pending.result()
        rate = written / (time.perf_counter() - began)
        store.runs.set_state(busy, RunState.CANCELLED)
    database.connection.close()
    base = statistics.median(times["plain sqlite3, one row"])
    rows = [
        (
            name,
            ms(statistics.median(values)),
            ms(statistics.quantiles(values, n=100)[-1]),
            ratio(statistics.median(values), base),
        )
        for name, values in times.items()
    ]
    table(
        f"a label, on the disk; busy: {rate:.0f} conversations/s are stored meanwhile",
        ("", "p50", "p99", "to plain"),
        rows,
    )
    assert statistics.median(times["alone"]) < 50 * base
    assert statistics.median(times["busy"]) < 20 * statistics.median(times["alone"])


def labelling(store: Store, run: RunId, claim: ClaimId) -> Callable[[], object]:
    """Make a call that gives a verdict."""
    return lambda: store.label_log.append_label_event(
        claim, "ann", Action.AGREED, "yes", run=run, judge_verdict="yes", saw_judge=True
    )


def judge(store: Store, item: ItemId, conversation: Conversation) -> None:
    """Store the windows of one conversation."""
    for window in windows_of(conversation):
        store.runs.save_window(item, assess(window, LABELS))
