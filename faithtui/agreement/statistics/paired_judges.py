"""Two judges on the same units: is one right more often, do they use the labels as often?

The tests of single tables take units as standing alone. Claims of one conversation do not, so
reports use the clustered ones and the sign flips; the others are shown as what they are.
"""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from faithtui.agreement.statistics.chi_square import chi_square_tail
from faithtui.agreement.statistics.tables import Counted
from faithtui.domain.estimates import Reason

MOST_STEPS = 2**20
"""Sums made while sign patterns are enumerated; enough for all patterns of 16 groups."""
DRAWS = 10_000
"""Sign patterns drawn where there are too many to enumerate."""
_NOISE = 1e-9
"""Share of the largest possible sum below which two sums are the same."""


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


def mcnemar(b: int, c: int, *, corrected: bool = False) -> ChiSquare | Reason:
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
        return Reason.NO_VARIATION
    apart = max(0, abs(b - c) - corrected)
    return ChiSquare(apart**2 / (b + c), 1)


def mcnemar_exact(b: int, c: int) -> float:
    """Compute the two-sided binomial p of b against c, in (0, 1]; 1 without any such unit.

    Source:
        McNemar 1947; twice the smaller tail, at most 1.
    """
    at_most, _ = _tail(b, c)
    return min(1.0, 2 * at_most)


def mcnemar_mid(b: int, c: int) -> float | Reason:
    """Compute the two-sided mid-p of b against c, in (0, 1); undefined without any such unit.

    Source:
        Fagerland, Lydersen & Laake 2013, BMC Medical Research Methodology 13:91: the exact p minus
        the chance of the split itself. With b = c, where the exact p is 1, some authors take off
        only half of that chance.
    """
    if not b + c:
        return Reason.NO_VARIATION
    _, exactly = _tail(b, c)
    return mcnemar_exact(b, c) - exactly


def durkalski(groups: Sequence[DiscordantGroup]) -> ChiSquare | Reason:
    """Test whether two judges are right equally often on units that come in groups.

    Source:
        Durkalski et al. 2003, Statistics in Medicine 22:2417-2428:
        (sum (b - c) / n)² / sum ((b - c) / n)².
    """
    if not any(group.n for group in groups):
        return Reason.NO_ITEMS
    gaps = [(group.b - group.c) / group.n for group in groups if group.n]
    spread = math.fsum(gap * gap for gap in gaps)
    return ChiSquare(math.fsum(gaps) ** 2 / spread, 1) if spread else Reason.NO_VARIATION


def obuchowski(groups: Sequence[DiscordantGroup]) -> ChiSquare | Reason:
    """Test as `durkalski`, large groups counting more.

    Source:
        Obuchowski 1998, Statistics in Medicine 17:1495-1507:
        (K - 1) / K * (sum (b - c))² / sum (b - c)², K groups with units.
    """
    gaps = [group.b - group.c for group in groups if group.n]
    if not gaps:
        return Reason.NO_ITEMS
    spread = sum(gap * gap for gap in gaps)
    if not spread:
        return Reason.NO_VARIATION
    return ChiSquare((len(gaps) - 1) / len(gaps) * sum(gaps) ** 2 / spread, 1)


def bowker(table: Counted) -> ChiSquare | Reason:
    """Test whether each pair of labels is mixed up as often one way as the other.

    Returns:
        One degree of freedom per pair of labels that is mixed up at all; undefined without any.

    Source:
        Bowker 1948, Journal of the American Statistical Association 43:572-574.
    """
    if not table.n:
        return Reason.NO_ITEMS
    counts = table.counts
    pairs = [
        (counts[i][j], counts[j][i])
        for i in range(len(counts))
        for j in range(i)
        if counts[i][j] + counts[j][i]
    ]
    if not pairs:
        return Reason.NO_VARIATION
    return ChiSquare(math.fsum((a - b) ** 2 / (a + b) for a, b in pairs), len(pairs))


