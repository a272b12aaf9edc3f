"""Options of metrics as they are typed on one line: `name=value metric.name=value`."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence

from faithtui.errors import ConfigError

_BEFORE_OBJECT = re.compile(r"(?:^|\s)[\w.-]+=(?=\{)")


def parse_options(text: str) -> dict[str, str]:
    """Read `name=value name=value` as on a command line; a JSON object needs no quotes.

    Raises:
        ConfigError: A word without `=`, or a quote that is not closed.
    """
    try:
        words = shlex.split(_quote_json_objects(text))
    except ValueError as error:
        raise ConfigError(f"options: {error}; expected name=value name=value") from error
    options = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ConfigError(f"options: `{word}` is not name=value")
        options[name] = value
    return options


def _quote_json_objects(text: str) -> str:
    """Put `{"top_k": 1}` behind a name in quotes, unless it is no JSON or stands in quotes."""
    parts, end = [], 0
    for found in _BEFORE_OBJECT.finditer(text):
        if found.end() < end:
            continue
        try:
            _, behind = json.JSONDecoder().raw_decode(text, found.end())
        except ValueError:
            continue
        parts += [text[end : found.end()], shlex.quote(text[found.end() : behind])]
        end = behind
    return "".join((*parts, text[end:]))


def options_to_text(options: Mapping[str, str]) -> str:
    """Write options as `parse_options` reads them."""
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in options.items())


def format_last_used_options(
    chosen: Sequence[str], remembered: Mapping[str, Mapping[str, str]]
) -> str:
    """Write what metrics were last run with, as `parse_options` reads it.

    An option that several metrics were given alike is written once, one of a single metric among
    several with that metric before it.
    """
    given = {key: remembered[key] for key in chosen if key in remembered}
    words: dict[str, None] = {}
    for key, options in given.items():
        for name, value in options.items():
            alike = len(chosen) == 1 or (
                len(given) > 1 and all(other.get(name) == value for other in given.values())
            )
            typed = name if alike else f"{key}.{name}"
            words[f"{typed}={shlex.quote(value)}"] = None
    return " ".join(words)
