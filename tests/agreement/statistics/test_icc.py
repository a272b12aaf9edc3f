import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.score_differences import IccForm, icc
from faithtui.domain.withheld_reasons import WithheldReason

SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]
"""Shrout & Fleiss 1979, table 2."""


@pytest.mark.parametrize(
    ("form", "published"),
    [
        (IccForm.ONE_WAY, 0.17),
        (IccForm.ABSOLUTE, 0.29),
        (IccForm.CONSISTENCY, 0.71),
        (IccForm.ONE_WAY_MEAN, 0.44),
        (IccForm.ABSOLUTE_MEAN, 0.62),
        (IccForm.CONSISTENCY_MEAN, 0.91),
    ],
)
def test_the_six_published_values(form: IccForm, published: float) -> None:
    assert icc(SHROUT_FLEISS, form) == pytest.approx(published, abs=0.005)


matrices = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.integers(0, 5), min_size=raters, max_size=raters), min_size=2, max_size=8
    )
)


@given(matrices, st.sampled_from(list(IccForm)))
def test_order_and_scale_do_not_matter(units: list[list[float]], form: IccForm) -> None:
    found = icc(units, form)
    # The mean form of absolute agreement divides by a difference of mean squares, which may be
    # negative: with raters that disagree about everything it leaves its range.
    if form is not IccForm.ABSOLUTE_MEAN:
        assert isinstance(found, WithheldReason) or found <= 1 + 1e-9
    others = [
        list(reversed(units)),
        [list(reversed(unit)) for unit in units],
        [[value * 8 - 3 for value in unit] for unit in units],
    ]
    for other in others:
        again = icc(other, form)
        assert (
            again is found if isinstance(found, WithheldReason) else again == pytest.approx(found)
        )


@given(matrices)
def test_a_stricter_rater_counts_against_absolute_agreement_alone(
    units: list[list[float]],
) -> None:
    shifted = [[unit[0] + 7, *unit[1:]] for unit in units]
    plain, moved = icc(units, IccForm.CONSISTENCY), icc(shifted, IccForm.CONSISTENCY)
    if isinstance(plain, WithheldReason) or isinstance(moved, WithheldReason):
        assert plain is moved
    else:
        assert moved == pytest.approx(plain)


@pytest.mark.parametrize("form", list(IccForm))
@pytest.mark.parametrize(
    ("units", "reason"),
    [
        ([], WithheldReason.NO_ITEMS),
        ([[0.5], [0.7]], WithheldReason.NO_OVERLAP),
        ([[0.5, 0.7]], WithheldReason.NO_VARIATION),
        ([[0.1, 0.1], [0.1, 0.1], [0.1, 0.1]], WithheldReason.NO_VARIATION),
        ([[0.1 + 0.2, 0.3], [0.3, 0.3]], WithheldReason.NO_VARIATION),
    ],
)
def test_what_has_no_variation_says_so(
    units: list[list[float]], reason: WithheldReason, form: IccForm
) -> None:
    assert icc(units, form) is reason


def test_raters_who_cancel_out_have_nothing_to_divide_by() -> None:
    assert icc([[0, 1], [1, 0]], IccForm.ABSOLUTE) is WithheldReason.NO_VARIATION
    assert icc([[0, 1], [1, 0]], IccForm.CONSISTENCY) == -1
    assert icc([[0, 1], [1, 0]], IccForm.ONE_WAY_MEAN) is WithheldReason.NO_VARIATION
    assert icc([[1, 5], [1, 5]], IccForm.CONSISTENCY) is WithheldReason.NO_VARIATION
    assert icc([[1, 5], [2, 6]], IccForm.CONSISTENCY) == pytest.approx(1)


def test_large_numbers_cost_no_digits() -> None:
    far = [[value + 1e9 for value in unit] for unit in SHROUT_FLEISS]
    assert icc(far) == pytest.approx(icc(SHROUT_FLEISS), rel=1e-6)
