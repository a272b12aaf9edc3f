"""What the list of runs says of a run beside its row."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from faithtui.agreement.labelled_units import DesignKind, LabelDesign
from faithtui.agreement.report.report import agreement_report
from faithtui.agreement.report.settings import ReportLevel
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.engine.review.reports import agreement_report as agreement_reports
from faithtui.engine.review.run_overview import compute_run_trust, count_verdicts_and_scores
from faithtui.store.records import LabelCount
from faithtui.store.store import Store
from tests.agreement.building import readings
from tests.agreement.report.test_report import LIVE, answer, claim, many
from tests.store.building import judged, make_conversation
from tests.tui.building import shop


def test_a_run_counts_its_verdicts_and_how_its_scores_lie(tmp_path: Path) -> None:
    run = shop(tmp_path / "shop.db")
    with Store.open(tmp_path / "shop.db") as store:
        judged(store, make_conversation("of another run"), {1: ["no"]})
        row = store.runs.read_run(run)
        counts = count_verdicts_and_scores(store, row)
        items = store.runs.read_item_rows(store.runs.list_item_ids(run))
        found = store.run_contents.count_windowed_scores(run)
    labels = [each.labels for each in items]
    assert counts.labels["no"] == LabelCount(
        sum(each.get("no", 0) for each in labels), sum("no" in each for each in labels)
    )
    assert counts.scored_conversation_count == row.scored
    scores = [None if each.scores is None else each.scores.windowed.value for each in items]
    assert found == Counter(each for each in scores if each is not None), "one row per score"
    assert counts.passed is not None
    assert 0 < counts.passed <= counts.scored_conversation_count


def test_trust_names_what_was_compared_and_what_is_to_be_settled(tmp_path: Path) -> None:
    run = shop(tmp_path / "shop.db")
    with Store.open(tmp_path / "shop.db") as store:
        before = compute_run_trust(store, run)
        view = store.runs.read_conversation_for_review(store.runs.list_item_ids(run)[0], "bo")
        for who, word in (("bo", "yes"), ("cy", "no")):
            store.label_log.append_label_event(
                view.claims[0].id,
                who,
                Action.BLIND,
                word,
                run=run,
                judge_verdict=None,
                saw_judge=False,
            )
        after = compute_run_trust(store, run)
    assert before.to_settle == 0
    assert after.to_settle == 1


def test_the_corrected_share_is_that_of_claims_where_kappa_is_of_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample of a few claims is drawn from a run whose answers came with ratings."""
    labelled = many({("yes", "yes"): 5, ("no", "yes"): 3}, groups=1)
    claims = [each._replace(position=number) for number, each in enumerate(labelled)]
    claims += [claim(8 + number, "yes", None, f"g{number}") for number in range(60)]
    answers = [answer(i, float(i % 3 > 0), "yes" if i % 4 else "no") for i in range(120)]
    units = readings(claims, answers, design=LabelDesign(DesignKind.SIMPLE, len(claims)))
    report = agreement_report(units, FAITHFULNESS, LIVE)
    assert report.primary_level_report.level is ReportLevel.ANSWERS
    found = SimpleNamespace(report=report)
    monkeypatch.setattr(agreement_reports, "compute_run_agreement", lambda *_: found)
    run = shop(tmp_path / "shop.db")
    with Store.open(tmp_path / "shop.db") as store:
        trust = compute_run_trust(store, run)
    assert trust.unit[0] == "answer"
    assert trust.corrected.value == pytest.approx(5 / 8)
