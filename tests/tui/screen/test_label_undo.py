"""Undo and redo of what a reviewer said, on every screen on which something is said."""

from pathlib import Path
from typing import cast

from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_events import Action
from faithtui.store.store import Store
from faithtui.tui.screen.label_undo import LabelUndo, UndoneStep
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.session import Session
from tests.tui.fake_screens import FakeScreen


class UndoScreen(FakeScreen):
    """A screen with undo, which keeps what was shown."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.shown: list[UndoneStep] = []
        self.undo = LabelUndo(cast(FaithScreen, self), self.shown.append, lambda: lambda _key: True)


def say(store: Store, reviewer: str = "ann") -> ClaimId:
    """Give a verdict on the first claim."""
    claim = (
        store.runs.read_conversation_for_review(store.runs.list_item_ids(RunId(1))[0], reviewer)
        .claims[0]
        .id
    )
    store.label_log.append_label_event(
        claim, reviewer, Action.BLIND, "no", run=RunId(1), judge_verdict=None, saw_judge=False
    )
    return claim


async def test_a_step_is_taken_back_and_done_again_with_its_conversation(session: Session) -> None:
    claim = say(session.store)
    session.switch_run(RunId(1))
    screen = UndoScreen(session)
    screen.undo.action_undo()
    assert set(screen.workers) <= screen.input_queue.held, "what is typed ahead is about that claim"
    await screen.settle()
    screen.undo.action_redo()
    await screen.settle()
    undone, redone = screen.shown
    assert (undone.words, redone.words) == ("undone", "redone")
    for step in (undone, redone):
        assert [act.claim for act in step.acts] == [claim]
        assert step.item == session.store.runs.list_item_ids(RunId(1))[0]


async def test_nothing_left_is_an_empty_step(session: Session) -> None:
    screen = UndoScreen(session)
    screen.undo.action_undo()
    screen.undo.action_redo()
    await screen.settle()
    assert [(step.acts, step.item) for step in screen.shown] == [((), None), ((), None)]


async def test_only_what_this_reviewer_said_is_taken_back(session: Session) -> None:
    say(session.store, "bo")
    screen = UndoScreen(session)
    screen.undo.action_undo()
    await screen.settle()
    assert screen.shown[0].acts == ()


async def test_without_a_run_there_is_no_conversation_to_go_to(session: Session) -> None:
    say(session.store)
    screen = UndoScreen(session)
    screen.undo.action_undo()
    await screen.settle()
    assert screen.shown[0].acts
    assert screen.shown[0].item is None


def test_there_are_no_keys_before_the_store_is_open() -> None:
    session = Session("ann", Path("none.db"))
    assert not UndoScreen(session).undo.check_action("undo", ())
