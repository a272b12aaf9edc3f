"""What a reader must know before believing the figures."""

from collections import Counter
from collections.abc import Iterator, Sequence

from faithtui.agreement.confusion_matrix import FEW_ITEMS, ConfusionMatrix
from faithtui.agreement.labelled_units import DesignKind
from faithtui.agreement.report.figures.annotator_error import FEWEST_SHARED
from faithtui.agreement.report.figures.missing_figures import explain_missing_kappa
from faithtui.agreement.report.headline import (
    choose_unfaithful_detection,
    describe_unfaithful_labels,
    format_group_count,
)
from faithtui.agreement.report.headline import format_number_with_noun as _count
from faithtui.agreement.report.model import (
    AgreementReport,
    Detection,
    HumanReport,
    LevelReport,
    RaterReport,
)
from faithtui.agreement.report.settings import (
    FEW_MINORITY,
    MANY_HASTY,
    ReportLevel,
    ReportWarning,
    Severity,
    WarningSubject,
)
from faithtui.agreement.statistics.coefficients import list_table_warning_codes
from faithtui.domain.estimates import FEWEST_GROUPS, Estimate, EstimateStatus
from faithtui.domain.integrity.run_summary import Soundness
from faithtui.domain.labels.label_events import HASTY_S
from faithtui.domain.withheld_reasons import WithheldReason

FEW_GROUPS = 20
MANY_SKIPPED = 0.05
"""Share of what was served in a stratum."""
MANY_FAILED = 0.05
"""Share of the conversations of a population that may have failed: the rest no longer stands for
it."""
MANY_DIFFERENCES = 0.25
"""Share of the units labelled by several annotators of which their labels differ, or those of one
annotator and the others."""
OUTLIER = 0.25
"""Distance of an annotator's share of overrides from that of the annotator in the middle."""
MANY_LEFT_OUT = 0.1
"""Share of the labelled claims labelled `x`, or left out for an `idk`, from which on it is
asked whether these are the ones that the judge gets wrong."""
_ROUNDING = 1e-12

_ORDER = (Severity.BLOCKING, Severity.CAUTION, Severity.INFO)


def list_warnings(
    report: AgreementReport,
    soundness: Soundness = Soundness.SOUND,
    integrity: str = "",
    unfinished: str = "",
) -> tuple[ReportWarning, ...]:
    """List what applies, most severe first.

    Args:
        report: The figures.
        soundness: Whether what the judge wrote can be found where it must come from.
        integrity: The same in a sentence; "" when nothing stands against it.
        unfinished: How far the run is, in a sentence; "" when it is finished.
    """
    claims, answers = report.claims, report.answers
    found = [
        *_warn_of_population(report),
        *_warn_of_unfinished_run(unfinished),
        *_warn_of_integrity(soundness, integrity),
        *_warn_of_level_report(claims, report.passing),
        *_warn_of_level_report(answers, report.passing),
        *_warn_of_annotators(report),
        *_warn_of_scores(report),
    ]
    reviewed = claims.coverage.reviewed or answers.coverage.reviewed or report.scores.answers
    if not reviewed:
        message = "Nothing is labelled yet, so the judge cannot be measured."
        found.append(
            ReportWarning(
                "no_labels", Severity.BLOCKING, message, about=(WarningSubject.AGREEMENT,)
            )
        )
    unsteady = report.consistency.repeated - report.consistency.steady
    if unsteady:
        rule = report.settings.duplicates.replace("_", " ")
        message = (
            f"The judge gave {unsteady:,} of {report.consistency.repeated:,} {claims.unit[1]} that "
            f"stand in several windows different labels; the {rule} label is used."
        )
        found.append(
            ReportWarning(
                "judge_unsteady",
                Severity.INFO,
                message,
                ReportLevel.CLAIMS,
                (WarningSubject.AGREEMENT,),
            )
        )
    return tuple(sorted(found, key=lambda caution: _ORDER.index(caution.severity)))


