"""Findings of one kind: listed one by one, or their claims reviewed in a queue."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from faithtui.domain.ids import RunId
from faithtui.domain.integrity.findings import FindingKind
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.integrity.finding_entries import FindingEntries
from faithtui.tui.integrity.integrity_screen import IntegrityScreen
from faithtui.tui.messages import ShowScreen
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.screen.dialogs import PickDialog
from faithtui.tui.session import Session
from tests.tui.driving import press, screen_text, text_of
from tests.tui.fake_screens import FakeScreen
from tests.tui.integrity.test_integrity_screen import looking


@pytest.mark.thorough
async def test_enter_reviews_exactly_the_claims_of_a_kind(
    broken: Path, make_app: Callable[[Path], FaithApp]
) -> None:
    app = make_app(broken)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await looking(pilot)
        await press(pilot, "down", "down", "enter")
        assert isinstance(app.screen, ReviewScreen)
        queue = app.session.claim_queue
        assert queue is not None
        assert queue.is_convenience
        assert queue.title == "words that are no verdict"
        assert screen.run_id is not None
        (entry,) = queue.entries
        assert app.screen.claim is not None
        assert app.screen.claim.id == entry[1]


@pytest.mark.thorough
async def test_suspicious_first_is_a_convenience_order(
    broken: Path, make_app: Callable[[Path], FaithApp]
) -> None:
    app = make_app(broken)
    async with app.run_test(size=(120, 40)) as pilot:
        await looking(pilot)
        await press(pilot, "s")
        assert isinstance(app.screen, ReviewScreen)
        queue = app.session.claim_queue
        assert queue is not None
        assert (queue.title, queue.is_convenience, queue.sample) == ("suspicious first", True, None)
        assert len(queue.entries) > 1
        with Store.open(broken) as store:
            assert store.findings.list_suspicious_claims(queue.run) == queue.entries


@pytest.mark.thorough
async def test_entries_lead_to_their_conversation(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await looking(pilot)
        rows = text_of(app, "list").splitlines()
        at = next(i for i, row in enumerate(rows) if "windows that failed" in row)
        first = next(i for i, row in enumerate(rows) if "suspicious first" in row)
        await press(pilot, *["down"] * (at - first), "enter")
        assert isinstance(app.screen, PickDialog)
        assert "the judge gave no usable answer" in screen_text(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, ReviewScreen)
        assert app.session.claim_queue is None


@pytest.mark.thorough
async def test_entries_of_claims_begin_the_queue_there(
    broken: Path, make_app: Callable[[Path], FaithApp]
) -> None:
    app = make_app(broken)
    async with app.run_test(size=(120, 40)) as pilot:
        await looking(pilot)
        await press(pilot, "down", "l")
        assert isinstance(app.screen, PickDialog)
        await press(pilot, "enter")
        assert isinstance(app.screen, ReviewScreen)
        assert app.session.claim_queue is not None


# On a screen that is not drawn


class FakeIntegrityScreen(FakeScreen):
    """An integrity screen on the first run."""

    run_id = RunId(1)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.entries = FindingEntries(cast(IntegrityScreen, self))


async def test_what_nothing_is_known_against_is_no_queue(session: Session) -> None:
    screen = FakeIntegrityScreen(session)
    findings = session.store.findings
    clean = next(
        kind for kind in FindingKind if not findings.list_claims_with_finding(RunId(1), kind)
    )
    screen.entries.review_claims_with_findings(RunId(1), clean)
    await screen.settle()
    assert screen.message == "nothing is known against any claim of this run"
    assert session.claim_queue is None
    assert not screen.posted


async def test_suspicious_claims_are_a_queue_in_which_nobody_is_blind(session: Session) -> None:
    screen = FakeIntegrityScreen(session)
    session.set_judge_hidden(True)
    screen.entries.review_claims_with_findings(RunId(1), None)
    await screen.settle()
    queue = session.claim_queue
    assert queue is not None
    assert queue.reveals_judge
    assert queue.is_convenience
    assert not session.is_blind
    assert [each.screen for each in screen.posted if isinstance(each, ShowScreen)] == ["review"]


async def test_an_entry_without_a_claim_opens_its_answer_and_leaves_the_queue(
    session: Session,
) -> None:
    screen = FakeIntegrityScreen(session)
    findings = session.store.findings
    kind = next(
        kind
        for kind in FindingKind
        if (rows := findings.read_rows(findings.list_ids_of_kind(RunId(1), kind)))
        and rows[0].finding.claim is None
    )
    screen.entries.review_claims_with_findings(RunId(1), None)
    await screen.settle()
    screen.entries.load_and_offer_entries_of_kind(RunId(1), kind)
    await screen.settle()
    screen.input_queue.answer("0")
    row = findings.read_rows(findings.list_ids_of_kind(RunId(1), kind))[0]
    assert session.claim_queue is None
    assert (session.item, session.claim, session.turn) == (row.item, None, row.finding.turn)


def test_entries_in_view_are_known(session: Session) -> None:
    screen = FakeIntegrityScreen(session)
    findings = session.store.findings
    ids = [each for kind in FindingKind for each in findings.list_ids_of_kind(RunId(1), kind)]
    screen.entries.record_exposure(findings.read_rows(ids[:1]))
    assert len(session.exposed) == 1
