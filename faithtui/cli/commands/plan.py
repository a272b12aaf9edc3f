"""`faithtui plan`: how many labels of which stratum a sample needs."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.output import (
    TableColumn,
    insert_store_option,
    plural,
    print_json,
    print_table,
    print_text,
)
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    JudgedRunArgument,
    StoreOption,
    merge_common_options,
    read_named_numbers,
)
from faithtui.cli.stores import open_store, read_id_of_run_with_verdicts
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.agreement.sampling.label_plan import LabelPlan, PlanStratum, PlanTarget
    from faithtui.domain.ids import RunId
    from faithtui.engine.review.samples.label_plans import PlanBasis, PlanForecast

USUAL_RATE = 0.05
"""Half width of the share that passes, unless something else is asked for."""


def plan(
    context: typer.Context,
    run: JudgedRunArgument = "last",
    rate: Annotated[
        float | None,
        typer.Option(
            metavar="WIDTH",
            help="Wanted half width of the interval of the share that passes. [0.05]",
        ),
    ] = None,
    recall: Annotated[
        float | None,
        typer.Option(metavar="WIDTH", help="Wanted half width of the interval of recall."),
    ] = None,
    labels: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Print the half widths that N labels give, such as 200, instead of planning "
            "for --rate or --recall.",
        ),
    ] = None,
    stratify: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="What strata are formed by: verdict, turn, model, disagreement or flip; "
            "several with commas.",
        ),
    ] = "verdict",
    expect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SHARE,...",
            help="Expected share of failing claims by stratum, such as `judge yes=0.03`; may be "
            "repeated. [from labels, else as assumed]",
        ),
    ] = None,
    least: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Minimum number of labels in each stratum; in a smaller one, all that can count.",
        ),
    ] = 10,
    design_effect: Annotated[
        float,
        typer.Option(
            metavar="FACTOR",
            help="Factor by which variances exceed those of independent claims, such as 1.5.",
        ),
    ] = 1.0,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Plan how many labels of each stratum a sample needs.

    Prints the smallest number of labels that reaches a half width of the corrected share that
    passes (and of recall), and shares it among strata by Neyman's allocation; with --labels, the
    half widths that N labels give. Prints the command that draws the sample, and draws nothing. A
    run drawn by `faithtui sample` is refused (exit code 2): plan it with `faithtui sample
    --precision`.

    Example: faithtui plan last --rate 0.04
    """
    from faithtui.agreement.sampling.label_plan import (
        PlanTarget,
        count_claims_to_draw,
        limit_labels_per_stratum,
        list_missed_half_widths,
        plan_fewest_labels_for_target,
        plan_labels_for_budget,
    )
    from faithtui.config import load_settings_with_origins
    from faithtui.engine.review.samples.label_plans import forecast_plan, read_plan_strata

    options = merge_common_options(context, store, json)
    _refuse_numbers_out_of_range(rate, recall, labels, least, design_effect)
    strata, shares = _parse_strata_variables(stratify), _parse_expected_share_per_stratum(expect)
    settings = load_settings_with_origins().settings
    shown_share = settings.audit_share if settings.blind else 0.0
    with open_store(options.store, settings) as opened:
        opened.refuse_corrupted_rows()
        number = read_id_of_run_with_verdicts(opened, run)
        population = opened.samples.find_run_population(number)
        if population is not None:
            command = f"faithtui sample {shlex.quote(population.results)}"
            if rate is not None or (labels is None and recall is None):
                command += f" --precision {rate or USUAL_RATE:g} plans how many more to draw, and"
            raise ConfigError(
                f"run {number} has only claims that were drawn from {population.results}: "
                f"{command} draws more of them"
            )
        basis = read_plan_strata(opened, number, strata, shares)
        row = opened.runs.read_run(number)
    if not basis.strata:
        raise ConfigError(f"run {number} has judged nothing yet, so there is nothing to plan for")
    if recall is not None and any(each.is_flagged is None for each in basis.strata):
        raise ConfigError("--recall needs strata by verdict: add verdict to --stratify")
    if recall is not None and (reason := _explain_recall_of_one_side(basis)):
        raise ConfigError(f"--recall cannot be planned for: {reason}, whatever is labelled")
    if shown_share == 1:
        raise ConfigError(
            "the setting audit_share is 1: every claim of a blind sample is served with the "
            "judge's verdict in view, so that no label counts"
        )
    counting = limit_labels_per_stratum(basis.strata, shown_share)
    target = PlanTarget(rate, recall)
    if labels is not None:
        found = plan_labels_for_budget(counting, labels, fewest=least, design_effect=design_effect)
    else:
        if rate is None and recall is None:
            target = PlanTarget(USUAL_RATE)
        found = plan_fewest_labels_for_target(
            counting, target, fewest=least, design_effect=design_effect
        )
    forecast = forecast_plan(basis, found)
    drawn = count_claims_to_draw(found.sizes, basis.strata, shown_share)
    is_labelled = row.labelled >= row.claims
    command = _format_sample_command(number, strata, drawn, options.store)
    if options.json:
        print_json(_plan_to_json(number, basis, found, drawn, forecast, command, target))
        return
    if is_labelled:
        print_text(
            insert_store_option(
                f"run {number}: {plural(row.claims, 'claim')}, all labelled, so there is none to "
                f"draw. What the labels give: faithtui report {number}. For a second look: "
                f"faithtui label {number} --sample repeats"
            )
        )
        return
    _print_plan(number, stratify, basis, found, forecast, target)
    missed = [
        f"± {aim:g} of {name} cannot be reached: all labels that can count give ± {half:.3f}"
        for name, aim, half in list_missed_half_widths(found, target)
    ]
    if labels is not None and labels > found.label_count:
        missed.append(f"of {labels:,} labels no more than {found.label_count:,} can count")
    for sentence in missed:
        print_text(sentence)
    if missed:
        print_text("")
    if shown_share:
        print_text(
            f"draw {plural(sum(drawn.values()), 'claim')}: {shown_share:.0%} of them are served "
            "with the judge's verdict in view (setting audit_share), whose labels count in no "
            "figure"
        )
    print_text(command)


