"""The agreement screen begins with a sentence, and panes with nothing to say have no place."""

from hypothesis import given
from hypothesis import strategies as st

from faithtui.tui.theme.layouts import lay_out_agreement

NAMES = ("slices", "progress", "people", "differences", "detection", "classes", "scores")


@given(st.integers(60, 250), st.integers(16, 80), st.frozensets(st.sampled_from(NAMES)))
def test_panes_without_content_leave_their_room_to_others(
    width: int, height: int, empty: frozenset[str]
) -> None:
    layout = lay_out_agreement(width, height, empty)
    assert empty.isdisjoint(layout)
    assert sum(box.width * box.height for box in layout.values()) == width * height


def test_the_sentence_stands_first_and_detection_before_the_rest() -> None:
    for width, height in ((80, 20), (120, 36), (200, 56)):
        layout = lay_out_agreement(width, height)
        assert (layout["warnings"].x, layout["warnings"].y) == (0, 0)
        assert layout["warnings"].width == width
        assert layout["detection"].y > 0
    assert layout["detection"].x == 0
