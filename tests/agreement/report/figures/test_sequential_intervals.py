"""Intervals at every look, from the claims of a report."""

from dataclasses import replace

import numpy as np
import pytest

from faithtui.agreement.labelled_units import LabelState, Opinion
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.figures.sequential_intervals import make_confidence_sequences
from faithtui.agreement.report.model import ConfidenceSequences
from faithtui.agreement.sampling.confidence_sequences import bound_faithful_share, bound_recall
from faithtui.domain.labels.label_events import Action
from tests.benchmarks.coverage import RULE, Setting, draw_population, label_run
from tests.benchmarks.sequences import list_looks

SIMPLE = Setting("simple", 0.1, 60, 40)


def sequences(compared: ComparedClaims) -> ConfidenceSequences | None:
    return make_confidence_sequences(compared, RULE.passing)


def simulated(setting: Setting) -> ComparedClaims:
    return label_run(draw_population(setting, np.random.default_rng(3)), setting, 5)


def changed(compared: ComparedClaims, position: int, state: LabelState) -> ComparedClaims:
    """Take the label of one drawn claim away."""
    claims = [
        each._replace(human=None, state=state, reviewers=0) if each.position == position else each
        for each in compared.all.rows
    ]
    return ComparedClaims(claims, compared.labels, compared.design, compared.settings)


@pytest.mark.parametrize("design", ["simple", "stratified", "unfair"])
def test_they_are_counted_from_stratum_and_verdict_of_every_claim(design: str) -> None:
    setting = Setting(design, 0.1, 60, 40)
    population = draw_population(setting, np.random.default_rng(3))
    found = sequences(label_run(population, setting, 5))
    *_, (number, cells) = list_looks(population, setting, 5)
    assert found is not None
    assert (found.labels, found.later) == (number, 0)
    assert (found.rate, found.recall) == (bound_faithful_share(cells), bound_recall(cells))


def test_labels_count_up_to_the_first_claim_that_waits() -> None:
    found = sequences(changed(simulated(SIMPLE), 40, LabelState.UNREVIEWED))
    assert found is not None
    assert (found.labels, found.later) == (40, 19)


def test_a_skipped_claim_may_be_anything() -> None:
    before, found = (
        sequences(each)
        for each in (simulated(SIMPLE), changed(simulated(SIMPLE), 40, LabelState.SKIPPED))
    )
    assert before is not None
    assert found is not None
    assert (found.labels, found.later) == (59, 0)
    assert found.rate[0] <= before.rate[0]
    assert before.rate[1] <= found.rate[1]
    assert found.recall[0] <= before.recall[0]
    assert before.recall[1] <= found.recall[1]


def test_a_tie_may_be_anything() -> None:
    """The store gives it the more severe label."""
    before = simulated(SIMPLE)
    said = [Opinion(name, word, Action.BLIND, True) for name, word in (("a", "yes"), ("b", "no"))]
    claims = [
        each._replace(human="no", reviewers=2, opinions=tuple(said)) if each.position == 7 else each
        for each in before.all.rows
    ]
    tied = sequences(ComparedClaims(claims, before.labels, before.design, before.settings))
    skipped = sequences(changed(before, 7, LabelState.SKIPPED))
    assert tied is not None
    assert skipped is not None
    assert (tied.rate, tied.recall) == (skipped.rate, skipped.recall)


def test_there_are_none_without_an_order_of_claims() -> None:
    assert sequences(simulated(Setting("conversations", 0.1, 60, 40))) is None
    waiting = changed(simulated(SIMPLE), 0, LabelState.UNREVIEWED)
    assert sequences(waiting) is None


def test_there_are_none_where_the_run_judged_more_since() -> None:
    drawn = simulated(SIMPLE)
    more = (*drawn.all.rows, drawn.all.rows[0]._replace(position=None))
    assert sequences(ComparedClaims(more, drawn.labels, drawn.design, drawn.settings)) is None


def test_there_are_none_where_the_run_has_claims_that_could_not_be_drawn() -> None:
    """Those may all pass or fail, and the sequence would speak of the others as of the run."""
    compared = simulated(SIMPLE)
    assert sequences(compared) is not None
    design = replace(compared.design, beyond=3)
    rows, labels = compared.all.rows, compared.labels
    assert sequences(ComparedClaims(rows, labels, design, compared.settings)) is None
