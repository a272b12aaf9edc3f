"""What few labels of a project do to the embedded judge's verdicts, on every source of its rows.

Draws labels from one source of the development rows, recalibrates on them as `judge recalibrate
--apply --apply-threshold` does, and compares balanced accuracy of the rows without labels before
and after. Careless annotators give a fifth of the labels wrong. `python -m
tests.benchmarks.few_labels` from the repository root prints the table of docs/judges/offline.md.
"""

import argparse
import multiprocessing
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from faithtui.agreement.statistics.labelled_probabilities import (
    LabelledProbability,
    explain_recalibration_refusal,
    scale_weights_to_effective_size,
)
from faithtui.agreement.statistics.recalibration import fit_recalibration
from faithtui.agreement.statistics.verdict_threshold import evaluate_threshold
from faithtui.judges.embedded.weights import NO_RECALIBRATION, Calibration
from tests.embedded_judge_training.recalibration import (
    balanced_accuracy,
    draw_by_verdict,
    draw_simple,
    read_file,
)

DRAWS_OF: Final = {"simple": draw_simple, "by verdict": draw_by_verdict}
CARELESS: Final = 0.2
"""Share of labels that careless annotators give wrong."""
MOST_LOST: Final = 0.02
"""What balanced accuracy of a source may fall by."""


@dataclass(frozen=True, slots=True)
class LabelDraw:
    """What is drawn from a source, many times."""

    source: str
    design: str
    labels: int
    wrong: float
    """Share of the labels that are given wrong."""


@dataclass(frozen=True, slots=True)
class DrawOutcome:
    """What one draw of labels does."""

    is_refused: bool
    is_suggested: bool
    """Whether another threshold of verdicts is."""
    change: float
    """Of balanced accuracy of the rows without labels."""


def recalibrate(known: Sequence[LabelledProbability]) -> Calibration | None:
    """Give what a new run would be made with, all being applied that may be; None: refused."""
    weighted = scale_weights_to_effective_size(known)
    if explain_recalibration_refusal(weighted) is not None:
        return None
    fitted, verdicts = fit_recalibration(weighted), evaluate_threshold(weighted)
    threshold = verdicts.threshold if verdicts.helps_enough_to_offer else NO_RECALIBRATION.threshold
    return Calibration(fitted.slope, fitted.intercept, threshold)


def draw_labels(setting: LabelDraw, draws: int) -> Iterator[DrawOutcome]:
    """Label rows of a source and judge the others, again and again with one seed."""
    claims = read_file()[setting.source]
    chance = random.Random(f"{setting.source} {setting.design} {setting.labels} {setting.wrong}")
    for _ in range(draws):
        weights = DRAWS_OF[setting.design](claims, setting.labels, chance)
        found = recalibrate(
            [
                replace(
                    claims[place],
                    weight=weight,
                    is_supported=claims[place].is_supported ^ (chance.random() < setting.wrong),
                )
                for place, weight in weights.items()
            ]
        )
        threshold = (found or NO_RECALIBRATION).threshold
        is_suggested = threshold != NO_RECALIBRATION.threshold
        change = 0.0
        if is_suggested:
            rest = [claim for place, claim in enumerate(claims) if place not in weights]
            before = balanced_accuracy(rest, NO_RECALIBRATION.threshold)
            change = balanced_accuracy(rest, threshold) - before
        yield DrawOutcome(found is None, is_suggested, change)


def _draw_all(arguments: tuple[LabelDraw, int]) -> list[DrawOutcome]:
    return list(draw_labels(*arguments))


def main() -> None:
    """Print the table: one row per number of labels, design and annotator, over all sources."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000, help="of each source")
    parser.add_argument("--labels", nargs="+", type=int, default=(20, 40, 50, 100))
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    given = parser.parse_args()
    sources = [*read_file()]
    rows = list(product(given.labels, DRAWS_OF, (0.0, CARELESS)))
    print("| labels | draws | wrong | number | refused | suggested | fell by more than .02 "
          "| lowest of 1,000 | worst | worst source | mean of suggested |")  # fmt: skip
    print("|" + " --- |" * 11)
    with multiprocessing.Pool(given.jobs) as pool:
        for labels, design, wrong in rows:
            settings = [LabelDraw(source, design, labels, wrong) for source in sources]
            found = pool.map(_draw_all, [(each, given.draws) for each in settings], chunksize=1)
            drawn = [each for some in found for each in some]
            changes = sorted(each.change for each in drawn)
            moved = [each.change for each in drawn if each.is_suggested]
            lowest = [min(each.change for each in some) for some in found]
            worst = sources[lowest.index(min(lowest))] if min(lowest) < 0 else "–"
            print(
                f"| {labels} | {design} | {wrong:.0%} | {len(drawn):,} "
                f"| {sum(each.is_refused for each in drawn) / len(drawn):.0%} | {len(moved):,} "
                f"| {sum(each < -MOST_LOST for each in changes)} "
                f"| {changes[len(changes) // 1000]:+.3f} | {changes[0]:+.3f} | {worst} "
                f"| {sum(moved) / max(1, len(moved)):+.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
