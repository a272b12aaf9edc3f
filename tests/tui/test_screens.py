"""Runs, conversations, agreement, progress and the way between them, key by key."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Input, Select

from faithtui.agreement.report.settings import ReportLevel
from faithtui.domain.labels.label_events import Action
from faithtui.engine.runs.control import RunControl
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_planner import save_planned_run
from faithtui.store.records import RunState
from faithtui.store.store import Store
from faithtui.tui import screen_catalog
from faithtui.tui.agreement.agreement_screen import AgreementScreen
from faithtui.tui.app import FaithApp
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.metrics.metrics_screen import MetricsScreen
from faithtui.tui.new_run.new_run_screen import NewRunScreen
from faithtui.tui.new_run.option_text import parse_options
from faithtui.tui.progress.progress_screen import ProgressScreen
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.runs.runs_screen import RunsScreen
from faithtui.tui.screen.dialogs import (
    ConfirmDialog,
)
from faithtui.tui.screen.go_to_dialog import GoToDialog
from faithtui.tui.screen.help_dialog import HelpDialog
from faithtui.tui.widgets.scroll_pane import RowPane
from faithtui.tui.widgets.zoomable_panes import Panes
from tests.tui.building import SHOES
from tests.tui.driving import calm, opened, press, screen_text, status, text_of, title, until

SIZE = (120, 40)
SCREENS: dict[str, type[object]] = {
    "c": ConversationsScreen,
    "v": ReviewScreen,
    "m": MetricsScreen,
    "a": AgreementScreen,
    "p": ProgressScreen,
    "r": RunsScreen,
}


async def test_g_and_a_letter_go_to_a_screen(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        for letter, screen in SCREENS.items():
            await press(pilot, "g")
            assert isinstance(app.screen, GoToDialog)
            await press(pilot, letter)
            assert isinstance(app.screen, screen), letter
        for key in "vap":
            await press(pilot, key)
            assert isinstance(app.screen, SCREENS[key]), "the list of runs leads there too"
            await press(pilot, "g", "r")


async def test_every_place_to_go_to_is_in_the_window_and_takes_a_click(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g")
        pane = app.screen.query_one("#text", RowPane)
        assert len(pane.lines) == len(screen_catalog.SCREENS) + 1 == pane.content_size.height
        drawn = screen_text(app)
        assert "r runs" not in drawn, "the line of keys repeats none of them"
        for name in screen_catalog.SCREENS:
            assert f" {name} " in drawn
        row = list(screen_catalog.SCREENS).index("settings")
        left, top = pane.content_region.offset
        await pilot.click(offset=(left + 40, top + row))
        await calm(pilot)
        assert title(app).startswith("SETTINGS")
        await press(pilot, "g", "down", "enter")
        assert title(app).startswith("CONVERSATIONS")


async def test_q_goes_back_the_way_one_came(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "enter", "g", "a")
        way: list[type[object]] = []
        for _ in range(5):
            await press(pilot, "q")
            way.append(type(app.screen))
        assert way == [ReviewScreen, ConversationsScreen, RunsScreen, RunsScreen, RunsScreen]


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["colon", "ctrl+p"])
async def test_the_palette_offers_every_key_of_the_screen(app: FaithApp, key: str) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        titles = [command.title for command in app.get_system_commands(app.screen)]
        for words in ("new run  (n)", "agreement  (a)", "zoom  (z)", "go to review  (g v)"):
            assert words in titles, words
        await press(pilot, key)
        await press(pilot, *"agreement", "enter")
        await until(pilot, lambda: isinstance(app.screen, AgreementScreen))


async def test_help_explains_the_keys_of_the_screen(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "question_mark")
        assert isinstance(app.screen, HelpDialog)
        words = text_of(app, "text")
        for expected in ("In this pane", "On this screen", "Everywhere", "Start runs", "ctrl+q"):
            assert expected in words
        assert words.index("A run is") < words.index("Start runs"), "what it is about, then keys"
        assert words.index("Open") < words.index("To the last row"), "moving is the same everywhere"
        await press(pilot, "question_mark")
        assert isinstance(app.screen, RunsScreen)
        await press(pilot, "z")
        assert app.screen.query_one(Panes).zoomed_id == "list"
        await press(pilot, "z")
        assert app.screen.query_one(Panes).zoomed_id is None


@pytest.mark.thorough
async def test_the_list_of_conversations_moves_sorts_and_says_why(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "enter")
        screen = app.screen
        assert isinstance(screen, ConversationsScreen)
        assert "skipped: no user turn" in screen_text(app)
        for key, expected in (
            ("j", 1), ("down", 2), ("k", 1), ("up", 0), ("end", 3), ("home", 0),
            ("pagedown", 3), ("pageup", 0),
        ):  # fmt: skip
            await press(pilot, key)
            assert screen.items.cursor == expected, key
        await press(pilot, "N")
        assert screen.items.cursor == 1
        await press(pilot, "N")
        assert "nothing without a verdict" in status(app)
        await press(pilot, "j")
        assert "1 of 1 windows failed" in text_of(app, "detail")
        await press(pilot, "enter")
        assert isinstance(app.screen, ReviewScreen)
        assert "1 of 1 windows failed" in text_of(app, "claims")
        await press(pilot, "q", "s")
        assert "lowest judge's score first" in status(app)
        assert screen.items.cursor == 0, "another order begins at the top"


def labelled(path: Path) -> None:
    with Store.open(path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        for item in store.runs.list_item_ids(run):
            for number, claim in enumerate(
                store.runs.read_conversation_for_review(item, "bo").claims
            ):
                verdict = "no" if number == 1 else claim.first_window_verdict.label
                store.label_log.append_label_event(
                    claim.id, "bo", Action.BLIND, verdict,
                    run=run, judge_verdict=claim.first_window_verdict.label, saw_judge=False,
                )  # fmt: skip


async def test_agreement_opens_on_the_level_that_has_labels(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "a")
        screen = app.screen
        assert isinstance(screen, AgreementScreen)
        levels = [screen.level]
        assert "4 of 4 answers" in title(app)
        await press(pilot, "m")
        levels.append(screen.level)
        assert levels == [ReportLevel.ANSWERS, ReportLevel.CLAIMS]
        assert "nothing to count" in text_of(app, "coefficients")
        assert "No human labels yet" in text_of(app, "warnings"), "the sentence is of this level"


async def test_no_figure_on_the_agreement_screen_lacks_its_n(
    app: FaithApp, store_path: Path
) -> None:
    labelled(store_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "a")
        for pane in ("coefficients", "scores"):
            if pane == "scores":
                await press(pilot, "3")
            text = " ".join(text_of(app, pane).split())
            for name in ("kappa", "AC1") if pane == "coefficients" else ("Spearman", "AUROC"):
                rest = text.split(f"{name} ", 1)[1]
                assert re.search(r"n=\d", rest[:60]), (name, rest)


@pytest.mark.thorough
async def test_matrix_keys_stay_inside(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "a", "m")
        screen = app.screen
        assert isinstance(screen, AgreementScreen)
        screen.matrix.focus()
        await press(pilot, "down", "j", "down", "right", "right", "right")
        assert screen.matrix.cell == (2, 2)
        await press(pilot, "up", "k", "up", "left", "left", "left")
        assert screen.matrix.cell == (0, 0)


@pytest.mark.thorough
async def test_the_report_is_exported(app: FaithApp, store_path: Path, tmp_path: Path) -> None:
    labelled(store_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "a", "X")
        said = status(app)
        await press(pilot, "v")
        assert isinstance(app.screen, ReviewScreen)
    (folder,) = (tmp_path / "reports").iterdir()
    # Its name is read also where the line is cut.
    assert said.startswith(f"report written · {folder.name} in ")
    assert {path.name for path in folder.iterdir()} == {
        "report.html",
        "report.md",
        "report.json",
        "claims.csv",
        "answers.csv",
    }


async def test_the_report_of_a_run_is_exported_from_the_list_unless_one_works_blind(
    app: FaithApp, store_path: Path, tmp_path: Path
) -> None:
    labelled(store_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        app.session.is_judge_hidden = True
        await press(pilot, "X")
        assert "then B ends blind work" in status(app)
        assert not (tmp_path / "reports").exists()
        app.session.is_judge_hidden = False
        await press(pilot, "X")
        assert "report written" in status(app)
    (folder,) = (tmp_path / "reports").iterdir()
    assert "report.html" in {path.name for path in folder.iterdir()}


async def test_a_run_is_started_and_goes_on_while_one_reviews(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "n")
        form = app.screen
        assert isinstance(form, NewRunScreen)
        form.query_one("#options", Input).value = "window_size=2"
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, ProgressScreen))
        await press(pilot, "v")
        assert isinstance(app.screen, ReviewScreen)
        await until(pilot, lambda: not app.session.list_unfinished_run_snapshots())
    with Store.open(store_path) as store:
        newest = max(store.runs.list_runs(), key=lambda row: row.id)
        assert newest.state is RunState.DONE
        assert newest.spec.options["window_size"] == 2


@pytest.mark.thorough
async def test_the_form_begins_with_the_newest_runs_options(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "n")
        app.screen.query_one("#options", Input).value = "penalize_ambiguous_claims=true"
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, ProgressScreen))
        await until(pilot, lambda: not app.session.list_unfinished_run_snapshots())
        await press(pilot, "g", "r", "n")
        value = app.screen.query_one("#options", Input).value
    assert "penalize_ambiguous_claims=true" in value.split()


@pytest.mark.thorough
async def test_the_form_says_what_is_wrong_takes_choices_and_closes(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "n")
        form = app.screen
        form.query_one("#options", Input).value = "no equals"
        await press(pilot, "ctrl+s")
        assert app.screen is form
        assert "is not name=value" in screen_text(app)
        form.query_one("#options", Input).value = "colour=red"
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "has no option" in screen_text(app))
        assert isinstance(form, NewRunScreen)
        form.query_one("#options", Input).value = ""
        form.query_one("#sources").focus()
        await press(pilot, "space")
        assert "[x] shop" in screen_text(app)
        form.query_one("#claims", Select).value = "imported"
        (request,) = form.fields.read_requests()
        assert request.sources == ("shop",)
        assert request.claims == "imported"
        await press(pilot, "escape")
        assert isinstance(app.screen, RunsScreen)


def test_options_are_read_as_on_a_command_line() -> None:
    assert parse_options("a=1 b='x y'") == {"a": "1", "b": "x y"}


def unfinished(path: Path, state: RunState) -> None:
    with Store.open(path) as store:
        run = save_planned_run(store, RunRequest())
        store.runs.set_state(run, state)


async def test_a_cancelled_run_is_taken_up_again(app: FaithApp, store_path: Path) -> None:
    unfinished(store_path, RunState.CANCELLED)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert "cancelled" in screen_text(app)
        await press(pilot, "r")
        await until(pilot, lambda: isinstance(app.screen, ProgressScreen))
        await until(pilot, lambda: not app.session.list_unfinished_run_snapshots())
        await until(pilot, lambda: "done" in title(app))
        await until(pilot, lambda: "conv-0147" in text_of(app, "events"))


class SlowRun:
    """A run that never ends by itself."""

    is_finished = False
    bug = None

    def __init__(self, app: FaithApp) -> None:
        from faithtui.engine.runs.events import RunProgress, RunSnapshot

        run = app.session.run
        assert run is not None
        self.run_id = run
        self.cancelled = False
        self.control = RunControl(1)
        self._snapshot = RunSnapshot(
            run=run, state=RunState.RUNNING, reason=None, elapsed_s=61.0, eta_s=125.0,
            progress=RunProgress(conversations=4, done=1, windows=3, calls=7),
        )  # fmt: skip

    def snapshot(self) -> object:
        return self._snapshot

    def cancel(self) -> None:
        self.cancelled = self.is_finished = True

    def join(self, timeout_s: float) -> bool:
        return True

    def yield_to_ui(self, seconds: float) -> None:
        pass


@pytest.mark.thorough
async def test_cancelling_asks_first(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        run = SlowRun(app)
        app.session.process_runs.append(run)  # type: ignore[arg-type]  # stands in for a run
        await press(pilot, "p")
        assert "3 min left" in title(app)
        assert "1 / 4" in text_of(app, "totals")
        await press(pilot, "ctrl+x")
        assert isinstance(app.screen, ConfirmDialog)
        await press(pilot, "n")
        assert not run.cancelled
        await press(pilot, "ctrl+x", "y")
        assert run.cancelled


async def test_the_run_bar_is_on_every_screen(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        app.session.process_runs.append(SlowRun(app))  # type: ignore[arg-type]  # as above
        for letter in "rcvmap":
            await press(pilot, "g", letter)
            await pilot.pause(0.3)
            assert "1/4 · 3 min left" in screen_text(app), letter


@pytest.mark.thorough
async def test_quitting_asks_while_a_run_is_on(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        run = SlowRun(app)
        app.session.process_runs.append(run)  # type: ignore[arg-type]  # as above
        await press(pilot, "ctrl+q")
        assert isinstance(app.screen, ConfirmDialog)
        await press(pilot, "escape")
        assert not run.cancelled
        await pilot.press("ctrl+q")
        await pilot.pause()
        await pilot.press("y")
        await until(pilot, lambda: app._exit)
        assert run.cancelled


async def test_quitting_waits_no_longer_than_a_second(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)

        class Stubborn(SlowRun):
            is_finished = True

            def join(self, timeout_s: float) -> bool:
                patience.append(timeout_s)
                return not gone.wait()

        import threading

        gone = threading.Event()
        patience: list[float] = []
        app.session.process_runs.append(Stubborn(app))  # type: ignore[arg-type]  # as above
        await pilot.press("ctrl+q")
        # It ends although the run does not.
        await until(pilot, lambda: app._exit)
        gone.set()
        assert 0 < sum(patience) <= 1


async def test_an_empty_store_says_what_to_do(
    make_app: Callable[[Path], FaithApp], tmp_path: Path
) -> None:
    app = make_app(tmp_path / "new.db")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await opened(pilot)
        assert "faithtui import" in screen_text(app)
        await press(pilot, "n")
        assert "There are no conversations" in screen_text(app)
        for letter, words in (
            ("c", "No run chosen"), ("v", "no run yet"), ("a", "no run"), ("p", "No run yet"),
        ):  # fmt: skip
            await press(pilot, "g", letter)
            assert words in screen_text(app), letter


@pytest.mark.thorough
async def test_conversations_without_a_run_can_be_judged(
    make_app: Callable[[Path], FaithApp], tmp_path: Path
) -> None:
    path = tmp_path / "imported.db"
    with Store.open(path) as store:
        store.conversations.import_batch([SHOES])
    app = make_app(path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "n")
        assert isinstance(app.screen, NewRunScreen)
        assert "1 conversation, 3 human labels" in text_of(app, "sources")


@pytest.mark.thorough
async def test_every_footer_fits_and_ends_with_help(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        for letter in "rcvmap":
            await press(pilot, "g", letter)
            last = screen_text(app).splitlines()[-1]
            assert last.rstrip().endswith("? help"), letter
            assert "…" not in "".join(screen_text(app).splitlines()[-2:])
