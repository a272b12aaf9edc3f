"""Runs over one claim set in the order in which they were made, as one value."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from faithtui.agreement.report.model import ComparisonReport
from faithtui.agreement.report.units import ComparedClaims
from faithtui.agreement.statistics.coefficients import KAPPA, PERCENT
from faithtui.agreement.statistics.detection import RECALL
from faithtui.agreement.statistics.matrices import GroupedMatrix
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import ClaimId, RunId


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A run on the claims of a set.

    Figures are weighted as the claims were drawn, but for runs that `counts_alike`.
    """

    run: RunId
    made_at: datetime
    metric: str
    judge: str
    """Its name."""
    served_models: tuple[str, ...]
    """What its provider said it was; () where nobody said."""
    judge_fingerprint: str
    judge_parameters: str
    """What it was asked with, such as `temperature 0`; "" for nothing."""
    prompts: str
    """Digest of the texts of the questions."""
    claims_from: str
    window_size: int | None
    """How far back its judge saw, in interactions; None: its metric has no windows."""
    accuracy: Estimate
    """Share of the labelled claims on which judge and human labels agree."""
    kappa: Estimate
    recall_no: Estimate
    score: Estimate
    """Share of the set's claims that pass, corrected by human labels."""
    compared: int
    """Labelled claims with a verdict of the run."""
    unjudged: int
    """Claims of the set that the run did not judge, or that match none of its own."""
    beyond: int
    """Claims of the run that match none of the set."""
    accuracy_bounds: tuple[float, float] | None
    """Accuracy if it were wrong, or right, on every labelled claim it did not judge; None where it
    judged all of them."""
    change: ComparisonReport | None
    """Beside the run before, on the claims of both; None for the first one, and where they share
    no labelled claim."""
    counts_alike: bool = False
    """The run judged claims because they were drawn, or passed them over: its figures are of the
    labelled claims alone, unweighted."""
    change_counts_alike: bool = False
    """Both runs of the change judged claims because they were drawn, and these do not stand for
    equally many: the change is of the labelled claims alone, unweighted."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The runs over a set, the first one first."""

    points: tuple[TrendPoint, ...]


def estimate_weighted(
    compared: ComparedClaims, weights: Mapping[ClaimId, float]
) -> tuple[Estimate, Estimate, Estimate]:
    """Estimate accuracy, kappa and recall of claims that stand for others by known weights.

    What the judge says of the others is not known, so that its shares are estimated, too.

    Args:
        compared: Claims of a run.
        weights: How many claims each compared one stands for; others are left out.
    """
    rows, claims = compared.all.rows, compared.all
    places = [place for place in compared.places.tolist() if rows[place].claim in weights]
    known, size = sorted(set(weights.values())), len(compared.labels.names)
    strata = np.array([known.index(weights[rows[place].claim]) for place in places], np.int64)
    counts = np.zeros((len(known), size, size, claims.group_count), np.int64)
    cells = (strata, claims.human[places], claims.judge[places], claims.groups[places])
    np.add.at(counts, cells, 1)
    matrix = GroupedMatrix.of_groups(compared.labels.names, counts, weights=known)
    context = compared.context
    found = context.estimate_main_figures({"accuracy": PERCENT, "kappa": KAPPA}, matrix)
    recall = context.estimate_main_figures({"recall": RECALL}, matrix, compared.bad)
    return found["accuracy"], found["kappa"], recall["recall"]
