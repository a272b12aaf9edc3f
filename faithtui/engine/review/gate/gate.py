"""The gate: a run's agreement with annotators against thresholds, and certificates of it.

A run that annotators labelled is held against the thresholds itself. A run that nobody labelled can
be held against a certificate of the same judge: the certificate brings kappa and recall, and the
run's own share of passing claims is corrected by the accuracy that was certified.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from faithtui.agreement.gate.accuracy_transfer import (
    correct_other_run_fail_rate,
    estimate_other_run_pass_rate,
)
from faithtui.agreement.gate.certificate import (
    Certificate,
    CountingRules,
    hash_conversation_names,
    make_judge_identity,
)
from faithtui.agreement.gate.certificate_changes import (
    is_judge_change_phrase,
    list_figure_changes,
    list_guideline_changes,
    list_guideline_label_and_sample_changes,
    list_issue_date_problems,
    list_judge_and_metric_changes,
    list_run_date_changes,
)
from faithtui.agreement.gate.threshold_checks import (
    CLOCKS_DIFFER,
    CheckOutcome,
    Criterion,
    CriterionCheck,
    GateFigures,
    ThresholdBasis,
    Thresholds,
    check_figures_against_thresholds,
    choose_worst_outcome,
    describe_outcome,
    explain_doubtful_figures,
    select_figures_gate_may_rely_on,
)
from faithtui.agreement.gate.undecided_criteria import explain_missing_figures
from faithtui.agreement.gate.warning_checks import (
    CONVENIENCE_WARNING,
    make_doubtful_checks_undecided,
    validate_accepted_warning_codes,
)
from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.population_text import describe_population, describe_unmeasured_results
from faithtui.agreement.report.model import LevelReport
from faithtui.agreement.report.settings import (
    ReportLevel,
    ReportSettings,
    ReportWarning,
    Severity,
)
from faithtui.agreement.statistics.pass_rates import OutsideRate
from faithtui.clock import utc_now
from faithtui.domain.estimates import LEVEL, Estimate, EstimateStatus
from faithtui.domain.ids import RunId, SampleId
from faithtui.domain.integrity.run_summary import Soundness
from faithtui.domain.labels.label_sets import Polarity
from faithtui.domain.labels.rater_kinds import find_machine_labeller_names
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.engine.integrity.judged_conversations import format_integrity_sentence
from faithtui.engine.review.examples_from_labels import read_stored_examples
from faithtui.engine.review.gate import certificates
from faithtui.engine.review.gate.certificates import GateInput, read_gate_input
from faithtui.engine.review.gate.chosen_labels import find_label_selection
from faithtui.engine.review.gate.gate_change import check_accuracy_against_earlier_run
from faithtui.engine.runs.run_liveness import read_run_marking_interrupted
from faithtui.errors import ConfigError
from faithtui.metrics.registry import find_metric
from faithtui.output_files import refuse_unwritable_target
from faithtui.store.records import RunRow, RunState
from faithtui.store.store import Store

MANY_FAILED = 0.05
"""Share of a run's conversations that may have failed: the rest no longer stands for the run."""

_DAY_S = 86_400
_DATED = ("run", "newest label")

_CLIPPED = (
    "corrected by the certified accuracy the score would lie beyond 0 or 1, so it is shown as the "
    "end: the judge flags less, or more, than it should even by its own faults, and may not err "
    "here as it did on the certified run"
)
_UNDRAWN = (
    "the labelled {many} are no random sample: --among-labelled accepts kappa and recall of "
    "the labelled ones alone; for the whole run draw a sample (faithtui label {run} --sample "
    "simple) and gate with --level claims"
)
_ORDER_BROKEN = (
    "too many {many} of the sample are skipped, or come before labelled ones in the drawn order "
    "and are passed over or accepted as the judge said, so that the labelled ones are no random "
    "sample: label these too, or accept kappa and recall of the labelled ones alone with "
    "--among-labelled"
)
_PARTLY_JUDGED = (
    "run {run} judged the drawn claims rather than the others, or the other way round, so that its "
    "figures are counted without the weights of the drawing, and none decides: judge all that "
    "could be drawn (faithtui run --claims)"
)
_BORROWED = (
    "kappa and recall are the certificate's; a corrected score without labels of its own takes the "
    "judge to err here as it did on the certified run"
)
_NARROW_RECALL = (
    "recall of no is of {bad} alone; run {run} fails {failing}, which is what its report's first "
    "sentence and faithtui plan count as unfaithful: --idk live asks for the recall of these"
)
_NO_CHANGE = (
    "the certified largest drop is not asked: this run judged other conversations than the "
    "certified one"
)
_CONTRADICTED = (
    "the labels of run {run} itself contradict the certificate: its own {figure} lies below the "
    "threshold with its whole interval"
)
_OWN_LABELS = (
    "run {run} has {count} labels of its own: kappa, recall and score are its own, not the "
    "certificate's"
)


