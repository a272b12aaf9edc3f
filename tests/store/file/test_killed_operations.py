"""A process that is killed while it copies, restores, upgrades, salvages, deletes or writes a file.

Each is killed at everything it does with files, and at some of its statements of SQL, with a real
`SIGKILL`. The store is then as it was before or as it is after, and opens.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.store.file.backups import copy_store_to_file, find_damage, find_partial_files
from faithtui.store.store import Store
from tests.store.building import make_conversation

pytestmark = pytest.mark.thorough

FIXTURES = Path(__file__).parents[3] / "fixtures" / "databases"

HARNESS = """
import os, shutil, signal, sqlite3, sys
from pathlib import Path
from faithtui.engine.deletion import plan_dataset_deletion
from faithtui.output_files import write_text
from faithtui.store.file.backups import copy_store_to_file, restore_store
from faithtui.store.file.salvage import salvage_to_new_store
from faithtui.store.store import Store
from tests.store.building import make_conversation

def import_batches(at):
    with Store.open(at / "s.db") as store:
        for name in "vwx":
            both = [make_conversation(name), make_conversation(name + "2")]
            store.conversations.import_batch(both)

def delete(at):
    with Store.open(at / "s.db") as store:
        plan = plan_dataset_deletion(store, "second", "ann")
        plan.delete_if_unchanged_and_idle(plan.count_rows())

def upgrade(at):
    Store.open(at / "s.db").close()

OPERATIONS = {
    "backup": lambda at: copy_store_to_file(at / "s.db", at / "new.db"),
    "restore": lambda at: restore_store(at / "copy.db", at / "s.db"),
    "salvage": lambda at: salvage_to_new_store(at / "s.db", at / "new.db"),
    "upgrade": upgrade,
    "import": import_batches,
    "delete": delete,
    "export": lambda at: write_text(at / "out.txt", ["new\\n"] * 9, force=True),
}
FILE_EVENTS = {"os.rename", "os.link", "os.remove", "os.truncate", "tempfile.mkstemp"}

def work(operation, at, steps):
    left = steps

    def step(*_):
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event, arguments):
        if event in FILE_EVENTS:
            step()

    def connect(*words, **options):
        connection = real_connect(*words, **options)
        connection.set_trace_callback(step)
        return connection

    real_connect, sqlite3.connect = sqlite3.connect, connect
    sys.addaudithook(hook)
    OPERATIONS[operation](at)
    print(steps - left, flush=True)

def fork(operation, at, steps):
    shutil.copytree(root / "before", at)
    child = os.fork()
    if not child:
        try:
            work(operation, at, steps)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]

operation, root, places = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
reader, writer = os.pipe()
saved = os.dup(1)
os.dup2(writer, 1)
assert fork(operation, root / "whole", 10**9) == 0
os.dup2(saved, 1)
count = int(os.read(reader, 100))
print(count)
for step in sorted({1 + number * (count - 1) // places for number in range(places + 1)}):
    status = fork(operation, root / f"killed-{step}", step)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, (step, status)
"""


def kill_at_places(operation: str, root: Path, places: int) -> list[Path]:
    """Do something in `root/whole`, and kill it at so many places of it.

    Args:
        operation: What, by its name in the harness.
        root: Holds `before`, from which each begins.
        places: In how many folders it is killed.

    Returns:
        Those folders.
    """
    done = subprocess.run(
        [sys.executable, "-c", HARNESS, operation, root, str(places)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return sorted(root.glob("killed-*"))


def read_keys(path: Path) -> list[str]:
    assert find_damage(path) == []
    with Store.open(path, create=False) as store:
        return sorted(store.conversations.get(each).key for each in store.conversations.list_ids())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    if not hasattr(os, "fork"):
        pytest.skip("needs processes that split")
    (tmp_path / "before").mkdir()
    with Store.open(tmp_path / "before" / "s.db") as store:
        store.conversations.import_batch([make_conversation("a"), make_conversation("b")])
    return tmp_path


def test_a_killed_backup_leaves_no_half_of_a_copy(root: Path) -> None:
    folders = kill_at_places("backup", root, 12)
    assert read_keys(root / "whole" / "new.db") == ["a", "b"]
    for folder in folders:
        assert read_keys(folder / "s.db") == ["a", "b"]
        if (folder / "new.db").exists():
            assert read_keys(folder / "new.db") == ["a", "b"]
    assert any(find_partial_files(folder / "s.db") for folder in folders)


def test_a_killed_restore_leaves_a_store_and_the_one_before(root: Path) -> None:
    with Store.open(root / "other.db") as store:
        store.conversations.import_batch([make_conversation("c")])
    copy_store_to_file(root / "other.db", root / "before" / "copy.db")
    found = set()
    for folder in kill_at_places("restore", root, 60):
        keys = read_keys(folder / "s.db")
        found.add("".join(keys))
        if keys == ["c"]:
            assert read_keys(folder / "s.before-restore.db") == ["a", "b"]
    assert found == {"ab", "c"}


def test_a_killed_upgrade_is_done_by_the_next_one(root: Path) -> None:
    shutil.copy(FIXTURES / "v9.sqlite", root / "before" / "s.db")
    folders = kill_at_places("upgrade", root, 8)
    keys = read_keys(root / "whole" / "s.db")
    assert keys
    for folder in folders:
        with Store.open(folder / "s.db", create=False) as store:
            assert store.list_damage() == []
        assert read_keys(folder / "s.db") == keys
        for copy in folder.glob("s.schema-*.db"):
            assert find_damage(copy) == []


def test_a_killed_salvage_leaves_the_damaged_store_and_no_half_of_a_new_one(root: Path) -> None:
    for folder in kill_at_places("salvage", root, 8):
        assert read_keys(folder / "s.db") == ["a", "b"]
        if (folder / "new.db").exists():
            assert read_keys(folder / "new.db") == ["a", "b"]


def test_a_killed_deletion_deletes_all_or_nothing(root: Path) -> None:
    with Store.open(root / "before" / "s.db") as store:
        store.conversations.import_batch([replace(make_conversation("c"), source="second")])
    found = {"".join(read_keys(each / "s.db")) for each in kill_at_places("delete", root, 16)}
    assert found == {"abc", "ab"}


def test_a_killed_import_has_whole_batches(root: Path) -> None:
    for folder in kill_at_places("import", root, 15):
        assert "".join(read_keys(folder / "s.db")) in ("ab", "abvv2", "abvv2ww2", "abvv2ww2xx2")


def test_a_killed_export_leaves_the_old_file_or_the_new_one(root: Path) -> None:
    (root / "before" / "out.txt").write_text("old")
    found = {(each / "out.txt").read_text() for each in kill_at_places("export", root, 5)}
    assert found <= {"old", "new\n" * 9}
    assert "old" in found
