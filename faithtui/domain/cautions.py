"""What a reader must know before believing the figures, and the sentence on top of them."""

from collections.abc import Iterator

from faithtui.domain.agreement import (
    Table,
    cohen_kappa,
    marginal_distance,
    percent_agreement,
)
from faithtui.domain.estimates import Estimate, Reason, Status
from faithtui.domain.report_values import (
    Caution,
    Consistency,
    Design,
    Figure,
    Level,
    LevelReport,
    ScoreReport,
    Severity,
)

FEW_ITEMS = 30
FEW_MINORITY = 10
FEW_GROUPS = 20
HIGH_AGREEMENT = 0.80
KAPPA_GAP = 0.40
MARGINAL_GAP = 0.10
_ROUNDING = 1e-12

_ORDER = (Severity.BLOCKING, Severity.CAUTION, Severity.INFO)


def table_codes(table: Table) -> tuple[str, ...]:
    """Name what a confusion table alone warns of.

    Returns:
        Codes in alphabetical order; (): nothing. `kappa_prevalence`: agreement of 0.80 or more and
        kappa at least 0.40 below it. `marginal_bias`: half the L1 distance of the margins above
        0.10. `few_items`: fewer than 30 units. `undefined`: kappa has no value.

    Source:
        Feinstein & Cicchetti 1990, J Clin Epidemiol 43:543-549, for the paradox behind the first.
    """
    percent, kappa, gap = percent_agreement(table), cohen_kappa(table), marginal_distance(table)
    codes = []
    if table.n < FEW_ITEMS:
        codes.append("few_items")
    if (
        not isinstance(percent, Reason)
        and not isinstance(kappa, Reason)
        and percent >= HIGH_AGREEMENT - _ROUNDING
        and percent - kappa >= KAPPA_GAP - _ROUNDING
    ):
        codes.append("kappa_prevalence")
    if not isinstance(gap, Reason) and gap > MARGINAL_GAP + _ROUNDING:
        codes.append("marginal_bias")
    if isinstance(kappa, Reason):
        codes.append("undefined")
    return tuple(codes)


def cautions(
    claims: LevelReport, answers: LevelReport, scores: ScoreReport, consistency: Consistency
) -> tuple[Caution, ...]:
    """List what applies, most severe first."""
    found = [*_level(claims), *_level(answers)]
    reviewed = claims.coverage.reviewed or answers.coverage.reviewed or scores.answers
    if not reviewed:
        message = "Nobody has labelled anything yet, so nothing can be said about the judge."
        found.append(Caution("no_labels", Severity.BLOCKING, message, about=(Figure.AGREEMENT,)))
    unsteady = consistency.repeated - consistency.steady
    if unsteady:
        message = (
            f"The judge gave {unsteady} of {consistency.repeated} {claims.unit[1]} that stand in "
            "several windows different labels; the first window's label is used."
        )
        found.append(
            Caution("judge_unsteady", Severity.INFO, message, Level.CLAIMS, (Figure.AGREEMENT,))
        )
    return tuple(sorted(found, key=lambda caution: _ORDER.index(caution.severity)))


def headline(report: LevelReport) -> str:
    """Say in one sentence how far the judge can be trusted at a level."""
    one, many = report.unit
    coverage = report.coverage
    if not coverage.reviewed:
        return "No human labels yet: whether the judge can be trusted is not known."
    if not coverage.compared:
        return (
            f"People labelled {_count(coverage.reviewed, one, many)}, "
            "and none can be compared with the judge."
        )
    where = f"{_count(coverage.compared, one, many)} from {_groups(report)}"
    kappa = report.cohen_kappa
    if kappa.value is None:
        why = kappa.reason.words if kappa.reason else ""
        return (
            f"On {where} judge and people gave the same label to {coverage.agreed:,}; "
            f"Cohen's kappa is {kappa.status} ({why})."
        )
    return (
        f"On {where} judge and people agree with Cohen's kappa {_with_interval(kappa)}; "
        f"they gave the same label to {coverage.agreed:,} of {coverage.compared:,}."
    )


def _with_interval(estimate: Estimate) -> str:
    if estimate.ci_low is None or estimate.ci_high is None or estimate.level is None:
        why = estimate.reason.words if estimate.reason else ""
        return f"{estimate.value:.2f} (no interval: {why})"
    return (
        f"{estimate.value:.2f} [{estimate.ci_low:.2f}, {estimate.ci_high:.2f}] "
        f"({estimate.level:.0%} interval)"
    )


def _groups(report: LevelReport) -> str:
    word = report.coverage.group_word
    return _count(report.coverage.compared_groups, word.removesuffix("s"), word)


