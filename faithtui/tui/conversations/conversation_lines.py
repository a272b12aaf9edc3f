"""Lines of the conversation list, and of what is known of one conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from faithtui.domain.filters import Filter
from faithtui.domain.labels.label_events import TIE
from faithtui.domain.scores import (
    ScoreSet,
    ScoreState,
    ScoringRule,
    format_parts_left_out_of_mean,
    passes_threshold,
)
from faithtui.store.records import ItemRow, ItemState, RunRow, RunTotals, TurnView
from faithtui.tui.conversations.list_data import ConversationListData
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.metric_words import format_unit_count
from faithtui.tui.replies.reply_lines import format_call_cost
from faithtui.tui.review.lines.image_lines import image_placeholder_lines, map_images_to_numbers
from faithtui.tui.review.lines.transcript_lines import explain_unread_context
from faithtui.tui.runs.run_lines import get_run_status_and_look, integrity_lines, run_title_pieces
from faithtui.tui.screen.filter_matches import highlight_matches
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    Line,
    Piece,
    count_cells_of_pieces,
    escape_line,
    escape_text,
    fit_text,
    make_line,
    shorten_middle,
    truncate_pieces,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

HIDDEN_CHARACTER = "▒"
"""Stands where a blind reviewer must not see the judge."""
NO_PASSAGES = "∅"
"""Marks an answer without passages; `?` is the letter of the label idk."""

_SHORT = {
    ScoreState.UNDEFINED: "undef.",
    ScoreState.INCOMPLETE: "incompl.",
}
_HUMAN_COUNTED = 8
"""Cells of the human labels from which answers are counted; else the worst label is said."""
_WITH_ID = 84
"""Cells of the list from which rows end in their id, which the pane of the chosen one names too."""
_WIDE = 100
"""Cells of the list from which ids have more room, and answers with human labels are counted."""
_WIDEST = 130
"""Cells of the list from which bars and ids have more room without taking it from the opening."""


class _Columns(NamedTuple):
    """Cells of the columns of the list, each with the blank before it."""

    opening: int
    bar: int
    counts: int
    score: int
    human: int
    done: int
    marks: int
    key: int

    @classmethod
    def for_width(cls, width: int) -> "_Columns":
        """Share a width out: the opening gets what the figures and the id leave."""
        wide = width >= _WIDE
        bar, counts, key = (10, 11, 17) if wide else (8, 9, 13 if width >= _WITH_ID else 0)
        if width >= _WIDEST:
            bar, key = 17, 28
        score, human, done, marks = 8, 8 if wide else 6, 9 if wide else 8, 4
        rest = width - 2 - bar - counts - score - human - done - marks - key
        return cls(max(0, rest), bar, counts, score, human, done, marks, key)


@dataclass(frozen=True, slots=True)
class RowOptions:
    """What every row of the list is drawn by."""

    spec: "MetricSpec"
    """The run's metric."""
    rule: ScoringRule
    """The run's: a score below its threshold is drawn as low."""
    blind: bool
    """Verdicts and labels are hidden, and marks that would reveal them."""
    wanted: Filter
    """Its words are marked."""
    key_prefix: str = ""
    """What all keys begin with, left out."""
    judge_scores: bool = False
    """The score is the judge's own, whatever labels changed: rows are in its order."""


def list_title_pieces(
    run: RunRow, facts: ConversationListData, spec: "MetricSpec", *, blind: bool
) -> tuple[Sequence[Piece], Sequence[Piece]]:
    """Say at the left which run is listed, at the right what annotators said of it.

    Args:
        run: The run.
        facts: What is known of all its conversations.
        spec: Its metric.
        blind: The judge is hidden.
    """
    words, look = get_run_status_and_look(run)
    answers = facts.answer_labels
    imported = fmt.format_count_with_noun(answers, "answer") if answers else ""
    return [*run_title_pieces(run), Piece(f" · {words}", look or "quiet")], [
        Piece("BLIND  " if blind else "", "human strong"),
        Piece("labelled: ", "quiet"),
        Piece(f"{imported} · " if imported else "", "human"),
        Piece(f"{run.labelled} of {format_unit_count(run.claims, spec)}", "quiet"),
    ]


def format_list_heading(spec: "MetricSpec", width: int) -> Line:
    """Name the columns of the conversation list, and the verdicts in the order of their counts."""
    at = _Columns.for_width(width)
    room = at.bar + at.counts
    verdicts = f" {'·'.join(spec.labels.names)}"
    verdicts = f"{'':<{at.bar - 1}}{verdicts}" if len(verdicts) < at.counts + 1 else verdicts
    text = (
        f"  {fit_text('opening', at.opening)}"
        f"{fit_text(verdicts if len(verdicts) <= room else ' verdicts', room)}"
        f"{fit_text('score', at.score, right=True)}{fit_text('human', at.human, right=True)}"
        f"{fit_text('by you', at.done, right=True)}{' ' * at.marks}{fit_text(' id', at.key)}"
    )
    return make_line(Piece(text, "quiet"))


