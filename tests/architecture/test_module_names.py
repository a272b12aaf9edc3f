"""Modules that tests and the table of public names give as text are there.

A check that a module is not loaded passes for ever where its name is misspelt or the module moved.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import faithtui

PACKAGE = Path(faithtui.__file__).parent
TESTS = Path(__file__).parents[1]
DOTTED = re.compile(r"(?<![\w./@-])faithtui(?:\.\w+)+")
NO_MODULES = {
    "faithtui.__path__",
    "faithtui.db",
    "faithtui.export",
    "faithtui.log",
    "faithtui.prompts",
    "faithtui.run",
}
"""Files, loggers, and what every package has."""


def is_module(name: str) -> bool:
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or path.is_dir()


def is_attribute(name: str) -> bool:
    """Whether this names something in a module; what a package offers lies in a module of it."""
    owner = name
    while "." in owner:
        owner, _, attribute = owner.rpartition(".")
        if is_module(owner):
            file = PACKAGE.parent.joinpath(*owner.split(".")).with_suffix(".py")
            text = file.read_text(encoding="utf-8") if file.is_file() else ""
            return re.search(rf"\b{attribute}\b", text) is not None
    return False


def find_unknown_modules(source: str) -> Iterator[str]:
    """Name what is no module; where a function is given a text, it may name a part of one."""
    tree = ast.parse(source)
    arguments = {
        id(each)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for each in (*node.args, *(keyword.value for keyword in node.keywords))
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for name in DOTTED.findall(node.value):
                found = is_module(name) or (id(node) in arguments and is_attribute(name))
                if not found and name not in NO_MODULES:
                    yield f"{node.lineno} {name}"


def test_modules_that_tests_name_are_there() -> None:
    unknown = [
        f"{path.relative_to(TESTS)}:{each}"
        for path in sorted(TESTS.rglob("*.py"))
        if path != Path(__file__)
        for each in find_unknown_modules(path.read_text(encoding="utf-8"))
    ]
    assert unknown == []


def test_modules_of_the_public_names_are_there_and_hold_them() -> None:
    homes = faithtui._HOMES
    assert [home for home in homes.values() if not is_module(f"faithtui.{home}")] == []
    unknown = [name for name, home in homes.items() if not is_attribute(f"faithtui.{home}.{name}")]
    assert unknown == []


def test_a_module_that_is_gone_is_found() -> None:
    source = (
        "{'faithtui.errors', 'faithtui.judges.embedded.judge', 'faithtui.errors.InputError'}\n"
        "setattr('faithtui.errors.InputError', 'faithtui.errors.Gone', 'faithtui.log')"
    )
    assert list(find_unknown_modules(source)) == [
        "1 faithtui.judges.embedded.judge",
        "1 faithtui.errors.InputError",
        "2 faithtui.errors.Gone",
    ]
