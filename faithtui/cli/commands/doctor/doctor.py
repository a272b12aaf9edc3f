"""`faithtui doctor`: is everything there that faithtui needs?"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from faithtui.cli.output import insert_store_option, is_quiet, print_json, print_text
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    BaseUrlOption,
    ForceOption,
    StoreOption,
    merge_common_options,
    parse_path_as_typed,
)


def doctor(
    context: typer.Context,
    judge: Annotated[
        str | None, typer.Option(metavar="JUDGE", help="Ask this judge two questions.")
    ] = None,
    base_url: BaseUrlOption = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Send nothing over a network.")
    ] = False,
    bundle: Annotated[
        Path | None,
        typer.Option(
            "--bundle",
            "--debug",
            parser=parse_path_as_typed,
            metavar="FILE",
            help="Write what an error report needs into a zip file, without keys and without "
            "your texts.",
        ),
    ] = None,
    force: ForceOption = False,
    salvage: Annotated[
        Path | None,
        typer.Option(
            parser=parse_path_as_typed,
            metavar="NEW",
            help="Copy what can be read of a damaged store into a new store.",
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Check the store, the keys, a judge and the terminal.

    Keys are looked up and never shown. With -q, print only what is wrong.

    Example: faithtui doctor --judge openai:MODEL
    """
    from faithtui.cli.commands.doctor.checks import run_checks
    from faithtui.cli.commands.doctor.debug_bundle import write_debug_bundle_and_print_contents
    from faithtui.cli.commands.doctor.salvage import salvage_store

    options = merge_common_options(context, store, json)
    if salvage is not None:
        raise typer.Exit(salvage_store(options.store, salvage, as_json=options.json))
    if bundle is not None:
        raise typer.Exit(write_debug_bundle_and_print_contents(bundle, options.store, force=force))
    found = run_checks(options.store, judge, base_url, offline=offline)
    if options.json:
        print_json([asdict(each) for each in found])
    else:
        for each in found:
            if is_quiet() and each.ok is not False:
                continue
            mark = {True: "ok ", False: "NO ", None: "   "}[each.ok]
            print_text(f"{mark} {each.name}: {insert_store_option(each.text)}")
    raise typer.Exit(next((each.exit_code for each in found if each.ok is False), 0))
