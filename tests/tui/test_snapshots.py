"""Pictures of every screen. Read each changed one before accepting it."""

import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from faithtui.domain.ids import RunId
from faithtui.domain.integrity.run_summary import TextCounts
from faithtui.domain.labels.label_events import Action
from faithtui.engine.runs.events import RunSnapshot
from faithtui.judges.providers import prices
from faithtui.store.records import ItemCheckResult
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.integrity.integrity_screen import IntegrityScreen
from faithtui.tui.progress.progress_screen import ProgressScreen
from tests.tui import staged_runs
from tests.tui.agreement.test_marked_lines import mark_something
from tests.tui.building import NOON
from tests.tui.building_metrics import KEYS, boots
from tests.tui.driving import calm, opened, press, until
from tests.tui.replies.test_replies_screen import CUT, GOOD, asked
from tests.tui.staged_runs import StagedRun

SIZES = [(80, 24), (120, 40), (200, 60)]


class SnapCompare(Protocol):
    def __call__(
        self,
        app: FaithApp,
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[None]], Awaitable[None]],
    ) -> bool: ...


def named(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def after(*keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def run(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await press(pilot, *keys)

    return run


@pytest.fixture
def steady(store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FaithApp:
    """An app whose pictures hold no path of this machine, and not how fast it is."""
    monkeypatch.chdir(tmp_path)
    # A cursor that blinks is there or not, by the time.
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)
    app = FaithApp(Path("shop.db"), reviewer="ann", now=lambda: NOON)
    app.session.seconds = lambda: 0.0
    return app


@pytest.fixture
def labelled(store_path: Path) -> None:
    """People gave verdicts on most claims."""
    with Store.open(store_path, clock=lambda: NOON) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        for item in store.runs.list_item_ids(run):
            for number, claim in enumerate(
                store.runs.read_conversation_for_review(item, "bo").claims
            ):
                store.label_log.append_label_event(
                    claim.id, "bo", Action.BLIND,
                    "no" if number == 4 else claim.first_window_verdict.label, run=run,
                    judge_verdict=claim.first_window_verdict.label, saw_judge=False,
                )  # fmt: skip


@pytest.mark.parametrize("size", SIZES, ids=named)
def test_review(snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]) -> None:
    run = after("enter", "enter", "y", "i")
    assert snap_compare(steady, terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", SIZES, ids=named)
@pytest.mark.usefixtures("labelled")
def test_agreement(snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]) -> None:
    assert snap_compare(steady, terminal_size=size, run_before=after("a"))


@pytest.mark.thorough
@pytest.mark.parametrize("size", SIZES, ids=named)
@pytest.mark.usefixtures("labelled")
def test_agreement_with_marks(
    snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]
) -> None:
    mark_something(Path("shop.db"))
    assert snap_compare(steady, terminal_size=size, run_before=after("a", "m"))


@pytest.mark.parametrize("size", SIZES[:2], ids=named)
def test_agreement_of_answers(
    snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]
) -> None:
    assert snap_compare(steady, terminal_size=size, run_before=after("a"))


@pytest.mark.parametrize("size", SIZES, ids=named)
def test_conversations(snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]) -> None:
    assert snap_compare(steady, terminal_size=size, run_before=after("enter"))


@pytest.mark.parametrize("size", SIZES, ids=named)
def test_runs(snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]) -> None:
    assert snap_compare(steady, terminal_size=size, run_before=after())


@pytest.fixture
def made_up(store_path: Path) -> None:
    """The judge made most claims up, and one conversation is not checked yet."""
    with Store.open(store_path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        first, *_ = store.runs.read_item_rows(store.runs.list_item_ids(run))
        counts = TextCounts(claims=5, phantom=4, truths=5, invented=1, texts=15)
        store.findings.replace_findings_of_conversations(
            [ItemCheckResult(first.id, first.state, first.windows, (), counts)]
        )
    with sqlite3.connect(store_path) as connection:
        connection.execute("UPDATE run_item SET checked = 0 WHERE number = 2")
        connection.execute("UPDATE run SET checked = checked - 1")
    connection.close()


@pytest.mark.parametrize("size", SIZES[:2], ids=named)
@pytest.mark.usefixtures("made_up")
def test_suspect_run(snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]) -> None:
    assert snap_compare(steady, terminal_size=size, run_before=after())


