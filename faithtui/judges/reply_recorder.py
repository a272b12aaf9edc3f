"""Recordings of a judge's replies: written while a run asks, read by the judge `replay:FILE`.

A recording is JSON Lines. The first line says of which judge it is, and of no other; each other one
holds the reply to a question: `{"prompt_sha256": "…", "step": "…", "reply": "…"}`. The question
itself is not written, but for its hash: it holds what may be nobody else's business.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from faithtui.domain.json_values import parse_object_or_none
from faithtui.domain.judging.judge_profile import normalise_fingerprint
from faithtui.errors import ExportError
from faithtui.judges.base import JudgeRequest
from faithtui.output_files import OWNER_ONLY, is_database, refuse_name_of_stdout

FORMAT: Final = "faithtui-replies"
VERSION: Final = 1


def hash_system_and_prompt(system: str, prompt: str) -> str:
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
            ExportError: It cannot be written, or is something else than a recording, such as a
                file that SQLite keeps beside a store.
        """
        self._path = path
        self._judge: tuple[str, str | None] | None = None
        """Name and fingerprint of the one whose replies are in the file."""
        self._is_judge_noted = False
        refuse_name_of_stdout(path, "file")
        try:
            if is_database(path.resolve()):
                raise ExportError(
                    f"{path} is a store, or belongs to one; name another file for --record"
                )
            self._is_new = not path.exists() or path.stat().st_size == 0
            if not self._is_new:
                self._judge = _read_judge_of_recording(path)
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, OWNER_ONLY)
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
        try:
            self._file.close()
        except OSError as closing:
            # What could not be written is tried again here; that was reported when it was written.
            if error is None:
                raise self._make_write_error(closing) from closing

    def record_judge_of_next_replies(
        self, ref: str, fingerprint: str, context_window: int | None
    ) -> None:
        """Say whose replies follow, and how much it can read: questions are cut by that.

        Raises:
            ExportError: The replies in the file are another judge's, or it cannot be written.
        """
        self.refuse_other_judge_than_recorded(ref, fingerprint)
        if self._is_judge_noted:
            return
        if self._is_new:
            head = {"format": FORMAT, "version": VERSION, "judge": ref, "fingerprint": fingerprint}
            self._write({**head, "context_window": context_window})
        else:
            self._repair_unfinished_last_line()
        self._judge = (ref, fingerprint)
        self._is_judge_noted = True

    def refuse_other_judge_than_recorded(self, ref: str, fingerprint: str) -> None:
        """See that the replies of a judge can follow those in the file, and write nothing.

        Raises:
            ExportError: The replies in the file are another judge's.
        """
        if self._judge is None:
            return
        known_ref, known_fingerprint = self._judge
        if ref != known_ref:
            whose = known_ref
        elif known_fingerprint is not None and (
            normalise_fingerprint(known_fingerprint) != normalise_fingerprint(fingerprint)
        ):
            whose = f"{known_ref} with other parameters, version or address"
        else:
            return
        raise ExportError(f"{self._path} is a recording of {whose}; name another file")

    def _repair_unfinished_last_line(self) -> None:
        """Make the file end with a whole line: a kill may have cut it, an editor left it open."""
        try:
            content = self._path.read_bytes()
            whole, last = content.rpartition(b"\n")[::2]
            if not last:
                return
            if parse_object_or_none(last) is None:
                os.ftruncate(self._file.fileno(), len(whole) + 1)
            else:
                self._file.write("\n")
                self._file.flush()
        except OSError as error:
            raise self._make_write_error(error) from error

    def record_reply(self, request: JudgeRequest, text: str) -> None:
        """Write the reply that was used for a question.

        Args:
            request: The question as it was first asked, without what repairs added to it.
            text: What the judge said in the end.

        Raises:
            ExportError: It cannot be written, such as on a full disk.
        """
        digest = hash_system_and_prompt(request.system, request.prompt)
        self._write({"prompt_sha256": digest, "step": request.step, "reply": text})

    def _write(self, record: Mapping[str, object]) -> None:
        try:
            self._file.write(json.dumps(record) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._make_write_error(error) from error

    def _make_write_error(self, error: OSError) -> ExportError:
        return ExportError(f"{self._path} cannot be written: {error.strerror or error}")


def _read_judge_of_recording(path: Path) -> tuple[str, str | None]:
    """Read whose replies a recording holds: a name, and a fingerprint unless it is an earlier one.

    Raises:
        ExportError: It is no recording, or does not say.
    """
    with path.open("rb") as file:
        record = parse_object_or_none(file.readline(1_000_000))
    if record is None or (
        record.get("format") != FORMAT and not isinstance(record.get("prompt_sha256"), str)
    ):
        raise ExportError(
            f"{path} is there already and is no recording; name another file for --record"
        )
    ref, fingerprint = record.get("judge"), record.get("fingerprint")
    if not isinstance(ref, str):
        raise ExportError(
            f"{path} does not say in its first line whose replies it holds; name another file for"
            " --record"
        )
    return ref, fingerprint if isinstance(fingerprint, str) else None
