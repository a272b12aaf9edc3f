"""`faithtui compare`: what another judge or prompt changed, against human labels."""

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
    ClaimSetOption,
    SampleOption,
    SplitOption,
    StoreOption,
    make_reviewer_option,
    merge_common_options,
)
from faithtui.cli.stores import (
    find_id_of_claim_set_option,
    open_store,
    read_id_of_run_with_verdicts,
)

if TYPE_CHECKING:
    from faithtui.engine.review.reports.run_comparison import RunComparison
    from faithtui.store.records import RunRow


def compare(
    context: typer.Context,
    first: Annotated[str, typer.Argument(metavar="RUN_A", help="The run before.")],
    second: Annotated[str, typer.Argument(metavar="RUN_B", help="The run after.")],
    sample: SampleOption = None,
    claim_set: ClaimSetOption = None,
    split: SplitOption = None,
    reviewer: Annotated[str | None, make_reviewer_option("Who compares.")] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Compare two runs against the same human labels.

    Counts the claims that both runs judged and annotators labelled, with the weights of the
    sample that they were drawn in. Prints how accuracy and kappa change from A to B, with
    intervals over conversations and p values, as `faithtui report A --compare B` does.

    Example: faithtui compare 1 2
    """
    from faithtui.config import load_settings
    from faithtui.domain.ids import SampleId
    from faithtui.engine.integrity.run_checks import check_and_save_run_within_time_limit
    from faithtui.engine.review.reports.run_comparison import compare_runs
    from faithtui.engine.review.samples.store_split import parse_split

    options = merge_common_options(context, store, json, reviewer)
    settings = load_settings()
    part = parse_split(split)
    with open_store(options.store, settings) as opened:
        opened.refuse_corrupted_rows()
        runs = (
            read_id_of_run_with_verdicts(opened, first),
            read_id_of_run_with_verdicts(opened, second),
        )
        for each in runs:
            check_and_save_run_within_time_limit(opened, each)
        change = compare_runs(
            opened,
            *runs,
            options.reviewer or settings.reviewer,
            part,
            None if sample is None else SampleId(sample),
            find_id_of_claim_set_option(opened, claim_set, sample),
        )
    if options.json:
        print_json(_as_json(change))
    else:
        _print_run_comparison(change)
    if change.opening is not None:
        print_to_stderr(change.opening.warning)


def _print_run_comparison(change: "RunComparison") -> None:
    from faithtui.agreement.documents.figure_texts import (
        INTERVALS_BESIDE_P,
        estimate_text,
        p_value_text,
    )
    from faithtui.domain.text.visible_text import make_visible_line
    from faithtui.tui.agreement.comparison_notes import list_comparison_notes

    report = change.report
    where = "" if change.split is None else f" of the {change.split} split"
    print_text(f"A is {_format_run_settings(change.a)}")
    print_text(f"B is {_format_run_settings(change.b)}")
    print_text(
        f"{plural(report.n_common, 'claim')}{where} in {plural(report.clusters, 'group')} of "
        "conversations, judged by both and labelled by annotators"
    )
    if change.weighting_sentence:
        print_text(make_visible_line(change.weighting_sentence))
    print_text("")
    print_table(
        [
            TableColumn("AGAINST HUMAN LABELS"),
            TableColumn("A"),
            TableColumn("B"),
            TableColumn("B - A"),
        ],
        [
            (
                "accuracy",
                estimate_text(report.accuracy_a),
                estimate_text(report.accuracy_b),
                estimate_text(report.difference),
            ),
            (
                "Cohen's kappa",
                estimate_text(report.kappa_a),
                estimate_text(report.kappa_b),
                estimate_text(report.kappa_difference),
            ),
        ],
    )
    print_text("")
    print_text(
        f"only A is right: {report.a_only_correct}; only B is right: {report.b_only_correct}"
    )
    print_text("")
    print_table(
        [TableColumn("IF NOTHING CHANGED"), TableColumn("P", "right")],
        [
            ("signs of groups flipped", p_value_text(report.signflip_p)),
            ("McNemar for groups (Durkalski)", p_value_text(report.clustered_mcnemar_p)),
            ("McNemar mid-p, if claims were independent", p_value_text(report.mcnemar_mid_p)),
        ],
    )
    print_text(INTERVALS_BESIDE_P)
    notes = list_comparison_notes(change)
    if notes:
        print_text("")
    for note in notes:
        print_text(note)


def _format_run_settings(row: "RunRow") -> str:
    from faithtui.tui.runs.run_options_text import format_changed_options

    examples = ", shown examples" if row.spec.example_set else ""
    options = format_changed_options(row.spec)
    parameters = row.spec.profile.describe()
    asked = f" ({parameters})" if parameters else ""
    return (
        f"run {row.id}: {row.spec.metric} by {row.spec.judge_title}{asked}, "
        f"prompts {row.spec.prompt_digest[:12]}{examples}"
        f"{', ' if options else ''}{options}"
    )


def _as_json(change: "RunComparison") -> dict[str, object]:
    from faithtui.domain.json_values import value_json
    from faithtui.engine.review.conversation_json import integrity_to_json

    report, left = change.report, change.left_out
    return {
        "a": change.a.id,
        "b": change.b.id,
        "integrity_a": integrity_to_json(change.a.spec.metric, change.a.integrity),
        "integrity_b": integrity_to_json(change.b.spec.metric, change.b.integrity),
        "split": change.split,
        "sample": change.design.name or None,
        "weighted": report.weighted,
        "claims": report.n_common,
        "groups": report.clusters,
        "accuracy_a": value_json(report.accuracy_a),
        "accuracy_b": value_json(report.accuracy_b),
        "accuracy_difference": value_json(report.difference),
        "kappa_a": value_json(report.kappa_a),
        "kappa_b": value_json(report.kappa_b),
        "kappa_difference": value_json(report.kappa_difference),
        "only_a_right": report.a_only_correct,
        "only_b_right": report.b_only_correct,
        "signflip_p": report.signflip_p,
        "durkalski_p": report.clustered_mcnemar_p,
        "mcnemar_mid_p_if_independent": report.mcnemar_mid_p,
        "left_out": {
            "shown_as_examples": left.shown,
            "without_verdict": left.without_verdict,
            "unlabelled": left.unlabelled,
            "unfair": left.unfair,
            "outside_sample": left.outside,
            "audit": left.audit,
        },
        "only_a_judged": change.only_a,
        "only_b_judged": change.only_b,
        "a_beyond_claim_set": change.beyond_a,
        "b_beyond_claim_set": change.beyond_b,
        "labelled_with_a_judge_in_view": change.in_view,
        "unverified": change.unverified,
        "test_openings": None if change.opening is None else change.opening.number,
    }
