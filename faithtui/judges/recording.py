"""Recordings of a judge's replies: written while a run asks, read by the judge `replay:FILE`.

A recording is JSON Lines. The first line says of which judge it is, each other one holds the reply
to a question: `{"prompt_sha256": "…", "step": "…", "reply": "…"}`. The question itself is not
written, but for its hash: it holds what may be nobody else's business.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from faithtui.errors import ExportError
from faithtui.judges.base import JudgeRequest

FORMAT: Final = "faithtui-replies"
VERSION: Final = 1
_OWNER_ONLY: Final = 0o600


def prompt_sha256(system: str, prompt: str) -> str:
    """Name a question: SHA-256, in hex, of the JSON list of both texts in ASCII."""
    return hashlib.sha256(json.dumps([system, prompt]).encode()).hexdigest()


class ReplyRecorder:
    """Writes replies into a file, each as soon as it is used; a context manager.

    A file that is a recording already is written on, so that a run that was interrupted goes on
    into the same one.
    """

    def __init__(self, path: Path) -> None:
        """Open the file.

        Args:
            path: Where to; its directory must exist.

        Raises:
            ExportError: It cannot be written, or is something else than a recording.
        """
        self._path = path
        try:
            self._is_new = not path.exists() or path.stat().st_size == 0
            if not self._is_new and not is_recording(path):
                raise ExportError(
                    f"{path} is there already and is no recording; name another file for --record"
                )
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _OWNER_ONLY)
            self._file: IO[str] = os.fdopen(number, "a", encoding="utf-8", newline="\n")
        except OSError as error:
            raise ExportError(
                f"{path} cannot be written: {error.strerror or error}; name another file"
            ) from error

    def __enter__(self) -> Self:
        """Give the recorder itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._file.close()

    def note_judge(self, ref: str, context_window: int | None) -> None:
        """Say whose replies follow, and how much it can read: questions are cut by that."""
        if self._is_new:
            self._is_new = False
            head = {"format": FORMAT, "version": VERSION, "judge": ref}
            self._write({**head, "context_window": context_window})

    def record_reply(self, request: JudgeRequest, text: str) -> None:
        """Write the reply that was used for a question.

        Args:
            request: The question as it was first asked, without what repairs added to it.
            text: What the judge said in the end.

        Raises:
            ExportError: It cannot be written, such as on a full disk.
        """
        digest = prompt_sha256(request.system, request.prompt)
        self._write({"prompt_sha256": digest, "step": request.step, "reply": text})

    def _write(self, record: Mapping[str, object]) -> None:
        try:
            self._file.write(json.dumps(record) + "\n")
            self._file.flush()
        except OSError as error:
            raise ExportError(
                f"{self._path} cannot be written: {error.strerror or error}"
            ) from error


def is_recording(path: Path) -> bool:
    """Whether a file begins as a recording does, or with a reply as earlier versions had it."""
    with path.open("rb") as file:
        line = file.readline(1_000_000)
    try:
        record: object = json.loads(line)
    except ValueError:
        return False
    return isinstance(record, dict) and (
        record.get("format") == FORMAT or isinstance(record.get("prompt_sha256"), str)
    )
