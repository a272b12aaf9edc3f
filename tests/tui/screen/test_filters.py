"""Filters, orders and saved views on the screens, key by key."""

from pathlib import Path

import pytest
from textual import events

from faithtui.domain.filters import Filter, FilterContext, Scope, parse_filter
from faithtui.domain.labels.label_events import Action
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.resume_position import BookmarkFile
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.runs.runs_screen import RunsScreen
from faithtui.tui.screen.filter_matches import (
    highlight_matches,
    list_matching_claims,
    list_matching_runs,
    make_context_of_run_filter,
)
from faithtui.tui.screen.saved_views import SavedViewsDialog
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.filter_bar import FilterInput
from tests.tui.driving import calm, opened, press, reviewing, screen_text, status, until

SIZE = (120, 40)


def listed(app: FaithApp) -> list[str]:
    screen = app.screen
    assert isinstance(screen, ConversationsScreen)
    assert screen.pager is not None
    rows = [screen.pager.fetch_row(index) for index in range(len(screen.pager))]
    return [row.key for row in rows if row is not None]


@pytest.mark.thorough
async def test_the_list_follows_what_is_typed(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "slash", *"gift")
        await until(pilot, lambda: listed(app) == ["conv-0031"])
        assert isinstance(app.focused, FilterInput)
        assert "Conversations 1 of 4" in screen_text(app)
        await press(pilot, "escape")
        await until(pilot, lambda: len(listed(app)) == 4)
        await press(pilot, "slash", *"verdict:no", "enter")
        await until(pilot, lambda: listed(app) == ["conv-0147"])
        assert app.focused is not None
        assert app.focused.id == "list"
        await press(pilot, "escape")
        await until(pilot, lambda: len(listed(app)) == 4)


@pytest.mark.thorough
async def test_a_term_that_cannot_be_used_is_told(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "slash", *"is:maybe")
        await until(pilot, lambda: "after `is:` comes" in status(app))
        await press(pilot, "ctrl+u", *"zebra")
        await until(pilot, lambda: "Nothing found" in screen_text(app))


@pytest.mark.thorough
async def test_what_was_found_is_reviewed_as_a_queue(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "slash", *"verdict:yes sale", "enter")
        await until(pilot, lambda: listed(app) == ["conv-0147"])
        await press(pilot, "Q")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        queue = app.session.claim_queue
        assert queue is not None
        assert len(queue.entries) == 1
        assert queue.is_convenience


async def test_blind_lists_show_nothing_of_the_judge(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        app.session.is_judge_hidden = True
        await press(pilot, "enter")
        text = screen_text(app)
        assert "▒▒▒▒" in text
        assert "mean of windows" not in text
        screen = app.screen
        assert isinstance(screen, ConversationsScreen)
        assert set(screen.sort_orders) == {"number", "unlabelled", "recent"}
        await press(pilot, "slash", *"verdict:no")
        await until(pilot, lambda: "you work blind" in status(app))
        assert len(listed(app)) == 4


@pytest.mark.thorough
async def test_views_are_saved_taken_deleted_and_brought_back(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "slash", *"gift", "enter", "V")
        await until(pilot, lambda: isinstance(app.screen, SavedViewsDialog))
        await press(pilot, "s", *"gifts", "enter")
        await until(pilot, lambda: "gifts" in screen_text(app))
        await press(pilot, "d")
        await until(pilot, lambda: "No view is saved yet" in screen_text(app))
        await press(pilot, "u")
        await until(pilot, lambda: "gifts" in screen_text(app))
        await press(pilot, "escape", "escape", "V", "enter")
        await until(pilot, lambda: isinstance(app.screen, ConversationsScreen))
        await until(pilot, lambda: listed(app) == ["conv-0031"])


@pytest.mark.thorough
async def test_runs_are_filtered_and_sorted(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "slash", *"metric:ragas", "enter")
        screen = app.screen
        assert isinstance(screen, RunsScreen)
        await until(pilot, lambda: screen.rows == ())
        await until(pilot, lambda: "Nothing found" in screen_text(app))
        await press(pilot, "escape", "slash", "escape")
        assert status(app).startswith("order: "), "terms are named while one types, and no longer"
        await press(pilot, "s")
        assert len(screen.rows or ()) == 1
        assert "by metric" in status(app)


@pytest.mark.thorough
async def test_the_next_start_goes_on_where_one_stopped(store_path: Path, tmp_path: Path) -> None:
    def made() -> FaithApp:
        marks = BookmarkFile(tmp_path / "places", store_path, "ann")
        return FaithApp(store_path, reviewer="ann", bookmarks=marks)

    app = made()
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "slash", *"gift", "enter")
        await until(pilot, lambda: listed(app) == ["conv-0031"])
        await press(pilot, "ctrl+q")
    app = made()
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await until(pilot, lambda: isinstance(app.screen, ConversationsScreen))
        await calm(pilot)
        assert listed(app) == ["conv-0031"]
        assert app.session.lists["conversations"].filter == "gift"


