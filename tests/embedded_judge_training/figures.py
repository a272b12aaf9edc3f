"""How good judgements are: the figures that stand beside the weights."""

import random
from collections.abc import Callable, Sequence

Judged = tuple[bool, float, bool]
"""Whether a row is supported, its probability, and whether the judge says so."""


def balanced_accuracy(judged: Sequence[Judged]) -> float | None:
    """Mean of the accuracies on supported and on unsupported rows; None when one kind is absent."""
    good = [said for is_supported, _, said in judged if is_supported]
    bad = [not said for is_supported, _, said in judged if not is_supported]
    return (sum(good) / len(good) + sum(bad) / len(bad)) / 2 if good and bad else None


def area_under_curve(judged: Sequence[Judged]) -> float | None:
    """Probability that a supported row ranks above an unsupported one, ties counting half.

    None when one kind is absent.

    Source:
        Mann and Whitney's U by ranks: Hanley and McNeil, Radiology 143 (1982).
    """
    ordered = sorted(judged, key=lambda each: each[1])
    positives = sum(each[0] for each in ordered)
    if not 0 < positives < len(ordered):
        return None
    ranks, place = 0.0, 0
    while place < len(ordered):
        past = place
        while past < len(ordered) and ordered[past][1] == ordered[place][1]:
            past += 1
        ranks += sum(each[0] for each in ordered[place:past]) * (place + 1 + past) / 2
        place = past
    return (ranks - positives * (positives + 1) / 2) / (positives * (len(ordered) - positives))


def with_interval(
    figure: Callable[[Sequence[Judged]], float | None],
    groups: Sequence[Sequence[Judged]],
    draws: int,
    seed: int,
) -> dict[str, float | None]:
    """A figure and its 95 % interval, by resampling groups with a seed.

    Returns:
        `value`, `low` and `high`, each rounded to four digits; None where there is none.
    """
    chance = random.Random(seed)
    values = []
    for _ in range(draws):
        drawn = chance.choices(groups, k=len(groups))
        value = figure([row for group in drawn for row in group])
        if value is not None:
            values.append(value)
    values.sort()
    return {
        "value": rounded(figure([row for group in groups for row in group])),
        "low": rounded(values[int(0.025 * len(values))] if values else None),
        "high": rounded(values[min(len(values) - 1, int(0.975 * len(values)))] if values else None),
    }


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; None of nothing."""
    return sum(values) / len(values) if values else None


def rounded(value: float | None) -> float | None:
    """Four digits: more than any of the intervals bears."""
    return None if value is None else round(value, 4)
