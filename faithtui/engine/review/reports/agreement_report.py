"""A run's agreement with annotators: computed in one place, for the screen and for files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Literal

from faithtui.agreement.documents.files import (
    AnswerRow,
    ClaimExtras,
    PlotFile,
    ReportHeader,
    answers_csv,
    claims_csv,
    list_plots_of_html_report,
    make_row_of_answer_labelled_as_whole,
    make_row_of_answer_metric_judges,
    make_row_of_answer_without_whole_label,
    report_html,
    report_json,
    report_markdown,
)
from faithtui.agreement.gate.warning_checks import MANY_UNJUDGED
from faithtui.agreement.labelled_units import (
    RANDOM_DESIGNS,
    ClaimUnit,
    LabelDesign,
    LabelState,
    PairedClaim,
    RunUnits,
    ScoredUnit,
    UnitSettings,
    is_tied,
)
from faithtui.agreement.report.claim_columns import (
    compute_inverse_probability_weights,
    list_counted_labels,
)
from faithtui.agreement.report.compare import PairedUnit, compute_self_agreement
from faithtui.agreement.report.digest import hash_units
from faithtui.agreement.report.model import AgreementReport, ComparisonReport, ProbeTrial
from faithtui.agreement.report.report import (
    JudgingDescription,
    OtherJudge,
    PreparedUnits,
    compare_with_second_judge,
    compute_report_of_prepared_units,
    update_claim_figures_without_intervals,
)
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.report.split_units import select_split_units
from faithtui.clock import utc_now
from faithtui.domain.ids import ConversationId, LabelId, RunId
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.split_rule import Split
from faithtui.domain.text.suggestions import format_suggestion
from faithtui.engine.review.examples_from_labels import read_stored_examples
from faithtui.engine.review.judge_description import describe_parameters
from faithtui.engine.review.reports.label_dates import LabelDates, read_label_dates
from faithtui.engine.review.samples.store_split import read_split_conversations, read_split_rule
from faithtui.engine.runs.gc_pause import pause_gc
from faithtui.engine.runs.run_liveness import read_run_marking_interrupted
from faithtui.errors import ConfigError, ExportError
from faithtui.metrics.registry import find_metric
from faithtui.output_files import make_private_directory, refuse_unwritable_target, write_text
from faithtui.store.records import RunRow
from faithtui.store.store import Store

Format = Literal["md", "json", "html", "csv", "answers"]

FILES: dict[Format, str] = {
    "md": "report.md",
    "json": "report.json",
    "html": "report.html",
    "csv": "claims.csv",
    "answers": "answers.csv",
}
"""Name of the file each format is written to."""

_BEGINNINGS: dict[Format, bytes] = {
    "md": b"# Agreement of run ",
    "json": b'{\n "schema_version"',
    "html": b"<title>Agreement of run ",
    "csv": b'"claim","conversation","group",',
    "answers": b'"conversation","group","turn",',
}
"""What is among the first bytes of each file of a report, and of no other file of its name, such as
claims that were exported."""
_BEGINNING_BYTES = 1_000

_MOST_KEYS = 20
"""Keys of metadata that an error names."""
_AT_ONCE = 500
"""Claims whose passages are in memory together."""


@dataclass(frozen=True)  # without slots, so that the digest is computed once and when asked for
class RunAgreement:
    """What is known about a run's agreement at one moment."""

    row: RunRow
    readings: RunUnits
    report: AgreementReport
    windows: int
    """Windows that were judged."""
    empty_windows: int
    """Of those, the ones without a claim."""
    newest: LabelId
    """The newest event that is in it."""
    prepared: PreparedUnits
    """What the report was computed from."""
    split: Split | None = None
    """The part of the conversations; None: all."""
    points_only: bool = False
    """Figures of claims are newer than the readings, and have no intervals yet."""
    full_report: AgreementReport | None = None
    """With `points_only`: the report of the readings."""

    @property
    def claims(self) -> tuple[ClaimUnit, ...]:
        """Everything the run judged once."""
        return self.readings.claims

    @property
    def report_of_readings(self) -> AgreementReport:
        """The report of the readings."""
        return self.full_report or self.report

    @cached_property
    def readings_digest(self) -> str:
        """Hash of the readings: equal for two reports that speak of the same labels."""
        return hash_units(self.readings.claims, self.readings.answers)


