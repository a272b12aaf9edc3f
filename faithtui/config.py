"""Settings: a TOML file for what stays the same, environment variables for what does not.

Keys and passwords have no place here. They are read from the environment by the judge that needs
them, so that a settings file can be shared.
"""

import getpass
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Literal, get_args
from urllib.parse import urlsplit

from faithtui.domain.judging.failure_limit import DEFAULT_FAILURE_LIMIT, FailureLimit
from faithtui.domain.judging.image_addresses import find_host_problem, parse_host_name
from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.domain.limits import REVIEWER
from faithtui.errors import ConfigError
from faithtui.judges.deadlines import TIMEOUTS, is_valid_timeout
from faithtui.paths import config_file, expand_home, get_default_store_path
from faithtui.toml_text import TomlFile, quote_word, read_toml

Preset = Literal["default", "vim", "digits", "left-hand"]
"""Names of the key maps that come with the program."""
PRESETS: Final[tuple[Preset, ...]] = get_args(Preset)

_VARIABLES: Final = {
    "ascii": "FAITHTUI_ASCII",
    "judge": "FAITHTUI_JUDGE",
    "keys": "FAITHTUI_KEYS",
    "reviewer": "FAITHTUI_REVIEWER",
    "store": "FAITHTUI_STORE",
}
"""Settings that an environment variable overrides. An empty variable counts as unset."""

_ALLOWED: Final = {
    "judge": 'a judge such as "offline", "openai:MODEL" or "anthropic:MODEL"',
    "base_url": "an address that begins with http:// or https:// and holds no password",
    "concurrency": "a whole number from 1 to 256",
    "max_failures": 'a number from 1, such as "10", or a share of all, such as "5%"',
    "reviewer": f"a name that is not empty, of at most {REVIEWER.most} characters",
    "theme": "the name of a theme",
    "store": "the path of a store",
    "keys": "one of " + ", ".join(PRESETS),
    "ascii": "true or false",
    "blind": "true or false",
    "audit_share": "a number from 0 to 1",
    "auto_advance": "true or false",
    "timer": "true or false",
    "requests_per_minute": "a whole number from 1",
    "tokens_per_minute": "a whole number from 1",
    "timeout_s": TIMEOUTS,
    "prices": "the path of a price table",
    "redact": 'a function such as "package.module:function"',
    "judges": 'a table of parameters for each judge, such as [judges."openai:MODEL"] with'
    " temperature = 0",
    "image_hosts": 'a list of hosts such as ["cdn.example.com"], or ["*"] for all public ones',
}
"""What each setting takes, for messages."""

_SECRET = re.compile(
    r"(^|[._-])(api_?key|key|token|secret|password|passwd|credentials?)$", re.IGNORECASE
)

_YES_NO: Final = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
"""What a variable may say for a setting that is true or false, in any case."""


def _is_nonblank_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_nonblank_path_text(value: object) -> bool:
    return isinstance(value, Path) or (_is_nonblank_text(value) and "\x00" not in str(value))


