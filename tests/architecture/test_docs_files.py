"""docs/architecture.md names every file of the package."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "faithtui"


def test_every_python_file_is_named_with_a_line_of_its_own_and_nothing_else_is() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- `(faithtui/[^`]+\.py)`: \S", text, re.MULTILINE)
    there = [
        path.relative_to(ROOT).as_posix()
        for path in PACKAGE.rglob("*.py")
        if path.stat().st_size or path.name != "__init__.py"
    ]
    assert len(listed) == len(set(listed))
    assert sorted(listed) == sorted(there)


def test_files_named_in_the_prose_are_there() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    prose = text.split("## Every file")[0]
    named = [name for name in re.findall(r"`([a-z_/]+\.py)", prose) if "NAME" not in name]
    assert named
    for name in named:
        assert (PACKAGE / name.removeprefix("faithtui/")).is_file() or (ROOT / name).is_file(), name


def test_init_files_are_empty_but_for_those_that_offer_names() -> None:
    found = {path for path in PACKAGE.rglob("__init__.py") if path.read_text("utf-8").strip()}
    assert found == {PACKAGE / "__init__.py", PACKAGE / "judges" / "embedded" / "__init__.py"}
