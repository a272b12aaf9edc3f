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
    help="List, export, import and cancel batches of questions.\n\nExample: faithtui batch list",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@batch.command("list")
def list_batches(
    context: typer.Context, store: StoreOption = None, json: JsonOption = False
) -> None:
    """List the runs that wait for a batch.

    Example: faithtui batch list
    """
    from faithtui.cli.commands import batch

    options = merge_common_options(context, store, json)
    raise typer.Exit(batch.print_batches(options.store, as_json=options.json))


@batch.command()
def export(
    context: typer.Context,
    run: RunArgument,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")
    ],
    allow_image_host: ImageHostsOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Write the questions of a run into a file for a Batch API.

    The format is that of OpenAI's Batch API, which other servers read too. The questions
    count as asked from then on.

    Example: faithtui batch export last questions.jsonl
    """
    from faithtui.cli.commands import batch

    options = merge_common_options(context, store, json)
    hosts = tuple(allow_image_host or ())
    raise typer.Exit(
        batch.export_batch_questions(options.store, run, file, hosts, as_json=options.json)
    )


@batch.command("import")
def import_(
    context: typer.Context,
    run: RunArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file of replies.")],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Read a file of replies in the format of OpenAI's Batch API.

    Conversations that have all replies are finished; questions that follow from the replies
    go into the next file. Exit code 3 if a line was refused, else 5 if the run ended
    incomplete, 8 if it still waits.

    Example: faithtui batch import last replies.jsonl
    """
    from faithtui.cli.commands import batch

    options = merge_common_options(context, store, json)
    raise typer.Exit(batch.import_batch_answers(options.store, run, file, as_json=options.json))


@batch.command()
def cancel(
    context: typer.Context,
    run: RunArgument,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Cancel the batches of a run, and drop its exported questions.

    Replies that the provider finished until then are billed; `faithtui run --resume` reads
    them and asks the rest again.

    Example: faithtui batch cancel last
    """
    from faithtui.cli.commands import batch

    options = merge_common_options(context, store, json)
    raise typer.Exit(batch.cancel_run_batches(options.store, run, as_json=options.json))