@dataclass(frozen=True, slots=True)
class GateRequest:
    """What is asked of a run. None: not asked, or as the certificate says."""

    kappa: float | None = None
    recall_no: float | None = None
    score: float | None = None
    labels: int | None = None
    age_days: float | None = None
    basis: ThresholdBasis | None = None
    max_drop: float | None = None
    """By how much accuracy may be lower than that of an earlier run."""
    against: RunId | None = None
    """That run; None: the certified one."""
    among_labelled: bool = False
    accept: tuple[str, ...] = ()
    """Codes of the report's warnings that are accepted."""
    level: ReportLevel | None = None
    """None: the certificate's, else the one the report speaks of first."""
    idk: IdkRule | None = None
    """How `idk` is treated; None: as certified, else as a label of its own."""
    blind_only: bool | None = None
    """Count blind labels only; None: as certified, else all."""
    sample: SampleId | None = None
    """The sample to rest on; None: the one with the most labels of those labelled in order."""
    claim_set: str | None = None
    """Name of the claim set to rest on, to whose claims the run's own are matched."""
    certificate: Path | None = None
    write: Path | None = None
    """Where a certificate is written."""
    force: bool = False
    """Replace a file that is there already with the certificate."""

    @property
    def has_thresholds(self) -> bool:
        """Whether any threshold is named."""
        asked = (
            *(self.kappa, self.recall_no, self.score),
            *(self.labels, self.age_days, self.max_drop),
        )
        return any(each is not None for each in asked)


@dataclass(frozen=True, slots=True)
class GateResult:
    """What came of it."""

    row: RunRow
    outcome: CheckOutcome
    checks: tuple[CriterionCheck, ...]
    broken: tuple[str, ...]
    """Why nothing can be relied on, one sentence each: changes since the certificate and more."""
    notes: tuple[str, ...]
    """What to know about the figures, and what could not be verified."""
    thresholds: Thresholds
    settings: ReportSettings
    """How labels were counted."""
    measured: GateFigures
    certificate: Certificate | None
    """The one that was read."""
    written: Path | None
    """Where the new one is."""


