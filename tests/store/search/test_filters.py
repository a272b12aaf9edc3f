"""Filters find what they say, in new stores and older ones, and never fail on what is typed."""

import json
import shutil
import threading
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text as sql

from faithtui.domain.conversation import Conversation, Document, Rating, Turn
from faithtui.domain.filters import parse_filter
from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.labels.label_events import Action
from faithtui.store.file import readers
from faithtui.store.records import ItemState
from faithtui.store.search.filter_search import SearchStop, SearchStopped, make_filter_context
from faithtui.store.store import Store
from tests.store.building import (
    FACTS,
    SPEC,
    SUPPORTED,
    assess,
    imported,
    judged,
    make_conversation,
    said,
    spec_of,
    windows_of,
)
from tests.store.runs.test_claim_kinds import answer
from tests.tui.building import shop as build_shop

FIXTURES = Path(__file__).parents[3] / "fixtures"


def found(store: Store, run: RunId, text: str, order: str = "number") -> list[str]:
    """Keys of the conversations that a filter finds."""
    reading = parse_filter(text, make_filter_context(store.runs.read_run(run).spec.rule))
    assert reading.problem is None
    items = store.search.list_matching_items(run, reading.filter, order)  # type: ignore[arg-type]  # of a test
    return [row.key for row in store.runs.read_item_rows(items)]


def claims(store: Store, run: RunId, text: str) -> list[str]:
    """Texts of the claims that a filter finds."""
    reading = parse_filter(text, make_filter_context(store.runs.read_run(run).spec.rule))
    texts: list[str] = []
    for item, claim_id in store.search.find_claims(run, reading.filter):
        view = store.runs.read_conversation_for_review(item, "ann")
        texts += [f"{view.item.key} {each.text}" for each in view.claims if each.id == claim_id]
    return texts


def label(store: Store, item: ItemId, place: int, verdict: str | None, **said: object) -> None:
    claim = store.runs.read_conversation_for_review(item, "ann").claims[place]
    store.label_log.append_label_event(
        claim.id,
        str(said.pop("reviewer", "ann")),
        said.pop("action", Action.OVERRIDDEN),  # type: ignore[arg-type]  # of a test
        verdict,
        run=None,
        judge_verdict=claim.first_window_verdict.label,
        saw_judge=True,
        **said,  # type: ignore[arg-type]  # of a test
    )


