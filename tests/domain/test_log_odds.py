"""The logistic function, also far from 0."""

import math

import pytest

from faithtui.domain.log_odds import logistic


@pytest.mark.parametrize("chance", [0.001, 0.25, 0.5, 0.9])
def test_it_is_the_inverse_of_the_log_odds(chance: float) -> None:
    assert logistic(math.log(chance / (1 - chance))) == pytest.approx(chance, rel=1e-12)


def test_nothing_overflows_at_either_side() -> None:
    assert [logistic(each) for each in (-1e6, 0.0, 1e6)] == [0.0, 0.5, 1.0]