def check_gate_and_write_certificate_if_passed(
    store: Store, run: RunId, order: GateRequest, *, clock: Callable[[], datetime] = utc_now
) -> GateResult:
    """Hold a run against thresholds, and against a certificate where one is named.

    A new certificate is written only when everything passed.

    Raises:
        ConfigError: No threshold is named, or one that cannot be.
        ExportError: The certificate cannot be written there.
        InputError: The certificate cannot be read, or was changed.
        StoreError: There is no such run.
    """
    certificate = (
        None if order.certificate is None else certificates.read_certificate_file(order.certificate)
    )
    if not order.has_thresholds and certificate is None:
        raise ConfigError(
            "nothing is asked; name a threshold such as --min-kappa 0.6, or --certificate FILE"
        )
    if certificate is not None and order.level not in (None, certificate.measured.level):
        raise ConfigError(
            f"the certificate is about {certificate.measured.level}; leave out --level"
        )
    if order.write is not None:
        refuse_unwritable_target(order.write, force=order.force)
    thresholds = _choose_thresholds(order, certificate)
    if (
        certificate is not None or order.write is not None
    ) and not thresholds.asks_for_judge_figure:
        raise ConfigError(
            "a certificate of no figure says nothing of the judge; name a threshold such as "
            "--min-kappa 0.6"
        )
    settings = _choose_settings(order, certificate)
    if order.claim_set is not None:
        if order.sample is not None:
            raise ConfigError("--set and --sample name two designs; leave one of them out")
        settings = replace(
            settings, claim_set=store.claim_sets.find_version_by_name(order.claim_set).id
        )
    elif certificate is not None and order.sample is None:
        settings = replace(settings, claim_set=certificates.find_certified_set(store, certificate))
    now = clock()
    seen = read_gate_input(store, run, settings)
    selection = find_label_selection(store, seen.run_row, seen.readings)
    warnings = (
        *seen.report.warnings,
        *_list_shown_example_warnings(store, seen),
        *selection.warnings,
    )
    level = seen.get_level_report(
        order.level or (certificate.measured.level if certificate else None)
    )
    found = select_figures_gate_may_rely_on(level, among_labelled=thresholds.among_labelled)
    newest_label_at = seen.find_newest_label_time(level.level)
    evidence_at = None if newest_label_at is None else min(seen.run_row.created_at, newest_label_at)
    state = read_run_marking_interrupted(store, seen.run_row.id).state
    broken = [
        *_list_run_unreliable_reasons(replace(seen.run_row, state=state)),
        *_list_unjudged_population_reasons(seen),
        *_list_machine_label_reasons(store, seen),
    ]
    dates = _list_date_reasons(seen.run_row, newest_label_at, now)
    if thresholds.age_days is None or certificate is not None or len(dates) < len(_DATED):
        # With both dated after now the age says so.
        broken += dates
    notes = [
        *_list_population_notes(seen),
        *_list_integrity_notes(seen.run_row),
        *_list_other_guideline_notes(store, seen),
    ]
    if certificate is not None:
        notes += _list_missing_claim_set_notes(certificate, settings)
        evidence_at = certificate.earlier_of_run_and_newest_label
        changes, unseen = _compare_certificate_with_store(store, seen, certificate)
        notes += unseen
        if thresholds.max_drop is not None and _is_on_certified_conversations(certificate, seen):
            # Another judge or prompt is what is asked about, and its figures are its own.
            notes += [each for each in changes if is_judge_change_phrase(each)]
            changes = [each for each in changes if not is_judge_change_phrase(each)]
        broken += [*changes, *list_issue_date_problems(certificate, now)]
    own = certificate is None or _is_on_certified_conversations(certificate, seen)
    if not own and _has_enough_labels(found, thresholds):
        own = True
        notes.append(_OWN_LABELS.format(run=run, count=found.labels))
    known, forecast, labelled = level.rate.corrected_this_run, level.rate.corrected_future, run
    if certificate is not None and not own:
        found, clipped, below = _merge_certified_and_own_figures(
            certificate, level, found, thresholds
        )
        notes += [_BORROWED, *([_CLIPPED] if clipped else [])]
        notes += [_CONTRADICTED.format(run=run, figure=each) for each in below]
        labelled = RunId(certificate.run.number)
        if not known.has_interval:
            known, forecast = certificate.measured.score, found.score
    lower_end = own and thresholds.basis is ThresholdBasis.LOWER
    doubted = explain_doubtful_figures(found, known, forecast, str(labelled), lower_end=lower_end)
    age = None if evidence_at is None else (now - evidence_at).total_seconds() / _DAY_S
    results = check_figures_against_thresholds(found, thresholds, age, doubted)
    if thresholds.max_drop is not None:
        if _is_drop_certified_on_other_data(order, certificate, seen):
            notes.append(_NO_CHANGE)
        else:
            results += (
                _check_accuracy_drop(
                    store, seen, order, thresholds.max_drop, certificate, settings
                ),
            )
    of_labels = _list_criteria_not_certified(level, own=own)
    results = make_doubtful_checks_undecided(
        results,
        warnings,
        seen.agreement.prepared,
        level,
        thresholds,
        of_labels=of_labels,
        doubtful=selection.doubtful,
    )
    results = explain_missing_figures(results, level, str(run), of_labels)
    notes += [
        f"accepted: {each.message}"
        for each in warnings
        if each.code in thresholds.accepted and each.level in (None, level.level)
    ]
    outcome = (
        CheckOutcome.STALE if broken else choose_worst_outcome(each.outcome for each in results)
    )
    if thresholds.recall_no is not None:
        notes += _list_recall_notes(seen.run_row, settings, level.level)
    if any(
        each.estimate and each.estimate.reason is WithheldReason.DESIGN_NOT_RANDOM
        for each in results
    ):
        note = _PARTLY_JUDGED if level.design.follows_draw else _UNDRAWN
        if level.design.is_order_broken:
            note = _ORDER_BROKEN
        notes.append(note.format(many=level.unit[1], run=run))
    written = None
    if order.write is not None and not own:
        raise ConfigError(
            f"run {run} has no labels of its own to certify; name the run that annotators labelled"
        )
    if order.write is not None and outcome is CheckOutcome.PASSED:
        written = order.write
        certificate = certificates.make_certificate(
            store, seen, level, found, thresholds, results, now
        )
        certificates.write_certificate_file(written, certificate, force=order.force)
    elif order.write is not None:
        notes.append(f"no certificate is written: {describe_outcome(outcome, results)}")
    return GateResult(
        row=seen.run_row,
        outcome=outcome,
        checks=results,
        broken=tuple(dict.fromkeys(broken)),
        notes=tuple(notes),
        thresholds=thresholds,
        settings=settings,
        measured=found,
        certificate=certificate,
        written=written,
    )


