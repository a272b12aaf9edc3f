"""Lines of what looks wrong in a run: kinds with counts, what a kind means, and its entries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithtui.domain.durations import format_time_left
from faithtui.domain.integrity.explanations import EXPLANATIONS
from faithtui.domain.integrity.findings import FindingKind
from faithtui.store.records import FindingCount, FindingRow, FindingSummary
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    Line,
    Piece,
    align_to_edges,
    escape_line,
    make_line,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.engine.integrity.run_checks import CheckSnapshot

SUSPICIOUS_WORDS = (
    "Claims with findings first, the surest errors before the others, then those on which the "
    "judge itself is least confident.",
    "Not a random sample: labels given here say nothing certain about the rest of the run. For "
    "figures you can defend, draw a sample ({go.queues}).",
)
BLIND_WORDS = (
    "Findings reveal judge's verdicts. You are working blind: once you have "
    "seen them, your labels are not blind any more.",
    "{list.open} asks, and shows them.",
)


@dataclass(frozen=True, slots=True)
class KindRow:
    """A row of the list of kinds."""

    kind: FindingKind | None
    """None: all claims, the suspicious ones first."""
    count: FindingCount | None


def list_kind_rows(summary: FindingSummary) -> tuple[KindRow, ...]:
    """List what can be chosen: the order by suspicion, then the kinds that were found."""
    if not summary.counts:
        return ()
    return (
        KindRow(None, None),
        *(KindRow(kind, count) for kind, count in summary.counts.items()),
    )


def format_finding_kind_lines(
    summary: FindingSummary, checks: "CheckSnapshot | None", width: int, keys: KeyNames
) -> list[Line]:
    """List the kinds that were found with how many entries each has."""
    lines = format_check_progress_lines(summary, checks, width, keys)
    rows = list_kind_rows(summary)
    if not rows:
        return lines
    head = [Piece(" what looks wrong", "quiet")]
    lines += [BLANK, align_to_edges(head, [Piece("claims  entries ", "quiet")], width)]
    for number, row in enumerate(rows):
        if row.kind is None or row.count is None:
            words = [Piece(" suspicious first", "strong"), Piece(", not a random sample", "warn")]
            lines.append(Line(align_to_edges(words, [], width).pieces, number))
            continue
        claims = fmt.format_compact_count(row.count.claims) if row.count.claims else ""
        counts = f"{claims:>6}  {fmt.format_compact_count(row.count.entries):>7} "
        left = [Piece(f" {EXPLANATIONS[row.kind].title}")]
        lines.append(Line(align_to_edges(left, [Piece(counts, "strong")], width).pieces, number))
    return lines


def format_check_progress_lines(
    summary: FindingSummary, checks: "CheckSnapshot | None", width: int, keys: KeyNames
) -> list[Line]:
    """Say how much of the run is checked."""
    if checks is not None and not checks.finished:
        done = fmt.format_progress_bar(checks.done, checks.total, max(0, min(20, width - 44)))
        words = f" checking {fmt.format_count(checks.done)}/{fmt.format_count(checks.total)} "
        eta = "" if checks.eta_s is None else f" {format_time_left(checks.eta_s)}"
        return [make_line(Piece(words, "human"), Piece(done, "human"), Piece(eta, "quiet"))]
    pad = [Piece(" ")]
    lines = []
    if checks is not None and checks.error is not None:
        lines += wrap([escape_line(f"stopped: {checks.error}", "bad")], width - 1, first=pad)
    conversations = fmt.format_count_with_noun(summary.checked, "conversation")
    if summary.waiting:
        waiting = fmt.format_count_with_noun(summary.waiting, "conversation")
        words = f"{waiting} not checked yet; {keys('integrity.check')} checks them."
        lines += wrap([Piece(words, "warn")], width - 1, first=pad)
    if not summary.counts and summary.checked and not summary.waiting:
        words = f"Nothing looks wrong in {conversations}."
        lines += wrap([Piece(words, "good strong")], width - 1, first=pad)
        words = "The checks compare words and count: what they cannot see may still be wrong."
        lines += wrap([Piece(words, "quiet")], width - 1, first=pad)
    elif not summary.checked and not summary.waiting:
        words = "Nothing is judged yet in this run."
        lines += wrap([Piece(words, "strong")], width - 1, first=pad)
    elif summary.checked:
        lines += wrap([Piece(f"{conversations} checked", "quiet")], width - 1, first=pad)
    return lines


def format_kind_explanation_lines(
    choice: KindRow | None, rows: Sequence[FindingRow], width: int, keys: KeyNames
) -> list[Line]:
    """Explain a kind in plain words, and show its first entries."""
    pad = [Piece(" ")]
    if choice is None:
        words = "Checks are lexical or arithmetic: a finding is a place to look at, not a verdict."
        return wrap([Piece(words, "quiet")], width - 1, first=pad)
    if choice.kind is None or choice.count is None:
        first, second = SUSPICIOUS_WORDS
        return [
            *wrap([Piece(first)], width - 1, first=pad),
            BLANK,
            *wrap(keys.fill_in_keys_as_pieces(second, "warn"), width - 1, first=pad),
        ]
    explanation = EXPLANATIONS[choice.kind]
    lines = [
        *wrap([Piece(explanation.meaning)], width - 1, first=pad),
        BLANK,
        *wrap([Piece("what to do  ", "key"), Piece(explanation.to_do)], width - 1, first=pad),
        BLANK,
    ]
    where = fmt.format_count_with_noun(choice.count.conversations, "conversation")
    opens = "the claims" if choice.count.claims else "an entry"
    lines += wrap(
        keys.fill_in_keys_as_pieces(
            f"in {where} · {{list.open}} reviews {opens} · {{integrity.entries}} lists entries",
            "quiet",
        ),
        width - 1,
        first=pad,
    )
    if rows:
        lines.append(BLANK)
    for number, row in enumerate(rows):
        lines += format_finding_lines(row, width, number)
    return lines


def format_finding_lines(row: FindingRow, width: int, number: int | None = None) -> list[Line]:
    """Draw one finding: where it is, the claim, and what was seen."""
    found = row.finding
    where = [Piece(" "), escape_line(row.key, "strong", limit=60)]
    if found.turn is not None:
        where.append(Piece(f" · turn {found.turn + 1}", "quiet"))
    if found.window is not None:
        where.append(Piece(f" · w{found.window + 1}", "quiet"))
    lines = wrap(where, width - 1, row=number, most=1)
    pad = [Piece("   ")]
    if row.text is not None:
        text = escape_line(row.text or "the whole answer", limit=400)
        lines += wrap([text], width - 1, first=pad, row=number, most=2)
    lines += wrap(
        [escape_line(found.detail, "warn", limit=400)], width - 1, first=pad, row=number, most=3
    )
    return lines


def blind_finding_lines(width: int, keys: KeyNames) -> list[Line]:
    """Say why nothing is shown."""
    first, second = BLIND_WORDS
    pad = [Piece(" ")]
    return [
        BLANK,
        *wrap([Piece(first, "warn")], width - 1, first=pad),
        BLANK,
        *[
            Line(each.pieces, 0)
            for each in wrap(keys.fill_in_keys_as_pieces(second, "strong"), width - 1, first=pad)
        ],
    ]
