"""Marked evidence and claim extraction on the agreement screen."""

from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.agreement.labelled_units import EvidenceUnit, ExtractionUnit
from faithtui.agreement.report.figures.marked_evidence import (
    compute_evidence_overlap,
    compute_extraction_recall,
)
from faithtui.agreement.report.model import AgreementReport
from faithtui.agreement.report.report import agreement_report
from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.labels.label_events import Action, MarkedPassage
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.engine.review.missed_claims import add_missed_claim, mark_answer_complete
from faithtui.store.store import Store
from faithtui.tui.agreement.marked_lines import format_evidence_and_recall_lines
from faithtui.tui.app import FaithApp
from faithtui.tui.widgets.scroll_pane import Pane
from tests.agreement.building import readings
from tests.agreement.report.test_parts import RULE
from tests.tui.agreement.test_agreement_screen import agreeing
from tests.tui.driving import press, screen_text, text_of
from tests.tui.test_screens import labelled


def mark_something(path: Path) -> None:
    """Let annotators mark evidence of three claims, and declare two answers complete."""
    with Store.open(path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        items = store.runs.list_item_ids(run)
        for number, item in enumerate(items[:2]):
            view = store.runs.read_conversation_for_review(item, "bo")
            passage = next(each for turn in view.turns for each in turn.documents or ())
            for claim in view.claims[: 2 - number]:
                store.label_log.append_label_event(
                    claim.id, "bo", Action.EVIDENCE, run=run, judge_verdict=None, saw_judge=False,
                    evidence=[MarkedPassage(passage.hash, 0, 20)],
                )  # fmt: skip
            turn = view.claims[0].turn
            assert turn is not None
            mark_answer_complete(store, run, item, turn, reviewer="bo", complete=True)
        view = store.runs.read_conversation_for_review(items[0], "bo")
        turn = view.claims[0].turn
        assert turn is not None
        add_missed_claim(store, run, items[0], turn, "It was missed.", reviewer="bo")


def empty_report() -> AgreementReport:
    report = agreement_report(readings([]), FAITHFULNESS, RULE)
    assert report.evidence is None
    assert report.extraction is None
    return report


def text_with(report: AgreementReport, width: int = 60) -> str:
    lines = format_evidence_and_recall_lines(report, width)
    assert all(len(line.text) <= width for line in lines)
    return " ".join(" ".join(line.text.split()) for line in lines)


def test_nothing_marked_is_said_in_a_sentence() -> None:
    assert text_with(empty_report()) == "no evidence is marked, and no answer is declared complete"


@pytest.mark.parametrize("width", [30, 60, 90])
def test_figures_stand_with_intervals_or_with_the_reason_why_there_is_none(width: int) -> None:
    units = [
        EvidenceUnit(ClaimId(number), f"g{number}", "ann", frozenset([("d", 0), ("d", number)]),
                     frozenset([("d", 0)]) if number % 3 else frozenset())
        for number in range(1, 31)
    ]  # fmt: skip
    few = [ExtractionUnit(ConversationId(1), "g1", 1, 3, 1, 2, 2, ("ann",))]
    report = replace(
        empty_report(),
        evidence=compute_evidence_overlap(units, 0.95),
        extraction=compute_extraction_recall(few, 0.95),
    )
    words = text_with(report, width)
    assert "evidence · 30 claims marked" in words
    assert "words that 1 annotator marked" in words
    for name in ("precision 0.667 [", "recall 0.333 [", "F1 0.444 [", "IoU 0.333 ["):
        assert name in words
    assert "for 10 claims the judge points at nothing: 0 in every figure" in words
    extraction = words.partition("extraction · 1 complete answer recall ")[2].partition("n=")[0]
    assert extraction.startswith("0.6")
    assert "[" not in extraction
    assert "(" in extraction
    assert "labelled x left out" in words
    assert "without a label counted as fair" in words


@pytest.mark.parametrize(
    ("size", "pane"), [((80, 24), "rate"), ((120, 40), "marked"), ((200, 60), "marked")]
)
async def test_marks_have_a_place_where_there_are_any(
    app: FaithApp, store_path: Path, size: tuple[int, int], pane: str
) -> None:
    labelled(store_path)
    mark_something(store_path)
    async with app.run_test(size=size) as pilot:
        screen = await agreeing(pilot)
        assert screen.query_one(f"#{pane}", Pane).region.height > 2
        assert "evidence · " in text_of(app, pane)
        assert "declared complete" in " ".join(text_of(app, pane).split())
        await press(pilot, "7")
        assert "Evidence and extraction" in screen_text(app)
        assert "declared complete, the judge extracted" in " ".join(text_of(app, "marked").split())


async def test_without_marks_they_have_none(app: FaithApp, store_path: Path) -> None:
    labelled(store_path)
    async with app.run_test(size=(200, 60)) as pilot:
        await agreeing(pilot)
        assert "Evidence and extraction" not in screen_text(app)
        assert "no evidence is marked" not in screen_text(app)
