"""Lines of the conversation list, and of what is known of one conversation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from faithtui.domain.filters import Filter
from faithtui.domain.scores import ScoreSet, ScoreState, format_left_out
from faithtui.store.records import ItemRow, ItemState, RunTotals, TurnView
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.metric_view import count_units
from faithtui.tui.replies.reply_lines import format_cost
from faithtui.tui.review.lines.images import image_lines, image_numbers
from faithtui.tui.review.lines.transcript import explain_not_used
from faithtui.tui.runs.run_lines import integrity_lines
from faithtui.tui.screen.filter_matches import highlight_matches
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    Line,
    Piece,
    escape_line,
    escape_text,
    fit_text,
    make_line,
    truncate_pieces,
    width_of,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

HIDDEN_CHARACTER = "▒"
"""Stands where a blind reviewer must not see the judge."""

_NUMBER, _SCORE, _LABELLED, _MARKS = 6, 8, 9, 4
_SHORT = {
    ScoreState.UNDEFINED: "undef.",
    ScoreState.INCOMPLETE: "incompl.",
}


def item_head(spec: "MetricSpec", width: int) -> Line:
    """Name the columns of the conversation list."""
    names = Piece("conversation and opening", "quiet")
    return _join_columns(
        width, "   no", [names], spec.labels.names, ("score", "labelled", ""), spec, "quiet"
    )


def item_line(
    row: ItemRow, spec: "MetricSpec", width: int, here: bool, *, blind: bool, wanted: Filter
) -> Line:
    """Draw a conversation in the list.

    Args:
        row: The conversation.
        spec: The run's metric.
        width: Cells of the line.
        here: It is the chosen one.
        blind: What the judge said is hidden, and marks that would tell it.
        wanted: Its words are marked.
    """
    number = f"{'>' if here else ' '}{fit_text(str(row.number), _NUMBER - 2, right=True)}"
    look = ""
    if row.state is ItemState.FAILED and not blind:
        look = "bad"
    elif row.claims and row.labelled >= row.claims:
        look = "quiet"
    key = escape_line(row.key, look, limit=80)
    opening = escape_line(row.opening, f"{look} quiet".strip(), limit=200)
    name = [*highlight_matches(key, wanted), Piece("  "), *highlight_matches(opening, wanted)]
    if row.state in (ItemState.PENDING, ItemState.SKIPPED):
        why = {"pending": "not judged yet", "skipped": "skipped"}[row.state.value]
        if row.reason:
            why += f": {escape_line(row.reason, limit=120).text}"
        told = Piece(why, "quiet" if row.state is ItemState.PENDING else "warn")
        pieces = [Piece(f"{number} "), *highlight_matches(key, wanted), Piece("  "), told]
        return make_line(*truncate_pieces(pieces, width))
    changed = row.corrected is not None and row.corrected != row.scores
    score = ("*" if changed else "") + _format_score(row.corrected if changed else row.scores)
    if row.scores is not None and row.scores.windowed.value is not None:
        score = fmt.soundness_mark(row.integrity) + score
    counts = [str(row.labels.get(name, 0)) for name in spec.labels.names]
    if blind:
        counts = [HIDDEN_CHARACTER * (_label_column_width(name) - 1) for name in spec.labels.names]
        score = HIDDEN_CHARACTER * 4
    labelled = f"{row.labelled}/{row.claims}"
    return _join_columns(
        width, number, name, counts, (score, labelled, format_marks(row, blind)), spec, look
    )


def format_marks(row: ItemRow, blind: bool) -> str:
    """Mark what is special: `2x` two people, `?` an answer without passages, `!` a fault.

    A fault of the judge is not marked while that would tell what it said.
    """
    people = f"{min(row.reviewers, 9)}x" if row.reviewers > 1 else ""
    fault = not blind and (row.missing > 0 or row.failed_windows > 0)
    return people + ("?" if row.lacks_passages else "") + ("!" if fault else "")


def _format_score(scores: ScoreSet | None) -> str:
    if scores is None:
        return fmt.NONE
    found = scores.windowed
    return (
        _SHORT.get(found.state, fmt.format_score(found))
        if found.value is None
        else fmt.format_score(found)
    )


def _label_column_width(name: str) -> int:
    return max(4, min(10, cell_len(name) + 1))


def _join_columns(
    width: int,
    number: str,
    name: Sequence[Piece],
    counts: Sequence[str],
    right: tuple[str, str, str],
    spec: "MetricSpec",
    look: str,
) -> Line:
    """Set number, name, one count per label, score, labelled and marks.

    The key and the opening share what the figures leave, so neither is cut while there is room.
    """
    sizes = [_label_column_width(each) for each in spec.labels.names]
    score, labelled, special = right
    room = max(0, width - _NUMBER - sum(sizes) - _SCORE - _LABELLED - _MARKS - 1)
    kept = truncate_pieces(name, room) if room else []
    figures = "".join(
        fit_text(count, size, right=True) for count, size in zip(counts, sizes, strict=True)
    )
    gap = " " * (room - width_of(kept))
    return make_line(
        Piece(f"{fit_text(number, _NUMBER)}", look),
        *kept,
        Piece(
            f"{gap}{figures}{fit_text(score, _SCORE, right=True)}"
            f"{fit_text(labelled, _LABELLED, right=True)} ",
            look,
        ),
        Piece(fit_text(special, _MARKS), "warn" if look != "quiet" else look),
    )


def no_conversations(width: int, has_run: bool, keys: KeyNames) -> list[Line]:
    """Say why the list is empty."""
    pad = [Piece("  ")]
    if not has_run:
        return [
            BLANK,
            make_line(Piece("  No run chosen.", "strong")),
            BLANK,
            *wrap(
                keys.make_pieces("{go.runs} goes to the runs; {list.open} opens one."),
                width,
                first=pad,
            ),
        ]
    return [
        BLANK,
        make_line(Piece("  No conversations in this run.", "strong")),
        BLANK,
        *wrap(
            [Piece("The sources it was started over hold none. Import some and start a new run.")],
            width,
            first=pad,
        ),
    ]


def item_details(
    row: ItemRow | None,
    turns: Sequence[TurnView] | None,
    spec: "MetricSpec | None",
    width: int,
    *,
    blind: bool,
    wanted: Filter,
    calls: RunTotals | None = None,
) -> list[Line]:
    """Say what is known of a conversation, and show it.

    Args:
        row: The conversation; None: none is chosen.
        turns: What was said in it; None while it is read.
        spec: The run's metric.
        width: Cells of a line.
        blind: What the judge said is left out.
        wanted: Its words are marked.
        calls: What the calls for it came to; None: not known.
    """
    if row is None or spec is None:
        return [make_line(Piece(" no conversation chosen", "quiet"))]
    pad = [Piece(" ")]
    lines = wrap(
        [
            escape_line(row.source, "quiet", limit=60),
            Piece(
                f" · {fmt.count_in_words(row.turns, 'turn')} · "
                f"{fmt.count_in_words(row.windows, 'window')} · "
                f"{count_units(row.claims, spec)}",
                "quiet",
            ),
        ],
        width - 1,
        first=pad,
    )
    if row.scores is not None and row.state is not ItemState.SKIPPED and not blind:
        overridden = row.corrected or row.scores
        for name, judge, people in (
            ("windowed", row.scores.windowed, overridden.windowed),
            ("per interaction", row.scores.per_interaction, overridden.per_interaction),
            (f"all {spec.units[1]}", row.scores.pooled, overridden.pooled),
        ):
            lines.append(
                make_line(Piece(f" {name:<16}", "quiet"), fmt.format_score_change(judge, people))
            )
        if overridden != row.scores:
            words = f"with overrides, {row.labelled} of {count_units(row.claims, spec)} reviewed"
            lines += wrap([Piece(f"→ {words}", "quiet")], width - 1, first=pad)
        lines += left_out_lines(row, width)
        lines += integrity_lines(row.integrity, spec, width)
    if calls is not None and not blind and (calls.cost_nusd or calls.unpriced_calls):
        told = f"{format_cost(calls)} · {fmt.count_in_words(calls.calls, 'call')}"
        lines.append(make_line(Piece(f" {'cost':<16}", "quiet"), told))
    if row.reviewers > 1:
        words = f"{row.reviewers} annotators gave labels"
        lines += wrap([Piece(f"{row.reviewers}x ", "warn"), Piece(words)], width - 1, first=pad)
    if row.lacks_passages:
        words = "an answer has no passages behind it"
        lines += wrap([Piece("? ", "warn"), Piece(words)], width - 1, first=pad)
    if row.missing and not blind:
        words = f"! {count_units(row.missing, spec)} without a verdict"
        lines += wrap([Piece(words, "warn")], width - 1, first=pad)
    if row.reason and not blind:
        lines += wrap(
            [Piece(f"! {row.state.value}: ", "warn"), escape_text(row.reason, "warn")],
            width - 1,
            first=pad,
        )
    lines.append(BLANK)
    if turns is None:
        return lines + wrap([escape_text(row.opening, "quiet")], width - 1, first=pad)
    return lines + turn_lines(turns, spec, width, wanted)


def left_out_lines(row: ItemRow, width: int) -> list[Line]:
    """Say which windows no mean counts, by the judge and with people's labels, and why."""
    pad = [Piece(" ")]
    lines: list[Line] = []
    judge = row.scores.windowed if row.scores else None
    corrected = row.corrected.windowed if row.corrected else None
    words = [
        format_left_out(each.undefined, each.skipped, row.windows)
        for each in (judge, corrected)
        if each is not None
    ]
    if words and words[0]:
        lines += wrap([Piece(f"! {words[0]}", "warn")], width - 1, first=pad)
    if len(words) > 1 and words[1] != words[0]:
        told = words[1] or "no window left out"
        lines += wrap([Piece(f"! with human labels {told}", "warn")], width - 1, first=pad)
    if judge is not None and judge.state is ScoreState.UNDEFINED and judge.reason:
        lines += wrap(
            [Piece("undefined: ", "warn"), escape_text(judge.reason)], width - 1, first=pad
        )
    return lines


