"""The figures of one level: from readings to coverage, table, coefficients and detection."""

from collections import Counter
from collections.abc import Iterable, Sequence

from faithtui.domain import detection
from faithtui.domain.agreement import (
    AC1,
    ALPHA,
    KAPPA,
    PERCENT,
    GroupedTable,
    chance_agreement,
    cross_table,
    measure,
    share,
)
from faithtui.domain.estimates import Reason, withheld
from faithtui.domain.labels import NOT_A_CLAIM, LabelSet, Polarity
from faithtui.domain.readings import AnswerReading, ClaimReading
from faithtui.domain.report_values import (
    ClassReport,
    Coverage,
    Design,
    Detection,
    Disagreement,
    Level,
    LevelReport,
    VerdictCount,
)
from faithtui.domain.scores import ScoringRule

PASS, FAIL = "yes", "no"

CLAIM = ("claim", "claims")
ANSWER = ("answer", "answers")
"""The two categories of the answer level."""


def claim_level_report(
    claims: Sequence[ClaimReading],
    labels: LabelSet,
    rule: ScoringRule,
    level: float,
    unit: tuple[str, str] = CLAIM,
) -> LevelReport:
    """Compare people's verdicts on unique claims with the judge's; see `report.agreement_report`.

    A reviewed claim without a judge's verdict is counted beside the table and enters no
    coefficient: it must not count as agreement, and a coefficient needs two verdicts.
    """
    names = labels.names
    usable = [claim for claim in claims if claim.human in names]
    compared = [
        (claim, claim.human, claim.judge)
        for claim in usable
        if claim.human is not None and claim.judge is not None and claim.judge in names
    ]
    table = cross_table(((claim.group, human, judge) for claim, human, judge in compared), names)
    unjudged = Counter(claim.human for claim in usable if claim.judge not in names)
    unreviewed = sum(claim.human is None for claim in claims)
    not_a_claim = sum(claim.human == NOT_A_CLAIM for claim in claims)
    coverage = Coverage(
        total=len(claims),
        conversations=len({claim.conversation for claim in claims}),
        groups=len({claim.group for claim in claims}),
        rows=sum(claim.windows for claim in claims),
        compared=len(compared),
        compared_groups=table.groups,
        agreed=table.total.agreed,
        overridden=table.total.n - table.total.agreed,
        unreviewed=unreviewed,
        not_a_claim=not_a_claim,
        other_words=len(claims) - unreviewed - not_a_claim - len(usable),
        no_verdict=len(usable) - len(compared),
        vacuous=0,
        unscored=0,
        missing_verdicts=sum(claim.judge not in names for claim in claims),
        several_reviewers=sum(claim.human is not None and claim.reviewers >= 2 for claim in claims),
        blind=sum(claim.blind is True for claim, _, _ in compared),
        shown=sum(claim.blind is False for claim, _, _ in compared),
        by_verdict=_by_verdict(
            [(claim.judge if claim.judge in names else None, claim.human) for claim in claims],
            names,
        ),
    )
    bad = tuple(label.name for label in labels.labels if label.polarity is Polarity.BAD)
    not_good = tuple(label.name for label in labels.labels if label.polarity is not Polarity.GOOD)
    return _level_report(
        Level.CLAIMS,
        unit,
        coverage,
        table,
        unjudged=tuple(unjudged[name] for name in names),
        strict=bad,
        lenient=not_good,
        judge_passes=[
            (each.group, each.judge in rule.passing) for each in claims if each.judge in names
        ],
        human_passes=[(each.group, each.human in rule.passing) for each in usable],
        disagreements=tuple(
            Disagreement(
                claim.claim, claim.conversation, claim.key, claim.turn, judge, human, claim.text
            )
            for claim, human, judge in compared
            if human != judge
        ),
        level=level,
    )


