"""How often the corrected share holds the truth where annotators contradict each other.

Samples are drawn and labelled as for `tests.benchmarks.coverage`, in 40 groups; then each of two
annotators calls so many claims the opposite, apart from each other, that they differ as often as is
wanted. `python -m tests.benchmarks.annotator_conflict` from the repository root prints a table.
"""

import argparse
from itertools import product
from math import sqrt

import numpy as np

from faithtui.agreement.labelled_units import ClaimUnit, Opinion
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.figures.claims_and_answers import compute_claim_level_report
from faithtui.domain.estimates import Estimate
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS
from tests.benchmarks.coverage import RULE, Setting, draw_population, label_run, not_held

GROUPS = 40
_WORSE = {"yes": 0, "idk": 1, "no": 2}


def label_with_errors(
    claim: ClaimUnit, error: float, shared: float, generator: np.random.Generator
) -> ClaimUnit:
    """Let one annotator or two label a claim that has a true label.

    Args:
        claim: One of the run.
        error: How often each calls it the opposite.
        shared: Share of the claims that two label.
        generator: Of the simulation.
    """
    if claim.human is None:
        return claim
    opinions = []
    for number in range(1 + (generator.random() < shared)):
        wrong = "yes" if claim.human == "no" else "no"
        said = wrong if generator.random() < error else claim.human
        opinions.append(Opinion(f"ann {number}", said, Action.BLIND, True, order=number))
    worst = max((each.verdict for each in opinions), key=lambda word: _WORSE[word])
    return claim._replace(opinions=tuple(opinions), reviewers=len(opinions), human=worst)


def estimate_share(
    setting: Setting, differ: float, shared: float, seed: int
) -> tuple[Estimate, float]:
    """Estimate the share that passes from the labels of two who err.

    Returns:
        The corrected share of the run, and the true one.
    """
    error = (1 - sqrt(1 - 2 * differ)) / 2
    generator = np.random.default_rng([seed, 7])
    population = draw_population(setting, np.random.default_rng([seed, setting.groups]))
    drawn = label_run(population, setting, seed)
    claims = tuple(label_with_errors(each, error, shared, generator) for each in drawn.all.rows)
    compared = ComparedClaims(claims, FAITHFULNESS, drawn.design, drawn.settings)
    rate = compute_claim_level_report(compared, RULE).rate
    return rate.corrected_this_run, float(np.mean(np.array(population.human) != 2))


def measure_coverage(
    setting: Setting, differ: float, shared: float, replications: int
) -> tuple[float, float]:
    """Give how often the interval holds the truth, and its mean width."""
    holds, width = 0, 0.0
    for seed in range(replications):
        found, truth = estimate_share(setting, differ, shared, seed)
        assert found.ci_low is not None
        assert found.ci_high is not None
        holds += not not_held(truth, found)
        width += found.ci_high - found.ci_low
    return holds / replications, width / replications


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=200)
    given = parser.parse_args()
    print("errors n differ shared holds width", flush=True)
    for error, size, differ, shared in product((0.02, 0.1), (100, 300), (0.2, 0.3, 0.4), (0.3, 1)):
        setting = Setting("simple", error, size, GROUPS)
        holds, width = measure_coverage(setting, differ, shared, given.replications)
        print(error, size, differ, shared, f"{holds:.3f} {width:.2f}", flush=True)


if __name__ == "__main__":
    main()
