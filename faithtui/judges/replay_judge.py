"""A judge that answers from a file, for demonstrations, bug reports and tests without a network.

`faithtui run --record FILE` writes the file, see `reply_recorder`. A line without `format` is a
reply: `{"prompt_sha256": "…", "reply": …}`. The reply is the judge's text, or a JSON object that
stands for its text. A later line for the same question replaces an earlier one. Other fields are
ignored.
"""

import hashlib
import json
from pathlib import Path

from faithtui.errors import InputError, JudgeRequestRejected
from faithtui.judges.base import JudgeReply, JudgeRequest, LocalJudge
from faithtui.judges.reply_parser import remove_invalid_unicode
from faithtui.judges.reply_recorder import FORMAT, VERSION, hash_system_and_prompt


class ReplayJudge(LocalJudge):
    """Recorded replies, by question."""

    def __init__(self, path: Path) -> None:
        """Read all replies into memory.

        Args:
            path: The recorded file.

        Raises:
            InputError: The file cannot be read, or a line is no recorded reply.
        """
        content = _read_replay_file_bytes(path)
        self._path = path
        self._sha256 = hashlib.sha256(content).hexdigest()
        self._replies, self._context_window = _parse_replies_and_context_window(path, content)

    @property
    def ref(self) -> str:
        """Name for users, `replay:FILE`."""
        return f"replay:{self._path}"

    @property
    def fingerprint(self) -> str:
        """The content of the file, wherever it lies."""
        return f"replay/1 {self._sha256}"

    @property
    def takes_images(self) -> bool:
        """Yes: a prompt names its images by their content, so a recorded reply fits them too."""
        return True

    @property
    def context_window(self) -> int | None:
        """That of the judge that was recorded; None where it is not known."""
        return self._context_window

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Look the question up.

        Raises:
            JudgeRequestRejected: The file has no reply to it.
        """
        digest = hash_system_and_prompt(request.system, request.prompt)
        text = self._replies.get(digest)
        if text is None:
            raise JudgeRequestRejected(
                f"{self._path} has no reply to this {request.step} question: record it with"
                " `faithtui run --record`, or add"
                f' the line {{"prompt_sha256": "{digest}", "reply": …}}'
            )
        return JudgeReply(remove_invalid_unicode(text))

    async def aclose(self) -> None:
        """Do nothing: there is nothing to release."""


def _read_replay_file_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error


def _parse_replies_and_context_window(
    path: Path, content: bytes
) -> tuple[dict[str, str], int | None]:
    """Read the replies, by question, and how much the recorded judge could read."""
    replies: dict[str, str] = {}
    context_window: int | None = None
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record: object = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"is no JSON: {error}", path=path, line=number) from error
        if isinstance(record, dict) and record.get("format") == FORMAT:
            if record.get("version") != VERSION:
                raise InputError(
                    f"is a recording of version {record.get('version')}; expected {VERSION}",
                    path=path,
                    line=number,
                    field="version",
                )
            window = record.get("context_window")
            context_window = window if isinstance(window, int) else None
            continue
        if not isinstance(record, dict) or not isinstance(record.get("prompt_sha256"), str):
            raise InputError('expected {"prompt_sha256": "…", "reply": …}', path=path, line=number)
        reply = record.get("reply")
        if not isinstance(reply, str | dict):
            raise InputError("expected a text or an object", path=path, line=number, field="reply")
        replies[record["prompt_sha256"]] = reply if isinstance(reply, str) else json.dumps(reply)
    return replies, context_window
