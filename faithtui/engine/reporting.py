"""A run's agreement with people: computed in one place, for the screen and for files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from faithtui.domain.ids import RunId
from faithtui.domain.readings import ClaimReading
from faithtui.domain.report import agreement_report
from faithtui.domain.report_values import AgreementReport
from faithtui.engine.writing import replace_file
from faithtui.errors import ExportError
from faithtui.interchange.report_files import (
    ReportHeader,
    claims_csv,
    report_json,
    report_markdown,
)
from faithtui.judges.opening import judge_title
from faithtui.metrics.registry import entry
from faithtui.store.records import RunRow
from faithtui.store.store import Store, utc_now

Format = Literal["json", "csv", "md"]

FILES: dict[Format, str] = {"md": "report.md", "json": "report.json", "csv": "claims.csv"}
"""Name of the file each format is written to."""


@dataclass(frozen=True, slots=True)
class RunAgreement:
    """What is known about a run's agreement at one moment."""

    row: RunRow
    claims: tuple[ClaimReading, ...]
    report: AgreementReport
    empty_windows: int
    """Windows of the run without a claim."""


def run_agreement(store: Store, run: RunId) -> RunAgreement:
    """Compare a run's judge with people, from what is stored now.

    Raises:
        StoreError: There is no such run.
    """
    row = store.runs.row(run)
    claims = store.reviews.claim_readings(run)
    answers = store.reviews.answer_readings(run)
    spec = entry(row.spec.metric).spec
    report = agreement_report(
        claims,
        answers,
        spec.labels,
        row.spec.rule,
        unit=spec.units,
        answers_are_claims=spec.judges == "answer",
    )
    return RunAgreement(row, claims, report, store.runs.empty_windows(run))


def render(
    agreement: RunAgreement,
    form: Format,
    *,
    clock: Callable[[], datetime] = utc_now,
    include_text: bool = False,
) -> str:
    """Write a report as text.

    Args:
        agreement: What to write.
        form: Which format.
        clock: Tells the time for the report's date.
        include_text: Put the texts of claims into JSON too; Markdown and CSV always have them.
    """
    if form == "csv":
        return claims_csv(agreement.claims)
    header = _header(agreement, clock())
    if form == "json":
        return report_json(agreement.report, header, include_text=include_text)
    return report_markdown(agreement.report, header)


def write_report(
    store: Store,
    run: RunId,
    formats: Sequence[Format],
    directory: Path,
    *,
    clock: Callable[[], datetime] = utc_now,
    include_text: bool = False,
) -> tuple[Path, ...]:
    """Write a run's report into a directory, which is made when it is not there.

    A file appears whole or not at all; one of the same name is replaced.

    Returns:
        The files written, in the order of `formats`.

    Raises:
        ExportError: The directory or a file cannot be written.
        StoreError: There is no such run.
    """
    agreement = run_agreement(store, run)
    written = []
    for form in dict.fromkeys(formats):
        path = directory / FILES[form]
        text = render(agreement, form, clock=clock, include_text=include_text)
        try:
            directory.mkdir(parents=True, exist_ok=True)
            replace_file(path, [text])
        except OSError as error:
            raise ExportError(
                f"{path} cannot be written: {error.strerror}; choose another directory with -o"
            ) from error
        written.append(path)
    return tuple(written)


def _header(agreement: RunAgreement, now: datetime) -> ReportHeader:
    row = agreement.row
    return ReportHeader(
        run=row.id,
        metric=row.spec.metric,
        judge=judge_title(row.spec.judge),
        options={"strategy": row.spec.strategy, "claims": row.spec.claims, **row.spec.options},
        sources=row.spec.sources,
        prompt_digest=row.spec.prompt_digest,
        input_digest=agreement.report.digest,
        windows=row.windows,
        vacuous_windows=agreement.empty_windows,
        created_at=row.created_at,
        generated_at=now,
        tool_version=version("faithtui"),
    )
