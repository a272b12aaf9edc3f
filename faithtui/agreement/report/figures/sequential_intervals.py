"""Intervals that hold however often one looks, of a run whose labels follow a drawn order."""

from collections.abc import Collection, Sequence

import numpy as np

from faithtui.agreement.labelled_units import ClaimUnit, DesignKind, LabelState
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.model import ConfidenceSequences
from faithtui.agreement.sampling.confidence_sequences import (
    CellKey,
    SequenceCell,
    bound_faithful_share,
    bound_recall,
    count_labels_by_stratum_and_flag,
)


def make_confidence_sequences(
    compared: ComparedClaims, passing: Collection[str]
) -> ConfidenceSequences | None:
    """Bound the rate and the recall of a run at every look.

    Args:
        compared: What the figures of the report are about.
        passing: Labels that count as a pass, in the words of `compared`.

    Returns:
        None without labels in the order of a simple or stratified sample, or where the run judged
        something that could not be drawn. Whole conversations have no such order of claims.
    """
    design = compared.design
    if design.kind not in (DesignKind.SIMPLE, DesignKind.STRATIFIED):
        return None
    if design.beyond or len(compared.all) != design.frame_units:
        return None
    served, later = _list_labelled_prefix_and_count_later_labels(compared)
    labels = sum(each.state is LabelState.LABELLED for each in served)
    if not labels:
        return None
    failing = [name for name in compared.labels.names if name not in passing]
    level = compared.settings.level
    return ConfidenceSequences(
        labels,
        later,
        bound_faithful_share(_count_labels_by_stratum_and_flag(compared, served, failing), level),
        bound_recall(_count_labels_by_stratum_and_flag(compared, served, compared.bad), level),
        tuple(compared.bad),
    )


def _list_labelled_prefix_and_count_later_labels(
    compared: ComparedClaims,
) -> tuple[list[ClaimUnit], int]:
    """Give the drawn claims before the first that waits for a label, and count labels after it.

    While any waits, a skipped one ends them too, as it may still be labelled blind: what changes
    with it would reveal the judge's verdict.
    """
    rows = compared.all.rows
    drawn = sorted(
        (rows[place] for place in np.flatnonzero(compared.all.is_drawn_blind).tolist()),
        key=lambda each: each.position or 0,
    )
    ends = {LabelState.LABELLED, LabelState.SKIPPED}
    if not ends.issuperset(each.state for each in drawn):
        ends.remove(LabelState.SKIPPED)
    first = next((i for i, each in enumerate(drawn) if each.state not in ends), len(drawn))
    later = sum(each.state is LabelState.LABELLED for each in drawn[first:])
    return drawn[:first], later


def _count_labels_by_stratum_and_flag(
    compared: ComparedClaims, served: Sequence[ClaimUnit], bad: Collection[str]
) -> list[SequenceCell]:
    """Count claims by stratum and by whether the judge flags them.

    Args:
        compared: What the figures are about.
        served: Drawn claims that were labelled or skipped.
        bad: Labels that count as unfaithful.
    """
    design, labels = compared.design, compared.labels.names
    by_strata = design.kind is DesignKind.STRATIFIED
    names = [each.name for each in design.strata] if by_strata else [""]
    strata = (
        compared.stratum_place_of_claims if by_strata else np.zeros(len(compared.all), np.int64)
    )
    has_verdict = (compared.all.judge_labels >= 0) & (strata >= 0)
    is_flagged = np.isin(compared.all.judge_labels, [labels.index(name) for name in bad])
    counts = np.bincount((2 * strata + is_flagged)[has_verdict], minlength=2 * len(names)).tolist()
    populations: dict[CellKey, int] = {
        (names[cell // 2], bool(cell % 2)): count for cell, count in enumerate(counts) if count
    }
    # The store gives a tie the more severe label: it is one that nobody knows.
    tied = {compared.all.rows[place].claim for place in compared.all.votes_on_tied_claims}
    answers = (
        (
            (each.stratum or "" if by_strata else "", each.judge in bad),
            None if each.claim in tied else each.human,
        )
        for each in served
        if each.judge in labels
    )
    return count_labels_by_stratum_and_flag(populations, answers, labels, bad)
