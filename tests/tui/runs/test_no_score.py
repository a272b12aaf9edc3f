"""What has no score is counted and explained where scores are drawn."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.filters import Filter
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.request import RunRequest
from faithtui.metrics.turn_faithfulness import SPEC
from faithtui.store.records import ReviewView
from faithtui.store.store import Store
from faithtui.tui.conversations.conversation_lines import format_conversation_detail_lines
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.review.lines.claim_rows import choose_row_layout, claim_list_lines
from faithtui.tui.review.lines.window_lines import window_list_lines
from faithtui.tui.review.position import ReviewPosition
from faithtui.tui.runs.run_details import run_detail_lines
from faithtui.tui.theme.lines import Line

OPENS = "The shop opens at nine."
NO_CLAIMS = "the judge drew no claims from the answer"


def exchange(question: str, answer: str) -> tuple[Turn, Turn]:
    return Turn("user", question), Turn("assistant", answer, (Document(OPENS),))


def make_conversation(key: str, *turns: Turn) -> Conversation:
    return Conversation("shop", key, turns, key)


@pytest.fixture
def judged(path: Path) -> RunId:
    """A run over small talk alone, and over small talk before an answer."""
    with Store.open(path) as store:
        store.conversations.import_batch(
            [
                make_conversation("small", *exchange("Thanks!", "You're welcome!")),
                make_conversation("mixed", *exchange("Hi!", "Hello!"), *exchange("When?", OPENS)),
            ]
        )
        options = {"window_size": "1"}
        run = run_planner.save_planned_run(
            store, RunRequest(metric="turn-faithfulness", judge="offline", options=options)
        )
        asyncio.run(runner.execute_run(store, run, lambda event: None))
        return run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shop.db"


def words(lines: list[Line]) -> str:
    return " ".join(" ".join(each.text for each in lines).split())


def view_of(store: Store, run: RunId, place: int) -> ReviewView:
    return store.runs.read_conversation_for_review(store.runs.list_item_ids(run)[place], "me")


def details(view: ReviewView) -> str:
    wanted = Filter(())
    return words(
        format_conversation_detail_lines(
            view.item, view.turns, SPEC, 60, blind=view.is_blind, wanted=wanted
        )
    )


def test_a_run_counts_conversations_and_windows_in_no_mean(path: Path, judged: RunId) -> None:
    with Store.open(path) as store:
        said = words(run_detail_lines(store.runs.read_run(judged), SPEC, 100, KeyNames({})))
    assert "1.00 (mean of 1 conversation, each the mean of its windows)" in said
    assert "! 1 conversation undefined: in no mean" in said
    assert "! 2 of 3 windows undefined: in no mean" in said


def test_a_score_with_overrides_says_how_much_of_it_is_reviewed(path: Path, judged: RunId) -> None:
    with Store.open(path) as store:
        (claim,) = view_of(store, judged, 1).claims
        store.label_log.append_label_event(
            claim.id, "me", Action.OVERRIDDEN, "no", run=judged, judge_verdict="yes", saw_judge=True
        )
        row = replace(store.runs.read_run(judged), claims=1200)
        said = words(run_detail_lines(row, SPEC, 100, KeyNames({})))
    assert "· 0.00 with overrides, 1 of 1,200 claims reviewed" in said


def test_a_conversation_counts_its_windows_and_says_why(path: Path, judged: RunId) -> None:
    with Store.open(path) as store:
        small, mixed = (view_of(store, judged, place) for place in range(2))
    assert f"undefined: {NO_CLAIMS}" in details(small)
    assert "! 1 of 2 windows undefined" in details(mixed)
    assert "1 of 2 windows undefined: in no mean" in words(
        window_list_lines(mixed, ReviewPosition(), SPEC, 40)
    )


def test_a_window_that_people_leave_nothing_of_is_counted_with_their_labels(
    path: Path, judged: RunId
) -> None:
    with Store.open(path) as store:
        (claim,) = view_of(store, judged, 1).claims
        store.label_log.append_label_event(
            claim.id, "me", Action.OVERRIDDEN, "x", run=judged, judge_verdict="yes", saw_judge=True
        )
        said = details(view_of(store, judged, 1))
    assert "mean of windows 1.00→undefined" in said
    assert "! with human labels 2 of 2 windows undefined" in said


def test_an_empty_list_says_why_nothing_is_there_and_what_that_scores(
    path: Path, judged: RunId
) -> None:
    with Store.open(path) as store:
        small = view_of(store, judged, 0)
    layout = choose_row_layout(small, ReviewPosition(), 60, 20, SPEC)
    said = words([*claim_list_lines(small, ReviewPosition(), SPEC, layout).lines])
    assert "The judge found no claim here. A window without claims has no score." in said
    assert NO_CLAIMS in said