def test_what_is_in_memory_is_matched_as_the_store_matches(store_path: Path) -> None:
    texts = (
        *("verdict:no", "-verdict:yes", "sale", '"sale items" verdict:yes', "human:yes", "differs"),
        *("is:unlabelled", "is:flagged", "reviewer:ann", "is:agreement", "is:noted", "human:none"),
    )
    with Store.open(store_path) as store:
        (run,) = store.runs.list_runs()
        item = store.runs.list_item_ids(run.id)[0]
        first, second, *_ = store.runs.read_conversation_for_review(item, "ann").claims
        for claim, word in ((first, "no"), (second, "yes")):
            store.label_log.append_label_event(
                claim.id, "ann", Action.AGREED, word, "a note" if word == "no" else None,
                run=run.id, judge_verdict="yes", saw_judge=True,
            )  # fmt: skip
        view = store.runs.read_conversation_for_review(item, "ann")
        for text in texts:
            filter_context = make_context_of_run_filter(run.spec.rule, Scope.CLAIMS)
            wanted = parse_filter(text, filter_context).filter
            in_store = [
                claim for at, claim in store.search.find_claims(run.id, wanted) if at == item
            ]
            assert list(list_matching_claims(view, wanted)) == in_store, text
        assert list_matching_runs(
            (run,), parse_filter("faith", FilterContext(Scope.RUNS)).filter
        ) == (run,)
        assert (
            list_matching_runs(
                (run,), parse_filter("state:failed -judge:o", FilterContext(Scope.RUNS)).filter
            )
            == ()
        )


def test_words_are_marked() -> None:
    wanted = parse_filter("gift ca -not", FilterContext(Scope.CONVERSATIONS)).filter
    pieces = highlight_matches(Piece("A gift card is not.", "quiet"), wanted)
    assert [(piece.text, piece.look) for piece in pieces] == [
        ("A ", "quiet"), ("gift", "quiet mark"), (" ", "quiet"), ("card", "quiet mark"),
        (" is not.", "quiet"),
    ]  # fmt: skip
    assert highlight_matches(Piece("A", ""), Filter()) == [Piece("A", "")]


@pytest.mark.thorough
async def test_a_paste_that_is_too_long_is_cut_with_a_sentence(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await reviewing(pilot)
        await press(pilot, "slash")
        for words, typed in (("word " * 399, "word " * 399), ("x" * 2005, "word " * 399 + "x" * 5)):
            app.post_message(events.Paste(words))
            await calm(pilot)
            field = app.screen.query_one(FilterInput)
            assert field.value == typed
        assert "5 of the 2,005 pasted ones fit" in " ".join(n.message for n in app._notifications)


@pytest.mark.thorough
async def test_the_footer_names_the_key_that_opens_where_there_is_something_to_open(
    app: FaithApp,
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter")
        await until(pilot, lambda: "enter open" in screen_text(app))
        for typed, offered in (("is:flagged", False), ("flagged", True)):
            await press(pilot, "slash", *typed, "enter")
            await until(pilot, lambda: "Nothing found" in screen_text(app))
            await calm(pilot)
            assert ("Perhaps you mean" in screen_text(app)) == offered
            assert ("enter open" in screen_text(app)) == offered
            await press(pilot, "escape")
            await until(pilot, lambda: "Nothing found" not in screen_text(app))
            await calm(pilot)
            assert "enter open" in screen_text(app)
