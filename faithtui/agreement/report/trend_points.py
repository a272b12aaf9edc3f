"""Runs over one claim set in the order in which they were made, as one value."""

from dataclasses import dataclass
from datetime import datetime

from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.model import AgreementReport, ComparisonReport
from faithtui.agreement.report.settings import ReportLevel, ReportWarning, WarningSubject
from faithtui.agreement.statistics.coefficients import KAPPA, PERCENT
from faithtui.agreement.statistics.detection import RECALL
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import RunId

_ABOUT = frozenset({WarningSubject.DESIGN, WarningSubject.COVERAGE})
_TOO = frozenset(
    {
        "not_blind",
        "annotators_conflict",
        "rater_outlier",
        "ties",
        "suspect_run",
        "not_checked",
    }
)
"""Also warned of: they are about labels, or about what the judge wrote, whatever the figures."""
_OF_REPORT_ALONE = frozenset({"sample_of_other_run", "design_not_random", "duplicates_removed"})
"""Not warned of: a report speaks of what its run judged, and a trend of the set, with weights where
a report has none. What a run did not judge, and why there is no figure, are fields of a point."""


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
    skipped: int = 0
    """Drawn claims that are skipped and have no label: figures take them for claims like the
    others of their stratum. Where the order is broken, and there is no figure, those of the run."""
    not_a_claim: int = 0
    """Drawn claims that annotators label x, not a fair claim, in no figure."""
    warnings: tuple[ReportWarning, ...] = ()
    """What a report of these claims warns of, see `choose_trend_warnings`; most severe first."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The runs over a set, the first one first."""

    points: tuple[TrendPoint, ...]


def choose_trend_warnings(report: AgreementReport) -> tuple[ReportWarning, ...]:
    """Choose the warnings that are true of a trend: how claims were chosen, and which count.

    Args:
        report: Of the run's claims, with the design of the drawing.
    """
    return tuple(
        each
        for each in report.warnings
        if each.level in (None, ReportLevel.CLAIMS)
        and each.code not in _OF_REPORT_ALONE
        and (each.code in _TOO or not _ABOUT.isdisjoint(each.about))
    )


def count_skipped_claims(report: AgreementReport) -> int:
    """Count drawn claims that are skipped; without strata, all such claims of the run."""
    strata = report.claims.design.strata
    return sum(each.skipped for each in strata) if strata else report.claims.coverage.skipped


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
