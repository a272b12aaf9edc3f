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
    order_opinions_anonymously,
)
from faithtui.domain.estimates import Estimate, EstimateMethod, EstimateStatus
from faithtui.domain.ids import ClaimId, ItemId, RunId
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
    assert lines[-1].text.endswith("20  none: they agree on all, or one uses one label")


def test_three_signs_leave_the_interval_whole() -> None:
    kappa = Estimate(
        -0.421, EstimateStatus.OK, 20, 5, None, -0.803, -0.021, 0.95, EstimateMethod.JACKKNIFE
    )
    raters = RaterComparison((), (), (PairRow("bo", "zoe", RaterFigures(kappa, kappa, kappa)),))
    nobody = cast(RaterRecords, SimpleNamespace(runs=()))
    lines = format_rater_agreement_lines(nobody, raters, get_metric_spec(SPEC), 80)
    assert "  -0.42 [-0.80, -0.02] -0.421" in lines[-1].text


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
        assert "f lists claims on which the judge differs" in screen_text(app)
        assert screen_text(app).count("two annotators must label") == 1
        await press(pilot, "f")
        assert "equals the human label" not in screen_text(app), "there is none"
        assert "Nothing of this run has a human label yet." in screen_text(app)


def _label(store_path: Path, *labels: tuple[int, str, str]) -> None:
    """Let annotators label claims of the first conversation: place, annotator, label."""
    with Store.open(store_path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        claims = said(store, store.runs.list_item_ids(run)[0])
        for place, who, word in labels:
            store.label_log.append_label_event(
                claims[place],
                who,
                Action.BLIND,
                word,
                run=run,
                judge_verdict=None,
                saw_judge=False,
            )


@pytest.mark.parametrize(
    ("labels", "why", "step"),
    [
        ((), "must label the same claims. So far nobody has labelled any.", "--reviewer NAME"),
        (
            ((0, "bo", "yes"),),
            "must label the same claims. So far one annotator has labelled any.",
            "--reviewer NAME",
        ),
        (
            ((0, "bo", "yes"), (1, "zoe", "no")),
            "no claim has labels of two annotators. 2 annotators have labelled, each something",
            "faithtui --reviewer NAME",
        ),
        (
            ((0, "bo", "yes"), (0, "zoe", "yes"), (1, "zoe", "no")),
            "1 claim has labels of two annotators or more, who differ on none.",
            "g u draws more to label.",
        ),
    ],
)
async def test_an_empty_list_says_whether_anybody_labelled_the_same_claims(
    store_path: Path, app: FaithApp, labels: tuple[tuple[int, str, str], ...], why: str, step: str
) -> None:
    _label(store_path, *labels)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        assert why in " ".join(screen_text(app).replace("┃", " ").split())
        assert step in words_of(app, "evidence")
        assert "f lists claims on which the judge differs" in words_of(app, "evidence")
        footer = screen_text(app).splitlines()[-2:]
        assert not any("undo" in line or "redo" in line for line in footer)


async def test_an_empty_list_offers_undo_of_what_was_decided_in_another_one(
    differing: Path, app: FaithApp
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d", "y", "f", "f")
        screen = await adjudicating(app)
        assert not screen.listed_entries
        assert any("undo" in line for line in screen_text(app).splitlines()[-2:])


@pytest.mark.parametrize("size", [(80, 19), (80, 24), (120, 40)])
async def test_the_label_of_a_third_annotator_has_the_key_that_gives_it(
    store_path: Path, app: FaithApp, size: tuple[int, int]
) -> None:
    _label(store_path, (1, "bo", "yes"), (1, "mia", "idk"), (1, "zoe", "no"))
    with Store.open(store_path) as store:
        records = store.raters.read_rater_records(RunId(1))
        third = order_opinions_anonymously(records.claims[0])[2]
    key = {"yes": "y", "no": "n", "idk": "i"}[third.verdict or ""]
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await press(pilot, "g", "d")
        assert (f"[{key}] take C" if size[1] == 19 else f"[{key}] C ") in text_of(app, "decide")
        await press(pilot, key)
        screen = await adjudicating(app)
        final = screen.listed_entries[third.claim].final
        assert final is not None
        assert final.verdict == third.verdict


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
