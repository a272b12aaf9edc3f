"""Statistics by name, from plain values to plain values: what worked examples are written in.

The package itself computes from tables and arrays. Here are the names, kinds of input and
parameters of `fixtures/agreement/golden.json`, so that any implementation can be held against it.
"""

from collections.abc import Iterator, Mapping

from faithtui.errors import InputError
from tests.agreement.golden import categories, numbers


def evaluate(
    statistic: str, input: Mapping[str, object], params: Mapping[str, object] | None = None
) -> dict[str, object]:
    """Compute a statistic by its name from plain values.

    Args:
        statistic: A name that the registries in `golden` know.
        input: What to compute it from; `kind` says what the other fields are.
        params: Options of the statistic: weights, level of measurement, confidence and so on.

    Returns:
        `value` and the other numbers of the statistic. A result that has no meaning is
        {"value": None, "status": "undefined", "reason": ...}; there is never NaN in it.

    Raises:
        InputError: The name is not known, the statistic cannot be computed from such an input, or
            the input is malformed, or there is a parameter that it does not have; never a guess.
    """
    entries = {**categories.ENTRIES, **numbers.ENTRIES}
    if statistic not in entries:
        raise InputError(f"{statistic!r} is no statistic known here; known: {sorted(entries)}")
    if not isinstance(input, Mapping):
        raise InputError(f"expected fields with a kind, not {input!r}", field="input")
    given = _Parameters(params or {})
    result = entries[statistic](input, given)
    if unknown := given.keys() - given.read:
        raise InputError(f"{statistic} has no parameter {sorted(unknown)}", field="params")
    return result


class _Parameters(Mapping[str, object]):
    """Parameters that remember which of them were looked at."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self._given = given
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> object:
        self.read.add(name)
        return self._given[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)
