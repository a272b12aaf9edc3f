"""How often intervals that are looked at after every label miss the truth at any of the looks.

Runs of 900 claims whose truth is known (see `coverage.py`) are sampled by the program's own
functions and labelled one by one in the drawn order; after each label there is a look. `python -m
tests.benchmarks.sequences` from the repository root prints the table; `--replications`,
`--designs`, `--errors`, `--groups` and `--size` make it smaller.

Missed once is missed. `usual` is the interval of the corrected rate for a number of labels fixed
beforehand, looked at after every label from the 20th on.
"""

import argparse
import multiprocessing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from faithtui.agreement.sampling.confidence_sequences import (
    SequenceCell,
    bound_faithful_share,
    bound_recall,
)
from faithtui.agreement.sampling.draw import (
    FrameUnit,
    SamplePlan,
    SamplingDesign,
    make_sample_draw,
)
from faithtui.agreement.statistics.pass_rates import LabelledStratum, estimate_run_rate
from faithtui.domain.ids import ClaimId, ItemId
from tests.benchmarks.coverage import LABELS, Population, Setting, draw_population

DESIGNS = ("simple", "stratified", "unfair", "skips")
"""`unfair`: stratified, and annotators call many of the flagged claims no fair claims. `skips`:
simple, and a fifth of the unfaithful claims are skipped, as they are the difficult ones."""
ERRORS = (0.02, 0.1, 0.3)
GROUPS = (10, 100)
SIZE = 300
SKIPPED = 0.2
WIDTHS_AT = (50, 100, 200, 300)
FIRST_USUAL_LOOK = 20


@dataclass(frozen=True, slots=True)
class Path:
    """What became of one run."""

    missed_rate: bool
    missed_recall: bool
    missed_future: bool
    """The interval of this run's rate missed that of the population that runs are drawn from."""
    missed_usual: bool
    widths: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    """Half widths of rate, recall and the usual interval of the rate, after so many labels."""


def list_looks(
    population: Population, setting: Setting, seed: int
) -> Iterator[tuple[int, list[SequenceCell]]]:
    """Label a run in the drawn order, and give what is known after every label."""
    frame = [
        FrameUnit(ItemId(group + 1), ClaimId(place), LABELS[population.judge[place]])
        for place, group in enumerate(population.groups)
    ]
    by_verdict = setting.design in ("stratified", "unfair")
    design = SamplingDesign.STRATIFIED if by_verdict else SamplingDesign.SIMPLE
    draw = make_sample_draw(frame, SamplePlan(design, seed, setting.size))
    # Of a simple sample two cells: the judge flags a claim, or does not.
    names = [judge if by_verdict else 2 * int(judge == 2) for judge in population.judge]
    cells = {name: SequenceCell(names.count(name), name == 2, 0, 0) for name in sorted(set(names))}
    chance = np.random.default_rng([seed, 7])
    for number, each in enumerate(draw.claims, 1):
        claim = each.unit.claim
        cell = cells[names[claim]]
        bad = population.human[claim] == 2
        seen = cell.seen + 1
        if setting.design == "skips" and bad and chance.random() < SKIPPED:
            cell = replace(cell, seen=seen, unknown=cell.unknown + 1)
        elif not population.is_fair[claim]:
            cell = replace(cell, seen=seen, unfair=cell.unfair + 1)
        else:
            cell = replace(cell, seen=seen, unfaithful=cell.unfaithful + bad)
        cells[names[claim]] = cell
        yield number, list(cells.values())


def label_path(setting: Setting, seed: int) -> Path:
    """Draw, sample and label a run, with a look after every label."""
    population = draw_population(setting, np.random.default_rng([seed, setting.groups]))
    fair = np.array(population.is_fair)
    bad = (np.array(population.human) == 2) & fair
    rate = 1 - bad.sum() / fair.sum()
    recall = (bad & (np.array(population.judge) == 2)).sum() / max(bad.sum(), 1)
    missed = {"rate": False, "recall": False, "future": False, "usual": False}
    widths = {}
    for number, cells in list_looks(population, setting, seed):
        found = {"rate": bound_faithful_share(cells), "recall": bound_recall(cells)}
        missed["rate"] |= is_outside(rate, found["rate"])
        missed["recall"] |= bool(bad.any()) and is_outside(recall, found["recall"])
        missed["future"] |= is_outside(1 - setting.error, found["rate"])
        usual = make_usual_interval(cells)
        if number >= FIRST_USUAL_LOOK:
            missed["usual"] |= is_outside(rate, usual)
        if number in WIDTHS_AT:
            widths[number] = (
                measure_half_width(found["rate"]),
                measure_half_width(found["recall"]),
                measure_half_width(usual),
            )
    return Path(missed["rate"], missed["recall"], missed["future"], missed["usual"], widths)


def make_usual_interval(cells: Sequence[SequenceCell]) -> tuple[float, float]:
    """Give the interval of the corrected rate that holds at one look."""
    labelled = [
        LabelledStratum(
            each.population,
            each.seen - each.unfair - each.unknown,
            each.seen - each.unfair - each.unknown - each.unfaithful,
            each.unfair,
        )
        for each in cells
    ]
    found = estimate_run_rate(labelled)
    if found.ci_low is None or found.ci_high is None:
        return 0.0, 1.0
    return found.ci_low, found.ci_high


def measure_half_width(ends: tuple[float, float]) -> float:
    """Halve the width of an interval."""
    return (ends[1] - ends[0]) / 2


def is_outside(truth: float, ends: tuple[float, float]) -> bool:
    """Say whether an interval misses the truth by more than rounding."""
    return not ends[0] - 1e-9 <= truth <= ends[1] + 1e-9


def _label_paths(arguments: tuple[Setting, int]) -> tuple[Setting, list[Path]]:
    setting, replications = arguments
    return setting, [label_path(setting, seed) for seed in range(replications)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--designs", nargs="+", default=DESIGNS)
    parser.add_argument("--errors", nargs="+", type=float, default=ERRORS)
    parser.add_argument("--groups", nargs="+", type=int, default=GROUPS)
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    given = parser.parse_args()
    work = [
        (Setting(design, error, given.size, groups), given.replications)
        for design, error, groups in product(given.designs, given.errors, given.groups)
    ]
    print("design errors groups missed:rate recall future usual half-widths", flush=True)
    with multiprocessing.Pool(given.jobs) as pool:
        for setting, paths in pool.imap(_label_paths, work):
            shares = (
                np.mean([getattr(each, name) for each in paths])
                for name in ("missed_rate", "missed_recall", "missed_future", "missed_usual")
            )
            widths = {
                number: np.mean([each.widths[number] for each in paths], axis=0).round(3).tolist()
                for number in WIDTHS_AT
                if number <= given.size
            }
            print(
                setting.design,
                setting.error,
                setting.groups,
                *(f"{each:.3f}" for each in shares),
                widths,
                flush=True,
            )


if __name__ == "__main__":
    main()
