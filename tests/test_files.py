"""Written files: whole or not at all, never over a store, for their owner alone."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.errors import ExportError
from faithtui.output_files import (
    is_database,
    make_private_directory,
    refuse_unwritable_target,
    write_text,
)


@pytest.fixture(autouse=True)
def generous_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "a.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    return path


def left(directory: Path) -> list[str]:
    return sorted(each.name for each in directory.iterdir())


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", ["one\r\n", "two\ud800"], force=False)
    assert (tmp_path / "a.txt").read_bytes() == b"one\r\ntwo?"
    assert mode(tmp_path / "a.txt") == 0o600
    assert left(tmp_path) == ["a.txt"]


def test_a_file_that_is_there_is_replaced_only_by_force_and_keeps_its_rights(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o644)
    with pytest.raises(ExportError, match=r"a\.txt is there already; .* --force"):
        write_text(path, ["new"], force=False)
    assert path.read_text() == "old"
    write_text(path, ["new"], force=True)
    assert (path.read_text(), mode(path)) == ("new", 0o644)


def test_a_file_that_comes_into_being_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"

    def parts() -> Iterator[str]:
        yield "mine"
        path.write_text("somebody's")

    with pytest.raises(ExportError, match="is there already"):
        write_text(path, parts(), force=False)
    assert path.read_text() == "somebody's"
    assert left(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", ["a.db", "a.db-wal", "a.db-shm", "a.db-journal"])
@pytest.mark.parametrize("link", ["none", "symbolic", "hard"])
def test_a_database_is_never_overwritten(
    tmp_path: Path, database: Path, force: bool, name: str, link: str
) -> None:
    target = tmp_path / name
    target.touch()
    before = database.read_bytes()
    path = tmp_path / "out.jsonl"
    match link:
        case "symbolic":
            path.symlink_to(target)
        case "hard" if target == database:
            path.hardlink_to(target)
        case _:
            path = target
    with pytest.raises(ExportError, match="never overwritten"):
        write_text(path, ["labels"], force=force)
    with pytest.raises(ExportError, match="never overwritten"):
        refuse_unwritable_target(path, force=force)
    assert database.read_bytes() == before
    assert is_database(path.resolve())


def test_a_symbolic_link_leads_to_the_file_that_is_replaced(tmp_path: Path) -> None:
    target, path = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    path.symlink_to(target)
    write_text(path, ["new"], force=True)
    assert path.is_symlink()
    assert target.read_text() == "new"


def test_what_goes_wrong_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def parts() -> Iterator[str]:
        yield "new"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_text(path, parts(), force=True)
    assert (path.read_text(), left(tmp_path)) == ("old", ["a.txt"])


def test_a_directory_and_a_missing_one_are_named(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="is a directory"):
        write_text(tmp_path, [], force=True)
    with pytest.raises(ExportError, match="cannot be written: No such file"):
        write_text(tmp_path / "no" / "a.txt", [], force=True)


def test_a_device_is_written_to_and_stays_one() -> None:
    write_text(Path(os.devnull), ["labels"], force=False)
    assert Path(os.devnull).is_char_device()


def test_a_file_system_without_links_does_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    write_text(tmp_path / "a.txt", ["one"], force=False)
    assert (tmp_path / "a.txt").read_text() == "one"
    assert left(tmp_path) == ["a.txt"]


def test_a_file_that_comes_into_being_is_kept_where_there_are_no_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> None:
        self.write_text("somebody's")
        raise OSError(22, "no links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    with pytest.raises(ExportError, match="is there already"):
        write_text(tmp_path / "a.txt", ["one"], force=False)
    assert (tmp_path / "a.txt").read_text() == "somebody's"


def test_links_in_a_circle_are_named(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ExportError):
        write_text(tmp_path / "a", ["one"], force=True)


def test_directories_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir(mode=0o755)
    make_private_directory(there / "a" / "b")
    make_private_directory(there / "a" / "b")
    assert [mode(each) for each in (there, there / "a", there / "a" / "b")] == [
        0o755,
        0o700,
        0o700,
    ]
