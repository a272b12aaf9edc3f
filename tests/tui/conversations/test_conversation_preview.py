"""The conversation beside the list: read when the cursor rests on it."""

from types import SimpleNamespace
from typing import cast

from faithtui.tui.conversations.conversation_preview import ConversationPreview
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.session import Session
from tests.tui.fake_screen import FakeScreen


class FakeConversationsScreen(FakeScreen):
    """A list with one conversation under the cursor."""

    spec = None
    shown_filter = None

    def __init__(self, session: Session, number: int = 1) -> None:
        super().__init__(session)
        run = session.store.runs.last_id()
        assert run is not None
        self.items = session.store.runs.item_ids(run, "number")
        self.selection = session.store.runs.item_rows([self.items[number - 1]])[0]
        self.titles: list[str] = []
        self.preview = ConversationPreview(cast(ConversationsScreen, self))

    def query_one(self, _kind: object, _type: object = None) -> SimpleNamespace:
        return SimpleNamespace(show=lambda _build, title, keep: self.titles.append(title))


async def test_the_conversation_under_the_cursor_is_read_and_titled(session: Session) -> None:
    screen = FakeConversationsScreen(session)
    screen.preview.load(screen.items[0])
    await screen.settle()
    read = screen.preview.view
    assert read is not None
    assert read.item.id == screen.items[0]
    assert screen.titles == ["conv-0147"]
    screen.preview.clear()
    assert screen.preview.list_images() == ()
    assert screen.preview.view != read


async def test_a_cursor_that_runs_on_is_followed_and_not_what_was_passed(session: Session) -> None:
    screen = FakeConversationsScreen(session, 2)
    screen.preview.load(screen.items[0])
    screen.preview.load(screen.items[1])
    await screen.settle()
    assert screen.preview.view is not None
    assert screen.preview.view.item.id == screen.items[1]
    assert len(screen.titles) == 1


async def test_while_blind_the_judge_is_not_in_what_is_read(session: Session) -> None:
    session.hide_judge(True)
    screen = FakeConversationsScreen(session)
    screen.preview.load(screen.items[0])
    await screen.settle()
    assert screen.preview.view is not None
    assert len(screen.preview.view.hidden) == 5
    assert all(claim.home_verdict.label is None for claim in screen.preview.view.claims)
