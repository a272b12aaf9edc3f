"""How often a gate passes a judge that does not reach its thresholds, and one that does.

Runs are drawn whose truth is known, sampled, labelled, reported and held against thresholds by the
program's own functions. `python -m tests.benchmarks.gate_passes` from the repository root prints
the table; `--stores N` adds runs that go through a store and
`check_gate_and_write_certificate_if_passed` from end to end.

Each criterion is asked for a hair more than what is true of the run, so that every pass is a false
one; a judge that is further below passes less often.
Annotators behave in one of the ways of `WAYS`; all but the first try to fool the gate.
"""

import argparse
import multiprocessing
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from faithtui.agreement.gate.threshold_checks import (
    CheckOutcome,
    Criterion,
    CriterionCheck,
    Thresholds,
    check_figures_against_thresholds,
    select_figures_gate_may_rely_on,
)
from faithtui.agreement.gate.warning_checks import make_doubtful_checks_undecided
from faithtui.agreement.labelled_units import ClaimUnit, LabelState, Opinion, RunUnits
from faithtui.agreement.report.report import PreparedUnits, compute_report_of_prepared_units
from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action, Event, NewEvent
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.engine.review.gate.gate import GateRequest, check_gate_and_write_certificate_if_passed
from faithtui.store.records import ItemCheckResult, ItemState, RunState
from faithtui.store.store import Store
from tests.benchmarks import coverage
from tests.benchmarks.coverage import LABELS, RULE, Population, Setting
from tests.store.building import JUDGED, assess, import_conversations, make_conversation, windows_of

HAIR = 1e-9
WAYS = ("honest", "skips", "copies", "careless")
"""`honest`: a label of every claim, blind. `skips`: what the judge gets wrong is skipped, half of
the time. `copies`: the judge's verdict is in view, and half of what it gets wrong is labelled as it
says. `careless`: a second annotator labels two of five claims, and a third of these at random."""
FIGURES = (Criterion.KAPPA, Criterion.RECALL, Criterion.SCORE)
OUTCOMES = (CheckOutcome.PASSED, CheckOutcome.BELOW, CheckOutcome.UNDECIDED, CheckOutcome.UNKNOWN)


@dataclass(frozen=True, slots=True)
class GateSetting:
    """What is simulated."""

    way: str
    run: Setting
    sensitivity: float = coverage.SENSITIVITY
    specificity: float | None = None
    """None: as many false alarms as `coverage` has."""


def draw_judged_run(setting: GateSetting, generator: np.random.Generator) -> Population:
    """Draw a run; with a specificity of its own the judge knows no `idk`."""
    found = coverage.draw_population(setting.run, generator)
    if setting.specificity is None:
        return found
    human = np.array(found.human)
    chance = generator.random((2, len(human)))
    flagged = np.where(
        human == 2, chance[0] < setting.sensitivity, chance[1] >= setting.specificity
    )
    return replace(found, judge=np.where(flagged, 2, np.where(human == 2, 0, human)).tolist())


def compute_truth(population: Population) -> dict[Criterion, float]:
    """Compute the figures of a run of which every claim is labelled rightly."""
    cells = np.zeros((3, 3))
    np.add.at(cells, (np.array(population.human), np.array(population.judge)), 1)
    found = coverage.compute_truth(cells)
    return {
        Criterion.KAPPA: found["kappa"],
        Criterion.RECALL: found["recall"],
        Criterion.SCORE: found["rate"],
    }


def label_run(setting: GateSetting, population: Population, seed: int) -> RunUnits:
    """Draw a sample of a run, and label it in a way of `WAYS`."""
    compared = coverage.label_run(population, setting.run, seed)
    chance = np.random.default_rng([seed, 2])
    claims = tuple(
        each if each.human is None else _say(each, setting.way, chance)
        for each in compared.all.rows
    )
    return RunUnits(claims, (), (), compared.design)


