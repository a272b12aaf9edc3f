"""Which public data sets the embedded judge is trained and measured on, and on what terms."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEMO_FILES: Final = tuple(sorted((Path(__file__).parents[2] / "fixtures" / "demo").glob("*.jsonl")))
"""The conversations of `faithtui demo`, whose labels the judge is compared with."""
_KEY_DIGITS: Final = 8
"""Hexadecimal digits of a conversation of MTRAG that its names in the demo begin with."""


@dataclass(frozen=True, slots=True)
class Source:
    """One public data set, and what its licence lets us do with it."""

    name: str
    family: str
    """Sources of one family share their documents or annotators and are averaged first."""
    title: str
    licence: str
    is_trained_on: bool = True
    held_out_with: tuple[str, ...] = ()
    """Further families that must be left out together with this one: they share dialogues."""


SOURCES: Final = (
    Source("mtrag", "mtrag", "MTRAG answers (Katsis et al., TACL 2025)", "Apache-2.0"),
    Source(
        "begin_wow",
        "begin",
        "BEGIN, Wizard of Wikipedia (Dziri et al., TACL 2022)",
        "CC-BY-4.0",
        held_out_with=("faithdial",),
    ),
    Source(
        "begin_cmu",
        "begin",
        "BEGIN, CMU-DoG (Dziri et al., TACL 2022)",
        "CC-BY-4.0",
        held_out_with=("faithdial",),
    ),
    Source(
        "begin_tc",
        "begin",
        "BEGIN, TopicalChat (Dziri et al., TACL 2022)",
        "CDLA-Sharing-1.0",
        held_out_with=("faithdial",),
    ),
    Source(
        "faithdial_wow",
        "faithdial",
        "FaithDial audit, Wizard of Wikipedia (Dziri et al., NAACL 2022)",
        "MIT",
        held_out_with=("begin",),
    ),
    Source(
        "faithdial_cmu",
        "faithdial",
        "FaithDial audit, CMU-DoG (Dziri et al., NAACL 2022)",
        "MIT",
        held_out_with=("begin",),
    ),
    Source(
        "faithdial_tc",
        "faithdial",
        "FaithDial audit, TopicalChat (Dziri et al., NAACL 2022)",
        "MIT",
        held_out_with=("begin",),
    ),
    Source("wice", "wice", "WiCE (Kamoi et al., EMNLP 2023)", "ODC-BY"),
    Source("summedits", "summedits", "SummEdits (Laban et al., EMNLP 2023)", "Apache-2.0"),
    Source(
        "faithbench",
        "faithbench",
        "FaithBench, sentences (Bao et al., NAACL 2025)",
        "CC-BY-NC-SA-4.0",
        is_trained_on=False,
    ),
    Source(
        "faithbench_resp",
        "faithbench",
        "FaithBench, summaries (Bao et al., NAACL 2025)",
        "CC-BY-NC-SA-4.0",
        is_trained_on=False,
    ),
)
"""Every data set that is used. One whose licence is non-commercial is evaluated on, no more."""
LEFT_OUT: Final = {
    "HealthVer": "its repository names no licence",
    "Climate-FEVER": "its repository names no licence",
    "QAGS": "its repository names no licence",
}
"""Data sets that would fit and took no part, and why."""


@dataclass(frozen=True, slots=True)
class DemoConversations:
    """What the judge must not have seen: otherwise the demo would measure its memory."""

    keys: frozenset[str]
    """First digits of the conversations' names in MTRAG."""
    answers: frozenset[str]
    """Every assistant turn, white space apart."""

    def hold(self, group: str, claim: str) -> bool:
        """Whether a row is of one of these conversations, by its name or by its text."""
        key = group.removeprefix("mtrag:")[:_KEY_DIGITS]
        return (group.startswith("mtrag:") and key in self.keys) or plain(claim) in self.answers


def demo_conversations() -> DemoConversations:
    """Read the conversations of the demo."""
    keys: set[str] = set()
    answers: set[str] = set()
    for file in DEMO_FILES:
        for line in file.read_text(encoding="utf-8").splitlines():
            conversation = json.loads(line)
            keys.add(conversation["id"].split("-")[1])
            answers |= {
                plain(turn["content"])
                for turn in conversation["turns"]
                if turn["role"] == "assistant"
            }
    return DemoConversations(frozenset(keys), frozenset(answers))


def plain(text: str) -> str:
    """Give a text with all its white space as single blanks."""
    return " ".join(text.split())
