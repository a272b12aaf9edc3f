"""Results of `evaluate` as JSON has them: numbers by name, or `undefined` with a reason."""

from faithtui.domain.estimates import Point
from faithtui.domain.withheld_reasons import WithheldReason

Result = dict[str, object]


def undefined(reason: WithheldReason, **more: object) -> Result:
    """Make the result of a statistic that has no value."""
    return {"value": None, "status": "undefined", "reason": reason.value, **more}


def result_of(value: Point) -> Result:
    """Make the result of a statistic that is one number."""
    return undefined(value) if isinstance(value, WithheldReason) else {"value": value}
