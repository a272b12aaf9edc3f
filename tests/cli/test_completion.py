"""TAB in a shell: what the installed program offers, asked as each shell asks it."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from faithtui.cli import completion
from faithtui.cli.completion import find_completer, rejoin_words_cut_by_bash
from faithtui.cli.entry import COMPLETION
from tests.cli.conftest import Cli
from tests.docs.test_command_names import COMMANDS

PROGRAM = Path(sys.executable).with_name("faithtui")
BASH = shutil.which("bash")

Offer = Callable[[str], list[str]]


def run_program(tmp_path: Path, *words: str | Path, **environment: str) -> str:
    """Start a program as a shell does to complete a line, without a terminal."""
    done = subprocess.run(
        words,
        env=os.environ | {"HOME": str(tmp_path)} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def in_bash(tmp_path: Path, *lines: str) -> list[list[str]]:
    """Press TAB at the end of each line in bash, with the script that the program prints."""
    assert BASH is not None
    script = 'eval "$(faithtui --show-completion)"\n'
    for line in lines:
        *words, last = line.split(" ")
        script += f"""
            COMP_WORDS=({" ".join(words)} "{last}")
            COMP_CWORD={len(words)}
            _faithtui_completion faithtui
            echo "${{COMPREPLY[@]}}"
        """
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    printed = run_program(tmp_path, BASH, "--norc", "-c", script, PATH=path, SHELL=BASH)
    return [line.split() for line in printed.splitlines()]


@pytest.fixture
def offered(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Offer:
    """List what the program offers for the last word of a line."""

    def offer(line: str) -> list[str]:
        monkeypatch.setenv(COMPLETION, "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
        done = cli()
        assert (done.code, done.err) == (0, "")
        return done.out.split()

    return offer


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    assert in_bash(tmp_path, "faithtui re", "faithtui gate --min-re") == [
        ["report", "restore"],
        ["--min-recall-no"],
    ]


@pytest.mark.parametrize(
    ("shell", "more"),
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "faithtui re"}),
        (
            "fish",
            {"_TYPER_COMPLETE_ARGS": "faithtui re", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        ),
    ],
)
def test_other_shells_are_offered_commands(
    shell: str, more: dict[str, str], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COMPLETION, f"source_{shell}")
    assert COMPLETION in cli().out, "the variable is the one of the printed script"
    for name, value in more.items() | {(COMPLETION, f"complete_{shell}")}:
        monkeypatch.setenv(name, value)
    found = cli().out
    assert "restore" in found
    assert "report" in found
    assert "import" not in found


def test_a_shell_that_asks_gets_an_answer_and_never_the_app(tmp_path: Path) -> None:
    line = {"COMP_WORDS": "faithtui imp", "COMP_CWORD": "1"}
    assert run_program(tmp_path, PROGRAM, **{COMPLETION: "complete_bash"}, **line) == "import\n"


def test_values_are_completed_from_the_store_of_the_line(
    judged: Path, tmp_path: Path, offered: Offer
) -> None:
    before = judged.read_bytes()
    assert offered(f"faithtui report --store {judged} ") == ["last", "1"]
    assert offered(f"faithtui --store {judged} run --resume l") == ["last"]
    assert offered(f"faithtui run --store {judged} --source ") == ["parcels"]
    assert judged.read_bytes() == before
    assert offered(f"faithtui report --store {tmp_path / 'none.db'} ") == []
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
def test_values_that_are_always_there(line: str, some: list[str], offered: Offer) -> None:
    assert offered(line) == some


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
    assert in_bash(
        tmp_path,
        "faithtui run --judge openai : g",
        "faithtui run --judge = openai : g",
        "faithtui run --judge = off",
    ) == [["gpt-4o"], ["gpt-4o"], ["offline"]]


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


def test_no_word_that_an_option_takes_is_listed_a_second_time() -> None:
    table = next(
        node.value
        for node in ast.parse(Path(completion.__file__).read_text(encoding="utf-8")).body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "_FIXED"
    )
    assert isinstance(table, ast.Dict)
    written = {
        each.value
        for listed in table.values
        for each in ast.walk(listed)
        if isinstance(each, ast.Constant)
    }
    assert written == set()


def test_words_of_an_option_load_no_store() -> None:
    lists = ("_list_measure_engines", "_list_queue_orders", "_list_new_samples")
    called = "".join(f"list(completion.{name}()); " for name in lists)
    imports = "import sys; from faithtui.cli import completion; "
    code = f"{imports}{called}print('sqlalchemy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


BEFORE = {
    "gate": ["last", "--min-kappa", "0"], "sample": ["results"],
    "measure": ["x.jsonl", "-o", "results"], "import": ["x.jsonl"], "compare": ["1", "1"],
    "trend": ["houses"], "label": ["--plain"],
    "report": ["last"], "plan": ["last"], "export": ["claims"],
    "claim-set make": ["houses", "last"], "check kind": ["last"],
}  # fmt: skip
"""What a command needs before one of its options, or an argument, is looked at."""
NEW_NAMES = {(name, "--source") for name in ("import", "measure", "delete import")}


def test_a_value_that_is_nearly_one_of_those_offered_is_asked_for(judged: Path, cli: Cli) -> None:
    asked = set()
    for words, command in COMMANDS.items():
        name = " ".join(words)
        for parameter in command.params:
            complete = find_completer(name, parameter)
            option = max(parameter.opts, key=len)
            if complete is None or parameter.metavar == "JUDGE" or (name, option) in NEW_NAMES:
                continue
            offered = [each for each in complete(judged) if len(each) > 3 and each != "last"]
            if not offered:
                continue
            meant = max(offered, key=len)
            typed = meant[:-2] + meant[-1]
            is_option = option.startswith("-")
            before = BEFORE.get(name if is_option else f"{name} {option}", [])
            line = [*words, *before, *([option] if is_option else []), typed]
            found = cli("--store", judged, *line)
            assert found.code in (2, 3, 4), (line, found)
            assert f"Did you mean `{meant}`?" in found.err, (line, found.err)
            asked.add((name, option))
    assert len(asked) > 40
    assert {("report", "--format"), ("run", "--source"), ("split", "action")} <= asked