@pytest.fixture
def shop(store: Store) -> tuple[Store, RunId, list[ItemId]]:
    """Three conversations: apples judged yes and no, pears yes and idk, plums yes and nothing."""
    chats = [
        Conversation(
            "fruit",
            f"{fruit}-1",
            (
                Turn("user", f"How sweet are {fruit}s?"),
                Turn("assistant", f"Our {fruit}s are very sweet.", (Document(passage),)),
            ),
            group=fruit,
        )
        for fruit, passage in (
            ("apple", "Grown in Kent."),
            ("pear", "Grown in Gaül."),
            ("plum", "?"),
        )
    ]
    store.conversations.import_batch(chats)
    run = store.runs.create(spec_of("turn-faithfulness", FACTS), store.conversations.list_ids())
    items = list(store.runs.list_item_ids(run))
    labels: Sequence[tuple[str | None, ...]] = (("yes", "no"), ("yes", "idk"), ("yes", None))
    for item, each, given_labels in zip(items, chats, labels, strict=True):
        for window in windows_of(each):
            store.runs.save_window(item, assess(window, {1: given_labels}))
        store.runs.score_and_finish_item(item, ItemState.DONE, None)
    return store, run, items


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("", "apple pear plum"),
        ("verdict:no", "apple"),
        ("verdict:borderline", "pear"),
        ("verdict:missing", "plum"),
        ("-verdict:yes", "apple pear plum"),
        ("verdict:no verdict:yes", ""),
        ("sweet", "apple pear plum"),
        ("SWEET kent", "apple"),
        ("gaul", "pear"),
        ("ken", "apple"),
        ("ken sweet", ""),
        ('"very sweet"', "apple pear plum"),
        ('"sweet very"', ""),
        ("-kent", "pear plum"),
        ("apple-1", "apple"),
        ("claim", "apple pear plum"),
        ("score:<0.6", "apple"),
        ("score:0.9..1", "pear"),
        ("score:none", "plum"),
        ("-score:none", "apple pear"),
        ("with-overrides:<=0.5", "apple"),
        ("corrected:<=0.5", "apple"),
        ("group:pear", "pear"),
        ("source:fruit -group:pear", "apple plum"),
        ("state:done", "apple pear plum"),
        ("state:failed", ""),
        ("is:unlabelled", "apple pear plum"),
        ("is:labelled", ""),
        ("-is:unlabelled", ""),
        ("human:none", "apple pear plum"),
    ],
)
def test_a_filter_finds_conversations(
    shop: tuple[Store, RunId, list[ItemId]], text: str, keys: str
) -> None:
    store, run, _ = shop
    assert [key.removesuffix("-1") for key in found(store, run, text)] == keys.split()


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("meta:model", "a b"),
        ("meta:model=M2", "b"),
        ("meta:tags=beta", "a"),
        ("meta:trace_id=ab12", "b"),
        ("-meta:trace_id", "a c"),
        ("meta:odd.key=x", "c"),
        ("meta:public=true", "a"),
        ("meta:gone", ""),
        ("meta:tag", ""),
        ("meta:model=", ""),
    ],
)
def test_metadata_that_came_with_the_data_is_found(store: Store, text: str, keys: str) -> None:
    metadata: dict[str, dict[str, object]] = {
        "a": {"model": "m1", "tags": ["alpha", "beta"], "public": True, "gone": None},
        "b": {"model": "m2", "per_turn": {"1": {"trace_id": "ab12"}}},
        "c": {"extra": {"odd.key": ["x"]}},
    }
    chats = [replace(make_conversation(key), metadata=each) for key, each in metadata.items()]
    store.conversations.import_batch(chats)
    run = store.runs.create(spec_of("turn-faithfulness", FACTS), store.conversations.list_ids())
    assert found(store, run, text) == keys.split()


def test_metadata_is_not_asked_for_where_the_judge_is_hidden(store: Store) -> None:
    run = store.runs.create(spec_of("turn-faithfulness", FACTS), ())
    ground = make_filter_context(store.runs.read_run(run).spec.rule, blind=True)
    problem = parse_filter("meta:score=1", ground).problem
    assert problem is not None
    assert "blind" in problem


def test_terms_about_people(shop: tuple[Store, RunId, list[ItemId]]) -> None:
    store, run, (apple, pear, plum) = shop
    label(store, apple, 1, "yes", note="odd")
    label(store, pear, 0, "yes", action=Action.AGREED, reviewer="Bo")
    label(store, plum, 0, None, action=Action.SKIPPED)
    expected = {
        "differs": ["apple-1"],
        "is:agreement": ["pear-1"],
        "human:yes": ["apple-1", "pear-1"],
        "human:yes verdict:no": ["apple-1"],
        "human:no": [],
        "reviewer:bo": ["pear-1"],
        "reviewer:ann": ["apple-1", "plum-1"],
        "reviewer:ann is:labelled": ["apple-1"],
        "is:noted": ["apple-1"],
        "is:skipped": ["plum-1"],
        "is:later": ["plum-1"],
        "is:unlabelled verdict:no": [],
        "is:unlabelled": ["apple-1", "pear-1", "plum-1"],
        "is:labelled -differs": ["pear-1"],
        "is:flagged": [],
        "code:truth": [],
    }
    assert {text: found(store, run, text) for text in expected} == expected
    assert claims(store, run, "is:labelled") == ["apple-1 Claim 1.1", "pear-1 Claim 1.0"]
    assert len(claims(store, run, "is:unlabelled")) == 4
    store.label_log.undo("ann")
    store.label_log.undo("ann")
    assert found(store, run, "differs") == found(store, run, "reviewer:ann is:noted") == []


