"""A text in the user's own editor."""

import os
import shlex
import subprocess
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from faithtui.domain.limits import Limit
from faithtui.domain.text.visible_text import make_visible
from faithtui.errors import ConfigError
from faithtui.tui.allowed_actions import EDITOR, refuse_disallowed_act_in_browser


def edit_text(
    app: App[Any], text: str, *, name: str, limit: Limit, instead: str = ""
) -> str | ConfigError:
    """Let the user's editor change a text; the app waits meanwhile.

    Args:
        app: The app, which lends its terminal.
        text: What the editor begins with.
        name: Name of the file the editor sees.
        limit: How long the text may be. One that is longer is kept in a file, which is named.
        instead: What else can be done where no editor is set, as the end of a sentence.

    Returns:
        The text without line ends at its end; or why there is none, in a sentence.
    """
    try:
        refuse_disallowed_act_in_browser(EDITOR, os.environ)
    except ConfigError as error:
        return error
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not command:
        words = f"neither VISUAL nor EDITOR is set: set one to your editor{instead}"
        return ConfigError(words)
    with tempfile.TemporaryDirectory(prefix="faithtui-") as folder:
        file = Path(folder) / name
        file.write_text(text, encoding="utf-8")
        try:
            # A page cannot lend a terminal; an editor with a window of its own needs none.
            with nullcontext() if app.is_web else app.suspend():
                done = subprocess.run([*split_command(command), str(file)], check=False)
            if done.returncode:
                return ConfigError(
                    f"the editor ended with status {done.returncode}: nothing was saved"
                )
            found = file.read_text(encoding="utf-8", errors="replace").rstrip("\n")
            problem = limit.find_size_problem(len(found))
            return (
                found
                if problem is None
                else ConfigError(f"{problem}. {_save_rejected_text(found, name)}")
            )
        except (OSError, ValueError, SuspendNotSupported) as error:
            return ConfigError(f"the editor could not be used: {make_visible(str(error))}")


def split_command(command: str, system: str = os.name) -> list[str]:
    """Split a command into words as the shell of a system does; `system` is a value of `os.name`.

    Raises:
        ValueError: A quotation mark is not closed.
    """
    if system != "nt":
        return shlex.split(command)
    # A backslash is part of a path there, and quotation marks only hold a word together.
    return [each.strip('"') for each in shlex.split(command, posix=False)]


def _save_rejected_text(text: str, name: str) -> str:
    """Keep what was written where only its user may read it, and say where that is."""
    stem, _, suffix = name.rpartition(".")
    descriptor, path = tempfile.mkstemp(prefix=f"faithtui-{stem}-", suffix=f".{suffix}")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    return f"What you wrote is in {path}"
