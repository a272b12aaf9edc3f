"""Settings: a TOML file for what stays the same, environment variables for what does not.

Keys and passwords have no place here. They are read from the environment by the judge that needs
them, so that a settings file can be shared.
"""

import getpass
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from faithtui.errors import ConfigError
from faithtui.paths import config_file, default_store

_VARIABLES: Final = {
    "judge": "FAITHTUI_JUDGE",
    "reviewer": "FAITHTUI_REVIEWER",
    "store": "FAITHTUI_STORE",
}
"""Settings that an environment variable overrides. An empty variable counts as unset."""

_ALLOWED: Final = {
    "judge": 'a judge such as "offline", "openai:MODEL" or "anthropic:MODEL"',
    "base_url": "an address that begins with http:// or https:// and holds no password",
    "concurrency": "a whole number from 1 to 256",
    "reviewer": "a name that is not empty",
    "theme": "the name of a theme",
    "store": "the path of a store",
}
"""What each setting takes, for messages."""

_SECRET = re.compile(
    r"(^|[_-])(api_?key|key|token|secret|password|passwd|credentials?)$", re.IGNORECASE
)

_Name = Annotated[str, Field(min_length=1, pattern=r"\S")]


class Settings(BaseModel):
    """What the user chose once and for all."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    judge: _Name = "offline"
    """Who judges when `--judge` is not given, as `provider:model`."""
    base_url: str | None = None
    """Address of an OpenAI-compatible server; None: the provider's own."""
    concurrency: Annotated[int, Field(ge=1, le=256)] = 8
    """Questions in flight at once."""
    reviewer: _Name
    """Who gives verdicts; the login name unless set."""
    theme: _Name | None = None
    """Theme of the app; None: the app's own."""
    store: Annotated[Path, Field(strict=False)]
    """The file with everything in it."""

    @field_validator("base_url")
    @classmethod
    def _check_address(cls, address: str | None) -> str | None:
        if address is None:
            return None
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.netloc:
            raise ValueError(_ALLOWED["base_url"])
        return address

    @field_validator("store")
    @classmethod
    def _expand(cls, path: Path) -> Path:
        return path.expanduser()


def load_settings(
    path: Path | None = None, environment: Mapping[str, str] = os.environ
) -> Settings:
    """Read the settings.

    An environment variable goes before the file, the file before the defaults. A file that does
    not exist is no settings.

    Args:
        path: The TOML file; None: `paths.config_file()`.
        environment: Environment variables.

    Raises:
        ConfigError: The file cannot be read, is not TOML, holds a key that is unknown or looks
            like a secret, or a value is wrong.
    """
    file = config_file(environment) if path is None else path
    found = _read(file)
    for name in _names(found):
        if _SECRET.search(name):
            raise ConfigError(
                f"{file}: `{name}` looks like a secret, and secrets are not read from this file; "
                "remove it and set the provider's environment variable, such as OPENAI_API_KEY "
                "or ANTHROPIC_API_KEY"
            )
    named = {
        name: environment[variable]
        for name, variable in _VARIABLES.items()
        if environment.get(variable)
    }
    defaults = {"reviewer": login_name(), "store": default_store(environment)}
    try:
        return Settings.model_validate({**defaults, **found, **named})
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        if name not in Settings.model_fields:
            known = ", ".join(f"`{known}`" for known in Settings.model_fields)
            reason = f"{file}: `{name}` is not a setting; expected {known}"
        else:
            # The value stays out of the message: a password may have ended up in the wrong line.
            where = f"{_VARIABLES[name]}" if name in named else f"{file}: `{name}`"
            reason = f"{where} is not valid; expected {_ALLOWED[name]}"
        raise ConfigError(reason) from None


def login_name() -> str:
    """Give the user's login name, `me` where the system knows none."""
    try:
        return getpass.getuser().strip() or "me"
    except (KeyError, OSError, ImportError):
        return "me"


def _read(file: Path) -> dict[str, object]:
    """Parse the file; {} when there is none."""
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8; save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not TOML: {error}") from error


def _names(table: Mapping[str, object]) -> Iterator[str]:
    """List all keys, those inside tables too."""
    for name, value in table.items():
        yield name
        if isinstance(value, dict):
            yield from _names(value)
