"""The figures of claims and of answers: coverage, agreement, detection, the share that passes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from faithtui.agreement.labelled_units import (
    AnswerUnit,
    ClaimUnit,
    DesignKind,
    LabelDesign,
    LabelState,
    UnratedAnswer,
    decide_answer_by_majority,
    is_answer_passed_by_judge,
)
from faithtui.agreement.report.annotator_error import (
    AnnotatorError,
    decide_passes_and_annotator_error,
    merge_rates_of_failing_and_passing_ties,
)
from faithtui.agreement.report.compute import FigureContext, UnitColumns
from faithtui.agreement.report.model import (
    ANSWER_NOUNS,
    CLAIM_NOUNS,
    FAIL,
    PASS,
    Agreement,
    Bounds,
    ClassReport,
    Coverage,
    Detection,
    Disagreement,
    LazyDisagreements,
    LevelReport,
    PassRate,
    RateEstimator,
    VerdictCount,
)
from faithtui.agreement.report.settings import ReportLevel, ReportSettings
from faithtui.agreement.report.units import RANDOM_DESIGNS, ComparedClaims, select_by_position
from faithtui.agreement.statistics.figures import estimate_share_of_counts
from faithtui.agreement.statistics.matrices import (
    Flags,
    GroupedMatrix,
    Ints,
    number_distinct_keys_by_occurrence,
)
from faithtui.agreement.statistics.pass_rates import (
    GroupedStrata,
    LabelledStratum,
    compute_worst_case_bounds,
    estimate_fair_claim_count,
    estimate_future_rate,
    estimate_run_rate,
    estimate_run_rate_clustered,
    merge_unlabelled_strata,
    widen_interval_for_unknown_units,
)
from faithtui.agreement.statistics.posterior import widen_future_rate, widen_run_rate
from faithtui.domain.estimates import FEWEST_GROUPS, Estimate, Reason, make_withheld_estimate
from faithtui.domain.scores import ScoringRule

FiguresT = TypeVar("FiguresT", Agreement, ClassReport, Detection)

_UNCHANGED = (
    *("units", "conversations", "groups", "verdict_rows", "compared_groups"),
    "missing_verdicts",
)
"""What a label does not change, or what only a whole count can tell."""


@dataclass(frozen=True, slots=True, eq=False)
class PassColumns:
    """Units of a run in columns."""

    groups: Ints
    """Number of each unit's group, from 0."""
    group_count: int
    strata: Ints
    """Place of each unit's stratum; of a sample by strata -1 is outside of its frame, else strata
    are the judge's labels and -1 is none."""
    judge: Ints
    """1: passes by the judge; 0: does not; -1: no label."""
    human: Ints
    """1: passes by people; 0: does not; -1: no label that counts."""
    is_unfair: Flags | None = None
    """Whether people call it no fair claim; None: none are."""
    drawn: Flags | None = None
    """In the part of the sample the report rests on; None where there is none."""
    conversations: tuple[Ints, int] | None = None
    """Number of each unit's conversation, from 0, and how many there are; None: each is a group."""
    error: AnnotatorError | None = None
    """What is in doubt as annotators differ; None where no two labelled a unit."""
    population: Ints | None = None
    """Units that the drawn ones stand for where these are all that is here, by stratum and bundle,
    see `ComparedClaims.population_counts`; None: the units are all there are."""
    population_passes: Ints | None = None
    """Of these, units that pass and units that have a verdict of the judge, by bundle; shape (2,
    bundles)."""


def compute_claim_level_report(
    compared: ComparedClaims, rule: ScoringRule, unit: tuple[str, str] = CLAIM_NOUNS
) -> LevelReport:
    """Compare people's verdicts on unique claims with the judge's; see `report.agreement_report`.

    A reviewed claim without a judge's verdict is counted beside the table and enters no
    coefficient: it must not count as agreement, and a coefficient needs two verdicts.
    """
    context, whole = compared.figure_context, compared.whole_matrix
    rows, is_compared = compared.all.rows, compared.is_compared
    differs = is_compared & (compared.all.human_labels != compared.all.judge_labels)
    return LevelReport(
        level=ReportLevel.CLAIMS,
        unit=unit,
        coverage=count_claim_review_coverage(compared),
        design=compared.design,
        agreement=context.compute_agreement(whole, main=True),
        unjudged=_count_unjudged_by_human_label(compared),
        classes=context.compute_per_label_figures(whole),
        strict=context.compute_detection(whole, compared.bad, main=True),
        lenient=context.compute_detection(whole, compared.not_good, main=True),
        rate=estimate_pass_rate(
            _make_claim_pass_columns(rule, compared),
            compared.design,
            compared.labels.names,
            compared.settings.level,
        ),
        disagreements=LazyDisagreements(
            [rows[place] for place in np.flatnonzero(differs).tolist()]
        ),
        weights=tuple(sorted(compared.weights_by_stratum.items())),
    )


