"""How many units a labelled one stands for."""

from collections.abc import Sequence

from faithtui.domain.ids import ClaimId
from faithtui.domain.labels import LabelSet
from faithtui.domain.levels import Compared
from faithtui.domain.readings import ClaimReading, DesignKind, DesignReading
from faithtui.domain.reported.settings import ReportSettings


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
    if not inside:
        return {}
    match design.kind:
        case DesignKind.CENSUS:
            return {each.claim: 1.0 for each in inside}
        case DesignKind.SIMPLE:
            judged = sum(each.judge in labels.names for each in claims)
            return {each.claim: judged / len(inside) for each in inside}
        case DesignKind.STRATIFIED if compared.figures.frame is not None:
            weights = compared.figures.frame.weights
            return {
                each.claim: weights[each.stratum] for each in inside if each.stratum is not None
            }
        case DesignKind.CLUSTER if design.drawn_conversations:
            weight = design.conversations / design.drawn_conversations
            return {each.claim: weight for each in inside}
        case _:
            return {}
