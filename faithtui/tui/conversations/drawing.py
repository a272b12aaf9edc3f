"""Lines of the conversation list, and of what is known of one conversation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from faithtui.domain.filters import Filter
from faithtui.domain.scores import ScoreSet, ScoreState, left_out_words
from faithtui.store.records import ItemRow, ItemState, ReviewView, RunTotals
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.metric_view import counted
from faithtui.tui.replies.drawing import spent
from faithtui.tui.review.drawing.images import image_lines, image_numbers
from faithtui.tui.review.drawing.transcript import not_used
from faithtui.tui.runs.drawing import integrity_lines
from faithtui.tui.screen.filter_matching import marked
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    Line,
    Piece,
    cut,
    fit,
    line,
    shown,
    shown_line,
    width_of,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

HIDDEN = "▒"
"""Stands where a blind reviewer must not see the judge."""

_NUMBER, _SCORE, _LABELLED, _MARKS = 6, 8, 9, 4
_SHORT = {
    ScoreState.UNDEFINED: "undef.",
    ScoreState.INCOMPLETE: "incompl.",
}


def item_head(spec: "MetricSpec", width: int) -> Line:
    """Name the columns of the conversation list."""
    names = Piece("conversation and opening", "quiet")
    return _columns(
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
    number = f"{'>' if here else ' '}{fit(str(row.number), _NUMBER - 2, right=True)}"
    look = ""
    if row.state is ItemState.FAILED and not blind:
        look = "bad"
    elif row.claims and row.labelled >= row.claims:
        look = "quiet"
    key = shown_line(row.key, look, limit=80)
    opening = shown_line(row.opening, f"{look} quiet".strip(), limit=200)
    name = [*marked(key, wanted), Piece("  "), *marked(opening, wanted)]
    if row.state in (ItemState.PENDING, ItemState.SKIPPED):
        why = {"pending": "not judged yet", "skipped": "skipped"}[row.state.value]
        if row.reason:
            why += f": {shown_line(row.reason, limit=120).text}"
        told = Piece(why, "quiet" if row.state is ItemState.PENDING else "warn")
        pieces = [Piece(f"{number} "), *marked(key, wanted), Piece("  "), told]
        return line(*cut(pieces, width))
    changed = row.corrected is not None and row.corrected != row.scores
    score = ("*" if changed else "") + _headline(row.corrected if changed else row.scores)
    if row.scores is not None and row.scores.windowed.value is not None:
        score = fmt.soundness_mark(row.integrity) + score
    counts = [str(row.labels.get(name, 0)) for name in spec.labels.names]
    if blind:
        counts = [HIDDEN * (_size(name) - 1) for name in spec.labels.names]
        score = HIDDEN * 4
    labelled = f"{row.labelled}/{row.claims}"
    return _columns(width, number, name, counts, (score, labelled, marks(row, blind)), spec, look)


def marks(row: ItemRow, blind: bool) -> str:
    """Mark what is special: `2x` two people, `?` an answer without passages, `!` a fault.

    A fault of the judge is not marked while that would tell what it said.
    """
    people = f"{min(row.reviewers, 9)}x" if row.reviewers > 1 else ""
    fault = not blind and (row.missing > 0 or row.failed_windows > 0)
    return people + ("?" if row.lacks_passages else "") + ("!" if fault else "")


def _headline(scores: ScoreSet | None) -> str:
    if scores is None:
        return fmt.NONE
    found = scores.windowed
    return _SHORT.get(found.state, fmt.score(found)) if found.value is None else fmt.score(found)


def _size(name: str) -> int:
    return max(4, min(10, cell_len(name) + 1))


def _columns(
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
    sizes = [_size(each) for each in spec.labels.names]
    score, labelled, special = right
    room = max(0, width - _NUMBER - sum(sizes) - _SCORE - _LABELLED - _MARKS - 1)
    kept = cut(name, room) if room else []
    figures = "".join(
        fit(count, size, right=True) for count, size in zip(counts, sizes, strict=True)
    )
    gap = " " * (room - width_of(kept))
    return line(
        Piece(f"{fit(number, _NUMBER)}", look),
        *kept,
        Piece(
            f"{gap}{figures}{fit(score, _SCORE, right=True)}"
            f"{fit(labelled, _LABELLED, right=True)} ",
            look,
        ),
        Piece(fit(special, _MARKS), "warn" if look != "quiet" else look),
    )


def no_conversations(width: int, has_run: bool, keys: KeyNames) -> list[Line]:
    """Say why the list is empty."""
    pad = [Piece("  ")]
    if not has_run:
        return [
            BLANK,
            line(Piece("  No run chosen.", "strong")),
            BLANK,
            *wrap(
                keys.pieces("{go.runs} goes to the runs; {list.open} opens one."),
                width,
                first=pad,
            ),
        ]
    return [
        BLANK,
        line(Piece("  No conversations in this run.", "strong")),
        BLANK,
        *wrap(
            [Piece("The sources it was started over hold none. Import some and start a new run.")],
            width,
            first=pad,
        ),
    ]


def item_details(
    row: ItemRow | None,
    view: ReviewView | None,
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
        view: The same, complete; None while it is read.
        spec: The run's metric.
        width: Cells of a line.
        blind: What the judge said is left out.
        wanted: Its words are marked.
        calls: What the calls for it came to; None: not known.
    """
    if row is None or spec is None:
        return [line(Piece(" no conversation chosen", "quiet"))]
    pad = [Piece(" ")]
    lines = wrap(
        [
            shown_line(row.source, "quiet", limit=60),
            Piece(
                f" · {fmt.plural(row.turns, 'turn')} · {fmt.plural(row.windows, 'window')} · "
                f"{counted(row.claims, spec)}",
                "quiet",
            ),
        ],
        width - 1,
        first=pad,
    )
    if row.scores is not None and row.state is not ItemState.SKIPPED and not blind:
        corrected = row.corrected or row.scores
        for name, judge, people in (
            ("windowed", row.scores.windowed, corrected.windowed),
            ("per interaction", row.scores.per_interaction, corrected.per_interaction),
            (f"all {spec.units[1]}", row.scores.pooled, corrected.pooled),
        ):
            lines.append(line(Piece(f" {name:<16}", "quiet"), fmt.score_change(judge, people)))
        lines += left_out_lines(row, width)
        lines += integrity_lines(row.integrity, spec, width)
    if calls is not None and not blind and (calls.cost_nusd or calls.unpriced_calls):
        told = f"{spent(calls)} · {fmt.plural(calls.calls, 'call')}"
        lines.append(line(Piece(f" {'cost':<16}", "quiet"), told))
    if row.reviewers > 1:
        words = f"{row.reviewers} annotators gave labels"
        lines += wrap([Piece(f"{row.reviewers}x ", "warn"), Piece(words)], width - 1, first=pad)
    if row.lacks_passages:
        words = "an answer has no passages behind it"
        lines += wrap([Piece("? ", "warn"), Piece(words)], width - 1, first=pad)
    if row.missing and not blind:
        words = f"! {counted(row.missing, spec)} without a verdict"
        lines += wrap([Piece(words, "warn")], width - 1, first=pad)
    if row.reason and not blind:
        lines += wrap(
            [Piece(f"! {row.state.value}: ", "warn"), shown(row.reason, "warn")],
            width - 1,
            first=pad,
        )
    lines.append(BLANK)
    if view is None or view.item.id != row.id:
        return lines + wrap([shown(row.opening, "quiet")], width - 1, first=pad)
    return lines + turns(view, spec, width, wanted)