def _warn_of_unfinished_run(sentence: str) -> Iterator[ReportWarning]:
    """Warn that figures are of a part of the run, and nobody drew that part at random."""
    if sentence:
        about = (WarningSubject.RATE, WarningSubject.AGREEMENT, WarningSubject.COVERAGE)
        yield ReportWarning("unfinished_run", Severity.CAUTION, sentence, about=about)


def _warn_of_integrity(soundness: Soundness, sentence: str) -> Iterator[ReportWarning]:
    """Warn about judges that made up what they judged; of an unchecked run nothing is known."""
    if not sentence:
        return
    message = f"{sentence[:1].upper()}{sentence[1:]}."
    about = (WarningSubject.RATE, WarningSubject.AGREEMENT)
    match soundness:
        case Soundness.SUSPECT:
            yield ReportWarning("suspect_run", Severity.BLOCKING, message, about=about)
        case Soundness.UNCHECKED:
            message += " Whether the judge made up what it judged there is not known."
            yield ReportWarning("not_checked", Severity.CAUTION, message, about=about)
        case _:
            yield ReportWarning("texts_not_found", Severity.INFO, message, about=about)


def _warn_of_annotator_conflict(humans: HumanReport, many: str) -> Iterator[ReportWarning]:
    """Warn where annotators differ often, or one of them often differs from the others.

    Labels that are stored under several names agree with each other, so that all pairs together
    differ the less the more names there are; one annotator and all others differ as often as
    before.
    """
    same = humans.percent.value
    message = ""
    if same is not None and 1 - same > MANY_DIFFERENCES and humans.units >= FEWEST_SHARED:
        message = (
            f"Annotators differ on {1 - same:.0%} of the {humans.units:,} {many} that several "
            "labelled"
        )
    else:
        shared, differing = Counter[str](), Counter[str]()
        for pair in humans.pairs:
            agreement = pair.agreement
            if agreement.n < FEWEST_SHARED:  # a name with a few labels hides nobody's
                continue
            for name in (pair.a, pair.b):
                shared[name] += agreement.n
                differing[name] += agreement.n - agreement.table.agreed_count
        worst = max(shared, key=lambda name: differing[name] / shared[name], default="")
        if worst and differing[worst] > MANY_DIFFERENCES * shared[worst]:
            message = (
                f"{worst} differs from the other annotators on "
                f"{differing[worst] / shared[worst]:.0%} of what each of them labelled too"
            )
    if message:
        message += (
            ": the guideline or the task is unclear, or one of them is careless. The interval of "
            "the corrected share allows for it, if they err apart from each other."
        )
        about = (WarningSubject.HUMANS, WarningSubject.RATE)
        yield ReportWarning(
            "annotators_conflict", Severity.CAUTION, message, ReportLevel.CLAIMS, about
        )


