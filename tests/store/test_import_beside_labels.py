"""An import lets a label go first, and sets the file up for many writes only while it lasts."""

import shutil
from concurrent.futures import Future
from pathlib import Path

import pytest

import faithtui.store.conversations as conversations_store
from faithtui.domain.conversation import Conversation, Turn
from faithtui.engine.dataset_import import ImportProgress, import_files
from faithtui.store.conversation_import import import_batch
from faithtui.store.file.writer import MANY_WRITES_LOG_PAGES
from faithtui.store.records import ImportCounts
from faithtui.store.store import Store


def make_conversations(count: int) -> list[Conversation]:
    return [
        Conversation("s", f"c{number}", (Turn("user", f"q {number}"),), f"s/c{number}")
        for number in range(count)
    ]


def read_pragma(store: Store, name: str) -> int:
    raw = store._database._writer.raw_connection
    (value,) = store.submit(lambda: raw.execute(f"PRAGMA {name}").fetchone()).result()
    return int(value)


def test_a_label_goes_before_the_next_conversations_of_an_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = conversations_store.IMPORTED_TOGETHER
    seen_by_label: list[Future[int]] = []

    with Store.open(tmp_path / "x.db") as store:

        def write_and_label(*args: object, **options: bool) -> ImportCounts:
            counts = import_batch(*args, **options)  # type: ignore[arg-type]  # as it was called
            if not seen_by_label:  # a label is given while the first of them are written
                seen_by_label.append(store.submit(store.conversations.count, urgent=True))
            return counts

        monkeypatch.setattr(conversations_store, "import_batch", write_and_label)
        counts = store.conversations.import_batch(make_conversations(3 * together))

        assert seen_by_label[0].result() == together
        assert counts == ImportCounts(new=3 * together)
        assert store.conversations.count() == 3 * together


def test_counts_of_an_import_in_several_transactions_are_those_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = make_conversations(5)
    equal = Conversation("s", "twin", given[0].turns, "s/twin")
    other = Conversation("s", "c1", given[2].turns, "s/c1")
    found = []
    for together in (1, 100):
        monkeypatch.setattr(conversations_store, "IMPORTED_TOGETHER", together)
        monkeypatch.setattr(
            "faithtui.store.database.Database.is_urgent_work_at_hand", together == 1
        )
        with Store.open(tmp_path / f"{together}.db") as store:
            store.conversations.import_batch(given[:2])
            found.append(
                store.conversations.import_batch([*given[2:], equal, other], merge_equal=True)
            )
            assert store.conversations.count() == 5
    assert found[0] == found[1]
    assert found[0] == ImportCounts(
        new=3, same_content=(("twin", "c0"),), merged=(("twin", "c0"),), conflicting=("c1",)
    )


def test_the_log_is_longer_only_while_files_are_imported(tmp_path: Path) -> None:
    rows = tmp_path / "x.jsonl"
    rows.write_text('{"id": "a", "turns": [{"role": "user", "content": "Hi"}]}\n')
    meanwhile: list[tuple[int, int]] = []
    names = ("wal_autocheckpoint", "cache_size")
    with Store.open(tmp_path / "x.db") as store:
        before = tuple(read_pragma(store, name) for name in names)

        def look(_: ImportProgress) -> None:
            meanwhile.append((read_pragma(store, names[0]), read_pragma(store, names[1])))

        import_files(store, [rows], report=look)
        assert meanwhile[0] == (MANY_WRITES_LOG_PAGES, -64_000)
        assert tuple(read_pragma(store, name) for name in names) == before
        # The import folded the log in, so that no label has to: the file alone has the rows.
        alone = tmp_path / "alone.db"
        shutil.copyfile(tmp_path / "x.db", alone)
        with Store.open(alone) as copy:
            assert copy.conversations.count() == 1