def make_legend(spec: "MetricSpec", *, blind: bool) -> Content:
    """Explain the marks of the list, the stretches of its bars in their colours."""
    marks = f"{NO_PASSAGES} no passages · ! failed · 2x annotators"
    if blind:
        return Content(marks)
    bars: list[str | tuple[str, str]] = []
    for each in spec.labels.names:
        look = fmt.get_label_look(each, spec.labels)
        bars += [(fmt.get_label_bar_character(each, spec.labels), f"$verdict-{look}"), f" {each} "]
    return Content.assemble(*bars, f"· {marks} · * overrides")


def format_conversation_row(row: ItemRow, options: RowOptions, width: int, here: bool) -> Line:
    """Draw a conversation in the list.

    Args:
        row: The conversation.
        options: What all rows are drawn by.
        width: Cells of the line.
        here: It is the chosen one.
    """
    at = _Columns.for_width(width)
    spec, blind = options.spec, options.blind
    shade = "quiet" if row.claims and row.own_labels >= row.claims else ""
    if row.state is ItemState.FAILED and not blind:
        shade = "bad"
    name = escape_line(row.key.removeprefix(options.key_prefix), limit=80).text
    key = Piece(shorten_middle(name, at.key - 1), f"{shade} quiet".strip())
    opening = escape_line(row.opening, shade, limit=200)
    left = [
        Piece("> " if here else "  ", shade),
        *_pad_to_width(highlight_matches(opening, options.wanted), at.opening),
    ]
    right = _pad_to_width([Piece(" "), *highlight_matches(key, options.wanted)], at.key)
    if row.state in (ItemState.PENDING, ItemState.SKIPPED):
        state_words = {"pending": "not judged yet", "skipped": "skipped"}[row.state.value]
        if row.reason:
            state_words += f": {escape_line(row.reason, limit=120).text}"
        room = width - 2 - at.opening - at.key
        why = Piece(f" {state_words}", "quiet" if row.state is ItemState.PENDING else "warn")
        return make_line(*left, *_pad_to_width([why], room), *right)
    return make_line(
        *left,
        *_make_label_count_pieces(row, options, at),
        _score_piece(row, options, at.score),
        _format_answer_label_piece(row, spec, at.human, blind=blind),
        Piece(fit_text(f"{row.own_labels}/{row.claims}", at.done, right=True), shade or "quiet"),
        Piece(fit_text(f" {format_row_symbols(row, blind)}", at.marks), shade or "warn"),
        *right,
    )


def _pad_to_width(pieces: Sequence[Piece], width: int) -> list[Piece]:
    """Make pieces exactly so wide."""
    kept = truncate_pieces(pieces, width) if width else []
    return [*kept, Piece(" " * (width - count_cells_of_pieces(kept)))]


def _make_label_count_pieces(row: ItemRow, options: RowOptions, at: _Columns) -> list[Piece]:
    """Draw how often the judge gave each label: as a bar, and in numbers."""
    labels = options.spec.labels
    bar, numbers = at.bar - 2, at.counts
    if options.blind:
        return [Piece(f" {HIDDEN_CHARACTER * bar} "), Piece(" " * numbers)]
    given = sum(row.labels.get(name, 0) for name in labels.names)
    drawn = fmt.format_label_bar(row.labels, labels, bar) if given else [Piece(" " * bar)]
    counts: list[Piece] = []
    for name in labels.names:
        count = row.labels.get(name, 0)
        counts += [
            Piece("·" if counts else "", "quiet"),
            Piece(str(count), fmt.get_label_look(name, labels) if count else "quiet"),
        ]
    return [Piece(" "), *drawn, Piece(" "), *_pad_to_width(counts, numbers)]


def _score_piece(row: ItemRow, options: RowOptions, width: int) -> Piece:
    """Draw the score: with overrides and a star where they change it; low ones in their colour."""
    if options.blind:
        return Piece(fit_text(fmt.HIDDEN, width, right=True))
    changed = row.corrected is not None and row.corrected != row.scores
    changed = changed and not options.judge_scores
    scores = row.corrected if changed else row.scores
    text = ("*" if changed else "") + _format_score(scores)
    if row.scores is not None and row.scores.windowed.value is not None:
        text = fmt.get_soundness_mark(row.integrity) + text
    low = scores is not None and passes_threshold(scores.windowed, options.rule) is False
    unknown = scores is None or scores.windowed.value is None
    return Piece(
        fit_text(text, width, right=True), "bad strong" if low else "quiet" if unknown else "strong"
    )


def _format_answer_label_piece(
    row: ItemRow, spec: "MetricSpec", width: int, *, blind: bool
) -> Piece:
    """Say what annotators said of whole answers where the data came with that: `no`, `1 no/4`."""
    answers = row.answer_labels
    total = sum(answers.values())
    if not total:
        return Piece(" " * width)
    if blind:
        return Piece(fit_text(fmt.HIDDEN, width, right=True))
    worst = next((each for each in ("no", TIE) if answers.get(each)), next(iter(answers)))
    count = answers[worst]
    words = worst
    if total > 1 and width >= _HUMAN_COUNTED:
        words = f"{total} {worst}" if count == total else f"{count} {worst}/{total}"
    return Piece(
        fit_text(words, width, right=True),
        "warn" if worst == TIE else fmt.get_label_look(worst, spec.labels),
    )


