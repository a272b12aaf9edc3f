"""Labels on their way to the store: painted at once, called saved when the disk has them."""

import asyncio
from concurrent.futures import Future

import pytest

from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_events import Action
from faithtui.errors import StoreError
from faithtui.tui.app import FaithApp
from faithtui.tui.session import Session
from tests.tui.driving import (
    SIZE,
    press,
    reviewing,
    said,
    screen_text,
    status,
    text_of,
    title,
    until,
)
from tests.tui.fake_screens import FakeReviewScreen


async def test_scores_change_with_the_verdict(app: FaithApp) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await reviewing(pilot)
        assert "score 0.82" in title(app)
        await press(pilot, "n")
        assert "score 0.82→0.48" in title(app)
        assert "mean of windows 0.82→0.48" in text_of(app, "verdict")
        assert "1.00→0.50" in text_of(app, "windows")


@pytest.mark.thorough
async def test_the_last_verdict_leads_to_the_next_conversation_with_work(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, *"yyyyy")
        assert screen.view is not None
        assert screen.view.item.key == "conv-0031"
        await press(pilot, "y")
        assert "no claim without a verdict" in status(app)
        assert screen.view.item.key == "conv-0031"


async def test_a_verdict_that_cannot_be_saved_is_taken_off_the_screen(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        screen = await reviewing(pilot)

        def full(*_: object, **__: object) -> None:
            raise StoreError("the disk is full")

        monkeypatch.setattr(app.session.store.label_log, "record_verdict", full)
        await pilot.press("n")
        await until(pilot, lambda: "not saved" in status(app))
        await until(pilot, lambda: not screen.writer.in_flight)
        await pilot.pause(0.2)
        assert screen.view is not None
        assert said(screen.view) == [None] * 5
        assert "claim 1 = NO" in status(app), "it says which one was lost"
        assert screen.claim is not None
        assert screen.claim.number == 1, "and goes back to it"
        assert "u undoes" not in screen_text(app)
        assert "the disk is full" in screen_text(app)
        assert app.is_running


# On a screen that is not drawn


class HeldStore:
    """Holds back what is written until the test lets it through, or lets it fail."""

    def __init__(self, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
        self.writes: list[tuple[Future[object], object]] = []
        self._submit = session.store.submit

        def hold(write: object, *args: object, **kwargs: object) -> Future[object]:
            future: Future[object] = Future()
            self.writes.append((future, lambda: self._submit(write, *args, **kwargs).result()))  # type: ignore[arg-type]  # as it was called
            return future

        monkeypatch.setattr(session.store, "submit", hold)

    def save(self) -> None:
        future, write = self.writes.pop(0)
        future.set_result(write())  # type: ignore[operator]  # made above

    def fail(self) -> None:
        self.writes.pop(0)[0].set_exception(StoreError("no room"))


async def test_a_verdict_is_painted_at_once_and_called_saved_when_it_is(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = await FakeReviewScreen(session).open()
    await screen.settle()
    store = HeldStore(session, monkeypatch)
    screen.give("no")
    assert screen.view is not None
    mine = screen.view.claims[0].mine
    assert mine is not None
    assert mine.verdict == "no"
    assert screen.message.startswith("saving claim 1 = NO")
    assert not screen.writer.saves_done.is_set()
    store.save()
    await screen.settle()
    assert screen.message.startswith("saved 12:04:19 · claim 1 = NO")
    assert screen.writer.saves_done.is_set()
    assert screen.writer.pending_verdicts == {}


async def test_what_is_read_meanwhile_does_not_take_a_pending_verdict_away(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = await FakeReviewScreen(session).open()
    store = HeldStore(session, monkeypatch)
    screen.give("no")
    screen.give("idk")
    store.save()
    assert session.item is not None
    screen.loader.show_loaded_if_still_wanted(
        screen.loader.read_conversation(session.item, None, 0)
    )
    assert screen.view is not None
    assert [each.mine.verdict if each.mine else None for each in screen.view.claims[:2]] == [
        "no",
        "idk",
    ]
    store.save()
    await screen.settle()


async def test_a_verdict_that_is_lost_leads_back_to_its_claim(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = await FakeReviewScreen(session).open()
    store = HeldStore(session, monkeypatch)
    screen.give("no")
    store.fail()
    await screen.settle()
    assert screen.message.startswith("not saved · claim 1 = NO")
    assert screen.chosen == 0
    assert screen.verdicts.last_verdict is None
    assert screen.verdicts.repeated.given is None
    assert screen.writer.last_act_words == ""
    assert [str(each) for each in screen.failures] == ["no room"]
    assert screen.view is not None
    assert screen.view.claims[0].mine is None


async def test_all_verdicts_that_are_lost_are_named_and_open_again(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = await FakeReviewScreen(session).open()
    store = HeldStore(session, monkeypatch)
    for verdict in ("yes", "no", "idk"):
        screen.give(verdict)
    store.fail()
    for _ in range(10):
        await asyncio.sleep(0)
    screen.run_later()
    assert screen.message == "not saved · claim 1 = YES supported"
    assert screen.chosen == 0
    assert screen.view is not None
    assert [each.mine and each.mine.verdict for each in screen.view.claims[:3]] == [
        None,
        "no",
        "idk",
    ]
    store.fail()
    store.save()
    await screen.settle()
    unsaved = "2 not saved · claim 1 = YES supported, claim 2 = NO contradicted"
    assert screen.message.startswith(f"{unsaved} · saved 12:04:19 · claim 3")
    assert screen.chosen == 0, "the first of them"
    assert [each.mine and each.mine.verdict for each in screen.view.claims[:3]] == [
        None,
        None,
        "idk",
    ]
    screen.give("yes")
    store.save()
    await screen.settle()
    assert screen.message.startswith("saved 12:04:19 · claim 1")


async def test_the_last_save_said_stays_beside_what_comes_next_and_only_once(
    session: Session,
) -> None:
    screen = await FakeReviewScreen(session).open(2)
    screen.give("no")
    await screen.settle()
    assert "saved 12:04:19 · claim 1 = NO" in screen.message
    assert "no claim without a verdict after this one in the run" in screen.message
    assert screen.writer.take_last_saved_message() == ()


async def test_seconds_count_from_when_the_claim_came_on_screen(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.writer.start_claim_clock()
    assert screen.writer.get_seconds_claim_shown() == 1.0, "the clock of the test goes on by one"
    screen.press("j")
    assert screen.writer.get_seconds_claim_shown() == 1.0


async def test_a_message_goes_with_its_conversation_but_that_of_the_save_that_led_on(
    session: Session,
) -> None:
    screen = await FakeReviewScreen(session).open()
    first = session.item
    screen.press("C")
    assert "copied" in screen.message
    await screen.open(2)
    assert screen.message == "", "it was about the conversation before"
    await screen.open(1)
    for _ in range(5):
        screen.give("no")
    await screen.settle()
    assert session.item != first
    assert screen.message.startswith("saved 12:04:19"), "the save led here"
    assert screen.message.endswith(" in conv-0147"), "another claim has this number here"
    await screen.open(1)
    assert screen.message == "", "and it has been seen"


async def test_bulk_and_single_verdicts_say_whether_the_judge_was_known(session: Session) -> None:
    session.set_judge_hidden(True)
    screen = await FakeReviewScreen(session).open()
    assert screen.claim is not None
    assert not screen.writer.has_seen_judge(screen.claim)
    screen.press("v")
    await screen.settle()
    assert screen.claim is not None
    assert screen.writer.has_seen_judge(screen.claim)
    assert ClaimId(screen.claim.id) in session.revealed


async def test_a_judge_that_was_known_before_counts_as_seen_while_it_is_hidden(
    session: Session,
) -> None:
    session.set_judge_hidden(True)
    screen = await FakeReviewScreen(session).open()
    screen.press("v")
    await screen.settle()
    # Another sitting: what was revealed is hidden again, and the store knows who saw it.
    session.revealed.clear()
    await screen.open()
    assert screen.claim is not None
    assert screen.view is not None
    assert screen.claim.id in screen.view.hidden
    assert screen.claim.seen
    assert screen.writer.has_seen_judge(screen.claim)
    first = screen.claim.id
    screen.give("no")
    await screen.settle()
    claim = screen.find_claim(first)
    assert claim is not None
    assert claim.mine is not None
    assert claim.mine.action is not Action.BLIND