def _say(claim: ClaimUnit, way: str, chance: np.random.Generator) -> ClaimUnit:
    """Label a claim; `human` is the truth."""
    truth, is_wrong = str(claim.human), claim.human != claim.judge
    first = Opinion("ann", truth, Action.BLIND, True, 20.0)
    match way:
        case "skips" if is_wrong and chance.random() < 0.5:
            return claim._replace(
                human=None, state=LabelState.SKIPPED, reviewers=0, blind=None, opinions=()
            )
        case "copies":
            copied = str(claim.judge) if chance.random() < 0.5 else truth
            action = Action.OVERRIDDEN if copied != claim.judge else Action.AGREED
            seen = Opinion("ann", copied, action, False, 20.0)
            return claim._replace(human=copied, opinions=(seen,), blind=False)
        case "careless" if chance.random() < 0.4:
            word = LABELS[chance.integers(3)] if chance.random() < 1 / 3 else truth
            both = (first, Opinion("bo", word, Action.BLIND, True, 20.0))
            return claim._replace(opinions=both, reviewers=2)
        case _:
            return claim._replace(opinions=(first,))


def hold(units: RunUnits, wanted: Thresholds) -> tuple[CriterionCheck, ...]:
    """Hold a run against thresholds, as `check_gate_and_write_certificate_if_passed` does."""
    prepared = PreparedUnits(units, FAITHFULNESS, RULE)
    report = compute_report_of_prepared_units(prepared, with_parts=False)
    checks = check_figures_against_thresholds(
        select_figures_gate_may_rely_on(report.claims), wanted, None
    )
    return make_doubtful_checks_undecided(checks, report.warnings, prepared, report.claims, wanted)


def count_outcomes(
    setting: GateSetting,
    replications: int,
    choose: Callable[[dict[Criterion, float]], Thresholds] | None = None,
) -> dict[Criterion, dict[CheckOutcome, int]]:
    """Draw runs and gate them.

    Args:
        setting: What is simulated.
        replications: How many runs; their numbers are the seeds.
        choose: Chooses the thresholds by what is true; None: a hair above.

    Returns:
        How often each criterion had each outcome.
    """
    found = {
        each: dict.fromkeys(OUTCOMES, 0)
        for each in compute_truth(Population([0], [0], [0], [True]))
    }
    for seed in range(replications):
        generator = np.random.default_rng([seed, setting.run.groups])
        population = draw_judged_run(setting, generator)
        wanted = (choose or ask_for_more)(compute_truth(population))
        for check in hold(label_run(setting, population, seed), wanted):
            if check.criterion in found:
                found[check.criterion][check.outcome] += 1
    return found


def ask_for_more(truth: dict[Criterion, float]) -> Thresholds:
    """Ask for a hair more than what is true; what has no value is not asked for."""
    kappa, recall, score = (
        None if np.isnan(each) else min(1.0, each + HAIR)
        for each in (truth[Criterion.KAPPA], truth[Criterion.RECALL], truth[Criterion.SCORE])
    )
    return Thresholds(kappa, recall, score)


def choose_usual(_: dict[Criterion, float]) -> Thresholds:
    """Ask for what docs/ci.md asks for, and a score."""
    return Thresholds(kappa=0.5, recall_no=0.6, score=0.6)


GOOD_JUDGE = GateSetting("honest", Setting("simple", 0.2, 150, 100), 0.95, 0.98)
"""150 labels of a simple sample; one claim in five is unfaithful."""
GOOD = "good-judge"


def gate_stored_run(
    setting: GateSetting, seed: int, store: Store, *, thresholds: Thresholds | None = None
) -> tuple[CriterionCheck, ...]:
    """Draw a run, judge, sample and label it in a store, and gate it with the whole gate."""
    generator = np.random.default_rng([seed, setting.run.groups])
    population = draw_judged_run(setting, generator)
    run = _store_run(store, population)
    drawn_by = {"simple": SamplingDesign.SIMPLE, "conversations": SamplingDesign.CONVERSATIONS}
    design = drawn_by.get(setting.run.design, SamplingDesign.STRATIFIED)
    by = ("verdict",) if design is SamplingDesign.STRATIFIED else ()
    size = setting.run.size
    if design is SamplingDesign.CONVERSATIONS:
        size = max(1, round(size * setting.run.groups / coverage.CLAIMS))
    plan = SamplePlan(design, seed, size)
    drawn = make_sample_draw(store.samples.read_frame(run, by), plan)
    store.samples.save_draw_as_sample(run, "ann", drawn, plan, name="s", stratified_by=by)
    known = {each.claim: each for each in store.labelled_units.read_claim_units(run)}
    chance = np.random.default_rng([seed, 2])
    labelled = [
        _say(known[claim]._replace(human=LABELS[population.human[claim - 1]]), setting.way, chance)
        for claim in sorted(each.unit.claim for each in drawn.claims)
    ]
    store.label_log.append_label_events_as_one_step(
        [act for each in labelled for act in _list_acts(each, run)]
    )
    wanted = thresholds or ask_for_more(compute_truth(population))
    request = GateRequest(wanted.kappa, wanted.recall_no, wanted.score)
    return check_gate_and_write_certificate_if_passed(store, run, request).checks


