"""`faithtui run --claims`: another judge on claims that are there already."""

from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_planner import save_planned_run
from faithtui.store.store import Store
from tests.cli.conftest import Cli
from tests.engine.building import conversation


def claims_of(store: Store, run: int) -> set[int]:
    return {each.claim for each in store.labelled_units.read_report_units(RunId(run)).claims}


def test_another_judge_judges_the_claims_of_an_earlier_run(cli: Cli, judged: Path) -> None:
    with Store.open(judged) as store:
        store.conversations.import_batch([conversation("late", 1)])
    for words in ((), ("--metric", "ragas-faithfulness")):
        ran = cli("run", "--claims", "run:1", *words, "--store", judged)
        assert ran.code == 0, ran.err
        newest = cli("runs", "--store", judged, "--json").json[0]
        assert newest["claims_from"] == "run"
        assert newest["conversations"] == 2  # none that run 1 did not judge
        with Store.open(judged) as store:
            assert store.runs.read_run(RunId(newest["run"])).spec.claims_run == 1
            assert claims_of(store, newest["run"]) == claims_of(store, 1)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--claims", "run:9"), 4, "there is no run 9"),
        (("--claims", "run:x"), 2, "`x` is no run"),
        (("--claims", "run"), 2, "expected extracted, own, imported, run:N or set:NAME"),
        (("--claims", "run:1", "--metric", "all"), 2, "judges statements, not claims"),
        (("--claims", "run:1", "--metric", "llamaindex-faithfulness"), 2, "not claims of answers"),
        (("--claims", "run:1", "--source", "other"), 2, "run 1 has no conversation that is asked"),
        (("--claims", "run:2"), 2, "has not judged 3 of its conversations"),
    ],
)
def test_claims_that_cannot_be_judged_are_refused_before_anything_is_planned(
    cli: Cli, judged: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    with Store.open(judged) as store:
        store.conversations.import_batch([replace(conversation("late", 1), source="other")])
        save_planned_run(store, RunRequest(), environ={})
    refused = cli("run", *words, "--store", judged)
    assert (refused.code, message in refused.err) == (code, True), refused.err
    with Store.open(judged) as store:
        assert len(store.runs.list_runs()) == 2
