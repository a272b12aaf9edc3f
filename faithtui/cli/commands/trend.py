"""`faithtui trend`: judges, models and prompts over one claim set, a line a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.output import (
    TableColumn,
    plural,
    print_json,
    print_table,
    print_text,
    print_to_stderr,
)
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    ForceOption,
    StoreOption,
    merge_common_options,
    parse_path_as_typed,
)
from faithtui.cli.stores import open_store, read_id_of_run_with_verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faithtui.agreement.report.trend_points import Trend, TrendPoint
    from faithtui.domain.ids import RunId
    from faithtui.store.runs.run_records import RunSpec
    from faithtui.store.samples.claim_sets import ClaimSetRow


def trend(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="SET", help="A claim set, NAME@2 for an earlier version.")
    ],
    run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="RUN", help="Only this run; may be repeated."),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg", parser=parse_path_as_typed, metavar="FILE", help="Draw it into a file."
        ),
    ] = None,
    force: ForceOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show how judges, models and prompts do on the same labelled claims.

    One line a run: accuracy, kappa, recall of `no` and corrected score with intervals, and the
    change of accuracy against the run before with the p value of a paired test. Figures are of
    the set: claims weigh what they stand for by the drawing.

    Example: faithtui trend NAME --svg trend.svg
    """
    from faithtui.agreement.documents.plots.trend_plot import trend_svg
    from faithtui.engine.review.reports.trend import compute_trend
    from faithtui.output_files import refuse_unwritable_target, write_text
    from faithtui.tui.runs.run_options_text import describe_differing_options

    options = merge_common_options(context, store, json)
    if svg is not None:
        refuse_unwritable_target(svg, force=force)
    with open_store(options.store) as opened:
        opened.refuse_corrupted_rows()
        row = opened.claim_sets.find_version_by_name(name)
        runs = [read_id_of_run_with_verdicts(opened, each) for each in run or ()]
        found = compute_trend(opened, row, runs)
        specs = {each.run: opened.runs.read_run(each.run).spec for each in found.points}
    notes = [
        *_list_notes_with_their_runs(row, found),
        *describe_differing_options(specs),
        *_describe_other_passing_labels(specs),
    ]
    if svg is not None:
        write_text(svg, [trend_svg(found, f"Claim set {row.title}", notes)], force=force)
    if options.json:
        print_json(_trend_to_json(row, found))
        return
    _print_trend(row, found)
    for note in notes:
        print_to_stderr(note)
    if row.has_new_labels:
        print_to_stderr(
            f"labels changed since {row.title} was made: faithtui claim-set make {row.name}"
        )
    if svg is not None:
        print_text(str(svg))


def _describe_other_passing_labels(specs: "Mapping[RunId, RunSpec]") -> list[str]:
    """Say of which runs the corrected score counts other labels as passing than the first's."""
    first = next(iter(specs), None)
    if first is None:
        return []
    passing = {run: spec.rule.passing for run, spec in specs.items()}
    return [
        f"corrected scores of run {run} are not comparable with those of run {first}: they count "
        f"{' and '.join(found)} as passing, and not {' and '.join(passing[first])}"
        for run, found in passing.items()
        if set(found) != set(passing[first])
    ]


def _print_trend(row: "ClaimSetRow", found: "Trend") -> None:
    print_text(f"{row.title}: {plural(row.drawn, 'drawn claim')} of {row.frame}")
    print_table(
        [
            TableColumn("RUN", "right"),
            TableColumn("MADE"),
            TableColumn("JUDGE", flexible=True),
            TableColumn("PROMPTS"),
            TableColumn("LABELLED", "right"),
            TableColumn("ACCURACY"),
            TableColumn("KAPPA"),
            TableColumn("RECALL OF NO"),
            TableColumn("CORRECTED SCORE"),
            TableColumn("CHANGE"),
            TableColumn("P", "right"),
        ],
        [_format_run_row(each) for each in found.points],
    )


def _format_run_row(point: "TrendPoint") -> tuple[str, ...]:
    from faithtui.agreement.documents.figure_texts import EMPTY_CELL, estimate_text, p_value_text

    change = point.change
    model = f" ({', '.join(point.served_models)})" if point.served_models else ""
    figures = (point.accuracy, point.kappa, point.recall_no, point.score)
    withheld = point.judged_some_drawn or point.is_order_broken
    return (
        str(point.run),
        f"{point.made_at:%Y-%m-%d}",
        f"{point.judge}{model}",
        point.prompts[:8],
        str(point.compared),
        # A note below the table says why.
        *(EMPTY_CELL if withheld else estimate_text(each) for each in figures),
        EMPTY_CELL if change is None else estimate_text(change.difference),
        EMPTY_CELL if change is None else p_value_text(change.holm_p),
    )