def test_claims_hold_the_words_themselves(shop: tuple[Store, RunId, list[ItemId]]) -> None:
    store, run, _ = shop
    assert claims(store, run, "kent") == []
    assert claims(store, run, "claim verdict:no") == ["apple-1 Claim 1.1"]
    assert claims(store, run, "-verdict:yes") == [
        "apple-1 Claim 1.1", "pear-1 Claim 1.1", "plum-1 Claim 1.1",
    ]  # fmt: skip
    assert claims(store, run, "-kent verdict:yes") == ["pear-1 Claim 1.0", "plum-1 Claim 1.0"]


def test_a_whole_answer_is_found_by_what_its_turn_says(store: Store) -> None:
    run, _ = said(
        store, make_conversation("whole"), spec_of("support", SUPPORTED), {1: [answer("yes")]}
    )
    assert claims(store, run, "answer") == ["whole Answer 0 of whole."]
    assert claims(store, run, "borderline") == []


def test_only_the_claims_of_the_run_are_found(store: Store) -> None:
    first, _ = judged(store, make_conversation("one"), {1: ["yes"]})
    second, _ = judged(store, make_conversation("two"), {1: ["no"]})
    assert claims(store, first, "claim") == ["one Claim 1.0"]
    assert found(store, second, "verdict:yes") == []


def test_a_claim_that_came_with_a_rating_is_indexed_once(store: Store) -> None:
    rating = Rating(1, "bo", "yes-no", "yes", claim="Zebras are striped.")
    store.conversations.import_batch([make_conversation("rated", ratings=(rating,))])
    run = store.runs.create(spec_of("m", FACTS), store.conversations.list_ids())
    assert found(store, run, "zebras") == ["rated"]
    store.conversations.import_batch([make_conversation("rated", ratings=(rating,))])
    assert found(store, run, "striped") == ["rated"]


@pytest.mark.parametrize("name", ["v1", "v2", "v4"])
def test_words_of_an_older_file_are_found(path: Path, name: str) -> None:
    shutil.copy(FIXTURES / "databases" / f"{name}.sqlite", path)
    with Store.open(path) as store:
        row = store.runs.list_runs()[-1]
        item = store.runs.list_item_ids(row.id)[0]
        view = store.runs.read_conversation_for_review(item, "me")
        for text in (view.turns[0].content, view.turns[1].content, view.claims[0].text):
            quoted = '"' + text.replace('"', '""') + '"'
            assert view.item.key in found(store, row.id, quoted)


def test_every_order_finds_the_same(shop: tuple[Store, RunId, list[ItemId]]) -> None:
    store, run, items = shop
    label(store, items[1], 0, "no")
    label(store, items[0], 0, "no")
    orders = {
        "number": ["apple-1", "pear-1", "plum-1"],
        "score": ["apple-1", "pear-1", "plum-1"],
        "recent": ["apple-1", "pear-1", "plum-1"],
        "overridden": ["apple-1", "pear-1", "plum-1"],
        "missing": ["plum-1", "apple-1", "pear-1"],
        "unlabelled": ["plum-1", "apple-1", "pear-1"],
    }
    assert {order: found(store, run, "sweet", order) for order in orders} == orders


STRINGS = json.loads((FIXTURES / "hostile" / "strings.json").read_text("utf-8"))["strings"]
HOSTILE = [
    *('"', '""', "*", "a*", "(", "NEAR(a b)", "a AND", "NOT", "{a}:b", "^a", "a\x00b", "\ud800"),
    *(each["text"] for each in STRINGS if len(each["text"] or "x" * 1000) < 1000),
    *("-", "--", "a OR b", "text:a", "'; DROP TABLE run", "%", "_", "\\", "a" * 100_000),
]


