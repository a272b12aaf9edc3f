"""The claims of a run as CSV, one flat row each."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from typing import Protocol

from faithtui.agreement.documents.header import ReportHeader, format_utc_time
from faithtui.agreement.labelled_units import ClaimUnit, MetadataValues, Opinion
from faithtui.agreement.report.claim_columns import CountedLabel
from faithtui.domain.csv_cells import escape_formula
from faithtui.domain.labels.label_events import MarkedText

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
    "tied",
    "judge_counted",
    "human_counted",
    "state",
    "sample",
    "stratum",
    "position",
    "weight",
    "reviewers",
    "verdicts",
    "codes",
    "notes",
    "evidence",
    "blind",
    "windows",
    "steady",
    "run",
    "metric",
    "judged_by",
)


class OpinionDates(Protocol):
    """When, and under which guideline, human labels were stored."""

    def get_date(self, opinion: Opinion) -> datetime | None:
        """Say when, aware; None: not known."""
        ...

    def get_guideline(self, opinion: Opinion) -> str | None:
        """Name the guideline in force; None: the verdict came with data, or it is not known."""
        ...


_NOT_COUNTED = CountedLabel("", "")


@dataclass(frozen=True, slots=True)
class ClaimExtras:
    """What a row holds beside the reading."""

    passages: tuple[str, ...] = ()
    """What the claim was judged against, in reading order; () where nobody asked for it."""
    weight: float | None = None
    """How many claims it stands for; None: it is not of a random sample."""
    notes: tuple[str, ...] = ()
    """Notes of annotators with a label on it."""
    evidence: tuple[MarkedText, ...] = ()
    """What annotators marked as evidence."""
    tied: bool = False
    """A tie: as many annotators give it one label as another, so that it has none."""
    counted: CountedLabel = _NOT_COUNTED
    """Its labels as the figures count them."""


def claims_csv(
    claims: Iterable[tuple[ClaimUnit, ClaimExtras]],
    header: ReportHeader,
    dates: OpinionDates,
    *,
    sample: str = "",
    metadata: Sequence[MetadataValues] = (),
) -> Iterator[str]:
    """Write claims as CSV, row by row, so that the passages of a run are never in memory at once.

    Texts are quoted and numbers are not. A text that a spreadsheet would take for a formula gets a
    single quote in front. `turn` counts from 0. `human` is empty where nobody reviewed the claim,
    `judge` where the judge gave no verdict, `same` where either is missing, `weight` where the
    claim is not of the random sample that the figures rest on. `human` is empty, too, for ties
    (`tied`). `passages`, `verdicts`, `codes`, `notes` and `evidence` are JSON
    lists.

    Args:
        claims: Readings and what is known beside them, in the order of the rows.
        header: Whose verdicts they are, so that rows of several reports can be put together.
        dates: When verdicts were stored.
        sample: Name of the sample that the positions belong to.
        metadata: Values of the conversations, for a column `metadata KEY` each: a JSON list.

    Yields:
        A header line and one record per claim, lines ending in LF; line breaks inside a text stay.
    """
    out = StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow((*COLUMNS, *(f"metadata {each.key}" for each in metadata)))
    judged = (int(header.run), header.metric, escape_formula(header.judge))
    for claim, extras in claims:
        yield read_and_empty_buffer(out)
        values = (_list_to_json(each.values.get(claim.conversation, ())) for each in metadata)
        writer.writerow((*_make_claim_row(claim, extras, dates, sample), *judged, *values))
    yield read_and_empty_buffer(out)


def read_and_empty_buffer(out: StringIO) -> str:
    """Take what was written since the last call."""
    text = out.getvalue()
    out.seek(0)
    out.truncate()
    return text


def _make_claim_row(
    claim: ClaimUnit, extras: ClaimExtras, dates: OpinionDates, sample: str
) -> tuple[str | int | float, ...]:
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
        format_number_cell(claim.confidence),
        escape_formula(claim.human or ""),
        format_yes_or_no_cell(claim.judge == claim.human if both else None),
        format_yes_or_no_cell(extras.tied if extras.tied or claim.human is not None else None),
        escape_formula(extras.counted.judge),
        escape_formula(extras.counted.human),
        claim.state.value,
        escape_formula(sample if drawn else ""),
        escape_formula(claim.stratum or ""),
        format_count_cell(claim.position),
        format_number_cell(extras.weight),
        claim.reviewers,
        format_opinions_cell(claim.opinions, dates),
        format_reason_codes_cell(claim.opinions),
        _list_to_json(extras.notes),
        _list_to_json([_evidence_span_to_json(each) for each in extras.evidence]),
        format_yes_or_no_cell(claim.blind),
        claim.windows,
        format_yes_or_no_cell(claim.steady),
    )


def format_opinions_cell(opinions: Sequence[Opinion], dates: OpinionDates) -> str:
    """Write each annotator's label, and when and under which guideline it was stored."""
    return _list_to_json(
        [
            {
                "reviewer": each.reviewer,
                "verdict": each.verdict,
                "action": each.action.value,
                "blind": each.blind,
                "seconds": each.seconds,
                "code": each.code,
                "at": None if (at := dates.get_date(each)) is None else format_utc_time(at),
                "guideline": dates.get_guideline(each),
            }
            for each in opinions
        ]
    )


def _evidence_span_to_json(found: MarkedText) -> dict[str, object]:
    """Describe a marked stretch; its document goes by the hash that names it in every store."""
    return {"reviewer": found.reviewer, **found.mark._asdict(), "text": found.text}


def format_reason_codes_cell(opinions: Sequence[Opinion]) -> str:
    """Write the reason codes that annotators gave."""
    return _list_to_json(sorted({each.code for each in opinions if each.code is not None}))


def format_all_blind_cell(opinions: Sequence[Opinion]) -> str:
    """Say whether all labels were given before the verdict was shown; "" where not known."""
    known = [each.blind for each in opinions]
    return format_yes_or_no_cell(None if not known or None in known else all(known))


def _list_to_json(values: Sequence[object]) -> str:
    """Write a JSON list, which no spreadsheet takes for a formula; "" for an empty one."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False) if values else ""


def format_number_cell(value: float | None) -> str | float:
    """Write a number, "" for none."""
    return "" if value is None else round(value, 6) + 0.0


def format_count_cell(value: int | None) -> str | int:
    """Write a whole number, "" for none."""
    return "" if value is None else value


def format_yes_or_no_cell(flag: bool | None) -> str:
    """Write `yes` or `no`, "" where it is not known."""
    return "" if flag is None else ("yes" if flag else "no")
