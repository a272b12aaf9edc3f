"""Notes that go with a final label."""

from pathlib import Path

from textual.widgets import Input

from faithtui.domain.annotations import Action
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from tests.tui.adjudication.test_adjudication_screen import adjudicating
from tests.tui.driving import opened, press, text_of


async def test_a_note_goes_with_the_final_word(differing: Path, app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "e")
        screen = await adjudicating(app)
        screen.query_one("#note", Input).value = "rule 3: fees count"
        await press(pilot, "enter", "n", "k")
        assert "rule 3: fees count" in text_of(app, "decide")
        await press(pilot, "e")
        assert screen.query_one("#note", Input).value == "rule 3: fees count"
        await press(pilot, "escape")
        assert screen.focused is screen.claims
        screen.query_one("#note", Input).value = ""
        await press(pilot, "e")
        screen.query_one("#note", Input).value = "another"
        await press(pilot, "enter")
        assert "another" in text_of(app, "decide")
        with Store.open(differing) as store:
            acts = store.bundles.collect(reviewers=["ann"]).acts
        assert [(act.action, act.verdict, act.note) for act in acts] == [
            (Action.ADJUDICATED, "no", "rule 3: fees count"),
            (Action.ADJUDICATED, "no", "another"),
        ]
