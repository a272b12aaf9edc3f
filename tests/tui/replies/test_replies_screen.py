"""Raw replies: word for word, from three screens, and never to somebody who works blind."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.judging.tasks import JudgeClaims
from faithtui.judges.base import JudgeRequest
from faithtui.store.records import (
    CallContext,
    CallRow,
    ItemCost,
    RunTotals,
    StoredReply,
)
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.replies.replies_screen import RepliesScreen
from faithtui.tui.replies.reply_lines import (
    describe_reply_usability,
    format_call_table_lines,
    format_conversation_cost_lines,
    format_prompt_lines,
    reply_lines,
)
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.theme.lines import Line, count_cells_of_pieces
from tests.tui.building import NOON
from tests.tui.driving import press, reviewing, screen_text, text_of
from tests.tui.test_hostile import hostile

SIZES = [(60, 18), (80, 24), (120, 40), (200, 60)]
GOOD = StoredReply(
    '{"verdicts": {"c0": "yes"}} [bold]zanzibar[/bold]', "ok", True, 1_203, 340, 600, "req-7",
    "gpt-6-luna-2026", 2_400, "schema", None, 12, 31_200_000, "2026-11",
)  # fmt: skip
CUT = replace(GOOD, text='{"verdicts": {"c0"', stop="length", cost_nusd=None, rung=None)


def asked(store: Store, item: ItemId, reply: StoredReply, *, usable: bool = True) -> None:
    """Keep a reply as a run does."""
    number = len(store.calls.list_item_calls(item))
    meant = CallContext(
        f"key-{number}", "openai:m", "verdicts", RunId(1), item, number % 2, usable=usable
    )
    store.calls.save_reply_release_lease_and_add_totals(meant, reply)


@pytest.mark.thorough
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.usefixtures("replied")
async def test_a_reply_is_read_word_for_word(app: FaithApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await reviewing(pilot)
        await press(pilot, "W")
        assert isinstance(app.screen, RepliesScreen)
        assert "conv-0147" in screen_text(app)
        assert "cut off at the limit of tokens" in " ".join(text_of(app, "reply").split())
        await press(pilot, "k")
        shown = " ".join(text_of(app, "reply").split())
        assert "[bold]zanzibar[/bold]" in shown, "markup is no markup"
        for fact in ("asked by a schema", "1,203 tokens in, 340 out, 600 cached", "$0.0312",
                     "prices of 2026-11", "2.4 s", "gpt-6-luna-2026", "req-7"):  # fmt: skip
            assert fact in shown, fact
        await press(pilot, "C")
        assert app.clipboard == GOOD.text
        await press(pilot, "tab", "j", "W")
        assert isinstance(app.screen, ReviewScreen)


@pytest.mark.usefixtures("replied")
async def test_question_and_reply_stand_beside_each_other_and_tab_goes_through(
    app: FaithApp,
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await reviewing(pilot)
        await press(pilot, "W")
        assert app.screen.query_one("#question").display
        assert "The question is not stored" in " ".join(text_of(app, "question").split())
        seen = []
        for _ in range(3):
            await press(pilot, "tab")
            seen.append(app.focused and app.focused.id)
        assert seen == ["question", "reply", "calls"]


@pytest.mark.thorough
@pytest.mark.usefixtures("replied")
async def test_where_it_is_narrow_tab_shows_the_question_in_the_place_of_the_reply(
    app: FaithApp,
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await reviewing(pilot)
        await press(pilot, "W")
        assert not app.screen.query_one("#question").display
        assert "tab: question" in screen_text(app)
        await press(pilot, "tab")
        assert not app.screen.query_one("#reply").display
        assert "The question is not stored" in " ".join(text_of(app, "question").split())
        assert "tab: reply" in screen_text(app)
        await press(pilot, "tab")
        assert app.focused is app.screen.query_one("#reply")
        assert not app.screen.query_one("#question").display
        await press(pilot, "tab", "question_mark")
        assert "What the judge" not in screen_text(app)
        assert "Every question that was put to the judge" in " ".join(screen_text(app).split())
        await press(pilot, "escape", "W")
        assert isinstance(app.screen, ReviewScreen)


QUESTION = JudgeRequest(
    "verdicts", JudgeClaims((), ()), "You are [b]careful[/b].", "Judge:\n  - one", None, 900
)


@pytest.mark.parametrize("evil", ["plain", *hostile()])
def test_a_question_is_drawn_word_for_word(evil: str) -> None:
    lines = format_prompt_lines(replace(QUESTION, system=evil, prompt=evil), None, 70).lines
    assert all(count_cells_of_pieces(each.pieces) <= 70 for each in lines)
    assert not any(unicodedata.category(one) == "Cc" for each in lines for one in each.text)
    told = text(format_prompt_lines(QUESTION, None, 70).lines)
    assert "up to 900 tokens · plain text" in told
    assert "system You are [b]careful[/b]. prompt Judge: - one" in told
    assert "why not" in text(format_prompt_lines(None, "why not", 70).lines)


def test_json_in_a_reply_is_indented_and_text_stays_text() -> None:
    call = CallRow(
        1, "verdicts", 0, 0, True, NOON, replace(GOOD, text='{"a":["' + "w " * 40 + '"]}')
    )
    lines = [each.text for each in reply_lines(call, 40).lines]
    at = lines.index(" {")
    assert lines[at + 1] == '   "a": ['
    assert lines[at + 2].startswith('     "w w')
    assert lines[at + 3].startswith("       w w"), "what is wrapped hangs"
    assert lines[-1] == " }"
    plain = replace(call, reply=replace(GOOD, text="{not json}"))
    assert reply_lines(plain, 40).lines[-1].text == " {not json}"


# Drawing

CALLS = st.builds(
    CallRow,
    id=st.integers(1, 99),
    step=st.sampled_from(["truths", "verdicts", "a very long name of a step indeed"]),
    window=st.one_of(st.none(), st.integers(0, 120)),
    replicate=st.integers(0, 3),
    usable=st.booleans(),
    at=st.just(NOON),
    reply=st.builds(
        StoredReply,
        text=st.text(max_size=60),
        stop=st.sampled_from(["ok", "length", "refusal", "filter", "other"]),
        structured=st.booleans(),
        tokens_in=st.one_of(st.none(), st.integers(0, 10**8)),
        tokens_out=st.one_of(st.none(), st.integers(0, 10**8)),
        tokens_cached=st.one_of(st.none(), st.integers(0, 10**8)),
        request_id=st.one_of(st.none(), st.text(max_size=20)),
        served_model=st.one_of(st.none(), st.text(max_size=20)),
        latency_ms=st.integers(0, 10**7),
        rung=st.sampled_from([None, "schema", "tool", "json", "text"]),
        cost_nusd=st.one_of(st.none(), st.integers(0, 10**12)),
    ),
)


@given(st.lists(CALLS, max_size=8), st.integers(58, 200))
def test_calls_fit_their_pane_and_each_has_a_row(calls: list[CallRow], width: int) -> None:
    cost = ItemCost(RunTotals(len(calls)), {0: RunTotals(len(calls))})
    lines = format_call_table_lines(calls, cost, width)
    assert all(count_cells_of_pieces(each.pieces) <= width for each in lines)
    rows = [each.row for each in lines if each.row is not None]
    assert rows == list(range(len(calls)))
    for call in calls:
        assert all(
            count_cells_of_pieces(each.pieces) <= width for each in reply_lines(call, width).lines
        )


@given(CALLS)
def test_a_reply_that_cannot_be_used_never_looks_used(call: CallRow) -> None:
    words, look = describe_reply_usability(call)
    assert ("not usable" in words) == (not call.usable)
    assert (look == "bad") == (not call.usable)


def text(lines: Sequence[Line]) -> str:
    return " ".join(" ".join(each.text for each in lines).split())


def test_cost_is_told_for_all_and_for_each_window() -> None:
    windows = {
        None: RunTotals(1, 10, 5, 0, 1_000_000, 0),
        0: RunTotals(2, 1_000, 50, 400, 31_200_000, 0),
        3: RunTotals(1, 1_000, 50, 0, 0, 1),
    }
    total = RunTotals(4, 2_010, 105, 400, 32_200_000, 1)
    told = text(format_conversation_cost_lines(ItemCost(total, windows), 90))
    assert "all 4 calls · 2,010 tokens in · 105 out · 400 cached by the provider" in told
    assert "$0.0322 + no price known for 1 call" in told
    assert "w1 $0.0312 · w4 no price known for 1 call" in told


@pytest.mark.parametrize("evil", hostile())
def test_a_reply_that_attacks_the_terminal_is_drawn_as_what_it_is(evil: str) -> None:
    reply = replace(GOOD, text=evil, served_model=evil[:60], request_id=evil[:60])
    call = CallRow(1, evil[:40], 0, 0, True, NOON, reply)
    cost = ItemCost(RunTotals(1), {0: RunTotals(1)})
    for drawn in (*format_call_table_lines((call,), cost, 80), *reply_lines(call, 80).lines):
        assert not any(ord(each) < 32 or 127 <= ord(each) < 160 for each in drawn.text)


@pytest.mark.usefixtures("replied")
async def test_the_smallest_footer_of_review_names_the_key(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await reviewing(pilot)
        assert "W raw replies" in screen_text(app)
        await press(pilot, "B")
        assert "raw replies" not in screen_text(app), "a blind reviewer may not read them"


async def test_the_columns_stay_named_however_far_the_calls_are_scrolled(
    app: FaithApp, store_path: Path
) -> None:
    with Store.open(store_path) as store:
        for _ in range(12):
            asked(store, store.runs.list_item_ids(RunId(1))[0], GOOD)
    async with app.run_test(size=(80, 24)) as pilot:
        await reviewing(pilot)
        await press(pilot, "W", "end")
        shown = screen_text(app)
        assert "12 verdicts" in shown
        assert "step" in shown
        assert "cost" in shown