@pytest.mark.thorough
@pytest.mark.usefixtures("made_up")
def test_suspect_conversations(snap_compare: SnapCompare, steady: FaithApp) -> None:
    assert snap_compare(steady, terminal_size=(120, 40), run_before=after("enter"))


@pytest.mark.thorough
@pytest.mark.usefixtures("made_up")
def test_suspect_review(snap_compare: SnapCompare, steady: FaithApp) -> None:
    assert snap_compare(steady, terminal_size=(80, 24), run_before=after("enter", "enter"))


@pytest.mark.parametrize("size", SIZES[:2], ids=named)
def test_progress(snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]) -> None:
    assert snap_compare(steady, terminal_size=size, run_before=after("p"))


def on(app: FaithApp, held: RunSnapshot, *keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Look at a run that seems to be on."""

    async def run(pilot: Pilot[None]) -> None:
        await opened(pilot)
        app.session.process_runs.append(StagedRun(held))  # type: ignore[arg-type]  # stands in
        await press(pilot, "p", *keys)
        screen = app.screen_stack[1]
        assert isinstance(screen, ProgressScreen)
        await until(pilot, lambda: len(screen.event_list.names) >= 2)
        screen.update_view()
        await calm(pilot)

    return run


@pytest.mark.parametrize("size", [(60, 18), *SIZES], ids=named)
def test_run_on(snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]) -> None:
    assert snap_compare(steady, terminal_size=size, run_before=on(steady, staged_runs.ON))


@pytest.mark.parametrize(
    ("held", "keys"),
    [(staged_runs.PAUSED, ()), (staged_runs.TROUBLED, ()), (staged_runs.DRAINING, ()),
     (staged_runs.STOPPED, ()), (staged_runs.HANDED_OVER, ()), (staged_runs.DONE, ("f",)),
     (staged_runs.ON, ("b",))],
    ids=["paused", "troubled", "draining", "stopped", "handed-over", "failed", "budget"],
)  # fmt: skip
def test_run_states(
    snap_compare: SnapCompare, steady: FaithApp, held: RunSnapshot, keys: tuple[str, ...]
) -> None:
    with Store.open(Path("shop.db")) as store:
        store.runs.set_budget(RunId(1), 2_000_000_000, 2_000_000)
    run = on(steady, held, *keys)
    assert snap_compare(steady, terminal_size=(80, 24), run_before=run)


@pytest.mark.parametrize("size", [(60, 18), *SIZES], ids=named)
def test_raw_replies(snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]) -> None:
    with Store.open(Path("shop.db"), clock=lambda: NOON) as store:
        first = store.runs.list_item_ids(RunId(1))[0]
        asked(store, first, GOOD)
        asked(store, first, CUT, usable=False)
    run = after("enter", "enter", "W", "k")
    assert snap_compare(steady, terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", SIZES, ids=named)
def test_new_run(
    snap_compare: SnapCompare,
    steady: FaithApp,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
) -> None:
    # The newest price counts from a day that another version of the package, or year, may move.
    source = "genai-prices 0.0.0, 2026-01-02"
    monkeypatch.setattr(prices, "_describe_price_package", lambda today: source)
    steady.session.environ = {"OPENAI_API_KEY": "sk-nobody"}
    assert snap_compare(steady, terminal_size=size, run_before=after("n"))


@pytest.mark.parametrize(
    "keys",
    [("g",), ("question_mark",), ("enter", "enter", "j", "j", "p"),
     ("enter", "enter", "t"), ("enter", "enter", "e", "h", "i")],
    ids=["go-to", "help", "same-claim", "source", "note"],
)  # fmt: skip
def test_dialogs(snap_compare: SnapCompare, steady: FaithApp, keys: tuple[str, ...]) -> None:
    assert snap_compare(steady, terminal_size=(80, 24), run_before=after(*keys))


@pytest.fixture
def metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FaithApp:
    """An app on a conversation that every metric judged; the newest run is the first in a list."""
    monkeypatch.chdir(tmp_path)
    boots(Path("boots.db"))
    app = FaithApp(Path("boots.db"), reviewer="ann", now=lambda: NOON)
    app.session.seconds = lambda: 0.0
    return app


@pytest.mark.parametrize("size", SIZES, ids=named)
def test_metrics(snap_compare: SnapCompare, metrics: FaithApp, size: tuple[int, int]) -> None:
    run = after("enter", "enter", "m", "left", "j")
    assert snap_compare(metrics, terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", SIZES, ids=named)
def test_review_of_statements(
    snap_compare: SnapCompare, metrics: FaithApp, size: tuple[int, int]
) -> None:
    run = after("end", "k", "enter", "enter", "j")
    assert snap_compare(metrics, terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", SIZES, ids=named)
def test_review_of_whole_answers(
    snap_compare: SnapCompare, metrics: FaithApp, size: tuple[int, int]
) -> None:
    metrics.session.run = RunId(1 + KEYS.index("llamaindex-faithfulness"))
    run = after("v", "end")
    assert snap_compare(metrics, terminal_size=size, run_before=run)


@pytest.mark.thorough
def test_images(snap_compare: SnapCompare, metrics: FaithApp) -> None:
    run = after("enter", "enter", "o")
    assert snap_compare(metrics, terminal_size=(80, 24), run_before=run)


@pytest.mark.parametrize("letter", ["r", "c", "v", "m", "a", "p"])
def test_empty(
    snap_compare: SnapCompare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, letter: str
) -> None:
    monkeypatch.chdir(tmp_path)
    app = FaithApp(Path("empty.db"), reviewer="ann", now=lambda: NOON)
    app.session.seconds = lambda: 0.0
    assert snap_compare(app, terminal_size=(80, 24), run_before=after("g", letter))


@pytest.mark.thorough
def test_light(snap_compare: SnapCompare, steady: FaithApp) -> None:
    steady.theme = "faithtui-light"
    run = after("enter", "enter", "j", "j")
    assert snap_compare(steady, terminal_size=(120, 40), run_before=run)


@pytest.mark.parametrize("size", [(60, 18), *SIZES], ids=named)
def test_blind(snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]) -> None:
    run = after("g", "u", "c", "enter", "y", "2")
    assert snap_compare(steady, terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", SIZES[:2], ids=named)
def test_queues(snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]) -> None:
    assert snap_compare(steady, terminal_size=size, run_before=after("g", "u", "c"))


@pytest.mark.parametrize("size", SIZES[:2], ids=named)
def test_integrity(snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]) -> None:
    async def run(pilot: Pilot[None]) -> None:
        await after("g", "i")(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, IntegrityScreen)
        await until(pilot, lambda: screen.summary.checked > 0 and screen.checks is None)
        await calm(pilot)

    assert snap_compare(steady, terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", SIZES, ids=named)
@pytest.mark.usefixtures("labelled")
def test_adjudicate(snap_compare: SnapCompare, steady: FaithApp, size: tuple[int, int]) -> None:
    run = after("enter", "enter", "n", "n", "n", "g", "d")
    assert snap_compare(steady, terminal_size=size, run_before=run)


@pytest.mark.thorough
@pytest.mark.parametrize("theme", ["high-contrast", "colour-blind"])
def test_themes(snap_compare: SnapCompare, steady: FaithApp, theme: str) -> None:
    steady.theme = next(name for name in steady.available_themes if theme in name)
    assert snap_compare(steady, terminal_size=(80, 24), run_before=after("enter", "enter", "n"))


def test_ascii(snap_compare: SnapCompare, steady: FaithApp) -> None:
    steady.appearance.ascii_filter.enabled = True
    assert snap_compare(steady, terminal_size=(80, 24), run_before=after("enter", "enter", "n"))
