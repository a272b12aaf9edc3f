"""Lines of the list of what is judged, of one entry of it, and of the windows that hold it."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from faithtui.domain.annotations import Action
from faithtui.domain.ids import ClaimId
from faithtui.domain.label_sets import LabelSet
from faithtui.store.records import (
    ClaimView,
    DocumentView,
    ReviewView,
    WindowVerdictView,
)
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.review.lines.windows import turns_of
from faithtui.tui.review.position import (
    ReviewPosition,
    is_open,
    list_claims,
    translate_label,
    verdict_in,
)
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    Line,
    Piece,
    align_to_edges,
    escape_line,
    escape_text,
    fit_text,
    make_line,
    truncate_pieces,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

TWO_LINES_FROM = 30
"""Cells from which a claim may take two lines and names its windows."""


@dataclass(frozen=True, slots=True)
class ClaimListExtras:
    """What the list shows besides the claims themselves."""

    range_claims: frozenset[ClaimId] = frozenset()
    """The marked range."""
    highlighted: Container[ClaimId] | None = None
    """Claims of the queue that is worked through; None: all of them."""
    keys: KeyNames = field(default_factory=lambda: KeyNames({}), compare=False)
    """What keys are called."""


NO_EXTRAS = ClaimListExtras()


def judge_letter(view: ReviewView, claim: ClaimView, window: int | None, labels: LabelSet) -> Piece:
    """Give the judge's verdict: a letter, ! for nothing, a shade where it is hidden."""
    if claim.id in view.hidden:
        return Piece(fmt.HIDDEN_CELL, "quiet")
    label = verdict_in(claim, window).label
    return Piece(fmt.get_label_letter(label, labels), f"strong {fmt.get_label_look(label, labels)}")


def human_letter(view: ReviewView, claim: ClaimView, labels: LabelSet) -> Piece:
    """Give what people said: a letter, · for the same as the judge, blank for nothing yet.

    A small letter is a verdict that counts as no reading: given in bulk, or the judge's accepted.
    """
    mine = translate_label(view, claim.mine.verdict) if claim.mine else None
    said = mine or claim.human
    if said is None:
        return Piece(" ")
    if claim.mine is not None and claim.mine.verdict is not None and not claim.mine.is_counted:
        return Piece(fmt.get_label_letter(said, labels).lower(), "human")
    if said == claim.home_verdict.label:
        return Piece("·", "human")
    return Piece(fmt.get_label_letter(said, labels), "human strong")


def make_mark_piece(claim: ClaimView) -> Piece:
    """Give the mark of what a reviewer wrote down beside a verdict, the weightiest one."""
    mine = claim.mine
    if mine is None:
        return Piece(" ")
    if mine.flagged:
        return Piece("f", "warn strong")
    if mine.action is Action.SKIPPED:
        return Piece("s", "warn")
    if mine.unsure:
        return Piece("~", "warn")
    return Piece("*" if mine.note else " ", "human")


