"""Labels that another open app of the same annotator gives to the claim on screen."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from textual import events

from faithtui.domain.ids import ClaimId, ItemId
from faithtui.domain.labels.label_events import Action
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.session import Session
from tests.tui.driving import calm, press, reviewing, status, stored
from tests.tui.fake_screens import FakeReviewScreen
from tests.tui.review.sample_queues import label_in_other_app, open_sample_queue

THERE = "NO contradicted in another app"


async def reload_after_other_app(screen: FakeReviewScreen) -> None:
    """Do what the app does when it sees that another process wrote."""
    screen.reload_after_store_change()
    await screen.settle()


async def go_to_first_of_two_in_a_conversation(
    screen: FakeReviewScreen,
) -> tuple[ItemId, ClaimId, ClaimId]:
    """Go to a claim whose follower in the queue is of the same conversation; gives both."""
    assert screen.queue_navigator.cursor is not None
    pairs = pairwise(screen.queue_navigator.cursor.queue.entries)
    here, following = next(pair for pair in pairs if pair[0][0] == pair[1][0])
    screen.queue_navigator.go_to_queued_claim(here)
    await screen.settle()
    return *here, following[1]


def verdict_of(session: Session, claim: ClaimId) -> str | None:
    """Give the label of a claim as the store has it."""
    assert session.run is not None
    item = session.store.label_log.find_item_id_of_claim(session.run, claim)
    assert item is not None
    view = session.store.runs.read_conversation_for_review(item, "ann")
    (found,) = (each for each in view.claims if each.id == claim)
    return found.mine.verdict if found.mine else None


async def test_a_label_of_another_app_is_said_and_replaced_by_the_second_key(
    session: Session,
) -> None:
    screen, row, claims = await open_sample_queue(session, 5)
    name = f"claim {screen.claim.number}" if screen.claim else ""
    label_in_other_app(session.store, row, claims[0])
    await reload_after_other_app(screen)
    assert screen.message == f"{name} = {THERE} · N goes on"
    screen.give("yes")
    await screen.settle()
    assert screen.message.startswith(f"not saved: {name} = {THERE}; the key again replaces it")
    assert screen.app.bells == 1
    assert verdict_of(session, claims[0]) == "no"
    assert screen.review_position.claim == claims[0], "the key moved nowhere"
    screen.give("yes")
    await screen.settle()
    assert verdict_of(session, claims[0]) == "yes"
    assert screen.review_position.claim == claims[1]


async def test_no_key_that_labels_replaces_a_label_of_another_app_at_once(
    session: Session,
) -> None:
    screen, row, claims = await open_sample_queue(session, 5, blind=False)
    screen.give("yes")
    await screen.settle()
    label_in_other_app(session.store, row, claims[1])
    await reload_after_other_app(screen)
    assert "saved" in screen.message, "what was saved is still said"
    screen.press("full_stop")
    await screen.settle()
    assert f"{THERE}; the key again replaces it" in screen.message
    assert verdict_of(session, claims[1]) == "no"


@pytest.mark.parametrize("key", ["s", "a"])
async def test_skips_and_accepted_verdicts_never_replace_a_label_of_another_app(
    session: Session, key: str
) -> None:
    """A skip said that the key again replaces the label, and let the next verdict do so."""
    screen, row, claims = await open_sample_queue(session, 5, blind=False)
    name = f"claim {screen.claim.number}" if screen.claim else ""
    label_in_other_app(session.store, row, claims[0])
    await reload_after_other_app(screen)
    for _ in range(2):
        screen.press(key)
        await screen.settle()
        assert screen.message.startswith(f"not saved: {name} = {THERE}; N goes on")
    screen.give("yes")
    await screen.settle()
    assert screen.message.startswith(f"not saved: {name} = {THERE}; the key again replaces it")
    assert verdict_of(session, claims[0]) == "no"


@pytest.mark.parametrize("size", [5, 1])
async def test_a_skip_leaves_a_label_that_came_just_before_and_says_so(
    session: Session, size: int
) -> None:
    screen, row, claims = await open_sample_queue(session, size)
    name = f"claim {screen.claim.number}" if screen.claim else ""
    label_in_other_app(session.store, row, claims[0])
    screen.press("s")
    await screen.settle()
    stays = f"NO contradicted of another app stays · saved · {name} skipped"
    assert any(each.startswith(stays) for each in screen.messages)
    assert verdict_of(session, claims[0]) == "no"
    cursor = screen.queue_navigator.cursor
    assert cursor is not None
    assert (cursor.answered_claims, cursor.skipped_claims) == ({claims[0]}, set())
    screen.press("u")
    await screen.settle()
    assert verdict_of(session, claims[0]) == "no", "undo takes the skip back"


@pytest.mark.parametrize("key", ["s", "y"])
async def test_a_label_hidden_in_a_second_sample_is_of_no_other_app_and_not_named(
    session: Session, key: str
) -> None:
    """It was named as another app's, with the key that brings it back."""
    store = session.store
    _, row, claims = await open_sample_queue(session, 5)
    for claim in claims:
        label_in_other_app(store, row, claim)
    screen, _, again = await open_sample_queue(session, 5)
    assert set(again) == set(claims)
    if key == "s":
        screen.press("s")
    else:
        screen.give("yes")
    await screen.settle()
    assert not any("another app" in each for each in screen.messages)