def _list_notes_with_their_runs(row: "ClaimSetRow", found: "Trend") -> list[str]:
    """Say what figures leave out: each sentence once, with the runs that it is about."""
    runs_by_note: dict[str, list[int]] = {}
    for each in found.points:
        for note in dict.fromkeys((*_list_notes_on_run(row, each), *_list_report_warnings(each))):
            runs_by_note.setdefault(note, []).append(each.run)
    return [f"{_format_run_numbers(runs)}: {note}" for note, runs in runs_by_note.items()]


def _format_run_numbers(runs: "Sequence[int]") -> str:
    *others, last = map(str, runs)
    return f"runs {', '.join(others)} and {last}" if others else f"run {last}"


def _list_report_warnings(point: "TrendPoint") -> list[str]:
    """List the sentences of a report's warnings but those that a note says already."""
    said = {"stratum_unlabelled", "unverified_labels"}
    return [
        f"{each.message[:1].lower()}{each.message[1:]}"
        for each in point.warnings
        if each.code not in said
    ]


def _list_notes_on_run(row: "ClaimSetRow", point: "TrendPoint") -> list[str]:
    """Say what the figures of a run leave out, and what its judge saw otherwise."""
    from faithtui.agreement.documents.figure_texts import describe_unverified_labels

    notes = []
    if point.unverified:
        notes.append(describe_unverified_labels(point.unverified, point.compared))
    if None not in (row.window_size, point.window_size) and row.window_size != point.window_size:
        notes.append(
            f"judged with a window of {point.window_size} interactions, the labels were given "
            f"with one of {row.window_size}"
        )
    if point.unjudged or point.beyond:
        notes.append(
            f"{plural(point.unjudged, 'claim')} of the set without a verdict of it, "
            f"{plural(point.beyond, 'claim')} of its own that match none of the set"
        )
    if point.skipped:
        notes.append(f"{plural(point.skipped, 'drawn claim')} skipped, in no figure")
    if point.is_order_broken:
        notes.append(
            "too many drawn claims are skipped, or come before labelled ones in the drawn order "
            "and are passed over or accepted as the judge said, so nothing says what the labels "
            "stand for: label these too"
        )
    if point.unlabelled_strata:
        names = ", ".join(f"«{each}»" for each in point.unlabelled_strata)
        notes.append(f"no label counts of {names}: draw and label some of it")
    if point.judged_some_drawn:
        notes.append(
            "it judged claims because they were drawn, or passed them over, and not all that were "
            f"drawn, so nothing is said of the set; its report is of these claims: faithtui report "
            f"{point.run}"
        )
    if point.accuracy_bounds is not None:
        low, high = point.accuracy_bounds
        notes.append(
            f"accuracy would be {low:.3f} if it were wrong on all labelled claims that it did not "
            f"judge, and {high:.3f} if it were right"
        )
    return notes


def _trend_to_json(row: "ClaimSetRow", found: "Trend") -> dict[str, object]:
    return {
        "set": row.name,
        "version": row.version,
        "digest": row.digest,
        "claims": row.frame,
        "drawn": row.drawn,
        "labels_changed_since": row.has_new_labels,
        "runs": [_run_point_to_json(each) for each in found.points],
    }


def _run_point_to_json(point: "TrendPoint") -> dict[str, object]:
    from faithtui.domain.json_values import value_json

    change = point.change
    return {
        "run": point.run,
        "made_at": point.made_at.isoformat(),
        "metric": point.metric,
        "judge": point.judge,
        "served_models": list(point.served_models),
        "judge_fingerprint": point.judge_fingerprint,
        "judge_parameters": point.judge_parameters,
        "prompts": point.prompts,
        "claims_from": point.claims_from,
        "window_size": point.window_size,
        "labelled": point.compared,
        "unverified": point.unverified,
        "skipped": point.skipped,
        "not_a_claim": point.not_a_claim,
        "warnings": [
            {"code": each.code, "severity": each.severity.value, "message": each.message}
            for each in point.warnings
        ],
        "judged_some_drawn": point.judged_some_drawn,
        "order_broken": point.is_order_broken,
        "unlabelled_strata": list(point.unlabelled_strata),
        "accuracy": value_json(point.accuracy),
        "kappa": value_json(point.kappa),
        "recall_no": value_json(point.recall_no),
        "corrected_score": value_json(point.score),
        "unjudged": point.unjudged,
        "unmatched": point.beyond,
        "accuracy_bounds": None if point.accuracy_bounds is None else list(point.accuracy_bounds),
        "change": None
        if change is None
        else {
            "labelled_by_both": change.n_common,
            "weighted": change.weighted,
            "accuracy": value_json(change.difference),
            "kappa": value_json(change.kappa_difference),
            "only_before_right": change.a_only_correct,
            "only_now_right": change.b_only_correct,
            "signflip_p": change.signflip_p,
            "durkalski_p": change.clustered_mcnemar_p,
            "holm_p": change.holm_p,
        },
    }