def left_out_lines(row: ItemRow, width: int) -> list[Line]:
    """Say which windows no mean counts, by the judge and with people's labels, and why."""
    pad = [Piece(" ")]
    lines: list[Line] = []
    judge = row.scores.windowed if row.scores else None
    corrected = row.corrected.windowed if row.corrected else None
    words = [
        left_out_words(each.undefined, each.skipped, row.windows)
        for each in (judge, corrected)
        if each is not None
    ]
    if words and words[0]:
        lines += wrap([Piece(f"! {words[0]}", "warn")], width - 1, first=pad)
    if len(words) > 1 and words[1] != words[0]:
        told = words[1] or "no window left out"
        lines += wrap([Piece(f"! with human labels {told}", "warn")], width - 1, first=pad)
    if judge is not None and judge.state is ScoreState.UNDEFINED and judge.reason:
        lines += wrap([Piece("undefined: ", "warn"), shown(judge.reason)], width - 1, first=pad)
    return lines


def turns(view: ReviewView, spec: "MetricSpec", width: int, wanted: Filter) -> list[Line]:
    """Show the turns of a conversation with what was retrieved, a filter's words marked."""
    lines: list[Line] = []
    numbers = image_numbers(view)
    for turn in view.turns:
        who = "user" if turn.role == "user" else "bot "
        first = [Piece(f" {turn.position + 1:>2} {who} ", "quiet")]
        pieces = marked(shown(turn.content, "quiet" if turn.role == "user" else ""), wanted)
        if turn.role == "assistant":
            if turn.documents is None:
                pieces.append(Piece(" [context unknown]", "quiet"))
            else:
                pieces.append(Piece(f" [{fmt.plural(len(turn.documents), 'passage')}]", "quiet"))
        elif turn.documents:
            count = fmt.plural(len(turn.documents), "passage")
            pieces.append(Piece(f" [{count}, {not_used(spec)}]", "quiet"))
        lines += wrap(pieces, width - 1, first=first)
        documents = [image for each in turn.documents or () for image in each.images]
        images = (*turn.images, *(each for each in documents if each not in turn.images))
        lines += image_lines(images, numbers, width - 1, [Piece(" " * 9)])
    return lines
