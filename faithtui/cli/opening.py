"""Opening stores and the app for commands."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from faithtui.config import Settings, load_settings
from faithtui.domain.ids import RunId
from faithtui.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from faithtui.store.store import Store


def store_path(named: Path | None, settings: Settings) -> Path:
    """Choose the store: the one named, else the one from the settings."""
    return settings.store if named is None else named.expanduser()


def open_store(
    named: Path | None, settings: Settings, *, create: bool = False, busy_timeout_s: float = 5.0
) -> "Store":
    """Open the store of a command.

    Args:
        named: From the command line; None: from the settings.
        settings: The user's settings.
        create: Make file and folder when they are not there.
        busy_timeout_s: How long to wait while another process holds the lock.

    Raises:
        StoreError: It cannot be opened.
    """
    # The app comes through this module too, and its first paint must not wait for SQLAlchemy.
    from faithtui.store.store import Store

    path = store_path(named, settings)
    if create and named is None:
        path.parent.mkdir(parents=True, exist_ok=True)
    if not create and named is None and not path.exists():
        raise StoreError(
            f"there is no store yet ({path}): faithtui import FILE makes it, "
            "and faithtui demo shows one"
        )
    return Store.open(path, create=create, busy_timeout_s=busy_timeout_s)


def run_id(store: "Store", text: str) -> RunId:
    """Read a run's number, or `last`.

    Raises:
        ConfigError: Neither, or there is no run yet.
        StoreError: There is no run with this number.
    """
    if text == "last":
        last = store.runs.last_id()
        if last is None:
            raise ConfigError("there is no run yet: faithtui run")
        return last
    if not re.fullmatch(r"#?[0-9]{1,15}", text):
        raise ConfigError(f"`{text}` is no run; expected a number from `faithtui runs`, or `last`")
    return store.runs.row(RunId(int(text.lstrip("#")))).id


def open_app(named: Path | None) -> int:
    """Open the app and return its exit code.

    Raises:
        ConfigError: There is no terminal.
    """
    settings = load_settings()
    path = store_path(named, settings)
    if named is None:
        path.parent.mkdir(parents=True, exist_ok=True)
    return show_app(path, settings)


def show_app(
    path: Path,
    settings: Settings,
    *,
    first_screen: str = "runs",
    run: RunId | None = None,
    resume: bool = False,
) -> int:
    """Show the app and return its exit code.

    Args:
        path: The store.
        settings: The user's settings.
        first_screen: Main screen to begin with.
        run: Run to begin with; None: the newest.
        resume: Go on with that run in the background.

    Raises:
        ConfigError: There is no terminal.
    """
    if not has_terminal():
        raise ConfigError(
            "the app needs a terminal; in a script use the commands, see faithtui --help"
        )
    from faithtui.tui.app import FaithApp
    from faithtui.tui.session import Defaults

    app = FaithApp(
        path,
        reviewer=settings.reviewer,
        first_screen=first_screen,
        run=run,
        resume=resume,
        defaults=Defaults(settings.judge, settings.base_url, settings.concurrency),
        theme_name=settings.theme,
    )
    app.run()
    return app.return_code or 0


def has_terminal() -> bool:
    """Whether somebody sits in front of this process."""
    return sys.stdin.isatty() and sys.stdout.isatty()
