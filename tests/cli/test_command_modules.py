"""Each command stands in the module that has its name, declared and carried out."""

import re
from keyword import iskeyword

import pytest

from tests.cli.conftest import Cli
from tests.docs.test_command_names import COMMANDS

FOLDER = "faithtui.cli.commands."
SINGLE = {
    words: each for words, each in COMMANDS.items() if words and not hasattr(each, "commands")
}


@pytest.mark.parametrize("words", sorted(SINGLE), ids=" ".join)
def test_a_command_is_in_the_module_of_its_name(words: tuple[str, ...]) -> None:
    module = SINGLE[words].callback.__module__
    assert module.startswith(FOLDER)
    names = [f"{word}_" if iskeyword(word) else word.replace("-", "_") for word in words]
    path = module.removeprefix(FOLDER).removeprefix("store.").split(".")
    assert path[0] == names[0]
    assert set(path) <= set(names)


def test_all_commands_are_looked_at() -> None:
    assert {("run",), ("import",), ("judge", "key", "set"), ("delete", "import")} <= set(SINGLE)


def test_the_help_lists_every_command_once_under_its_section(cli: Cli) -> None:
    out = cli("--help").out
    titles = ["Options", "Data in", "Judge", "Review", "Figures", "Out", "Store and settings"]
    assert re.findall(r"^(\S.*):$", out, re.MULTILINE) == titles
    listed = re.findall(r"^  (\w[\w-]*)  ", out[out.index("Data in:") :], re.MULTILINE)
    assert sorted(listed) == sorted(words[0] for words in COMMANDS if len(words) == 1)
