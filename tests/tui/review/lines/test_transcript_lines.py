"""Question and answer: the question stays at the top, the claim's words are in view."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.conversation import Span
from faithtui.metrics.registry import find_metric
from faithtui.store.records import ReviewView
from faithtui.store.store import Store
from faithtui.tui.review.lines.claim_card import find_nearest_sentence
from faithtui.tui.review.lines.evidence_lines import tokenise_view
from faithtui.tui.review.lines.transcript_lines import TURNS_AROUND, ExchangeLines, exchange_lines
from tests.tui.building import shop

METRIC = find_metric("turn-faithfulness").spec
QUESTION = "Which of them are closed in winter, and what would be open instead? " * 6
LAST = "The mill is closed from May."
ANSWER = "The bridge stays open all year round, in any weather. " * 40 + LAST


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReviewView]:
    path = tmp_path_factory.mktemp("stores") / "shop.db"
    run = shop(path)
    with Store.open(path) as store:
        yield store.runs.read_conversation_for_review(store.runs.list_item_ids(run)[0], "ann")


def with_long_turns(view: ReviewView) -> ReviewView:
    """Give the first question and answer many words; the first claim stands at the end of them."""
    asked, answered, *rest = view.turns
    turns = (replace(asked, content=QUESTION), replace(answered, content=ANSWER), *rest)
    claim = replace(view.claims[0], text=LAST, span=Span(len(ANSWER) - len(LAST), len(ANSWER)))
    return replace(view, turns=turns, claims=(claim, *view.claims[1:]))


def seen(drawn: ExchangeLines, height: int) -> str:
    """Give the lines that are seen of a pane to begin with."""
    top = min(drawn.top, max(0, len(drawn.lines) - height))
    pinned = [line.text for line in drawn.lines[: drawn.pinned]]
    return "\n".join([*pinned, *(e.text for e in drawn.lines[top:][len(pinned) : height])])


@given(width=st.integers(24, 120), height=st.integers(4, 60))
def test_question_and_claim_are_seen_however_long_the_answer_is(
    view: ReviewView, width: int, height: int
) -> None:
    long = with_long_turns(view)
    drawn = exchange_lines(long, long.claims[0], METRIC, width, height)
    words = seen(drawn, height)
    assert words.lstrip().startswith("1 user Which of")
    assert "«The mill" in " ".join(words.split())


@pytest.mark.parametrize("width", [30, 60])
def test_an_answer_that_goes_on_names_who_speaks(view: ReviewView, width: int) -> None:
    long = with_long_turns(view)
    drawn = exchange_lines(long, long.claims[0], METRIC, width, 8)
    first = drawn.pinned + drawn.top
    assert "bot" not in drawn.lines[first].text
    assert drawn.label_first_line(first).text.startswith("  2 bot …")
    assert drawn.label_first_line(drawn.pinned).text == drawn.lines[drawn.pinned].text


@pytest.mark.parametrize(("width", "height"), [(30, 5), (60, 5), (60, 7)])
def test_a_question_takes_two_lines_where_the_claim_leaves_them(
    view: ReviewView, width: int, height: int
) -> None:
    long = with_long_turns(view)
    drawn = exchange_lines(long, long.claims[0], METRIC, width, height)
    assert drawn.pinned >= 2
    assert drawn.lines[drawn.pinned - 1].text.endswith("…")


def test_a_claim_beyond_what_panes_draw_of_a_text_is_seen_too(view: ReviewView) -> None:
    long = with_long_turns(view)
    content = "It stays open. " * 2_000 + LAST
    asked, answered, *rest = long.turns
    claim = replace(long.claims[0], span=Span(len(content) - len(LAST), len(content)))
    longer = replace(long, turns=(asked, replace(answered, content=content), *rest))
    words = seen(exchange_lines(longer, claim, METRIC, 60, 8), 8)
    assert f"«{LAST}»" in " ".join(words.split())


def test_an_answer_that_fits_is_shown_whole_without_a_pinned_question(view: ReviewView) -> None:
    drawn = exchange_lines(view, view.claims[2], METRIC, 60, 12)
    assert (drawn.pinned, drawn.top) == (0, 0)
    words = seen(drawn, 12)
    assert "Is the label free as well?" in words
    assert "Yes, return labels are always free." in words
    assert "Can I return shoes" not in words, "that was another exchange"


def test_where_there_is_room_the_turns_around_are_shown_and_the_question_is_at_the_top(
    view: ReviewView,
) -> None:
    drawn = exchange_lines(view, view.claims[2], METRIC, 60, 18)
    lines = [line.text for line in drawn.lines]
    assert any("Can I return shoes" in line for line in lines)
    assert any("And for sale items?" in line for line in lines)
    assert "Is the label free as well?" in lines[drawn.top]
    assert TURNS_AROUND < 20, "a pane of a long conversation is made from a few turns of it"


def test_the_nearest_words_are_marked_where_the_claim_is_worded_otherwise(view: ReviewView) -> None:
    reworded = replace(view.claims[2], span=None)
    near = find_nearest_sentence(reworded, tokenise_view(view))
    assert near is not None
    words = seen(exchange_lines(view, reworded, METRIC, 60, 12, near), 12)
    assert "‹Yes, return labels are always free.›" in words


def test_nothing_is_nearest_to_a_claim_that_stands_in_the_answer(view: ReviewView) -> None:
    literal = replace(view.claims[2], span=Span(5, 34))
    assert find_nearest_sentence(literal, tokenise_view(view)) is None


def test_without_a_claim_the_whole_conversation_is_shown(view: ReviewView) -> None:
    drawn = exchange_lines(view, None, METRIC, 60, 12)
    words = " ".join(line.text for line in drawn.lines)
    for turn in view.turns:
        assert turn.content[:20] in words