@pytest.mark.parametrize("is_own", [True, False])
@pytest.mark.parametrize("is_read_again", [True, False])
async def test_only_a_final_label_of_another_app_is_called_so(
    session: Session, is_own: bool, is_read_again: bool
) -> None:
    """One given on the adjudication screen of this app was too, and the next verdict refused."""
    screen = await FakeReviewScreen(session).open()
    first = screen.claims[0]
    final = session.store.label_log.append_label_event(
        first, "ann", Action.ADJUDICATED, "no", run=session.run, judge_verdict=None, saw_judge=False
    )
    if is_own:
        session.saved_events.add(final.id)
    if is_read_again:
        await reload_after_other_app(screen)
    screen.give("yes")
    await screen.settle()
    assert any("another app" in each for each in screen.messages) is not is_own
    is_refused = is_read_again and not is_own
    assert verdict_of(session, first) == ("no" if is_refused else "yes")


async def test_an_own_label_is_of_no_other_app_where_what_was_read_before_it_comes_late(
    session: Session,
) -> None:
    """What was read before the key is shown after it was saved, without its label."""
    session.preferences = replace(session.preferences, auto_advance=False)
    screen, _, claims = await open_sample_queue(session, 5)
    assert session.item is not None
    late = screen.loader.read_conversation(session.item, claims[0], 0)
    screen.give("yes")
    await screen.settle()
    screen.loader.show_loaded_if_still_wanted(late)
    screen.loader.reload()
    await screen.settle()
    assert not any("another app" in each for each in screen.messages)
    screen.give("no")
    await screen.settle()
    assert verdict_of(session, claims[0]) == "no"


@pytest.mark.parametrize("is_undone", [False, True])
async def test_a_code_is_of_no_label_that_another_app_replaced_or_took_back(
    session: Session, is_undone: bool
) -> None:
    """The code was saved on the other label, or on none, and `.` repeated a verdict taken back."""
    screen, row, claims = await open_sample_queue(session, 5)
    screen.give("no")
    await screen.settle()
    if is_undone:
        session.store.label_log.undo("ann")
    else:
        label_in_other_app(session.store, row, claims[0], "yes")
    await reload_after_other_app(screen)
    screen.press("3")
    assert screen.message == "this belongs to a label of yours: give one first"
    label = session.store.label_log.find_label("ann", claims[0])
    assert (label and (label.verdict, label.code)) == (None if is_undone else ("yes", None))
    screen.press("full_stop")
    await screen.settle()
    if is_undone:
        refusal = "your last verdict was undone in another app: give a verdict first"
        assert screen.message == refusal
    assert verdict_of(session, claims[1]) == (None if is_undone else "no")


async def test_a_code_is_of_the_label_given_last_while_another_app_labels_other_claims(
    session: Session,
) -> None:
    screen, row, claims = await open_sample_queue(session, 5)
    screen.give("no")
    await screen.settle()
    label_in_other_app(session.store, row, claims[4])
    await reload_after_other_app(screen)
    screen.press("3")
    await screen.settle()
    label = session.store.label_log.find_label("ann", claims[0])
    assert label is not None
    assert (label.verdict, label.code) == ("no", "verdict")


async def test_the_next_claim_of_the_queue_is_none_that_another_app_labelled(
    session: Session,
) -> None:
    """The conversation is shown with the label before the answers of the queue are read again."""
    screen, row, _ = await open_sample_queue(session, 60)
    item, _, following = await go_to_first_of_two_in_a_conversation(screen)
    label_in_other_app(session.store, row, following)
    screen.loader.show_loaded_if_still_wanted(screen.loader.read_conversation(item, None, 0))
    screen.give("yes")
    assert screen.review_position.claim != following
    await screen.settle()
    assert screen.review_position.claim != following
    assert verdict_of(session, following) == "no"


async def test_a_label_that_was_taken_back_in_the_other_window_refuses_nothing(
    session: Session,
) -> None:
    screen, row, claims = await open_sample_queue(session, 5)
    label_in_other_app(session.store, row, claims[0])
    await reload_after_other_app(screen)
    session.store.label_log.undo("ann")
    await reload_after_other_app(screen)
    screen.give("yes")
    await screen.settle()
    assert verdict_of(session, claims[0]) == "yes"