def _list_recall_notes(row: RunRow, settings: ReportSettings, level: ReportLevel) -> list[str]:
    """Say where the recall that is asked leaves out claims that fail in the run."""
    if settings.idk is not IdkRule.THREE or level is not ReportLevel.CLAIMS:
        return []
    labels = find_metric(row.spec.metric).spec.labels
    bad = [each.name for each in labels.labels if each.polarity is Polarity.BAD]
    failing = [name for name in labels.names if name not in row.spec.rule.passing]
    if failing == bad:
        return []
    found = _NARROW_RECALL.format(bad=" and ".join(bad), run=row.id, failing=" and ".join(failing))
    return [found]


def _list_criteria_not_certified(level: LevelReport, *, own: bool) -> tuple[Criterion, ...]:
    """List the figures that come from the labels of the run at hand, not from a certificate."""
    if own:
        return (Criterion.KAPPA, Criterion.RECALL, Criterion.SCORE, Criterion.CHANGE)
    # A change is measured on labels that both runs share.
    return (
        (Criterion.SCORE, Criterion.CHANGE)
        if _has_corrected_score_interval(level)
        else (Criterion.CHANGE,)
    )


def _has_enough_labels(found: GateFigures, thresholds: Thresholds) -> bool:
    """Say whether a run has labels enough to be held against thresholds itself."""
    has_interval = found.kappa.has_interval or found.recall_no.has_interval
    return has_interval and found.labels >= thresholds.labels


def _check_accuracy_drop(
    store: Store,
    seen: GateInput,
    order: GateRequest,
    most: float,
    certificate: Certificate | None,
    settings: ReportSettings,
) -> CriterionCheck:
    """Hold accuracy against that of the run that is named, or that was certified."""
    thresholds = _choose_thresholds(order, certificate)
    against = order.against or _find_certified_run_id(store, certificate)
    if order.max_drop is None and against == seen.run_row.id:
        return CriterionCheck(
            Criterion.CHANGE,
            0.0 - most,
            CheckOutcome.PASSED,
            0.0,
            reason="this is the certified run",
        )
    return check_accuracy_against_earlier_run(
        store,
        seen.run_row,
        against,
        most,
        settings,
        thresholds,
    )


def _is_drop_certified_on_other_data(
    order: GateRequest, certificate: Certificate | None, seen: GateInput
) -> bool:
    """Say whether a largest drop was certified, and the run judged other conversations.

    There is no change to be measured then, and the certificate's other figures decide. Where the
    drop is all that was asked, it is asked all the same.
    """
    if certificate is None or order.max_drop is not None or order.against is not None:
        return False
    known = certificate.thresholds
    has_others = any(each is not None for each in (known.kappa, known.recall_no, known.score))
    return has_others and not _is_on_certified_conversations(certificate, seen)


def _has_corrected_score_interval(level: LevelReport) -> bool:
    own = level.rate.corrected_this_run
    return own.status is EstimateStatus.OK and own.has_interval


