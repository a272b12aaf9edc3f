"""Where faithtui keeps things on this system. Functions only: nothing is made or looked up here.

`FAITHTUI_HOME` moves everything under one directory.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs

APP = "faithtui"
HOME = "FAITHTUI_HOME"


def data_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Give the directory of the stores; it may not exist yet."""
    home = _home_dir(environment)
    return home or platformdirs.user_data_path(APP, appauthor=False)


def get_default_store_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Give the store that is used when none is named."""
    return data_dir(environment) / "faithtui.db"


def get_demo_store_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Give the store of `faithtui demo`, apart from the user's own."""
    return data_dir(environment) / "demo.db"


def config_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Give the settings file; it may not exist."""
    home = _home_dir(environment)
    return (home or platformdirs.user_config_path(APP, appauthor=False)) / "config.toml"


def keymap_file(settings: Path) -> Path:
    """Give the user's own key map, which stands beside the settings file; it may not exist."""
    return settings.with_name("keymap.toml")


def state_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Give the directory of what makes the next start comfortable; it may not exist yet."""
    home = _home_dir(environment)
    return home / "state" if home else platformdirs.user_state_path(APP, appauthor=False)


def log_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """Give the directory of log files; it may not exist yet."""
    home = _home_dir(environment)
    return home / "logs" if home else platformdirs.user_log_path(APP, appauthor=False)


def expand_home(path: str | Path) -> Path:
    """Put the home of a user in place of `~` or `~user`; a name that only begins so stays."""
    try:
        return Path(path).expanduser()
    except RuntimeError:  # there is no such user
        return Path(path)


def _home_dir(environment: Mapping[str, str]) -> Path | None:
    """Give the directory named by `FAITHTUI_HOME`; None when it is unset or empty."""
    named = environment.get(HOME)
    return expand_home(named).absolute() if named else None
