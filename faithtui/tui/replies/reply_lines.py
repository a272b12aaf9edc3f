"""Lines about the calls of a conversation: a table of them, and one reply word for word."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithtui.domain.judging.error_sentences import OUTPUT_FORMAT_WORDS
from faithtui.domain.text.json_indent import indent_json
from faithtui.domain.text.visible_text import make_visible, make_visible_line
from faithtui.store.records import CallRow, ItemCost, RunTotals
from faithtui.tui.replies.claim_entry import (
    ClaimEntry,
    find_claim_lines_in_reply,
    find_claim_span_in_prompt,
)
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    FULL_TEXT_LIMIT,
    Line,
    Piece,
    escape_line,
    escape_text,
    fit_text,
    make_line,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.judges.base import JudgeRequest

_STOP_WORDS = {
    "length": "cut off at the limit of tokens",
    "refusal": "refused",
    "filter": "cut by a content filter",
    "other": "ended in a way of the provider's own",
}
"""Why a reply ended, where that is not its own end."""

_SHORT = {"length": "cut", "refusal": "refused", "filter": "filtered"}
"""The same in a word."""

_SIZES = (4, 12, 5, 8, 8, 10, 9)
"""Cells of number, step, window, tokens in, tokens out, cost and time."""
_HEADS = ("", "step", "win", "in", "out", "cost", "time")
_LEAST_STEP = 6
_ENTRY_MARK = Piece("▌", "human")
"""Stands before the lines of the claim that is looked for."""


def format_call_table_lines(calls: Sequence[CallRow], cost: ItemCost, width: int) -> list[Line]:
    """Draw the calls, a row each, and what they came to."""
    if not calls:
        words = (
            "No call was made for this conversation. Its questions were answered from the store: "
            "they were asked before, for another conversation or another run."
        )
        return wrap([Piece(words, "quiet")], width - 1, first=[Piece(" ")])
    lines = [make_line(Piece(_format_call_row(_HEADS, width), "quiet"))]
    for row, call in enumerate(calls):
        reply = call.reply
        cells = (
            str(row + 1),
            escape_line(call.step, limit=40).text,
            fmt.NONE if call.window is None else f"w{call.window + 1}",
            *_format_call_figures(call),
        )
        state, look = (
            ("", "") if call.usable and reply.stop == "ok" else describe_reply_usability(call)
        )
        if call.is_reused and not state:
            state, look = describe_reply_origin(call), "quiet"
        text = _format_call_row(cells, width)
        room = max(0, width - len(text) - 2)
        if len(state) > room:
            state = _shorten_state(call, state)
        lines.append(
            make_line(
                Piece(text), Piece(f" {fit_text(state, room)}" if room else "", look), row=row
            )
        )
    return [*lines, BLANK, *format_conversation_cost_lines(cost, width)]


def describe_reply_origin(call: CallRow) -> str:
    """Say for which conversation of which run a reply was asked that was found in the store."""
    if call.run is None or call.conversation is None:
        return "from the store, asked for a run that is not there any more"
    return f"from the store: #{call.run} {make_visible_line(call.conversation, 40)}"


def _format_call_figures(call: CallRow) -> tuple[str, ...]:
    """Write tokens, cost and time of a call; of one that was made for others none count here."""
    if call.is_reused:
        return (fmt.NONE,) * 4
    reply = call.reply
    return (
        _format_count(reply.tokens_in),
        _format_count(reply.tokens_out),
        "unknown" if reply.cost_nusd is None else fmt.format_money(reply.cost_nusd),
        fmt.format_latency(reply.latency_ms),
    )


def _shorten_state(call: CallRow, state: str) -> str:
    """Say the state of a call where there is little room."""
    if call.usable and call.reply.stop == "ok":
        return state.removeprefix("from the store: ")
    return _SHORT.get(call.reply.stop, "odd end" if call.usable else "unusable")


def _format_call_row(cells: Sequence[str], width: int) -> str:
    number, step, *figures = cells
    sizes = _SIZES[2:]
    room = max(_LEAST_STEP, min(_SIZES[1] + 6, width - _SIZES[0] - sum(sizes) - 12))
    right = "".join(
        fit_text(each, size, right=True) for each, size in zip(figures, sizes, strict=True)
    )
    return f"{fit_text(number, _SIZES[0], right=True)} {fit_text(step, room)}{right}"


def describe_reply_usability(call: CallRow) -> tuple[str, str]:
    """Say in words whether a reply could be used, with its look."""
    words = _STOP_WORDS.get(call.reply.stop, "")
    if call.usable:
        return words or "used", "warn" if words else "good"
    return f"not usable: {words or 'no JSON, or of the wrong shape'}", "bad"


def format_conversation_cost_lines(cost: ItemCost, width: int) -> list[Line]:
    """Say what a conversation came to, and each of its windows."""
    pad = [Piece(" ")]
    lines = wrap(
        [Piece("all  ", "quiet"), *_total_pieces(cost.total)], width - 1, first=pad, most=2
    )
    named = sorted((at, part) for at, part in cost.windows.items() if at is not None)
    if named:
        pieces: list[Piece] = []
        for at, part in named:
            pieces += [Piece(" · ", "quiet")] if pieces else []
            pieces += [Piece(f"w{at + 1} ", "quiet"), Piece(format_call_cost(part))]
        lines += wrap([Piece("per window  ", "quiet"), *pieces], width - 1, first=pad, most=4)
    return lines


def _total_pieces(totals: RunTotals) -> list[Piece]:
    words = [
        fmt.format_count_with_noun(totals.calls, "call"),
        f"{fmt.format_compact_count(totals.tokens_in)} tokens in",
        f"{fmt.format_compact_count(totals.tokens_out)} out",
    ]
    if totals.tokens_cached:
        words.append(f"{fmt.format_compact_count(totals.tokens_cached)} cached by the provider")
    return [Piece(f"{' · '.join(words)} · "), Piece(format_call_cost(totals), "strong")]


def format_call_cost(totals: RunTotals) -> str:
    """Write what calls cost; what is not known is said, and never taken for nothing."""
    if not totals.unpriced_calls:
        return fmt.format_money(totals.cost_nusd)
    unknown = f"no price known for {fmt.format_count_with_noun(totals.unpriced_calls, 'call')}"
    return f"{fmt.format_money(totals.cost_nusd)} + {unknown}" if totals.cost_nusd else unknown


@dataclass(frozen=True, slots=True)
class TextLines:
    """Lines of a question or a reply."""

    lines: list[Line]
    entry: int | None = None
    """Index of the first line of the claim that is looked for; None: it is not in them."""


def reply_lines(call: CallRow, width: int, entry: ClaimEntry | None = None) -> TextLines:
    """Draw what is known of a call, then its reply word for word.

    Args:
        call: The call.
        width: Cells of a line.
        entry: What to mark in it; None: nothing.
    """
    reply = call.reply
    state, look = describe_reply_usability(call)
    asked = (
        "in no form"
        if reply.rung is None
        else f"by {OUTPUT_FORMAT_WORDS.get(reply.rung, reply.rung)}"
    )
    facts = [Piece(state, f"{look} strong"), _quiet_piece(f"asked {asked}")]
    if call.is_reused:
        facts.insert(1, Piece(f" · {describe_reply_origin(call)}", "human"))
    tokens = f"{_format_count(reply.tokens_in)} tokens in, {_format_count(reply.tokens_out)} out"
    extra = (
        (reply.tokens_cached, "cached"),
        (reply.tokens_cache_write, "written to the cache"),
        (reply.tokens_reasoning, "for reasoning"),
    )
    tokens += "".join(
        f", {fmt.format_compact_count(count)} {words}" for count, words in extra if count
    )
    facts.append(_quiet_piece(tokens + (" (estimated)" if reply.estimated else "")))
    if reply.cost_nusd is None:
        facts.append(Piece(" · no price known", "warn"))
    else:
        dated = f", prices of {reply.prices}" if reply.prices and reply.cost_nusd else ""
        facts.append(_quiet_piece(fmt.format_money(reply.cost_nusd) + dated))
    facts.append(
        _quiet_piece(f"{fmt.format_latency(reply.latency_ms)} · {fmt.format_datetime(call.at)}")
    )
    if call.replicate:
        facts.append(_quiet_piece(f"asked afresh, number {call.replicate}"))
    for name, text in (
        ("model", reply.served_model),
        ("request", reply.request_id),
        ("batch", reply.batch_uid),
    ):
        if text:
            facts += [_quiet_piece(f"{name} "), escape_line(text, "quiet", limit=80)]
    lines = wrap(facts, width - 1, first=[Piece(" ")])
    if not reply.text:
        return TextLines([*lines, BLANK, make_line(Piece(" the reply is empty", "warn"))])
    indented = indent_json(reply.text) if len(reply.text) <= FULL_TEXT_LIMIT else None
    if indented is None:
        pieces = [escape_text(reply.text, most=FULL_TEXT_LIMIT)]
        return TextLines([*lines, BLANK, *wrap(pieces, width - 1, first=[Piece(" ")])])
    drawn = _indented_lines(make_visible(indented).split("\n"), width, entry)
    at = None if drawn.entry is None else len(lines) + 1 + drawn.entry
    return TextLines([*lines, BLANK, *drawn.lines], at)


def _indented_lines(texts: Sequence[str], width: int, entry: ClaimEntry | None) -> TextLines:
    """Draw lines whose indent goes on where they are wrapped."""
    lines: list[Line] = []
    marked = None if entry is None else find_claim_lines_in_reply(texts, entry)
    at: int | None = None
    for row, each in enumerate(texts):
        words = each.lstrip(" ")
        indent = min(len(each) - len(words), width // 2)
        is_marked = marked is not None and marked[0] <= row <= marked[1]
        if is_marked and at is None:
            at = len(lines)
        gutter = _ENTRY_MARK if is_marked else Piece(" ")
        first = [gutter, Piece(" " * indent)]
        rest = [gutter, Piece(" " * (2 + indent))]
        look = "strong" if is_marked else ""
        lines += wrap([Piece(words, look)], width - 1, first=first, rest=rest)
    return TextLines(lines, at)


def format_prompt_lines(
    request: "JudgeRequest | None",
    problem: str | None,
    width: int,
    entry: ClaimEntry | None = None,
) -> TextLines:
    """Draw what the judge was asked, word for word.

    Args:
        request: The question; None: it could not be put together again.
        problem: Why it could not.
        width: Cells of a line.
        entry: What to mark in it; None: nothing.
    """
    pad = [Piece(" ")]
    if request is None:
        why = escape_text(problem or "it is not known", "warn")
        words = "The question is not stored, and it cannot be put together again: "
        return TextLines(wrap([Piece(words, "warn"), why], width - 1, first=pad))
    at: int | None = None
    facts = [Piece(f"up to {fmt.format_compact_count(request.max_tokens)} tokens", "quiet")]
    facts.append(_quiet_piece("plain text" if request.schema is None else "JSON by a schema"))
    if request.images:
        facts.append(_quiet_piece(fmt.format_count_with_noun(len(request.images), "image")))
    lines = wrap(facts, width - 1, first=pad)
    for name, text in (("system", request.system), ("prompt", request.prompt)):
        if text:
            lines += [BLANK, make_line(Piece(f" {name}", "quiet strong"))]
            marked = find_claim_span_in_prompt(text, entry) if entry and name == "prompt" else None
            if marked is None:
                lines += wrap([escape_text(text, most=FULL_TEXT_LIMIT)], width - 1, first=pad)
                continue
            before, own, after = text[: marked[0]], text[slice(*marked)], text[marked[1] :]
            if before:
                before = before.removesuffix("\n")
                lines += wrap([escape_text(before, most=FULL_TEXT_LIMIT)], width - 1, first=pad)
            at = len(lines)
            lines += wrap(
                [escape_text(own, "strong")], width - 1, first=[_ENTRY_MARK], rest=[_ENTRY_MARK]
            )
            if after:
                after = after.removeprefix("\n")
                lines += wrap([escape_text(after, most=FULL_TEXT_LIMIT)], width - 1, first=pad)
    return TextLines(lines, at)


def get_reply_for_clipboard(call: CallRow) -> str:
    """Give the reply for a clipboard: control characters are made visible."""
    return make_visible(call.reply.text)


def _quiet_piece(words: str) -> Piece:
    return Piece(f" · {words}", "quiet")


def _format_count(value: int | None) -> str:
    return fmt.NONE if value is None else fmt.format_compact_count(value)
