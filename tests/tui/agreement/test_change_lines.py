"""What changed between two runs, as the app says it."""

from dataclasses import replace
from pathlib import Path

from faithtui.agreement.documents.figure_texts import INTERVALS_BESIDE_P
from faithtui.domain.ids import RunId
from faithtui.engine.review.reports.run_comparison import compare_runs
from faithtui.store.store import Store
from faithtui.tui.agreement.change_lines import format_run_comparison_lines
from tests.engine.review.reports.test_trend import doubted_set
from tests.store.building import FACTS, SPEC
from tests.store.runs.test_run_designs import judged_all, label


def test_runs_with_other_options_are_said_to_be_not_comparable(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        spec = replace(SPEC, rule=FACTS)
        first = judged_all(store, "abc", spec=spec)
        second = judged_all(store, "abc", spec=replace(spec, options={"window_size": 3}))
        claims = [each.claim for each in store.labelled_units.read_report_units(first).claims]
        label(store, first, claims, "no")
        change = compare_runs(store, first, second, "ann")
    text = " ".join(line.text.strip() for line in format_run_comparison_lines(change, 100))
    assert "window_size=3" in text
    assert (
        f"! scores of run {second} are not comparable with those of run {first}: other window_size"
        in " ".join(text.split())
    )


def test_labels_that_nothing_vouches_for_and_claims_drawn_in_view_are_counted(
    tmp_path: Path,
) -> None:
    with Store.open(doubted_set(tmp_path)) as store:
        change = compare_runs(store, RunId(1), RunId(2), "ann")
    change = replace(change, left_out=replace(change.left_out, audit=7), beyond_b=1_289)
    lines = format_run_comparison_lines(change, 100)
    text = " ".join(" ".join(each.text for each in lines).split())
    assert "! 2 of 30 compared claims rest on unverified labels, of a bundle without a" in text
    assert "! left out: 7 claims drawn to be labelled with a judge's verdict in view" in text
    assert "! match none of the claim set: 0 claims of A, 1,289 of B" in text
    assert INTERVALS_BESIDE_P in text
