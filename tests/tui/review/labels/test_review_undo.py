"""`u` and ctrl+r in review: the last step taken back, with its claim shown."""

from collections.abc import Callable
from pathlib import Path

import pytest

from faithtui.domain.ids import ItemId
from faithtui.domain.labels.label_events import Action
from faithtui.tui.app import FaithApp
from faithtui.tui.screen.label_undo import UndoneStep
from faithtui.tui.session import Session
from tests.tui.driving import (
    SIZE,
    acts,
    press,
    reviewing,
    said,
    status,
    text_of,
)
from tests.tui.fake_screens import FakeReviewScreen


async def test_undo_and_redo_have_no_limit_and_survive_a_restart(
    app: FaithApp, make_app: Callable[[Path], FaithApp], store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "y", "n", "i")
    again = make_app(store_path)
    async with again.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "u")
        assert "undone: claim 3 = IDK not addressed" in status(again)
        assert "ctrl+r redoes" in " ".join(text_of(again, "verdict").split())
        assert screen.claim is not None
        assert screen.claim.number == 3
        await press(pilot, "u", "u")
        assert screen.view is not None
        assert said(screen.view) == [None] * 5
        await press(pilot, "u")
        assert "nothing to be undone" in status(again)
        await press(pilot, "ctrl+r", "ctrl+r", "ctrl+r")
        assert said(screen.view) == ["yes", "no", "idk", None, None]
        assert "redone: claim 3" in status(again)
        await press(pilot, "ctrl+r")
        assert "nothing to be redone" in status(again)


@pytest.mark.thorough
async def test_undo_goes_to_the_conversation_of_the_act(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, *"yyyyy")
        assert screen.view is not None
        assert screen.view.item.key == "conv-0031"
        await press(pilot, "u")
        assert screen.view.item.key == "conv-0147"
        assert screen.claim is not None
        assert screen.claim.number == 5


# On a screen that is not drawn


async def test_undo_and_redo_lead_to_the_claim_and_name_what_was_done(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.give("no")
    screen.press("j")
    await screen.settle()
    assert screen.press("u")
    assert screen.verdicts.last_verdict is None, "codes are not about what is taken back"
    await screen.settle()
    assert screen.chosen == 0
    assert screen.message.startswith("undone: claim 1 = NO")
    assert screen.writer.last_act_words.startswith("undone claim 1 = NO")
    assert screen.press("ctrl+r")
    await screen.settle()
    assert screen.message.startswith("redone: claim 1 = NO")


async def test_with_nothing_left_that_is_said_and_nobody_moves(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.press("j")
    screen.press("u")
    await screen.settle()
    assert screen.message == "nothing to be undone"
    assert screen.chosen == 1
    assert screen.panes.claims.blocked == 0


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("f", "undone: flag on claim 1"),
        ("s", "undone: claim 1 skipped"),
        ("a", "undone: claim 1 = YES"),
    ],
)
async def test_each_kind_of_act_has_its_words(session: Session, key: str, words: str) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.press(key)
    await screen.settle()
    screen.press("u")
    await screen.settle()
    assert screen.message.startswith(words)


async def test_taking_a_flag_away_and_undoing_that_is_said_in_words(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    for _ in range(2):
        screen.press("f")
        await screen.settle()
    screen.press("u")
    await screen.settle()
    assert screen.message.startswith("undone: removal of the flag on claim 1")


async def test_a_final_label_that_is_taken_back_is_called_so(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    claim = screen.claim
    assert claim is not None
    screen.give("no")
    await screen.settle()
    screen.session.store.label_log.append_label_event(
        claim.id,
        session.reviewer,
        Action.ADJUDICATED,
        "yes",
        run=session.run,
        judge_verdict=None,
        saw_judge=True,
    )
    screen.press("u")
    await screen.settle()
    assert screen.message.startswith("undone: final label of claim 1 = YES")


async def test_a_range_is_taken_back_as_one_step(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.press("m")
    screen.press("j")
    screen.give("no")
    await screen.settle()
    screen.press("u")
    await screen.settle()
    assert screen.message == "undone: 2 verdicts given at once, from claim 1 on"


async def test_a_step_on_a_claim_that_is_not_in_this_run_is_said(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.give("no")
    await screen.settle()
    acts = session.store.label_log.undo("ann")
    screen.undo._go_to_undone_claim(UndoneStep(acts, None, "undone"))
    assert screen.message == "undone: a verdict on what is not in this run"


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_a_verdict_after_one_that_showed_the_judge_is_not_blind(
    session: Session, is_restarted: bool
) -> None:
    session.set_judge_hidden(True)
    screen = await FakeReviewScreen(session).open()
    first = screen.claims[0]
    screen.give("yes")
    await screen.settle()
    assert screen.view is not None
    assert first not in screen.view.hidden, "its own label shows the judge"
    if is_restarted:
        session.judge_in_view.clear()
        session.labelled.clear()
        await screen.open(2)
    screen.press("u")
    await screen.settle()
    assert first in screen.view.hidden
    assert screen.chosen == 0
    screen.give("no")
    await screen.settle()
    assert list_verdicts(session) == [("yes", False), ("no", True)]


async def test_a_verdict_after_one_that_has_not_shown_the_judge_yet_is_blind(
    session: Session,
) -> None:
    session.set_judge_hidden(True)
    screen = await FakeReviewScreen(session).open()
    screen.give("yes")
    await screen.settle()
    # As if another claim had been shown before the first one was drawn again.
    session.judge_in_view.clear()
    await screen.open(2)
    screen.press("u")
    await screen.settle()
    screen.give("no")
    await screen.settle()
    assert list_verdicts(session) == [("yes", False), ("no", False)]


def list_verdicts(session: Session) -> list[tuple[str, bool]]:
    """List verdicts as they were given, each with whether the judge was known."""
    return [(verdict, saw) for _, verdict, _, _, saw in acts(session.store_path) if verdict]


async def test_who_has_not_labelled_a_claim_has_not_seen_its_judge(session: Session) -> None:
    first, second = (await FakeReviewScreen(session).open()).claims[:2]
    session.set_judge_hidden(True)
    session.remember_labels([first, second])
    session.record_judge_in_view(ItemId(1), [first])
    assert session.list_labelled_without_judge() == {second}
    assert session.has_judge_in_view(first)
    session.reviewer = "bob"
    assert not session.list_labelled_without_judge()
    assert not session.has_judge_in_view(first)
