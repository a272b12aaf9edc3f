"""The embedded judge's probabilities and verdicts, fitted to the human labels of a project.

Probabilities and the threshold of verdicts are two things: each is applied by itself. Nothing here
happens by itself: somebody sees the effect, applies it, and may withdraw it. Runs that were made
keep what they say; new ones say what moved theirs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from faithtui.agreement.labelled_units import (
    RANDOM_DESIGNS,
    ClaimUnit,
    DesignKind,
    LabelState,
    RunUnits,
    is_tied,
)
from faithtui.agreement.statistics.labelled_probabilities import (
    LabelledProbability,
    explain_recalibration_refusal,
    scale_weights_to_effective_size,
)
from faithtui.agreement.statistics.recalibration import (
    Recalibration,
    RecalibrationEffect,
    evaluate_recalibration,
    log_odds,
)
from faithtui.agreement.statistics.verdict_threshold import ThresholdEffect, evaluate_threshold
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, LabelSet, Polarity
from faithtui.errors import ConfigError
from faithtui.judges.embedded.embedded_judge import make_offline_fingerprint
from faithtui.judges.embedded.weights import Calibration
from faithtui.metrics.registry import find_metric
from faithtui.store.calls.recalibrations import StoredRecalibration
from faithtui.store.records import RunRow
from faithtui.store.store import Store

OFFLINE = "offline"
"""The only judge that can be recalibrated: the others state no probability of their own."""
_VERDICTS = ";verdicts"
"""After the judge's fingerprint: a stored recalibration that moves verdicts alone."""


class LeftOut(StrEnum):
    """Why a claim that somebody acted on does not count. Exported word for word."""

    NOT_A_CLAIM = "not_a_claim"
    TIED = "tied"
    OTHER_WORDS = "other_words"
    NO_PROBABILITY = "no_probability"
    AUDIT = "audit"
    OUTSIDE_SAMPLE = "outside_sample"
    NOT_WEIGHED = "not_weighed"
    IN_VIEW = "in_view"
    STALE = "stale"
    SKIPPED = "skipped"
    BULK = "bulk"
    WHOLE_ANSWERS = "whole_answers"
    OTHER_RUNS = "other_runs"

    @property
    def words(self) -> str:
        """What is to be read after a number of claims."""
        return _LEFT_OUT_WORDS[self]


_LEFT_OUT_WORDS = {
    LeftOut.NOT_A_CLAIM: "labelled x, not a fair claim",
    LeftOut.TIED: "annotators are evenly split",
    LeftOut.OTHER_WORDS: "the label is none of the run's metric",
    LeftOut.NO_PROBABILITY: "the run's metric gives claims no probability",
    LeftOut.AUDIT: "drawn to be labelled with the judge's verdict in view (audit_share)",
    LeftOut.OUTSIDE_SAMPLE: "outside the sample that the run's labels rest on",
    LeftOut.NOT_WEIGHED: "drawn, but what they stand for is not known",
    LeftOut.IN_VIEW: "labelled with the judge's verdict in view, and nobody drew them",
    LeftOut.STALE: "labelled with a verdict in view that has changed since",
    LeftOut.SKIPPED: "skipped",
    LeftOut.BULK: "answered in bulk, or by accepting the judge's verdict",
    LeftOut.WHOLE_ANSWERS: "answers labelled as a whole",
    LeftOut.OTHER_RUNS: "judged in other runs alone, not by this judge in its present version",
}


@dataclass(frozen=True, slots=True)
class RecalibrationPreview:
    """What recalibrating would do, before anything is done."""

    judge: str
    """Fingerprint of the judge as shipped."""
    runs: tuple[RunId, ...]
    """Runs whose claims are labelled, the newest first."""
    effect: RecalibrationEffect
    verdicts: ThresholdEffect
    effective_labels: float
    """Labels of equal weight that would tell as much."""
    in_force: StoredRecalibration | None
    """What new runs use at present."""
    threshold_in_force: StoredRecalibration | None
    left_out: Mapping[LeftOut, int]
    """Claims that somebody acted on and that do not count, each with one reason."""