def count_claim_review_coverage(compared: ComparedClaims) -> Coverage:
    """Say what became of every claim."""
    claims, names = compared.all, compared.labels.names
    total = len(claims)
    judge, human = claims.judge_labels, claims.human_labels
    is_unreviewed = claims.is_unreviewed
    not_a_claim = int((~claims.is_fair & ~claims.is_human_excluded).sum())
    unreviewed = int(is_unreviewed.sum())
    is_compared = compared.is_compared
    n, usable = int(is_compared.sum()), int((human >= 0).sum())
    by_judge = int((claims.is_judge_excluded & (human >= 0)).sum())
    by_human, tied = int(claims.is_human_excluded.sum()), int(claims.is_tied.sum())
    audit = (
        len(compared.places_compared_in_sample_shown_included) - len(compared.places_in_figures)
        if compared.has_claims_drawn_with_judge_shown
        else 0
    )
    agreed = int((is_compared & (judge == human)).sum())
    states = dict.fromkeys(LabelState, 0)
    skipped = np.zeros(total, np.bool_)
    if unreviewed:
        numbers = np.bincount(claims.label_states.codes[is_unreviewed]).tolist()
        states.update(zip(claims.label_states.distinct_values, numbers, strict=False))
        skipped = claims.label_states.flag_values(lambda state: state is LabelState.SKIPPED)
    blind = claims.blind_flags[compared.places_in_figures]
    several = claims.has_several_reviewers & ~is_unreviewed
    in_figures: Flags | bool = True
    if compared.design.kind in RANDOM_DESIGNS:
        in_figures = claims.is_drawn_blind
    return Coverage(
        units=total,
        conversations=claims.conversation_count,
        groups=claims.group_count,
        verdict_rows=int(claims.window_counts.map_to_numbers(int).sum(dtype=np.int64)),
        compared=n,
        compared_groups=int(np.bincount(claims.group_numbers[is_compared]).astype(np.bool_).sum()),
        agreed=agreed,
        overridden=n - agreed,
        unreviewed=unreviewed,
        not_a_claim=not_a_claim,
        other_words=total - unreviewed - not_a_claim - by_human - tied - usable,
        no_verdict=usable - n - by_judge,
        vacuous=0,
        unscored=0,
        missing_verdicts=int(((judge < 0) & ~claims.is_judge_excluded).sum()),
        labelled_by_two_or_more=int(several.sum()),
        blind=int((blind == 1).sum()),
        shown=int((blind == 0).sum()),
        by_verdict=_count_units_reviewed_and_skipped_by_judge_label(
            judge, ~is_unreviewed, skipped, names
        ),
        skipped=states[LabelState.SKIPPED],
        bulk_accepted=states[LabelState.BULK],
        stale=states[LabelState.STALE],
        outside=n - len(compared.places_in_figures) - audit,
        audit=audit,
        tied=tied,
        tied_in_figures=int((claims.is_tied & in_figures).sum()),
        several_in_figures=int((several & in_figures).sum()),
        idk_excluded=by_human + by_judge,
        unverified=count_unverified_claims(compared),
    )


def count_unverified_claims(compared: ComparedClaims) -> int:
    """Count the claims in the figures that rest on labels of which nothing says who gave them."""
    return sum(
        any(opinion.unverified for opinion in each.opinions)
        for each in select_by_position(compared.all.rows, compared.places_in_figures)
    )


def _count_unjudged_by_human_label(compared: ComparedClaims) -> tuple[int, ...]:
    """Count reviewed claims without a judge's verdict, by people's label."""
    claims = compared.all
    human = claims.human_labels[(claims.judge_labels < 0) & ~claims.is_judge_excluded]
    found = np.bincount(human[human >= 0], minlength=len(compared.labels.names))
    return tuple(found.tolist())


