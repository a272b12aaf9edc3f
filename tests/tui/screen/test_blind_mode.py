"""`B` on a screen that is not drawn: what it hides, what it says, and where it is refused."""

from collections.abc import Callable

import pytest

from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.screen.blind_mode import BlindMode
from faithtui.tui.session import Session
from tests.tui.fake_screens import FakeScreen


class BlindScreen(FakeScreen):
    """A screen with that key alone, on the newest run."""

    def __init__(self, session: Session, was_judge_in_view: Callable[[], bool]) -> None:
        super().__init__(session)
        run = session.store.runs.find_newest_run_id()
        assert run is not None
        session.switch_run(run)
        self.hidden_at_reload: list[bool] = []
        self.add(BlindMode(self, self._read_again, was_judge_in_view))

    def _read_again(self) -> None:
        self.hidden_at_reload.append(self.session.is_judge_hidden)

    def start_queue(self, kind: str) -> None:
        """Go through a queue of one claim."""
        run = self.session.run
        assert run is not None
        entries = ((ItemId(1), ClaimId(1)),)
        queue = ClaimQueue(
            "a queue",
            run,
            entries,
            blind=kind == "blind",
            reveals_judge=kind == "reveals_judge",
        )
        self.session.start_queue(queue)


@pytest.fixture
def screen(session: Session) -> BlindScreen:
    return BlindScreen(session, lambda: False)


def test_the_key_hides_the_judge_and_shows_it_again(screen: BlindScreen) -> None:
    assert screen.press("B")
    assert screen.message == "blind: the judge is hidden until you answer"
    assert screen.press("B")
    assert screen.message == "judge shown again: labels here do not count as blind from now on"
    screen.app.current_screen_name = "conversations"
    assert screen.press("B")
    assert screen.press("B")
    assert screen.message == "judge shown again", "no conversation was shown by it"
    assert screen.hidden_at_reload == [True, False, True, False], "read after the change"
    assert screen.app.bells == 0


def test_a_judge_that_was_seen_is_named_as_too_late(session: Session) -> None:
    screen = BlindScreen(session, lambda: True)
    screen.press("B")
    assert session.is_judge_hidden
    assert "too late for this conversation: its judge was in view" in screen.message
    screen.press("B")
    assert "judge shown again" in screen.message, "nothing is hidden that was seen"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("blind", "a queue is blind: Q leaves the queue and B ends blind work"),
        ("reveals_judge", "these were chosen by the judge's verdict"),
    ],
)
def test_a_queue_that_says_what_is_hidden_refuses_the_key(
    screen: BlindScreen, kind: str, words: str
) -> None:
    screen.start_queue(kind)
    before = screen.session.is_judge_hidden
    assert screen.press("B")
    assert words in screen.message
    assert screen.app.bells == 1
    assert screen.session.is_judge_hidden is before
    assert screen.hidden_at_reload == []


def test_from_another_screen_the_way_out_begins_with_going_to_review(screen: BlindScreen) -> None:
    screen.app.current_screen_name = "conversations"
    screen.start_queue("blind")
    screen.press("B")
    assert "a queue is blind: g v, then Q leaves the queue" in screen.message


def test_without_a_run_there_is_nothing_to_hide(session: Session) -> None:
    screen = FakeScreen(session)
    screen.add(BlindMode(screen, lambda: None))
    assert session.run is None
    assert not screen.press("B")
    assert not session.is_judge_hidden


def test_another_run_leaves_a_blind_queue_and_shows_no_judge(session: Session) -> None:
    entries = ((ItemId(1), ClaimId(1)),)
    session.start_queue(ClaimQueue("twenty", RunId(1), entries, blind=True, shown=frozenset()))
    session.switch_run(RunId(2))
    assert session.claim_queue is None
    assert session.is_blind, "what a blind queue hid stays hidden until B shows it"
    session.start_queue(ClaimQueue("no", RunId(1), entries, reveals_judge=True))
    assert not session.is_blind
