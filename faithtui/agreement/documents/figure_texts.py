"""Figures of a report in words, the same on every page."""

from collections.abc import Iterable

from faithtui.agreement.documents.header import LabelProvenance
from faithtui.agreement.report.headline import format_number_with_noun
from faithtui.agreement.report.model import Breakdown, LevelReport, Slice
from faithtui.domain.estimates import Estimate

WEIGHTED_SHARES_NOTE = "; counts are of the units looked at, shares are weighted by the sample"
"""What a caption adds where the shares do not follow from the counts beside them."""
EMPTY_CELL = "–"
"""In a table, where there is no number and nothing to explain."""


def estimate_text(found: Estimate, why: str | None = None) -> str:
    """Write an estimate as `0.67 [0.55, 0.79]`, or say why it or its interval is not there.

    Args:
        found: The estimate.
        why: What to say instead of its reason.
    """
    if why is None:
        why = found.reason.words if found.reason else ""
    if found.value is None:
        return f"{found.status} ({why})"
    if found.ci_low is None or found.ci_high is None:
        return f"{decimal_text(found.value)} ({why})" if why else decimal_text(found.value)
    return (
        f"{decimal_text(found.value)} [{decimal_text(found.ci_low)}, {decimal_text(found.ci_high)}]"
    )


def percent_estimate_text(found: Estimate) -> str:
    """Write an estimated share as `86.8% [85.8%, 87.9%]`, or say why it is not there."""
    why = found.reason.words if found.reason else ""
    if found.value is None:
        return f"{found.status} ({why})"
    if found.ci_low is None or found.ci_high is None:
        return f"{found.value:.1%} ({why})" if why else f"{found.value:.1%}"
    if found.ci_low == found.ci_high:
        return f"{found.value:.1%} (counted, not estimated)"
    return f"{found.value:.1%} [{found.ci_low:.1%}, {found.ci_high:.1%}]"


def decimal_text(value: float | None) -> str:
    """Write a number with three decimals, without a sign before zero."""
    return EMPTY_CELL if value is None else f"{round(value, 3) + 0.0:.3f}"


def p_value_text(value: float | None) -> str:
    """Write the probability of a test."""
    if value is None:
        return EMPTY_CELL
    return "below 0.001" if value < 0.001 else f"{value:.3f}"


INTERVALS_BESIDE_P = (
    "Intervals of a difference are the wider of two, and allow for errors that few labels do not "
    "show; p values are of the labels alone. So p may be small where the interval holds 0: the "
    "gate goes by the interval."
)
"""Why an interval and a test of one difference may say two things."""


def describe_unverified_labels(count: int, claims: int) -> str:
    """Say how many of the compared claims rest on labels of a bundle without a digest."""
    rest = "rests" if count == 1 else "rest"
    return (
        f"{count} of {claims} compared claims {rest} on unverified labels, of a bundle without a "
        "digest: nothing says that they are what annotators gave"
    )


def share_text(part: float, whole: float) -> str:
    """Write a part of a whole in percent."""
    return f"{part / whole:.1%}" if whole else EMPTY_CELL


def join_alternatives(words: Iterable[str]) -> str:
    """Write alternatives."""
    return " or ".join(words)


def make_estimate_row(name: str, found: Estimate) -> tuple[str, str, str, str]:
    """Make a row of a figure: name, value, n, groups."""
    return name, estimate_text(found), f"{found.n:,}", f"{found.clusters:,}"


def label_dates_and_guidelines_text(found: LabelProvenance) -> str:
    """Say when labels were given, and under which versions of the guideline."""
    first, last = (f"{each:%Y-%m-%d %H:%M} UTC" for each in (found.first_at, found.last_at))
    when = f"on {first}" if first == last else f"from {first} to {last}"
    parts = []
    if found.imported:
        parts.append(
            f"{format_number_with_noun(found.imported, 'label', 'labels')} came with the data"
        )
    parts += [
        f"{format_number_with_noun(labels, 'label', 'labels')} under {name}"
        for name, labels in found.by_guideline
    ]
    return f"labels were stored {when}: {', '.join(parts)}."


FIGURE_HEADS = ("figure", "value", "n", "groups")


def level_unit_plural(level: LevelReport) -> str:
    """Name the level by what is counted, in the plural."""
    return level.unit[1]


SLICE_WORDS = {
    Slice.CONVERSATION: "conversation",
    Slice.TURN: "turn",
    Slice.METRIC: "metric",
    Slice.MODEL: "judge",
    Slice.VERDICT: "verdict of the judge",
    Slice.RATER: "annotator",
    Slice.WINDOWS: "number of windows",
    Slice.CODE: "reason code",
}
"""By what agreement is broken down, in words."""


def format_breakdown_title(found: Breakdown) -> str:
    """Say by what agreement is broken down."""
    if found.by is Slice.METADATA:
        return f"metadata {found.metadata_key}"
    return SLICE_WORDS[found.by]


def format_slice_key(by: Slice, key: str) -> str:
    """Name a part as it is shown."""
    return NO_VALUE if by is Slice.METADATA and not key else key


NO_VALUE = "(no value)"
"""Of conversations that lack a key of the metadata."""
