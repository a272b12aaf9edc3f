"""Opening stores and the app for commands.

Every command has this at hand, `--help` too: what opening needs is imported in the functions.
"""

import logging
import os
import re
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from faithtui.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from faithtui.config import Settings, SettingsWithOrigins
    from faithtui.domain.ids import ClaimId, ClaimSetId, RunId
    from faithtui.store.store import Store
    from faithtui.tui.samples.queue import ClaimQueue

_log = logging.getLogger("faithtui.command")

PATIENCE_S = 30.0
"""Seconds that a run waits for another process's lock: nobody may be there to start it again."""


def choose_store_path(named: Path | None, settings: "Settings | None" = None) -> Path:
    """Choose the store: the one named, else the one from the settings, which are read if not given.

    Raises:
        ConfigError: The settings cannot be read.
    """
    from faithtui.paths import expand_home

    if settings is None:
        from faithtui.config import load_settings

        settings = load_settings()
    return settings.store if named is None else expand_home(named)


def find_existing_store_path(named: Path | None) -> Path:
    """Find the file of a store that must be there.

    Raises:
        ConfigError: The settings cannot be read.
        StoreError: It is not there.
    """
    path = choose_store_path(named)
    if not path.is_file():
        raise StoreError(f"there is no store at {path}; name it with --store")
    return path


def make_store_directory(path: Path) -> None:
    """Make the directory of a store that nobody named.

    Raises:
        StoreError: It cannot be made.
    """
    from faithtui.output_files import make_private_directory

    try:
        make_private_directory(path.parent)
    except OSError as error:
        raise StoreError(
            f"the directory {path.parent} of the store cannot be made: {error.strerror or error}; "
            "name another file with --store, or another home with FAITHTUI_HOME"
        ) from error


def open_store(
    named: Path | None,
    settings: "Settings | None" = None,
    *,
    create: bool = False,
    busy_timeout_s: float = 5.0,
) -> "Store":
    """Open the store of a command.

    Args:
        named: From the command line; None: from the settings.
        settings: The user's settings; None: they are read.
        create: Make file and folder when they are not there.
        busy_timeout_s: How long to wait while another process holds the lock.

    Raises:
        ConfigError: The settings cannot be read.
        StoreError: It cannot be opened.
    """
    from faithtui.domain.text.visible_text import make_visible
    from faithtui.store.file.location import format_opening_notes
    from faithtui.store.store import Store

    path = choose_store_path(named, settings)
    if create and named is None:
        make_store_directory(path)
    if not create and named is None and not path.exists():
        raise StoreError(
            f"there is no store yet ({path}): faithtui import FILE makes it, {_format_demo_hint()}"
        )
    began = time.monotonic()
    opened = Store.open(path, create=create, busy_timeout_s=busy_timeout_s)
    _log.debug("opened %s in %.2f s", path, time.monotonic() - began)
    for sentence in format_opening_notes(opened):
        print(make_visible(sentence), file=sys.stderr)
    return opened


def _format_demo_hint() -> str:
    """Say how the demo is had, or where it is already."""
    from faithtui.domain.text.visible_text import make_visible_line
    from faithtui.paths import get_demo_store_path

    demo = get_demo_store_path()
    if not demo.exists():
        return "and faithtui demo shows one"
    return f"and --store {shlex.quote(make_visible_line(str(demo)))} names that of the demo"


def read_run_id(store: "Store", text: str) -> "RunId":
    """Read a run's number, or `last`.

    Raises:
        ConfigError: Neither, or there is no run yet.
        StoreError: There is no run with this number.
    """
    from faithtui.domain.ids import RunId
    from faithtui.engine.runs.last_run import LAST, find_last_run

    if text == LAST:
        return find_last_run(store)
    if not re.fullmatch(r"#?[0-9]{1,15}", text):
        raise ConfigError(f"`{text}` is no run; expected a number from `faithtui runs`, or `last`")
    return store.runs.read_run(RunId(int(text.lstrip("#")))).id


def read_id_of_run_with_verdicts(store: "Store", text: str) -> "RunId":
    """Read a run's number, or `last` for the newest run that has verdicts.

    Raises:
        ConfigError: Neither, or no run has verdicts.
        StoreError: There is no run with this number.
    """
    from faithtui.cli.output import print_to_stderr
    from faithtui.engine.runs.last_run import LAST, find_last_run_with_verdicts

    if text != LAST:
        return read_run_id(store, text)
    found = find_last_run_with_verdicts(store)
    newest = store.runs.find_newest_run_id()
    if newest != found:
        print_to_stderr(f"note: run {newest} has no verdict; `last` is run {found}")
    return found


def find_id_of_claim_set_option(
    store: "Store", name: str | None, sample: int | None = None
) -> "ClaimSetId | None":
    """Find what `--set` names.

    Raises:
        ConfigError: A sample is named too.
        StoreError: There is no such set.
    """
    if name is None:
        return None
    if sample is not None:
        raise ConfigError("--set and --sample name two designs; leave one of them out")
    return store.claim_sets.find_version_by_name(name).id


