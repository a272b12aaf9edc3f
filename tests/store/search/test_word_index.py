"""Words that wait for the index: found all the same, after kills, deletions and other imports."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.filters import parse_filter
from faithtui.domain.ids import RunId
from faithtui.errors import StoreReadOnly
from faithtui.store.deletion_records import DeletionKind
from faithtui.store.search import word_index
from faithtui.store.search.filter_search import SearchStop, SearchStopped, make_filter_context
from faithtui.store.search.word_index import rebuild_index
from faithtui.store.store import Store
from tests.store.building import SPEC, import_conversations
from tests.store.search.test_filters import claims, found


def make_conversation(key: str, source: str = "tests") -> Conversation:
    """A conversation whose words are its own: key, question, answer and passage."""
    return Conversation(
        source,
        key,
        (
            Turn("user", f"question{key}"),
            Turn("assistant", f"answer{key} the same", (Document(f"passage{key}", f"{key}.md"),)),
        ),
        key,
    )


def import_without_words(store: Store, chats: Sequence[Conversation]) -> RunId:
    store.conversations.import_batch(chats, index_words=False)
    return store.runs.create(SPEC, import_conversations(store, chats))


def index_all_texts(store: Store) -> None:
    while store.word_index.index_next_lot():
        pass


def read_index(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Read where each word of the index stands."""
    connection = sqlite3.connect(path)
    found = {}
    for name in ("search_conversation", "search_document", "search_claim"):
        connection.execute(
            f"CREATE VIRTUAL TABLE temp.v_{name} USING fts5vocab(main, {name}, instance)"
        )
        found[name] = sorted(connection.execute(f"SELECT * FROM v_{name}"))
    connection.close()
    return found


def test_words_that_wait_are_indexed_by_the_first_search(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as store:
        run = import_without_words(store, [make_conversation("a"), make_conversation("b")])
        assert store.word_index.count_unindexed_texts() == 4
        assert found(store, run, "state:pending") == ["a", "b"]
        assert store.word_index.count_unindexed_texts() == 4, "no words were searched for"
        assert found(store, run, "passageb") == ["b"]
        assert store.word_index.count_unindexed_texts() == 0
        assert found(store, run, "questiona") == ["a"]
        assert found(store, run, "same") == ["a", "b"]


def test_counts_and_claims_wait_for_the_words_too(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as store:
        run = import_without_words(store, [make_conversation("a"), make_conversation("b")])
        wanted = parse_filter("answera", make_filter_context(SPEC.rule)).filter
        assert store.search.count_matching_items(run, wanted) == 1
        run = import_without_words(store, [make_conversation("c")])
        assert claims(store, run, "answera") == []
        assert store.word_index.count_unindexed_texts() == 0


_KILLED_IMPORT = """
import os, sys
from pathlib import Path
from faithtui.engine.dataset_import import import_files
from faithtui.store.deletion_records import DeletionKind
from faithtui.store.search import word_index
from faithtui.store.store import Store
lots = 0
index_next_lot = word_index.index_next_lot
def index_or_die(connection):
    global lots
    index_next_lot(connection)
    lots += 1
    if lots == 2:
        os._exit(9)
word_index.LOT_ROWS = 3
word_index.index_next_lot = index_or_die
with Store.open(Path(sys.argv[2])) as store:
    import_files(store, [Path(sys.argv[1])], report=lambda progress: None)
"""


def test_an_import_that_is_killed_between_rows_and_words_loses_no_word(tmp_path: Path) -> None:
    path, store_path = tmp_path / "data.jsonl", tmp_path / "x.db"
    path.write_text(
        "".join(
            f'{{"id": "k{number}", "turns": [{{"role": "user", "content": "question{number}"}}, '
            f'{{"role": "assistant", "content": "answer{number}", '
            f'"retrieval_context": ["passage{number}"]}}]}}\n'
            for number in range(20)
        )
    )
    died = subprocess.run(
        [sys.executable, "-c", _KILLED_IMPORT, str(path), str(store_path)],
        check=False,
        env=os.environ,
    )
    assert died.returncode == 9
    with Store.open(store_path) as store:
        # The first lot is there; the second one was not committed.
        assert store.word_index.count_unindexed_texts() == 2 * 17
        run = store.runs.create(SPEC, store.conversations.list_ids(("data",)))
        assert [found(store, run, f"passage{number}") for number in (0, 2, 3, 19)] == [
            ["k0"],
            ["k2"],
            ["k3"],
            ["k19"],
        ]


def test_a_deletion_indexes_what_waits_and_forgets_what_goes(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as store:
        kept = import_without_words(store, [make_conversation("a"), make_conversation("b")])
        import_without_words(store, [make_conversation("gone", "other")])
        gone = store.conversations.list_ids(("other",))
        store.deletions.delete_conversations(DeletionKind.DATASET, gone, "ann")
        assert store.word_index.count_unindexed_texts() == 0
        assert found(store, kept, "passageb") == ["b"]
    index = read_index(tmp_path / "x.db")
    assert not [row for rows in index.values() for row in rows if "gone" in str(row[0])]


def test_few_rows_that_come_after_many_that_wait_wait_too(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as store:
        import_without_words(store, [make_conversation("a"), make_conversation("b")])
        store.conversations.import_batch([make_conversation("c")])
        assert store.word_index.count_unindexed_texts() == 6
        index_all_texts(store)
        store.conversations.import_batch([make_conversation("d")])
        assert store.word_index.count_unindexed_texts() == 0
        run = store.runs.create(
            SPEC, import_conversations(store, [make_conversation(key) for key in "abcd"])
        )
        assert [found(store, run, f"passage{key}") for key in "abcd"] == [
            ["a"],
            ["b"],
            ["c"],
            ["d"],
        ]


@settings(max_examples=8, deadline=None)
@given(sizes=st.lists(st.integers(1, 4), max_size=5), lot=st.integers(1, 5))
def test_the_index_is_the_same_however_it_was_made(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], lot: int
) -> None:
    folder = tmp_path_factory.mktemp("index")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_index, "LOT_ROWS", lot)
        for name in ("whole", "lots", "anew"):
            with Store.open(folder / f"{name}.db") as store:
                begin = 0
                for size in sizes:
                    chats = [make_conversation(str(begin + number)) for number in range(size)]
                    begin += size
                    store.conversations.import_batch(chats, index_words=name == "whole")
                if name == "lots":
                    index_all_texts(store)
                elif name == "anew":
                    store._database.run_in_write_transaction(rebuild_index)
    whole = read_index(folder / "whole.db")
    assert whole == read_index(folder / "lots.db")
    assert whole == read_index(folder / "anew.db")
    assert len({row[1] for row in whole["search_conversation"]}) == sum(sizes)


def test_a_lot_ends_before_it_holds_too_many_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_index, "_LOT_CHARACTERS", 20)
    with Store.open(tmp_path / "x.db") as store:
        import_without_words(store, [make_conversation(key) for key in "abc"])
        # Messages of one conversation are 27 characters, passages 8: one and two of them.
        assert store.word_index.index_next_lot() == 6 - 3


def test_a_search_that_is_stopped_keeps_what_was_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_index, "LOT_ROWS", 1)
    with Store.open(tmp_path / "x.db") as store:
        run = import_without_words(store, [make_conversation("a"), make_conversation("b")])
        stop = SearchStop()
        index_next_lot = word_index.index_next_lot

        def index_and_stop(connection: object) -> None:
            index_next_lot(connection)  # type: ignore[arg-type]  # as it was called
            stop.stop()

        monkeypatch.setattr(word_index, "index_next_lot", index_and_stop)
        wanted = parse_filter("passagea", make_filter_context(SPEC.rule)).filter
        with pytest.raises(SearchStopped):
            store.search.list_matching_items(run, wanted, stop=stop)
        assert store.word_index.count_unindexed_texts() == 2


