"""Settling what people differ on: names and judges hidden, the final word, the table, the list."""

import unicodedata
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from faithtui.agreement.report.figures.rater_comparison import (
    ComparisonFilter,
    PairRow,
    RaterComparison,
    RaterFigures,
)
from faithtui.domain.estimates import Estimate, EstimateStatus
from faithtui.domain.ids import ClaimId, ItemId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.store.annotations.raters import RaterRecords
from faithtui.store.store import Store
from faithtui.tui.adjudication.adjudication_lines import format_rater_agreement_lines
from faithtui.tui.adjudication.adjudication_screen import AdjudicationScreen
from faithtui.tui.app import FaithApp
from faithtui.tui.metric_words import get_metric_spec
from faithtui.tui.review.guideline.guideline_dialog import GuidelineDialog
from faithtui.tui.screen.go_to_dialog import GoToDialog
from tests.tui.building import SPEC
from tests.tui.driving import calm, opened, press, screen_text, text_of, type_ahead
from tests.tui.test_hostile import ALL

DIFFER = {1: ("yes", "no"), 2: ("no", "x"), 4: ("idk", "no")}
"""What bo and zoe say about claims of the first conversation."""


def said(store: Store, item: ItemId) -> list[ClaimId]:
    return [each.id for each in store.runs.read_conversation_for_review(item, "ann").claims]


def words_of(app: FaithApp, pane: str) -> str:
    """Read a pane, however it is wrapped."""
    return " ".join(text_of(app, pane).split())


async def adjudicating(app: FaithApp) -> AdjudicationScreen:
    assert isinstance(app.screen, AdjudicationScreen)
    return app.screen


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


def test_a_figure_that_cannot_be_computed_says_why() -> None:
    none = Estimate(None, EstimateStatus.WITHHELD, 20, 5, WithheldReason.NO_VARIATION)
    raters = RaterComparison((), (), (PairRow("bo", "zoe", RaterFigures(none, none, none)),))
    nobody = cast(RaterRecords, SimpleNamespace(runs=()))
    lines = format_rater_agreement_lines(nobody, raters, get_metric_spec(SPEC), 80)
    assert lines[-1].text.endswith("20  none: they agree on all, or use one label")


@pytest.mark.thorough
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


async def test_an_empty_list_says_what_is_needed(store_path: Path, app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        text = screen_text(app)
        assert "two annotators must label" in " ".join(text.split())
        assert "faithtui merge" in words_of(app, "evidence")
        await press(pilot, "y")
        assert isinstance(app.screen, AdjudicationScreen)


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
        assert isinstance(app.screen, GoToDialog)
        assert "adjudicate" in screen_text(app)


async def test_hostile_names_and_notes_are_drawn_literally(store_path: Path, app: FaithApp) -> None:
    with Store.open(store_path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        claim = said(store, store.runs.list_item_ids(run)[0])[0]
        for number, text in enumerate(ALL):
            store.label_log.append_label_event(
                claim,
                f"{number}{text[:190]}",
                Action.BLIND,
                ("yes", "no")[number % 2],
                text[:100_000],
                run=run,
                judge_verdict=None,
                saw_judge=False,
            )
        store.guidelines.add_version("\n".join(ALL)[:1_000_000], (ALL[3] or "x")[:200])
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        text = screen_text(app)
        assert "1 to adjudicate" in text
        assert not any(unicodedata.category(each) in ("Cc", "Cf") for each in text if each != "\n")
        await press(pilot, "y")
        app.push_screen(GuidelineDialog(app.session, app.session.store.guidelines.list_versions()))
        await calm(pilot)
        text = screen_text(app)
        assert not any(unicodedata.category(each) in ("Cc", "Cf") for each in text if each != "\n")


async def test_both_annotators_words_stand_side_by_side_in_full(
    store_path: Path, app: FaithApp
) -> None:
    note = (
        "The passage says thirty days, and gold members get more; the rest is as it stands there."
    )
    with Store.open(store_path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        claim = said(store, store.runs.list_item_ids(run)[0])[0]
        for who, word, code in (("bo", "yes", None), ("zoe", "no", "retrieval")):
            store.label_log.append_label_event(
                claim,
                who,
                Action.BLIND,
                word,
                note,
                code=code,
                run=run,
                judge_verdict=None,
                saw_judge=False,
            )
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        lines = text_of(app, "decide").split("\n")
        assert "[a] A" in lines[0]
        assert "[b] B" in lines[0]
        assert "code: retrieval" in text_of(app, "decide")
        assert text_of(app, "decide").count("there.") == 2
        assert "return window is 30 days" in text_of(app, "evidence")
        assert any("┃>" in line for line in screen_text(app).splitlines()), "the chosen row"


async def test_the_table_of_raters_is_one_key_away(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "d")
        screen = await adjudicating(app)
        assert screen.query_one("#raters").has_focus
        await press(pilot, "d")
        assert screen.claims.has_focus


async def test_an_empty_list_gives_its_room_to_the_way_out(store_path: Path, app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        assert not app.screen.query_one("#decide").display
        assert "lists something else" in screen_text(app)
        assert screen_text(app).count("two annotators must label") == 1
        await press(pilot, "f")
        assert "equals the human label" not in screen_text(app), "there is none"
        assert "Nothing of this run has a human label yet." in screen_text(app)


async def test_keys_typed_before_the_list_is_read_are_about_its_first_claim(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        type_ahead(app, "g", "d", "e", "a", "b", "enter")
        await calm(pilot)
        screen = await adjudicating(app)
        assert screen.evidence.selection is not None
        assert "the note is kept" in screen_text(app)
        assert all(each.final is None for each in screen.listed_entries.values())


async def test_a_small_screen_has_a_passage_and_the_final_labels_in_view(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        shown = screen_text(app)
        assert "P1" in shown
        assert "[x] not fair" in shown
        assert "judges: " in shown, "not below the annotators' notes"


async def test_no_choice_of_the_final_label_is_broken_over_two_lines(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        lines = text_of(app, "decide").split("\n")
        for words in ("[y] supported", "[n] contradicted", "[i] not addressed", "[x] not fair"):
            assert any(words in line for line in lines), words