def _count(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def _level(report: LevelReport) -> Iterator[Caution]:
    """Warn about one level; silent about units nobody reviewed when nobody reviewed any."""
    coverage, level = report.coverage, report.level
    one, many = report.unit

    def caution(
        code: str, message: str, *about: Figure, severity: Severity = Severity.CAUTION
    ) -> Caution:
        return Caution(code, severity, message, level, about)

    if coverage.missing_verdicts:
        yield caution(
            "invalid_verdicts",
            f"The judge gave no readable verdict on {coverage.missing_verdicts} of "
            f"{_count(coverage.total, one, many)}; {_unjudged(report)}",
            Figure.COVERAGE,
            Figure.AGREEMENT,
        )
    if not coverage.reviewed:
        return
    if report.design is Design.CONVENIENCE:
        yield caution(
            "design_not_random",
            f"{coverage.unreviewed} of {_count(coverage.total, one, many)} have no label and the "
            "others are not known to be a random sample, so no corrected rate is given.",
            Figure.RATE,
        )
    yield from _left_out(report)
    if not coverage.compared:
        yield caution(
            "undefined",
            f"None of the labelled {many} has a judge's verdict to compare with.",
            Figure.AGREEMENT,
        )
        return
    yield from _table(report)
    if coverage.compared_groups < FEW_GROUPS:
        yield caution(
            "few_conversations",
            f"The compared {many} come from {_groups(report)} only; "
            f"intervals are rough below {FEW_GROUPS}.",
            Figure.AGREEMENT,
            Figure.DETECTION,
        )
    flagged = report.strict.tp + report.strict.fn
    if flagged < FEW_MINORITY:
        yield caution(
            "few_minority",
            f"People found only {_count(flagged, f'unfaithful {one}', f'unfaithful {many}')}; "
            f"recall says little below {FEW_MINORITY}.",
            Figure.DETECTION,
        )
    hits, rejections = report.strict.recall.value, report.strict.specificity.value
    if hits is not None and rejections is not None and hits + rejections <= 1 + _ROUNDING:
        yield caution(
            "uninformative_judge",
            f"The judge flags unfaithful {many} no more often than faithful ones.",
            Figure.DETECTION,
        )
    unknown = coverage.compared - coverage.blind - coverage.shown
    if coverage.shown:
        yield caution(
            "not_blind",
            f"{coverage.shown:,} of {_count(coverage.compared, one, many)} were labelled with the "
            "judge's verdict in view, so agreement is probably overstated.",
            Figure.AGREEMENT,
        )
    elif unknown:
        yield caution(
            "not_blind",
            f"It is not recorded whether people saw the judge's verdict before they labelled "
            f"{unknown:,} of {_count(coverage.compared, one, many)}; if so, agreement is probably "
            "overstated.",
            Figure.AGREEMENT,
            severity=Severity.INFO,
        )


def _table(report: LevelReport) -> Iterator[Caution]:
    """Put the codes of the table into sentences."""
    one, many = report.unit
    kappa = report.cohen_kappa
    about: tuple[Figure, ...]
    for code in table_codes(report.table):
        match code:
            case "few_items":
                compared = _count(report.table.n, one, many)
                message = f"Only {compared} compared; below {FEW_ITEMS} figures say little."
                about = (Figure.AGREEMENT, Figure.DETECTION)
            case "kappa_prevalence":
                message = (
                    "Agreement is high and kappa is low because one label prevails; "
                    "read kappa together with AC1 and the recall of unfaithful ones."
                )
                about = (Figure.KAPPA, Figure.PERCENT)
            case "marginal_bias":
                message = "Judge and people use the labels at clearly different rates."
                about = (Figure.KAPPA, Figure.RATE)
            case _:
                why = kappa.reason.words if kappa.reason else ""
                message = f"Cohen's kappa has no value: {why}, as only one label was used."
                about = (Figure.KAPPA,)
        yield Caution(code, Severity.CAUTION, message, report.level, about)
    if kappa.status is Status.WITHHELD:
        message = (
            "Cohen's kappa is withheld: there is no variation between conversations "
            "from which its uncertainty could be told."
        )
        yield Caution("withheld", Severity.INFO, message, report.level, (Figure.KAPPA,))


def _left_out(report: LevelReport) -> Iterator[Caution]:
    """Say which labelled units are not compared."""
    coverage, level = report.coverage, report.level
    one, many = report.unit
    about = (Figure.COVERAGE,)
    if coverage.vacuous:
        message = (
            f"{_count(coverage.vacuous, 'labelled answer', 'labelled answers')} without claims "
            "left out: nothing was judged there."
        )
        yield Caution("vacuous_answers", Severity.INFO, message, level, about)
    if coverage.unscored:
        message = (
            f"{_count(coverage.unscored, 'labelled answer', 'labelled answers')} without a score "
            "or without a threshold left out."
        )
        yield Caution("unscored_answers", Severity.CAUTION, message, level, about)
    if coverage.not_a_claim:
        message = (
            f"{_count(coverage.not_a_claim, one, many)} left out because people called them no "
            "fair claim."
        )
        yield Caution("not_a_claim", Severity.INFO, message, level, about)
    if coverage.other_words:
        message = (
            f"{_count(coverage.other_words, one, many)} left out because people used a word "
            "that is not a label of this metric."
        )
        yield Caution("other_words", Severity.CAUTION, message, level, about)


def _unjudged(report: LevelReport) -> str:
    """Say what the missing verdicts could do to the agreement."""
    coverage = report.coverage
    if not coverage.no_verdict:
        return "people have reviewed none of them."
    whole = coverage.compared + coverage.no_verdict
    return (
        f"the {coverage.no_verdict} reviewed ones are left out of all figures; counted as "
        f"disagreement, percent agreement would be {coverage.agreed / whole:.3f}."
    )
