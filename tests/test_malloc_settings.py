"""What is set of the C library's memory, measured in fresh processes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.measuring import app, environment
from tests.tui.building import shop
from tests.tui.terminal import Terminal

_THREADS = """
import re, threading
from pathlib import Path
{setting}
gate = threading.Barrier(5)
def work():
    blocks = [bytearray(2000) for _ in range(1000)]
    gate.wait()
    gate.wait()
for _ in range(4):
    threading.Thread(target=work).start()
gate.wait()
print(Path("/proc/self/maps").read_text())
gate.wait()
"""
_SETTING = "from faithtui.malloc_settings import share_one_arena; share_one_arena()"
_ARENA_BYTES = 64 * 1024 * 1024


def _count_thread_arenas(maps: str) -> int:
    """Count what glibc reserved for threads: 64 MB each, of which the rest is not in use yet."""
    found = re.findall(r"^(\w+)-(\w+) rw-p .*\n(\w+)-(\w+) ---p", maps, re.MULTILINE)
    return sum(
        end == following and int(last, 16) - int(start, 16) == _ARENA_BYTES
        for start, end, following, last in found
    )


def _uses_glibc() -> bool:
    return "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", {})


only_glibc = pytest.mark.skipif(not _uses_glibc(), reason="only glibc has arenas")


@only_glibc
@pytest.mark.parametrize(("setting", "arenas"), [("", 4), (_SETTING, 0)])
def test_threads_share_one_stock_of_memory(setting: str, arenas: int) -> None:
    code = _THREADS.format(setting=setting)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert _count_thread_arenas(ran.stdout) == arenas


@only_glibc
@pytest.mark.thorough
def test_the_app_has_one_stock_of_memory_for_all_its_threads(tmp_path: Path) -> None:
    shop(tmp_path / "shop.db")
    with Terminal(app(tmp_path / "shop.db"), environment(tmp_path)) as terminal:
        terminal.wait("offline")
        terminal.press("gc")
        terminal.wait("CONVERSATIONS")
        terminal.settle(0.5)
        maps = Path(f"/proc/{terminal.process.pid}/maps").read_text()
        assert len(list(Path(f"/proc/{terminal.process.pid}/task").iterdir())) > 2
    assert _count_thread_arenas(maps) == 0