@pause_gc()
def compute_run_agreement(
    store: Store,
    run: RunId,
    settings: ReportSettings | None = None,
    other: RunId | None = None,
    split: Split | None = None,
    probes: ProbeTrial | None = None,
    *,
    with_parts: bool = True,
) -> RunAgreement:
    """Compare a run's judge with annotators, from what is stored now.

    Args:
        store: Where everything is.
        run: The run.
        settings: What is wanted; None: the usual.
        other: A second run to compare with.
        split: Only conversations of this part; None: all. A look at the test part is counted by
            whoever shows it.
        probes: What changes to claims did to the run's judge.
        with_parts: Also by part, and scores of windows and conversations.

    Raises:
        ConfigError: The run shall be compared with itself, a split is wanted and there is none, or
            another judge was probed.
        StoreError: There is no such run, the sample asked for cannot carry a report, the other
            run's metric has other labels, or a label or verdict is not what was written.
    """
    store.refuse_corrupted_rows_unless_checked_before()
    wanted = settings or ReportSettings()
    row = read_run_marking_interrupted(store, run)
    spec = find_metric(row.spec.metric).spec
    if probes is not None and probes.judge != row.spec.judge:
        raise ConfigError(
            f"the probes are of {probes.judge}, and run {row.id} was judged by {row.spec.judge}; "
            f"probe that one with `faithtui judge probe --judge {row.spec.judge}`"
        )
    # Before the readings: an event that comes meanwhile is then read twice, and never missed.
    newest = store.label_log.read_newest_event_id()
    prepared = read_weighted_run_units(store, row, wanted, split)
    readings = prepared.readings
    windows, empty_windows = row.windows, store.run_contents.count_windows_without_claims(run)
    if split is not None:
        of_windows = [each for each in readings.scores if each.unit is ScoredUnit.WINDOW]
        windows, empty_windows = len(of_windows), sum(not each.claims for each in of_windows)
    report = compute_report_of_prepared_units(
        prepared,
        judged=describe_judging(row),
        comparison=None
        if other is None
        else _compare_with_other_run(store, row, other, prepared, split),
        repeats=compute_self_agreement(
            store.claim_details.read_second_verdicts(run), (*spec.labels.names, NOT_A_CLAIM)
        ),
        probes=probes
        and replace(probes, same_judge=probes.fingerprint == row.spec.judge_fingerprint),
        with_parts=with_parts,
    )
    return RunAgreement(row, readings, report, windows, empty_windows, newest, prepared, split)


def describe_judging(row: RunRow) -> JudgingDescription:
    """Describe who judged what in a run, for the sentences of its report."""
    spec = find_metric(row.spec.metric).spec
    return JudgingDescription(
        metric=row.spec.metric,
        judge=row.spec.judge_title,
        unit=spec.units,
        answers_are_claims=spec.judges == "answer",
        soundness=row.integrity.soundness,
        integrity=spec.format_integrity_sentence(row.integrity),
        unfinished=_format_unfinished_run(row),
    )


def read_weighted_run_units(
    store: Store, row: RunRow, settings: ReportSettings, split: Split | None = None
) -> PreparedUnits:
    """Read the verdicts and human labels of a run, with the weights of the sample it rests on.

    Raises:
        ConfigError: A split is wanted and there is none, or no conversation has a key of metadata
            that is asked for.
        StoreError: The sample asked for cannot carry a report.
    """
    labels = find_metric(row.spec.metric).spec.labels
    reading = _make_reading_settings(settings)
    readings = store.labelled_units.read_report_units(row.id, reading, labels.severity_by_label)
    for each in readings.metadata:
        if not each.values:
            raise ConfigError(_explain_missing_metadata_key(store, row.id, each.key))
    if split is not None:
        readings = select_split_units(readings, read_split_rule(store), split)
    return PreparedUnits(readings, labels, row.spec.rule, settings)


def _explain_missing_metadata_key(store: Store, run: RunId, key: str) -> str:
    known = store.labelled_units.list_metadata_keys(run)
    if not known:
        return f"no conversation of run {run} came with metadata, so nothing has a `{key}`"
    shown = ", ".join(known[:_MOST_KEYS]) + (", …" if len(known) > _MOST_KEYS else "")
    return (
        f"no conversation of run {run} has a value for `{key}` in its metadata; "
        f"known: {shown}{format_suggestion(key, known)}"
    )


