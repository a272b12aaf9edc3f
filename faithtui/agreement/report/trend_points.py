"""Runs over one claim set in the order in which they were made, as one value."""

from dataclasses import dataclass
from datetime import datetime

from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.model import ComparisonReport
from faithtui.agreement.statistics.coefficients import KAPPA, PERCENT
from faithtui.agreement.statistics.detection import RECALL
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import RunId


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A run on the claims of a set; figures are weighted as the claims were drawn."""

    run: RunId
    made_at: datetime
    metric: str
    judge: str
    """Its name."""
    served_models: tuple[str, ...]
    """What its provider said it was, also where stored replies answered; () where nobody said."""
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
    no labelled claim or the set says nothing of those that they share."""
    unverified: int = 0
    """Of the compared claims, those that rest on labels of a bundle without a digest."""
    is_order_broken: bool = False
    """Labels of the set do not follow the order in which its claims were drawn. Nobody knows what
    they stand for: no figure of the set can be had from them."""
    unlabelled_strata: tuple[str, ...] = ()
    """Strata of the sample of which no label counts, so that nothing is known of their claims."""
    judged_some_drawn: bool = False
    """The run judged claims because they were drawn, or passed them over, and not all of these: no
    figure of the set can be had from it."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The runs over a set, the first one first."""

    points: tuple[TrendPoint, ...]


def estimate_accuracy_kappa_and_recall(
    compared: ComparedClaims,
) -> tuple[Estimate, Estimate, Estimate]:
    """Estimate accuracy, kappa and recall of all that could be drawn, from what was drawn alone.

    What the judge says of the rest is not known, so that its shares are estimated, too.

    Args:
        compared: Claims of a run, with the weights of the drawing:
            `ComparedClaims.claims_weighted_for_comparison_with_other_judge`.
    """
    context, whole = compared.figure_context, compared.whole_matrix
    found = context.estimate_figures_with_wanted_intervals(
        {"accuracy": PERCENT, "kappa": KAPPA}, whole
    )
    recall = context.estimate_figures_with_wanted_intervals({"recall": RECALL}, whole, compared.bad)
    return found["accuracy"], found["kappa"], recall["recall"]
