"""Settling what people differ on: names and judges hidden, the final word, the table, the list."""

import unicodedata
from pathlib import Path

import pytest
from textual.widgets import Input

from faithtui.agreement.report.raters import ComparisonFilter, order_anonymously
from faithtui.domain.annotations import Action
from faithtui.domain.ids import ClaimId, ItemId
from faithtui.store.store import Store
from faithtui.tui.adjudication.adjudication_screen import AdjudicateScreen
from faithtui.tui.app import FaithApp
from faithtui.tui.review.guideline import GuidelineDialog
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.screen.dialogs import GoDialog
from tests.tui.driving import calm, opened, press, screen_text, status, text_of, title
from tests.tui.test_hostile import ALL

DIFFER = {1: ("yes", "no"), 2: ("no", "x"), 4: ("idk", "no")}
"""What bo and zoe say about claims of the first conversation."""


def said(store: Store, item: ItemId) -> list[ClaimId]:
    return [each.id for each in store.runs.review_view(item, "ann").claims]


@pytest.fixture
def differing(store_path: Path) -> Path:
    """Bo and zoe agree on one claim and differ on three."""
    with Store.open(store_path) as store:
        run = store.runs.last_id()
        assert run is not None
        claims = said(store, store.runs.item_ids(run)[0])
        for place, words in {0: ("yes", "yes"), **DIFFER}.items():
            for who, word in zip(("bo", "zoe"), words, strict=True):
                store.reviews.record(
                    claims[place],
                    who,
                    Action.BLIND,
                    word,
                    f"said of [b]{place}[/b]",
                    run=run,
                    judge_verdict=None,
                    saw_judge=False,
                    code="policy",
                )
    return store_path


def words_of(app: FaithApp, pane: str) -> str:
    """Read a pane, however it is wrapped."""
    return " ".join(text_of(app, pane).split())


async def adjudicating(app: FaithApp) -> AdjudicateScreen:
    assert isinstance(app.screen, AdjudicateScreen)
    return app.screen


async def test_what_people_differ_on_is_settled_key_by_key(differing: Path, app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        assert "3 to adjudicate" in title(app)
        claims = list(screen.listed_entries)
        assert len(claims) == 3
        await press(pilot, "a", "n", "x")
        assert "0 to adjudicate" in title(app)
        assert "final 3/3" in title(app)
        with Store.open(differing) as store:
            run = store.runs.last_id()
            assert run is not None
            found = {each.claim: each for each in store.raters.read_rater_records(run).claims}
        finals = [found[each].final for each in claims]
        first = screen.listed_entries[claims[0]]
        assert [each.verdict for each in finals if each is not None] == [
            order_anonymously(first)[0].verdict,
            "no",
            "x",
        ]
        assert {each.reviewer for each in finals if each is not None} == {"ann"}
        # What they said before is still there, whoever settles it.
        assert [each.reviewer for each in found[claims[0]].opinions] == ["bo", "zoe"]


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40), (200, 60)])
async def test_names_and_judges_are_nowhere_until_it_is_settled(
    differing: Path, app: FaithApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        chosen = screen.reader.selection
        assert chosen is not None
        judge = screen.compared.runs[0].id if screen.compared else None
        assert judge is not None
        # Nothing of the judge is in what the panes draw from.
        assert all(
            (verdict.label, verdict.reason, verdict.confidence) == (None, None, None)
            for claim in chosen.view.claims
            for verdict in claim.verdicts
        )
        assert all(not each.others and each.mine is None for each in chosen.view.claims)
        text = words_of(app, "decide") + words_of(app, "evidence")
        for word in ("bo ", "zoe", "P1 names a fee", "0.12"):
            assert word not in text
        assert "hidden until you decide" in text
        assert "? help" in screen_text(app)
        await press(pilot, "y", "k")
        assert "hidden until you decide" not in words_of(app, "decide")


async def test_undo_goes_back_to_the_claim_and_redo_too(differing: Path, app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        await press(pilot, "y")
        assert screen.claims.cursor == 1
        await press(pilot, "u")
        assert "undone: YES supported" in status(app)
        assert screen.claims.cursor == 0
        assert "3 to adjudicate" in title(app)
        await press(pilot, "ctrl+r")
        assert "2 to adjudicate" in title(app)
        await press(pilot, "u", "u")
        assert "nothing to be undone" in status(app)


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


async def test_later_flags_and_goes_on(differing: Path, app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "s")
        screen = await adjudicating(app)
        assert screen.claims.cursor == 1
        first = next(iter(screen.listed_entries.values()))
        assert first.flagged
        assert first.is_open
        await press(pilot, "k", "s")
        assert not next(iter(screen.listed_entries.values())).flagged


async def test_the_table_names_raters_and_says_when_there_is_too_little(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        table = text_of(app, "raters")
        assert "bo / zoe" in table
        assert "bo vs the others" in table
        assert "too few" in table


async def test_the_list_can_be_another(differing: Path, app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        screen = await adjudicating(app)
        # Where the judge and the final word differ is not told before there is one.
        await press(pilot, "f")
        assert screen.filter is ComparisonFilter.FINAL
        assert list(screen.listed_entries) == []
        await press(pilot, "f")
        assert "Needed: another run" in screen_text(app)
        await press(pilot, "f", "i", "i", "i", "f")
        assert screen.filter is ComparisonFilter.FINAL
        assert screen.listed_entries


async def test_enter_opens_a_settled_claim_in_review_and_no_other(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "enter")
        assert "settle the claim first" in status(app)
        await press(pilot, "y", "k", "enter")
        assert isinstance(app.screen, ReviewScreen)


async def test_an_empty_list_says_what_is_needed(store_path: Path, app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        text = screen_text(app)
        assert "Needed: two annotators" in text
        assert "faithtui merge" in words_of(app, "decide")
        await press(pilot, "y")
        assert isinstance(app.screen, AdjudicateScreen)


async def test_a_store_without_runs_says_so(tmp_path: Path, app: FaithApp) -> None:
    path = tmp_path / "empty.db"
    Store.open(path).close()
    empty = FaithApp(path, reviewer="ann", first_screen="adjudicate")
    async with empty.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        assert "There is no run yet" in screen_text(empty)


async def test_going_there_has_a_letter(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("g")
        await calm(pilot)
        assert isinstance(app.screen, GoDialog)
        assert "adjudicate" in screen_text(app)


async def test_hostile_names_and_notes_are_drawn_literally(store_path: Path, app: FaithApp) -> None:
    with Store.open(store_path) as store:
        run = store.runs.last_id()
        assert run is not None
        claim = said(store, store.runs.item_ids(run)[0])[0]
        for number, text in enumerate(ALL):
            store.reviews.record(
                claim,
                f"{number}{text[:190]}",
                Action.BLIND,
                ("yes", "no")[number % 2],
                text[:100_000],
                run=run,
                judge_verdict=None,
                saw_judge=False,
            )
        store.guidelines.set("\n".join(ALL)[:1_000_000], (ALL[3] or "x")[:200])
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        text = screen_text(app)
        assert "1 to adjudicate" in text
        assert not any(unicodedata.category(each) in ("Cc", "Cf") for each in text if each != "\n")
        await press(pilot, "y")
        app.push_screen(GuidelineDialog(app.session, app.session.store.guidelines.versions()))
        await calm(pilot)
        text = screen_text(app)
        assert not any(unicodedata.category(each) in ("Cc", "Cf") for each in text if each != "\n")