def open_app(named: Path | None, reviewer: str | None = None) -> int:
    """Open the app and return its exit code.

    Args:
        named: The store, from the command line; None: from the settings.
        reviewer: Who gives verdicts, from the command line; None: from the settings.

    Raises:
        ConfigError: There is no terminal, or settings or the key map are wrong.
    """
    from faithtui.config import load_settings_with_origins

    configured = load_settings_with_origins()
    if reviewer is not None:
        # Typer has read a line that names one; without any the app begins without Typer.
        from faithtui.cli.shared_options import override_configured_reviewer

        configured = override_configured_reviewer(configured, reviewer)
    path = choose_store_path(named, configured.settings)
    if named is None:
        make_store_directory(path)
    return show_app(path, configured, keeps_place=True)


@contextmanager
def preserve_type_ahead() -> Iterator[None]:
    """Take keys as they are typed from now on, and give the terminal back as it was.

    Until the app has it, a terminal would echo what is typed, keep a line back until it is whole
    and turn enter into another key, so that what is typed while the app loads would be lost.
    """
    if not (sys.stdin.isatty() and has_terminal()):  # a page has none
        yield
        return
    try:
        import termios
    except ModuleNotFoundError:  # a console of Windows keeps what is typed by itself
        yield
        return

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    now = termios.tcgetattr(descriptor)
    now[0] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR)
    now[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(descriptor, termios.TCSANOW, now)
    try:
        yield
    finally:
        with suppress(termios.error):  # there may be no terminal any more
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@preserve_type_ahead()
def show_app(
    path: Path,
    configured: "SettingsWithOrigins",
    *,
    first_screen: str = "runs",
    run: "RunId | None" = None,
    resume: bool = False,
    queue: "ClaimQueue | None" = None,
    queue_start: "ClaimId | None" = None,
    keeps_place: bool = False,
) -> int:
    """Show the app and return its exit code.

    Args:
        path: The store.
        configured: The user's settings.
        first_screen: Main screen to begin with.
        run: Run to begin with; None: the newest.
        resume: Go on with that run in the background.
        queue: Claims to work through at once.
        queue_start: Claim of the queue to begin with.
        keeps_place: Go on where this reviewer stopped; where that is known, it counts for more
            than screen and run.

    Raises:
        ConfigError: There is no terminal, or the user's key map is wrong.
    """
    _refuse_missing_terminal()
    from faithtui.logbook import stop_printing_log
    from faithtui.malloc_settings import share_one_arena
    from faithtui.tui.conversations.import_files import pause_gc_then_freeze_objects

    stop_printing_log()  # its lines would be written over the screen
    share_one_arena()

    _set_frame_rate()
    with pause_gc_then_freeze_objects():
        from faithtui.engine.runs.request import RunRequest
        from faithtui.logbook import open_log
        from faithtui.paths import log_dir, state_dir
        from faithtui.tui import screen_catalog
        from faithtui.tui.app import FaithApp
        from faithtui.tui.resume_position import BookmarkFile
        from faithtui.tui.theme.ascii import wants_ascii

        screen_catalog.load_screen_class(first_screen)
    open_log(log_dir(configured.environment), environ=configured.environment)
    settings = configured.settings
    bookmarks = None
    if keeps_place:
        directory = state_dir(configured.environment) / "places"
        bookmarks = BookmarkFile(directory, path, settings.reviewer)
    keymap = load_app_keymap(configured)
    app = FaithApp(
        path,
        reviewer=settings.reviewer,
        first_screen=first_screen,
        run=run,
        resume=resume,
        defaults=RunRequest.from_settings(settings),
        theme_name=settings.theme,
        configured=configured,
        keymap=keymap,
        ascii=wants_ascii(settings.ascii, configured.environment),
        bookmarks=bookmarks,
    )
    app.session.environ = configured.environment
    app.session.finds_local_servers = True
    if queue is not None:
        app.session.start_queue(queue, queue_start)
    app.run()
    return app.shutdown.process_exit_code


def _refuse_missing_terminal() -> None:
    if not has_terminal():
        raise ConfigError(
            "the app needs a terminal; in a script use the commands, such as label --plain; see "
            "faithtui --help"
        )


def _set_frame_rate() -> None:
    """Ask Textual, which reads it when it is imported, for a fine grid of frames.

    What a message paints comes with the frame after the key's, and that one waits for the grid: a
    finer one costs nothing while nothing is painted.
    """
    os.environ.setdefault("TEXTUAL_FPS", "240")


def load_app_keymap(configured: "SettingsWithOrigins") -> dict[str, str]:
    """Read the keys of the app, where it can be opened; see `load_keymap`.

    Raises:
        ConfigError: There is no terminal, or the user's key map is wrong.
    """
    _refuse_missing_terminal()
    _set_frame_rate()
    from faithtui.paths import keymap_file
    from faithtui.tui.keymap.keymap import load_keymap

    return load_keymap(configured.settings.keys, keymap_file(configured.file))


def has_terminal() -> bool:
    """Whether somebody sits in front of this process, or a server shows it on a page.

    In a terminal the app draws on what was stderr at first.
    """
    if os.environ.get("TEXTUAL_DRIVER", "").endswith(":WebDriver"):
        return True
    drawn_on = sys.__stderr__
    return sys.stdin.isatty() and sys.stdout.isatty() and drawn_on is not None and drawn_on.isatty()
