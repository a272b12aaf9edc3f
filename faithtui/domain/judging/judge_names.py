"""What judges are called where users read: nobody must take the embedded one for a model."""

from collections.abc import Mapping
from typing import Final

from faithtui.domain.labels.label_sets import LabelSet, Polarity

OFFLINE_TITLE: Final = "overlap baseline (offline heuristic)"
"""The embedded judge."""


def judge_title(ref: str, calibration: Mapping[str, object] | None = None) -> str:
    """Name a judge for users: its reference, but what it is for the embedded one.

    Args:
        ref: What the user calls it.
        calibration: How it was recalibrated, as a run keeps it; None: as shipped.
    """
    title = OFFLINE_TITLE if ref == "offline" else ref
    if calibration is None:
        return title
    threshold = calibration.get("threshold")
    verdicts = f", yes from {threshold:.2f}" if isinstance(threshold, float) else ""
    return f"{title}, recalibrated on {calibration['labels']} labels{verdicts}"


def describe_judge_label(ref: str, label: str, labels: LabelSet) -> str:
    """Say what a label means as a word of a judge.

    A clash that the embedded judge sees between words is a reason to look, not a contradiction.

    Args:
        ref: What the user calls the judge.
        label: Name of a label of `labels`.
        labels: The metric's vocabulary. Only where it separates "not addressed" from what is bad
            does a bad label claim a contradiction.

    Raises:
        KeyError: No label of the set has this name.
    """
    found = labels.get_label(label)
    contradicts = found.polarity is Polarity.BAD and any(
        each.polarity is Polarity.UNSURE for each in labels.labels
    )
    return "possible contradiction" if ref == "offline" and contradicts else found.meaning
