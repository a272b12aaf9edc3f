"""The program with the clock and the patience of a test.

Its clock moves a second each time it is read, so that no two acts are called saved in the same
words. And it has all the time it wants for leaving: a person does not wait for a slow disk when
quitting, so the app gives up after a moment, and what it does in the time it has can only be
tested where that moment does not pass.

    python -m tests.tui.patient_app --store STORE
"""

from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count

from faithtui.cli.entry import main
from faithtui.tui import app, posix_terminal, shutdown

if __name__ == "__main__":
    moments = map(lambda s: datetime(2026, 1, 2, 3, tzinfo=UTC) + timedelta(seconds=s), count())
    app.FaithApp = partial(app.FaithApp, now=moments.__next__)  # type: ignore[assignment,misc]  # it makes one
    shutdown.CLOSE_TIMEOUT_S = posix_terminal.HANGUP_TIMEOUT_S = 300.0
    main()
