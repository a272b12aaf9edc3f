"""What several annotators on one claim show about the share that passes, and each other's error.

A tie is a tie: half of its claim passes until somebody settles it. And where two annotators often
differ, the claims that only one of them labelled are as doubtful.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import comb, sqrt
from statistics import NormalDist

import numpy as np

from faithtui.agreement.idk_recoding import EXCLUDED
from faithtui.agreement.labelled_units import Opinion
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.statistics.matrices import Flags, Ints
from faithtui.domain.estimates import Estimate
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import NOT_A_CLAIM

FEWEST_SHARED = 10
"""Units labelled by several annotators below which their error is not carried to other units."""


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorError:
    """Which labels are in doubt because annotators differ."""

    is_tied: Flags
    """Ties, where it matters to the share:
    pass, fail, or in no share at all."""
    worst: Ints
    """What each tied unit may be at worst: 0 fails, 1 passes, -1 is in no share."""
    best: Ints
    """The same at best."""
    is_single: Flags
    """Units that one annotator labelled."""
    error: float
    """How often one annotator's word on whether a unit passes is wrong, as if all erred as often
    and apart from each other; 0 where too few units are shared."""

    @property
    def both_wrong_rate_if_agreed(self) -> float:
        """How often two annotators who say the same are both wrong."""
        return self.error**2 / (self.error**2 + (1 - self.error) ** 2)


def decide_passes_and_annotator_error(
    compared: ComparedClaims, passing: Collection[str], human: Ints
) -> tuple[Ints, AnnotatorError | None]:
    """Say of claims whether they pass by several annotators, and how far these differ.

    Args:
        compared: The claims of a report.
        passing: Labels that pass.
        human: 1: passes by the consensus; 0: does not; -1: no label that counts, or a tie.

    Claims that no figure rests on say nothing of those that one does: annotators who differ in the
    sample may agree elsewhere, or the other way round. Where too few of the sample have several
    labels, how far annotators differ is taken from all that do.

    Returns:
        The same, with ties between labels that pass alike, or of which more pass than fail, as
        what they come to; and what stays in doubt, None where no two annotators labelled a claim.
    """
    claims, names = compared.all, compared.labels.names
    several = np.flatnonzero(claims.has_several_reviewers & compared.may_be_in_figures).tolist()
    if not claims.has_several_reviewers.any():
        return human, None
    human, is_tied = human.copy(), np.zeros(len(human), np.bool_)
    worst, best = human.copy(), human.copy()
    for place, votes in claims.votes_on_tied_claims.items():
        if not compared.may_be_in_figures[place]:
            continue
        out = votes[NOT_A_CLAIM] + votes[EXCLUDED]
        passes = sum(count for word, count in votes.items() if word in passing)
        fails = sum(votes[word] for word in names) - passes
        most = max(passes, fails, out)
        may_be = [value for value, count in ((0, fails), (-1, out), (1, passes)) if count == most]
        is_tied[place] = len(may_be) > 1
        human[place] = -1 if len(may_be) > 1 else may_be[0]
        worst[place], best[place] = may_be[0], may_be[-1]
    is_single = (human >= 0) & ~claims.has_several_reviewers

    def estimate_error(places: Sequence[int]) -> float | None:
        differing = [
            share
            for place in places
            if (
                share := _compute_share_of_differing_pairs(
                    claims.rows[place].opinions, names, passing
                )
            )
            is not None
        ]
        if len(differing) < FEWEST_SHARED:
            return None
        return estimate_error_of_one_annotator(sum(differing) / len(differing), len(differing))

    error = estimate_error(several)
    if error is None:
        # Too few to say it of themselves: what is known of others is better than no error at all.
        several = np.flatnonzero(claims.has_several_reviewers).tolist()
        error = estimate_error([place for place in several if not claims.rows[place].audit]) or 0.0
    return human, AnnotatorError(is_tied, worst, best, is_single, error)


def estimate_error_of_one_annotator(differing: float, units: int) -> float:
    """Estimate how often one annotator is wrong from how often two differ.

    With error e of both, apart from each other, they differ on 2e(1 - e) of the units: where they
    differ one is wrong, and sometimes both are wrong where they say the same. Half of how often
    they differ left a rate of .98 out of the interval in 9 of 10 simulated samples of 300 claims
    on which two differed on 40 %.

    Args:
        differing: Share of the units on which two differ, in [0, 1]; from one half on, what one of
            them says tells nothing.
        units: How many the share is of: few may show too little by luck, so that it is taken for
            larger, by 1.28 standard errors.
    """
    most = differing + NormalDist().inv_cdf(0.9) * sqrt(differing * (1 - differing) / units)
    return (1 - sqrt(max(0.0, 1 - 2 * most))) / 2


def _compute_share_of_differing_pairs(
    opinions: Collection[Opinion], names: Collection[str], passing: Collection[str]
) -> float | None:
    """Compute the share of pairs of annotators of whom one passes a claim and the other does not.

    Returns:
        None where fewer than two gave a label.
    """
    given = [
        each.verdict in passing
        for each in opinions
        if each.action is not Action.ADJUDICATED and each.verdict in names
    ]
    if len(given) < 2:
        return None
    return sum(given) * (len(given) - sum(given)) / comb(len(given), 2)


def merge_rates_of_failing_and_passing_ties(
    failing: Estimate, passing: Estimate, doubt: float
) -> Estimate:
    """Put a rate with all ties failing and one with all passing together.

    Args:
        failing: The rate if every tie failed.
        passing: The rate if every tie passed.
        doubt: What error of annotators elsewhere could change at most.

    Returns:
        The rate with half of each tie, and an interval that reaches as far as ties and error may.
    """
    if failing.value is None or passing.value is None:
        return passing
    value = (failing.value + passing.value) / 2
    far = (passing.value - failing.value) / 2 + doubt
    if (
        failing.ci_low is None
        or failing.ci_high is None
        or passing.ci_low is None
        or passing.ci_high is None
    ):
        # A tie with `x` may be in no share, so that one of them has fewer groups.
        without = failing if failing.ci_low is None else passing
        return Estimate(value, passing.status, passing.n, passing.clusters, without.reason)
    low = (failing.ci_low + passing.ci_low) / 2 - far
    high = (failing.ci_high + passing.ci_high) / 2 + far
    return replace(
        passing, value=value, ci_low=max(0.0, min(low, value)), ci_high=min(1.0, max(high, value))
    )
