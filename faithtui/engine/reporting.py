"""A run's agreement with people: computed in one place, for the screen and for files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Literal

from faithtui.domain.ids import RunId
from faithtui.domain.labels import NOT_A_CLAIM
from faithtui.domain.readings import (
    ClaimReading,
    LabelState,
    ReadingSettings,
    RunReadings,
    ScoredUnit,
)
from faithtui.domain.report import Judged, OtherJudge, agreement_report
from faithtui.domain.report_comparison import PairedUnit
from faithtui.domain.report_values import AgreementReport, ReportSettings
from faithtui.domain.report_weights import claim_weights
from faithtui.domain.split_readings import readings_within
from faithtui.domain.splits import Split
from faithtui.domain.steadiness import steadiness
from faithtui.engine.examples import kept
from faithtui.engine.pausing import collector_paused
from faithtui.engine.splitting import conversations_in, split_rule
from faithtui.engine.writing import replace_file
from faithtui.errors import ConfigError, ExportError
from faithtui.interchange.report_files import (
    ClaimExtras,
    PlotFile,
    ReportHeader,
    claims_csv,
    report_html,
    report_json,
    report_markdown,
    report_plots,
)
from faithtui.judges.opening import judge_title
from faithtui.metrics.registry import entry
from faithtui.store.records import RunRow
from faithtui.store.store import Store, utc_now

Format = Literal["md", "json", "html", "csv"]

FILES: dict[Format, str] = {
    "md": "report.md",
    "json": "report.json",
    "html": "report.html",
    "csv": "claims.csv",
}
"""Name of the file each format is written to."""

_AT_ONCE = 500
"""Claims whose passages are in memory together."""


@dataclass(frozen=True, slots=True)
class RunAgreement:
    """What is known about a run's agreement at one moment."""

    row: RunRow
    readings: RunReadings
    report: AgreementReport
    windows: int
    """Windows that were judged."""
    empty_windows: int
    """Of those, the ones without a claim."""
    split: Split | None = None
    """The part of the conversations; None: all."""

    @property
    def claims(self) -> tuple[ClaimReading, ...]:
        """Everything the run judged once."""
        return self.readings.claims


@collector_paused()
def run_agreement(
    store: Store,
    run: RunId,
    settings: ReportSettings | None = None,
    other: RunId | None = None,
    split: Split | None = None,
) -> RunAgreement:
    """Compare a run's judge with people, from what is stored now.

    Args:
        store: Where everything is.
        run: The run.
        settings: What is wanted; None: the usual.
        other: A second run to compare with.
        split: Only conversations of this part; None: all. A look at the test part is counted by
            whoever shows it.

    Raises:
        ConfigError: The run shall be compared with itself, or a split is wanted and there is none.
        StoreError: There is no such run, the sample asked for cannot carry a report, or the other
            run's metric has other labels.
    """
    wanted = settings or ReportSettings()
    row = store.runs.row(run)
    spec = entry(row.spec.metric).spec
    reading = ReadingSettings(
        duplicates=wanted.duplicates, sample=wanted.sample, blind_only=wanted.blind_only
    )
    readings = store.reviews.run_readings(run, reading, spec.labels.severity)
    windows, empty_windows = row.windows, store.runs.empty_windows(run)
    if split is not None:
        readings = readings_within(readings, split_rule(store), split)
        of_windows = [each for each in readings.scores if each.unit is ScoredUnit.WINDOW]
        windows, empty_windows = len(of_windows), sum(not each.claims for each in of_windows)
    report = agreement_report(
        readings,
        spec.labels,
        row.spec.rule,
        wanted,
        judged=Judged(
            metric=row.spec.metric,
            judge=judge_title(row.spec.judge),
            unit=spec.units,
            answers_are_claims=spec.judges == "answer",
        ),
        other=None if other is None else _other(store, row, other, reading, split),
        repeats=steadiness(store.details.repeats(run), (*spec.labels.names, NOT_A_CLAIM)),
    )
    return RunAgreement(row, readings, report, windows, empty_windows, split)


def _other(
    store: Store, row: RunRow, other: RunId, reading: ReadingSettings, split: Split | None
) -> OtherJudge:
    """Read what another run says of the same claims, but for those that a judge was shown."""
    if other == row.id:
        raise ConfigError(f"both are run {other}; name another run to compare with")
    beside = store.runs.row(other)
    seen = {each.group for one in (row, beside) for each in kept(store, one.spec.examples)}
    paired = store.reviews.paired_readings(row.id, other, reading)
    within = None if split is None else conversations_in(store, split)
    return OtherJudge(
        f"{judge_title(beside.spec.judge)}, run {other}",
        tuple(
            PairedUnit(each.group, each.first, each.second, each.human)
            for each in paired.claims
            if each.first is not None
            and each.second is not None
            and each.group not in seen
            and (within is None or each.conversation in within)
        ),
    )


