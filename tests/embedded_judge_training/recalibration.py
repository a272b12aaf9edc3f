"""Measures what labels of a project's own do to the embedded judge's verdicts.

Run it as `python -m tests.embedded_judge_training.recalibration DATA.jsonl`.

Without DATA it measures more draws of the rows in `probabilities.csv`, simple ones and by verdict.

Prints a table, and writes `probabilities.csv` for the tests beside it: per row of the training data
its source, group, label, and the probability of weights that were trained without its family. No
text is in it. Sources whose licence is non-commercial are measured and not written. DATA is what
`training` reads.
"""

import csv
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from faithtui.agreement.statistics.labelled_probabilities import (
    LabelledProbability,
    explain_recalibration_refusal,
    scale_weights_to_effective_size,
)
from faithtui.agreement.statistics.recalibration import fit_recalibration
from faithtui.agreement.statistics.verdict_threshold import (
    SHIPPED_THRESHOLD,
    evaluate_threshold,
    measure_verdict_accuracy,
)
from faithtui.judges.embedded.overlap import compute_support_probability
from tests.embedded_judge_training.sources import SOURCES
from tests.embedded_judge_training.training import fit_left_out, read_rows

FILE: Final = Path(__file__).parent / "probabilities.csv"
MOST_ROWS: Final = 240
"""Rows of a source in the file."""
DRAWS: Final = 200
SEED: Final = 7
MANY_DRAWS_SEED: Final = 101

Claims = Sequence[LabelledProbability]


def read_probabilities(data: Path) -> Mapping[str, list[LabelledProbability]]:
    """Judge every row by weights that saw nothing of its family."""
    with data.open(encoding="utf-8") as lines:
        rows = read_rows(lines)
    models = fit_left_out(rows)
    found: dict[str, list[LabelledProbability]] = defaultdict(list)
    for row in rows:
        chance = compute_support_probability(row.parts, models[row.source.family])
        is_clash = any(part.alignment.clash is not None for part in row.parts)
        is_yes = chance >= SHIPPED_THRESHOLD and not is_clash
        found[row.source.name].append(
            LabelledProbability(
                row.group,
                chance,
                row.is_supported,
                is_clash=is_clash,
                is_override=is_yes is not row.is_supported,
                is_drawn=True,
            )
        )
    return found


def balanced_accuracy(claims: Claims, threshold: float) -> float:
    """Measure verdicts that begin at a threshold."""
    says_yes = [not each.is_clash and each.chance >= threshold for each in claims]
    found = measure_verdict_accuracy(claims, says_yes).balanced_accuracy
    assert found is not None
    return found


def simulate_draws(claims: Claims, labels: int, draws: int) -> Iterator[tuple[float, float, bool]]:
    """Label some claims at random and judge the others.

    Yields:
        What balanced accuracy of the others changes by where verdicts follow the recalibrated
        probabilities; by what the suggested threshold changes it, 0 where none is suggested; and
        whether the labels were refused.
    """
    chance = random.Random(SEED)
    for _ in range(draws):
        chosen = set(chance.sample(range(len(claims)), labels))
        known = [claims[place] for place in chosen]
        rest = [claim for place, claim in enumerate(claims) if place not in chosen]
        before = balanced_accuracy(rest, SHIPPED_THRESHOLD)
        moved = balanced_accuracy(rest, fit_recalibration(known).undo(0.5)) - before
        if explain_recalibration_refusal(known) is not None:
            yield moved, 0.0, True
            continue
        found = evaluate_threshold(known)
        change = (
            balanced_accuracy(rest, found.threshold) - before
            if found.helps_enough_to_offer
            else 0.0
        )
        yield moved, change, False


def write_file(by_source: Mapping[str, Claims]) -> None:
    """Write the rows that the tests read."""
    numbers: dict[str, int] = {}
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("source", "group", "supported", "clash", "probability"))
        for source in SOURCES:
            claims = by_source[source.name] if source.is_trained_on else []
            kept = random.Random(SEED).sample(claims, min(MOST_ROWS, len(claims)))
            for each in kept:
                number = numbers.setdefault(each.group, len(numbers))
                flags = (int(each.is_supported), int(each.is_clash))
                writer.writerow((source.name, number, *flags, f"{each.chance:.3f}"))


