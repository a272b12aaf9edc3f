"""How errors of commands are told: one sentence and an exit code."""

import os
import sys
from collections.abc import Callable
from io import TextIOWrapper

from faithtui.errors import FaithtuiError

INTERRUPTED = 130


def told(work: Callable[[], object]) -> None:
    """Run a command; errors that a person can mend become one sentence and an exit code.

    Raises:
        SystemExit: With the exit code, when there was an error or the command chose it.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        # Not every terminal knows every character: one that it cannot show is no reason to stop.
        sys.stdout.reconfigure(errors="replace")
    try:
        work()
    except FaithtuiError as error:
        from faithtui.domain.plain import visible

        print(f"error: {visible(str(error))}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody to tell, and flushing would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