def _store_run(store: Store, population: Population) -> RunId:
    """Judge conversations of one answer each; claims have the places that they have in the run."""
    by_group: dict[int, list[str]] = {}
    for group, judge in zip(population.groups, population.judge, strict=True):
        by_group.setdefault(group, []).append(LABELS[judge])
    chats = [make_conversation(f"c{group}", answers=1) for group in by_group]
    run = store.runs.create(JUDGED, import_conversations(store, chats))
    for item, each, said in zip(
        store.runs.list_item_ids(run), chats, by_group.values(), strict=True
    ):
        for window in windows_of(each):
            store.runs.save_window(item, assess(window, {1: said}, rule=JUDGED.rule))
        store.runs.score_and_finish_item(item, ItemState.DONE, None, "all in all")
        (row,) = store.runs.read_item_rows([item])
        store.findings.replace_findings_of_conversations(
            [ItemCheckResult(item, row.state, row.windows, ())]
        )
    store.runs.set_state(run, RunState.DONE)
    return run


def _list_acts(claim: ClaimUnit, run: RunId) -> list[NewEvent]:
    """List what annotators do with a claim."""
    if claim.state is LabelState.SKIPPED:
        return [Event(None, claim.claim, "ann", Action.SKIPPED, None, run=run)]
    return [
        Event(
            None,
            claim.claim,
            each.reviewer,
            each.action,
            each.verdict,
            saw_judge=not each.blind,
            run=run,
            judge_verdict=claim.judge,
            seconds=each.seconds,
        )
        for each in claim.opinions
    ]


def _count(arguments: tuple[GateSetting, int, bool]) -> dict[Criterion, dict[CheckOutcome, int]]:
    setting, replications, usual = arguments
    return count_outcomes(setting, replications, choose_usual if usual else None)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=400)
    parser.add_argument("--ways", nargs="+", default=(*WAYS, GOOD))
    parser.add_argument("--designs", nargs="+", default=("simple", "stratified", "conversations"))
    parser.add_argument("--errors", nargs="+", type=float, default=(0.1, 0.3))
    parser.add_argument("--sizes", nargs="+", type=int, default=(100,))
    parser.add_argument("--groups", nargs="+", type=int, default=(40, 100))
    parser.add_argument("--kinds", nargs="+", default=coverage.KINDS[:1])
    parser.add_argument("--stores", type=int, default=0, help="runs through a store, of each")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    given = parser.parse_args()
    settings = [
        GateSetting(way, Setting(*rest))
        for way, *rest in product(
            [way for way in given.ways if way != GOOD],
            given.designs,
            given.errors,
            given.sizes,
            given.groups,
            given.kinds,
        )
    ]
    print("way design error n groups kind criterion", *(each.name.lower() for each in OUTCOMES))
    work = [(each, given.replications, False) for each in settings]
    work += [(GOOD_JUDGE, given.replications, True)] * (GOOD in given.ways)
    with multiprocessing.Pool(given.jobs) as pool:
        for (setting, *_, usual), found in zip(work, pool.imap(_count, work), strict=True):
            run = setting.run
            way = GOOD if usual else setting.way
            for criterion, counts in found.items():
                print(way, *astuple(run), criterion, *counts.values(), flush=True)
    for setting, seed in product(settings, range(given.stores)):
        with TemporaryDirectory() as folder, Store.open(Path(folder) / "gated.db") as store:
            checks = gate_stored_run(setting, seed, store)
        print("store", setting.way, setting.run.design, seed, *(each.outcome for each in checks))


if __name__ == "__main__":
    main()
