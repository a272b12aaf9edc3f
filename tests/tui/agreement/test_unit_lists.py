"""What figures of the agreement screen count: lists of claims, each opened in review."""

from pathlib import Path
from typing import cast

import pytest

from faithtui.agreement.report.settings import ReportLevel, ReportSettings
from faithtui.domain.ids import RunId
from faithtui.engine.review.reports.agreement_report import compute_run_agreement
from faithtui.tui.agreement.agreement_screen import AgreementScreen
from faithtui.tui.agreement.unit_lists import UnitLists
from faithtui.tui.app import FaithApp
from faithtui.tui.messages import ShowScreen
from faithtui.tui.metric_words import get_metric_spec
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.screen.dialogs import (
    PickDialog,
)
from faithtui.tui.session import Session
from tests.tui.driving import calm, opened, press, text_of, until
from tests.tui.fake_screens import FakeScreen
from tests.tui.test_screens import SIZE, labelled


@pytest.mark.thorough
async def test_a_cell_of_the_matrix_lists_its_claims_and_opens_one(
    app: FaithApp, store_path: Path
) -> None:
    labelled(store_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "a")
        screen = app.screen
        assert isinstance(screen, AgreementScreen)
        screen.matrix.focus()
        await press(pilot, "down")
        assert screen.matrix.cell == (1, 0)
        await press(pilot, "enter")
        assert isinstance(app.screen, PickDialog)
        assert "Members get 45 days." in text_of(app, "text")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        await calm(pilot)
        review = app.screen
        assert isinstance(review, ReviewScreen)
        assert review.claim is not None
        assert review.claim.text == "Members get 45 days."


async def test_a_disagreement_opens_in_review(app: FaithApp, store_path: Path) -> None:
    labelled(store_path)
    async with app.run_test(size=SIZE) as pilot:
        await opened(pilot)
        await press(pilot, "a")
        app.screen.query_one("#differences").focus()
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))


# On a screen that is not drawn


class FakeAgreementScreen(FakeScreen):
    """An agreement screen with the figures of the first run."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        session.switch_run(RunId(1))
        self.agreement = compute_run_agreement(session.store, RunId(1), ReportSettings())
        self.level = ReportLevel.CLAIMS
        self.spec = get_metric_spec(self.agreement.row.spec)
        self.units = UnitLists(cast(AgreementScreen, self))


async def test_a_cell_lists_what_it_counts_and_the_row_that_is_chosen_opens(
    session: Session, store_path: Path
) -> None:
    labelled(store_path)
    screen = FakeAgreementScreen(session)
    names = [*screen.spec.labels.names]
    screen.units.open_list_of_cell_units(names.index("no"), names.index("yes"))
    (listed,) = screen.input_queue.windows
    assert listed._title == "judge yes, human no: 1 claim"
    screen.input_queue.answer("0")
    await screen.settle()
    assert session.item == session.store.runs.list_item_ids(RunId(1))[0]
    assert (
        session.claim
        == session.store.runs.read_conversation_for_review(session.item, "ann").claims[1].id
    )
    assert [each.screen for each in screen.posted if isinstance(each, ShowScreen)] == ["review"]


def test_an_empty_cell_and_blind_work_open_no_list(session: Session, store_path: Path) -> None:
    labelled(store_path)
    screen = FakeAgreementScreen(session)
    names = [*screen.spec.labels.names]
    screen.units.open_list_of_cell_units(names.index("yes"), names.index("no"))
    assert screen.message == "no claim in this cell"
    session.set_judge_hidden(True)
    screen.units.open_list_of_cell_units(names.index("no"), names.index("yes"))
    screen.units.open_disagreement_in_review(0)
    assert screen.message == "the list would show the judge's verdicts: g v, then B ends blind work"
    assert screen.app.bells == 2
    assert not screen.input_queue.windows


def test_only_differences_that_were_in_view_are_known_and_none_while_blind(
    session: Session, store_path: Path
) -> None:
    labelled(store_path)
    screen = FakeAgreementScreen(session)
    session.set_judge_hidden(True)
    screen.units.record_exposure_to_disagreements([0])
    assert not session.exposed
    session.set_judge_hidden(False)
    screen.units.record_exposure_to_disagreements([7])
    assert not session.exposed, "there is no such row"
    screen.units.record_exposure_to_disagreements([0])
    assert [kind for _, kind, _ in session.exposed] == ["conversation of 1"]
