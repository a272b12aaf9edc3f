"""Drawing examples."""

from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.judging.judge_examples import draw_random_keys

keys = st.lists(st.integers(), unique=True, max_size=30)


@given(keys, st.integers(0, 40), st.integers())
def test_a_draw_has_its_size_and_the_order_of_the_text(
    claims: list[int], limit: int, seed: int
) -> None:
    found = draw_random_keys(claims, limit, seed)
    assert len(found) == min(limit, len(claims))
    assert found == [each for each in claims if each in found]


@given(keys, st.integers(0, 40), st.integers())
def test_a_smaller_draw_is_a_part_of_a_larger_one(claims: list[int], limit: int, seed: int) -> None:
    assert set(draw_random_keys(claims, limit, seed)) <= set(
        draw_random_keys(claims, limit + 1, seed)
    )


@given(keys, st.integers())
def test_no_limit_draws_all(claims: list[int], seed: int) -> None:
    assert draw_random_keys(claims, None, seed) == claims


def test_every_key_is_as_likely_as_any_other() -> None:
    hits = sum(7 in draw_random_keys(range(20), 5, seed) for seed in range(2_000))
    assert 400 < hits < 600  # 500 expected, six standard deviations of 19 on either side
