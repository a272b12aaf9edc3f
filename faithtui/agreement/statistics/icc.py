"""Intraclass correlations of scores that several raters gave the same units."""

import math
from collections.abc import Sequence
from enum import StrEnum

from faithtui.domain.estimates import Point, Reason

_NOTHING = 1e-12
"""Below this part of the whole a mean square is rounding."""


class Form(StrEnum):
    """Which raters and which ratings are meant."""

    ONE_WAY = "1,1"
    """Each unit has raters of its own."""
    ABSOLUTE = "2,1"
    """Raters are a sample; that one rater is stricter counts against them."""
    CONSISTENCY = "3,1"
    """These raters and no others; a constant difference does not count."""
    ONE_WAY_MEAN = "1,k"
    ABSOLUTE_MEAN = "2,k"
    CONSISTENCY_MEAN = "3,k"


def icc(units: Sequence[Sequence[float]], form: Form = Form.ABSOLUTE) -> Point:
    """Compute an intraclass correlation.

    Args:
        units: The ratings of each unit, one per rater in the same order; complete.
        form: Which one.

    Returns:
        At most 1, and possibly far below 0. Undefined: `NO_ITEMS` without units, `NO_OVERLAP` with
        one rater, `NO_VARIATION` with one unit or without variation (0/0).

    Source:
        Shrout & Fleiss 1979, Psychological Bulletin 86:420-428, table 4 and page 426.
    """
    n = len(units)
    if not n:
        return Reason.NO_ITEMS
    k = len(units[0])
    if k < 2:
        return Reason.NO_OVERLAP
    values = [value for unit in units for value in unit]
    middle = math.fsum(values) / (n * k)
    furthest = max(abs(value - middle) for value in values)
    if n < 2 or furthest <= _NOTHING * max(map(abs, values)):
        return Reason.NO_VARIATION
    # Measured from the middle and by the furthest value, so that large numbers cost no digits.
    table = [[(value - middle) / furthest for value in unit] for unit in units]
    between = math.fsum(math.fsum(unit) ** 2 for unit in table) / k
    raters = math.fsum(math.fsum(rater) ** 2 for rater in zip(*table, strict=True)) / n
    whole = math.fsum(value * value for unit in table for value in unit)
    bms = between / (n - 1)
    jms = raters / (k - 1)
    wms = max(0.0, whole - between) / (n * (k - 1))
    ems = max(0.0, whole - between - raters) / ((n - 1) * (k - 1))
    match form:
        case Form.ONE_WAY:
            above, below = bms - wms, bms + (k - 1) * wms
        case Form.ABSOLUTE:
            above, below = bms - ems, bms + (k - 1) * ems + k * (jms - ems) / n
        case Form.CONSISTENCY:
            above, below = bms - ems, bms + (k - 1) * ems
        case Form.ONE_WAY_MEAN:
            above, below = bms - wms, bms
        case Form.ABSOLUTE_MEAN:
            above, below = bms - ems, bms + (jms - ems) / n
        case Form.CONSISTENCY_MEAN:
            above, below = bms - ems, bms
    if abs(below) <= _NOTHING * whole:
        return Reason.NO_VARIATION
    return above / below
