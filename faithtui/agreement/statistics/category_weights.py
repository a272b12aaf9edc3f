"""How much two categories differ: 0 on the diagonal, up to 1 for the farthest pair.

Every weighted coefficient works with disagreement weights v = 1 - w, because sums of small
disagreements stay exact where one minus a large agreement would not. `None` means unweighted:
any two categories differ by 1.
"""

from collections.abc import Sequence

Disagreement = tuple[tuple[float, ...], ...]


def linear(scores: Sequence[float]) -> Disagreement:
    """Weigh a pair of categories by its distance over the largest one.

    Args:
        scores: One number per category, in declared order.

    Source:
        Cicchetti & Allison 1971: agreement weights 1 - |d| / dmax.
    """
    return _scaled([[abs(a - b) for b in scores] for a in scores])


def quadratic(scores: Sequence[float]) -> Disagreement:
    """Weigh a pair of categories by the square of its distance over the largest one.

    Source:
        Fleiss & Cohen 1973: agreement weights 1 - (d / dmax)².
    """
    return tuple(tuple(each * each for each in row) for row in linear(scores))


def from_agreement(weights: Sequence[Sequence[float]]) -> Disagreement:
    """Take agreement weights, in [0, 1] with 1 on the diagonal."""
    return tuple(tuple(1 - each for each in row) for row in weights)


def from_disagreement(weights: Sequence[Sequence[float]]) -> Disagreement:
    """Take disagreement weights of any size, not negative, with 0 on the diagonal.

    Source:
        Cohen 1968, Psychological Bulletin 70:213-220; divided by the largest, which changes no
        kappa and is needed where the sum of the weights enters.
    """
    return _scaled(weights)


def disagreement(a: int, b: int, weights: Disagreement | None) -> float:
    """Say how much two categories differ, in [0, 1]."""
    return float(a != b) if weights is None else weights[a][b]


def _scaled(distances: Sequence[Sequence[float]]) -> Disagreement:
    largest = max((max(row) for row in distances), default=0.0)
    # No distance at all: nothing ever disagrees.
    return tuple(tuple(each / largest if largest else 0.0 for each in row) for row in distances)