def _count_units_reviewed_and_skipped_by_judge_label(
    judge: Ints, is_reviewed: Flags, is_skipped: Flags, names: Sequence[str]
) -> tuple[VerdictCount, ...]:
    """Count units by the judge's label; last those without one.

    Args:
        judge: Place of each unit's label, -1: none.
        is_reviewed: Of each unit.
        is_skipped: Of each unit.
        names: Labels.
    """
    size = len(names) + 1
    units, reviewed, skipped = (
        np.bincount(each + 1, minlength=size).tolist()
        for each in (judge, judge[is_reviewed], judge[is_skipped])
    )
    return tuple(
        VerdictCount(name, units[place], reviewed[place], skipped[place])
        for name, place in (*((name, place + 1) for place, name in enumerate(names)), (None, 0))
    )


def _make_claim_pass_columns(rule: ScoringRule, compared: ComparedClaims) -> PassColumns:
    """Say of all claims what passes."""
    names, claims = compared.labels.names, compared.all
    passes = np.array([*(name in rule.passing for name in names), -1], np.int64)
    by_design = compared.design.kind is DesignKind.STRATIFIED
    human: Ints = passes[claims.human_labels]
    if compared.has_claims_drawn_with_judge_shown:
        human = np.where(claims.is_drawn_with_judge_shown, -1, human)
    human, error = decide_passes_and_annotator_error(compared, rule.passing, human)
    strata = compared.stratum_place_of_claims if by_design else claims.judge_labels
    counts = compared.population_counts
    population: Ints | None = None
    population_passes: Ints | None = None
    if compared.design.follows_draw and compared.design.strata:
        # What the judge says of the rest is not known, so that only the drawing has strata.
        drawn_from = [each.population for each in compared.design.strata]
        strata = compared.stratum_place_of_claims if by_design else np.zeros(len(claims), np.int64)
        unused = 0 if by_design else len(names) + 1 - len(drawn_from)
        population = np.array([*drawn_from, *[0] * unused], np.int64)[:, None]
    elif counts is not None:
        # By strata of the sample, else by verdict.
        population = counts.sum(axis=1) if by_design else counts[0]
        by_verdict = counts.sum(axis=0)[:-1]
        population_passes = np.stack(
            [
                by_verdict[[name in rule.passing for name in names]].sum(axis=0),
                by_verdict.sum(axis=0),
            ]
        )
    return PassColumns(
        groups=claims.group_numbers,
        group_count=claims.group_count,
        strata=strata,
        judge=np.where(claims.is_fair, passes[claims.judge_labels], -1),
        human=human,
        is_unfair=~claims.is_fair,
        drawn=claims.is_drawn_blind if compared.design.kind in RANDOM_DESIGNS else None,
        conversations=(claims.conversation_numbers, claims.conversation_count),
        error=error,
        population=population,
        population_passes=population_passes,
    )


def estimate_drawable_pass_rate(compared: ComparedClaims, rule: ScoringRule) -> Estimate:
    """Estimate the share that passes of all that could be drawn, from labels alone.

    Args:
        compared: Claims with the weights of the drawing, of a run that judged no others: see
            `ComparedClaims.claims_weighted_for_comparison_with_other_judge`.
        rule: Which labels pass.
    """
    return estimate_pass_rate(
        _make_claim_pass_columns(rule, compared),
        # Further claims of the run are none of those that could be drawn.
        replace(compared.design, beyond=0),
        compared.labels.names,
        compared.settings.level,
    ).corrected_this_run


def count_labelled_units_by_stratum(
    compared: ComparedClaims, rule: ScoringRule
) -> tuple[tuple[LabelledStratum, ...], npt.NDArray[np.bool_]]:
    """Count what is labelled of each stratum of the sample, in the order of its design.

    Returns:
        The strata, and whether a group has a labelled unit of each, shape (strata, groups).
    """
    units = _make_claim_pass_columns(rule, compared)
    counts = _count_units_labels_and_passes(units, compared.design, compared.labels.names)
    return _sum_strata_over_groups(counts), counts[1] > 0


