"""What can be done next with a run: listed for what is true, and done by key, enter or mouse."""

import inspect
import re
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.config import load_settings_with_origins
from faithtui.domain.estimates import (
    Estimate,
    EstimateMethod,
    EstimateStatus,
    make_withheld_estimate,
)
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.engine.review.run_overview import RunCounts, RunTrust
from faithtui.metrics.registry import METRICS, find_metric
from faithtui.store.records import LabelCount, RunRow, RunState
from faithtui.store.runs.run_records import SavedView
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.runs import next_steps, run_details, run_figures, run_lines
from faithtui.tui.runs.next_steps import (
    WRITING_ACTIONS,
    QueueFacts,
    RunKnowledge,
    list_next_steps,
)
from faithtui.tui.runs.run_details import describe_changed_settings, describe_cost
from faithtui.tui.runs.run_lines import run_line
from faithtui.tui.runs.runs_screen import RunsScreen
from faithtui.tui.screen.dialogs import ConfirmDialog
from faithtui.tui.widgets.scroll_pane import RowPane
from tests.tui.building import NOON, SPEC
from tests.tui.driving import calm, opened, press, screen_text, status, text_of, until

SIZE = (120, 40)
METRIC = find_metric(SPEC.metric).spec
NO_QUEUE = QueueFacts(None, False, 20, 15.0)


def known(value: float, low: float, high: float) -> Estimate:
    """Give a figure with its interval."""
    method = EstimateMethod.JACKKNIFE_ATANH
    return Estimate(value, EstimateStatus.OK, 230, 10, None, low, high, 0.95, method)


TRUST = RunTrust(
    unit=("answer", "answers"),
    compared=230,
    labelled=237,
    differ=25,
    kappa=known(0.51, 0.24, 0.71),
    corrected=make_withheld_estimate(WithheldReason.DESIGN_NOT_RANDOM),
    to_settle=3,
)
COUNTS = RunCounts(
    {"yes": LabelCount(400, 40), "no": LabelCount(12, 7)}, (0,) * 9 + (40,), passed=40
)


def row(**changes: object) -> RunRow:
    made = replace(
        RunRow(
            id=RunId(1), spec=SPEC, state=RunState.DONE, reason=None, created_at=NOON,
            finished_at=None, conversations=40, pending=0, done=40, failed=0, skipped=0,
            windows=121, failed_windows=0, claims=412, missing_verdicts=0, labelled=0,
            score=0.8, corrected=0.8, calls=478, tokens_in=610_000, tokens_out=42_000,
        ),
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]  # named by the tests


def keys_of(run: RunRow, known: RunKnowledge) -> list[str]:
    return [each.key for each in list_next_steps(run, METRIC, known)]


def test_what_is_urgent_comes_first_and_what_labels_tell_follows() -> None:
    facts = RunKnowledge(counts=COUNTS, trust=TRUST, queues=NO_QUEUE)
    assert keys_of(row(pending=3, failed=2, state=RunState.INTERRUPTED), facts) == [
        "runs.continue",
        "runs.retry",
        "go.adjudicate",
        "runs.spot-check",
        "runs.failing",
        "runs.agreement",
        "runs.new",
        "runs.export",
    ]


def test_each_step_says_how_much_there_is_to_do() -> None:
    facts = RunKnowledge(counts=COUNTS, trust=TRUST, queues=NO_QUEUE)
    words = [
        each.words
        for each in list_next_steps(row(pending=7, state=RunState.STOPPED), METRIC, facts)
    ]
    assert words[:5] == [
        "resume: 7 of 40 conversations left, nothing is asked twice",
        "settle 3 claims on which annotators differ",
        "spot-check 20 random claims, blind, about 5 min",
        "review 7 conversations with a «no»",
        "see 25 answers where annotators and judge differ",
    ]


def test_a_blind_reviewer_is_offered_nothing_that_the_judge_chose() -> None:
    facts = RunKnowledge(counts=COUNTS, trust=TRUST, queues=NO_QUEUE, blind=True)
    chosen_by_judge = {"go.adjudicate", "runs.failing", "runs.agreement", "runs.export"}
    assert chosen_by_judge.isdisjoint(keys_of(row(), facts))


def test_a_run_that_is_under_way_is_watched() -> None:
    facts = RunKnowledge(is_under_way=True)
    steps = list_next_steps(row(pending=10, done=30, state=RunState.RUNNING), METRIC, facts)
    assert [each.words for each in steps][:1] == ["watch it: 30 of 40 conversations judged"]


