"""The figures of claims and of answers: coverage, agreement, detection, the share that passes."""

from collections.abc import Sequence

import numpy as np

from faithtui.agreement.labelled_units import (
    AnswerUnit,
    DesignKind,
    LabelDesign,
    LabelState,
    UnratedAnswer,
    decide_answer_by_majority,
    is_answer_passed_by_judge,
)
from faithtui.agreement.report.claim_columns import ComparedClaims, select_by_position
from faithtui.agreement.report.compute import FigureContext, UnitColumns
from faithtui.agreement.report.figures.corrected_rates import (
    PassColumns,
    estimate_pass_rate,
    make_claim_pass_columns,
)
from faithtui.agreement.report.model import (
    ANSWER_NOUNS,
    CLAIM_NOUNS,
    FAIL,
    PASS,
    Coverage,
    Disagreement,
    LazyDisagreements,
    LevelReport,
    VerdictCount,
)
from faithtui.agreement.report.settings import ReportLevel, ReportSettings
from faithtui.agreement.statistics.matrices import (
    Flags,
    Ints,
    number_distinct_keys_by_occurrence,
)
from faithtui.domain.scores import ScoringRule


def compute_claim_level_report(
    compared: ComparedClaims, rule: ScoringRule, unit: tuple[str, str] = CLAIM_NOUNS
) -> LevelReport:
    """Compare human labels on unique claims with the judge's; see `report.agreement_report`.

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
        unjudged=count_unjudged_by_human_label(compared),
        classes=context.compute_per_label_figures(whole),
        strict=context.compute_detection(whole, compared.bad, main=True),
        lenient=context.compute_detection(whole, compared.not_good, main=True),
        rate=estimate_pass_rate(
            make_claim_pass_columns(rule, compared),
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
    is_unfair = ~claims.is_fair & ~claims.is_human_excluded
    not_a_claim = int(is_unfair.sum())
    unreviewed = int(is_unreviewed.sum())
    is_compared = compared.is_compared
    n, usable = int(is_compared.sum()), int((human >= 0).sum())
    is_excluded_by_judge = claims.is_judge_excluded & (human >= 0)
    is_excluded = claims.is_human_excluded | is_excluded_by_judge
    by_judge, tied = int(is_excluded_by_judge.sum()), int(claims.is_tied.sum())
    excluded = int(is_excluded.sum())
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
        other_words=total - unreviewed - not_a_claim - excluded + by_judge - tied - usable,
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
        tied_in_figures=int((claims.is_tied & compared.may_be_in_figures).sum()),
        several_in_figures=int((several & compared.may_be_in_figures).sum()),
        idk_excluded=excluded,
        idk_excluded_in_figures=int((is_excluded & compared.may_be_in_figures).sum()),
        not_a_claim_in_figures=int((is_unfair & compared.may_be_in_figures).sum()),
        unverified=count_unverified_claims(compared),
    )


def count_unverified_claims(compared: ComparedClaims) -> int:
    """Count the claims in the figures that rest on labels of which nothing says who gave them."""
    return sum(
        any(opinion.unverified for opinion in each.opinions)
        for each in select_by_position(compared.all.rows, compared.places_in_figures)
    )


def count_unjudged_by_human_label(compared: ComparedClaims) -> tuple[int, ...]:
    """Count reviewed claims without a judge's verdict, by the human label."""
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


def compute_answer_level_report(
    answers: Sequence[AnswerUnit],
    unrated: Sequence[UnratedAnswer],
    rule: ScoringRule,
    settings: ReportSettings,
) -> LevelReport:
    """Compare human labels of whole answers with the judge's pass or fail.

    Annotators pass an answer when their label is one of `rule.passing`; any other label fails it.
    An answer that as many pass as fail is left out and counted.
    Nobody draws answers to be rated, so they are never a census: even where all are rated, only
    the labelled ones are spoken of.

    Args:
        answers: Those that annotators labelled.
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
    """Say whether somebody rated an answer with the judge's verdict in view."""
    return any(each.blind is False for each in answer.opinions)


def _encode_pass_fail_words_as_positions(words: Sequence[str | None]) -> Ints:
    """Give the place of pass and fail; -1: neither."""
    return np.array([-1 if word is None else int(word == FAIL) for word in words], np.int64)
