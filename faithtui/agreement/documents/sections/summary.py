"""The top of a report: the answer, the warnings, and what was reviewed by whom."""

from collections.abc import Iterator

from faithtui.agreement.documents.blocks import (
    Block,
    Heading,
    Notice,
    Notices,
    Paragraph,
    PlotWithTable,
    Table,
)
from faithtui.agreement.documents.figure_texts import (
    EMPTY_CELL,
    decimal_text,
    estimate_text,
    label_dates_and_guidelines_text,
    level_unit_plural,
    percent_estimate_text,
    share_text,
)
from faithtui.agreement.documents.header import ReportHeader
from faithtui.agreement.documents.plots.report_plots import review_coverage_plot
from faithtui.agreement.labelled_units import DesignKind
from faithtui.agreement.report.headline import (
    describe_judge_as_annotator,
    format_number_with_noun,
)
from faithtui.agreement.report.model import AgreementReport, Coverage, LevelReport


def make_opening_blocks(report: AgreementReport, header: ReportHeader) -> Iterator[Block]:
    """Name the report, give the answer, and say what to know before it is used."""
    sources = ", ".join(header.sources) or "all sources"
    yield Heading(f"Agreement of run {header.run}", 1)
    asked = f" ({header.judge_parameters})" if header.judge_parameters else ""
    yield Paragraph(f"Judge {header.judge}{asked}, metric {header.metric}, over {sources}.")
    as_annotator = describe_judge_as_annotator(report, report.primary_level_report.level)
    yield Paragraph(f"{report.headline} {as_annotator}".rstrip(), lead=True)
    if report.warnings:
        titles = {each.level: level_unit_plural(each).capitalize() for each in report.level_reports}
        yield Heading("Before you use the figures")
        yield Notices(
            tuple(
                Notice(
                    each.severity,
                    each.code,
                    f"{titles[each.level]}: {each.message}" if each.level else each.message,
                )
                for each in report.warnings
            )
        )


def make_sampled_population_blocks(report: AgreementReport) -> Iterator[Block]:
    """Say what a sample stands for, where only drawn claims are in the store."""
    found = report.population
    if found is None:
        return
    many = report.claims.unit[1]
    yield Heading("The population")
    yield Paragraph(
        f"The figures are about {found.claims:,} {many} of {found.judged:,} conversations in "
        f"{found.results}; only drawn ones are in the store."
    )
    means = [
        f"{name.replace('_', ' ')} {decimal_text(mean)}"
        for name, mean in found.mean_scores.items()
        if mean is not None
    ]
    if means:
        yield Paragraph(f"The judge's scores of all of them have the means {', '.join(means)}.")
    yield Table(
        "What became of every conversation",
        ("", "conversations", "share"),
        tuple(
            (state, f"{count:,}", share_text(count, found.conversations))
            for state, count in found.states.items()
        ),
    )
    if found.slices:
        left_out = (
            f"; {format_number_with_noun(found.few, 'part has', 'parts have')} too few labels"
        )
        yield Table(
            f"Share of {many} that pass, by part of the population{left_out if found.few else ''}",
            ("by", "part", many, "labelled", "passing, by the judge", "corrected"),
            tuple(
                (
                    each.key,
                    each.value,
                    f"{each.claims:,}",
                    f"{each.corrected.n:,}",
                    EMPTY_CELL if each.judge is None else f"{each.judge:.1%}",
                    percent_estimate_text(each.corrected),
                )
                for each in found.slices
            ),
        )


def make_review_coverage_blocks(report: AgreementReport, header: ReportHeader) -> Iterator[Block]:
    """Say what was labelled, how it was chosen, and by whom."""
    # A metric that judges whole answers has nothing at the answer level: it is the first one.
    levels = [each for each in report.level_reports if each is report.claims or each.coverage.units]
    yield Heading("What was reviewed")
    table = Table(
        "What became of every unit",
        ("", *map(level_unit_plural, levels)),
        tuple(
            (
                "drawn of the population" if field == "units" and report.population else name,
                *(f"{getattr(level.coverage, field):,}" for level in levels),
            )
            for name, field in _COUNTS
            if field in _ALWAYS_LISTED or any(getattr(level.coverage, field) for level in levels)
        ),
    )
    drawn = review_coverage_plot(
        "coverage",
        report.primary_level_report.coverage,
        level_unit_plural(report.primary_level_report),
    )
    yield table if drawn is None else PlotWithTable(drawn, table)
    yield Paragraph(
        f"{format_number_with_noun(header.windows, 'window', 'windows')} in the run, "
        f"{header.unscored_windows:,} of them without a score, which no mean counts; there was "
        f"nothing to judge in {header.vacuous_windows:,}."
    )
    consistency = report.consistency
    if consistency.repeated:
        yield Paragraph(
            f"The judge gave the same label in every window to {consistency.steady:,} of "
            f"{consistency.repeated:,} {report.claims.unit[1]} that stand in several: "
            f"{estimate_text(consistency.share)}. Where its labels differ, annotators can "
            "agree with one of them at most."
        )
    for level in levels:
        if level.coverage.units:
            yield _make_coverage_by_verdict_table(level)
    for level in levels:
        yield from _make_sampling_design_blocks(level)
        if level.level in header.provenance:
            facts = label_dates_and_guidelines_text(header.provenance[level.level])
            yield Paragraph(f"{level_unit_plural(level).capitalize()}: {facts}")
    yield from _make_annotator_table_blocks(report)


