"""`e` and ctrl+e: notes on a line of the screen, and in the user's own editor."""

import stat
from pathlib import Path
from typing import cast

import pytest
from textual import events
from textual.widgets import Input

from faithtui.domain.labels.label_events import Action
from faithtui.tui.app import FaithApp
from faithtui.tui.session import Session
from tests.tui.driving import (
    SIZE,
    acts,
    calm,
    focused,
    press,
    reviewing,
    said,
    screen_text,
    status,
    stored,
    text_of,
)
from tests.tui.fake_screens import FakeReviewScreen


def editor(folder: Path, script: str) -> str:
    path = folder / "editor.sh"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


class nothing:
    """Stands for leaving the terminal to another program, which needs a terminal."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: object) -> None:
        pass


async def test_a_note_can_be_written_in_an_editor(
    app: FaithApp, store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", editor(tmp_path, 'printf "two\\nlines" > "$1"'))
    monkeypatch.delenv("VISUAL", raising=False)
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        monkeypatch.setattr(app, "suspend", nothing)
        await press(pilot, "ctrl+e")
        assert screen.claim is not None
    mine = stored(store_path).claims[0].mine
    assert mine is not None
    assert mine.note == "two\nlines"


@pytest.mark.parametrize(
    ("script", "words"), [("exit 3", "status 3"), (None, "neither VISUAL nor EDITOR")]
)
async def test_an_editor_that_fails_changes_nothing(
    app: FaithApp,
    store_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str | None,
    words: str,
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    if script is not None:
        monkeypatch.setenv("EDITOR", editor(tmp_path, script))
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        monkeypatch.setattr(app, "suspend", nothing)
        await press(pilot, "ctrl+e")
        assert words in status(app)
    assert acts(store_path) == []


@pytest.mark.thorough
async def test_a_note_is_typed_without_giving_verdicts(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await reviewing(pilot)
        await press(pilot, "e")
        assert focused(app) == "note"
        keys = "\n".join(screen_text(app).splitlines()[-3:])
        assert "note on claim 1: enter saves it" in screen_text(app), "not the one labelled before"
        assert "enter save note" in keys
        assert "esc drop note" in keys
        assert "verdict" not in keys
        await press(pilot, *"ynix")
        assert "note on claim 1: ynix" in screen_text(app), "named as long as it is typed"
        await press(pilot, "enter")
        assert "y n i x verdict" in screen_text(app)
        assert "saved" in status(app)
        assert focused(app) == "claims"
        assert "ynix" in text_of(app, "verdict")
        await press(pilot, "e", *"zzz", "escape")
        assert focused(app) == "claims"
        view = stored(store_path)
        assert said(view) == [None] * 5
        assert view.claims[0].mine is not None
        assert view.claims[0].mine.note == "ynix"
        await press(pilot, "e", *["backspace"] * 4, "enter")
    assert stored(store_path).claims[0].mine is None, "an emptied note is removed"


@pytest.mark.thorough
async def test_a_note_takes_any_paste(app: FaithApp, store_path: Path) -> None:
    text = "\n".join(f"line {number}: " + "x" * 90 for number in range(60))
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "e", "a", ":")
        app.post_message(events.Paste(text))
        await calm(pilot)
        assert f"{len(text) + 3:,} characters in 61 lines pasted" in screen_text(app)
        await press(pilot, "b", "enter")
        assert "saved" in status(app)
        await press(pilot, "e")
        assert "has several lines" in status(app)
        assert not screen.note.display
        await press(pilot, "j", "e")
        app.post_message(events.Paste("one line"))
        await calm(pilot)
        assert screen.note.value == "one line", "what fits is typed as it was"
        app.post_message(events.Paste("y" * 200_000))
        await calm(pilot)
        assert screen.note.value == "one line"
        await press(pilot, "enter")
    first, second, *_ = [claim.mine for claim in stored(store_path).claims]
    assert first is not None
    assert first.note == f"a:\n{text}\nb"
    assert second is not None
    assert second.note == "one line"


# On a screen that is not drawn


async def test_a_note_that_was_not_changed_is_not_saved(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.press("e")
    assert screen.note.display
    assert screen.note_subjects == ["claim 1"]
    screen.notes.submit_note(Input.Submitted(cast(Input, None), ""))
    assert not screen.note.display
    assert screen.message == "note on claim 1 left as it was"
    assert screen.writer.in_flight == 0


async def test_a_note_goes_to_its_claim_though_another_one_was_chosen_meanwhile(
    session: Session,
) -> None:
    screen = await FakeReviewScreen(session).open()
    screen.press("e")
    screen.press("j")
    screen.notes.submit_note(Input.Submitted(cast(Input, None), "a fee"))
    await screen.settle()
    assert screen.view is not None
    notes = [claim.mine.note if claim.mine else None for claim in screen.view.claims]
    assert notes[:2] == ["a fee", None]


async def test_a_note_of_several_lines_is_left_to_the_editor(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.claim is not None
    screen.writer.save_event(screen.claim, Action.NOTED, "note", note="one\ntwo")
    await screen.settle()
    screen.press("e")
    assert "has several lines: ctrl+e opens your editor" in screen.message
    assert not screen.note.display


async def test_there_is_no_key_without_a_claim(session: Session) -> None:
    screen = FakeReviewScreen(session)
    assert not screen.press("e")
    assert not screen.press("ctrl+e")


# Leaving the line


def notes(path: Path) -> list[str | None]:
    return [claim.mine.note if claim.mine else None for claim in stored(path).claims]


@pytest.mark.thorough
async def test_a_note_left_by_tab_is_saved_on_the_claim_it_was_opened_for(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "e", *"fee", "tab")
        assert "saved" in status(app)
        assert "note on claim 1" in status(app)
        assert not screen.note.display
        assert notes(store_path)[:2] == ["fee", None]
        await press(pilot, "shift+tab", "y", "e", *"two")
        await pilot.click("#claims", offset=(5, 8))
        await calm(pilot)
        assert notes(store_path)[:2] == ["fee", "two"]
        await press(pilot, "u")
        assert notes(store_path)[:2] == ["fee", None]


@pytest.mark.thorough
async def test_a_note_left_as_it_was_is_not_saved_again(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "e", *"fee", "enter", "e", "tab")
        assert not screen.note.display
    assert len(acts(store_path)) == 1


async def test_a_note_stays_open_while_the_terminal_has_no_focus(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        await press(pilot, "e", *"fee")
        app.post_message(events.AppBlur())
        await calm(pilot)
        assert acts(store_path) == []
        app.post_message(events.AppFocus())
        await calm(pilot)
        await press(pilot, "s", "enter")
        assert not screen.note.display
    assert notes(store_path)[0] == "fees"


async def test_quitting_saves_a_note_that_is_being_typed(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "e", *"fee", "ctrl+q")
    assert notes(store_path)[0] == "fee"


async def test_going_to_another_screen_saves_a_note_that_is_being_typed(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "e", *"fee")
        app.show_screen("runs")
        await calm(pilot)
        assert notes(store_path)[0] == "fee"


@pytest.mark.thorough
async def test_redo_does_nothing_while_a_note_is_typed(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "y", "u", "e", "a", "ctrl+r", "escape")
    assert said(stored(store_path)) == [None] * 5
