"""The guideline: read in the app, and written in the user's editor."""

import contextlib
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from faithtui.domain.labels.default_guidelines import DEFAULT_GUIDELINES
from faithtui.domain.labels.label_events import Action
from faithtui.domain.limits import GUIDELINE, Limit
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.review.external_editor import edit_text
from faithtui.tui.review.guideline.guideline_dialog import GuidelineDialog
from faithtui.tui.review.guideline.guideline_lines import count_guideline_lines, guideline_lines
from tests.tui.driving import calm, opened, press, reviewing, screen_text, text_of


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make an editor that replaces every text by the one given last."""
    script = tmp_path / "editor.sh"
    script.write_text(f'#!/bin/sh\ncp "{tmp_path}/text" "$1"\n', encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("VISUAL", str(script))
    monkeypatch.setattr(FaithApp, "suspend", _nothing)

    def write(text: str) -> None:
        (tmp_path / "text").write_text(text, encoding="utf-8")

    return write


@contextlib.contextmanager
def _nothing(_app: FaithApp) -> Iterator[None]:
    yield


async def test_a_version_is_written_and_read(app: FaithApp, write: Callable[[str], None]) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot)
        store = app.session.store
        app.push_screen(GuidelineDialog(app.session, store.guidelines.list_versions()))
        await calm(pilot)
        assert "There is no guideline yet" in screen_text(app), "of no metric in particular"
        write("Fees [b]count[/b].\n")
        await press(pilot, "e")
        text = screen_text(app)
        assert "version 1 of 1 · in force" in text
        assert "Fees [b]count[/b]." in text
        assert "· ann" in text
        await press(pilot, "e")
        assert "no new version" in screen_text(app)
        write("Fees do not.")
        await press(pilot, "ctrl+e", "[")
        assert "version 1 of 2 · replaced" in screen_text(app)
        await press(pilot, "]")
        assert "Fees do not." in screen_text(app)
        write("  \n")
        await press(pilot, "e")
        assert "an empty text is no guideline" in screen_text(app)
        await press(pilot, "h")
        assert not isinstance(app.screen, GuidelineDialog)
        assert [each.text for each in store.guidelines.list_versions()] == [
            "Fees [b]count[/b].",
            "Fees do not.",
        ]


async def test_labels_name_the_version_in_force(store_path: Path) -> None:
    with Store.open(store_path) as store:
        digest = store.guidelines.add_version("Fees count.", "ann").digest
        run = store.runs.find_newest_run_id()
        assert run is not None
        claim = (
            store.runs.read_conversation_for_review(store.runs.list_item_ids(run)[0], "ann")
            .claims[0]
            .id
        )
        store.label_log.append_label_event(
            claim, "ann", Action.BLIND, "yes", run=run, judge_verdict=None, saw_judge=False
        )
        assert store.bundles.make_label_bundle(reviewers=["ann"]).acts[0].guideline == digest


async def test_an_editor_that_is_missing_or_fails_is_told(
    app: FaithApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FaithApp, "suspend", _nothing)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    assert "neither VISUAL nor EDITOR is set" in str(
        edit_text(app, "", name="x.md", limit=GUIDELINE)
    )
    monkeypatch.setenv("EDITOR", "false")
    assert "ended with status 1" in str(edit_text(app, "", name="x.md", limit=GUIDELINE))
    monkeypatch.setenv("EDITOR", str(tmp_path / "not there"))
    assert "could not be used" in str(edit_text(app, "", name="x.md", limit=GUIDELINE))
    monkeypatch.setenv("EDITOR", "true")
    assert edit_text(app, "as it was\n", name="x.md", limit=GUIDELINE) == "as it was"
    writing = tmp_path / "write"
    writing.write_text("#!/bin/sh\nprintf 'too many words' > \"$1\"\n")
    writing.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(writing))
    short = Limit("a note", 5, "characters", "shorten it")
    found = str(edit_text(app, "", name="note.txt", limit=short))
    said, _, kept = found.rpartition(". What you wrote is in ")
    assert said == "a note may have 5 characters, and this has 14; shorten it"
    assert _taken(Path(kept)) == "too many words", "nothing that was written is lost"
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot)
        app.push_screen(GuidelineDialog(app.session, ()))
        await calm(pilot)
        monkeypatch.setenv("EDITOR", "false")
        await press(pilot, "e")
        assert "nothing was saved" in screen_text(app)
        monkeypatch.delenv("EDITOR")
        await press(pilot, "e")
        assert "set FILE" in screen_text(app), "that needs no editor"


def _taken(path: Path) -> str:
    """Read a file and remove it."""
    text = path.read_text()
    path.unlink()
    return text


SIZE = (120, 40)


@pytest.mark.thorough
async def test_the_default_stands_beside_a_claim_while_the_judge_is_hidden(
    app: FaithApp, write: Callable[[str], None]
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        assert not screen.panes.guideline.display, "the judge's truths are shown"
        await press(pilot, "B")
        text = " ".join(text_of(app, "guideline").split())
        assert "[y] supported: passages say all of it" in text
        assert "[x] not a fair claim" in text
        assert screen.panes.guideline.border_title == "Guideline · default"
        await press(pilot, "h")
        assert "default · in force" in screen_text(app)
        assert "for turn-faithfulness" in screen_text(app)
        write("y  fees\tcount\nElse [b]ask[/b].")
        await press(pilot, "e")
        assert "version 1 of 1 · in force" in screen_text(app)
        await press(pilot, "[")
        assert "default · replaced" in screen_text(app)
        await press(pilot, "h")
        text = " ".join(text_of(app, "guideline").split())
        assert "[y] fees" in text
        assert "Else [b]ask[/b]." in text
        assert screen.panes.guideline.border_title == "Guideline · version 1"
        (version,) = app.session.store.guidelines.list_versions()
        assert version.metric == "turn-faithfulness"
        await press(pilot, "y")
        bundle = app.session.store.bundles.make_label_bundle(reviewers=["ann"])
    assert [act.guideline for act in bundle.acts if act.verdict] == [version.digest]


async def test_the_default_saved_as_it_is_is_no_version(
    app: FaithApp, write: Callable[[str], None]
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "h")
        write(DEFAULT_GUIDELINES["turn-faithfulness"].rstrip())
        await press(pilot, "e")
        assert "no new version" in screen_text(app)
        assert app.session.store.guidelines.list_versions() == ()


def test_lines_of_keys_hang_and_the_rest_is_counted() -> None:
    lines = [each.text for each in guideline_lines("y  one two three\nyes  no key", 14)]
    assert lines == [" [y] one two", "     three", " yes  no key"]
    assert "5 more characters" in guideline_lines("x" * 15, 60, most=10)[-1].text
    assert guideline_lines("", 20)[0].text == " there is none yet"
    assert count_guideline_lines(None) == 0
