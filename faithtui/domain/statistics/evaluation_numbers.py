"""The statistics of `evaluate` that are not coefficients of tables of categories.

Each reads one or more kinds of input and gives a result as JSON has it. Malformed input raises an
`InputError`; whatever has no meaning is `undefined` with a reason.
"""

from collections.abc import Callable

from faithtui.domain.statistics import evaluation_rates, evaluation_scores, evaluation_units
from faithtui.domain.statistics.evaluation_inputs import Given
from faithtui.domain.statistics.evaluation_results import Result

ENTRIES: dict[str, Callable[[Given, Given], Result]] = {
    **evaluation_rates.ENTRIES,
    **evaluation_scores.ENTRIES,
    **evaluation_units.ENTRIES,
}
"""From the name of a statistic to (input, params) -> result."""
