"""TAB in a shell: what the installed program offers, asked as each shell asks it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from faithtui.cli.entry import COMPLETION

PROGRAM = Path(sys.executable).with_name("faithtui")
BASH = shutil.which("bash")


def asked(tmp_path: Path, **environment: str) -> str:
    """Start the program as a shell does to complete a line, without a terminal."""
    done = subprocess.run(
        [PROGRAM],
        env=os.environ | {"HOME": str(tmp_path)} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def in_bash(line: str, tmp_path: Path) -> list[str]:
    """Press TAB at the end of a line in bash, with the script that the program prints."""
    words = line.split(" ")
    script = f"""
        eval "$(faithtui --show-completion)"
        COMP_WORDS=({" ".join(words[:-1])} "{words[-1]}")
        COMP_CWORD={len(words) - 1}
        _faithtui_completion faithtui
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    assert BASH is not None
    done = subprocess.run(
        [BASH, "--norc", "-c", script],
        env=os.environ | {"HOME": str(tmp_path), "PATH": path, "SHELL": BASH},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    assert in_bash("faithtui re", tmp_path) == ["restore", "report"]
    assert in_bash("faithtui gate --min-re", tmp_path) == ["--min-recall-no"]
    assert "import" in in_bash("faithtui ", tmp_path)


@pytest.mark.parametrize(
    ("shell", "more"),
    [
        ("bash", {"COMP_WORDS": "faithtui re", "COMP_CWORD": "1"}),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "faithtui re"}),
        (
            "fish",
            {"_TYPER_COMPLETE_ARGS": "faithtui re", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        ),
    ],
)
def test_every_shell_is_offered_commands_and_never_the_app(
    shell: str, more: dict[str, str], tmp_path: Path
) -> None:
    offered = asked(tmp_path, **{COMPLETION: f"complete_{shell}"}, **more)
    assert "restore" in offered
    assert "report" in offered
    assert "import" not in offered


def test_the_variable_is_the_one_of_the_printed_script(tmp_path: Path) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert COMPLETION in asked(tmp_path, **{COMPLETION: f"source_{shell}"})
