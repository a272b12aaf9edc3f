"""Importing conversations and reading them back."""

import sqlite3
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faithtui.domain.claims.verdicts import Claim
from faithtui.domain.conversation import (
    Conversation,
    Document,
    Image,
    Rating,
    Span,
    Turn,
    content_hash,
)
from faithtui.domain.ids import ConversationId
from faithtui.errors import StoreError
from faithtui.store.records import ImportCounts, SourceRow
from faithtui.store.search.word_index import rebuild_index
from faithtui.store.store import Store
from tests.store.building import judged, make_conversation

RICH = Conversation(
    source="mtrag",
    key="c1",
    turns=(
        Turn("user", "  What?\r\n", images=(Image("ab" * 32, "image/png"),)),
        Turn(
            "assistant",
            "One. Two. \x1b[2J🧪 [red]",
            (
                Document("Passage", "a.md"),
                Document("Passage", None, (Image("cd" * 32, "image/jpeg"),)),
                Document(""),
            ),
        ),
        Turn("user", ""),
        Turn("assistant", "Nothing retrieved.", ()),
        Turn("assistant", "Nobody knows.", None),
    ),
    group="g1",
    metadata={"model": "m", "nested": {"a": [1, None, 2.5, True]}},
    ratings=(
        Rating(1, "ann", "mtrag-faithfulness-1-4", "4"),
        Rating(1, "bob", "faithbench-span", "Unwanted", "One.", Span(0, 4), "made up"),
        Rating(3, "ann", "some scale", "Weird"),
    ),
)


IMAGES = {"ab" * 32: b"png", "cd" * 32: b"jpeg"}


def only(store: Store) -> ConversationId:
    (number,) = store.conversations.list_ids()
    return number


def test_equal_beginnings_are_told_by_words_and_documents(store: Store) -> None:
    whole = make_conversation("one", answers=3)
    other_answer = (*whole.turns[:3], replace(whole.turns[3], content="Else."), *whole.turns[4:])
    context = (Document("Another fact."),)
    other_context = (*whole.turns[:5], replace(whole.turns[5], retrieval_context=context))
    chats = [
        whole,
        replace(whole, key="copy"),
        replace(whole, key="shorter", turns=whole.turns[:2]),
        replace(whole, key="answer", turns=other_answer),
        replace(whole, key="context", turns=other_context),
        make_conversation("two", answers=3),
    ]
    store.conversations.import_batch(chats)
    found = {store.conversations.get(each).key: each for each in store.conversations.list_ids()}
    everyone = frozenset(found.values())
    count = store.conversations.count_same_beginnings_by_turn
    assert count(found["one"], everyone) == (5, 5, 4, 3, 3, 2)
    assert count(found["shorter"], everyone) == (5, 5)
    assert count(found["two"], everyone) == (1,) * 6
    assert count(found["one"], frozenset((found["one"], found["copy"]))) == (2,) * 6


def test_a_conversation_comes_back_as_it_went_in(store: Store) -> None:
    counts = store.conversations.import_batch([RICH], IMAGES)
    assert counts == ImportCounts(new=1, new_ratings=3)
    assert store.conversations.get(only(store)) == RICH


texts = st.text(
    st.characters(exclude_categories=(), exclude_characters="")
    | st.sampled_from("\x00\ud800\udfff")
)
documents = st.builds(Document, texts, st.none() | texts)
turns = st.builds(
    Turn,
    st.sampled_from(["user", "assistant"]),
    texts,
    st.none() | st.lists(documents, max_size=3).map(tuple),
)


def stored(text: str) -> str:
    return "".join("\ufffd" if c == "\x00" or 0xD800 <= ord(c) <= 0xDFFF else c for c in text)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(turns, max_size=5).map(tuple), texts)
