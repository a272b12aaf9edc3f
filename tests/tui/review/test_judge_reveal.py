"""`v`, `T` and `B`: what of the judge a reviewer sees, and what is recorded of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.errors import StoreError
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.screen.blind_mode import describe_keys_ending_blind_work
from faithtui.tui.session import Session
from tests.tui.driving import (
    SIZE,
    acts,
    blinded,
    calm,
    hold_writer,
    opened,
    press,
    reviewing,
    screen_text,
    status,
    stored,
    text_of,
    title,
    type_ahead,
    until,
)
from tests.tui.fake_screens import FakeReviewScreen

SIZES = [(80, 24), (120, 40), (200, 60)]
HINTS = ("supported in w", "T4", "0.97", "names a fee", "0.82", "contradicts", "No truth speaks")


@pytest.mark.parametrize("size", SIZES)
async def test_a_blind_queue_holds_nothing_of_the_judge(
    app: FaithApp, store_path: Path, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        screen = await blinded(pilot)
        seen = []
        for _ in range(6):
            assert screen.view is not None
            assert screen.view.is_blind
            everything = "\n".join(
                [screen_text(app), *(text_of(app, pane.id or "") for pane in screen.panes.children)]
            )
            seen.append(everything)
            assert "BLIND" in title(app)
            answered = [claim for claim in screen.view.claims if claim.id not in screen.view.hidden]
            hints = [hint for hint in HINTS if hint in everything]
            assert answered or not hints
            await press(pilot, "tab", "shift+tab")
            await press(pilot, "s")
        assert "▒" in seen[0]


@pytest.mark.parametrize("size", SIZES)
async def test_a_claim_that_is_shown_on_purpose_is_not_called_blind(
    app: FaithApp, store_path: Path, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        screen = await blinded(pilot, shown_share=0.5)
        assert screen.queue_navigator.cursor is not None
        shown = screen.queue_navigator.cursor.queue.shown
        seen = set()
        for _ in range(4):
            assert screen.claim is not None
            is_shown = screen.claim.id in shown
            seen.add(is_shown)
            first_line = screen_text(app).split("\n")[0]
            assert ("counts in no figure" in first_line) == is_shown
            assert ("BLIND" in first_line) != is_shown
            await press(pilot, "j")
        assert seen == {True, False}


async def test_blind_labels_are_stored_as_such_with_their_probability(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot)
        size = (
            0
            if screen.queue_navigator.cursor is None
            else len(screen.queue_navigator.cursor.queue.entries)
        )
        order = (
            []
            if screen.queue_navigator.cursor is None
            else [claim for _, claim in screen.queue_navigator.cursor.queue.entries]
        )
        done = []
        for _ in range(size):
            assert screen.claim is not None
            done.append(screen.claim.id)
            await press(pilot, "y")
        assert done == order, "served in the drawn order"
    with Store.open(store_path) as store, store._database.open_reader() as connection:
        rows = connection.exec_driver_sql(
            "SELECT action, saw_judge, probability, stratum, judge_verdict, sample_id "
            "FROM human_label WHERE reviewer = 'ann' AND verdict IS NOT NULL"
        ).all()
        row = store.samples.read_sample(store.samples.list_samples("ann")[0].id, "ann")
    assert len(rows) == size
    assert {(each[0], each[1], each[2], each[3]) for each in rows} == {("blind", 0, 1.0, "")}
    assert {each[4] for each in rows} >= {"yes", "no"}, "the judge's word is kept beside it"
    assert row.answered == size


async def test_an_answered_claim_shows_the_judge(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot)
        first = screen.claim
        assert first is not None
        await press(pilot, "y", "u")
        assert screen.claim is not None
        assert screen.claim.id == first.id, "undo jumps to what changed"
        assert first.id in (screen.view.hidden if screen.view else ()), "and hides it again"
        await press(pilot, "ctrl+r")
        assert screen.view is not None
        assert first.id not in screen.view.hidden


async def test_reveal_is_recorded_and_the_label_is_not_blind(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot)
        claim = screen.claim
        assert claim is not None
        assert screen.view is not None
        await press(pilot, "v")
        assert "recorded" in status(app)
        assert claim.id not in screen.view.hidden
        await press(pilot, "v")
        assert claim.id in screen.view.hidden
        await press(pilot, "y")
    found = acts(store_path)
    assert [each[0] for each in found] == ["revealed", found[1][0]]
    assert found[1][0] in ("agreed", "overridden")
    assert found[1][4] is True


async def test_a_share_is_served_with_the_judge(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot, shown_share=1.0)
        assert screen.view is not None
        assert screen.claim is not None
        assert screen.claim.id not in screen.view.hidden
        await press(pilot, "y")
    assert acts(store_path)[0][0] in ("agreed", "overridden")


@pytest.mark.parametrize("way", ["conversation", "queue", "quit"])
async def test_what_a_queue_showed_is_on_record_on_every_way_out(
    app: FaithApp, store_path: Path, way: str
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot, shown_share=1.0)
        assert screen.queue_navigator.cursor is not None
        queue, view = screen.queue_navigator.cursor.queue, screen.view
        assert view is not None
        shown = {each.id for each in view.claims} & queue.shown
        if way == "quit":
            await pilot.press("ctrl+q")
        elif way == "queue":
            app.session.start_queue(replace(queue, title="another", shown=frozenset()))
        else:
            app.session.leave_queue()
            app.session.choose_conversation(
                next(item for item, _ in queue.entries if item != view.item.id)
            )
        if way != "quit":
            app.show_screen("review")
            await calm(pilot)
            await until(pilot, lambda: screen.view is not None)
            await calm(pilot)
        if way == "queue":
            assert screen.claim is not None
            assert screen.claim.id in shown, "the same claim, hidden in this queue"
            await press(pilot, "y")
    found = acts(store_path)
    assert [each[0] for each in found[: len(shown)]] == ["revealed"] * len(shown)
    assert not any(each[0] == "blind" for each in found)
    if way == "queue":
        assert found[-1][0] in ("agreed", "overridden")


async def test_what_could_not_be_recorded_as_shown_is_recorded_later(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot, shown_share=1.0)
        label_log = app.session.store.label_log

        def refuse(_: object) -> None:
            raise StoreError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(label_log, "append_label_events_as_one_step", refuse)
            screen.queue_navigator.record_claims_shown_by_queue()
            app.session.store.submit(lambda: None).result()
        screen.queue_navigator.record_claims_shown_by_queue()
        app.session.store.submit(lambda: None).result()
    assert "revealed" in [each[0] for each in acts(store_path)]


@pytest.mark.thorough
async def test_the_truths_of_an_open_claim_are_not_shown_beside_a_hidden_one(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        screen = await blinded(pilot)
        view = screen.view
        assert view is not None
        # The other claim of the same conversation that the judge named truths for, served openly.
        whole = stored(store_path)
        opened_one = next(each for each in whole.claims if each.evidence)
        hidden_one = next(each for each in view.claims if each.id != opened_one.id)
        app.session.item = whole.item.id
        app.session.revealed.add(opened_one.id)
        app.session.claim = opened_one.id
        screen.reload()
        await calm(pilot)
        named = {each.truth for each in opened_one.evidence}
        text = next(each.text for each in whole.truths if each.id in named)
        assert text[:20] in " ".join(text_of(app, "evidence").split())
        assert not screen.panes.truths.display
        screen.paint_at_position(replace(screen.review_position, claim=hidden_one.id))
        await calm(pilot)
        assert text[:20] not in " ".join(text_of(app, "evidence").split())
        assert not screen.panes.truths.display
        await press(pilot, "T")
        assert text[:20] in " ".join(text_of(app, "truths").split())


async def test_what_was_seen_before_is_not_blind_later(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "B")
        assert "BLIND" in title(app)
        assert "▒" in text_of(app, "claims")
        await press(pilot, "y")
    assert acts(store_path)[0][0] == "agreed", "the judge was on screen before"


@pytest.mark.thorough
async def test_a_verdict_does_not_overtake_what_was_seen_before_it(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        hold = await hold_writer(pilot)
        await pilot.press("enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        await until(pilot, lambda: screen.claim is not None)
        await pilot.press("B")
        await until(pilot, lambda: "▒" in text_of(app, "claims"))
        await until(pilot, lambda: not screen.panes.claims.is_waiting)
        await pilot.press("y")
        await until(pilot, lambda: bool(screen.writer.pending_verdicts))
        hold.set()
        await calm(pilot)
    assert acts(store_path)[0][0] == "agreed", "the judge was on screen before"


async def test_a_sample_takes_no_ranges_and_stays_blind(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot)
        await press(pilot, "m")
        assert "a verdict of its own" in status(app)
        await press(pilot, "B")
        way_out = "Q leaves the queue and B ends blind work"
        assert status(app) == f"random is blind: {way_out}"
        await press(pilot, "g", "m")
        assert status(app).endswith(f"others' labels: {way_out}"), "from the review screen itself"
        assert app.screen is screen
        outside = describe_keys_ending_blind_work(app.session)
        assert outside == f"g v, then {way_out}", "elsewhere Q is another key"
        await press(pilot, "M")
        assert app.screen is screen
        await press(pilot, "a")
        assert "the judge is hidden" in status(app)
    assert acts(store_path) == []


async def test_what_was_seen_before_is_not_called_blind(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "B")
        assert "seen before: not blind" in text_of(app, "verdict")
        await press(pilot, "y")
    assert [each[-1] for each in acts(store_path)] == [True]


async def test_truths_can_be_revealed_alone(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot)
        assert screen.view is not None
        assert not len(screen.view.truths)
        await press(pilot, "T")
        assert len(screen.view.truths)
        assert screen.view.is_blind
        await press(pilot, "T")
        assert not len(screen.view.truths)
    assert {each[0] for each in acts(store_path)} == {"revealed"}


# On a screen that is not drawn


async def test_b_hides_the_judge_and_shows_it_again(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.press("B")
    assert session.is_blind
    assert screen.message == (
        "blind from now on, too late for this conversation: its judge was in view"
    )
    assert screen.panes.claims.blocked == 1, "keys typed ahead are about what is shown then"
    await screen.settle()
    assert screen.view is not None
    assert len(screen.view.hidden) == 5
    assert screen.press("B")
    assert screen.message == "judge shown again: labels here do not count as blind from now on"
    await screen.settle()
    assert screen.view.hidden == frozenset()


async def test_a_look_at_one_claim_is_recorded_and_the_same_key_hides_it_again(
    session: Session,
) -> None:
    session.set_judge_hidden(True)
    screen = await FakeReviewScreen(session).open()
    first = screen.claims[0]
    assert screen.press("v")
    assert screen.message == "saving claim 1: judge's verdict revealed, recorded …"
    await screen.settle()
    assert screen.view is not None
    assert first not in screen.view.hidden
    assert screen.press("v")
    assert "stays on record" in screen.message
    await screen.settle()
    assert first in screen.view.hidden
    assert screen.view.claims[0].seen


async def test_what_reveals_nothing_says_why(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.press("v")
    assert screen.message == "the judge is shown: B hides it"
    assert not screen.reveal.is_key_shown("toggle_judge_verdict"), (
        "the footer does not name the key"
    )
    assert not screen.press("T")
    screen.reveal.action_show_hidden_truths()
    assert screen.message == "no truths are hidden here"


async def test_no_key_shows_the_judge_of_a_claim_that_is_not_drawn_yet(session: Session) -> None:
    session.set_judge_hidden(True)
    screen = await FakeReviewScreen(session).open()
    screen.panes.claims.is_painted = False
    for key in ("v", "T", "B"):
        screen.message = ""
        assert screen.press(key)
        assert "typed before the claim was drawn" in screen.message, key
    await screen.settle()
    assert session.is_blind
    assert acts(session.store_path) == []
    assert not session.revealed | session.revealed_truths


@pytest.mark.thorough
async def test_a_key_repeated_on_the_way_to_a_blind_claim_reveals_nothing(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "B")
        type_ahead(app, *"vvvB")  # the first opens the review
        await calm(pilot)
        assert isinstance(app.screen, ReviewScreen)
        assert "not saved: v v B · typed before the claim was drawn" in status(app)
        await press(pilot, "q")
        type_ahead(app, *"vvB")  # this time it has only to be painted again
        await calm(pilot)
        assert isinstance(app.screen, ReviewScreen)
        assert "not saved: v B · typed before the claim was drawn" in status(app)
        assert app.session.is_blind
        await press(pilot, "v")
    assert [each[0] for each in acts(store_path)] == ["revealed"]


@pytest.mark.thorough
async def test_the_footer_offers_blind_while_the_judge_is_shown_and_reveal_while_hidden(
    app: FaithApp,
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        footer = "\n".join(screen_text(app).split("\n")[-2:])
        assert "B blind" in footer
        assert "v reveal" not in footer
        await press(pilot, "B")
        assert "v reveal" in "\n".join(screen_text(app).split("\n")[-2:])


async def test_nobody_is_blind_to_what_was_chosen_by_the_judge(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.view is not None
    entries = ((screen.view.item.id, screen.claims[0]),)
    session.start_queue(ClaimQueue("no", screen.view.run.id, entries, reveals_judge=True))
    assert screen.press("B")
    assert "Q in review leaves them" in screen.message
    assert not session.is_blind


async def test_a_look_that_could_not_be_saved_is_hidden_again(session: Session) -> None:
    session.set_judge_hidden(True)
    screen = await FakeReviewScreen(session).open()
    assert screen.view is not None
    first = screen.claims[0]
    session.revealed.add(first)
    session.revealed_truths.add(screen.view.item.id)
    screen.reveal.forget_unsaved_reveal(first)
    assert not session.revealed
    assert not session.revealed_truths


async def test_the_keys_that_stop_hiding_are_those_that_do(session: Session) -> None:
    """What is said where the metrics are refused: in a blind queue `B` alone does nothing."""
    screen = await FakeReviewScreen(session).open()
    assert screen.view is not None
    session.set_judge_hidden(True)
    assert describe_keys_ending_blind_work(session, in_review=True) == "B ends blind work"
    entries = ((screen.view.item.id, screen.claims[0]),)
    session.set_judge_hidden(False)
    session.start_queue(ClaimQueue("twenty", screen.view.run.id, entries, blind=True))
    assert screen.press("B")
    assert screen.message == "twenty is blind: Q leaves the queue and B ends blind work"
    for key in ("Q", "B"):
        assert session.is_blind
        assert screen.press(key)
        await screen.settle()
    assert not session.is_blind


@pytest.mark.thorough
async def test_a_verdict_typed_with_the_key_that_reveals_is_not_blind(
    app: FaithApp, store_path: Path
) -> None:
    """It is on record as one that knew the judge, before what is revealed is drawn."""
    async with app.run_test(size=SIZE) as pilot:
        await blinded(pilot)
        type_ahead(app, "v", "y")
        await calm(pilot)
    assert acts(store_path)[0][0] == "revealed"
    assert acts(store_path)[1][0] in ("agreed", "overridden")
