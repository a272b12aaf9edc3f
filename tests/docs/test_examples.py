"""The examples in docs and docstrings are run as they stand."""

import doctest
import importlib
from pathlib import Path

import pytest

from tests.docs.generate import DOCS

MODULES = (
    "faithtui.domain.conversation",
    "faithtui.engine.library.evaluation",
    "faithtui.engine.library.measurement",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name: str) -> None:
    ran = doctest.testmod(importlib.import_module(name))
    assert ran.attempted > 0
    assert ran.failed == 0


@pytest.mark.parametrize(("page", "fewest"), [("library.md", 20), ("population.md", 8)])
def test_examples_of_a_page_hold(
    page: str, fewest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAITHTUI_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    ran = doctest.testfile(
        str(DOCS / page),
        module_relative=False,
        encoding="utf-8",
        optionflags=doctest.IGNORE_EXCEPTION_DETAIL,
    )
    assert ran.attempted > fewest
    assert ran.failed == 0
