"""Reason codes: which stage failed where a judge's verdict is wrong."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReasonCode:
    """Why a judge's verdict is wrong: the stage that failed."""

    name: str
    """The word that is stored and exported."""
    title: str
    meaning: str
    """A sentence for the screen and the docs."""


REASON_CODES = (
    ReasonCode("claim", "claim extraction", "the answer does not say this, or not like this"),
    ReasonCode("truth", "truth extraction", "a fact of the passage was lost or bent"),
    ReasonCode("verdict", "verdict", "the facts were there and the judge misread them"),
    ReasonCode("retrieval", "retrieval", "the passage that settles it was not retrieved"),
    ReasonCode("policy", "policy", "the guideline is unclear or disputed here"),
    ReasonCode("data", "data", "the answer or the passage is broken"),
    ReasonCode("other", "other", "something else; say it in a note"),
)
"""In the order of their keys, from 1."""
