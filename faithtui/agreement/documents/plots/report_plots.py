"""The plots of a report: pure functions from its values to SVG.

A plot says with shapes, words and numbers what it says; colours only repeat it.
"""

from faithtui.agreement.documents.plots.curves import (
    interval_progress_plot,
    recall_and_specificity_plot,
    reliability_plot,
)
from faithtui.agreement.documents.plots.intervals import (
    pass_rate_plot,
    review_coverage_plot,
    slice_agreement_plot,
)
from faithtui.agreement.documents.plots.matrices import confusion_plot, pairwise_kappa_plot

__all__ = [
    "confusion_plot",
    "interval_progress_plot",
    "pairwise_kappa_plot",
    "pass_rate_plot",
    "recall_and_specificity_plot",
    "reliability_plot",
    "review_coverage_plot",
    "slice_agreement_plot",
]
