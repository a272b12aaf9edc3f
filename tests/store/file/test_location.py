"""Where a store lies, and who else may read it."""

from pathlib import Path

import pytest

from faithtui.store.file.location import find_network_drive_type, list_files_readable_by_others

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:25 / /home rw shared:2 - nfs4 server:/home rw,vers=4.2
31 30 0:26 / /home/ann/disk rw - ext4 /dev/sdb1 rw
32 22 0:27 / /mnt/my\\040share rw - cifs //server/share rw
33 22 0:28 / /proc rw - proc proc rw
34 22 0:29 / /mnt/Büro rw - cifs //server/office rw
35 22 0:30 / /net rw - autofs auto rw
36 35 0:31 / /net rw - nfs4 server:/net rw
a line that is cut
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/data/s.db", None),
        ("/home/ann/s.db", "nfs4"),
        ("/home/ann/disk/s.db", None),
        ("/homes/s.db", None),
        ("/mnt/my share/deep/s.db", "cifs"),
        ("/mnt/Büro/s.db", "cifs"),
        ("/net/s.db", "nfs4"),
    ],
)
def test_a_network_drive_is_told_by_the_nearest_mount(path: str, kind: str | None) -> None:
    assert find_network_drive_type(Path(path), MOUNTS) == kind


def test_where_nothing_is_known_nothing_is_told(tmp_path: Path) -> None:
    assert find_network_drive_type(tmp_path / "s.db", "") is None


def test_files_that_others_may_read_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    for name, mode in (("s.db", 0o600), ("s.db-wal", 0o640)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    assert list_files_readable_by_others(path) == [tmp_path / "s.db-wal"]
