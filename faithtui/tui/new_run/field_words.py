"""The fields of the form for new runs: their choices in words, and a line on what each is for."""

from collections.abc import Mapping
from typing import Final

from faithtui.tui.keymap.help import HelpText

AS_PEER: Final = "as-peer"
"""The strategy that also takes the peer's number."""

SELECTS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "strategy": (
        ("each question once, windows computed from the verdicts", "evidence"),
        ("the peer's own questions, window by window", "window"),
        ("as the peer: its questions and its number, oddities too", AS_PEER),
    ),
    "claims": (
        ("extracted from the answers by the judge", "extracted"),
        ("imported: those that came with the data", "imported"),
    ),
    "sending": (
        ("one by one: answers come at once", "singly"),
        ("by batches of the provider: cheaper, within a day", "batch"),
    ),
}
"""Words and value of each choice, by the id of the field; the first one is chosen at first."""

HINTS: Final[Mapping[str, str]] = {
    "metrics": "one run per metric, one after the other",
    "judge": "offline, or provider:model; a choice above fills it in",
    "server": "an OpenAI-compatible server, http://…/v1; empty: the provider's own",
    "parameters": "temperature=0 top_p=… seed=… reasoning_effort=… max_tokens=…; empty: as set",
    "options": "name=value …; metric.name=value for one of several; as listed above",
    "budget": "US dollars that each run may cost at most; empty: no limit",
    "sources": "data sets to run over; none chosen: all of them",
    "preview": "what the runs would ask and cost; nothing is asked before they start",
}
"""What each field is for, by its id."""

CHOICE_HINTS: Final[Mapping[str, str]] = {
    "evidence": "fewest calls; the scores mean the same as window by window",
    "window": "more calls: each window by itself; for comparing with the peer",
    AS_PEER: "for reproducing the peer's figures; its mistakes are not corrected",
    "extracted": "the judge extracts claims from each answer, then gives its verdicts",
    "imported": "only for metrics that judge claims, on data that came with claims",
    "singly": "the progress screen shows them as they come; cancel and resume at any time",
    "batch": "answered while faithtui is closed; resume the run later",
}
"""What a choice of `SELECTS` means, by its value."""

FIELD_HELP: Final[Mapping[str, HelpText]] = {
    "metrics": HelpText(
        "Metrics",
        "Which metrics to run: {new-run.choose} chooses one or leaves it out again. Each chosen "
        "one makes a run of its own, one after the other.",
    ),
    "judges": HelpText(
        "Judge",
        "Who judges: {new-run.choose} takes one into the lines below, where another one can be "
        "typed. {new-run.test} tests it.",
    ),
    "strategy": HelpText("Strategy", "How the judge is asked; the line below the form says more."),
    "claims": HelpText(
        "Claims", "Whether the judge extracts claims from the answers or those of the data count."
    ),
    "sending": HelpText("Sending", "Whether questions go one by one or as the provider's batches."),
    "option-list": HelpText(
        "Options",
        "Options of the chosen metrics: {new-run.choose} turns one on or off, or goes to the line "
        "below where its value is typed.",
    ),
    "sources": HelpText(
        "Sources",
        "Which data sets to run over: {new-run.choose} chooses; none chosen means all of them.",
    ),
    "preview": HelpText(
        "Before the start",
        "How the judge did in its test, and what the runs would ask and cost. Nothing is asked "
        "before they start.",
    ),
}
"""What `?` says of each field that takes no text, by its id."""
