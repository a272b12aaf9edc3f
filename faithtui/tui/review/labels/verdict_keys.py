"""The keys of `Verdicts`: they work in every pane of the review screen, never while somebody types.

The holder of the panes lists them, not the screen: lines for notes and filters lie outside of it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.binding import Binding, BindingType

from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.tui.input_queue import KeyCheck
from faithtui.tui.screen.early_keys import list_typed_keys, make_early_key_check

if TYPE_CHECKING:
    from faithtui.tui.review.review_screen import ReviewScreen

VERDICT: Final = Binding.Group("verdict")
CODE: Final = Binding.Group("code", compact=True)

SCREEN_BINDINGS: Final[list[BindingType]] = [
    Binding(
        "y,n,i,x",
        "explain_ignored_verdict_key",
        "verdict",
        show=False,
        tooltip="Where the metric has no such verdict: say which keys it has",
        id="review.verdict-elsewhere",
    ),
]
"""Keys that no pane takes: those of verdicts that the metric does not have."""

PANE_BINDINGS: Final[list[BindingType]] = [
    Binding(
        "y",
        "give_verdict('y')",
        "first label",
        group=VERDICT,
        tooltip="Verdict: the metric's first label, such as supported; saves and goes on",
        id="review.verdict-yes",
    ),
    Binding(
        "n",
        "give_verdict('n')",
        "second label",
        group=VERDICT,
        tooltip="Verdict: the metric's second label, such as contradicted; saves and goes on",
        id="review.verdict-no",
    ),
    Binding(
        "i",
        "give_verdict('i')",
        "third label",
        group=VERDICT,
        tooltip="Verdict: the metric's third label, where it has one; saves and goes on",
        id="review.verdict-idk",
    ),
    Binding(
        "x",
        "give_verdict('x')",
        "not fair",
        group=VERDICT,
        tooltip="Not a fair claim: phantom, opinion or bad split; saves and goes on",
        id="review.verdict-unfair",
    ),
    Binding(
        "s",
        "skip_claim",
        "skip",
        tooltip="Skip the claim and go on; it comes again at the end",
        id="review.later",
    ),
    Binding(
        "f",
        "toggle_flag",
        "flag",
        tooltip="Flag the claim, or no longer",
        id="review.flag",
    ),
    Binding(
        "full_stop",
        "repeat_verdict",
        "repeat",
        key_display=".",
        tooltip="Repeat your last verdict, of one claim with its reason code, and go on; after an "
        "accepted verdict or an undo there is none",
        id="review.repeat",
    ),
    Binding(
        "m",
        "begin_or_drop_range",
        "range",
        tooltip="Begin a range here: move, then one verdict for all; again: drop it",
        id="review.range",
    ),
    Binding(
        "c",
        "toggle_unsure",
        "unsure",
        tooltip="Mark your last label as low confidence, or take the mark off",
        id="review.unsure",
    ),
    Binding(
        "a",
        "accept_judge_verdict",
        "accept",
        show=False,
        tooltip="Accept the judge's verdict, where it is shown; not counted in agreement",
        id="review.accept",
    ),
    Binding(
        "0",
        "choose_code",
        "code",
        group=CODE,
        tooltip="Choose the reason code of the last verdict from a list",
        id="review.codes",
    ),
    *(
        Binding(
            str(number),
            f"toggle_code('{code.name}')",
            "code",
            group=CODE,
            tooltip=f"Reason code for the last verdict: {code.title}, {code.meaning}",
            id=f"review.code-{code.name}",
        )
        for number, code in enumerate(REASON_CODES, start=1)
    ),
]

CLAIM_LIST_BINDINGS: Final[list[BindingType]] = [
    Binding(
        "space",
        "skip_claim",
        "skip",
        show=False,
        tooltip="Skip the claim and go on; it comes again at the end",
        id="review.later-too",
    ),
]
"""In other panes the key scrolls."""


_IDS_SHOWING_JUDGE: Final = frozenset(("review.reveal", "review.truths", "review.blind"))
_IDS_ABOUT_ANSWER: Final = frozenset(("review.fresh", "review.missed-claims"))
"""Keys that ask the judge once more, or say what it missed."""
_IDS: Final = (
    _IDS_SHOWING_JUDGE
    | _IDS_ABOUT_ANSWER
    | {
        each.id
        for each in (*SCREEN_BINDINGS, *PANE_BINDINGS, *CLAIM_LIST_BINDINGS)
        if isinstance(each, Binding)
    }
)
_IDS_OF_VERDICTS: Final = frozenset(
    (
        "review.verdict-elsewhere",
        "review.repeat",
        "review.accept",
        "review.later",
        "review.later-too",
        *(each.id for each in PANE_BINDINGS if isinstance(each, Binding) and each.group is VERDICT),
    )
)
"""Keys that label a claim, or say that it gets no label now, and lead on."""
_IDS_ABOUT_LAST_VERDICT: Final = frozenset(
    ("review.unsure", "review.codes", *(f"review.code-{code.name}" for code in REASON_CODES))
)


def drop_keys_typed_ahead(screen: "ReviewScreen", refused: str = "") -> Sequence[str]:
    """Drop keys that were typed ahead for claims, but codes and doubts about the label given last.

    Args:
        screen: Where they were typed.
        refused: A key that was refused before them; of a verdict, codes are about that one.

    Returns:
        What was dropped, in the order typed.
    """
    active = screen.active_bindings.items()
    keys = {key for key, each in active if each.binding.id in _IDS}
    kept = {key for key, each in active if each.binding.id in _IDS_ABOUT_LAST_VERDICT}
    verdicts = {key for key, each in active if each.binding.id in _IDS_OF_VERDICTS}
    if refused in verdicts:
        kept = set()
    return screen.input_queue.drop_typed_ahead(keys - kept, kept, verdicts)


def make_check_of_keys_about_claims(screen: "ReviewScreen") -> KeyCheck:
    """Make what refuses keys about a claim that came before it was on screen, and names them.

    Codes and doubts are about the label given last, and not refused, until a verdict is.
    """
    has_refused_verdict = False

    def refuse_binding(binding: str) -> bool:
        nonlocal has_refused_verdict
        has_refused_verdict |= binding in _IDS_OF_VERDICTS | _IDS_ABOUT_ANSWER
        has_label = screen.verdicts.last_verdict is not None and not has_refused_verdict
        return binding in _IDS and not (binding in _IDS_ABOUT_LAST_VERDICT and has_label)

    return make_early_key_check(screen, refuse_binding, screen.verdicts.refuse)


def refuse_early_keys(screen: "ReviewScreen") -> None:
    """Refuse keys about a claim that come before what is on screen next, unless an undo says so."""
    if not screen.undo.is_under_way:
        screen.input_queue.check_early_keys(make_check_of_keys_about_claims(screen))


def drop_and_report_keys_typed_ahead(screen: "ReviewScreen", refused: str) -> None:
    """Refuse a key that came too early, and those that were typed behind it.

    Args:
        screen: Where they were typed.
        refused: That one; named with them.
    """
    typed = list_typed_keys([refused, *drop_keys_typed_ahead(screen, refused)])
    screen.verdicts.refuse(f"not saved: {typed} · typed before the claim was drawn")


def drop_verdicts_typed_ahead(screen: "ReviewScreen") -> str:
    """Drop verdicts that were typed for a claim that there is not, with the codes behind them.

    Returns:
        What was dropped, by what stands on the keys; "": nothing.
    """
    active = screen.active_bindings.items()
    verdicts = {key for key, each in active if each.binding.group is VERDICT}
    kept = {key for key, each in active if each.binding.id in _IDS_ABOUT_LAST_VERDICT}
    return list_typed_keys(screen.input_queue.drop_typed_ahead(verdicts, kept, verdicts))