def test_a_store_that_cannot_be_written_says_that_words_wait(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as store:
        run = import_without_words(store, [make_conversation("a")])
    with Store.open(tmp_path / "x.db", read_only=True) as store:
        assert found(store, run, "state:pending") == ["a"]
        with pytest.raises(StoreReadOnly, match="those of 2 conversations and passages"):
            found(store, run, "passagea")


def test_words_of_others_keep_nobody_from_searching(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Store.open(path) as store:
        run = store.runs.create(SPEC, import_conversations(store, [make_conversation("a")]))
        waiting = import_without_words(store, [make_conversation("b", "other")])
        assert found(store, run, "passagea") == ["a"]
        assert store.word_index.count_unindexed_texts() == 2
    with Store.open(path, read_only=True) as store:
        assert found(store, run, "passagea") == ["a"]
        with pytest.raises(StoreReadOnly, match="wait for an import that is under way"):
            found(store, waiting, "passageb")
    with Store.open(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")  # an import that writes
        assert found(store, run, "passagea") == ["a"]
        other.close()
        assert found(store, waiting, "passageb") == ["b"]
        assert store.word_index.count_unindexed_texts() == 0


def test_a_passage_of_the_run_that_waits_is_indexed_first(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.db") as store:
        run = store.runs.create(SPEC, import_conversations(store, [make_conversation("a")]))
        assert store.word_index.is_run_indexed(run)
        connection = sqlite3.connect(tmp_path / "x.db")
        connection.execute("INSERT INTO document (id, text, hash) VALUES (99, 'late', 'x')")
        connection.execute("UPDATE turn_document SET document_id = 99")
        connection.commit()
        connection.close()
        assert not store.word_index.is_run_indexed(run)
        assert found(store, run, "late") == ["a"]


def test_what_an_older_program_left_before_its_own_words_is_indexed(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Store.open(path) as store:
        run = import_without_words(store, [make_conversation("a"), make_conversation("b")])
        later = import_without_words(store, [make_conversation("c")])
    connection = sqlite3.connect(path)
    for name in ("conversation", "document"):
        # It wrote the words with the rows, whatever waited.
        connection.execute(
            f"INSERT INTO search_{name} (rowid, text) SELECT max(id), 'passagec' FROM {name}"
        )
    connection.commit()
    connection.close()
    with Store.open(path, read_only=True) as store:
        assert store.word_index.count_unindexed_texts() == 4
        with pytest.raises(StoreReadOnly, match="those of 4 conversations and passages"):
            found(store, run, "passageb")
    with Store.open(path) as store:
        assert found(store, run, "passageb") == ["b"]
        assert found(store, run, "questiona") == ["a"]
        assert found(store, later, "passagec") == ["c"]
        assert store.word_index.count_unindexed_texts() == 0
