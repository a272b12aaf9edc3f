"""How to split a budget between people's labels and units that only the judge sees.

With a judge that correlates with people, one label and many judged units tell as much as many
labels.

Source: Broska, Howes & van Loon 2024, The Mixed Subjects Design, doi 10.31235/osf.io/j3bnt;
ppi_py 0.2.3, ppi_power_analysis.py, `ppi_power`.
"""

import math
from dataclasses import dataclass

from faithtui.errors import InputError


@dataclass(frozen=True, slots=True)
class Costs:
    """What things cost, in any one unit; at least 0.

    Raises:
        InputError: Labels, or judged units, cost nothing: there is then no best split.
    """

    label: float
    """A person's label."""
    prediction: float
    """A judge's verdict."""
    unit: float = 0.0
    """To have the unit at all."""

    def __post_init__(self) -> None:
        """Check that there is something to share out."""
        if self.label <= 0 or self.prediction < 0 or self.unit < 0:
            raise InputError("a label must cost more than 0, and nothing may cost less than 0")
        if not self.judged:
            raise InputError("judged units cost nothing, so there is no best number of them")

    @property
    def judged(self) -> float:
        """A unit with the judge's verdict only."""
        return self.unit + self.prediction


@dataclass(frozen=True, slots=True)
class Split:
    """How many of each."""

    labelled: int
    """Units with a person's label; also judged, unless nothing else is."""
    judged_only: int
    cost: float
    effective: float
    """As many labels alone would tell as much."""


def split_budget(correlation: float, costs: Costs, budget: float) -> Split:
    """Get the most out of a budget.

    Args:
        correlation: Of judge and people, in [-1, 1].
        costs: What things cost.
        budget: In the unit of the costs, at least 0.

    Returns:
        Numbers rounded down, so that the budget is kept. Labels alone when the judge correlates
        too little to be worth its cost.
    """
    if _judge_pays(correlation, costs):
        labelled, judged_only = _best(correlation, costs, budget / _price(correlation, costs))
        n = max(1, math.floor(labelled))
        left = budget - n * (costs.label + costs.judged)
        others = min(math.ceil(judged_only), math.floor(left / costs.judged + 1e-9))
        if others > 0:
            return _split(correlation, costs, n, others)
    return _split(correlation, costs, math.floor(budget / (costs.label + costs.unit) + 1e-9), 0)


def split_for(correlation: float, costs: Costs, effective: float) -> Split:
    """Find the cheapest way to know as much as a number of labels would tell.

    Args:
        correlation: Of judge and people, in [-1, 1].
        costs: What things cost.
        effective: That number of labels, at least 0.

    Returns:
        Numbers rounded up, so that it is reached.
    """
    if _judge_pays(correlation, costs):
        labelled, _ = _best(correlation, costs, effective)
        n = max(1, math.ceil(labelled - 1e-9))
        unexplained = 1 - correlation**2
        # Solved from effective = n (n + N) / (n + N (1 - r²)), of which n / (1 - r²) is the limit.
        room = n - effective * unexplained
        if n < effective and room > 0:
            others = math.ceil(n * (effective - n) / room - 1e-9)
            return _split(correlation, costs, n, others)
    return _split(correlation, costs, math.ceil(effective - 1e-9), 0)


def effective_size(correlation: float, labelled: int, judged_only: int) -> float:
    """Compute n (n + N) / (n + N (1 - r²)); 0 without labels."""
    if not labelled:
        return 0.0
    together = labelled + judged_only
    return labelled * together / (labelled + judged_only * (1 - correlation**2))


def _price(correlation: float, costs: Costs) -> float:
    """Compute what it costs at best to know as much as one label tells, with the judge's help."""
    explained = correlation**2
    ratio = costs.judged / costs.label
    both = math.sqrt(ratio * explained * (1 - explained))
    return costs.label * (1 - explained + ratio * explained + 2 * both)


def _judge_pays(correlation: float, costs: Costs) -> bool:
    return correlation != 0 and _price(correlation, costs) < costs.label + costs.unit


def _best(correlation: float, costs: Costs, effective: float) -> tuple[float, float]:
    """Find the best real numbers of labelled and judged-only units for an effective size."""
    explained = correlation**2
    ratio = costs.judged / costs.label
    both = math.sqrt(explained * (1 - explained))
    labelled = effective * (1 - explained + both * math.sqrt(ratio))
    together = effective * (explained + both / math.sqrt(ratio))
    return labelled, together - labelled


def _split(correlation: float, costs: Costs, labelled: int, judged_only: int) -> Split:
    if judged_only:
        cost = labelled * (costs.label + costs.judged) + judged_only * costs.judged
    else:
        cost = labelled * (costs.label + costs.unit)
    return Split(labelled, judged_only, cost, effective_size(correlation, labelled, judged_only))
