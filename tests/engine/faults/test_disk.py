"""F32: a disk that is full, really full, and a file that may not grow."""

import asyncio
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.scores import ScoreSet
from faithtui.engine.calls.reply_cache import QuestionContext
from faithtui.engine.calls.unstored_replies import UnstoredReplies
from faithtui.engine.runs.events import RunEvent, StoreTroubled
from faithtui.engine.runs.run_writer import FLOOR_BYTES, RunWriter, StoreReplyCache
from faithtui.errors import StoreError, StoreFull
from faithtui.store.records import CallContext, RunState, StoredReply
from faithtui.store.store import Store
from tests.engine.faulty_runs import STEPS, Ran, environment, filled, items_of, judged
from tests.judges.fault_server import FaultConfig, FaultServer, fault_server

CONVERSATIONS = 6
CONCURRENCY = 4
MANY = 12
IN_FLIGHT = 6
DISK_BYTES = FLOOR_BYTES + 12_000_000


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server(FaultConfig(latency_s=0.1)) as running:
        yield running


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a small disk, where that is allowed."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mounting, capture_output=True).returncode:
        pytest.skip("mounting a small disk needs permission to do so")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


class Ballast:
    """A file that takes the room of others."""

    def __init__(self, disk: Path) -> None:
        self._path = disk / "ballast"

    def leave(self, free: int) -> None:
        """Take all but so many bytes."""
        with self._path.open("ab") as file:
            left = shutil.disk_usage(self._path).free - free
            file.write(b"\0" * max(0, left))

    def fill(self) -> None:
        """Take everything, to the last byte."""
        with suppress(OSError), self._path.open("ab", buffering=0) as file:
            while file.write(b"\0" * 65_536):
                pass

    def drop(self) -> None:
        self._path.unlink()


def troubles(ran: Ran) -> list[str | None]:
    return [event.trouble for event in ran.events if isinstance(event, StoreTroubled)]


@pytest.mark.thorough
async def test_f32_below_the_floor_nothing_is_asked_until_there_is_room(
    disk: Path, server: FaultServer, clean: list[ScoreSet | None]
) -> None:
    ballast = Ballast(disk)
    asked_while_full: list[int] = []

    def heard(event: RunEvent) -> None:
        if isinstance(event, StoreTroubled) and event.trouble is not None:
            asked_while_full.append(len(server.entries) + server.in_flight)
            asyncio.get_running_loop().call_later(0.5, ballast.drop)

    with filled(disk / "s.db", CONVERSATIONS) as store:
        ballast.leave(FLOOR_BYTES - 1_000_000)
        ran = await judged(store, server, concurrency=CONCURRENCY, on_event=heard)
    assert (ran.state, ran.scores) == (RunState.DONE, clean)
    assert asked_while_full == [0]
    told = troubles(ran)
    assert told[0] is not None
    assert "nothing more is asked until there are" in told[0]
    assert told[-1] is None
    assert max(server.billed.values()) == 1


@pytest.mark.thorough
async def test_f32_replies_in_the_air_when_the_disk_is_full_are_held_until_it_is_not(
    disk: Path, server: FaultServer, clean: list[ScoreSet | None]
) -> None:
    ballast = Ballast(disk)

    def heard(event: RunEvent) -> None:
        if not ballast_is_on and event.progress.calls:
            ballast_is_on.append(True)
            ballast.fill()
        elif isinstance(event, StoreTroubled) and event.trouble is not None:
            asyncio.get_running_loop().call_later(0.3, ballast.drop)

    ballast_is_on: list[bool] = []
    with filled(disk / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, concurrency=CONCURRENCY, on_event=heard)
        assert store.list_damage() == []
    assert ballast_is_on
    assert (ran.state, ran.scores) == (RunState.DONE, clean)
    told = troubles(ran)
    assert told[0] is not None
    assert "disk is full" in told[0]
    assert told[-1] is None
    assert max(server.billed.values()) == 1, "not one reply that was paid for was lost"
    assert ran.row.calls == CONVERSATIONS * STEPS


