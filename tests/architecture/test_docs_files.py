"""docs/architecture.md names every folder; files and names that pages give are there."""

import ast
import keyword
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "faithtui"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_layer_and_every_floor_is_named() -> None:
    layers = set(re.findall(r"^\| `([a-z]+)`", PAGE, re.MULTILINE))
    floors = set(re.findall(r"\b([a-z_]+)/", PAGE))
    for path in (path.parent for path in PACKAGE.glob("*/*/*.py")):
        assert path.name in floors, path
        assert path.parent.name in layers | {"tui", "cli"}, path


def test_files_that_the_page_names_are_there() -> None:
    named = re.findall(r"`([a-z]+/[a-z_/]+\.py)`", PAGE)
    assert len(named) > 20
    for name in named:
        assert (PACKAGE / name).is_file() or (ROOT / name).is_file(), name


PAGES = [path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "decisions"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_paths_of_the_checkout_that_a_page_names_are_there(path: Path) -> None:
    for named in re.findall(
        r"`((?:faithtui|tests|fixtures|docs)/[^`\s]*)`", path.read_text("utf-8")
    ):
        if not re.search(r"[A-Z*<{]", named.removesuffix("NOTICE.md").removesuffix("README.md")):
            assert (ROOT / named).exists(), named


DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_modules_that_a_decision_names_are_there(path: Path) -> None:
    for named in re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", path.read_text("utf-8")):
        assert (PACKAGE / named).is_file() or (ROOT / named).is_file(), named


NAMES_BESIDE_FILE = re.compile(r"((?:`\w+`(?:, | and )?)+) (?:\(|of |in )`((?:[\w-]+/)+\w+\.py)`")
"""Such as: `one`, `other` and `third` of `faithtui/files.py`."""


def list_names(tree: ast.Module) -> Iterator[str]:
    """List what a module defines, and the words of Python that a page may point at."""
    yield from keyword.softkwlist
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Name(ctx=ast.Store()):
                yield node.id


@pytest.mark.parametrize("page", ["contributing.md", "architecture.md"])
def test_names_that_a_page_gives_beside_their_file_are_in_it(page: str) -> None:
    text = " ".join((ROOT / "docs" / page).read_text("utf-8").split())
    found = NAMES_BESIDE_FILE.findall(text)
    assert len(found) > 2
    for names, file in found:
        path = PACKAGE / file if (PACKAGE / file).is_file() else ROOT / file
        known = set(list_names(ast.parse(path.read_text("utf-8"))))
        assert set(re.findall(r"`(\w+)`", names)) <= known, file


def test_the_page_is_read_in_ten_minutes() -> None:
    """Two hundred words a minute, tables and drawings included."""
    assert len(PAGE.split()) < 2_000


def test_init_files_are_empty_but_for_those_that_offer_names() -> None:
    found = {path for path in PACKAGE.rglob("__init__.py") if path.read_text("utf-8").strip()}
    assert found == {PACKAGE / "__init__.py", PACKAGE / "judges" / "embedded" / "__init__.py"}