def format_row_symbols(row: ItemRow, blind: bool) -> str:
    """Mark what is special: `2x` two annotators, `∅` an answer without passages, `!` a fault.

    A fault of the judge is not marked while that would reveal its verdict.
    """
    people = f"{min(row.reviewers, 9)}x" if row.reviewers > 1 else ""
    fault = not blind and (row.missing > 0 or row.failed_windows > 0)
    return people + (NO_PASSAGES if row.lacks_passages else "") + ("!" if fault else "")


def _format_score(scores: ScoreSet | None) -> str:
    if scores is None:
        return fmt.NONE
    found = scores.windowed
    return (
        _SHORT.get(found.state, fmt.format_score(found))
        if found.value is None
        else fmt.format_score(found)
    )


def empty_list_lines(width: int, has_run: bool, keys: KeyNames) -> list[Line]:
    """Say why the list is empty."""
    pad = [Piece("  ")]
    if not has_run:
        return [
            BLANK,
            make_line(Piece("  No run chosen.", "strong")),
            BLANK,
            *wrap(
                keys.fill_in_keys_as_pieces("{go.runs} goes to the runs; {list.open} opens one."),
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


def format_conversation_detail_lines(
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
                f" · {fmt.format_count_with_noun(row.turns, 'turn')} · "
                f"{fmt.format_count_with_noun(row.windows, 'window')} · "
                f"{format_unit_count(row.claims, spec)}",
                "quiet",
            ),
        ],
        width - 1,
        first=pad,
    )
    if row.scores is not None and row.state is not ItemState.SKIPPED and not blind:
        overridden = row.corrected or row.scores
        for name, judge, people in (
            ("mean of windows", row.scores.windowed, overridden.windowed),
            ("per interaction", row.scores.per_interaction, overridden.per_interaction),
            (f"all {spec.units[1]}", row.scores.pooled, overridden.pooled),
        ):
            lines.append(
                make_line(Piece(f" {name:<16}", "quiet"), fmt.format_score_change(judge, people))
            )
        if overridden != row.scores:
            words = (
                f"with overrides, {row.labelled} of {format_unit_count(row.claims, spec)} reviewed"
            )
            lines += wrap([Piece(f"→ {words}", "quiet")], width - 1, first=pad)
        lines += format_unscored_windows_lines(row, width)
        lines += integrity_lines(row.integrity, spec, width)
    if calls is not None and not blind and (calls.cost_nusd or calls.unpriced_calls):
        cost_words = (
            f"{format_call_cost(calls)} · {fmt.format_count_with_noun(calls.calls, 'call')}"
        )
        lines.append(make_line(Piece(f" {'cost':<16}", "quiet"), cost_words))
    if row.reviewers > 1:
        words = f"{row.reviewers} annotators gave labels"
        lines += wrap([Piece(f"{row.reviewers}x ", "warn"), Piece(words)], width - 1, first=pad)
    if row.lacks_passages:
        words = "an answer has no passages behind it"
        lines += wrap([Piece(f"{NO_PASSAGES} ", "warn"), Piece(words)], width - 1, first=pad)
    if row.missing and not blind:
        words = f"! {format_unit_count(row.missing, spec)} without a verdict"
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


def format_unscored_windows_lines(row: ItemRow, width: int) -> list[Line]:
    """Say which windows no mean counts, by the judge and with human labels, and why."""
    pad = [Piece(" ")]
    lines: list[Line] = []
    judge = row.scores.windowed if row.scores else None
    corrected = row.corrected.windowed if row.corrected else None
    words = [
        format_parts_left_out_of_mean(each.undefined, each.skipped, row.windows)
        for each in (judge, corrected)
        if each is not None
    ]
    if words and words[0]:
        lines += wrap([Piece(f"! {words[0]}", "warn")], width - 1, first=pad)
    if len(words) > 1 and words[1] != words[0]:
        corrected_words = words[1] or "no window left out"
        lines += wrap(
            [Piece(f"! with human labels {corrected_words}", "warn")], width - 1, first=pad
        )
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
    numbers = map_images_to_numbers(turns)
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
                    Piece(
                        f" [{fmt.format_count_with_noun(len(turn.documents), 'passage')}]", "quiet"
                    )
                )
        elif turn.documents:
            count = fmt.format_count_with_noun(len(turn.documents), "passage")
            pieces.append(Piece(f" [{count}, {explain_unread_context(spec)}]", "quiet"))
        lines += wrap(pieces, width - 1, first=first)
        documents = [image for each in turn.documents or () for image in each.images]
        images = (*turn.images, *(each for each in documents if each not in turn.images))
        lines += image_placeholder_lines(images, numbers, width - 1, [Piece(" " * 9)])
    return lines
