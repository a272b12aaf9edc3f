"""Values as short text. Pure; every function says what it gives when there is no value."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from faithtui.domain.estimates import Estimate, EstimateStatus
from faithtui.domain.integrity.run_summary import IntegritySummary, Soundness
from faithtui.domain.judging.judge_names import describe_judge_label
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, LabelSet, Polarity
from faithtui.domain.scores import Score, ScoreState
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.tui.theme.lines import Piece

NONE = "—"
"""No value and nothing to say about it."""

HIDDEN_CELL = "▒"
"""Stands where the judge's verdict is hidden."""

HIDDEN = HIDDEN_CELL * 4

_BAR_CELLS = {Polarity.GOOD: "█", Polarity.BAD: "▓", Polarity.UNSURE: "▒"}
LOOK_OF = {Polarity.GOOD: "good", Polarity.BAD: "bad", Polarity.UNSURE: "unsure"}

_STATES = {
    ScoreState.UNDEFINED: "undefined",
    ScoreState.INCOMPLETE: "incomplete",
    ScoreState.FAILED: "failed",
    ScoreState.SKIPPED: "skipped",
}
_REASONS = {
    WithheldReason.NO_ITEMS: "nothing to count",
    WithheldReason.NO_OVERLAP: "no unit has two labels",
    WithheldReason.NO_VARIATION: "no variation",
    WithheldReason.ONE_CLASS_ONLY: "one class only",
    WithheldReason.NO_PREDICTED_POSITIVES: "the judge flags nothing",
    WithheldReason.NO_REFERENCE_POSITIVES: "annotators flag nothing",
    WithheldReason.UNINFORMATIVE_JUDGE: "the judge is uninformative",
    WithheldReason.RATE_OUT_OF_RANGE: "the judge errs otherwise",
    WithheldReason.DESIGN_NOT_RANDOM: "labelled ones are no random sample",
    WithheldReason.NOT_FULLY_LABELLED: "no whole conversations were drawn",
    WithheldReason.TOO_FEW_CLUSTERS: "too few groups",
}


_NARROW = 0.03
"""Width of an interval below which its limits get a third digit."""


def format_number(value: float | None, digits: int = 2) -> str:
    """Write a score; NONE without one."""
    return NONE if value is None else f"{value:.{digits}f}"


def format_count(value: int) -> str:
    """Write a count as the command line and the reports do: 12,345."""
    return f"{value:,}"


def format_share(part: int, whole: int) -> str:
    """Write a share in whole percent, rounded, never 0% of something nor 100% of less than all."""
    if not whole:
        return NONE
    if 0 < part * 100 < whole:
        return "<1%"
    rounded = (200 * part + whole) // (2 * whole)
    return f"{min(rounded, 99) if part < whole else rounded}%"


def format_compact_count(value: int) -> str:
    """Write a large count in at most five characters: 610k, 2.1M."""
    if value < 10_000:
        return format_count(value)
    if value < 1_000_000:
        return f"{value / 1000:.0f}k"
    return f"{value / 1_000_000:.1f}M"


def format_score(value: Score | None) -> str:
    """Write a score, or the state that stands in its place; NONE before there is either."""
    if value is None:
        return NONE
    return format_number(value.value) if value.value is not None else _STATES[value.state]


def get_soundness_mark(found: IntegritySummary) -> str:
    """Give what stands before a score: `!` suspect, `?` not checked, else nothing."""
    return {Soundness.SUSPECT: "!", Soundness.UNCHECKED: "?"}.get(found.soundness, "")


def get_soundness_look(found: IntegritySummary) -> str:
    """Give the look of what the checks say."""
    return {Soundness.SUSPECT: "bad", Soundness.UNCHECKED: "warn"}.get(found.soundness, "quiet")


def format_score_change(judge: Score | None, with_overrides: Score | None) -> str:
    """Write the judge's score, and the one with overrides where it differs: `0.90→0.80`."""
    before, after = format_score(judge), format_score(with_overrides)
    return before if before == after else f"{before}→{after}"


def describe_missing_reason(value: WithheldReason) -> str:
    """Say in words why there is no number."""
    return _REASONS[value]


def format_estimate(value: Estimate, why: str | None = None) -> str:
    """Write a statistic with its interval: `0.673 [0.55, 0.79]`.

    Without an interval the reason follows in words; without a value the reason stands alone. Limits
    have two digits where that tells them from the value and from each other.

    Args:
        value: The statistic.
        why: What to say instead of its reason.
    """
    if why is None:
        why = describe_missing_reason(value.reason) if value.reason is not None else ""
    if value.value is None:
        kind = "undefined" if value.status is EstimateStatus.UNDEFINED else "withheld"
        return f"{kind}: {why}"
    text = f"{value.value:.3f}"
    if value.ci_low is None or value.ci_high is None:
        return f"{text} ({why})" if why else text
    digits = 2 if value.ci_high - value.ci_low >= _NARROW else 3
    return f"{text} [{value.ci_low:.{digits}f}, {value.ci_high:.{digits}f}]"


def format_p_value(value: float | None) -> str:
    """Write the probability of a test; NONE without one."""
    if value is None:
        return NONE
    return "below 0.001" if value < 0.001 else f"{value:.3f}"


