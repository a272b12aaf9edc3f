"""A confusion matrix as reports show it: plain numbers, without numpy.

Rows are the reference, in reports the annotators; columns are the judge. Many matrices at once are
`statistics.matrices.MatrixStack`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

NumberT_co = TypeVar("NumberT_co", bound=float, covariant=True)

FEW_ITEMS = 30
"""Units below which figures say little."""

TWO_CATEGORIES = ("positive", "negative")
"""Categories of a collapsed matrix."""


@dataclass(frozen=True, slots=True)
class ConfusionMatrix(Generic[NumberT_co]):
    """Units by the reference's label and the judge's, or sums of their weights."""

    categories: tuple[str, ...]
    """Declared labels, in the order of the label set, used or not."""
    counts: tuple[tuple[NumberT_co, ...], ...]
    """counts[i][j]: units the reference puts in category i and the judge in category j; at
    least 0."""

    @property
    def n(self) -> NumberT_co:
        """Number of units."""
        return _sum_numbers(self.reference_totals)

    @property
    def agreed_count(self) -> NumberT_co:
        """Units with the same label from both."""
        return _sum_numbers([row[i] for i, row in enumerate(self.counts)])

    @property
    def reference_totals(self) -> tuple[NumberT_co, ...]:
        """The reference's count of each category."""
        return tuple(map(_sum_numbers, self.counts))

    @property
    def judge_totals(self) -> tuple[NumberT_co, ...]:
        """The judge's count of each category."""
        return tuple(map(_sum_numbers, zip(*self.counts, strict=True)))

    def transpose(self) -> "ConfusionMatrix[NumberT_co]":
        """Make the judge the reference."""
        return ConfusionMatrix(self.categories, tuple(zip(*self.counts, strict=True)))

    def collapse_to_two_categories(self, positive: Sequence[str]) -> "ConfusionMatrix[NumberT_co]":
        """Put the categories together into two: first the positive ones, then the rest.

        Args:
            positive: Names of categories, any number; others are ignored.

        Returns:
            ((tp, fn), (fp, tn)) over `TWO_CATEGORIES`.
        """
        sides = [
            [place for place, name in enumerate(self.categories) if (name in positive) is is_first]
            for is_first in (True, False)
        ]
        return ConfusionMatrix(
            TWO_CATEGORIES,
            tuple(
                tuple(
                    _sum_numbers([self.counts[i][j] for i in down for j in across])
                    for across in sides
                )
                for down in sides
            ),
        )


def _sum_numbers(numbers: Sequence[NumberT_co]) -> NumberT_co:
    """Add up; whole numbers give a whole number."""
    return sum(numbers)  # type: ignore[return-value]  # of no numbers it is a whole 0
