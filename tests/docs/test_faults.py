"""docs/faults.md names tests that are there."""

import re
from pathlib import Path
from typing import get_args

from faithtui.engine.runs.events import RunEvent

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "faults.md"


def test_every_test_that_the_faults_page_names_is_there() -> None:
    names = set(re.findall(r"`([a-z_/]*test_[a-z_]+\.py)`", PAGE.read_text(encoding="utf-8")))
    paths = [path.as_posix() for path in TESTS.rglob("test_*.py")]
    assert len(names) > 25
    assert [name for name in sorted(names) if not any(p.endswith(f"/{name}") for p in paths)] == []


def test_every_event_of_a_run_is_named_where_scripts_are_explained() -> None:
    page = (PAGE.parent / "runs.md").read_text(encoding="utf-8")
    assert [each.__name__ for each in get_args(RunEvent) if f"`{each.__name__}`" not in page] == []
