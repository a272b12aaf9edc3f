"""The standard streams of a process, made safe to use before anything else is.

Whoever starts a command may close them, send them to a full disk, or stop reading. What a command
prints on stdout is what it was asked for, so that it ends when that cannot be delivered: quietly
where the reader has gone, else with a sentence. What it says on stderr is talk, and it goes on
without.
"""

import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Final

from faithtui.errors import ExportError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDIN, STDOUT, STDERR = 0, 1, 2

READER_GONE: Final = 141
"""What a shell tells of a program that SIGPIPE ended (128 and the signal's 13)."""


class ReaderGone(Exception):
    """Nobody reads stdout any more, as after `| head -1`. There is nobody to tell either."""


def guard_standard_streams() -> None:
    """Let no closed or full stream cause anything but an orderly end."""
    # In this order: a closed one is opened as the lowest free number. Left free, it would be given
    # to the next file that is opened, such as the store, and what is printed would go there.
    _open_devnull_if_closed(STDIN, os.O_RDONLY)
    _open_devnull_if_closed(STDOUT, os.O_RDONLY)  # writing to it fails, as it does to a closed one
    _open_devnull_if_closed(STDERR, os.O_WRONLY)
    if sys.stdin is None:
        sys.stdin = open(STDIN, closefd=False)  # noqa: SIM115 (it lasts as long as the process)
    if _has_file_descriptor(sys.stdout):
        sys.stdout = _make_text_stream(sys.stdout, _Stdout(STDOUT, "w", closefd=False))
    if _has_file_descriptor(sys.stderr):
        sys.stderr = _make_text_stream(sys.stderr, _Stderr(STDERR, "w", closefd=False))


class _Stdout(io.FileIO):
    """Ends the process in an orderly way when what it was asked for cannot be delivered.

    Only the first time: what is written on the way out goes nowhere.
    """

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            _redirect_to_null(STDOUT)
            # No OSError leaves here: Typer makes an exit code of its own of a broken pipe.
            if error.errno == errno.EPIPE:
                raise ReaderGone("nobody reads any more what is printed") from None
            why = "it is closed" if error.errno == errno.EBADF else error.strerror
            raise ExportError(
                f"cannot write to standard output: {why}; send it to a file or a program that "
                "takes it"
            ) from error


class _Stderr(io.FileIO):
    """Gives up talking when nobody can hear it."""

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except OSError:
            _redirect_to_null(STDERR)
            return memoryview(data).nbytes


def _has_file_descriptor(stream: object) -> bool:
    """Whether it is written through a descriptor, which a console of Windows is not."""
    buffer = getattr(stream, "buffer", None)
    return stream is None or isinstance(getattr(buffer, "raw", buffer), io.FileIO)


def _make_text_stream(stream: object, raw: io.FileIO) -> io.TextIOWrapper:
    """Make a stream of text that writes as another one does, to somewhere else."""
    before = stream if isinstance(stream, io.TextIOWrapper) else None
    is_talk = isinstance(raw, _Stderr)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=before.encoding if before else "utf-8",
        errors=before.errors if before else "backslashreplace" if is_talk else "replace",
        line_buffering=is_talk or (before is not None and before.line_buffering),
        write_through=before is not None and before.write_through,
    )


def _open_devnull_if_closed(number: int, flags: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        os.open(os.devnull, flags)


def _redirect_to_null(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
