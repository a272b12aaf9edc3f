"""Lines of the run list, of the conversation list, and of what is known of one entry."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from faithtui.domain.scores import ScoreSet
from faithtui.judges.opening import judge_title
from faithtui.store.records import ItemRow, ItemState, ReviewView, RunRow, RunState
from faithtui.tui import format as fmt
from faithtui.tui.described import counted
from faithtui.tui.drawing.images import image_lines, image_numbers
from faithtui.tui.drawing.transcript import not_used
from faithtui.tui.lines import BLANK, Line, Piece, fit, line, shown, shown_line, wrap

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec


def run_head(width: int) -> Line:
    """Name the columns of the run list."""
    return Line(
        (
            Piece(
                _run_columns(
                    width, "run", "metric", "judge", "conv", "status", "score", "corr", "labels"
                ),
                "quiet",
            ),
        )
    )


def run_line(row: RunRow, width: int, here: bool) -> Line:
    """Draw a run in the list."""
    words, look = run_status(row)
    text = _run_columns(
        width,
        f"#{row.id}",
        shown_line(row.spec.metric, limit=60).text,
        shown_line(row.spec.judge, limit=60).text,
        str(row.conversations),
        words,
        fmt.number(row.score),
        fmt.number(row.corrected) if row.labelled else fmt.NONE,
        f"{row.labelled}/{row.claims}",
    )
    mark = ">" if here else " "
    text = mark + text[1:]
    at = text.find(words)
    if look and at >= 0:
        return line(Piece(text[:at]), Piece(words, look), Piece(text[at + len(words) :]))
    return line(text)


def _run_columns(
    width: int,
    run: str,
    metric: str,
    judge: str,
    conversations: str,
    status: str,
    score: str,
    corrected: str,
    labels: str,
) -> str:
    fixed = 1 + 5 + 1 + 6 + 1 + 11 + 6 + 6 + 1 + 11 + 2
    room = max(10, width - fixed)
    first = room * 12 // 20
    return (
        f" {fit(run, 5)} {fit(metric, first)}{fit(' ' + judge, room - first)}"
        f"{fit(conversations, 6, right=True)} {fit(status, 11)}{fit(score, 6, right=True)}"
        f"{fit(corrected, 6, right=True)} {fit(labels, 11, right=True)} "
    )


def run_status(row: RunRow) -> tuple[str, str]:
    """Say where a run stands, in one or two words, and in which look."""
    match row.state:
        case RunState.RUNNING:
            share = (row.conversations - row.pending) * 100 // max(1, row.conversations)
            return f"running {share}%", "human"
        case RunState.PLANNED:
            return "planned", "quiet"
        case RunState.CANCELLED:
            return "cancelled", "warn"
        case RunState.STOPPED:
            return "stopped", "bad"
        case RunState.DONE:
            if row.failed:
                return f"{row.failed} failed", "bad"
            return "done", ""


def no_runs(width: int) -> list[Line]:
    """Say what to do in an empty store."""
    pad = [Piece("  ")]
    return [
        BLANK,
        line(Piece("  No runs yet.", "strong")),
        BLANK,
        *wrap(
            [
                Piece("n", "key"),
                Piece(" starts one: a metric and a judge over the imported conversations."),
            ],
            width,
            first=pad,
        ),
        BLANK,
        *wrap([Piece("To bring conversations in, on the command line:")], width, first=pad),
        line(Piece("    faithtui import conversations.jsonl", "human")),
        BLANK,
        *wrap([Piece("To look around with real ones:")], width, first=pad),
        line(Piece("    faithtui demo", "human")),
    ]


def run_details(row: RunRow | None, metric: "MetricSpec | None", width: int) -> list[Line]:
    """Say what is known of a run.

    Args:
        row: The run; None: none is chosen.
        metric: Its metric; None while that is being read.
        width: Cells of a line.
    """
    if row is not None and metric is None:
        return []
    if row is None or metric is None:
        return [line(Piece(" no run chosen", "quiet"))]
    pad = [Piece(" ")]
    spec = row.spec
    units = metric.units[1]
    parts: list[list[Piece]] = [
        [
            Piece(metric.title, "strong"),
            Piece(" · judge ", "quiet"),
            shown_line(judge_title(spec.judge), limit=200),
        ],
        [
            Piece(f"{fmt.plural(row.conversations, 'conversation')}: {row.done} done"),
            Piece(f", {row.pending} pending" if row.pending else ""),
            Piece(f", {row.failed} failed" if row.failed else "", "bad"),
            Piece(f", {row.skipped} skipped" if row.skipped else "", "warn"),
            Piece(f" · {fmt.plural(row.windows, 'window')} · {counted(row.claims, metric)}"),
        ],
        [
            Piece("judge's score "),
            Piece(fmt.number(row.score), "strong"),
            Piece(f" (mean of {fmt.plural(row.done, 'conversation')}, windowed)", "quiet"),
            Piece("  corrected "),
            Piece(fmt.number(row.corrected) if row.labelled else fmt.NONE, "strong"),
            Piece(f" ({counted(row.labelled, metric)} labelled)", "quiet"),
        ],
        [
            Piece("labels "),
            Piece(fmt.bar(row.labelled, row.claims, min(30, max(8, width - 40))), "human"),
            Piece(f" {row.labelled} of {counted(row.claims, metric)}"),
        ],
    ]
    if row.reason:
        parts.append([Piece("! ", "warn"), shown(row.reason, "warn")])
    if row.missing_verdicts:
        words = f"! {counted(row.missing_verdicts, metric)} without a verdict: never a pass"
        parts.append([Piece(words, "warn")])
    if row.failed_windows:
        parts.append([Piece(f"! {fmt.plural(row.failed_windows, 'window')} failed", "bad")])
    bar = []
    if spec.rule.bar is not None:
        bar = [Piece(f" · a conversation passes from {spec.rule.bar:.2f} on", "quiet")]
    options = " ".join(
        f"{name}={json.dumps(value)}"
        for name, value in spec.options.items()
        if name not in ("strategy", "as_peer")
    )
    parts += [
        [
            Piece(f"{spec.peer} · strategy ", "quiet"),
            shown_line(spec.strategy, "quiet"),
            Piece(f" · {units} {spec.claims} · prompts {spec.prompt_digest[:8]}", "quiet"),
            Piece(" · as peer" if spec.rule.as_peer else "", "quiet"),
        ],
        [Piece("passing: ", "quiet"), shown_line(", ".join(spec.rule.passing)), *bar],
        [Piece("options ", "quiet"), shown_line(options, "quiet", limit=600)],
        [
            Piece("sources ", "quiet"),
            shown_line(", ".join(spec.sources) or "all", "quiet", limit=400),
        ],
        [
            Piece(
                f"{fmt.plural(row.calls, 'judge call')} · {fmt.compact(row.tokens_in)} tokens in · "
                f"{fmt.compact(row.tokens_out)} out · started {fmt.day(row.created_at)}",
                "quiet",
            )
        ],
    ]
    lines: list[Line] = []
    for pieces in parts:
        lines += wrap(pieces, width - 1, first=pad)
    return lines


def item_head(spec: "MetricSpec", width: int) -> Line:
    """Name the columns of the conversation list."""
    return Line(
        (
            Piece(
                _item_columns(
                    width,
                    ("  no", "conversation", "begins with"),
                    spec.labels.names,
                    ("score", "labelled"),
                    spec,
                ),
                "quiet",
            ),
        )
    )


def item_line(row: ItemRow, spec: "MetricSpec", width: int, here: bool) -> Line:
    """Draw a conversation in the list."""
    mark = ">" if here else " "
    key = shown_line(row.key, limit=80).text
    opening = shown_line(row.opening, limit=200).text
    number = f"{mark}{fit(str(row.number), 4, right=True)}"
    if row.state in (ItemState.PENDING, ItemState.SKIPPED):
        why = {"pending": "not judged yet", "skipped": "skipped"}[row.state.value]
        if row.reason:
            why += f": {shown_line(row.reason, limit=120).text}"
        look = "quiet" if row.state is ItemState.PENDING else "warn"
        text = f"{number} {fit(key, _key_width(width))} "
        return line(Piece(text, "quiet"), Piece(fit(why, width - len(text)), look))
    changed = row.corrected is not None and row.corrected != row.scores
    score = _headline(row.corrected if changed else row.scores)
    text = _item_columns(
        width,
        (number, key, opening),
        [str(row.labels.get(name, 0)) for name in spec.labels.names],
        (("*" if changed else "") + score, f"{row.labelled}/{row.claims}"),
        spec,
    )
    if row.state is ItemState.FAILED:
        return line(Piece(text, "bad"))
    return line(Piece(text, "quiet" if row.claims and row.labelled >= row.claims else ""))


def _headline(scores: ScoreSet | None) -> str:
    return fmt.score(scores.windowed if scores else None)


def _key_width(width: int) -> int:
    return max(20, min(34, width * 32 // 100))


def _item_columns(
    width: int,
    left: tuple[str, str, str],
    counts: Sequence[str],
    right: tuple[str, str],
    spec: "MetricSpec",
) -> str:
    """Set number, name and opening, one count per label, score and labelled."""
    number, key, opening = left
    score, labelled = right
    sizes = [max(4, min(10, len(name) + 1)) for name in spec.labels.names]
    first = _key_width(width)
    fixed = 5 + 1 + first + 1 + sum(sizes) + 11 + 10 + 1
    room = max(0, width - fixed)
    middle = "".join(
        fit(count, size, right=True) for count, size in zip(counts, sizes, strict=True)
    )
    return (
        f"{fit(number, 5)} {fit(key, first)} {fit(opening, room)}{middle}"
        f"{fit(score, 11, right=True)}{fit(labelled, 10, right=True)} "
    )


def no_conversations(width: int, has_run: bool) -> list[Line]:
    """Say why the list is empty."""
    pad = [Piece("  ")]
    if not has_run:
        return [
            BLANK,
            line(Piece("  No run chosen.", "strong")),
            BLANK,
            *wrap(
                [Piece("g r", "key"), Piece(" goes to the runs; enter opens one.")],
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
    row: ItemRow | None, view: ReviewView | None, spec: "MetricSpec | None", width: int
) -> list[Line]:
    """Say what is known of a conversation, and show it."""
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
    if row.scores is not None and row.state is not ItemState.SKIPPED:
        corrected = row.corrected or row.scores
        for name, judge, people in (
            ("windowed", row.scores.windowed, corrected.windowed),
            ("per interaction", row.scores.per_interaction, corrected.per_interaction),
            (f"all {spec.units[1]}", row.scores.pooled, corrected.pooled),
        ):
            lines.append(line(Piece(f" {name:<16}", "quiet"), fmt.score_change(judge, people)))
    if row.missing:
        words = f"! {counted(row.missing, spec)} without a verdict"
        lines += wrap([Piece(words, "warn")], width - 1, first=pad)
    if row.reason:
        lines += wrap(
            [Piece(f"! {row.state.value}: ", "warn"), shown(row.reason, "warn")],
            width - 1,
            first=pad,
        )
    lines.append(BLANK)
    if view is None or view.item.id != row.id:
        return lines + wrap([shown(row.opening, "quiet")], width - 1, first=pad)
    return lines + turns(view, spec, width)


def turns(view: ReviewView, spec: "MetricSpec", width: int) -> list[Line]:
    """Show the turns of a conversation with what was retrieved."""
    lines: list[Line] = []
    numbers = image_numbers(view)
    for turn in view.turns:
        who = "user" if turn.role == "user" else "bot "
        first = [Piece(f" {turn.position + 1:>2} {who} ", "quiet")]
        pieces = [shown(turn.content, "quiet" if turn.role == "user" else "")]
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
