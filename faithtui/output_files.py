"""Files that faithtui writes: whole or not at all, for their owner alone, never over a store."""

import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from faithtui.errors import ExportError

OWNER_ONLY: Final = 0o600
"""Rights of a new file, whatever the umask: what it holds may be anybody's text."""
_DIRECTORY_OF_OWNER: Final = 0o700

_DATABASE: Final = b"SQLite format 3\0"
_BESIDE_DATABASE: Final = ("-wal", "-shm", "-journal")
"""Ends of the names of files that SQLite keeps beside a database."""

_STDOUT: Final = Path("-")
"""What other programs take for stdout."""

PART_OF_FILE: Final = ".faithtui-"
"""Begin of the name of a file that is being written; a kill may leave it."""


def refuse_name_of_stdout(path: Path, what: str) -> None:
    """Refuse `-`, which would be a file or a folder of that name.

    Args:
        path: Where it goes.
        what: What is to be named instead, `file` or `folder`.

    Raises:
        ExportError: It is `-`.
    """
    if path == _STDOUT:
        raise ExportError(f"nothing is written to stdout (-) here; name a {what}")


def make_private_directory(path: Path) -> None:
    """Make a directory for its owner alone, with those above it; one that is there stays as it is.

    Raises:
        ExportError: It has the name of a file that SQLite keeps beside a database, which could not
            be opened any more, or is called `-`.
        OSError: It cannot be made.
    """
    refuse_name_of_stdout(path, "folder")
    _make_directory_and_those_above(path)


def _make_directory_and_those_above(path: Path) -> None:
    if not path.exists() and is_database(path):
        raise ExportError(f"{path} is the name of a file of a store; choose another folder")
    if not path.parent.exists():
        _make_directory_and_those_above(path.parent)
    path.mkdir(mode=_DIRECTORY_OF_OWNER, exist_ok=True)


def write_text(path: Path, parts: Iterable[str], *, force: bool) -> None:
    """Write a text; see `write_atomically`.

    Args:
        path: The file; its directory must exist. Line ends stay what they are.
        parts: Its text, piece by piece.
        force: Whether a file that is there already is replaced.

    Raises:
        ExportError: It is a store, is there already, or cannot be written.
    """
    with (
        write_atomically(path, force=force) as new,
        new.open("w", encoding="utf-8", errors="replace", newline="") as file,
    ):
        file.writelines(parts)


@contextmanager
def write_atomically(path: Path, *, force: bool) -> Iterator[Path]:
    """Give a file to write in place of another one, and swap it in when it is whole.

    Whatever goes wrong before that leaves the old one, or none. Through a symbolic link the file
    that it leads to is replaced; a device or a pipe is written to as it is.

    Args:
        path: Where it goes; its directory must exist.
        force: Whether a file that is there already is replaced. A store never is.

    Raises:
        ExportError: It is a store, is there already, or cannot be written.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            yield path  # not by its links: those of an open pipe lead to no name
            return
        target = _resolve_links(path)
        refuse_unwritable_target(path, force=force)
        number, name = tempfile.mkstemp(dir=target.parent, prefix=PART_OF_FILE)
        os.close(number)
        new = Path(name)
        try:
            yield new
            move_into_place(new, target, force=force)
        finally:
            new.unlink(missing_ok=True)
    except FileExistsError as error:
        raise ExportError(_format_file_exists_error(path)) from error
    except OSError as error:
        reason = error.strerror or error
        way_out = (
            "raise the limit on the size of files (`ulimit -f unlimited`)"
            if error.errno == errno.EFBIG
            else "name another file"
        )
        raise ExportError(f"{path} cannot be written: {reason}; {way_out}") from error


def find_free_name(path: Path) -> Path:
    """Give a name that no file has: the one wanted, else with a number."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free


def is_database(path: Path) -> bool:
    """Whether a file is a SQLite database, such as a store, or one of the files beside it."""
    for end in _BESIDE_DATABASE:
        if path.name.endswith(end) and is_database(path.with_name(path.name.removesuffix(end))):
            return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_DATABASE)) == _DATABASE


def refuse_unwritable_target(path: Path, *, force: bool) -> None:
    """Refuse what `write_atomically` would refuse, before work is done for it.

    Raises:
        ExportError: It is a directory, a store, called `-`, or there already and not to be
            replaced.
    """
    if not path.name:
        raise ExportError("the name of a file to write is empty; name a file")
    refuse_name_of_stdout(path, "file")
    target = _resolve_links(path)
    if target.is_dir():
        raise ExportError(f"{path} is a directory; name a file in it")
    if is_database(target):
        raise ExportError(
            f"{path} is a store or another SQLite database, which is never overwritten; "
            "name another file"
        )
    if target.is_file() and not force:
        raise ExportError(_format_file_exists_error(path))


def _format_file_exists_error(path: Path) -> str:
    return f"{path} is there already; name another file, or replace it with --force"


def _resolve_links(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:  # links in a circle
        raise ExportError(f"{path} leads to no file: its links go round in a circle") from error


def move_into_place(new: Path, target: Path, *, force: bool) -> None:
    """Give a file that is whole its name, once the disk has it.

    Raises:
        FileExistsError: There is a file of this name, and it shall not be replaced.
        OSError: It cannot be given the name.
    """
    with new.open("rb+") as file:
        os.fsync(file.fileno())
    if force:
        if target.exists():
            new.chmod(target.stat().st_mode & 0o777)
        new.replace(target)
    else:
        try:
            target.hardlink_to(new)
        except FileExistsError:
            raise
        except OSError:  # a file system without links: the name is taken by an empty file
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))
            new.replace(target)
    with suppress(OSError):  # not every system lets directories be flushed
        directory = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