def preview_recalibration(store: Store, run: RunId | None = None) -> RecalibrationPreview:
    """Fit the embedded judge to human labels of its claims, and say what it would change.

    A claim that several runs judged counts once, with its newest probability. Claims labelled `x`,
    ties, and those without a probability, do not count; nor do labels
    given with the verdict in view on claims that nobody drew.

    Args:
        store: Where runs and labels are.
        run: Only the claims of this run; None: of all runs of the judge in its present version.

    Raises:
        ConfigError: The run is by another judge or by another version, or the labels allow no
            recalibration: too few that count, of one kind or of few conversations, or corrections
            alone.
        StoreError: There is no such run.
    """
    if run is None:
        rows = [row for row in store.runs.list_runs() if _is_run_of_current_judge_version(row)]
    else:
        row = store.runs.read_run(run)
        if not _is_run_of_current_judge_version(row):
            raise ConfigError(
                f"run {run} is not by the embedded judge in its present version; only its "
                "probabilities can be recalibrated: faithtui run --judge offline"
            )
        rows = [row]
    found, left_out = _collect_labelled_claims_of_runs(store, rows, with_others=run is None)
    refusal = explain_recalibration_refusal([each for _, each in found.values()])
    if refusal is not None:
        raise ConfigError(refusal + _format_left_out(left_out))
    counting = [(number, each) for number, each in found.values() if each.is_drawn]
    used = {number for number, _ in counting}
    labelled = scale_weights_to_effective_size([each for _, each in counting])
    return RecalibrationPreview(
        make_offline_fingerprint(),
        tuple(row.id for row in rows if row.id in used),
        evaluate_recalibration(labelled),
        evaluate_threshold(labelled),
        sum(each.weight for each in labelled),
        find_current_recalibration(store),
        find_current_threshold(store),
        left_out,
    )


def refuse_recalibration_that_does_not_help(wanted: RecalibrationPreview) -> None:
    """Refuse probabilities that fit conversations which had no say in them no better.

    Raises:
        ConfigError: They do not.
    """
    effect = wanted.effect
    if not effect.helps:
        raise ConfigError(
            "the probabilities are left as they are: on conversations left out the calibration "
            f"error would be {effect.error_after:.3f}, and is {effect.error_before:.3f} now; label "
            "more claims, or leave them"
        )


def use_recalibration_in_new_runs(
    store: Store, wanted: RecalibrationPreview, reviewer: str
) -> None:
    """Use recalibrated probabilities in new runs of the embedded judge; verdicts stay.

    Raises:
        ConfigError: They fit conversations that had no say in them no better.
    """
    refuse_recalibration_that_does_not_help(wanted)
    effect = wanted.effect
    store.recalibrations.use_in_new_runs(
        wanted.judge,
        effect.fitted,
        reviewer,
        labels=effect.labels,
        errors=(effect.error_before, effect.error_after),
    )


def use_threshold_in_new_runs(store: Store, wanted: RecalibrationPreview, reviewer: str) -> None:
    """Use the suggested threshold of verdicts in new runs of the embedded judge.

    Raises:
        ConfigError: It does not help on conversations that had no say in it.
    """
    found = wanted.verdicts
    before, after = found.before.balanced_accuracy, found.after.balanced_accuracy
    if not found.helps_enough_to_offer or before is None or after is None:
        raise ConfigError(
            "no other threshold of verdicts is suggested: labels are too few, or on conversations "
            "left out it does not surely find unsupported claims better than the one in use; label "
            "more claims, or leave it"
        )
    store.recalibrations.use_in_new_runs(
        wanted.judge + _VERDICTS,
        Recalibration(1.0, -log_odds(found.threshold)),
        reviewer,
        labels=wanted.effect.labels,
        errors=(1 - before, 1 - after),
    )


def restore_shipped_judge_if_changed(store: Store) -> bool:
    """Use the embedded judge as it was shipped, verdicts too; False when it already was."""
    shipped = make_offline_fingerprint()
    withdrawn = [
        store.recalibrations.withdraw_all_of_judge(each) for each in (shipped, shipped + _VERDICTS)
    ]
    return any(withdrawn)