def _refuse_numbers_out_of_range(
    rate: float | None, recall: float | None, labels: int | None, least: int, effect: float
) -> None:
    """Refuse numbers out of range.

    Raises:
        ConfigError: One is, or they contradict each other.
    """
    for name, width in (("--rate", rate), ("--recall", recall)):
        if width is not None and not 0 < width <= 0.5:
            raise ConfigError(f"{name} {width:g}; expected a half width above 0, up to 0.5")
    if labels is not None and (rate is not None or recall is not None):
        raise ConfigError("--labels is the number of labels; leave out --rate and --recall")
    if labels is not None and labels < 1:
        raise ConfigError("--labels takes a number above 0")
    if least < 1:
        raise ConfigError("--least takes a number above 0")
    if not 1 <= effect <= 100:
        raise ConfigError(f"--design-effect {effect:g}; expected 1 (none) to 100")


def _parse_strata_variables(text: str) -> tuple[str, ...]:
    """Read what strata are made of.

    Raises:
        ConfigError: They cannot be made of that.
    """
    from faithtui.domain.text.suggestions import format_suggestion
    from faithtui.store.samples.sampling_frames import STRATA

    found = tuple(each.strip() for each in text.split(",") if each.strip())
    for each in found:
        if each not in STRATA:
            known = f"{', '.join(STRATA)}, with commas{format_suggestion(each, STRATA)}"
            raise ConfigError(f"--stratify {each}; expected {known}")
    if not found:
        raise ConfigError(f"--stratify is empty; expected {', '.join(STRATA)}, with commas")
    return found


def _parse_expected_share_per_stratum(texts: list[str] | None) -> dict[str, float]:
    """Read expected shares by stratum.

    Raises:
        ConfigError: One is no share.
    """
    found = read_named_numbers(texts, "--expect")
    for name, share in found.items():
        if not 0 <= share <= 1:
            raise ConfigError(f"--expect {name}={share:g}; expected a share from 0 to 1")
    return found


def _format_sample_command(
    run: "RunId", strata: tuple[str, ...], drawn: Mapping[str, int], store: Path | None
) -> str:
    """Write the command that draws this sample, from the store that was named."""
    sizes = ",".join(f"{name}={size}" for name, size in drawn.items())
    words = ["faithtui", *(["--store", str(store)] if store is not None else [])]
    words += ["label", str(run), "--stratify", ",".join(strata), "--sizes", sizes]
    return shlex.join(words)