def compute_answer_level_report(
    answers: Sequence[AnswerUnit],
    unrated: Sequence[UnratedAnswer],
    rule: ScoringRule,
    settings: ReportSettings,
) -> LevelReport:
    """Compare people's labels of whole answers with the judge's pass or fail.

    People pass an answer when their label is one of `rule.passing`; any other label fails it. An
    answer that as many pass as fail is left out and counted.
    Nobody draws answers to be rated, so they are never a census: even where all are rated, only
    the labelled ones are spoken of.

    Args:
        answers: Those that people labelled.
        unrated: All others of the run.
        rule: The run's rule.
        settings: What is asked for.
    """
    reviewed = [answer for answer in answers if answer.human is not None]
    votes = [decide_answer_by_majority(answer, rule.passing, rule.labels) for answer in answers]
    decided = [
        (answer, pass_or_fail(passes))
        for answer, passes in zip(answers, votes, strict=True)
        if passes is not None
    ]
    both = [
        (answer, human, judge)
        for answer, human in decided
        if (judge := find_judge_answer_verdict(answer)) is not None
    ]
    vacuous = sum(not answer.claims for answer, _ in decided)
    others = [None if each.passes is None else pass_or_fail(each.passes) for each in unrated]
    context = FigureContext((PASS, FAIL), (FAIL,), settings)
    groups, group_names = number_distinct_keys_by_occurrence(
        [answer.group for answer, _, _ in both]
    )
    cells = [2 * (human == FAIL) + (judge == FAIL) for _, human, judge in both]
    whole = context.count_some_units_by_group(
        UnitColumns(groups, np.array(cells, np.int64), len(group_names))
    )
    agreed = sum(human == judge for _, human, judge in both)
    in_view = sum(_was_judge_shown_to_raters(answer) for answer, _, _ in both)
    coverage = Coverage(
        units=len(answers) + len(unrated),
        conversations=len(
            {each.conversation for each in answers} | {each.conversation for each in unrated}
        ),
        groups=len({each.group for each in answers} | {each.group for each in unrated}),
        verdict_rows=len(answers) + len(unrated),
        compared=len(both),
        compared_groups=len({answer.group for answer, _, _ in both}),
        agreed=agreed,
        overridden=len(both) - agreed,
        unreviewed=len(answers) - len(reviewed) + len(unrated),
        not_a_claim=0,
        other_words=0,
        no_verdict=0,
        vacuous=vacuous,
        unscored=len(decided) - vacuous - len(both),
        missing_verdicts=0,
        labelled_by_two_or_more=sum(answer.raters >= 2 for answer in reviewed),
        # Labels that came with the data are taken for blind ones.
        blind=len(both) - in_view,
        shown=in_view,
        by_verdict=_count_units_reviewed_and_skipped_by_judge_label(
            _encode_pass_fail_words_as_positions(
                [*map(find_judge_answer_verdict, answers), *others]
            ),
            np.array(
                [each.human is not None for each in answers] + [False] * len(others), np.bool_
            ),
            np.zeros(len(answers) + len(others), np.bool_),
            (PASS, FAIL),
        ),
        tied=len(reviewed) - len(decided),
        tied_in_figures=len(reviewed) - len(decided),
        several_in_figures=sum(answer.raters >= 2 for answer in reviewed),
        unverified=sum(
            any(opinion.unverified for opinion in answer.opinions) for answer, _, _ in both
        ),
    )
    kind = DesignKind.CONVENIENCE if coverage.reviewed else DesignKind.NONE
    design = LabelDesign(kind, coverage.units)
    # Both rates are of the same answers: nothing was judged in the others.
    judged = [
        (each.group, judge_verdict, passes)
        for each, passes in zip(answers, votes, strict=True)
        if (judge_verdict := find_judge_answer_verdict(each)) is not None
    ] + [
        (each.group, judge_verdict, None)
        for each, judge_verdict in zip(unrated, others, strict=True)
        if judge_verdict is not None
    ]
    judged_groups, judged_names = number_distinct_keys_by_occurrence(
        [group for group, _, _ in judged]
    )
    return LevelReport(
        level=ReportLevel.ANSWERS,
        unit=ANSWER_NOUNS,
        coverage=coverage,
        design=design,
        agreement=context.compute_agreement(whole, main=True),
        unjudged=(0, 0),
        classes=context.compute_per_label_figures(whole),
        strict=context.compute_detection(whole, (FAIL,), main=True),
        lenient=None,
        rate=estimate_pass_rate(
            PassColumns(
                groups=judged_groups,
                group_count=len(judged_names),
                strata=_encode_pass_fail_words_as_positions(
                    [judge_verdict for _, judge_verdict, _ in judged]
                ),
                judge=np.array([judge_verdict == PASS for _, judge_verdict, _ in judged], np.int64),
                human=np.array(
                    [-1 if passes is None else int(passes) for *_, passes in judged],
                    np.int64,
                ),
            ),
            design,
            (PASS, FAIL),
            settings.level,
        ),
        disagreements=tuple(
            Disagreement(
                None,
                answer.conversation,
                answer.key,
                answer.turn,
                judge,
                human,
                f"score {answer.score.value:.2f}, threshold {rule.effective_threshold}",
                raters=tuple(each.reviewer for each in answer.opinions),
                blind=not _was_judge_shown_to_raters(answer),
            )
            for answer, human, judge in both
            if human != judge
        ),
    )