def find_current_recalibration(store: Store) -> StoredRecalibration | None:
    """Give what moves probabilities in new runs of the embedded judge; None: as shipped."""
    return store.recalibrations.find_used_in_new_runs(make_offline_fingerprint())


def find_current_threshold(store: Store) -> StoredRecalibration | None:
    """Give what moves verdicts in new runs of the embedded judge; None: as shipped."""
    return store.recalibrations.find_used_in_new_runs(make_offline_fingerprint() + _VERDICTS)


def compute_yes_threshold_as_shipped(stored: StoredRecalibration) -> float:
    """Read from which probability as shipped on a claim gets `yes`."""
    return round(stored.fitted.undo(0.5), 6)


def make_calibration_of_new_run(store: Store, judge: str) -> Mapping[str, object] | None:
    """Say what a new run of a judge is to keep of its recalibration; None: there is none.

    Returns:
        `slope`, `intercept`, the number of `labels` behind them, and `threshold` where verdicts are
        moved, for `RunSpec.calibration`.
    """
    if judge != OFFLINE:
        return None
    moved, verdicts = find_current_recalibration(store), find_current_threshold(store)
    standing = [each for each in (moved, verdicts) if each is not None]
    if not standing:
        return None
    fitted = Recalibration(1.0, 0.0) if moved is None else moved.fitted
    kept: dict[str, object] = {
        "slope": fitted.slope,
        "intercept": fitted.intercept,
        "labels": max(each.labels for each in standing),
    }
    return (
        kept
        if verdicts is None
        else {**kept, "threshold": compute_yes_threshold_as_shipped(verdicts)}
    )


def read_run_calibration(kept: Mapping[str, object] | None) -> Calibration | None:
    """Read what moved a run's probabilities and verdicts; None: it was made as shipped."""
    if kept is None:
        return None
    numbers = {}
    for name in Calibration._fields:
        if name in kept:
            value = kept[name]
            assert isinstance(value, int | float)
            numbers[name] = float(value)
    return Calibration(**numbers)


def _is_run_of_current_judge_version(row: RunRow) -> bool:
    """Whether a run was made by the present version of the judge, recalibrated or not."""
    fingerprint, shipped = row.spec.judge_fingerprint, make_offline_fingerprint()
    return row.spec.judge == OFFLINE and (
        fingerprint == shipped or fingerprint.startswith(f"{shipped};")
    )


def _collect_labelled_claims_of_runs(
    store: Store, rows: list[RunRow], *, with_others: bool
) -> tuple[dict[ClaimId, tuple[RunId, LabelledProbability]], Mapping[LeftOut, int]]:
    """Collect the labelled claims of some runs, each once, and say why others do not count.

    Args:
        store: Where they are.
        rows: Runs of the judge, the newest first.
        with_others: Count claims that only other runs judged, too.

    Returns:
        Run and probability by claim, those that nobody drew included, and the reasons.
    """
    found: dict[ClaimId, tuple[RunId, LabelledProbability]] = {}
    reasons: dict[ClaimId, LeftOut] = {}
    answers: set[tuple[object, int]] = set()
    for row in rows:
        units = store.labelled_units.read_report_units(row.id)
        answers |= {(each.conversation, each.turn) for each in units.answers}
        for claim, each in _list_labelled_or_left_out_claims(row, units):
            if isinstance(each, LeftOut):
                reasons.setdefault(claim, each)
            elif claim not in found or (each.is_drawn and not found[claim][1].is_drawn):
                found[claim] = (row.id, each)
    reasons |= {claim: LeftOut.IN_VIEW for claim, (_, each) in found.items() if not each.is_drawn}
    others = _list_labelled_claims_of_other_runs(store, rows) if with_others else set()
    reasons |= {claim: LeftOut.OTHER_RUNS for claim in others - reasons.keys()}
    counted = {claim for claim, (_, each) in found.items() if each.is_drawn}
    left_out = Counter(reason for claim, reason in reasons.items() if claim not in counted)
    left_out[LeftOut.WHOLE_ANSWERS] = len(answers)
    return found, {each: left_out[each] for each in LeftOut if left_out[each]}