async def test_a_second_label_of_another_app_is_said_too(session: Session) -> None:
    """It is no verdict of the claim; only the queue knows it."""
    screen, row, claims = await open_sample_queue(session, 5)
    cursor = screen.queue_navigator.cursor
    assert cursor is not None
    session.store.label_log.record_verdict(
        claims[0], "ann", "no", run=row.run, saw_judge=False, repeats=True, sample=row.id
    )
    await reload_after_other_app(screen)
    assert "was labelled in another app" in screen.message
    screen.give("yes")
    assert "was labelled in another app; the key again replaces it" in screen.message


async def test_own_labels_undo_and_redo_are_of_no_other_app(session: Session) -> None:
    screen, _, claims = await open_sample_queue(session, 5)
    screen.give("no")
    await screen.settle()
    for key in ("u", "ctrl+r", "u", "ctrl+r"):
        screen.press(key)
        await screen.settle()
        screen.loader.reload()
        await screen.settle()
    assert verdict_of(session, claims[0]) == "no"
    assert not any("another app" in each for each in screen.messages)


async def test_an_answer_given_while_the_queue_was_read_again_stays(session: Session) -> None:
    screen, row, claims = await open_sample_queue(session, 60)
    item, claim, _ = await go_to_first_of_two_in_a_conversation(screen)
    before = screen.queue_navigator.cursor
    assert before is not None
    label_in_other_app(session.store, row, claims[-1])
    before.is_outdated = True
    loaded = screen.loader.read_conversation(item, None, 0)
    screen.give("yes")
    screen.loader.show_loaded_if_still_wanted(loaded)
    assert claim in before.answered_claims
    assert screen.queue_navigator.cursor is before, "what was read lacks the answer"
    during = screen.loader.read_conversation(item, None, 0)
    assert during.queue_position is before, "nor has the store what is being saved"
    await screen.settle()
    cursor = screen.queue_navigator.cursor
    assert cursor is not None
    assert cursor.answered_claims == {claim, claims[-1]}


async def test_conversation_by_conversation_one_key_replaces_no_new_label_either(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        assert screen.claim is not None
        assert screen.view is not None
        with Store.open(store_path) as other:
            other.label_log.record_verdict(
                screen.claim.id, app.session.reviewer, "no", run=screen.view.run.id, saw_judge=True
            )
        app.store_watcher.reload_screens_if_store_changed()
        await calm(pilot)
        assert f"claim 1 = {THERE} · N goes on" in status(app)
        await press(pilot, "y")
        assert "not saved: claim 1" in status(app)
        await press(pilot, "N")
        assert screen.claim.number == 2
        await press(pilot, "y")
    verdicts = [each.mine.verdict if each.mine else None for each in stored(store_path).claims]
    assert verdicts[:3] == ["no", "yes", None]


async def test_a_reason_code_behind_a_refused_verdict_is_not_of_the_label_before_it(
    session: Session,
) -> None:
    """It was stored on the claim labelled before, in another conversation."""
    screen, row, claims = await open_sample_queue(session, size=5)
    screen.give("no")
    await screen.settle()
    label_in_other_app(session.store, row, claims[1])
    await reload_after_other_app(screen)
    screen.give("no")
    screen.press("3")
    await screen.settle()
    item = session.store.label_log.find_item_id_of_claim(row.run, claims[0])
    assert item is not None
    view = session.store.runs.read_conversation_for_review(item, "ann")
    (first,) = (each for each in view.claims if each.id == claims[0])
    assert first.mine is not None
    assert (first.mine.verdict, first.mine.code) == ("no", None)


async def test_a_code_typed_ahead_with_a_refused_verdict_is_not_of_the_other_apps_label(
    app: FaithApp, store_path: Path
) -> None:
    """It was stored on that label, and *saved* took the place of the refusal."""
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "y")
        assert screen.claim is not None
        assert screen.view is not None
        with Store.open(store_path) as other:
            other.label_log.record_verdict(
                screen.claim.id, app.session.reviewer, "yes", run=screen.view.run.id, saw_judge=True
            )
        app.store_watcher.reload_screens_if_store_changed()
        await calm(pilot)
        for key in ("n", "3"):
            app.post_message(events.Key(key, key))
        await calm(pilot)
        assert "not saved: claim 2 = YES" in status(app)
        assert "nor were saved: 3" in status(app)
    labels = [
        each.mine and (each.mine.verdict, each.mine.code) for each in stored(store_path).claims
    ]
    assert labels[:2] == [("yes", None), ("yes", None)]