def claim_list_lines(
    view: ReviewView,
    focus: ReviewPosition,
    spec: "MetricSpec",
    width: int,
    extras: ClaimListExtras = NO_EXTRAS,
) -> list[Line]:
    """List what is judged: number, judge's letter, people's letter, words, windows.

    Statements stand below the passage they belong to; of a whole answer one line is shown. None is
    marked as the chosen one: `mark_cursor` does that, for much less than making all lines again.
    """
    claims = list_claims(view, focus.window)
    if not claims:
        return _no_claims(view, focus, spec, width, extras.keys)
    numbers = len(str(len(view.claims)))
    passages = passages_of(view)
    labels = spec.labels
    lines: list[Line] = []
    if width >= TWO_LINES_FROM:
        head = Piece(f" {'#':>{numbers}} J H  {spec.units[0]}", "quiet")
        lines.append(align_to_edges([head], [Piece("windows ", "quiet")], width))
    document: int | None = None
    for row, claim in enumerate(claims):
        if claim.document is not None and claim.document != document:
            found = passages.get(claim.document)
            lines.append(
                make_line(
                    *truncate_pieces([Piece(" "), *passage_name(claim.document, found)], width)
                )
            )
        document = claim.document
        aside = extras.highlighted is not None and claim.id not in extras.highlighted
        look = "" if is_open(claim) and not aside else "quiet"
        first: tuple[Piece, ...] = (
            Piece("=" if claim.id in extras.range_claims else " ", "human"),
            Piece(f"{claim.number:>{numbers}} ", look),
            judge_letter(view, claim, focus.window, labels),
            Piece(" "),
            human_letter(view, claim, labels),
            make_mark_piece(claim),
        )
        if width < TWO_LINES_FROM:
            room = width - numbers - 6
            lines.append(
                Line((*first, Piece(fit_text(escape_line(claim.text).text, room), look)), row)
            )
            continue
        first = (*first, Piece(" "))
        where = fmt.name_windows(tuple(each.window for each in claim.verdicts))
        room = width - len(where) - 2
        if claim.kind == "answer":
            body = [Line(tuple(truncate_pieces([*first, escape_line(claim.text, look)], room)))]
        else:
            indent = numbers + 7
            body = [
                Line((*(first if number == 0 else (Piece(" " * indent),)), *words), row)
                for number, words in enumerate(_two_lines(claim.text, look, room - indent))
            ]
        last = body[-1]
        body[-1] = Line(
            align_to_edges(last.pieces, [Piece(where + " ", "quiet")], width).pieces, row
        )
        lines += body
    return lines


def mark_cursor(lines: Sequence[Line], row: int) -> list[Line]:
    """Mark the chosen entry of a `claim_list_lines`."""
    marked = list(lines)
    at = next((index for index, each in enumerate(marked) if each.row == row), None)
    if at is not None:
        pieces = marked[at].pieces
        marked[at] = replace(marked[at], pieces=(Piece(">", "human"), *pieces[1:]))
    return marked


@lru_cache(maxsize=4096)
def _two_lines(text: str, look: str, width: int) -> tuple[tuple[Piece, ...], ...]:
    """Wrap the words of a claim; kept, because a verdict changes one claim of hundreds."""
    return tuple(each.pieces for each in wrap([escape_line(text, look)], width, most=2))


def passage_name(number: int, found: tuple[DocumentView, int] | None) -> list[Piece]:
    """Name a passage: its number, where it came from, and the turn that retrieved it first."""
    pieces = [Piece(f"P{number}", "strong")]
    if found is None:
        return pieces
    document, turn = found
    if document.source:
        pieces += [Piece(" · ", "quiet"), escape_line(document.source, "quiet", limit=60)]
    return [*pieces, Piece(f" · turn {turn + 1}", "quiet")]


def passages_of(view: ReviewView) -> Mapping[int, tuple[DocumentView, int]]:
    """Find each passage by its number, with the turn of an assistant that retrieved it first."""
    found: dict[int, tuple[DocumentView, int]] = {}
    for turn in sorted(view.turns, key=lambda each: each.role != "assistant"):
        for document in turn.documents or ():
            found.setdefault(document.number, (document, turn.position))
    return found


def _nothing_judged(view: ReviewView, spec: "MetricSpec") -> str:
    """Say what becomes of a window in which nothing was judged, by the rule of the run."""
    if view.is_blind:
        return spec.nothing_judged
    fixed = view.run.spec.rule.when_empty
    scores = "has no score" if fixed is None else f"scores {fixed:.2f} by the rule of this run"
    return f"{spec.nothing_judged} A window without {spec.units[1]} {scores}."