def _list_labelled_claims_of_other_runs(store: Store, rows: list[RunRow]) -> set[ClaimId]:
    """List the labelled claims of all other runs."""
    known = {row.id for row in rows}
    return {
        claim.claim
        for row in store.runs.list_runs()
        if row.id not in known and row.labelled
        for claim in store.labelled_units.read_claim_units(row.id)
        if claim.state is LabelState.LABELLED
    }


def _format_left_out(left_out: Mapping[LeftOut, int]) -> str:
    """Say after a refusal which labels do not count; "": none."""
    listed = ", ".join(f"{number} {reason.words}" for reason, number in left_out.items())
    return f" (left out: {listed})" if listed else ""


def _list_labelled_or_left_out_claims(
    row: RunRow, units: RunUnits
) -> Iterator[tuple[ClaimId, LabelledProbability | LeftOut]]:
    """Claims of a run that somebody acted on, with the probability as shipped.

    Labels of a random sample weigh what they stand for, on average 1, and others of the run are
    left out; without a sample all weigh the same. Where nobody drew the claims, and not all of
    them are labelled, a label counts as drawn if it was given blind.
    """
    # Loads numpy, which a run that reads its calibration has no use for.
    from faithtui.agreement.report.claim_columns import (
        ComparedClaims,
        compute_inverse_probability_weights,
    )
    from faithtui.agreement.report.settings import ReportSettings

    labels = find_metric(row.spec.metric).spec.labels
    moved = read_run_calibration(row.spec.calibration)
    weights = compute_inverse_probability_weights(
        ComparedClaims(units.claims, labels, units.design, ReportSettings())
    )
    found = []
    is_random = units.design.kind in RANDOM_DESIGNS
    is_drawn = is_random or units.design.kind is DesignKind.CENSUS
    for reading in units.claims:
        if reading.state is LabelState.UNREVIEWED:
            continue
        weight = weights.get(reading.claim) if is_random else 1.0
        reason = _find_left_out_reason(reading, labels, weight)
        if reason is not None:
            yield reading.claim, reason
            continue
        assert reading.confidence is not None
        assert reading.human is not None
        assert weight is not None
        chance = reading.confidence
        if moved is not None:
            chance = Recalibration(moved.slope, moved.intercept).undo(chance)
        judge_polarity = None if reading.judge is None else labels.get_label(reading.judge).polarity
        labelled = LabelledProbability(
            group=reading.group,
            chance=chance,
            is_supported=labels.get_label(reading.human).polarity is Polarity.GOOD,
            weight=weight,
            is_clash=judge_polarity is Polarity.BAD,
            is_override=reading.human != reading.judge,
            is_drawn=is_drawn or reading.blind is True,
        )
        found.append((reading.claim, labelled))
    mean = sum(each.weight for _, each in found) / len(found) if found else 1.0
    for claim, each in found:
        yield claim, replace(each, weight=each.weight / mean)


def _find_left_out_reason(
    reading: ClaimUnit, labels: LabelSet, weight: float | None
) -> LeftOut | None:
    """Say why a claim that somebody acted on does not count; None: it does, or nobody drew it.

    Args:
        reading: The claim.
        labels: Those of the run's metric.
        weight: How many claims it stands for; None: the labels rest on a sample without it.
    """
    match reading.state:
        case LabelState.SKIPPED:
            return LeftOut.SKIPPED
        case LabelState.BULK:
            return LeftOut.BULK
        case LabelState.STALE:
            return LeftOut.STALE
        case LabelState.IN_VIEW:
            return LeftOut.IN_VIEW
    if is_tied(reading.opinions, labels.names):
        return LeftOut.TIED
    if reading.human == NOT_A_CLAIM:
        return LeftOut.NOT_A_CLAIM
    if reading.human not in labels.names:
        return LeftOut.OTHER_WORDS
    if reading.confidence is None:
        return LeftOut.NO_PROBABILITY
    if weight is None:
        if reading.audit:
            return LeftOut.AUDIT
        return LeftOut.OUTSIDE_SAMPLE if reading.position is None else LeftOut.NOT_WEIGHED
    return None