def _choose_thresholds(order: GateRequest, certificate: Certificate | None) -> Thresholds:
    """Put what was ordered before what was certified.

    Raises:
        ConfigError: A threshold that cannot be.
    """
    ranges: tuple[tuple[str, float | None, float, float], ...] = (
        ("--min-kappa", order.kappa, -1, 1),
        ("--min-recall-no", order.recall_no, 0, 1),
        ("--min-score", order.score, 0, 1),
    )
    for name, value, low, high in ranges:
        # A comparison with NaN is false, so NaN is refused too.
        if value is not None and not low <= value <= high:
            raise ConfigError(f"{name} is {value}; expected {low} to {high}")
    if order.labels is not None and order.labels < 1:
        raise ConfigError(f"--min-labels is {order.labels}; expected 1 or more")
    if order.age_days is not None and not 0 <= order.age_days < float("inf"):
        raise ConfigError(f"--max-age is {order.age_days}; expected 0 or more days")
    known = Thresholds() if certificate is None else certificate.thresholds
    given = {
        name: value
        for name in ("kappa", "recall_no", "score", "labels", "age_days", "basis", "max_drop")
        if (value := getattr(order, name)) is not None
    }
    accepted = validate_accepted_warning_codes((*known.accepted, *order.accept))
    among_labelled = known.among_labelled or order.among_labelled or CONVENIENCE_WARNING in accepted
    return replace(known, **given, among_labelled=among_labelled, accepted=accepted)


def _choose_settings(order: GateRequest, certificate: Certificate | None) -> ReportSettings:
    """Put how labels were counted for a certificate before what is usual.

    Raises:
        ConfigError: They were counted otherwise than it is ordered.
    """
    known = CountingRules() if certificate is None else certificate.counting
    if certificate is not None:
        if order.idk not in (None, known.idk):
            raise ConfigError(
                f"the certificate was written with --idk {known.idk.option_word}; leave out --idk"
            )
        if order.blind_only not in (None, known.blind_only):
            counted = "blind verdicts only" if known.blind_only else "all verdicts"
            raise ConfigError(f"the certificate counts {counted}; leave out --blind-only")
    return ReportSettings(
        idk=known.idk if order.idk is None else order.idk,
        blind_only=known.blind_only if order.blind_only is None else order.blind_only,
        sample=order.sample,
    )


def _list_date_reasons(row: RunRow, newest_label_at: datetime | None, now: datetime) -> list[str]:
    """Say that the run or its newest label is dated after now, by more than clocks differ."""
    return [
        f"the {name} is dated {date:%Y-%m-%d}, which is after now: one of the clocks is wrong"
        for name, date in zip(_DATED, (row.created_at, newest_label_at), strict=True)
        if date is not None and (date - now).total_seconds() > CLOCKS_DIFFER * _DAY_S
    ]


def _list_run_unreliable_reasons(row: RunRow) -> list[str]:
    """Say why a run as such cannot be relied on."""
    if row.state is not RunState.DONE or row.pending:
        return [
            f"run {row.id} is not finished ({row.state}): faithtui run --resume {row.id} goes on"
        ]
    if row.failed > MANY_FAILED * row.conversations:
        return [
            f"the judge failed on {row.failed} of {row.conversations} conversations of run "
            f"{row.id}: the rest does not stand for the run"
        ]
    return []


def _list_unjudged_population_reasons(seen: GateInput) -> list[str]:
    """Say that too much of a population could not be judged."""
    population = seen.readings.design.population
    if population is None or population.failed_share <= MANY_FAILED:
        return []
    return [
        f"the judge failed on {population.failed_conversation_count:,} of "
        f"{population.conversation_count:,} conversations "
        f"of {population.results}: the rest does not stand for all"
    ]


def _list_population_notes(seen: GateInput) -> list[str]:
    """Say what the figures are about, where only drawn conversations are in the store."""
    population = seen.readings.design.population
    if population is None:
        return []
    notes = [f"the figures are about {describe_population(population)}"]
    notes += describe_unmeasured_results(population)
    bounds = None if seen.report.population is None else seen.report.population.bounds
    if bounds is not None:
        notes.append(
            f"with the claims of failed conversations counted as failing, and as passing, the "
            f"share that passes lies between {bounds.low:.1%} and {bounds.high:.1%}"
        )
    return notes


