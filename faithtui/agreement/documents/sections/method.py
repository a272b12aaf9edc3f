"""The end of a report: how far labelling is, the corrected rate, and how all of it was computed."""

from collections.abc import Iterator, Sequence
from datetime import UTC

from faithtui.agreement.documents.blocks import (
    Block,
    Code,
    Heading,
    ItemList,
    Paragraph,
    PlotWithTable,
    Table,
    Text,
)
from faithtui.agreement.documents.figure_texts import (
    EMPTY_CELL,
    decimal_text,
    join_alternatives,
    level_unit_plural,
    percent_estimate_text,
)
from faithtui.agreement.documents.header import ReportHeader, list_option_texts
from faithtui.agreement.documents.plots.report_plots import interval_progress_plot, pass_rate_plot
from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.labelled_units import RANDOM_DESIGNS
from faithtui.agreement.report.headline import format_number_with_noun
from faithtui.agreement.report.model import (
    AgreementReport,
    ConfidenceSequences,
    LevelReport,
    RateEstimator,
)
from faithtui.agreement.report.settings import IntervalMethod, ReportLevel

_TARGET_NAMES = {"cohen_kappa": "Cohen's kappa", "percent": "percent agreement"}

_OF_FEW_DRAWN_GROUPS = (
    ", but two give one to judge against human labels (the next alone) and to the corrected share "
    "where units were drawn from groups that are worth five of equal size, (Σ units)² / Σ units² "
    "≥ 5."
)


def make_interval_progress_section_blocks(report: AgreementReport) -> Iterator[Block]:
    """Show how the watched figure narrowed, and how many labels are still needed."""
    found = report.progress
    name = _TARGET_NAMES[found.target]
    yield Heading("Progress and labels still needed")
    if not found.history:
        yield Paragraph(f"No {report.claims.unit[0]} is compared yet.")
        return
    wanted = f"± {found.target_half_width:g}"
    if found.half_width is None:
        yield Paragraph(
            f"{name} has no interval yet, so the number of missing labels is unknown; {wanted} "
            "is wanted."
        )
    else:
        needed = _describe_labels_needed(found.labels_still_needed, report.claims)
        enough = (
            "Labelling may stop."
            if found.stop
            else needed
            if found.half_width > found.target_half_width
            else "The interval is narrow enough, but rests on fewer than 20 groups or fewer than "
            "10 unfaithful units: go on."
        )
        yield Paragraph(
            f"The interval of {name} is ± {found.half_width:.3f} wide; {wanted} is wanted. {enough}"
        )
    yield Paragraph(
        "Stopping when the interval is narrow is harmless. Stopping as soon as a figure looks good "
        "is not."
    )
    if found.sequences is not None:
        yield Paragraph(_describe_confidence_sequences(found.sequences, report.confidence_level))
    table = Table(
        f"{name} after so many labels, in the order in which they were given",
        ("labels", "value", "interval"),
        tuple(
            (
                f"{each.labels:,}",
                decimal_text(each.value),
                EMPTY_CELL
                if each.ci_low is None
                else f"[{decimal_text(each.ci_low)}, {decimal_text(each.ci_high)}]",
            )
            for each in found.history
        ),
    )
    drawn = interval_progress_plot("progress", found, name)
    yield table if drawn is None else PlotWithTable(drawn, table, folded=True)


def _describe_labels_needed(needed: int | None, level: LevelReport) -> str:
    """Say how many labels the wanted interval takes, and when the run has too few units for it."""
    left, units = level.coverage.unreviewed, level.unit[1]
    if needed is None:
        return "The number of missing labels is unknown."
    if needed < left:
        return (
            f"About {format_number_with_noun(needed, 'more label is', 'more labels are')} needed."
        )
    others = "judge other conversations"
    if level.design.population is not None:
        others = "draw more of the population with `faithtui sample`"
    if not left:
        return f"All {units} are labelled; for a narrower interval, {others}."
    return (
        f"That may take more labels than the {left:,} {units} without one: label these, then "
        f"{others}."
    )


def make_pass_rate_section_blocks(
    report: AgreementReport, levels: Sequence[LevelReport]
) -> Iterator[Block]:
    """Show the share that passes: by the judge, by human labels, and corrected by both."""
    for level in levels:
        found, many = level.rate, level_unit_plural(level)
        if not found.judge_raw.n and not found.label_mean.n:
            continue
        passing = "yes" if level.level is ReportLevel.ANSWERS else join_alternatives(report.passing)
        yield Heading(f"Share that passes: {many}")
        yield Paragraph(
            f"Passing is {passing}. {_ESTIMATORS[found.estimator]}"
            + (f" It assumes that {'; '.join(found.assumptions)}." if found.assumptions else "")
        )
        table = Table(
            f"Share of {many} that pass",
            ("", "value", "n", "groups"),
            tuple(
                (name, percent_estimate_text(each), f"{each.n:,}", f"{each.clusters:,}")
                for name, each in (
                    ("passing, by the judge", found.judge_raw),
                    ("passing, by human labels, among the labelled ones only", found.label_mean),
                    (
                        "corrected: if annotators had labelled all of "
                        f"{level.design.run_or_population_words}",
                        found.corrected_this_run,
                    ),
                    ("corrected: expected of future conversations", found.corrected_future),
                )
            ),
        )
        drawn = pass_rate_plot(f"rate-{level.level.value}", found, many)
        yield table if drawn is None else PlotWithTable(drawn, table)
        if found.bounds is not None:
            low, high = found.bounds
            yield Paragraph(
                "Whatever label the rest would get, the share of "
                f"{level.design.run_or_population_words} lies "
                f"between {low:.1%} and {high:.1%}."
            )


