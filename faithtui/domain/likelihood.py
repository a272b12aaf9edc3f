"""Probabilities as three bands.

A heuristic ranks well and is off by its level, so two decimals would claim what nobody measured.
"""

from enum import StrEnum
from typing import Final

LIKELY_FROM: Final = 0.6
UNLIKELY_TO: Final = 0.4
"""Between the two a probability says little: see docs/judges/offline.md, "Bands"."""


class LikelihoodBand(StrEnum):
    """How likely it is that a claim is supported."""

    LIKELY = "likely"
    UNSURE = "unsure"
    UNLIKELY = "unlikely"


def find_band(chance: float) -> LikelihoodBand:
    """Name the band of a probability in [0, 1]; each edge belongs to the outer band."""
    if chance >= LIKELY_FROM:
        return LikelihoodBand.LIKELY
    return LikelihoodBand.UNLIKELY if chance <= UNLIKELY_TO else LikelihoodBand.UNSURE
