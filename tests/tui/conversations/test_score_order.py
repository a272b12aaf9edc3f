"""The score that a row shows, in the order of the judge's scores and in another one."""

from dataclasses import replace
from pathlib import Path

from faithtui.domain.filters import Filter
from faithtui.metrics.registry import find_metric
from faithtui.store.store import Store
from faithtui.tui.conversations.conversation_lines import RowOptions, format_conversation_row
from tests.tui.building import shop


def test_a_row_shows_the_score_that_the_rows_are_in_the_order_of(tmp_path: Path) -> None:
    run = shop(tmp_path / "shop.db")
    with Store.open(tmp_path / "shop.db") as store:
        spec = store.runs.read_run(run).spec
        rows = store.runs.read_items_with_list_marks(store.runs.list_item_ids(run, "score"), "ann")
    known = [each for each in rows if each.scores and each.scores.windowed.value is not None]
    lowest, highest = known[0].scores, known[-1].scores
    assert lowest is not None
    assert highest is not None
    changed = replace(known[0], corrected=highest)
    judge, labels = f"{lowest.windowed.value:.2f}", f"{highest.windowed.value:.2f}"
    assert judge != labels
    options = RowOptions(find_metric(spec.metric).spec, spec.rule, False, Filter())
    assert f"*{labels}" in format_conversation_row(changed, options, 118, False).text
    in_its_order = replace(options, judge_scores=True)
    said = format_conversation_row(changed, in_its_order, 118, False).text
    assert f" {judge}" in said
    assert "*" not in said
