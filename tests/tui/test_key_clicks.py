"""Keys that are drawn can be clicked, in the footer and in panes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from faithtui.tui.app import FaithApp
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.screen.go_to_dialog import GoToDialog
from faithtui.tui.screen.help_dialog import HelpDialog
from faithtui.tui.screen.key_list import KeyListDialog
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.key_clicks import list_keys_in_clicked_hint, list_keys_in_clicked_line
from faithtui.tui.widgets.zoomable_panes import Panes
from tests.tui.driving import calm, opened, press, reviewing, screen_text, status, until

ACTIVE = {
    "y": "y",
    "g": "g",
    "?": "question_mark",
    "esc/q": "escape",
    "j": "j",
    "k": "k",
    "/": "slash",
}
SIZE = (120, 40)


@pytest.mark.parametrize(
    ("text", "x", "keys"),
    [
        ("[y]", 1, ["y"]),
        (" y ", 1, ["y"]),
        ("g r", 2, ["g", "r"]),
        ("?", 0, ["question_mark"]),
        ("n", 0, []),
        ("what to do", 0, []),
        ("y", 5, []),
    ],
)
def test_a_drawn_key_is_the_key_that_works_now(text: str, x: int, keys: list[str]) -> None:
    pieces = [Piece(text, "strong key"), Piece(" and words")]
    assert [each.key for each in list_keys_in_clicked_line(pieces, x, ACTIVE)] == keys


@pytest.mark.parametrize(
    ("x", "key"),
    [(1, "y"), (4, "y"), (8, "j"), (10, "k"), (13, None), (19, "slash"), (22, "slash")],
)
def test_a_hint_is_pressed_by_its_key_or_its_words(x: int, key: str | None) -> None:
    pieces = [
        Piece(" "), Piece("y", "key"), Piece(" yes", "quiet"), Piece("  "), Piece("j/k", "key"),
        Piece(" move", "quiet"), Piece("   "), Piece("/", "key"), Piece(" filter", "quiet"),
    ]  # fmt: skip
    assert [each.key for each in list_keys_in_clicked_hint(pieces, x, ACTIVE)] == (
        [key] if key else []
    )


@pytest.mark.parametrize(("x", "keys"), [(1, ["y"]), (5, ["k"]), (8, []), (12, [])])
def test_words_behind_several_keys_press_none_of_them(x: int, keys: list[str]) -> None:
    pieces = [Piece(" "), Piece("y j k", "key"), Piece(" verdict", "quiet")]
    assert [each.key for each in list_keys_in_clicked_hint(pieces, x, ACTIVE)] == keys


@pytest.mark.parametrize("x", [1, 2, 3, 5, 8])
def test_a_range_that_begins_with_the_key_of_a_list_presses_that(x: int) -> None:
    pieces = [Piece(" "), Piece("0-7", "key"), Piece(" code", "quiet")]
    assert [each.key for each in list_keys_in_clicked_hint(pieces, x, {"0": "0", "7": "7"})] == [
        "0"
    ]


async def click_words(pilot: Pilot[None], words: str, into: int = 0) -> None:
    """Click where words are painted."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    rows = screen_text(app).split("\n")
    y = max(number for number, row in enumerate(rows) if words in row)
    await pilot.click(offset=(rows[y].index(words) + into, y))
    await calm(pilot)