def test_every_text_is_kept_but_for_what_no_database_stores(
    store: Store, content: tuple[Turn, ...], key: str
) -> None:
    source = f"s{store.conversations.count()}"
    given_ = Conversation(source, key, content, group=key, metadata={key: [key]})
    assert store.conversations.import_batch([given_]).new == 1
    assert store.conversations.import_batch([given_]).unchanged == 1
    (number,) = store.conversations.list_ids((source,))
    found = store.conversations.get(number)
    assert found.key == found.group == stored(key)
    assert found.metadata == {stored(key): [stored(key)]}
    assert found.turns == tuple(
        Turn(
            turn.role,
            stored(turn.content),
            None
            if turn.retrieval_context is None
            else tuple(
                Document(stored(each.text), None if each.source is None else stored(each.source))
                for each in turn.retrieval_context
            ),
        )
        for turn in content
    )
    assert store.conversations.import_batch([replace(found, key="copy")]).same_content


def test_importing_again_changes_nothing(store: Store) -> None:
    store.conversations.import_batch([RICH, make_conversation()], IMAGES)
    before = store.read_change_number()
    assert store.conversations.import_batch([RICH, make_conversation()], IMAGES) == ImportCounts(
        unchanged=2
    )
    assert store.conversations.count() == 2
    assert store.read_change_number() == before
    assert store.conversations.get(store.conversations.list_ids()[0]) == RICH


def test_new_ratings_of_a_stored_conversation_are_added(store: Store) -> None:
    store.conversations.import_batch([RICH], IMAGES)
    more = Rating(1, "cyd", "mtrag-faithfulness-1-4", "1")
    counts = store.conversations.import_batch(
        [replace(RICH, ratings=(more, *RICH.ratings))], IMAGES
    )
    assert counts == ImportCounts(unchanged=1, new_ratings=1)
    assert store.conversations.get(only(store)).ratings == (*RICH.ratings, more)


def test_equal_ratings_are_one(store: Store) -> None:
    rating = RICH.ratings[0]
    counts = store.conversations.import_batch([replace(RICH, ratings=(rating, rating))], IMAGES)
    assert counts.new_ratings == 1


def test_other_turns_under_a_stored_identity_are_refused_whole(store: Store) -> None:
    store.conversations.import_batch([RICH], IMAGES)
    other = replace(RICH, turns=RICH.turns[:-1], ratings=(Rating(1, "eve", "begin-3", "Generic"),))
    assert store.conversations.import_batch([other, make_conversation()]) == ImportCounts(
        new=1, conflicting=("c1",)
    )
    assert store.conversations.get(store.conversations.list_ids()[0]) == RICH


def test_the_same_identity_twice_in_a_batch_is_seen(store: Store) -> None:
    counts = store.conversations.import_batch(
        [make_conversation("a"), make_conversation("a"), make_conversation("a", answers=1)]
    )
    assert counts == ImportCounts(new=1, unchanged=1, conflicting=("a",))


def test_equal_content_under_another_key_of_the_source_is_reported_and_kept(store: Store) -> None:
    first = make_conversation("a")
    store.conversations.import_batch([first])
    counts = store.conversations.import_batch(
        [
            replace(first, key="b"),
            replace(first, key="c", source="elsewhere"),
            replace(first, key="d", source="elsewhere"),
        ]
    )
    assert counts == ImportCounts(new=3, same_content=(("b", "a"), ("d", "c")))
    assert store.conversations.count() == 4


def test_a_text_retrieved_often_is_stored_once(store: Store) -> None:
    store.conversations.import_batch([make_conversation(str(number)) for number in range(5)])
    with store._database.open_reader() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM document").scalar() == 2
        assert connection.exec_driver_sql("SELECT count(*) FROM turn_document").scalar() == 10


def test_documents_are_numbered_in_the_order_in_which_they_came(store: Store) -> None:
    texts = [f"passage {number}" for number in range(20)]
    turn = Turn("assistant", "Yes.", tuple(map(Document, [*texts, *texts])))
    store.conversations.import_batch([Conversation.of(turn)])
    with store._database.open_reader() as connection:
        found = connection.exec_driver_sql("SELECT text FROM document ORDER BY id").scalars()
        assert list(found) == texts


