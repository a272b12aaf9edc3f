"""The judge, wherever its words are shown: its name, its hedges, and what is known of it."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.judging.judge_names import OFFLINE_TITLE
from faithtui.domain.labels.label_sets import FAITHFULNESS, RELEVANCE
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.keymap.palette import list_commands
from faithtui.tui.screen.judge_dialog import JudgeDialog, _rewrap_text
from faithtui.tui.shutdown import _run_with_timeout
from faithtui.tui.theme import format as fmt
from tests.tui.driving import opened, press, reviewing, screen_text, text_of, title, until

SIZES = [(60, 18), (80, 24), (120, 40), (200, 60)]


def test_a_probability_says_of_what_and_has_one_digit_of_the_embedded_judge() -> None:
    assert fmt.format_confidence(0.52, FAITHFULNESS, "offline") == " · P(supported) 0.5"
    assert fmt.format_confidence(0.72, RELEVANCE, "offline") == " · P(relevant) 0.7"
    assert fmt.format_confidence(0.72, FAITHFULNESS, "openai:m") == " · P(supported) 0.72"
    assert fmt.format_confidence(None, FAITHFULNESS, "offline") == ""


async def test_a_no_of_the_embedded_judge_is_a_possible_contradiction(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        while "NO " not in text_of(app, "verdict"):
            await press(pilot, "j")
        told = " ".join(text_of(app, "verdict").split())
        assert "NO possible contradiction in w" in told
        assert "P(supported) 0.1" in told
        assert "[n] contradicted" in told, "people say it without a hedge"
        assert "P(supported) 0.12" not in told, "its level is off: one digit says enough"
        await press(pilot, "p")
        told = screen_text(app)
        assert "NO possible contradiction" in told
        assert screen.claim is not None
        assert screen.claim.first_window_verdict.label == "no"


@pytest.mark.thorough
@pytest.mark.parametrize("size", SIZES)
async def test_every_screen_names_the_judge(app: FaithApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await reviewing(pilot)
        shown = f"{text_of(app, 'verdict')} {screen_text(app)}"
        assert OFFLINE_TITLE[:22] in shown, "in the column, or in the frame of a strip"
        for letter in ("r", "c", "a", "p", "i", "u", "d"):
            await press(pilot, "g", letter)
            told = title(app) if letter != "r" else " ".join(screen_text(app).split())
            assert OFFLINE_TITLE in told or "overlap baseline (offline" in told, letter


def tells(app: FaithApp) -> bool:
    return isinstance(app.screen, JudgeDialog)


@pytest.mark.parametrize("size", SIZES)
async def test_one_key_tells_how_good_it_is(app: FaithApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        for keys in (["enter"], ["enter"], ["g", "a"], ["g", "r"]):
            await press(pilot, "A")
            assert tells(app)
            told = text_of(app, "text")
            assert told.lstrip().startswith(OFFLINE_TITLE)
            assert "AUROC" in told
            assert "Where it fails" in told
            assert "g u, then n draws a sample" in " ".join(told.split())
            await press(pilot, "A")
            assert not tells(app)
            await press(pilot, *keys)
        offered = [
            each.title
            for each in list_commands(app, app.screen, lambda name: None, {}, app.input_queue)
        ]
        assert "about the judge  (A)" in offered


async def test_without_a_run_there_is_no_judge_to_tell_of(
    make_app: Callable[[Path], FaithApp], tmp_path: Path
) -> None:
    app = make_app(tmp_path / "new.db")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "A")
        assert not isinstance(app.screen, JudgeDialog)


async def test_a_judge_with_a_hostile_name_is_drawn_literally(
    app: FaithApp, store_path: Path
) -> None:
    with Store.open(store_path) as store:
        (row,) = store.runs.list_runs()
        name = "openai:[bold]m[/bold]\x1b[31m"
        store.runs.create(replace(row.spec, judge=name), ())
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "home", "A")
        told = text_of(app, "text")
        assert "[bold]m[/bold]" in told
        assert "\x1b" not in told
        assert "Nothing is measured" in " ".join(told.split())


@pytest.mark.parametrize("width", [30, 52, 69, 120])
def test_facts_keep_their_figures_at_any_width(width: int) -> None:
    facts = f"name\n\n{'A long name of a data set':<42}{'1,800':>6}{'0.82':>12}{'0.94':>9}\n- a\n"
    lines = [each.text for each in _rewrap_text(facts, width)]
    assert all(len(each) <= width for each in lines)
    row = next(each for each in lines if "0.94" in each)
    assert row.split()[-3:] == ["1,800", "0.82", "0.94"] or width < 40
    assert " - a" in lines


def test_work_that_outlasts_the_app_ends_without_a_word() -> None:
    go_on = threading.Event()

    def work() -> None:
        go_on.wait(20)

    asyncio.run(_run_with_timeout(0.01, work))
    (thread,) = (each for each in threading.enumerate() if each.name == "faithtui-close")
    go_on.set()
    thread.join(20)
    assert not thread.is_alive()


async def test_a_pane_with_more_room_draws_more(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await reviewing(pilot)
        assert "yours:" in text_of(app, "verdict")
        screen.panes.verdict.focus()
        await until(pilot, lambda: screen.focused is screen.panes.verdict)
        await press(pilot, "z")
        # A column, no strip, once the pane has its new size.
        await until(pilot, lambda: len(text_of(app, "verdict").splitlines()) > 8)
