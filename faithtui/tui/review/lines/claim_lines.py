"""Lines about what is judged: why there is none, its passages, the windows that hold it."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_sets import LabelSet
from faithtui.store.records import (
    ClaimView,
    DocumentView,
    ItemState,
    ReviewView,
    WindowVerdictView,
)
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.review.lines.window_lines import format_turn_numbers
from faithtui.tui.review.position import (
    ReviewPosition,
    list_claims_of_window,
)
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    Line,
    Piece,
    escape_line,
    escape_text,
    make_line,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec


@dataclass(frozen=True, slots=True)
class ClaimListExtras:
    """What the list shows besides the claims themselves."""

    range_claims: frozenset[ClaimId] = frozenset()
    """The marked range."""
    highlighted: Container[ClaimId] | None = None
    """Claims of the queue that is worked through; None: all of them."""
    keys: KeyNames = field(default_factory=lambda: KeyNames({}), compare=False)
    """What keys are called."""
    queue_done: tuple[int, int] | None = None
    """How many claims of this conversation are answered in the queue, and how many it has here;
    None: no queue is worked through."""


NO_EXTRAS = ClaimListExtras()


def passage_name_pieces(number: int, found: tuple[DocumentView, int] | None) -> list[Piece]:
    """Name a passage: its number, where it came from, and the turn that retrieved it first."""
    pieces = [Piece(f"P{number}", "strong")]
    if found is None:
        return pieces
    document, turn = found
    if document.source:
        pieces += [Piece(" · ", "quiet"), escape_line(document.source, "quiet", limit=60)]
    return [*pieces, Piece(f" · turn {turn + 1}", "quiet")]


def index_passages_by_number(view: ReviewView) -> Mapping[int, tuple[DocumentView, int]]:
    """Find each passage by its number, with the turn of an assistant that retrieved it first."""
    found: dict[int, tuple[DocumentView, int]] = {}
    for turn in sorted(view.turns, key=lambda each: each.role != "assistant"):
        for document in turn.documents or ():
            found.setdefault(document.number, (document, turn.position))
    return found


def _explain_empty_window(view: ReviewView, spec: "MetricSpec") -> str:
    """Say what becomes of a window in which nothing was judged, by the rule of the run."""
    if view.is_blind:
        return spec.nothing_judged
    fixed = view.run.spec.rule.when_empty
    scores = "has no score" if fixed is None else f"scores {fixed:.2f} by the rule of this run"
    return f"{spec.nothing_judged} A window without {spec.units[1]} {scores}."


def no_claims_lines(
    view: ReviewView, focus: ReviewPosition, spec: "MetricSpec", width: int, keys: KeyNames
) -> list[Line]:
    """Say why there is nothing to review here."""
    why = view.item.reason
    if view.item.state.value == "done" and why is None:
        rows = view.windows if focus.window is None else view.windows[focus.window :][:1]
        reasons = (each for row in rows for each in (row.score.reason, row.reason) if each)
        why = next(reasons, view.reason)
    lines = [BLANK, make_line(Piece(f" No {spec.units[1]} here.", "strong")), BLANK]
    words = {
        "pending": "This conversation has not been judged yet.",
        "skipped": "It was skipped:",
        "failed": "It failed:",
        "done": _explain_empty_window(view, spec),
    }[view.item.state.value]
    lines += wrap([Piece(words)], width, first=[Piece(" ")])
    if why and why != words:
        lines += wrap([escape_text(why, "warn")], width, first=[Piece(" ")])
    if view.item.state is ItemState.SKIPPED and not any(each.documents for each in view.turns):
        words = "No passages came with it: faithtui import FILE names the keys that it drops."
        lines += [BLANK, *wrap_sentence(words, width)]
    lines += [
        BLANK,
        *wrap(
            [
                *keys.fill_in_keys_as_pieces(
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


def claim_verdict_by_window_lines(
    claim: ClaimView, view: ReviewView, labels: LabelSet, width: int
) -> list[Line]:
    """Say what makes it one claim, and list the judge's verdict in each window that holds it."""
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
        verdict_piece = (
            Piece(fmt.HIDDEN, "quiet")
            if claim.id in view.hidden
            else Piece(
                fmt.describe_label(verdict.label, labels, judge),
                fmt.get_label_look(verdict.label, labels),
            )
        )
        lines += wrap(
            [verdict_piece, Piece(f"{sure}{home}", "quiet")],
            width - 1,
            first=[
                Piece(f" w{verdict.window + 1:<3}", "strong"),
                Piece(f"turns {format_turn_numbers(window.turns):<8}", "quiet"),
            ],
            row=row,
        )
        if is_judge_wording_unlike_label(claim, verdict):
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


def is_judge_wording_unlike_label(claim: ClaimView, verdict: WindowVerdictView) -> bool:
    """Say whether the judge wrote something else than the label that was read from it.

    On a whole answer its reply is always worth reading: the label was read out of a text.
    """
    if verdict.word is None:
        return False
    return claim.kind == "answer" or verdict.word.strip().casefold() != verdict.label


def wrap_sentence(words: str, width: int) -> list[Line]:
    """Write a sentence of ours."""
    return wrap([Piece(words)], width - 1, first=[Piece(" ")])


def get_claim_row_index(view: ReviewView, focus: ReviewPosition, claim: ClaimId | None) -> int:
    """Find the entry of a claim in the list; 0 when it is not listed."""
    claims = list_claims_of_window(view, focus.window)
    return next((row for row, each in enumerate(claims) if each.id == claim), 0)
