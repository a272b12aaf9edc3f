"""Probabilities from log odds: the embedded judges and their recalibration use the same one."""

import math


def logistic(log_odds: float) -> float:
    """Give the probability, in [0, 1], that has these log odds; no size of them overflows."""
    if log_odds < 0:
        grown = math.exp(log_odds)
        return grown / (1 + grown)
    return 1 / (1 + math.exp(-log_odds))