_ESTIMATORS = {
    RateEstimator.NONE: (
        "Nothing is labelled that was drawn at random, so there is nothing to correct the judge "
        "with."
    ),
    RateEstimator.POST_STRATIFIED: (
        "Corrected: the share by human labels within each judge's verdict, weighted by how often "
        "the judge gives that verdict in the whole run."
    ),
    RateEstimator.STRATIFIED: (
        "Corrected: the share by human labels in each stratum, weighted by the size of the stratum."
    ),
    RateEstimator.BOUNDS: (
        "The labelled ones are no random sample, so there is no corrected share, only its bounds."
    ),
}


def _describe_confidence_sequences(found: ConfidenceSequences, level: float) -> str:
    rate, recall = (f"{low:.1%} to {high:.1%}" for low, high in (found.rate, found.recall))
    positive = " or ".join(found.positive)
    words = (
        f"However often one looked since the first label ({level:.0%}, this run): the share that "
        f"passes is {rate}, and the recall of {positive} is {recall}. This rests on "
        f"{format_number_with_noun(found.labels, 'label', 'labels')} in the drawn order."
    )
    if found.later:
        words += (
            f" {format_number_with_noun(found.later, 'label', 'labels')} after the first claim "
            "without an "
            "answer cannot count."
        )
    return words


def make_method_section_blocks(report: AgreementReport, header: ReportHeader) -> Iterator[Block]:
    """Say how everything was computed."""
    yield Heading("Method")
    yield ItemList(tuple(_list_method_sentences(report, header)))


def _list_method_sentences(report: AgreementReport, header: ReportHeader) -> Iterator[Text]:
    settings = report.settings
    bar = (
        "no threshold is set"
        if report.threshold is None
        else f"its score reaches {report.threshold:g}"
    )
    yield f"A claim is counted once, with {_DUPLICATES[settings.duplicates]}."
    yield (
        "Not counted in agreement: claims without a label, skipped claims, labels given in "
        "bulk, and labels given on a shown verdict that has changed since."
    )
    if settings.blind_only:
        yield "Only verdicts given before the judge's was shown count."
    yield _IDK[settings.idk]
    yield (
        "Several annotators: an adjudicated label wins, else the majority. A unit on which they "
        "are evenly split is in no table; of claims half of it passes in the corrected share."
    )
    yield (
        f"An answer passes by human label when it is {join_alternatives(report.passing)}, "
        "and by the "
        f"judge when {bar}."
    )
    if settings.interval is IntervalMethod.BOOTSTRAP:
        yield (
            f"Intervals ({report.confidence_level:.0%}): whole groups drawn with replacement "
            f"{settings.resamples:,} times, seed {settings.seed}; percentiles, widened to what "
            "few labels leave open (below). Figures of inter-annotator agreement, of scores and of "
            "rates leave out one group at a time (jackknife)."
        )
    else:
        yield (
            f"Intervals ({report.confidence_level:.0%}): whole conversations, or the groups "
            "they belong to, "
            "are left out one at a time (jackknife, Student t), on the logit scale for shares and "
            "the atanh scale for the others; judge against human labels has the wider of this and "
            "the next. A coefficient without variation is withheld. Below five groups: none"
            + (_OF_FEW_DRAWN_GROUPS if report.claims.design.kind in RANDOM_DESIGNS else ".")
        )
    yield (
        "What few labels leave open: 1,000 confusion matrices that may be true, drawn with random "
        "weights of whole groups and one label more for each verdict of the judge (Bayesian "
        "bootstrap, Jeffreys prior); percentiles."
    )
    yield (
        "Corrected share of this run: a normal interval over the strata with finite population "
        "correction, or draws of what is not labelled where these reach further; of whole "
        "conversations, leaving out one at a time. Of future conversations: the widest of that, of "
        "leaving out one group at a time, and of such draws. Where annotators differ, both ends "
        "move outwards by how often they err."
    )
    yield (
        "Labels are nominal."
        if not settings.ordinal
        else "Labels are a scale in their order; weighted kappa and AC2 use quadratic weights, so "
        "a difference of two steps counts four times one of a single step."
    )
    yield (
        "n is the denominator of a share and all compared units elsewhere; groups are those with "
        "such a unit."
    )
    yield "AC1 and chance agreement use all labels of the metric, used or not."
    yield (
        "Undefined: the formula has no value (0/0). Withheld: there are numbers, and they do not "
        "allow this one. Neither is ever written as 0."
    )
    options = ", ".join(list_option_texts(header.options)) or "none"
    yield f"Options: {options}."
    yield "Prompts ", Code(header.prompt_digest), ". Labels ", Code(header.input_digest), "."
    made = header.generated_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    yield f"faithtui {header.tool_version}, {made}."


_DUPLICATES = {
    "first_window": "the judge's label in the first window that holds it",
    "majority": "the label most of its windows have; a tie goes to the most severe",
    "worst": "the most severe label of its windows",
    "latest": "the judge's label in the last window that holds it",
}

_IDK = {
    IdkRule.THREE: "Every label of the metric is a class of its own, idk included (--idk three).",
    IdkRule.PASS: (
        "Labels are faithful or unfaithful; unfaithful is only what contradicts, and idk counts "
        "as faithful (--idk pass)."
    ),
    IdkRule.FAIL: (
        "Labels are faithful or unfaithful; faithful is only what is supported, and idk counts as "
        "unfaithful (--idk fail)."
    ),
    IdkRule.EXCLUDE: (
        "Labels are faithful or unfaithful; claims that judge or annotators call idk are left out "
        "(--idk exclude)."
    ),
    IdkRule.LIVE: "Labels are faithful or unfaithful as in the run's score (--idk live).",
}
