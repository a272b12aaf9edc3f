"""What is left, the pace, labels of today and self-agreement, at the right of the status line."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faithtui.agreement.report.figures.rater_comparison import RepeatedLabel
from faithtui.agreement.report.model import ConfidenceSequences
from faithtui.agreement.sampling.draw import SamplingDesign
from faithtui.domain.labels.label_events import Action
from faithtui.engine.review.samples.queue_intervals import read_confidence_sequences
from faithtui.engine.review.samples.sample_queues import (
    QueueProgress,
    SampleRequest,
    draw_and_save_run_sample,
)
from faithtui.store.annotations.session_counts import SessionCounts
from faithtui.tui.app import FaithApp
from faithtui.tui.review.lines.session_lines import SessionFacts, describe_session_progress
from faithtui.tui.samples.queue import make_sample_queue
from faithtui.tui.samples.sample_lines import describe_confidence_sequences_briefly
from faithtui.tui.session import Session
from tests.tui.driving import blinded, calm, press, reviewing, screen_text
from tests.tui.fake_screens import FakeReviewScreen
from tests.tui.review.sample_queues import label_in_other_app, open_sample_queue


def test_the_weightiest_comes_first_and_the_timer_can_be_off() -> None:
    again = (
        RepeatedLabel("ann", "g", "yes", "yes", 9.0),
        RepeatedLabel("ann", "g", "yes", "no", 9),
    )
    facts = SessionFacts(SessionCounts(24, 9.2), None, again)
    words = describe_session_progress(facts, 12, "here", has_timer=True)
    assert words == "12 left here · 9 s a claim · 2 min to go · 24 today · self-agreement 1/2"
    words = describe_session_progress(facts, 12, "here", has_timer=False)
    assert words == "12 left here · 24 today · self-agreement 1/2"
    assert describe_session_progress(SessionFacts(SessionCounts()), 0, "here", has_timer=True) == ""


async def test_a_verdict_counts_in_the_line(session: Session) -> None:
    screen = await FakeReviewScreen(session).open()
    assert screen.session_line.progress_words == "5 left here"
    screen.give("no")
    await screen.settle()
    assert screen.session_line.progress_words == "4 left here · 1 today", "one tells no pace"
    screen.session_line._keep_and_show_facts(SessionFacts(SessionCounts(1, 9.0)))
    assert screen.session_line.progress_words == "4 left here · 9 s a claim · 1 min to go · 1 today"
    session.preferences = replace(session.preferences, timer=False)
    assert screen.session_line.progress_words == "4 left here · 1 today"
    screen.session_line.forget_progress()
    assert screen.session_line.progress_words == ""


async def test_a_sample_says_what_is_known_after_every_label(session: Session) -> None:
    store = session.store
    run = store.runs.find_newest_run_id()
    assert run is not None
    request = SampleRequest("s", design=SamplingDesign.SIMPLE, size=4, blind=False)
    row = draw_and_save_run_sample(store, run, "ann", request)
    session.start_queue(make_sample_queue(store, row.id, "ann"))
    screen = FakeReviewScreen(session)
    screen.loader.reload()
    await screen.settle()
    screen.panes.claims.blocked = 0
    assert "passing" not in screen.session_line.progress_words
    for label in ("no", "yes"):
        screen.give(label)
        await screen.settle()
        found = read_confidence_sequences(store, row.id, "ann")
        assert found is not None
        words = describe_confidence_sequences_briefly(found)
        assert screen.session_line.progress_words.startswith(f"{words} · sample ")
    assert found is not None
    assert found.labels == 2
    # More is drawn: the first claims keep their places, and the new ones are counted too.
    store.samples.draw_more_claims(row.id, "ann", 1)
    screen.session_line.load_and_show_progress()
    screen.give("no")
    await screen.settle()
    known = read_confidence_sequences(store, row.id, "ann")
    assert known is not None
    assert describe_confidence_sequences_briefly(known) in screen.session_line.progress_words


async def test_a_queue_that_another_app_answers_too_is_read_again(session: Session) -> None:
    """It served claims once more that had their label, and the second one replaced the first."""
    store = session.store
    run = store.runs.find_newest_run_id()
    assert run is not None
    row = draw_and_save_run_sample(
        store, run, "ann", SampleRequest("s", design=SamplingDesign.SIMPLE, size=5)
    )
    session.start_queue(make_sample_queue(store, row.id, "ann"))
    screen = FakeReviewScreen(session)
    screen.loader.reload()
    await screen.settle()
    claims = [each.claim for each in store.samples.list_claims_in_served_order(row.id, "ann")]
    for claim in claims[:2]:
        store.label_log.record_verdict(claim, "ann", "yes", run=run, saw_judge=False, sample=row.id)
    screen.session_line.load_and_show_progress()
    await screen.settle()
    cursor = screen.queue_navigator.cursor
    assert cursor is not None
    assert cursor.answered_claims == set(claims[:2])
    assert [each[1] for each in cursor.list_next_open_claims(1)] == [claims[2]]


async def test_as_many_answers_as_before_may_be_those_of_other_claims(session: Session) -> None:
    """One claim was undone in the other app and another one labelled."""
    store = session.store
    screen, row, claims = await open_sample_queue(session, size=5)
    cursor = screen.queue_navigator.cursor
    assert cursor is not None
    for claim in claims[1:3]:
        label_in_other_app(store, row, claim)
        screen.session_line.load_and_show_progress()
        await screen.settle()
        cursor = screen.queue_navigator.cursor
        assert cursor is not None
        assert cursor.answered_claims == {claim}
        store.label_log.undo("ann")
    screen.session_line.load_and_show_progress()
    await screen.settle()
    assert screen.queue_navigator.cursor is not cursor, "an undo alone is seen, too"
    store.label_log.append_label_event(
        claims[3], "ann", Action.SKIPPED,
        run=row.run, judge_verdict=None, saw_judge=False, sample=row.id,
    )  # fmt: skip
    screen.session_line.load_and_show_progress()
    await screen.settle()
    cursor = screen.queue_navigator.cursor
    assert cursor is not None
    assert (cursor.answered_claims, cursor.skipped_claims) == (set(), {claims[3]})


async def test_each_queue_is_compared_with_its_own_answers(session: Session) -> None:
    """Both have one answer of the other app, though not the same."""
    shown = FakeReviewScreen(session)
    for size in (5, 4):
        screen, row, claims = await open_sample_queue(session, size, screen=shown)
        label_in_other_app(session.store, row, claims[1])
        screen.session_line.load_and_show_progress()
        await screen.settle()
        cursor = screen.queue_navigator.cursor
        assert cursor is not None
        assert cursor.answered_claims == {claims[1]}


async def test_nothing_is_read_again_for_answers_that_are_being_saved(session: Session) -> None:
    screen, row, claims = await open_sample_queue(session, size=5)
    before = session.store.samples.read_sample(row.id, "ann")
    screen.give("yes")
    cursor = screen.queue_navigator.cursor
    assert cursor is not None
    progress = QueueProgress(before, 0, 0, None, planned=False)
    screen.session_line._keep_and_show_facts(SessionFacts(SessionCounts(), progress))
    assert not cursor.is_outdated
    await screen.settle()
    assert screen.queue_navigator.cursor is not None
    assert screen.queue_navigator.cursor.answered_claims == {claims[0]}


def test_intervals_that_always_hold_are_told_in_few_words() -> None:
    found = ConfidenceSequences(30, 0, (0.684, 0.971), (0.121, 0.634), ("no",))
    assert describe_confidence_sequences_briefly(found) == "passing 68-97%, recall 12-63%"


@pytest.mark.thorough
async def test_a_sample_says_how_far_it_is_with_the_pace_of_late(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(200, 60)) as pilot:
        await blinded(pilot)
        assert "blind sample 0/" in screen_text(app)
        await press(pilot, "y")
        words = screen_text(app)
        assert "blind sample 1/" in words
        assert "s a claim" not in words, "one claim tells no pace"
        assert "1 today" in words
        assert ", recall" not in words, "few claims of the run are left, and it is blind"


async def test_the_line_is_there_when_a_conversation_is(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await reviewing(pilot)
        await calm(pilot)
        assert "5 left here" in screen_text(app)


async def test_what_is_forgotten_while_the_line_is_read_does_no_harm(
    app: FaithApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        line, label_log = screen.session_line, screen.session.store.label_log
        read = label_log.read_session_counts

        def read_late(*args: Any) -> SessionCounts:
            line.forget_progress()
            return read(*args)

        monkeypatch.setattr(label_log, "read_session_counts", read_late)
        line.forget_progress()
        line.load_and_show_progress()
        await calm(pilot)
        assert screen.view is not None, "the app goes on"
