"""The interval of a change between two judges, over runs whose truth is known.

`benchmarks/judge_changes` has more of them.
"""

import pytest

from tests.benchmarks.coverage import Setting
from tests.benchmarks.judge_changes import ChangeSetting, compare_once, count_rates


@pytest.mark.parametrize(
    ("spoiled", "mended"),
    [(0.02, 0.0), (0.1, 0.1)],
)
def test_a_sample_by_verdicts_shows_how_little_it_knows_of_a_change(
    spoiled: float, mended: float
) -> None:
    # Leaving out one conversation at a time held the truth in 0.6 to 0.9 of these.
    setting = ChangeSetting(Setting("stratified", 0.1, 100, 40), spoiled, mended)
    found = count_rates(setting, 40)
    assert found["accuracy"] >= 0.925
    assert found["kappa"] >= 0.925
    assert found["false pass"] <= 0.05
    assert found["shown"] == 1
    assert found["width"] < 0.25


@pytest.mark.thorough
def test_judges_of_drawn_claims_alone_show_how_little_is_known_of_the_rest() -> None:
    """Where strata are thin, no drawn claim need show on what the judges differ."""
    # With what the drawn claims show alone the truth was held in 0.83 of 40, and 7 drops passed.
    setting = ChangeSetting(Setting("stratified", 0.1, 100, 40), 0.05, 0.2, drawn_alone=True)
    found = count_rates(setting, 40)
    assert found["accuracy"] >= 0.925
    assert found["kappa"] >= 0.925
    assert found["false pass"] <= 0.05
    assert found["shown"] == 1
    assert found["width"] < 0.3


def test_a_simple_sample_still_tells_a_change() -> None:
    setting = ChangeSetting(Setting("simple", 0.3, 300, 100), 0.1, 0.0)
    found = [compare_once(setting, seed) for seed in range(5)]
    assert all(each.holds and each.passes_better for each in found)
    assert max(each.width for each in found) < 0.12
