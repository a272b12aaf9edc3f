"""README.md as a package page shows it: nothing there leads to a file that is not there."""

import re
import tomllib

import pytest

from tests.docs.generate import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def package_page() -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rules = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    assert rules["fragments"] == [{"path": "README.md"}]
    for rule in rules["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    return text


def test_every_picture_is_described_and_every_link_leads_somewhere(package_page: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "](docs/" in readme
    assert package_page.count("*Picture: ") == readme.count("![") == 3
    links = re.findall(r"\]\(([^)]*)\)", package_page)
    assert [each for each in links if not each.startswith(("http://", "https://"))] == []
    assert "a column per metric with its score and its labels" in package_page


def test_the_page_is_made_of_the_readme() -> None:
    assert PROJECT["project"]["dynamic"] == ["readme"]
    assert any("hatch-fancy-pypi-readme" in each for each in PROJECT["build-system"]["requires"])
