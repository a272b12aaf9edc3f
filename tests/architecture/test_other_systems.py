"""What macOS and Windows lack is imported by nothing that they start with.

Proved in fresh interpreters that have neither the modules nor the signals of POSIX systems, and a
loop that hears no signals, as on Windows.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faithtui.cli.commands.serve import format_shell_command
from faithtui.tui.review.external_editor import split_command

WITHOUT_POSIX = """
import asyncio, importlib, multiprocessing, os, pkgutil, select, signal, subprocess, sys, tempfile
import platformdirs
# The standard library, and what has a module for each system, took what they need of them here.
missing = (
    "fcntl", "termios", "tty", "pty", "resource", "pwd", "grp", "syslog", "readline", "curses",
    "textual.drivers.linux_driver", "textual.drivers.linux_inline_driver",
)
for name in missing:
    sys.modules[name] = None
for name in ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGTSTP", "SIGCONT", "SIGPIPE",
             "SIGALRM", "SIGKILL", "SIGCHLD", "SIGQUIT"):
    delattr(signal, name)
del select.poll
for name in ("getuid", "geteuid", "getgid", "fork", "fchmod", "O_NOFOLLOW",
             "O_DIRECTORY", "O_CLOEXEC", "O_NONBLOCK"):
    delattr(os, name)

def refuse(self, *words):
    raise NotImplementedError

for loop in (asyncio.SelectorEventLoop,):
    loop.add_signal_handler = loop.remove_signal_handler = refuse
os.environ["TEXTUAL_DRIVER"] = "textual.drivers.headless_driver:HeadlessDriver"
"""

IMPORT_ALL = """
import faithtui
posix_only = {"faithtui.tui.posix_terminal"}
names = [each.name for each in pkgutil.walk_packages(faithtui.__path__, "faithtui.")]
assert len(names) > 300, len(names)
for name in names:
    # These are no modules to import: one starts the program, the others are read by Alembic.
    if name in posix_only or name == "faithtui.__main__" or ".migrations.env" in name:
        continue
    importlib.import_module(name)
for name in posix_only:
    try:
        importlib.import_module(name)
    except ImportError:
        continue
    raise SystemExit(f"{name} could be imported: is anything kept from it?")
print("imported", len(names))
"""

HELP = """
sys.argv = ["faithtui", "--help"]
from faithtui.cli.entry import main
try:
    main()
except SystemExit as ending:
    assert not ending.code, ending
"""

RUN = """
sys.argv = ["faithtui", *sys.argv[1:]]
from faithtui.cli.entry import main
main()
"""

APP = """
from pathlib import Path
from faithtui.tui.app import FaithApp

async def look():
    app = FaithApp(Path(sys.argv[1]), reviewer="somebody")
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        print("on", type(app.screen).__name__)

asyncio.run(look())
"""


def run_without_posix(code: str, *words: str, home: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX + code, *words],
        capture_output=True,
        text=True,
        env=os.environ | {"FAITHTUI_HOME": str(home)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_is_imported_without_posix(tmp_path: Path) -> None:
    assert "imported" in run_without_posix(IMPORT_ALL, home=tmp_path)


def test_help_is_printed_without_posix(tmp_path: Path) -> None:
    assert "import" in run_without_posix(HELP, home=tmp_path)


@pytest.mark.thorough
def test_conversations_are_imported_judged_and_shown_without_posix(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(
        '{"id": "c1", "turns": [{"role": "user", "content": "When?"}, {"role": "assistant", '
        '"content": "It opens in May.", "retrieval_context": ["It opens in May."]}]}\n'
    )
    store = str(tmp_path / "store.db")
    run_without_posix(RUN, "import", str(file), "--store", store, home=tmp_path)
    found = run_without_posix(RUN, "run", "--store", store, home=tmp_path)
    assert "1 of 1 conversations judged" in found
    found = run_without_posix(APP, store, home=tmp_path)
    assert found.split() == ["on", "RunsScreen"]


def test_commands_are_written_and_read_as_each_system_does() -> None:
    folder = r"C:\Program Files\Code"
    assert split_command(rf'"{folder}\code.exe" --wait', "nt") == [rf"{folder}\code.exe", "--wait"]
    assert split_command("'my editor' -w", "posix") == ["my editor", "-w"]
    words = [rf"{folder}\python.exe", "-m", "faithtui"]
    assert format_shell_command(words, "nt") == rf'"{folder}\python.exe" -m faithtui'
    assert format_shell_command(["a b", "c"], "posix") == "'a b' c"