def answer_level_report(
    answers: Sequence[AnswerReading], rule: ScoringRule, level: float
) -> LevelReport:
    """Compare people's labels of whole answers with the judge's pass or fail.

    People pass an answer when their label is one of `rule.passing`; any other label fails it.
    """

    def word(passes: bool) -> str:
        return PASS if passes else FAIL

    def verdict(answer: AnswerReading) -> str | None:
        if not answer.claims or answer.passes is None or answer.score.value is None:
            return None
        return word(answer.passes)

    reviewed = [answer for answer in answers if answer.human is not None]
    compared = [
        (answer, word(answer.human in rule.passing), judge)
        for answer in reviewed
        if (judge := verdict(answer)) is not None
    ]
    vacuous = sum(not answer.claims for answer in reviewed)
    table = cross_table(
        ((answer.group, human, judge) for answer, human, judge in compared), (PASS, FAIL)
    )
    coverage = Coverage(
        total=len(answers),
        conversations=len({answer.conversation for answer in answers}),
        groups=len({answer.group for answer in answers}),
        rows=len(answers),
        compared=len(compared),
        compared_groups=table.groups,
        agreed=table.total.agreed,
        overridden=table.total.n - table.total.agreed,
        unreviewed=len(answers) - len(reviewed),
        not_a_claim=0,
        other_words=0,
        no_verdict=0,
        vacuous=vacuous,
        unscored=len(reviewed) - vacuous - len(compared),
        missing_verdicts=0,
        several_reviewers=sum(answer.raters >= 2 for answer in reviewed),
        blind=len(compared),  # people's labels of whole answers come with the data
        shown=0,
        by_verdict=_by_verdict(
            [(verdict(answer), answer.human) for answer in answers], (PASS, FAIL)
        ),
    )
    return _level_report(
        Level.ANSWERS,
        ANSWER,
        coverage,
        table,
        unjudged=(0, 0),
        strict=(FAIL,),
        lenient=None,
        judge_passes=[
            (answer.group, judge == PASS)
            for answer in answers
            if (judge := verdict(answer)) is not None
        ],
        human_passes=[(answer.group, answer.human in rule.passing) for answer in reviewed],
        disagreements=tuple(
            Disagreement(
                None,
                answer.conversation,
                answer.key,
                answer.turn,
                judge,
                human,
                f"score {answer.score.value:.2f}, threshold {rule.bar}",
            )
            for answer, human, judge in compared
            if human != judge
        ),
        level=level,
    )


def _level_report(
    which: Level,
    unit: tuple[str, str],
    coverage: Coverage,
    table: GroupedTable,
    *,
    unjudged: tuple[int, ...],
    strict: tuple[str, ...],
    lenient: tuple[str, ...] | None,
    judge_passes: Sequence[tuple[str, bool]],
    human_passes: Sequence[tuple[str, bool]],
    disagreements: tuple[Disagreement, ...],
    level: float,
) -> LevelReport:
    """Compute every figure of a level from its table."""
    design = Design.CENSUS if not coverage.unreviewed else Design.CONVENIENCE
    if not coverage.reviewed:
        design = Design.NONE
    chance = chance_agreement(table.total)
    kappa = measure(KAPPA, table, level)
    human_rate = share(human_passes, level)
    if design is Design.CONVENIENCE:
        human_rate = withheld(Reason.DESIGN_NOT_RANDOM, human_rate.n, human_rate.clusters)
    return LevelReport(
        level=which,
        unit=unit,
        coverage=coverage,
        design=design,
        table=table.total,
        unjudged=unjudged,
        percent=measure(PERCENT, table, level),
        chance=chance if isinstance(chance, float) else None,
        cohen_kappa=kappa,
        krippendorff_alpha=measure(ALPHA, table, level),
        gwet_ac1=measure(AC1, table, level),
        classes=tuple(_class_report(table, name, level) for name in table.total.categories),
        strict=_detection(table, strict, level),
        lenient=None if lenient is None else _detection(table, lenient, level),
        judge_rate=share(judge_passes, level),
        human_rate=human_rate,
        disagreements=disagreements,
    )


def _class_report(table: GroupedTable, name: str, level: float) -> ClassReport:
    against_rest = table.collapsed((name,))
    counts = against_rest.total
    return ClassReport(
        label=name,
        human=counts.rows[0],
        judge=counts.columns[0],
        both=counts.counts[0][0],
        precision=measure(detection.PRECISION, against_rest, level),
        recall=measure(detection.RECALL, against_rest, level),
        f1=measure(detection.F1, against_rest, level),
    )


def _detection(table: GroupedTable, positive: tuple[str, ...], level: float) -> Detection:
    binary = table.collapsed(positive)
    (tp, fn), (fp, tn) = binary.total.counts
    return Detection(
        positive=positive,
        tp=tp,
        fp=fp,
        fn=fn,
        tn=tn,
        prevalence=measure(detection.PREVALENCE, binary, level),
        precision=measure(detection.PRECISION, binary, level),
        recall=measure(detection.RECALL, binary, level),
        specificity=measure(detection.SPECIFICITY, binary, level),
        npv=measure(detection.NPV, binary, level),
        f1=measure(detection.F1, binary, level),
        balanced_accuracy=measure(detection.BALANCED_ACCURACY, binary, level),
        mcc=measure(detection.MCC, binary, level),
    )


def _by_verdict(
    readings: Iterable[tuple[str | None, str | None]], names: Sequence[str]
) -> tuple[VerdictCount, ...]:
    units: Counter[str | None] = Counter()
    reviewed: Counter[str | None] = Counter()
    for judge, human in readings:
        units[judge] += 1
        reviewed[judge] += human is not None
    return tuple(VerdictCount(name, units[name], reviewed[name]) for name in (*names, None))
