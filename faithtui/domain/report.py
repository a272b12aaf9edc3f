"""What a run's judge and people agree on, as one value that screens and files draw from.

Two levels, never mixed: unique claims (people's verdicts against the judge's) and answers (people's
label of a whole answer against its pass or fail). Unreviewed is not agreed: a unit without a
person's verdict is counted in the coverage and enters no figure.
"""

import json
import math
from collections.abc import Iterable, Sequence
from hashlib import sha256
from operator import attrgetter

from faithtui.domain.agreement import share
from faithtui.domain.cautions import cautions, headline
from faithtui.domain.estimates import LEVEL, Estimate
from faithtui.domain.labels import LabelSet
from faithtui.domain.levels import CLAIM, answer_level_report, claim_level_report
from faithtui.domain.ranks import auroc_estimate, spearman_estimate
from faithtui.domain.readings import AnswerReading, ClaimReading
from faithtui.domain.report_values import (
    AgreementReport,
    Caution,
    ClassReport,
    Consistency,
    Coverage,
    Design,
    Detection,
    Disagreement,
    Figure,
    Level,
    LevelReport,
    ScoreReport,
    Severity,
    VerdictCount,
    primary_level,
)
from faithtui.domain.scores import ScoreState, ScoringRule

__all__ = [
    "AgreementReport",
    "Caution",
    "ClassReport",
    "Consistency",
    "Coverage",
    "Design",
    "Detection",
    "Disagreement",
    "Estimate",
    "Figure",
    "Level",
    "LevelReport",
    "ScoreReport",
    "Severity",
    "VerdictCount",
    "agreement_report",
    "readings_digest",
]

_CLAIM_PARTS = attrgetter(
    *("key", "group", "turn", "text", "judge", "human", "reviewers", "windows", "steady", "blind")
)
_ANSWER_PARTS = attrgetter(
    *("key", "group", "turn", "score.value", "score.state", "claims", "passes", "human", "rating"),
    "raters",
)


def agreement_report(
    claims: Sequence[ClaimReading],
    answers: Sequence[AnswerReading],
    labels: LabelSet,
    rule: ScoringRule,
    level: float = LEVEL,
    *,
    unit: tuple[str, str] = CLAIM,
    answers_are_claims: bool = False,
) -> AgreementReport:
    """Compare a run's judge with people.

    Args:
        claims: One reading per unique claim of the run, in the order disagreements are listed.
        answers: One reading per answer of the run.
        labels: The metric's vocabulary; its order is the order of the tables.
        rule: The run's scoring rule: which labels pass, and from where on a score passes.
        level: Confidence level of the intervals, in (0, 1).
        unit: What the metric judges, one and many, for sentences.
        answers_are_claims: What the metric judges are the answers themselves. The claim level has
            them then, and the answer level stays empty: the same labels would be shown as evidence
            twice.
    """
    claim_level = claim_level_report(claims, labels, rule, level, unit)
    answer_level = answer_level_report(() if answers_are_claims else answers, rule, level)
    scores = _scores(answers, rule, level)
    consistency = _consistency(claims, level)
    return AgreementReport(
        headline=headline(primary_level(claim_level, answer_level)),
        warnings=cautions(claim_level, answer_level, scores, consistency),
        claims=claim_level,
        answers=answer_level,
        scores=scores,
        consistency=consistency,
        passing=rule.passing,
        bar=rule.bar,
        level=level,
        digest=readings_digest(claims, answers),
    )


def readings_digest(claims: Iterable[ClaimReading], answers: Iterable[AnswerReading]) -> str:
    """Hash readings, so that two reports can tell whether they speak of the same labels.

    Neither order nor the store's keys matter: they differ between machines.

    Returns:
        64 hexadecimal digits, SHA-256.
    """
    rows = [
        *(("claim", *_CLAIM_PARTS(claim)) for claim in claims),
        *(("answer", *_ANSWER_PARTS(answer)) for answer in answers),
    ]
    return sha256("\n".join(sorted(map(json.dumps, rows))).encode()).hexdigest()


def _scores(answers: Sequence[AnswerReading], rule: ScoringRule, level: float) -> ScoreReport:
    said = [answer for answer in answers if answer.human is not None or answer.rating is not None]
    judged = [answer for answer in said if answer.claims]
    # Rounded so that means of the same ratings in another order tie.
    scored = [
        (answer, round(answer.score.value, 9))
        for answer in judged
        if answer.score.state is ScoreState.SCORED and answer.score.value is not None
    ]
    rated = [
        (answer.group, score, round(answer.rating, 9))
        for answer, score in scored
        if answer.rating is not None
    ]
    return ScoreReport(
        answers=len(said),
        vacuous=len(said) - len(judged),
        unscored=len(judged) - len(scored),
        spearman=spearman_estimate(rated, level),
        auroc=auroc_estimate(
            [
                (answer.group, score, answer.human in rule.passing)
                for answer, score in scored
                if answer.human is not None
            ],
            level,
        ),
        judge_mean=_mean(score for _, score, _ in rated),
        human_mean=_mean(rating for _, _, rating in rated),
    )


def _consistency(claims: Sequence[ClaimReading], level: float) -> Consistency:
    repeated = [(claim.group, claim.steady) for claim in claims if claim.windows > 1]
    return Consistency(
        repeated=len(repeated),
        steady=sum(steady for _, steady in repeated),
        share=share(repeated, level),
    )


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return math.fsum(numbers) / len(numbers) if numbers else None
