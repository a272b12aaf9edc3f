"""Results of `evaluate` as JSON has them: numbers by name, or `undefined` with a reason."""

from faithtui.domain.estimates import Point, Reason

Result = dict[str, object]


def undefined(reason: Reason, **more: object) -> Result:
    """Make the result of a statistic that has no value."""
    return {"value": None, "status": "undefined", "reason": reason.value, **more}


def result_of(value: Point) -> Result:
    """Make the result of a statistic that is one number."""
    return undefined(value) if isinstance(value, Reason) else {"value": value}