def update_claim_figures_for_new_labels(store: Store, known: RunAgreement) -> RunAgreement | None:
    """Bring the figures of claims up to date with the labels given since, without intervals.

    Takes milliseconds at any size: only claims that somebody acted on since are read. Rates,
    annotators, parts, scores and progress stay as they were until all is computed anew.

    Args:
        store: Where everything is.
        known: As `compute_run_agreement` gave it, or this function.

    Returns:
        None when nothing was labelled since, or so much that only a new reading tells.

    Raises:
        StoreError: There is no such run any more.
    """
    reading = _make_reading_settings(known.report.settings)
    labels_by_claim = store.labelled_units.read_labels_of_claims_changed_after(
        known.row.id, known.newest, reading
    )
    if not labels_by_claim:
        return None
    known_claims = known.prepared.units_by_claim
    before = [known_claims[each] for each in labels_by_claim if each in known_claims]
    if not before:
        return None
    after = [
        each._replace(
            human=now.human,
            reviewers=now.reviewers,
            blind=now.blind,
            state=now.state,
            opinions=now.opinions,
        )
        for each in before
        for now in (labels_by_claim[each.claim],)
    ]
    judge = known.row.spec.judge_title
    report = update_claim_figures_without_intervals(
        known.prepared, known.report_of_readings, before, after, judge
    )
    return replace(known, report=report, full_report=known.report_of_readings, points_only=True)


def _format_unfinished_run(row: RunRow) -> str:
    """Say how far a run is that is not finished, or that failed on many conversations."""
    if not row.pending:
        if row.failed <= MANY_UNJUDGED * row.conversations:
            return ""
        return (
            f"The judge failed on {row.failed:,} of {row.conversations:,} conversations of run "
            f"{row.id}, and all figures are of the others alone: it may fail where it is hard."
        )
    done = row.conversations - row.pending
    return (
        f"{done:,} of {row.conversations:,} conversations are judged: run {row.id} is {row.state}, "
        "and all figures are of this part alone."
    )


def _make_reading_settings(settings: ReportSettings) -> UnitSettings:
    """Say what is read for a report."""
    return UnitSettings(
        duplicates=settings.duplicates,
        sample=settings.sample,
        claim_set=settings.claim_set,
        blind_only=settings.blind_only,
        metadata_keys=settings.metadata_keys,
    )


def _compare_with_other_run(
    store: Store, row: RunRow, other: RunId, prepared: PreparedUnits, split: Split | None
) -> ComparisonReport:
    if other == row.id:
        raise ConfigError(f"both are run {other}; name another run to compare with")
    return compare_run_judges(store, row, store.runs.read_run(other), prepared, split).report


@dataclass(frozen=True, slots=True)
class ComparableClaims:
    """What two runs judged, both of them."""

    claims: tuple[PairedClaim, ...]
    """Without those of conversations that a judge was shown."""
    shown: int
    """Claims of conversations that a judge was shown examples of."""
    only_first: int
    only_second: int
    beyond_first: int
    """Claims of the first run that are none of the claim set which both are matched to."""
    beyond_second: int


def read_comparable_claims(
    store: Store, first: RunRow, second: RunRow, settings: ReportSettings, split: Split | None
) -> ComparableClaims:
    """Read what two runs say of the same claims.

    Raises:
        ConfigError: A split is wanted and there is none.
        StoreError: Their metrics have other labels.
    """
    within = None if split is None else read_split_conversations(store, split)
    seen = {
        each.group
        for one in (first, second)
        for each in read_stored_examples(store, one.spec.example_set)
    }
    reading = _make_reading_settings(settings)
    severity = find_metric(first.spec.metric).spec.labels.severity_by_label
    paired = store.labelled_units.read_paired_units(first.id, second.id, reading, severity)
    both = [each for each in paired.claims if within is None or each.conversation in within]
    unseen = tuple(each for each in both if each.group not in seen)
    return ComparableClaims(
        unseen,
        len(both) - len(unseen),
        paired.only_first,
        paired.only_second,
        paired.beyond_first,
        paired.beyond_second,
    )


def _make_other_judge(beside: RunRow, claims: Sequence[PairedClaim]) -> OtherJudge:
    """Put another run beside the one that is reported on."""
    return OtherJudge(
        f"{beside.spec.judge_title}, run {beside.id}",
        tuple(
            PairedUnit(each.group, each.first, each.second, each.human, each.claim)
            for each in claims
            if each.first is not None and each.second is not None
        ),
    )


@dataclass(frozen=True, slots=True)
class JudgeChange:
    """What another run says of the same claims, and how these count."""

    report: ComparisonReport
    """From the first run to the second."""
    claims: ComparableClaims
    """What both judged, the first run first."""
    weighed: PreparedUnits
    """The run with whose weights claims count."""
    is_of_first: bool = True
    """Whether that is the first one."""

    @property
    def has_weights(self) -> bool:
        """Whether it is known what the labelled claims stand for, or they stand for themselves."""
        design = self.weighed.readings.design
        return not design.follows_draw or design.as_drawn is not None