def test_the_list_has_kappa_and_the_corrected_share_with_their_intervals() -> None:
    said = run_line(row(labelled=100), 118, True, TRUST).text
    assert "0.51 [.24, .71] ans. " in said
    assert "24% of 412" in said
    shared = replace(TRUST, corrected=known(0.812, 0.744, 0.851))
    assert "81% [74, 85]" in run_line(row(labelled=100), 118, True, shared).text


@pytest.mark.parametrize("width", [78, 118])
def test_without_an_interval_the_list_says_why_and_gives_no_value(width: int) -> None:
    few = Estimate(0.0, EstimateStatus.OK, 1, 1, WithheldReason.TOO_FEW_CLUSTERS)
    trust = replace(TRUST, unit=("claim", "claims"), kappa=few, corrected=few)
    said = run_line(row(labelled=1), width, True, trust).text
    assert "0.00" not in said
    assert said.count(" too few groups ") == (2 if width >= 100 else 1)
    assert " 0% " not in said.split("of 412")[0].rsplit("too few", 1)[0]


@pytest.mark.parametrize(
    ("kappa", "corrected", "share", "score"),
    [
        ((-0.2, -0.44, 0.09), (1.0, 0.99, 1.0), "-0.20 [-.44, .09]|100% [99, 100]", "hidden"),
        ((-0.97, -0.99, -0.95), (0.0, 0.0, 0.01), "-0.97 [-.99, -.95]|0% [0, 1]", "0.80"),
        ((-1.0, -1.0, -0.98), (0.5, 0.0, 1.0), "-1.00 [-1, -.98]|50% [0, 100]", "hidden"),
        ((0.0, 0.0, 1.0), (0.5, 0.0, 1.0), "0.00 [.00, 1]|50% [0, 100]", "0.80"),
    ],
)
def test_a_blank_stands_between_columns_whatever_the_width(
    kappa: tuple[float, float, float],
    corrected: tuple[float, float, float],
    share: str,
    score: str,
) -> None:
    trust = replace(TRUST, kappa=known(*kappa), corrected=known(*corrected))
    many = row(state=RunState.INTERRUPTED, conversations=7_654_321, claims=7_654_321)
    many = replace(many, labelled=many.claims)
    kappa_words, corrected_words = share.split("|")
    for width in range(60, 201):
        text = run_line(many, width, False, trust, blind=score == "hidden").text
        assert len(text) == width
        of_answers = f"{kappa_words} ans." if width >= 100 else f"{kappa_words.split()[0]} ans."
        seen = ["interrupted", score, "100%"]
        seen += [of_answers] if width >= 72 else []
        seen += [corrected_words] if width >= 100 else []
        seen += ["7.7M"] if "7.7M" in text else []
        assert all(f" {each} " in text for each in seen), text
        of_claims = replace(trust, unit=("claim", "claims"))
        text = run_line(many, width, False, of_claims, blind=score == "hidden").text
        assert "ans." not in text
        assert width < 72 or f" {kappa_words} " in text, text


@pytest.mark.parametrize(
    ("skipped", "said"),
    [(7, "7 skipped"), (1_234, "1,234 skipped"), (9_999, "9,999 skipped"), (654_321, "654k")],
)
@pytest.mark.parametrize("width", [60, 78, 118, 198])
def test_a_count_in_the_column_of_the_status_is_not_cut(
    skipped: int, said: str, width: int
) -> None:
    many = row(conversations=700_000, skipped=skipped)
    assert f" {said}" in run_line(many, width, False, TRUST).text
    under_way = row(conversations=40, pending=0, state=RunState.RUNNING)
    assert " running 100% " in run_line(under_way, width, False, TRUST).text
    blind = run_line(many, width, False, TRUST, blind=True).text
    assert f" {said} " in blind or " skipped  " in blind
    assert " hidden " in blind


