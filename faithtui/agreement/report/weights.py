"""How many units a labelled one stands for."""

from collections.abc import Sequence

from faithtui.agreement.labelled_units import ClaimReading, DesignKind, DesignReading
from faithtui.agreement.report.level_figures import Compared
from faithtui.agreement.report.values.settings import ReportSettings
from faithtui.domain.ids import ClaimId
from faithtui.domain.label_sets import LabelSet


def claim_weights(
    claims: Sequence[ClaimReading], labels: LabelSet, design: DesignReading
) -> dict[ClaimId, float]:
    """Give the compared claims of a random sample one over their probability of being labelled.

    Args:
        claims: All of a run.
        labels: The metric's vocabulary.
        design: How the labelled ones were chosen.

    Returns:
        At least 1 each; 1 in a census. Empty without a random sample: nobody knows what such a
        label stands for. Claims outside the sample, and those that were not compared, are left
        out.
    """
    compared = Compared(claims, labels, design, ReportSettings())
    inside = compared.inside
    n = len(inside.rows)
    if not n:
        return {}
    match design.kind:
        case DesignKind.CENSUS:
            return dict.fromkeys(inside.claim, 1.0)
        case DesignKind.SIMPLE:
            judged = sum(each.judge in labels.names for each in claims)
            return dict.fromkeys(inside.claim, judged / n)
        case DesignKind.STRATIFIED if compared.figures.frame is not None:
            weights = compared.figures.frame.weights
            return {
                claim: weights[stratum]
                for claim, stratum in zip(inside.claim, inside.stratum, strict=True)
                if stratum is not None
            }
        case DesignKind.CLUSTER if design.drawn_conversations:
            weight = design.conversations / design.drawn_conversations
            return dict.fromkeys(inside.claim, weight)
        case _:
            return {}
