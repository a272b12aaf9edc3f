"""The upper tail of the chi-square distribution."""

import math


def chi_square_tail(statistic: float, df: int) -> float:
    """Give the chance of a larger value than this one.

    Args:
        statistic: Not negative.
        df: Degrees of freedom, at least 1.

    Source:
        Abramowitz & Stegun 1964, 26.4.4 and 26.4.5: closed forms for odd and even df.
    """
    half = statistic / 2
    if df % 2:
        tail, term, first = math.erfc(math.sqrt(half)), math.sqrt(half / math.pi) * 2, 3
    else:
        tail, term, first = 0.0, 1.0, 2
    # exp(-x) times a sum of powers of x, each from the one before.
    total = 0.0
    for divisor in range(first, df + 1, 2):
        total += term
        term *= statistic / divisor
    return min(1.0, tail + math.exp(-half) * total)
