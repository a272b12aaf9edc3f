"""Sentences name keys as the person's key map has them, on every screen."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

import faithtui.tui
from faithtui.tui.app import FaithApp
from faithtui.tui.keymap.declared_bindings import (
    list_bindings_by_class,
    map_binding_ids_to_default_keys,
    normalise_key,
)
from faithtui.tui.keymap.key_names import DEFAULT_KEYS_IN_TEXT, KeyNames
from faithtui.tui.screen_catalog import LETTERS
from tests.tui.building import NOON
from tests.tui.driving import calm, opened, press, screen_text

PLACE = re.compile(r"\{([a-z-]+\.[a-z0-9-]+)\}")
LITERAL = re.compile(
    r"\bg [a-z]\b(?! [a-z]+ing)"
    r"|\b(?:enter|esc|tab) (?:opens|reviews|goes|lists|takes|asks|changes|works)\b"
    r"|\b[a-zA-Z/] (?:starts one|draws one|checks them|takes it away|edits it|undoes|runs it)\b"
)
"""What a sentence with a key of the default map looks like."""
TYPED_IN = {"filter_bar.py", "plain_input.py"}
NOT_YET_OURS = {"presets.py"}

MOVED = {
    name: f"f{number}"
    for number, name in enumerate(
        ("app.go", "go.runs", "runs.new", "list.open", "list.filter", "screen.close", "go.queues",
         "app.help", "agreement.open-cell", "queues.draw", "integrity.check"),
        start=13,
    )
}  # fmt: skip
"""Another key for what sentences name most, one that nothing else has."""


def sentences() -> Iterator[tuple[str, str]]:
    """Give every string of the app's code but docstrings, with the name of its file."""
    for file in sorted(Path(faithtui.tui.__file__).parent.rglob("*.py")):
        tree = ast.parse(file.read_text())
        documented = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        stray = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or id(node) in documented | stray:
                continue
            if isinstance(node.value, str):
                yield file.name, node.value


def test_the_keys_that_sentences_name_are_those_of_the_bindings() -> None:
    known = map_binding_ids_to_default_keys()
    for name, keys in DEFAULT_KEYS_IN_TEXT.items():
        assert tuple(map(normalise_key, keys.split(","))) == known[name], name


def test_sentences_name_only_bindings_that_can_be_named() -> None:
    named = {name for _, words in sentences() for name in PLACE.findall(words)}
    assert named
    assert named <= set(DEFAULT_KEYS_IN_TEXT)


def test_no_sentence_has_a_key_written_into_it() -> None:
    literal = [
        (file, words)
        for file, words in sentences()
        if file not in TYPED_IN and LITERAL.search(words)
    ]
    assert not literal


def test_tooltips_can_be_filled() -> None:
    names = KeyNames({})
    for _, binding in list_bindings_by_class():
        assert "{" not in names.fill_in_keys(binding.tooltip), binding.id


def test_a_key_after_g_is_named_with_what_comes_before() -> None:
    assert KeyNames({})("go.runs") == "g r"
    assert KeyNames({"app.go": "f13", "go.runs": "x"})("go.runs") == "f13 x"
    assert (
        KeyNames({}).fill_in_keys("no {unknown words} here, {list.filter}")
        == "no {unknown words} here, /"
    )


@pytest.fixture
def moved(tmp_path: Path) -> Callable[[Path], FaithApp]:
    def make(path: Path) -> FaithApp:
        return FaithApp(
            path, reviewer="ann", report_directory=tmp_path, now=lambda: NOON, keymap=MOVED
        )

    return make


async def every_screen(pilot: Pilot[None]) -> dict[str, str]:
    """Go to every main screen, and to the help of each, and read them."""
    app = pilot.app
    assert isinstance(app, FaithApp)
    found = {}
    for name, letter in LETTERS.items():
        await press(pilot, "f13", MOVED.get(f"go.{name}", letter))
        await calm(pilot)
        found[name] = screen_text(app)
        await press(pilot, MOVED["app.help"])
        found[f"help of {name}"] = screen_text(app)
        await press(pilot, "q")
    return found


@pytest.mark.parametrize(
    "size",
    [
        (80, 24),
        *(pytest.param(each, marks=pytest.mark.thorough) for each in ((120, 40), (200, 60))),
    ],
)
@pytest.mark.parametrize("has_runs", [True, False])
async def test_no_screen_names_a_key_that_was_moved(
    moved: Callable[[Path], FaithApp], store_path: Path, tmp_path: Path, size: tuple[int, int],
    has_runs: bool,
) -> None:  # fmt: skip
    app = moved(store_path if has_runs else tmp_path / "empty.db")
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        found = await every_screen(pilot)
    for name, words in found.items():
        for line in words.splitlines():
            assert not re.search(r"\bg [rcvaupmids]\b", line), (name, line)
            assert not re.search(r"\b(enter|esc) (opens|reviews|lists|takes|asks)", line), name
    if not has_runs:
        for name in ("review", "integrity", "adjudicate", "queues"):
            assert "f13" in found[name], name
        assert "f15 starts a run" in found["runs"]