# The log beside the store has 19 to 22 pages, up to 90,672 bytes, before the first question is
# asked: each row written of the run or the worker is a page more, and a slow machine writes more.
@pytest.mark.parametrize("most", [120_000, 150_000, 300_000])
async def test_f32_a_store_that_may_not_grow_loses_no_reply_and_buys_none_twice(
    tmp_path: Path, server: FaultServer, most: int
) -> None:
    path = tmp_path / "s.db"
    replies = tmp_path / "s.db-replies"
    filled(path, MANY).close()
    words = [sys.executable, "-m", "faithtui", "--store", str(path), "run"]
    first = [*words, "--judge", "openai:m", "--base-url", server.url]
    first += ["--option", "include_reason=false", "--concurrency", str(IN_FLIGHT)]
    again = [*words, "--resume", "last"]

    stopped = await asyncio.to_thread(within, most, first, tmp_path)
    assert stopped.returncode == StoreError.exit_code, stopped.stderr
    assert "--resume" in stopped.stderr
    assert f"paid for are in {replies};" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    bought = server.billed.total()
    assert bought >= IN_FLIGHT
    files = list(replies.iterdir())
    assert {each.suffix for each in files} == {".json"}
    assert {each.stat().st_mode & 0o777 for each in [replies, *files]} == {0o700, 0o600}

    # There is no more room than before.
    stopped = await asyncio.to_thread(within, most, again, tmp_path)
    assert stopped.returncode == StoreError.exit_code, stopped.stderr
    assert "Traceback" not in stopped.stderr
    done = await asyncio.to_thread(within, None, again, tmp_path)
    assert done.returncode == 0, done.stderr
    assert set(server.billed.values()) == {1}
    assert not replies.exists()
    with Store.open(path, create=False) as store:
        assert store.list_damage() == []
        run = store.runs.find_newest_run_id()
        assert run is not None
        row = store.runs.read_run(run)
        assert (row.done, row.calls) == (MANY, MANY * STEPS)
    with filled(tmp_path / "sound.db", MANY) as store:
        sound = await judged(store, server)
    with Store.open(path, create=False) as store:
        assert [item.scores for item in items_of(store, run)] == sound.scores


def within(most: int | None, command: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    """Run a command whose files may have so many bytes; the log beside the store grows first."""
    limit = resource.RLIM_INFINITY if most is None else most
    return subprocess.run(
        command,
        env=environment(home / "home"),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)
        ),
    )


ASKED = CallContext("k" * 64, "openai:m", "claims", worker="somebody")
REPLY = StoredReply('{"claims": []}', "ok", True, 10, 3, None, "r1", None, 5)


