"""Comparing judges with each other, judges with people, and people with themselves."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import median

import numpy as np

from faithtui.agreement.report.compute import FigureContext
from faithtui.agreement.report.model import ComparisonReport
from faithtui.agreement.report.raters import (
    ComparedClaim,
    JudgeRow,
    PairRow,
    RaterComparison,
    RaterFigures,
    RepeatedLabel,
    ReviewerRow,
    SelfConsistency,
)
from faithtui.agreement.report.units import ComparedClaims
from faithtui.agreement.statistics.coefficients import AC1, KAPPA, PERCENT
from faithtui.agreement.statistics.detection import RECALL
from faithtui.agreement.statistics.figures import Statistic, estimate_figure
from faithtui.agreement.statistics.intervals import IntervalScale, make_estimate
from faithtui.agreement.statistics.matrices import (
    Floats,
    GroupedMatrix,
    Ints,
    MatrixStack,
    count_cells,
    count_distinct_columns,
    count_matrix,
    number_keys,
)
from faithtui.agreement.statistics.paired_judges import (
    DiscordantGroup,
    adjust_by_holm,
    durkalski_test,
    mcnemar_mid_p,
    sign_flip_test,
)
from faithtui.agreement.statistics.posterior import draw_pairs, widen_to_draws
from faithtui.domain.annotations import combine_verdicts
from faithtui.domain.estimates import FEWEST_GROUPS, Estimate, Reason
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.label_sets import NOT_A_CLAIM, LabelSet, Polarity


@dataclass(frozen=True, slots=True)
class PairedUnit:
    """A unit that both judges gave a label."""

    group: str
    a: str
    b: str
    human: str | None
    """Consensus of people; None: no label of the metric."""
    claim: ClaimId | None = None
    """None: not known, so that no sample can say what it stands for."""
    weight: float = 1
    """How many units it stands for; 0: not of the sample that the figures rest on."""
    stratum: int | None = None
    """Place of the stratum that it belongs to; None: nothing was drawn, or not from this unit."""
    unfair: bool = False
    """Whether it was drawn, and people call it no fair claim or leave it out by the rule for
    `idk`."""


def weigh_pairs(units: Iterable[PairedUnit], compared: ComparedClaims) -> tuple[PairedUnit, ...]:
    """Give units the labels, weights and strata that they have in the figures of a report.

    Args:
        units: What both judges gave a label.
        compared: What the figures of the report are about.
    """
    weights = compared.context.weigh_units(compared.units).tolist()
    inside = (compared.all.rows[place].claim for place in compared.places.tolist())
    known = dict(zip(inside, weights, strict=True))
    frame, human = _find_strata(compared), _find_human_labels(compared)
    return tuple(
        each
        if each.claim is None
        else replace(
            each,
            human=human.get(each.claim, each.human),
            weight=known.get(each.claim, 0),
            stratum=(found := frame.get(each.claim, _OUTSIDE))[0],
            unfair=found[1],
        )
        for each in units
    )


_OUTSIDE = (None, False)


def _find_human_labels(compared: ComparedClaims) -> dict[ClaimId, str | None]:
    """Find what people say together of every claim, as the report reads it; None: no label."""
    names = (*compared.labels.names, None)
    return {
        row.claim: names[place]
        for row, place in zip(compared.all.rows, compared.all.human.tolist(), strict=True)
    }


def _find_strata(compared: ComparedClaims) -> dict[ClaimId, tuple[int, bool]]:
    """Find the place of the stratum of all claims that labelled ones were drawn from.

    Returns:
        With whether each was drawn and is in no figure, see `PairedUnit.unfair`.
    """
    if compared.frame_counts is None:
        return {}
    claims = compared.all
    places = np.zeros(len(claims), np.int64) if compared.frame is None else compared.strata
    unfair = claims.is_drawn & ~claims.is_fair
    return {
        row.claim: (stratum, left_out)
        for row, stratum, left_out in zip(
            claims.rows, places.tolist(), unfair.tolist(), strict=True
        )
        if stratum >= 0
    }


def compare_judges(
    pairs: Sequence[tuple[str, str, Sequence[PairedUnit]]], context: FigureContext
) -> tuple[ComparisonReport, ...]:
    """Compare pairs of judges; p values are adjusted for all of them together.

    Args:
        pairs: Name of judge A, of judge B, and the units both judged.
        context: How figures are computed; units weigh what they say themselves.
    """
    found = [_compare_two(a, b, units, context) for a, b, units in pairs]
    known = [each.signflip_p for each in found if each.signflip_p is not None]
    adjusted = iter(adjust_by_holm(known))
    return tuple(
        replace(
            each,
            comparisons_made=len(found),
            holm_p=None if each.signflip_p is None else next(adjusted),
        )
        for each in found
    )


def _compare_two(
    a: str, b: str, units: Sequence[PairedUnit], context: FigureContext
) -> ComparisonReport:
    names, level = context.categories, context.settings.level
    labelled = [each for each in units if each.human in names and each.weight]
    both = _JudgePair.from_units(labelled, names, _PairedFrame.from_units(units, names))
    only_a, only_b = both.only_one_right
    groups = both.discordant_groups
    flipped = sign_flip_test([each.c - each.b for each in groups], seed=context.settings.seed)
    clustered = durkalski_test(groups)
    plain = Reason.NO_VARIATION if both.is_weighted else mcnemar_mid_p(only_a, only_b)
    judges = count_matrix(((each.group, each.a, each.b) for each in units), names)
    return ComparisonReport(
        a=a,
        b=b,
        n_common=len(labelled),
        clusters=len(groups),
        weighted=both.is_weighted,
        judges=context.compute_agreement(judges),
        accuracy_a=both.estimate_figure(PERCENT, level, of_second=False),
        accuracy_b=both.estimate_figure(PERCENT, level, of_second=True),
        difference=both.estimate_difference(PERCENT, level),
        kappa_a=both.estimate_figure(KAPPA, level, of_second=False),
        kappa_b=both.estimate_figure(KAPPA, level, of_second=True),
        kappa_difference=both.estimate_difference(KAPPA, level),
        a_only_correct=only_a,
        b_only_correct=only_b,
        signflip_p=None if isinstance(flipped, Reason) else flipped.p,
        clustered_mcnemar_p=None if isinstance(clustered, Reason) else clustered.p,
        mcnemar_mid_p=None if isinstance(plain, Reason) else plain,
        comparisons_made=1,
        holm_p=None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _PairedFrame:
    """All units that both judges gave a verdict and that labelled ones were drawn from."""

    labelled: Ints
    """See `draw_pairs`."""
    all_units: Floats | Ints
    times: Ints

    @classmethod
    def from_units(
        cls, units: Sequence[PairedUnit], categories: tuple[str, ...]
    ) -> "_PairedFrame | None":
        """Count units; None where nothing was drawn."""
        inside = [each for each in units if each.stratum is not None]
        if not inside:
            return None
        size = len(categories)
        place = {name: number for number, name in enumerate(categories)}
        groups, names = number_keys([each.group for each in inside])
        strata = np.array([each.stratum for each in inside], np.int64)
        pairs = strata * size**2 + np.array(
            [place[each.a] * size + place[each.b] for each in inside], np.int64
        )
        human = np.array(
            [
                size if each.unfair else place.get(str(each.human), -1) if each.weight else -1
                for each in inside
            ],
            np.int64,
        )
        stratum, pair = pairs // size**2, pairs % size**2
        cells = (stratum * (size + 1) + human) * size**2 + pair
        seen, number = human >= 0, int(strata.max()) + 1
        split = number * (size + 1) * size**2
        kinds, times = count_distinct_columns(
            np.concatenate(
                [
                    count_cells(groups[seen], cells[seen], len(names), split),
                    count_cells(groups, pairs, len(names), number * size**2),
                ]
            )
        )
        return cls(
            kinds[:split].reshape(number, size + 1, size, size, len(times)),
            kinds[split:].reshape(number, size, size, len(times)),
            times,
        )


@dataclass(frozen=True, eq=False)  # without slots: draws are kept
class _JudgePair:
    """Labelled units of both judges, counted by group."""

    weights: tuple[float, ...]
    """Different weights, rising."""
    counts: Ints
    """Units of the different groups by weight, people's label, A's and B's; shape
    (weights, q, q, q, different groups)."""
    times: Ints
    """How many groups there are of each."""
    first: GroupedMatrix
    """People's labels beside A's, by group."""
    second: GroupedMatrix
    """People's labels beside B's; the groups in the same order."""
    frame: _PairedFrame | None = None
    """What they were drawn from."""
    _draws: dict[float, tuple[tuple[MatrixStack, MatrixStack], ...]] = field(default_factory=dict)

    @classmethod
    def from_units(
        cls,
        labelled: Sequence[PairedUnit],
        categories: tuple[str, ...],
        frame: _PairedFrame | None = None,
    ) -> "_JudgePair":
        """Count units."""
        groups, names = number_keys([each.group for each in labelled])
        weights, stratum = np.unique([each.weight for each in labelled], return_inverse=True)
        size = len(categories)
        place = {name: number for number, name in enumerate(categories)}
        human, a, b = (
            np.array([place.get(label, -1) for label in column], np.int64)
            for column in (
                [str(each.human) for each in labelled],
                [each.a for each in labelled],
                [each.b for each in labelled],
            )
        )
        cells = ((stratum * size + human) * size + a) * size + b
        by_group = count_cells(groups, cells, len(names), len(weights) * size**3)
        kinds, times = count_distinct_columns(by_group)
        counts = kinds.reshape(len(weights), size, size, size, len(times))
        each_weight = tuple(map(float, weights))
        first, second = (
            GroupedMatrix(categories, counts.sum(axis=axis), times, each_weight) for axis in (3, 2)
        )
        return cls(each_weight, counts, times, first, second, frame)

    @property
    def is_weighted(self) -> bool:
        """Whether some unit stands for more than itself."""
        return any(weight != 1 for weight in self.weights)

    def _count_right(self, *, only_first: bool) -> Ints:
        """Count units on which one judge alone is right; shape (weights, different groups)."""
        size = self.counts.shape[1]
        human, a, b = np.ix_(*[range(size)] * 3)
        right, other = (a, b) if only_first else (b, a)
        return np.asarray(self.counts[:, (human == right) & (right != other)].sum(axis=1))

    @property
    def only_one_right(self) -> tuple[int, int]:
        """Units on which only A agrees with people, and only B; each counted once."""
        only_a, only_b = (
            int((self._count_right(only_first=only_first) @ self.times).sum())
            for only_first in (True, False)
        )
        return only_a, only_b

    @property
    def discordant_groups(self) -> list[DiscordantGroup]:
        """Weigh what only one judge is right on, by group."""
        weights = np.array(self.weights)
        n, a_right, b_right = (
            np.repeat(weights @ each, self.times).tolist()
            for each in (
                self.counts.sum(axis=(1, 2, 3)),
                self._count_right(only_first=True),
                self._count_right(only_first=False),
            )
        )
        return [DiscordantGroup(*each) for each in zip(n, a_right, b_right, strict=True)]

    def estimate_figure(self, statistic: Statistic, level: float, *, of_second: bool) -> Estimate:
        """Estimate a figure of A or B, with the wider of two intervals, see `posterior`."""
        groups = self.second if of_second else self.first
        found = estimate_figure(statistic, groups, level)
        if not self._is_widened(found):
            return found
        values = [statistic.compute(judges[of_second]) for judges in self._draw(level)]
        return widen_to_draws(found, np.stack(values), level)

    def estimate_difference(self, statistic: Statistic, level: float) -> Estimate:
        """Estimate a figure of B minus that of A.

        The interval is the wider of two: leaving out one group at a time, and what the draws of
        both matrices leave open. In samples by the verdict of A, leaving out alone held the true
        change of accuracy in as few as 0.78 of simulated samples: where the judges differ there
        are few labels, and none of them need show who is right.
        """
        compute = statistic.compute
        first, second = (
            compute.compute_over_groups(self.first),
            compute.compute_over_groups(self.second),
        )
        gap = first if isinstance(first, Reason) else second
        if not isinstance(first, Reason) and not isinstance(second, Reason):
            gap = second - first
        without = compute(self.second.without_each_group) - compute(self.first.without_each_group)
        n = int(self.first.total.n)
        found = make_estimate(gap, without, self.times, IntervalScale.NATURAL, n=n, level=level)
        if not self._is_widened(found):
            return found
        values = [compute(now) - compute(before) for before, now in self._draw(level)]
        return widen_to_draws(found, np.stack(values), level)

    def _is_widened(self, found: Estimate) -> bool:
        """Say whether an estimate's interval is widened by draws, see `widen_intervals`."""
        if found.value is None or self.first.labelled_group_count < FEWEST_GROUPS:
            return False
        is_thin = bool(np.isnan(self.first.without_each_group.n).any())
        return found.ci_low is not None or (self.frame is not None and not is_thin)

    def _draw(self, level: float) -> tuple[tuple[MatrixStack, MatrixStack], ...]:
        """Draw the matrices of both judges, once for all figures."""
        if level not in self._draws:
            frame = self.frame
            if frame is None:
                # Nothing was drawn: labelled units stand for as many as they weigh.
                labelled = np.concatenate([self.counts, np.zeros_like(self.counts[:, :1])], axis=1)
                weights = np.array(self.weights)[:, None, None, None]
                frame = _PairedFrame(labelled, weights * self.counts.sum(axis=1), self.times)
            self._draws[level] = draw_pairs(frame.labelled, frame.all_units, frame.times, level)
        return self._draws[level]


