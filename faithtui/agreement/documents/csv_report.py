"""The claims of a run as CSV, one flat row each."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from faithtui.agreement.documents.header import ReportHeader
from faithtui.agreement.labelled_units import ClaimUnit

COLUMNS = (
    "claim",
    "conversation",
    "group",
    "turn",
    "text",
    "passages",
    "judge",
    "confidence",
    "human",
    "same",
    "state",
    "sample",
    "stratum",
    "position",
    "weight",
    "reviewers",
    "verdicts",
    "codes",
    "notes",
    "blind",
    "windows",
    "steady",
    "run",
    "metric",
    "judged_by",
)

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What makes a spreadsheet compute a cell, full-width forms included."""


@dataclass(frozen=True, slots=True)
class ClaimExtras:
    """What a row holds beside the reading."""

    passages: tuple[str, ...] = ()
    """What the claim was judged against, in reading order; () where nobody asked for it."""
    weight: float | None = None
    """How many claims it stands for; None: it is not of a random sample."""
    notes: tuple[str, ...] = ()
    """Remarks of people who stand by a verdict on it."""


def claims_csv(
    claims: Iterable[tuple[ClaimUnit, ClaimExtras]], header: ReportHeader, *, sample: str = ""
) -> Iterator[str]:
    """Write claims as CSV, row by row, so that the passages of a run are never in memory at once.

    Texts are quoted and numbers are not. A text that a spreadsheet would take for a formula gets a
    single quote in front. `turn` counts from 0. `human` is empty where nobody reviewed the claim,
    `judge` where the judge gave no verdict, `same` where either is missing, `weight` where the
    claim is not of the random sample that the figures rest on. `passages`, `verdicts`, `codes` and
    `notes` are JSON lists.

    Args:
        claims: Readings and what is known beside them, in the order of the rows.
        header: Whose verdicts they are, so that rows of several reports can be put together.
        sample: Name of the sample that the positions belong to.

    Yields:
        A header line and one record per claim, lines ending in LF; line breaks inside a text stay.
    """
    out = StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(COLUMNS)
    judged = (int(header.run), header.metric, escape_formula(header.judge))
    for claim, extras in claims:
        yield _drain_buffer(out)
        writer.writerow((*_make_row(claim, extras, sample), *judged))
    yield _drain_buffer(out)


def _drain_buffer(out: StringIO) -> str:
    text = out.getvalue()
    out.seek(0)
    out.truncate()
    return text


def _make_row(claim: ClaimUnit, extras: ClaimExtras, sample: str) -> tuple[str | int | float, ...]:
    both = claim.judge is not None and claim.human is not None
    drawn = claim.position is not None
    return (
        int(claim.claim),
        escape_formula(claim.key),
        escape_formula(claim.group),
        claim.turn,
        escape_formula(claim.text),
        _list_to_json(extras.passages),
        escape_formula(claim.judge or ""),
        _number_cell(claim.confidence),
        escape_formula(claim.human or ""),
        _yes_or_no_cell(claim.judge == claim.human if both else None),
        claim.state.value,
        escape_formula(sample if drawn else ""),
        escape_formula(claim.stratum or ""),
        "" if claim.position is None else claim.position,
        _number_cell(extras.weight),
        claim.reviewers,
        _list_to_json(
            [
                {
                    "reviewer": each.reviewer,
                    "verdict": each.verdict,
                    "action": each.action.value,
                    "blind": each.blind,
                    "seconds": each.seconds,
                    "code": each.code,
                }
                for each in claim.opinions
            ]
        ),
        _list_to_json(sorted({each.code for each in claim.opinions if each.code is not None})),
        _list_to_json(extras.notes),
        _yes_or_no_cell(claim.blind),
        claim.windows,
        _yes_or_no_cell(claim.steady),
    )


def escape_formula(text: str) -> str:
    """Keep a spreadsheet from reading a text as a formula.

    Source:
        OWASP, CSV Injection.
    """
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _list_to_json(values: Sequence[object]) -> str:
    """Write a JSON list, which no spreadsheet takes for a formula; "" for an empty one."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False) if values else ""


def _number_cell(value: float | None) -> str | float:
    return "" if value is None else round(value, 6) + 0.0


def _yes_or_no_cell(flag: bool | None) -> str:
    return "" if flag is None else ("yes" if flag else "no")