def _no_claims(
    view: ReviewView, focus: ReviewPosition, spec: "MetricSpec", width: int, keys: KeyNames
) -> list[Line]:
    """Say why there is nothing to review here."""
    why = view.item.reason
    if view.item.state.value == "done" and why is None:
        rows = view.windows if focus.window is None else view.windows[focus.window :][:1]
        told = (each for row in rows for each in (row.score.reason, row.reason) if each)
        why = next(told, view.reason)
    lines = [BLANK, make_line(Piece(f" No {spec.units[1]} here.", "strong")), BLANK]
    words = {
        "pending": "This conversation has not been judged yet.",
        "skipped": "It was skipped:",
        "failed": "It failed:",
        "done": _nothing_judged(view, spec),
    }[view.item.state.value]
    lines += wrap([Piece(words)], width, first=[Piece(" ")])
    if why and why != words:
        lines += wrap([escape_text(why, "warn")], width, first=[Piece(" ")])
    lines += [
        BLANK,
        *wrap(
            [
                *keys.make_pieces(
                    f"{{review.next-unlabelled}} goes to the next {spec.units[0]} without a "
                    "verdict, {go.conversations} to the list.",
                    "quiet",
                )
            ],
            width,
            first=[Piece(" ")],
        ),
    ]
    return lines


def occurrence_lines(
    claim: ClaimView, view: ReviewView, labels: LabelSet, width: int
) -> list[Line]:
    """Say what makes it one claim, and list the judge's word in each window that holds it."""
    kind = {
        "claim": f"turn {claim.turn + 1} makes it in the same words",
        "statement": f"P{claim.document} says it in the same words",
        "answer": f"it is the answer of turn {claim.turn + 1}",
    }[claim.kind]
    words = f"One verdict counts in all windows, because {kind}"
    words += "." if claim.kind == "answer" else ": capitals and blanks aside."
    lines: list[Line] = [
        *wrap(
            [escape_line(claim.text, "strong", limit=400)], width - 1, first=[Piece(" ")], most=3
        ),
        *wrap([Piece(words, "quiet")], width - 1, first=[Piece(" ")]),
        BLANK,
    ]
    judge = view.run.spec.judge
    for row, verdict in enumerate(claim.verdicts):
        window = view.windows[verdict.window]
        home = " · counts for agreement" if row == 0 else ""
        sure = fmt.format_confidence(verdict.confidence, labels, judge)
        said = (
            Piece(fmt.HIDDEN, "quiet")
            if claim.id in view.hidden
            else Piece(
                fmt.describe_label(verdict.label, labels, judge),
                fmt.get_label_look(verdict.label, labels),
            )
        )
        lines += wrap(
            [said, Piece(f"{sure}{home}", "quiet")],
            width - 1,
            first=[
                Piece(f" w{verdict.window + 1:<3}", "strong"),
                Piece(f"turns {turns_of(window.turns):<8}", "quiet"),
            ],
            row=row,
        )
        if is_worded_otherwise(claim, verdict):
            lines += wrap(
                [Piece("wrote: ", "quiet"), escape_line(verdict.word or "", limit=400)],
                width - 1,
                first=[Piece(" " * 6)],
                row=row,
                most=4,
            )
        if verdict.reason:
            lines += wrap([escape_text(verdict.reason)], width - 1, first=[Piece(" " * 6)], row=row)
    return lines


def is_worded_otherwise(claim: ClaimView, verdict: WindowVerdictView) -> bool:
    """Say whether the judge wrote something else than the label that was read from it.

    On a whole answer its reply is always worth reading: the label was read out of a text.
    """
    if verdict.word is None:
        return False
    return claim.kind == "answer" or verdict.word.strip().casefold() != verdict.label


def words_lines(words: str, width: int) -> list[Line]:
    """Write a sentence of ours."""
    return wrap([Piece(words)], width - 1, first=[Piece(" ")])


def row_of(view: ReviewView, focus: ReviewPosition, claim: ClaimId | None) -> int:
    """Find the entry of a claim in the list; 0 when it is not listed."""
    claims = list_claims(view, focus.window)
    return next((row for row, each in enumerate(claims) if each.id == claim), 0)
