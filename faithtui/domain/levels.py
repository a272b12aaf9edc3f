"""The figures of one level: from readings to coverage, table, coefficients and detection."""

from collections import Counter
from collections.abc import Iterable, Sequence

from faithtui.domain.labels import NOT_A_CLAIM, LabelSet, Polarity
from faithtui.domain.readings import (
    AnswerReading,
    ClaimReading,
    DesignKind,
    DesignReading,
    LabelState,
)
from faithtui.domain.report_rate import RateUnit, rate_of
from faithtui.domain.report_tables import Figures, Frame, Unit
from faithtui.domain.report_values import (
    Coverage,
    Disagreement,
    Level,
    LevelReport,
    ReportSettings,
    VerdictCount,
)
from faithtui.domain.scores import ScoringRule

PASS, FAIL = "yes", "no"

CLAIM = ("claim", "claims")
ANSWER = ("answer", "answers")
"""The two categories of the answer level."""

DRAWN = (DesignKind.SIMPLE, DesignKind.STRATIFIED, DesignKind.CLUSTER)
"""Designs that rest on a random sample."""


class Compared:
    """Claims that people and judge both labelled, as the figures of a report count them."""

    def __init__(
        self,
        claims: Sequence[ClaimReading],
        labels: LabelSet,
        design: DesignReading,
        settings: ReportSettings,
    ) -> None:
        names = labels.names
        self.labels = labels
        self.design = design
        self.every = [claim for claim in claims if claim.human in names and claim.judge in names]
        """All that were compared, of the sample or not."""
        drawn = design.kind in DRAWN
        self.inside = [each for each in self.every if not drawn or each.position is not None]
        """Those the figures are about."""
        frame = None
        if design.kind is DesignKind.STRATIFIED:
            members = tuple(
                (claim.group, claim.stratum)
                for claim in claims
                if claim.judge in names and claim.stratum is not None
            )
            population = Counter(stratum for _, stratum in members)
            labelled = Counter(claim.stratum for claim in self.inside)
            frame = Frame(
                tuple(stratum.name for stratum in design.strata),
                members,
                {
                    name: population[name] / times
                    for name, times in labelled.items()
                    if name is not None
                },
            )
        bad = tuple(label.name for label in labels.labels if label.polarity is Polarity.BAD)
        self.figures = Figures(names, bad, settings, frame)

    @staticmethod
    def unit(claim: ClaimReading) -> Unit:
        """Put people's consensus beside the judge's label; both are there."""
        return Unit(claim.group, str(claim.human), str(claim.judge), claim.stratum)


def claim_level_report(
    claims: Sequence[ClaimReading],
    compared: Compared,
    rule: ScoringRule,
    unit: tuple[str, str] = CLAIM,
) -> LevelReport:
    """Compare people's verdicts on unique claims with the judge's; see `report.agreement_report`.

    A reviewed claim without a judge's verdict is counted beside the table and enters no
    coefficient: it must not count as agreement, and a coefficient needs two verdicts.
    """
    names = compared.labels.names
    usable = [claim for claim in claims if claim.human in names]
    both = compared.every
    figures = compared.figures
    whole = figures.whole(map(compared.unit, compared.inside))
    unjudged = Counter(claim.human for claim in usable if claim.judge not in names)
    unreviewed = sum(claim.human is None for claim in claims)
    not_a_claim = sum(claim.human == NOT_A_CLAIM for claim in claims)
    states = Counter(claim.state for claim in claims if claim.human is None)
    agreed = sum(claim.human == claim.judge for claim in both)
    coverage = Coverage(
        total=len(claims),
        conversations=len({claim.conversation for claim in claims}),
        groups=len({claim.group for claim in claims}),
        rows=sum(claim.windows for claim in claims),
        compared=len(both),
        compared_groups=len({claim.group for claim in both}),
        agreed=agreed,
        overridden=len(both) - agreed,
        unreviewed=unreviewed,
        not_a_claim=not_a_claim,
        other_words=len(claims) - unreviewed - not_a_claim - len(usable),
        no_verdict=len(usable) - len(both),
        vacuous=0,
        unscored=0,
        missing_verdicts=sum(claim.judge not in names for claim in claims),
        several_reviewers=sum(claim.human is not None and claim.reviewers >= 2 for claim in claims),
        blind=sum(claim.blind is True for claim in both),
        shown=sum(claim.blind is False for claim in both),
        by_verdict=_by_verdict(
            [
                (
                    claim.judge if claim.judge in names else None,
                    claim.human is not None,
                    claim.state is LabelState.SKIPPED,
                )
                for claim in claims
            ],
            names,
        ),
        skipped=states[LabelState.SKIPPED],
        bulk=states[LabelState.BULK],
        stale=states[LabelState.STALE],
        outside=len(both) - len(compared.inside),
    )
    not_good = tuple(
        label.name for label in compared.labels.labels if label.polarity is not Polarity.GOOD
    )
    return LevelReport(
        level=Level.CLAIMS,
        unit=unit,
        coverage=coverage,
        design=compared.design,
        agreement=figures.agreement(whole, main=True),
        unjudged=tuple(unjudged[name] for name in names),
        classes=figures.classes(whole),
        strict=figures.detection(whole, figures.bad, main=True),
        lenient=figures.detection(whole, not_good, main=True),
        rate=rate_of(
            [
                RateUnit(
                    group=claim.group,
                    stratum=claim.stratum,
                    verdict=claim.judge if claim.judge in names else None,
                    judge=claim.judge in rule.passing if claim.judge in names else None,
                    human=claim.human in rule.passing if claim.human in names else None,
                    drawn=claim.position is not None,
                )
                for claim in claims
                if claim.human != NOT_A_CLAIM
            ],
            compared.design,
            names,
            figures.settings.level,
        ),
        disagreements=tuple(
            Disagreement(
                claim.claim,
                claim.conversation,
                claim.key,
                claim.turn,
                str(claim.judge),
                str(claim.human),
                claim.text,
                raters=tuple(each.reviewer for each in claim.opinions),
                blind=claim.blind is True,
            )
            for claim in both
            if claim.human != claim.judge
        ),
        weights=() if figures.frame is None else tuple(sorted(figures.frame.weights.items())),
    )


