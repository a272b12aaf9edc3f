"""Queues that need no form, on a screen that is not drawn: asked for, drawn, begun and taken up."""

from typing import cast

from faithtui.agreement.sampling.draw import SampleKind
from faithtui.domain.ids import RunId, SampleId
from faithtui.domain.labels.label_events import Action
from faithtui.engine.review.samples.sample_queues import (
    SampleRequest,
    draw_and_save_run_sample,
    make_repeat_labels_request,
)
from faithtui.store.samples.sample_records import SampleRow
from faithtui.tui.messages import ShowScreen
from faithtui.tui.samples.queue_start import QueueStart
from faithtui.tui.screen.main_screen import FaithScreen
from faithtui.tui.session import Session
from tests.tui.fake_screens import FakeScreen


class StartScreen(FakeScreen):
    """A screen that begins queues of the newest run."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        run = session.store.runs.find_newest_run_id()
        assert run is not None
        self.run: RunId = run
        session.switch_run(run)
        self.drawn: list[SampleId] = []
        self.start = QueueStart(cast(FaithScreen, self), self.drawn.append)

    def list_samples(self) -> tuple[SampleRow, ...]:
        return tuple(self.session.store.samples.list_samples(self.session.reviewer, self.run))


async def begin_spot_check(session: Session) -> StartScreen:
    """Draw a spot-check and begin with it."""
    screen = StartScreen(session)
    screen.start.resume_or_offer_spot_check(screen.run, ())
    screen.input_queue.answer("yes")
    await screen.settle()
    return screen


async def test_a_spot_check_is_drawn_and_begun_when_it_was_confirmed(session: Session) -> None:
    screen = StartScreen(session)
    screen.start.read_and_offer_spot_check(screen.run)
    await screen.settle()
    screen.input_queue.answer("yes")
    await screen.settle()
    assert "drawing …" in screen.messages
    (row,) = screen.list_samples()
    assert (row.kind, row.reviewer) == (SampleKind.SPOT_CHECK, "ann")
    assert screen.drawn == [row.id]
    queue = session.claim_queue
    assert queue is not None
    assert (queue.sample, queue.blind) == (row.id, True)
    assert (session.item, session.claim) == queue.entries[0], "the first one is open"
    assert [each.screen for each in screen.posted if isinstance(each, ShowScreen)] == ["review"]
    assert not screen.failures


async def test_nothing_is_drawn_where_the_question_was_not_answered_by_yes(
    session: Session,
) -> None:
    screen = StartScreen(session)
    screen.start.resume_or_offer_spot_check(screen.run, ())
    screen.input_queue.answer(None)
    await screen.settle()
    assert screen.list_samples() == ()
    assert session.claim_queue is None
    assert screen.posted == []


async def test_a_queue_that_is_not_through_is_gone_on_with_and_no_other_drawn(
    session: Session,
) -> None:
    screen = await begin_spot_check(session)
    rows = screen.list_samples()
    session.leave_queue()
    screen.start.resume_or_offer_spot_check(screen.run, rows)
    assert screen.input_queue.windows == [], "it does not ask"
    await screen.settle()
    queue = session.claim_queue
    assert queue is not None
    assert queue.sample == rows[0].id
    assert screen.list_samples() == rows
    # A spot-check is no repeat.
    screen.start.resume_or_offer_repeats(screen.run, rows)
    assert len(screen.input_queue.windows) == 1


async def test_a_queue_without_an_open_claim_is_shown_only_when_that_was_confirmed(
    session: Session,
) -> None:
    """It was opened at its first claim, whose blind label the next verdict replaced."""
    screen = await begin_spot_check(session)
    ((row,), queue) = screen.list_samples(), session.claim_queue
    assert queue is not None
    for _, claim in queue.entries:
        session.store.label_log.record_verdict(
            claim, "ann", "yes", run=screen.run, saw_judge=False, sample=row.id
        )
    session.leave_queue()
    screen.posted.clear()
    for answer, shown in ((None, False), ("yes", True)):
        screen.start.start_queue_at_first_open_claim(row.id)
        await screen.settle()
        assert not screen.posted
        screen.input_queue.answer(answer)
        await screen.settle()
        assert (session.claim_queue is not None) is shown
    assert [each.screen for each in screen.posted if isinstance(each, ShowScreen)] == ["review"]


async def test_labels_drawn_while_it_was_asked_come_first(session: Session) -> None:
    """It opened at a claim with a label, which the next verdict replaced."""
    screen = StartScreen(session)
    store, request = session.store, SampleRequest("few", size=2)
    row = draw_and_save_run_sample(store, screen.run, "ann", request)
    drawn = store.samples.list_claims_in_served_order(row.id, "ann")
    for each in drawn:
        store.label_log.record_verdict(
            each.claim, "ann", "yes", run=screen.run, saw_judge=False, sample=row.id
        )
    screen.start.start_queue_at_first_open_claim(row.id)
    await screen.settle()
    store.samples.draw_more_claims(row.id, "ann", 1)
    screen.input_queue.answer("yes")
    await screen.settle()
    assert session.claim_queue is not None
    assert len(session.claim_queue.entries) == 3
    assert session.claim not in {each.claim for each in drawn}


async def test_claims_that_were_asked_again_are_not_shown_once_more(session: Session) -> None:
    """A third answer to each would be stored as another second one."""
    screen = StartScreen(session)
    store = session.store
    row = draw_and_save_run_sample(store, screen.run, "ann", SampleRequest("few", size=2))
    for each in store.samples.list_claims_in_served_order(row.id, "ann"):
        store.label_log.record_verdict(
            each.claim, "ann", "yes", run=screen.run, saw_judge=False, sample=row.id
        )
    again = draw_and_save_run_sample(store, screen.run, "ann", make_repeat_labels_request(1))
    for each in store.samples.list_claims_in_served_order(again.id, "ann"):
        store.label_log.append_label_event(
            each.claim,
            "ann",
            Action.REPEATED,
            "yes",
            run=screen.run,
            judge_verdict=None,
            saw_judge=False,
            sample=again.id,
        )
    screen.start.start_queue_at_first_open_claim(again.id)
    await screen.settle()
    assert not screen.input_queue.windows
    assert not screen.posted
    assert "every claim of this queue was asked again" in screen.message
