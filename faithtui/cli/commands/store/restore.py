"""`faithtui restore`: put archived runs back into the lists."""

import typer

from faithtui.cli.commands.store.archive import RunsArgument, archive_or_restore_runs
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import StoreOption, merge_common_options


def restore(
    context: typer.Context, runs: RunsArgument, store: StoreOption = None, json: JsonOption = False
) -> None:
    """List archived runs again.

    Example: faithtui restore 3
    """
    archive_or_restore_runs(merge_common_options(context, store, json), runs, archived=False)
