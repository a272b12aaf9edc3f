"""`faithtui judge recalibrate`: the embedded judge's probabilities fitted to human labels."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.options import JsonOption, StoreOption, merge_common_options
from faithtui.cli.output import Column, plural, print_json, print_table, print_text, print_to_stderr
from faithtui.cli.stores import open_store, read_run_id
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.agreement.statistics.calibration import CalibrationBin
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
        bool, typer.Option("--apply", help="Use it in new runs of the embedded judge.")
    ] = False,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Use the judge as it was shipped again.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before applying.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Fit the embedded judge's probabilities to human labels.

    Needs 20 labels, and shows what changes. Without --apply nothing changes; stored runs
    never change.

    Example: faithtui judge recalibrate --run last
    """
    from faithtui.config import load_settings
    from faithtui.engine.review.recalibration import (
        apply_recalibration,
        find_current_recalibration,
        preview_recalibration,
    )

    options = merge_common_options(context, store, json)
    if withdraw and (apply or run is not None):
        raise ConfigError("--withdraw goes without --apply and --run")
    if yes and not apply:
        raise ConfigError("--yes belongs to --apply")
    settings = load_settings()
    with open_store(options.store, settings) as opened:
        if withdraw:
            _withdraw_recalibration(opened, as_json=options.json)
            return
        wanted = preview_recalibration(opened, None if run is None else read_run_id(opened, run))
        if not options.json:
            _print_preview(wanted)
        is_applied = apply and (yes or _ask_confirmation())
        if is_applied:
            apply_recalibration(opened, wanted, options.reviewer or settings.reviewer)
        stands = find_current_recalibration(opened)
    if options.json:
        print_json(_as_json(wanted, stands))
    elif is_applied:
        print_to_stderr(
            "applied: new runs of the embedded judge use it; faithtui judge recalibrate --withdraw"
        )
    else:
        print_to_stderr(
            "nothing was changed" if apply else "nothing was changed; --apply applies it"
        )


def _withdraw_recalibration(opened: "Store", *, as_json: bool) -> None:
    from faithtui.engine.review.recalibration import withdraw_recalibration

    was_there = withdraw_recalibration(opened)
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
    print_text(
        f"{plural(found.labels, 'label')} on claims of {plural(found.groups, 'group')}, run {runs}"
    )
    print_text(f"log odds × {found.fitted.slope:.3f} {found.fitted.intercept:+.3f}")
    print_table(
        [
            Column("PROBABILITY"),
            Column("BEFORE", "right"),
            Column("STATED", "right"),
            Column("TRUE", "right"),
            Column("AFTER", "right"),
            Column("STATED", "right"),
            Column("TRUE", "right"),
        ],
        _make_bin_rows(found.bins_before, found.bins_after),
    )
    print_text(
        f"calibration error {found.error_before:.3f} before, {found.error_after:.3f} after "
        "(each conversation moved by numbers fitted without it)"
    )
    print_text(
        f"verdicts of labelled claims that would change: {found.raised} from idk to yes, "
        f"{found.lowered} from yes to idk"
    )
    if found.error_after >= found.error_before:
        print_text(
            "It does not help: the probabilities fit these labels already, or no two numbers can."
        )
    if wanted.in_force is not None:
        stands = wanted.in_force
        print_text(
            f"in force now: recalibrated on {plural(stands.labels, 'label')} by "
            f"{stands.reviewer}, {stands.created_at:%Y-%m-%d}"
        )


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
                *_bin_cells(old.get(low)),
                *_bin_cells(new.get(low)),
            )
        )
    return rows


def _bin_cells(found: "CalibrationBin | None") -> tuple[str, str, str]:
    if found is None:
        return "0", "", ""
    return str(found.n), f"{found.mean:.2f}", f"{found.observed:.2f}"


def _as_json(
    wanted: "RecalibrationPreview", stands: "StoredRecalibration | None"
) -> dict[str, object]:
    found = wanted.effect
    return {
        "judge": wanted.judge,
        "runs": list(wanted.runs),
        "labels": found.labels,
        "groups": found.groups,
        "slope": found.fitted.slope,
        "intercept": found.fitted.intercept,
        "error_before": found.error_before,
        "error_after": found.error_after,
        "raised": found.raised,
        "lowered": found.lowered,
        "bins_before": [_bin_json(each) for each in found.bins_before],
        "bins_after": [_bin_json(each) for each in found.bins_after],
        "in_force": None
        if stands is None
        else {
            "slope": stands.fitted.slope,
            "intercept": stands.fitted.intercept,
            "labels": stands.labels,
            "reviewer": stands.reviewer,
            "applied_at": stands.created_at.isoformat(),
        },
    }


def _bin_json(found: "CalibrationBin") -> dict[str, float]:
    return {
        "low": found.low,
        "high": found.high,
        "claims": found.n,
        "stated": found.mean,
        "true": found.observed,
    }
