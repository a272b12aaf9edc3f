"""`m`: one verdict on a range of claims."""

from pathlib import Path

import pytest

from faithtui.domain.labels.label_events import Action
from faithtui.tui.app import FaithApp
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.session import Session
from tests.tui.driving import (
    SIZE,
    acts,
    press,
    reviewing,
    screen_text,
    status,
    stored,
    text_of,
    title,
)
from tests.tui.fake_screens import FakeReviewScreen


async def test_one_verdict_for_a_range_is_one_step(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "m", "j", "j")
        assert text_of(app, "claims").count("=") == 2
        await press(pilot, "n")
        assert "3 claims = NO contradicted, in bulk" in status(app)
        assert "claim 4/" in title(app), "the first claim after the range"
        actions = [claim.mine and claim.mine.action for claim in stored(store_path).claims]
        assert actions == [Action.BULK] * 3 + [None] * 2
        for key in ("c", "2"):
            await press(pilot, key)
            assert "the last labels were given in bulk" in status(app)
        await press(pilot, "j", "2")
        assert "give one first" in status(app), "one has moved"
        await press(pilot, "k")
        await press(pilot, "u")
        assert "3 verdicts given at once" in status(app)
        assert all(claim.mine is None for claim in stored(store_path).claims)
        await press(pilot, "ctrl+r")
        assert "3 verdicts given at once, from claim 1 on" in status(app)
        assert "claim 1/" in title(app), "the first claim of the range, not the last"
    assert [each.mine is not None for each in stored(store_path).claims] == [True] * 3 + [False] * 2


async def test_a_range_says_which_labels_it_replaces(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.view is not None
    for claim, verdict in zip(screen.claims, ("no", "no", "yes"), strict=False):
        session.store.label_log.record_verdict(
            claim, session.reviewer, verdict, run=screen.view.run.id, saw_judge=False
        )
    screen.press("m")
    screen.press("j")
    screen.give("yes")
    await screen.settle()
    assert screen.message.startswith("claim 3 = YES supported in another app")
    assert "replaced 2 NO contradicted of another app" in screen.message
    assert "2 claims = YES supported, in bulk" in screen.message, "they were not in view"
    screen.press("k")
    screen.press("m")
    screen.press("k")
    screen.give("no")
    await screen.settle()
    assert "2 claims = NO contradicted, replacing 2 YES supported, in bulk" in screen.message


async def test_the_same_label_from_another_app_replaces_nothing(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.view is not None
    session.store.label_log.record_verdict(
        screen.claims[0], session.reviewer, "yes", run=screen.view.run.id, saw_judge=False
    )
    screen.give("yes")
    await screen.settle()
    assert "replaced" not in screen.message
    met = await screen.queue_navigator.other_app.describe_label_met((), {})
    assert met == (), "a step without labels"


async def test_after_a_range_no_key_is_refused_for_a_label_that_it_replaced(
    session: Session,
) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.view is not None
    session.store.label_log.record_verdict(
        screen.claims[0], session.reviewer, "no", run=screen.view.run.id, saw_judge=True
    )
    screen.reload_after_store_change()
    await screen.settle()
    assert screen.message.startswith("claim 1 = NO contradicted in another app")
    screen.press("m")
    screen.give("yes")
    await screen.settle()
    screen.press("k")
    screen.give("idk")
    await screen.settle()
    label = session.store.label_log.find_label(session.reviewer, screen.claims[0])
    assert label is not None
    assert label.verdict == "idk"


@pytest.mark.thorough
async def test_a_long_range_asks_first(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faithtui.tui.review.labels.claim_range.ASK_ABOVE", 2)
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "m", "end", "y")
        assert isinstance(app.screen, ConfirmDialog)
        assert "not counted in agreement" in screen_text(app)
        await press(pilot, "n")
        assert acts(store_path) == []
        await press(pilot, "y")
        assert isinstance(app.screen, ConfirmDialog)
        await press(pilot, "y")
    assert [each[0] for each in acts(store_path)] == ["bulk"] * 5


@pytest.mark.thorough
@pytest.mark.parametrize(("moves", "asks"), [(1, False), (2, True)])
async def test_only_a_range_of_more_than_so_many_claims_asks(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch, moves: int, asks: bool
) -> None:
    monkeypatch.setattr("faithtui.tui.review.labels.claim_range.ASK_ABOVE", 2)
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "m", *["j"] * moves, "n")
        assert isinstance(app.screen, ConfirmDialog) is asks
        if asks:
            assert acts(store_path) == [], "nothing is given before it is answered"
            await press(pilot, "escape")
            assert acts(store_path) == []
            await press(pilot, "n", "y")
        assert f"{moves + 1} claims = NO contradicted, in bulk" in status(app)
    assert [each[:2] for each in acts(store_path)] == [("bulk", "no")] * (moves + 1)


@pytest.mark.parametrize("key", ["m", "escape"])
async def test_a_range_can_be_dropped(app: FaithApp, store_path: Path, key: str) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "m", "j", key)
        assert "no range any more" in status(app)
        await press(pilot, "y")
    assert [each[0] for each in acts(store_path)] == ["agreed"]


# On a screen that is not drawn


async def test_a_range_is_cleared_when_it_was_used_and_goes_on_behind_it(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.press("m")
    assert screen.message.startswith("range from claim 1")
    screen.press("j")
    screen.press("j")
    screen.give("no")
    assert screen.claim_range.start is None
    assert screen.chosen == 3
    assert set(screen.writer.pending_verdicts) == set(screen.claims[:3])
    await screen.settle()
    assert screen.view is not None
    given = [claim.mine.verdict if claim.mine else None for claim in screen.view.claims]
    assert given == ["no", "no", "no", None, None]


async def test_a_range_back_to_front_is_the_same_range(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.press("j")
    screen.press("m")
    screen.press("k")
    screen.give("yes")
    assert set(screen.writer.pending_verdicts) == set(screen.claims[:2])
    await screen.settle()


async def test_the_same_key_drops_the_range_and_says_so(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.press("m")
    screen.press("m")
    assert screen.claim_range.start is None
    assert screen.message == "no range any more"


async def test_a_range_whose_claim_is_not_listed_any_more_is_refused(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.moves.show_claim_of_row(4)
    screen.press("m")
    screen.moves.limit_to_window_of_row(1)
    screen.give("no")
    assert "the range is not in this list: m marks a new one" in screen.message
    assert screen.claim_range.start is None
    assert screen.writer.in_flight == 0


async def test_another_conversation_has_no_range(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.press("m")
    await screen.open(2)
    assert screen.claim_range.start is None
