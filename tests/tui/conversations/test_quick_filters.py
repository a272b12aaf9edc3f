"""Filters on digits with what they find, terms that complete, and suggestions."""

import re
from pathlib import Path

import pytest
from textual.pilot import Pilot

from faithtui.domain.ids import RunId
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.conversations.conversations_screen import ConversationsScreen
from faithtui.tui.theme.lines import Piece
from faithtui.tui.widgets.bars import HintLine
from tests.tui.driving import calm, opened, press, screen_text, status, title, until
from tests.tui.test_screens import labelled

SIZE = (120, 40)


async def listing(pilot: Pilot[None]) -> ConversationsScreen:
    """Go to the conversations of the run."""
    await opened(pilot)
    await press(pilot, "enter")
    assert isinstance(pilot.app.screen, ConversationsScreen)
    return pilot.app.screen


def quick(screen: ConversationsScreen) -> str:
    line = screen.query_one("#quick", HintLine)
    return line.lay_out_line(line.size.width).text


@pytest.mark.thorough
async def test_the_line_counts_what_each_filter_finds(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listing(pilot)
        assert "[1] no 1  [2] idk 1  [3] open 2" in quick(screen)
        await press(pilot, "1")
        assert screen.state.filter == "verdict:no"
        assert len(screen.listed_ids) == 1
        await press(pilot, "1")
        assert screen.state.filter == ""
        assert len(screen.listed_ids) == 4
        await pilot.click("#quick", offset=(quick(screen).index("open") + 2, 0))
        await calm(pilot)
        assert screen.state.filter == "is:unlabelled"


async def test_a_filter_finds_whole_answers_on_which_annotators_and_judge_differ(
    app: FaithApp,
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listing(pilot)
        assert "[4] differ 0  [5] answers differ 1  [6] flagged 0" in quick(screen)
        await press(pilot, "5")
        assert screen.state.filter == "answers:differ"
        assert screen.pager is not None
        row = screen.pager.fetch_row(0)
        assert row is not None
        assert row.key == "conv-0147"
        assert len(screen.listed_ids) == 1
        narrow = screen.query_one("#quick", HintLine).lay_out_line(60).text
        assert "[5]ans. differ 1 …" in narrow
        assert "[6" not in narrow, "no part of a hint is drawn"


@pytest.mark.thorough
async def test_filters_are_counted_anew_when_something_changes_while_they_rest(
    app: FaithApp, store_path: Path
) -> None:
    clock = [0.0]
    app.session.seconds = lambda: clock[0]
    async with app.run_test(size=SIZE) as pilot:
        screen = await listing(pilot)
        assert "open 2" in quick(screen)
        screen.quick_filters._rest_until_s = 0.01
        with Store.open(store_path) as store:
            view = store.runs.read_conversation_for_review(
                store.runs.list_item_ids(RunId(1))[0], "ann"
            )
            for claim in view.claims:
                store.label_log.record_verdict(
                    claim.id, "ann", "yes", run=RunId(1), saw_judge=False
                )
        screen.refresh_if_run_changed()
        await calm(pilot)
        clock[0] = 1.0
        await until(pilot, lambda: "open 1" in quick(screen))


@pytest.mark.thorough
async def test_the_first_order_is_by_score_and_begins_at_the_top(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listing(pilot)
        await press(pilot, "end", "s")
        assert "lowest judge's score first" in status(app)
        assert screen.items.cursor == 0
        assert screen.conversation_at_cursor is not None
        assert screen.conversation_at_cursor.id == screen.listed_ids[0]
        await press(pilot, "s")
        assert "most unlabelled first" in status(app)


async def test_a_blind_reviewer_sees_no_filter_nor_label_of_others(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        app.session.set_judge_hidden(True)
        screen = await listing(pilot)
        assert re.findall(r"\] (\w+)", quick(screen)) == ["open", "flagged"]
        painted = screen_text(app)
        assert "▓" not in painted
        row = next(line for line in painted.split("\n") if "Can I return shoes" in line)
        assert "1 no" not in row
        assert "2 no" not in row


async def test_terms_complete_as_one_types_and_are_listed(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listing(pilot)
        await press(pilot, "slash", *"is:unl")
        assert "tab is:unlabelled" in status(app)
        await press(pilot, "tab", "enter")
        assert screen.state.filter == "is:unlabelled"
        # A word that means a term completes to it.
        await press(pilot, "escape", "slash", *"unre")
        assert "tab is:unlabelled" in status(app)
        assert "filter /  unre  " in screen_text(app), "nothing that does not follow is drawn"
        await press(pilot, "tab", "enter")
        assert screen.state.filter == "is:unlabelled"


@pytest.mark.thorough
async def test_annotators_judges_and_data_sets_that_are_known_are_offered(
    app: FaithApp, store_path: Path
) -> None:
    labelled(store_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "slash", *"judge:o")
        assert "tab judge:offline" in status(app)
        await press(pilot, "escape", "enter", "slash", *"reviewer:")
        assert "reviewer:bo" in status(app)
        await press(pilot, "b", "tab", "enter")
        screen = app.screen
        assert isinstance(screen, ConversationsScreen)
        assert screen.state.filter == "reviewer:bo"
        assert screen.listed_ids
        await press(pilot, "slash", *"source:", "tab", "enter")
        assert screen.state.filter == "source:shop"


@pytest.mark.thorough
async def test_words_that_find_nothing_suggest_a_term_that_enter_takes(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listing(pilot)
        await press(pilot, "slash", *"unreviewed", "enter")
        assert "Perhaps you mean  is:unlabelled" in screen_text(app)
        await press(pilot, "enter")
        assert screen.state.filter == "is:unlabelled"
        assert len(screen.listed_ids) == 2


async def test_a_row_has_opening_labels_and_id_and_marks_are_explained_below(
    app: FaithApp,
) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await listing(pilot)
        painted = screen_text(app).split("\n")
        head = next(each for each in painted if "opening" in each)
        assert "yes·no·idk" in head, "what the three counts are"
        assert head.index("opening") < head.index("score") < head.index("human") < head.rindex("id")
        row = next(each for each in painted if "Can I return shoes" in each)
        assert "0147" in row
        assert "conv-0147" not in row, "what all ids begin with is left out"
        assert "2 no/3" in row, "labels that came with the data"
        assert "labelled: 4 answers · " in title(app)
        assert title(app).endswith(" of 6 claims")
        assert " by you " in screen_text(app)
        marks = "█ yes ▓ no ▒ idk · ∅ no passages · ! failed · 2x annotators · * overrides"
        assert marks in screen_text(app)
        await pilot.resize_terminal(80, 24)
        await calm(pilot)
        assert marks in screen_text(app)


@pytest.mark.thorough
async def test_a_filter_of_another_screen_is_shown_in_the_line(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        await listing(pilot)
        await press(pilot, "q", "f")
        assert "filter /" in screen_text(app)
        assert "verdict:no" in screen_text(app)


@pytest.mark.thorough
async def test_b_hides_the_judge_in_the_list_and_shows_it_again(app: FaithApp) -> None:
    async with app.run_test(size=SIZE) as pilot:
        screen = await listing(pilot)
        assert "no 1" in quick(screen)
        assert "0.82" in screen_text(app), "a score of the judge"
        await press(pilot, "s", "B")
        assert app.session.is_blind
        assert status(app) == "blind: the judge is hidden until you answer", "reading keeps it"
        assert "BLIND" in title(app)
        assert "no 1" not in quick(screen), "filters by the judge's verdict are gone"
        assert "0.82" not in screen_text(app)
        assert screen.list_order == "number", "no order tells what the judge said"
        await press(pilot, "B")
        assert "BLIND" not in title(app)
        assert "0.82" in screen_text(app)


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (91, " [1] no 19  [2] idk 129  [3] open 166  [4] answers differ 26  [6] flagged 0"),
        (70, " [1]no 19 [2]idk 129 [3]open 166 [4]ans. differ 26 [6]flagged 0"),
        (40, " [1]no 19 [2]idk 129 [3]open 166 …"),
    ],
)
def test_a_narrow_line_of_filters_is_shortened_and_says_that_there_are_more(
    width: int, said: str
) -> None:
    words = [("1", "no 19"), ("2", "idk 129"), ("3", "open 166"), ("4", "answers differ 26")]
    words.append(("6", "flagged 0"))
    line = HintLine()
    hints = tuple((Piece("["), Piece(key, "key"), Piece(f"] {text}")) for key, text in words)
    short = tuple(
        (Piece("["), Piece(key, "key"), Piece(f"]{text.replace('answers', 'ans.')}"))
        for key, text in words
    )
    line.set_reactive(HintLine.hints, hints)
    line.set_reactive(HintLine.short_hints, short)
    text = line.lay_out_line(width).text
    assert text.rstrip() == said
    assert len(text) <= width
