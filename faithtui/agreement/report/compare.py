"""Comparing judges with each other, judges with annotators, and annotators with themselves."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import median

import numpy as np

from faithtui.agreement.labelled_units import RANDOM_DESIGNS
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.compute import FigureContext
from faithtui.agreement.report.figures.rater_comparison import (
    ClaimOpinions,
    JudgeRow,
    PairRow,
    RaterComparison,
    RaterFigures,
    RepeatedLabel,
    ReviewerRow,
    SelfAgreement,
)
from faithtui.agreement.report.model import ComparisonReport
from faithtui.agreement.statistics.coefficients import AC1, KAPPA, PERCENT
from faithtui.agreement.statistics.detection import RECALL
from faithtui.agreement.statistics.figures import Statistic, estimate_figure
from faithtui.agreement.statistics.intervals import (
    IntervalScale,
    make_estimate_with_jackknife_interval,
)
from faithtui.agreement.statistics.matrices import (
    Flags,
    Floats,
    GroupedMatrix,
    Ints,
    MatrixStack,
    UnitFrame,
    count_confusion_by_group,
    count_distinct_columns,
    count_units_by_cell_and_group,
    number_distinct_keys_by_occurrence,
)
from faithtui.agreement.statistics.paired_judges import (
    DiscordantGroup,
    adjust_by_holm,
    durkalski_test,
    mcnemar_mid_p,
    sign_flip_test,
)
from faithtui.agreement.statistics.posterior import (
    draw_judge_pair_matrices,
    draw_labelled_judge_pair_matrices,
    widen_interval_to_posterior_draws,
)
from faithtui.domain.estimates import FEWEST_GROUPS, Estimate
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_events import list_top_verdicts
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, LabelSet, Polarity
from faithtui.domain.withheld_reasons import WithheldReason


@dataclass(frozen=True, slots=True)
class PairedUnit:
    """A unit that both judges gave a label."""

    group: str
    a: str
    b: str
    human: str | None
    """Consensus of annotators; None: no label of the metric."""
    claim: ClaimId | None = None
    """None: not known, so that no sample can say what it stands for."""
    is_counted: bool = True
    """False: not of the sample that the figures rest on."""
    stratum: int | None = None
    """Place of the stratum that it belongs to; None: nothing was drawn, or not from this unit."""
    unfair: bool = False
    """Whether it was drawn, and annotators label it `x` or leave it out by the rule for
    `idk`."""


def recode_pairs_as_in_report(
    units: Iterable[PairedUnit], compared: ComparedClaims
) -> tuple[PairedUnit, ...]:
    """Give units the labels and strata that they have in the figures of a report.

    Args:
        units: What both judges gave a label; A is the judge of the report.
        compared: What the figures of the report are about.

    Returns:
        Those of which A has a label in the report.
    """
    inside = {compared.all.rows[place].claim for place in compared.places_in_figures.tolist()}
    frame, known = _map_claims_to_strata(compared), _map_claims_to_labels(compared)
    found = []
    for each in units:
        if each.claim is None:
            found.append(each)
            continue
        human, judge = known.get(each.claim, (each.human, each.a))
        if judge is None:
            continue
        stratum, is_unfair = frame.get(each.claim, _OUTSIDE)
        found.append(
            replace(
                each,
                a=judge,
                human=human,
                is_counted=each.claim in inside,
                stratum=stratum,
                unfair=is_unfair,
            )
        )
    return tuple(found)


_OUTSIDE = (None, False)


def _map_claims_to_labels(compared: ComparedClaims) -> dict[ClaimId, tuple[str | None, str | None]]:
    """Find the consensus and the verdict of every claim, as the report counts them."""
    names = (*compared.labels.names, None)
    claims = compared.all
    return {
        row.claim: (names[human], names[judge])
        for row, human, judge in zip(
            claims.rows, claims.human_labels.tolist(), claims.judge_labels.tolist(), strict=True
        )
    }


def _map_claims_to_strata(compared: ComparedClaims) -> dict[ClaimId, tuple[int, bool]]:
    """Find the place of the stratum of all claims that labelled ones were drawn from.

    Returns:
        With whether each was drawn and is in no figure, see `PairedUnit.unfair`.
    """
    if compared.design.kind not in RANDOM_DESIGNS:
        return {}
    claims = compared.all
    places = (
        np.zeros(len(claims), np.int64)
        if compared.weighted_frame is None
        else compared.stratum_place_of_claims
    )
    unfair = claims.is_drawn_blind & ~claims.is_fair
    return {
        row.claim: (stratum, left_out)
        for row, stratum, left_out in zip(
            claims.rows, places.tolist(), unfair.tolist(), strict=True
        )
        if stratum >= 0
    }


def compare_judges(
    pairs: Sequence[tuple[str, str, Sequence[PairedUnit]]], compared: ComparedClaims
) -> tuple[ComparisonReport, ...]:
    """Compare pairs of judges; p values are adjusted for all of them together.

    Args:
        pairs: Name of judge A, of judge B, and the units both judged, see
            `recode_pairs_as_in_report`.
        compared: What the figures of the report on A are about.
    """
    found = [_compare_two_judges(a, b, units, compared) for a, b, units in pairs]
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


def _compare_two_judges(
    a: str, b: str, units: Sequence[PairedUnit], compared: ComparedClaims
) -> ComparisonReport:
    context = compared.figure_context
    names, level = context.categories, context.settings.level
    both = _JudgePair.from_units(units, context)
    labelled = {each.claim for each in units if each.is_counted and each.human in names}
    own = (compared.all.rows[place].claim for place in compared.places_in_figures.tolist())
    left_out = sum(claim not in labelled for claim in own)
    first, second = (
        context.estimate_figures_with_wanted_intervals({"accuracy": PERCENT, "kappa": KAPPA}, each)
        for each in (
            # One figure has one interval: what the report says of A is said here, too.
            both.make_single_judge_matrix(both.first) if left_out else compared.whole_matrix,
            both.make_single_judge_matrix(both.second),
        )
    )
    only_a, only_b = both.only_one_right_counts
    groups = both.discordant_groups
    flipped = sign_flip_test([each.c - each.b for each in groups], seed=context.settings.seed)
    clustered = durkalski_test(groups)
    plain = WithheldReason.NO_VARIATION if both.is_weighted else mcnemar_mid_p(only_a, only_b)
    judges = count_confusion_by_group(((each.group, each.a, each.b) for each in units), names)
    return ComparisonReport(
        a=a,
        b=b,
        n_common=both.first.unweighted_total.n,
        n_left_out=left_out,
        clusters=len(groups),
        weighted=both.is_weighted,
        judges=context.compute_agreement(judges),
        accuracy_a=first["accuracy"],
        accuracy_b=second["accuracy"],
        difference=both.estimate_difference(PERCENT, level),
        kappa_a=first["kappa"],
        kappa_b=second["kappa"],
        kappa_difference=both.estimate_difference(KAPPA, level),
        a_only_correct=only_a,
        b_only_correct=only_b,
        signflip_p=None if isinstance(flipped, WithheldReason) else flipped.p,
        clustered_mcnemar_p=None if isinstance(clustered, WithheldReason) else clustered.p,
        mcnemar_mid_p=None if isinstance(plain, WithheldReason) else plain,
        comparisons_made=1,
        holm_p=None,
    )


@dataclass(frozen=True, eq=False)  # without slots: draws are kept
class _JudgePair:
    """Units that both judges gave a label, by group: one of each kind of group."""

    labelled: Ints
    """By stratum, the human label (the last: drawn and `x`), A's and B's; shape
    (strata, q + 1, q, q, different groups)."""
    all_units: Floats | Ints
    """All that they stand for, by stratum, A's label and B's; shape (strata, q, q, different
    groups)."""
    times: Ints
    """How many groups there are of each kind."""
    is_drawn: bool
    """Whether the labelled units are a random sample of what they stand for."""
    first: GroupedMatrix
    """Human labels beside A's, weighted as in a report on A; of groups in this order."""
    second: GroupedMatrix
    """Human labels beside B's."""
    frames: tuple[UnitFrame, UnitFrame] | None = None
    """What the labelled units were drawn from, by A's label and by B's, of the same groups; None
    where nothing was drawn, or B gave no label to some of it."""
    _draws: dict[float, tuple[tuple[MatrixStack, MatrixStack], ...]] = field(default_factory=dict)

    @classmethod
    def from_units(cls, units: Sequence[PairedUnit], context: FigureContext) -> "_JudgePair":
        """Count units."""
        names, frame = context.categories, context.frame_counts
        inside = [each for each in units if each.stratum is not None]
        is_whole = frame is not None and len(inside) == frame[1].sum()
        if not is_whole:
            # Labels may be the reason why B judged these, so that each weighs what it weighs for A.
            inside = [each for each in units if each.is_counted and each.human in names]
        by_strata = context.frame is not None and any(each.stratum is not None for each in inside)
        weights = context.stratum_weights if by_strata else (1.0,)
        size, number = len(names), len(weights)
        place = {name: number for number, name in enumerate(names)}
        groups, group_names = number_distinct_keys_by_occurrence([each.group for each in inside])
        strata = np.array([each.stratum or 0 for each in inside], np.int64)
        pair = np.array([place[each.a] * size + place[each.b] for each in inside], np.int64)
        human = np.array(
            [
                size if each.unfair else place.get(str(each.human), -1) if each.is_counted else -1
                for each in inside
            ],
            np.int64,
        )
        seen = human >= 0
        cells = ((strata * (size + 1) + human) * size**2 + pair)[seen]
        split = number * (size + 1) * size**2
        kinds, times = count_distinct_columns(
            np.concatenate(
                [
                    count_units_by_cell_and_group(groups[seen], cells, len(group_names), split),
                    count_units_by_cell_and_group(
                        groups, strata * size**2 + pair, len(group_names), number * size**2
                    ),
                ]
            )
        )
        labelled = kinds[:split].reshape(number, size + 1, size, size, len(times))
        all_units = kinds[split:].reshape(number, size, size, len(times))
        frames = [
            UnitFrame(
                labelled[:, :size].sum(axis=other + 2),
                labelled[:, size].sum(axis=other + 1),
                all_units.sum(axis=other + 1),
            )
            for other in (1, 0)
        ]
        first, second = (
            GroupedMatrix(
                names,
                each.labelled,
                times,
                weights,
                each.verdicts.sum(axis=1) if is_whole and by_strata else None,
                each.unfair.sum(axis=1) if is_whole and by_strata else None,
            )
            for each in frames
        )
        return cls(
            labelled,
            all_units if is_whole else np.array(weights)[:, None, None, None] * all_units,
            times,
            any(each.stratum is not None for each in inside),
            first,
            second,
            (frames[0], frames[1]) if is_whole else None,
        )

    def make_single_judge_matrix(self, judge: GroupedMatrix) -> GroupedMatrix:
        """Count one of both judges as a report on its run does, without the other one.

        A report keeps equal groups once, in their order: its draws depend on both.
        """
        frame = None
        if self.frames is not None:
            of = self.frames[judge is self.second]
            frame = UnitFrame(
                *(
                    np.repeat(each, self.times, axis=-1)
                    for each in (of.labelled, of.unfair, of.verdicts)
                )
            )
        return GroupedMatrix.from_groups(
            judge.categories,
            judge.counts,
            weights=judge.weights,
            populations=judge.populations,
            unfair=judge.unfair,
            times=self.times,
            frame=frame,
        )

    @property
    def is_weighted(self) -> bool:
        """Whether some labelled unit stands for more than itself."""
        weights = self.first.stratum_weights[self.first.total_counts.any(axis=(1, 2))]
        return bool((weights != 1).any())

    @property
    def _has_labelled_unit(self) -> Flags:
        """Whether each of the different groups has a labelled unit."""
        return np.asarray(self.first.unweighted_by_group.n > 0)

    def _count_units_with_one_judge_right(self, *, only_first: bool) -> Ints:
        """Count units on which one judge alone is right; shape (strata, different groups)."""
        size = self.labelled.shape[2]
        human, a, b = np.ix_(*[range(size)] * 3)
        right, other = (a, b) if only_first else (b, a)
        is_right = (human == right) & (right != other)
        return np.asarray(self.labelled[:, :size][:, is_right].sum(axis=1))

    @property
    def only_one_right_counts(self) -> tuple[int, int]:
        """Units on which only A agrees with annotators, and only B; each counted once."""
        only_a, only_b = (
            int((self._count_units_with_one_judge_right(only_first=only_first) @ self.times).sum())
            for only_first in (True, False)
        )
        return only_a, only_b

    @property
    def discordant_groups(self) -> list[DiscordantGroup]:
        """Weigh what only one judge is right on, by group with labelled units."""
        weights, labelled = self.first.stratum_weights, self._has_labelled_unit
        n, a_right, b_right = (
            np.repeat((weights @ each)[labelled], self.times[labelled]).tolist()
            for each in (
                self.first.counts.sum(axis=(1, 2)),
                self._count_units_with_one_judge_right(only_first=True),
                self._count_units_with_one_judge_right(only_first=False),
            )
        )
        return [DiscordantGroup(*each) for each in zip(n, a_right, b_right, strict=True)]

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
        gap = first if isinstance(first, WithheldReason) else second
        if not isinstance(first, WithheldReason) and not isinstance(second, WithheldReason):
            gap = second - first
        without = compute(self.second.without_each_group) - compute(self.first.without_each_group)
        labelled = self._has_labelled_unit
        found = make_estimate_with_jackknife_interval(
            gap,
            without[labelled],
            self.times[labelled],
            IntervalScale.NATURAL,
            n=self.first.unweighted_total.n,
            level=level,
        )
        if not self._is_widened_by_posterior(found):
            return found
        values = [
            compute(now) - compute(before) for before, now in self._draw_posterior_matrices(level)
        ]
        return widen_interval_to_posterior_draws(found, np.stack(values), level)

    def _is_widened_by_posterior(self, found: Estimate) -> bool:
        """Say whether an estimate's interval is widened by draws.

        See `widen_intervals_by_posterior`.
        """
        if found.value is None or self.first.labelled_group_count < FEWEST_GROUPS:
            return False
        is_thin = bool(np.isnan(self.first.without_each_group.n).any())
        return found.ci_low is not None or (self.is_drawn and not is_thin)

    def _draw_posterior_matrices(self, level: float) -> tuple[tuple[MatrixStack, MatrixStack], ...]:
        """Draw the matrices of both judges, once for all figures."""
        if level not in self._draws:
            self._draws[level] = (
                draw_labelled_judge_pair_matrices(
                    self.labelled, self.first.weights, self.times, level
                )
                if self.is_drawn and self.frames is None
                else draw_judge_pair_matrices(self.labelled, self.all_units, self.times, level)
            )
        return self._draws[level]


