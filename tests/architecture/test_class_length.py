"""No class is longer than a reader keeps in mind."""

import ast
from pathlib import Path

import faithtui

ROOT = Path(faithtui.__file__).parent
MOST_LINES = 300


def read_class_lengths(least_lines: int) -> dict[tuple[str, str], int]:
    """Read the lines of each class; files that hold fewer than asked for are not parsed."""
    sources = ((path, path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py"))
    return {
        (path.relative_to(ROOT).as_posix(), node.name): lines
        for path, source in sources
        if source.count("\n") >= least_lines
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef)
        and (lines := (node.end_lineno or 0) - node.lineno + 1) >= least_lines
    }


def test_no_class_is_longer_than_a_reader_keeps_in_mind() -> None:
    lengths = read_class_lengths(MOST_LINES - 10)
    assert len(lengths) > 3
    assert {each: lines for each, lines in lengths.items() if lines > MOST_LINES} == {}
