"""Connections, the writer thread, and what happens when the file does not play along."""

import asyncio
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, event
from sqlalchemy.exc import IntegrityError, OperationalError

from faithtui.domain.labels.label_events import Action, LabelMark
from faithtui.errors import StoreBusy, StoreError
from faithtui.store.records import CallContext, StoredReply
from faithtui.store.schema.identity import find_head_revision
from faithtui.store.store import Store
from tests.store.building import judged, make_conversation


def write(store: Store, sql: str) -> None:
    store._database.run_in_write_transaction(lambda connection: connection.exec_driver_sql(sql))


def pragma(store: Store, name: str) -> object:
    """Ask the writer's own connection."""
    raw = store._database._writer.raw_connection
    (value,) = store.submit(lambda: raw.execute(f"PRAGMA {name}").fetchone()).result()
    return value


def test_a_new_file_is_a_sound_store_in_wal_mode(store: Store, path: Path) -> None:
    assert path.is_file()
    assert store.path == path
    assert store.schema_version == find_head_revision()
    assert store.list_damage() == []
    assert pragma(store, "journal_mode") == "wal"
    assert pragma(store, "foreign_keys") == 1


def test_closing_folds_the_log_in_and_may_be_done_twice(path: Path) -> None:
    store = Store.open(path)
    judged(store, make_conversation(), {1: ["yes"], 3: ["no"]})
    store.close()
    store.close()
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_file_that_was_cut_meanwhile_is_closed_without_an_error(path: Path) -> None:
    """The error of whatever read it would be lost behind one about closing."""
    store = Store.open(path)
    store.conversations.import_batch([make_conversation()])
    with path.open("r+b") as file:
        file.truncate(5000)
    store.close()


def test_a_closed_store_says_so(path: Path) -> None:
    store = Store.open(path)
    store.close()
    for use in (
        store.conversations.count,
        store.read_change_number,
        lambda: write(store, "SELECT 1"),
    ):
        with pytest.raises(StoreError, match="is closed; open it again"):
            use()


def test_closing_finishes_what_is_queued(path: Path) -> None:
    store = Store.open(path)
    gate = threading.Event()
    store.submit(gate.wait)
    futures = [
        store.submit(store.conversations.import_batch, [make_conversation(str(number))])
        for number in range(20)
    ]
    threading.Timer(0.01, gate.set).start()
    store.close()
    assert all(future.done() for future in futures)
    with Store.open(path) as again:
        assert again.conversations.count() == 20


def adding(store: Store, number: int) -> int:
    """Add a row, if there is none like it."""
    sql = f"INSERT INTO judge_memory (fingerprint, updated_at) VALUES ('{number}', '2026')"
    store._database.run_in_write_transaction(lambda connection: connection.exec_driver_sql(sql))
    return number


def added(store: Store) -> list[str]:
    with store._database.open_reader() as connection:
        return sorted(connection.exec_driver_sql("SELECT fingerprint FROM judge_memory").scalars())


@contextmanager
def commits_of(store: Store) -> Iterator[list[str]]:
    """Count commits, and what the disk is asked for at each."""
    seen: list[str] = []

    def heard(connection: Connection) -> None:
        (level,) = store._database._writer.raw_connection.execute("PRAGMA synchronous").fetchone()
        seen.append({1: "NORMAL", 2: "FULL"}[level])

    event.listen(store._database._writer._engine, "commit", heard)
    yield seen
    event.remove(store._database._writer._engine, "commit", heard)


def test_what_waits_is_written_together_and_durably(store: Store) -> None:
    gate = threading.Event()
    with commits_of(store) as commits:
        store.submit(gate.wait)
        futures = [store.submit(adding, store, number, shares=True) for number in range(20)]
        last = store.submit(adding, store, 20)
        gate.set()
        assert [future.result() for future in futures] == list(range(20))
        last.result()
        assert commits == ["FULL", "FULL", "NORMAL"], "16, 4, and one by itself"
    assert len(added(store)) == 21


