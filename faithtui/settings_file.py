"""Writing the settings file: one value at a time, comments and order of the user's kept.

A value is checked together with the rest of the file, with the words of `config`, before anything
is written. The file is replaced in one step, so that it is never half written.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from faithtui.config import SettingsWithOrigins, describe_allowed_setting, parse_settings
from faithtui.errors import ConfigError, ExportError
from faithtui.output_files import make_private_directory, write_text
from faithtui.toml_text import TomlFile

Value = str | int | float | bool | list[str] | dict[str, object]

_COUNTS = ("requests_per_minute", "tokens_per_minute")
"""Settings that are whole numbers where there is any, which an unset value does not show."""


def write_setting_and_reload_settings(
    file: Path, name: str, value: Value | None, environment: Mapping[str, str] = os.environ
) -> SettingsWithOrigins:
    """Set one value in the settings file, and read everything again.

    Args:
        file: The file; made, with its folder, when there is none. A link is followed.
        name: Name of the setting.
        value: What it becomes; None takes it out, so that the default counts.
        environment: Environment variables.

    Returns:
        The settings that count now. A variable of the environment still goes before the file.

    Raises:
        ConfigError: The value is wrong, the file has other faults, or it cannot be written;
            nothing was written.
    """
    before, after, content = _compute_edited_text(file, name, value)
    configured = _validate_and_parse_content(file, content, environment)
    if after != before:
        _replace_file_atomically(file.resolve(), after)
    return configured


def preview_setting(
    file: Path, name: str, value: Value | None, environment: Mapping[str, str] = os.environ
) -> SettingsWithOrigins:
    """Say what `write_setting_and_reload_settings` would give, and write nothing.

    Raises:
        ConfigError: As `write_setting_and_reload_settings`.
    """
    return _validate_and_parse_content(
        file, _compute_edited_text(file, name, value)[2], environment
    )


def parse_typed_value(name: str, text: str, now: object) -> Value | None:
    """Read a value that was typed, as the kind the setting has.

    Args:
        name: Name of the setting.
        text: What was typed; blank: back to the default.
        now: Its value now, which tells its kind.

    Raises:
        ConfigError: It cannot be of that kind.
    """
    word = text.strip()
    if not word:
        return None
    if isinstance(now, Mapping):
        return _parse_json_table(name, word)
    if name in _COUNTS:
        now = 0
    if isinstance(now, tuple):
        return [each.strip() for each in word.split(",") if each.strip()]
    if name == "timeout_s":
        now = 0.0
    if isinstance(now, bool) or name == "ascii":
        if word.casefold() not in ("true", "false"):
            raise ConfigError(f"`{name}` is not valid; expected {describe_allowed_setting(name)}")
        return word.casefold() == "true"
    if not isinstance(now, int | float):
        return word
    try:
        return int(word) if isinstance(now, int) else float(word)
    except ValueError:
        raise ConfigError(
            f"`{name}` is not valid; expected {describe_allowed_setting(name)}"
        ) from None


def _parse_json_table(name: str, word: str) -> dict[str, object]:
    try:
        table = json.loads(word)
    except ValueError:
        table = None
    if not isinstance(table, dict):
        raise ConfigError(
            f"`{name}` is not valid; expected {describe_allowed_setting(name)}, typed as JSON: "
            '{"openai:MODEL": {"temperature": 0}}'
        )
    return table


def _validate_and_parse_content(
    file: Path, content: Mapping[str, object], environment: Mapping[str, str]
) -> SettingsWithOrigins:
    # Without the text: nobody finds a line in a file that is not written yet.
    read = TomlFile(file, table=content)
    # First without the environment: a variable of this setting would hide a wrong value.
    parse_settings(read, {})
    return parse_settings(read, environment)


def _compute_edited_text(
    file: Path, name: str, value: Value | None
) -> tuple[str, str, dict[str, object]]:
    """Give the text of the file before and after, and its content after."""
    # Not needed until somebody changes a setting.
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        before = file.read_bytes().decode("utf-8-sig") if file.exists() else ""
        document = tomlkit.parse(before)
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8; save it as UTF-8") from error
    except TOMLKitError as error:
        raise ConfigError(f"{file} is not TOML: {error}") from error
    if value is not None:
        document[name] = value
    elif name in document:
        del document[name]
    return before, tomlkit.dumps(document), document.unwrap()


def _replace_file_atomically(file: Path, text: str) -> None:
    """Write a new file beside the old one and put it in its place, with the old one's rights."""
    try:
        make_private_directory(file.parent)
        write_text(file, [text], force=True)
    except OSError as error:
        raise ConfigError(f"{file.parent} cannot be made: {error.strerror}") from error
    except ExportError as error:
        raise ConfigError(str(error)) from error
