"""`E`: evidence marked by hand, saved at once, shown, and taken back."""

from pathlib import Path

import pytest

from faithtui.domain.labels.label_events import Action
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.review.evidence.evidence_marks import EvidenceDialog
from faithtui.tui.review.review_screen import ReviewScreen
from tests.tui.driving import calm, press, reviewing, status, stored, text_of


def marked(path: Path) -> list[str]:
    """Give what ann marked for the first claim, as texts."""
    view = stored(path)
    mine = view.claims[0].mine
    texts = {each.hash: each.text for turn in view.turns for each in turn.documents or ()}
    marks = () if mine is None else mine.evidence
    return [texts[each.document][each.start : each.end] for each in marks]


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_words_are_marked_shown_and_taken_back(
    app: FaithApp, store_path: Path, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        screen = await reviewing(pilot)
        claim = screen.claim
        assert claim is not None
        await press(pilot, "E")
        assert isinstance(app.screen, EvidenceDialog)
        await press(pilot, "home", "space", "right", "enter")
        first = marked(store_path)
        assert len(first) == 1
        assert len(first[0].split()) == 2
        await press(pilot, "right", "right", "right", "enter", "escape")
        assert isinstance(app.screen, ReviewScreen)
        assert "2 stretches marked as evidence for claim 1" in status(app)
        assert "{marked}" in text_of(app, "evidence")
        shown = text_of(app, "evidence").replace("«", "").replace("»", "")
        assert f"{{{first[0]}}}" in shown
        assert len(marked(store_path)) == 2
        assert screen.claim is not None
        assert screen.claim.id == claim.id, "marking goes nowhere"
        await press(pilot, "u")
        assert "marked evidence on claim 1" in status(app)
        assert marked(store_path) == first
        await press(pilot, "E", "home", "space", "right", "enter", "E")
        assert marked(store_path) == [], "what is marked is marked no longer"
        assert "no evidence marked" in status(app)
    with Store.open(store_path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        assert store.runs.read_run(run).labelled == stored(store_path).run.labelled
        kept = [act for act in store.bundles.make_label_bundle(reviewers=["ann"]).acts]
        assert {act.action for act in kept} == {Action.EVIDENCE, Action.WITHDRAWN}


@pytest.mark.thorough
async def test_another_passage_is_marked_too(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await reviewing(pilot)
        assert screen.review_state is not None
        count = len(screen.review_state.passages)
        assert count > 1
        await press(pilot, "E", "enter", "]", "enter", "[", "escape")
        view = stored(store_path)
        mine = view.claims[0].mine
        assert mine is not None
        assert len({each.document for each in mine.evidence}) == 2


@pytest.mark.thorough
async def test_a_verdict_keeps_the_marks(app: FaithApp, store_path: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await reviewing(pilot)
        await press(pilot, "E", "enter", "escape", "y")
        await calm(pilot)
        mine = stored(store_path).claims[0].mine
        assert mine is not None
        assert (mine.verdict, len(mine.evidence)) == ("yes", 1)


@pytest.mark.thorough
async def test_verdict_keys_do_nothing_while_words_are_marked(
    app: FaithApp, store_path: Path
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await reviewing(pilot)
        await press(pilot, "E", "y", "n", "x", "escape")
        assert stored(store_path).claims[0].mine is None