_COUNTS = (
    ("in the run", "units"),
    ("labelled by annotators", "reviewed"),
    ("labelled by two or more", "labelled_by_two_or_more"),
    ("not labelled", "unreviewed"),
    ("of these, skipped", "skipped"),
    (
        "of these, given in bulk or accepted from the judge: not counted in agreement",
        "bulk_accepted",
    ),
    ("of these, given on a judge's verdict that has changed: not counted in agreement", "stale"),
    ("left out: x, not a fair claim", "not_a_claim"),
    ("left out: as many annotators for as against", "tied"),
    ("left out: called idk", "idk_excluded"),
    ("left out: word not in the label set", "other_words"),
    ("left out: no verdict of the judge", "no_verdict"),
    ("left out: answer without claims", "vacuous"),
    ("left out: answer without score", "unscored"),
    ("compared", "compared"),
    ("of these, same label", "agreed"),
    ("of these, other label", "overridden"),
    ("of these, labelled blind", "blind"),
    ("of these, labelled with the judge's verdict shown", "shown"),
    ("of these, not of the sample: in no figure", "outside"),
    ("of these, served with the judge's verdict in view: in no figure but of its pull", "audit"),
    ("of these, what the figures count", "in_figures"),
    ("conversations or other groups compared", "compared_groups"),
)
_ALWAYS_LISTED = ("units", "reviewed", "unreviewed", "compared", "agreed", "overridden")
"""Counts that are shown when they are 0, too."""


def _make_coverage_by_verdict_table(level: LevelReport) -> Table:
    rows = tuple(
        (
            each.judge or "no verdict",
            f"{each.units:,}",
            f"{each.reviewed:,}",
            share_text(each.reviewed, each.units),
            f"{each.skipped:,}",
        )
        for each in level.coverage.by_verdict
    )
    heads = ("judge", level.unit[1], "labelled", "labelled, share", "skipped")
    return Table(f"Labels by what the judge says: {level_unit_plural(level)}", heads, rows)


def _make_sampling_design_blocks(level: LevelReport) -> Iterator[Block]:
    if not level.coverage.units:
        return
    yield Paragraph(f"{level_unit_plural(level).capitalize()}: {describe_sampling_design(level)}")
    strata = level.design.strata
    if not strata:
        return
    weights = dict(level.weights)
    yield Table(
        f"The sample by strata: {level_unit_plural(level)}",
        (
            "stratum",
            f"in {level.design.run_or_population_words}",
            "drawn",
            "labelled",
            "skipped",
            "each compared one stands for",
        ),
        tuple(
            (
                each.name or "all",
                f"{each.population:,}",
                f"{each.drawn:,}",
                f"{each.labelled:,}",
                f"{each.skipped:,}",
                decimal_text(weights[each.name]) if each.name in weights else EMPTY_CELL,
            )
            for each in strata
        ),
    )


def describe_sampling_design(level: LevelReport) -> str:
    """Say how the labelled units were chosen, and what that allows."""
    design, many = level.design, level.unit[1]
    frame = f"{design.frame_units:,} {many}"
    name = f" «{design.name}»" if design.name else ""
    seed = "" if design.seed is None else f", seed {design.seed}"
    order = (
        ", labelled in the drawn order"
        if design.random_prefix
        else ", not labelled in the drawn order"
    )
    match design.kind:
        case DesignKind.NONE:
            return "nothing is labelled."
        case DesignKind.CENSUS:
            return f"all {frame} are labelled, so nothing is estimated about this run."
        case DesignKind.SIMPLE:
            return f"a random sample{name} of {frame}{seed}{order}; every unit weighs the same."
        case DesignKind.STRATIFIED:
            return (
                f"a random sample{name} of {frame} by strata{seed}{order}; figures of the table "
                "weight each unit by one over its probability of being labelled."
            )
        case DesignKind.CLUSTER:
            return (
                f"{design.drawn_conversations:,} of {design.conversations:,} conversations drawn "
                f"whole at random{name}{seed}{order}."
            )
        case DesignKind.OVERRIDE_ONLY:
            return (
                f"only {many} on which annotators differ from the judge are "
                "labelled: these give neither agreement nor a rate."
            )
        case _:
            return (
                f"{_format_labelled_count(level.coverage)} of {frame}, and nothing says they "
                "were drawn at "
                "random: figures are about the labelled ones only, and no corrected rate is given."
            )


def _format_labelled_count(coverage: Coverage) -> str:
    return f"{coverage.reviewed:,} labelled"


def _make_annotator_table_blocks(report: AgreementReport) -> Iterator[Block]:
    if not report.raters:
        return
    yield Table(
        "Who labelled",
        (
            "annotator",
            "labels of compared units",
            "blind",
            "overrides",
            "of labels in the figures",
            "override rate",
            "median time",
        ),
        tuple(
            (
                each.reviewer,
                f"{each.labels:,}",
                f"{each.blind:,}",
                f"{each.overrides:,}",
                f"{each.agreement.n:,}",
                share_text(each.overrides, each.agreement.n),
                EMPTY_CELL if each.median_seconds is None else f"{each.median_seconds:.1f} s",
            )
            for each in report.raters
        ),
    )