def _list_integrity_notes(row: RunRow) -> list[str]:
    """Say that the score of a run rests on what nobody said, or that nobody looked."""
    if row.integrity.soundness not in (Soundness.SUSPECT, Soundness.UNCHECKED):
        return []
    return [f"run {row.id}: {format_integrity_sentence(row.spec.metric, row.integrity)}"]


def _list_machine_label_reasons(store: Store, seen: GateInput) -> list[str]:
    """Refuse labels that a machine gave."""
    readings = seen.readings
    names = {
        each.reviewer
        for each in certificates.list_counted_opinions(readings.claims, readings.answers)
    }
    found = find_machine_labeller_names(names, {row.spec.judge for row in store.runs.list_runs()})
    if not found:
        return []
    return [
        f"labels by {', '.join(found)} are a machine's, not human labels; gate a store without them"
    ]


def _list_shown_example_warnings(store: Store, seen: GateInput) -> tuple[ReportWarning, ...]:
    """Warn of labelled claims of conversations that the judge was shown examples of."""
    shown = {each.group for each in read_stored_examples(store, seen.run_row.spec.example_set)}
    taught = sum(bool(each.opinions) and each.group in shown for each in seen.readings.claims)
    if not taught:
        return ()
    claims = "labelled claim is" if taught == 1 else "labelled claims are"
    message = (
        f"{taught} {claims} of conversations that the judge was shown examples of: the figures "
        "flatter it."
    )
    return (ReportWarning("shown_examples", Severity.CAUTION, message, None, ()),)


def _list_other_guideline_notes(store: Store, seen: GateInput) -> list[str]:
    """Say what blurs the figures."""
    notes = []
    _, others = certificates.count_labels_by_current_guideline(store, seen)
    if others:
        verdicts = "verdict was" if others == 1 else "verdicts were"
        notes.append(f"{others} {verdicts} not given under the guideline that is in force")
    return notes


def _compare_certificate_with_store(
    store: Store, seen: GateInput, certificate: Certificate
) -> tuple[list[str], list[str]]:
    """Compare a certificate with what is here.

    Returns:
        What changed, and what could not be verified because it is not here.
    """
    spec, metric = seen.run_row.spec, certificates.make_metric_identity(seen.run_row)
    if certificates.hash_run_labels(seen, certificate.measured.level) == certificate.labels.digest:
        # The labelled claims are those that were certified, whoever worded them.
        metric = replace(metric, claims=certificate.metric.claims)
    broken = list_judge_and_metric_changes(
        certificate, make_judge_identity(spec.judge, spec.judge_fingerprint), metric
    )
    settings = replace(seen.report.settings, sample=None)
    certified = (
        seen
        if _is_on_certified_conversations(certificate, seen)
        else _find_certified_run(store, certificate, settings)
    )
    if certified is None:
        guideline = certificates.find_guideline_identity(store, certificate.metric.name)
        if guideline is not None:
            return broken + list_guideline_changes(certificate, guideline), [
                _format_unverified("labels, sample")
            ]
        return broken, [_format_unverified("labels, sample, guideline")]
    broken += list_guideline_label_and_sample_changes(
        certificate, certificates.make_binding(store, certified, certificate.measured.level)
    )
    if not broken:
        broken += _list_certificate_contradictions(store, certified, certificate, settings)
    return broken + _list_machine_label_reasons(store, certified), []


def _list_certificate_contradictions(
    store: Store, certified: GateInput, certificate: Certificate, settings: ReportSettings
) -> list[str]:
    """Name what the certified run, where it is here, contradicts: its time, or its figures.

    The certified data judged anew have figures of their own, unless the judge said the same.
    """
    if certified.agreement.readings_digest != certificate.run.readings:
        original = _find_certified_run(store, certificate, settings)
        if original is None:
            return []
        certified = original
    number, made_at = certificate.run.number, certified.run_row.created_at
    if certified.run_row.id == number and made_at <= certificate.issued_at:
        changed = list_run_date_changes(certificate, made_at)
        if changed:
            return changed
    return _list_figure_changes(certified, certificate)


