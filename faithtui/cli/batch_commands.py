"""Commands about batches: what is out, files of questions and answers, calling back."""

from pathlib import Path
from typing import Annotated

import typer

from faithtui.cli.options import (
    ImageHostsOption,
    JsonOption,
    RunArgument,
    StoreOption,
    merge_common_options,
)

batch = typer.Typer(
    name="batch",
    help="Questions that were handed over together: what is out, by file, calling back.",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@batch.command("list")
def list_batches(
    context: typer.Context, store: StoreOption = None, json: JsonOption = False
) -> None:
    """List the runs that have questions out."""
    from faithtui.cli.run import batch

    options = merge_common_options(context, store, json)
    raise typer.Exit(batch.print_batches(options.store, as_json=options.json))


@batch.command()
def export(
    context: typer.Context,
    run: RunArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that is not there yet.")],
    allow_image_host: ImageHostsOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Write the questions a run can ask now into a file, as OpenAI's Batch API reads it.

    Other servers read that form too. The questions count as asked from then on.
    """
    from faithtui.cli.run import batch

    options = merge_common_options(context, store, json)
    hosts = tuple(allow_image_host or ())
    raise typer.Exit(
        batch.export_batch_questions(options.store, run, file, hosts, as_json=options.json)
    )


@batch.command("import")
def import_(
    context: typer.Context,
    run: RunArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Lines of answers.")],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Read a file of answers, as OpenAI's Batch API writes it.

    Conversations that have all they need are finished; the questions that follow from the answers
    go into the next file. Exit code 3 when a line was refused, else 5 when the run ended incomplete
    and 8 when it still waits.
    """
    from faithtui.cli.run import batch

    options = merge_common_options(context, store, json)
    raise typer.Exit(batch.import_batch_answers(options.store, run, file, as_json=options.json))


@batch.command()
def cancel(
    context: typer.Context,
    run: RunArgument,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Have the provider stop what is out of a run, and give up what is in files.

    What was answered until then is billed; `faithtui run --resume` reads it and asks the rest
    again.
    """
    from faithtui.cli.run import batch

    options = merge_common_options(context, store, json)
    raise typer.Exit(batch.cancel_run_batches(options.store, run, as_json=options.json))
