"""What a run's judge and people agree on, as one value that screens and files draw from.

Two levels, never mixed: unique claims (people's verdicts against the judge's) and answers (people's
label of a whole answer against its pass or fail). Unreviewed is not agreed: a unit without a
person's verdict is counted in the coverage and enters no figure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from operator import attrgetter

from faithtui.domain.agreement import share
from faithtui.domain.cautions import cautions, headline
from faithtui.domain.labels import Label, LabelSet, Polarity
from faithtui.domain.levels import CLAIM, Compared, answer_level_report, claim_level_report
from faithtui.domain.readings import AnswerReading, ClaimReading, RunReadings
from faithtui.domain.report_comparison import PairedUnit, comparisons
from faithtui.domain.report_people import anchoring_report, human_report, rater_reports
from faithtui.domain.report_scores import answer_scores, calibration_report, unit_score_reports
from faithtui.domain.report_slices import breakdowns, progress
from faithtui.domain.report_values import (
    AgreementReport,
    Consistency,
    ReportSettings,
    primary_level,
)
from faithtui.domain.scores import ScoringRule
from faithtui.domain.statistics.recoding import FAITHFUL, UNFAITHFUL, IdkRule, recode
from faithtui.domain.steadiness import Steadiness

_CLAIM_PARTS = attrgetter(
    *("key", "group", "turn", "text", "judge", "human", "reviewers", "windows", "steady", "blind"),
    *("state.value", "confidence", "stratum", "position"),
)
_OPINION_PARTS = attrgetter("reviewer", "verdict", "action.value", "blind", "seconds", "code")
_ANSWER_PARTS = attrgetter(
    *(
        "key",
        "group",
        "turn",
        "score.value",
        "score.state.value",
        "claims",
        "passes",
        "human",
        "rating",
    ),
    "raters",
)


@dataclass(frozen=True, slots=True)
class Judged:
    """Who judged what, in words."""

    metric: str = ""
    judge: str = ""
    """Name of the judge, for sentences and for the comparison with another one."""
    unit: tuple[str, str] = CLAIM
    """What the metric judges, one and many."""
    answers_are_claims: bool = False
    """What the metric judges are the answers themselves. The claim level has them then, and the
    answer level stays empty: the same labels would be shown as evidence twice."""
    confidence: str = "stated"
    """Where the judge's confidence comes from: `stated`, `token_probability`, `vote_share`."""


@dataclass(frozen=True, slots=True)
class OtherJudge:
    """Another run, on the claims that both judged."""

    name: str
    units: tuple[PairedUnit, ...]


def agreement_report(
    readings: RunReadings,
    labels: LabelSet,
    rule: ScoringRule,
    settings: ReportSettings | None = None,
    *,
    judged: Judged | None = None,
    other: OtherJudge | None = None,
    repeats: tuple[Steadiness, ...] = (),
) -> AgreementReport:
    """Compare a run's judge with people.

    Args:
        readings: Of the run, in the order disagreements are listed.
        labels: The metric's vocabulary; its order is the order of the tables.
        rule: The run's scoring rule: which labels pass, and from where on a score passes.
        settings: What is asked for; None: the usual.
        judged: Who judged what.
        other: A second judge to compare with.
        repeats: How steady each person is.
    """
    wanted = settings or ReportSettings()
    who = judged or Judged()
    if wanted.ordinal:
        # The scale is from support to contradiction, whatever order the metric declares.
        worse = labels.severity
        labels = LabelSet(tuple(sorted(labels.labels, key=lambda label: worse[label.name])))
    claims, names, passing = readings.claims, labels, rule
    if wanted.idk is not IdkRule.THREE:
        claims, names, passing, other = _recoded(claims, labels, rule, wanted.idk, other)
    compared = Compared(claims, names, readings.design, wanted)
    figures = compared.figures
    claim_level = claim_level_report(claims, compared, passing, who.unit)
    answers = () if who.answers_are_claims else readings.answers
    answer_level = answer_level_report(answers, rule, wanted)
    found = AgreementReport(
        headline="",
        warnings=(),
        claims=claim_level,
        answers=answer_level,
        scores=answer_scores(readings.answers, rule, wanted.level),
        unit_scores=unit_score_reports(readings.scores, rule, readings.design, wanted),
        consistency=_consistency(readings.claims, wanted.level),
        raters=rater_reports(compared.inside, figures),
        humans=human_report(claims, figures),
        anchoring=anchoring_report(compared.inside, figures),
        repeats=repeats,
        calibration=calibration_report(compared.inside, names, who.confidence, wanted),
        breakdowns=breakdowns(compared.inside, figures, who.metric, who.judge),
        comparison=None
        if other is None
        else comparisons([(who.judge, other.name, other.units)], figures)[0],
        progress=progress(compared.inside, figures),
        settings=wanted,
        passing=rule.passing,
        bar=rule.bar,
        digest=readings_digest(readings.claims, readings.answers),
    )
    return replace(
        found,
        headline=headline(primary_level(claim_level, answer_level), who.judge),
        warnings=cautions(found),
    )


def _recoded(
    claims: Sequence[ClaimReading],
    labels: LabelSet,
    rule: ScoringRule,
    idk: IdkRule,
    other: OtherJudge | None,
) -> tuple[tuple[ClaimReading, ...], LabelSet, ScoringRule, OtherJudge | None]:
    """Read all labels as faithful or not; words that are no label of the set stay what they are."""
    known = {name: recode(name, idk, labels, rule.passing) for name in labels.names}
    two = LabelSet(
        (
            Label(FAITHFUL, "F", "faithful", Polarity.GOOD),
            Label(UNFAITHFUL, "U", "unfaithful", Polarity.BAD),
        )
    )

    def read(word: str | None) -> str | None:
        return None if word is None else known.get(word, word)

    units = tuple(
        replace(
            claim,
            judge=read(claim.judge),
            human=read(claim.human),
            opinions=tuple(
                replace(each, verdict=known.get(each.verdict, each.verdict))
                for each in claim.opinions
            ),
        )
        for claim in claims
    )
    if other is not None:
        other = OtherJudge(
            other.name,
            tuple(
                replace(
                    each,
                    a=known.get(each.a, each.a),
                    b=known.get(each.b, each.b),
                    human=read(each.human),
                )
                for each in other.units
            ),
        )
    return units, two, replace(rule, passing=(FAITHFUL,)), other


def readings_digest(claims: Iterable[ClaimReading], answers: Iterable[AnswerReading]) -> str:
    """Hash readings, so that two reports can tell whether they speak of the same labels.

    Neither order nor the store's keys matter: they differ between machines.

    Returns:
        64 hexadecimal digits, SHA-256.
    """
    # Python's own way of writing constants leaves no two readings alike, and is the fastest.
    rows = [
        *(
            f"claim {_CLAIM_PARTS(claim)!a} {sorted(map(_opinion, claim.opinions))!a}"
            for claim in claims
        ),
        *(f"answer {_ANSWER_PARTS(answer)!a}" for answer in answers),
    ]
    return sha256("\n".join(sorted(rows)).encode()).hexdigest()


def _opinion(opinion: object) -> str:
    return ascii(_OPINION_PARTS(opinion))


def _consistency(claims: Sequence[ClaimReading], level: float) -> Consistency:
    repeated = [(claim.group, claim.steady) for claim in claims if claim.windows > 1]
    return Consistency(
        repeated=len(repeated),
        steady=sum(steady for _, steady in repeated),
        share=share(repeated, level),
    )