def pass_or_fail(passes: bool) -> str:
    """Name one of the two categories of the answer level."""
    return PASS if passes else FAIL


def find_judge_answer_verdict(answer: AnswerUnit) -> str | None:
    """Say whether the judge passes an answer; None: nothing was judged in it, or no threshold."""
    passes = is_answer_passed_by_judge(answer)
    return None if passes is None else pass_or_fail(passes)


def _was_judge_shown_to_raters(answer: AnswerUnit) -> bool:
    """Say whether somebody rated an answer with the judge's word in view."""
    return any(each.blind is False for each in answer.opinions)


def _encode_pass_fail_words_as_positions(words: Sequence[str | None]) -> Ints:
    """Give the place of pass and fail; -1: neither."""
    return np.array([-1 if word is None else int(word == FAIL) for word in words], np.int64)


def estimate_pass_rate(
    units: PassColumns, design: LabelDesign, labels: Sequence[str], level: float
) -> PassRate:
    """Estimate the share of units that pass, half of each tie between annotators.

    Units of the run that could not be drawn, as a judge has that words its claims itself, may all
    pass or all fail: what it words otherwise need not be like the rest.

    Args:
        units: All of the run that could be drawn.
        design: How the labelled ones were chosen.
        labels: What the judge can say.
        level: Confidence level in (0, 1).
    """
    found = _estimate_pass_rate_of_drawable_units(units, design, labels, level)
    if not design.beyond or found.corrected_this_run.value is None:
        return found
    known = estimate_fair_claim_count(
        _count_passes_by_stratum(units, design, labels).totals_by_stratum
    )
    this_run, future = (
        widen_interval_for_unknown_units(each, known, design.beyond)
        for each in (found.corrected_this_run, found.corrected_future)
    )
    return replace(
        found,
        corrected_this_run=this_run,
        corrected_future=future,
        assumptions=(*found.assumptions, "what could not be drawn may all pass, or all fail"),
    )


def _estimate_pass_rate_of_drawable_units(
    units: PassColumns, design: LabelDesign, labels: Sequence[str], level: float
) -> PassRate:
    """Estimate the share that passes of the units that could be drawn, see `estimate_pass_rate`."""
    error = units.error
    if error is None or design.kind not in (*RANDOM_DESIGNS, DesignKind.CENSUS):
        return _estimate_pass_rate_of_labels_as_given(units, design, labels, level)
    failing, passing = (
        _estimate_pass_rate_of_labels_as_given(
            _set_ties_to_pass_or_fail(units, error.is_tied, side), design, labels, level
        )
        for side in (error.worst, error.best)
    )
    is_known = (units.human >= 0) | error.is_tied
    is_agreed = (units.human >= 0) & ~error.is_single
    doubt = 0.0
    for wrong, some in (
        (error.error, error.is_single),
        (error.both_wrong_rate_if_agreed, is_agreed),
    ):
        share = replace(units, human=np.where(is_known, some, -1))
        found = _estimate_pass_rate_of_labels_as_given(
            share, design, labels, level
        ).corrected_this_run
        doubt += wrong * (found.value or 0.0)
    return replace(
        passing,
        label_mean=merge_rates_of_failing_and_passing_ties(
            failing.label_mean, passing.label_mean, 0.0
        ),
        corrected_this_run=merge_rates_of_failing_and_passing_ties(
            failing.corrected_this_run, passing.corrected_this_run, doubt
        ),
        corrected_future=merge_rates_of_failing_and_passing_ties(
            failing.corrected_future, passing.corrected_future, doubt
        ),
        assumptions=tuple(
            "annotators err as often as they differ on units that several labelled"
            if each == _TRUE_LABELS
            else each
            for each in passing.assumptions
        ),
    )