def test_f32_a_reply_is_read_back_once_however_often_that_is_interrupted(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        unstored = UnstoredReplies(store.path)
        unstored.save_reply_to_file(ASKED, REPLY)
        (file,) = (tmp_path / "s.db-replies").iterdir()
        text = file.read_bytes()
        assert UnstoredReplies(store.path).recover_into_store(store) == 1
        # Killed before the file was deleted.
        file.parent.mkdir()
        file.write_bytes(text)
        assert UnstoredReplies(store.path).recover_into_store(store) == 1
        assert UnstoredReplies(store.path).recover_into_store(store) == 0
        assert store.calls.find_usable_reply(ASKED.key) == REPLY
        assert store.count_rows()["judge_call"] == 1
        assert not file.parent.exists()


async def test_f32_a_reply_is_kept_when_nobody_takes_the_news_that_the_store_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with `run --json | head -1`, whose reader is gone when the store cannot be written."""

    class ReaderGoneError(Exception):
        pass

    def refuse(sentence: str | None) -> None:
        raise ReaderGoneError

    with filled(tmp_path / "s.db", 1) as store:
        replies = StoreReplyCache(RunWriter(store, on_trouble=refuse), "openai:m", RunId(1), None)
        monkeypatch.setattr(
            store.calls,
            "save_reply_release_lease_and_add_totals",
            Mock(side_effect=StoreFull("full")),
        )
        with pytest.raises(ReaderGoneError):
            await replies.save_reply(QuestionContext("k" * 64, "claims"), REPLY, usable=True)
        monkeypatch.undo()
        assert UnstoredReplies(store.path).recover_into_store(store) == 1


def test_f32_a_file_whose_name_is_taken_and_that_is_empty_stops_no_run(tmp_path: Path) -> None:
    """As a kill leaves it on a file system without links."""
    folder = tmp_path / "s.db-replies"
    folder.mkdir()
    (folder / "x.json").touch()
    with Store.open(tmp_path / "s.db") as store:
        UnstoredReplies(store.path).save_reply_to_file(ASKED, REPLY)
        assert UnstoredReplies(store.path).recover_into_store(store) == 1


async def test_f32_the_room_that_one_process_holds_is_let_go_of_by_no_other(
    tmp_path: Path,
) -> None:
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    folder = tmp_path / "s.db-replies"
    folder.mkdir()
    (folder / f"reserve-{gone.pid}").touch()
    (folder / "reserve-1").touch()
    with Store.open(tmp_path / "s.db") as store:
        with UnstoredReplies(store.path).reserve_disk_space():
            held = {each.name for each in folder.iterdir()}
            assert held == {"reserve-1", f"reserve-{os.getpid()}"}
        assert [each.name for each in folder.iterdir()] == ["reserve-1"]


def test_f32_a_reply_for_a_run_that_is_not_in_the_store_is_kept_all_the_same(
    tmp_path: Path,
) -> None:
    with Store.open(tmp_path / "s.db") as store:
        UnstoredReplies(store.path).save_reply_to_file(
            replace(ASKED, run=RunId(9), item=ItemId(9)), REPLY
        )
        UnstoredReplies(store.path).recover_into_store(store)
        assert store.calls.find_usable_reply(ASKED.key) == REPLY


def test_f32_a_file_that_is_no_reply_is_named_and_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "s.db-replies"
    folder.mkdir()
    (folder / "x.json").write_text("{}")
    with (
        Store.open(tmp_path / "s.db") as store,
        pytest.raises(StoreError, match=r"x\.json holds a reply .* cannot be read"),
    ):
        UnstoredReplies(store.path).recover_into_store(store)
    assert (folder / "x.json").exists()


def test_f32_where_nothing_can_be_written_beside_the_store_replies_go_to_the_users_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHTUI_HOME", str(tmp_path / "home"))
    (tmp_path / "s.db-replies").write_text("a file in the way")
    with Store.open(tmp_path / "s.db") as store:
        unstored = UnstoredReplies(store.path)
        unstored.save_reply_to_file(ASKED, REPLY)
        assert unstored.folder_used is not None
        assert unstored.folder_used.is_relative_to(tmp_path / "home")
        assert UnstoredReplies(store.path).recover_into_store(store) == 1
        assert store.calls.find_usable_reply(ASKED.key) == REPLY
        assert not unstored.folder_used.exists()


def test_f32_the_room_that_is_held_is_the_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with UnstoredReplies(tmp_path / "s.db").reserve_disk_space():
            (reserve,) = (tmp_path / "s.db-replies").iterdir()
            assert reserve.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_f32_what_can_be_written_nowhere_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("a file in the way")
    (tmp_path / "s.db-replies").write_text("another")
    monkeypatch.setenv("FAITHTUI_HOME", str(tmp_path / "home"))
    unstored = UnstoredReplies(tmp_path / "s.db")
    unstored.save_reply_to_file(ASKED, REPLY)
    error = unstored.make_error_with_reply_folder(StoreError("no room"))
    assert str(error) == "no room. Replies that could be written nowhere: 1"


def test_f32_the_room_that_was_held_takes_replies_when_there_is_no_other(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As under a quota, which lets no new file grow anywhere."""
    monkeypatch.setenv("FAITHTUI_HOME", str(disk / "home"))
    with Store.open(disk / "s.db") as store:
        unstored = UnstoredReplies(store.path)
        with unstored.reserve_disk_space():
            Ballast(disk).fill()
            for number in range(IN_FLIGHT):
                unstored.save_reply_to_file(replace(ASKED, key=f"{number:064}"), REPLY)
        assert unstored.lost == 0
        Ballast(disk).drop()
        assert unstored.recover_into_store(store) == IN_FLIGHT
        assert store.count_rows()["judge_call"] == IN_FLIGHT
