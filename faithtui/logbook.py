"""The log file: what runs did, in a line each, for whoever has to find out why later.

Prompts, replies, texts of conversations and keys have no place in it. Everything this program logs
goes through `faithtui` loggers, which hand nothing on to others and take nothing from them: what
SDKs and libraries log never gets here. Prompts are logged on demand only, into a file of their own,
which no bundle for a report of an error holds.
"""

import logging
import os
import re
import time
from collections.abc import Iterable, Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final, TextIO

from faithtui.output_files import OWNER_ONLY, make_private_directory

LOG_FILE: Final = "faithtui.log"
PROMPTS_FILE: Final = "faithtui-prompts.log"

ROOT: Final = "faithtui"
PROMPTS: Final = "faithtui.prompts"

MOST_BYTES: Final = 1_000_000
"""Of one file."""
KEPT_FILES: Final = 5
"""Older files beside the current one."""

_HIDDEN: Final = "[hidden]"
_KEY_VARIABLE: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")
"""Environment variables whose values are never written, whoever they belong to."""
_SHORTEST: Final = 8
"""Characters of a value that is hidden: shorter ones are words, and hiding them tells more."""
_LOOKS_LIKE_A_KEY: Final = re.compile(
    r"\bsk-[\w\-*.…]{4,}|(?<=\bBearer )[^\s\"',}]+|(?<=://)[^\s/@]+@", re.IGNORECASE
)


def open_log(
    directory: Path, *, prompts: bool = False, environ: Mapping[str, str] = os.environ
) -> None:
    """Begin to write the log of this process, in place of one that was begun before.

    A log that cannot be written is no reason to stop, so that failures are passed over in silence.

    Args:
        directory: Where the files are; made with the first line.
        prompts: Write questions and answers too, into `PROMPTS_FILE`.
        environ: Environment variables; the values of keys among them are kept out.
    """
    hide = make_secret_filter(environ)
    _replace_file_handler(logging.getLogger(ROOT), directory / LOG_FILE, hide)
    talk = logging.getLogger(PROMPTS)
    # What is said there never goes into the other file.
    talk.propagate = False
    _close_file_handlers(talk)
    if prompts:
        _replace_file_handler(talk, directory / PROMPTS_FILE, hide)


def start_printing_log(stream: TextIO, environ: Mapping[str, str] = os.environ) -> None:
    """Print what is logged from now on, prompts aside, for whoever watches.

    They get details too that are not written into the file, such as names of conversations.

    Args:
        stream: Where to; in place of one that was named before.
        environ: Environment variables; the values of keys among them are kept out.
    """
    logger = logging.getLogger(ROOT)
    _stop_printing(logger)
    handler = _PrintingHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    handler.addFilter(make_secret_filter(environ))
    logger.addHandler(handler)
    _log_debug_only_while_printing(logger)
    logger.propagate = False


def stop_printing_log() -> None:
    """Print no more of what is logged: a screen is about to be drawn."""
    _stop_printing(logging.getLogger(ROOT))


def close_log() -> None:
    """Close the files, and print no more."""
    for name in (ROOT, PROMPTS):
        _close_file_handlers(logging.getLogger(name))
    stop_printing_log()


def make_secret_filter(environ: Mapping[str, str]) -> "SecretFilter":
    """Make what keeps the keys of an environment out of texts."""
    return SecretFilter(_find_secrets(environ))


class SecretFilter(logging.Filter):
    """Takes keys out of a record, and folds it to one line."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """Prepare.

        Args:
            secrets: Texts that are never written.
        """
        super().__init__()
        # The longest first: one may be part of another.
        self._secrets = sorted(set(secrets), key=len, reverse=True)

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean a record in place; keeps every one."""
        record.msg = self.redact_line(record.getMessage())
        record.args = None
        if record.exc_info:
            # A traceback quotes source and values; the kind of the error is enough here.
            kind = record.exc_info[0]
            record.msg += f" ({kind.__name__})" if kind else ""
            record.exc_info = record.exc_text = record.stack_info = None
        return True

    def redact_line(self, text: str) -> str:
        """Give a text as one line without keys."""
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        text = _LOOKS_LIKE_A_KEY.sub(_HIDDEN, text)
        return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


class _PrintingHandler(logging.StreamHandler[TextIO]):
    """Prints the log; a kind of its own, to be found again."""


class _QuietFileHandler(RotatingFileHandler):
    """A log file that is made with its first line, for its owner's eyes, and never in the way."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            maxBytes=MOST_BYTES,
            backupCount=KEPT_FILES,
            encoding="utf-8",
            errors="backslashreplace",
            delay=True,
        )

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        make_private_directory(path.parent)
        path.touch(mode=OWNER_ONLY)
        path.chmod(OWNER_ONLY)  # one that is there from before
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:
        """Say nothing: a full disk must not write into the app's screen."""


def _replace_file_handler(logger: logging.Logger, path: Path, hide: SecretFilter) -> None:
    _close_file_handlers(logger)
    handler = _QuietFileHandler(path)
    layout = "%(asctime)s.%(msecs)03dZ %(process)d %(levelname)s %(message)s"
    formatter = logging.Formatter(layout, "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    handler.addFilter(hide)
    handler.setLevel(logging.INFO)
    logger.addHandler(handler)
    _log_debug_only_while_printing(logger)
    logger.propagate = False


def _close_file_handlers(logger: logging.Logger) -> None:
    for handler in logger.handlers[:]:
        if isinstance(handler, _QuietFileHandler):
            logger.removeHandler(handler)
            handler.close()


def _stop_printing(logger: logging.Logger) -> None:
    for handler in logger.handlers[:]:
        if isinstance(handler, _PrintingHandler):
            logger.removeHandler(handler)
    _log_debug_only_while_printing(logger)


def _log_debug_only_while_printing(logger: logging.Logger) -> None:
    """Let details be made only where somebody watches."""
    watched = any(isinstance(each, _PrintingHandler) for each in logger.handlers)
    logger.setLevel(logging.DEBUG if watched else logging.INFO)


def _find_secrets(environ: Mapping[str, str]) -> list[str]:
    return [
        value.strip()
        for name, value in environ.items()
        if _KEY_VARIABLE.search(name.upper()) and len(value.strip()) >= _SHORTEST
    ]
