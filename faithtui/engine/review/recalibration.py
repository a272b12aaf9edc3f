"""The embedded judge's probabilities, moved to what the people of a project say.

Nothing here happens by itself: somebody sees the effect, applies it, and may withdraw it. Runs that
were made keep their probabilities; new ones say what moved theirs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from faithtui.agreement.statistics.recalibration import (
    FEWEST_LABELS,
    LabelledProbability,
    Recalibration,
    RecalibrationEffect,
    evaluate_recalibration,
)
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.label_sets import Polarity
from faithtui.errors import ConfigError
from faithtui.judges.embedded.embedded_judge import make_offline_fingerprint
from faithtui.metrics.registry import find_metric
from faithtui.store.calls.recalibrations import StoredRecalibration
from faithtui.store.records import RunRow
from faithtui.store.store import Store

OFFLINE = "offline"
"""The only judge that can be recalibrated: the others state no probability of their own."""


@dataclass(frozen=True, slots=True)
class RecalibrationPreview:
    """What recalibrating would do, before anything is done."""

    judge: str
    """Fingerprint of the judge as shipped."""
    runs: tuple[RunId, ...]
    """Runs whose claims are labelled, the newest first."""
    effect: RecalibrationEffect
    in_force: StoredRecalibration | None
    """What new runs use at present."""


def preview_recalibration(store: Store, run: RunId | None = None) -> RecalibrationPreview:
    """Fit people's labels on claims the embedded judge judged, and say what it would change.

    A claim that several runs judged counts once, with its newest probability. Claims people called
    no claim, and those without a probability, do not count.

    Args:
        store: Where runs and labels are.
        run: Only the claims of this run; None: of all runs of the judge in its present version.

    Raises:
        ConfigError: The run is by another judge or by another version, or fewer than
            `FEWEST_LABELS` claims are labelled.
        StoreError: There is no such run.
    """
    if run is None:
        rows = [row for row in store.runs.rows() if _is_current_version(row)]
    else:
        row = store.runs.row(run)
        if not _is_current_version(row):
            raise ConfigError(
                f"run {run} is not by the embedded judge in its present version; only its "
                "probabilities can be recalibrated: faithtui run --judge offline"
            )
        rows = [row]
    found: dict[ClaimId, LabelledProbability] = {}
    used: list[RunId] = []
    for row in rows:
        fresh = {
            claim: labelled
            for claim, labelled in _list_labelled_claims(store, row)
            if claim not in found
        }
        if fresh:
            used.append(row.id)
        found |= fresh
    if len(found) < FEWEST_LABELS:
        claims, are = ("claim", "is") if len(found) == 1 else ("claims", "are")
        raise ConfigError(
            f"{len(found)} {claims} judged by the embedded judge {are} labelled by "
            f"annotators; recalibrating takes {FEWEST_LABELS}: label more with faithtui label"
        )
    labelled = list(found.values())
    return RecalibrationPreview(
        make_offline_fingerprint(),
        tuple(used),
        evaluate_recalibration(labelled),
        find_current_recalibration(store),
    )


def apply_recalibration(store: Store, wanted: RecalibrationPreview, reviewer: str) -> None:
    """Use a recalibration in new runs of the embedded judge."""
    store.recalibrations.apply(wanted.judge, wanted.effect, reviewer)


def withdraw_recalibration(store: Store) -> bool:
    """Use the embedded judge as it was shipped; False when it already was."""
    return store.recalibrations.withdraw(make_offline_fingerprint()) > 0


def find_current_recalibration(store: Store) -> StoredRecalibration | None:
    """Give the recalibration that new runs of the embedded judge use; None: as shipped."""
    return store.recalibrations.find_in_force(make_offline_fingerprint())


def make_run_calibration(store: Store, judge: str) -> Mapping[str, object] | None:
    """Say what a new run of a judge is to keep of its recalibration; None: there is none.

    Returns:
        `slope`, `intercept` and the number of `labels` behind them, for `RunSpec.calibration`.
    """
    stands = find_current_recalibration(store) if judge == OFFLINE else None
    if stands is None:
        return None
    return {
        "slope": stands.fitted.slope,
        "intercept": stands.fitted.intercept,
        "labels": stands.labels,
    }


def read_run_calibration(kept: Mapping[str, object] | None) -> tuple[float, float] | None:
    """Take slope and intercept out of what a run keeps; None: it was made as shipped."""
    if kept is None:
        return None
    slope, intercept = kept["slope"], kept["intercept"]
    assert isinstance(slope, int | float)
    assert isinstance(intercept, int | float)
    return float(slope), float(intercept)


def _is_current_version(row: RunRow) -> bool:
    """Whether a run was made by the present version of the judge, recalibrated or not."""
    return row.spec.judge == OFFLINE and row.spec.judge_fingerprint == make_offline_fingerprint(
        read_run_calibration(row.spec.calibration)
    )


def _list_labelled_claims(
    store: Store, row: RunRow
) -> Iterator[tuple[ClaimId, LabelledProbability]]:
    """Claims of a run that have a probability and a label, with the probability as shipped."""
    labels = find_metric(row.spec.metric).spec.labels
    moved = read_run_calibration(row.spec.calibration)
    for reading in store.reviews.read_claim_units(row.id):
        if reading.confidence is None or reading.human not in labels.names:
            continue
        chance = reading.confidence
        if moved is not None:
            chance = Recalibration(*moved).undo(chance)
        is_supported = labels.get_label(reading.human).polarity is Polarity.GOOD
        yield reading.claim, LabelledProbability(reading.group, chance, is_supported)