def test_conversations_are_listed_by_source_in_the_order_of_import(store: Store) -> None:
    store.conversations.import_batch(
        [
            make_conversation("z", source="two"),
            make_conversation("b"),
            RICH,
            make_conversation("a"),
        ],
        IMAGES,
    )
    ids = store.conversations.list_ids()
    assert [store.conversations.get(number).key for number in ids] == ["z", "b", "c1", "a"]
    assert store.conversations.list_ids(("tests",)) == (ids[1], ids[3])
    assert store.conversations.list_ids(("tests", "two"), limit=2) == ids[:2]
    assert store.conversations.list_ids(("nowhere",)) == ()
    assert store.conversations.count(("tests", "two")) == 3
    assert store.conversations.list_sources() == (
        SourceRow("two", 1, 0),
        SourceRow("tests", 2, 0),
        SourceRow("mtrag", 1, 3),
    )


def test_an_empty_store_has_nothing(store: Store) -> None:
    assert store.conversations.import_batch([]) == ImportCounts()
    assert store.conversations.list_ids() == ()
    assert store.conversations.count() == 0
    assert store.conversations.list_sources() == ()
    with pytest.raises(StoreError, match=r"no conversation 7 in .*; import it first"):
        store.conversations.get(ConversationId(7))


def test_imported_claims_come_in_the_order_of_the_text_and_once_each(store: Store) -> None:
    def span(turn: int, text: str, place: Span | None, who: str) -> Rating:
        return Rating(turn, who, "faithbench-span", "Unwanted", text, place)

    ratings = (
        span(3, "Later turn", Span(0, 5), "ann"),
        span(1, "Not literal", None, "ann"),
        span(1, "Second", Span(10, 16), "ann"),
        span(1, "First", Span(0, 5), "ann"),
        span(1, " FIRST ", Span(0, 5), "bob"),
        Rating(1, "ann", "begin-3", "Generic"),
    )
    store.conversations.import_batch([make_conversation(ratings=ratings)])
    assert store.conversations.list_imported_claims(only(store)) == (
        Claim(1, "First", Span(0, 5)),
        Claim(1, "Second", Span(10, 16)),
        Claim(1, "Not literal"),
        Claim(3, "Later turn", Span(0, 5)),
    )


def test_a_claim_that_a_judge_drew_first_becomes_an_imported_one(store: Store) -> None:
    _, item = judged(store, make_conversation(), {1: ["yes", "yes"]})
    assert store.conversations.list_imported_claims(only(store)) == ()
    rating = Rating(1, "ann", "faithbench-span", "Unwanted", "claim 1.1", Span(2, 9))
    store.conversations.import_batch([make_conversation(ratings=[rating])])
    assert store.conversations.list_imported_claims(only(store)) == (
        Claim(1, "Claim 1.1", Span(2, 9)),
    )
    (row,) = store.runs.read_item_rows([item])
    assert (row.labelled, row.overridden) == (1, 1)
    assert row.corrected is not None
    assert row.corrected.pooled.value == 0.5


def test_a_thousand_conversations_are_imported_in_batches(store: Store) -> None:
    everything = [make_conversation(str(number)) for number in range(1000)]
    for start in range(0, 1000, 100):
        store.conversations.import_batch(everything[start : start + 100])
    assert store.conversations.count() == 1000
    assert store.conversations.import_batch(everything) == ImportCounts(unchanged=1000)
    number = store.conversations.list_ids()[617]
    assert content_hash(store.conversations.get(number).turns) == content_hash(
        everything[617].turns
    )