def _set_ties_to_pass_or_fail(units: PassColumns, is_tied: Flags, side: Ints) -> PassColumns:
    """Take tied units for what they may be; -1 is no fair claim."""
    is_unfair = np.zeros(len(units.human), np.bool_) if units.is_unfair is None else units.is_unfair
    return replace(
        units,
        human=np.where(is_tied, side, units.human),
        is_unfair=is_unfair | (is_tied & (side < 0)),
    )


def _estimate_pass_rate_of_labels_as_given(
    units: PassColumns, design: LabelDesign, labels: Sequence[str], level: float
) -> PassRate:
    """Estimate the share of units that pass, of labels that are taken as they are.

    Args:
        units: All of the run.
        design: How the labelled ones were chosen.
        labels: What the judge can say.
        level: Confidence level in (0, 1).
    """
    kind = design.kind
    strata = _count_passes_by_stratum(units, design, labels)
    judge = _estimate_judge_pass_rate(units, design, level)
    labelled = _estimate_known_pass_share(units, units.human, level)
    if kind in (DesignKind.NONE, DesignKind.CONVENIENCE, DesignKind.OVERRIDE_ONLY):
        none = make_withheld_estimate(Reason.DESIGN_NOT_RANDOM, labelled.n, labelled.clusters)
        total = strata.totals_by_stratum
        # Where nothing is left unlabelled they would be the rate that is withheld.
        nothing = all(each.reviewed_count == each.population for each in total)
        nothing = nothing or kind is DesignKind.NONE
        bounds = None if nothing else compute_worst_case_bounds(total)
        return PassRate(
            judge,
            labelled,
            _replace_by_undefined_if_unlabelled(labelled, none),
            _replace_by_undefined_if_unlabelled(labelled, none),
            RateEstimator.NONE if bounds is None else RateEstimator.BOUNDS,
            None if bounds is None else Bounds(*bounds),
            (),
        )
    if kind is not DesignKind.STRATIFIED:
        strata = merge_unlabelled_strata(strata)
    if kind is DesignKind.CLUSTER:
        # Conversations were drawn, of which a group may have several.
        this_run = estimate_run_rate_clustered(
            merge_unlabelled_strata(
                _count_passes_by_stratum(_regroup_by_conversation(units), design, labels)
            ),
            level,
            drawn_from=None if units.population is None else design.conversations,
        )
    else:
        total = strata.totals_by_stratum
        this_run = widen_run_rate(
            estimate_run_rate(total, clusters=labelled.clusters, level=level), total, level
        )
    future = widen_future_rate(estimate_future_rate(strata, level), this_run, strata, level)
    if design.population is not None:
        # Bundles of the population are no groups that labels are of.
        future = replace(future, clusters=labelled.clusters)
    post = kind in (DesignKind.SIMPLE, DesignKind.CLUSTER)
    return PassRate(
        judge,
        labelled,
        this_run,
        future,
        RateEstimator.POST_STRATIFIED if post else RateEstimator.STRATIFIED,
        None,
        (*_ASSUMPTIONS[kind], *_COMMON_ASSUMPTIONS),
    )


_ASSUMPTIONS = {
    DesignKind.CENSUS: ("every unit was labelled",),
    DesignKind.SIMPLE: ("units were drawn at random, and labelled in the drawn order",),
    DesignKind.STRATIFIED: (
        "units were drawn at random within each stratum, and labelled in the drawn order",
    ),
    DesignKind.CLUSTER: ("whole conversations were drawn at random",),
}
_TRUE_LABELS = "human labels are the truth"
_COMMON_ASSUMPTIONS = (
    "what was skipped is like what was labelled",
    _TRUE_LABELS,
    "groups are a random sample of future ones (future interval only)",
)


def _replace_by_undefined_if_unlabelled(labelled: Estimate, otherwise: Estimate) -> Estimate:
    """Say that nothing is labelled, where that is why."""
    return otherwise if labelled.n else labelled


