"""Options of runs beside their scores, which are not comparable where options differ."""

from dataclasses import replace
from pathlib import Path

from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.store.building import SPEC
from tests.store.runs.test_run_designs import judged_all


def test_runs_with_other_options_are_told_apart(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "options.db"
    strict = {**SPEC.options, "penalize_ambiguous_claims": True}
    with Store.open(path) as store:
        first = judged_all(store, "ab")
        judged_all(store, "ab", spec=replace(SPEC, options=strict))
        other_metric = replace(SPEC, metric="ragas-faithfulness", options={})
        judged_all(store, "ab", spec=other_metric)
        for claim in store.labelled_units.read_claim_units(first):
            store.label_log.record_verdict(claim.claim, "ann", "yes", run=first, saw_judge=False)
    told = "scores of run 2 are not comparable with those of run 1: other penalize_ambiguous_claims"
    found = cli("runs", "--store", path)
    assert "penalize_ambiguous_claims=true" in found.out
    assert [line for line in found.err.splitlines() if "comparable" in line] == [told]
    compared = cli("compare", "1", "2", "--store", path)
    assert "penalize_ambiguous_claims=true" in compared.out
    assert told in compared.out
