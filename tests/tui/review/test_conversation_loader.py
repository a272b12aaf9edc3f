"""Reading conversations: what changed elsewhere is read again, a jump goes before that."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual._compositor import Compositor

from faithtui.domain.labels.label_events import Action
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.review.labels.verdict_keys import VERDICT
from faithtui.tui.review.lines import evidence_lines
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.session import Session
from tests.tui.driving import (
    SIZE,
    calm,
    reviewing,
    text_of,
    until,
)
from tests.tui.fake_screens import FakeReviewScreen


async def test_labels_given_elsewhere_show_up(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        assert screen.view is not None
        view = screen.view
        with Store.open(store_path) as other:
            other.label_log.append_label_event(
                view.claims[0].id, "cleo", Action.BLIND, "no",
                run=view.run.id, judge_verdict="yes", saw_judge=False,
            )  # fmt: skip
        app.store_watcher.reload_screens_if_store_changed()
        await calm(pilot)
        assert "cleo" in text_of(app, "verdict")
        assert screen.view.claims[0].human == "no"


async def test_the_rest_of_a_long_conversation_waits_for_the_first_paint(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    compute, update = evidence_lines.TokenisedView.compute_lazy_parts, Compositor.render_update

    def note_rest(tokenised: evidence_lines.TokenisedView) -> None:
        seen.append("rest")
        compute(tokenised)

    def note_paint(*args: Any, **kwargs: Any) -> object:
        screen = app.screen
        if isinstance(screen, ReviewScreen) and screen.view is not None:
            seen.append("paint")
        return update(*args, **kwargs)

    monkeypatch.setattr(evidence_lines, "TURNS_AT_ONCE", 0)
    monkeypatch.setattr(evidence_lines.TokenisedView, "compute_lazy_parts", note_rest)
    monkeypatch.setattr(Compositor, "render_update", note_paint)
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await until(pilot, lambda: "rest" in seen)
    assert seen[0] == "paint"


async def test_a_change_of_the_store_does_not_stop_a_jump(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        screen.loader.load_next_conversation_with_open_claim(1)
        await pilot.pause(0)
        screen.reload_after_store_change()
        await calm(pilot)
        assert screen.view is not None
        assert screen.view.item.key == "conv-0031"


# On a screen that is not drawn


async def test_without_a_choice_it_begins_where_a_verdict_is_missing(session: Session) -> None:
    screen = FakeReviewScreen(session)
    screen.loader.reload()
    await screen.settle()
    assert session.run == session.store.runs.find_newest_run_id()
    assert screen.view is not None
    assert screen.view.item.key == "conv-0147"
    assert screen.chosen == 0


async def test_a_store_without_runs_says_how_to_begin(tmp_path: Path) -> None:
    session = Session("ann", tmp_path / "none.db")
    with Store.open(tmp_path / "none.db") as store:
        session.set_store(store)
        screen = FakeReviewScreen(session)
        screen.loader.reload()
        await screen.settle()
        assert screen.empty_words == "There is no run yet: g r, then n starts one."


async def test_the_answer_that_was_chosen_elsewhere_is_gone_to(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    session.choose_conversation(session.item, turn=3)
    screen.loader.reload()
    await screen.settle()
    assert screen.chosen == 2
    assert session.turn is None, "once"


async def test_a_reading_under_other_terms_is_made_again(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert session.item is not None
    early = screen.loader.read_conversation(session.item, None, 0)
    session.set_judge_hidden(True)
    screen.loader.show_loaded_if_still_wanted(early)
    assert screen.view is not None
    assert screen.view.hidden == frozenset(), "not shown: what was painted stays until it is read"
    await screen.settle()
    assert len(screen.view.hidden) == 5


async def test_a_reading_of_a_conversation_that_was_left_is_dropped(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert session.item is not None
    early = screen.loader.read_conversation(session.item, None, 0)
    await screen.open(2)
    screen.loader.show_loaded_if_still_wanted(early)
    assert screen.view is not None
    assert screen.view.item.key == "conv-0031"


async def test_only_a_change_of_the_conversation_is_read_again(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    await screen.settle()
    before = screen.view
    screen.loader.reload_if_changed()
    await screen.settle()
    assert screen.view is before
    session.store.label_log.append_label_event(
        screen.claims[0], "bo", Action.BLIND, "no", run=None, judge_verdict=None, saw_judge=False
    )
    screen.loader.reload_if_changed()
    await screen.settle()
    assert screen.view is not before
    screen.loader.force_reload_at_next_change()
    before = screen.view
    screen.loader.reload_if_changed()
    await screen.settle()
    assert screen.view is not before, "without a mark whatever changed is read"


async def test_a_change_during_a_jump_is_read_behind_it(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    items = session.store.runs.list_item_ids(screen.view.run.id, "number")  # type: ignore[union-attr]  # it is open
    session.choose_conversation(items[1])
    screen.loader.load_and_show_conversation(items[1], None, 0)
    screen.loader.reread_now_or_after_jump()
    waits = [screen.loader.must_reread]
    await screen.settle()
    assert [*waits, screen.loader.must_reread] == [True, False]
    assert session.item == items[1]


async def test_the_judge_in_view_is_recorded_once_and_not_while_blind(session: Session) -> None:
    session.set_judge_hidden(True)
    screen = await FakeReviewScreen(session).open()
    assert not session.exposed
    screen.press("B")
    await screen.settle()
    assert {item for _, _, item in session.exposed} == {session.item}


async def test_where_no_claim_is_left_only_verdicts_after_a_verdict_are_dropped(
    session: Session,
) -> None:
    screen = await FakeReviewScreen(session).open(2)
    screen.active_bindings = {
        "y": SimpleNamespace(binding=SimpleNamespace(group=VERDICT, id="review.verdict-yes")),
        "j": SimpleNamespace(binding=SimpleNamespace(group=None, id="list.down")),
    }
    screen.press("N")
    await screen.settle()
    assert screen.message == "no claim without a verdict after this one in the run"
    assert screen.input_queue.dropped == set(), "what is typed may be meant for this claim"
    screen.give("no")
    await screen.settle()
    assert screen.input_queue.dropped == {"y"}
    assert "no claim without a verdict" in screen.message
    assert screen.message.endswith("typed ahead and not saved: y")
