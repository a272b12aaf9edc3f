"""`?`: what has the focus, what the screen is for, and the keys, made from the bindings themselves.

A pane is explained by its class (`HELP_DATA`) or its id in `PANES`, a screen by its `HELP_WORDS`. A
screen whose fields have ids of their own explains them by `FIELD_HELP` instead of `PANES`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from textual.app import App
from textual.binding import ActiveBinding, Binding
from textual.screen import Screen

from faithtui.tui.keymap.key_names import KeyNames, format_key
from faithtui.tui.theme.lines import BLANK, Line, Piece, make_line, wrap


@dataclass(frozen=True, slots=True)
class HelpText:
    """What something is for."""

    title: str
    words: str


PANES: Final = {
    "claims": HelpText(
        "Claims",
        "What gets a verdict, one row each, with the judge's letter in each window that holds it "
        'and yours under "you". Verdict keys are about the chosen row, in whichever pane you are.',
    ),
    "windows": HelpText(
        "Windows",
        "The stretches of the conversation that were judged together. Choosing one limits the "
        "claims to it; the first row is all of them.",
    ),
    "transcript": HelpText(
        "Transcript",
        "What the user asked, and the answer with the words of the chosen claim between « »; the "
        "nearest words between ‹ › where it is worded otherwise. Below an answer stand its "
        "passages (P1 P2), and <- at the answer of the chosen claim. {review.source} shows all "
        "turns.",
    ),
    "card": HelpText("Claim", "The chosen claim, and the place in the answer it comes from."),
    "evidence": HelpText(
        "Evidence",
        "Passages the answer was given from, ranked by the words they share with the claim: found "
        "by comparing words, not by the judge. Marked is what says otherwise than the claim.",
    ),
    "truths": HelpText(
        "Truths",
        "What the judge was given to compare claims with. It is the judge's own work, so a truth "
        "may say less than its passage.",
    ),
    "verdict": HelpText(
        "Verdict",
        "The verdict keys of the claim, the judge's verdict and reason, your label, and its effect "
        "on the scores: judge → with overrides.",
    ),
    "lowest": HelpText(
        "Lowest scores",
        "Conversations of the chosen run, the lowest score first: enter or a click reviews one. "
        "{go.conversations} lists all of them.",
    ),
    "next": HelpText(
        "What next",
        "What can be done with the chosen run, most urgent first. Its key, {list.open} or a click "
        "does it.",
    ),
    "list": HelpText("List", "One row each; {list.open} opens the chosen one."),
    "detail": HelpText("Details", "More about the chosen row."),
    "metrics": HelpText(
        "Metrics", "A row per answer, a column per metric: score and labels of each claim."
    ),
    "answer": HelpText("Answer", "The chosen answer with what the chosen metric judged in it."),
    "matrix": HelpText(
        "Confusion",
        "Confusion matrix: counts of claims by human label (rows) and judge's verdict "
        "(columns). The diagonal is agreement. {agreement.open-cell} lists the claims of a cell.",
    ),
    "coefficients": HelpText(
        "Agreement",
        "Agreement of judge and human labels beyond chance, with 95 % intervals that respect "
        "conversations.",
    ),
    "scores": HelpText("Scores", "How the judge's scores of answers follow human ratings."),
    "classes": HelpText(
        "Per verdict",
        "Precision: the share of the judge's verdicts of this label that the human label "
        "confirms. Recall: the share of human labels that the judge finds.",
    ),
    "detection": HelpText(
        "Detection", "Detecting unfaithful claims: TP, FP, FN, precision, recall."
    ),
    "coverage": HelpText("Coverage", "How much has labels, and of whom."),
    "differences": HelpText("Differences", "Claims on which judge and human label differ."),
    "warnings": HelpText(
        "Summary and warnings",
        "What the figures say in a sentence, and what limits them: read before you use them.",
    ),
    "totals": HelpText(
        "Progress",
        "How far the run is, what it has cost, its pace and its limits; where it is stopped, "
        "why and what can be done.",
    ),
    "stages": HelpText(
        "Stages",
        "Kinds of questions: how often the judge was asked, how often the store had the answer, "
        "how many are in flight, and how often one was asked again.",
    ),
    "events": HelpText(
        "Events",
        "What happened in the run, newest first. {list.open} opens the conversation.",
    ),
    "failed": HelpText(
        "Failed", "Conversations that could not be judged, and why. {list.open} opens one."
    ),
    "calls": HelpText(
        "Calls", "Every question that was put to the judge for this conversation, in order."
    ),
    "question": HelpText(
        "Question", "What the judge was asked in the chosen call: system prompt and prompt."
    ),
    "reply": HelpText("Reply", "What the judge answered, exactly, control characters visible."),
    "sections": HelpText("Sections", "Kinds of settings; the pane beside it shows their values."),
}
"""Help by id of the pane."""


@dataclass(frozen=True, slots=True)
class KeyHelp:
    """What one binding does."""

    scope: str
    id: str
    keys: str
    words: str


_MOVES = ("move.", "go.first")
"""How the ids of keys begin that only move in a pane: they are the same in each."""


def list_active_key_help(screen: Screen[Any]) -> list[KeyHelp]:
    """Explain every key that works now: the focused pane's, the screen's, then everywhere."""
    return merge_key_help(
        (
            "pane"
            if each.node is not screen and not isinstance(each.node, App)
            else "screen"
            if each.node is screen
            else "everywhere",
            each,
        )
        for each in screen.active_bindings.values()
    )


def merge_key_help(bindings: Iterable[tuple[str, ActiveBinding]]) -> list[KeyHelp]:
    """Combine keys of one binding."""
    found: dict[tuple[str, str], tuple[list[str], str]] = {}
    for scope, each in bindings:
        binding = each.binding
        if binding.id is None or not each.enabled:
            continue
        keys, _ = found.setdefault((scope, binding.id), ([], get_tooltip_words(binding)))
        key = format_key(binding)
        if key not in keys:
            keys.append(key)
    return [
        KeyHelp(scope, name, " ".join(keys), words)
        for (scope, name), (keys, words) in found.items()
    ]


def get_tooltip_words(binding: Binding) -> str:
    """Give the longer words of a binding."""
    return binding.tooltip or binding.description


def help_texts(screen: Screen[Any]) -> list[HelpText]:
    """Explain the focused pane, then the screen; what has no words is left out."""
    texts = []
    focused = screen.focused
    if focused is not None:
        panes: Mapping[str, HelpText] = getattr(screen, "FIELD_HELP", PANES)
        own = getattr(focused, "HELP_DATA", None) or panes.get(focused.id or "")
        if isinstance(own, HelpText):
            texts.append(own)
    words = getattr(screen, "HELP_WORDS", "")
    if words:
        texts.append(HelpText("This screen" if texts else "", words))
    return texts


def help_lines(
    texts: Sequence[HelpText], keys: Sequence[KeyHelp], names: KeyNames, width: int
) -> list[Line]:
    """Draw help: what the focused pane and the screen are for, then keys by scope, moving last."""
    lines: list[Line] = []
    for text in texts:
        lines += [BLANK] if lines else []
        if text.title:
            lines.append(make_line(Piece(f" {text.title}", "strong")))
        lines += wrap(names.fill_in_keys_as_pieces(text.words), width - 1, first=[Piece(" ")])
    scopes = {"pane": "In this pane", "screen": "On this screen", "everywhere": "Everywhere"}
    for scope, name in scopes.items():
        own = [each for each in keys if each.scope == scope]
        if not own:
            continue
        lines += [BLANK] if lines else []
        lines.append(make_line(Piece(f" {name}", "strong")))
        for each in sorted(own, key=lambda each: each.id.startswith(_MOVES)):
            lines += wrap(
                names.fill_in_keys_as_pieces(each.words),
                width - 1,
                first=[Piece(f"  {each.keys:<14} ", "key")],
            )
    return lines
