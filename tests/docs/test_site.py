"""The site lists every page, and settings and variables are all told."""

import re

from faithtui.engine.runs import judge_profiles
from tests.docs.generate import DOCS, PACKAGE, ROOT

NOT_LISTED = "decisions"
"""Folder of pages that others link to."""
VARIABLE = re.compile(
    r"FAITHTUI_[A-Z_]+|(?:OPENAI|ANTHROPIC)_API_KEY|TEXTUAL_[A-Z]+|NO_COLOR|TERM|VISUAL|EDITOR"
    r"|(?:WAYLAND_)?DISPLAY|LC_[A-Z]+|LANG"
)


def test_the_site_lists_every_page_once() -> None:
    listed = re.findall(r"^ +- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = [
        path.relative_to(DOCS).as_posix()
        for path in DOCS.rglob("*.md")
        if path.relative_to(DOCS).parts[0] != NOT_LISTED
    ]
    assert sorted(listed) == sorted(pages)


def test_the_list_of_pages_names_every_page() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    for path in DOCS.glob("*.md"):
        if path.name != "README.md":
            assert f"({path.name})" in index, path.name


def test_every_variable_of_the_environment_is_on_the_page() -> None:
    page = (DOCS / "settings.md").read_text(encoding="utf-8")
    named: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        # Whole words between quotation marks: a constant, and nothing in a sentence.
        named |= set(re.findall(rf'"({VARIABLE.pattern})"', path.read_text(encoding="utf-8")))
    assert named >= {"FAITHTUI_HOME", "OPENAI_API_KEY", "VISUAL", "NO_COLOR"}
    named |= set(judge_profiles.VARIABLES.values())
    assert not [name for name in sorted(named) if f"`{name}`" not in page]
