"""Where the `faithtui` command begins: start fast, then hand over.

Building the command tree makes many objects and no garbage. Collecting in between, and once more
over all of them at the end, would cost a quarter of what `faithtui --help` takes. The app alone
needs no command tree, so it is opened without one.
"""

import gc
import os
import sys
from collections.abc import Sequence

from faithtui.cli.streams import guard_standard_streams

COMPLETION = "_FAITHTUI_COMPLETE"
"""Set by the script of `faithtui --install-completion` when TAB is pressed."""


def main() -> None:
    """Load what the command line asks for with the collector out of the way, and run it."""
    gc.disable()
    guard_standard_streams()
    words = sys.argv[1:]
    # A shell that completes a line asks through the environment, with no words at all.
    if only_opens_app(words) and COMPLETION not in os.environ:
        _open_app(words)
        return
    from faithtui.cli.main import main as run

    gc.freeze()
    gc.enable()
    run()


def only_opens_app(words: Sequence[str]) -> bool:
    """Whether a command line opens the app and says no more than where its store is."""
    return not words or (
        len(words) == 2 and words[0] == "--store" and words[1][:1] not in ("", "-")
    )


def _open_app(words: Sequence[str]) -> None:
    from pathlib import Path

    from faithtui.cli.exit_codes import run_or_exit_with_error
    from faithtui.cli.stores import open_app

    gc.freeze()
    gc.enable()
    run_or_exit_with_error(lambda: sys.exit(open_app(Path(words[1]) if words else None)))
