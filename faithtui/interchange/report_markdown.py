"""An agreement report as one page of Markdown for people: the answer first.

Text from people, judges and files is escaped, so that it stays text whatever it contains.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC

from faithtui.domain.estimates import Estimate
from faithtui.domain.plain import visible_line
from faithtui.domain.report import (
    AgreementReport,
    Detection,
    LevelReport,
    Severity,
)
from faithtui.interchange.report_header import ReportHeader, option_words

LISTED = 200
"""Disagreements listed per level; the CSV has them all."""

_SPECIAL = re.compile(r"[\\`*_{}\[\]|~$#@]|(?<=[A-Za-z]):(?=//)|(?<=www)\.", re.IGNORECASE)
"""What can start markup, a table cell, a formula or a link inside a line."""

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}

_SIGNS = {Severity.BLOCKING: "✗ blocking", Severity.CAUTION: "! caution", Severity.INFO: "i note"}


def escape(text: str) -> str:
    """Make a text that shows as itself in Markdown, on one line, also inside a table.

    Everything that could start markup, a link or HTML is escaped; line breaks and invisible
    characters become visible ones. The result must not begin a line of the page.
    """
    line = _SPECIAL.sub(r"\\\g<0>", visible_line(text))
    return "".join(_ENTITIES.get(char, char) for char in line)


def report_markdown(report: AgreementReport, header: ReportHeader) -> str:
    """Write a report as Markdown.

    Args:
        report: What to write. Texts of claims are shown.
        header: What it is about.

    Returns:
        Text that ends with a line break: headline, warnings, coverage, per level the matrix, the
        coefficients, detection and disagreements, then scores and method.
    """
    shown = [level for level in report.levels if level.coverage.reviewed]
    shown.sort(key=lambda level: level is not report.primary)
    parts = [
        _title(header),
        [f"**{report.headline}**"],
        _warnings(report),
        _coverage(report),
        *(_level(level) for level in shown),
        _scores(report),
        *(_disagreements(level) for level in shown),
        _method(report, header),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def number(estimate: Estimate) -> str:
    """Write an estimate as `0.67 [0.55, 0.79]`, or say why it or its interval is not there."""
    why = estimate.reason.words if estimate.reason else ""
    if estimate.value is None:
        return f"{estimate.status} ({why})"
    if estimate.ci_low is None or estimate.ci_high is None:
        return f"{estimate.value:.3f} ({why})"
    return f"{estimate.value:.3f} [{estimate.ci_low:.3f}, {estimate.ci_high:.3f}]"


def _title(header: ReportHeader) -> list[str]:
    sources = ", ".join(header.sources) or "all sources"
    return [
        f"# Agreement of run {header.run}",
        "",
        f"Judge {escape(header.judge)}, metric {escape(header.metric)}, over {escape(sources)}.",
    ]


def _heading(level: LevelReport) -> str:
    return level.unit[1].capitalize()


def _warnings(report: AgreementReport) -> list[str]:
    if not report.warnings:
        return []
    titles = {each.level: _heading(each) for each in report.levels}
    lines = ["## Before you use the figures", ""]
    for warning in report.warnings:
        about = f"{titles[warning.level]}: " if warning.level else ""
        sign = _SIGNS[warning.severity]
        lines.append(f"- {sign} (`{warning.code}`): {about}{warning.message}")
    return lines


def _coverage(report: AgreementReport) -> list[str]:
    names = (
        ("in the run", "total"),
        ("labelled by people", "reviewed"),
        ("labelled by two or more", "several_reviewers"),
        ("not labelled", "unreviewed"),
        ("left out: no fair claim", "not_a_claim"),
        ("left out: word not in the label set", "other_words"),
        ("left out: no verdict of the judge", "no_verdict"),
        ("left out: answer without claims", "vacuous"),
        ("left out: answer without score", "unscored"),
        ("compared", "compared"),
        ("conversations or other groups compared", "compared_groups"),
    )
    # A metric that judges whole answers has nothing at the answer level: it is the first one.
    levels = [each for each in report.levels if each is report.claims or each.coverage.total]
    rows = [
        (name, *(str(getattr(level.coverage, field)) for level in levels)) for name, field in names
    ]
    heads = ("", *(level.unit[1] for level in levels))
    lines = ["## What was labelled", "", *_table(heads, rows)]
    consistency = report.consistency
    if consistency.repeated:
        lines += [
            "",
            f"The judge gave the same label in every window to {consistency.steady} of "
            f"{consistency.repeated} {report.claims.unit[1]} that stand in several: "
            f"{number(consistency.share)}.",
        ]
    return lines


def _level(level: LevelReport) -> list[str]:
    return [
        f"## {_heading(level)}",
        "",
        *_matrix(level),
        "",
        *_coefficients(level),
        "",
        *_detection(level),
    ]


def _matrix(level: LevelReport) -> Iterator[str]:
    table = level.table
    rows = [
        (f"people {escape(name)}", *map(str, counts), str(sum(counts)), str(none))
        for name, counts, none in zip(table.categories, table.counts, level.unjudged, strict=True)
    ]
    rows.append(("all", *map(str, table.columns), str(table.n), str(sum(level.unjudged))))
    heads = (f"judge {escape(name)}" for name in table.categories)
    yield "Counts; rows people, columns judge. `none`: no verdict, in no figure below."
    yield ""
    yield from _table(("", *heads, "all", "none"), rows)


def _coefficients(level: LevelReport) -> Iterator[str]:
    rows = [
        (name, number(each), str(each.n), str(each.clusters))
        for name, each in (
            ("percent agreement", level.percent),
            ("Cohen's kappa", level.cohen_kappa),
            ("Krippendorff's alpha", level.krippendorff_alpha),
            ("Gwet's AC1", level.gwet_ac1),
            ("passing, by the judge", level.judge_rate),
            ("passing, by people", level.human_rate),
        )
    ]
    if level.chance is not None:
        rows.insert(1, ("agreement by chance", f"{level.chance:.3f}", str(level.table.n), ""))
    yield from _table(("", "value", "n", "groups"), rows)


def _detection(level: LevelReport) -> Iterator[str]:
    def column(found: Detection) -> list[str]:
        return [
            f"{number(each)}, n {each.n}"
            for each in (
                found.precision,
                found.recall,
                found.f1,
                found.specificity,
                found.npv,
                found.balanced_accuracy,
                found.mcc,
                found.prevalence,
            )
        ] + [f"{found.tp}, {found.fp}, {found.fn}, {found.tn}"]

    names = (
        "precision",
        "recall",
        "F1",
        "specificity",
        "negative predictive value",
        "balanced accuracy",
        "Matthews correlation",
        "prevalence",
        "tp, fp, fn, tn",
    )
    sides = [level.strict] if level.lenient is None else [level.strict, level.lenient]
    heads = [f"unfaithful is {escape(' or '.join(side.positive))}" for side in sides]
    yield "Finding the unfaithful:"
    yield ""
    yield from _table(
        ("", *heads), list(zip(names, *(column(side) for side in sides), strict=True))
    )
    yield ""
    yield "Each label:"
    yield ""
    yield from _table(
        ("label", "people", "judge", "both", "precision", "recall", "F1"),
        [
            (
                escape(each.label),
                str(each.human),
                str(each.judge),
                str(each.both),
                number(each.precision),
                number(each.recall),
                number(each.f1),
            )
            for each in level.classes
        ],
    )


def _scores(report: AgreementReport) -> list[str]:
    scores = report.scores
    if not scores.answers:
        return []
    return [
        "## Scores",
        "",
        f"Of {scores.answers} answers that people labelled or rated, {scores.vacuous} have no "
        f"claims and {scores.unscored} no score.",
        "",
        *_table(
            ("", "value", "n", "groups"),
            [
                (name, number(each), str(each.n), str(each.clusters))
                for name, each in (
                    ("Spearman, judge's score and people's rating", scores.spearman),
                    ("AUROC, answers people pass against those they fail", scores.auroc),
                )
            ],
        ),
    ]


def _disagreements(level: LevelReport) -> list[str]:
    found = level.disagreements
    if not found:
        return []
    lines = [
        f"## Where they differ: {level.level.value}",
        "",
        *_table(
            ("conversation", "turn", "judge", "people", "text"),
            [
                (
                    escape(each.key),
                    str(each.turn + 1),
                    escape(each.judge),
                    escape(each.human),
                    escape(each.text),
                )
                for each in found[:LISTED]
            ],
        ),
    ]
    if len(found) > LISTED:
        lines += ["", f"{len(found) - LISTED} more are not listed here."]
    return lines


def _method(report: AgreementReport, header: ReportHeader) -> list[str]:
    passing = escape(" or ".join(report.passing))
    bar = "no threshold is set" if report.bar is None else f"its score reaches {report.bar:g}"
    options = ", ".join(option_words(header.options)) or "none"
    made = header.generated_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return [
        "## Method",
        "",
        "- A claim is counted once, with the judge's label in the first window that holds it. "
        "A claim nobody labelled is not counted as agreement.",
        "- Several people: an adjudicated verdict wins, else the majority; "
        "a tie goes to the more severe.",
        f"- An answer passes by people when their label is {passing}, and by the judge when {bar}.",
        f"- Intervals ({report.level:.0%}): whole conversations, or the groups they belong to, are "
        "left out one at a time (jackknife, Student t), on the logit scale for shares and the "
        "atanh scale for the others. Without variation: Wilson over groups, or withheld. "
        "Below five groups: none.",
        "- n is the denominator of a share and all compared units elsewhere; "
        "groups are those with such a unit.",
        "- AC1 and chance agreement use all labels of the metric, used or not.",
        f"- Options: {escape(options)}. Prompts {escape(header.prompt_digest)}. "
        f"Readings {escape(header.input_digest)}.",
        f"- faithtui {escape(header.tool_version)}, {made}.",
    ]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(row)} |"
