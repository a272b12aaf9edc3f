"""Notes that go with a final label."""

from pathlib import Path

import pytest
from textual.widgets import Input

from faithtui.domain.labels.label_events import Action
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.resume_position import BookmarkFile
from faithtui.tui.session import Session
from tests.tui.adjudication.test_adjudication_screen import adjudicating
from tests.tui.driving import opened, press, status, text_of
from tests.tui.fake_screens import FakeAdjudicateScreen


async def test_a_note_goes_with_the_final_word(differing: Path, app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "e")
        screen = await adjudicating(app)
        screen.query_one("#note", Input).value = "rule 3: fees count"
        await press(pilot, "enter", "n", "k")
        assert "rule 3: fees count" in text_of(app, "decide")
        await press(pilot, "e")
        assert screen.query_one("#note", Input).value == "rule 3: fees count"
        await press(pilot, "escape")
        assert screen.focused is screen.claims
        screen.query_one("#note", Input).value = ""
        await press(pilot, "e")
        screen.query_one("#note", Input).value = "another"
        await press(pilot, "enter")
        assert "another" in text_of(app, "decide")
        with Store.open(differing) as store:
            acts = store.bundles.make_label_bundle(reviewers=["ann"]).acts
        assert [(act.action, act.verdict, act.note) for act in acts] == [
            (Action.ADJUDICATED, "no", "rule 3: fees count"),
            (Action.ADJUDICATED, "no", "another"),
        ]


@pytest.mark.thorough
async def test_a_note_left_by_tab_is_kept_for_the_claim_it_was_opened_for(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "e", *"rule 3", "tab")
        screen = await adjudicating(app)
        assert "the note is kept, and goes with the final label" in status(app)
        assert list(app.session.final_notes.values()) == ["rule 3"]
        assert screen.evidence.selection is not None


@pytest.mark.thorough
async def test_a_note_without_a_final_label_outlives_the_app(
    differing: Path, tmp_path: Path
) -> None:
    places = BookmarkFile(tmp_path / "places", differing, "ann")
    first = FaithApp(differing, reviewer="ann", bookmarks=places)
    async with first.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "e", *"rule 3", "ctrl+q")
    places = BookmarkFile(tmp_path / "places", differing, "ann")
    second = FaithApp(differing, reviewer="ann", bookmarks=places)
    async with second.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        screen = await adjudicating(second)
        await press(pilot, "e")
        assert screen.note.value == "rule 3"
        await press(pilot, "enter", "n")
    with Store.open(differing) as store:
        assert [act.note for act in store.bundles.make_label_bundle(reviewers=["ann"]).acts] == [
            "rule 3"
        ]


# On a screen that is not drawn


async def test_a_note_waits_for_the_final_label_and_then_goes_with_it(
    differing: Path, session: Session
) -> None:
    screen = FakeAdjudicateScreen(session)
    assert not screen.press("e"), "no claim is painted"
    screen.evidence.show_or_read_claim(screen.claim_at_cursor())
    await screen.settle()
    assert screen.press("e")
    screen.notes.submit_note("rule 3")
    assert screen.message == "the note is kept, and goes with the final label"
    assert not screen.labels.in_flight
    screen.press("e")
    assert screen.note.value == "rule 3", "it is there to be changed"
    assert screen.evidence.selection is not None
    screen.labels.save_final_label_with_note(screen.evidence.selection, "no")
    await screen.settle()
    assert session.final_notes == {}
    final = screen.listed[0].final
    assert final is not None
    assert final.note == "rule 3"


async def test_a_note_on_a_settled_claim_keeps_its_label(differing: Path, session: Session) -> None:
    screen = FakeAdjudicateScreen(session)
    screen.evidence.show_or_read_claim(screen.settle_claim())
    await screen.settle()
    screen.notes.submit_note("so be it")
    await screen.settle()
    final = screen.listed[0].final
    assert final is not None
    assert (final.verdict, final.note) == ("yes", "so be it")


async def test_a_note_of_several_lines_is_left_to_review(differing: Path, session: Session) -> None:
    screen = FakeAdjudicateScreen(session)
    screen.evidence.show_or_read_claim(screen.claim_at_cursor())
    await screen.settle()
    session.final_notes[screen.listed[0].claim] = "one\ntwo"
    assert screen.press("e")
    assert "ctrl+e in review changes it" in screen.message