def test_metrics_and_judges_are_told_apart_in_a_narrow_list() -> None:
    metrics = [each.spec.key for each in METRICS]
    judges = ["offline", "openai:gpt-4o-mini-2024", "openai:gpt-4o-2024-08", "openai:gpt-4.1"]
    lines = [
        run_line(row(spec=replace(SPEC, metric=metric)), 78, False, None).text for metric in metrics
    ]
    assert len(set(lines)) == len(metrics)
    assert " turn-faithf… " in lines[0]
    assert " turn-contex… " in lines[1]
    lines = [run_line(row(spec=replace(SPEC, judge=each)), 78, False, None).text for each in judges]
    assert len(set(lines)) == len(judges)
    assert " offline " in lines[0], "its short name, where the long one would be cut"
    assert (
        "heuristic" not in run_line(row(spec=replace(SPEC, judge="offline")), 118, False, None).text
    )


def test_the_first_rows_do_not_claim_that_a_run_is_running() -> None:
    running = row(state=RunState.RUNNING, pending=20)
    assert "running" not in run_line(running, 118, True, None, at_start=True).text
    assert "running 50%" in run_line(running, 118, True, None).text


def test_no_pane_is_empty_while_a_run_is_read() -> None:
    keys = KeyNames({})
    steps = run_details.step_lines((), 78, keys, is_read=False)
    details = run_details.run_detail_lines(row(), None, 78, keys)
    for lines in (steps, details):
        assert "… reading" in "".join(piece.text for line in lines for piece in line.pieces)


def test_options_are_told_in_words() -> None:
    changed = {"penalize_ambiguous_claims": True, "window_size": 3, "threshold": None}
    assert list(describe_changed_settings(SPEC, changed, "claims")) == [
        "«idk» counts as failing",
        "windows of 3 interactions",
        "no threshold",
    ]


def test_an_unknown_price_is_not_nothing() -> None:
    dear = row(spec=replace(SPEC, judge="openai:gpt-4o"), unpriced_calls=478)
    assert describe_cost(dear).startswith("no price known for 478 calls")


