"""`faithtui delete`: count what depends on it, ask, delete, and say what is left elsewhere."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.output import format_row_counts_line, print_json, print_text, print_to_stderr
from faithtui.cli.output_options import JsonOption, make_command_group
from faithtui.cli.shared_options import (
    CommonOptions,
    RunArgument,
    StoreOption,
    merge_common_options,
)
from faithtui.cli.stores import open_store, read_run_id
from faithtui.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from faithtui.engine.deletion import DeletionPlan
    from faithtui.store.deletion_records import DeletionKind
    from faithtui.store.store import Store

delete = make_command_group(
    "delete",
    "Delete a data set, an import, an annotator or a run for good.\n\n"
    "The app only archives.\n\nExample: faithtui delete run 3",
)

_EXPOSURES_FORGOTTEN = (
    "with it goes who had seen the judge's verdicts: labels that are given blind later, of a "
    "conversation that was seen, are stored as blind. faithtui gate asks about such labels "
    "(--accept exposures_deleted)"
)

YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask; required without a terminal.")]


@delete.command()
def dataset(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `faithtui import` names it.")],
    yes: YesOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Delete the conversations of a data set with verdicts and labels.

    Prints how many rows that deletes, and asks first. Afterwards the file of the store holds
    nothing of the data set but a record without names and texts, which `faithtui doctor` shows.

    Example: faithtui delete dataset NAME
    """
    from faithtui.engine.deletion import plan_dataset_deletion

    raise typer.Exit(
        _confirm_delete_and_choose_exit_code(
            merge_common_options(context, store, json),
            lambda opened, by: plan_dataset_deletion(opened, name, by),
            yes=yes,
        )
    )


@delete.command("import")
def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file that was imported.")],
    source: Annotated[
        str | None, typer.Option(metavar="NAME", help="The data set. [the file's name]")
    ] = None,
    yes: YesOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Delete the conversations of an imported file.

    Reads the names and turns of the conversations from the file; a conversation that is stored with
    other turns stays.

    Example: faithtui delete import conversations.jsonl
    """
    from faithtui.engine.deletion import plan_file_deletion

    raise typer.Exit(
        _confirm_delete_and_choose_exit_code(
            merge_common_options(context, store, json),
            lambda opened, by: plan_file_deletion(opened, file, source, by),
            yes=yes,
        )
    )


@delete.command()
def person(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The annotator.")],
    yes: YesOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Delete an annotator: labels, notes, ratings and the name.

    Where a row must stay, such as that of a sample or a guideline, the name becomes `(deleted)`.

    Example: faithtui delete person NAME
    """
    from faithtui.engine.deletion import plan_person_deletion

    raise typer.Exit(
        _confirm_delete_and_choose_exit_code(
            merge_common_options(context, store, json),
            lambda opened, by: plan_person_deletion(opened, name, by),
            yes=yes,
        )
    )


@delete.command()
def run(
    context: typer.Context,
    run: RunArgument,
    yes: YesOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Delete a run with its verdicts; conversations and labels stay.

    Example: faithtui delete run 3
    """
    from faithtui.engine.deletion import plan_run_deletion

    raise typer.Exit(
        _confirm_delete_and_choose_exit_code(
            merge_common_options(context, store, json),
            lambda opened, by: plan_run_deletion(opened, read_run_id(opened, run), by),
            yes=yes,
        )
    )


def _confirm_delete_and_choose_exit_code(
    options: CommonOptions, plan: "Callable[[Store, str], DeletionPlan]", *, yes: bool
) -> int:
    """Delete something; 0, 1 when the answer is no, 4 when bytes of it may be left."""
    from faithtui.config import load_settings
    from faithtui.store.deletion_records import EXPOSURES, DeletionKind

    settings = load_settings()
    with open_store(options.store, settings) as opened:
        deletion = plan(opened, options.reviewer or settings.reviewer)
        counts = deletion.count_rows()
        print_to_stderr(
            f"deleting {deletion.title} from {opened.path} takes along: "
            f"{format_row_counts_line(counts)}"
        )
        if not _ask_confirmation(yes=yes):
            print_to_stderr("nothing was deleted")
            return 1
        done = deletion.delete_if_unchanged_and_idle(counts)
    if options.json:
        print_json({"kind": deletion.kind, "counts": dict(done.counts), "remains": done.remains})
    else:
        print_text(f"deleted {deletion.title}")
    print_to_stderr(_describe_what_deletion_leaves(opened.path, deletion.kind))
    if counts.get(EXPOSURES) and deletion.kind is not DeletionKind.PERSON:
        print_to_stderr(_EXPOSURES_FORGOTTEN)
    if done.remains is not None:
        print_to_stderr(done.remains)
        return StoreError.exit_code
    return 0


def _ask_confirmation(*, yes: bool) -> bool:
    """Ask on a terminal whether it is meant.

    Raises:
        ConfigError: Nobody can be asked.
    """
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ConfigError(
            "nobody can be asked here, so nothing was deleted: add --yes to delete all the same"
        )
    print_to_stderr("this cannot be undone. Type yes to delete it:")
    try:
        return input().strip().casefold() == "yes"
    except EOFError:
        return False
    except KeyboardInterrupt:
        print_to_stderr("\nnothing was deleted")
        raise


def _describe_what_deletion_leaves(store: Path, kind: "DeletionKind") -> str:
    from faithtui.logbook import PROMPTS_FILE
    from faithtui.paths import log_dir
    from faithtui.store.deletion_records import DeletionKind
    from faithtui.store.file.backups import find_copies

    back = {
        DeletionKind.RUN: "its verdicts do not come back; a new run asks the judge again",
        DeletionKind.PERSON: "labels come back with a label bundle that is merged, and with a "
        "later import of a file that holds them",
    }.get(
        kind,
        "it comes back with a later import of the file, and labels with a label bundle that is "
        "merged",
    )
    words = (
        f"{back}. Copies of the store, exported files, the log and what was sent to a judge are "
        "not touched"
    )
    known = [*find_copies(store), *(path for path in [log_dir() / PROMPTS_FILE] if path.exists())]
    if known:
        words += f"; the texts may still be in {', '.join(map(str, known))}"
    return words
