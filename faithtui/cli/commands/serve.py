"""`faithtui serve`: the app in a browser, for one annotator."""

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from faithtui.cli.output import print_text, print_to_stderr
from faithtui.cli.shared_options import StoreOption, merge_common_options
from faithtui.cli.stores import choose_store_path
from faithtui.errors import ConfigError

HOST = "127.0.0.1"


def serve(
    context: typer.Context,
    port: Annotated[
        int, typer.Option(metavar="N", help="Port to listen on; 0 takes any free port.", max=65535)
    ] = 8000,
    allow_files: Annotated[
        bool,
        typer.Option("--allow-files", help="Let the page write reports into this directory."),
    ] = False,
    allow_editor: Annotated[
        bool,
        typer.Option(
            "--allow-editor",
            help="Let the page start your editor, which must open a window of its own.",
        ),
    ] = False,
    store: StoreOption = None,
) -> None:
    """Show the app in a browser on this machine.

    The printed link holds a token: whoever has it acts as you. Only one page can be open; closing
    it ends its session, like closing a terminal. From another machine, forward the port: ssh -L
    8000:localhost:8000.

    Example: faithtui serve
    """
    from faithtui.config import load_settings

    try:
        from faithtui.cli.browser.server import AppServer
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the package {error.name} is missing: pip install 'faithtui[serve]'"
        ) from error
    from faithtui.tui.allowed_actions import ALLOWED, EDITOR, FILES

    options = merge_common_options(context, store, False)
    path = choose_store_path(options.store, load_settings())
    command = [sys.executable, "-m", "faithtui"]
    if options.store is not None:
        command += ["--store", str(path.absolute())]
    if options.reviewer is not None:
        command += ["--reviewer", options.reviewer]
    allowed = {FILES: allow_files, EDITOR: allow_editor}
    os.environ[ALLOWED] = ",".join(act for act, is_allowed in allowed.items() if is_allowed)
    server = AppServer(
        format_shell_command(command),
        HOST,
        check_port_or_find_free_one(port),
        _print_link,
    )
    server.serve()


def format_shell_command(command: Sequence[str], system: str = os.name) -> str:
    """Write a command as a line for the shell of a system; `system` is a value of `os.name`."""
    return subprocess.list2cmdline(command) if system == "nt" else shlex.join(command)


def _print_link(link: str) -> None:
    print_text(link)
    print_to_stderr("open it in a browser on this machine; ctrl+c ends the app there too")
    sys.stdout.flush()


def check_port_or_find_free_one(port: int) -> int:
    """Give the port, or any that is free for 0.

    Raises:
        ConfigError: Something listens there already.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise ConfigError(
                f"port {port} cannot be used ({error.strerror}): faithtui serve --port 0 takes any "
                "that is free"
            ) from error
        return int(probe.getsockname()[1])
