"""How errors of commands are reported: one sentence and an exit code."""

import sys
from collections.abc import Callable
from io import TextIOWrapper

from faithtui.cli.streams import READER_GONE, ReaderGone
from faithtui.errors import FaithtuiError

INTERRUPTED = 130


def run_or_exit_with_error(work: Callable[[], object]) -> None:
    """Run a command; errors that a person can mend become one sentence and an exit code.

    Raises:
        SystemExit: With the exit code, when there was an error or the command chose it.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        # Not every terminal knows every character: one that it cannot show is no reason to stop.
        sys.stdout.reconfigure(errors="replace")
    try:
        try:
            work()
        finally:
            # Now, while there is somebody to say that it cannot be delivered.
            sys.stdout.flush()
    except FaithtuiError as error:
        from faithtui.cli.output import print_error

        print_error(str(error))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except ReaderGone:
        sys.exit(READER_GONE)