def test_nobody_is_told_before_the_disk_has_it(store: Store) -> None:
    gate, told = threading.Event(), list[int]()
    with commits_of(store) as commits:
        store.submit(gate.wait)
        for number in range(3):
            future = store.submit(adding, store, number, shares=True)
            future.add_done_callback(lambda done: told.append(len(commits)))
        gate.set()
        store.submit(lambda: None).result()
    assert told == [1, 1, 1]


def test_one_that_fails_takes_no_other_with_it(store: Store) -> None:
    adding(store, 1)
    gate = threading.Event()
    store.submit(gate.wait)
    futures = [store.submit(adding, store, number, shares=True) for number in (0, 1, 2)]
    dropped = store.submit(adding, store, 3, shares=True)
    dropped.cancel()
    gate.set()
    assert futures[0].result() == 0
    with pytest.raises(IntegrityError):
        futures[1].result()
    assert futures[2].result() == 2
    assert added(store) == ["0", "1", "2"]


def test_all_of_them_wait_for_a_lock_once(path: Path) -> None:
    with Store.open(path, busy_timeout_s=0.3) as store:
        with sqlite3.connect(path, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            gate = threading.Event()
            store.submit(gate.wait)
            futures = [store.submit(adding, store, number, shares=True) for number in range(8)]
            gate.set()
            (waited,) = {future.exception() for future in futures}
            assert isinstance(waited, StoreBusy), "one error of one wait"
            other.execute("ROLLBACK")
        other.close()
        assert adding(store, 1) == 1
        assert added(store) == ["1"]


def test_what_is_urgent_goes_before_what_is_written_together(store: Store) -> None:
    gate, order = threading.Event(), list[str]()
    store.submit(gate.wait)
    futures = [store.submit(order.append, str(number), shares=True) for number in range(3)]
    futures.append(store.submit(order.append, "alone"))
    futures.append(store.submit(order.append, "after", shares=True))
    futures.append(store.submit(order.append, "urgent", urgent=True))
    gate.set()
    for future in futures:
        future.result()
    assert order == ["urgent", "0", "1", "2", "alone", "after"]


def test_urgent_work_goes_before_queued_work(store: Store) -> None:
    gate, order = threading.Event(), list[str]()
    store.submit(gate.wait)
    futures: list[Future[None]] = [
        store.submit(order.append, "first"),
        store.submit(order.append, "second"),
        store.submit(order.append, "urgent", urgent=True),
    ]
    gate.set()
    for future in futures:
        future.result()
    assert order == ["urgent", "first", "second"]


def test_labels_are_urgent_by_themselves(store: Store) -> None:
    run, item = judged(store, make_conversation(), {1: ["yes"]})
    claim = store.runs.read_conversation_for_review(item, "me").claims[0].id
    gate = threading.Event()
    store.submit(gate.wait)
    labelled_when_its_turn_came = store.submit(lambda: store.runs.read_run(run).labelled)
    person = threading.Thread(
        target=partial(
            store.label_log.append_label_event,
            claim,
            "me",
            Action.BLIND,
            "no",
            run=run,
            judge_verdict="yes",
            saw_judge=False,
        )
    )
    person.start()
    while len(store._database._writer._queue._jobs) < 2:
        person.join(0.001)
    gate.set()
    assert labelled_when_its_turn_came.result() == 1
    person.join()


def test_a_write_on_the_writer_thread_runs_inline(store: Store) -> None:
    def both() -> int:
        store.conversations.import_batch([make_conversation("a")])
        store.conversations.import_batch([make_conversation("b")])
        return store.conversations.count()

    assert store.submit(both).result() == 2


def test_a_submitted_write_can_be_awaited(store: Store) -> None:
    async def import_one() -> int:
        counts = await asyncio.wrap_future(
            store.submit(store.conversations.import_batch, [make_conversation()])
        )
        return counts.new

    assert asyncio.run(import_one()) == 1


def test_what_a_submitted_function_raises_reaches_the_one_who_waits(store: Store) -> None:
    with pytest.raises(StoreError, match="no conversation 99"):
        store.submit(store.runs.score_and_finish_item, 99, "done", None).result()
    assert store.conversations.count() == 0


def test_work_cancelled_before_its_turn_is_dropped(store: Store) -> None:
    gate = threading.Event()
    store.submit(gate.wait)
    dropped = store.submit(store.conversations.import_batch, [make_conversation()])
    assert dropped.cancel()
    gate.set()
    with pytest.raises(CancelledError):
        dropped.result()
    assert store.conversations.count() == 0


def test_a_write_that_raises_leaves_nothing_behind(store: Store) -> None:
    def half(connection: Connection) -> None:
        connection.exec_driver_sql("INSERT INTO document (hash, text) VALUES ('a', 'b')")
        raise ValueError("in the middle")

    with pytest.raises(ValueError, match="in the middle"):
        store._database.run_in_write_transaction(half)
    with store._database.open_reader() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM document").scalar() == 0


@pytest.mark.parametrize(("durable", "level"), [(True, 2), (False, 1)])
def test_durable_writes_wait_for_the_disk_and_others_do_not(
    store: Store, durable: bool, level: int
) -> None:
    found = store._database.run_in_write_transaction(
        lambda connection: connection.exec_driver_sql("PRAGMA synchronous").scalar(),
        durable=durable,
    )
    assert found == level
    submitted = store.submit(
        lambda: store._database.run_in_write_transaction(
            lambda connection: connection.exec_driver_sql("PRAGMA synchronous").scalar()
        ),
        durable=durable,
    )
    assert submitted.result() == level
    assert (
        store._database.run_in_write_transaction(
            lambda connection: connection.exec_driver_sql("PRAGMA synchronous").scalar()
        )
        == 1
    )


def test_the_disk_has_replies_and_labels_when_they_are_called_saved(store: Store) -> None:
    run, item = judged(store, make_conversation(), {1: ["yes"]})
    claim = store.runs.read_conversation_for_review(item, "ann").claims[0].id
    asked = CallContext("k", "j", "claims", run, item)
    reply = StoredReply("{}", "ok", True, 1, 1, 0, "r", "m", 5)
    reviews = store.label_log
    acts: dict[str, Callable[[], object]] = {
        "reply": lambda: store.calls.save_reply_release_lease_and_add_totals(asked, reply),
        "late reply": lambda: store.calls.save_late_reply(replace(asked, key="late"), reply),
        "verdict": lambda: reviews.record_verdict(claim, "ann", "no", run=run, saw_judge=False),
        "undo": lambda: reviews.undo("ann"),
        "redo": lambda: reviews.redo("ann"),
        "flag": lambda: reviews.append_label_event(
            claim,
            "ann",
            Action.MARKED,
            mark=LabelMark.FLAG,
            run=run,
            judge_verdict=None,
            saw_judge=False,
        ),
    }
    for name, act in acts.items():
        with commits_of(store) as commits:
            act()
        assert commits == ["FULL"], name


def test_readers_cannot_write(store: Store) -> None:
    with (
        pytest.raises(StoreError, match="cannot be written"),
        store._database.open_reader() as connection,
    ):
        connection.exec_driver_sql("INSERT INTO document (hash, text) VALUES ('a', 'b')")


def test_a_reader_keeps_its_snapshot_while_others_write(store: Store) -> None:
    with store._database.open_reader() as connection:
        count = "SELECT count(*) FROM conversation"
        assert connection.exec_driver_sql(count).scalar() == 0
        store.conversations.import_batch([make_conversation()])
        assert connection.exec_driver_sql(count).scalar() == 0
    assert store.conversations.count() == 1


def test_readers_in_other_threads_only_ever_see_whole_batches(store: Store) -> None:
    batches = [[make_conversation(f"{batch}-{each}") for each in range(7)] for batch in range(20)]
    seen, stop = list[int](), threading.Event()

    def read() -> None:
        while True:
            is_last = stop.is_set()
            seen.append(store.conversations.count())
            if is_last:
                break

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for batch in batches:
        store.conversations.import_batch(batch)
    stop.set()
    for reader in readers:
        reader.join()
    assert {count % 7 for count in seen} == {0}
    assert store.conversations.count() == 140


def test_writers_in_many_threads_lose_nothing(store: Store) -> None:
    def write_some(name: int) -> None:
        for number in range(10):
            store.conversations.import_batch([make_conversation(f"{name}-{number}")])

    threads = [threading.Thread(target=write_some, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.conversations.count() == 40


def test_data_version_changes_with_commits_of_this_and_of_other_processes(
    store: Store, path: Path
) -> None:
    start = store.read_change_number()
    assert store.read_change_number() == start
    store.conversations.import_batch([make_conversation("ours")])
    ours = store.read_change_number()
    assert ours != start
    with Store.open(path) as other:
        other.conversations.import_batch([make_conversation("theirs")])
    assert store.read_change_number() != ours


IMPORT_MANY = """
import sys
from pathlib import Path
from faithtui.store.store import Store
from tests.store.building import make_conversation
with Store.open(Path(sys.argv[1]), busy_timeout_s=600.0) as store:
    for number in range(50):
        store.conversations.import_batch([make_conversation(f"{sys.argv[2]}-{number}")])
"""


def run_python(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code, *arguments])


def test_three_processes_make_and_fill_the_same_store_at_once(path: Path) -> None:
    processes = [run_python(IMPORT_MANY, str(path), name) for name in ("a", "b", "c")]
    assert [process.wait() for process in processes] == [0, 0, 0]
    with Store.open(path) as store:
        assert store.conversations.count() == 150
        assert store.list_damage() == []


@pytest.mark.thorough
def test_opening_a_current_file_does_not_import_alembic(path: Path) -> None:
    Store.open(path).close()
    code = (
        "import sys; from pathlib import Path; from faithtui.store.store import Store;"
        "Store.open(Path(sys.argv[1])).close(); sys.exit('alembic' in sys.modules)"
    )
    assert run_python(code, str(path)).wait() == 0


def test_a_missing_file_is_made_only_when_asked(path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no store at .*store\.db; import"):
        Store.open(path, create=False)
    assert not path.exists()
    Store.open(path).close()
    Store.open(path, create=False).close()


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no directory .*nowhere; make it"):
        Store.open(tmp_path / "nowhere" / "store.db")
    assert not (tmp_path / "nowhere").exists()


def test_a_directory_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a directory; name a file"):
        Store.open(tmp_path)


@pytest.mark.parametrize("content", [b"Just a text file, with words in it.\n" * 40, b"\xff" * 9000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"store\.db is no database, or its first page"):
        Store.open(path)
    assert path.read_bytes() == content


def test_another_programs_database_is_refused_and_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE alembic_version (version_num TEXT)")
        other.execute("INSERT INTO alembic_version VALUES ('0001')")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="database of another program"):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_newer_schema_is_refused_and_left_alone(path: Path) -> None:
    Store.open(path).close()
    other = sqlite3.connect(path)
    other.execute("UPDATE alembic_version SET version_num = '0099'")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(
        StoreError, match=rf"newer .* \(schema 0099, this one knows {find_head_revision()}\)"
    ):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_lock_held_elsewhere_is_reported_after_the_timeout_and_then_over(
    path: Path,
) -> None:
    with Store.open(path, busy_timeout_s=0.2) as store:
        store.conversations.import_batch([make_conversation("before")])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked by another process"):
            store.conversations.import_batch([make_conversation("meanwhile")])
        assert store.conversations.count() == 1
        other.execute("ROLLBACK")
        other.close()
        store.conversations.import_batch([make_conversation("after")])
        assert store.conversations.count() == 2


def test_a_file_locked_whole_cannot_be_opened(path: Path) -> None:
    Store.open(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="locked by another process"):
        Store.open(path, busy_timeout_s=0.05)
    other.close()
    Store.open(path).close()


def test_a_full_disk_is_reported_and_what_was_there_stays(store: Store) -> None:
    judged(store, make_conversation("before"), {1: ["yes"]})
    pages = pragma(store, "page_count")
    write(store, f"PRAGMA max_page_count = {pages}")
    big = make_conversation("big", say="word " * 100_000)
    with pytest.raises(StoreError, match="the disk is full and this was not written"):
        store.conversations.import_batch([make_conversation("small"), big])
    assert store.conversations.count() == 1
    assert store.list_damage() == []
    write(store, "PRAGMA max_page_count = 1000000")
    assert store.conversations.import_batch([make_conversation("small"), big]).new == 2


OPEN_AS_NOBODY = """
import os, sys
from pathlib import Path
from faithtui.errors import StoreBusy, StoreError
from faithtui.store.store import Store
if os.getuid() == 0:
    os.setuid(65534)
try:
    with Store.open(Path(sys.argv[1])) as store:
        if store.is_read_only:
            runs = len(store.runs.list_runs())
            print("read only,", store.conversations.count(), store.list_damage(), runs)
except StoreError as error:
    print(error)
"""


def as_nobody(path: Path) -> str:
    """Open a store as somebody who may not do everything, and give what it says."""
    return subprocess.run(
        [sys.executable, "-c", OPEN_AS_NOBODY, str(path)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def test_files_and_directories_that_cannot_be_written_are_read() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        path = directory / "store.db"
        with Store.open(path) as store:
            store.conversations.import_batch([make_conversation()])
        path.chmod(0o444)
        directory.chmod(0o777)
        assert as_nobody(path) == "read only, 1 [] 0\n"
        path.chmod(0o666)
        directory.chmod(0o555)
        assert as_nobody(path) == "read only, 1 [] 0\n"
        path.chmod(0o000)
        assert "store.db cannot be read; change its permissions" in as_nobody(path)
        path.chmod(0o666)
        directory.chmod(0o777)
        assert as_nobody(path) == ""
        directory.chmod(0o555)
        new = directory / "new.db"
        assert f"the directory {directory} cannot be written" in as_nobody(new)


def test_changes_that_only_an_unreadable_log_has_are_told() -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        path = directory / "store.db"
        with Store.open(path) as store:
            store.conversations.import_batch([make_conversation()])
            copies = [directory / "copy.db", directory / "copy.db-wal"]
            for source, copy in zip((path, directory / "store.db-wal"), copies, strict=True):
                shutil.copyfile(source, copy)
                copy.chmod(0o444)
        directory.chmod(0o555)
        assert "the last changes of" in as_nobody(copies[0])
        assert "copy both to another directory" in as_nobody(copies[0])


def test_a_file_that_turns_read_only_is_reported(store: Store) -> None:
    raw = store._database._writer.raw_connection
    store.submit(raw.execute, "PRAGMA query_only = ON").result()
    with pytest.raises(StoreError, match="cannot be written"):
        store.conversations.import_batch([make_conversation()])


def test_check_names_damage(path: Path) -> None:
    with Store.open(path) as store:
        store.conversations.import_batch([make_conversation(str(number)) for number in range(200)])
    content = path.read_bytes()
    path.write_bytes(content[:-8192] + b"\x00" * 8192)
    with Store.open(path) as store:
        assert store.list_damage()


def test_check_names_broken_references(store: Store, path: Path) -> None:
    judged(store, make_conversation(), {1: ["yes"]})
    other = sqlite3.connect(path)
    other.execute("DELETE FROM claim")
    other.commit()
    other.close()
    assert store.list_damage() == [
        "row 1 of table evidence refers to a row of claim that is not there",
        "row 1 of table verdict refers to a row of claim that is not there",
        "row 2 of table verdict refers to a row of claim that is not there",
    ]


def test_a_bug_keeps_its_traceback(store: Store) -> None:
    with pytest.raises(OperationalError, match="no such table"):
        write(store, "SELECT * FROM nowhere")


def test_a_closed_store_is_named_without_terminal_codes(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "evil \x1b]2;title\x07.db")
    store.close()
    with pytest.raises(StoreError, match="is closed") as refused:
        store.runs.list_runs()
    assert "\x1b" not in str(refused.value)
    assert "\x07" not in str(refused.value)