def compare_raters(
    claims: Sequence[ComparedClaim],
    runs: Sequence[RunId],
    labels: LabelSet,
    again: Sequence[SelfConsistency] = (),
) -> RaterComparison:
    """Compare judges with people, and people with each other.

    Args:
        claims: All claims of a run that somebody gave a verdict on.
        runs: Runs to compare, in the order of the rows.
        labels: The metric's. `x` is a word of people alone, so it enters only where people are
            compared.
        again: Own repeats.

    Returns:
        A row per run; per person, in the order of names; per pair of people that share a claim.
    """
    steady = {each.reviewer: each for each in again}
    said = [{each.reviewer for each in claim.opinions} for claim in claims]
    people = sorted({name for words in said for name in words} | steady.keys())
    return RaterComparison(
        tuple(
            JudgeRow(
                run,
                _compute_figures(
                    claims, lambda each: each.human_label, _make_judge_reader(run), labels
                ),
            )
            for run in runs
        ),
        tuple(
            ReviewerRow(
                name,
                sum(name in words for words in said),
                _compute_figures(
                    claims,
                    _make_consensus_reader(name),
                    _make_reviewer_reader(name),
                    labels,
                    among_people=True,
                ),
                steady.get(name),
            )
            for name in people
        ),
        tuple(
            PairRow(first, second, figures)
            for first, second in combinations(people, 2)
            if any(first in words and second in words for words in said)
            for figures in [
                _compute_figures(
                    claims,
                    _make_reviewer_reader(first),
                    _make_reviewer_reader(second),
                    labels,
                    among_people=True,
                )
            ]
        ),
    )


