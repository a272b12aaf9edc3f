"""Several metrics in one order: checked before anything begins, then one run after the other."""

import asyncio
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.widgets import Input, Label, Select

from faithtui.domain.ids import RunId
from faithtui.engine.judge_choices import JudgeChoice
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_planner import save_planned_run, select_metric_options
from faithtui.errors import ConfigError
from faithtui.metrics import registry
from faithtui.store.records import RunState
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.new_run.form_opener import _refuse_missing_key
from faithtui.tui.new_run.judge_pane import JudgePane
from faithtui.tui.new_run.new_run_screen import NewRunScreen, OrderPreview
from faithtui.tui.new_run.option_pane import OptionPane, list_option_rows
from faithtui.tui.new_run.option_text import format_last_used_options, parse_options
from faithtui.tui.runs.runs_screen import RunsScreen
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.session import Session
from faithtui.tui.widgets.choice_pane import ChoicePane
from tests.judges.fake_server import Answer, fake_server, openai_body
from tests.tui.building_metrics import KEYS
from tests.tui.driving import calm, opened, press, screen_text, text_of, until

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
        found = sorted(store.runs.list_runs(), key=lambda row: row.id)
        return [(row.spec.metric, row.state, row.spec.options) for row in found]


@pytest.mark.thorough
async def test_every_metric_is_offered_by_its_title(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        form = await form_of(pilot)
        painted = screen_text(app)
        for each in registry.METRICS:
            assert f"] {each.spec.title}" in painted
        assert "one run per metric" in painted
        assert form.query_one("#metrics", ChoicePane).selection == ("turn-faithfulness",)
        await press(pilot, "tab")
        assert "offline: built in: no key, no cost" in screen_text(app)
        await press(pilot, "tab")
        assert "provider:model" in screen_text(app)


@pytest.mark.thorough
async def test_options_go_to_the_metrics_that_have_them(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        form = await form_of(pilot)
        await press(pilot, "j", "space", "j", "space")
        form.query_one(
            "#options", Input
        ).value = "window_size=3 turn-contextual-relevancy.window_size=4"
        await press(pilot, "ctrl+s")
        await until(
            pilot,
            lambda: (
                len(app.session.process_runs) == 3
                and not app.session.list_unfinished_run_snapshots()
            ),
        )
    sizes = [options.get("window_size") for _, _, options in rows(store_path)[1:]]
    assert sizes == [3, 4, None]


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
async def test_a_run_as_the_peer_with_a_budget(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        form = await form_of(pilot)
        form.query_one("#strategy", Select).value = "as-peer"
        form.query_one("#budget", Input).value = "2.50"
        await press(pilot, "ctrl+s")
        await until(
            pilot,
            lambda: (
                len(app.session.process_runs) == 1
                and not app.session.list_unfinished_run_snapshots()
            ),
        )
    with Store.open(store_path) as store:
        spec = store.runs.read_run(RunId(2)).spec
    assert (spec.strategy, spec.options["as_peer"]) == ("window", True)
    assert (spec.budget_nusd, spec.batch) == (2_500_000_000, False)


@pytest.mark.thorough
async def test_batches_nobody_has_and_odd_budgets_are_refused(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        form = await form_of(pilot)
        budget, sending = form.query_one("#budget", Input), form.query_one("#sending", Select)
        for typed in ("a lot", "-1"):
            form.query_one("#problem", Label).update("")
            budget.value = typed
            await press(pilot, "ctrl+s")
            await until(pilot, lambda: "dollars" in str(form.query_one("#problem", Label).content))
            assert app.screen is form
        budget.value, sending.value = "", "batch"
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: "no batches" in str(form.query_one("#problem", Label).content))
        assert app.screen is form
    assert len(rows(store_path)) == 1


async def cheap(requests: Sequence[RunRequest]) -> OrderPreview:
    return OrderPreview([("cost", f"little, by {requests[0].judge}")], "")


async def test_a_run_by_batches_is_ordered_as_such(app: FaithApp) -> None:
    app.session.environ = {"OPENAI_API_KEY": "sk-1"}
    ordered_runs: list[RunRequest] = []

    async def note(requests: Sequence[RunRequest]) -> None:
        ordered_runs.extend(requests)

    async with app.run_test(size=SIZE) as pilot:
        form = await form_of(pilot)
        form.actions = replace(form.actions, start=note, preview=cheap)
        form.query_one("#judge", Input).value = "openai:m"
        form.query_one("#sending", Select).value = "batch"
        await press(pilot, "ctrl+s")
        await until(pilot, lambda: app.screen is not form)
    assert [(each.judge, each.batch) for each in ordered_runs] == [("openai:m", True)]


@pytest.mark.thorough
async def test_no_metric_is_no_order(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await form_of(pilot)
        await press(pilot, "space", "ctrl+s")
        assert "no metric is chosen" in screen_text(app)
        await press(pilot, "escape")
        assert isinstance(app.screen, RunsScreen)


def ordered(path: Path, *requests: RunRequest) -> list[RunId]:
    with Store.open(path) as store:
        return [save_planned_run(store, request) for request in requests]


@pytest.mark.thorough
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
    typed = parse_options(format_last_used_options(chosen, own))
    for key in chosen:
        given_back = select_metric_options(key, typed, chosen)
        for name, value in own.get(key, {}).items():
            assert given_back[name] == value


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        ('a={"k": 1} b=2', {"a": '{"k": 1}', "b": "2"}),
        ("""a='{"k": 1}' b={"x":{"y":"it's"}}""", {"a": '{"k": 1}', "b": """{"x":{"y":"it's"}}"""}),
        ("a={k b=2", {"a": "{k", "b": "2"}),
    ],
)
def test_a_json_object_is_typed_with_or_without_quotes(
    typed: str, options: Mapping[str, str]
) -> None:
    assert parse_options(typed) == options


def test_options_that_are_alike_are_written_once() -> None:
    same = {"a": {"threshold": "0.7", "x": "1"}, "b": {"threshold": "0.7"}}
    assert format_last_used_options(["a", "b"], same) == "threshold=0.7 a.x=1"
    assert format_last_used_options(["a"], same) == "threshold=0.7 x=1"
    assert format_last_used_options(["c"], same) == ""
    assert shlex.split(format_last_used_options(["a"], {"a": {"query": "what is it"}})) == [
        "query=what is it"
    ]


async def test_the_form_says_what_the_runs_would_ask_and_cost(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        form = await form_of(pilot)
        await until(pilot, lambda: "cost    nothing" in screen_text(app))
        assert "4 conversations, 5 windows" in screen_text(app)
        form.query_one("#judge", Input).value = "openai:gpt-6-luna"
        await until(pilot, lambda: "counting …" in screen_text(app))
        await until(pilot, lambda: "prices of genai-prices" in screen_text(app))
        assert "at most $" in text_of(app, "preview")
        assert "counting" not in screen_text(app)
        form.query_one("#judge", Input).value = "offline"
        await until(pilot, lambda: "cost    nothing" in screen_text(app))


async def test_a_form_that_cannot_be_carried_out_says_why_nothing_is_counted(
    app: FaithApp,
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        form = await form_of(pilot)
        for field, typed, words in (
            ("judge", "nobody:x", "unknown judge"),
            ("judge", "openai:MODEL", "in place of MODEL"),
            ("options", "colour=red", "has no option"),
            ("budget", "a lot", "dollars"),
        ):
            line = form.query_one(f"#{field}", Input)
            before, line.value = line.value, typed
            await until(
                pilot,
                lambda words=words: (  # type: ignore[misc]  # mypy does not see defaults of it
                    "not counted: " in text_of(app, "preview")
                    and words in text_of(app, "preview").replace("\n         ", " ")
                ),
            )
            line.value = before


@pytest.mark.thorough
async def test_a_preview_of_a_form_that_was_changed_meanwhile_is_not_shown(app: FaithApp) -> None:
    counted: list[str] = []
    may_answer = asyncio.Event()

    async def slow(requests: Sequence[RunRequest]) -> OrderPreview:
        judge = requests[0].judge
        counted.append(judge)
        if judge == "openai:a":
            await may_answer.wait()
        return OrderPreview([("cost", f"of {judge}")], "")

    async with app.run_test(size=SIZE) as pilot:
        form = await form_of(pilot)
        form.actions = replace(form.actions, preview=slow)
        form.query_one("#judge", Input).value = "openai:a"
        await until(pilot, lambda: counted == ["openai:a"])
        form.query_one("#judge", Input).value = "openai:b"
        await until(pilot, lambda: form.preview_pane.border_title is not None)
        may_answer.set()
        await until(pilot, lambda: "of openai:b" in text_of(app, "preview"))
        assert "of openai:a" not in text_of(app, "preview")


@pytest.mark.thorough
async def test_while_it_counts_nothing_is_said_of_the_form_before_and_nothing_moves(
    app: FaithApp,
) -> None:
    may_answer = asyncio.Event()

    async def slow(requests: Sequence[RunRequest]) -> OrderPreview:
        await may_answer.wait()
        return OrderPreview([("cost", "nothing")], "")

    async def do_not_start(requests: Sequence[RunRequest]) -> None:
        """Start nothing."""

    async with app.run_test(size=(120, 40)) as pilot:
        form = await form_of(pilot)
        form.query_one("#options", Input).value = "colour=red"
        await until(pilot, lambda: "not counted: " in text_of(app, "preview"))
        form.actions = replace(form.actions, preview=slow, start=do_not_start)
        form.query_one("#options", Input).value = ""
        await until(pilot, lambda: "counting …" in screen_text(app))
        assert "not counted" not in text_of(app, "preview"), "that was another form"
        await calm(pilot)
        before = form.query_one("#fields").region
        form.action_start()
        await until(
            pilot, lambda: "counting what it would cost, then it starts …" in screen_text(app)
        )
        assert form.query_one("#fields").region == before
        may_answer.set()
        await until(pilot, lambda: form not in app.screen_stack)


async def test_a_missing_key_is_told_with_the_ways_to_give_it(session: Session) -> None:
    requests = [RunRequest("turn-faithfulness", judge="openai:nobody-knows")]
    with pytest.raises(ConfigError, match="openai:nobody-knows needs a key: "):
        await _refuse_missing_key(session, requests)
    session.environ = {"OPENAI_API_KEY": "sk-1"}
    await _refuse_missing_key(session, [*requests, RunRequest("turn-faithfulness")])


@pytest.mark.thorough
async def test_what_is_dear_or_has_no_known_price_asks_once(app: FaithApp) -> None:
    started: list[str] = []

    async def note(requests: Sequence[RunRequest]) -> None:
        started.extend(each.judge for each in requests)

    async with app.run_test(size=(120, 40)) as pilot:
        form = await form_of(pilot)
        form.actions = replace(form.actions, start=note)
        form.query_one("#judge", Input).value = "openai:nobody-knows"
        await press(pilot, "ctrl+s")
        assert app.screen_stack[-1] is form, "nobody is asked to pay for what cannot start"
        assert "openai:nobody-knows needs a key" in str(form.query_one("#problem", Label).content)
        app.session.environ = {"OPENAI_API_KEY": "sk-1"}
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, ConfirmDialog)
        assert "The price of openai:nobody-knows is not known" in screen_text(app)
        await press(pilot, "n")
        assert app.screen_stack[-1] is form
        assert started == []
        await press(pilot, "ctrl+s", "y")
        assert started == ["openai:nobody-knows"]
        assert form not in app.screen_stack


# Judges


def judge_rows(app: FaithApp) -> list[str]:
    return [line.strip() for line in text_of(app, "judges").splitlines()]


@pytest.mark.thorough
async def test_judges_are_offered_with_what_is_known_of_each(app: FaithApp) -> None:
    app.session.environ = {"OPENAI_API_KEY": "sk-nobody"}
    async with app.run_test(size=(120, 40)) as pilot:
        form = await form_of(pilot)
        rows = judge_rows(app)
        assert rows[0].startswith("(x) offline")
        assert rows[0].endswith("built in: no key, no cost · used in run 1")
        assert rows[1].startswith("( ) openai:gpt-6-luna")
        assert "key set · $0.1 in, $0.5 out per 1M tokens" in rows[1]
        assert rows[-1].startswith("( ) anthropic:MODEL")
        assert "no key: set ANTHROPIC_API_KEY" in rows[-1]
        for typed, marked in (("openai:my-own", []), ("offline", rows[:1])):
            form.query_one("#judge", Input).value = typed
            await calm(pilot)
            assert [row for row in judge_rows(app) if row.startswith("(x)")] == marked


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
@pytest.mark.parametrize("by_mouse", [False, True], ids=["keys", "mouse"])
async def test_a_judge_is_chosen_by_key_and_by_click(
    app: FaithApp, size: tuple[int, int], by_mouse: bool
) -> None:
    server = "http://gpu.example.org/v1"
    app.session.defaults = RunRequest(judge="openai:phi", base_url=server)
    async with app.run_test(size=size) as pilot:
        form = await form_of(pilot)
        assert [form.query_one(f"#{name}", Input).value for name in ("judge", "server")] == [
            "openai:phi",
            server,
        ]
        assert judge_rows(app)[1].startswith("(x) openai:phi")
        if by_mouse:
            await pilot.click("#judges", offset=(8, 1))
            await calm(pilot)
        else:
            await press(pilot, "tab", "k", "space")
        assert judge_rows(app)[0].startswith("(x) offline")
        assert judge_rows(app)[1].startswith("( ) openai:phi")
        (request,) = form.fields.read_requests()
        assert (request.judge, request.base_url) == ("offline", None)


@pytest.mark.thorough
async def test_servers_that_are_found_later_join_the_list_and_the_cursor_stays(
    app: FaithApp,
) -> None:
    found = [
        JudgeChoice("offline", None, "built in", True),
        JudgeChoice("ollama:llama3", None, "answers at localhost:11434 · no cost", True),
        JudgeChoice("openai:MODEL", None, "no key", False),
    ]

    async def find() -> Sequence[JudgeChoice]:
        return found

    async with app.run_test(size=(120, 40)) as pilot:
        form = await form_of(pilot)
        await press(pilot, "tab", "j")
        form.actions = replace(form.actions, find_judges=find)
        form.find_and_show_judges()
        await calm(pilot)
        assert judge_rows(app)[1].startswith("( ) ollama:llama3")
        chosen = form.query_one("#judges", JudgePane).choice_at_cursor
        assert chosen is not None
        assert chosen.judge == "openai:MODEL"


# Trying the judge


def said_of_test(app: FaithApp) -> str:
    words = text_of(app, "preview").split("\n judged")[0]
    return " ".join(words.split())


@pytest.mark.thorough
async def test_a_judge_is_tried_and_its_answer_time_model_and_price_are_said(
    app: FaithApp,
) -> None:
    right = json.dumps({f"c{n}": {"verdict": word} for n, word in enumerate(["yes", "no", "no"])})
    with fake_server() as server:
        server.answer(openai_body(right))
        async with app.run_test(size=(120, 40)) as pilot:
            form = await form_of(pilot)
            form.query_one("#judge", Input).value = "openai:m"
            form.query_one("#server", Input).value = f"{server.url}/v1"
            await calm(pilot)
            assert said_of_test(app).startswith("test judge not tested: ctrl+t asks it")
            await press(pilot, "ctrl+t")
            await until(pilot, lambda: "works: answers by schema in" in said_of_test(app))
            said = said_of_test(app)
            assert " ms and judges the three claims of this test right" in said
            assert "2 answers, " in said
            assert "no cost" in said
            assert "served by " in said
            assert len(server.sent) == 2
            form.query_one("#judge", Input).value = "openai:other"
            await calm(pilot)
            assert "judge not tested" in said_of_test(app)


@pytest.mark.thorough
async def test_what_is_wrong_with_a_judge_is_said_in_words(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        form = await form_of(pilot)
        form.query_one("#judge", Input).value = "openai:gpt-6-luna"
        await calm(pilot)
        await press(pilot, "ctrl+t")
        await until(pilot, lambda: "failed: it needs a key" in said_of_test(app))
        assert "OPENAI_API_KEY" in said_of_test(app)
        assert app.screen is form


@pytest.mark.thorough
async def test_a_try_that_takes_long_holds_up_nothing_and_escape_cancels_it(app: FaithApp) -> None:
    with fake_server() as server:
        server.script.append(Answer(hang=True))
        async with app.run_test(size=(120, 40)) as pilot:
            form = await form_of(pilot)
            form.query_one("#judge", Input).value = "openai:m"
            form.query_one("#server", Input).value = f"{server.url}/v1"
            await calm(pilot)
            await pilot.press("ctrl+t")
            await until(pilot, server.asked.is_set)
            assert "asking openai:m … esc cancels" in said_of_test(app)
            await pilot.press("tab")
            await until(pilot, lambda: form.focused is form.query_one("#judges"))
            await pilot.press("escape")
            await until(pilot, lambda: "test cancelled" in said_of_test(app))
            assert app.screen_stack[-1] is form
            await press(pilot, "escape")
            assert form not in app.screen_stack


# Options


@pytest.mark.thorough
async def test_options_stand_in_words_and_are_changed_by_a_key(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        form = await form_of(pilot)
        pane, field = form.query_one("#option-list", OptionPane), form.query_one("#options", Input)
        pane.focus()
        await press(pilot, "j")
        assert "strict mode" in screen_text(app)
        assert "Binary: 1 when every claim of every window passes, else 0." in screen_text(app)
        assert "By default no" in screen_text(app)
        await press(pilot, "space")
        assert field.value == "strict_mode=true"
        assert "strict mode                yes" in text_of(app, "option-list")
        await press(pilot, "space")
        assert field.value == ""
        await press(pilot, "k", "space")
        assert form.focused is field
        await press(pilot, "0", "full_stop", "7")
        assert field.value == "threshold=0.7"
        assert "threshold                  0.7" in text_of(app, "option-list")


@pytest.mark.thorough
async def test_an_option_of_one_of_several_metrics_says_whose_it_is(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        form = await form_of(pilot)
        await press(pilot, "j", "space")
        pane = form.query_one("#option-list", OptionPane)
        rows = {
            each.option.name: each
            for each in list_option_rows(["turn-faithfulness", "turn-contextual-relevancy"])
        }
        assert "of turn-faithfulness" in rows["penalize_ambiguous_claims"].explanation
        assert "; of " not in rows["window_size"].explanation
        typed = {"turn-faithfulness.window_size": "3", "turn-contextual-relevancy.window_size": "4"}
        assert rows["window_size"].find_typed_value(typed) == "3 / 4"
        assert "strategy" not in rows
        assert pane.row_at_cursor is not None


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40), (200, 60)])
async def test_preview_and_keys_are_seen_at_every_size(
    app: FaithApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        form = await form_of(pilot)
        for _ in range(10):
            painted = screen_text(app)
            assert "Before the start" in painted
            assert "ctrl+s start" in painted
            focused = form.focused
            assert focused is not None
            assert app.screen.region.contains_region(focused.region) or focused.size.height > 6
            await press(pilot, "tab")


@pytest.mark.thorough
async def test_the_field_one_types_in_stays_in_view_when_the_preview_takes_room(
    app: FaithApp,
) -> None:
    may_answer = asyncio.Event()

    async def slow(requests: Sequence[RunRequest]) -> OrderPreview:
        await may_answer.wait()
        return OrderPreview([(f"part {each}", "counted") for each in range(6)], "")

    async with app.run_test(size=(80, 24)) as pilot:
        form = await form_of(pilot)
        form.actions = replace(form.actions, preview=slow)
        form.query_one("#judge", Input).value = "openai:a"
        await until(pilot, lambda: "counting …" in screen_text(app))
        field = form.query_one("#server", Input)
        field.focus()
        before = form.fields.size.height
        may_answer.set()
        await until(pilot, lambda: form.fields.size.height < before)
        await until(pilot, lambda: form.fields.region.contains_region(field.region))


async def test_no_state_of_a_judge_is_cut_at_80_columns(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await form_of(pilot)
        await until(pilot, lambda: "anthropic:MODEL" in text_of(app, "judges"))
        assert "no key: set ANTHROPIC_API_KEY · type the model" in text_of(app, "judges")
        assert "…" not in text_of(app, "judges")


@pytest.mark.thorough
async def test_help_explains_the_field_not_a_pane_of_another_screen(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        form = await form_of(pilot)
        assert "? help" in screen_text(app)
        await press(pilot, "question_mark")
        words = " ".join(text_of(app, "text").split())
        assert "Which metrics to run: space chooses one" in words
        assert "A row per answer" not in words
        await press(pilot, "escape")
        fields = {each.id for each in form.focus_chain if not isinstance(each, Input)}
        assert fields == set(form.FIELD_HELP)
