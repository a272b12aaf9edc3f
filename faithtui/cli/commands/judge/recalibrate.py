"""`faithtui judge recalibrate`: the embedded judge's probabilities and verdicts from labels."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
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
from faithtui.cli.shared_options import StoreOption, merge_common_options
from faithtui.cli.stores import open_store, read_id_of_run_with_verdicts
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.agreement.statistics.calibration import CalibrationBin
    from faithtui.agreement.statistics.verdict_threshold import ThresholdEffect
    from faithtui.engine.review.recalibration import RecalibrationPreview
    from faithtui.store.calls.recalibrations import StoredRecalibration
    from faithtui.store.store import Store


def recalibrate(
    context: typer.Context,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="Only labels on the claims of this run: its number, or `last`.",
        ),
    ] = None,
    apply: Annotated[
        bool,
        typer.Option(
            "--apply",
            help="Use the probabilities in new runs of the embedded judge; verdicts stay.",
        ),
    ] = False,
    apply_threshold: Annotated[
        bool,
        typer.Option(
            "--apply-threshold", help="Use the suggested threshold of verdicts in new runs."
        ),
    ] = False,
    withdraw: Annotated[
        bool,
        typer.Option(
            "--withdraw", help="Undo --apply and --apply-threshold: use the judge as shipped."
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before applying.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Fit the embedded judge to human labels: its probabilities and its threshold.

    Needs 20 labels of both kinds from 5 groups of conversations, drawn at random or given before
    the verdict was shown. Weighs labels by the sample, and shows recall and precision before and
    after on conversations left out. A threshold needs 40 labels. Without --apply or
    --apply-threshold nothing changes; stored runs never change.

    Example: faithtui judge recalibrate --run last
    """
    from faithtui.config import load_settings
    from faithtui.engine.review.recalibration import (
        find_current_recalibration,
        find_current_threshold,
        preview_recalibration,
        refuse_recalibration_that_does_not_help,
        use_recalibration_in_new_runs,
        use_threshold_in_new_runs,
    )

    options = merge_common_options(context, store, json)
    changes = apply or apply_threshold
    if withdraw and (changes or run is not None):
        raise ConfigError("--withdraw goes without --apply, --apply-threshold and --run")
    if yes and not changes:
        raise ConfigError("--yes belongs to --apply or --apply-threshold")
    settings = load_settings()
    with open_store(options.store, settings) as opened:
        if withdraw:
            _restore_shipped_judge_and_print(opened, as_json=options.json)
            return
        opened.refuse_corrupted_rows()
        wanted = preview_recalibration(
            opened, None if run is None else read_id_of_run_with_verdicts(opened, run)
        )
        if not options.json:
            _print_preview(wanted)
        if apply:
            refuse_recalibration_that_does_not_help(wanted)
        is_applied = changes and (yes or _ask_confirmation())
        reviewer = options.reviewer or settings.reviewer
        # First what may be refused, so that half of it is never applied.
        if is_applied and apply_threshold:
            use_threshold_in_new_runs(opened, wanted, reviewer)
        if is_applied and apply:
            use_recalibration_in_new_runs(opened, wanted, reviewer)
        stored = find_current_recalibration(opened), find_current_threshold(opened)
    if options.json:
        print_json(_preview_to_json(wanted, *stored))
    elif is_applied:
        print_to_stderr(
            "applied: new runs of the embedded judge use it; faithtui judge recalibrate --withdraw"
        )
    else:
        ways = ["--apply uses the probabilities"] * wanted.effect.helps
        ways += ["--apply-threshold uses the threshold"] * wanted.verdicts.helps_enough_to_offer
        way = "".join(f"; {each}" for each in ways)
        print_to_stderr(f"nothing was changed{'' if changes else way}")


def _restore_shipped_judge_and_print(opened: "Store", *, as_json: bool) -> None:
    from faithtui.engine.review.recalibration import restore_shipped_judge_if_changed

    was_there = restore_shipped_judge_if_changed(opened)
    if as_json:
        print_json({"withdrawn": was_there, "in_force": None})
    elif was_there:
        print_to_stderr("withdrawn: new runs of the embedded judge use it as it was shipped")
    else:
        print_to_stderr("there was nothing to withdraw: the embedded judge is as it was shipped")


def _ask_confirmation() -> bool:
    """Ask a person.

    Raises:
        ConfigError: There is none to be asked.
    """
    if not sys.stdin.isatty():
        raise ConfigError("nobody can be asked here; --yes applies it without asking")
    print_to_stderr("Use it in new runs of the embedded judge? [y/N]")
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def _print_preview(wanted: "RecalibrationPreview") -> None:
    found = wanted.effect
    runs = ", ".join(map(str, wanted.runs))
    labels = f"{plural(found.labels, 'label')} on claims of {plural(found.groups, 'group')}"
    weighed = (
        ""
        if wanted.effective_labels > found.labels - 0.5
        else f", weighted by the sample (worth {wanted.effective_labels:.0f} of equal weight)"
    )
    print_text(f"{labels}, run {runs}{weighed}")
    if wanted.left_out:
        print_table(
            [TableColumn("LEFT OUT", "right"), TableColumn("WHY")],
            [(str(number), reason.words) for reason, number in wanted.left_out.items()],
        )
    print_text(
        f"probabilities: log odds × {found.fitted.slope:.3f} {found.fitted.intercept:+.3f}; "
        "verdicts stay as they are"
    )
    print_table(
        [
            TableColumn("PROBABILITY"),
            TableColumn("BEFORE", "right"),
            TableColumn("STATED", "right"),
            TableColumn("TRUE", "right"),
            TableColumn("AFTER", "right"),
            TableColumn("STATED", "right"),
            TableColumn("TRUE", "right"),
        ],
        _make_bin_rows(found.bins_before, found.bins_after),
    )
    print_text(
        f"calibration error {found.error_before:.3f} before, {found.error_after:.3f} after "
        "(each conversation moved by numbers fitted without it)"
    )
    if not found.helps:
        print_text(
            "It does not help: the probabilities fit these labels already, or no two numbers can."
        )
    _print_threshold_effect(wanted.verdicts)
    if wanted.in_force is not None:
        print_text(
            "probabilities in force now: recalibrated on "
            f"{_format_labels_reviewer_and_date(wanted.in_force)}"
        )
    if wanted.threshold_in_force is not None:
        from faithtui.engine.review.recalibration import compute_yes_threshold_as_shipped

        stored = wanted.threshold_in_force
        print_text(
            f"verdicts in force now: yes from {compute_yes_threshold_as_shipped(stored):.2f}, "
            "chosen on "
            f"{_format_labels_reviewer_and_date(stored)}"
        )


