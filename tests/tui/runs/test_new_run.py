"""Several metrics in one order: checked before anything begins, then one run after the other."""

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.widgets import Input, Label, Select

from faithtui.domain.ids import RunId
from faithtui.engine.runs.planner import plan_run, select_metric_options
from faithtui.engine.runs.request import RunRequest
from faithtui.metrics import registry
from faithtui.store.records import RunState
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.runs.new_run import (
    ChoicePane,
    NewRunScreen,
    format_options,
    read_options,
)
from faithtui.tui.runs.runs_screen import RunsScreen
from tests.tui.building_metrics import KEYS
from tests.tui.driving import opened, press, screen_text, until

SIZE = (80, 24)
NAMES = sorted({name for key in KEYS for name in registry.list_option_names(key)})
REMEMBERED = st.dictionaries(
    st.sampled_from(KEYS), st.dictionaries(st.sampled_from(NAMES), st.text("a '\"=.5", max_size=6))
)


async def form_of(pilot: Pilot[None]) -> NewRunScreen:
    """Open the form."""
    await opened(pilot)
    await press(pilot, "n")
    assert isinstance(pilot.app.screen, NewRunScreen)
    return pilot.app.screen


def rows(path: Path) -> list[tuple[str, RunState, Mapping[str, object]]]:
    with Store.open(path) as store:
        found = sorted(store.runs.rows(), key=lambda row: row.id)
        return [(row.spec.metric, row.state, row.spec.options) for row in found]


async def test_every_metric_is_offered_by_its_title(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        form = await form_of(pilot)
        painted = screen_text(app)
        for each in registry.METRICS:
            assert f"] {each.spec.title}" in painted
        assert "one run per metric" in painted
        assert form.query_one("#metrics", ChoicePane).selection == ("turn-faithfulness",)
        await press(pilot, "tab")
        assert "provider:model" in screen_text(app)


async def test_options_go_to_the_metrics_that_have_them(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        form = await form_of(pilot)
        await press(pilot, "j", "space", "j", "space")
        form.query_one(
            "#options", Input
        ).value = "window_size=3 turn-contextual-relevancy.window_size=4"
        await press(pilot, "ctrl+s")
        await until(
            pilot, lambda: len(app.session.process_runs) == 3 and not app.session.list_snapshots()
        )
    sizes = [options.get("window_size") for _, _, options in rows(store_path)[1:]]
    assert sizes == [3, 4, None]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("colour=red", "has no option"),
        ("window_size=many", "is not possible"),
        ("turn-contextual-relevancy.window_size=many", "is not possible"),
        ("ragas-faithfulness.window_size=3", "not among the metrics"),
    ],
)
async def test_nothing_begins_while_an_option_is_wrong(
    app: FaithApp, store_path: Path, typed: str, words: str
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        form = await form_of(pilot)
        await press(pilot, "j", "space")
        form.query_one("#options", Input).value = typed
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: words in screen_text(app))
        assert app.screen is form
    assert len(rows(store_path)) == 1


async def test_imported_claims_are_refused_before_anything_begins(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        form = await form_of(pilot)
        await press(pilot, "j", "space")
        form.query_one("#claims").value = "imported"  # type: ignore[attr-defined]  # a Select
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "judges statements" in screen_text(app))
    assert len(rows(store_path)) == 1


async def test_a_run_as_the_peer_with_a_budget(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        form = await form_of(pilot)
        form.query_one("#strategy", Select).value = "as-peer"
        form.query_one("#budget", Input).value = "2.50"
        await press(pilot, "ctrl+s")
        await until(
            pilot, lambda: len(app.session.process_runs) == 1 and not app.session.list_snapshots()
        )
    with Store.open(store_path) as store:
        spec = store.runs.row(RunId(2)).spec
    assert (spec.strategy, spec.options["as_peer"]) == ("window", True)
    assert (spec.budget_nusd, spec.batch) == (2_500_000_000, False)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("sending", "batch", "no batches"),
        ("budget", "a lot", "dollars"),
        ("budget", "-1", "dollars"),
    ],
)
async def test_batches_nobody_has_and_odd_budgets_are_refused(
    app: FaithApp, store_path: Path, field: str, value: str, words: str
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        form = await form_of(pilot)
        form.query_one(f"#{field}").value = value  # type: ignore[attr-defined]  # both have one
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: words in str(form.query_one("#problem", Label).content))
        assert app.screen is form
    assert len(rows(store_path)) == 1


