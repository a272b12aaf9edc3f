"""The figures of one level: from readings to coverage, table, coefficients and detection."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress
from operator import ne
from typing import cast

from faithtui.agreement.labelled_units import (
    AnswerReading,
    ClaimReading,
    DesignKind,
    DesignReading,
    LabelState,
    UnratedAnswer,
)
from faithtui.agreement.report.pass_rate import RateUnits, rate_of
from faithtui.agreement.report.tables import Figures, Frame
from faithtui.agreement.report.unit_columns import ClaimColumns
from faithtui.agreement.report.values.levels import (
    Coverage,
    Differing,
    Disagreement,
    LevelReport,
    VerdictCount,
)
from faithtui.agreement.report.values.settings import Level, ReportSettings
from faithtui.domain.label_sets import NOT_A_CLAIM, LabelSet, Polarity
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
        known = set(names)
        self.labels = labels
        self.design = design
        self.all = every = ClaimColumns(claims)
        """Every claim of the run."""
        self.pairs = Counter(zip(every.judge, every.human, strict=True))
        """What judge and people say, and of how many claims: few pairs of words of many claims."""
        compared = {(judge, human): {judge, human} <= known for judge, human in self.pairs}
        self.every = every.where(
            [*map(compared.__getitem__, zip(every.judge, every.human, strict=True))]
            if not all(compared.values())
            else ()
        )
        """All that were compared, of the sample or not."""
        drawn = design.kind in DRAWN
        self.inside = inside = (
            self.every.where([place is not None for place in self.every.position])
            if drawn
            else self.every
        )
        """Those the figures are about."""
        frame = None
        if design.kind is DesignKind.STRATIFIED:
            members = tuple(
                (group, stratum)
                for group, stratum, judge in zip(
                    every.group, every.stratum, every.judge, strict=True
                )
                if judge in known and stratum is not None
            )
            population = Counter(stratum for _, stratum in members)
            labelled = Counter(inside.stratum)
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
        self.units = self.figures.units(
            inside.group,
            cast(Sequence[str], inside.human),
            cast(Sequence[str], inside.judge),
            inside.stratum if frame is not None else (),
        )
        """People's consensus beside the judge's label, in the order of `inside`."""
        self.whole = self.figures.whole(self.units)
        """Their tables by group."""
        self.part = self.whole if frame is None else self.figures.part(self.units)
        """The same as parts of the whole: with weights that stay when a group is left out."""


def claim_level_report(
    compared: Compared,
    rule: ScoringRule,
    unit: tuple[str, str] = CLAIM,
) -> LevelReport:
    """Compare people's verdicts on unique claims with the judge's; see `report.agreement_report`.

    A reviewed claim without a judge's verdict is counted beside the table and enters no
    coefficient: it must not count as agreement, and a coefficient needs two verdicts.
    """
    names = compared.labels.names
    both, figures, whole = compared.every, compared.figures, compared.whole
    known, claims, pairs = set(names), compared.all, compared.pairs
    total = len(claims.rows)
    usable = sum(times for (_, human), times in pairs.items() if human in known)
    unreviewed = claims.human.count(None)
    not_a_claim = claims.human.count(NOT_A_CLAIM)
    agreed = sum(
        times for (judge, human), times in pairs.items() if judge == human and human in known
    )
    unjudged: Counter[str | None] = Counter()
    for (judge, human), times in pairs.items():
        if judge not in known:
            unjudged[human] += times
    states = Counter(
        [state for state, human in zip(claims.state, claims.human, strict=True) if human is None]
        if unreviewed
        else []
    )
    n = len(both.rows)
    coverage = Coverage(
        total=total,
        conversations=len(set(claims.conversation)),
        groups=len(claims.group.spans.names),
        rows=sum(claims.windows),
        compared=n,
        compared_groups=len(both.group.spans.names),
        agreed=agreed,
        overridden=n - agreed,
        unreviewed=unreviewed,
        not_a_claim=not_a_claim,
        other_words=total - unreviewed - not_a_claim - usable,
        no_verdict=usable - n,
        vacuous=0,
        unscored=0,
        missing_verdicts=sum(unjudged.values()),
        several_reviewers=sum(
            [
                number >= 2
                for number, human in zip(claims.reviewers, claims.human, strict=True)
                if human is not None
            ]
            if max(claims.reviewers, default=0) >= 2
            else []
        ),
        blind=both.blind.count(True),
        shown=both.blind.count(False),
        by_verdict=_by_verdict(
            pairs,
            Counter(
                [
                    judge
                    for judge, state in zip(claims.judge, claims.state, strict=True)
                    if state is LabelState.SKIPPED
                ]
                if unreviewed
                else []
            ),
            names,
        ),
        skipped=states[LabelState.SKIPPED],
        bulk=states[LabelState.BULK],
        stale=states[LabelState.STALE],
        outside=n - len(compared.inside.rows),
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
            _rate_units(rule, compared),
            compared.design,
            names,
            figures.settings.level,
        ),
        disagreements=Differing(list(compress(both.rows, map(ne, both.human, both.judge)))),
        weights=() if figures.frame is None else tuple(sorted(figures.frame.weights.items())),
    )


def _rate_units(rule: ScoringRule, compared: Compared) -> RateUnits:
    """Say of all claims but unfair ones what passes."""
    names, drawn, claims = compared.labels.names, compared.design.kind in DRAWN, compared.all
    by_design = compared.design.kind is DesignKind.STRATIFIED
    passing: dict[str | None, bool] = {name: name in rule.passing for name in names}
    known: dict[str | None, str] = {name: name for name in names}
    found = RateUnits(
        groups=claims.group,
        strata=claims.stratum if by_design else [*map(known.get, claims.judge)],
        judge=[*map(passing.get, claims.judge)],
        human=[*map(passing.get, claims.human)],
        drawn=[position is not None for position in claims.position] if drawn else (),
    )
    if NOT_A_CLAIM not in claims.human:
        return found
    return found.within([human != NOT_A_CLAIM for human in claims.human])


def answer_level_report(
    answers: Sequence[AnswerReading],
    unrated: Sequence[UnratedAnswer],
    rule: ScoringRule,
    settings: ReportSettings,
) -> LevelReport:
    """Compare people's labels of whole answers with the judge's pass or fail.

    People pass an answer when their label is one of `rule.passing`; any other label fails it.
    Nobody draws answers to be rated, so they are never a census: even where all are rated, only
    the labelled ones are spoken of.

    Args:
        answers: Those that people labelled.
        unrated: All others of the run.
        rule: The run's rule.
        settings: What is asked for.
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
    others = [None if each.passes is None else word(each.passes) for each in unrated]
    figures = Figures((PASS, FAIL), (FAIL,), settings)
    whole = figures.plain(
        figures.units(
            [answer.group for answer, _, _ in both],
            [human for _, human, _ in both],
            [judge for _, _, judge in both],
        )
    )
    agreed = sum(human == judge for _, human, judge in both)
    in_view = sum(_is_in_view(answer) for answer, _, _ in both)
    coverage = Coverage(
        total=len(answers) + len(unrated),
        conversations=len(
            {each.conversation for each in answers} | {each.conversation for each in unrated}
        ),
        groups=len({each.group for each in answers} | {each.group for each in unrated}),
        rows=len(answers) + len(unrated),
        compared=len(both),
        compared_groups=len({answer.group for answer, _, _ in both}),
        agreed=agreed,
        overridden=len(both) - agreed,
        unreviewed=len(answers) - len(reviewed) + len(unrated),
        not_a_claim=0,
        other_words=0,
        no_verdict=0,
        vacuous=vacuous,
        unscored=len(reviewed) - vacuous - len(both),
        missing_verdicts=0,
        several_reviewers=sum(answer.raters >= 2 for answer in reviewed),
        # Labels that came with the data are taken for blind ones.
        blind=len(both) - in_view,
        shown=in_view,
        by_verdict=_by_verdict(
            Counter(
                [(verdict(answer), answer.human) for answer in answers]
                + [(judge, None) for judge in others]
            ),
            {},
            (PASS, FAIL),
        ),
    )
    kind = DesignKind.CONVENIENCE if coverage.reviewed else DesignKind.NONE
    design = DesignReading(kind, coverage.total)
    # Both rates are of the same answers: nothing was judged in the others.
    judged = [
        (each.group, said, each.human) for each in answers if (said := verdict(each)) is not None
    ] + [
        (each.group, said, None)
        for each, said in zip(unrated, others, strict=True)
        if said is not None
    ]
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
            RateUnits(
                groups=[group for group, _, _ in judged],
                strata=[said for _, said, _ in judged],
                judge=[said == PASS for _, said, _ in judged],
                human=[None if human is None else human in rule.passing for *_, human in judged],
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
                f"score {answer.score.value:.2f}, threshold {rule.bar}",
                raters=tuple(each.reviewer for each in answer.opinions),
                blind=not _is_in_view(answer),
            )
            for answer, human, judge in both
            if human != judge
        ),
    )


def _is_in_view(answer: AnswerReading) -> bool:
    """Say whether somebody rated an answer with the judge's word in view."""
    return any(each.blind is False for each in answer.opinions)


def _by_verdict(
    pairs: Mapping[tuple[str | None, str | None], int],
    skipped: Mapping[str | None, int],
    names: Sequence[str],
) -> tuple[VerdictCount, ...]:
    """Count units by the judge's label.

    Args:
        pairs: Units by the judge's word and people's.
        skipped: Units that were put off, by the judge's word.
        names: Labels. All other words are no label.
    """
    units: Counter[str | None] = Counter()
    reviewed: Counter[str | None] = Counter()
    put_off: Counter[str | None] = Counter()
    for (judge, human), times in pairs.items():
        label = judge if judge in names else None
        units[label] += times
        reviewed[label] += times if human is not None else 0
    for judge, times in skipped.items():
        put_off[judge if judge in names else None] += times
    return tuple(
        VerdictCount(name, units[name], reviewed[name], put_off[name]) for name in (*names, None)
    )
