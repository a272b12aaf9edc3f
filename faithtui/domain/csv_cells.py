"""Texts as cells of a CSV file that no spreadsheet takes for a formula, and back again.

Source:
    OWASP, CSV Injection.
"""

from typing import Final

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What makes a spreadsheet compute a cell, full-width forms included."""
_QUOTE: Final = "'"


def escape_formula(text: str) -> str:
    """Keep a spreadsheet from reading a text as a formula: a single quote goes in front.

    A text that has such quotes already gets one more, so that `restore_formula` finds it again.
    """
    return f"{_QUOTE}{text}" if text.lstrip(_QUOTE).startswith(_FORMULA_STARTS) else text


def restore_formula(cell: str) -> str:
    """Give back the text that `escape_formula` made a cell of."""
    bare = cell.lstrip(_QUOTE)
    return cell[1:] if len(bare) < len(cell) and bare.startswith(_FORMULA_STARTS) else cell