def _format_labels_reviewer_and_date(stored: "StoredRecalibration") -> str:
    labels = plural(stored.labels, "label")
    return f"{labels} by {stored.reviewer}, {stored.created_at:%Y-%m-%d}"


def _print_threshold_effect(found: "ThresholdEffect") -> None:
    """Show what another threshold of verdicts would do to unsupported claims."""
    from faithtui.agreement.statistics.verdict_threshold import FEWEST_FOR_THRESHOLD

    print_text(f"\nverdicts: yes from {found.threshold:.2f} up, where it is 0.50 as shipped")
    print_table(
        [
            TableColumn("UNSUPPORTED CLAIMS"),
            TableColumn("BEFORE", "right"),
            TableColumn("AFTER", "right"),
        ],
        [
            (
                name,
                *(
                    "–" if value is None else f"{value:.2f}"
                    for value in (getattr(found.before, field), getattr(found.after, field))
                ),
            )
            for name, field in (
                ("recall", "recall"),
                ("precision", "precision"),
                ("balanced accuracy", "balanced_accuracy"),
            )
        ],
    )
    print_text(
        "after: each conversation judged at a threshold that was chosen without it. Of the "
        f"labelled claims {found.raised} would become yes, {found.lowered} would lose it."
    )
    if found.has_too_few_labels:
        print_text(
            f"These labels are worth {found.effective_labels:.0f} of equal weight; another "
            f"threshold is suggested from {FEWEST_FOR_THRESHOLD}: keep 0.50."
        )
    elif not found.helps_enough_to_offer:
        print_text("It does not help surely enough on conversations left out: keep 0.50.")


def _make_bin_rows(
    before: "Sequence[CalibrationBin]", after: "Sequence[CalibrationBin]"
) -> list[tuple[str, ...]]:
    """One row per bin that holds anything before or after."""
    old = {round(each.low, 6): each for each in before}
    new = {round(each.low, 6): each for each in after}
    rows: list[tuple[str, ...]] = []
    for low in sorted(old.keys() | new.keys()):
        edges = old.get(low) or new[low]
        rows.append(
            (
                f"{edges.low:.1f} to {edges.high:.1f}",
                *_format_bin_cells(old.get(low)),
                *_format_bin_cells(new.get(low)),
            )
        )
    return rows


def _format_bin_cells(found: "CalibrationBin | None") -> tuple[str, str, str]:
    if found is None:
        return "0", "", ""
    return str(found.n), f"{found.mean:.2f}", f"{found.observed:.2f}"


def _preview_to_json(
    wanted: "RecalibrationPreview",
    stored: "StoredRecalibration | None",
    threshold: "StoredRecalibration | None",
) -> dict[str, object]:
    from faithtui.engine.review.recalibration import compute_yes_threshold_as_shipped

    found, verdicts = wanted.effect, wanted.verdicts
    return {
        "judge": wanted.judge,
        "runs": list(wanted.runs),
        "labels": found.labels,
        "groups": found.groups,
        "slope": found.fitted.slope,
        "intercept": found.fitted.intercept,
        "error_before": found.error_before,
        "error_after": found.error_after,
        "left_out": {reason.value: number for reason, number in wanted.left_out.items()},
        "effective_labels": wanted.effective_labels,
        "raised": verdicts.raised,
        "lowered": verdicts.lowered,
        "threshold": {
            "suggested": verdicts.threshold if verdicts.helps_enough_to_offer else None,
            "found": verdicts.threshold,
            "before": asdict(verdicts.before),
            "after": asdict(verdicts.after),
            "in_force": None
            if threshold is None
            else {
                "value": compute_yes_threshold_as_shipped(threshold),
                **_recalibration_origin_to_json(threshold),
            },
        },
        "bins_before": [_bin_json(each) for each in found.bins_before],
        "bins_after": [_bin_json(each) for each in found.bins_after],
        "in_force": None
        if stored is None
        else {
            "slope": stored.fitted.slope,
            "intercept": stored.fitted.intercept,
            **_recalibration_origin_to_json(stored),
        },
    }


def _recalibration_origin_to_json(stored: "StoredRecalibration") -> dict[str, object]:
    """Write who applied something, when, and on how many labels."""
    return {
        "labels": stored.labels,
        "reviewer": stored.reviewer,
        "applied_at": stored.created_at.isoformat(),
    }


def _bin_json(found: "CalibrationBin") -> dict[str, float]:
    return {
        "low": found.low,
        "high": found.high,
        "claims": found.n,
        "stated": found.mean,
        "true": found.observed,
    }
