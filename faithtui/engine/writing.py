"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path


def replace_file(path: Path, parts: Iterable[str]) -> None:
    """Write beside a file and swap it in, so that a crash leaves the old one.

    Args:
        path: The file; its directory must exist. Line ends stay what they are.
        parts: Its text, piece by piece.

    Raises:
        OSError: It cannot be written; nothing is left behind.
    """
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