def test_new_words_are_indexed_as_a_rebuilt_index_has_them(store: Store) -> None:
    documents = (Document("Wörter und \x00 noch mehr"),)
    turns = (Turn("user", "Où est la gare?"), Turn("assistant", "Là-bas.\nTout droit.", documents))
    store.conversations.import_batch([replace(Conversation.of(*turns), key="schlüssel")])

    def read_index() -> list[tuple[str, ...]]:
        with sqlite3.connect(store.path) as connection:
            found = []
            for name in ("search_conversation", "search_document"):
                connection.execute(
                    f"CREATE VIRTUAL TABLE temp.words_{name} "
                    f"USING fts5vocab(main, {name}, instance)"
                )
                found += connection.execute(
                    f"SELECT term, doc, col, offset FROM temp.words_{name} ORDER BY 1, 2, 3, 4"
                ).fetchall()
        connection.close()
        return found

    before = read_index()
    store._database.run_in_write_transaction(rebuild_index)
    assert before
    assert read_index() == before


def test_a_merged_conversation_leaves_its_id_and_what_its_metadata_has_of_its_own(
    store: Store,
) -> None:
    turns = (Turn("user", "q"), Turn("assistant", "An answer."))
    first, *others = (
        replace(Conversation.of(*turns, key=key), metadata={"t": number, "x": 0})
        for key, number in (("a", 1), ("b", 2), ("c", 2))
    )
    for _ in range(2):  # importing again adds nothing
        store.conversations.import_batch([first, *others], merge_equal=True)
        [kept] = map(store.conversations.get, store.conversations.list_ids())
        merged = [{"id": "b", "metadata": {"t": 2}}, {"id": "c", "metadata": {"t": 2}}]
        assert kept.metadata == {"t": 1, "x": 0, "merged": merged}
    read = store.conversations.list_keys_with_other_metadata
    assert read(kept.source, {"a": first.metadata}) == []
    assert read(kept.source, {"a": {"t": 3}}) == ["a"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("yes", {"merged": "yes", "merged (2)": [{"id": "b"}]}),
        (["yes"], {"merged": ["yes"], "merged (2)": [{"id": "b"}]}),
        ([{"id": "z"}], {"merged": [{"id": "z"}, {"id": "b"}]}),
    ],
)
def test_what_came_as_merged_stays_its_own(
    store: Store, given: object, kept: dict[str, object]
) -> None:
    turns = (Turn("user", "q"), Turn("assistant", "An answer."))
    first, other = (Conversation.of(*turns, key=key) for key in ("a", "b"))
    first, other = (replace(each, metadata={"merged": given}) for each in (first, other))
    for _ in range(2):
        store.conversations.import_batch([first, other], merge_equal=True)
        [found] = map(store.conversations.get, store.conversations.list_ids())
        assert found.metadata == kept
    read = store.conversations.list_keys_with_other_metadata
    assert read(first.source, {"a": first.metadata}) == []
    assert read(first.source, {"a": {"merged": "no"}}) == ["a"]


def test_equal_turns_are_merged_only_on_request(store: Store) -> None:
    turns = (Turn("user", "q"), Turn("assistant", "An answer."))
    first = Conversation.of(*turns, key="first")
    rated = replace(
        Conversation.of(*turns, key="second"), ratings=(Rating(1, "ann", "yes-no-idk", "yes"),)
    )
    store.conversations.import_batch([first])
    counts = store.conversations.import_batch([rated], merge_equal=True)
    assert (counts.new, counts.unchanged, counts.new_ratings) == (0, 0, 1)
    assert counts.merged == counts.same_content == (("second", "first"),)
    [kept] = map(store.conversations.get, store.conversations.list_ids())
    assert (kept.key, kept.ratings) == ("first", rated.ratings)
    assert kept.metadata == {"merged": [{"id": "second"}]}
    # Again it changes nothing, and without the request both are kept.
    assert store.conversations.import_batch([rated], merge_equal=True).new_ratings == 0
    assert store.conversations.import_batch([rated]).new == 1
