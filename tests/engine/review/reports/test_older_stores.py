"""The agreement of a run is the same after its store is upgraded from any earlier schema."""

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from faithtui.domain.ids import RunId
from faithtui.engine.review.reports.agreement_report import compute_run_agreement
from faithtui.store.store import Store

FIXTURES = Path(__file__).parents[4] / "fixtures" / "databases"
VERSIONS = sorted(int(path.stem[1:]) for path in FIXTURES.glob("v*.sqlite"))


class Figures(NamedTuple):
    """Figures of a report at the level of claims."""

    pairs: dict[tuple[str, str], int]
    """How often an annotator gave the first label and the judge the second."""
    percent_agreement: float
    cohen_kappa: float
    judge_pass_rate: float
    label_pass_rate: float


# Run 1 has three claims: the judge says yes, no and idk. Annotators have no label for the first
# (theirs is withdrawn), yes for the second and no for the third.
# agreement: 0 of 2. Chance: yes 1/2 x 0, no 1/2 x 1/2, idk 0 x 1/2, in all 1/4.
# kappa: (0 - 1/4) / (1 - 1/4) = -1/3. yes and idk pass: 2 of 3 verdicts, 1 of 2 labels.
THREE_CLAIMS = Figures({("yes", "no"): 1, ("no", "idk"): 1}, 0.0, -1 / 3, 2 / 3, 1 / 2)
# From version 14 on the file has a sample of run 1: its first two claims. Figures are of the label
# in it, yes where the judge says no. agreement: 0 of 1. Chance: yes 1 x 0, no 0 x 1, in all 0.
# kappa: (0 - 0) / (1 - 0) = 0. Passing: 2 of 3 verdicts as above, 1 of 1 label.
SAMPLE_OF_THREE = Figures({("yes", "no"): 1}, 0.0, 0.0, 2 / 3, 1.0)
# Run 2 has one statement: the judge says yes, the annotator no. Chance is 0, so kappa is 0.
# Only yes passes: 1 of 1 verdict, 0 of 1 label.
ONE_STATEMENT = Figures({("no", "yes"): 1}, 0.0, 0.0, 1.0, 0.0)
# Run 3 has two answers: the judge says no and yes, the annotator yes to the first. Chance is 0, so
# kappa is 0. Only yes passes: 1 of 2 verdicts, 1 of 1 label.
TWO_ANSWERS = Figures({("yes", "no"): 1}, 0.0, 0.0, 1 / 2, 1.0)


def list_expected_figures(version: int) -> dict[int, Figures]:
    """List the figures by run; runs of statements and answers came with the second schema."""
    first = {1: THREE_CLAIMS if version < 14 else SAMPLE_OF_THREE}
    return first if version == 1 else {**first, 2: ONE_STATEMENT, 3: TWO_ANSWERS}


def compute_figures(store: Store, run: RunId) -> Figures:
    claims = compute_run_agreement(store, run).report.claims
    table, rate = claims.agreement.table, claims.rate
    pairs = {
        (human, judge): count
        for human, row in zip(table.categories, table.counts, strict=True)
        for judge, count in zip(table.categories, row, strict=True)
        if count
    }
    estimates = (claims.percent_agreement, claims.cohen_kappa, rate.judge_raw, rate.label_mean)
    values = [each.value for each in estimates if each.value is not None]
    return Figures(pairs, *values)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_older_store_has_the_agreement_that_it_had(version: int, tmp_path: Path) -> None:
    path = tmp_path / "older.db"
    shutil.copy(FIXTURES / f"v{version}.sqlite", path)
    with Store.open(path) as store:
        labelled = sorted(row.id for row in store.runs.list_runs() if row.labelled)
        found = {int(run): compute_figures(store, run) for run in labelled}
    expected = list_expected_figures(version)
    assert found.keys() == expected.keys()
    for run, figures in expected.items():
        assert found[run].pairs == figures.pairs
        assert found[run][1:] == pytest.approx(figures[1:])
