"""How often the intervals of evidence overlap and of extraction recall hold the truth.

Runs are drawn whose truth is known. `python -m tests.benchmarks.evidence_coverage` from the
repository root prints the table; `--replications` makes it longer.

Evidence: a conversation has 1 to 8 claims with marks. Of a claim the judge points past everything
(F1 0) with one chance in five and at exactly the same words (F1 1) with one in five; else F1 is
spread about 0.6. How good the judge is differs between conversations such that two claims of one
are correlated by about 0.2. Extraction: a conversation has 1 to 4 complete answers of 2 to 10
claims; the judge extracts 85 % (or 97 %), with a correlation of 0.1 within a conversation.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from faithtui.agreement.labelled_units import EvidenceUnit, ExtractionUnit
from faithtui.agreement.report.figures.marked_evidence import (
    compute_evidence_overlap,
    compute_extraction_recall,
)
from faithtui.domain.estimates import LEVEL, Estimate
from faithtui.domain.ids import ClaimId, ConversationId

SIZES = (10, 20, 40, 100)
"""Conversations."""
WORDS = 20
"""That are marked for a claim."""
MIDDLE = 0.6
RECALLS = (0.85, 0.97)
CORRELATION = 0.1


def draw_evidence(size: int, rng: np.random.Generator) -> list[EvidenceUnit]:
    """Draw marked claims: the judge points at as many words as are marked, some of them others."""
    units: list[EvidenceUnit] = []
    for group in range(size):
        shift = rng.normal(0, 0.15)
        for _ in range(rng.integers(1, 9)):
            kind = rng.random()
            share = 0.0 if kind < 0.2 else 1.0 if kind < 0.4 else MIDDLE + shift
            if 0 < share < 1:
                share += rng.normal(0, 0.15)
            both = round(WORDS * min(1.0, max(0.0, share)))
            marked = frozenset(("d", place) for place in range(WORDS))
            cited = frozenset(("d", place) for place in range(WORDS - both, 2 * WORDS - both))
            claim = ClaimId(len(units))
            units.append(EvidenceUnit(claim, f"g{group}", "ann", marked, cited))
    return units


def draw_extraction(size: int, recall: float, rng: np.random.Generator) -> list[ExtractionUnit]:
    """Draw complete answers."""
    spread = 1 / CORRELATION - 1
    units = []
    for group in range(size):
        chance = rng.beta(recall * spread, (1 - recall) * spread)
        for turn in range(rng.integers(1, 5)):
            claims = int(rng.integers(2, 11))
            fair = int(rng.binomial(claims, chance))
            units.append(
                ExtractionUnit(
                    ConversationId(group), f"g{group}", turn, fair, 0, 0, claims - fair, ("ann",)
                )
            )
    return units


def estimate_f1(units: list[EvidenceUnit]) -> Estimate:
    """Estimate F1 as a report does."""
    found = compute_evidence_overlap(units, LEVEL)
    assert found is not None
    return found.f1


def estimate_recall(units: list[ExtractionUnit]) -> Estimate:
    """Estimate recall as a report does."""
    found = compute_extraction_recall(units, LEVEL)
    assert found is not None
    return found.recall


def find_true_f1() -> float:
    """Give the F1 that the units are drawn with, from many of them."""
    value = estimate_f1(draw_evidence(20_000, np.random.default_rng(7))).value
    assert value is not None
    return value


def count_held(
    draw: Callable[[np.random.Generator], Estimate], truth: float, replications: int
) -> tuple[float, float]:
    """Give the share of intervals that hold the truth, and how wide they are on average."""
    held, widths = 0, []
    for seed in range(replications):
        found = draw(np.random.default_rng([seed, 11]))
        if found.ci_low is None or found.ci_high is None:
            continue
        widths.append(found.ci_high - found.ci_low)
        held += found.ci_low <= truth <= found.ci_high
    return held / len(widths), sum(widths) / len(widths)


def measure(replications: int) -> Iterator[tuple[str, int, float, float]]:
    """Measure every setting: figure, conversations, coverage, width."""
    truth = find_true_f1()

    def draw_f1(size: int, rng: np.random.Generator) -> Estimate:
        return estimate_f1(draw_evidence(size, rng))

    def draw_recall(size: int, recall: float, rng: np.random.Generator) -> Estimate:
        return estimate_recall(draw_extraction(size, recall, rng))

    for size in SIZES:
        yield "evidence F1", size, *count_held(partial(draw_f1, size), truth, replications)
    for recall in RECALLS:
        for size in SIZES:
            found = count_held(partial(draw_recall, size, recall), recall, replications)
            yield f"extraction recall {recall}", size, *found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=1_000)
    replications = parser.parse_args().replications
    print("| figure | conversations | coverage | width |")
    print("|---|---|---|---|")
    for name, size, held, width in measure(replications):
        print(f"| {name} | {size} | {held:.3f} | {width:.2f} |", flush=True)


if __name__ == "__main__":
    main()