async def test_a_run_by_batches_is_ordered_as_such(app: FaithApp) -> None:
    ordered_runs: list[RunRequest] = []

    async def note(requests: Sequence[RunRequest]) -> None:
        ordered_runs.extend(requests)

    async with app.run_test(size=SIZE) as pilot:
        form = await form_of(pilot)
        form._start = note
        form.query_one("#judge", Input).value = "openai:m"
        form.query_one("#sending", Select).value = "batch"
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: app.screen is not form)
    assert [(each.judge, each.batch) for each in ordered_runs] == [("openai:m", True)]


async def test_no_metric_is_no_order(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await form_of(pilot)
        await press(pilot, "space", "ctrl+s")
        assert "no metric is chosen" in screen_text(app)
        await press(pilot, "escape")
        assert isinstance(app.screen, RunsScreen)


def ordered(path: Path, *requests: RunRequest) -> list[RunId]:
    with Store.open(path) as store:
        return [plan_run(store, request) for request in requests]


async def test_options_follow_the_metrics_until_a_person_types(
    app: FaithApp, store_path: Path
) -> None:
    await asyncio.to_thread(
        ordered,
        store_path,
        RunRequest("turn-faithfulness", options={"window_size": "3"}),
        RunRequest("turn-contextual-relevancy", options={"window_size": "4"}),
    )
    async with app.run_test(size=SIZE) as pilot:
        form = await form_of(pilot)
        field = form.query_one("#options", Input)
        assert form.query_one("#metrics", ChoicePane).selection == ("turn-contextual-relevancy",)
        assert field.value == "window_size=4"
        await press(pilot, "home", "space")
        assert field.value == (
            "turn-faithfulness.window_size=3 turn-contextual-relevancy.window_size=4"
        )
        field.value = "window_size=9"
        await press(pilot, "space")
        assert field.value == "window_size=9"


@given(REMEMBERED, st.sets(st.sampled_from(KEYS), min_size=1))
def test_remembered_options_are_read_back_as_they_were(
    remembered: Mapping[str, Mapping[str, str]], wanted: set[str]
) -> None:
    chosen = [key for key in KEYS if key in wanted]
    own = {
        key: {
            name: value
            for name, value in options.items()
            if name in registry.list_option_names(key)
        }
        for key, options in remembered.items()
    }
    typed = read_options(format_options(chosen, own))
    for key in chosen:
        given_back = select_metric_options(key, typed, chosen)
        for name, value in own.get(key, {}).items():
            assert given_back[name] == value


def test_options_that_are_alike_are_written_once() -> None:
    same = {"a": {"threshold": "0.7", "x": "1"}, "b": {"threshold": "0.7"}}
    assert format_options(["a", "b"], same) == "threshold=0.7 a.x=1"
    assert format_options(["a"], same) == "threshold=0.7 x=1"
    assert format_options(["c"], same) == ""
    assert shlex.split(format_options(["a"], {"a": {"query": "what is it"}})) == [
        "query=what is it"
    ]


async def test_the_form_says_what_a_paid_judge_would_ask_and_cost(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        form = await form_of(pilot)
        label = form.query_one("#preview", Label)
        form.query_one("#judge", Input).value = "openai:gpt-6-luna"
        await until(pilot, lambda: label.display)
        await until(pilot, lambda: "questions to openai:gpt-6-luna" in screen_text(app))
        await until(pilot, lambda: "at most $" in screen_text(app))
        form.query_one("#judge", Input).value = "offline"
        await until(pilot, lambda: not label.display)


async def test_a_form_that_cannot_be_foreseen_says_nothing_ahead(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        form = await form_of(pilot)
        label = form.query_one("#preview", Label)
        label.display = True
        form.query_one("#judge", Input).value = "nobody:x"
        await until(pilot, lambda: not label.display)
