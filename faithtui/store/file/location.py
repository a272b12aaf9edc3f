"""Where a store lies: on a disk of this machine or not, and who else may read it."""

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from faithtui.store.store import Store

_OVER_NETWORK: Final = frozenset(
    (
        *("afs", "ceph", "cifs", "gfs2", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2"),
        *("orangefs", "smb2", "smb3", "smbfs", "9p", "virtiofs"),
        *("fuse.ceph", "fuse.glusterfs", "fuse.juicefs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs"),
    )
)
"""Types of file systems that other machines write to as well."""

_OCTAL: Final = re.compile(r"\\([0-7]{3})")
"""How the table of mounts writes blanks."""

_MOUNTS: Final = Path("/proc/self/mountinfo")


def find_network_drive_type(path: Path, mounts: str | None = None) -> str | None:
    """Name the type of the network drive that a path is on; None where none is known.

    Known on Linux, from the table of mounts, and of shares of Windows.

    Args:
        path: A file that need not be there.
        mounts: The table, as in `/proc/self/mountinfo`; None: read now.
    """
    path = Path(os.path.realpath(path))
    if sys.platform == "win32" and path.drive.startswith("\\\\"):
        return "a Windows share"
    if mounts is None:
        mounts = _MOUNTS.read_text("utf-8", "replace") if _MOUNTS.is_file() else ""
    nearest: tuple[int, str] = (-1, "")
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.partition(" ")[0]
        if len(fields) < 5:
            continue
        place = Path(_OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4]))
        # Of two at one place the later one is seen.
        if path.is_relative_to(place) and len(place.parts) >= nearest[0]:
            nearest = (len(place.parts), kind)
    return nearest[1] if nearest[1] in _OVER_NETWORK else None


def list_files_readable_by_others(path: Path) -> list[Path]:
    """List what others than its owner may read of a store: its file, and those beside it."""
    parts = [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))]
    if os.name != "posix":
        return []
    return [each for each in parts if each.exists() and each.stat().st_mode & 0o077]


def format_opening_notes(store: "Store") -> list[str]:
    """Say what whoever opens a store should know of it."""
    notes = []
    if store.before_upgrade is not None:
        notes.append(
            f"{store.path} was upgraded to schema {store.schema_version}; "
            f"the file as it was before: {store.before_upgrade}"
        )
    drive = find_network_drive_type(store.path)
    if drive is not None:
        notes.append(
            f"{store.path} is on a network drive ({drive}), where SQLite's locks cannot be relied "
            "on: let one process at a time use it, or move it to a disk of this machine"
        )
    return notes
