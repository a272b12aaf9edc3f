"""`faithtui archive`: put runs out of the lists."""

from collections.abc import Sequence
from typing import Annotated

import typer

from faithtui.cli.output import print_json, print_text
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    CommonOptions,
    StoreOption,
    merge_common_options,
)
from faithtui.cli.stores import open_store, read_run_id

RunsArgument = Annotated[
    list[str], typer.Argument(metavar="RUN...", help="Runs' numbers, or `last`.")
]


def archive(
    context: typer.Context, runs: RunsArgument, store: StoreOption = None, json: JsonOption = False
) -> None:
    """Hide runs from the lists; nothing is deleted.

    An archived run is no longer a judge in comparisons, nor the `last` run. By its number it
    can still be shown, labelled, reported and exported. `faithtui restore` lists it again;
    `faithtui delete run` deletes it.

    Example: faithtui archive 3
    """
    archive_or_restore_runs(merge_common_options(context, store, json), runs, archived=True)


def archive_or_restore_runs(options: CommonOptions, runs: Sequence[str], *, archived: bool) -> None:
    """Archive runs, or list them again.

    Raises:
        ConfigError: Something is no run.
        StoreError: There is no such run; nothing was changed.
    """
    with open_store(options.store) as opened:
        found = [read_run_id(opened, each) for each in dict.fromkeys(runs)]
        change = opened.runs.archive if archived else opened.runs.restore
        change(found)
    if options.json:
        print_json({"runs": found, "archived": archived})
    else:
        words = "archived" if archived else "listed again"
        print_text(f"{words}: " + ", ".join(map(str, found)))