def _is_web_address(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        parts = urlsplit(value)
    except ValueError:  # such as a bracket that is never closed
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and "@" not in parts.netloc


def _is_number_from_0_to_1(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return 0 <= value <= 1  # false for NaN too


def _are_valid_host_names(value: object) -> bool:
    if not isinstance(value, list | tuple):
        return False
    return all(isinstance(each, str) and parse_host_name(each) is not None for each in value)


def _is_positive_count_or_none(value: object) -> bool:
    return value is None or (type(value) is int and value >= 1)


# By hand and not by pydantic: the first paint waits for the settings, and importing pydantic takes
# a third of what an empty app takes to be seen.
_VALID: Final[Mapping[str, Callable[[object], bool]]] = {
    "judge": _is_nonblank_text,
    "base_url": lambda value: value is None or _is_web_address(value),
    "concurrency": lambda value: type(value) is int and 1 <= value <= 256,
    "max_failures": lambda value: isinstance(value, str) and FailureLimit.parse(value) is not None,
    "reviewer": lambda value: (
        _is_nonblank_text(value) and REVIEWER.find_size_problem(len(str(value))) is None
    ),
    "theme": lambda value: value is None or _is_nonblank_text(value),
    "store": _is_nonblank_path_text,
    "keys": lambda value: isinstance(value, str) and value in PRESETS,
    "ascii": lambda value: value is None or isinstance(value, bool),
    "blind": lambda value: isinstance(value, bool),
    "audit_share": _is_number_from_0_to_1,
    "auto_advance": lambda value: isinstance(value, bool),
    "timer": lambda value: isinstance(value, bool),
    "requests_per_minute": _is_positive_count_or_none,
    "tokens_per_minute": _is_positive_count_or_none,
    "timeout_s": lambda value: value is None or is_valid_timeout(value),
    "prices": lambda value: value is None or _is_nonblank_path_text(value),
    "redact": lambda value: value is None or (_is_nonblank_text(value) and ":" in str(value)),
    "judges": lambda value: isinstance(value, Mapping),
    "image_hosts": _are_valid_host_names,
}
"""What each setting takes; in words: `_ALLOWED`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the user chose once and for all."""

    judge: str = "offline"
    """Who judges when `--judge` is not given, as `provider:model`."""
    base_url: str | None = None
    """Address of an OpenAI-compatible server; None: the provider's own."""
    concurrency: int = 8
    """Questions in flight at once; [1, 256]."""
    max_failures: str = str(DEFAULT_FAILURE_LIMIT)
    """A run stops when so many questions in a row failed alike, `10`, or above this share of
    conversations that failed, `5%`."""
    reviewer: str
    """Who gives verdicts; the login name unless set."""
    theme: str | None = None
    """Theme of the app; None: the app's own."""
    store: Path
    """The file with everything in it."""
    keys: Preset = "default"
    """Key map of the app; the user's own key map goes on top of it."""
    ascii: bool | None = None
    """Draw with ASCII characters alone; None: where the terminal's encoding is not UTF-8."""
    blind: bool = True
    """Whether new queues hide the judge until an annotator has answered."""
    audit_share: float = 0.2
    """Share of the claims of a blind sample that show the judge, drawn at random, so that its pull
    on annotators can be measured; [0, 1]."""
    auto_advance: bool = True
    """Whether a verdict goes on to the next claim."""
    timer: bool = True
    """Whether review shows the seconds a claim takes and the time that is left."""
    requests_per_minute: int | None = None
    """Most requests a minute to one account; None: as many as the provider takes."""
    tokens_per_minute: int | None = None
    """Most tokens a minute to one account; None: as many as the provider takes."""
    timeout_s: float | None = None
    """Seconds one question may take, from connecting to the last byte; [1, 86400]. None: 120, and
    30 where a judge is only tried."""
    prices: Path | None = None
    """A price table of the user's own, which counts before the prices of `genai-prices`."""
    redact: str | None = None
    """Python function that every text goes through before it leaves this machine."""
    judges: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Parameters by judge, as `provider:model`; `*`: of all that have no value of their own."""
    image_hosts: tuple[str, ...] = ()
    """Hosts whose images a judge may be sent by address; `*`: all public ones."""


NAMES: Final = tuple(each.name for each in fields(Settings))
"""All settings, by name."""


class SettingOrigin(StrEnum):
    """Where the value of a setting comes from."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class SettingsWithOrigins:
    """Settings, and where each of them comes from."""

    settings: Settings
    file: Path
    """The settings file; it may not exist."""
    origins: Mapping[str, SettingOrigin]
    """By name of the setting, all of them."""
    environment: Mapping[str, str]
    """Environment variables they were read with."""

    def describe_origin(self, name: str) -> str:
        """Say where a setting comes from: `default`, `file`, or the variable."""
        origin = self.origins[name]
        return (
            find_environment_variable(name) or origin
            if origin is SettingOrigin.ENVIRONMENT
            else origin
        )


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
    return load_settings_with_origins(path, environment).settings


def load_settings_with_origins(
    path: Path | None = None, environment: Mapping[str, str] = os.environ
) -> SettingsWithOrigins:
    """Read the settings as `load_settings` does, and say where each comes from.

    Raises:
        ConfigError: As `load_settings`.
    """
    read = read_toml(config_file(environment) if path is None else path)
    return parse_settings(read, environment)


def parse_settings(file: TomlFile, environment: Mapping[str, str]) -> SettingsWithOrigins:
    """Check what a settings file says, as `load_settings` does.

    Args:
        file: What it holds, and where that stands.
        environment: Environment variables.

    Raises:
        ConfigError: It holds a key that is unknown or looks like a secret, or a value is wrong.
    """
    found = file.table
    for name in _list_keys_recursively({each: found[each] for each in found if each != "judges"}):
        if _SECRET.search(name):
            raise ConfigError(
                f"{file.format_file_and_line(name)}: {quote_word(name)} looks like a secret, and "
                "secrets are not read "
                "from this file; remove it and set the provider's environment variable, such as "
                "OPENAI_API_KEY or ANTHROPIC_API_KEY"
            )
    named: dict[str, object] = {
        name: environment[variable]
        for name, variable in _VARIABLES.items()
        if environment.get(variable)
    }
    if isinstance(word := named.get("ascii"), str):
        # What is neither stays text, which the check below refuses.
        named["ascii"] = _YES_NO.get(word.strip().casefold(), word)
    values: dict[str, Any] = {
        "reviewer": get_login_name(),
        "store": get_default_store_path(environment),
        **found,
        **named,
    }
    for name in NAMES:
        if name in values and not _VALID[name](values[name]):
            # The value stays out of the message: a password may have ended up in the wrong line.
            where = (
                _VARIABLES[name]
                if name in named
                else f"{file.format_file_and_line(name)}: `{name}`"
            )
            raise ConfigError(f"{where} is not valid; expected {_ALLOWED[name]}")
    for name in values:
        if name not in NAMES:
            known = ", ".join(f"`{known}`" for known in NAMES)
            raise ConfigError(
                f"{file.format_file_and_line(name)}: {quote_word(name)} is not a setting; "
                f"expected {known}"
            )
    values["judges"] = _parse_judge_parameters(file, values.get("judges", {}))
    values["store"] = expand_home(values["store"])
    if values.get("prices") is not None:
        values["prices"] = expand_home(values["prices"])
    for name in ("audit_share", "timeout_s"):
        if values.get(name) is not None:
            values[name] = float(values[name])
    if "image_hosts" in values:
        values["image_hosts"] = _read_image_hosts(file, values["image_hosts"])
    settings = Settings(**values)
    origins = {
        name: SettingOrigin.ENVIRONMENT
        if name in named
        else SettingOrigin.FILE
        if name in found
        else SettingOrigin.DEFAULT
        for name in NAMES
    }
    return SettingsWithOrigins(settings, file.file, origins, environment)


def describe_allowed_setting(name: str) -> str:
    """Say what a setting takes, in the words of messages."""
    return _ALLOWED[name]


def find_environment_variable(name: str) -> str | None:
    """Name the environment variable that overrides a setting; None: there is none."""
    return _VARIABLES.get(name)


def get_login_name() -> str:
    """Give the user's login name, `me` where the system knows none."""
    try:
        return getpass.getuser().strip() or "me"
    except (KeyError, OSError, ImportError):
        return "me"


def _parse_judge_parameters(
    file: TomlFile, judges: Mapping[str, object]
) -> Mapping[str, Mapping[str, object]]:
    """Check the parameters of judges; a header may name a variable, and holds no secret.

    Raises:
        ConfigError: One of them cannot be.
    """
    read: dict[str, Mapping[str, object]] = {}
    for judge, parameters in judges.items():
        where = f"judges.{judge}"
        if not isinstance(parameters, Mapping):
            raise ConfigError(
                f"{file.format_file_and_line(where)}: `judges.{judge[:60]}` is not valid; expected "
                f"{_ALLOWED['judges']}"
            )
        try:
            JudgeProfile.read(parameters)
        except ConfigError as error:
            raise ConfigError(
                f"{file.format_file_and_line(where)}: judge {quote_word(judge)}: {error}"
            ) from error
        read[judge] = dict(parameters)
    return read


def _read_image_hosts(file: TomlFile, hosts: Iterable[str]) -> tuple[str, ...]:
    """Read hosts of images, which are names of hosts.

    Raises:
        ConfigError: One of them can be allowed by nobody.
    """
    read = []
    for each in hosts:
        host = parse_host_name(each) or ""
        problem = find_host_problem(host)
        if problem is not None:
            place = file.format_file_and_line("image_hosts")
            raise ConfigError(f"{place}: `image_hosts` holds {quote_word(each)}, {problem}")
        read.append(host)
    return tuple(read)


def _list_keys_recursively(table: Mapping[str, object]) -> Iterator[str]:
    """List all keys, those inside tables too."""
    for name, value in table.items():
        yield name
        if isinstance(value, dict):
            yield from (f"{name}.{inner}" for inner in _list_keys_recursively(value))