def render(
    store: Store,
    agreement: RunAgreement,
    form: Format,
    *,
    clock: Callable[[], datetime] = utc_now,
    include_text: bool = False,
    plots: Sequence[PlotFile] = (),
) -> Iterable[str]:
    """Write a report as text.

    Args:
        store: Where the claims come from; read for CSV only.
        agreement: What to write.
        form: Which format.
        clock: Tells the time for the report's date.
        include_text: Put the texts of claims into JSON too, and the passages of claims nobody
            acted on into CSV.
        plots: Pictures that are written beside the JSON.

    Returns:
        The text, piece by piece.
    """
    header = _header(agreement, clock())
    match form:
        case "csv":
            rows = _rows(store, agreement, every_passage=include_text)
            return claims_csv(rows, sample=agreement.readings.design.name)
        case "json":
            return [report_json(agreement.report, header, include_text=include_text, plots=plots)]
        case "html":
            return [report_html(agreement.report, header)]
        case "md":
            return [report_markdown(agreement.report, header)]


def _rows(
    store: Store, agreement: RunAgreement, *, every_passage: bool
) -> Iterator[tuple[ClaimReading, ClaimExtras]]:
    """Read what stands beside the claims, some at a time.

    Passages are the bulk of a file, thousands of characters a claim.
    """
    run, labels = agreement.row.id, entry(agreement.row.spec.metric).spec.labels
    weights = claim_weights(agreement.claims, labels, agreement.readings.design)
    notes = store.details.notes(run)
    left = iter(agreement.claims)
    while some := list(islice(left, _AT_ONCE)):
        shown = [
            each.claim
            for each in some
            if every_passage or each.state is not LabelState.UNREVIEWED or each.human is not None
        ]
        passages = store.details.passages(run, shown)
        for each in some:
            yield (
                each,
                ClaimExtras(
                    passages.get(each.claim, ()),
                    weights.get(each.claim),
                    notes.get(each.claim, ()),
                ),
            )


def write_report(
    store: Store,
    run: RunId,
    formats: Sequence[Format],
    directory: Path,
    *,
    settings: ReportSettings | None = None,
    other: RunId | None = None,
    split: Split | None = None,
    clock: Callable[[], datetime] = utc_now,
    include_text: bool = False,
) -> tuple[Path, ...]:
    """Write a run's report into a directory, which is made when it is not there.

    A file appears whole or not at all; one of the same name is replaced. The JSON names the plots
    of the page when that is written too.

    Returns:
        The files written, in the order of `formats`.

    Raises:
        ConfigError: The run shall be compared with itself, or a split is wanted and there is none.
        ExportError: The directory or a file cannot be written.
        StoreError: There is no such run.
    """
    agreement = run_agreement(store, run, settings, other, split)
    now = clock()
    plots = report_plots(agreement.report, _header(agreement, now)) if "html" in formats else ()
    written = []
    for form in dict.fromkeys(formats):
        path = directory / FILES[form]
        parts = render(
            store, agreement, form, clock=lambda: now, include_text=include_text, plots=plots
        )
        try:
            directory.mkdir(parents=True, exist_ok=True)
            replace_file(path, parts)
        except OSError as error:
            raise ExportError(
                f"{path} cannot be written: {error.strerror}; choose another directory with -o"
            ) from error
        written.append(path)
    return tuple(written)


def _header(agreement: RunAgreement, now: datetime) -> ReportHeader:
    row = agreement.row
    sources = row.spec.sources
    if agreement.split is not None:
        sources = (f"the {agreement.split} split of {', '.join(sources) or 'all sources'}",)
    return ReportHeader(
        run=row.id,
        metric=row.spec.metric,
        judge=judge_title(row.spec.judge),
        options={"strategy": row.spec.strategy, "claims": row.spec.claims, **row.spec.options},
        sources=sources,
        prompt_digest=row.spec.prompt_digest,
        input_digest=agreement.report.digest,
        windows=agreement.windows,
        vacuous_windows=agreement.empty_windows,
        created_at=row.created_at,
        generated_at=now,
        tool_version=version("faithtui"),
    )
