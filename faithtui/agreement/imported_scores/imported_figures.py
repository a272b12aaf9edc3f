"""Everything that labels and scores which came with the data show about annotators and judges."""

from collections.abc import Sequence
from dataclasses import dataclass

from faithtui.agreement.imported_scores.annotator_figures import (
    AnnotatorFigures,
    compute_inter_annotator_agreement,
)
from faithtui.agreement.imported_scores.judge_figures import JudgeFigures, compute_judge_figures
from faithtui.agreement.imported_scores.rated_units import (
    RatedScale,
    ScoredConversation,
    group_ratings_by_scale,
)
from faithtui.domain.estimates import LEVEL


@dataclass(frozen=True, slots=True)
class ScaleFigures:
    """The figures of one scale."""

    rated: RatedScale
    people: tuple[AnnotatorFigures, ...]
    """One per reading of the labels; () when annotators label no common units."""
    judges: tuple[JudgeFigures, ...]
    """In the order in which judges first occur."""


def compute_figures_per_scale(
    conversations: Sequence[ScoredConversation], level: float = LEVEL
) -> tuple[ScaleFigures, ...]:
    """Compute all figures of a data set, one part per scale and kind of unit.

    Args:
        conversations: The whole data set; nobody labels a unit twice on a scale.
        level: Confidence level in (0, 1).
    """
    return tuple(
        _compute_figures_of_scale(rated, level) for rated in group_ratings_by_scale(conversations)
    )


def _compute_figures_of_scale(rated: RatedScale, level: float) -> ScaleFigures:
    rule = rated.convention
    if not rule.has_shared_units:
        return ScaleFigures(rated, (), ())
    return ScaleFigures(
        rated,
        tuple(compute_inter_annotator_agreement(rated.units, view, level) for view in rule.views),
        tuple(compute_judge_figures(rated.units, judge, rule, level) for judge in rated.judges),
    )
