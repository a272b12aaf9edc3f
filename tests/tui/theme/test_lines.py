import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from faithtui.domain.text.visible_text import make_visible, make_visible_line
from faithtui.tui.runs.run_lines import run_header_line
from faithtui.tui.theme.lines import (
    PANE_TEXT_LIMIT,
    Piece,
    align_to_edges,
    count_cells_of_pieces,
    escape_text,
    fit_text,
    shorten_middle,
    truncate_pieces,
    wrap,
)

TEXTS = st.text(alphabet=st.sampled_from("ab c\n見語é—"), max_size=60)
ANY = st.text(max_size=60)


@pytest.mark.thorough
@given(st.lists(ANY, max_size=4), st.integers(2, 40))
def test_no_line_is_wider_than_asked(texts: list[str], width: int) -> None:
    lines = wrap([Piece(make_visible(text)) for text in texts], width)
    assert all(cell_len(line.text) <= width for line in lines)


@given(st.lists(TEXTS, max_size=4), st.integers(2, 40))
def test_wrapping_loses_no_character_but_blanks(texts: list[str], width: int) -> None:
    whole = "".join(texts)
    lines = wrap([Piece(text) for text in texts], width)
    assert "".join(line.text for line in lines).replace(" ", "") == whole.replace(" ", "").replace(
        "\n", ""
    )


@given(st.lists(st.tuples(TEXTS, st.sampled_from(["", "good", "bad"])), max_size=5))
def test_wrapping_keeps_every_look_on_its_words(pieces: list[tuple[str, str]]) -> None:
    def looks(given: list[Piece]) -> list[tuple[str, str]]:
        return [(c, look) for text, look in given for c in text if c not in " \n"]

    whole = [Piece(*piece) for piece in pieces]
    lines = wrap(whole, 7)
    assert looks([piece for line in lines for piece in line.pieces]) == looks(whole)


@given(TEXTS, st.integers(6, 30), st.integers(1, 4))
@example("ᄀ\U00011c92" * 20, 7, 4)
def test_a_text_cut_to_some_lines_says_so(text: str, width: int, most: int) -> None:
    lines = wrap([Piece(text)], width, most=most)
    assert len(lines) <= most
    assert all(cell_len(line.text) <= width for line in lines)
    drawn = "".join(line.text for line in lines)
    if "".join(drawn.split()) != "".join(text.split()):
        assert drawn.endswith("…")


@given(ANY, st.integers(0, 30), st.booleans())
def test_fit_is_exact(text: str, width: int, right: bool) -> None:
    assert cell_len(fit_text(make_visible_line(text), width, right=right)) == width


@given(st.lists(ANY, max_size=4), st.integers(1, 30))
@example(["ᄀ0\U00011c92"], 2)  # a wide and a mark without width: as many cells as characters
def test_cut_is_never_too_wide(texts: list[str], width: int) -> None:
    pieces = [Piece(make_visible_line(text)) for text in texts]
    kept = truncate_pieces(pieces, width)
    assert count_cells_of_pieces(kept) <= width
    if count_cells_of_pieces(pieces) > width:
        assert kept[-1].text.endswith("…")


def test_prefixes_stand_before_first_and_other_lines() -> None:
    lines = wrap([Piece("one two three")], 8, first=[Piece("> ")])
    assert [line.text for line in lines] == ["> one", "  two", "  three"]


def test_spread_gives_up_the_left_end_first() -> None:
    line = align_to_edges([Piece("a long beginning")], [Piece("end")], 12)
    assert line.text == "a long … end"


def test_an_endless_text_says_how_much_is_left_out() -> None:
    assert escape_text("x" * (PANE_TEXT_LIMIT + 5)).text.endswith("… (5 more characters)")


@pytest.mark.parametrize("width", range(58, 90))
def test_no_count_of_a_run_is_cut(width: int) -> None:
    assert cell_len(run_header_line(width).text) <= width
    assert run_header_line(width).text.rstrip().endswith("reviewed")


def test_what_is_shortened_in_its_middle_keeps_its_end() -> None:
    names = [f"04f83f11-t04-{model}" for model in ("gpt-4o", "llama-3")]
    short = [shorten_middle(each, 12) for each in names]
    assert short == ["04f83…gpt-4o", "04f83…lama-3"]
    assert shorten_middle("short", 12) == "short"
    assert shorten_middle("long enough", 0) == ""
    assert count_cells_of_pieces([Piece(shorten_middle("\u4e2d" * 20, 9))]) <= 9
