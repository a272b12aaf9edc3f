"""Generated docs are what the code says, and every mark is filled."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.dom import DOMNode
from typer.testing import CliRunner

from faithtui.cli.main import app
from faithtui.tui.keymap.help import get_tooltip_words
from faithtui.tui.keymap.key_names import KeyNames
from tests.docs.generate import DOCS, PACKAGE, PAGES, PARTS, ROOT, demo_example, main, wanted


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the docs."""
    return Path(shutil.copytree(DOCS, tmp_path / "docs"))


def example_on_the_page() -> str:
    """Read the example of the demo's agreement as it stands."""
    page = (DOCS / "agreement.md").read_text(encoding="utf-8")
    _, _, rest = page.partition("<!-- generated: example -->\n")
    return rest.partition("\n<!-- /generated: example -->")[0]


@pytest.fixture(scope="module", autouse=True)
def demo_is_not_judged() -> Iterator[None]:
    """Take the demo's example for right: judging the demo takes longer than all of the rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PARTS, ("agreement.md", "example"), example_on_the_page)
        yield


@pytest.fixture(scope="module")
def fresh(demo_is_not_judged: None) -> dict[Path, str]:
    """Generate once for all pages."""
    return wanted()


@pytest.mark.thorough
def test_the_example_is_what_the_demo_comes_to() -> None:
    assert demo_example() == example_on_the_page()


@pytest.mark.parametrize("name", sorted({*PAGES, *(page for page, _ in PARTS)}))
def test_no_page_is_stale(name: str, fresh: dict[Path, str]) -> None:
    path = DOCS / name
    assert path.read_text(encoding="utf-8") == fresh[path], "run: python tests/docs/generate.py"


def test_check_names_a_stale_page_and_writes_nothing(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = copy / "keys.md"
    page.write_text("old", encoding="utf-8")
    assert main(["--check"], copy) == 1
    assert capsys.readouterr().out == "stale: docs/keys.md\n"
    assert page.read_text(encoding="utf-8") == "old"


def test_writing_mends_a_stale_page_and_leaves_the_prose_alone(copy: Path) -> None:
    page = copy / "agreement.md"
    good = page.read_text(encoding="utf-8")
    page.write_text(good.replace("| `no_items` |", "| `none_such` |"), encoding="utf-8")
    assert main([], copy) == 0
    assert page.read_text(encoding="utf-8") == good
    assert main(["--check"], copy) == 0


def test_a_page_without_the_mark_of_a_part_is_an_error(copy: Path) -> None:
    page = copy / "data-model.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("<!-- generated: scales -->", ""), encoding="utf-8")
    with pytest.raises(ValueError, match="data-model"):
        wanted(copy)


@pytest.mark.parametrize("command", [[], ["demo"], ["import"], ["run"], ["report"]])
def test_a_page_shows_the_help_that_the_command_prints(command: list[str]) -> None:
    printed = CliRunner().invoke(app, [*command, "--help"], prog_name="faithtui", terminal_width=80)
    lines = [line.rstrip() for line in printed.stdout.strip().splitlines()]
    assert "\n".join(lines) in (DOCS / "cli.md").read_text(encoding="utf-8")


def classes_with_keys() -> set[type[DOMNode]]:
    """Find every class of the app that has keys of its own. Imports its modules."""
    for path in sorted((PACKAGE / "tui").rglob("*.py")):
        __import__(".".join(path.relative_to(ROOT).with_suffix("").parts))
    found: set[type[DOMNode]] = set()
    waiting: list[type[DOMNode]] = [DOMNode]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__module__.startswith("faithtui.") and kind.__dict__.get("BINDINGS"):
            found.add(kind)
    return found


def test_every_binding_has_a_name_and_words_and_stands_on_the_page() -> None:
    page = (DOCS / "keys.md").read_text(encoding="utf-8")
    bindings = [
        each
        for kind in classes_with_keys()
        for each in kind.__dict__["BINDINGS"]
        if isinstance(each, Binding)
    ]
    assert len(bindings) > 50
    for each in bindings:
        assert each.id, each
        assert each.tooltip, each
        assert f"| {KeyNames({}).fill_in_keys(get_tooltip_words(each))} | `{each.id}` |" in page
