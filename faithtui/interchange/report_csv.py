"""The claims of a run as CSV, one flat row each."""

import csv
from collections.abc import Sequence
from io import StringIO

from faithtui.domain.readings import ClaimReading

COLUMNS = (
    "claim",
    "conversation",
    "group",
    "turn",
    "text",
    "judge",
    "human",
    "same",
    "reviewers",
    "blind",
    "windows",
    "steady",
)

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What makes a spreadsheet compute a cell, full-width forms included."""


def claims_csv(claims: Sequence[ClaimReading]) -> str:
    """Write claims as CSV.

    Texts are quoted and numbers are not. A text that a spreadsheet would take for a formula gets a
    single quote in front. `turn` counts from 0. `human` is empty where nobody reviewed the claim,
    `judge` where the judge gave no verdict, `same` where either is missing.

    Args:
        claims: Readings, in the order of the rows.

    Returns:
        A header line and one record per claim, lines ending in LF; line breaks inside a text stay.
    """
    out = StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(COLUMNS)
    for claim in claims:
        both = claim.judge is not None and claim.human is not None
        writer.writerow(
            (
                int(claim.claim),
                harmless(claim.key),
                harmless(claim.group),
                claim.turn,
                harmless(claim.text),
                harmless(claim.judge or ""),
                harmless(claim.human or ""),
                _word(claim.judge == claim.human if both else None),
                claim.reviewers,
                _word(claim.blind),
                claim.windows,
                _word(claim.steady),
            )
        )
    return out.getvalue()


def harmless(text: str) -> str:
    """Keep a spreadsheet from reading a text as a formula.

    Source:
        OWASP, CSV Injection.
    """
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _word(flag: bool | None) -> str:
    return "" if flag is None else ("yes" if flag else "no")
