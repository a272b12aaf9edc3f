"""A claim in words, line by line, for users who do not look at a screen.

No cursor movement, no colours, each line with its name in front. What is not in the view that comes
in cannot come out: of a blind claim the view holds nothing of the judge.
"""

import textwrap
from collections.abc import Sequence

from faithtui.cli.commands.label.served_claim import ServedClaim
from faithtui.domain.labels.label_events import (
    Action,
    LabelEvent,
    describe_event_without_verdict,
)
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.domain.text.passage_ranking import choose_excerpt_with_needed_spans
from faithtui.domain.text.texts import tokenise_text
from faithtui.domain.text.visible_text import make_visible, make_visible_line
from faithtui.metrics.base import MetricSpec
from faithtui.store.records import ClaimView, ReviewView, TurnView
from faithtui.tui.metric_words import reference_letter
from faithtui.tui.review.lines.evidence_lines import (
    MAX_CLAIM_COMPARED,
    RankedPassageView,
    describe_truncated_comparison,
    excerpt_passage,
    is_match_hidden,
)
from faithtui.tui.review.lines.verdict_lines import list_verdict_choices
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import FULL_TEXT_LIMIT, PANE_TEXT_LIMIT

WIDTH = 78
"""Characters of a line; a longer text goes on in the next one, indented."""
_ANSWER = 500
_QUESTION = 240
_PASSAGE = 320
"""Characters of an excerpt."""
_PASSAGES = 3
"""Passages that are read out; the others with `t`."""

_WHY_SHOWN = (
    "on purpose, for a random share of a blind sample (setting audit_share), to measure how much "
    "seeing the verdict sways you; your label counts in no other figure"
)

_WHY_NOT_BLIND = (
    "you have had the judge's verdicts on this conversation in view before, so that your label "
    "will not count as blind"
)

_HELP = (
    "enter: read the claim again",
    "t: read question, answer and passages in full",
    "s: skip, it comes again at the end",
    "f: flag it, or take the flag away",
    "e TEXT: write a note on it; e alone asks for the text; e - removes the note",
    "E WORDS: mark words of a passage as evidence, or no longer; E - marks none",
    "+ CLAIM: add a claim of the answer that the judge did not extract; + all says that there "
    "are no others, or no longer",
    "v: show the judge's verdict; while blind that is recorded",
    "c: low confidence in your last verdict, or sure again",
    "u: undo",
    "r: redo",
    "q: quit; everything is saved",
)
"""Keys that do not depend on the metric."""

_TITLES = {code.name: code.title for code in REASON_CODES}


def wrap_with_name_before(name: str, text: str) -> list[str]:
    """Write a text with its name before it, in lines of `WIDTH`.

    Of a text longer than `PANE_TEXT_LIMIT` the beginning is written, and how much is left out.
    """
    more = (
        f" … ({len(text) - PANE_TEXT_LIMIT:,} more characters)"
        if len(text) > PANE_TEXT_LIMIT
        else ""
    )
    return textwrap.wrap(
        f"{make_visible_line(name)}: {make_visible_line(text[:PANE_TEXT_LIMIT])}{more}",
        width=WIDTH,
        subsequent_indent="  ",
        break_long_words=True,
        break_on_hyphens=False,
    )


def format_claim_lines(served: ServedClaim) -> list[str]:
    """Say all that a verdict needs."""
    view, claim, unit = served.view, served.claim, served.spec.units[0]
    mode = "judge shown" if served.shown else "judge hidden" if claim.seen else "blind"
    lines = [f"{unit} {served.number} of {served.of}, {mode}"]
    if served.is_for_influence:
        lines += wrap_with_name_before("judge shown", _WHY_SHOWN)
    elif claim.seen and not served.shown:
        lines += wrap_with_name_before("not blind", _WHY_NOT_BLIND)
    lines += wrap_with_name_before("conversation", f"{view.item.key}, turn {claim.turn + 1}")
    turn = next((each for each in view.turns if each.position == claim.turn), None)
    question = _find_user_message_before_answer(view, claim.turn)
    if question is not None:
        lines += wrap_with_name_before("question", _shorten_text(question.content, _QUESTION))
    if turn is not None and claim.kind != "answer":
        lines += wrap_with_name_before("answer", _excerpt_answer(turn, claim))
    lines += wrap_with_name_before(unit, claim.text)
    lines += _format_passages_of_claim(served)
    lines += _format_own_earlier_verdict_lines(claim)
    if served.shown:
        lines += format_judge_verdict_lines(served)
    return lines


def format_full_text_lines(served: ServedClaim) -> list[str]:
    """Read out the question, the answer and every passage in full."""
    lines: list[str] = []
    question = _find_user_message_before_answer(served.view, served.claim.turn)
    turn = next((each for each in served.view.turns if each.position == served.claim.turn), None)
    for name, each in (("question", question), ("answer", turn)):
        if each is not None:
            lines += _wrap_paragraphs(name, each.content)
    for passage in served.passages:
        lines += _wrap_paragraphs(_format_passage_name(passage), passage.document.text)
    return lines