def stuart_maxwell(table: Counted) -> ChiSquare | Reason:
    """Test whether two raters use each label as often.

    Labels that are never mixed up, directly or over others, are apart: each set of labels that
    hang together gives its number of labels less one degrees of freedom.

    Source:
        Stuart 1955, Biometrika 42:412-416; Maxwell 1970, British Journal of Psychiatry 116:651-655:
        d' S⁻¹ d over all labels but one, S_ii = row + column - 2 T_ii, S_ij = -(T_ij + T_ji).
    """
    if not table.n:
        return Reason.NO_ITEMS
    counts, rows, columns = table.counts, table.rows, table.columns
    statistic, df = 0.0, 0
    for together in _mixed_up(counts):
        used = together[:-1]  # the last one's difference follows from the others'
        matrix = [
            [
                rows[i] + columns[i] - 2 * counts[i][i] if i == j else -counts[i][j] - counts[j][i]
                for j in used
            ]
            for i in used
        ]
        gaps = [rows[i] - columns[i] for i in used]
        statistic += math.fsum(a * b for a, b in zip(gaps, _solved(matrix, gaps), strict=True))
        df += len(used)
    return ChiSquare(statistic, df) if df else Reason.NO_VARIATION


@dataclass(frozen=True, slots=True)
class SignFlip:
    """How often flipped differences are as far from 0 as the observed ones."""

    p: float
    """Two-sided, in (0, 1]."""
    draws: int | None
    """Patterns drawn; None: all were enumerated."""


def sign_flip(
    differences: Sequence[float], *, seed: int = 0, draws: int = DRAWS
) -> SignFlip | Reason:
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
        return Reason.NO_ITEMS
    # Signs of zeros double every count alike.
    sizes = sorted(abs(each) for each in differences if each)
    if not sizes:
        return SignFlip(1.0, None)
    whole = math.fsum(sizes)
    far = abs(math.fsum(differences)) - _NOISE * whole
    sums = _signed_sums(sizes, whole)
    if sums is not None:
        as_far = sum(ways for each, ways in sums.items() if abs(each) >= far)
        return SignFlip(as_far / 2 ** len(sizes), None)
    chance = random.Random(seed)
    alike = sorted(Counter(sizes).items())
    hits = sum(
        abs(
            math.fsum(
                size * (times - 2 * chance.getrandbits(times).bit_count()) for size, times in alike
            )
        )
        >= far
        for _ in range(draws)
    )
    return SignFlip((1 + hits) / (1 + draws), draws)


def holm(p_values: Sequence[float]) -> list[float]:
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


def _tail(b: int, c: int) -> tuple[float, float]:
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


def _mixed_up(counts: Sequence[Sequence[float]]) -> list[list[int]]:
    """Put labels together that are mixed up, directly or over others; alone ones are left out."""
    sets: list[list[int]] = []
    for i in range(len(counts)):
        near = [each for each in sets if any(counts[i][j] + counts[j][i] for j in each)]
        sets = [each for each in sets if each not in near]
        sets.append(sorted({i, *(j for each in near for j in each)}))
    return [each for each in sets if len(each) > 1]


def _solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Solve a positive definite system by elimination; it is as small as a label set."""
    lines = [[*map(float, row), float(value)] for row, value in zip(matrix, right, strict=True)]
    size = len(lines)
    for k in range(size):
        for i in range(k + 1, size):
            factor = lines[i][k] / lines[k][k]
            lines[i] = [a - factor * b for a, b in zip(lines[i], lines[k], strict=True)]
    found = [0.0] * size
    for k in reversed(range(size)):
        known = math.fsum(lines[k][j] * found[j] for j in range(k + 1, size))
        found[k] = (lines[k][size] - known) / lines[k][k]
    return found


def _signed_sums(sizes: Sequence[float], whole: float) -> Counter[float] | None:
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
