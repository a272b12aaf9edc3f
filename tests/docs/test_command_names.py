"""Every command and option that a message or a page names is there."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from faithtui.cli.main import app
from tests.docs.generate import DOCS, PACKAGE, ROOT

PROSE = set(
    [
        "again",
        "and",
        "does",
        "in",
        "is",
        "keeps",
        "knows",
        "may",
        "needs",
        "never",
        "on",
        "raises",
        "writes",
        "wrote",
    ]
)
"""Words after the program's name that begin no command in a sentence."""

NAMED = re.compile(r"(?<![\w./-])faithtui((?:[ ]+[^\s`«»,;:)(]+)*)")
OPTION = re.compile(r"--[a-z][a-z-]*")
OF_OTHERS = {
    "--faithtui-judge",
    "--command-palette",
    "--date",
    "--draws",
    "--out",
    "--port",
    "--served-model-name",
    "--tool-call-parser",
}
"""Options of modules that are programs of their own, and of servers that messages name; and the id
that Textual gives its palette."""


def commands() -> dict[tuple[str, ...], Any]:
    """Every command by its words; the program itself is ()."""
    found: dict[tuple[str, ...], Any] = {}
    waiting: list[tuple[tuple[str, ...], Any]] = [((), typer.main.get_command(app))]
    while waiting:
        words, command = waiting.pop()
        found[words] = command
        inner = getattr(command, "commands", {})
        waiting += [((*words, name), each) for name, each in inner.items()]
    return found


COMMANDS = commands()


def options_of(words: tuple[str, ...]) -> set[str]:
    command = COMMANDS[words]
    names = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    return names | {"--help", "-h"}


def mistakes(text: str) -> Iterator[str]:
    """Name the commands and options of a text that are not there."""
    for named in NAMED.finditer(text):
        words: tuple[str, ...] = ()
        after_option = False
        for word in named[1].split():
            option = OPTION.match(word)
            if option is not None:
                after_option = True
                if option[0] not in options_of(words) | options_of(()):
                    yield f"{' '.join(('faithtui', *words))} has no {option[0]}: {named[0]}"
            elif hasattr(COMMANDS[words], "commands"):
                name = word.strip(".…'\"|&\\")
                if not re.fullmatch(r"[a-z][a-z-]*", name):
                    continue  # FILE, 7, a hole
                if (*words, name) in COMMANDS:
                    words = (*words, name)
                elif not after_option and (words or name not in PROSE):
                    yield f"there is no {' '.join(('faithtui', *words, name))}: {named[0]}"
                else:
                    break


def texts_of(source: str) -> Iterator[str]:
    """Give the literal texts of a module, holes of f-strings as 0."""
    nodes = list(ast.walk(ast.parse(source)))
    inside = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            parts = (
                str(each.value) if isinstance(each, ast.Constant) else "0" for each in node.values
            )
            yield " ".join("".join(parts).split())
        elif isinstance(node, ast.Constant) and id(node) not in inside:
            yield " ".join(node.value.split()) if isinstance(node.value, str) else ""


def code_of(page: str) -> Iterator[str]:
    """Give the code of a page: lines of its blocks, and what stands between back quotes."""
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    for block in blocks:
        yield from (line.partition(" #")[0] for line in block.splitlines())
    rest = re.sub(r"^```[^\n]*\n.*?^```", "", page, flags=re.DOTALL | re.MULTILINE)
    yield from (" ".join(each.split()) for each in re.findall(r"`([^`]+)`", rest))


@pytest.fixture(scope="module")
def texts() -> dict[str, list[str]]:
    """Give the texts of each module that name the program or an option."""
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    return {
        str(path.relative_to(PACKAGE)): [
            text for text in texts_of(source) if "faithtui" in text or "--" in text
        ]
        for path, source in sources.items()
        # `import faithtui` names no command; parsing all modules takes seconds.
        if re.search(r"faithtui[\s\"']|--", re.sub(r"^(from|import) .*", "", source, flags=re.M))
    }


def test_messages_name_commands_and_options_that_are_there(texts: dict[str, list[str]]) -> None:
    assert [
        (path, each) for path, some in texts.items() for text in some for each in mistakes(text)
    ] == []


def test_pages_name_commands_and_options_that_are_there() -> None:
    assert [
        (path.name, each)
        for path in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
        for text in code_of(path.read_text(encoding="utf-8"))
        for each in mistakes(text)
    ] == []


def test_options_named_without_a_command_are_there(texts: dict[str, list[str]]) -> None:
    known = OF_OTHERS.union(*(options_of(words) for words in COMMANDS))
    named = {
        option
        for some in texts.values()
        for text in some
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", text)
    }
    assert len(named) > 50
    assert named <= known


def test_what_is_not_there_is_found() -> None:
    assert len(list(mistakes("label some: faithtui review"))) == 1
    assert len(list(mistakes("faithtui run --again 0, or faithtui judge tested"))) == 2
    assert list(mistakes("faithtui --store F gate 0 --min-kappa 0; faithtui knows no --more")) == []
