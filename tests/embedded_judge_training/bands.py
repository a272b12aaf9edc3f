"""What is truly supported of what the embedded judge says, by probability, family and length.

Run it as `python -m tests.embedded_judge_training.bands DATA.jsonl`, with the data of `training`.
Every family is judged by weights that were trained without it. docs/judges/offline.md has the
tables.
"""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from faithtui.judges.embedded.overlap import compute_support_probability
from tests.embedded_judge_training.figures import Judged, area_under_curve, balanced_accuracy
from tests.embedded_judge_training.sources import SOURCES
from tests.embedded_judge_training.training import Row, fit_left_out, read_rows

_EVEN: Final = ("mtrag", "faithbench", "wice")
"""Families whose share of supported rows nobody chose."""
_LENGTHS: Final = ((0, 2), (3, 5), (6, 9), (10, 19), (20, 10_000))
"""Content words of a claim, from and to."""


def main() -> None:
    """Judge all rows and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path, help="labelled rows, one JSON object per line")
    with parser.parse_args().data.open(encoding="utf-8") as lines:
        rows = read_rows(lines)
    apart = fit_left_out(rows)
    judged = [
        (row, compute_support_probability(row.parts, apart[row.source.family])) for row in rows
    ]
    print("| probability | truly supported |\n| --- | --- |")
    for low, high in ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01)):
        kept = [each for each in judged if each[0].source.family in _EVEN and low <= each[1] < high]
        print(f"| {low} | {_share_supported(row for row, _ in kept)} |")
    print("\n| truly supported | unlikely | unsure | likely |\n| --- | --- | --- | --- |")
    for source in SOURCES:
        own = [each for each in judged if each[0].source is source]
        bands = (
            [row for row, chance in own if chance <= 0.4],
            [row for row, chance in own if 0.4 < chance < 0.6],
            [row for row, chance in own if chance >= 0.6],
        )
        print(f"| {source.title} | {' | '.join(map(_share_supported, bands))} |")
    print("\n| content words | rows | supported | balanced accuracy | AUROC |")
    print("| --- | --- | --- | --- | --- |")
    for least, most in _LENGTHS:
        sized = [each for each in judged if least <= _count_content(each[0]) <= most]
        figures = [(row.is_supported, chance, _says_yes(row, chance)) for row, chance in sized]
        shown = [f"{value:.2f}" if value is not None else "" for value in _measure(figures)]
        supported = _share_supported(row for row, _ in sized)
        print(f"| {least}-{most} | {len(sized):,} | {supported} | {' | '.join(shown)} |")


def _count_content(row: Row) -> int:
    return sum(len(part.alignment.content) for part in row.parts)


def _says_yes(row: Row, chance: float) -> bool:
    return chance >= 0.5 and all(part.alignment.clash is None for part in row.parts)


def _measure(judged: Sequence[Judged]) -> tuple[float | None, float | None]:
    return balanced_accuracy(judged), area_under_curve(judged)


def _share_supported(rows: Iterable[Row]) -> str:
    labels = [row.is_supported for row in rows]
    return f"{sum(labels) / len(labels):.0%} of {len(labels):,}" if labels else "0 rows"


if __name__ == "__main__":
    main()
