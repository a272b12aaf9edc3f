"""The conversation beside the list: read when the cursor rests on it."""

from types import SimpleNamespace
from typing import cast

import pytest

from faithtui.tui.conversations.conversation_preview import ConversationPreview
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.session import Session
from tests.tui.fake_screens import FakeScreen


class FakeConversationsScreen(FakeScreen):
    """A list with one conversation under the cursor."""

    spec = None
    shown_filter = None

    def __init__(self, session: Session, number: int = 1) -> None:
        super().__init__(session)
        run = session.store.runs.find_newest_run_id()
        assert run is not None
        self.items = session.store.runs.list_item_ids(run, "number")
        self.conversation_at_cursor = session.store.runs.read_item_rows([self.items[number - 1]])[0]
        self.titles: list[str] = []
        self.preview = ConversationPreview(cast(ConversationsScreen, self))

    def query_one(self, _kind: object, _type: object = None) -> SimpleNamespace:
        return SimpleNamespace(show=lambda _build, title, keep: self.titles.append(title))

    def search_and_show_list(self, number: int) -> None:
        (row,) = self.session.store.runs.read_item_rows([self.items[number - 1]])
        self.preview.load_and_show_conversation(row)


async def test_the_conversation_under_the_cursor_is_read_and_titled(session: Session) -> None:
    screen = FakeConversationsScreen(session)
    screen.search_and_show_list(1)
    await screen.settle()
    assert screen.preview.item == screen.items[0]
    assert [turn.role for turn in screen.preview.turns][:2] == ["user", "assistant"]
    assert screen.titles == ["conv-0147"]
    screen.preview.forget_conversation()
    assert screen.preview.list_images() == ()
    assert not screen.preview.turns


async def test_a_cursor_that_runs_on_is_followed_and_not_what_was_passed(session: Session) -> None:
    screen = FakeConversationsScreen(session, 2)
    screen.search_and_show_list(1)
    screen.search_and_show_list(2)
    await screen.settle()
    assert screen.preview.item == screen.items[1]
    assert len(screen.titles) == 1


async def test_the_judge_is_not_in_what_is_read(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that there is nothing to hide in a blind queue."""

    def refuse(*_: object) -> None:
        raise AssertionError("verdicts were read")

    monkeypatch.setattr(type(session.store.runs), "read_conversation_for_review", refuse)
    session.set_judge_hidden(True)
    screen = FakeConversationsScreen(session)
    screen.search_and_show_list(1)
    await screen.settle()
    assert screen.preview.turns