def _estimate_known_pass_share(units: PassColumns, passes: Ints, level: float) -> Estimate:
    """Estimate the share that passes among the units of which it is known."""
    inside = passes >= 0
    groups = units.groups[inside]
    sizes = np.bincount(groups, minlength=units.group_count)
    hits = np.bincount(groups[passes[inside] == 1], minlength=units.group_count)
    return estimate_share_of_counts(hits, sizes, level)


def _estimate_judge_pass_rate(units: PassColumns, design: LabelDesign, level: float) -> Estimate:
    """Estimate the share that passes by the judge; of a population, of all of it."""
    if units.population_passes is None or design.population is None:
        return _estimate_known_pass_share(units, units.judge, level)
    hits, sizes = units.population_passes
    found = estimate_share_of_counts(hits, sizes, level)
    population = design.population
    groups = population.judged if population.groups is None else population.groups
    return replace(found, clusters=groups)


def _regroup_by_conversation(units: PassColumns) -> PassColumns:
    if units.conversations is None:
        return units
    groups, count = units.conversations
    return replace(units, groups=groups, group_count=count)


def _count_passes_by_stratum(
    units: PassColumns, design: LabelDesign, labels: Sequence[str]
) -> GroupedStrata:
    """Count units, labels and passes by group and stratum, see `_count_units_labels_and_passes`."""
    return GroupedStrata.from_counts(_count_units_labels_and_passes(units, design, labels))


def _sum_strata_over_groups(counts: Ints) -> tuple[LabelledStratum, ...]:
    """Put the groups of `_count_units_labels_and_passes` together, stratum by stratum."""
    return tuple(LabelledStratum(*each) for each in counts.sum(axis=2).T.tolist())


def _count_units_labels_and_passes(
    units: PassColumns, design: LabelDesign, labels: Sequence[str]
) -> Ints:
    """Count units, labels and passes by group and stratum.

    Strata are those of the sample; where it had none, the judge's verdicts, none being the last.

    Returns:
        Population, labelled, faithful and unfair; shape (4, strata, groups).
    """
    by_design = design.kind is DesignKind.STRATIFIED
    size = len(design.strata) if by_design else len(labels) + 1
    strata, human = units.strata, units.human
    if not by_design:
        strata = np.where(strata < 0, size - 1, strata)
    is_known = human >= 0
    if units.drawn is not None:
        is_known = is_known & units.drawn
    inside = strata >= 0
    pairs = strata * np.int64(units.group_count) + units.groups
    is_unfair = np.zeros(len(human), np.bool_) if units.is_unfair is None else units.is_unfair
    if units.drawn is not None:
        is_unfair = is_unfair & units.drawn
    counts = [
        np.bincount(pairs[some], minlength=size * units.group_count)
        for some in (
            inside,
            inside & is_known,
            inside & is_known & (human == 1),
            inside & is_unfair,
        )
    ]
    found = np.array(counts).reshape(4, size, units.group_count)
    if units.population is not None:
        # Drawn units are among those of the bundles already.
        found[0] = 0
        rest = np.zeros((4, *units.population.shape), np.int64)
        rest[0] = units.population
        found = np.concatenate([found, rest], axis=2)
    return found