def answer_level_report(
    answers: Sequence[AnswerReading], rule: ScoringRule, settings: ReportSettings
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
    both = [
        (answer, word(answer.human in rule.passing), judge)
        for answer in reviewed
        if (judge := verdict(answer)) is not None
    ]
    vacuous = sum(not answer.claims for answer in reviewed)
    figures = Figures((PASS, FAIL), (FAIL,), settings)
    whole = figures.whole(Unit(answer.group, human, judge) for answer, human, judge in both)
    agreed = sum(human == judge for _, human, judge in both)
    coverage = Coverage(
        total=len(answers),
        conversations=len({answer.conversation for answer in answers}),
        groups=len({answer.group for answer in answers}),
        rows=len(answers),
        compared=len(both),
        compared_groups=len({answer.group for answer, _, _ in both}),
        agreed=agreed,
        overridden=len(both) - agreed,
        unreviewed=len(answers) - len(reviewed),
        not_a_claim=0,
        other_words=0,
        no_verdict=0,
        vacuous=vacuous,
        unscored=len(reviewed) - vacuous - len(both),
        missing_verdicts=0,
        several_reviewers=sum(answer.raters >= 2 for answer in reviewed),
        blind=len(both),  # people's labels of whole answers come with the data
        shown=0,
        by_verdict=_by_verdict(
            [(verdict(answer), answer.human is not None, False) for answer in answers],
            (PASS, FAIL),
        ),
    )
    design = DesignReading(_plain_design(coverage), coverage.total)
    return LevelReport(
        level=Level.ANSWERS,
        unit=ANSWER,
        coverage=coverage,
        design=design,
        agreement=figures.agreement(whole, main=True),
        unjudged=(0, 0),
        classes=figures.classes(whole),
        strict=figures.detection(whole, (FAIL,), main=True),
        lenient=None,
        rate=rate_of(
            [
                RateUnit(
                    group=answer.group,
                    stratum=None,
                    verdict=verdict(answer),
                    judge=None if (said := verdict(answer)) is None else said == PASS,
                    human=None if answer.human is None else answer.human in rule.passing,
                    drawn=False,
                )
                for answer in answers
                # Both rates are of the same answers: nothing was judged in the others.
                if verdict(answer) is not None
            ],
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
                f"score {answer.score.value:.2f}, threshold {rule.bar}",
                raters=tuple(each.reviewer for each in answer.opinions),
                blind=True,
            )
            for answer, human, judge in both
            if human != judge
        ),
    )


def _plain_design(coverage: Coverage) -> DesignKind:
    """Tell a census from a convenience sample, where nothing was drawn."""
    if not coverage.reviewed:
        return DesignKind.NONE
    return DesignKind.CONVENIENCE if coverage.unreviewed else DesignKind.CENSUS


def _by_verdict(
    readings: Iterable[tuple[str | None, bool, bool]], names: Sequence[str]
) -> tuple[VerdictCount, ...]:
    """Count (judge's label, reviewed, skipped) by label."""
    units: Counter[str | None] = Counter()
    reviewed: Counter[str | None] = Counter()
    skipped: Counter[str | None] = Counter()
    for judge, has_label, put_off in readings:
        units[judge] += 1
        reviewed[judge] += has_label
        skipped[judge] += put_off
    return tuple(
        VerdictCount(name, units[name], reviewed[name], skipped[name]) for name in (*names, None)
    )
