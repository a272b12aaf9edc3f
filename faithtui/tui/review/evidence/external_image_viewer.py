"""Opening images and addresses outside the terminal, with the system's own viewer.

Nothing here runs by itself: only a user's key leads to it. A viewer gets no terminal, so that
nothing it prints can reach the screen, and what is not known to be a picture is never handed on.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from faithtui.domain.judging.image_addresses import find_address_problem

SUFFIXES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/bmp": ".bmp",
    "image/tiff": ".tiff",
    "image/avif": ".avif",
    "image/heic": ".heic",
}
"""Kinds a viewer may be given. Others, such as SVG, can hold more than a picture."""

LAUNCH_FAILURE_S = 1.0
"""A launcher that finds no viewer ends at once; one that is still there has found one."""


class ImageFiles:
    """Private files of the images that were opened, gone with `remove_files`."""

    def __init__(self) -> None:
        self._directory: Path | None = None

    def write(self, name: str, data: bytes, media_type: str) -> Path:
        """Write an image where only its user may read it.

        Args:
            name: Name of the file without its ending; letters and digits.
            data: The bytes.
            media_type: Decides the ending; `.bin` for a kind that is not known.

        Raises:
            OSError: It cannot be written.
        """
        if self._directory is None:
            self._directory = Path(tempfile.mkdtemp(prefix="faithtui-"))
        path = self._directory / f"{name}{SUFFIXES.get(media_type, '.bin')}"
        path.write_bytes(data)
        path.chmod(0o600)
        return path

    def remove_files(self) -> None:
        """Remove the files."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None


def explain_blocked_url(url: str) -> str | None:
    """Say why an address from a data file is not opened in a browser; None: it may be.

    The rules are those for judges, but for the hosts that a user names: who presses the key has
    the address on screen. An address of this network is not opened either, since a browser there
    asks with the rights of its user.
    """
    return find_address_problem(url)


def try_to_open_outside_app(target: str) -> bool:
    """Hand a file or a web address to the system; waits a moment, so call it in a thread.

    Args:
        target: An absolute path, or an address that `explain_blocked_url` says nothing against.

    Returns:
        False: there is no viewer here.
    """
    if sys.platform == "win32":
        try:
            os.startfile(target)
        except OSError:
            return False
        return True
    command = shutil.which("open" if sys.platform == "darwin" else "xdg-open")
    if command is None or not _has_graphical_display():
        return False
    try:
        launcher = subprocess.Popen(
            [command, target],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    try:
        return launcher.wait(LAUNCH_FAILURE_S) == 0
    except subprocess.TimeoutExpired:
        return True


def _has_graphical_display() -> bool:
    """Say whether a window could be shown at all."""
    return sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
