"""Logistic regression with fixed signs, in plain Python: for the training only."""

import math
from collections.abc import Sequence
from typing import Final

_SETTLED: Final = 1e-10
"""Largest slope that is left when the fit has converged."""
_MOST_STEPS: Final = 200
_SHORTEST: Final = 1e-6
"""Part of a Newton step below which no better point is looked for."""


def fitted(
    rows: Sequence[Sequence[float]],
    sides: Sequence[float],
    importance: Sequence[float],
    signs: Sequence[int],
    ridge: float,
) -> list[float]:
    """Minimise the mean logistic loss plus half the ridge on the squared weights.

    Args:
        rows: Values per row, the same number in each.
        sides: +1 or -1 per row.
        importance: Weight per row; all together 1.
        signs: Per value +1, -1, or 0 for one that is free and not penalised.
        ridge: Penalty, 0 or more.

    Returns:
        One weight per value, none against its sign.

    Source:
        Bertsekas, "Projected Newton methods for optimization problems with simple constraints",
        SIAM Journal on Control and Optimization 20 (1982).
    """
    size = len(signs)
    penalties = [ridge if sign else 0.0 for sign in signs]
    found = [0.0] * size

    def loss(weights: Sequence[float]) -> float:
        return sum(
            importance[n] * _softplus(-sides[n] * dot(row, weights)) for n, row in enumerate(rows)
        ) + sum(p * w * w / 2 for p, w in zip(penalties, weights, strict=True))

    now = loss(found)
    for _ in range(_MOST_STEPS):
        slope = [p * w for p, w in zip(penalties, found, strict=True)]
        curve = [[0.0] * size for _ in range(size)]
        for n, row in enumerate(rows):
            wrong = 1 / (1 + math.exp(min(700.0, sides[n] * dot(row, found))))
            pull, bend = importance[n] * sides[n] * wrong, importance[n] * wrong * (1 - wrong)
            for left in range(size):
                slope[left] -= pull * row[left]
                bent, line = bend * row[left], curve[left]
                for right in range(left + 1):
                    line[right] += bent * row[right]
        free = [
            n for n in range(size) if not (signs[n] and found[n] == 0 and slope[n] * signs[n] >= 0)
        ]
        if all(abs(slope[n]) < _SETTLED for n in free):
            break
        step = _solved(
            [
                [
                    curve[max(a, b)][min(a, b)] + (penalties[a] + 1e-12 if a == b else 0.0)
                    for b in free
                ]
                for a in free
            ],
            [slope[n] for n in free],
        )
        length = 1.0
        while True:
            tried = list(found)
            for n, part in zip(free, step, strict=True):
                moved = found[n] - length * part
                tried[n] = 0.0 if signs[n] and moved * signs[n] < 0 else moved
            after = loss(tried)
            if after <= now or length < _SHORTEST:
                break
            length /= 2
        if after >= now:
            break
        found, now = tried, after
    return found


def _solved(matrix: list[list[float]], right: Sequence[float]) -> list[float]:
    """Solve a small symmetric positive definite system by elimination with pivots."""
    size = len(right)
    table = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for place in range(size):
        pivot = max(range(place, size), key=lambda row: abs(table[row][place]))
        table[place], table[pivot] = table[pivot], table[place]
        for row in range(place + 1, size):
            factor = table[row][place] / table[place][place]
            for column in range(place, size + 1):
                table[row][column] -= factor * table[place][column]
    solution = [0.0] * size
    for place in reversed(range(size)):
        known = sum(table[place][n] * solution[n] for n in range(place + 1, size))
        solution[place] = (table[place][size] - known) / table[place][place]
    return solution


def _softplus(value: float) -> float:
    return max(value, 0.0) + math.log1p(math.exp(-abs(value)))


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """Sum of the products of two sequences of the same length."""
    return sum(a * b for a, b in zip(left, right, strict=True))
