"""Two judges on the same units: is one right more often, do they use the labels as often?

The tests of single tables take units as standing alone. Claims of one conversation do not, so
reports use the clustered ones and the sign flips; the others are shown as what they are.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.statistics.matrices import Floats
from faithtui.domain.withheld_reasons import WithheldReason

MOST_STEPS = 2**20
"""Sums made while sign patterns are enumerated; enough for all patterns of 16 groups."""
SIGN_FLIP_DRAWS = 10_000
"""Sign patterns drawn where there are too many to enumerate."""
_NOISE = 1e-9
"""Share of the largest possible sum below which two sums are the same."""


def chi_square_tail(statistic: float, df: int) -> float:
    """Give the chance of a larger value than this one.

    Args:
        statistic: Not negative.
        df: Degrees of freedom, at least 1.

    Source:
        Abramowitz & Stegun 1964, 26.4.4 and 26.4.5: closed forms for odd and even df.
    """
    half = statistic / 2
    if df % 2:
        tail, term, first = math.erfc(math.sqrt(half)), math.sqrt(half / math.pi) * 2, 3
    else:
        tail, term, first = 0.0, 1.0, 2
    # exp(-x) times a sum of powers of x, each from the one before.
    total = 0.0
    for divisor in range(first, df + 1, 2):
        total += term
        term *= statistic / divisor
    return min(1.0, tail + math.exp(-half) * total)


@dataclass(frozen=True, slots=True)
class ChiSquare:
    """A test statistic with its distribution."""

    statistic: float
    df: int

    @property
    def p(self) -> float:
        """Chance of a larger statistic if there is no difference, in [0, 1]."""
        return chi_square_tail(self.statistic, self.df)


@dataclass(frozen=True, slots=True)
class DiscordantGroup:
    """A conversation's units on which exactly one of two judges is right."""

    n: float
    """All its units, or what they stand for."""
    b: float
    """Only the first is right."""
    c: float
    """Only the second is right."""


def mcnemar_test(b: int, c: int, *, corrected: bool = False) -> ChiSquare | WithheldReason:
    """Test whether two judges are right equally often.

    Args:
        b: Units on which only the first is right.
        c: Units on which only the second is right.
        corrected: With Edwards' continuity correction, which is not larger than the difference.

    Returns:
        1 degree of freedom; undefined when both are always right or wrong together (0/0).

    Source:
        McNemar 1947, Psychometrika 12:153-157; Edwards 1948, Psychometrika 13:185-187.
    """
    if not b + c:
        return WithheldReason.NO_VARIATION
    difference = max(0, abs(b - c) - corrected)
    return ChiSquare(difference**2 / (b + c), 1)


def mcnemar_exact_p(b: int, c: int) -> float:
    """Compute the two-sided binomial p of b against c, in (0, 1]; 1 without any such unit.

    Source:
        McNemar 1947; twice the smaller tail, at most 1.
    """
    at_most, _ = _binomial_tail(b, c)
    return min(1.0, 2 * at_most)


def mcnemar_mid_p(b: int, c: int) -> float | WithheldReason:
    """Compute the two-sided mid-p of b against c, in (0, 1); undefined without any such unit.

    Source:
        Fagerland, Lydersen & Laake 2013, BMC Medical Research Methodology 13:91: the exact p minus
        the chance of the split itself. With b = c, where the exact p is 1, some authors take off
        only half of that chance.
    """
    if not b + c:
        return WithheldReason.NO_VARIATION
    _, exactly = _binomial_tail(b, c)
    return mcnemar_exact_p(b, c) - exactly


def durkalski_test(groups: Sequence[DiscordantGroup]) -> ChiSquare | WithheldReason:
    """Test whether two judges are right equally often on units that come in groups.

    Source:
        Durkalski et al. 2003, Statistics in Medicine 22:2417-2428:
        (sum (b - c) / n)² / sum ((b - c) / n)².
    """
    if not any(group.n for group in groups):
        return WithheldReason.NO_ITEMS
    gaps = [(group.b - group.c) / group.n for group in groups if group.n]
    spread = math.fsum(gap * gap for gap in gaps)
    return ChiSquare(math.fsum(gaps) ** 2 / spread, 1) if spread else WithheldReason.NO_VARIATION


def obuchowski_test(groups: Sequence[DiscordantGroup]) -> ChiSquare | WithheldReason:
    """Test as `durkalski_test`, large groups counting more.

    Source:
        Obuchowski 1998, Statistics in Medicine 17:1495-1507:
        (K - 1) / K * (sum (b - c))² / sum (b - c)², K groups with units.
    """
    gaps = [group.b - group.c for group in groups if group.n]
    if not gaps:
        return WithheldReason.NO_ITEMS
    spread = sum(gap * gap for gap in gaps)
    if not spread:
        return WithheldReason.NO_VARIATION
    return ChiSquare((len(gaps) - 1) / len(gaps) * sum(gaps) ** 2 / spread, 1)


def bowker_test(matrix: ConfusionMatrix[float]) -> ChiSquare | WithheldReason:
    """Test whether each pair of labels is mixed up as often one way as the other.

    Returns:
        One degree of freedom per pair of labels that is mixed up at all; `NO_VARIATION` without
        any, `NO_ITEMS` without units.

    Source:
        Bowker 1948, Journal of the American Statistical Association 43:572-574.
    """
    if not matrix.n:
        return WithheldReason.NO_ITEMS
    cells = np.asarray(matrix.counts, dtype=np.float64)
    both = np.tril(cells + cells.T, -1)
    mixed_up = both > 0
    if not mixed_up.any():
        return WithheldReason.NO_VARIATION
    found = ((cells - cells.T)[mixed_up] ** 2 / both[mixed_up]).sum()
    return ChiSquare(float(found), int(mixed_up.sum()))


