"""Why a figure of a report is not there, in the words of its labels and verdicts.

A reason code says which rule of arithmetic holds the figure back. A sentence says what in the data
does, so that nobody labels on where labels cannot help.
"""

from collections.abc import Iterator, Sequence

from faithtui.agreement.report.model import Coverage, LevelReport
from faithtui.domain.estimates import Estimate
from faithtui.domain.withheld_reasons import WithheldReason

_LEFT_OUT = (
    ("not_a_claim", "labelled x"),
    ("tied", "ties of annotators"),
    ("idk_excluded", "left out by the rule for idk"),
    ("other_words", "with a label that the metric does not have"),
    ("no_verdict", "without a verdict of the judge"),
    ("vacuous", "without claims"),
    ("unscored", "without a score or threshold"),
)
"""Fields of `Coverage`, each with what is to be read after its number."""


def find_only_label(counts: Sequence[float], names: Sequence[str]) -> str | None:
    """Name the label that all units have; None: they have several, or there are none."""
    used = [name for name, count in zip(names, counts, strict=True) if count > 0]
    return used[0] if len(used) == 1 else None


def explain_missing_kappa(level: LevelReport) -> str:
    """Say why Cohen's kappa is not there, for the middle of a sentence; "" where it is."""
    kappa, table = level.cohen_kappa, level.table
    if kappa.value is not None or kappa.reason is None:
        return ""
    if kappa.reason is not WithheldReason.NO_VARIATION:
        return kappa.reason.words
    judge = find_only_label(table.judge_totals, table.categories)
    human = find_only_label(table.reference_totals, table.categories)
    if judge is not None and judge == human:
        return f"judge and annotators use one label alone, {judge}"
    if judge is not None:
        return f"the judge uses one label alone, {judge}, which makes it 0 whatever annotators say"
    if human is not None:
        return f"annotators use one label alone, {human}, which makes it 0 whatever the judge says"
    return kappa.reason.words


def explain_missing_class_figure(found: Estimate, label: str) -> str | None:
    """Say why a figure of one label is not there; None where its reason says all there is."""
    match found.reason:
        case WithheldReason.NO_PREDICTED_POSITIVES:
            return f"the judge never says {label}"
        case WithheldReason.NO_REFERENCE_POSITIVES:
            return f"annotators never say {label}"
        case _:
            return None


def explain_nothing_compared(level: LevelReport) -> str:
    """Say why no labelled unit is in the figures of a level."""
    coverage, (one, many) = level.coverage, level.unit
    if not coverage.reviewed:
        return "nothing is labelled"
    if coverage.compared:
        strata = level.design.strata
        bare = [each.name for each in strata if each.population and not each.labelled]
        if len(bare) == len(strata):
            return f"none of the labelled {many} is of the sample"
        return f"no {one} of the stratum «{bare[0]}» is labelled" if bare else "nothing to count"
    units = f"{coverage.reviewed:,} labelled {many if coverage.reviewed != 1 else one}"
    left_out = ", ".join(_list_left_out_counts(coverage))
    return f"none of the {units} can be compared{f' ({left_out})' if left_out else ''}"


def _list_left_out_counts(coverage: Coverage) -> Iterator[str]:
    for field, words in _LEFT_OUT:
        if number := getattr(coverage, field):
            yield f"{number:,} {words}"
