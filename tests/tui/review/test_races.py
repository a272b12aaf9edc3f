"""Keys that come while something is read, saved, lost or taken back."""

import threading
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.labels.label_events import Action
from faithtui.errors import StoreError
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.conversations.list_data import LoadedList
from faithtui.tui.review.claim_list import ClaimList
from faithtui.tui.review.conversation_loader import LoadedConversation
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.runs.runs_screen import RunsScreen
from faithtui.tui.samples.queue import ClaimQueue, QueuePosition
from faithtui.tui.samples.queue_end_dialog import QueueEndDialog
from tests.tui.building import SPEC
from tests.tui.driving import (
    acts,
    blinded,
    calm,
    hold_writer,
    opened,
    press,
    reviewing,
    status,
    stored,
    title,
    type_ahead,
    until,
)

SIZE = (120, 40)


async def test_a_note_goes_to_the_claim_it_was_opened_on(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        assert screen.claim is not None
        first = screen.claim.id
        await press(pilot, "e")
        # What is being read meanwhile arrives: another claim is chosen.
        screen.moves.action_move_to_claim(1)
        assert screen.claim.id != first
        await press(pilot, *"abc", "enter")
        assert "note on claim 1" in status(app)
    notes = [each.mine.note if each.mine else None for each in stored(store_path).claims]
    assert notes[:2] == ["abc", None]


@pytest.mark.thorough
async def test_a_code_after_an_undo_is_refused(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "n", "u")
        await press(pilot, "2")
        assert "belongs to a label of yours" in status(app)
    assert "coded" not in [each[0] for each in acts(store_path)]


def failing(app: FaithApp, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def refuse(*args: object, **kwargs: object) -> object:
        raise StoreError("the disk is full")

    monkeypatch.setattr(app.session.store.label_log, name, refuse)


async def reviewing_two_claims(
    pilot: Pilot[None], app: FaithApp
) -> tuple[ReviewScreen, tuple[tuple[ItemId, ClaimId], ...]]:
    """Review a queue of the first two claims."""
    screen = await reviewing(pilot)
    view = screen.view
    assert view is not None
    entries = tuple((view.item.id, each.id) for each in view.claims[:2])
    app.session.start_queue(ClaimQueue("two", view.run.id, entries))
    screen.reload()
    await calm(pilot)
    return screen, entries


@pytest.mark.thorough
async def test_an_answer_that_is_lost_is_asked_again_and_ends_no_queue(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen, entries = await reviewing_two_claims(pilot, app)
        await press(pilot, "y")
        with monkeypatch.context() as patch:
            failing(app, patch, "record_verdict")
            await press(pilot, "y")
            assert not isinstance(app.screen, QueueEndDialog)
            assert screen.queue_navigator.cursor is not None
            assert screen.queue_navigator.cursor.answered_claims == {entries[0][1]}
            assert screen.review_position.claim == entries[1][1]
            await press(pilot, "2")
        assert "coded" not in [each[0] for each in acts_of(app)]
        await press(pilot, "y")
        assert isinstance(app.screen, QueueEndDialog)


@pytest.mark.thorough
async def test_undo_at_the_end_of_a_queue_takes_the_last_verdict_back(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen, entries = await reviewing_two_claims(pilot, app)
        await press(pilot, "y", "n")
        assert isinstance(app.screen, QueueEndDialog)
        await press(pilot, "u")
        assert screen.is_current
        assert screen.review_position.claim == entries[1][1]
        assert screen.queue_navigator.cursor is not None
        assert screen.queue_navigator.cursor.answered_claims == {entries[0][1]}


def acts_of(app: FaithApp) -> list[tuple[str, str | None, str | None, str | None, bool]]:
    return acts(app.session.store_path)


@pytest.mark.thorough
async def test_an_undo_in_a_convenience_queue_reopens_only_what_was_taken_back(
    app: FaithApp,
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        view = screen.view
        assert view is not None
        entries = tuple((view.item.id, each.id) for each in view.claims[:4])
        app.session.start_queue(ClaimQueue("four", view.run.id, entries))
        screen.reload()
        await calm(pilot)
        await press(pilot, "y", "n", "s", "u", "u")
        assert screen.queue_navigator.cursor is not None
        assert screen.queue_navigator.cursor.answered_claims == {entries[0][1]}
        assert screen.queue_navigator.cursor.skipped_claims == set()
        assert "1/4" in title(app)
        await press(pilot, "ctrl+r")
        assert screen.queue_navigator.cursor.answered_claims == {entries[0][1], entries[1][1]}


async def test_a_look_at_the_judge_that_is_not_on_record_shows_nothing(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await blinded(pilot)
        claim = screen.claim
        assert claim is not None
        with monkeypatch.context() as patch:
            failing(app, patch, "append_label_event")
            failing(app, patch, "append_label_events_as_one_step")
            await press(pilot, "v")
            assert screen.view is not None
            assert claim.id in screen.view.hidden
            await press(pilot, "T")
            assert screen.view.truths == ()
        await press(pilot, "v")
        assert claim.id not in screen.view.hidden


async def test_fast_keys_land_on_painted_claims_or_are_refused(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        assert screen.view is not None
        heard: list[ClaimId] = []
        painted: list[ClaimId | None] = []
        say = screen.writer.save_verdict

        def listen(claim: object, verdict: str, code: str | None = None) -> None:
            heard.append(claim.id)  # type: ignore[attr-defined]  # a ClaimView
            painted.append(screen.review_position.claim)
            say(claim, verdict, code)  # type: ignore[arg-type]  # the same

        screen.writer.save_verdict = listen  # type: ignore[method-assign]  # listened to, not changed
        for key in "ynyuynjky":
            await pilot.press(key)
        await calm(pilot)
        assert heard == painted
        given = [each for each in acts(store_path) if each[1] is not None]
        assert len(given) == len(heard)


@pytest.mark.parametrize("before", [(), ("T",), ("u",), ("T", "u"), ("B",)])
@pytest.mark.parametrize("kind", ["conversations", "convenience", "sample"])
async def test_fast_keys_give_each_claim_one_verdict(
    app: FaithApp, store_path: Path, before: tuple[str, ...], kind: str
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        if kind == "sample":
            screen = await blinded(pilot)
        else:
            screen = await reviewing(pilot)
            view = screen.view
            assert view is not None
            if kind == "convenience":
                entries = tuple(reversed([(view.item.id, each.id) for each in view.claims]))
                app.session.start_queue(ClaimQueue("all", view.run.id, entries, blind=True))
                screen.reload()
                await calm(pilot)
        await press(pilot, "y")
        for key in (*before, *"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"):
            # Into the queue of messages, without waiting for what the key before did.
            app.post_message(events.Key(key, key))
        await calm(pilot)
    log = acts(store_path)
    given = [each for each in log if each[1] is not None]
    taken_back = [each for each in log if each[0] == Action.WITHDRAWN]
    with Store.open(store_path) as store, store._database.open_reader() as connection:
        claims = connection.exec_driver_sql(
            "SELECT count(DISTINCT claim_id) FROM human_label "
            "WHERE verdict IS NOT NULL AND reviewer = 'ann'"
        ).scalar_one()
    # A verdict that comes before its claim is drawn takes those behind it along, up to all of them.
    assert claims >= 1
    assert 0 <= len(given) - claims <= len(taken_back)


def hold_readings(
    screen: ReviewScreen, patch: pytest.MonkeyPatch
) -> tuple[threading.Event, threading.Event]:
    """Let conversations be read only when the second event is set; the first says one began."""
    is_reading, go_on = threading.Event(), threading.Event()
    read = screen.loader.read_conversation

    def read_late(item: ItemId, claim: ClaimId | None, edge: int) -> LoadedConversation:
        is_reading.set()
        go_on.wait()
        return read(item, claim, edge)

    patch.setattr(screen.loader, "read_conversation", read_late)
    return is_reading, go_on


@pytest.mark.thorough
async def test_verdicts_after_an_undo_wait_for_the_claim_that_it_goes_back_to(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "y", "y")
        is_reading, go_on = hold_readings(screen, monkeypatch)
        type_ahead(app, *"un")
        await until(pilot, is_reading.is_set)
        for _ in range(5):
            await pilot.pause()
        go_on.set()
        await calm(pilot)
    verdicts = [each.mine.verdict if each.mine else None for each in stored(store_path).claims]
    assert verdicts[:3] == ["yes", "no", None]


BEHIND_ONE_UNDO = ["u n", "u ] n", "u c n", "u e o h enter n", "y u n"]
BEHIND_SEVERAL_UNDOS = {
    "u u n": "n",
    "u u u n": "n",
    "u u u u x": "x",
    "u u 1 f n": "1 f n",
    "u u k n": "n",
    "u u ] n": "n",
    "u u tab n": "n",
    "u u question_mark escape n": "n",
    "u u slash escape n": "n",
    "u u e o h enter n": "n",
    "u u m j n": "m n",
    "u j u x": "x",
    "u ] u x": "x",
    "u c u x": "x",
    "u m u x": "x",
    "m j u u x": "x",
    "u u x u n": "x n",
    "u u n u n": "n n",
    "u ctrl+r u x": "x",
    "u u N y": "y",
    "u u a": "a",
    "u u R": "R",
    "u u plus c": "+ c",
    "u u full_stop": ".",
}
"""Keys typed at once, and those of them that are refused."""


async def type_at_once_after_two_verdicts(
    app: FaithApp, store_path: Path, keys: str
) -> tuple[list[str | None], str]:
    """Give two verdicts, type keys in one read, and give verdicts by then and the status line."""
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "y", "y")
        type_ahead(app, *keys.split())
        await calm(pilot)
        said = status(app)
    claims = stored(store_path).claims
    assert not any(each.mine and each.mine.flagged for each in claims)
    return [each.mine.verdict if each.mine else None for each in claims], said


@pytest.mark.thorough
@pytest.mark.parametrize("keys", BEHIND_ONE_UNDO)
async def test_a_verdict_typed_behind_one_undo_is_about_what_was_said_last(
    app: FaithApp, store_path: Path, keys: str
) -> None:
    verdicts, _ = await type_at_once_after_two_verdicts(app, store_path, keys)
    at = 2 if keys.startswith("y") else 1
    assert verdicts == [*["yes"] * at, "no", *[None] * (4 - at)]


@pytest.mark.thorough
@pytest.mark.parametrize("delay", ["", "late"])
async def test_a_verdict_behind_an_undo_of_the_label_that_led_on_is_kept(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch, delay: str
) -> None:
    """The conversation that the label led to is read meanwhile, and is not what comes."""
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, *"yyyy")
        if delay:
            is_reading, go_on = hold_readings(screen, monkeypatch)
            type_ahead(app, "y", "u", "n")
            await until(pilot, is_reading.is_set)
            go_on.set()
        else:
            type_ahead(app, "y", "u", "n")
        await calm(pilot)
    verdicts = [each.mine.verdict if each.mine else None for each in stored(store_path).claims]
    assert verdicts == ["yes"] * 4 + ["no"]


async def test_verdicts_typed_behind_two_undos_are_refused_and_named(
    app: FaithApp, store_path: Path
) -> None:
    """Nobody has seen what the second one goes back to."""
    verdicts, said = await type_at_once_after_two_verdicts(app, store_path, "u u 1 n")
    assert verdicts == [None] * 5
    assert said.startswith("not saved: 1 n · typed before the claim was drawn")


@pytest.mark.thorough
@pytest.mark.parametrize("keys", BEHIND_SEVERAL_UNDOS)
async def test_verdicts_typed_behind_several_undos_are_refused_whatever_lies_between(
    app: FaithApp, store_path: Path, keys: str
) -> None:
    verdicts, said = await type_at_once_after_two_verdicts(app, store_path, keys)
    assert verdicts == (["yes", *[None] * 4] if "ctrl+r" in keys else [None] * 5)
    assert f"not saved: {BEHIND_SEVERAL_UNDOS[keys]} · typed before the claim was drawn" in said


@pytest.mark.thorough
@pytest.mark.parametrize("keys", ["u N u x", "u M M u x", "u g r v u x", "y u N u x"])
async def test_two_undos_are_two_though_another_conversation_or_screen_lies_between(
    app: FaithApp, store_path: Path, keys: str
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, *"yyyyy")
        type_ahead(app, *keys.split())
        await calm(pilot)
        assert "x · typed before the claim was drawn" in status(app)
    assert "x" not in [each[1] for each in acts(store_path)]


@pytest.mark.thorough
@pytest.mark.parametrize("keys", ["v u x", "v ctrl+r x", "v u f", "v u n i"])
async def test_an_undo_of_nothing_lets_no_key_through(
    app: FaithApp, store_path: Path, keys: str
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        type_ahead(app, *keys.split())
        await calm(pilot)
        assert "not saved: " in status(app)
    assert acts(store_path) == []


@pytest.mark.thorough
async def test_a_verdict_behind_an_undo_that_failed_is_on_no_claim(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, *"yyy")

        def fail(*_args: Any, **_kwargs: Any) -> None:
            raise StoreError("no room")

        monkeypatch.setattr(app.session.store.label_log, "undo", fail)
        type_ahead(app, "u", "x")
        await calm(pilot)
    assert [each[1] for each in acts(store_path)] == ["yes"] * 3


@pytest.mark.thorough
async def test_a_verdict_behind_an_undo_of_what_another_app_said_is_on_no_claim(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, *"yyy")
        assert screen.view is not None
        with Store.open(store_path) as other:
            other.label_log.record_verdict(
                screen.view.claims[4].id,
                "ann",
                "no",
                run=screen.view.run.id,
                saw_judge=False,
            )
        type_ahead(app, "u", "x")
        await calm(pilot)
        assert "not saved: x" in status(app)
    assert "x" not in [each[1] for each in acts(store_path)]


@pytest.mark.thorough
async def test_an_undo_drops_a_range_that_was_begun(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "y", "m", "j", "j", "u", "n")
    verdicts = [each.mine.verdict if each.mine else None for each in stored(store_path).claims]
    assert verdicts == ["no", *[None] * 4]


@pytest.mark.thorough
async def test_a_verdict_for_the_next_conversation_that_could_not_be_read_is_on_no_claim(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, *"yyyy")

        def fail(*_args: Any) -> None:
            raise StoreError("no room")

        monkeypatch.setattr(screen.loader, "read_conversation", fail)
        type_ahead(app, "N", "x")
        await calm(pilot)
        assert "not saved: x" in status(app)
    assert "x" not in [each[1] for each in acts(store_path)]


@pytest.mark.thorough
@pytest.mark.parametrize("keys", ["y ] x", "y k x", "y tab x", "y e o h enter x"])
async def test_verdicts_typed_before_the_next_conversation_are_refused_whatever_lies_between(
    app: FaithApp, store_path: Path, keys: str
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, *"yyyy")
        type_ahead(app, *keys.split())
        await calm(pilot)
        assert "not saved: x · typed before the claim was drawn" in status(app)
        assert screen.view is not None
        assert screen.view.item.key == "conv-0031"
        assert not any(each.mine and each.mine.verdict for each in screen.view.claims)
    assert len([each for each in acts(store_path) if each[1]]) == 5


@pytest.mark.thorough
@pytest.mark.parametrize("keys", ["u x", "u u x", "u ] x"])
async def test_a_verdict_for_what_could_not_be_read_is_on_no_other_claim(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, *"yyyyy")
        read, failed = screen.loader.read_conversation, list[int]()

        def fail_once(*args: Any) -> LoadedConversation:
            if not failed:
                failed.append(1)
                raise StoreError("no room")
            return read(*args)

        monkeypatch.setattr(screen.loader, "read_conversation", fail_once)
        type_ahead(app, *keys.split())
        await calm(pilot)
    assert "x" not in [each[1] for each in acts(store_path)]


async def test_a_verdict_over_one_of_another_app_says_what_it_replaced(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        assert screen.claim is not None
        assert screen.view is not None
        claim, run = screen.claim.id, screen.view.run.id
        # It comes between the drawing of the claim and the key.
        monkeypatch.setattr(app.store_watcher, "reload_screens_if_store_changed", lambda: None)
        with Store.open(store_path) as other:
            other.label_log.record_verdict(
                claim, app.session.reviewer, "no", run=run, saw_judge=False
            )
        await press(pilot, "y")
        assert "replaced NO contradicted of another app, u brings it back" in status(app)
        await press(pilot, "u")
        assert screen.claim.mine is not None
        assert screen.claim.mine.verdict == "no"
        await press(pilot, "y")
        assert "another app" not in status(app), "it was in view"


@pytest.mark.parametrize(("keys", "marks"), [("ff", 2), ("fff", 3), ("ffff", 4)])
async def test_a_flag_typed_again_before_it_is_saved_is_taken_off(
    app: FaithApp, store_path: Path, keys: str, marks: int
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        hold = await hold_writer(pilot)
        type_ahead(app, *keys)
        await until(pilot, lambda: app.message_queue_size == 0 and app.input_queue.is_settled)
        hold.set()
        await calm(pilot)
        await press(pilot, "f")
    expected = ["flag", "unflag", "flag", "unflag", "flag"]
    assert [each[3] for each in acts(store_path)] == expected[: marks + 1]


async def test_a_key_after_the_one_that_shows_the_judge_is_about_what_is_shown(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "B")
        assert "BLIND" in title(app)
        is_reading, go_on = hold_readings(screen, monkeypatch)
        type_ahead(app, *"Bv")
        await until(pilot, is_reading.is_set)
        for _ in range(5):
            await pilot.pause()
        go_on.set()
        await calm(pilot)
        assert "the judge is shown" in status(app)
    assert acts(store_path) == []


@pytest.mark.thorough
@pytest.mark.parametrize(("keys", "actions"), [("fBv", ["marked"]), ("fBy", ["marked", "agreed"])])
async def test_a_key_after_hiding_waits_for_what_is_being_saved(
    app: FaithApp, store_path: Path, keys: str, actions: list[str]
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "B")
        assert "BLIND" in title(app)
        hold = await hold_writer(pilot)
        type_ahead(app, *keys)
        for _ in range(10):
            await pilot.pause()
        hold.set()
        await calm(pilot)
        assert "JUDGE SHOWN" in title(app)
    assert [each[0] for each in acts(store_path)] == actions


@pytest.mark.thorough
async def test_a_flag_typed_again_before_it_was_read_back_is_taken_off(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        is_reading, go_on = hold_readings(screen, monkeypatch)
        await pilot.press("f")
        await until(pilot, is_reading.is_set)
        await pilot.press("f")
        go_on.set()
        await calm(pilot)
        await press(pilot, "f", "u", "f")
    marks = [each[3] for each in acts(store_path) if each[3]]
    assert marks == ["flag", "unflag", "flag", "flag"]


async def test_a_list_that_is_read_again_keeps_a_cursor_moved_meanwhile(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter")
        screen = app.screen
        assert isinstance(screen, ConversationsScreen)
        read = LoadedList(screen.run_row, screen.spec, screen.listed_ids, screen.mark)
        screen.items.cursor = 2
        screen.show_list(read)  # nothing could be handled between the two
        assert screen.items.cursor == 2
        assert app.session.item == screen.listed_ids[2]


async def test_runs_that_are_read_again_keep_a_cursor_moved_meanwhile(
    app: FaithApp, store_path: Path
) -> None:
    with Store.open(store_path) as store:
        store.runs.create(SPEC, store.conversations.list_ids())
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        screen = app.screen
        assert isinstance(screen, RunsScreen)
        before, other = screen.listed_ids
        assert app.session.run == before
        screen.runs.cursor = 1
        screen.show_rows(screen.all_runs)
        assert screen.runs.cursor == 1
        assert app.session.run == other


async def test_the_end_of_a_queue_that_was_left_is_not_announced(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        view = screen.view
        assert view is not None
        queue = ClaimQueue("one", view.run.id, ((view.item.id, view.claims[0].id),))
        screen.queue_navigator.show_queue_outcome(queue, None)
        await calm(pilot)
        assert not isinstance(app.screen, QueueEndDialog)


def test_a_lost_or_withdrawn_answer_opens_a_walk_again() -> None:
    walk = QueuePosition(
        ClaimQueue("q", RunId(1), ((ItemId(1), ClaimId(1)), (ItemId(1), ClaimId(2))))
    )
    walk.mark_answered(ClaimId(1))
    walk.mark_skipped(ClaimId(2))
    over = [walk.is_over]
    walk.mark_open(ClaimId(2))
    assert [*over, walk.is_over] == [True, False]
    walk.mark_open(ClaimId(1))
    assert (walk.answered_claims, walk.skipped_claims) == (set(), set())


@pytest.mark.thorough
async def test_verdicts_typed_before_a_conversation_is_drawn_are_refused_aloud(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[bool] = []
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        monkeypatch.setattr(app, "bell", lambda: rung.append(True))
        await press(pilot, "enter")
        type_ahead(app, "enter", *"yn.", "j", "z")
        await calm(pilot)
        assert isinstance(app.screen, ReviewScreen)
        said = "not saved: y n"
        assert said in status(app)
        assert rung
        assert app.screen.claim is not None
        assert app.screen.claim.number == 2, "j was kept"
        first = app.screen.view
        await press(pilot, "z", "q", "down")
        type_ahead(app, "enter", "y")
        await calm(pilot)
        assert app.screen.view is not first
        assert "not saved: y" in status(app)
        await press(pilot, "y")
    (act,) = acts(store_path)
    assert act[0] == "agreed"


async def test_why_keys_were_refused_stays_when_a_verdict_before_them_is_saved(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=(160, 40)) as pilot:
        await reviewing(pilot)
        may_write = await hold_writer(pilot)
        answers = iter((True, False, True, True, True))
        with monkeypatch.context() as patch:
            patch.setattr(ClaimList, "is_painted", property(lambda _claims: next(answers)))
            type_ahead(app, *"ynyy", "j")
            await until(pilot, lambda: "not saved: n y" in status(app))
            may_write.set()
        await until(pilot, lambda: "saved 12:" in status(app))
        assert "not saved: n y" in status(app)
        await press(pilot, "y")
        assert "not saved" not in status(app)


async def test_a_verdict_that_came_too_early_takes_those_behind_it_along(
    app: FaithApp, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next claim is drawn by then, but they were typed for claims further down."""
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        answers = iter((True, False, True, True, True))
        with monkeypatch.context() as patch:
            patch.setattr(ClaimList, "is_painted", property(lambda _claims: next(answers)))
            type_ahead(app, *"ynyy", "j")
            await calm(pilot)
        assert "not saved: n y y · typed before the claim was drawn" in status(app)
    assert [each[0] for each in acts(store_path)] == ["agreed"]