def stuart_maxwell_test(matrix: ConfusionMatrix[float]) -> ChiSquare | WithheldReason:
    """Test whether two raters use each label as often.

    Labels that are never mixed up, directly or over others, are apart: each set of labels that
    hang together gives its number of labels less one degrees of freedom.

    Returns:
        `NO_VARIATION` where no labels are mixed up, `NO_ITEMS` without units.

    Source:
        Stuart 1955, Biometrika 42:412-416; Maxwell 1970, British Journal of Psychiatry 116:651-655:
        d' S⁻¹ d over all labels but one, S_ii = row + column - 2 T_ii, S_ij = -(T_ij + T_ji).
    """
    if not matrix.n:
        return WithheldReason.NO_ITEMS
    cells = np.asarray(matrix.counts, dtype=np.float64)
    both = cells + cells.T
    gaps = cells.sum(axis=1) - cells.sum(axis=0)
    spread = np.diag(both.sum(axis=1)) - both
    statistic, df = 0.0, 0
    for together in _group_confused_labels(both):
        used = together[:-1]  # the last one's difference follows from the others'
        solved = np.linalg.solve(spread[np.ix_(used, used)], gaps[used])
        statistic += float(gaps[used] @ solved)
        df += len(used)
    return ChiSquare(statistic, df) if df else WithheldReason.NO_VARIATION


@dataclass(frozen=True, slots=True)
class SignFlipResult:
    """How often flipped differences are as far from 0 as the observed ones."""

    p: float
    """Two-sided, in (0, 1]."""
    draws: int | None
    """Patterns drawn; None: all were enumerated."""


def sign_flip_test(
    differences: Sequence[float], *, seed: int = 0, draws: int = SIGN_FLIP_DRAWS
) -> SignFlipResult | WithheldReason:
    """Test whether differences of conversations are as likely below as above 0.

    Args:
        differences: One number per conversation.
        seed: Of the drawn patterns.
        draws: How many patterns to draw where there are too many different sums.

    Returns:
        The share of the 2^G sign patterns whose sum is at least as far from 0 as observed: exact
        for up to 16 conversations, and for more where few different sums occur, as with counts;
        else drawn, the observed pattern included.

    Source:
        Fisher 1935, The Design of Experiments, section 21; drawn: Phipson & Smyth 2010,
        Statistical Applications in Genetics and Molecular Biology 9:39.
    """
    if not differences:
        return WithheldReason.NO_ITEMS
    # Signs of zeros double every count alike.
    sizes = sorted(abs(each) for each in differences if each)
    if not sizes:
        return SignFlipResult(1.0, None)
    whole = math.fsum(sizes)
    far = abs(math.fsum(differences)) - _NOISE * whole
    sums = _count_signed_sums(sizes, whole)
    if sums is not None:
        as_far = sum(ways for each, ways in sums.items() if abs(each) >= far)
        return SignFlipResult(as_far / 2 ** len(sizes), None)
    generator = np.random.Generator(np.random.PCG64(seed))
    values, times = np.unique(sizes, return_counts=True)
    flipped = (times - 2 * generator.binomial(times, 0.5, size=(draws, len(times)))) @ values
    hits = int((np.abs(flipped) >= far).sum())
    return SignFlipResult((1 + hits) / (1 + draws), draws)


def adjust_by_holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values for being several, in their own order.

    Returns:
        Values in [0, 1], none below the value it adjusts.

    Source:
        Holm 1979, Scandinavian Journal of Statistics 6:65-70.
    """
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda each: p_values[each])):
        largest = max(largest, min(1.0, p_values[place] * (len(p_values) - rank)))
        adjusted[place] = largest
    return adjusted


def _binomial_tail(b: int, c: int) -> tuple[float, float]:
    """Give the chance of at most min(b, c) heads of b + c coins, and of exactly so many."""
    n, fewer = b + c, min(b, c)
    exactly = math.exp(
        math.lgamma(n + 1) - math.lgamma(fewer + 1) - math.lgamma(n - fewer + 1) - n * math.log(2)
    )
    total, term = 0.0, exactly
    for heads in range(fewer, -1, -1):
        total += term
        term *= heads / (n - heads + 1)
        if term < total * 1e-18:
            break
    return total, exactly


def _group_confused_labels(both: Floats) -> list[list[int]]:
    """Put labels together that are mixed up, directly or over others; alone ones are left out."""
    sets: list[list[int]] = []
    for i in range(len(both)):
        near = [each for each in sets if both[i, each].any()]
        sets = [each for each in sets if each not in near]
        sets.append(sorted({i, *(j for each in near for j in each)}))
    return [each for each in sets if len(each) > 1]


def _count_signed_sums(sizes: Sequence[float], whole: float) -> Counter[float] | None:
    """Count the sign patterns of each sum; None: too many sums to count.

    Sums that differ by rounding only are one.
    """
    exact = all(each.is_integer() for each in map(float, sizes))
    digits = 0 if exact else 13 - math.floor(math.log10(whole))
    sums, steps = Counter({0.0: 1}), 0
    for size in sizes:
        flipped = Counter[float]()
        for each, ways in sums.items():
            flipped[round(each + size, digits)] += ways
            flipped[round(each - size, digits)] += ways
        steps += len(flipped)
        if steps > MOST_STEPS:
            return None
        sums = flipped
    return sums