def get_label_letter(label: str | None, labels: LabelSet) -> str:
    """Give the letter of a label for lists: X for `x`, ! where the judge gave none."""
    if label is None:
        return "!"
    if label == NOT_A_CLAIM:
        return "X"
    if label in labels.names:
        return labels.get_label(label).letter
    return make_visible_line(label)[:1].upper() or "?"


def get_label_look(label: str | None, labels: LabelSet) -> str:
    """Give the look of a label, or of a word of another vocabulary that stands for one."""
    own = None if label is None or label == NOT_A_CLAIM else labels.find_label_name_for_word(label)
    return "warn" if own is None else LOOK_OF[labels.get_label(own).polarity]


def describe_label(label: str | None, labels: LabelSet, judge: str | None = None) -> str:
    """Say what a label means: `YES supported`; a word of another vocabulary is given as it is.

    Args:
        label: Name of the label; None: there is no verdict.
        labels: The metric's vocabulary.
        judge: Reference of the judge whose word it is; None: a person's.
    """
    if label is None:
        return "no verdict"
    if label == NOT_A_CLAIM:
        return "X not fair"
    name = make_visible_line(label, 24)
    if label not in labels.names:
        return name
    meaning = (
        labels.get_label(label).meaning
        if judge is None
        else describe_judge_label(judge, label, labels)
    )
    return f"{name.upper()} {meaning}"


def format_confidence(value: float | None, labels: LabelSet, judge: str) -> str:
    """Say how likely the good label is by a judge, or "" where it did not say.

    ` · P(supported) 0.72`; of the embedded judge, which ranks well and is off by its level, with
    one digit.
    """
    if value is None:
        return ""
    good = next(each.meaning for each in labels.labels if each.polarity is Polarity.GOOD)
    return f" · P({good}) {value:.{1 if judge == 'offline' else 2}f}"


def format_progress_bar(done: int, total: int, width: int) -> str:
    """Draw a bar of `width` cells, full only when everything is done."""
    if width < 1:
        return ""
    filled = 0 if total < 1 else min(width, width * done // total)
    return "█" * filled + "░" * (width - filled)


def get_label_bar_character(label: str, labels: LabelSet) -> str:
    """Give what a label is drawn with in a bar."""
    return _BAR_CELLS[labels.get_label(label).polarity]


def format_label_bar(counts: Mapping[str, int], labels: LabelSet, width: int) -> list[Piece]:
    """Draw how often each label was given as stretches of a bar of exactly `width` cells.

    A label that was given has a cell of its own, however rare: the longest gives way. Letters tell
    labels apart where colours do not: `█` good, `▓` bad, `▒` unsure.
    """
    given = [(name, counts.get(name, 0)) for name in labels.names if counts.get(name, 0)]
    total = sum(count for _, count in given)
    if not total or width < len(given):
        return [Piece(" " * max(0, width))]
    cells = {name: max(1, width * count // total) for name, count in given}
    longest = max(given, key=lambda each: each[1])[0]
    cells[longest] += width - sum(cells.values())
    return [
        Piece(_BAR_CELLS[labels.get_label(name).polarity] * size, get_label_look(name, labels))
        for name, size in cells.items()
    ]


def format_duration(seconds: float | None) -> str:
    """Write a time span: 04:12, 1:04:12; NONE when it is not known."""
    if seconds is None:
        return NONE
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes:02}:{left:02}"


def format_time(moment: datetime) -> str:
    """Write a time of day in the zone of the machine."""
    return f"{moment.astimezone():%H:%M:%S}"


def format_datetime(moment: datetime) -> str:
    """Write a date and time in the zone of the machine."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def format_path(file: Path) -> str:
    """Write a path, with ~ for the user's directory."""
    try:
        return f"~/{file.relative_to(Path.home())}"
    except (ValueError, RuntimeError):
        return str(file)


def format_window_ranges(positions: tuple[int, ...]) -> str:
    """Name windows, joined where they follow each other: `w1-5`, `w3 w5`, `w1-2 w4`."""
    parts: list[str] = []
    start = previous = None
    for position in (*sorted(positions), None):
        if previous is not None and position == previous + 1:
            previous = position
            continue
        if start is not None and previous is not None:
            parts.append(f"w{start + 1}" if start == previous else f"w{start + 1}-{previous + 1}")
        start = previous = position
    return " ".join(parts)


def format_count_with_noun(count: int, one: str, many: str | None = None) -> str:
    """Count things in words: `1 run`, `2 runs`."""
    return f"{format_count(count)} {one if count == 1 else many or one + 's'}"


def format_money(nusd: int) -> str:
    """Write an amount of money: $12.40, $0.0312; given in units of 1e-9 US dollars, 0 or more."""
    if nusd == 0:
        return "$0"
    dollars = nusd / 1_000_000_000
    if dollars < 0.0001:
        return "below $0.0001"
    if dollars < 1:
        return f"${dollars:.4f}"
    return f"${dollars:,.2f}"


def format_latency(milliseconds: int | None) -> str:
    """Write how long an answer took: 340 ms, 2.4 s, 75 s; NONE when it is not known."""
    if milliseconds is None:
        return NONE
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    return f"{milliseconds / 1000:.{1 if milliseconds < 60_000 else 0}f} s"