_LabelReader = Callable[[ComparedClaim], str | None]


def _make_judge_reader(run: RunId) -> _LabelReader:
    return lambda claim: claim.judges.get(run)


def _make_reviewer_reader(name: str) -> _LabelReader:
    return lambda claim: next(
        (each.verdict for each in claim.opinions if each.reviewer == name), None
    )


def _make_consensus_reader(name: str) -> _LabelReader:
    return lambda claim: combine_verdicts(
        [each for each in claim.opinions if each.reviewer != name]
    )


def _compute_figures(
    claims: Sequence[ComparedClaim],
    reference: _LabelReader,
    rater: _LabelReader,
    labels: LabelSet,
    *,
    among_people: bool = False,
) -> RaterFigures:
    names = (*labels.names, NOT_A_CLAIM) if among_people else labels.names
    readings = [
        (claim.group, expected, found)
        for claim in claims
        if (expected := reference(claim)) in names and (found := rater(claim)) in names
    ]
    table = count_matrix(
        ((group, expected, found) for group, expected, found in readings if expected and found),
        names,
    )
    bad = [label.name for label in labels.labels if label.polarity is Polarity.BAD]
    return RaterFigures(
        estimate_figure(KAPPA, table),
        estimate_figure(AC1, table),
        estimate_figure(RECALL, table.collapse(bad)),
    )


def compute_self_consistency(
    repeats: Sequence[RepeatedLabel], categories: Sequence[str]
) -> tuple[SelfConsistency, ...]:
    """Compute how steady each person is.

    Args:
        repeats: Any order, any people; words that are not in `categories` are left out.
        categories: Words that a verdict may be, `x` included.

    Returns:
        One per person with a repeat, in the order of names.
    """
    by_person: dict[str, list[RepeatedLabel]] = {}
    for each in repeats:
        if each.first in categories and each.second in categories:
            by_person.setdefault(each.reviewer, []).append(each)
    found: list[SelfConsistency] = []
    for reviewer, own in sorted(by_person.items()):
        table = count_matrix(((each.group, each.first, each.second) for each in own), categories)
        found.append(
            SelfConsistency(
                reviewer,
                estimate_figure(PERCENT, table),
                estimate_figure(KAPPA, table),
                median(each.gap_s for each in own),
            )
        )
    return tuple(found)
