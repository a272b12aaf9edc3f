"""The statistics of `evaluate` that are not coefficients of tables of categories.

Each reads one or more kinds of input and gives a result as JSON has it. Malformed input raises an
`InputError`; whatever has no meaning is `undefined` with a reason.
"""

from collections.abc import Callable

from tests.agreement.golden import rates, scores, units
from tests.agreement.golden.inputs import Given
from tests.agreement.golden.results import Result

ENTRIES: dict[str, Callable[[Given, Given], Result]] = {
    **rates.ENTRIES,
    **scores.ENTRIES,
    **units.ENTRIES,
}
"""From the name of a statistic to (input, params) -> result."""
