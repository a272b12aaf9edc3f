"""No class is longer than a reader keeps in mind."""

import ast
from pathlib import Path

import faithtui

ROOT = Path(faithtui.__file__).parent
MOST_LINES = 300


def read_class_lengths() -> dict[tuple[str, str], int]:
    return {
        (path.relative_to(ROOT).as_posix(), node.name): (node.end_lineno or 0) - node.lineno + 1
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }


def test_no_class_is_longer_than_a_reader_keeps_in_mind() -> None:
    lengths = read_class_lengths()
    assert len(lengths) > 1000
    assert {each: lines for each, lines in lengths.items() if lines > MOST_LINES} == {}
