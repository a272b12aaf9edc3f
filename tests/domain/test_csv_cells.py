"""Cells of a CSV file: no formula goes out, and every text comes back as it was."""

import pytest

from faithtui.domain.csv_cells import escape_formula, restore_formula

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠a"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_goes_out_behind_a_quote(text: str) -> None:
    assert escape_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", [*FORMULAS, "'=1+1", "''-1", "'tis late", "''", "", "2 = 2"])
def test_every_text_comes_back(text: str) -> None:
    assert restore_formula(escape_formula(text)) == text


@pytest.mark.parametrize("cell", ["=1+1", "'tis late", "plain", ""])
def test_a_cell_that_was_not_escaped_stays(cell: str) -> None:
    """A file of another program may hold what we would have escaped."""
    assert restore_formula(cell) == cell