async def test_the_chosen_run_tells_its_figures_and_what_is_next(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        steps, detail = text_of(app, "next"), text_of(app, "detail")
        assert "ask again: 1 failed conversation" in steps
        assert "c  spot-check" in steps
        assert "review 1 conversation with a «no»" in steps
        assert "verdicts" in detail
        assert "meets" not in detail
        assert "sources" in detail
        assert "null" not in detail


async def test_a_step_is_taken_by_its_key_and_lists_what_the_judge_found(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "f")
        assert isinstance(app.screen, ConversationsScreen)
        assert len(app.screen.listed_ids) == 1
        assert "verdict:no" in screen_text(app)
        await press(pilot, "q", "c")
        assert isinstance(app.screen, ConfirmDialog)


async def test_a_step_is_taken_by_enter_and_by_a_click(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        pane = app.screen.query_one("#next", RowPane)
        at = next(number for number, line in enumerate(pane.lines) if "spot-check" in line.text)
        await pilot.click("#next", offset=(9, at + 1))
        await calm(pilot)
        assert isinstance(app.screen, ConfirmDialog)
        await press(pilot, "n", "enter")
        assert isinstance(app.screen, ConfirmDialog)


async def test_a_wide_screen_lists_the_lowest_scores_and_a_click_reviews_one(
    app: FaithApp, store_path: Path
) -> None:
    with Store.open(store_path) as store:
        run = store.runs.list_runs()[0].id
        view = store.runs.read_conversation_for_review(
            store.runs.list_item_ids(run, "score")[0], ""
        )
        for claim in view.claims:
            store.label_log.append_label_event(
                claim.id, "bo", Action.BLIND, "yes", run=run, judge_verdict=None, saw_judge=False
            )
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        pane = app.screen.query_one("#lowest", RowPane)
        await until(pilot, lambda: pane.row_count > 1)
        assert "*" not in text_of(app, "lowest"), (
            "the judge's score, which is what they are in order of"
        )
        run = app.session.store.runs.list_runs()[0].id
        items = app.session.store.runs.list_item_ids(run, "score")
        scores = [each.scores for each in app.session.store.runs.read_item_rows(items)]
        scored = sum(each is not None and each.windowed.value is not None for each in scores)
        assert pane.row_count == scored
        second = next(y for y, line in enumerate(pane.lines) if line.row == 1)
        await pilot.click("#lowest", offset=(9, second + 1))
        await until(pilot, lambda: app.current_screen_name == "review")
        assert app.session.item == items[1]


@pytest.mark.thorough
async def test_scores_are_hidden_on_a_wide_screen_while_one_works_blind(app: FaithApp) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "c", "B", "g", "r")
        assert app.session.is_blind
        assert "hidden while you work blind" in text_of(app, "lowest")
        assert app.screen.query_one("#lowest", RowPane).row_count == 0


def test_how_many_labelled_answers_are_compared_is_said() -> None:
    drawn = run_details.run_detail_lines(row(), METRIC, 200, KeyNames({}), trust=TRUST)
    told = "\n".join(each.text for each in drawn)
    assert "on 230 of 237 labelled answers, 25 differ" in told


async def test_a_spot_check_begins_from_the_list_of_runs(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "c", "y")
        assert app.current_screen_name == "review"
        assert app.session.is_blind
    with Store.open(store_path) as store:
        assert [
            each.kind for each in store.samples.list_samples("ann", store.runs.list_runs()[0].id)
        ] == ["spot-check"]


async def test_figures_follow_labels(app: FaithApp, store_path: Path) -> None:
    with Store.open(store_path) as store:
        run = store.runs.list_runs()[0].id
        view = store.runs.read_conversation_for_review(store.runs.list_item_ids(run)[0], "bo")
        for claim in view.claims:
            store.label_log.append_label_event(
                claim.id, "bo", Action.BLIND, "no", run=run, judge_verdict=None, saw_judge=False
            )
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        assert "kappa" in text_of(app, "detail")
        assert "judge differ" in " ".join(text_of(app, "next").split())


async def test_a_blind_reviewer_cannot_list_what_the_judge_found(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        app.session.set_judge_hidden(True)
        await press(pilot, "f")
        assert isinstance(app.screen, RunsScreen)
        assert "blind" in status(app)
        # Nor halve the range until the score is known, or see which of two runs has the lower one.
        app.screen.apply_saved_view(SavedView("", "score:>1", "score"))
        assert "would reveal the judge's verdict" in status(app)
        assert len(app.screen.listed_ids) == 1
        assert "score" not in app.screen.sort_orders


@pytest.mark.thorough
async def test_a_blind_reviewer_does_not_see_what_a_run_comes_to(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        shown = screen_text(app)
        assert "pass the threshold" in shown
        assert "(mean of" in shown
        await press(pilot, "enter", "enter", "B", "g", "r")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        shown = screen_text(app)
        assert "hidden while you work blind" in " ".join(shown.split())
        assert "pass the threshold" not in shown
        assert "yes" not in text_of(app, "detail")
        assert "(mean of" not in shown
        assert " hidden " in shown.split("What next")[0], "in the list too"


async def test_a_run_without_claims_has_no_spot_check(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        screen = app.screen
        assert isinstance(screen, RunsScreen)
        screen.rows = tuple(replace(each, claims=0) for each in screen.rows or ())
        await press(pilot, "c")
        assert isinstance(app.screen, RunsScreen)
        assert "nothing is judged in this run yet" in status(app)


async def test_agreement_of_a_large_run_is_not_computed_unasked(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (run_figures, run_lines, run_details):
        monkeypatch.setattr(module, "MOST_CLAIMS", 5)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        screen = app.screen
        assert isinstance(screen, RunsScreen)
        assert screen.run_at_cursor is not None
        found = screen.figures.get_known_figures(screen.run_at_cursor.id)
        assert found is not None
        assert found.counts is not None
        assert found.trust is None
        told = " ".join(text_of(app, "detail").split())
        assert "kappa on the agreement screen, as there are more than 5 claims" in told


async def test_every_next_step_and_writing_action_is_an_action_of_the_screen(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        source = inspect.getsource(next_steps)
        named = set(re.findall(r'NextStep\(\s*"[^"]+",\s*f?"(\w+)', source)) | WRITING_ACTIONS
        assert {"offer_spot_check", "screen", "resume"} <= named
        assert {each for each in named if not hasattr(app.screen, f"action_{each}")} == set()


@pytest.mark.parametrize(("usual", "named"), [("elsewhere.db", True), ("a store.db", False)])
async def test_commands_for_an_empty_store_name_it_where_they_would_find_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, usual: str, named: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "config.toml"
    file.write_text(f"store = {str(tmp_path / usual)!r}\n", "utf-8")
    configured = load_settings_with_origins(file, {"LANG": "C.UTF-8"})
    app = FaithApp(Path("a store.db"), reviewer="ann", now=lambda: NOON, configured=configured)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        assert "faithtui import FILE.jsonl" in screen_text(app)
        assert ("each with --store 'a store.db'" in screen_text(app)) is named