def turn_lines(
    turns: Sequence[TurnView], spec: "MetricSpec", width: int, wanted: Filter
) -> list[Line]:
    """Show the turns of a conversation with what was retrieved, a filter's words marked."""
    lines: list[Line] = []
    numbers = image_numbers(turns)
    for turn in turns:
        who = "user" if turn.role == "user" else "bot "
        first = [Piece(f" {turn.position + 1:>2} {who} ", "quiet")]
        pieces = highlight_matches(
            escape_text(turn.content, "quiet" if turn.role == "user" else ""), wanted
        )
        if turn.role == "assistant":
            if turn.documents is None:
                pieces.append(Piece(" [context unknown]", "quiet"))
            else:
                pieces.append(
                    Piece(f" [{fmt.count_in_words(len(turn.documents), 'passage')}]", "quiet")
                )
        elif turn.documents:
            count = fmt.count_in_words(len(turn.documents), "passage")
            pieces.append(Piece(f" [{count}, {explain_not_used(spec)}]", "quiet"))
        lines += wrap(pieces, width - 1, first=first)
        documents = [image for each in turn.documents or () for image in each.images]
        images = (*turn.images, *(each for each in documents if each not in turn.images))
        lines += image_lines(images, numbers, width - 1, [Piece(" " * 9)])
    return lines
