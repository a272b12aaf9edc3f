"""Certificates of runs: what they are made of, and where they lie."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from faithtui.agreement.gate.accuracy_transfer import (
    JudgeAccuracy,
    find_judge_sensitivity_and_specificity,
)
from faithtui.agreement.gate.certificate import (
    CERTIFICATE_SCHEMA_VERSION,
    Certificate,
    ClaimSetIdentity,
    CountingRules,
    CriterionResult,
    GuidelineIdentity,
    LabelFacts,
    MetricIdentity,
    PopulationIdentity,
    RunIdentity,
    SampleIdentity,
    count_verdicts_by_origin,
    hash_conversation_names,
    hash_human_labels,
    make_judge_identity,
    split_window_size_from_options,
)
from faithtui.agreement.gate.certificate_changes import CertificateBinding
from faithtui.agreement.gate.certificate_file import format_certificate, parse_certificate
from faithtui.agreement.gate.threshold_checks import CriterionCheck, GateFigures, Thresholds
from faithtui.agreement.labelled_units import (
    AnswerUnit,
    ClaimUnit,
    LabelDesign,
    Opinion,
    RunUnits,
)
from faithtui.agreement.population import Population
from faithtui.agreement.report.model import PASS, AgreementReport, LevelReport
from faithtui.agreement.report.settings import ReportLevel, ReportSettings
from faithtui.domain.ids import ClaimSetId, RunId
from faithtui.engine.review.reports.agreement_report import RunAgreement, compute_run_agreement
from faithtui.errors import InputError
from faithtui.output_files import write_text
from faithtui.store.annotations.label_provenance import LabelOrigins
from faithtui.store.records import RunRow
from faithtui.store.store import Store


@dataclass(frozen=True, slots=True)
class GateInput:
    """A run with everything that a gate reads of it."""

    agreement: RunAgreement
    origins: LabelOrigins

    @property
    def run_row(self) -> RunRow:
        """The run."""
        return self.agreement.row

    @property
    def readings(self) -> RunUnits:
        """Verdicts and human labels."""
        return self.agreement.readings

    @property
    def report(self) -> AgreementReport:
        """How far they agree."""
        return self.agreement.report

    def get_level_report(self, wanted: ReportLevel | None) -> LevelReport:
        """Give one level; None: the one the report speaks of first."""
        if wanted is None:
            return self.report.primary_level_report
        return self.report.claims if wanted is ReportLevel.CLAIMS else self.report.answers

    def find_newest_label_time(self, level: ReportLevel) -> datetime | None:
        """Say when the newest verdict at a level was given; None without any."""
        origins = self.origins
        return (
            origins.newest_of_judged if level is ReportLevel.CLAIMS else origins.newest_of_answers
        )


def read_gate_input(store: Store, run: RunId, settings: ReportSettings | None = None) -> GateInput:
    """Read a run.

    Args:
        store: Where it is.
        run: The run.
        settings: How labels count; None: the usual.

    Raises:
        StoreError: There is no such run, or the sample asked for cannot carry figures on it.
    """
    found = compute_run_agreement(store, run, settings, with_parts=False)
    matched = [] if found.readings.design.claim_set is None else found.readings.claims
    origins = store.provenance.read_label_origins(run, [each.claim for each in matched])
    return GateInput(found, origins)


def read_certificate_file(path: Path) -> Certificate:
    """Read a certificate from a file.

    Raises:
        InputError: It cannot be read, is none, or was changed.
    """
    try:
        return parse_certificate(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    except InputError as error:
        raise InputError(error.reason, path=path, field=error.field) from error


def make_metric_identity(row: RunRow) -> MetricIdentity:
    """Say what a run asked, and how it was scored."""
    spec = row.spec
    size, options = split_window_size_from_options(spec.options)
    return MetricIdentity(
        name=spec.metric,
        version=spec.metric_version,
        peer=spec.peer,
        strategy=spec.strategy,
        window_size=size,
        options=options,
        claims=spec.claims_from,
        passing=spec.rule.passing,
        bar=spec.rule.effective_threshold,
        prompt=spec.prompt_digest,
        examples=spec.example_set,
    )


def find_guideline_identity(store: Store, metric: str) -> GuidelineIdentity | None:
    """Name the guideline that was set for a metric; None: its default is in force."""
    found = store.guidelines.find_version_in_force(metric)
    return None if found is None else GuidelineIdentity(found.number, found.digest)


def make_binding(store: Store, seen: GateInput, level: ReportLevel) -> CertificateBinding:
    """Say what a certificate of a level of a run would be bound to."""
    readings, row = seen.readings, seen.run_row
    return CertificateBinding(
        judge=make_judge_identity(row.spec.judge, row.spec.judge_fingerprint),
        metric=make_metric_identity(row),
        guideline=find_guideline_identity(store, row.spec.metric),
        run=RunIdentity(
            row.id,
            row.created_at,
            hash_conversation_names(readings.claims, readings.answers),
            seen.agreement.readings_digest,
        ),
        sample=_make_sample_identity(store, seen.get_level_report(level).design),
        labels=hash_run_labels(seen, level),
    )


def hash_run_labels(seen: GateInput, level: ReportLevel) -> str:
    """Hash the human labels of a run; of a claim set, those of its claims alone."""
    is_set = seen.get_level_report(level).design.claim_set is not None
    return hash_human_labels(seen.readings.claims, () if is_set else seen.readings.answers)


def find_certified_set(store: Store, certificate: Certificate) -> ClaimSetId | None:
    """Find the claim set that was certified; None where it was none, or is not here as it was."""
    wanted = certificate.sample.claim_set
    if wanted is None:
        return None
    for each in store.claim_sets.list_versions():
        if (each.name, each.version, each.digest) == (wanted.name, wanted.version, wanted.digest):
            return each.id
    return None


def _make_sample_identity(store: Store, design: LabelDesign) -> SampleIdentity:
    if design.claim_set is not None:
        found = store.claim_sets.read_version(design.claim_set)
        return SampleIdentity(
            design.kind,
            found.sample_uid,
            found.seed,
            found.drawn,
            found.frame,
            ClaimSetIdentity(found.name, found.version, found.digest),
        )
    if design.sample is None:
        return SampleIdentity(design.kind, None, None, None, design.frame_units)
    row = store.samples.read_sample(design.sample, "")
    return SampleIdentity(
        design.kind,
        row.uid,
        row.seed,
        row.size,
        row.frame,
        population=None if row.population is None else _make_population_identity(row.population),
    )


def _make_population_identity(population: Population) -> PopulationIdentity:
    counts = zip(population.strata, population.claim_counts_by_stratum, strict=True)
    return PopulationIdentity(
        population.results,
        population.digest,
        population.claim_count,
        population.conversation_count,
        population.failed_conversation_count,
        tuple((each.name, claims) for each, claims in counts),
        population.judged,
    )


def make_certificate(
    store: Store,
    seen: GateInput,
    level: LevelReport,
    found: GateFigures,
    thresholds: Thresholds,
    results: Sequence[CriterionCheck],
    now: datetime,
) -> Certificate:
    """Put together what was found; everything passed, so there are labels."""
    newest = seen.find_newest_label_time(level.level)
    assert newest is not None
    bound = make_binding(store, seen, level.level)
    readings, settings = seen.readings, seen.report.settings
    is_claims = level.level is ReportLevel.CLAIMS
    opinions = list_counted_opinions(
        *((readings.claims, ()) if is_claims else ((), readings.answers))
    )
    under, others = count_labels_by_current_guideline(store, seen)
    counts = count_verdicts_by_origin(opinions)
    given_here = counts["blind"] + counts["shown"]
    return Certificate(
        schema_version=CERTIFICATE_SCHEMA_VERSION,
        issued_at=now,
        tool_version=version("faithtui"),
        judge=bound.judge,
        metric=bound.metric,
        guideline=bound.guideline,
        run=bound.run,
        sample=bound.sample,
        labels=LabelFacts(
            digest=bound.labels,
            newest_at=newest,
            n=found.labels,
            groups=found.groups,
            reviewers=len({each.reviewer for each in opinions}),
            blind_share=counts["blind"] / given_here if given_here else None,
            **counts,
            bulk=level.coverage.bulk_accepted,
            under_guideline=under,
            under_others=others,
        ),
        measured=found,
        accuracy=make_certified_accuracy(seen, level),
        thresholds=thresholds,
        results=tuple(
            CriterionResult(each.criterion, each.threshold, each.outcome) for each in results
        ),
        counting=CountingRules(settings.idk, settings.blind_only),
    )


def make_certified_accuracy(seen: GateInput, level: LevelReport) -> JudgeAccuracy | None:
    """Give what a certificate says of the judge, for runs without labels."""
    is_claims = level.level is ReportLevel.CLAIMS
    passing = seen.agreement.prepared.recoded_rule.passing if is_claims else (PASS,)
    return find_judge_sensitivity_and_specificity(level, passing)


def write_certificate_file(path: Path, certificate: Certificate, *, force: bool) -> None:
    """Write a certificate to a file, whole or not at all, as `write_atomically` does.

    Raises:
        ExportError: It is a store, is there already, or cannot be written.
    """
    write_text(path, [format_certificate(certificate)], force=force)


def count_labels_by_current_guideline(store: Store, seen: GateInput) -> tuple[int, int]:
    """Count verdicts under the guideline in force, and under another or none.

    While no guideline was set, those given under a default count as under it, and so do
    those that name none: they are older than the defaults.
    """
    given = seen.origins.guidelines
    guideline = find_guideline_identity(store, seen.run_row.spec.metric)
    if guideline is not None:
        wanted: set[str | None] = {guideline.digest}
    else:
        wanted = {None, *store.guidelines.list_default_digests()}
    under = sum(given.get(each, 0) for each in wanted)
    return under, sum(given.values()) - under


def list_counted_opinions(
    claims: Sequence[ClaimUnit], answers: Sequence[AnswerUnit]
) -> list[Opinion]:
    """List the labels that count."""
    return [
        *(opinion for each in claims for opinion in each.opinions),
        *(opinion for each in answers for opinion in each.opinions),
    ]
