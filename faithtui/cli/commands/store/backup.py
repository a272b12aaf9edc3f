"""`faithtui backup`: a copy of a store, and the store from its copy."""

from pathlib import Path
from typing import Annotated

import typer

from faithtui.cli.output import print_json, print_text
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    CommonOptions,
    StoreOption,
    merge_common_options,
    parse_path_as_typed,
)
from faithtui.cli.stores import choose_store_path, find_existing_store_path, make_store_directory
from faithtui.errors import ConfigError


def backup(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            parser=parse_path_as_typed, metavar="FILE", help="The file to write the copy to."
        ),
    ] = None,
    restore: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Replace the store by this copy; the replaced store is kept beside it.",
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Copy the store while it is in use, or restore a copy.

    A copy is opened and checked before it is kept, and never replaces another file.

    Example: faithtui backup copy.db
    """
    options = merge_common_options(context, store, json)
    if file is not None and restore is not None:
        raise ConfigError("a copy is made with FILE or put back with --restore FILE, not both")
    if restore is not None:
        _restore_backup(options, restore)
    elif file is not None:
        _make_backup(options, file)
    else:
        raise ConfigError("name a file for the copy, or a copy to put back with --restore FILE")


def _make_backup(options: CommonOptions, file: Path) -> None:
    """Copy the store into a file."""
    from faithtui.store.file.backups import copy_store_to_file

    size = copy_store_to_file(find_existing_store_path(options.store), file)
    if options.json:
        print_json({"file": str(file), "bytes": size})
    else:
        print_text(f"{file}: {size / 2**20:.1f} MB, opened and sound")


def _restore_backup(options: CommonOptions, file: Path) -> None:
    """Put a copy in the place of the store."""
    from faithtui.store.file.backups import restore_store

    path = choose_store_path(options.store)
    if options.store is None:
        make_store_directory(path)
    aside = restore_store(file, path)
    if options.json:
        print_json({"store": str(path), "before": None if aside is None else str(aside)})
        return
    print_text(f"{path} is now what {file} was")
    if aside is not None:
        print_text(f"the store as it was before: {aside}")
