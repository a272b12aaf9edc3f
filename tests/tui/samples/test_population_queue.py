"""The queue of a sample of results: it says what it stands for, and draws nothing more here."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from faithtui.agreement.population import Population, PopulationStratum
from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign, Stratum
from faithtui.domain.ids import RunId, SampleId
from faithtui.engine.review.samples.sample_queues import QueueProgress
from faithtui.store.samples.sample_records import SampleRow
from faithtui.tui.samples.queues_screen import can_extend
from faithtui.tui.samples.sample_lines import describe_labels_needed, queue_detail_lines

POPULATION = Population(
    "s3://bucket/[red]all\x1b[31m",
    "abc",
    {"scored": 90, "failed": 10},
    90,
    {},
    80,
    ("yes", "no", None),
    (),
    (PopulationStratum("", (), 2),),
    (((300, 20, 0),),),
)
ROW = SampleRow(
    SampleId(1),
    "uid",
    "simple random",
    SampleKind.SAMPLE,
    RunId(1),
    "ann",
    SamplingDesign.SIMPLE,
    (),
    1,
    blind=True,
    shown_share=0.0,
    frame=320,
    strata=(Stratum("", 320, 2),),
    created_at=datetime(2026, 1, 2, tzinfo=UTC),
    closed_at=None,
    decision=None,
    size=2,
    answered_claims=frozenset(),
    skipped_claims=frozenset(),
    pace_s=None,
    population=POPULATION,
)


def test_a_queue_says_which_population_it_stands_for() -> None:
    lines = queue_detail_lines(ROW, (), None, 100)
    text = "\n".join(line.text for line in lines)
    assert "320 claims of 90 conversations in s3://bucket/[red]all" in text
    assert "10 of 100 conversations (10.0%) could not be judged" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (60, "50 more for kappa ±0.10, by your labels in this queue"),
        (15, "kappa ±0.10 needs more than the 15 unlabelled claims of the population"),
        (0, "all claims of the population are labelled: kappa ±0.10 needs labels of other conv"),
    ],
)
def test_more_labels_come_from_the_population(left: int, said: str) -> None:
    progress = QueueProgress(ROW, 30, 4, 50, planned=False, left=left)
    assert describe_labels_needed(progress, has_room=True).startswith(said)


def test_labels_that_do_not_count_are_not_asked_for() -> None:
    """A sample of the 97 claims that it wanted had 19 shown with the judge; it wanted 19 more."""
    row = replace(ROW, shown_share=0.2, population=None)
    progress = QueueProgress(row, 0, 0, 97, planned=True, left=300)
    assert describe_labels_needed(progress) == "up to 97 more blind labels for a pass rate ±0.10"
    progress = QueueProgress(row, 30, 4, 50, planned=False, left=60)
    assert describe_labels_needed(progress) == "50 more blind labels for kappa ±0.10"


def test_more_of_a_population_is_not_drawn_here() -> None:
    assert not can_extend(ROW)