@pytest.mark.thorough
async def test_every_hint_of_the_footer_can_be_clicked(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await click_words(pilot, "? help")
        assert isinstance(app.screen, HelpDialog)
        await click_words(pilot, "esc/q close")
        await click_words(pilot, "go to")
        assert isinstance(app.screen, GoToDialog)
        await press(pilot, "escape")
        await click_words(pilot, "enter open")
        assert app.current_screen_name == "conversations"


async def test_a_dialogs_keys_can_be_clicked(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "c")
        assert isinstance(app.screen, ConfirmDialog)
        await click_words(pilot, "n no")
        assert not isinstance(app.screen, ConfirmDialog)


@pytest.mark.thorough
async def test_a_clicked_key_of_a_pane_leaves_the_focus_where_it_is(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await reviewing(pilot)
        assert isinstance(screen, ReviewScreen)
        before, acts = screen.focused, app.session.store.label_log.read_newest_event_id()
        await click_words(pilot, "[y]", 1)
        assert screen.focused is before
        assert app.session.store.label_log.read_newest_event_id() != acts


async def test_the_word_behind_the_verdict_keys_gives_no_verdict(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        acts = app.session.store.label_log.read_newest_event_id()
        await click_words(pilot, "y n i x verdict", len("y n i x v"))
        assert app.session.store.label_log.read_newest_event_id() == acts
        await click_words(pilot, "y n i x verdict", len("y n "))
        assert app.session.store.label_log.read_newest_event_id() != acts
        await click_words(pilot, "M metrics", len("M met"))
        assert app.current_screen_name == "metrics", "the tab of the title is the first of them"


@pytest.mark.thorough
@pytest.mark.parametrize("into", [0, 2, 4])
async def test_a_reason_code_is_chosen_by_clicks(app: FaithApp, into: int) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await reviewing(pilot)
        await press(pilot, "y")
        await click_words(pilot, "0-7 code", into)
        assert isinstance(app.screen, KeyListDialog)
        await click_words(pilot, "the passage that settles it was not retrieved", 3)
        assert isinstance(app.screen, ReviewScreen)
        assert "claim 1: code retrieval" in status(app)


@pytest.mark.thorough
async def test_a_reason_code_is_chosen_in_its_list_by_its_own_key(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "y", "0", "5")
        assert "claim 1: code policy" in status(app)
        await press(pilot, "0", "enter")  # The list begins at the code that was given.
        assert "claim 1: no code" in status(app)


async def test_the_list_of_codes_is_refused_before_a_verdict(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "0")
        assert isinstance(app.screen, ReviewScreen)
        assert "give one first" in status(app)


@pytest.mark.thorough
async def test_a_part_of_agreement_is_chosen_by_clicks(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "a")
        await until(pilot, lambda: "0-7 parts" in screen_text(app))
        await click_words(pilot, "0-7 parts", 5)
        assert isinstance(app.screen, KeyListDialog)
        await click_words(pilot, "Detecting unfaithful claims")
        assert app.screen.query_one(Panes).zoomed_id == "detection"


REVIEW_FOOTER = (
    ("]", "[ ] passage", 2), ("[", "[ ] passage", 0), ("t", "t source", 0), ("escape", "", 0),
    ("t", "t source", 4), ("escape", "", 0), ("p", "p all windows", 3), ("escape", "", 0),
    ("L", "L windows, truths", 0), ("L", "L windows, truths", 12), ("L", "L windows, truths", 0),
    ("J", "J/K window", 0), ("K", "J/K window", 2), ("N", "N/P unlabelled", 0),
    ("P", "N/P unlabelled", 2), ("/", "/ find", 3), ("escape", "", 0), ("W", "W raw replies", 0),
    ("escape", "", 0), ("M", "M metrics", 3), ("escape", "", 0), ("z", "z zoom", 0),
    ("z", "z zoom", 3), ("tab", "tab pane", 5), ("e", "e note", 2), ("escape", "", 0),
)  # fmt: skip


@pytest.mark.thorough
async def test_a_click_in_the_footer_of_the_review_does_what_its_key_does(
    store_path: Path, make_app: Callable[[Path], FaithApp]
) -> None:
    screens: list[list[str]] = [[], []]
    for clicks in (False, True):
        app = make_app(store_path)
        async with app.run_test(size=(200, 50)) as pilot:
            await reviewing(pilot)
            for key, words, into in REVIEW_FOOTER:
                if clicks and words:
                    await click_words(pilot, words, into)
                else:
                    await press(pilot, {"[": "left_square_bracket", "]": "right_square_bracket",
                                        "/": "slash"}.get(key, key))  # fmt: skip
                screens[clicks].append(screen_text(app))
    for (key, words, _), by_key, by_click in zip(REVIEW_FOOTER, *screens, strict=True):
        assert by_click == by_key, f"{key} {words}"


async def test_the_footer_names_the_keys_of_a_note_while_it_is_written(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await reviewing(pilot)
        await press(pilot, "e")
        assert "enter save note  esc drop note" in screen_text(app)
        await press(pilot, "escape")
        assert "save note" not in screen_text(app)


async def test_a_dialog_leaves_the_status_and_the_keys_below_it_readable(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "question_mark")
        rows = screen_text(app).split("\n")
        at = next(number for number, row in enumerate(rows) if "esc/q close" in row)
        assert at < len(rows) - 3
        assert "ann" in rows[-3]