def compare_raters(
    claims: Sequence[ClaimOpinions],
    runs: Sequence[RunId],
    labels: LabelSet,
    again: Sequence[SelfAgreement] = (),
) -> RaterComparison:
    """Compare judges with annotators, and annotators with each other.

    Args:
        claims: All claims of a run with a human label.
        runs: Runs to compare, in the order of the rows.
        labels: The metric's. `x` is a human label alone, so it enters only where annotators are
            compared.
        again: Own repeats.

    Returns:
        A row per run; per annotator, in the order of names; per pair that shares a claim.
    """
    steady = {each.reviewer: each for each in again}
    raters_by_claim = [{each.reviewer for each in claim.opinions} for claim in claims]
    people = sorted({name for words in raters_by_claim for name in words} | steady.keys())
    return RaterComparison(
        tuple(
            JudgeRow(
                run,
                _compute_rater_agreement(
                    claims, lambda each: each.human_label, _make_judge_label_reader(run), labels
                ),
            )
            for run in runs
        ),
        tuple(
            ReviewerRow(
                name,
                sum(name in words for words in raters_by_claim),
                _compute_rater_agreement(
                    claims,
                    _make_others_consensus_reader(name),
                    _make_reviewer_label_reader(name),
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
            if any(first in words and second in words for words in raters_by_claim)
            for figures in [
                _compute_rater_agreement(
                    claims,
                    _make_reviewer_label_reader(first),
                    _make_reviewer_label_reader(second),
                    labels,
                    among_people=True,
                )
            ]
        ),
    )


_LabelReader = Callable[[ClaimOpinions], str | None]


def _make_judge_label_reader(run: RunId) -> _LabelReader:
    return lambda claim: claim.judges.get(run)


def _make_reviewer_label_reader(name: str) -> _LabelReader:
    return lambda claim: next(
        (each.verdict for each in claim.opinions if each.reviewer == name), None
    )


def _make_others_consensus_reader(name: str) -> _LabelReader:
    def read_consensus(claim: ClaimOpinions) -> str | None:
        words = list_top_verdicts([each for each in claim.opinions if each.reviewer != name])
        return words[0] if len(words) == 1 else None

    return read_consensus


def _compute_rater_agreement(
    claims: Sequence[ClaimOpinions],
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
    table = count_confusion_by_group(
        ((group, expected, found) for group, expected, found in readings if expected and found),
        names,
    )
    bad = [label.name for label in labels.labels if label.polarity is Polarity.BAD]
    return RaterFigures(
        estimate_figure(KAPPA, table),
        estimate_figure(AC1, table),
        estimate_figure(RECALL, table.collapse_to_two_categories(bad)),
    )


def compute_self_agreement(
    repeats: Sequence[RepeatedLabel], categories: Sequence[str]
) -> tuple[SelfAgreement, ...]:
    """Compute the self-agreement of each annotator.

    Args:
        repeats: Any order, any annotators; words that are not in `categories` are left out.
        categories: Words that a verdict may be, `x` included.

    Returns:
        One per annotator with a repeat, in the order of names.
    """
    by_person: dict[str, list[RepeatedLabel]] = {}
    for each in repeats:
        if each.first in categories and each.second in categories:
            by_person.setdefault(each.reviewer, []).append(each)
    found: list[SelfAgreement] = []
    for reviewer, own in sorted(by_person.items()):
        table = count_confusion_by_group(
            ((each.group, each.first, each.second) for each in own), categories
        )
        found.append(
            SelfAgreement(
                reviewer,
                estimate_figure(PERCENT, table),
                estimate_figure(KAPPA, table),
                median(each.gap_s for each in own),
            )
        )
    return tuple(found)