def _print_plan(
    run: "RunId",
    stratify: str,
    basis: "PlanBasis",
    found: "LabelPlan",
    forecast: "PlanForecast",
    target: "PlanTarget",
) -> None:
    from faithtui.agreement.sampling.label_plan import predict_recall
    from faithtui.domain.estimates import FEWEST_GROUPS

    print_text(
        f"run {run}: {plural(found.label_count, 'label')} of {plural(len(basis.frame), 'claim')}, "
        f"strata by {stratify}"
    )
    print_text("")
    failing = " or ".join(basis.failing)
    has_unfair = any(each.unfair_share for each in basis.strata)
    print_table(
        (
            TableColumn("stratum", flexible=True),
            TableColumn("claims", "right"),
            *((TableColumn("expected x", "right"),) if has_unfair else ()),
            TableColumn(f"expected {failing}", "right"),
            TableColumn("from"),
            TableColumn("labels", "right"),
            TableColumn("weight", "right"),
        ),
        [_format_stratum_row(each, found.sizes[each.name], has_unfair) for each in basis.strata],
    )
    if has_unfair:
        print_text(
            f"x, not a fair claim, is in no figure; expected {failing} is the share among the "
            "others"
        )
    print_text("")
    lines = (
        ("share that passes, this run", found.rate, _format_wanted_half_width(target.rate)),
        ("  however often you look", forecast.rate_at_every_look, ""),
        ("  future conversations", forecast.future_rate, " at best"),
        (
            f"recall of {failing}, conversations like these",
            found.recall,
            _format_wanted_half_width(target.recall),
        ),
        ("  this run, however often you look", forecast.recall_at_every_look, ""),
    )
    reason = _explain_recall_of_one_side(basis)
    if reason:
        reason = f": {reason}"
    room = max(len(name) for name, _, _ in lines)
    for name, half, more in lines:
        why = reason if name.startswith("recall") else ""
        width = f"cannot be foreseen{why}" if half is None else f"± {half:.3f}{more}"
        print_text(f"{name:<{room}}  {width}")
    if basis.has_too_few_conversations:
        print_text(
            f"the claims are of {plural(basis.conversation_count, 'conversation')}: below "
            f"{FEWEST_GROUPS} reports give recall, kappa and future conversations no interval, "
            "whatever is labelled; judge more of them"
        )
    if (recall := predict_recall(basis.strata)) is not None:
        print_text(f"expected: the judge finds {recall:.0%} of the claims that are {failing}")
        if basis.measured_recall is not None:
            print_text(
                f"reports show {basis.measured_recall:.0%}, of the labels so far alone; here each "
                "stratum has two more labels, of what is assumed without any, and is weighted by "
                "its claims"
            )
        if basis.is_broad:
            print_text(
                f"{failing} is what fails in this run: gate --min-recall-no asks for the recall of "
                "these with --idk live, and without it of no alone"
            )
    print_text("")


def _explain_recall_of_one_side(basis: "PlanBasis") -> str:
    """Say why a judge that flags all claims, or none, has a recall that no label tells."""
    from faithtui.agreement.sampling.label_plan import find_sides_of_judge

    sides = find_sides_of_judge(basis.strata)
    if sides == {True}:
        return "the judge flags every claim, so that it finds all of them"
    return "the judge flags no claim, so that it finds none of them" if sides == {False} else ""


def _format_wanted_half_width(half: float | None) -> str:
    return "" if half is None else f" (wanted ± {half:g})"


def _format_stratum_row(stratum: "PlanStratum", size: int, has_unfair: bool) -> tuple[str, ...]:
    return (
        stratum.name,
        f"{stratum.population:,}",
        *((f"{stratum.unfair_share:.0%}",) if has_unfair else ()),
        f"{stratum.share:.0%}",
        plural(stratum.labels, "label") if stratum.labels else "assumed",
        f"{size:,}",
        f"{stratum.population / size:.2f}" if size else "—",
    )


def _plan_to_json(
    run: "RunId",
    basis: "PlanBasis",
    found: "LabelPlan",
    drawn: Mapping[str, int],
    forecast: "PlanForecast",
    command: str,
    target: "PlanTarget",
) -> dict[str, object]:
    from faithtui.agreement.sampling.label_plan import list_missed_half_widths, predict_recall

    return {
        "run": run,
        "failing": basis.failing,
        "recall_with_idk": "live" if basis.is_broad else "three",
        "labels": found.label_count,
        "to_draw": sum(drawn.values()),
        "claims": len(basis.frame),
        "expected_recall": predict_recall(basis.strata),
        "recall_of_labels_so_far": basis.measured_recall,
        "strata": [
            {
                "name": each.name,
                "claims": each.population,
                "flagged": each.is_flagged,
                "expected_share": each.share,
                "expected_unfair_share": each.unfair_share,
                "expected_from_labels": each.labels,
                "labels": found.sizes[each.name],
                "to_draw": drawn[each.name],
            }
            for each in basis.strata
        ],
        "half_widths": {
            "rate": found.rate,
            "rate_at_every_look": forecast.rate_at_every_look,
            "rate_future_at_best": forecast.future_rate,
            "recall": found.recall,
            "recall_at_every_look": forecast.recall_at_every_look,
        },
        "cannot_be_reached": [name for name, _, _ in list_missed_half_widths(found, target)],
        "command": command,
    }
