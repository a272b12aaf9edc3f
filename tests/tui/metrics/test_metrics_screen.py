"""All metrics of a conversation side by side."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.ids import ConversationId, ItemId, RunId
from faithtui.domain.judging.judge_names import OFFLINE_TITLE
from faithtui.domain.scores import Score, ScoreState, make_score
from faithtui.metrics import registry
from faithtui.store.records import (
    ComparisonAnswer,
    ComparisonCell,
    ComparisonRun,
    ComparisonView,
    ItemRow,
    ItemState,
    RunRow,
    RunState,
)
from faithtui.tui.app import FaithApp
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.metrics.metric_lines import (
    MetricComparison,
    format_comparison_table_lines,
    format_verdicts_and_answer_lines,
)
from faithtui.tui.metrics.metrics_screen import MetricsScreen
from faithtui.tui.review.review_screen import ReviewScreen
from tests.tui.building import NOON, SHOES, SPEC
from tests.tui.building_metrics import KEYS, boots
from tests.tui.driving import calm, opened, press, screen_text, text_of, title, until

SIZES = [(80, 24), (120, 40), (200, 60)]


@pytest.fixture(scope="module")
def judged_boots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("boots") / "boots.db"
    boots(path)
    return path


@pytest.fixture
def app(judged_boots: Path, tmp_path: Path, make_app: Callable[[Path], FaithApp]) -> FaithApp:
    return make_app(Path(shutil.copy(judged_boots, tmp_path)))


@pytest.mark.thorough
@pytest.mark.parametrize("size", SIZES)
async def test_m_puts_every_metric_side_by_side(app: FaithApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "enter", "M")
        assert isinstance(app.screen, MetricsScreen)
        words = text_of(app, "metrics")
        for each in registry.METRICS:
            assert each.spec.title.split()[0] in words
        assert "M goes back to the review" in screen_text(app)
        lines = words.splitlines()
        scratch = next(at for at, line in enumerate(lines) if "Scratch" in line)
        assert lines[scratch].replace(">", " ").split()[-5:] == [
            "1.00",
            "0.33",
            "1.00",
            "1.00",
            "1.00",
        ]
        assert "Y:1 N:2" in lines[scratch + 1]
        assert "1:2" in lines[scratch + 1]
        assert "Y supported" in lines[scratch + 1]
        assert "human yes" in lines[scratch + 1]
        zips = next(at for at, line in enumerate(lines) if "Zips" in line)
        assert "1.00→0.00" in lines[zips], "people's word on the whole answer stands beside it"
        assert "human no" in lines[zips + 1]
        await press(pilot, *(["left"] * 5), "j")
        told = " ".join(text_of(app, "answer").split())
        assert told.startswith(f">#1 Turn faithfulness · {OFFLINE_TITLE} 0.00 · 1 contradicted")
        assert "Zips are covered for a year." in told
        assert "human labels of the whole answer: no" in told
        assert "1.00 → 0.00 with overrides, 1 of 1 answer reviewed · 1 supported" in told


@pytest.mark.thorough
async def test_enter_reviews_the_answer_of_the_cell_and_m_and_q_lead_back(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "enter", "M")
        table = app.screen
        assert isinstance(table, MetricsScreen)
        await press(pilot, *(["left"] * 5), "right", "right", "j")
        assert table.compared is not None
        assert table.compared.run is not None
        wanted = table.compared.run.run
        assert wanted.spec.metric == KEYS[2]
        assert "turn 4" in screen_text(app)
        await press(pilot, "enter")
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        assert screen.view is not None
        assert screen.view.run.id == wanted.id
        assert screen.claim is not None
        assert screen.claim.turn == 3
        await press(pilot, "M")
        assert table.compared.column == 2, "the same cell is chosen again"
        assert table.compared.row == 1
        await pilot.click("#metrics", offset=(20, 7))
        for offset in (2, 1):
            await pilot.click("#metrics", offset=(20, offset))
            assert table.table.cursor == 1, "a click on the headings chooses nothing"
        for key in ("M", "escape", "q"):
            assert "[METRICS]" in title(app)
            await press(pilot, key)
            assert app.screen is screen
            assert "[REVIEW]" in title(app)
            await press(pilot, "M")
        await press(pilot, "M", "q")
        assert isinstance(app.screen, ConversationsScreen)


async def test_without_a_conversation_it_says_how_to_choose_one(
    tmp_path: Path, make_app: Callable[[Path], FaithApp]
) -> None:
    app = make_app(tmp_path / "empty.db")
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "m")
        assert "No conversation chosen" in screen_text(app)
        assert not app.screen.query_one("#answer").display, "no empty box"
        await press(pilot, "enter", "right")
        assert app.is_running


def compared(answers: int, runs: int, row: int, column: int) -> MetricComparison:
    """Make a conversation of many answers that many runs judged."""
    metrics = [registry.METRICS[at % len(registry.METRICS)].spec for at in range(runs)]
    cell = ComparisonCell(make_score(0.5), {"yes": 12, "no": 30, "1": 3}, 2, make_score(0.25))
    return MetricComparison(
        ComparisonView(
            ConversationId(1),
            "shop",
            "long",
            tuple(
                ComparisonRun(
                    RunRow(
                        RunId(at + 1), replace(SPEC, metric=spec.key), RunState.DONE, None, NOON,
                        None, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0.5, 0.5, 0, 0, 0,
                    ),
                    ItemRow(
                        ItemId(at), RunId(at + 1), ConversationId(1), 1, "shop", "long", "", 2,
                        ItemState.DONE, None, 1, None, None, 1, {}, 0, 0, 0,
                    ),
                )
                for at, spec in enumerate(metrics)
            ),
            tuple(
                ComparisonAnswer(
                    2 * at + 1, SHOES.turns[1].content, "yes" if at % 2 else None,
                    tuple(None if (at + column) % 7 == 0 else cell for column in range(runs)),
                )
                for at in range(answers)
            ),
        ),
        tuple(metrics),
        row,
        column,
    )  # fmt: skip


def one_cell(cell: ComparisonCell | None, state: ItemState, reason: str | None) -> MetricComparison:
    """Make a conversation of one answer that one run looked at."""
    look = compared(1, 1, 0, 0)
    (run,), (answer,) = look.view.runs, look.view.answers
    run = replace(run, item=replace(run.item, state=state, reason=reason))
    view = replace(look.view, runs=(run,), answers=(replace(answer, cells=(cell,)),))
    return replace(look, view=view)


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (ItemState.FAILED, "failed"),
        (ItemState.SKIPPED, "skipped"),
        (ItemState.PENDING, "not judged"),
    ],
)
def test_what_a_run_did_not_judge_says_why(state: ItemState, word: str) -> None:
    look = one_cell(None, state, "no wire")
    assert f">{word}" in "".join(line.text for line in format_comparison_table_lines(look, 60)[0])
    assert f"{word} · no wire" in "\n".join(
        line.text for line in format_verdicts_and_answer_lines(look, 60)
    )


def test_a_score_of_nothing_is_not_shown_as_one() -> None:
    empty = ComparisonCell(make_score(1.0), {}, 0, make_score(1.0))
    words = "".join(
        line.text
        for line in format_comparison_table_lines(one_cell(empty, ItemState.DONE, None), 60)[0]
    )
    assert "no claims" in words
    assert "1.00" not in words
    nothing = Score(None, ScoreState.SKIPPED, "no context")
    skipped = ComparisonCell(nothing, {}, 0, nothing)
    look = one_cell(skipped, ItemState.DONE, None)
    assert ">skipped" in "".join(line.text for line in format_comparison_table_lines(look, 60)[0])
    people = replace(empty, corrected=make_score(0.0))
    look = one_cell(people, ItemState.DONE, None)
    assert ">1.00→0.00" in "".join(line.text for line in format_comparison_table_lines(look, 60)[0])


@given(st.data(), st.integers(20, 220), st.integers(1, 12), st.integers(1, 6))
def test_the_chosen_cell_is_always_among_those_drawn(
    data: st.DataObject, width: int, runs: int, answers: int
) -> None:
    row = data.draw(st.integers(0, answers - 1))
    column = data.draw(st.integers(0, runs - 1))
    look = compared(answers, runs, row, column)
    lines, head = format_comparison_table_lines(look, width)
    assert {line.row for line in lines[head:] if line.row is not None} == set(range(answers))
    assert all(line.row is None for line in lines[:head])
    chosen = next(line for line in lines if line.row == row)
    marks = [piece for piece in chosen.pieces if piece.look == "key" and piece.text == ">"]
    assert len(marks) == 1
    assert any(f"#{column + 1} " in line.text for line in lines[:head])
    sizes = {len(line.text) for line in lines if line.pieces}
    assert sizes == {width}


@pytest.mark.thorough
async def test_headings_stay_while_answers_scroll(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "enter", "enter", "M")
        screen = app.screen
        assert isinstance(screen, MetricsScreen)
        # Opening the review wrote that it was seen; the screen reads again after that.
        await until(
            pilot, lambda: app.store_watcher.data_version == app.session.store.read_change_number()
        )
        await calm(pilot)
        screen.compared = compared(30, 7, 0, 0)
        screen._paint_content()
        await press(pilot, "end")
        assert screen.table.cursor == 29
        painted = screen_text(app).splitlines()
        assert "answer" in painted[2]
        assert "Turn" in painted[2]
        assert any(line.startswith("┃>60") for line in painted)
        await press(pilot, *(["right"] * 6))
        painted = screen_text(app).splitlines()
        assert "‹ " in "".join(painted[2:7])
        assert "#7 overlap" in "".join(painted[2:7])
