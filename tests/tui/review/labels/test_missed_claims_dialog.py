"""`+`: missed claims are added, an answer is declared complete, and undo takes it back."""

from pathlib import Path

import pytest
from textual import events

from faithtui.domain.labels.label_events import Action
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.review.labels.missed_claims_dialog import AnswerClaims, MissedClaimsDialog
from faithtui.tui.review.review_screen import ReviewScreen
from tests.tui.driving import calm, press, reviewing, screen_text, status, stored, text_of


def missed(path: Path) -> list[str]:
    return [each.text for each in stored(path).missed]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_claims_are_added_and_the_answer_is_complete(
    app: FaithApp, store_path: Path, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        screen = await reviewing(pilot)
        claim = screen.claim
        assert claim is not None
        await press(pilot, "plus")
        assert isinstance(app.screen, MissedClaimsDialog)
        await press(pilot, "space", "right", "enter")
        (first,) = missed(store_path)
        assert first in stored(store_path).turns[claim.turn].content
        (row,) = stored(store_path).missed
        assert row.span is not None
        await press(pilot, "e", *"It rains")
        assert "enter add  esc drop" in screen_text(app).splitlines()[-2]
        assert "close" not in "".join(screen_text(app).splitlines()[-2:]), "q is a letter there"
        assert "A claim in words of your own" in screen_text(app)
        await press(pilot, "enter")
        assert missed(store_path) == [first, "It rains"]
        assert "+ It rains" in text_of(app, "claim")
        await press(pilot, "c")
        assert [each.turn for each in stored(store_path).complete] == [claim.turn]
        await press(pilot, "escape")
        assert isinstance(app.screen, ReviewScreen)
        if size[0] >= 120:
            title = str(screen.panes.transcript.border_title)
            assert title.endswith("2 missed · complete")
        await press(pilot, "u")
        assert "an answer declared complete" in status(app)
        assert stored(store_path).complete == ()
        await press(pilot, "u")
        assert "a missed claim added" in status(app)
        assert missed(store_path) == [first]
        await press(pilot, "ctrl+r")
        assert missed(store_path) == [first, "It rains"]
        assert screen.claim is not None
        assert screen.claim.id == claim.id
    with Store.open(store_path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        assert store.labelled_units.read_report_units(run).extraction == ()
        acts = store.bundles.make_label_bundle(reviewers=["ann"]).acts
        assert {act.action for act in acts} == {Action.MARKED, Action.WITHDRAWN, Action.RESTORED}


@pytest.mark.thorough
async def test_what_is_listed_or_says_nothing_is_refused(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        assert screen.claim is not None
        await press(pilot, "plus", "e")
        line = app.screen.query_one("#typed")
        line.value = screen.claim.text.upper().rstrip(".") + " …"  # type: ignore[attr-defined]  # an input
        await press(pilot, "enter")
        assert "this claim is in the list already" in text_of(app, "claim")
        assert line.display, "it stays, to be changed"
        await press(pilot, "escape", "e", *"...", "enter")
        assert "a claim has no words" in text_of(app, "claim")
        await press(pilot, "escape", "c")
        assert "!" not in text_of(app, "claim"), "what was refused is over"
        await press(pilot, "c")
        await press(pilot, "e", *"no", "escape")
        assert isinstance(app.screen, MissedClaimsDialog), "escape closes the line first"
        assert missed(store_path) == []


@pytest.mark.thorough
async def test_the_claim_added_last_is_removed_in_the_window(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await reviewing(pilot)
        await press(pilot, "plus", "e", *"It rains", "enter", "e", *"It snows", "enter")
        assert missed(store_path) == ["It rains", "It snows"]
        keys = "\n".join(screen_text(app).splitlines()[-2:])
        assert "u remove last  c complete or not" in keys
        assert "verdict" not in keys, "keys of the screen behind do not work here"
        await press(pilot, "u")
        assert missed(store_path) == ["It rains"]
        assert "It snows" not in text_of(app, "claim")
        await press(pilot, "u", "u")
        assert missed(store_path) == []
        assert "no claim of yours" in text_of(app, "claim")
        await press(pilot, "e", *"It snows", "enter")
        assert missed(store_path) == ["It snows"]


async def test_what_cannot_be_saved_is_not_opened(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await reviewing(pilot)
        monkeypatch.setattr(Store, "is_read_only", property(lambda _store: True))
        for key in ("plus", "E"):
            await press(pilot, key)
            assert app.screen is screen
            assert "not saved: this store can only be read" in status(app)


@pytest.mark.thorough
async def test_complete_can_be_taken_back_in_the_window(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "plus", "c", "plus", "plus")
        assert isinstance(app.screen, MissedClaimsDialog)
        assert "· complete" in str(app.screen.query_one("#claim").border_title)
        await press(pilot, "c", "escape")
        assert stored(store_path).complete == ()
        assert screen.view is not None
        known = AnswerClaims.from_view(screen.view, 1)
        assert (known.missed, known.is_complete) == ((), False)


@pytest.mark.thorough
async def test_a_claim_that_is_being_typed_is_added_when_the_line_or_the_app_is_left(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await reviewing(pilot)
        await press(pilot, "plus", "e", *"It rains", "tab")
        assert missed(store_path) == ["It rains"]
        assert "+ It rains" in text_of(app, "claim")
        await press(pilot, "e", *"It snows", "ctrl+q")
    assert missed(store_path) == ["It rains", "It snows"]


@pytest.mark.thorough
async def test_quitting_says_once_that_a_typed_claim_cannot_be_added(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await reviewing(pilot)
        await press(pilot, "plus", "e", *"...", "ctrl+q")
        assert "quit again to drop it" in text_of(app, "claim")
        is_leaving = app.shutdown.is_leaving
        assert not is_leaving
        await press(pilot, "ctrl+q")
        assert app.shutdown.is_leaving
    assert missed(store_path) == []


@pytest.mark.thorough
async def test_a_paste_of_several_lines_is_one_claim(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await reviewing(pilot)
        await press(pilot, "plus", "e")
        app.post_message(events.Paste("It rains\r\n  and\n\nit snows\n"))
        await calm(pilot)
        await press(pilot, "enter")
    assert missed(store_path) == ["It rains and it snows"]