def compare_run_judges(
    store: Store,
    first: RunRow,
    second: RunRow,
    prepared: PreparedUnits,
    split: Split | None = None,
) -> JudgeChange:
    """Compare the judges of two runs, with the same weights wherever they are compared.

    Claims weigh what they weigh in the report of the first run. Where it judged them because they
    were drawn and the second one judged the rest, too, what they weigh in the second one's; where
    both judged all that was drawn alone, what they stand for by the drawing.

    Args:
        store: Where they are.
        first: The run before.
        second: The run after.
        prepared: The units of the first one, with the settings that are wanted.
        split: Only conversations of this part; None: all.

    Raises:
        ConfigError: A split is wanted and there is none.
        StoreError: Their metrics have other labels.
    """
    settings, design = prepared.compared.settings, prepared.readings.design
    paired = read_comparable_claims(store, first, second, settings, split)
    names = (first.spec.judge_title, f"{second.spec.judge_title}, run {second.id}")
    if design.follows_draw:
        other = read_weighted_run_units(store, second, settings, split)
        its = other.readings.design
        samples = {
            each.claim_set or (each.name, each.drawn_in or run)
            for each, run in ((design, first.id), (its, second.id))
        }
        if len(samples) == 1 and _rank_design_by_weights(its) > _rank_design_by_weights(design):
            back = read_comparable_claims(store, second, first, settings, split)
            units = _make_other_judge(first, back.claims)
            other_judge_claims = {each.claim for each in units.units}
            rows, places = prepared.compared.all.rows, prepared.compared.places_in_figures.tolist()
            report = compare_with_second_judge(other, "", units).swap_judges(
                sum(rows[place].claim not in other_judge_claims for place in places)
            )
            report = replace(report, a=names[0], b=names[1])
            return JudgeChange(report, paired, other, is_of_first=False)
    report = compare_with_second_judge(prepared, names[0], _make_other_judge(second, paired.claims))
    return JudgeChange(report, paired, prepared)


def _rank_design_by_weights(design: LabelDesign) -> int:
    """Say how much a design knows of what labelled claims stand for; 0: nothing."""
    if design.follows_draw:
        return int(design.as_drawn is not None)
    return 2 * int(design.kind in RANDOM_DESIGNS)


