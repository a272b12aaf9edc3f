"""What few labels do to verdicts on every source of the development rows."""

import pytest

from tests.benchmarks.few_labels import CARELESS, DRAWS_OF, MOST_LOST, LabelDraw, draw_labels
from tests.embedded_judge_training.recalibration import read_file


@pytest.mark.parametrize("wrong", [0.0, CARELESS])
@pytest.mark.parametrize("design", DRAWS_OF)
def test_twenty_labels_leave_verdicts_of_every_source_alone(design: str, wrong: float) -> None:
    for source in read_file():
        found = [*draw_labels(LabelDraw(source, design, 20, wrong), 2)]
        assert min(each.change for each in found) >= -MOST_LOST
        assert not any(each.is_suggested for each in found)


def test_from_forty_labels_on_a_threshold_is_suggested() -> None:
    """So that the draws of twenty leave verdicts alone because they are few."""
    *_, last = draw_labels(LabelDraw("wice", "simple", 40, 0.0), 4)
    assert last.is_suggested
    assert last.change != 0