def update_claim_report_without_intervals(
    compared: ComparedClaims,
    level: LevelReport,
    before: Iterable[ClaimUnit],
    after: Iterable[ClaimUnit],
) -> LevelReport:
    """Bring the figures of claims up to date after a few labels, without intervals.

    The time it takes depends on the number of changed claims alone. The share that passes stays as
    it was.

    Args:
        compared: What the report was computed from.
        level: As it was.
        before: Claims as they were read for it.
        after: The same claims, as people label them now.
    """
    context, whole = compared.figure_context, compared.whole_matrix
    old, new = (
        ComparedClaims(tuple(claims), compared.labels, compared.design, compared.settings)
        for claims in (before, after)
    )
    moved = whole.total_counts.copy()
    unfair = None if whole.unfair is None else whole.unfair @ whole.times
    for some, change in ((old, -1), (new, 1)):
        if unfair is not None and some.unfair_and_drawable_counts is not None:
            unfair = unfair + change * some.unfair_and_drawable_counts[0].sum(axis=(1, 2))
        for place in some.places_in_figures.tolist():
            stratum = 0 if context.frame is None else int(some.stratum_place_of_claims[place])
            moved[stratum, some.all.human_labels[place], some.all.judge_labels[place]] += change
    whole = whole.replace_labels_as_single_group(moved, unfair)
    agreement = _withhold_constant_kappa(
        replace(context.compute_agreement(whole), clusters=level.agreement.clusters), whole
    )
    coverage = _update_coverage_counts(
        level.coverage, count_claim_review_coverage(old), count_claim_review_coverage(new)
    )
    return replace(
        level,
        coverage=coverage,
        agreement=_drop_intervals(agreement, level.agreement),
        unjudged=tuple(
            a - b + c
            for a, b, c in zip(
                level.unjudged,
                _count_unjudged_by_human_label(old),
                _count_unjudged_by_human_label(new),
                strict=True,
            )
        ),
        classes=tuple(
            map(_drop_intervals, context.compute_per_label_figures(whole), level.classes)
        ),
        strict=_drop_intervals(context.compute_detection(whole, compared.bad), level.strict),
        lenient=None
        if level.lenient is None
        else _drop_intervals(context.compute_detection(whole, compared.not_good), level.lenient),
        disagreements=_list_disagreements_after_change(level, old, new),
    )


def _withhold_constant_kappa(agreement: Agreement, whole: GroupedMatrix) -> Agreement:
    """Withhold kappa where one side gives all units one label.

    `make_estimate_with_jackknife_interval` does the same. It is 0 then, and stays 0 whichever group
    is left out.
    """
    margins = (whole.weighted_total_stack.rows, whole.weighted_total_stack.columns)
    if agreement.clusters < FEWEST_GROUPS or all((each > 0).sum() > 1 for each in margins):
        return agreement
    kappas = ("cohen_kappa", "weighted_kappa")
    found = {name: getattr(agreement, name) for name in kappas}
    changes: dict[str, Any] = {
        name: make_withheld_estimate(Reason.NO_VARIATION, each.n, agreement.clusters)
        for name, each in found.items()
        if each is not None and each.value is not None
    }
    return replace(agreement, **changes)


def _list_disagreements_after_change(
    level: LevelReport, old: ComparedClaims, new: ComparedClaims
) -> LazyDisagreements:
    """List disagreements; the new ones come last until all is read anew."""
    kept = level.disagreements.claims if isinstance(level.disagreements, LazyDisagreements) else ()
    gone, come = (
        [
            each.all.rows[place]
            for place in np.flatnonzero(
                each.is_compared & (each.all.human_labels != each.all.judge_labels)
            ).tolist()
        ]
        for each in (old, new)
    )
    # A hundred thousand are not looked through unless one of them is gone.
    if gone:
        numbers = {each.claim for each in gone}
        kept = [each for each in kept if each.claim not in numbers]
    return LazyDisagreements([*kept, *come] if come else kept)


def _drop_intervals(found: FiguresT, was: FiguresT) -> FiguresT:
    """Leave intervals out; they are not withheld, they are still to come."""
    changes: dict[str, Any] = {}
    for each in fields(found):
        value, old = getattr(found, each.name), getattr(was, each.name)
        if isinstance(value, Estimate):
            clusters = old.clusters if isinstance(old, Estimate) else value.clusters
            reason = None if value.reason is Reason.TOO_FEW_CLUSTERS else value.reason
            changes[each.name] = Estimate(value.value, value.status, value.n, clusters, reason)
    return replace(found, **changes)


def _update_coverage_counts(was: Coverage, lost: Coverage, found: Coverage) -> Coverage:
    """Take counts off and put others in."""
    changes: dict[str, Any] = {
        each.name: getattr(was, each.name) - getattr(lost, each.name) + getattr(found, each.name)
        for each in fields(was)
        if each.name not in (*_UNCHANGED, "by_verdict")
    }
    by_verdict = tuple(
        VerdictCount(
            a.judge,
            a.units,
            a.reviewed - b.reviewed + c.reviewed,
            a.skipped - b.skipped + c.skipped,
        )
        for a, b, c in zip(was.by_verdict, lost.by_verdict, found.by_verdict, strict=True)
    )
    return replace(was, by_verdict=by_verdict, **changes)
