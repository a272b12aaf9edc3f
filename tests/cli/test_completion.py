"""TAB in a shell: what the installed program offers, asked as each shell asks it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from faithtui.cli.completion import find_completer, rejoin_words_cut_by_bash
from faithtui.cli.entry import COMPLETION
from tests.docs.test_command_names import COMMANDS

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


def offered(tmp_path: Path, line: str) -> list[str]:
    """List what the program offers for the last word of a line."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    home = {"FAITHTUI_HOME": str(tmp_path / "home")}
    return asked(tmp_path, **{COMPLETION: "complete_bash"}, **words, **home).split()


@pytest.mark.thorough
def test_values_are_completed_from_the_store_of_the_line(judged: Path, tmp_path: Path) -> None:
    before = judged.read_bytes()
    assert offered(tmp_path, f"faithtui report --store {judged} ") == ["last", "1"]
    assert offered(tmp_path, f"faithtui --store {judged} run --resume l") == ["last"]
    assert offered(tmp_path, f"faithtui run --store {judged} --source ") == ["parcels"]
    assert judged.read_bytes() == before
    assert offered(tmp_path, f"faithtui report --store {tmp_path / 'none.db'} ") == []
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("faithtui run --metric ra", ["ragas-faithfulness"]),
        ("faithtui run --metric a", ["all"]),
        ("faithtui metrics llama", ["llamaindex-faithfulness"]),
        ("faithtui run --judge o", ["offline", "openai:", "ollama:"]),
        ("faithtui judge test anthropic", ["anthropic:"]),
        ("faithtui report last -f h", ["html"]),
        ("faithtui run --split t", ["train", "test"]),
        ("faithtui run --strategy w", ["window"]),
        ("faithtui gate last --level a", ["answers"]),
        ("faithtui report last --level a", []),
        ("faithtui keys --preset v", ["vim"]),
        ("faithtui export lab", ["labels"]),
        ("faithtui runs --color n", ["never"]),
        ("faithtui import --verb", ["--verbose"]),
        ("faithtui export b", []),
    ],
)
def test_values_that_are_always_there(line: str, some: list[str], tmp_path: Path) -> None:
    assert offered(tmp_path, line) == some


@pytest.mark.parametrize(
    ("typed", "words", "kept"),
    [
        ("run|--judge|openai|:|gp", "run|--judge|openai:gp", "openai:"),
        ("run|--judge|openai|:", "run|--judge|openai:", "openai:"),
        ("run|--judge|=|openai|:|gp", "run|--judge=openai:gp", "openai:"),
        ("run|--judge|=|of", "run|--judge=of", ""),
        ("run|--judge|=", "run|--judge=", ""),
        ("run|--judge|of", "run|--judge|of", ""),
        ("run|a|:|b|--judge|of", "run|a:b|--judge|of", ""),
        ("run|--map|a|=|b", "run|--map|a=b", ""),
        ("run|", "run|", ""),
    ],
)
def test_what_bash_cut_at_colons_is_one_word(typed: str, words: str, kept: str) -> None:
    cut = typed.split("|")
    joined = tuple(words.split("|"))
    assert rejoin_words_cut_by_bash(cut, len(cut) - 1) == (joined, len(joined) - 1, kept)


@pytest.mark.thorough
@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_bash_completes_judges_behind_their_colon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHTUI_JUDGE", "openai:gpt-4o")
    assert in_bash("faithtui run --judge openai : g", tmp_path) == ["gpt-4o"]
    assert in_bash("faithtui run --judge = openai : g", tmp_path) == ["gpt-4o"]
    assert in_bash("faithtui run --judge = off", tmp_path) == ["offline"]


def test_every_run_judge_set_and_metric_of_a_command_line_is_completed() -> None:
    named = {"RUN", "RUN_A", "RUN_B", "JUDGE", "SET", "METRIC"}
    seen = set()
    for words, command in COMMANDS.items():
        for parameter in command.params:
            metavar = (parameter.metavar or "").strip("[].")
            found = find_completer(" ".join(words), parameter) is not None
            if metavar in named or {"--metric", "--source", "--set"} & set(parameter.opts):
                assert found, (words, parameter.opts)
                seen.add(metavar)
    assert seen >= named