def iter_report_text(
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
        include_text: Put the texts of claims into JSON too, those of answers into the lists of
            disagreements, and the passages of claims nobody acted on into CSV.
        plots: Pictures that are written beside the JSON.

    Returns:
        The text, piece by piece.
    """
    dates = read_label_dates(store, agreement.row.id)
    parameters = describe_parameters(store, agreement.row.spec)
    header = _make_header(agreement, clock(), dates, parameters)
    report = agreement.report
    if include_text and form in ("json", "html", "md"):
        report = _add_answer_texts(store, report)
    match form:
        case "csv":
            rows = _read_claim_rows(store, agreement, every_passage=include_text)
            return claims_csv(
                rows,
                header,
                dates,
                sample=agreement.readings.design.name,
                metadata=agreement.readings.metadata,
            )
        case "answers":
            return answers_csv(
                _read_answer_rows(store, agreement),
                header,
                dates,
                threshold=agreement.row.spec.rule.effective_threshold,
                sample=agreement.readings.design.name,
            )
        case "json":
            return [report_json(report, header, include_text=include_text, plots=plots)]
        case "html":
            return [report_html(report, header)]
        case "md":
            return [report_markdown(report, header)]


def _add_answer_texts(store: Store, report: AgreementReport) -> AgreementReport:
    """Put what answers say into the list of those on which judge and annotators differ."""
    listed = report.answers.disagreements
    texts = store.claim_details.read_answer_texts({each.conversation for each in listed})
    found = tuple(
        each._replace(answer_text=texts.get((each.conversation, each.turn), "")) for each in listed
    )
    return replace(report, answers=replace(report.answers, disagreements=found))


def _read_claim_rows(
    store: Store, agreement: RunAgreement, *, every_passage: bool
) -> Iterator[tuple[ClaimUnit, ClaimExtras]]:
    """Read what stands beside the claims, some at a time.

    Passages are the bulk of a file, thousands of characters a claim.
    """
    run, labels = agreement.row.id, find_metric(agreement.row.spec.metric).spec.labels
    weights = compute_inverse_probability_weights(agreement.prepared.compared)
    notes = store.claim_details.read_notes(run)
    evidence = store.claim_details.read_marked_evidence(run)
    counted = list_counted_labels(agreement.prepared.compared)
    left = iter(agreement.claims)
    while some := list(islice(left, _AT_ONCE)):
        shown = [
            each.claim
            for each in some
            if every_passage or each.state is not LabelState.UNREVIEWED or each.human is not None
        ]
        passages = store.claim_details.read_passages(run, shown)
        for each in some:
            tied = is_tied(each.opinions, labels.names)
            yield (
                each._replace(human=None) if tied else each,
                ClaimExtras(
                    passages.get(each.claim, ()),
                    weights.get(each.claim),
                    notes.get(each.claim, ()),
                    evidence.get(each.claim, ()),
                    tied,
                    next(counted),
                ),
            )


def _read_answer_rows(store: Store, agreement: RunAgreement) -> Iterator[tuple[AnswerRow, str]]:
    """Read answers and their texts, some at a time: the labelled ones first."""
    row, readings = agreement.row, agreement.readings
    spec, rule = find_metric(row.spec.metric).spec, row.spec.rule
    known: list[tuple[ConversationId, AnswerRow]]
    if spec.judges == "answer":
        weights = compute_inverse_probability_weights(agreement.prepared.compared)
        known = [
            (each.conversation, make_row_of_answer_metric_judges(each, rule, weights))
            for each in agreement.claims
        ]
    else:
        known = [
            (each.conversation, make_row_of_answer_labelled_as_whole(each, rule))
            for each in readings.answers
        ]
        known += [
            (each.conversation, make_row_of_answer_without_whole_label(each))
            for each in readings.unrated
        ]
    for start in range(0, len(known), _AT_ONCE):
        some = known[start : start + _AT_ONCE]
        texts = store.claim_details.read_answer_texts({conversation for conversation, _ in some})
        for conversation, answer in some:
            yield answer, texts.get((conversation, answer.turn), "")


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
    agreement = compute_run_agreement(store, run, settings, other, split)
    return write_report_files(
        store, agreement, formats, directory, clock=clock, include_text=include_text
    )


def write_report_files(
    store: Store,
    agreement: RunAgreement,
    formats: Sequence[Format],
    directory: Path,
    *,
    clock: Callable[[], datetime] = utc_now,
    include_text: bool = False,
) -> tuple[Path, ...]:
    """Write a report that is computed already; see `write_report`.

    Raises:
        ExportError: The directory or a file cannot be written.
    """
    for form in formats:
        try:
            refuse_unwritable_target(directory / FILES[form], force=True)
            _refuse_file_of_no_report(directory / FILES[form], form)
        except ExportError as error:
            sentence = str(error).partition("; ")[0]
            raise ExportError(f"{sentence}; choose another directory with -o") from error
    now = clock()
    dates = read_label_dates(store, agreement.row.id)
    header = _make_header(agreement, now, dates, describe_parameters(store, agreement.row.spec))
    plots = list_plots_of_html_report(agreement.report, header) if "html" in formats else ()
    written = []
    for form in dict.fromkeys(formats):
        path = directory / FILES[form]
        parts = iter_report_text(
            store, agreement, form, clock=lambda: now, include_text=include_text, plots=plots
        )
        try:
            make_private_directory(directory)
        except OSError as error:
            raise ExportError(
                f"{directory} cannot be made: {error.strerror}; choose another directory with -o"
            ) from error
        write_text(path, parts, force=True)
        written.append(path)
    return tuple(written)


def _refuse_file_of_no_report(path: Path, form: Format) -> None:
    """Refuse to replace a file that only has the name; one without a byte may be replaced.

    Raises:
        ExportError: It is there, and no file of a report, or cannot be read.
    """
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING_BYTES)
    except OSError as error:
        raise ExportError(f"{path} is there and cannot be read: {error.strerror}") from error
    if beginning and _BEGINNINGS[form] not in beginning:
        raise ExportError(f"{path} is there already and is no file of a report")


def _make_header(
    agreement: RunAgreement, now: datetime, dates: LabelDates, parameters: str
) -> ReportHeader:
    row = agreement.row
    sources = row.spec.sources
    if agreement.split is not None:
        sources = (f"the {agreement.split} split of {', '.join(sources) or 'all sources'}",)
    return ReportHeader(
        run=row.id,
        metric=row.spec.metric,
        judge=row.spec.judge_title,
        judge_parameters=parameters,
        options={"strategy": row.spec.strategy, "claims": row.spec.claims_from, **row.spec.options},
        sources=sources,
        prompt_digest=row.spec.prompt_digest,
        input_digest=agreement.readings_digest,
        windows=agreement.windows,
        vacuous_windows=agreement.empty_windows,
        unscored_windows=sum(
            each.judge is None
            for each in agreement.readings.scores
            if each.unit is ScoredUnit.WINDOW
        ),
        created_at=row.created_at,
        generated_at=now,
        tool_version=version("faithtui"),
        provenance=dates.make_provenance_by_level(agreement.readings),
    )