@pytest.mark.thorough
def test_hostile_words_never_fail(shop: tuple[Store, RunId, list[ItemId]]) -> None:
    store, run, _ = shop
    for text, form in product(HOSTILE, ("%s", '"%s"', "-%s", "source:%s", "reviewer:%s")):
        typed = form.replace("%s", text)
        wanted = parse_filter(typed, make_filter_context(FACTS)).filter
        assert len(store.search.list_matching_items(run, wanted)) <= 3, repr(typed)
        store.search.find_claims(run, wanted)


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text())
def test_any_text_can_be_searched(shop: tuple[Store, RunId, list[ItemId]], text: str) -> None:
    store, run, _ = shop
    store.search.list_matching_items(run, parse_filter(text, make_filter_context(FACTS)).filter)


def test_a_stopped_search_gives_nothing(shop: tuple[Store, RunId, list[ItemId]]) -> None:
    store, run, _ = shop
    stop = SearchStop()
    stop.stop()
    with pytest.raises(SearchStopped):
        store.search.list_matching_items(
            run, parse_filter("", make_filter_context(FACTS)).filter, stop=stop
        )
    assert (
        len(
            store.search.list_matching_items(
                run, parse_filter("", make_filter_context(FACTS)).filter
            )
        )
        == 3
    )


def test_a_search_is_stopped_in_the_middle_of_a_statement(store: Store) -> None:
    endless = sql(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    )
    stop = SearchStop()
    timer = threading.Timer(0.05, stop.stop)
    with store._database.open_reader() as connection:
        timer.start()
        with pytest.raises(SearchStopped), stop.run_stoppable_statements(connection):
            connection.execute(endless)
    timer.join()
    with store._database.open_reader() as connection:
        assert connection.execute(sql("SELECT 1")).scalar() == 1


def test_lists_mark_people_and_answers_without_passages(
    shop: tuple[Store, RunId, list[ItemId]],
) -> None:
    store, _, items = shop
    label(store, items[0], 0, "no")
    label(store, items[0], 0, "yes", reviewer="bo")
    rows = store.runs.read_items_with_list_marks(items, "ann")
    assert [(row.reviewers, row.lacks_passages) for row in rows] == [
        (2, False), (0, False), (0, False),
    ]  # fmt: skip
    bare = Conversation("s", "bare", (Turn("user", "A?"), Turn("assistant", "B.")), group="bare")
    _, item = judged(store, bare, {1: ["yes"]})
    assert store.runs.read_items_with_list_marks([item], "ann")[0].lacks_passages


def test_conversations_are_found_by_labels_of_their_whole_answers(tmp_path: Path) -> None:
    build_shop(tmp_path / "shop.db")
    with Store.open(tmp_path / "shop.db") as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        items = store.runs.list_item_ids(run)

        def find(text: str) -> list[int]:
            ground = make_filter_context(store.runs.read_run(run).spec.rule)
            found = store.search.list_matching_items(run, parse_filter(text, ground).filter)
            return [items.index(each) for each in found]

        assert find("answers:labelled") == [0, 1]
        assert find("answers:differ") == [0], "a score of 1 where the human label is no"
        assert find("-answers:labelled") == [2, 3]
        assert (
            parse_filter("answers:differ", make_filter_context(FACTS, blind=True)).problem
            is not None
        )


def test_ids_are_taken_apart_in_parts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [imported(store, make_conversation(f"c{number}")) for number in range(12)]
    run = store.runs.create(SPEC, ids)
    wanted = parse_filter("", make_filter_context(FACTS)).filter
    every = store.runs.list_item_ids(run)
    for part in range(8):
        monkeypatch.setattr(readers, "_IDS_PART_LENGTH", part)
        assert store.runs.list_item_ids(run) == every
        assert store.search.list_matching_items(run, wanted) == every
