"""Populations as values, and whether intervals on samples of them hold their truth."""

import json

import pytest

from faithtui.agreement.population import Population, PopulationStratum
from faithtui.agreement.population_text import describe_population, describe_unmeasured_results
from tests.benchmarks.population_coverage import DESIGNS, Setting, simulate

POPULATION = Population(
    "s3://bucket/all",
    "abc",
    {"scored": 7, "failed": 2, "skipped": 1},
    6,
    {"windowed": 0.5, "pooled": None},
    4,
    ("yes", "no", "idk", None),
    ("verdict",),
    (PopulationStratum("judge no", ("no",), 3), PopulationStratum("judge yes", ("yes",), 2)),
    (((0, 4, 0, 0), (5, 0, 0, 1)), ((0, 1, 0, 0), (2, 0, 3, 0))),
    1,
)


def test_counts_are_summed_by_stratum_label_and_bundle() -> None:
    assert (
        POPULATION.claim_count,
        POPULATION.conversation_count,
        POPULATION.failed_conversation_count,
    ) == (16, 10, 2)
    assert POPULATION.claim_counts_by_stratum == (5, 11)
    cells = POPULATION.count_claims_by_stratum_and_label(("yes", "no"))
    assert cells.shape == (2, 3, 2)
    assert cells.sum(axis=2).tolist() == [[0, 5, 0], [7, 0, 4]]


def test_labels_that_are_read_as_one_are_counted_together() -> None:
    read = POPULATION.recode_labels({"yes": "faithful", "idk": "faithful", "no": "unfaithful"})
    assert read.count_claims_by_stratum_and_label(("faithful", "unfaithful")).sum(
        axis=(0, 2)
    ).tolist() == [10, 5, 1]


def test_failed_conversations_bound_a_share() -> None:
    low, high = POPULATION.bound_share_if_failed_judged(0.5)
    assert (low, high) == pytest.approx((0.4, 0.6))


def test_a_population_is_said_in_words() -> None:
    assert describe_population(POPULATION) == "16 claims of 6 conversations in s3://bucket/all"
    assert describe_unmeasured_results(POPULATION) == (
        "2 of 10 conversations (20.0%) could not be judged: no figure is about them.",
        "2 conversations have no claim.",
        "1 shard of the results was not whole when this was drawn, and is no part of it.",
    )


def test_a_population_is_written_and_read() -> None:
    assert Population.from_json(json.loads(json.dumps(POPULATION.to_json()))) == POPULATION


@pytest.mark.parametrize(
    "change",
    [
        {"counts": [[[1, 2]]]},
        {"judged": -1},
        {"strata": [{"name": "x"}]},
        {"labels": None},
        {"states": []},
        {"scores": {"windowed": "high"}},
        {"judged": 4.0},
        {"judged": True},
        {"passed": "3"},
        {"groups": -1},
        {"open_shards": -1},
        {"states": {"scored": -8}},
        {"digest": 5},
        {"labels": ["yes", 1, None]},
        {"stratified_by": "verdict"},
        {"strata": 2 * [{"name": "all", "values": [], "drawn": -1}]},
        {"strata": 2 * [{"name": "all", "values": [], "drawn": 1.5}]},
        {"strata": 2 * [{"name": "all", "values": "no", "drawn": 1}]},
    ],
)
def test_what_is_no_population_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="is no population"):
        Population.from_json({**POPULATION.to_json(), **change})


@pytest.mark.parametrize(
    ("design", "replications"),
    [
        ("stratified", 12),
        ("conversations", 12),
        *(pytest.param(each, 300, marks=pytest.mark.thorough) for each in DESIGNS),
    ],
)
def test_intervals_hold_the_truth_of_the_population(design: str, replications: int) -> None:
    """Of 12 intervals that hold the truth 95 times in 100, three miss it once in 300 tests."""
    setting = Setting(design, 0.1, 100, 1000)
    found = simulate(setting, replications)
    least = 0.75 if replications < 100 else 0.93
    for name in ("rate, this run", "percent", "recall", "kappa"):
        counted = found[name]
        assert counted.shown > 0.9 * replications, name
        assert counted.holds_run >= least * counted.shown, name
    future = found["rate, future"]
    assert future.holds_future >= least * future.shown