def _find_certified_run_by_number(
    store: Store, certificate: Certificate, settings: ReportSettings
) -> GateInput | None:
    """Find the run whose number, judge and labels are the certified ones, but not its time.

    One that was made after the certificate was issued has its number by chance, in another store.
    """
    for row in store.runs.list_runs():
        if row.id != certificate.run.number or row.created_at > certificate.issued_at:
            continue
        if row.spec.judge_fingerprint != certificate.judge.fingerprint:
            continue
        found = read_gate_input(store, row.id, settings)
        digest = certificates.hash_run_labels(found, certificate.measured.level)
        return found if digest == certificate.labels.digest else None
    return None


def _list_figure_changes(certified: GateInput, certificate: Certificate) -> list[str]:
    """Compare the figures of a certificate with those of its labels, which are here."""
    level = certified.get_level_report(certificate.measured.level)
    return list_figure_changes(
        certificate,
        select_figures_gate_may_rely_on(
            level, among_labelled=certificate.thresholds.among_labelled
        ),
        certificates.make_certified_accuracy(certified, level),
    )


def _list_missing_claim_set_notes(certificate: Certificate, settings: ReportSettings) -> list[str]:
    """Say that the claim set of a certificate is not here, or not as it was."""
    wanted = certificate.sample.claim_set
    if wanted is None or settings.claim_set is not None:
        return []
    return [
        f"the certified claim set {wanted.name} version {wanted.version} is not in this store as "
        "it was: faithtui claim-set import brings it"
    ]


def _format_unverified(what: str) -> str:
    return f"not verified, as the certified run is not in this store: {what}"


def _is_on_certified_conversations(certificate: Certificate, seen: GateInput) -> bool:
    """Say whether a run is the certified one, or its labelled conversations judged anew.

    Without labels conversations of the same names are not the same data: a chatbot that is tested
    on the same questions answers them anew.
    """
    if certificate.run.created_at == seen.run_row.created_at:
        return True
    if seen.origins.newest_at is None:
        return False
    here = hash_conversation_names(seen.readings.claims, seen.readings.answers)
    return certificate.run.conversations == here


def _find_certified_run_id(store: Store, certificate: Certificate | None) -> RunId | None:
    """Find the run that was certified.

    Raises:
        ConfigError: There is no certificate.
    """
    if certificate is None:
        raise ConfigError("--max-drop needs a run to compare with; name it with --against RUN")
    wanted = certificate.run.created_at
    return next((each.id for each in store.runs.list_runs() if each.created_at == wanted), None)


def _find_certified_run(
    store: Store, certificate: Certificate, settings: ReportSettings
) -> GateInput | None:
    """Look for the certified run in the store."""
    number = _find_certified_run_id(store, certificate)
    if number is None:
        return _find_certified_run_by_number(store, certificate, settings)
    return read_gate_input(store, number, settings)


def _merge_certified_and_own_figures(
    certificate: Certificate, level: LevelReport, own: GateFigures, thresholds: Thresholds
) -> tuple[GateFigures, bool, list[str]]:
    """Take the certified figures, with the score of the run at hand.

    Few labels of the run itself cannot show that it is good enough, and they can show that it is
    not: a figure whose whole interval lies below the threshold is its own.

    Returns:
        The figures, whether that score had to be clipped to be a share, and which figures the run's
        own labels contradict.
    """
    measured, below = certificate.measured, []
    if _is_below(own.kappa, thresholds.kappa):
        measured, below = replace(measured, kappa=own.kappa), ["kappa"]
    if _is_below(own.recall_no, thresholds.recall_no):
        measured, below = replace(measured, recall_no=own.recall_no), [*below, "recall"]
    if _has_corrected_score_interval(level):
        return replace(measured, score=level.rate.corrected_this_run), False, below
    accuracy, judge = certificate.accuracy, level.rate.judge_raw
    outside = None if accuracy is None else correct_other_run_fail_rate(accuracy, judge, LEVEL)
    score = estimate_other_run_pass_rate(accuracy, judge, LEVEL)
    clipped = (
        isinstance(outside, OutsideRate) and outside.is_out_of_range and score.value is not None
    )
    return replace(measured, score=score), clipped, below


def _is_below(own: Estimate, threshold: float | None) -> bool:
    return threshold is not None and own.ci_high is not None and own.ci_high < threshold
