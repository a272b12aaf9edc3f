"""A queue of claims: what comes next, what was put off, and leaving it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.ids import SampleId
from faithtui.domain.labels.label_events import Action
from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.samples.queue import ClaimQueue, make_sample_queue
from faithtui.tui.samples.queue_end_dialog import QueueEndDialog
from faithtui.tui.session import Session
from tests.tui.driving import (
    SIZE,
    acts,
    blinded,
    calm,
    opened,
    press,
    reviewing,
    screen_text,
    status,
    title,
    type_ahead,
    until,
)
from tests.tui.fake_screens import FakeReviewScreen
from tests.tui.review.sample_queues import open_sample_queue


@pytest.mark.thorough
async def test_a_convenience_queue_is_walked_in_its_order(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        store = app.session.store
        run = store.runs.find_newest_run_id()
        assert run is not None
        units = store.samples.read_frame(run)
        entries = tuple((each.item, each.claim) for each in (units[4], units[5], units[0]))
        app.session.start_queue(ClaimQueue("odd ones", run, entries))
        app.show_screen("review")
        await calm(pilot)
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        await until(pilot, lambda: screen.claim is not None)
        await until(pilot, lambda: "odd ones, not a random sample 0/3" in title(app))
        walked = []
        for key in ("y", "s", "y"):
            assert screen.claim is not None
            walked.append(screen.claim.id)
            await press(pilot, key)
        assert walked == [claim for _, claim in entries]
        assert screen.claim is not None
        assert screen.claim.id == walked[1], "what was put off comes again"


async def test_a_queue_survives_a_restart(
    app: FaithApp, make_app: Callable[[Path], FaithApp], store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot)
        assert screen.queue_navigator.cursor is not None
        sample, order = (
            screen.queue_navigator.cursor.queue.sample,
            screen.queue_navigator.cursor.queue.entries,
        )
        await press(pilot, "y", "y")
    again = make_app(store_path)
    async with again.run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert sample is not None
        again.session.start_queue(make_sample_queue(again.session.store, sample, "ann"))
        again.show_screen("review")
        await calm(pilot)
        screen = again.screen  # type: ignore[assignment]  # the main screen of another app
        await press(pilot, "N")
        assert screen.queue_navigator.cursor is not None
        assert screen.queue_navigator.cursor.answered_claims == {claim for _, claim in order[:2]}
        assert screen.claim is not None
        assert screen.claim.id == order[2][1]


async def test_j_stays_in_a_queue_and_a_click_outside_says_so(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        store = app.session.store
        run = store.runs.find_newest_run_id()
        assert run is not None
        units = store.samples.read_frame(run)
        entries = tuple((each.item, each.claim) for each in (units[4], units[5], units[0]))
        app.session.start_queue(ClaimQueue("odd ones", run, entries))
        app.show_screen("review")
        await calm(pilot)
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        await until(pilot, lambda: screen.claim is not None)
        walked = []
        for key in ("j", "down", "j", "k", "up"):
            await press(pilot, key)
            assert screen.claim is not None
            walked.append(entries.index((screen.session.item, screen.claim.id)))
        assert walked == [1, 2, 2, 1, 0]
        await press(pilot, "end", "j", "j", "j")
        assert "the last claim of odd ones" in status(app)
        await press(pilot, "home")
        screen.panes.claims.cursor = 1
        await calm(pilot)
        assert "odd ones does not have this claim: N goes on with it" in status(app)


# On a screen that is not drawn


async def walking(session: Session, *, blind: bool = False) -> FakeReviewScreen:
    """Walk through a queue: the last claim of the first conversation, the one of the second."""
    store = session.store
    run = store.runs.find_newest_run_id()
    assert run is not None
    first, second = store.runs.list_item_ids(run, "number")[:2]
    claims = [
        store.runs.read_conversation_for_review(item, "ann").claims for item in (first, second)
    ]
    entries = ((first, claims[0][4].id), (second, claims[1][0].id), (first, claims[0][1].id))
    session.start_queue(ClaimQueue("three", run, entries, blind=blind))
    screen = FakeReviewScreen(session)
    screen.loader.reload()
    await screen.settle()
    screen.panes.claims.blocked = 0
    return screen


async def test_what_comes_next_is_read_ahead_and_shown_at_once(session: Session) -> None:
    screen = await walking(session)
    assert screen.chosen == 4
    ahead = screen.queue_navigator.conversations_ahead
    assert set(ahead) == {session.claim_queue.entries[1][0]}  # type: ignore[union-attr]  # it was taken
    screen.give("no")
    assert screen.view is not None
    assert screen.view.item.id == session.claim_queue.entries[1][0], "nothing was awaited"  # type: ignore[union-attr]  # as above
    assert screen.panes.claims.blocked == 0
    await screen.settle()


async def test_what_was_read_ahead_under_other_terms_is_not_shown(session: Session) -> None:
    screen = await walking(session)
    session.revealed.add(screen.claims[0])
    screen.press("N")
    assert screen.panes.claims.blocked == 1, "it is read anew"
    await screen.settle()
    assert screen.view is not None
    assert screen.view.item.id == session.claim_queue.entries[1][0]  # type: ignore[union-attr]  # it was taken


async def test_what_is_read_ahead_under_other_terms_is_not_kept(session: Session) -> None:
    screen = await walking(session)
    (ahead,) = screen.queue_navigator.conversations_ahead.values()
    screen.queue_navigator.forget_read_ahead()
    screen.queue_navigator.store_conversation_read_ahead(replace(ahead, hiding_state=("others",)))
    assert not screen.queue_navigator.conversations_ahead
    screen.queue_navigator.store_conversation_read_ahead(replace(ahead, queue_position=None))
    assert not screen.queue_navigator.conversations_ahead
    screen.queue_navigator.store_conversation_read_ahead(ahead)
    assert list(screen.queue_navigator.conversations_ahead) == [ahead.view.item.id]


async def test_n_and_p_go_through_the_queue_and_say_where_it_ends(session: Session) -> None:
    screen = await walking(session)
    screen.press("P")
    assert screen.message == "nothing open in the queue on that side"
    screen.press("N")
    screen.press("P")
    await screen.settle()
    assert screen.chosen == 4


async def test_a_skipped_claim_comes_again_and_the_end_is_said(session: Session) -> None:
    screen = await walking(session)
    screen.press("s")
    screen.give("no")
    await screen.settle()
    screen.give("no")
    await screen.settle()
    assert screen.chosen == 4
    assert not screen.input_queue.windows
    screen.press("s")
    await screen.settle()
    (end,) = screen.input_queue.windows
    assert isinstance(end, QueueEndDialog), "only what was put off is left"
    screen.input_queue.answer(None)
    screen.press("s")
    await screen.settle()
    assert not screen.input_queue.windows, "it was said"


@pytest.mark.parametrize("is_blind", [False, True])
async def test_the_end_of_a_queue_says_nothing_of_a_skipped_claim_while_blind(
    session: Session, is_blind: bool
) -> None:
    """Its intervals told what the judge says of the skipped claim where `B` hid it."""
    screen, _, claims = await open_sample_queue(session, 5, blind=False)
    if is_blind:
        screen.press("B")
        await screen.settle()
    for _ in claims[1:]:
        screen.give("no")
        await screen.settle()
    screen.press("s")
    await screen.settle()
    (end,) = screen.input_queue.windows
    assert isinstance(end, QueueEndDialog)
    words = " ".join(each.text for each in end._build(80))
    assert "1 claim skipped and left" in words
    assert ("known: " in words) is not is_blind


async def test_the_end_of_a_queue_is_said_once_and_not_after_every_correction(
    session: Session,
) -> None:
    screen = await walking(session)
    for _ in range(3):
        screen.give("no")
        await screen.settle()
    assert len(screen.input_queue.windows) == 1
    screen.input_queue.answer(None)
    screen.give("yes")
    await screen.settle()
    assert not screen.input_queue.windows, "a correction finishes nothing"
    screen.press("u")
    await screen.settle()
    screen.give("no")
    await screen.settle()
    assert len(screen.input_queue.windows) == 1, "a claim of it was open in between"


@pytest.mark.parametrize("blind", [False, True])
async def test_adjudication_is_offered_at_the_end_only_where_it_opens(
    session: Session, blind: bool
) -> None:
    screen = await walking(session, blind=blind)
    assert session.claim_queue is not None
    screen.queue_navigator.show_queue_outcome(session.claim_queue, None)
    (end,) = screen.input_queue.windows
    assert end.check_action("choose_screen", ("adjudicate",)) is not blind
    assert end.check_action("choose_screen", ("agreement",))


async def test_an_answer_that_was_taken_back_is_open_again(session: Session) -> None:
    screen = await walking(session)
    first = screen.claims[4]
    screen.give("no")
    await screen.settle()
    cursor = screen.queue_navigator.cursor
    assert cursor is not None
    assert cursor.answered_claims == {first}
    session.store.label_log.append_label_event(
        first, "ann", Action.ADJUDICATED, "yes", run=session.run, judge_verdict=None, saw_judge=True
    )
    assert screen.press("u")
    await screen.settle()
    assert cursor.answered_claims == {first}, "a final label is no answer in a queue"
    assert screen.press("u")
    await screen.settle()
    assert cursor.answered_claims == set()
    assert screen.chosen == 4


async def test_an_undo_of_a_label_outside_the_queue_says_so(session: Session) -> None:
    screen = await walking(session)
    cursor = screen.queue_navigator.cursor
    assert cursor is not None
    other = next(each for each in screen.claims if each not in cursor.queue.place)
    assert session.run is not None
    for claim in (other, screen.claims[4]):
        session.store.label_log.record_verdict(claim, "ann", "no", run=session.run, saw_judge=True)
    assert screen.press("u")
    await screen.settle()
    assert screen.message.startswith("undone: claim 5 = NO")
    assert "does not have this claim" not in screen.message
    assert screen.press("u")
    await screen.settle()
    assert screen.message.startswith("undone: claim")
    assert screen.message.endswith(" · three does not have this claim: N goes on with it")


@pytest.mark.parametrize("is_row", [False, True])
async def test_a_window_without_the_claim_of_the_queue_says_so(
    session: Session, is_row: bool
) -> None:
    """`J` and `K` led to another claim, and the next verdict was one outside the sample."""
    screen = await walking(session)
    assert screen.view is not None
    warning = "three does not have this claim: N goes on with it"
    windows = [
        row.position
        for row in screen.view.windows
        if row.claims and screen.claims[4] not in row.claims
    ]
    if is_row:
        screen.moves.limit_to_window_of_row(windows[0] + 1)
    else:
        screen.press("J")
    assert screen.chosen != 4
    assert warning in screen.message
    screen.press("N")
    await screen.settle()
    screen.press("P")
    await screen.settle()
    assert warning not in screen.message


async def test_q_leaves_the_queue_and_stays_with_the_claim(session: Session) -> None:
    screen = await walking(session)
    assert screen.press("Q")
    await screen.settle()
    assert session.claim_queue is None
    assert screen.queue_navigator.cursor is None
    assert screen.chosen == 4
    assert screen.message == "left three"
    assert not session.is_blind
    assert screen.press("Q")
    assert screen.message.startswith("there is no queue to leave")
    screen.press("k")
    screen.give("no")
    assert screen.chosen == 4, "it goes on claim by claim"
    await screen.settle()


async def test_a_blind_queue_is_left_without_showing_the_judge(session: Session) -> None:
    screen = await walking(session, blind=True)
    assert screen.press("Q")
    await screen.settle()
    assert screen.message == "left three; the judge stays hidden: B ends blind work"
    assert session.claim_queue is None
    assert screen.view is not None
    assert len(screen.view.hidden) == 5
    assert not session.exposed, "nothing of the judge was in view"


@pytest.mark.parametrize("elsewhere", ["c", pytest.param("m", id="metrics, refused while blind")])
async def test_a_claim_stays_chosen_after_a_blind_queue_is_left(
    app: FaithApp, store_path: Path, elsewhere: str
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot)
        assert screen.view is not None
        last = screen.view.claims[-1].id
        for _ in screen.view.claims:
            if screen.claim is not None and screen.claim.id != last:
                await press(pilot, "down")
        await press(pilot, "Q", "g", elsewhere, "g", "v")
        await until(pilot, lambda: screen.claim is not None and screen.claim.id == last)


async def test_a_claim_that_a_blind_queue_showed_is_not_blind_after_the_queue(
    session: Session,
) -> None:
    screen = await walking(session, blind=True)
    queue, claim = session.claim_queue, screen.claim
    assert queue is not None
    assert claim is not None
    session.start_queue(replace(queue, shown=frozenset({claim.id})))
    screen.reload()
    await screen.settle()
    assert screen.press("Q")
    await screen.settle()
    assert "left three; that the judge was shown on purpose is recorded" in str(screen.message)
    assert screen.claim is not None
    assert screen.claim.id == claim.id
    assert screen.claim.seen
    assert session.item is not None
    item = session.item
    screen.give("yes")
    await screen.settle()
    view = session.store.runs.read_conversation_for_review(item, session.reviewer)
    given = next(each for each in view.claims if each.id == claim.id)
    assert given.mine is not None
    assert given.mine.verdict == "yes"
    assert given.mine.action is not Action.BLIND


@pytest.mark.parametrize("leaves_queue", [True, False])
async def test_what_a_blind_queue_showed_is_on_record_when_it_is_passed_over(
    session: Session, leaves_queue: bool
) -> None:
    screen = await walking(session, blind=True)
    queue, claim, item = session.claim_queue, screen.claim, session.item
    assert queue is not None
    assert claim is not None
    assert item is not None
    session.start_queue(replace(queue, shown=frozenset({claim.id})))
    screen.reload()
    await screen.settle()
    other = next(each for each, _ in queue.entries if each != item)
    if leaves_queue:
        session.leave_queue()
    session.open_conversation(other)
    screen.reload()
    await screen.settle()
    assert (session.claim_queue is None) == leaves_queue
    assert screen.view is not None
    assert screen.view.item.id == other
    session.store.submit(session.store.runs.find_newest_run_id).result()  # what was written before
    view = session.store.runs.read_conversation_for_review(item, session.reviewer)
    assert [each.id for each in view.claims if each.seen] == [claim.id]


async def test_labels_given_after_leaving_belong_to_no_sample(session: Session) -> None:
    screen = await walking(session)
    queue = session.claim_queue
    assert queue is not None
    session.start_queue(replace(queue, sample=SampleId(7)), screen.claims[4])
    assert screen.claim is not None
    assert screen.writer.find_sample_of_claim(screen.claim) == 7
    session.leave_queue()
    assert screen.writer.find_sample_of_claim(screen.claim) is None


@pytest.mark.thorough
async def test_the_frame_of_the_claims_counts_what_the_title_counts(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await reviewing(pilot)
        await press(pilot, "y", "y", "y", "g", "u", "R", "y")
        assert "self-agreement 0/3" in title(app)
        assert "Claims 5 · queue 0/3" in screen_text(app)
        await press(pilot, "y", "n")
        assert "self-agreement 2/3" in title(app)
        assert "Claims 5 · queue 2/3" in screen_text(app)


@pytest.mark.thorough
@pytest.mark.parametrize("keys", ["enter y", "a", "u y", "i x y"])
async def test_keys_typed_behind_the_last_label_of_a_queue_do_nothing(
    app: FaithApp, store_path: Path, keys: str
) -> None:
    """The window that says that the queue is through came between, and nobody had seen it."""
    async with app.run_test(size=(120, 40)) as pilot:
        await reviewing(pilot)
        await press(pilot, "y", "y", "y", "g", "u", "R", "y", "y", "y")
        before = len(acts(store_path))
        type_ahead(app, "n", *keys.split())
        await calm(pilot)
        assert isinstance(app.screen, QueueEndDialog)
        assert [each.message for each in app._notifications] == [
            "what was typed before this window was shown did nothing"
        ]
        assert [each[1] for each in acts(store_path)[before:]] == ["no"]