def read_file() -> Mapping[str, list[LabelledProbability]]:
    """Read the rows that the tests have."""
    found: dict[str, list[LabelledProbability]] = defaultdict(list)
    with FILE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            chance, is_clash = float(row["probability"]), row["clash"] == "1"
            is_supported = row["supported"] == "1"
            found[row["source"]].append(
                LabelledProbability(
                    row["group"],
                    chance,
                    is_supported,
                    is_clash=is_clash,
                    is_override=(chance >= SHIPPED_THRESHOLD and not is_clash) is not is_supported,
                    is_drawn=True,
                )
            )
    return found


def draw_simple(claims: Claims, labels: int, chance: random.Random) -> dict[int, float]:
    """Draw claims with equal chances; their weights by place."""
    return dict.fromkeys(chance.sample(range(len(claims)), labels), 1.0)


def draw_by_verdict(claims: Claims, labels: int, chance: random.Random) -> dict[int, float]:
    """Draw as many claims that get `yes` as others, as far as there are; their weights by place."""
    says_yes = [not each.is_clash and each.chance >= SHIPPED_THRESHOLD for each in claims]
    others, passed = (
        [place for place, said in enumerate(says_yes) if said is wanted] for wanted in (False, True)
    )
    part = min(max(labels // 2, labels - len(passed)), len(others))
    found = dict.fromkeys(chance.sample(others, part), len(others) / max(1, part))
    return found | dict.fromkeys(
        chance.sample(passed, labels - part), len(passed) / (labels - part)
    )


def measure_draw(claims: Claims, weights: Mapping[int, float]) -> float:
    """Give what the suggested threshold changes balanced accuracy of the other claims by."""
    known = scale_weights_to_effective_size(
        [replace(claims[place], weight=weight) for place, weight in weights.items()]
    )
    if explain_recalibration_refusal(known) is not None:
        return 0.0
    found = evaluate_threshold(known)
    if not found.helps_enough_to_offer:
        return 0.0
    rest = [claim for place, claim in enumerate(claims) if place not in weights]
    return balanced_accuracy(rest, found.threshold) - balanced_accuracy(rest, SHIPPED_THRESHOLD)


def measure_file() -> None:
    """Print how often, and how far, balanced accuracy falls in draws of the rows of the tests."""
    print("| draws | labels | number | suggested | below -.02 | worst | mean of suggested |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, draw in (("simple", draw_simple), ("by verdict", draw_by_verdict)):
        for labels, draws in ((50, 400), (100, 200)):
            changes = []
            for claims in read_file().values():
                chance = random.Random(MANY_DRAWS_SEED)
                changes += [
                    measure_draw(claims, draw(claims, labels, chance)) for _ in range(draws)
                ]
            moved = [each for each in changes if each]
            print(
                f"| {name} | {labels} | {len(changes)} | {len(moved)} "
                f"| {sum(each < -0.02 for each in moved)} | {min(changes):+.3f} "
                f"| {sum(moved) / max(1, len(moved)):+.3f} |",
                flush=True,
            )


def main(arguments: Sequence[str]) -> None:
    """Measure, print and write."""
    if not arguments:
        measure_file()
        return
    by_source = read_probabilities(Path(arguments[0]))
    write_file(by_source)
    print("| source | labels | with probabilities | refused | offered | change: mean | worst |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for source, claims in by_source.items():
        for labels in (20, 50, 100):
            moved, changes, refused = zip(*simulate_draws(claims, labels, DRAWS), strict=True)
            print(
                f"| {source} | {labels} | {sum(moved) / DRAWS:+.3f} | {sum(refused) / DRAWS:.0%} "
                f"| {sum(map(bool, changes)) / DRAWS:.0%} | {sum(changes) / DRAWS:+.3f} "
                f"| {min(changes):+.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