def _wrap_paragraphs(name: str, text: str) -> list[str]:
    lines = textwrap.wrap(f"{make_visible_line(name)}:", width=WIDTH, subsequent_indent="  ")
    for paragraph in make_visible(text[:FULL_TEXT_LIMIT]).split("\n"):
        lines += textwrap.wrap(
            paragraph, width=WIDTH, initial_indent="  ", subsequent_indent="  "
        ) or [""]
    if len(text) > FULL_TEXT_LIMIT:
        lines.append(f"  … ({len(text) - FULL_TEXT_LIMIT:,} more characters)")
    return lines


def format_judge_verdict_lines(served: ServedClaim) -> list[str]:
    """Show the verdict on the claim; only for those who may know."""
    judge, labels = served.claim.first_window_verdict, served.spec.labels
    lines = wrap_with_name_before(
        "judge", fmt.describe_label(judge.label, labels, served.view.run.spec.judge)
    )
    if judge.reason:
        lines += wrap_with_name_before("judge's reason", judge.reason)
    truths = {truth.id: truth for truth in served.view.truths}
    for each in served.claim.evidence:
        truth = truths.get(each.truth)
        if truth is not None:
            stance = "supports a part" if each.stance == "partial" else each.stance
            name = f"{stance} {reference_letter(served.spec)}{truth.number}"
            lines += wrap_with_name_before(name, truth.text)
    return lines


def format_short_key_lines(spec: MetricSpec) -> list[str]:
    """Name the keys, shortly, before the answer is typed."""
    own = ", ".join(
        f"{key} {fmt.describe_label(label, spec.labels)}"
        for key, label, _ in list_verdict_choices(spec)
    )
    return wrap_with_name_before("keys", f"{own}; s skip; ? all keys; q quit")


def list_key_explanations(spec: MetricSpec) -> list[str]:
    """Explain all keys, one text each: the key, a colon and what it does."""
    own = [
        f"{key if key == label else f'{key}, or {label}'}: {meaning}"
        for key, label, meaning in list_verdict_choices(spec)
    ]
    codes = [
        f"{number}: reason code ({code.title}) for your last verdict: {code.meaning}"
        for number, code in enumerate(REASON_CODES, 1)
    ]
    return [*own, *codes, *_HELP]


def format_label_event(act: LabelEvent) -> str:
    """Name a label event that was taken back."""
    if act.verdict is not None:
        return f"the verdict {act.verdict}"
    if act.action is Action.CODED:
        return f"the reason code {_TITLES.get(act.code or '', 'none')}"
    return describe_event_without_verdict(act.action, act.mark)


def _format_passage_name(passage: RankedPassageView) -> str:
    source = (
        f", {make_visible_line(passage.document.source, 60)}" if passage.document.source else ""
    )
    return f"passage P{passage.document.number}{source}, turn {passage.turn + 1}"


def _format_passages_of_claim(served: ServedClaim) -> list[str]:
    passages: Sequence[RankedPassageView] = served.passages
    if not passages:
        return ["passages: none are known for this answer"]
    part = describe_truncated_comparison(served.claim, passages)
    lines = [] if part is None else wrap_with_name_before("passages", part)
    claim = tokenise_text(served.claim.text[:MAX_CLAIM_COMPARED])
    for passage in passages[:_PASSAGES]:
        words = claim if passage.is_ranked else None
        text = "".join(piece.text for piece in excerpt_passage(passage, _PASSAGE, words))
        name = _format_passage_name(passage)
        if passage.is_ranked and not is_match_hidden(served.claim, served.view):
            name += f", similarity {passage.ranked.match:.2f}"
        lines += wrap_with_name_before(name, text)
    left = len(passages) - _PASSAGES
    if left > 0:
        lines.append(f"passages left out: {left}; t reads everything in full")
    return lines


def _format_own_earlier_verdict_lines(claim: ClaimView) -> list[str]:
    """Show the earlier label, as far as that may be shown."""
    mine = claim.mine
    if mine is None:
        return []
    lines = wrap_with_name_before("your verdict", mine.verdict) if mine.verdict is not None else []
    if mine.note:
        lines += wrap_with_name_before("your note", mine.note)
    if mine.flagged:
        lines.append("flagged")
    return lines


def _find_user_message_before_answer(view: ReviewView, turn: int) -> TurnView | None:
    """Find the last message of the user before an answer."""
    before = [each for each in view.turns if each.position < turn and each.role == "user"]
    return before[-1] if before else None


def _shorten_text(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} …"


def _excerpt_answer(turn: TurnView, claim: ClaimView) -> str:
    """Give the answer near the claim, the claim's own words between « and »."""
    text = turn.content
    span = claim.span if claim.kind == "claim" else None
    if len(text) <= _ANSWER and span is None:
        return text
    if span is None:
        return _shorten_text(text, _ANSWER)
    parts = choose_excerpt_with_needed_spans(tokenise_text(text[:FULL_TEXT_LIMIT]), [span], _ANSWER)
    excerpts = []
    for part in parts:
        start, end = max(part.start, span.start), min(part.end, span.end)
        if start < end:
            excerpts.append(f"{text[part.start : start]}«{text[start:end]}»{text[end : part.end]}")
        else:
            excerpts.append(text[part.start : part.end])
    before = "… " if parts and text[: parts[0].start].strip() else ""
    after = " …" if parts and text[parts[-1].end :].strip() else ""
    return f"{before}{' … '.join(excerpts)}{after}" if excerpts else _shorten_text(text, _ANSWER)