def _warn_of_annotators(report: AgreementReport) -> Iterator[ReportWarning]:
    """Warn about who labelled, and how."""
    anchoring, level = report.anchoring, ReportLevel.CLAIMS
    if anchoring is not None:
        gap = anchoring.difference
        if gap.ci_low is not None and gap.ci_low > 0:
            message = (
                "Annotators agree with the judge more often when they see its verdict "
                f"({_format_signed(gap)}): it influences them."
            )
            about = (WarningSubject.ANCHORING, WarningSubject.AGREEMENT)
            yield ReportWarning("anchoring_suspected", Severity.CAUTION, message, level, about)
    humans = report.get_human_agreement_at_level(ReportLevel.CLAIMS)
    if humans is not None:
        yield from _warn_of_annotator_conflict(humans, report.claims.unit[1])
    for each_level in report.level_reports:
        humans = report.get_human_agreement_at_level(each_level.level)
        ceiling = None if humans is None else humans.krippendorff_alpha.value
        alpha = each_level.krippendorff_alpha.value
        if ceiling is not None and alpha is not None and ceiling < alpha:
            message = (
                f"Annotators agree with each other less (alpha {ceiling:.2f}) than with the judge "
                f"({alpha:.2f}): the guideline or the task is unclear, or they lean on the judge."
            )
            yield ReportWarning(
                "humans_disagree",
                Severity.CAUTION,
                message,
                each_level.level,
                (WarningSubject.HUMANS,),
            )
    rates = [each.overrides / each.agreement.n for each in report.raters if each.agreement.n]
    for each in report.raters:
        if each.agreement.n >= FEW_ITEMS and len(rates) > 2:
            own = each.overrides / each.agreement.n
            middle = sorted(rates)[len(rates) // 2]
            if abs(own - middle) > OUTLIER:
                message = (
                    f"{each.reviewer} overrides the judge in {own:.0%}, the median annotator in "
                    f"{middle:.0%}."
                )
                yield ReportWarning(
                    "rater_outlier", Severity.CAUTION, message, level, (WarningSubject.HUMANS,)
                )
    hasty = [each for each in report.raters if _is_hasty(each)]
    # Together: labels under several names are no slower.
    if sum(each.labels for each in hasty) >= FEW_ITEMS:
        for each in hasty:
            message = (
                f"{each.reviewer} took a median of {each.median_seconds:.1f} s for a label: too "
                "short to have read."
            )
            if each.median_seconds is not None and each.median_seconds >= HASTY_S:
                message = (
                    f"{each.hasty:,} of the {each.labels:,} labels of {each.reviewer} took less "
                    f"than {HASTY_S:g} s each: too short to have read."
                )
            yield ReportWarning(
                "hasty_labels", Severity.CAUTION, message, level, (WarningSubject.COVERAGE,)
            )


def _describe_groups_of_pass_share(report: LevelReport) -> str:
    """Say where the share that passes rests on more groups than the compared units."""
    groups = report.rate.corrected_this_run.clusters
    if groups is None or groups <= report.agreement.clusters:
        return ""
    return (
        f" ({groups} where the share that passes counts ties and {report.unit[1]} without a "
        "judge's verdict too)"
    )


def _describe_intervals_of_few_groups(report: LevelReport, passing: Sequence[str]) -> str:
    """Say that intervals are rough, or which figures alone have one."""
    agreement, detection = report.agreement, choose_unfaithful_detection(report, passing)
    figures = (
        agreement.percent,
        agreement.cohen_kappa,
        detection.precision,
        detection.recall,
        detection.specificity,
    )
    if any(each.has_interval for each in figures):
        return f"intervals are rough below {FEW_GROUPS}"
    shares = {
        "in this run": report.rate.corrected_this_run,
        "in future conversations": report.rate.corrected_future,
    }
    known = [place for place, share in shares.items() if share.has_interval]
    so_few = "figures of so few" if agreement.clusters < FEWEST_GROUPS else "their figures"
    but = f", but for the share that passes {' and '.join(known)}" if known else ""
    return f"{so_few} have no interval{but}"


def _is_hasty(rater: RaterReport) -> bool:
    """Say whether the middle label of an annotator was too fast, or many were."""
    if rater.median_seconds is None:
        return False
    return rater.median_seconds < HASTY_S or rater.hasty >= MANY_HASTY * rater.labels


def _warn_of_scores(report: AgreementReport) -> Iterator[ReportWarning]:
    """Warn about scores, confidences and comparisons."""
    for each in report.unit_scores:
        name = each.level.value
        if each.n_partially_labelled:
            message = (
                f"{_count(each.n_partially_labelled, name, f'{name}s')} labelled in part: left out "
                "of the comparison of scores."
            )
            # Of a sample of conversations each is to be labelled whole, and who leaves one claim
            # of it chooses what is compared.
            is_whole_drawn = report.claims.design.kind is DesignKind.CLUSTER
            severity = Severity.CAUTION if is_whole_drawn else Severity.INFO
            yield ReportWarning(
                "partial_windows", severity, message, None, (WarningSubject.SCORES,)
            )
        if each.n_vacuous:
            message = (
                f"{_count(each.n_vacuous, name, f'{name}s')} without anything to judge: left out, "
                "as there is no score, or one that a peer's rule fixes."
            )
            yield ReportWarning(
                "vacuous_windows", Severity.INFO, message, None, (WarningSubject.SCORES,)
            )
        better = None if each.threshold is None else each.threshold.suggested
        if better is not None and better.chosen_on == "same_labels":
            message = (
                f"The threshold suggested for a {name} was chosen on the labels it is tried on."
            )
            yield ReportWarning(
                "threshold_same_data", Severity.CAUTION, message, None, (WarningSubject.SCORES,)
            )
    found = report.calibration
    if found is not None and found.ece is None:
        why = (
            "there are too few labels"
            if found.few
            else "a perfect judge would show as much by luck"
        )
        message = f"The calibration error is not shown: {why}."
        yield ReportWarning(
            "ece_below_noise", Severity.INFO, message, None, (WarningSubject.CALIBRATION,)
        )
    if report.comparison is not None and report.comparison.comparisons_made > 1:
        count = report.comparison.comparisons_made
        message = f"{count} comparisons were made; read the adjusted p values."
        yield ReportWarning(
            "many_comparisons", Severity.INFO, message, None, (WarningSubject.COMPARISON,)
        )


def _format_signed(found: Estimate) -> str:
    if found.ci_low is None or found.ci_high is None:
        return f"{found.value:+.2f}"
    return f"{found.value:+.2f} [{found.ci_low:+.2f}, {found.ci_high:+.2f}]"


def _warn_of_level_report(report: LevelReport, passing: Sequence[str]) -> Iterator[ReportWarning]:
    """Warn about one level; silent about units nobody reviewed when nobody reviewed any."""
    coverage, level = report.coverage, report.level
    one, many = report.unit

    def make_warning(
        code: str, message: str, *about: WarningSubject, severity: Severity = Severity.CAUTION
    ) -> ReportWarning:
        return ReportWarning(code, severity, message, level, about)

    if coverage.missing_verdicts:
        yield make_warning(
            "invalid_verdicts",
            f"The judge gave no readable verdict on {coverage.missing_verdicts} of "
            f"{_count(coverage.units, one, many)}; {_describe_effect_of_missing_verdicts(report)}",
            WarningSubject.COVERAGE,
            WarningSubject.AGREEMENT,
        )
    if not coverage.reviewed:
        return
    yield from _warn_of_design(report)
    yield from _warn_of_units_not_compared(report)
    if not coverage.compared:
        yield make_warning(
            "undefined",
            f"None of the labelled {many} has a judge's verdict to compare with.",
            WarningSubject.AGREEMENT,
        )
        return
    yield from _warn_of_confusion_table(report)
    if report.agreement.clusters < FEW_GROUPS:
        has_few_drawn = report.design.kind is DesignKind.CLUSTER and (
            report.rate.corrected_this_run.clusters < FEWEST_GROUPS
        )
        yield make_warning(
            "few_conversations",
            f"The compared {many} come from {format_group_count(report)} only"
            f"{_describe_groups_of_pass_share(report)}; "
            f"{_describe_intervals_of_few_groups(report, passing)}.",
            WarningSubject.AGREEMENT,
            WarningSubject.DETECTION,
            # Of claims drawn one by one the share of the run does not rest on conversations.
            *([WarningSubject.RATE] if has_few_drawn else []),
        )
    # The same definition of unfaithful as in the headline: the two stand below each other.
    found = choose_unfaithful_detection(report, passing)
    flagged = found.tp + found.fn
    if flagged < FEW_MINORITY:
        yield make_warning(
            "few_minority",
            f"Annotators found only {_count(flagged, f'unfaithful {one}', f'unfaithful {many}')}"
            f"{describe_unfaithful_labels(report, passing)}; "
            f"recall says little below {FEW_MINORITY}.",
            WarningSubject.DETECTION,
        )
    hits, rejections = report.strict.recall.value, report.strict.specificity.value
    if hits is not None and rejections is not None and hits + rejections <= 1 + _ROUNDING:
        yield make_warning(
            "uninformative_judge",
            _describe_uninformative_judge(report, found, many),
            WarningSubject.DETECTION,
        )
    counted = report.agreement.n
    unknown = counted - coverage.blind - coverage.shown
    if coverage.shown:
        yield make_warning(
            "not_blind",
            f"{coverage.shown:,} of {_count(counted, one, many)} were labelled with the "
            "judge's verdict in view, so agreement is probably overstated.",
            WarningSubject.AGREEMENT,
        )
    elif unknown:
        yield make_warning(
            "not_blind",
            f"It is not recorded whether annotators saw the judge's verdict before they labelled "
            f"{unknown:,} of {_count(counted, one, many)}; if so, agreement is probably "
            "overstated.",
            WarningSubject.AGREEMENT,
            severity=Severity.INFO,
        )


def _describe_uninformative_judge(report: LevelReport, unfaithful: Detection, many: str) -> str:
    """Say that the judge is no better than chance, of the labels that contradict alone.

    Args:
        report: Of which recall and specificity are too small.
        unfaithful: What the headline calls unfaithful: with `idk` it may be found all the same.
        many: What units are called.
    """
    if unfaithful.positive == report.strict.positive:
        return f"The judge flags unfaithful {many} no more often than faithful ones."
    names = " or ".join(report.strict.positive)
    if not report.strict.tp + report.strict.fp:
        return (
            f"The judge says {names} of none of these {many}, so it finds none that annotators "
            f"label {names}."
        )
    return (
        f"The judge says {names} of {many} that annotators label otherwise as often as of those "
        f"that they label {names}, or more often."
    )


def _warn_of_design(report: LevelReport) -> Iterator[ReportWarning]:
    """Warn about how labelled units were chosen, and about labels that do not count."""
    coverage, design, level = report.coverage, report.design, report.level
    one, many = report.unit
    figures = (
        WarningSubject.RATE,
        WarningSubject.DESIGN,
        WarningSubject.AGREEMENT,
        WarningSubject.DETECTION,
    )
    if design.is_order_broken:
        message = (
            f"Too many {many} of the sample «{design.name}», or of a stratum of it, are skipped, "
            "or come before labelled ones in the drawn order and are passed over or accepted as "
            "the judge said. Nothing says how the labelled ones were chosen, so no corrected rate "
            "is given. Label these too to have one, or name another sample."
        )
        yield ReportWarning("design_not_random", Severity.CAUTION, message, level, figures)
    elif design.follows_draw:
        message = (
            f"Of the {many} that could be drawn this run judged those that were drawn rather than "
            "the others, or the other way round: what it judged says nothing of the rest, so no "
            "corrected rate is given. A run over all of them has one (faithtui run --claims)."
        )
        yield ReportWarning("design_not_random", Severity.CAUTION, message, level, figures)
    elif design.kind is DesignKind.CONVENIENCE:
        message = (
            f"{coverage.unreviewed:,} of {_count(coverage.units, one, many)} have no label and the "
            "others are not known to be a random sample, so no corrected rate is given."
            if coverage.unreviewed
            else f"All {_count(coverage.units, one, many)} have a label, and nothing says how they "
            "were chosen to be rated, so no corrected rate is given."
        )
        yield ReportWarning("design_not_random", Severity.CAUTION, message, level, figures)
    if design.kind is DesignKind.OVERRIDE_ONLY:
        message = (
            f"Every labelled {one} is one on which annotators differ from the judge, "
            "as when only faults are corrected: these give neither agreement nor a rate."
        )
        yield ReportWarning("override_only", Severity.BLOCKING, message, level, figures)
    if coverage.outside:
        message = (
            f"{_count(coverage.outside, f'labelled {one}', f'labelled {many}')} not of the sample "
            f"«{design.name}» are left out of its figures."
        )
        yield ReportWarning(
            "outside_sample", Severity.INFO, message, level, (WarningSubject.COVERAGE,)
        )
    if design.drawn_in is not None or design.claim_set is not None:
        yield _make_labels_drawn_elsewhere_warning(report)
    if design.strata and not design.random_prefix:
        message = (
            "Labels do not follow the drawn order: what was passed over may differ from what was "
            "labelled."
        )
        yield ReportWarning("order_broken", Severity.CAUTION, message, level, figures)
    if design.in_view:
        message = (
            f"{_count(design.in_view, one, many)} of the sample have a label that was given with "
            "the judge's verdict in view, and only blind labels count: if these differ from the "
            "others, the figures are off."
        )
        yield ReportWarning("labelled_in_view", Severity.CAUTION, message, level, figures)
    for stratum in design.strata:
        if stratum.name in design.unlabelled_strata:
            message = (
                f"No label counts of the stratum «{stratum.name}», which has "
                f"{stratum.population:,} of {_count(design.frame_units, one, many)}: nothing is "
                "known of these, so no figure of all of them is given. Draw and label some of it."
            )
            yield ReportWarning("stratum_unlabelled", Severity.CAUTION, message, level, figures)
        served = stratum.labelled + stratum.skipped
        if served and stratum.skipped / served > MANY_SKIPPED:
            of = f"«{stratum.name}»" if stratum.name else "the sample"
            message = (
                f"{stratum.skipped} of {served} {many} of {of} were skipped: if "
                "they are the hard ones, the figures are too good."
            )
            yield ReportWarning("skipped_many", Severity.CAUTION, message, level, figures)
    if coverage.stale:
        message = (
            f"{_count(coverage.stale, one, many)} labelled with a judge's verdict shown that "
            "has changed since: not counted in agreement."
        )
        yield ReportWarning(
            "stale_labels", Severity.CAUTION, message, level, (WarningSubject.COVERAGE,)
        )
    if coverage.unverified:
        rest = "rests" if coverage.unverified == 1 else "rest"
        message = (
            f"{_count(coverage.unverified, one, many)} in the figures {rest} on labels of a bundle "
            "without a digest: nothing says that they are what annotators gave."
        )
        yield ReportWarning(
            "unverified_labels", Severity.CAUTION, message, level, (WarningSubject.COVERAGE,)
        )
    if coverage.bulk_accepted:
        message = (
            f"{_count(coverage.bulk_accepted, one, many)} labelled in bulk or by accepting the "
            "judge's verdict: not counted in agreement."
        )
        yield ReportWarning(
            "bulk_excluded", Severity.INFO, message, level, (WarningSubject.COVERAGE,)
        )
    if coverage.verdict_rows > coverage.units:
        message = (
            f"{coverage.verdict_rows:,} verdicts in windows are of "
            f"{_count(coverage.units, one, many)}: each counts once."
        )
        yield ReportWarning(
            "duplicates_removed", Severity.INFO, message, level, (WarningSubject.COVERAGE,)
        )


def _warn_of_population(report: AgreementReport) -> Iterator[ReportWarning]:
    """Say what of a population no figure is about."""
    population = report.population
    if population is None:
        return
    failed = population.states.get("failed", 0)
    if failed:
        message = (
            f"{failed:,} of {_count(population.conversations, 'conversation', 'conversations')} "
            f"of the population ({population.failed_share:.1%}) could not be judged: no figure is "
            "about them."
        )
        if population.bounds is not None:
            low, high = population.bounds
            message += (
                f" With all their {report.claims.unit[1]} counted as failing, and as passing, the "
                f"corrected share lies between {low:.1%} and {high:.1%}."
            )
        many = population.failed_share > MANY_FAILED
        severity = Severity.CAUTION if many else Severity.INFO
        yield ReportWarning(
            "population_failed", severity, message, ReportLevel.CLAIMS, (WarningSubject.RATE,)
        )
    if population.open_shards:
        message = (
            f"{_count(population.open_shards, 'shard', 'shards')} of the results were not whole "
            "when the sample was drawn: the population is what was judged by then."
        )
        yield ReportWarning(
            "population_open", Severity.CAUTION, message, ReportLevel.CLAIMS, (WarningSubject.RATE,)
        )


def _make_labels_drawn_elsewhere_warning(report: LevelReport) -> ReportWarning:
    """Say whose labels these are, where they were not drawn in this run."""
    design = report.design
    one, many = report.unit
    whose = (
        f"claim set «{design.name}»"
        if design.claim_set is not None
        else f"sample «{design.name}» of run {design.drawn_in}"
    )
    message = f"The labels are of the {whose}: the figures are about the "
    message += (
        f"labelled {many} that this run judged, all counted alike"
        f"{_describe_ignored_strata_bias(report)}."
        if design.follows_draw or design.is_order_broken
        else f"{_count(design.frame_units, one, many)} that could be drawn there and that this run "
        "judged, with the weights of the drawing."
    )
    if design.unjudged:
        message += f" {design.unjudged:,} more could be drawn, and this run did not judge them."
    if design.beyond:
        message += (
            f" {_count(design.beyond, one, many)} of this run could not be drawn there and are "
            "left out"
        )
        has_rate = report.rate.corrected_this_run.ci_low is not None
        message += (
            "; the intervals of the corrected share reach as far as these could move it." * has_rate
        ) or "."
    severity = Severity.CAUTION if design.unjudged or design.beyond else Severity.INFO
    about = (WarningSubject.RATE, WarningSubject.DESIGN)
    return ReportWarning("sample_of_other_run", severity, message, report.level, about)


def _describe_ignored_strata_bias(report: LevelReport) -> str:
    """Say what counting alike does to labels that were drawn by strata; "" of others."""
    design, many = report.design, report.unit[1]
    if not design.is_biased_by_ignored_strata:
        return ""
    bend = (
        f", though they were drawn by strata: {many} of thinly drawn strata weigh too little, and "
        "misses lie there, so that recall and agreement look better than they are"
    )
    if design.claim_set is None:
        return bend
    name = design.name.partition(" ")[0]  # without its version
    return f"{bend}; faithtui trend {name} has them with the weights of the drawing"


def _warn_of_confusion_table(report: LevelReport) -> Iterator[ReportWarning]:
    """Put the codes of the table into sentences."""
    one, many = report.unit
    kappa = report.cohen_kappa
    about: tuple[WarningSubject, ...]
    for code in _list_table_warning_codes(report):
        match code:
            case "few_items":
                compared = _count(report.table.n, one, many)
                message = f"Only {compared} compared; below {FEW_ITEMS} figures say little."
                about = (WarningSubject.AGREEMENT, WarningSubject.DETECTION)
            case "kappa_prevalence":
                low, read = " and kappa is low", "kappa"
                if kappa.value is None:
                    low, read = "", "agreement"
                message = (
                    f"Agreement is high{low} because one label prevails; "
                    f"read {read} together with AC1 and the recall of unfaithful ones."
                )
                about = (WarningSubject.KAPPA, WarningSubject.PERCENT)
            case "marginal_bias":
                message = "Judge and annotators use the labels at clearly different rates."
                about = (WarningSubject.KAPPA, WarningSubject.RATE)
            case _:
                message = f"Cohen's kappa has no value: {explain_missing_kappa(report)}."
                about = (WarningSubject.KAPPA,)
        yield ReportWarning(code, Severity.CAUTION, message, report.level, about)
    if kappa.status is EstimateStatus.WITHHELD:
        why = explain_missing_kappa(report)
        if why == WithheldReason.NO_VARIATION.words:
            why = "without variation between conversations it has no interval"
        message = f"Cohen's kappa is withheld: {why}."
        yield ReportWarning(
            "withheld", Severity.INFO, message, report.level, (WarningSubject.KAPPA,)
        )


def _list_table_warning_codes(report: LevelReport) -> tuple[str, ...]:
    """Name what a table warns of: by the units whether they are few, else by what they stand for.

    Labels drawn by verdict are used at other rates than in the run, though nobody is biased.
    """
    found = report.agreement
    if found.weighted is None:
        return list_table_warning_codes(found.table)
    stands_for = ConfusionMatrix(found.table.categories, found.weighted)
    few = [code for code in list_table_warning_codes(found.table) if code == "few_items"]
    return (*few, *(code for code in list_table_warning_codes(stands_for) if code != "few_items"))


def _warn_of_units_not_compared(report: LevelReport) -> Iterator[ReportWarning]:
    """Say which labelled units are not compared."""
    coverage, level = report.coverage, report.level
    one, many = report.unit
    about = (WarningSubject.COVERAGE,)
    if coverage.vacuous:
        message = (
            f"{_count(coverage.vacuous, 'labelled answer', 'labelled answers')} without claims "
            "left out: nothing was judged there."
        )
        yield ReportWarning("vacuous_answers", Severity.INFO, message, level, about)
    if coverage.unscored:
        message = (
            f"{_count(coverage.unscored, 'labelled answer', 'labelled answers')} without a score "
            "or without a threshold left out."
        )
        yield ReportWarning("unscored_answers", Severity.CAUTION, message, level, about)
    if coverage.audit:
        message = (
            f"{_count(coverage.audit, one, many)} served with the judge's verdict in view, to "
            "measure its pull, left out of all other figures."
        )
        yield ReportWarning("audit_left_out", Severity.INFO, message, level, about)
    if coverage.tied_in_figures:
        # Adjudication lists claims: ratings of whole answers come with the data.
        settled = "an adjudicated label"
        if report.level is ReportLevel.ANSWERS:
            settled = "an imported rating of one more annotator"
        rest_on = (
            "" if coverage.tied_in_figures == coverage.tied else "the figures rest on and that "
        )
        message = (
            f"Annotators are evenly split on {coverage.tied_in_figures:,} of "
            f"{_count(coverage.several_in_figures, one, many)} that {rest_on}several labelled: "
            f"left out of tables, {_describe_effect_of_ties(report)}; {settled} "
            "settles a tie."
        )
        yield ReportWarning("ties", Severity.CAUTION, message, level, _TIED)
    unsure, unfair = coverage.idk_excluded_in_figures, coverage.not_a_claim_in_figures
    if unsure:
        message = (
            f"{_count(unsure, f'labelled {one}', f'labelled {many}')} left out "
            "because judge or annotators call them idk (--idk exclude)."
        )
        looked_at = coverage.in_figures + unsure
        many_unsure = unsure > MANY_LEFT_OUT * looked_at
        severity = Severity.CAUTION if many_unsure else Severity.INFO
        yield ReportWarning("idk_excluded", severity, message, level, about)
    if unfair:
        message = (
            f"{_count(unfair, one, many)} left out because annotators labelled "
            "them x, not a fair claim."
        )
        looked_at = coverage.in_figures + unfair
        many_unfair = unfair > MANY_LEFT_OUT * looked_at
        severity = Severity.CAUTION if many_unfair else Severity.INFO
        yield ReportWarning("not_a_claim", severity, message, level, about)
    if coverage.other_words:
        message = (
            f"{_count(coverage.other_words, one, many)} left out because their human "
            "label is not a label of this metric."
        )
        yield ReportWarning("other_words", Severity.CAUTION, message, level, about)


_TIED = (WarningSubject.AGREEMENT, WarningSubject.DETECTION, WarningSubject.RATE)


def _describe_effect_of_ties(report: LevelReport) -> str:
    """Say how ties enter the share that passes."""
    if report.rate.corrected_this_run.value is None:
        return "and of no share that passes"
    return "and half of each passes"


def _describe_effect_of_missing_verdicts(report: LevelReport) -> str:
    """Say what the missing verdicts could do to the agreement."""
    coverage = report.coverage
    if not coverage.no_verdict:
        return "annotators have reviewed none of them."
    whole = coverage.compared + coverage.no_verdict
    return (
        f"the {coverage.no_verdict} reviewed ones are left out of all figures; counted as "
        f"disagreement, percent agreement would be {coverage.agreed / whole:.3f}."
    )
