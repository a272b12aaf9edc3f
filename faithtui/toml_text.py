"""Reading the TOML files that users write, and saying where in them something stands.

Whatever such a file holds, what is wrong is reported in a sentence with its place: the file, the
line where it is known, the name.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from faithtui.errors import ConfigError

MOST_DEEP = 20
"""Levels of tables: far more than anything here has."""
_MOST_QUOTED = 60
"""Characters of a name that are shown."""

_HEADER = re.compile(r"\s*\[\[?([^\]]+)\]")
_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[^"'=#])+?)\s*=""")
_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^.\s"']+))\s*(?:\.|$)""")


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A file as it was read."""

    file: Path
    text: str = ""
    table: Mapping[str, object] = field(default_factory=dict)

    def format_file_and_line(self, name: str = "") -> str:
        """Say where a name with dots stands: `file: line 3`; without a line where none is found."""
        line = self._find_line(name) if name else None
        return f"{self.file}" if line is None else f"{self.file}: line {line}"

    def _find_line(self, name: str) -> int | None:
        above = ""
        for number, line in enumerate(self.text.split("\n"), start=1):
            header = _HEADER.match(line)
            if header is not None:
                above = _strip_quotes(header[1])
                here = above
            elif (key := _KEY.match(line)) is not None:
                here = ".".join(each for each in (above, _strip_quotes(key[1])) if each)
            else:
                continue
            if here == name or (header is None and name.startswith(f"{here}.")):
                return number
        return None


def read_toml(file: Path) -> TomlFile:
    """Read a file; empty when there is none.

    Raises:
        ConfigError: It cannot be read, or is no TOML of a few levels.
    """
    try:
        text = file.read_bytes().decode("utf-8-sig")
        table = tomllib.loads(text)
    except FileNotFoundError:
        return TomlFile(file)
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8; save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not TOML: {error}") from error
    except RecursionError as error:
        raise _make_too_deep_error(file) from error
    except ValueError as error:
        # The interpreter's own limit on converting digits; nothing else is left that raises it.
        raise ConfigError(f"{file} holds a number with too many digits; write fewer") from error
    level: list[dict[str, object] | list[object]] = [table]
    for _ in range(MOST_DEEP):
        level = [
            part
            for each in level
            for part in (each.values() if isinstance(each, dict) else each)
            if isinstance(part, dict | list)
        ]
    if level:
        raise _make_too_deep_error(file)
    return TomlFile(file, text, table)


def quote_word(word: str) -> str:
    """Quote a word of a file in a sentence, without the end of a long one."""
    return f"`{word[:_MOST_QUOTED]}…`" if len(word) > _MOST_QUOTED else f"`{word}`"


def _make_too_deep_error(file: Path) -> ConfigError:
    return ConfigError(
        f"{file} has tables or lists nested more than {MOST_DEEP} levels deep; expected one or two"
    )


def _strip_quotes(written: str) -> str:
    """Write a name without quotation marks and blanks."""
    return ".".join(found[1] or found[2] or found[3] or "" for found in _PART.finditer(written))
